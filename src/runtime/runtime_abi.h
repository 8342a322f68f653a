// Warpgrind's own declarations of the types of the CUDA runtime API, with the memory layouts of
// toolkits 12 and 13.
//
// Enumerations that only travel through an argument or a field are `int` here (same size and
// passing); named constants exist for the values we look at. tests/runtime/abi_layout.sh compares
// every size and offset with the toolkit's headers.
#ifndef WG_RUNTIME_ABI_H
#define WG_RUNTIME_ABI_H

#include "cuda/abi.h"

typedef enum cudaError {
#define ERROR(name, value, text) name = value,
#include "runtime/errors.def"
#undef ERROR
} cudaError_t;

// Handles are the driver's handles.
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUarray cudaArray_t;
typedef CUmipmappedArray cudaMipmappedArray_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphNode cudaGraphNode_t;
typedef CUgraphExec cudaGraphExec_t;
typedef CUuserObject cudaUserObject_t;
typedef CUmemoryPool cudaMemPool_t;
typedef CUfunction cudaFunction_t;
typedef CUkernel cudaKernel_t;
typedef CUlibrary cudaLibrary_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef unsigned long long cudaGraphConditionalHandle;

#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)

typedef struct dim3 {
  unsigned x, y, z;
} dim3;

enum {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
enum {
  cudaArrayLayered = 1,
  cudaArraySurfaceLoadStore = 2,
  cudaArrayCubemap = 4,
  cudaArrayTextureGather = 8
};
enum { cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2 };
enum { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };
enum { cudaDeviceScheduleMask = 7, cudaDeviceMapHost = 8, cudaDeviceFlagsMask = 0xff };
enum {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
enum { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum { cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4 };
enum {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone,
  cudaChannelFormatKindNV12,
  cudaChannelFormatKindUnsignedNormalized8X1 = 5,
  cudaChannelFormatKindSignedNormalized16X4 = 16
};
enum {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty,
  cudaGraphNodeTypeWaitEvent,
  cudaGraphNodeTypeEventRecord,
  cudaGraphNodeTypeExtSemaphoreSignal,
  cudaGraphNodeTypeExtSemaphoreWait,
  cudaGraphNodeTypeMemAlloc,
  cudaGraphNodeTypeMemFree,
  cudaGraphNodeTypeConditional = 13
};

typedef struct cudaChannelFormatDesc {
  int x, y, z, w, f;
} cudaChannelFormatDesc;
typedef struct cudaExtent {
  size_t width, height, depth;
} cudaExtent;
typedef struct cudaPos {
  size_t x, y, z;
} cudaPos;
typedef struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
} cudaPitchedPtr;

typedef struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  int kind;
} cudaMemcpy3DParms;

typedef struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
} cudaMemcpy3DPeerParms;

typedef struct cudaMemLocation {
  int type, id;
} cudaMemLocation;
typedef struct cudaMemAccessDesc {
  cudaMemLocation location;
  int flags;
} cudaMemAccessDesc;
typedef struct cudaMemPoolProps {
  int allocType, handleTypes;
  cudaMemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
} cudaMemPoolProps;

typedef struct cudaMemcpyAttributes {
  int srcAccessOrder;
  cudaMemLocation srcLocHint, dstLocHint;
  unsigned flags;
} cudaMemcpyAttributes;
typedef struct cudaMemcpy3DOperand {
  int type;  // 1 pointer, 2 array
  union {
    struct {
      void *ptr;
      size_t rowLength, layerHeight;
      cudaMemLocation locHint;
    } ptr;
    struct {
      cudaArray_t array;
      struct {
        size_t x, y, z;
      } offset;
    } array;
  } op;
} cudaMemcpy3DOperand;
typedef struct cudaMemcpy3DBatchOp {
  cudaMemcpy3DOperand src, dst;
  cudaExtent extent;
  int srcAccessOrder;
  unsigned flags;
} cudaMemcpy3DBatchOp;

typedef struct cudaPointerAttributes {
  int type, device;
  void *devicePointer, *hostPointer;
} cudaPointerAttributes;  // toolkit 13 appends eight reserved words; we never write them

typedef struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA,
      maxDynamicSharedSizeBytes, preferredShmemCarveout;
  int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
  int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
  int reserved[16];
} cudaFuncAttributes;

typedef struct cudaArrayMemoryRequirements {
  size_t size, alignment;
  unsigned reserved[4];
} cudaArrayMemoryRequirements;

typedef struct cudaResourceDesc {
  int resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void *devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
} cudaResourceDesc;  // toolkit 13 pads the union to 128 bytes and appends flags; both start alike

typedef struct cudaResourceViewDesc {
  int format;
  size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
} cudaResourceViewDesc;  // toolkit 13 appends reserved words

typedef struct cudaTextureDesc {
  int addressMode[3], filterMode, readMode, sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
} cudaTextureDesc;

typedef union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative, priority;
  struct {
    unsigned x, y, z;
  } clusterDim;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute {
  int id;
  char pad[4];
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;

typedef struct cudaLaunchParams {  // cudaLaunchCooperativeKernelMultiDevice, toolkit 12 only
  void *func;
  dim3 gridDim, blockDim;
  void **args;
  size_t sharedMem;
  cudaStream_t stream;
} cudaLaunchParams;

// --- graphs ---
typedef CUhostFn cudaHostFn_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *user);
typedef struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
} cudaKernelNodeParams;
typedef struct cudaMemsetParams {
  void *dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
} cudaMemsetParams;
typedef struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void *userData;
} cudaHostNodeParams;
typedef struct cudaMemcpyNodeParams {
  int flags, reserved[3];
  cudaMemcpy3DParms copyParams;
} cudaMemcpyNodeParams;
typedef struct cudaMemAllocNodeParams {
  cudaMemPoolProps poolProps;
  const cudaMemAccessDesc *accessDescs;
  size_t accessDescCount, bytesize;
  void *dptr;
} cudaMemAllocNodeParams;
typedef struct cudaConditionalNodeParams {
  cudaGraphConditionalHandle handle;
  int type;
  unsigned size;
  cudaGraph_t *phGraph_out;
} cudaConditionalNodeParams;
typedef struct cudaGraphNodeParams {
  int type, reserved0[3];
  union {
    long long reserved1[29];
    cudaKernelNodeParams kernel;
    cudaMemcpyNodeParams memcpy;
    cudaMemsetParams memset;
    cudaHostNodeParams host;
    struct {
      cudaGraph_t graph;
      int ownership;
    } graph;
    struct {
      cudaEvent_t event;
    } eventWait, eventRecord;
    cudaMemAllocNodeParams alloc;
    struct {
      void *dptr;
    } free;
    cudaConditionalNodeParams conditional;
  } u;
  long long reserved2;
} cudaGraphNodeParams;
typedef CUgraphEdgeData cudaGraphEdgeData;
typedef struct cudaGraphInstantiateParams {
  unsigned long long flags;
  cudaStream_t uploadStream;
  cudaGraphNode_t errNode_out;
  int result_out;
} cudaGraphInstantiateParams;
typedef struct cudaGraphExecUpdateResultInfo {
  int result;
  cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;

// --- device properties: two layouts from one list of fields ---
typedef struct cudaUUID {
  char bytes[16];
} cudaUUID_t;
#define PROP_TEXT(field, n) char field[n];
#define PROP_UUID(field) cudaUUID_t field;
#define PROP_INT(field, attribute) int field;
#define PROP_ARRAY(field, n, ...) int field[n];
#define PROP_UINT(field, attribute) unsigned field;
#define PROP_SIZE(field, attribute) size_t field;
#define PROP_RESERVED(field, n) int field[n];
#define PROP_12(...) __VA_ARGS__
#define PROP_13(...)
typedef struct cudaDeviceProp12 {
#include "runtime/properties.def"
} cudaDeviceProp12;
#undef PROP_12
#undef PROP_13
#define PROP_12(...)
#define PROP_13(...) __VA_ARGS__
typedef struct cudaDeviceProp13 {
#include "runtime/properties.def"
} cudaDeviceProp13;
#undef PROP_12
#undef PROP_13
#undef PROP_TEXT
#undef PROP_UUID
#undef PROP_INT
#undef PROP_ARRAY
#undef PROP_UINT
#undef PROP_SIZE
#undef PROP_RESERVED
// what the unsuffixed function of runtime 12 fills: the head of the structure
enum { CUDA_DEVICE_PROP_11_BYTES = 728 };

#endif
