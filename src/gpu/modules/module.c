// Modules: the original is loaded unchanged, and Warpgrind keeps the data it needs to replace the
// code later.
#include "gpu/interrupts/interrupts.h"
#include "gpu/modules/modules.h"

// --- which module a handle is ---

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map by_handle;  // CUmodule and CUlibrary: GpuModule
static VEC(GpuModule *) all;

static GpuModule *find(void *handle) {
  pthread_mutex_lock(&lock);
  GpuModule *m = u64map_get(&by_handle, (uintptr_t)handle);
  pthread_mutex_unlock(&lock);
  return m;
}
GpuModule *gpu_library_find(CUlibrary handle) { return find(handle); }

void gpu_module_register(GpuModule *m) {
  pthread_mutex_lock(&lock);
  u64map_put(&by_handle, m->library ? (uintptr_t)m->library : (uintptr_t)m->module, m);
  vec_push(&all, m);
  pthread_mutex_unlock(&lock);
}

void gpu_module_alias(GpuModule *m, CUmodule handle) {
  pthread_mutex_lock(&lock);
  if (u64map_get(&by_handle, (uintptr_t)handle) != m) {
    u64map_put(&by_handle, (uintptr_t)handle, m);
    vec_push(&m->context_modules, handle);
  }
  pthread_mutex_unlock(&lock);
}

static void drop(GpuModule *m, void *handle) {
  if (handle && u64map_get(&by_handle, (uintptr_t)handle) == m)
    u64map_remove(&by_handle, (uintptr_t)handle);
}

static void unregister(GpuModule *m) {  // with the lock
  drop(m, m->module);
  drop(m, m->library);
  for (uint32_t i = 0; i < m->context_modules.len; i++) drop(m, m->context_modules.data[i]);
  for (uint32_t i = 0; i < all.len; i++)
    if (all.data[i] == m) {
      all.data[i] = all.data[--all.len];
      break;
    }
}

void gpu_module_gone(GpuModule *m) {
  pthread_mutex_lock(&lock);
  unregister(m);
  pthread_mutex_unlock(&lock);
  gpu_functions_forget(m, NULL);
  GpuQuiet q = gpu_quiet_begin();
  GpuPushed pushed = gpu_push_context(m->context);
  gpu_module_delete(m);
  gpu_pop_context(pushed);
  gpu_quiet_end(q);
}

void gpu_module_collect(GpuModule *m) {
  if (!session_tools()) return;
  GpuPushed pushed = gpu_push_context(m->context);
  GpuContext *c = gpu_context_current();
  gpu_pop_context(pushed);
  if (c) gpu_context_collect(c, m->session);
}

// Our code in that context was unloaded with it.
void gpu_modules_forget_context(CUcontext ctx) {
  gpu_interrupts_forget(ctx);
  VEC(GpuModule *) gone = {0}, others = {0};
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < all.len; i++) {
    if (all.data[i]->module && all.data[i]->context == ctx) vec_push(&gone, all.data[i]);
    else vec_push(&others, all.data[i]);
  }
  for (uint32_t i = 0; i < gone.len; i++) unregister(gone.data[i]);
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < gone.len; i++) {
    GpuModule *m = gone.data[i];
    gpu_functions_forget(m, NULL);
    for (uint32_t k = 0; k < m->npieces; k++) m->pieces[k].loaded.module = NULL;
    gpu_module_delete(m);
  }
  for (uint32_t i = 0; i < others.len; i++) gpu_functions_forget(others.data[i], ctx);
  vec_free(&gone);
  vec_free(&others);
}

// --- loading ---

static void loaded(CUmodule handle, const GpuImage *image) {
  session_created(handle);
  GpuModule *m = gpu_module_new(false, image);
  m->module = handle;
  gpu_real.cuCtxGetCurrent(&m->context);
  gpu_module_register(m);
}

CUresult gpu_cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                                void **values) {
  // The driver writes into values: what the program passed is kept first.
  void **before = n && values ? mem_alloc(n * sizeof *values) : NULL;
  if (before) memcpy(before, values, n * sizeof *values);
  CUresult result = gpu_real.cuModuleLoadDataEx(out, image, n, options, values);
  GpuImage given = {.image = image, .n = n, .options = options, .values = before};
  if (result == CUDA_SUCCESS) loaded(*out, &given);
  free(before);
  return result;
}

CUresult gpu_cuModuleLoadData(CUmodule *out, const void *image) {
  GPU_TRY(gpu_real.cuModuleLoadData(out, image));
  loaded(*out, &(GpuImage){.image = image});
  return CUDA_SUCCESS;
}

CUresult gpu_cuModuleLoadFatBinary(CUmodule *out, const void *image) {
  GPU_TRY(gpu_real.cuModuleLoadFatBinary(out, image));
  loaded(*out, &(GpuImage){.image = image});
  return CUDA_SUCCESS;
}

CUresult gpu_cuModuleLoad(CUmodule *out, const char *path) {
  GPU_TRY(gpu_real.cuModuleLoad(out, path));
  Str file = {0};
  if (file_read(path, &file, NULL) && file.len)
    loaded(*out, &(GpuImage){.image = file.data, .size = file.len, .path = path});
  str_free(&file);
  return CUDA_SUCCESS;
}

CUresult gpu_cuModuleUnload(CUmodule handle) {
  GpuModule *m = find(handle);
  if (m && m->library) m = NULL;  // goes with its library
  if (m) gpu_module_collect(m);
  GPU_ALIVE(MODULE, handle);
  if (m) session_destroyed(SESSION_MODULE_GONE, handle);
  if (m) gpu_functions_gone(m);
  GPU_TRY(gpu_real.cuModuleUnload(handle));
  if (m) gpu_module_gone(m);
  return CUDA_SUCCESS;
}

// --- what is in it ---

CUresult gpu_cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
  GPU_ALIVE(MODULE, handle);
  GPU_TRY(gpu_real.cuModuleGetFunction(out, handle, name));
  GpuModule *m = find(handle);
  if (m) gpu_function_found(m, *out, false, name);
  return CUDA_SUCCESS;
}

CUresult gpu_cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule handle) {
  GPU_TRY(gpu_real.cuModuleEnumerateFunctions(out, n, handle));
  GpuModule *m = find(handle);
  unsigned count = 0;
  if (!m || !gpu_real.cuFuncGetName || !gpu_real.cuModuleGetFunctionCount ||
      gpu_real.cuModuleGetFunctionCount(&count, handle) != CUDA_SUCCESS)
    return CUDA_SUCCESS;
  for (unsigned i = 0; i < MIN(n, count); i++) {
    const char *name;
    if (gpu_real.cuFuncGetName(&name, out[i]) == CUDA_SUCCESS)
      gpu_function_register(m, out[i], false, name);
  }
  return CUDA_SUCCESS;
}

// The piece with our code that has this variable; NULL: the original's is the one.
const GpuPiece *gpu_piece_with(GpuModule *m, const char *name) {
  GpuPiece *p = m ? gpu_piece_of(m, name) : NULL;
  return p && gpu_piece_decide(m, p, name) == PIECE_OURS ? p : NULL;
}

CUresult gpu_cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *size, CUmodule handle,
                                  const char *name) {
  GPU_ALIVE(MODULE, handle);
  CUdeviceptr ours, its;
  size_t bytes;
  if (!out && !size) return gpu_real.cuModuleGetGlobal_v2(out, size, handle, name);  // an error
  GPU_TRY(gpu_real.cuModuleGetGlobal_v2(out ? out : &its, size ? size : &bytes, handle, name));
  GpuModule *m = find(handle);
  const GpuPiece *p = gpu_piece_with(m, name);
  if (!p) {
    gpu_variable_asked(m, out ? *out : its, size ? *size : bytes, name);
    return CUDA_SUCCESS;
  }
  CUresult result = p->loaded.module
                        ? gpu_real.cuModuleGetGlobal_v2(&ours, &bytes, p->loaded.module, name)
                        : gpu_real.cuLibraryGetGlobal(&ours, &bytes, p->loaded.library, name);
  if (result == CUDA_SUCCESS && out) *out = ours;
  return CUDA_SUCCESS;
}

static CUmodule our_module(GpuModule *m, const char *name) {
  const GpuPiece *p = gpu_piece_with(m, name);
  CUmodule module = NULL;
  if (!p) return NULL;
  if (p->loaded.module) return p->loaded.module;
  return gpu_real.cuLibraryGetModule(&module, p->loaded.library) == CUDA_SUCCESS ? module : NULL;
}

CUresult gpu_cuModuleGetTexRef(CUtexref *out, CUmodule handle, const char *name) {
  GPU_TRY(gpu_real.cuModuleGetTexRef(out, handle, name));
  CUmodule ours = our_module(find(handle), name);
  CUtexref ref;
  if (ours && gpu_real.cuModuleGetTexRef(&ref, ours, name) == CUDA_SUCCESS) *out = ref;
  return CUDA_SUCCESS;
}

CUresult gpu_cuModuleGetSurfRef(CUsurfref *out, CUmodule handle, const char *name) {
  GPU_TRY(gpu_real.cuModuleGetSurfRef(out, handle, name));
  CUmodule ours = our_module(find(handle), name);
  CUsurfref ref;
  if (ours && gpu_real.cuModuleGetSurfRef(&ref, ours, name) == CUDA_SUCCESS) *out = ref;
  return CUDA_SUCCESS;
}
