// Copies and launches whose times a stand-in for CUPTI tells (fake_cupti.c).
#include <cuda_runtime.h>

__global__ void work(int *p) { p[threadIdx.x] += 1; }

int main() {
  static int host[1024];
  int *p;
  cudaMalloc(&p, sizeof host);
  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
  work<<<2, 64>>>(p);
  cudaDeviceSynchronize();
  work<<<2, 64>>>(p);
  work<<<3, 64>>>(p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(p);
}
