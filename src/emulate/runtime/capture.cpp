// Capturing streams: what is given to one becomes a node of a graph, and is not done. A stream joins the capture of
// another when it waits for an event that was recorded there.
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
    std::unique_ptr<CUgraph_st> owned;  // the same graph, where no program has it before the capture ends
    cudaStream_t origin;
    unsigned long long id;
    bool is_spoilt = false;
    std::vector<cudaGraphNode_t> left;  // the last nodes of streams that were destroyed, still to be joined
};

struct captured_stream {
    std::shared_ptr<sequence> in;
    std::vector<cudaGraphNode_t> behind;  // what the stream's next node depends on
};

struct captured_event {
    std::weak_ptr<sequence> in;
    std::vector<cudaGraphNode_t> behind;
};

struct capture_state {
    std::recursive_mutex mutex;
    std::map<cudaStream_t, captured_stream> streams;
    std::map<cudaEvent_t, captured_event> events;
    std::atomic<std::size_t> stream_count{0};  // that are captured: none, nearly always
    unsigned long long ids = 0;
};

capture_state& all() {
    static capture_state* const one = new capture_state;
    return *one;
}

captured_stream* find(cudaStream_t stream) {
    const auto found = all().streams.find(stream);
    return found == all().streams.end() ? nullptr : &found->second;
}

void join(std::vector<cudaGraphNode_t>& nodes, const std::vector<cudaGraphNode_t>& more) {
    for (const cudaGraphNode_t node : more)
        if (std::count(nodes.begin(), nodes.end(), node) == 0) nodes.push_back(node);
}

// Its graph goes, too, unless the program has it by now.
void end_sequence(const std::shared_ptr<sequence>& ended) {
    std::erase_if(all().streams, [&](const auto& one) { return one.second.in == ended; });
    std::erase_if(all().events, [&](const auto& one) { return one.second.in.lock() == ended; });
    all().stream_count = all().streams.size();
}

// Whether the origin has waited for all that the other streams of its capture have done.
bool is_joined(const captured_stream& origin) {
    std::unordered_set<cudaGraphNode_t> reached(origin.behind.begin(), origin.behind.end());
    std::vector<cudaGraphNode_t> ahead = origin.behind;
    while (!ahead.empty()) {
        const cudaGraphNode_t node = ahead.back();
        ahead.pop_back();
        for (const cudaGraphNode_t before : node->behind)
            if (reached.insert(before).second) ahead.push_back(before);
    }
    std::vector<cudaGraphNode_t> last = origin.in->left;
    for (const auto& [stream, other] : all().streams)
        if (other.in == origin.in) join(last, other.behind);
    return std::all_of(last.begin(), last.end(), [&](cudaGraphNode_t node) { return reached.count(node) > 0; });
}

// Work in the legacy stream waits for all streams that block it. A captured stream cannot be waited for: this is the
// capture that the work would spoil, or null.
sequence* capture_ahead_of(cudaStream_t stream) {
    if (stream != nullptr && stream != cudaStreamLegacy) return nullptr;
    for (const auto& [other, captured] : all().streams)
        if (blocks_legacy_stream(other)) return captured.in.get();
    return nullptr;
}

bool spoils_capture(cudaStream_t stream) {
    sequence* const spoilt = capture_ahead_of(stream);
    if (spoilt) spoilt->is_spoilt = true;
    return spoilt != nullptr;
}

cudaError_t begin(cudaStream_t stream, cudaGraph_t graph, std::unique_ptr<CUgraph_st> owned,
                  std::vector<cudaGraphNode_t> behind) {
    const std::lock_guard lock(all().mutex);
    if (find(stream)) return cudaErrorIllegalState;
    auto started = std::make_shared<sequence>(sequence{graph, std::move(owned), stream, ++all().ids, false, {}});
    all().streams[stream] = {std::move(started), std::move(behind)};
    all().stream_count = all().streams.size();
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
    if (all().stream_count == 0) return false;
    const std::lock_guard lock(all().mutex);
    return find(stream) != nullptr;
}

cudaError_t submit(cudaStream_t stream, graph_work work) {
    if (all().stream_count > 0) {
        const std::lock_guard lock(all().mutex);
        if (captured_stream* const captured = find(stream)) {
            if (captured->in->is_spoilt) return cudaErrorStreamCaptureInvalidated;
            captured->behind = {captured->in->graph->add(std::move(work), captured->behind)};
            return cudaSuccess;
        }
        if (spoils_capture(stream)) return cudaErrorStreamCaptureImplicit;
    }
    return do_work(work);
}

cudaError_t refuse_in_capture(cudaStream_t stream) {
    if (all().stream_count == 0) return cudaSuccess;
    const std::lock_guard lock(all().mutex);
    captured_stream* const captured = find(stream);
    if (!captured) return spoils_capture(stream) ? cudaErrorStreamCaptureImplicit : cudaSuccess;
    captured->in->is_spoilt = true;
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_in_any_capture() {
    if (all().stream_count == 0) return cudaSuccess;
    const std::lock_guard lock(all().mutex);
    for (const auto& [stream, captured] : all().streams) captured.in->is_spoilt = true;
    return all().streams.empty() ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

bool capture_record(cudaEvent_t event, cudaStream_t stream, cudaError_t& result) {
    if (all().stream_count == 0) return false;
    const std::lock_guard lock(all().mutex);
    const captured_stream* const captured = find(stream);
    if (!captured) {
        result = cudaErrorStreamCaptureImplicit;
        if (spoils_capture(stream)) return true;
        all().events.erase(event);
        return false;
    }
    result = captured->in->is_spoilt ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (result == cudaSuccess) all().events[event] = {captured->in, captured->behind};
    return true;
}

bool capture_wait(cudaStream_t stream, cudaEvent_t event, cudaError_t& result) {
    if (all().stream_count == 0) return false;
    const std::lock_guard lock(all().mutex);
    captured_stream* const captured = find(stream);
    const auto found = all().events.find(event);
    const std::shared_ptr<sequence> in = found != all().events.end() ? found->second.in.lock() : nullptr;
    if (!captured && !in) return false;
    if (!in) {  // what came before the capture, of which the graph knows nothing
        captured->in->is_spoilt = true;
        result = cudaErrorStreamCaptureIsolation;
    } else if (captured && captured->in != in) {
        captured->in->is_spoilt = in->is_spoilt = true;
        result = cudaErrorStreamCaptureMerge;
    } else if (stream == nullptr || stream == cudaStreamLegacy) {
        in->is_spoilt = true;
        result = cudaErrorStreamCaptureImplicit;
    } else {
        captured_stream& joins = all().streams[stream];
        joins.in = in;
        join(joins.behind, found->second.behind);
        all().stream_count = all().streams.size();
        result = in->is_spoilt ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    }
    return true;
}

cudaError_t refuse_captured(cudaEvent_t event) {
    if (all().stream_count == 0) return cudaSuccess;
    const std::lock_guard lock(all().mutex);
    const auto found = all().events.find(event);
    if (found == all().events.end()) return cudaSuccess;
    if (const std::shared_ptr<sequence> in = found->second.in.lock()) in->is_spoilt = true;
    return cudaErrorCapturedEvent;
}

void forget_captured(cudaEvent_t event) {
    const std::lock_guard lock(all().mutex);
    all().events.erase(event);
}

void forget_captured(cudaStream_t stream) {
    const std::lock_guard lock(all().mutex);
    captured_stream* const captured = find(stream);
    if (!captured) return;
    const std::shared_ptr<sequence> in = captured->in;
    if (in->origin == stream) return end_sequence(in);
    join(in->left, captured->behind);
    all().streams.erase(stream);
    all().stream_count = all().streams.size();
}

void forget_captures() {
    const std::lock_guard lock(all().mutex);
    all().streams.clear();
    all().events.clear();
    all().stream_count = 0;
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
        const std::vector<cudaGraphNode_t> behind(dependencies, dependencies + numDependencies);
        for (const cudaGraphNode_t node : behind)
            if (!node_exists(node) || node->graph != graph) return cudaErrorInvalidValue;
        return begin(stream, graph, nullptr, behind);
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
    return api_call([&] {
        const std::lock_guard lock(all().mutex);
        captured_stream* const captured = find(stream);
        if (!captured) return stream_exists(stream) ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
        const std::shared_ptr<sequence> in = captured->in;
        if (in->owned && !pGraph) return cudaErrorInvalidValue;
        if (in->origin != stream) {
            in->is_spoilt = true;
            return cudaErrorStreamCaptureUnmatched;
        }
        const cudaError_t error = in->is_spoilt          ? cudaErrorStreamCaptureInvalidated
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
        const std::lock_guard lock(all().mutex);
        if (capture_ahead_of(stream)) return cudaErrorStreamCaptureImplicit;  // which does not spoil the capture
        const captured_stream* const captured = find(stream);
        *captureStatus_out = !captured                 ? cudaStreamCaptureStatusNone
                             : captured->in->is_spoilt ? cudaStreamCaptureStatusInvalidated
                                                       : cudaStreamCaptureStatusActive;
        if (!captured) return cudaSuccess;
        if (id_out) *id_out = captured->in->id;
        if (graph_out) *graph_out = captured->in->graph;
        if (dependencies_out) *dependencies_out = captured->behind.data();
        if (edgeData_out) *edgeData_out = nullptr;
        if (numDependencies_out) *numDependencies_out = captured->behind.size();
        return cudaSuccess;
    });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t numDependencies, unsigned int flags) {
    return api_call([&] {
        const std::lock_guard lock(all().mutex);
        captured_stream* const captured = find(stream);
        if (!captured) return stream_exists(stream) ? cudaErrorIllegalState : cudaErrorInvalidResourceHandle;
        if ((numDependencies && !dependencies) || flags > cudaStreamSetCaptureDependencies)
            return cudaErrorInvalidValue;
        const std::vector<cudaGraphNode_t> nodes(dependencies, dependencies + numDependencies);
        for (const cudaGraphNode_t node : nodes)
            if (!node_exists(node) || node->graph != captured->in->graph) return cudaErrorInvalidValue;
        if (flags == cudaStreamSetCaptureDependencies) captured->behind.clear();
        join(captured->behind, nodes);
        return cudaSuccess;
    });
}

// The mode decides which calls a capture forbids to other threads; here all modes forbid the same.
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
