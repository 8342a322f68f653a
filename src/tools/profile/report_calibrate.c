// Measures the peaks of the first GPU and saves them (report_peaks.c). Every figure is the best of
// some rounds: disturbances only make it worse.
#define _GNU_SOURCE
#include "tools/profile/report_calibrate.h"

#include <dlfcn.h>

#include "cuda/abi.h"
#include "tools/profile/report_peaks.h"

enum { ROUNDS = 5, THREADS = 1024, WARPS = THREADS / 32, TURNS = 4000, TRIES = 2000 };
enum { COPIED = 64 << 20, SMALL = 4 << 10, MULTIPROCESSORS = 16 };  // MULTIPROCESSORS: an attribute

#define FUNCTIONS(X) \
  X(cuInit, , (unsigned)) \
  X(cuDeviceGet, , (CUdevice *, int)) \
  X(cuDeviceGetName, , (char *, int, CUdevice)) \
  X(cuDeviceGetAttribute, , (int *, int, CUdevice)) \
  X(cuDevicePrimaryCtxRetain, , (CUcontext *, CUdevice)) \
  X(cuCtxSetCurrent, , (CUcontext)) \
  X(cuCtxSynchronize, , (void)) \
  X(cuGetErrorString, , (CUresult, const char **)) \
  X(cuModuleLoadData, , (CUmodule *, const void *)) \
  X(cuModuleGetFunction, , (CUfunction *, CUmodule, const char *)) \
  X(cuMemAlloc, _v2, (CUdeviceptr *, size_t)) \
  X(cuMemGetInfo, _v2, (size_t *, size_t *)) \
  X(cuMemAllocHost, _v2, (void **, size_t)) \
  X(cuMemcpyHtoD, _v2, (CUdeviceptr, const void *, size_t)) \
  X(cuEventCreate, , (CUevent *, unsigned)) \
  X(cuEventRecord, , (CUevent, CUstream)) \
  X(cuEventSynchronize, , (CUevent)) \
  X(cuEventElapsedTime, , (float *, CUevent, CUevent)) \
  X(cuLaunchKernel, , \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
     void **, void **))
static struct {
#define X(name, version, params) CUresult(*name) params;
  FUNCTIONS(X)
#undef X
} cu;

// The first error; figures measured after it mean nothing.
typedef struct Gpu {
  CUmodule module;
  CUevent begin, end;
  CUdeviceptr memory;
  size_t bytes;
  unsigned processors;
  CUresult result;
} Gpu;

static void keep(Gpu *g, CUresult result) {
  if (!g->result) g->result = result;
}

static bool open_driver(const char *path, Error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return error_set(err, "the driver cannot be loaded: %s.", dlerror());
#define X(name, version, params) \
  *(void **)&cu.name = dlsym(library, #name #version); \
  if (!cu.name) return error_set(err, "the driver has no " #name #version ".");
  FUNCTIONS(X)
#undef X
  return true;
}

// --- on the device ---

typedef struct Kernel {
  const char *name;
  unsigned blocks, turns;
} Kernel;

static double kernel_ns(Gpu *g, Kernel k) {
  CUfunction f = NULL;
  float ms, best = 1e30f;
  keep(g, cu.cuModuleGetFunction(&f, g->module, k.name));
  void *params[] = {&g->memory, &k.turns};
  for (int i = 0; i < ROUNDS && !g->result; i++) {
    keep(g, cu.cuEventRecord(g->begin, NULL));
    keep(g, cu.cuLaunchKernel(f, k.blocks, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    keep(g, cu.cuEventRecord(g->end, NULL));
    keep(g, cu.cuEventSynchronize(g->end));
    keep(g, cu.cuEventElapsedTime(&ms, g->begin, g->end));
    if (!g->result) best = MIN(best, ms);
  }
  return (double)best * 1e6;
}

static void measure_kernels(Gpu *g, double *of) {
  unsigned blocks = 8 * g->processors;
  double warps = (double)blocks * WARPS * TURNS;
  of[PEAK_FLOAT] = warps * 32 * CALIBRATE_UNROLLED /
                   kernel_ns(g, (Kernel){"floats", blocks, TURNS});
  of[PEAK_ISSUE] = warps * CALIBRATE_UNROLLED / kernel_ns(g, (Kernel){"issue", blocks, TURNS});
  of[PEAK_SHARED] = warps * CALIBRATE_LOADS / kernel_ns(g, (Kernel){"shared", blocks, TURNS});
  double updates = (double)g->processors * WARPS * 100;
  of[PEAK_ATOMICS] = updates / kernel_ns(g, (Kernel){"atomics", g->processors, 100});
  // twice as many blocks as run at a time; half of the memory is read, the other half written
  blocks = 4 * g->processors;
  unsigned turns = (unsigned)(g->bytes / 2 / ((size_t)blocks * THREADS * 16));
  double moved = 2.0 * turns * blocks * THREADS * 16;
  of[PEAK_MEMORY] = moved / kernel_ns(g, (Kernel){"memory", blocks, turns});
}

// --- between host and device ---

static double copy_ns(Gpu *g, const void *from, size_t bytes) {
  double best = 1e30;
  for (int i = 0; i < ROUNDS && !g->result; i++) {
    uint64_t start = clock_ns();
    keep(g, cu.cuMemcpyHtoD(g->memory, from, bytes));
    keep(g, cu.cuCtxSynchronize());
    best = MIN(best, (double)(clock_ns() - start));
  }
  return best;
}

static double small_copy_ns(Gpu *g, const void *from) {
  uint64_t start = clock_ns();
  for (int i = 0; i < TRIES; i++) keep(g, cu.cuMemcpyHtoD(g->memory, from, SMALL));
  return (double)(clock_ns() - start) / TRIES;
}

// waits: waits for each launch
static double launch_ns(Gpu *g, bool waits) {
  CUfunction f = NULL;
  double best = 1e30;
  keep(g, cu.cuModuleGetFunction(&f, g->module, "nothing"));
  for (int round = 0; round < ROUNDS && !g->result; round++) {
    uint64_t start = clock_ns();
    for (int i = 0; i < TRIES; i++) {
      keep(g, cu.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
      if (waits) keep(g, cu.cuCtxSynchronize());
    }
    keep(g, cu.cuCtxSynchronize());
    best = MIN(best, (double)(clock_ns() - start) / TRIES);
  }
  return best;
}

static bool measure_copies(Gpu *g, double *of, Error *err) {
  void *pinned = NULL, *pageable = malloc(COPIED);
  if (!pageable) return error_set(err, "there is no memory for a copy of %d MB.", COPIED >> 20);
  memset(pageable, 1, COPIED);
  keep(g, cu.cuMemAllocHost(&pinned, COPIED));
  if (pinned) memset(pinned, 1, COPIED);
  of[PEAK_PINNED] = COPIED / copy_ns(g, pinned, COPIED);
  of[PEAK_PAGEABLE] = COPIED / copy_ns(g, pageable, COPIED);
  of[PEAK_SMALL_COPY] = small_copy_ns(g, pageable);
  of[PEAK_LAUNCH] = launch_ns(g, false);
  of[PEAK_WAIT] = MAX(launch_ns(g, true) - of[PEAK_LAUNCH], 0.0);
  free(pageable);
  return true;
}

// --- all measurements ---

static void start(Gpu *g, char *name, int size) {
  CUdevice device;
  CUcontext context;
  size_t left = 0, all;
  int processors = 0;
  Str code = {0};
  keep(g, cu.cuInit(0));
  if (!g->result) keep(g, cu.cuDeviceGet(&device, 0));
  if (g->result) return;
  keep(g, cu.cuDeviceGetName(name, size, device));
  keep(g, cu.cuDeviceGetAttribute(&processors, MULTIPROCESSORS, device));
  keep(g, cu.cuDevicePrimaryCtxRetain(&context, device));
  if (!g->result) keep(g, cu.cuCtxSetCurrent(context));
  if (g->result) return;
  calibrate_code(&code);
  keep(g, cu.cuModuleLoadData(&g->module, code.data));
  keep(g, cu.cuEventCreate(&g->begin, 0));
  keep(g, cu.cuEventCreate(&g->end, 0));
  keep(g, cu.cuMemGetInfo(&left, &all));
  g->processors = (unsigned)processors;
  g->bytes = MAX(MIN(left / 2, (size_t)4 << 30), (size_t)COPIED);
  keep(g, cu.cuMemAlloc(&g->memory, g->bytes));
  str_free(&code);
}

int profile_calibrate(const char *driver, Error *err) {
  Gpu g = {0};
  char name[128] = "a GPU";
  Peaks p = {.device = name};
  if (!open_driver(driver, err)) return -1;
  start(&g, name, sizeof name);
  if (!g.result) measure_kernels(&g, p.of);
  if (!g.result && !measure_copies(&g, p.of, err)) return -1;
  p.of[PEAK_PROCESSORS] = g.processors;
  if (g.result) {
    const char *text = NULL;
    cu.cuGetErrorString(g.result, &text);
    error_set(err, "the GPU cannot be measured: %s.", text ? text : "unknown error");
    return -1;
  }
  if (!peaks_keep(&p, err)) return -1;
  peaks_print(&p);
  return 0;
}
