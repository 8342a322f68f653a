// Prints sizes, offsets and values of the runtime's binary interface. Built twice, with our
// declarations and (-DTOOLKIT) with a toolkit's headers; tests/runtime/abi_layout.sh compares the
// two outputs.
#include <stddef.h>
#include <stdio.h>
#ifdef TOOLKIT
#include <cuda_runtime_api.h>
#define U(field) field
typedef struct cudaChannelFormatDesc cudaChannelFormatDesc;
typedef struct cudaExtent cudaExtent;
typedef struct cudaPos cudaPos;
typedef struct cudaPitchedPtr cudaPitchedPtr;
typedef struct cudaMemcpy3DParms cudaMemcpy3DParms;
typedef struct cudaMemcpy3DPeerParms cudaMemcpy3DPeerParms;
typedef struct cudaMemLocation cudaMemLocation;
typedef struct cudaMemAccessDesc cudaMemAccessDesc;
typedef struct cudaMemPoolProps cudaMemPoolProps;
typedef struct cudaMemcpyAttributes cudaMemcpyAttributes;
typedef struct cudaMemcpy3DOperand cudaMemcpy3DOperand;
typedef struct cudaMemcpy3DBatchOp cudaMemcpy3DBatchOp;
typedef struct cudaPointerAttributes cudaPointerAttributes;
typedef struct cudaFuncAttributes cudaFuncAttributes;
typedef struct cudaArrayMemoryRequirements cudaArrayMemoryRequirements;
typedef struct cudaResourceDesc cudaResourceDesc;
typedef struct cudaResourceViewDesc cudaResourceViewDesc;
typedef struct cudaTextureDesc cudaTextureDesc;
typedef struct cudaKernelNodeParams cudaKernelNodeParams;
typedef struct cudaMemsetParams cudaMemsetParams;
typedef struct cudaHostNodeParams cudaHostNodeParams;
typedef struct cudaMemcpyNodeParams cudaMemcpyNodeParams;
typedef struct cudaMemAllocNodeParams cudaMemAllocNodeParams;
typedef struct cudaConditionalNodeParams cudaConditionalNodeParams;
typedef struct cudaGraphNodeParams cudaGraphNodeParams;
#if CUDART_VERSION >= 13000
typedef struct cudaDeviceProp cudaDeviceProp13;
#else
typedef struct cudaDeviceProp cudaDeviceProp12;
#endif
#else
#include "runtime/runtime_abi.h"
#define U(field) u.field
#endif

#define S(type) printf("%s %zu\n", #type, sizeof(type));
#define F(type, field) \
  printf("%s.%s %zu %zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
#define G(field) \
  printf("cudaGraphNodeParams.%s %zu\n", #field, offsetof(cudaGraphNodeParams, U(field)));
#define V(name) printf("%s %lld\n", #name, (long long)name);

int main(void) {
  S(cudaChannelFormatDesc)
  F(cudaChannelFormatDesc, x)
  F(cudaChannelFormatDesc, y)
  F(cudaChannelFormatDesc, z)
  F(cudaChannelFormatDesc, w)
  F(cudaChannelFormatDesc, f)
  S(cudaExtent)
  F(cudaExtent, width)
  F(cudaExtent, height)
  F(cudaExtent, depth)
  S(cudaPos)
  F(cudaPos, x)
  F(cudaPos, y)
  F(cudaPos, z)
  S(cudaPitchedPtr)
  F(cudaPitchedPtr, ptr)
  F(cudaPitchedPtr, pitch)
  F(cudaPitchedPtr, xsize)
  F(cudaPitchedPtr, ysize)
  S(cudaMemcpy3DParms)
  F(cudaMemcpy3DParms, srcArray)
  F(cudaMemcpy3DParms, srcPos)
  F(cudaMemcpy3DParms, srcPtr)
  F(cudaMemcpy3DParms, dstArray)
  F(cudaMemcpy3DParms, dstPos)
  F(cudaMemcpy3DParms, dstPtr)
  F(cudaMemcpy3DParms, extent)
  F(cudaMemcpy3DParms, kind)
  S(cudaMemcpy3DPeerParms)
  F(cudaMemcpy3DPeerParms, srcArray)
  F(cudaMemcpy3DPeerParms, srcPos)
  F(cudaMemcpy3DPeerParms, srcPtr)
  F(cudaMemcpy3DPeerParms, srcDevice)
  F(cudaMemcpy3DPeerParms, dstArray)
  F(cudaMemcpy3DPeerParms, dstPos)
  F(cudaMemcpy3DPeerParms, dstPtr)
  F(cudaMemcpy3DPeerParms, dstDevice)
  F(cudaMemcpy3DPeerParms, extent)
  S(cudaMemLocation)
  F(cudaMemLocation, type)
  F(cudaMemLocation, id)
  S(cudaMemAccessDesc)
  F(cudaMemAccessDesc, location)
  F(cudaMemAccessDesc, flags)
  S(cudaMemPoolProps)
  F(cudaMemPoolProps, allocType)
  F(cudaMemPoolProps, handleTypes)
  F(cudaMemPoolProps, location)
  F(cudaMemPoolProps, win32SecurityAttributes)
  F(cudaMemPoolProps, maxSize)
  F(cudaMemPoolProps, usage)
  S(cudaMemcpyAttributes)
  F(cudaMemcpyAttributes, srcAccessOrder)
  F(cudaMemcpyAttributes, srcLocHint)
  F(cudaMemcpyAttributes, dstLocHint)
  F(cudaMemcpyAttributes, flags)
  S(cudaMemcpy3DOperand)
  F(cudaMemcpy3DOperand, type)
  F(cudaMemcpy3DOperand, op.ptr.ptr)
  F(cudaMemcpy3DOperand, op.ptr.rowLength)
  F(cudaMemcpy3DOperand, op.ptr.layerHeight)
  F(cudaMemcpy3DOperand, op.ptr.locHint)
  F(cudaMemcpy3DOperand, op.array.array)
  F(cudaMemcpy3DOperand, op.array.offset)
  S(cudaMemcpy3DBatchOp)
  F(cudaMemcpy3DBatchOp, src)
  F(cudaMemcpy3DBatchOp, dst)
  F(cudaMemcpy3DBatchOp, extent)
  F(cudaMemcpy3DBatchOp, srcAccessOrder)
  F(cudaMemcpy3DBatchOp, flags)
  F(cudaPointerAttributes, type)
  F(cudaPointerAttributes, device)
  F(cudaPointerAttributes, devicePointer)
  F(cudaPointerAttributes, hostPointer)
  S(cudaFuncAttributes)
  F(cudaFuncAttributes, sharedSizeBytes)
  F(cudaFuncAttributes, constSizeBytes)
  F(cudaFuncAttributes, localSizeBytes)
  F(cudaFuncAttributes, maxThreadsPerBlock)
  F(cudaFuncAttributes, numRegs)
  F(cudaFuncAttributes, ptxVersion)
  F(cudaFuncAttributes, binaryVersion)
  F(cudaFuncAttributes, cacheModeCA)
  F(cudaFuncAttributes, maxDynamicSharedSizeBytes)
  F(cudaFuncAttributes, preferredShmemCarveout)
  F(cudaFuncAttributes, clusterDimMustBeSet)
  F(cudaFuncAttributes, requiredClusterWidth)
  F(cudaFuncAttributes, requiredClusterHeight)
  F(cudaFuncAttributes, requiredClusterDepth)
  F(cudaFuncAttributes, clusterSchedulingPolicyPreference)
  F(cudaFuncAttributes, nonPortableClusterSizeAllowed)
  S(cudaArrayMemoryRequirements)
  F(cudaArrayMemoryRequirements, size)
  F(cudaArrayMemoryRequirements, alignment)
  F(cudaResourceDesc, resType)
  F(cudaResourceDesc, res.array.array)
  F(cudaResourceDesc, res.mipmap.mipmap)
  F(cudaResourceDesc, res.linear.devPtr)
  F(cudaResourceDesc, res.linear.desc)
  F(cudaResourceDesc, res.linear.sizeInBytes)
  F(cudaResourceDesc, res.pitch2D.devPtr)
  F(cudaResourceDesc, res.pitch2D.desc)
  F(cudaResourceDesc, res.pitch2D.width)
  F(cudaResourceDesc, res.pitch2D.height)
  F(cudaResourceDesc, res.pitch2D.pitchInBytes)
  F(cudaResourceViewDesc, format)
  F(cudaResourceViewDesc, width)
  F(cudaResourceViewDesc, height)
  F(cudaResourceViewDesc, depth)
  F(cudaResourceViewDesc, firstMipmapLevel)
  F(cudaResourceViewDesc, lastMipmapLevel)
  F(cudaResourceViewDesc, firstLayer)
  F(cudaResourceViewDesc, lastLayer)
  S(cudaTextureDesc)
  F(cudaTextureDesc, addressMode)
  F(cudaTextureDesc, filterMode)
  F(cudaTextureDesc, readMode)
  F(cudaTextureDesc, sRGB)
  F(cudaTextureDesc, borderColor)
  F(cudaTextureDesc, normalizedCoords)
  F(cudaTextureDesc, maxAnisotropy)
  F(cudaTextureDesc, mipmapFilterMode)
  F(cudaTextureDesc, mipmapLevelBias)
  F(cudaTextureDesc, minMipmapLevelClamp)
  F(cudaTextureDesc, maxMipmapLevelClamp)
  F(cudaTextureDesc, disableTrilinearOptimization)
  F(cudaTextureDesc, seamlessCubemap)
  S(cudaLaunchAttributeValue)
  F(cudaLaunchAttributeValue, cooperative)
  F(cudaLaunchAttributeValue, priority)
  F(cudaLaunchAttributeValue, clusterDim)
  S(cudaLaunchAttribute)
  F(cudaLaunchAttribute, id)
  F(cudaLaunchAttribute, val)
  S(cudaLaunchConfig_t)
  F(cudaLaunchConfig_t, gridDim)
  F(cudaLaunchConfig_t, blockDim)
  F(cudaLaunchConfig_t, dynamicSmemBytes)
  F(cudaLaunchConfig_t, stream)
  F(cudaLaunchConfig_t, attrs)
  F(cudaLaunchConfig_t, numAttrs)
  S(cudaKernelNodeParams)
  F(cudaKernelNodeParams, func)
  F(cudaKernelNodeParams, gridDim)
  F(cudaKernelNodeParams, blockDim)
  F(cudaKernelNodeParams, sharedMemBytes)
  F(cudaKernelNodeParams, kernelParams)
  F(cudaKernelNodeParams, extra)
  S(cudaMemsetParams)
  F(cudaMemsetParams, dst)
  F(cudaMemsetParams, pitch)
  F(cudaMemsetParams, value)
  F(cudaMemsetParams, elementSize)
  F(cudaMemsetParams, width)
  F(cudaMemsetParams, height)
  S(cudaHostNodeParams)
  F(cudaHostNodeParams, fn)
  F(cudaHostNodeParams, userData)
  S(cudaMemcpyNodeParams)
  F(cudaMemcpyNodeParams, flags)
  F(cudaMemcpyNodeParams, copyParams)
  S(cudaMemAllocNodeParams)
  F(cudaMemAllocNodeParams, poolProps)
  F(cudaMemAllocNodeParams, accessDescs)
  F(cudaMemAllocNodeParams, accessDescCount)
  F(cudaMemAllocNodeParams, bytesize)
  F(cudaMemAllocNodeParams, dptr)
  S(cudaConditionalNodeParams)
  F(cudaConditionalNodeParams, handle)
  F(cudaConditionalNodeParams, type)
  F(cudaConditionalNodeParams, size)
  F(cudaConditionalNodeParams, phGraph_out)
  S(cudaGraphEdgeData)
  F(cudaGraphEdgeData, from_port)
  F(cudaGraphEdgeData, to_port)
  F(cudaGraphEdgeData, type)
  S(cudaGraphInstantiateParams)
  F(cudaGraphInstantiateParams, flags)
  F(cudaGraphInstantiateParams, uploadStream)
  F(cudaGraphInstantiateParams, errNode_out)
  F(cudaGraphInstantiateParams, result_out)
  S(cudaGraphExecUpdateResultInfo)
  F(cudaGraphExecUpdateResultInfo, result)
  F(cudaGraphExecUpdateResultInfo, errorNode)
  F(cudaGraphExecUpdateResultInfo, errorFromNode)
  S(cudaUUID_t)
  F(cudaUUID_t, bytes)
  S(dim3)
  F(dim3, x)
  F(dim3, y)
  F(dim3, z)
  S(cudaGraphNodeParams)
  F(cudaGraphNodeParams, type)
  G(kernel.func)
  G(memcpy.copyParams)
  G(memset.dst)
  G(host.fn)
  G(graph.graph)
  G(eventWait.event)
  G(eventRecord.event)
  G(alloc.dptr)
  G(free.dptr)
  G(conditional.phGraph_out)

  // The device properties have one layout in each version.
#define PROP_TEXT(field, n) F(PROPERTIES, field)
#define PROP_UUID(field) F(PROPERTIES, field)
#define PROP_INT(field, attribute) F(PROPERTIES, field)
#define PROP_UINT(field, attribute) F(PROPERTIES, field)
#define PROP_SIZE(field, attribute) F(PROPERTIES, field)
#define PROP_ARRAY(field, n, ...) F(PROPERTIES, field)
#define PROP_RESERVED(field, n)
#if VERSION == 12
#define PROPERTIES cudaDeviceProp12
#define PROP_12(...) __VA_ARGS__
#define PROP_13(...)
#else
#define PROPERTIES cudaDeviceProp13
#define PROP_12(...)
#define PROP_13(...) __VA_ARGS__
#endif
  S(PROPERTIES)
#include "runtime/properties.def"

#define ERROR(name, value, text) V(name)
#include "runtime/errors.def"
  V(cudaMemcpyHostToHost)
  V(cudaMemcpyHostToDevice)
  V(cudaMemcpyDeviceToHost)
  V(cudaMemcpyDeviceToDevice)
  V(cudaMemcpyDefault)
  V(cudaMemoryTypeUnregistered)
  V(cudaMemoryTypeHost)
  V(cudaMemoryTypeDevice)
  V(cudaMemoryTypeManaged)
  V(cudaArrayLayered)
  V(cudaArraySurfaceLoadStore)
  V(cudaArrayCubemap)
  V(cudaArrayTextureGather)
  V(cudaCpuDeviceId)
  V(cudaInvalidDeviceId)
  V(cudaMemLocationTypeInvalid)
  V(cudaMemLocationTypeDevice)
  V(cudaMemLocationTypeHost)
  V(cudaMemAttachGlobal)
  V(cudaMemAttachHost)
  V(cudaMemAttachSingle)
  V(cudaDeviceScheduleMask)
  V(cudaDeviceMapHost)
  V(cudaResourceTypeArray)
  V(cudaResourceTypeMipmappedArray)
  V(cudaResourceTypeLinear)
  V(cudaResourceTypePitch2D)
  V(cudaReadModeElementType)
  V(cudaReadModeNormalizedFloat)
  V(cudaLaunchAttributeCooperative)
  V(cudaLaunchAttributeClusterDimension)
  V(cudaChannelFormatKindSigned)
  V(cudaChannelFormatKindUnsigned)
  V(cudaChannelFormatKindFloat)
  V(cudaChannelFormatKindNone)
  V(cudaChannelFormatKindUnsignedNormalized8X1)
  V(cudaChannelFormatKindSignedNormalized16X4)
  V(cudaGraphNodeTypeKernel)
  V(cudaGraphNodeTypeMemcpy)
  V(cudaGraphNodeTypeMemset)
  V(cudaGraphNodeTypeHost)
  V(cudaGraphNodeTypeGraph)
  V(cudaGraphNodeTypeEmpty)
  V(cudaGraphNodeTypeWaitEvent)
  V(cudaGraphNodeTypeEventRecord)
  V(cudaGraphNodeTypeMemAlloc)
  V(cudaGraphNodeTypeMemFree)
  V(cudaGraphNodeTypeConditional)
  return 0;
}
