// Shared memory begins unwritten in every block and every launch.
#include "check.h"

__global__ void sum(int *out, const int *in, int good) {
  __shared__ int part[64];
  extern __shared__ int more[];
  int i = threadIdx.x, n = blockDim.x;
  if (good || i < 32) part[i] = in[i];
  more[i] = in[i] + 1;
  __syncthreads();
  int s = part[n - 1 - i] + more[n - 1 - i];
  if (s > 1000) out[blockIdx.x * n + i] = s;  // finds: uninit-use
}

static int host[256];

int main() {
  int *in, *out;
  CHECK(cudaMalloc(&in, 256));
  CHECK(cudaMalloc(&out, 1024));
  CHECK(cudaMemset(in, 1, 256));
  sum<<<4, 64, 256>>>(out, in, 1);
  CHECK(cudaMemcpy(host, out, 1024, cudaMemcpyDeviceToHost));
  sum<<<4, 64, 256>>>(out, in, 0);
  CHECK(cudaDeviceSynchronize());
  printf("done\n");
  return 0;
}
