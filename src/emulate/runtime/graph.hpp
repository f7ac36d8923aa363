// Graphs: nodes, each with some work and the nodes that it comes behind. A stream that is captured adds to one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "emulate/runtime/kernels.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulate/runtime/streams.hpp"

namespace cornerturn::emulator {

struct kernel_work {
    const void* function = nullptr;
    launch_shape shape;
    std::vector<std::vector<std::byte>> arguments;
    std::vector<void*> addresses;                                          // of the arguments, as launches take them
    std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes;  // without effect; `shape` has what has one
};
struct copy_work {
    cudaMemcpy3DParms what;
};
struct set_work {
    cudaMemsetParams what;
};
struct host_work {
    cudaHostNodeParams what;
};
struct nothing {};
struct child_work {
    std::unique_ptr<CUgraph_st> graph;
};
struct event_work {
    cudaEvent_t event = nullptr;
    bool records = false;  // else it waits, and has nothing to wait for
};
struct allocation_work {
    cudaMemAllocNodeParams what;
    std::shared_ptr<reserved_memory> memory;
};
struct free_work {
    void* at = nullptr;
};
// What a handle of a conditional node stands for.
struct condition {
    unsigned value = 0, initial = 0;
    bool is_reset = false;  // to the initial value, by each launch
};
struct conditional_work {
    cudaGraphConditionalNodeType type{};
    std::shared_ptr<condition> asks;
    std::vector<std::unique_ptr<CUgraph_st>> bodies;
    std::vector<cudaGraph_t> handles;  // of the bodies
};
// In the order of cudaGraphNodeType, as far as that goes: see type_of().
using graph_work = std::variant<kernel_work, copy_work, set_work, host_work, child_work, nothing, event_work,
                                allocation_work, free_work, conditional_work>;

cudaGraphNodeType type_of(const graph_work& work);
graph_work copy_of(const graph_work& work);
// Of the program's parameters. Where they make no sense, an error, and `work` stays as it was. A kernel's attributes
// stay in any case: they are none of these parameters.
cudaError_t make_kernel_work(const cudaKernelNodeParams* params, graph_work& work);
cudaError_t make_allocation(cudaMemAllocNodeParams* params, graph_work& work);
cudaError_t make_child(cudaGraph_t child, graph_work& work);
cudaError_t make_copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                cudaMemcpyKind kind, graph_work& work);
cudaError_t make_copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                  cudaMemcpyKind kind, graph_work& work);
// A node of any type, for this graph; and one of a type whose parameters may change later.
cudaError_t make_work(cudaGraphNodeParams& params, cudaGraph_t graph, graph_work& work);
cudaError_t make_changeable_work(const cudaGraphNodeParams& params, graph_work& work);
bool is_valid(const cudaMemsetParams& what);
cudaMemcpy3DParms flat_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

// Does it at once: copies.cpp, streams.cpp and so on have what it calls.
cudaError_t do_work(const graph_work& work);
cudaError_t copy_memory(const cudaMemcpy3DParms& what);  // copies.cpp
cudaError_t set_memory(const cudaMemsetParams& what);    // copies.cpp
// copies.cpp: the bytes of a device variable, for a copy to it (`with_host` is cudaMemcpyHostToDevice) or from it
// (cudaMemcpyDeviceToHost); `kind` must be one of such a copy.
cudaError_t find_symbol_for_copy(const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                 cudaMemcpyKind with_host, char** at);
cudaError_t record_event(cudaEvent_t event);  // streams.cpp

// A launch in a stream that is captured.
cudaError_t submit_launch(const void* function, const launch_shape& shape, void** arguments);
// Gives the work to a stream: it is done at once, or becomes a node of the graph that the stream is captured into.
cudaError_t submit(cudaStream_t stream, graph_work work);

}  // namespace cornerturn::emulator

// Of the program's, that lives as long as anybody has references to it.
struct CUuserObject_st {
    CUuserObject_st(void* at, cudaHostFn_t ends_by) : object(at), end(ends_by) {}
    ~CUuserObject_st() { end(object); }
    CUuserObject_st(const CUuserObject_st&) = delete;
    CUuserObject_st& operator=(const CUuserObject_st&) = delete;

    void* object;
    cudaHostFn_t end;
};

namespace cornerturn::emulator {

// Those of one owner.
struct user_references {
    std::shared_ptr<CUuserObject_st> object;
    unsigned count = 0;
};

}  // namespace cornerturn::emulator

struct CUgraphNode_st {
    CUgraphNode_st(cudaGraph_t in, cornerturn::emulator::graph_work does);
    ~CUgraphNode_st();
    CUgraphNode_st(const CUgraphNode_st&) = delete;
    CUgraphNode_st& operator=(const CUgraphNode_st&) = delete;

    cudaGraph_t graph;
    cornerturn::emulator::graph_work work;
    std::vector<cudaGraphNode_t> behind;  // each once
    bool enabled = true;
    std::uint64_t id;
    std::uint64_t copied_from = 0;  // the id of the node that this is a copy of; 0: of none
};

struct CUgraph_st {
    CUgraph_st();
    ~CUgraph_st();
    CUgraph_st(const CUgraph_st&) = delete;
    CUgraph_st& operator=(const CUgraph_st&) = delete;

    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    std::vector<std::shared_ptr<cornerturn::emulator::condition>> conditions;
    std::map<cudaUserObject_t, cornerturn::emulator::user_references> objects;
    bool is_part = false;  // of a node: it goes with that
    std::uint64_t id;

    cudaGraphNode_t add(cornerturn::emulator::graph_work work, const std::vector<cudaGraphNode_t>& behind);
    // Each behind what it depends on, and else in the order in which they were added; fewer nodes where those depend on
    // one another in a circle.
    std::vector<cudaGraphNode_t> in_order() const;
    cudaGraphNode_t copy_of_node(std::uint64_t id) const;  // null: none is
};

namespace cornerturn::emulator {

bool graph_exists(cudaGraph_t graph);
bool node_exists(cudaGraphNode_t node);
std::unique_ptr<CUgraph_st> copy_of(const CUgraph_st& graph);
cudaError_t run_graph(const CUgraph_st& graph);

// Copies up to *count items, or says how many there are where `items` is null.
template <class T>
cudaError_t give_list(const std::vector<T>& list, T* items, std::size_t* count) {
    if (!count) return cudaErrorInvalidValue;
    if (items)
        for (std::size_t i = 0; i < *count; ++i) items[i] = i < list.size() ? list[i] : T{};
    if (!items || *count > list.size()) *count = list.size();
    return cudaSuccess;
}

// The captured state of a stream, for streams.cpp and others. capture.cpp has it.
bool is_capturing(cudaStream_t stream);
// A call that a captured stream does not allow: cudaErrorStreamCaptureUnsupported, and the capture is spoilt. A stream
// that is not captured: cudaSuccess.
cudaError_t refuse_in_capture(cudaStream_t stream);
// The same where any stream is captured, for calls that concern the whole device.
cudaError_t refuse_in_any_capture();
// A call that works in a stream: capture() makes a node of it, where the stream is captured; now() does it.
template <class Capture, class Do>
cudaError_t capture_or_do(cudaStream_t stream, Capture&& capture, Do&& now) {
    if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
    if (is_capturing(stream)) return capture();
    const cudaError_t error = refuse_in_capture(stream);
    return error ? error : now();
}
// An event is recorded in the stream, or waited for by it: true if it concerns a capture, with the call's result.
bool capture_record(cudaEvent_t event, cudaStream_t stream, cudaError_t& result);
bool capture_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t& result);
cudaError_t refuse_captured(cudaEvent_t event);  // as refuse_in_capture(), where it was recorded in a capture
void forget_captured(cudaEvent_t event);         // the event is recorded anew, or destroyed
void forget_captured(cudaStream_t stream);       // the stream is about to be destroyed
void forget_captures();                          // cudaDeviceReset
void forget_graphs();                            // the same

}  // namespace cornerturn::emulator
