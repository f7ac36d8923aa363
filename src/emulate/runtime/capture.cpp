// Stream capture: work in a captured stream becomes a node of a graph and does not run. A stream joins the capture of
// another stream when it waits for an event recorded there.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_set>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/streams.hpp"

namespace cornerturn::emulator {
namespace {

struct sequence {
    cudaGraph_t graph;
    std::unique_ptr<CUgraph_st> owned;  // the same graph; null: the program has it already
    cudaStream_t origin;
    unsigned long long id;
    bool is_invalidated = false;
    std::vector<cudaGraphNode_t> unjoined;  // the last nodes of destroyed streams: the origin must wait for them
};

struct captured_stream {
    std::shared_ptr<sequence> in;
    std::vector<cudaGraphNode_t> dependencies;  // of the stream's next node
};

struct captured_event {
    std::weak_ptr<sequence> in;
    std::vector<cudaGraphNode_t> dependencies;
};

struct capture_state {
    std::recursive_mutex mutex;
    std::map<cudaStream_t, captured_stream> streams;
    std::map<cudaEvent_t, captured_event> events;
    std::atomic<std::size_t> stream_count{0};  // captured streams; nearly always 0
    unsigned long long ids = 0;
};

capture_state& state() {
    static capture_state* const one = new capture_state;
    return *one;
}

captured_stream* find(cudaStream_t stream) {
    const auto found = state().streams.find(stream);
    return found == state().streams.end() ? nullptr : &found->second;
}

void merge(std::vector<cudaGraphNode_t>& nodes, const std::vector<cudaGraphNode_t>& more) {
    for (const cudaGraphNode_t node : more)
        if (std::count(nodes.begin(), nodes.end(), node) == 0) nodes.push_back(node);
}

// The graph is destroyed too, unless the program has taken it.
void end_sequence(const std::shared_ptr<sequence>& ended) {
    std::erase_if(state().streams, [&](const auto& one) { return one.second.in == ended; });
    std::erase_if(state().events, [&](const auto& one) { return one.second.in.lock() == ended; });
    state().stream_count = state().streams.size();
}

// Whether the origin has waited for all work of the other streams in its capture.
bool is_joined(const captured_stream& origin) {
    std::unordered_set<cudaGraphNode_t> reached(origin.dependencies.begin(), origin.dependencies.end());
    std::vector<cudaGraphNode_t> ahead = origin.dependencies;
    while (!ahead.empty()) {
        const cudaGraphNode_t node = ahead.back();
        ahead.pop_back();
        for (const cudaGraphNode_t before : node->dependencies)
            if (reached.insert(before).second) ahead.push_back(before);
    }
    std::vector<cudaGraphNode_t> last = origin.in->unjoined;
    for (const auto& [stream, other] : state().streams)
        if (other.in == origin.in) merge(last, other.dependencies);
    return std::all_of(last.begin(), last.end(), [&](cudaGraphNode_t node) { return reached.count(node) > 0; });
}

// Work in the legacy stream waits for all streams that block it, and nothing can wait for a captured stream. Returns
// the capture that the work would invalidate, or null.
sequence* capture_waited_for(cudaStream_t stream) {
    if (stream != nullptr && stream != cudaStreamLegacy) return nullptr;
    for (const auto& [other, captured] : state().streams)
        if (blocks_legacy_stream(other)) return captured.in.get();
    return nullptr;
}

bool invalidates_capture(cudaStream_t stream) {
    sequence* const invalidated = capture_waited_for(stream);
    if (invalidated) invalidated->is_invalidated = true;
    return invalidated != nullptr;
}

cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, std::unique_ptr<CUgraph_st> owned,
                  std::vector<cudaGraphNode_t> dependencies) {
    const std::lock_guard lock(state().mutex);
    if (find(stream)) return cudaErrorIllegalState;
    auto started = std::make_shared<sequence>(sequence{graph, std::move(owned), stream, ++state().ids, false, {}});
    state().streams[stream] = {std::move(started), std::move(dependencies)};
    state().stream_count = state().streams.size();
    return cudaSuccess;
}

cudaError_t check_begin(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
    if (stream == nullptr || stream == cudaStreamLegacy) return cudaErrorStreamCaptureUnsupported;
    const bool known = mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed;
    return known ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

bool is_capturing(cudaStream_t stream) {
    if (state().stream_count == 0) return false;
    const std::lock_guard lock(state().mutex);
    return find(stream) != nullptr;
}

cudaError_t submit(cudaStream_t stream, graph_work work) {
    if (state().stream_count > 0) {
        const std::lock_guard lock(state().mutex);
        if (captured_stream* const captured = find(stream)) {
            if (captured->in->is_invalidated) return cudaErrorStreamCaptureInvalidated;
            captured->dependencies = {captured->in->graph->add(std::move(work), captured->dependencies)};
            return cudaSuccess;
        }
        if (invalidates_capture(stream)) return cudaErrorStreamCaptureImplicit;
    }
    return do_work(work);
}

cudaError_t refuse_in_capture(cudaStream_t stream) {
    if (state().stream_count == 0) return cudaSuccess;
    const std::lock_guard lock(state().mutex);
    captured_stream* const captured = find(stream);
    if (!captured) return invalidates_capture(stream) ? cudaErrorStreamCaptureImplicit : cudaSuccess;
    captured->in->is_invalidated = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_in_any_capture() {
    if (state().stream_count == 0) return cudaSuccess;
    const std::lock_guard lock(state().mutex);
    for (const auto& [stream, captured] : state().streams) captured.in->is_invalidated = true;
    return state().streams.empty() ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

bool capture_record(cudaEvent_t event, cudaStream_t stream, cudaError_t& result) {
    if (state().stream_count == 0) return false;
    const std::lock_guard lock(state().mutex);
    const captured_stream* const captured = find(stream);
    if (!captured) {
        result = cudaErrorStreamCaptureImplicit;
        if (invalidates_capture(stream)) return true;
        state().events.erase(event);
        return false;
    }
    result = captured->in->is_invalidated ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (result == cudaSuccess) state().events[event] = {captured->in, captured->dependencies};
    return true;
}

bool capture_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t& result) {
    if (state().stream_count == 0) return false;
    const std::lock_guard lock(state().mutex);
    captured_stream* const captured = find(stream);
    const auto found = state().events.find(event);
    const std::shared_ptr<sequence> in = found != state().events.end() ? found->second.in.lock() : nullptr;
    if (!captured && !in) return false;
    if (!in) {  // recorded outside of any capture: the graph does not contain that work
        captured->in->is_invalidated = true;
        result = cudaErrorStreamCaptureIsolation;
    } else if (captured && captured->in != in) {
        captured->in->is_invalidated = in->is_invalidated = true;
        result = cudaErrorStreamCaptureMerge;
    } else if (stream == nullptr || stream == cudaStreamLegacy) {
        in->is_invalidated = true;
        result = cudaErrorStreamCaptureImplicit;
    } else {
        captured_stream& joins = state().streams[stream];
        joins.in = in;
        merge(joins.dependencies, found->second.dependencies);
        state().stream_count = state().streams.size();
        result = in->is_invalidated ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    }
    return true;
}

cudaError_t refuse_captured(cudaEvent_t event) {
    if (state().stream_count == 0) return cudaSuccess;
    const std::lock_guard lock(state().mutex);
    const auto found = state().events.find(event);
    if (found == state().events.end()) return cudaSuccess;
    if (const std::shared_ptr<sequence> in = found->second.in.lock()) in->is_invalidated = true;
    return cudaErrorCapturedEvent;
}

void forget_captured(cudaEvent_t event) {
    const std::lock_guard lock(state().mutex);
    state().events.erase(event);
}

void forget_captured(cudaStream_t stream) {
    const std::lock_guard lock(state().mutex);
    captured_stream* const captured = find(stream);
    if (!captured) return;
    const std::shared_ptr<sequence> in = captured->in;
    if (in->origin == stream) return end_sequence(in);
    merge(in->unjoined, captured->dependencies);
    state().streams.erase(stream);
    state().stream_count = state().streams.size();
}

void forget_captures() {
    const std::lock_guard lock(state().mutex);
    state().streams.clear();
    state().events.clear();
    state().stream_count = 0;
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    return api_call([&] {
        if (const cudaError_t error = check_begin(stream, mode)) return error;
        auto graph = std::make_unique<CUgraph_st>();
        const cudaGraph_t handle = graph.get();
        return begin(stream, handle, std::move(graph), {});
    });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, size_t numDependencies,
                                          enum cudaStreamCaptureMode mode) {
    return api_call([&] {
        if (const cudaError_t error = check_begin(stream, mode)) return error;
        if (!graph_exists(graph) || (numDependencies && !dependencies)) return cudaErrorInvalidValue;
        const std::vector<cudaGraphNode_t> nodes(dependencies, dependencies + numDependencies);
        for (const cudaGraphNode_t node : nodes)
            if (!node_exists(node) || node->graph != graph) return cudaErrorInvalidValue;
        return begin(stream, graph, nullptr, nodes);
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
    return api_call([&] {
        const std::lock_guard lock(state().mutex);
        captured_stream* const captured = find(stream);
        if (!captured) return stream_exists(stream) ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
        const std::shared_ptr<sequence> in = captured->in;
        if (in->owned && !pGraph) return cudaErrorInvalidValue;
        if (in->origin != stream) {
            in->is_invalidated = true;
            return cudaErrorStreamCaptureUnmatched;
        }
        const cudaError_t error = in->is_invalidated     ? cudaErrorStreamCaptureInvalidated
                                  : is_joined(*captured) ? cudaSuccess
                                                         : cudaErrorStreamCaptureUnjoined;
        if (pGraph) *pGraph = error == cudaSuccess ? in->graph : nullptr;
        if (error == cudaSuccess) in->owned.release();
        end_sequence(in);
        return error;
    });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* pCaptureStatus) {
    return cudaStreamGetCaptureInfo(stream, pCaptureStatus, nullptr, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* captureStatus_out,
                                     unsigned long long* id_out, cudaGraph_t* graph_out,
                                     const cudaGraphNode_t** dependencies_out, const cudaGraphEdgeData** edgeData_out,
                                     size_t* numDependencies_out) {
    return api_call([&] {
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        if (!captureStatus_out) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        if (capture_waited_for(stream)) return cudaErrorStreamCaptureImplicit;  // does not invalidate the capture
        const captured_stream* const captured = find(stream);
        *captureStatus_out = !captured                      ? cudaStreamCaptureStatusNone
                             : captured->in->is_invalidated ? cudaStreamCaptureStatusInvalidated
                                                            : cudaStreamCaptureStatusActive;
        if (!captured) return cudaSuccess;
        if (id_out) *id_out = captured->in->id;
        if (graph_out) *graph_out = captured->in->graph;
        if (dependencies_out) *dependencies_out = captured->dependencies.data();
        if (edgeData_out) *edgeData_out = nullptr;
        if (numDependencies_out) *numDependencies_out = captured->dependencies.size();
        return cudaSuccess;
    });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t numDependencies, unsigned int flags) {
    return api_call([&] {
        const std::lock_guard lock(state().mutex);
        captured_stream* const captured = find(stream);
        if (!captured) return stream_exists(stream) ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
        if ((numDependencies && !dependencies) || flags > cudaStreamSetCaptureDependencies)
            return cudaErrorInvalidValue;
        const std::vector<cudaGraphNode_t> nodes(dependencies, dependencies + numDependencies);
        for (const cudaGraphNode_t node : nodes)
            if (!node_exists(node) || node->graph != captured->in->graph) return cudaErrorInvalidValue;
        if (flags == cudaStreamSetCaptureDependencies) captured->dependencies.clear();
        merge(captured->dependencies, nodes);
        return cudaSuccess;
    });
}

// In CUDA the mode decides which calls a capture forbids to other threads. Here it has no effect.
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode) {
    static thread_local cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
    return api_call([&] {
        if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
            return cudaErrorInvalidValue;
        std::swap(*mode, own);
        return cudaSuccess;
    });
}

}  // extern "C"
