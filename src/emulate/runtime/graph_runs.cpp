// Executable graphs: copies of graphs. The work of their nodes can be replaced by other work of the same type.
#include <algorithm>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/handles.hpp"
#include "emulate/runtime/streams.hpp"

struct CUgraphExec_st {
    std::unique_ptr<CUgraph_st> graph;
    unsigned long long flags = 0;
};

namespace cornerturn::emulator {
namespace {

handles<CUgraphExec_st>& executables() {
    static auto* const one = new handles<CUgraphExec_st>;
    return *one;
}

template <class Body>
cudaError_t with_executable(cudaGraphExec_t executable, Body&& body) {
    return api_call([&] { return executables().has(executable) ? body() : cudaErrorInvalidValue; });
}

// Calls f() for the graph and for all graphs inside its nodes.
template <class F>
void for_parts(CUgraph_st& graph, const F& f) {
    f(graph);
    for (const auto& node : graph.nodes) {
        if (auto* const child = std::get_if<child_work>(&node->work)) for_parts(*child->graph, f);
        if (auto* const conditional = std::get_if<conditional_work>(&node->work))
            for (const auto& body : conditional->bodies) for_parts(*body, f);
    }
}

// The copy of this node. Null: the executable graph was made from another graph, or before the node was added.
cudaGraphNode_t executable_node(cudaGraphExec_t executable, cudaGraphNode_t node) {
    cudaGraphNode_t found = nullptr;
    if (!node_exists(node)) return nullptr;
    for_parts(*executable->graph, [&](const CUgraph_st& part) {
        if (!found) found = part.copy_of_node(node->id);
    });
    return found;
}

template <class Work, class Body>
cudaError_t with_executable_work(cudaGraphExec_t executable, cudaGraphNode_t node, Body&& body) {
    return with_executable(executable, [&] {
        const cudaGraphNode_t copy = executable_node(executable, node);
        Work* const work = copy ? std::get_if<Work>(&copy->work) : nullptr;
        return work ? body(*work, copy->work) : cudaErrorInvalidValue;
    });
}

bool has_cycle(CUgraph_st& graph) {
    bool found = false;
    for_parts(graph, [&](const CUgraph_st& part) { found |= part.in_order().size() < part.nodes.size(); });
    return found;
}

// Whether the nodes of `to` can take the work of the nodes of `from`, paired in the order of addition.
cudaGraphExecUpdateResult compare(const CUgraph_st& to, const CUgraph_st& from, cudaGraphExecUpdateResultInfo& info) {
    const auto places = [](const CUgraph_st& graph, const CUgraphNode_st& node) {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            if (std::count(node.dependencies.begin(), node.dependencies.end(), graph.nodes[i].get()))
                found.push_back(i);
        return found;
    };
    if (to.nodes.size() != from.nodes.size()) return cudaGraphExecUpdateErrorTopologyChanged;
    for (std::size_t i = 0; i < to.nodes.size(); ++i) {
        CUgraphNode_st &old = *to.nodes[i], &wanted = *from.nodes[i];
        info.errorNode = &wanted;
        if (type_of(old.work) != type_of(wanted.work)) return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (places(to, old) != places(from, wanted)) return cudaGraphExecUpdateErrorTopologyChanged;
        if (const auto* const memory = std::get_if<allocation_work>(&old.work))
            if (memory->params.bytesize != std::get<allocation_work>(wanted.work).params.bytesize)
                return cudaGraphExecUpdateErrorParametersChanged;
        if (std::holds_alternative<conditional_work>(old.work)) return cudaGraphExecUpdateErrorNotSupported;
        if (const auto* const child = std::get_if<child_work>(&old.work))
            if (const auto error = compare(*child->graph, *std::get<child_work>(wanted.work).graph, info)) return error;
    }
    info.errorNode = nullptr;
    return cudaGraphExecUpdateSuccess;
}

// Does not change `copied_from`: the program names a node of an executable graph by its original.
void replace_work(CUgraph_st& to, const CUgraph_st& from) {
    for (std::size_t i = 0; i < to.nodes.size(); ++i) {
        graph_work& work = to.nodes[i]->work;
        if (auto* const child = std::get_if<child_work>(&work))
            replace_work(*child->graph, *std::get<child_work>(from.nodes[i]->work).graph);
        else if (!std::holds_alternative<allocation_work>(work))
            work = copy_of(from.nodes[i]->work);
    }
    to.objects = from.objects;
}

cudaGraphExecUpdateResult update(CUgraph_st& to, const CUgraph_st& from, cudaGraphExecUpdateResultInfo& info) {
    const cudaGraphExecUpdateResult result = compare(to, from, info);
    if (result == cudaGraphExecUpdateSuccess) replace_work(to, from);
    return result;
}

cudaError_t update_child(child_work& work, cudaGraph_t from) {
    if (!graph_exists(from)) return cudaErrorInvalidValue;
    cudaGraphExecUpdateResultInfo info{};
    const bool fits = update(*work.graph, *from, info) == cudaGraphExecUpdateSuccess;
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t set_event(cudaGraphExec_t executable, cudaGraphNode_t node, bool records, cudaEvent_t event) {
    return with_executable_work<event_work>(executable, node, [&](event_work& work, graph_work&) {
        if (work.records != records) return cudaErrorInvalidValue;
        work.event = event;
        return cudaSuccess;
    });
}

cudaError_t launch_executable(CUgraphExec_st& executable) {
    for_parts(*executable.graph, [&](const CUgraph_st& part) {
        for (const auto& known : part.conditions)
            if (known->is_reset) known->value = known->initial;
        if ((executable.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0) return;
        for (const auto& node : part.nodes)
            if (const auto* const memory = std::get_if<allocation_work>(&node->work))
                if (allocation_at(memory->memory->at)) release(memory->memory->at, allocation::device);
    });
    return run_graph(*executable.graph);
}

}  // namespace

void forget_graphs() { executables().clear(); }

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long flags) {
    return api_call([&] {
        if (!pGraphExec || !graph_exists(graph) || flags > 15) return cudaErrorInvalidValue;
        if (flags & cudaGraphInstantiateFlagDeviceLaunch) return cudaErrorNotSupported;
        if (has_cycle(*graph)) return cudaErrorInvalidValue;
        *pGraphExec = executables().add({copy_of(*graph), flags});
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* instantiateParams) {
    if (!instantiateParams) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaGraphInstantiateWithFlags(pGraphExec, graph, instantiateParams->flags);
    instantiateParams->errNode_out = nullptr;
    instantiateParams->result_out = error == cudaSuccess             ? cudaGraphInstantiateSuccess
                                    : error == cudaErrorNotSupported ? cudaGraphInstantiateNodeOperationNotSupported
                                                                     : cudaGraphInstantiateInvalidStructure;
    return error;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long* flags) {
    return with_executable(graphExec, [&] {
        if (!flags) return cudaErrorInvalidValue;
        *flags = graphExec->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return with_executable(graphExec,
                           [&] { return stream_exists(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
    return with_executable(graphExec, [&] {
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        if (const cudaError_t error = refuse_in_capture(stream)) return error;  // like an H200 with CUDA 13
        return launch_executable(*graphExec);
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
    return with_executable(graphExec, [&] {
        executables().remove(graphExec);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo* resultInfo) {
    return with_executable(hGraphExec, [&] {
        if (!graph_exists(hGraph) || !resultInfo) return cudaErrorInvalidValue;
        *resultInfo = {};
        resultInfo->result = update(*hGraphExec->graph, *hGraph, *resultInfo);
        return resultInfo->result == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure;
    });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams* pNodeParams) {
    return with_executable_work<kernel_work>(
        hGraphExec, node, [&](const kernel_work&, graph_work& work) { return make_kernel_work(pNodeParams, work); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms* pNodeParams) {
    return with_executable_work<copy_work>(hGraphExec, node, [&](copy_work& work, graph_work&) {
        if (!pNodeParams) return cudaErrorInvalidValue;
        work.params = *pNodeParams;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst,
                                               const void* src, size_t count, enum cudaMemcpyKind kind) {
    const cudaMemcpy3DParms params = flat_copy(dst, src, count, kind);
    return cudaGraphExecMemcpyNodeSetParams(hGraphExec, node, &params);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                     const void* symbol, const void* src, size_t count, size_t offset,
                                                     enum cudaMemcpyKind kind) {
    return with_executable_work<copy_work>(hGraphExec, node, [&](copy_work&, graph_work& work) {
        return make_copy_to_symbol(symbol, src, count, offset, kind, work);
    });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst,
                                                       const void* symbol, size_t count, size_t offset,
                                                       enum cudaMemcpyKind kind) {
    return with_executable_work<copy_work>(hGraphExec, node, [&](copy_work&, graph_work& work) {
        return make_copy_from_symbol(dst, symbol, count, offset, kind, work);
    });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams* pNodeParams) {
    return with_executable_work<set_work>(hGraphExec, node, [&](set_work& work, graph_work&) {
        if (!pNodeParams || !is_valid(*pNodeParams)) return cudaErrorInvalidValue;
        work.params = *pNodeParams;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams* pNodeParams) {
    return with_executable_work<host_work>(hGraphExec, node, [&](host_work& work, graph_work&) {
        if (!pNodeParams || !pNodeParams->fn) return cudaErrorInvalidValue;
        work.params = *pNodeParams;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph) {
    return with_executable_work<child_work>(
        hGraphExec, node, [&](child_work& work, graph_work&) { return update_child(work, childGraph); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event) {
    return set_event(hGraphExec, hNode, true, event);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event) {
    return set_event(hGraphExec, hNode, false, event);
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams* nodeParams) {
    return with_executable(graphExec, [&] {
        const cudaGraphNode_t copy = executable_node(graphExec, node);
        if (!copy || !nodeParams || nodeParams->type != type_of(copy->work)) return cudaErrorInvalidValue;
        if (auto* const child = std::get_if<child_work>(&copy->work))
            return update_child(*child, nodeParams->graph.graph);
        return make_changeable_work(*nodeParams, copy->work);
    });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled) {
    return with_executable(hGraphExec, [&] {
        const cudaGraphNode_t copy = executable_node(hGraphExec, hNode);
        if (!copy || type_of(copy->work) > cudaGraphNodeTypeMemset) return cudaErrorInvalidValue;
        copy->enabled = isEnabled != 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int* isEnabled) {
    return with_executable(hGraphExec, [&] {
        const cudaGraphNode_t copy = executable_node(hGraphExec, hNode);
        if (!copy || !isEnabled) return cudaErrorInvalidValue;
        *isEnabled = copy->enabled;
        return cudaSuccess;
    });
}

}  // extern "C"
