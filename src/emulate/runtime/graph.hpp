// Graphs. A node has work and the nodes on which it depends. A captured stream adds nodes to a graph.
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
    std::vector<void*> addresses;  // of the arguments, in the form that launches take
    // These have no effect here. `shape` holds the attributes that have one.
    std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes;
};
struct copy_work {
    cudaMemcpy3DParms params;
};
struct set_work {
    cudaMemsetParams params;
};
struct host_work {
    cudaHostNodeParams params;
};
struct empty_work {};
struct child_work {
    std::unique_ptr<CUgraph_st> graph;
};
struct event_work {
    cudaEvent_t event = nullptr;
    bool records = false;  // false: it waits, which has no effect here
};
struct allocation_work {
    cudaMemAllocNodeParams params;
    std::shared_ptr<reserved_memory> memory;
};
struct free_work {
    void* at = nullptr;
};
// The value behind a cudaGraphConditionalHandle.
struct condition {
    unsigned value = 0, initial = 0;
    bool is_reset = false;  // each launch resets it to the initial value
};
struct conditional_work {
    cudaGraphConditionalNodeType type{};
    std::shared_ptr<condition> tested;
    std::vector<std::unique_ptr<CUgraph_st>> bodies;
    std::vector<cudaGraph_t> handles;  // of the bodies
};
// The first six are in the order of cudaGraphNodeType: see type_of().
using graph_work = std::variant<kernel_work, copy_work, set_work, host_work, child_work, empty_work, event_work,
                                allocation_work, free_work, conditional_work>;

cudaGraphNodeType type_of(const graph_work& work);
graph_work copy_of(const graph_work& work);
// These make a node's work from the program's parameters. If those are invalid, they return an error and do not change
// `work`. A kernel node keeps its attributes, which are not part of these parameters.
cudaError_t make_kernel_work(const cudaKernelNodeParams* params, graph_work& work);
cudaError_t make_allocation(cudaMemAllocNodeParams* params, graph_work& work);
cudaError_t make_child(cudaGraph_t child, graph_work& work);
cudaError_t make_copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                cudaMemcpyKind kind, graph_work& work);
cudaError_t make_copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                  cudaMemcpyKind kind, graph_work& work);
// make_work() takes nodes of any type. make_changeable_work() takes only the types whose parameters may change later.
cudaError_t make_work(cudaGraphNodeParams& params, cudaGraph_t graph, graph_work& work);
cudaError_t make_changeable_work(const cudaGraphNodeParams& params, graph_work& work);
bool is_valid(const cudaMemsetParams& params);
cudaMemcpy3DParms flat_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

// Runs the work at once.
cudaError_t do_work(const graph_work& work);
cudaError_t copy_memory(const cudaMemcpy3DParms& params);  // copies.cpp
cudaError_t set_memory(const cudaMemsetParams& params);    // copies.cpp
// copies.cpp: finds the bytes of a device variable for a copy to it or from it. `kind_with_host`: the kind of this copy
// if the other operand is host memory (cudaMemcpyHostToDevice or cudaMemcpyDeviceToHost). `kind` must be that, device
// to device, or default.
cudaError_t find_symbol_for_copy(const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                 cudaMemcpyKind kind_with_host, char** at);
cudaError_t record_event(cudaEvent_t event);  // streams.cpp

// Adds a launch to the graph that the stream is captured into.
cudaError_t submit_launch(const void* function, const launch_shape& shape, void** arguments);
// Submits the work to a stream: it runs at once, or becomes a node of the graph that the stream is captured into.
cudaError_t submit(cudaStream_t stream, graph_work work);

}  // namespace cornerturn::emulator

// An object of the program. It lives as long as there are references to it.
struct CUuserObject_st {
    CUuserObject_st(void* at, cudaHostFn_t ends_by) : object(at), end(ends_by) {}
    ~CUuserObject_st() { end(object); }
    CUuserObject_st(const CUuserObject_st&) = delete;
    CUuserObject_st& operator=(const CUuserObject_st&) = delete;

    void* object;
    cudaHostFn_t end;
};

namespace cornerturn::emulator {

// The references of one owner.
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
    std::vector<cudaGraphNode_t> dependencies;  // without duplicates
    bool enabled = true;
    std::uint64_t id;
    std::uint64_t copied_from = 0;  // the id of the original node; 0: this is no copy
};

struct CUgraph_st {
    CUgraph_st();
    ~CUgraph_st();
    CUgraph_st(const CUgraph_st&) = delete;
    CUgraph_st& operator=(const CUgraph_st&) = delete;

    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
    std::vector<std::shared_ptr<cornerturn::emulator::condition>> conditions;
    std::map<cudaUserObject_t, cornerturn::emulator::user_references> objects;
    bool is_part = false;  // part of a node, which destroys it
    std::uint64_t id;

    cudaGraphNode_t add(cornerturn::emulator::graph_work work, const std::vector<cudaGraphNode_t>& dependencies);
    // Each node after its dependencies, otherwise in the order of addition. Nodes in a cycle, and nodes that depend on
    // them, are missing.
    std::vector<cudaGraphNode_t> in_order() const;
    cudaGraphNode_t copy_of_node(std::uint64_t id) const;  // null: there is none
};

namespace cornerturn::emulator {

bool graph_exists(cudaGraph_t graph);
bool node_exists(cudaGraphNode_t node);
std::unique_ptr<CUgraph_st> copy_of(const CUgraph_st& graph);
cudaError_t run_graph(const CUgraph_st& graph);

// Copies up to *count items. If `items` is null, stores only the number of items in *count.
template <class T>
cudaError_t copy_list(const std::vector<T>& list, T* items, std::size_t* count) {
    if (!count) return cudaErrorInvalidValue;
    if (items)
        for (std::size_t i = 0; i < *count; ++i) items[i] = i < list.size() ? list[i] : T{};
    if (!items || *count > list.size()) *count = list.size();
    return cudaSuccess;
}

// capture.cpp: whether the stream is being captured.
bool is_capturing(cudaStream_t stream);
// For a call that is not allowed in a captured stream: invalidates the capture and returns
// cudaErrorStreamCaptureUnsupported. Returns cudaSuccess if the stream is not captured.
cudaError_t refuse_in_capture(cudaStream_t stream);
// The same if any stream is captured, for calls that affect the whole device.
cudaError_t refuse_in_any_capture();
// For a call that works in a stream: capture() adds a node if the stream is captured. Otherwise now() does the work.
template <class Capture, class Do>
cudaError_t capture_or_do(cudaStream_t stream, Capture&& capture, Do&& now) {
    if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
    if (is_capturing(stream)) return capture();
    const cudaError_t error = refuse_in_capture(stream);
    return error ? error : now();
}
// For a call that records the event in the stream, or makes the stream wait for it. True: the call belongs to a
// capture, and `result` is its result.
bool capture_record(cudaEvent_t event, cudaStream_t stream, cudaError_t& result);
bool capture_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t& result);
cudaError_t refuse_captured(cudaEvent_t event);  // like refuse_in_capture(), if it was recorded in a capture
void forget_captured(cudaEvent_t event);         // the event was destroyed
void forget_captured(cudaStream_t stream);       // the stream is about to be destroyed
void forget_captures();                          // cudaDeviceReset
void forget_graphs();                            // cudaDeviceReset

}  // namespace cornerturn::emulator
