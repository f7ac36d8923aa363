// The module cornerturn._cuda: libcornerturn for the module _core. _core imports it for the first array on a GPU. The
// import needs no driver.
#include <Python.h>
#include <cuda_runtime.h>

#include "cornerturn/cornerturn.h"
#include "cuda_part.hpp"
#include "xla_convert.hpp"
#include "xla_permute.hpp"

namespace {

using cornerturn::python::cuda_table;
namespace xla = cornerturn::python::xla;

thread_local const char* failed_text = nullptr;  // of a CUDA call here. If null, cornerturn_last_error() has it

cornerturn_status as_status(cudaError_t error) {
    if (error == cudaSuccess) return CORNERTURN_OK;
    cudaGetLastError();
    failed_text = cudaGetErrorString(error);
    return error == cudaErrorMemoryAllocation ? CORNERTURN_OUT_OF_DEVICE_MEMORY : CORNERTURN_CUDA_ERROR;
}

// Makes the device current while this object exists.
class current {
public:
    explicit current(int device) {
        status_ = cudaGetDevice(&before_);
        if (status_ == cudaSuccess && before_ != device) {
            status_ = cudaSetDevice(device);
            changed_ = true;
        }
    }
    ~current() {
        if (changed_) cudaSetDevice(before_);
    }
    current(const current&) = delete;
    current& operator=(const current&) = delete;

    template <class Work>
    cornerturn_status run(Work work) const {
        failed_text = nullptr;
        return status_ == cudaSuccess ? work() : as_status(status_);
    }

private:
    cudaError_t status_;
    int before_ = 0;
    bool changed_ = false;
};

CUstream_st* stream_of(void* stream) { return static_cast<CUstream_st*>(stream); }

cornerturn_status copy(int device, int rank, const std::int64_t* extents, const void* source,
                       const std::int64_t* source_strides, void* destination, const std::int64_t* destination_strides,
                       std::int64_t element_size, void* stream) {
    return current(device).run([&] {
        return cornerturn_cuda_copy_on(device, rank, extents, source, source_strides, destination, destination_strides,
                                       element_size, stream_of(stream));
    });
}

cornerturn_status convert(int device, int rank, const std::int64_t* extents, const void* source,
                          cornerturn_element source_type, const std::int64_t* source_strides, void* destination,
                          cornerturn_element destination_type, const std::int64_t* destination_strides,
                          const cornerturn_conversion* how, void* stream) {
    return current(device).run([&] {
        return cornerturn_cuda_convert_on(device, rank, extents, source, source_type, source_strides, nullptr,
                                          destination, destination_type, destination_strides, how, stream_of(stream));
    });
}

cornerturn_status explain(int device, int rank, const std::int64_t* extents, const void* source,
                          const std::int64_t* source_strides, const void* destination,
                          const std::int64_t* destination_strides, std::int64_t element_size, char* text,
                          std::size_t text_size) {
    return current(device).run([&] {
        return cornerturn_cuda_explain_copy(rank, extents, source, source_strides, destination, destination_strides,
                                            element_size, text, text_size);
    });
}

cornerturn_status tune(int device, int rank, const std::int64_t* extents, const void* source,
                       const std::int64_t* source_strides, void* destination, const std::int64_t* destination_strides,
                       std::int64_t element_size, void* stream) {
    return current(device).run([&] {
        cornerturn_cuda_plan* plan = nullptr;
        const cornerturn_status status =
            cornerturn_cuda_plan_create_measured(&plan, rank, extents, source, source_strides, destination,
                                                 destination_strides, element_size, stream_of(stream));
        cornerturn_cuda_plan_destroy(plan);
        return status;
    });
}

cornerturn_status save_choices(const char* file) {
    failed_text = nullptr;
    return cornerturn_cuda_save_choices(file);
}

cornerturn_status load_choices(const char* file, int* count) {
    failed_text = nullptr;
    return cornerturn_cuda_load_choices(file, count);
}

cornerturn_status wait(int device, void* stream, void* before) {
    return current(device).run([&] {
        cudaEvent_t event{};
        cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        if (error != cudaSuccess) return as_status(error);
        error = cudaEventRecord(event, stream_of(before));
        if (error == cudaSuccess) error = cudaStreamWaitEvent(stream_of(stream), event);
        cudaEventDestroy(event);
        return as_status(error);
    });
}

cornerturn_status device_of(const void* address, int* device) {
    cudaPointerAttributes found{};
    failed_text = nullptr;
    const cudaError_t error = cudaPointerGetAttributes(&found, address);
    *device = found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged ? found.device : -1;
    return as_status(error);
}

cornerturn_status devices(int* count) {
    failed_text = nullptr;
    return as_status(cudaGetDeviceCount(count));
}

const char* last_error() { return failed_text != nullptr ? failed_text : cornerturn_last_error(); }

// Calls `work` with the call's stream. XLA has made the array's device current.
template <class Work>
xla::error* in_stream(const xla::call_frame& f, Work work) {
    xla::stream_arguments asked{sizeof(xla::stream_arguments), nullptr, f.context, nullptr};
    if (xla::error* const error = f.api->get_stream(&asked)) return error;
    return xla::result_of(f, work(stream_of(asked.stream)));
}

xla::error* handle_permute(xla::call_frame* frame) {
    return xla::handle_permute(
        frame, [](const xla::call_frame& f, int rank, const std::int64_t* extents, const void* source, const int* axes,
                  void* destination, std::int64_t element_size) {
            return in_stream(f, [&](CUstream_st* stream) {
                return cornerturn_cuda_permute(rank, extents, source, nullptr, axes, destination, nullptr, element_size,
                                               stream);
            });
        });
}

xla::error* handle_convert(xla::call_frame* frame) {
    return xla::handle_convert(
        frame, [](const xla::call_frame& f, int rank, const std::int64_t* extents, const void* source,
                  cornerturn_element source_type, const int* axes, void* destination,
                  cornerturn_element destination_type, const cornerturn_conversion* how) {
            return in_stream(f, [&](CUstream_st* stream) {
                return cornerturn_cuda_convert(rank, extents, source, source_type, nullptr, axes, destination,
                                               destination_type, nullptr, how, stream);
            });
        });
}

cuda_table table{&copy,
                 &convert,
                 &explain,
                 &tune,
                 &save_choices,
                 &load_choices,
                 &wait,
                 &device_of,
                 &devices,
                 &last_error,
                 reinterpret_cast<void*>(&handle_permute),
                 reinterpret_cast<void*>(&handle_convert)};

int execute(PyObject* module) {
    PyObject* const capsule = PyCapsule_New(&table, cornerturn::python::kTableName, nullptr);
    const int failed = PyModule_AddObjectRef(module, "table", capsule);
    Py_XDECREF(capsule);
    return failed;
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(&execute)}, {0, nullptr}};
PyModuleDef definition{PyModuleDef_HEAD_INIT, "_cuda", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__cuda() { return PyModuleDef_Init(&definition); }
