// Memory pools, for the rest of the runtime.
#pragma once

namespace cornerturn::emulator {

void pool_forgets(void* at);  // the memory was freed: its pool, if it has one, no longer counts it

}  // namespace cornerturn::emulator
