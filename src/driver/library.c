// Libraries: code that belongs to no context, loaded into each context that uses it. Kernels are
// its context-free handles.
#include "driver/driver.h"

static CUresult library_get(CUlibrary handle, Library **out) {
  TRY(driver_check());
  *out = object_use(handle, OBJECT_LIBRARY, SESSION_LIBRARY_GONE);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// The module of the library in ctx; NULL: any, to look at names and kernel properties.
CUresult library_module(Library *lib, Context *ctx, Module **out) {
  static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&load_lock);
  Module *m = NULL, *unbound = NULL;
  for (uint32_t i = 0; i < lib->modules.len && !m; i++) {
    Module *each = lib->modules.data[i];
    if (!ctx || each->ctx == ctx) m = each;
    else if (!each->ctx) unbound = each;
  }
  CUresult result = CUDA_SUCCESS;
  if (!m && unbound) {
    m = unbound;
    module_bind(m, ctx);
  }
  if (!m) {
    Error err = {{0}};
    result = module_load(NULL, &lib->code, lib->session, &m, &err);
    if (result) {
      module_report_failure(&lib->code, &err);
    } else {
      m->library = lib;
      m->of_library = true;
      lib->session = m->session;
      if (lib->modules.len) {
        vgpu_module_share_managed(m->vgpu, lib->modules.data[0]->vgpu);
        m->shares_managed = true;
      }
      if (ctx) module_bind(m, ctx);
      vec_push(&lib->modules, m);
    }
  }
  pthread_mutex_unlock(&load_lock);
  *out = m;
  return result;
}

static void drop_module(Module *m) {
  Library *lib = m->library;
  for (uint32_t i = 0; i < lib->modules.len; i++)
    if (lib->modules.data[i] == m) {
      lib->modules.data[i] = lib->modules.data[--lib->modules.len];
      return;
    }
}

void library_forget_context(Context *ctx) {
  for (uint32_t i = ctx->modules.len; i-- > 0;) {
    Module *m = ctx->modules.data[i];
    if (!m->library) continue;
    drop_module(m);
    m->library = NULL;  // context.c unloads it
  }
}

static CUresult load(CUlibrary *out, const void *data, size_t size, CUjit_option *options,
                     void **values, unsigned n) {
  TRY(driver_check());
  if (!out || !data) return CUDA_ERROR_INVALID_VALUE;
  Error err = {{0}};
  Library *lib = object_new(OBJECT_LIBRARY, sizeof *lib);
  CUresult result = code_open(data, size, &lib->code, &err);
  if (result) module_report_failure(&lib->code, &err);
  jit_write_logs(n, options, values, "", result ? err.text : "");
  if (result) {
    object_delete(lib);
    return result;
  }
  *out = (CUlibrary)lib;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *options, void **values,
                           unsigned n, CUlibraryOption *library_options, void **library_values,
                           unsigned nlibrary) {
  return load(out, code, 0, options, values, n);
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *options,
                               void **values, unsigned n, CUlibraryOption *library_options,
                               void **library_values, unsigned nlibrary) {
  TRY(driver_check());
  if (!out || !path) return CUDA_ERROR_INVALID_VALUE;
  Str text = {0};
  Error err = {{0}};
  if (!file_read(path, &text, &err)) return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult result = load(out, text.data, text.len, options, values, n);
  str_free(&text);
  return result;
}

CUresult cuLibraryUnload(CUlibrary handle) {
  Library *lib;
  TRY(library_get(handle, &lib));
  session_destroyed(SESSION_LIBRARY_GONE, handle);
  for (uint32_t i = 0; i < lib->all_kernels.len; i++)
    session_destroyed(SESSION_FUNCTION_GONE, lib->all_kernels.data[i]);
  while (lib->modules.len) {
    Module *m = lib->modules.data[--lib->modules.len];
    module_functions_gone(m);
    module_unload(m);
  }
  if (lib->session) session_module_unloaded(lib->session);
  for (uint32_t i = 0; i < lib->all_kernels.len; i++) object_delete(lib->all_kernels.data[i]);
  vec_free(&lib->all_kernels);
  vec_free(&lib->modules);
  strmap_free(&lib->kernels);
  code_close(&lib->code);
  object_delete(lib);
  return CUDA_SUCCESS;
}

// --- kernels ---

static Kernel *kernel_of(Library *lib, VgpuKernel *k) {
  const VgpuKernelInfo *info = vgpu_kernel_info(k);
  Kernel *found = strmap_get(&lib->kernels, info->name);
  if (found) return found;
  Kernel *n = object_new(OBJECT_KERNEL, sizeof *n);
  n->library = lib;
  n->name = arena_strdup(&lib->code.arena, info->name);  // modules come and go
  n->settings = (FunctionSettings){
      .max_dynamic_shared = (int)(49152 - MIN(info->static_shared, 49152)), .carveout = -1};
  strmap_put(&lib->kernels, n->name, n);
  vec_push(&lib->all_kernels, n);
  return n;
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name) {
  Library *lib;
  Module *m;
  TRY(library_get(handle, &lib));
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&context_lock);
  Kernel *known = strmap_get(&lib->kernels, name);
  pthread_mutex_unlock(&context_lock);
  if (!known) {
    TRY(library_module(lib, NULL, &m));
    VgpuKernel *k = vgpu_module_kernel(m->vgpu, name);
    if (!k) return CUDA_ERROR_NOT_FOUND;
    pthread_mutex_lock(&context_lock);
    known = kernel_of(lib, k);
    pthread_mutex_unlock(&context_lock);
  }
  *out = (CUkernel)known;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary handle) {
  Library *lib;
  Module *m;
  TRY(library_get(handle, &lib));
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  TRY(library_module(lib, NULL, &m));
  *count = 0;
  while (module_kernel_at(m, *count)) ++*count;
  return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary handle) {
  Library *lib;
  Module *m;
  TRY(library_get(handle, &lib));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  TRY(library_module(lib, NULL, &m));
  pthread_mutex_lock(&context_lock);
  VgpuKernel *k;
  for (unsigned i = 0; i < n && (k = module_kernel_at(m, i)); i++)
    out[i] = (CUkernel)kernel_of(lib, k);
  pthread_mutex_unlock(&context_lock);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary handle) {
  Library *lib;
  Context *ctx;
  Module *m;
  TRY(library_get(handle, &lib));
  TRY(context_current(&ctx));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  TRY(library_module(lib, ctx, &m));
  *out = (CUmodule)m;
  return CUDA_SUCCESS;
}

static CUresult global(CUdeviceptr *out, size_t *size, CUlibrary handle, const char *name,
                       Context *ctx, bool managed) {
  Library *lib;
  Module *m;
  VgpuGlobal g;
  TRY(library_get(handle, &lib));
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  TRY(library_module(lib, ctx, &m));
  if (!vgpu_module_global(m->vgpu, name, &g) || (managed && !g.managed))
    return CUDA_ERROR_NOT_FOUND;
  if (out) *out = (CUdeviceptr)(uintptr_t)g.address;
  if (size) *size = g.size;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *out, size_t *size, CUlibrary handle, const char *name) {
  Context *ctx;
  TRY(context_current(&ctx));
  return global(out, size, handle, name, ctx, false);
}

// Managed variables belong to no context: all modules of the library share the first one's.
CUresult cuLibraryGetManaged(CUdeviceptr *out, size_t *size, CUlibrary handle, const char *name) {
  Context *ctx;
  // copies must find it
  return global(out, size, handle, name, context_current(&ctx) == CUDA_SUCCESS ? ctx : NULL, true);
}

static CUresult kernel_get(CUkernel handle, Kernel **out) {
  TRY(driver_check());
  *out = object_get(handle, OBJECT_KERNEL);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel handle) {
  Context *ctx;
  Function *f;
  TRY(context_current(&ctx));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (!object_get(handle, OBJECT_KERNEL)) return CUDA_ERROR_INVALID_HANDLE;
  TRY(function_get((CUfunction)handle, ctx, &f));
  *out = (CUfunction)f;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel handle) {
  Kernel *k;
  TRY(kernel_get(handle, &k));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUlibrary)k->library;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **out, CUkernel handle) {
  Kernel *k;
  TRY(kernel_get(handle, &k));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = k->name;
  return CUDA_SUCCESS;
}
