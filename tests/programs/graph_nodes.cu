// Queries and changes of a graph's nodes, before and after the graph is instantiated. Also objects that graphs keep
// alive.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <vector>

#include "expect.h"

__global__ void put(int* value, int number) { *value = number; }
__global__ void put_twice(int* value, int number) { *value = 2 * number; }

// Block 0 adds what all blocks have written before the grid's barrier.
__global__ void sum(int* values, int more) {
    if (threadIdx.x == 0) values[1 + blockIdx.x] = more;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    values[0] = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) values[0] += values[1 + i];
}

__device__ int variable[4];

static cudaKernelNodeParams kernel_of(void* function, dim3 grid, void** arguments) {
    cudaKernelNodeParams params{};
    params.func = function;
    params.gridDim = grid;
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    return params;
}

static int* values = nullptr;  // managed

static int run(cudaGraphExec_t graph) {
    values[0] = -1;
    EXPECT_SUCCESS(cudaGraphLaunch(graph, nullptr));
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    return values[0];
}

static cudaGraph_t graph_of(const cudaKernelNodeParams& params, cudaGraphNode_t* node) {
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
    EXPECT_SUCCESS(cudaGraphAddKernelNode(node, graph, nullptr, 0, &params));
    return graph;
}

// An instance's nodes are those of the graph that it was made of, whatever graph it was updated from since.
static void check_updates() {
    int number = 1;
    void* arguments[] = {&values, &number};
    const cudaKernelNodeParams params = kernel_of((void*)put, dim3(1), arguments);
    cudaGraphNode_t first_node, second_node, child, other_child, inner_node;
    const cudaGraph_t first = graph_of(params, &first_node);
    number = 2;
    const cudaGraph_t second = graph_of(params, &second_node);
    cudaGraphExec_t ready;
    cudaGraphExecUpdateResultInfo told;
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, first, 0));
    EXPECT(run(ready) == 1);
    EXPECT_SUCCESS(cudaGraphExecUpdate(ready, second, &told));
    EXPECT(run(ready) == 2);
    number = 3;
    EXPECT_SUCCESS(cudaGraphExecKernelNodeSetParams(ready, first_node, &params));
    EXPECT(run(ready) == 3);
    number = 4;
    EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(ready, second_node, &params));
    EXPECT(run(ready) == 3);

    cudaGraph_t outer, other, inner;
    cudaGraphExec_t ready_outer;
    size_t count = 1;
    EXPECT_SUCCESS(cudaGraphCreate(&outer, 0));
    EXPECT_SUCCESS(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, first));
    EXPECT_SUCCESS(cudaGraphChildGraphNodeGetGraph(child, &inner));
    EXPECT_SUCCESS(cudaGraphGetNodes(inner, &inner_node, &count));
    EXPECT_SUCCESS(cudaGraphCreate(&other, 0));
    EXPECT_SUCCESS(cudaGraphAddChildGraphNode(&other_child, other, nullptr, 0, second));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready_outer, outer, 0));
    EXPECT(run(ready_outer) == 1);
    EXPECT_SUCCESS(cudaGraphExecUpdate(ready_outer, other, &told));
    EXPECT(run(ready_outer) == 2);
    EXPECT_SUCCESS(cudaGraphExecKernelNodeSetParams(ready_outer, inner_node, &params));
    EXPECT(run(ready_outer) == 4);
    for (const cudaGraphExec_t one : {ready, ready_outer}) EXPECT_SUCCESS(cudaGraphExecDestroy(one));
    for (const cudaGraph_t one : {first, second, outer, other}) EXPECT_SUCCESS(cudaGraphDestroy(one));
}

// A kernel's attributes are none of its parameters.
static void check_attributes() {
    int more = 5;
    void* arguments[] = {&values, &more};
    const cudaKernelNodeParams params = kernel_of((void*)sum, dim3(8), arguments);
    cudaGraphNode_t node, other_node;
    const cudaGraph_t graph = graph_of(params, &node), other = graph_of(params, &other_node);
    cudaKernelNodeAttrValue value{};
    value.cooperative = 1;
    EXPECT_SUCCESS(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &value));
    more = 6;
    EXPECT_SUCCESS(cudaGraphKernelNodeSetParams(node, &params));
    value.cooperative = 0;
    EXPECT_SUCCESS(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeCooperative, &value));
    EXPECT(value.cooperative == 1);
    EXPECT_SUCCESS(cudaGraphKernelNodeGetAttribute(other_node, cudaLaunchAttributeCooperative, &value));
    EXPECT(value.cooperative == 0);
    EXPECT_SUCCESS(cudaGraphKernelNodeCopyAttributes(other_node, node));
    EXPECT_SUCCESS(cudaGraphKernelNodeGetAttribute(other_node, cudaLaunchAttributeCooperative, &value));
    EXPECT(value.cooperative == 1);
    EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeIgnore, &value));

    cudaGraphExec_t ready, ready_other;
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready_other, other, 0));
    EXPECT(run(ready) == 8 * 6);
    EXPECT(run(ready_other) == 8 * 5);
    more = 7;
    EXPECT_SUCCESS(cudaGraphExecKernelNodeSetParams(ready, node, &params));
    EXPECT(run(ready) == 8 * 7);
    for (const cudaGraphExec_t one : {ready, ready_other}) EXPECT_SUCCESS(cudaGraphExecDestroy(one));
    for (const cudaGraph_t one : {graph, other}) EXPECT_SUCCESS(cudaGraphDestroy(one));
}

// Parameters of a node of any type, and those of memsets that no memset has.
static void check_parameters() {
    int number = 3;
    void* arguments[] = {&values, &number};
    cudaGraphNode_t node, empty, set;
    const cudaGraph_t graph = graph_of(kernel_of((void*)put, dim3(1), arguments), &node);
    EXPECT_SUCCESS(cudaGraphAddEmptyNode(&empty, graph, &node, 1));
    cudaMemsetParams zeros{values + 8, 0, 0, 4, 4, 1};
    EXPECT_SUCCESS(cudaGraphAddMemsetNode(&set, graph, &node, 1, &zeros));

    cudaGraphNode_t behind[3] = {node, node, node};
    size_t count = 3;
    EXPECT_SUCCESS(cudaGraphNodeGetDependentNodes(node, nullptr, nullptr, &count));
    EXPECT(count == 2);
    count = 3;
    EXPECT_SUCCESS(cudaGraphNodeGetDependentNodes(node, behind, nullptr, &count));
    EXPECT(count == 2 && behind[0] != behind[1] && behind[2] == nullptr);
    for (int i = 0; i < 2; ++i) EXPECT(behind[i] == empty || behind[i] == set);

    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    for (const unsigned bytes : {64u, 3u}) {
        zeros.elementSize = bytes;
        EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(ready, set, &zeros));
    }
    cudaGraphNodeParams params = {cudaGraphNodeTypeKernel};
    params.kernel.func = (void*)put_twice;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = arguments;
    EXPECT_SUCCESS(cudaGraphExecNodeSetParams(ready, node, &params));
    EXPECT(run(ready) == 6);
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    number = 5;
    EXPECT_SUCCESS(cudaGraphNodeSetParams(node, &params));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphNodeSetParams(empty, &params));  // another type
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    EXPECT(run(ready) == 10);
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
}

// Copies to and from device variables.
static void check_symbols() {
    const int in[4] = {1, 2, 3, 4}, other_in[4] = {5, 6, 7, 8};
    int out[4] = {}, other_out[4] = {};
    cudaGraph_t graph;
    cudaGraphNode_t to, from;
    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
    EXPECT_SUCCESS(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, in, 8, 8, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(
        cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, out, variable, 16, 0, cudaMemcpyDeviceToHost));
    cudaGraphNode_t none;
    EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphAddMemcpyNodeToSymbol(&none, graph, nullptr, 0, variable, in, 16, 8,
                                                                        cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    run(ready);
    EXPECT(out[0] == 0 && out[2] == 1 && out[3] == 2);
    EXPECT_SUCCESS(
        cudaGraphExecMemcpyNodeSetParamsToSymbol(ready, to, variable, other_in, 8, 8, cudaMemcpyHostToDevice));
    run(ready);
    EXPECT(out[0] == 0 && out[2] == 5 && out[3] == 6);
    EXPECT_SUCCESS(
        cudaGraphExecMemcpyNodeSetParamsFromSymbol(ready, from, other_out, variable, 16, 0, cudaMemcpyDeviceToHost));
    run(ready);
    EXPECT(other_out[2] == 5);
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));

    EXPECT_SUCCESS(cudaGraphMemcpyNodeSetParamsToSymbol(to, variable, other_in, 16, 0, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaGraphMemcpyNodeSetParamsFromSymbol(from, out, variable, 8, 8, cudaMemcpyDeviceToHost));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    run(ready);
    EXPECT(out[0] == 7 && out[1] == 8);
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    EXPECT_SUCCESS(cudaGraphMemcpyNodeSetParams1D(to, values, in + 3, sizeof(int), cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    EXPECT(run(ready) == 4);
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
}

static void check_events() {
    cudaEvent_t first, second, told;
    EXPECT_SUCCESS(cudaEventCreate(&first));
    EXPECT_SUCCESS(cudaEventCreate(&second));
    cudaGraph_t graph;
    cudaGraphNode_t record, wait;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
    EXPECT_SUCCESS(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, first));
    EXPECT_SUCCESS(cudaGraphAddEventRecordNode(&record, graph, &wait, 1, first));
    EXPECT_SUCCESS(cudaGraphEventRecordNodeSetEvent(record, second));
    EXPECT_SUCCESS(cudaGraphEventRecordNodeGetEvent(record, &told));
    EXPECT(told == second);
    EXPECT_SUCCESS(cudaGraphEventWaitNodeGetEvent(wait, &told));
    EXPECT(told == first);
    EXPECT_SUCCESS(cudaGraphEventWaitNodeSetEvent(wait, second));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaGraphEventRecordNodeGetEvent(wait, &told));
    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    EXPECT_SUCCESS(cudaGraphExecEventRecordNodeSetEvent(ready, record, first));
    EXPECT_SUCCESS(cudaGraphExecEventWaitNodeSetEvent(ready, wait, second));
    run(ready);
    float ms = 0;
    EXPECT_SUCCESS(cudaEventElapsedTime(&ms, first, first));
    EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, second, second));  // never recorded
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
}

static int ended = 0;
static void end(void* by) { ended += *static_cast<int*>(by); }

// An object ends when its last reference goes: the program's, a graph's or a clone's.
static void check_objects() {
    int one = 1, ten = 10;
    cudaUserObject_t object, own;
    cudaGraph_t graph, clone;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
    EXPECT_SUCCESS(cudaUserObjectCreate(&object, &one, end, 1, cudaUserObjectNoDestructorSync));
    EXPECT_SUCCESS(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    EXPECT_SUCCESS(cudaGraphClone(&clone, graph));
    EXPECT_SUCCESS(cudaGraphReleaseUserObject(graph, object));
    EXPECT(ended == 0);
    EXPECT_SUCCESS(cudaGraphDestroy(clone));
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(ended == 1);

    EXPECT_STATUS(cudaErrorInvalidValue, cudaUserObjectCreate(&own, &ten, end, 1, 0));
    EXPECT_SUCCESS(cudaUserObjectCreate(&own, &ten, end, 2, cudaUserObjectNoDestructorSync));
    EXPECT_SUCCESS(cudaUserObjectRetain(own, 3));
    EXPECT_SUCCESS(cudaUserObjectRelease(own, 4));
    EXPECT(ended == 1);
    EXPECT_SUCCESS(cudaUserObjectRelease(own));
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT(ended == 11);
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
}

int main() {
    EXPECT_SUCCESS(cudaMallocManaged(&values, 64 * sizeof(int)));
    check_updates();
    check_attributes();
    check_parameters();
    check_symbols();
    check_events();
    check_objects();
    return finish();
}
