// Streams: what of them the rest of the runtime needs.
#pragma once

#include <cuda_runtime_api.h>

namespace cornerturn::emulator {

// Whether work may be given to it: one that was created and not destroyed, or one of the default streams.
bool stream_exists(cudaStream_t stream);

// Whether the default stream waits for it, and it for the default stream.
bool blocks_legacy_stream(cudaStream_t stream);

// cudaDeviceReset: all streams and events go.
void forget_streams();

}  // namespace cornerturn::emulator
