// The API's calls that make graphs and ask what is in them.
#include <algorithm>
#include <cstdio>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"

namespace cornerturn::emulator {
namespace {

template <class Body>
cudaError_t with_graph(cudaGraph_t graph, Body&& body) {
    return api_call([&] { return graph_exists(graph) ? body() : cudaErrorInvalidValue; });
}

template <class Body>
cudaError_t with_node(cudaGraphNode_t node, Body&& body) {
    return api_call([&] { return node_exists(node) ? body() : cudaErrorInvalidValue; });
}

// The work of a node of one type.
template <class Work, class Body>
cudaError_t with_work(cudaGraphNode_t node, Body&& body) {
    return with_node(node, [&] {
        Work* const work = std::get_if<Work>(&node->work);
        return work ? body(*work) : cudaErrorInvalidValue;
    });
}

cudaError_t check_dependencies(cudaGraph_t graph, const cudaGraphNode_t* nodes, std::size_t count) {
    if (count && !nodes) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
        if (!node_exists(nodes[i]) || nodes[i]->graph != graph) return cudaErrorInvalidValue;
        if (std::count(nodes, nodes + i, nodes[i])) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

// `make` gives the work, or an error.
template <class Make>
cudaError_t add_node(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t* behind, std::size_t count,
                     Make&& make) {
    return with_graph(graph, [&] {
        if (!result) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_dependencies(graph, behind, count)) return error;
        graph_work work;
        if (const cudaError_t error = make(work)) return error;
        *result = graph->add(std::move(work), {behind, behind + count});
        return cudaSuccess;
    });
}

template <class Work>
auto made(Work one) {
    return [one = std::move(one)](graph_work& work) {
        work = one;
        return cudaSuccess;
    };
}

auto refused() {
    return [](graph_work&) { return cudaErrorInvalidValue; };
}

std::unique_ptr<CUgraph_st> new_part() {
    auto part = std::make_unique<CUgraph_st>();
    part->is_part = true;
    return part;
}

cudaError_t make_conditional(cudaConditionalNodeParams& params, cudaGraph_t graph, graph_work& work) {
    const bool is_switch = params.type == cudaGraphCondTypeSwitch;
    const unsigned most = params.type == cudaGraphCondTypeIf ? 2 : 1;
    if (params.type < cudaGraphCondTypeIf || params.type > cudaGraphCondTypeSwitch) return cudaErrorInvalidValue;
    if (params.size == 0 || (!is_switch && params.size > most)) return cudaErrorInvalidValue;
    conditional_work one{params.type, nullptr, {}, {}};
    for (const auto& known : graph->conditions)
        if (reinterpret_cast<cudaGraphConditionalHandle>(known.get()) == params.handle) one.asks = known;
    if (!one.asks) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < params.size; ++i) {
        one.bodies.push_back(new_part());
        one.bodies.back()->conditions = graph->conditions;
        one.handles.push_back(one.bodies.back().get());
    }
    params.phGraph_out = one.handles.data();  // stays where it is when `one` moves
    work = std::move(one);
    return cudaSuccess;
}

cudaError_t make_allocation(cudaMemAllocNodeParams* params, graph_work& work) {
    if (!params || !params->bytesize) return cudaErrorInvalidValue;
    const bool is_here = params->poolProps.location.type == cudaMemLocationTypeDevice && !params->poolProps.location.id;
    if (params->poolProps.allocType != cudaMemAllocationTypePinned || !is_here) return cudaErrorInvalidValue;
    const std::shared_ptr<reserved_memory> memory = reserve(params->bytesize);
    if (!memory) return cudaErrorMemoryAllocation;
    params->dptr = memory->at;
    work = allocation_work{*params, memory};
    return cudaSuccess;
}

cudaError_t make_child(cudaGraph_t child, graph_work& work) {
    if (!graph_exists(child)) return cudaErrorInvalidValue;
    std::unique_ptr<CUgraph_st> copy = copy_of(*child);
    copy->is_part = true;
    work = child_work{std::move(copy)};
    return cudaSuccess;
}

bool is_valid(const cudaMemsetParams& what) {
    return what.elementSize == 1 || what.elementSize == 2 || what.elementSize == 4;
}

cudaError_t for_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                             std::size_t count, bool adds) {
    return with_graph(graph, [&] {
        if (count && (!from || !to)) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i) {
            for (const cudaGraphNode_t node : {from[i], to[i]})
                if (!node_exists(node) || node->graph != graph) return cudaErrorInvalidValue;
            const bool there = std::count(to[i]->behind.begin(), to[i]->behind.end(), from[i]) > 0;
            if (there == adds) return cudaErrorInvalidValue;
            if (adds)
                to[i]->behind.push_back(from[i]);
            else
                std::erase(to[i]->behind, from[i]);
        }
        return cudaSuccess;
    });
}

const char* word_for(cudaGraphNodeType type) {
    switch (type) {
        case cudaGraphNodeTypeKernel: return "kernel";
        case cudaGraphNodeTypeMemcpy: return "memcpy";
        case cudaGraphNodeTypeMemset: return "memset";
        case cudaGraphNodeTypeHost: return "host";
        case cudaGraphNodeTypeGraph: return "graph";
        case cudaGraphNodeTypeEmpty: return "empty";
        case cudaGraphNodeTypeWaitEvent: return "event wait";
        case cudaGraphNodeTypeEventRecord: return "event record";
        case cudaGraphNodeTypeMemAlloc: return "memory allocation";
        case cudaGraphNodeTypeMemFree: return "memory free";
        default: return "conditional";
    }
}

}  // namespace
}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags) {
    return api_call([&] {
        if (!pGraph || flags) return cudaErrorInvalidValue;
        *pGraph = new CUgraph_st;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return with_graph(graph, [&] {
        if (graph->is_part) return cudaErrorInvalidValue;
        delete graph;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph) {
    return with_graph(originalGraph, [&] {
        if (!pGraphClone) return cudaErrorInvalidValue;
        for (const auto& node : originalGraph->nodes) {
            const cudaGraphNodeType type = type_of(node->work);
            const bool is_memory = type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree;
            if (is_memory || type == cudaGraphNodeTypeConditional) return cudaErrorNotSupported;
        }
        *pGraphClone = copy_of(*originalGraph).release();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph) {
    return with_graph(clonedGraph, [&] {
        if (!pNode || !node_exists(originalNode)) return cudaErrorInvalidValue;
        const cudaGraphNode_t found = clonedGraph->copy_of_node(originalNode->id);
        if (!found) return cudaErrorInvalidValue;
        *pNode = found;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                   size_t numDependencies, const struct cudaKernelNodeParams* pNodeParams) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies,
                    [&](graph_work& work) { return make_kernel_work(pNodeParams, work); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                   size_t numDependencies, const struct cudaMemcpy3DParms* pCopyParams) {
    if (!pCopyParams) return fail(cudaErrorInvalidValue);
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(copy_work{*pCopyParams}));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dst,
                                     const void* src, size_t count, enum cudaMemcpyKind kind) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies,
                    made(copy_work{flat_copy(dst, src, count, kind)}));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                   size_t numDependencies, const struct cudaMemsetParams* pMemsetParams) {
    if (!pMemsetParams || !is_valid(*pMemsetParams)) return fail(cudaErrorInvalidValue);
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(set_work{*pMemsetParams}));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                 size_t numDependencies, const struct cudaHostNodeParams* pNodeParams) {
    if (!pNodeParams || !pNodeParams->fn) return fail(cudaErrorInvalidValue);
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(host_work{*pNodeParams}));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies,
                    [&](graph_work& work) { return make_child(childGraph, work); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* pGraph) {
    return with_work<child_work>(node, [&](const child_work& work) {
        if (!pGraph) return cudaErrorInvalidValue;
        *pGraph = work.graph.get();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                  size_t numDependencies) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(nothing{}));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                        cudaEvent_t event) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(event_work{event, true}));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t* pDependencies, size_t numDependencies, cudaEvent_t event) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(event_work{event, false}));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                     struct cudaMemAllocNodeParams* nodeParams) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies,
                    [&](graph_work& work) { return make_allocation(nodeParams, work); });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams* params_out) {
    return with_work<allocation_work>(node, [&](const allocation_work& work) {
        if (!params_out) return cudaErrorInvalidValue;
        *params_out = work.what;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dptr) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(free_work{dptr}));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) {
    return with_work<free_work>(node, [&](const free_work& work) {
        if (!dptr_out) return cudaErrorInvalidValue;
        *static_cast<void**>(dptr_out) = work.at;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out, cudaGraph_t graph,
                                             unsigned int defaultLaunchValue, unsigned int flags) {
    return with_graph(graph, [&] {
        if (!pHandle_out || flags > cudaGraphCondAssignDefault) return cudaErrorInvalidValue;
        graph->conditions.push_back(
            std::make_shared<condition>(condition{0, defaultLaunchValue, flags == cudaGraphCondAssignDefault}));
        *pHandle_out = reinterpret_cast<cudaGraphConditionalHandle>(graph->conditions.back().get());
        return cudaSuccess;
    });
}

// In a kernel. Many threads may call it at once.
void ct_set_condition(cudaGraphConditionalHandle handle, unsigned int value) noexcept {
    __atomic_store_n(&reinterpret_cast<condition*>(handle)->value, value, __ATOMIC_RELAXED);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                             const cudaGraphEdgeData*, size_t numDependencies, struct cudaGraphNodeParams* nodeParams) {
    if (!nodeParams) return fail(cudaErrorInvalidValue);
    const auto add = [&](auto make) { return add_node(pGraphNode, graph, pDependencies, numDependencies, make); };
    cudaGraphNodeParams& p = *nodeParams;
    switch (p.type) {
        case cudaGraphNodeTypeKernel: {
            const cudaKernelNodeParams params{p.kernel.func,           p.kernel.gridDim,      p.kernel.blockDim,
                                              p.kernel.sharedMemBytes, p.kernel.kernelParams, p.kernel.extra};
            return add([&](graph_work& work) { return make_kernel_work(&params, work); });
        }
        case cudaGraphNodeTypeMemcpy: return add(made(copy_work{p.memcpy.copyParams}));
        case cudaGraphNodeTypeMemset: return is_valid(p.memset) ? add(made(set_work{p.memset})) : add(refused());
        case cudaGraphNodeTypeHost: return p.host.fn ? add(made(host_work{p.host})) : add(refused());
        case cudaGraphNodeTypeGraph: return add([&](graph_work& work) { return make_child(p.graph.graph, work); });
        case cudaGraphNodeTypeEmpty: return add(made(nothing{}));
        case cudaGraphNodeTypeWaitEvent: return add(made(event_work{p.eventWait.event, false}));
        case cudaGraphNodeTypeEventRecord: return add(made(event_work{p.eventRecord.event, true}));
        case cudaGraphNodeTypeMemAlloc: return add([&](graph_work& work) { return make_allocation(&p.alloc, work); });
        case cudaGraphNodeTypeMemFree: return add(made(free_work{p.free.dptr}));
        case cudaGraphNodeTypeConditional:
            return add([&](graph_work& work) { return make_conditional(p.conditional, graph, work); });
        default: return fail(cudaErrorNotSupported);
    }
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData*, size_t numDependencies) {
    return for_dependencies(graph, from, to, numDependencies, true);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t numDependencies) {
    return for_dependencies(graph, from, to, numDependencies, false);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes) {
    return with_graph(graph, [&] {
        std::vector<cudaGraphNode_t> list;
        for (const auto& node : graph->nodes) list.push_back(node.get());
        return give_list(list, nodes, numNodes);
    });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes, size_t* pNumRootNodes) {
    return with_graph(graph, [&] {
        std::vector<cudaGraphNode_t> list;
        for (const auto& node : graph->nodes)
            if (node->behind.empty()) list.push_back(node.get());
        return give_list(list, pRootNodes, pNumRootNodes);
    });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edgeData, size_t* numEdges) {
    return with_graph(graph, [&] {
        std::vector<cudaGraphNode_t> froms, tos;
        for (const auto& node : graph->nodes) {
            froms.insert(froms.end(), node->behind.begin(), node->behind.end());
            tos.insert(tos.end(), node->behind.size(), node.get());
        }
        if (!numEdges || !from != !to) return cudaErrorInvalidValue;
        std::size_t count = *numEdges;
        if (edgeData) std::fill(edgeData, edgeData + std::min(count, froms.size()), cudaGraphEdgeData{});
        give_list(froms, from, &count);
        return give_list(tos, to, numEdges);
    });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                         cudaGraphEdgeData* edgeData, size_t* pNumDependencies) {
    return with_node(node, [&] {
        if (edgeData && pNumDependencies)
            std::fill(edgeData, edgeData + std::min(*pNumDependencies, node->behind.size()), cudaGraphEdgeData{});
        return give_list(node->behind, pDependencies, pNumDependencies);
    });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* pType) {
    return with_node(node, [&] {
        if (!pType) return cudaErrorInvalidValue;
        *pType = type_of(node->work);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    return with_node(node, [&] {
        const cudaGraph_t graph = node->graph;
        for (const auto& other : graph->nodes) std::erase(other->behind, node);
        std::erase_if(graph->nodes, [&](const auto& one) { return one.get() == node; });
        return cudaSuccess;
    });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams* pNodeParams) {
    return with_work<kernel_work>(node, [&](kernel_work& work) {
        if (!pNodeParams) return cudaErrorInvalidValue;
        *pNodeParams = {const_cast<void*>(work.function),
                        work.shape.grid,
                        work.shape.block,
                        static_cast<unsigned>(work.shape.shared_bytes),
                        work.addresses.data(),
                        nullptr};
        return cudaSuccess;
    });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams* pNodeParams) {
    return with_work<kernel_work>(node, [&](kernel_work&) { return make_kernel_work(pNodeParams, node->work); });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, enum cudaLaunchAttributeID attr,
                                            const union cudaLaunchAttributeValue* value) {
    return with_work<kernel_work>(node, [&](kernel_work& work) {
        if (!value) return cudaErrorInvalidValue;
        if (attr == cudaLaunchAttributeClusterDimension) return cudaErrorNotSupported;
        if (attr == cudaLaunchAttributeCooperative) work.shape.cooperative = value->cooperative != 0;
        return cudaSuccess;
    });
}

#define CT_GET_AND_SET(Name, type, work_type, valid)                                            \
    cudaError_t cudaGraph##Name##NodeGetParams(cudaGraphNode_t node, type* pNodeParams) {       \
        return with_work<work_type>(node, [&](const work_type& work) {                          \
            if (!pNodeParams) return cudaErrorInvalidValue;                                     \
            *pNodeParams = work.what;                                                           \
            return cudaSuccess;                                                                 \
        });                                                                                     \
    }                                                                                           \
    cudaError_t cudaGraph##Name##NodeSetParams(cudaGraphNode_t node, const type* pNodeParams) { \
        return with_work<work_type>(node, [&](work_type& work) {                                \
            if (!pNodeParams || !(valid)) return cudaErrorInvalidValue;                         \
            work.what = *pNodeParams;                                                           \
            return cudaSuccess;                                                                 \
        });                                                                                     \
    }
CT_GET_AND_SET(Memcpy, cudaMemcpy3DParms, copy_work, true)
CT_GET_AND_SET(Memset, cudaMemsetParams, set_work, is_valid(*pNodeParams))
CT_GET_AND_SET(Host, cudaHostNodeParams, host_work, pNodeParams->fn != nullptr)
#undef CT_GET_AND_SET

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
    return with_graph(graph, [&] {
        std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
        if (!file) return cudaErrorOperatingSystem;
        std::fprintf(file, "digraph graph_%llu {\n", static_cast<unsigned long long>(graph->id));
        for (const auto& node : graph->nodes) {
            const auto* const kernel = std::get_if<kernel_work>(&node->work);
            const kernel_facts* const facts = kernel ? facts_of(kernel->function) : nullptr;
            const auto number = static_cast<unsigned long long>(node->id);
            std::fprintf(file, "    n%llu [label=\"%s %s\"];\n", number, word_for(type_of(node->work)),
                         facts ? facts->name.c_str() : "");
            for (const cudaGraphNode_t before : node->behind)
                std::fprintf(file, "    n%llu -> n%llu;\n", static_cast<unsigned long long>(before->id), number);
        }
        std::fputs("}\n", file);
        return std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
    });
}

}  // extern "C"
