// A kernel that stores in a way that is not followed: what it may have written counts as
// initialised, and the report names it.
// says: initcheck does not follow it: it writes memory with wmma.store
#include "check.h"
#include <cuda_fp16.h>
#include <mma.h>

__global__ void multiply(float *out, const __half *in) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  load_matrix_sync(a, in, 16);
  load_matrix_sync(b, in, 16);
  mma_sync(c, a, b, c);
  store_matrix_sync(out, c, 16, mem_row_major);
}

static float host[256];

int main() {
  float *out;
  __half *in;
  CHECK(cudaMalloc(&out, sizeof host));
  CHECK(cudaMalloc(&in, 512));
  CHECK(cudaMemset(in, 0, 512));
  // finds-next: uninit-copy bytes=1024
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  multiply<<<1, 32>>>(out, in);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  printf("done\n");
  return 0;
}
