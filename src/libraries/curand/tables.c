// Tables that a program requests: Sobol's direction numbers, and Poisson's distribution for
// curand_discrete() in kernels.
#include "cuda/abi.h"
#include "libraries/curand/internal.h"

// --- direction numbers, which only NVIDIA's library has in full ---

static Status forward(const char *name, const void **out, int set) {
  typedef Status (*Function)(const void **, int);
  Function f = (Function)toolkit_curand_function(name);
  if (!out) return OUT_OF_RANGE;
  if (f) return f(out, set);
  warpgrind_library_services.unsupported(name, "its tables are those of NVIDIA's libcurand.so.10, "
                                               "and none was found; CUDA_HOME says where a toolkit "
                                               "is");
  return NOT_SUPPORTED;
}

EXPORT Status curandGetDirectionVectors32(const void **vectors, int set) {
  return forward(__func__, vectors, set);
}
EXPORT Status curandGetDirectionVectors64(const void **vectors, int set) {
  return forward(__func__, vectors, set);
}
EXPORT Status curandGetScrambleConstants32(const void **constants) {
  return forward(__func__, constants, 0);
}
EXPORT Status curandGetScrambleConstants64(const void **constants) {
  return forward(__func__, constants, 0);
}

// --- a distribution in device memory, as cuRAND's device functions read it ---

enum { METHOD_HISTOGRAM = 5, METHOD_NORMAL = 7 };
typedef struct DeviceHistogram {
  uint64_t thresholds, host_thresholds, aliases, host_aliases;
  uint32_t on_host;
} DeviceHistogram;
typedef struct DeviceShift {
  uint64_t histogram, host_histogram;
  uint32_t shift, length, on_host;
} DeviceShift;
typedef struct DeviceDistribution {
  uint64_t self, shift, host_shift;
  double deviation, mean;
  int method;
  uint32_t on_host;
} DeviceDistribution;
typedef struct Tables {  // one allocation: thresholds and aliases follow
  DeviceDistribution distribution;
  DeviceShift shift;
  DeviceHistogram histogram;
  double thresholds[];
} Tables;

EXPORT Status curandCreatePoissonDistribution(double lambda, uint64_t *out) {
  if (!(lambda > 0 && lambda <= 400000) || !out) return OUT_OF_RANGE;
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  Poisson *p = poisson_new(lambda);
  size_t n = p ? p->length : 0, bytes = sizeof(Tables) + n * (sizeof(double) + sizeof(uint32_t));
  Tables *t = calloc(1, bytes);
  CUdeviceptr at = 0;
  bool there = p && t && cuMemAlloc_v2(&at, bytes) == CUDA_SUCCESS;
  if (there) {
    t->distribution = (DeviceDistribution){.self = at,
                                           .shift = at + offsetof(Tables, shift),
                                           .deviation = __builtin_sqrt(lambda),
                                           .mean = lambda,
                                           .method = lambda < POISSON_IS_NORMAL ? METHOD_HISTOGRAM
                                                                                : METHOD_NORMAL};
    t->shift = (DeviceShift){
        .histogram = at + offsetof(Tables, histogram), .shift = p->shift, .length = p->length};
    t->histogram = (DeviceHistogram){.thresholds = at + sizeof(Tables),
                                     .aliases = at + sizeof(Tables) + n * 8};
    memcpy(t->thresholds, p->threshold, n * sizeof(double));
    memcpy(t->thresholds + n, p->alias, n * sizeof(uint32_t));
    there = cuMemcpyHtoD_v2(at, t, bytes) == CUDA_SUCCESS;
  }
  free(t);
  poisson_free(p);
  if (!there) return ALLOCATION_FAILED;
  *out = at;
  return SUCCESS;
}

EXPORT Status curandDestroyDistribution(uint64_t distribution) {
  if (!distribution) return NOT_INITIALIZED;
  if (warpgrind_library_services.enter()) return NOT_INITIALIZED;
  return cuMemFree_v2(distribution) == CUDA_SUCCESS ? SUCCESS : NOT_INITIALIZED;
}
