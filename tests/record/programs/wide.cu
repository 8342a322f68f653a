// What a warp does together, and copies of more than a register: tiles of wmma, ldmatrix and
// stmatrix, cp.async. `beyond`: a tile far behind the end of c. Run by wide.sh.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// 16 by 16 halves: lines of 32 bytes, 48 apart in a; 16 by 16 floats in c
__global__ void tiles(const half *a, const half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 24);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void matrices(const uint32_t *in, uint32_t *out) {
  __shared__ alignas(16) uint32_t from[32], to[32];
  from[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  uint32_t row = (uint32_t)__cvta_generic_to_shared(&from[threadIdx.x % 8 * 4]),
           other = (uint32_t)__cvta_generic_to_shared(&to[threadIdx.x % 8 * 4]), x;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(x)
               : "r"(row)
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};"
               :
               : "r"(other), "r"(x + 1)
               : "memory");
  __syncwarp();
  out[threadIdx.x] = to[threadIdx.x];
}

__global__ void copies(const uint4 *in, uint4 *out) {
  __shared__ uint4 buffer[32];
  uint32_t to = (uint32_t)__cvta_generic_to_shared(&buffer[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(to), "l"(in + threadIdx.x)
               : "memory");
  asm volatile("cp.async.wait_all;" : : : "memory");
  out[threadIdx.x] = buffer[threadIdx.x];
}

int main(int argc, char **) {
  half *a, *b;
  float *c;
  uint32_t *in, *out, host[128];
  cudaMallocManaged(&a, 16 * 24 * 2), cudaMallocManaged(&b, 512), cudaMallocManaged(&c, 1024);
  cudaMalloc(&in, 512), cudaMalloc(&out, 512);
  for (int i = 0; i < 16 * 24; i++) a[i] = __float2half((float)(i % 24 < 16 ? i % 7 : 99));
  for (int i = 0; i < 256; i++) b[i] = __float2half((float)(i % 5));
  for (int i = 0; i < 128; i++) host[i] = 1000 + i;
  cudaMemcpy(in, host, 512, cudaMemcpyHostToDevice);
  tiles<<<1, 32>>>(a, b, argc > 1 ? c + 50000 : c);
  cudaDeviceSynchronize();
  float sum = 0;
  for (int i = 0; i < 256; i++) sum += c[i] * (float)(i % 3);
  unsigned mixed = 0;
  auto mix = [&] {
    cudaMemcpy(host, out, 512, cudaMemcpyDeviceToHost);
    for (unsigned x : host) mixed = mixed * 31 + x;
    cudaMemset(out, 0, 512);
  };
  cudaMemset(out, 0, 512);
  matrices<<<1, 32>>>(in, out), mix();
  copies<<<1, 32>>>((uint4 *)in, (uint4 *)out), mix();
  printf("%g %08x %s\n", sum, mixed, cudaGetErrorString(cudaGetLastError()));
}
