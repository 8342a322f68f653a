// Matrices that the lanes of a warp load and store together, with no barrier between.
#include <cstdio>
#include <mma.h>
using namespace nvcuda;

__device__ unsigned row_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void rows(unsigned *out) {
  __shared__ __align__(16) unsigned tile[256];                          // 32 rows of 16 bytes
  // finds-next: race group=rows
  for (int i = 0; i < 2; i++) tile[threadIdx.x + 64 * i] = threadIdx.x;
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(row_of(tile + 4 * (threadIdx.x % 32))));  // finds: race group=rows
  out[threadIdx.x] = a + b + c + d;
}

__global__ void few_rows(unsigned *out) {  // 8 rows: the second warp writes where the first reads
  __shared__ __align__(16) unsigned tile[32];
  // finds-next: race group=few_rows
  if (threadIdx.x >= 32) tile[threadIdx.x - 32] = threadIdx.x;
  unsigned a = 0;
  if (threadIdx.x < 32)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(a)
                 : "r"(row_of(tile + 4 * (threadIdx.x % 8))));  // finds: race group=few_rows
  out[threadIdx.x] = a;
}

__global__ void tiles(half *from, float *out) {  // all blocks write the same tile
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, from, 32);
  wmma::load_matrix_sync(b, from + 16, 32);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out, c, 20, wmma::mem_row_major);             // finds: race group=tiles
}

__global__ void halves(half *from, float *out, int stride) {            // 16 columns each 8
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, from, 32);
  wmma::load_matrix_sync(b, from + 16, 32);
  wmma::mma_sync(c, a, b, c);
  // finds-next: race group=halves
  wmma::store_matrix_sync(out + 8 * blockIdx.x, c, stride, wmma::mem_row_major);
}

int main() {
  unsigned *out;
  cudaMalloc(&out, 1 << 16);
  cudaMemset(out, 0, 1 << 16);
  rows<<<1, 64>>>(out);
  few_rows<<<1, 64>>>(out);
  tiles<<<3, 32>>>((half *)out + 8192, (float *)out);
  halves<<<3, 32>>>((half *)out + 8192, (float *)out, 64);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
