// nvcc: -Iinclude
// tools: none
// More threads and blocks are suspended than there is memory for at first: it grows while the
// kernel runs. Memory for threads that never call is not taken.
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT_OR(add_one, long long(long long x), 0);
static size_t calls, callers_in_all;
WG_HANDLER(add_one, wg_callers &callers, wg_list<long long> x, wg_results<long long> r) {
  calls++;
  callers_in_all += callers.size();
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] + 1;
}

// 64 bytes are live at the call.
__global__ void live(long long *out, const long long *in, int every) {
  size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
  long long v[8], sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] = in[(i + k) & 1023] * (k + 1);
  if (i % every == 0) sum = add_one((long long)i) - (long long)i - 1;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += v[k];
  out[i & 1023] = sum;
}

extern __shared__ long long tile[];
__global__ void tiles(long long *out) {
  int t = threadIdx.x;
  for (int k = t; k < 5000; k += blockDim.x) tile[k] = k + blockIdx.x;
  __syncthreads();
  if (t == 3) tile[4000] = add_one(tile[4000]);
  __syncthreads();
  if (!t) out[blockIdx.x & 1023] = tile[4000] - tile[4001];
}

int main() {
  enum { N = 1 << 20, BLOCKS = 2000 };
  static long long in[1024], out[1024];
  long long *d_in, *d_out;
  for (int i = 0; i < 1024; i++) in[i] = i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  tiles<<<1, 64, 40000>>>(d_out);  // the next is launched behind it, and begins when it has ended
  for (int every : {1, 4096}) {
    live<<<N / 256, 256>>>(d_out, d_in, every);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 1024; i++) {
      long long sum = 0;
      for (int k = 0; k < 8; k++) sum += (long long)((i + k) & 1023) * (k + 1);
      wrong += out[i] != sum;
    }
    printf("live: %d wrong, %zu callers in %zu calls, %s\n", wrong, callers_in_all, calls,
           cudaGetErrorString(cudaGetLastError()));
    callers_in_all = calls = 0;
  }
  size_t before, after, all;
  cudaMemGetInfo(&before, &all);
  live<<<N / 16, 256>>>(d_out, d_in, N);
  cudaDeviceSynchronize();
  cudaMemGetInfo(&after, &all);
  printf("memory: %s, %zu callers\n", before < after + (100 << 20) ? "little" : "much",
         callers_in_all);
  callers_in_all = calls = 0;
  for (int again = 0; again < 2; again++) {
    tiles<<<BLOCKS, 64, 40000>>>(d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (long long left : out) wrong += left != 0;
    printf("tiles: %d wrong, %zu callers in %zu calls, %s\n", wrong, callers_in_all, calls,
           cudaGetErrorString(cudaGetLastError()));
    callers_in_all = calls = 0;
  }
}
