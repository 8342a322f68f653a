// All threads add to one counter.
#include "host.h"
__global__ void count(int *sum, const int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, data[i]);  // advice: atomic-contention
}
int main() {
  int n = 65536;
  count<<<n / 256, 256>>>(buffer<int>(1), buffer<int>(n), n);
  return finish();
}
