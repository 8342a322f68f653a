// A bad store of every thread, then the end that the argument names. What was found must be in the
// report, whatever comes after it.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

__global__ void store(int *p, int n, volatile unsigned *seen, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[n + i] = i;
  if (!mode) return;
  atomicAdd((unsigned *)seen, 1);
  __threadfence_system();
  if (mode == 1) {
    if (i == 0) { while (*seen < gridDim.x * blockDim.x) {} asm volatile("trap;"); }
    return;
  }
  for (;;) *seen;                                              // for ever
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "return";
  int *p, mode = !strcmp(how, "trap") ? 1 : !strcmp(how, "kill") ? 2 : 0;
  unsigned *seen, *d;
  cudaMalloc(&p, 4096);
  cudaHostAlloc(&seen, 4, cudaHostAllocMapped);
  *seen = 0;
  cudaHostGetDevicePointer(&d, seen, 0);
  store<<<4, 256>>>(p, 1024, d, mode);
  if (mode == 2) {
    while (*(volatile unsigned *)seen < 1024) {}
    kill(getpid(), SIGKILL);
  }
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  fflush(stdout);
  if (!strcmp(how, "crash")) raise(SIGSEGV);
  if (!strcmp(how, "_exit")) _exit(0);
  return 0;
}
