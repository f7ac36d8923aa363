// Chooses the instruction set. Highway includes this file again for each: targets/ has what is declared here.
#include "host/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "host/casts.hpp"
#include "host/kernels.hpp"

namespace cornerturn::host::HWY_NAMESPACE {
kernels kernels_for(std::int64_t size);
cast_function cast_elements();
}  // namespace cornerturn::host::HWY_NAMESPACE

#if HWY_ONCE
namespace cornerturn::host {

HWY_EXPORT(kernels_for);
kernels kernels_for(std::int64_t size) { return HWY_DYNAMIC_DISPATCH(kernels_for)(size); }

HWY_EXPORT(cast_elements);
cast_function cast_elements() { return HWY_DYNAMIC_DISPATCH(cast_elements)(); }

void end_stream() { hwy::FlushStream(); }

}  // namespace cornerturn::host
#endif
