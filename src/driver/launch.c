// Launches: checks the request and makes KernelWork of it; copies parameters at call time.
#include "driver/driver.h"

enum { MAX_THREADS = 1024, PORTABLE_CLUSTER = 8, MAX_CLUSTER = 16 };

static CUresult check_shape(const Function *f, const LaunchRequest *r) {
  static const unsigned max_grid[3] = {2147483647, 65535, 65535}, max_block[3] = {1024, 1024, 64};
  const VgpuKernelInfo *info = f->info;
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (!r->grid[i] || !r->block[i] || r->grid[i] > max_grid[i] || r->block[i] > max_block[i])
      return CUDA_ERROR_INVALID_VALUE;
    threads *= r->block[i];
  }
  if (threads > MAX_THREADS) return CUDA_ERROR_INVALID_VALUE;
  if (info->max_threads && threads > info->max_threads) return CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < 3; i++)
    if (info->reqntid[i] && r->block[i] != info->reqntid[i]) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

static CUresult check_cluster(Function *f, KernelWork *k) {
  const FunctionSettings *s = function_settings(f);
  uint64_t size = 1;
  for (int i = 0; i < 3; i++) {
    unsigned required = f->info->reqcluster[i] ? f->info->reqcluster[i] : (unsigned)s->cluster[i];
    if (!k->cluster[i]) k->cluster[i] = required;
    else if (required && k->cluster[i] != required) return CUDA_ERROR_INVALID_VALUE;
  }
  if (!k->cluster[0] && !k->cluster[1] && !k->cluster[2])
    return f->info->cluster_required ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
  for (int i = 0; i < 3; i++) {
    if (!k->cluster[i]) k->cluster[i] = 1;
    if (k->grid[i] % k->cluster[i]) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    size *= k->cluster[i];
  }
  return size > (s->nonportable_cluster ? MAX_CLUSTER : PORTABLE_CLUSTER)
             ? CUDA_ERROR_INVALID_CLUSTER_SIZE
             : CUDA_SUCCESS;
}

static CUresult copy_params(const Function *f, void **params, void **extra, unsigned char *out) {
  const VgpuKernelInfo *info = f->info;
  if (params) {
    for (uint32_t i = 0; i < f->nparams; i++) {
      if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
      memcpy(out + info->params[i].offset, params[i], info->params[i].size);
    }
    return CUDA_SUCCESS;
  }
  const void *buffer = NULL;
  size_t size = 0;
  for (void **e = extra; e && *e != CU_LAUNCH_PARAM_END; e += 2) {
    if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = e[1];
    else if (*e == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *(size_t *)e[1];
    else return CUDA_ERROR_INVALID_VALUE;
  }
  if (f->nparams &&
      (!buffer || size < info->params[f->nparams - 1].offset + info->params[f->nparams - 1].size))
    return CUDA_ERROR_INVALID_VALUE;
  if (size > f->param_bytes) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;  // as a GPU says it
  if (buffer) memcpy(out, buffer, size);
  return CUDA_SUCCESS;
}

CUresult launch_prepare(Context *ctx, const LaunchRequest *r, KernelWork *out) {
  Function *f;
  TRY(function_get(r->function, ctx, &f));
  if (f->module->ctx && f->module->ctx != ctx) return CUDA_ERROR_INVALID_HANDLE;
  if (r->params && r->extra) return CUDA_ERROR_INVALID_VALUE;
  TRY(check_shape(f, r));
  if ((int64_t)r->shared > MAX((int64_t)function_settings(f)->max_dynamic_shared, 0))
    return CUDA_ERROR_INVALID_VALUE;
  *out = (KernelWork){.function = f,
                      .handle = r->function,
                      .shared = r->shared,
                      .cooperative = r->cooperative,
                      .overlaps = r->overlaps,
                      .priority = r->priority};
  memcpy(out->grid, r->grid, sizeof out->grid);
  memcpy(out->block, r->block, sizeof out->block);
  memcpy(out->cluster, r->cluster, sizeof out->cluster);
  TRY(check_cluster(f, out));
  if (r->cooperative) {
    unsigned per_sm = vgpu_max_resident_blocks(f->vgpu, r->block[0] * r->block[1] * r->block[2],
                                               r->shared);
    uint64_t blocks = (uint64_t)r->grid[0] * r->grid[1] * r->grid[2];
    if (blocks > (uint64_t)per_sm * VGPU_MULTIPROCESSORS)
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  }
  out->params = mem_alloc(MAX(f->info->param_bytes, 1));
  CUresult result = copy_params(f, r->params, r->extra, out->params);
  if (result) free(out->params);
  return result;
}

CUresult launch_run_once(Context *ctx, const KernelWork *k) {
  Function *f = k->function;
  if (k->captured) tools_run_captured(ctx, k);
  texref_bind(f->module);
  LaunchRun run;
  VgpuLaunch launch = {
      .kernel = f->vgpu,
      .dynamic_shared = k->shared,
      .params = events_launch_begin(ctx, k, &run),
      .cooperative = k->cooperative,
      .stack_limit = (uint32_t)ctx->limits[CU_LIMIT_STACK_SIZE],
      .print = print_collect,
  };
  memcpy(launch.grid, k->grid, sizeof launch.grid);
  memcpy(launch.block, k->block, sizeof launch.block);
  memcpy(launch.cluster, k->cluster, sizeof launch.cluster);
  uint64_t begin = session_wants(SESSION_WANTS_LAUNCHES_TAKEN) ? clock_ns() : 0;
  CUresult result = cpu_launch(&launch, k);
  SessionTimes times = {.begin = begin, .end = clock_ns()};
  if (begin && !result) session_launch_ran(tools_launch_number(k), &times);
  if (begin) session_launches_ended(ctx->session, (const uint64_t[]){tools_launch_number(k)}, 1);
  events_launch_end(&run);
  return result;
}

CUresult launch_run(Context *ctx, const KernelWork *k) {
  CUresult result = launch_run_once(ctx, k);
  return result || !k->interrupt_memory ? result : interrupts_serve(ctx, k);
}

static CUresult launch(Stream *s, const LaunchRequest *r) {
  Work w = {.kind = WORK_KERNEL};
  CUresult result = launch_prepare(s->ctx, r, &w.kernel);
  if (result != CUDA_SUCCESS) tools_refused(s->ctx, s, r, result);
  TRY(result);
  result = interrupts_prepare(s->ctx, s, &w.kernel);
  if (result) free(w.kernel.params);
  TRY(result);
  tools_launch(s->ctx, s, __atomic_load_n(&s->capture, __ATOMIC_RELAXED) != NULL, &w.kernel);
  w.outputs = tools_outputs(s->ctx, s->legacy ? NULL : s, &w.kernel);
  return queue_submit(s, &w, 0);
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
                        void **extra) {
  Stream *s;
  TRY(stream_get(stream, &s));
  return launch(s, &(LaunchRequest){.function = f,
                                    .grid = {gx, gy, gz},
                                    .block = {bx, by, bz},
                                    .shared = shared,
                                    .params = params,
                                    .extra = extra});
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                   void **params) {
  Stream *s;
  TRY(stream_get(stream, &s));
  return launch(s, &(LaunchRequest){.function = f,
                                    .grid = {gx, gy, gz},
                                    .block = {bx, by, bz},
                                    .shared = shared,
                                    .params = params,
                                    .cooperative = true});
}

// Programmatic dependencies only permit overlap: running in order is always right. An event asked
// to fire at the start or the end of the launch is recorded after it.
static CUresult apply_attribute(const CUlaunchAttribute *a, LaunchRequest *r, CUevent *after) {
  switch ((int)a->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: r->cooperative = a->value.cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      r->cluster[0] = a->value.clusterDim.x;
      r->cluster[1] = a->value.clusterDim.y;
      r->cluster[2] = a->value.clusterDim.z;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      r->overlaps = a->value.programmaticStreamSerializationAllowed != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: r->priority = a->value.priority; break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: *after = a->value.programmaticEvent.event; break;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      *after = a->value.launchCompletionEvent.event;
      break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      if (a->value.deviceUpdatableKernelNode.deviceUpdatable) return CUDA_ERROR_NOT_SUPPORTED;
      break;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra) {
  Stream *s;
  CUevent after = NULL;
  if (!c || (c->numAttrs && !c->attrs)) return CUDA_ERROR_INVALID_VALUE;
  TRY(stream_get(c->hStream, &s));
  LaunchRequest r = {.function = f,
                     .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                     .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                     .shared = c->sharedMemBytes,
                     .params = params,
                     .extra = extra};
  for (unsigned i = 0; i < c->numAttrs; i++) TRY(apply_attribute(&c->attrs[i], &r, &after));
  TRY(launch(s, &r));
  return after ? cuEventRecord(after, c->hStream) : CUDA_SUCCESS;
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned n,
                                              unsigned flags) {
  if (!list || !n || n > (unsigned)device_count()) return CUDA_ERROR_INVALID_VALUE;
  log_once("multi-device cooperative launch",
           "cuLaunchCooperativeKernelMultiDevice: barriers between devices are not supported");
  return CUDA_ERROR_NOT_SUPPORTED;
}

// --- the interface of CUDA 1: shape and parameters kept in the function ---

#define FUNCTION_OR_RETURN(f, handle) \
  Context *ctx; \
  Function *f; \
  TRY(context_current(&ctx)); \
  TRY(function_get(handle, ctx, &f))

CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
  FUNCTION_OR_RETURN(f, handle);
  if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
  f->legacy_block[0] = (unsigned)x;
  f->legacy_block[1] = (unsigned)y;
  f->legacy_block[2] = (unsigned)z;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction handle, unsigned bytes) {
  FUNCTION_OR_RETURN(f, handle);
  f->legacy_shared = bytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction handle, unsigned bytes) {
  FUNCTION_OR_RETURN(f, handle);
  f->legacy_size = bytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction handle, int offset, void *data, unsigned bytes) {
  FUNCTION_OR_RETURN(f, handle);
  if (offset < 0 || !data || (uint64_t)offset + bytes > f->param_bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (!f->legacy_params) f->legacy_params = mem_alloc(MAX(f->info->param_bytes, 1));
  memcpy(f->legacy_params + offset, data, bytes);
  return CUDA_SUCCESS;
}
CUresult cuParamSeti(CUfunction f, int offset, unsigned value) {
  return cuParamSetv(f, offset, &value, 4);
}
CUresult cuParamSetf(CUfunction f, int offset, float value) {
  return cuParamSetv(f, offset, &value, 4);
}

CUresult cuLaunchGridAsync(CUfunction handle, int width, int height, CUstream stream) {
  FUNCTION_OR_RETURN(f, handle);
  if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
  size_t size = f->param_bytes;
  unsigned char none = 0;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, f->legacy_params ? f->legacy_params : &none,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  if (size && !f->legacy_params) return CUDA_ERROR_INVALID_VALUE;
  return cuLaunchKernel(handle, (unsigned)width, (unsigned)height, 1, f->legacy_block[0],
                        f->legacy_block[1], f->legacy_block[2], f->legacy_shared, stream, NULL,
                        extra);
}
CUresult cuLaunchGrid(CUfunction f, int width, int height) {
  return cuLaunchGridAsync(f, width, height, NULL);
}
CUresult cuLaunch(CUfunction f) { return cuLaunchGridAsync(f, 1, 1, NULL); }
