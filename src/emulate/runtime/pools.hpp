// Memory pools: what of them the rest of the runtime needs.
#pragma once

namespace cornerturn::emulator {

void pool_forgets(void* at);  // device memory goes: if a pool gave it, the pool no longer counts it

}  // namespace cornerturn::emulator
