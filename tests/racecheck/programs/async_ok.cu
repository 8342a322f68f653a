// arch: 80
// Asynchronous copies and barriers in memory.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda_pipeline.h>

using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void copies(const int *in, int *out) {  // a ring of stages, cp.async and wait_group
  __shared__ int tile[3][128];
  int t = threadIdx.x, sum = 0;
  auto fetch = [&](int i) {
    if (i < 8) __pipeline_memcpy_async(&tile[i % 3][t], &in[i * 128 + t], 4);
    __pipeline_commit();
  };
  fetch(0);
  fetch(1);
  for (int i = 0; i < 8; i++) {
    fetch(i + 2);
    __pipeline_wait_prior(2);
    __syncthreads();
    sum += tile[i % 3][127 - t];
    __syncthreads();
  }
  out[blockIdx.x * 128 + t] = sum;
}

__global__ void wait_all(const int4 *in, int4 *out) {
  __shared__ int4 tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void all_arrive(int *out) {                                  // as a barrier of the block
  __shared__ barrier b;
  __shared__ int s[128];
  if (threadIdx.x == 0) init(&b, 128);
  __syncthreads();
  for (int i = 0; i < 3; i++) {
    s[threadIdx.x] = i;
    b.arrive_and_wait();
    int v = s[127 - threadIdx.x];
    b.arrive_and_wait();
    s[threadIdx.x] = v + 1;
    b.arrive_and_wait();
    out[blockIdx.x * 128 + threadIdx.x] = s[(threadIdx.x + 64) % 128];
    b.arrive_and_wait();
  }
}

__global__ void producer_consumer(int *out) {  // full and empty for each of two buffers
  __shared__ barrier full[2], empty[2];
  __shared__ int buffer[2][64];
  if (threadIdx.x < 2) {
    init(&full[threadIdx.x], 128);
    init(&empty[threadIdx.x], 128);
  }
  __syncthreads();
  int t = threadIdx.x % 64, sum = 0;
  if (threadIdx.x < 64) {
    for (int i = 0; i < 6; i++) {
      empty[i % 2].arrive_and_wait();
      buffer[i % 2][t] = i * t;
      (void)full[i % 2].arrive();
    }
  } else {
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    for (int i = 0; i < 6; i++) {
      full[i % 2].arrive_and_wait();
      sum += buffer[i % 2][63 - t];
      (void)empty[i % 2].arrive();
    }
    out[blockIdx.x * 64 + t] = sum;
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 1 << 16);
  cudaMalloc(&out, 1 << 16);
  cudaMemset(in, 0, 1 << 16);
  copies<<<4, 128>>>(in, out);
  wait_all<<<4, 64>>>((int4 *)in, (int4 *)out);
  all_arrive<<<4, 128>>>(out);
  producer_consumer<<<4, 128>>>(out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
