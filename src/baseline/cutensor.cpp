#include "ops/permute/strided_work.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <numeric>
#include <vector>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#endif

namespace cornerturn {
namespace {

constexpr rung_notes kCutensor{
    .id = "baseline/cutensor",
    .idea = "cuTENSOR's permutation with factor one and the identity. This is what the vendor's library offers.",
    .change = "A peer, not a rung.",
    .contract =
        "Elements that are half or single floats, doubles or complex doubles; positive strides. A plan is made at the "
        "first call for a shape and kept. cuTENSOR is loaded at the first call.",
    .bytes = "2 * elements * e",
    .limit = "cuTENSOR's kernels, with short axes and with odd ones.",
    .source = "NVIDIA cuTENSOR 2, cutensorPermute.",
};

#if defined(CORNERTURN_WITH_CUDA)

// The part of cuTENSOR's C interface that is used, without its header: all types are pointers, enums or integers.
using opaque = void*;
using status = int;
constexpr int kIdentity = 1, kDefaultAlgorithm = -1, kNoJit = 0;
constexpr status kSuccess = 0, kNotSupported = 15;

void check(status s, const char* function) {
    if (s == kNotSupported) throw unsupported(fmt::format("{} of cuTENSOR does not support these arguments", function));
    if (s != kSuccess) throw error(fmt::format("{} of cuTENSOR failed with status {}", function, s));
}

// Owns one of cuTENSOR's objects, and destroys it.
using owned = std::unique_ptr<void, status (*)(opaque)>;

// Owns the object that create(&object) makes.
template <class Create>
owned make(const char* function, status (*destroy)(opaque), Create create) {
    opaque object = nullptr;
    check(create(&object), function);
    return {object, destroy};
}

// The functions, looked up once, and a handle. They live from the first call to the end of the program.
class library {
public:
    // Throws unsupported if cuTENSOR is not installed.
    static const library& instance() {
        static const library loaded;
        return loaded;
    }

    opaque single_precision() const { return *single_; }
    opaque double_precision() const { return *double_; }

    owned make_tensor(int rank, const std::int64_t* extents, const std::int64_t* strides, cudaDataType_t type,
                      std::uint32_t alignment) const {
        return make("cutensorCreateTensorDescriptor", destroy_tensor_, [&](opaque* made) {
            return create_tensor_(handle_, made, static_cast<std::uint32_t>(rank), extents, strides, type, alignment);
        });
    }
    // Axis i of both sides is mode i. Only the strides differ.
    owned make_permutation(const owned& source, const owned& destination, int rank, opaque compute) const {
        std::vector<std::int32_t> modes(static_cast<std::size_t>(rank));
        std::iota(modes.begin(), modes.end(), 0);
        return make("cutensorCreatePermutation", destroy_operation_, [&](opaque* made) {
            return create_permutation_(handle_, made, source.get(), modes.data(), kIdentity, destination.get(),
                                       modes.data(), compute);
        });
    }
    // The plan is for the current device.
    owned make_plan(const owned& operation) const {
        const owned preference = make("cutensorCreatePlanPreference", destroy_preference_, [&](opaque* made) {
            return create_preference_(handle_, made, kDefaultAlgorithm, kNoJit);
        });
        return make("cutensorCreatePlan", destroy_plan_, [&](opaque* made) {
            constexpr std::uint64_t kNoWorkspace = 0;
            return create_plan_(handle_, made, operation.get(), preference.get(), kNoWorkspace);
        });
    }
    void permute(const owned& plan, const void* one, const void* source, void* destination) const {
        check(permute_(handle_, plan.get(), one, source, destination, device::current_stream()), "cutensorPermute");
    }

private:
    library() : library_(dlopen("libcutensor.so.2", RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw unsupported(fmt::format("cuTENSOR cannot be loaded: {}", dlerror()));
        find("cutensorCreateTensorDescriptor", create_tensor_);
        find("cutensorDestroyTensorDescriptor", destroy_tensor_);
        find("cutensorCreatePermutation", create_permutation_);
        find("cutensorDestroyOperationDescriptor", destroy_operation_);
        find("cutensorCreatePlanPreference", create_preference_);
        find("cutensorDestroyPlanPreference", destroy_preference_);
        find("cutensorCreatePlan", create_plan_);
        find("cutensorDestroyPlan", destroy_plan_);
        find("cutensorPermute", permute_);
        find("CUTENSOR_COMPUTE_DESC_32F", single_);
        find("CUTENSOR_COMPUTE_DESC_64F", double_);
        status (*create)(opaque*);
        find("cutensorCreate", create);
        check(create(&handle_), "cutensorCreate");
    }

    template <class Pointer>
    void find(const char* name, Pointer& symbol) const {
        symbol = reinterpret_cast<Pointer>(dlsym(library_, name));
        if (symbol == nullptr) throw unsupported(fmt::format("this cuTENSOR has no {}", name));
    }

    opaque library_, handle_ = nullptr;
    status (*create_tensor_)(opaque handle, opaque* made, std::uint32_t rank, const std::int64_t* extents,
                             const std::int64_t* strides, int type, std::uint32_t alignment);
    status (*create_permutation_)(opaque handle, opaque* made, opaque source, const std::int32_t* source_modes,
                                  int source_operator, opaque destination, const std::int32_t* destination_modes,
                                  opaque compute);
    status (*create_preference_)(opaque handle, opaque* made, int algorithm, int jit);
    status (*create_plan_)(opaque handle, opaque* made, opaque operation, opaque preference, std::uint64_t workspace);
    status (*destroy_tensor_)(opaque);
    status (*destroy_operation_)(opaque);
    status (*destroy_preference_)(opaque);
    status (*destroy_plan_)(opaque);
    status (*permute_)(opaque handle, opaque plan, const void* alpha, const void* source, void* destination,
                       cudaStream_t stream);
    const opaque *single_, *double_;
};

// The alignment of an address in bytes, at most 128.
std::uint32_t alignment(const void* address) {
    const auto bits = reinterpret_cast<std::uintptr_t>(address) | 128;
    return static_cast<std::uint32_t>(bits & (~bits + 1));
}

// The plan of the latest work. A new one is made when extents, strides or alignments change.
class kept_plan {
public:
    const owned& plan_for(const strided_work& work, cudaDataType_t type, opaque compute) {
        if (plan_ != nullptr && fits(work)) return plan_;
        plan_.reset();
        const library& tensors = library::instance();
        const owned source =
            tensors.make_tensor(work.rank, work.extents, work.source_strides, type, alignment(work.source));
        const owned destination =
            tensors.make_tensor(work.rank, work.extents, work.destination_strides, type, alignment(work.destination));
        plan_ = tensors.make_plan(tensors.make_permutation(source, destination, work.rank, compute));
        made_for_ = work;
        return plan_;
    }

private:
    bool fits(const strided_work& work) const {
        const auto same = [&](const std::int64_t* a, const std::int64_t* b) { return std::equal(a, a + work.rank, b); };
        return work.rank == made_for_.rank && work.element_size == made_for_.element_size &&
               alignment(work.source) == alignment(made_for_.source) &&
               alignment(work.destination) == alignment(made_for_.destination) &&
               same(work.extents, made_for_.extents) && same(work.source_strides, made_for_.source_strides) &&
               same(work.destination_strides, made_for_.destination_strides);
    }

    owned plan_{nullptr, nullptr};
    strided_work made_for_{};
};

void permute(const strided_work& work, cudaDataType_t type, opaque compute, const void* one) {
    static kept_plan* const kept = new kept_plan;  // never deleted: CUDA may be gone by the end of the program
    library::instance().permute(kept->plan_for(work, type, compute), one, work.source, work.destination);
}

void run(const strided_work& given) {
    strided_work work = given;
    for (int i = 0; i < work.rank; ++i) {
        if (work.extents[i] == 0) return;
        // The strides of an axis of extent 1 do not matter. They may be 0, which cuTENSOR refuses.
        if (work.extents[i] == 1) work.source_strides[i] = work.destination_strides[i] = 1;
        if (work.source_strides[i] <= 0 || work.destination_strides[i] <= 0)
            throw unsupported("cuTENSOR takes only positive strides");
    }
    static const float one = 1;
    static const double one_double = 1;
    static const std::complex<double> one_complex = 1;
    const library& tensors = library::instance();
    switch (work.element_size) {
        case 2: return permute(work, CUDA_R_16F, tensors.single_precision(), &one);
        case 4: return permute(work, CUDA_R_32F, tensors.single_precision(), &one);
        case 8: return permute(work, CUDA_R_64F, tensors.double_precision(), &one_double);
        case 16: return permute(work, CUDA_C_64F, tensors.double_precision(), &one_complex);
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
