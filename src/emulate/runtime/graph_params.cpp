// API calls that read and change the work of graph nodes.
#include "emulate/runtime/graph_calls.hpp"

namespace cornerturn::emulator {
namespace {

// Whether kernel nodes have this attribute. All but the cooperative one only change the speed, so they are only stored.
bool is_of_kernels(cudaLaunchAttributeID attribute) {
    return attribute > cudaLaunchAttributeIgnore && attribute <= cudaLaunchAttributePreferredSharedMemoryCarveout &&
           attribute != cudaLaunchAttributeSynchronizationPolicy;
}

// Calls body(work) if the node records an event (`records`) or waits for one (not `records`).
template <class Body>
cudaError_t with_event_work(cudaGraphNode_t node, bool records, Body&& body) {
    return with_work<event_work>(
        node, [&](event_work& work) { return work.records == records ? body(work) : cudaErrorInvalidValue; });
}

}  // namespace
}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* pGraph) {
    return with_work<child_work>(node, [&](const child_work& work) {
        if (!pGraph) return cudaErrorInvalidValue;
        *pGraph = work.graph.get();
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams* params_out) {
    return with_work<allocation_work>(node, [&](const allocation_work& work) {
        if (!params_out) return cudaErrorInvalidValue;
        *params_out = work.params;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) {
    return with_work<free_work>(node, [&](const free_work& work) {
        if (!dptr_out) return cudaErrorInvalidValue;
        *static_cast<void**>(dptr_out) = work.at;
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
        if (!value || !is_of_kernels(attr)) return cudaErrorInvalidValue;
        if (attr == cudaLaunchAttributeClusterDimension) return cudaErrorNotSupported;
        if (attr == cudaLaunchAttributeCooperative)
            work.shape.cooperative = value->cooperative != 0;
        else
            work.attributes[attr] = *value;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, enum cudaLaunchAttributeID attr,
                                            union cudaLaunchAttributeValue* value_out) {
    return with_work<kernel_work>(node, [&](const kernel_work& work) {
        if (!value_out || !is_of_kernels(attr)) return cudaErrorInvalidValue;
        const auto found = work.attributes.find(attr);
        *value_out = found != work.attributes.end() ? found->second : cudaLaunchAttributeValue{};
        if (attr == cudaLaunchAttributeCooperative) value_out->cooperative = work.shape.cooperative;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc) {
    return with_work<kernel_work>(hDst, [&](kernel_work& to) {
        const auto* const from = node_exists(hSrc) ? std::get_if<kernel_work>(&hSrc->work) : nullptr;
        if (!from) return cudaErrorInvalidValue;
        to.shape.cooperative = from->shape.cooperative;
        to.attributes = from->attributes;
        return cudaSuccess;
    });
}

#define CT_GET_AND_SET(Name, type, work_type, valid)                                            \
    cudaError_t cudaGraph##Name##NodeGetParams(cudaGraphNode_t node, type* pNodeParams) {       \
        return with_work<work_type>(node, [&](const work_type& work) {                          \
            if (!pNodeParams) return cudaErrorInvalidValue;                                     \
            *pNodeParams = work.params;                                                         \
            return cudaSuccess;                                                                 \
        });                                                                                     \
    }                                                                                           \
    cudaError_t cudaGraph##Name##NodeSetParams(cudaGraphNode_t node, const type* pNodeParams) { \
        return with_work<work_type>(node, [&](work_type& work) {                                \
            if (!pNodeParams || !(valid)) return cudaErrorInvalidValue;                         \
            work.params = *pNodeParams;                                                         \
            return cudaSuccess;                                                                 \
        });                                                                                     \
    }
CT_GET_AND_SET(Memcpy, cudaMemcpy3DParms, copy_work, true)
CT_GET_AND_SET(Memset, cudaMemsetParams, set_work, is_valid(*pNodeParams))
CT_GET_AND_SET(Host, cudaHostNodeParams, host_work, pNodeParams->fn != nullptr)
#undef CT_GET_AND_SET

#define CT_GET_AND_SET_EVENT(Name, records)                                                        \
    cudaError_t cudaGraphEvent##Name##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) { \
        return with_event_work(node, records, [&](const event_work& work) {                        \
            if (!event_out) return cudaErrorInvalidValue;                                          \
            *event_out = work.event;                                                               \
            return cudaSuccess;                                                                    \
        });                                                                                        \
    }                                                                                              \
    cudaError_t cudaGraphEvent##Name##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {      \
        return with_event_work(node, records, [&](event_work& work) {                              \
            work.event = event;                                                                    \
            return cudaSuccess;                                                                    \
        });                                                                                        \
    }
CT_GET_AND_SET_EVENT(Record, true)
CT_GET_AND_SET_EVENT(Wait, false)
#undef CT_GET_AND_SET_EVENT

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src, size_t count,
                                           enum cudaMemcpyKind kind) {
    const cudaMemcpy3DParms params = flat_copy(dst, src, count, kind);
    return cudaGraphMemcpyNodeSetParams(node, &params);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* src,
                                                 size_t count, size_t offset, enum cudaMemcpyKind kind) {
    return with_work<copy_work>(
        node, [&](copy_work&) { return make_copy_to_symbol(symbol, src, count, offset, kind, node->work); });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const void* symbol, size_t count,
                                                   size_t offset, enum cudaMemcpyKind kind) {
    return with_work<copy_work>(
        node, [&](copy_work&) { return make_copy_from_symbol(dst, symbol, count, offset, kind, node->work); });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams* nodeParams) {
    return with_node(node, [&] {
        if (!nodeParams || nodeParams->type != type_of(node->work)) return cudaErrorInvalidValue;
        return make_changeable_work(*nodeParams, node->work);
    });
}

}  // extern "C"
