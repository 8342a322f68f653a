// Libraries: code that belongs to no context. Ours is a library too, so that its kernels work in
// every context.
#include "gpu/modules/modules.h"

static void loaded(CUlibrary handle, const GpuImage *image) {
  session_created(handle);
  GpuModule *m = gpu_module_new(true, image);
  m->library = handle;
  gpu_module_register(m);
}

static void **copy_values(void **values, unsigned n) {
  if (!n || !values) return NULL;
  void **copy = mem_alloc(n * sizeof *copy);
  return memcpy(copy, values, n * sizeof *copy);
}

CUresult gpu_cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *options,
                               void **values, unsigned n, CUlibraryOption *library_options,
                               void **library_values, unsigned nlibrary) {
  void **before = copy_values(values, n);
  CUresult result = gpu_real.cuLibraryLoadData(out, image, options, values, n, library_options,
                                               library_values, nlibrary);
  GpuImage given = {.image = image, .n = n, .options = options, .values = before};
  if (result == CUDA_SUCCESS) loaded(*out, &given);
  free(before);
  return result;
}

CUresult gpu_cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *options,
                                   void **values, unsigned n, CUlibraryOption *library_options,
                                   void **library_values, unsigned nlibrary) {
  void **before = copy_values(values, n);
  CUresult result = gpu_real.cuLibraryLoadFromFile(out, path, options, values, n, library_options,
                                                   library_values, nlibrary);
  Str file = {0};
  if (result == CUDA_SUCCESS && file_read(path, &file, NULL) && file.len)
    loaded(*out, &(GpuImage){file.data, file.len, path, n, options, before});
  str_free(&file);
  free(before);
  return result;
}

CUresult gpu_cuLibraryUnload(CUlibrary handle) {
  GpuModule *m = gpu_library_find(handle);
  if (m) gpu_module_collect(m);
  GPU_ALIVE(LIBRARY, handle);
  if (m) session_destroyed(SESSION_LIBRARY_GONE, handle);
  if (m) gpu_functions_gone(m);
  GPU_TRY(gpu_real.cuLibraryUnload(handle));
  if (m) gpu_module_gone(m);
  return CUDA_SUCCESS;
}

CUresult gpu_cuLibraryGetModule(CUmodule *out, CUlibrary handle) {
  GPU_TRY(gpu_real.cuLibraryGetModule(out, handle));
  GpuModule *m = gpu_library_find(handle);
  if (m) gpu_module_alias(m, *out);
  return CUDA_SUCCESS;
}

CUresult gpu_cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name) {
  GPU_ALIVE(LIBRARY, handle);
  GPU_TRY(gpu_real.cuLibraryGetKernel(out, handle, name));
  GpuModule *m = gpu_library_find(handle);
  if (m) gpu_function_found(m, (CUfunction)*out, true, name);
  return CUDA_SUCCESS;
}

CUresult gpu_cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary handle) {
  GPU_TRY(gpu_real.cuLibraryEnumerateKernels(out, n, handle));
  GpuModule *m = gpu_library_find(handle);
  unsigned count = 0;
  if (!m || !gpu_real.cuKernelGetName || !gpu_real.cuLibraryGetKernelCount ||
      gpu_real.cuLibraryGetKernelCount(&count, handle) != CUDA_SUCCESS)
    return CUDA_SUCCESS;
  for (unsigned i = 0; i < MIN(n, count); i++) {
    const char *name;
    if (gpu_real.cuKernelGetName(&name, out[i]) == CUDA_SUCCESS)
      gpu_function_register(m, (CUfunction)out[i], true, name);
  }
  return CUDA_SUCCESS;
}

CUresult gpu_cuKernelGetFunction(CUfunction *out, CUkernel kernel) {
  GPU_TRY(gpu_real.cuKernelGetFunction(out, kernel));
  GpuFunction *f = gpu_function((CUfunction)kernel);
  if (f) gpu_function_register(f->module, *out, false, f->name);
  return CUDA_SUCCESS;
}

// --- variables ---

CUresult gpu_cuLibraryGetGlobal(CUdeviceptr *out, size_t *size, CUlibrary handle,
                                const char *name) {
  CUdeviceptr ours, its;
  size_t bytes;
  if (!out && !size) return gpu_real.cuLibraryGetGlobal(out, size, handle, name);  // an error
  GPU_TRY(gpu_real.cuLibraryGetGlobal(out ? out : &its, size ? size : &bytes, handle, name));
  GpuModule *m = gpu_library_find(handle);
  const GpuPiece *p = gpu_piece_with(m, name);
  if (!p) gpu_variable_asked(m, out ? *out : its, size ? *size : bytes, name);
  if (p && out &&
      gpu_real.cuLibraryGetGlobal(&ours, &bytes, p->loaded.library, name) == CUDA_SUCCESS)
    *out = ours;
  return CUDA_SUCCESS;
}

CUresult gpu_cuLibraryGetManaged(CUdeviceptr *out, size_t *size, CUlibrary handle,
                                 const char *name) {
  GPU_TRY(gpu_real.cuLibraryGetManaged(out, size, handle, name));
  const GpuPiece *p = gpu_piece_with(gpu_library_find(handle), name);
  CUdeviceptr ours;
  size_t bytes;
  if (p && out &&
      gpu_real.cuLibraryGetManaged(&ours, &bytes, p->loaded.library, name) == CUDA_SUCCESS)
    *out = ours;
  return CUDA_SUCCESS;
}
