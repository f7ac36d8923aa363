#include "ops/permute/work.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#endif

namespace cornerturn {
namespace {

constexpr rung_notes kCutensor{
    .id = "baseline/cutensor",
    .idea = "cuTENSOR's permutation by one, with the identity: what the vendor's library gives.",
    .change = "A peer, not a rung.",
    .contract =
        "Elements that are half or single floats, doubles or complex doubles; positive strides. The plan is made at "
        "the "
        "first call for a shape, and kept. cuTENSOR is loaded when first called.",
    .bytes = "2 * elements * e",
    .limit = "cuTENSOR's kernels: short axes, and those that are odd.",
    .source = "NVIDIA cuTENSOR 2, cutensorPermute.",
};

#if defined(CORNERTURN_WITH_CUDA)

// What is needed of cuTENSOR's C interface, without its header.
using opaque = void*;
using status = int;
constexpr int kIdentity = 1, kDefaultAlgorithm = -1, kNoJit = 0;

class cutensor {
public:
    // Throws unsupported where there is none.
    static cutensor& instance() {
        static cutensor loaded;
        return loaded;
    }

    void permute(const strided_work& work, cudaDataType_t type, const char* compute, const void* one) {
        const std::uint32_t from = alignment(work.source), to = alignment(work.destination);
        if (plan_ == nullptr || !is_same(work) || from != source_alignment_ || to != destination_alignment_) {
            make_plan(work, type, compute, from, to);
            made_for_ = work;
            source_alignment_ = from;
            destination_alignment_ = to;
        }
        const auto run =
            find<status (*)(opaque, opaque, const void*, const void*, void*, cudaStream_t)>("cutensorPermute");
        check(run(handle_, plan_, one, work.source, work.destination, device::current_stream()), "cutensorPermute");
    }

private:
    cutensor() : library_(dlopen("libcutensor.so.2", RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw unsupported(fmt::format("cuTENSOR cannot be loaded: {}", dlerror()));
        check(find<status (*)(opaque*)>("cutensorCreate")(&handle_), "cutensorCreate");
    }

    template <class F>
    F find(const char* name) const {
        void* const symbol = dlsym(library_, name);
        if (symbol == nullptr) throw unsupported(fmt::format("this cuTENSOR has no {}", name));
        return reinterpret_cast<F>(symbol);
    }

    static void check(status s, const char* function) {
        constexpr status kNotSupported = 15;
        if (s == kNotSupported) throw unsupported(fmt::format("{} of cuTENSOR does not take this", function));
        if (s != 0) throw error(fmt::format("{} of cuTENSOR failed with status {}", function, s));
    }

    static std::uint32_t alignment(const void* address) {
        const auto bits = reinterpret_cast<std::uintptr_t>(address) | 128;
        return static_cast<std::uint32_t>(bits & (~bits + 1));
    }

    bool is_same(const strided_work& work) const {
        const auto same = [&](const std::int64_t* a, const std::int64_t* b) { return std::equal(a, a + work.rank, b); };
        return work.rank == made_for_.rank && work.element_size == made_for_.element_size &&
               same(work.extents, made_for_.extents) && same(work.source_strides, made_for_.source_strides) &&
               same(work.destination_strides, made_for_.destination_strides);
    }

    // Axis i of both sides is mode i: only the strides differ.
    void make_plan(const strided_work& work, cudaDataType_t type, const char* compute, std::uint32_t from,
                   std::uint32_t to) {
        using tensor_function =
            status (*)(opaque, opaque*, std::uint32_t, const std::int64_t*, const std::int64_t*, int, std::uint32_t);
        using operation_function =
            status (*)(opaque, opaque*, opaque, const std::int32_t*, int, opaque, const std::int32_t*, opaque);
        const auto destroy = [&](const char* name, opaque what) {
            if (what != nullptr) find<status (*)(opaque)>(name)(what);
        };
        destroy("cutensorDestroyPlan", plan_);
        plan_ = nullptr;
        std::vector<std::int32_t> modes;
        for (int i = 0; i < work.rank; ++i) modes.push_back(i);
        opaque source = nullptr, destination = nullptr, operation = nullptr, preference = nullptr;
        const auto rank = static_cast<std::uint32_t>(work.rank);
        const auto tensor = find<tensor_function>("cutensorCreateTensorDescriptor");
        check(tensor(handle_, &source, rank, work.extents, work.source_strides, type, from), "a descriptor");
        check(tensor(handle_, &destination, rank, work.extents, work.destination_strides, type, to), "a descriptor");
        const auto permutation = find<operation_function>("cutensorCreatePermutation");
        check(permutation(handle_, &operation, source, modes.data(), kIdentity, destination, modes.data(),
                          *find<const opaque*>(compute)),
              "cutensorCreatePermutation");
        check(find<status (*)(opaque, opaque*, int, int)>("cutensorCreatePlanPreference")(handle_, &preference,
                                                                                          kDefaultAlgorithm, kNoJit),
              "cutensorCreatePlanPreference");
        check(find<status (*)(opaque, opaque*, opaque, opaque, std::uint64_t)>("cutensorCreatePlan")(
                  handle_, &plan_, operation, preference, 0),
              "cutensorCreatePlan");
        destroy("cutensorDestroyPlanPreference", preference);
        destroy("cutensorDestroyOperationDescriptor", operation);
        destroy("cutensorDestroyTensorDescriptor", source);
        destroy("cutensorDestroyTensorDescriptor", destination);
    }

    opaque library_ = nullptr, handle_ = nullptr, plan_ = nullptr;
    strided_work made_for_{};
    std::uint32_t source_alignment_ = 0, destination_alignment_ = 0;
};

void run(const strided_work& work) {
    for (int i = 0; i < work.rank; ++i) {
        if (work.extents[i] == 0) return;
        if (work.extents[i] > 1 && (work.source_strides[i] <= 0 || work.destination_strides[i] <= 0))
            throw unsupported("cuTENSOR takes positive strides alone");
    }
    constexpr const char *kSingle = "CUTENSOR_COMPUTE_DESC_32F", *kDouble = "CUTENSOR_COMPUTE_DESC_64F";
    static const float one = 1;
    static const double one_double = 1;
    static const std::complex<double> one_complex = 1;
    switch (work.element_size) {
        case 2: return cutensor::instance().permute(work, CUDA_R_16F, kSingle, &one);
        case 4: return cutensor::instance().permute(work, CUDA_R_32F, kSingle, &one);
        case 8: return cutensor::instance().permute(work, CUDA_R_64F, kDouble, &one_double);
        case 16: return cutensor::instance().permute(work, CUDA_C_64F, kDouble, &one_complex);
        default: decline_element_size(work.element_size);
    }
}

#else
constexpr void (*run)(const strided_work&) = nullptr;
#endif

constexpr variant<strided_work> kVariants[] = {{{"", "a peer", 2 | 4 | 8 | 16}, run, {.arithmetic = true}}};
const bool kRegistered = register_rung(kCutensor, permute_operation(), backend::cuda, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
