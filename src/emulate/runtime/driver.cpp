// CUDA's driver API is not supported: each function returns CUDA_ERROR_NOT_SUPPORTED.
#include <cuda.h>

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** pStr) {
    if (!pStr) return CUDA_ERROR_INVALID_VALUE;
    *pStr = error == CUDA_SUCCESS               ? "CUDA_SUCCESS"
            : error == CUDA_ERROR_NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED"
                                                : nullptr;
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** pStr) {
    if (!pStr) return CUDA_ERROR_INVALID_VALUE;
    *pStr = error == CUDA_SUCCESS               ? "no error"
            : error == CUDA_ERROR_NOT_SUPPORTED ? "operation not supported: the emulator has no driver API"
                                                : nullptr;
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned int) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDriverGetVersion(int*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDeviceGet(CUdevice*, int) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDeviceGetCount(int*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDeviceGetName(char*, int, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDeviceTotalMem(size_t*, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDeviceGetAttribute(int*, CUdevice_attribute, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuCtxDestroy(CUcontext) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuCtxGetCurrent(CUcontext*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuCtxSynchronize(void) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDevicePrimaryCtxRetain(CUcontext*, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuModuleLoad(CUmodule*, const char*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuModuleLoadData(CUmodule*, const void*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuModuleUnload(CUmodule) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                        unsigned int, CUstream, void**, void**) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemAlloc(CUdeviceptr*, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemFree(CUdeviceptr) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemGetInfo(size_t*, size_t*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemcpyHtoD(CUdeviceptr, const void*, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemcpyDtoH(void*, CUdeviceptr, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemcpyDtoD(CUdeviceptr, CUdeviceptr, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemsetD8(CUdeviceptr, unsigned char, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMemsetD32(CUdeviceptr, unsigned int, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamCreate(CUstream*, unsigned int) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamSynchronize(CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamDestroy(CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }

}  // extern "C"
