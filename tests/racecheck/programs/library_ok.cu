// Algorithms of CUB: decoupled look-back, reductions, sorting, histograms. make check runs Thrust's
// instead: tests/racecheck/library.sh.
// long: yes
#include <cstdio>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

int main() {
  const int N = 20000;
  int *in, *out, *keys;
  void *room;
  size_t bytes = 1 << 24;
  cudaMalloc(&in, N * 4);
  cudaMalloc(&out, N * 4);
  cudaMalloc(&keys, N * 4);
  cudaMalloc(&room, bytes);
  static int host[20000];
  for (int i = 0; i < N; i++) host[i] = i * 7919 % 1000;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cub::DeviceScan::InclusiveSum(room, bytes, in, out, N);
  cub::DeviceReduce::Sum(room, bytes, in, out, N);
  cub::DeviceSelect::If(room, bytes, in, keys, out, N, [] __device__(int x) { return x % 3 == 0; });
  cub::DeviceRadixSort::SortKeys(room, bytes, in, keys, N);
  cub::DeviceHistogram::HistogramEven(room, bytes, in, out, 17, 0, 1000, N);
  cub::DeviceRunLengthEncode::Encode(room, bytes, keys, out, in, out + N - 1, N);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
