// CUB's and Thrust's largest kernels, and one whose launch bounds leave few registers.
#include <cstdio>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

__global__ void __launch_bounds__(1024, 2) scale(unsigned *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * 2654435761u;
}

int main() {
  const int n = 1 << 20;
  thrust::device_vector<unsigned> keys(n), values(n);
  thrust::device_vector<unsigned long long> wide(n);
  thrust::sequence(keys.begin(), keys.end());
  thrust::sequence(values.begin(), values.end());
  thrust::sequence(wide.rbegin(), wide.rend());
  scale<<<n / 1024, 1024>>>(thrust::raw_pointer_cast(keys.data()), n);
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  thrust::sort(wide.begin(), wide.end());
  unsigned *sums;
  void *scratch = nullptr;
  size_t bytes = 0;
  cudaMalloc(&sums, n * sizeof *sums);
  cub::DeviceScan::InclusiveSum(scratch, bytes, values.begin(), sums, n);
  cudaMalloc(&scratch, bytes);
  cub::DeviceScan::InclusiveSum(scratch, bytes, values.begin(), sums, n);
  unsigned last = 0;
  cudaMemcpy(&last, sums + n - 1, sizeof last, cudaMemcpyDefault);
  printf("%u %llu %u\n", (unsigned)values[1], (unsigned long long)wide[5], last);
  return cudaDeviceSynchronize() != cudaSuccess;
}
