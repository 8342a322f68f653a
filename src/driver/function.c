// Functions and kernels: attributes, parameters, and the settings that change a launch.
#include "driver/driver.h"

FunctionSettings *function_settings(Function *f) {
  return f->kernel ? &f->kernel->settings : &f->settings;
}

CUresult function_get(CUfunction handle, Context *ctx, Function **out) {
  switch (object_kind(handle)) {
    case OBJECT_FUNCTION: *out = (Function *)handle; return CUDA_SUCCESS;
    case OBJECT_KERNEL: {
      Kernel *k = (Kernel *)handle;
      Module *m;
      TRY(library_module(k->library, ctx, &m));
      TRY(module_function(m, k->name, out));
      (*out)->kernel = k;
      return CUDA_SUCCESS;
    }
    default: session_use(SESSION_FUNCTION_GONE, handle); return CUDA_ERROR_INVALID_HANDLE;
  }
}

CUresult function_attribute(int *out, CUfunction_attribute which, Function *f) {
  const VgpuKernelInfo *i = f->info;
  const FunctionSettings *s = function_settings(f);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  switch ((int)which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *out = (int)i->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *out = (int)i->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *out = (int)i->const_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *out = (int)i->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *out = (int)i->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *out = (int)i->sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *out = 90; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *out = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *out = s->max_dynamic_shared; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *out = s->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *out = i->cluster_required; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
      int d = (int)which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
      *out = s->cluster[d] ? s->cluster[d] : (int)i->reqcluster[d];
      break;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *out = s->nonportable_cluster; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *out = s->cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

static CUresult set_attribute(Function *f, CUfunction_attribute which, int value) {
  FunctionSettings *s = function_settings(f);
  switch ((int)which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || (unsigned)value + f->info->static_shared > 232448)
        return CUDA_ERROR_INVALID_VALUE;
      s->max_dynamic_shared = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      s->carveout = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      if (value < 0 || f->info->reqcluster[0]) return CUDA_ERROR_NOT_PERMITTED;
      s->cluster[which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      s->nonportable_cluster = value != 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      s->cluster_policy = value;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

#define FUNCTION_OR_RETURN(f, handle) \
  Context *ctx; \
  Function *f; \
  TRY(context_current(&ctx)); \
  TRY(function_get(handle, ctx, &f))

CUresult cuFuncGetAttribute(int *out, CUfunction_attribute which, CUfunction handle) {
  FUNCTION_OR_RETURN(f, handle);
  return function_attribute(out, which, f);
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value) {
  FUNCTION_OR_RETURN(f, handle);
  return set_attribute(f, which, value);
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  FUNCTION_OR_RETURN(f, handle);
  if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  function_settings(f)->cache = config;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  FUNCTION_OR_RETURN(f, handle);
  (void)f;
  return (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_ERROR_INVALID_VALUE
                                                                      : CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
  FUNCTION_OR_RETURN(f, handle);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUmodule)f->module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **out, CUfunction handle) {
  FUNCTION_OR_RETURN(f, handle);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = f->info->name;
  return CUDA_SUCCESS;
}

static CUresult param_info(const Function *f, size_t i, size_t *offset, size_t *size) {
  if (!offset || i >= f->nparams) return CUDA_ERROR_INVALID_VALUE;
  *offset = f->info->params[i].offset;
  if (size) *size = f->info->params[i].size;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t i, size_t *offset, size_t *size) {
  FUNCTION_OR_RETURN(f, handle);
  return param_info(f, i, offset, size);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
  FUNCTION_OR_RETURN(f, handle);
  (void)f;
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle) {
  FUNCTION_OR_RETURN(f, handle);
  (void)f;
  return CUDA_SUCCESS;
}

// --- by kernel: a device may be named instead of a current context ---

static CUresult kernel_function(CUkernel handle, CUdevice dev, Function **f) {
  TRY(driver_check());
  if (!object_get(handle, OBJECT_KERNEL)) return CUDA_ERROR_INVALID_HANDLE;
  if (!device_get(dev)) return CUDA_ERROR_INVALID_DEVICE;
  return function_get((CUfunction)handle, NULL, f);
}

CUresult cuKernelGetAttribute(int *out, CUfunction_attribute which, CUkernel handle, CUdevice dev) {
  Function *f;
  TRY(kernel_function(handle, dev, &f));
  return function_attribute(out, which, f);
}

CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel handle,
                              CUdevice dev) {
  Function *f;
  TRY(kernel_function(handle, dev, &f));
  return set_attribute(f, which, value);
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice dev) {
  Function *f;
  TRY(kernel_function(handle, dev, &f));
  if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  function_settings(f)->cache = config;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel handle, size_t i, size_t *offset, size_t *size) {
  Function *f;
  TRY(kernel_function(handle, 0, &f));
  return param_info(f, i, offset, size);
}
