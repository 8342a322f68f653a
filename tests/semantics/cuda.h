// The few driver functions the test needs, from whichever libcuda.so.1 the loader finds: the real
// one or Warpgrind's.
#ifndef SEMANTICS_CUDA_H
#define SEMANTICS_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool cuda_open(const char *library);                 // says on standard error why not
const char *cuda_device_name(void);
typedef struct CudaModule CudaModule;
CudaModule *cuda_load(const char *ptx, char *log,
                      size_t log_size);  // NULL: does not load, log says why
void cuda_unload(CudaModule *m);
// Runs kernel `name` with (in, out, n); false: the launch failed, log says why, and the context has
// been made anew (the module is gone).
bool cuda_run(CudaModule *m, const char *name, const void *in, size_t in_bytes, void *out,
              size_t out_bytes, uint32_t n, char *log, size_t log_size);

#endif
