// After a kernel that is not checked everything counts as initialised; not what is allocated later.
// options: --kernel-exclude=unseen
#include "check.h"

__global__ void unseen(int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

static int host[1024];

int main() {
  int *a, *b, *c;
  CHECK(cudaMalloc(&a, 4096));
  CHECK(cudaMalloc(&b, 4096));
  CHECK(cudaMemcpy(host, b, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=4096
  unseen<<<4, 256>>>(a, 1024);
  CHECK(cudaMemcpy(host, a, 4096, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(host, b, 4096, cudaMemcpyDeviceToHost));
  CHECK(cudaMalloc(&c, 4096));
  CHECK(cudaMemcpy(host, c, 4096, cudaMemcpyDeviceToHost));  // finds: uninit-copy bytes=4096
  printf("done\n");
  return 0;
}
