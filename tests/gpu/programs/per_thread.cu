// One default stream for each host thread.
// nvcc: --default-stream per-thread
// coverage: all
#include <thread>
#include "gpu_test.h"

__global__ void wait_for(volatile int *flag, int *out, int v) { while (!*flag) {} *out = v; }
__global__ void raise_flag(volatile int *flag) { *flag = 1; }
int main() {
  int *flag, *out, h = 0;
  OK(cudaMalloc(&out, 4));
  OK(cudaMallocManaged(&flag, 4));
  *flag = 0;
  OK(cudaDeviceSynchronize());
  // The kernels are used once before: code is loaded lazily, and a load may wait for the kernels
  // that run.
  raise_flag<<<1, 1>>>(flag);
  wait_for<<<1, 1>>>(flag, out, 1);
  OK(cudaDeviceSynchronize());
  *flag = 0;
  wait_for<<<1, 1>>>(flag, out, 42);                   // waits for the kernel of the other thread
  std::thread other([&] { raise_flag<<<1, 1>>>(flag); OK(cudaStreamSynchronize(0)); });
  other.join();
  OK(cudaMemcpy(&h, out, 4, cudaMemcpyDefault));
  printf("%d\n", h);
  EXPECT(h == 42);
  return finish();
}
