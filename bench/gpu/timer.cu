// Linked into measured programs, with the linker's --wrap for the functions here: the time of every
// kernel, as two events around its launch see it, and a digest of what the program copies from the
// device. One line at the end, to the file that GPU_TIMES names. Every way of running a program is
// measured by this, so that ratios compare the same things. Without GPU_TIMES it only forwards.
//
// The first launch of each kernel is kept apart: its code is loaded, and with a tool compiled,
// between the two events.
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 512, KERNELS = 1024 };   // events are used again when all are taken
static struct { cudaEvent_t begin, end; bool first; } pairs[PAIRS];
static const void *kernels[KERNELS];
static int made, taken, known;
static double total_ms, first_ms, longest_ms, call_ms,
    call_began;  // call_ms: what the calls took on the host
static unsigned long launches, copies;
static unsigned long long digest = 0xcbf29ce484222325u;
static const char *path;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void sum_up(void) {
  for (int i = 0; i < taken; i++) {
    float ms;
    if (cudaEventSynchronize(pairs[i].end) != cudaSuccess ||
        cudaEventElapsedTime(&ms, pairs[i].begin, pairs[i].end) != cudaSuccess)
      continue;
    if (pairs[i].first) first_ms += ms;
    else {
      total_ms += ms;
      if (ms > longest_ms) longest_ms = ms;
    }
  }
  taken = 0;
}

static void write_line(void) {
  pthread_mutex_lock(&lock);
  sum_up();
  FILE *f = fopen(path, "a");
  if (f) {
    fprintf(f,
            "kernel_ms %.6f first_ms %.6f longest_ms %.6f call_ms %.6f launches %lu kernels %d "
            "copies %lu digest %016llx\n",
            total_ms, first_ms, longest_ms, call_ms, launches, known, copies, digest);
    fclose(f);
  }
  path = NULL;
  pthread_mutex_unlock(&lock);
}

static void start(void) {
  path = getenv("GPU_TIMES");
  if (path) atexit(write_line);   // registered after the runtime's own, so it runs before it
}

static bool first_launch_of(const void *function) {
  for (int i = 0; i < known; i++)
    if (kernels[i] == function) return false;
  if (known == KERNELS) return false;
  kernels[known++] = function;
  return true;
}

// Where the pair of events for a launch is, the first recorded; -1: the launch is not measured.
static int before_launch(const void *function, cudaStream_t stream) {
  pthread_once(&once, start);
  if (!path) return -1;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &capture) != cudaSuccess ||
      capture != cudaStreamCaptureStatusNone)
    return -1;
  pthread_mutex_lock(&lock);
  launches++;
  if (taken == PAIRS) sum_up();
  if (taken == made) {
    if (cudaEventCreate(&pairs[made].begin) != cudaSuccess ||
        cudaEventCreate(&pairs[made].end) != cudaSuccess) {
      pthread_mutex_unlock(&lock);
      return -1;
    }
    made++;
  }
  int at = taken;
  pairs[at].first = first_launch_of(function);
  cudaEventRecord(pairs[at].begin, stream);
  call_began = now_ms();
  return at;   // the lock is held until after_launch
}

static cudaError_t after_launch(int at, cudaStream_t stream, cudaError_t result) {
  if (at < 0) return result;
  if (!pairs[at].first) call_ms += now_ms() - call_began;
  if (result == cudaSuccess && cudaEventRecord(pairs[at].end, stream) == cudaSuccess) taken++;
  pthread_mutex_unlock(&lock);
  return result;
}

extern "C" {

#define LAUNCH(name, type) \
  cudaError_t __real_##name(type function, dim3 grid, dim3 block, void **arguments, \
                            size_t shared, cudaStream_t stream); \
  cudaError_t __wrap_##name(type function, dim3 grid, dim3 block, void **arguments, \
                            size_t shared, cudaStream_t stream) { \
    int at = before_launch((const void *)function, stream); \
    return after_launch( \
        at, stream, __real_##name(function, grid, block, arguments, shared, stream)); \
  }
LAUNCH(__cudaLaunchKernel, cudaKernel_t)
LAUNCH(cudaLaunchKernel, const void *)
LAUNCH(cudaLaunchCooperativeKernel, const void *)

cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                       void **arguments);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                       void **arguments) {
  int at = before_launch(function, config->stream);
  return after_launch(at, config->stream, __real_cudaLaunchKernelExC(config, function, arguments));
}

cudaError_t __real_cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
  cudaError_t e = __real_cudaMemcpy(to, from, n, kind);
  pthread_once(&once, start);
  if (!path || kind != cudaMemcpyDeviceToHost || e != cudaSuccess) return e;
  pthread_mutex_lock(&lock);
  copies++;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    unsigned long long w;
    memcpy(&w, (const char *)to + i, 8);
    digest = (digest ^ w) * 0x100000001b3u;
  }
  for (; i < n; i++) digest = (digest ^ ((const unsigned char *)to)[i]) * 0x100000001b3u;
  pthread_mutex_unlock(&lock);
  return e;
}

cudaError_t __real_cudaDeviceReset(void);
cudaError_t __wrap_cudaDeviceReset(void) {
  pthread_mutex_lock(&lock);
  if (path) sum_up();
  made = 0;   // the events go with the context
  pthread_mutex_unlock(&lock);
  return __real_cudaDeviceReset();
}

}
