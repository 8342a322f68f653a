// The part of NVIDIA's Sanitizer API that Warpgrind uses. Declarations of our own, after its
// documentation; its library is opened when a program runs.
#ifndef WG_CLOSED_SANITIZER_H
#define WG_CLOSED_SANITIZER_H

#include "cuda/abi.h"

typedef void SanitizerCallback(void *user, int domain, uint32_t id, const void *data);

// FUNCTION(name, parameters); each returns 0 for success
#define SANITIZER_FUNCTIONS \
  FUNCTION(sanitizerSubscribe, (void **subscriber, SanitizerCallback *callback, void *user)) \
  FUNCTION(sanitizerAddPatches, (const void *image, CUcontext context)) \
  FUNCTION(sanitizerPatchInstructions, (uint32_t instruction, CUmodule m, const char *function)) \
  FUNCTION(sanitizerPatchModule, (CUmodule m)) \
  FUNCTION(sanitizerSetCallbackData, (CUfunction kernel, const void *data)) \
  FUNCTION(sanitizerGetFunctionPcAndSize, \
           (CUmodule m, const char *function, uint64_t *pc, uint64_t *size))

typedef struct SanitizerApi {
#define FUNCTION(name, parameters) int(*name) parameters;
  SANITIZER_FUNCTIONS
#undef FUNCTION
} SanitizerApi;

const SanitizerApi *sanitizer_api(void);  // NULL: closed_refusal says why

#endif
