// Makes the work of a node from the program's parameters.
#include "emulate/runtime/graph.hpp"

namespace cornerturn::emulator {
namespace {

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
        if (reinterpret_cast<cudaGraphConditionalHandle>(known.get()) == params.handle) one.tested = known;
    if (!one.tested) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < params.size; ++i) {
        one.bodies.push_back(new_part());
        one.bodies.back()->conditions = graph->conditions;
        one.handles.push_back(one.bodies.back().get());
    }
    params.phGraph_out = one.handles.data();  // the array does not move when `one` is moved
    work = std::move(one);
    return cudaSuccess;
}

}  // namespace

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

bool is_valid(const cudaMemsetParams& params) {
    return params.elementSize == 1 || params.elementSize == 2 || params.elementSize == 4;
}

cudaError_t make_kernel_work(const cudaKernelNodeParams* params, graph_work& work) {
    if (!params || !facts_of(params->func)) return !params ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction;
    if (params->extra) return cudaErrorNotSupported;
    const std::vector<std::size_t> bytes = argument_bytes(params->func);
    if (!bytes.empty() && !params->kernelParams) return cudaErrorInvalidValue;
    kernel_work made{
        params->func, {params->gridDim, params->blockDim, params->sharedMemBytes, nullptr, false}, {}, {}, {}};
    if (const auto* const before = std::get_if<kernel_work>(&work)) {
        made.shape.cooperative = before->shape.cooperative;
        made.attributes = before->attributes;
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto* const value = static_cast<const std::byte*>(params->kernelParams[i]);
        made.arguments.emplace_back(value, value + bytes[i]);
    }
    made.addresses = addresses_of(made.arguments);
    work = std::move(made);
    return cudaSuccess;
}

cudaError_t submit_launch(const void* function, const launch_shape& shape, void** arguments) {
    const cudaKernelNodeParams params{const_cast<void*>(function),
                                      shape.grid,
                                      shape.block,
                                      static_cast<unsigned>(shape.shared_bytes),
                                      arguments,
                                      nullptr};
    graph_work work;
    if (const cudaError_t error = make_kernel_work(&params, work)) return error;
    std::get<kernel_work>(work).shape.cooperative = shape.cooperative;
    return submit(shape.stream, std::move(work));
}

cudaMemcpy3DParms flat_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    cudaMemcpy3DParms params{};
    params.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
    params.dstPtr = {to, bytes, bytes, 1};
    params.extent = {bytes, 1, 1};
    params.kind = kind;
    return params;
}

cudaError_t make_copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                cudaMemcpyKind kind, graph_work& work) {
    char* at = nullptr;
    const cudaError_t error = find_symbol_for_copy(symbol, bytes, offset, kind, cudaMemcpyHostToDevice, &at);
    if (error == cudaSuccess) work = copy_work{flat_copy(at, from, bytes, kind)};
    return error;
}

cudaError_t make_copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                  cudaMemcpyKind kind, graph_work& work) {
    char* at = nullptr;
    const cudaError_t error = find_symbol_for_copy(symbol, bytes, offset, kind, cudaMemcpyDeviceToHost, &at);
    if (error == cudaSuccess) work = copy_work{flat_copy(to, at, bytes, kind)};
    return error;
}

cudaError_t make_work(cudaGraphNodeParams& p, cudaGraph_t graph, graph_work& work) {
    switch (p.type) {
        case cudaGraphNodeTypeGraph: return make_child(p.graph.graph, work);
        case cudaGraphNodeTypeMemAlloc: return make_allocation(&p.alloc, work);
        case cudaGraphNodeTypeMemFree: work = free_work{p.free.dptr}; return cudaSuccess;
        case cudaGraphNodeTypeConditional: return make_conditional(p.conditional, graph, work);
        default: return make_changeable_work(p, work);
    }
}

cudaError_t make_changeable_work(const cudaGraphNodeParams& p, graph_work& work) {
    switch (p.type) {
        case cudaGraphNodeTypeKernel: {
            const cudaKernelNodeParams params{p.kernel.func,           p.kernel.gridDim,      p.kernel.blockDim,
                                              p.kernel.sharedMemBytes, p.kernel.kernelParams, p.kernel.extra};
            return make_kernel_work(&params, work);
        }
        case cudaGraphNodeTypeMemcpy: work = copy_work{p.memcpy.copyParams}; return cudaSuccess;
        case cudaGraphNodeTypeMemset:
            if (!is_valid(p.memset)) return cudaErrorInvalidValue;
            work = set_work{p.memset};
            return cudaSuccess;
        case cudaGraphNodeTypeHost:
            if (!p.host.fn) return cudaErrorInvalidValue;
            work = host_work{p.host};
            return cudaSuccess;
        case cudaGraphNodeTypeEmpty: work = empty_work{}; return cudaSuccess;
        case cudaGraphNodeTypeWaitEvent: work = event_work{p.eventWait.event, false}; return cudaSuccess;
        case cudaGraphNodeTypeEventRecord: work = event_work{p.eventRecord.event, true}; return cudaSuccess;
        default: return cudaErrorNotSupported;
    }
}

}  // namespace cornerturn::emulator
