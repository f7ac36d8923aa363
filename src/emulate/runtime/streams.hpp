// Streams, for the rest of the runtime.
#pragma once

#include <cuda_runtime_api.h>

namespace cornerturn::emulator {

// Whether work may be submitted to the stream: it exists, or it is one of the default streams.
bool stream_exists(cudaStream_t stream);

// Whether the stream and the legacy default stream wait for each other.
bool blocks_legacy_stream(cudaStream_t stream);

// cudaDeviceReset: destroys all streams and events.
void forget_streams();

}  // namespace cornerturn::emulator
