// Graphs built node by node: nodes of every type, copies, new parameters, conditions, and memory of a graph.
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "expect.h"

struct pair_of_factors {
    int factor;
    double offset;
};

__global__ void scale(int* values, int count, pair_of_factors by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = values[i] * by.factor + static_cast<int>(by.offset);
}

__global__ void add_one(int* value, cudaGraphConditionalHandle handle, int limit) {
    *value += 1;
    cudaGraphSetConditional(handle, *value < limit);
}

__global__ void choose(const int* value, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, *value); }

__global__ void put(int* value, int number) { *value = number; }

static int called = 0;
static void count_call(void* with) { called += *static_cast<int*>(with); }

static cudaKernelNodeParams kernel_of(void* function, dim3 grid, dim3 block, void** arguments) {
    cudaKernelNodeParams params{};
    params.func = function;
    params.gridDim = grid;
    params.blockDim = block;
    params.kernelParams = arguments;
    return params;
}

static cudaError_t run(cudaGraphExec_t graph) {
    const cudaError_t error = cudaGraphLaunch(graph, nullptr);
    return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

constexpr int kCount = 1000;

// host -> device, times 3 plus 4, device -> host; a host function behind it. The nodes are added out of order.
static void check_nodes() {
    int* values = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&values, kCount * sizeof(int)));
    std::vector<int> in(kCount), out(kCount);
    for (int i = 0; i < kCount; ++i) in[i] = i;
    int weight = 10;
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t copy_out, copy_in, host, kernel, empty;
    EXPECT_SUCCESS(cudaGraphAddMemcpyNode1D(&copy_out, graph, nullptr, 0, out.data(), values, kCount * sizeof(int),
                                            cudaMemcpyDeviceToHost));
    EXPECT_SUCCESS(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, values, in.data(), kCount * sizeof(int),
                                            cudaMemcpyHostToDevice));
    pair_of_factors by{3, 4};
    int count = kCount;
    void* arguments[] = {&values, &count, &by};
    const cudaKernelNodeParams scaled = kernel_of((void*)scale, dim3(4), dim3(256), arguments);
    EXPECT_SUCCESS(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &scaled));
    EXPECT_SUCCESS(cudaGraphAddDependencies(graph, &kernel, &copy_out, nullptr, 1));
    EXPECT_STATUS(cudaErrorInvalidValue,
                  cudaGraphAddDependencies(graph, &kernel, &copy_out, nullptr, 1));  // it is there
    const cudaHostNodeParams calls{count_call, &weight};
    EXPECT_SUCCESS(cudaGraphAddHostNode(&host, graph, &copy_out, 1, &calls));
    EXPECT_SUCCESS(cudaGraphAddEmptyNode(&empty, graph, &host, 1));
    by = {0, 0};  // the node keeps what it was

    size_t nodes = 0, edges = 0, roots = 0;
    EXPECT_SUCCESS(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_SUCCESS(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT_SUCCESS(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(nodes == 5 && edges == 4 && roots == 1);
    cudaGraphNodeType type;
    EXPECT_SUCCESS(cudaGraphNodeGetType(kernel, &type));
    EXPECT(type == cudaGraphNodeTypeKernel);
    cudaKernelNodeParams told;
    EXPECT_SUCCESS(cudaGraphKernelNodeGetParams(kernel, &told));
    EXPECT(told.gridDim.x == 4 && static_cast<pair_of_factors*>(told.kernelParams[2])->factor == 3);

    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    EXPECT(out[1] == 0 && called == 0);
    EXPECT_SUCCESS(run(ready));
    EXPECT_SUCCESS(run(ready));
    EXPECT(out[1] == 7 && out[kCount - 1] == 3 * (kCount - 1) + 4 && called == 20);

    // What can be launched changes alone; the graph stays, and so does its clone.
    by = {5, 0};
    EXPECT_SUCCESS(cudaGraphExecKernelNodeSetParams(ready, kernel, &scaled));
    EXPECT_SUCCESS(run(ready));
    EXPECT(out[1] == 5);
    cudaGraph_t clone;
    cudaGraphNode_t kernel_of_clone;
    cudaGraphExec_t ready_clone;
    EXPECT_SUCCESS(cudaGraphClone(&clone, graph));
    EXPECT_SUCCESS(cudaGraphNodeFindInClone(&kernel_of_clone, kernel, clone));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready_clone, clone, nullptr, nullptr, 0));
    EXPECT_SUCCESS(run(ready_clone));
    EXPECT(out[1] == 7);
    by = {2, 1};
    EXPECT_SUCCESS(cudaGraphKernelNodeSetParams(kernel_of_clone, &scaled));
    cudaGraphExecUpdateResultInfo result;
    EXPECT_SUCCESS(cudaGraphExecUpdate(ready_clone, clone, &result));
    EXPECT_SUCCESS(run(ready_clone));
    EXPECT(out[1] == 3 && result.result == cudaGraphExecUpdateSuccess);
    EXPECT_SUCCESS(cudaGraphDestroyNode(host));
    EXPECT_STATUS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(ready_clone, graph, &result));
    EXPECT(result.result == cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_SUCCESS(cudaGraphNodeSetEnabled(ready_clone, kernel_of_clone, 0));
    EXPECT_SUCCESS(run(ready_clone));
    EXPECT(out[1] == 1);

    // A graph as a node, behind a memset.
    cudaGraph_t outer;
    cudaGraphNode_t set, child;
    cudaGraphExec_t ready_outer;
    EXPECT_SUCCESS(cudaGraphCreate(&outer, 0));
    int* words = nullptr;
    EXPECT_SUCCESS(cudaMallocManaged(&words, 64));
    const cudaMemsetParams zeros{words, 0, 0x01020304, 4, 16, 1};
    EXPECT_SUCCESS(cudaGraphAddMemsetNode(&set, outer, nullptr, 0, &zeros));
    EXPECT_SUCCESS(cudaGraphAddChildGraphNode(&child, outer, &set, 1, graph));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready_outer, outer, 0));
    out.assign(kCount, 0);
    EXPECT_SUCCESS(run(ready_outer));
    EXPECT(words[15] == 0x01020304 && out[2] == 10);

    // In a circle nothing is first.
    EXPECT_SUCCESS(cudaGraphAddDependencies(outer, &child, &set, nullptr, 1));
    cudaGraphExec_t none = nullptr;
    EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphInstantiate(&none, outer, 0));
    EXPECT_STATUS(cudaErrorInvalidValue, run(none));
    for (const cudaGraphExec_t one : {ready, ready_clone, ready_outer}) EXPECT_SUCCESS(cudaGraphExecDestroy(one));
    for (const cudaGraph_t one : {graph, clone, outer}) EXPECT_SUCCESS(cudaGraphDestroy(one));
    EXPECT_SUCCESS(cudaFree(values));
    EXPECT_SUCCESS(cudaFree(words));
}

static cudaGraph_t* add_condition(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                                  cudaGraphConditionalNodeType type, unsigned size, cudaGraphNode_t* behind) {
    cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    cudaGraphNode_t node;
    EXPECT_SUCCESS(cudaGraphAddNode(&node, graph, behind, nullptr, behind ? 1 : 0, &params));
    return params.conditional.phGraph_out;
}

static void add_put(cudaGraph_t graph, int* at, int number) {
    void* arguments[] = {&at, &number};
    const cudaKernelNodeParams params = kernel_of((void*)put, dim3(1), dim3(1), arguments);
    cudaGraphNode_t node;
    EXPECT_SUCCESS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
}

static void check_conditions() {
    int* values = nullptr;
    EXPECT_SUCCESS(cudaMallocManaged(&values, 3 * sizeof(int)));
    values[0] = values[1] = values[2] = 0;
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));

    cudaGraphConditionalHandle loop, branch;
    EXPECT_SUCCESS(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
    int limit = 7;
    void* counted[] = {&values, &loop, &limit};
    const cudaKernelNodeParams counting = kernel_of((void*)add_one, dim3(1), dim3(1), counted);
    cudaGraphNode_t node, chosen;
    const cudaGraph_t body = add_condition(graph, loop, cudaGraphCondTypeWhile, 1, nullptr)[0];
    EXPECT_SUCCESS(cudaGraphAddKernelNode(&node, body, nullptr, 0, &counting));

    EXPECT_SUCCESS(cudaGraphConditionalHandleCreate(&branch, graph));
    int* selector = values + 1;
    void* asked[] = {&selector, &branch};
    const cudaKernelNodeParams choosing = kernel_of((void*)choose, dim3(1), dim3(1), asked);
    EXPECT_SUCCESS(cudaGraphAddKernelNode(&chosen, graph, nullptr, 0, &choosing));
    const cudaGraph_t* cases = add_condition(graph, branch, cudaGraphCondTypeSwitch, 3, &chosen);
    for (int i = 0; i < 3; ++i) add_put(cases[i], values + 2, 100 + i);

    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < 4; ++i) {
        values[0] = i == 3 ? 20 : 0;
        values[1] = i;
        values[2] = 0;
        EXPECT_SUCCESS(run(ready));
        EXPECT(values[0] == (i == 3 ? 21 : 7));
        EXPECT(values[2] == (i < 3 ? 100 + i : 0));  // beyond the last case nothing runs
    }
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    EXPECT_SUCCESS(cudaFree(values));
}

// Memory of the graph's own: the address is known before the memory is there.
static cudaGraphExec_t graph_with_memory(char*& at, char* out, bool frees, unsigned flags) {
    constexpr size_t kMemory = 4096;
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams wanted{};
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.bytesize = kMemory;
    cudaGraphNode_t allocated, filled, copied, freed;
    EXPECT_SUCCESS(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &wanted));
    at = static_cast<char*>(wanted.dptr);
    EXPECT(at != nullptr);
    const cudaMemsetParams ones{at, 0, 1, 1, kMemory, 1};
    EXPECT_SUCCESS(cudaGraphAddMemsetNode(&filled, graph, &allocated, 1, &ones));
    EXPECT_SUCCESS(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, out, at, kMemory, cudaMemcpyDeviceToHost));
    if (frees) EXPECT_SUCCESS(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, at));
    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, flags));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    return ready;
}

static void check_memory() {
    std::vector<char> out(4096);
    char *at_freed, *at_kept, *at_replaced;
    const cudaGraphExec_t frees = graph_with_memory(at_freed, out.data(), true, 0);
    const cudaGraphExec_t keeps = graph_with_memory(at_kept, out.data(), false, 0);
    const cudaGraphExec_t replaces =
        graph_with_memory(at_replaced, out.data(), false, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    EXPECT(at_freed != at_kept && at_kept != at_replaced);
    const auto attribute = [](cudaGraphMemAttributeType which) {
        unsigned long long value = 0;
        EXPECT_SUCCESS(cudaDeviceGetGraphMemAttribute(0, which, &value));
        return value;
    };
    for (int i = 0; i < 2; ++i) {
        out[4095] = 0;
        EXPECT_SUCCESS(run(frees));
        EXPECT(out[4095] == 1);
    }
    EXPECT_SUCCESS(run(keeps));
    EXPECT_SUCCESS(cudaMemset(at_kept, 2, 4096));
    EXPECT_SUCCESS(cudaMemcpy(out.data(), at_kept, 4096, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 2);
    EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) >= 4096);
    EXPECT_STATUS(cudaErrorInvalidValue, run(keeps));  // the memory is there still
    EXPECT_SUCCESS(run(replaces));
    EXPECT_SUCCESS(run(replaces));
    EXPECT(attribute(cudaGraphMemAttrUsedMemHigh) >= 8192);
    EXPECT_SUCCESS(cudaFree(at_kept));
    EXPECT_SUCCESS(cudaFreeAsync(at_replaced, nullptr));
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(attribute(cudaGraphMemAttrReservedMemCurrent) >= 4096);
    for (const cudaGraphExec_t one : {keeps, frees, replaces}) EXPECT_SUCCESS(cudaGraphExecDestroy(one));
    EXPECT_SUCCESS(cudaDeviceGraphMemTrim(0));
    EXPECT(attribute(cudaGraphMemAttrReservedMemCurrent) == 0);
}

int main() {
    check_nodes();
    check_conditions();
    check_memory();
    return finish();
}
