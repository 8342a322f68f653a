// The program is killed while its kernel loops for ever.
// exit: 137
// coverage: any
#include <signal.h>
#include <unistd.h>
#include "gpu_test.h"

__global__ void endless(volatile unsigned *p) { for (unsigned i = 1;; i++) *p = i; }
int main() {
  unsigned *p, *d;
  OK(cudaHostAlloc(&p, 4, cudaHostAllocMapped));
  *p = 0;
  OK(cudaHostGetDevicePointer(&d, p, 0));
  endless<<<1, 1>>>(d);
  while (*(volatile unsigned *)p < 100) {}
  printf("running\n");
  fflush(stdout);
  kill(getpid(), SIGKILL);
  pause();
}
