#include "torch.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>

namespace cornerturn::python {
namespace {

// Tensor.new_empty takes 2 us on a GPU, two thirds of the time of a launch. Two other functions take half of that:
// PyTorch's C interface (torch/csrc/inductor/aoti_torch/c/shim.h) makes the tensor. THPVariable_Wrap, which every C++
// extension calls, wraps it for Python. They are used only with the versions of PyTorch that they were tested with.
struct maker {
    int (*empty)(std::int64_t rank, const std::int64_t* extents, const std::int64_t* strides, std::int32_t type,
                 std::int32_t device_kind, std::int32_t device, void** tensor) = nullptr;
    int (*data_of)(void* tensor, void** data) = nullptr;
    int (*destroy)(void* tensor) = nullptr;     // tensor: an at::Tensor on the heap
    PyObject* (*wrap)(void* tensor) = nullptr;  // takes over the contents of the at::Tensor

    static constexpr int kFirstTested = 11, kLastTested = 15;  // of versions 2.x

    maker() {
        int major = 0, minor = 0;
        const std::string version = text_of(nb::module_::import_("torch").attr("__version__"));
        if (std::sscanf(version.c_str(), "%d.%d", &major, &minor) != 2 || major != 2 || minor < kFirstTested ||
            minor > kLastTested)
            return;
        void* const tensors = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_NOW);
        void* const objects = dlopen("libtorch_python.so", RTLD_NOLOAD | RTLD_NOW);
        if (tensors == nullptr || objects == nullptr) return;
        find(tensors, "aoti_torch_get_data_ptr", data_of);
        find(tensors, "aoti_torch_delete_tensor_object", destroy);
        // THPVariable_Wrap(at::TensorBase&&), or by value: that is also passed by address.
        find(objects, "_Z16THPVariable_WrapON2at10TensorBaseE", wrap);
        if (wrap == nullptr) find(objects, "_Z16THPVariable_WrapN2at10TensorBaseE", wrap);
        if (data_of != nullptr && destroy != nullptr && wrap != nullptr)
            find(tensors, "aoti_torch_empty_strided", empty);
    }

private:
    template <class F>
    static void find(void* library, const char* name, F& function) {
        function = reinterpret_cast<F>(dlsym(library, name));
    }
};

// PyTorch's number for a type, as in PyTorch's files. -1 for rare types.
std::int32_t number_of(dlpack::data_type type) {
    if (type.lanes != 1) return -1;
    const int bits = type.bits;
    switch (type.code) {
        case dlpack::kBool: return 11;
        case dlpack::kBfloat: return 15;
        case dlpack::kUInt: return bits == 8 ? 0 : -1;
        case dlpack::kInt: return bits == 8 ? 1 : bits == 16 ? 2 : bits == 32 ? 3 : bits == 64 ? 4 : -1;
        case dlpack::kFloat: return bits == 16 ? 5 : bits == 32 ? 6 : bits == 64 ? 7 : -1;
        case dlpack::kComplex: return bits == 64 ? 9 : bits == 128 ? 10 : -1;
        default: return -1;
    }
}

// For small tensors only: if memory runs out, the C interface prints a stack, and large tensors take long anyhow.
constexpr std::int64_t kSmall = 1 << 20;  // bytes

}  // namespace

void mark_small_integers(array& a) {
    if (a.type.bits != 8 || a.type.lanes != 1 || (a.type.code != dlpack::kInt && a.type.code != dlpack::kUInt)) return;
    static nb::handle int8, uint8;
    if (!uint8.is_valid()) {
        const nb::object torch = nb::module_::import_("torch");
        int8 = nb::object(torch.attr("int8")).release();
        uint8 = nb::object(torch.attr("uint8")).release();
    }
    if (!a.object.attr("dtype").is(a.type.code == dlpack::kInt ? int8 : uint8)) a.type.code = dlpack::kOpaque;
}

bool make_torch(array& made) {
    static const maker* found = nullptr;  // not a static object: other threads may run during its constructor
    if (found == nullptr) found = new maker;
    const maker& of_torch = *found;
    const std::int32_t type = number_of(made.type);
    if (of_torch.empty == nullptr || type < 0 || made.bytes() > kSmall) return false;
    std::int64_t strides[kMostAxes];
    for (int i = 0; i < made.rank; ++i) strides[i] = made.strides[i] / made.element_size;
    void *tensor = nullptr, *data = nullptr;
    const int device_kind = made.on_gpu ? 1 : 0, device = made.on_gpu ? made.device : -1;
    if (of_torch.empty(made.rank, made.extents, strides, type, device_kind, device, &tensor) != 0) return false;
    of_torch.data_of(tensor, &data);
    made.data = reinterpret_cast<std::uintptr_t>(data);
    PyObject* const its = of_torch.wrap(tensor);
    of_torch.destroy(tensor);
    if (its == nullptr) throw nb::python_error();
    made.made = nb::steal(its);
    made.object = its;
    return true;
}

}  // namespace cornerturn::python
