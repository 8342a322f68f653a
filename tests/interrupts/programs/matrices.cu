// nvcc: -Iinclude
// Matrix products of a warp with interrupts between: the parts of a matrix that each lane holds are
// saved, and lanes that were not suspended wait for the others. Compared with the same kernel
// without interrupts.
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>

#include "warpgrind.h"

using namespace nvcuda;

WG_INTERRUPT_OR(next_on_host, float(float x), 0);
WG_HANDLER(next_on_host, wg_callers &callers, wg_list<float> x, wg_results<float> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = x[i] + 1;
}

template <bool I> __global__ void products(float *out, const half *a, const half *b) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> q;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.f);
  wmma::load_matrix_sync(p, a, 16);
  wmma::load_matrix_sync(q, b, 16);
  for (int k = 0; k < 3; k++) {
    wmma::mma_sync(sum, p, q, sum);
    if (threadIdx.x % 5 == k) sum.x[k] = I ? next_on_host(sum.x[k]) : sum.x[k] + 1;
  }
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

int main() {
  static half a[256], b[256];
  static float found[2][256];
  half *p, *q;
  float *out;
  for (int i = 0; i < 256; i++) a[i] = __float2half(i % 7), b[i] = __float2half(i % 5);
  cudaMalloc(&p, sizeof a);
  cudaMalloc(&q, sizeof b);
  cudaMalloc(&out, sizeof found[0]);
  cudaMemcpy(p, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(q, b, sizeof b, cudaMemcpyHostToDevice);
  for (int k = 0; k < 2; k++) {
    (k ? products<true> : products<false>)<<<1, 32>>>(out, p, q);
    cudaMemcpy(found[k], out, sizeof found[k], cudaMemcpyDeviceToHost);
  }
  int different = 0;
  for (int i = 0; i < 256; i++) different += found[0][i] != found[1][i];
  printf("products: %d different, %s\n", different, cudaGetErrorString(cudaGetLastError()));
  cudaFree(p);
  cudaFree(q);
  cudaFree(out);
}
