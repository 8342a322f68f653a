// The same with barriers, and with tiles of their own.
#include <cstdio>
#include <mma.h>
using namespace nvcuda;

__device__ unsigned row_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void rows(unsigned *out) {
  __shared__ __align__(16) unsigned tile[256];
  for (int i = 0; i < 2; i++) tile[threadIdx.x + 64 * i] = threadIdx.x;
  __syncthreads();
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(row_of(tile + 4 * (threadIdx.x % 32))));
  out[threadIdx.x] = a + b + c + d;
  __syncthreads();
  tile[threadIdx.x] = 0;
}

__global__ void few_rows(unsigned *out) {  // lanes that have no row may name one
  __shared__ __align__(16) unsigned tile[128];
  if (threadIdx.x >= 32) tile[threadIdx.x] = threadIdx.x;
  else tile[threadIdx.x] = threadIdx.x;
  unsigned a = 0;
  if (threadIdx.x < 32)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(a)
                 : "r"(row_of(tile + 4 * (threadIdx.x % 16))));
  out[threadIdx.x] = a;
}

__global__ void tiles(half *from, float *out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, from, 32);
  wmma::load_matrix_sync(b, from + 16, 32);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out + 16 * blockIdx.x, c, 48, wmma::mem_row_major);
}

__global__ void through_shared(half *from, float *out) {
  __shared__ half a_of[256];
  __shared__ float c_of[256];
  for (int i = threadIdx.x; i < 256; i += 32) a_of[i] = from[i];
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, a_of, 16);
  wmma::load_matrix_sync(b, from, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(c_of, c, 16, wmma::mem_col_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) out[blockIdx.x * 256 + i] = c_of[i];
}

int main() {
  unsigned *out;
  cudaMalloc(&out, 1 << 16);
  cudaMemset(out, 0, 1 << 16);
  rows<<<1, 64>>>(out);
  few_rows<<<1, 64>>>(out);
  tiles<<<3, 32>>>((half *)out + 8192, (float *)out);
  through_shared<<<3, 32>>>((half *)out + 8192, (float *)out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
