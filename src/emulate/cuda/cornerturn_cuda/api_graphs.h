// The runtime API: graphs, stream capture and textures. The emulator has none of them: each call notes and returns
// cudaErrorNotSupported. They take any arguments, since CUDA 12 and 13 differ in several.
#pragma once

#include "../driver_types.h"

extern "C" cudaError_t ct_not_supported(void);

extern "C" cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* pCaptureStatus);

#define CT_NOT_SUPPORTED(name)                 \
    template <class... ct_arguments>           \
    inline cudaError_t name(ct_arguments...) { \
        return ct_not_supported();             \
    }

// Stream capture.
CT_NOT_SUPPORTED(cudaStreamBeginCapture)
CT_NOT_SUPPORTED(cudaStreamBeginCaptureToGraph)
CT_NOT_SUPPORTED(cudaStreamEndCapture)
CT_NOT_SUPPORTED(cudaStreamGetCaptureInfo)
CT_NOT_SUPPORTED(cudaStreamUpdateCaptureDependencies)
CT_NOT_SUPPORTED(cudaThreadExchangeStreamCaptureMode)

// Graphs.
CT_NOT_SUPPORTED(cudaGraphCreate)
CT_NOT_SUPPORTED(cudaGraphDestroy)
CT_NOT_SUPPORTED(cudaGraphClone)
CT_NOT_SUPPORTED(cudaGraphInstantiate)
CT_NOT_SUPPORTED(cudaGraphInstantiateWithFlags)
CT_NOT_SUPPORTED(cudaGraphUpload)
CT_NOT_SUPPORTED(cudaGraphLaunch)
CT_NOT_SUPPORTED(cudaGraphExecDestroy)
CT_NOT_SUPPORTED(cudaGraphExecUpdate)
CT_NOT_SUPPORTED(cudaGraphExecKernelNodeSetParams)
CT_NOT_SUPPORTED(cudaGraphExecMemcpyNodeSetParams)
CT_NOT_SUPPORTED(cudaGraphExecMemsetNodeSetParams)
CT_NOT_SUPPORTED(cudaGraphAddNode)
CT_NOT_SUPPORTED(cudaGraphAddKernelNode)
CT_NOT_SUPPORTED(cudaGraphAddMemcpyNode)
CT_NOT_SUPPORTED(cudaGraphAddMemcpyNode1D)
CT_NOT_SUPPORTED(cudaGraphAddMemsetNode)
CT_NOT_SUPPORTED(cudaGraphAddHostNode)
CT_NOT_SUPPORTED(cudaGraphAddChildGraphNode)
CT_NOT_SUPPORTED(cudaGraphAddEmptyNode)
CT_NOT_SUPPORTED(cudaGraphAddEventRecordNode)
CT_NOT_SUPPORTED(cudaGraphAddEventWaitNode)
CT_NOT_SUPPORTED(cudaGraphAddMemAllocNode)
CT_NOT_SUPPORTED(cudaGraphAddMemFreeNode)
CT_NOT_SUPPORTED(cudaGraphAddDependencies)
CT_NOT_SUPPORTED(cudaGraphMemAllocNodeGetParams)
CT_NOT_SUPPORTED(cudaGraphGetNodes)
CT_NOT_SUPPORTED(cudaGraphGetRootNodes)
CT_NOT_SUPPORTED(cudaGraphGetEdges)
CT_NOT_SUPPORTED(cudaGraphNodeGetType)
CT_NOT_SUPPORTED(cudaGraphKernelNodeGetParams)
CT_NOT_SUPPORTED(cudaGraphKernelNodeSetParams)
CT_NOT_SUPPORTED(cudaGraphKernelNodeSetAttribute)
CT_NOT_SUPPORTED(cudaGraphDebugDotPrint)
CT_NOT_SUPPORTED(cudaGraphConditionalHandleCreate)
CT_NOT_SUPPORTED(cudaDeviceGraphMemTrim)
CT_NOT_SUPPORTED(cudaDeviceGetGraphMemAttribute)
CT_NOT_SUPPORTED(cudaDeviceSetGraphMemAttribute)

// Textures, surfaces and memory of other interfaces.
CT_NOT_SUPPORTED(cudaCreateTextureObject)
CT_NOT_SUPPORTED(cudaDestroyTextureObject)
CT_NOT_SUPPORTED(cudaCreateSurfaceObject)
CT_NOT_SUPPORTED(cudaDestroySurfaceObject)
CT_NOT_SUPPORTED(cudaMallocMipmappedArray)
CT_NOT_SUPPORTED(cudaFreeMipmappedArray)
CT_NOT_SUPPORTED(cudaImportExternalMemory)
CT_NOT_SUPPORTED(cudaImportExternalSemaphore)

// Memory pools of other processes.
CT_NOT_SUPPORTED(cudaMemPoolExportToShareableHandle)
CT_NOT_SUPPORTED(cudaMemPoolImportFromShareableHandle)
CT_NOT_SUPPORTED(cudaMemPoolExportPointer)
CT_NOT_SUPPORTED(cudaMemPoolImportPointer)

#undef CT_NOT_SUPPORTED
