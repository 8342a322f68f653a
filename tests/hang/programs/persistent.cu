// A kernel that stays and does what the host gives it, now and then: it makes progress.
#include "../../lib/one_bug.h"
#include <unistd.h>
__global__ void k(volatile int *work, volatile int *done, int *out) {
  for (int seen = 0;;) {
    int now;
    while ((now = *work) == seen) {}
    seen = now;
    if (now < 0) return;
    out[threadIdx.x] += now;
    __syncthreads();
    if (threadIdx.x == 0) *done = now;
  }
}
int main() {
  int *work, *done, *out = device_ints(64);
  MUST(cudaHostAlloc(&work, sizeof *work, cudaHostAllocMapped));
  MUST(cudaHostAlloc(&done, sizeof *done, cudaHostAllocMapped));
  *(volatile int *)work = *(volatile int *)done = 0;
  k<<<1, 32>>>(work, done, out);
  for (int i = 1; i <= 7; i++) {
    usleep(400000);
    *(volatile int *)work = i;
    while (*(volatile int *)done != i) usleep(1000);
  }
  *(volatile int *)work = -1;
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 64));
}
