// Host and device wait for each other while the kernel runs, through mapped memory: nothing may
// wait for the kernel to end.
// coverage: all
#include "gpu_test.h"

__global__ void pong(volatile unsigned *flag, unsigned *log, unsigned times) {
  for (unsigned i = 1; i <= times; i++) {
    while (flag[0] != i) {}
    log[i - 1] = i * i;
    __threadfence_system();
    flag[32] = i;
  }
}
int main() {
  enum { TIMES = 500 };
  unsigned *flag, *dflag, *log, h[TIMES];
  OK(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped));
  memset(flag, 0, 4096);
  OK(cudaHostGetDevicePointer(&dflag, flag, 0));
  OK(cudaMalloc(&log, sizeof h));
  pong<<<1, 1>>>(dflag, log, TIMES);
  OK(cudaGetLastError());
  volatile unsigned *f = flag;
  for (unsigned i = 1; i <= TIMES; i++) {
    f[0] = i;
    __sync_synchronize();
    while (f[32] != i) {}
    if (i == 5) EXPECT(cudaStreamQuery(0) == cudaErrorNotReady);
  }
  OK(cudaMemcpy(h, log, sizeof h, cudaMemcpyDefault));
  for (unsigned i = 0; i < TIMES; i++) EXPECT(h[i] == (i + 1) * (i + 1));
  show("log", h, sizeof h);
  return finish();
}
