// A program compiled with one default stream for each thread: stream 0 of two threads is not the
// same.
// nvcc: --default-stream per-thread
// prints: all checks passed
#include <thread>
#include "check.h"

__device__ int symbol;
__global__ void wait_for(volatile int *flag) {
  while (*flag == 0) {}
}
__global__ void add(int *p, int v) { atomicAdd(p, v); }

int main() {
  volatile int *flag;
  OK(cudaHostAlloc((void **)&flag, 4, cudaHostAllocMapped));
  *flag = 0;
  wait_for<<<1, 1>>>(flag);  // this thread's stream is busy until the other thread has finished
  RETURNS(cudaStreamQuery(0), cudaErrorNotReady);
  std::thread([flag] {
    int *p, h = 0, v = 8, w = 0;
    OK(cudaMalloc(&p, 64));
    OK(cudaMemset(p, 0, 64));
    add<<<4, 32>>>(p, 2);
    OK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 256);
    OK(cudaMemcpyToSymbol(symbol, &v, 4));
    OK(cudaMemcpyFromSymbol(&w, symbol, 4));
    EXPECT(w == 8);
    int grid[4] = {1, 2, 3, 4}, back[4] = {0};
    OK(cudaMemcpy2D(p, 8, grid, 8, 8, 2, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(back, p, 16, cudaMemcpyDeviceToHost, 0));
    OK(cudaStreamSynchronize(0));
    EXPECT(!memcmp(grid, back, 16));
    *flag = 1;
  }).join();
  OK(cudaStreamSynchronize(0));
  OK(cudaGetLastError() == cudaErrorNotReady ? cudaSuccess : cudaErrorUnknown);
  return finish();
}
