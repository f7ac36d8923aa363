// Streams and events. All work runs at once, in the order of the calls. So a stream never has pending work, and an
// event is complete once it was recorded. Events store the host's time, because an emulated run has no GPU time.
#include "emulate/runtime/streams.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/handles.hpp"
#include "emulate/runtime/memory.hpp"

struct CUstream_st {
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
};

struct CUevent_st {
    unsigned flags = 0;
    bool recorded = false;
    std::chrono::steady_clock::time_point at{};
};

namespace cornerturn::emulator {
namespace {

constexpr int kLeastPriority = 0, kGreatestPriority = -5;  // those of an H200

struct stream_state {
    handles<CUstream_st> streams;
    handles<CUevent_st> events;
    std::atomic<unsigned long long> created{2};
};

stream_state& state() {
    static stream_state* const one = new stream_state;
    return *one;
}

bool is_default(cudaStream_t stream) { return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread; }

template <class Body>
cudaError_t with_stream(cudaStream_t stream, Body&& body) {
    return api_call([&] { return stream_exists(stream) ? body() : cudaErrorInvalidResourceHandle; });
}

template <class Body>
cudaError_t with_event(cudaEvent_t event, Body&& body) {
    return api_call([&] { return state().events.has(event) ? body() : cudaErrorInvalidResourceHandle; });
}

// All work is complete when its call returns, so there is nothing to wait for. Waiting for a captured stream is an
// error.
cudaError_t synchronize_with(cudaStream_t stream) {
    return with_stream(stream, [&] { return refuse_in_capture(stream); });
}
cudaError_t synchronize_with(cudaEvent_t event) {
    return with_event(event, [&] { return refuse_captured(event); });
}

// Adds a node for an event that work outside the graph records or waits for. The stream must be captured.
cudaError_t add_event_node(cudaStream_t stream, event_work work) {
    return is_capturing(stream) ? submit(stream, work) : cudaErrorIllegalState;
}

CUstream_st value_of(cudaStream_t stream) { return is_default(stream) ? CUstream_st{0, 0, 1} : *stream; }

}  // namespace

bool blocks_legacy_stream(cudaStream_t stream) { return (value_of(stream).flags & cudaStreamNonBlocking) == 0; }

cudaError_t record_event(cudaEvent_t event) {
    if (!state().events.has(event)) return cudaErrorInvalidResourceHandle;
    event->recorded = true;
    event->at = std::chrono::steady_clock::now();
    return cudaSuccess;
}

bool stream_exists(cudaStream_t stream) { return is_default(stream) || state().streams.has(stream); }

void forget_streams() {
    state().streams.clear();
    state().events.clear();
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* pStream) { return cudaStreamCreateWithPriority(pStream, 0, 0); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags) {
    return cudaStreamCreateWithPriority(pStream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int priority) {
    return api_call([&] {
        if (!pStream || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
        // CUDA uses the nearest valid priority.
        const int taken = std::max(kGreatestPriority, std::min(kLeastPriority, priority));
        *pStream = state().streams.add({flags, taken, ++state().created});
        return cudaSuccess;
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return api_call([&] {
        if (!state().streams.has(stream)) return cudaErrorInvalidResourceHandle;
        forget_captured(stream);
        state().streams.remove(stream);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return synchronize_with(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return synchronize_with(stream); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    return with_stream(stream, [&] {
        if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
        if (!state().events.has(event)) return cudaErrorInvalidResourceHandle;
        if (flags == cudaEventWaitExternal) return add_event_node(stream, {event, false});
        cudaError_t result = cudaSuccess;
        capture_wait(stream, event, result);
        return result;
    });
}

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int* priority) {
    return with_stream(hStream, [&] {
        if (!priority) return cudaErrorInvalidValue;
        *priority = value_of(hStream).priority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int* flags) {
    return with_stream(hStream, [&] {
        if (!flags) return cudaErrorInvalidValue;
        *flags = value_of(hStream).flags;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long* streamId) {
    return with_stream(hStream, [&] {
        if (!streamId) return cudaErrorInvalidValue;
        *streamId = hStream == cudaStreamPerThread ? 2 : value_of(hStream).id;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int* device) {
    return with_stream(hStream, [&] {
        if (!device) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    return api_call([&] {
        if (leastPriority) *leastPriority = kLeastPriority;
        if (greatestPriority) *greatestPriority = kGreatestPriority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* userData,
                                  unsigned int flags) {
    return with_stream(stream, [&] {
        if (!callback || flags) return cudaErrorInvalidValue;
        if (const cudaError_t error = refuse_in_capture(stream)) return error;
        callback(stream, cudaSuccess, userData);
        return cudaSuccess;
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
    return with_stream(stream, [&] {
        if (!fn) return cudaErrorInvalidValue;
        return submit(stream, host_work{{fn, userData}});
    });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* devPtr, size_t, unsigned int flags) {
    return with_stream(stream, [&] {
        const auto one = allocation_at(devPtr);
        const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
        return known && one && one->kind == allocation::managed ? cudaSuccess : cudaErrorInvalidValue;
    });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    return with_stream(dst, [&] { return stream_exists(src) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

// Attributes of a stream only change the speed, so setting them has no effect. Only the priority can be read.
cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, enum cudaLaunchAttributeID,
                                   const union cudaLaunchAttributeValue* value) {
    return with_stream(hStream, [&] { return value ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, enum cudaLaunchAttributeID attr,
                                   union cudaLaunchAttributeValue* value_out) {
    return with_stream(hStream, [&] {
        if (!value_out) return cudaErrorInvalidValue;
        if (attr != cudaLaunchAttributePriority) return cudaErrorNotSupported;
        value_out->priority = value_of(hStream).priority;
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    return api_call([&] {
        const bool untimed = flags & cudaEventDisableTiming;
        if (!event || flags > 7 || ((flags & cudaEventInterprocess) && !untimed)) return cudaErrorInvalidValue;
        *event = state().events.add({flags, false, {}});
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    return with_event(event, [&] {
        if (!stream_exists(stream)) return cudaErrorInvalidResourceHandle;
        if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
        if (flags == cudaEventRecordExternal) return add_event_node(stream, {event, true});
        cudaError_t result = cudaSuccess;
        return capture_record(event, stream, result) ? result : record_event(event);
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return synchronize_with(event); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return synchronize_with(event); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return api_call([&] {
        if (!state().events.remove(event)) return cudaErrorInvalidResourceHandle;
        forget_captured(event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
    return with_event(start, [&] {
        if (!ms) return cudaErrorInvalidValue;
        if (!state().events.has(end)) return cudaErrorInvalidResourceHandle;
        for (const cudaEvent_t event : {start, end}) {
            if (!event->recorded || (event->flags & cudaEventDisableTiming)) return cudaErrorInvalidResourceHandle;
        }
        *ms = std::chrono::duration<float, std::milli>(end->at - start->at).count();
        if (*ms == 0.0f && start != end) *ms = 1e-6f;  // programs divide by it
        return cudaSuccess;
    });
}

}  // extern "C"
