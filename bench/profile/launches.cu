// The host's cost of a launch: 20 rounds of 1000 launches of a kernel of about a microsecond, the
// best round counts. Prints microseconds of the calls, and with the wait for all of them.
// bench/profile_gpu runs it plain, with the timeline, and with CUPTI alone, which is a lower bound
// for every timeline by CUPTI. An argument opens CUPTI without a tool; its letters are the requests
// (k: kernels, c: copies and sets, l: when launches were queued and submitted, t: our clock).
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <time.h>

enum { ROUNDS = 20, LAUNCHES = 1000, BUFFER = 1 << 20, COPY = 1, SET = 2, KERNEL = 10 };

__global__ void work(float *p, int n) {
  float x = p[threadIdx.x];
  for (int i = 0; i < n; i++) x = sinf(x) * 1.01f + p[(i * 33 + threadIdx.x) & 1023];
  p[threadIdx.x] = x;
}

static double now() {
  auto t = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(t).count();
}

static void want(uint8_t **buffer, size_t *bytes, size_t *most) {
  *bytes = BUFFER;
  *buffer = (uint8_t *)aligned_alloc(8, BUFFER);
  *most = 0;
}
static void filled(void *, uint32_t, uint8_t *buffer, size_t, size_t) { free(buffer); }
static uint64_t clock_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

template <typename... T> static void call(void *library, const char *name, T... arguments) {
  auto function = (int (*)(T...))dlsym(library, name);
  if (!function || function(arguments...)) printf("%s failed\n", name);
}

static void open_cupti(const char *letters) {
  void *library = dlopen("libcupti.so", RTLD_NOW);
  if (!library) library = dlopen("libcupti.so.13", RTLD_NOW);
  if (!library) {
    printf("no CUPTI\n");
    exit(1);
  }
  if (strchr(letters, 't'))
    call(library, "cuptiActivityRegisterTimestampCallback", (uint64_t(*)())clock_ns);
  if (strchr(letters, 'l')) call(library, "cuptiActivityEnableLatencyTimestamps", 1);
  call(library, "cuptiActivityRegisterCallbacks", want, filled);
  if (strchr(letters, 'k')) call(library, "cuptiActivityEnable", KERNEL);
  if (strchr(letters, 'c')) call(library, "cuptiActivityEnable", COPY);
  if (strchr(letters, 'c')) call(library, "cuptiActivityEnable", SET);
  call(library, "cuptiActivityFlushPeriod", 200);
}

int main(int argc, char **argv) {
  float *p;
  double called = 1e9, done = 1e9;
  if (argc > 1) open_cupti(argv[1]);
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  work<<<1, 1024>>>(p, 3);
  cudaDeviceSynchronize();
  for (int r = 0; r < ROUNDS; r++) {
    double start = now();
    for (int i = 0; i < LAUNCHES; i++) work<<<1, 1024>>>(p, 3);
    called = std::min(called, now() - start);
    cudaDeviceSynchronize();
    done = std::min(done, now() - start);
  }
  printf("%.3f %.3f\n", called / LAUNCHES, done / LAUNCHES);
  return 0;
}
