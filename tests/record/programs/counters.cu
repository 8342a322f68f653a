// Four counters that thousands of threads add to, and each keeps what it found.
#include <cstdio>
__global__ void count(int *counters, int *found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  found[i] = atomicAdd(&counters[i & 3], 1);
}
int main() {
  int *counters, *found, sum[4];
  cudaMalloc(&counters, sizeof sum);
  cudaMalloc(&found, 8192 * sizeof(int));
  cudaMemset(counters, 0, sizeof sum);
  count<<<64, 128>>>(counters, found);
  cudaMemcpy(sum, counters, sizeof sum, cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", sum[0], sum[1], sum[2], sum[3]);
}
