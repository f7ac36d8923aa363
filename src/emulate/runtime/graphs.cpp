// API calls that build graphs and read their structure.
#include <algorithm>
#include <cstdio>

#include "emulate/runtime/graph_calls.hpp"

namespace cornerturn::emulator {
namespace {

cudaError_t check_dependencies(cudaGraph_t graph, const cudaGraphNode_t* nodes, std::size_t count) {
    if (count && !nodes) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
        if (!node_exists(nodes[i]) || nodes[i]->graph != graph) return cudaErrorInvalidValue;
        if (std::count(nodes, nodes + i, nodes[i])) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

// make(work) sets the work or returns an error.
template <class Make>
cudaError_t add_node(cudaGraphNode_t* result, cudaGraph_t graph, const cudaGraphNode_t* dependencies, std::size_t count,
                     Make&& make) {
    return with_graph(graph, [&] {
        if (!result) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_dependencies(graph, dependencies, count)) return error;
        graph_work work;
        if (const cudaError_t error = make(work)) return error;
        *result = graph->add(std::move(work), {dependencies, dependencies + count});
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

cudaError_t for_dependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                             std::size_t count, bool adds) {
    return with_graph(graph, [&] {
        if (count && (!from || !to)) return cudaErrorInvalidValue;
        for (std::size_t i = 0; i < count; ++i) {
            for (const cudaGraphNode_t node : {from[i], to[i]})
                if (!node_exists(node) || node->graph != graph) return cudaErrorInvalidValue;
            const bool there = std::count(to[i]->dependencies.begin(), to[i]->dependencies.end(), from[i]) > 0;
            if (there == adds) return cudaErrorInvalidValue;
            if (adds)
                to[i]->dependencies.push_back(from[i]);
            else
                std::erase(to[i]->dependencies, from[i]);
        }
        return cudaSuccess;
    });
}

// Copies the nodes at the ends of edges, and the data of each edge.
cudaError_t copy_nodes(const std::vector<cudaGraphNode_t>& list, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                       std::size_t* count) {
    if (edges && count) std::fill(edges, edges + std::min(*count, list.size()), cudaGraphEdgeData{});
    return copy_list(list, nodes, count);
}

const char* name_of_type(cudaGraphNodeType type) {
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

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                           const void* symbol, const void* src, size_t count, size_t offset,
                                           enum cudaMemcpyKind kind) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies,
                    [&](graph_work& work) { return make_copy_to_symbol(symbol, src, count, offset, kind, work); });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dst,
                                             const void* symbol, size_t count, size_t offset,
                                             enum cudaMemcpyKind kind) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies,
                    [&](graph_work& work) { return make_copy_from_symbol(dst, symbol, count, offset, kind, work); });
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

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                  size_t numDependencies) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(empty_work{}));
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

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dptr) {
    return add_node(pGraphNode, graph, pDependencies, numDependencies, made(free_work{dptr}));
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

// Called in a kernel, possibly by many threads at the same time.
void ct_set_condition(cudaGraphConditionalHandle handle, unsigned int value) noexcept {
    __atomic_store_n(&reinterpret_cast<condition*>(handle)->value, value, __ATOMIC_RELAXED);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                             const cudaGraphEdgeData*, size_t numDependencies, struct cudaGraphNodeParams* nodeParams) {
    if (!nodeParams) return fail(cudaErrorInvalidValue);
    return add_node(pGraphNode, graph, pDependencies, numDependencies,
                    [&](graph_work& work) { return make_work(*nodeParams, graph, work); });
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
        return copy_list(list, nodes, numNodes);
    });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes, size_t* pNumRootNodes) {
    return with_graph(graph, [&] {
        std::vector<cudaGraphNode_t> list;
        for (const auto& node : graph->nodes)
            if (node->dependencies.empty()) list.push_back(node.get());
        return copy_list(list, pRootNodes, pNumRootNodes);
    });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edgeData, size_t* numEdges) {
    return with_graph(graph, [&] {
        std::vector<cudaGraphNode_t> froms, tos;
        for (const auto& node : graph->nodes) {
            froms.insert(froms.end(), node->dependencies.begin(), node->dependencies.end());
            tos.insert(tos.end(), node->dependencies.size(), node.get());
        }
        if (!numEdges || !from != !to) return cudaErrorInvalidValue;
        std::size_t count = *numEdges;
        if (edgeData) std::fill(edgeData, edgeData + std::min(count, froms.size()), cudaGraphEdgeData{});
        copy_list(froms, from, &count);
        return copy_list(tos, to, numEdges);
    });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                         cudaGraphEdgeData* edgeData, size_t* pNumDependencies) {
    return with_node(node, [&] { return copy_nodes(node->dependencies, pDependencies, edgeData, pNumDependencies); });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes,
                                           cudaGraphEdgeData* edgeData, size_t* pNumDependentNodes) {
    return with_node(node, [&] {
        std::vector<cudaGraphNode_t> list;
        for (const auto& other : node->graph->nodes)
            if (std::count(other->dependencies.begin(), other->dependencies.end(), node)) list.push_back(other.get());
        return copy_nodes(list, pDependentNodes, edgeData, pNumDependentNodes);
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
        for (const auto& other : graph->nodes) std::erase(other->dependencies, node);
        std::erase_if(graph->nodes, [&](const auto& one) { return one.get() == node; });
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int) {
    return with_graph(graph, [&] {
        std::FILE* const file = path ? std::fopen(path, "w") : nullptr;
        if (!file) return cudaErrorOperatingSystem;
        std::fprintf(file, "digraph graph_%llu {\n", static_cast<unsigned long long>(graph->id));
        for (const auto& node : graph->nodes) {
            const auto* const kernel = std::get_if<kernel_work>(&node->work);
            const kernel_facts* const facts = kernel ? facts_of(kernel->function) : nullptr;
            const auto number = static_cast<unsigned long long>(node->id);
            std::fprintf(file, "    n%llu [label=\"%s %s\"];\n", number, name_of_type(type_of(node->work)),
                         facts ? facts->name.c_str() : "");
            for (const cudaGraphNode_t before : node->dependencies)
                std::fprintf(file, "    n%llu -> n%llu;\n", static_cast<unsigned long long>(before->id), number);
        }
        std::fputs("}\n", file);
        return std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
    });
}

}  // extern "C"
