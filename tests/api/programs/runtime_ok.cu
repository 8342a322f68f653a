// The same, done rightly; where a launch fails the program asks.
#include <cstdio>
#include <thread>
#include <vector>

__global__ void touch(int *p) { p[threadIdx.x] = 1; }
__device__ int variable[16];
__managed__ int managed[256];

static bool works(int threads, int *d) {
  touch<<<1, threads>>>(d);
  return cudaGetLastError() == cudaSuccess;
}

int main() {
  int *d, *pinned, *unified, host[256] = {0};
  cudaStream_t s;
  cudaMalloc(&d, sizeof host);
  cudaMallocHost(&pinned, sizeof host);
  cudaMallocManaged(&unified, sizeof host);
  cudaStreamCreate(&s);
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(d, host, sizeof host, cudaMemcpyDefault);
  cudaMemcpy(d, unified, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(unified, d, sizeof host, cudaMemcpyDeviceToDevice);
  cudaMemcpy(pinned, managed, sizeof host, cudaMemcpyHostToHost);
  cudaMemcpy(managed, pinned, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(variable, host, 64);
  cudaMemcpyFromSymbol(host, variable, 64);
  cudaMemcpyToSymbol(variable, host, 56, 8);
  cudaMemcpy2D(d, 64, host, 64, 64, 4, cudaMemcpyHostToDevice);
  void *address;
  cudaGetSymbolAddress(&address, variable);
  cudaMemset(address, 0, 64);
  cudaMemcpyAsync(d, pinned, sizeof host, cudaMemcpyHostToDevice, s);
  touch<<<1, 256, 0, s>>>(d);
  cudaMemcpyAsync(host, d, sizeof host, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  printf("%d threads\n", works(256, d) ? 1024 : 256);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([=] {
      cudaMemcpy(d, pinned, 64, cudaMemcpyHostToDevice);
      if (cudaPeekAtLastError() != cudaSuccess) puts("?");
    });
  for (auto &t : threads) t.join();
  cudaFree(d);
  cudaFreeHost(pinned);
  cudaFree(unified);
  cudaStreamDestroy(s);
  cudaDeviceReset();
  return 0;
}
