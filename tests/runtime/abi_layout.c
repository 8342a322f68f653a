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
#include "abi_layout.def"
  return 0;
}
