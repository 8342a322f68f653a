// Copies of tensors that a GPU refuses end with its errors, wherever in the tensor they would have
// been.
// arch: compute_90
// prints: (4, 1): no error
// prints: (-4, 1): no error
// prints: (5, 1): an illegal instruction was encountered
// prints: (-3, 1): an illegal instruction was encountered
// prints: (5, 1), fetched ahead: an illegal instruction was encountered
// prints: to a multiple of 64: misaligned address
// prints: (4, 14), back: no error
// prints: (-4, 1), back: an illegal instruction was encountered
// prints: (4, -2), back: an illegal instruction was encountered
#include <cstdio>
#include <cuda_runtime.h>

#include "../lib/tensor_map.h"

#define AT(p) ((unsigned)__cvta_generic_to_shared(p))
__global__ void tile(const __grid_constant__ CUtensorMap map, int x, int y, int shift, char op) {
  __shared__ alignas(128) char s[256];
  __shared__ unsigned long long bar;
  if (op == 'b') {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], "
                 "[%3];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(&map),
                 "r"(x), "r"(y), "r"(AT(s))
                 : "memory");
    return;
  }
  if (op == 'f') {
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
                 "r"(x), "r"(y)
                 : "memory");
    return;
  }
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nmbarrier.arrive.expect_tx.shared::cta.b64 "
               "_, [%0], 128;" ::"r"(AT(&bar))
               : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(AT(s + shift)),
               "l"(&map), "r"(x), "r"(y), "r"(AT(&bar))
               : "memory");
  for (unsigned done = 0; !done;)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 "
                 "%0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(AT(&bar))
                 : "memory");
}

static void attempt(int x, int y, int shift, const char *how) {
  TensorMapEncode *encode = tensor_map_encode();
  float *data;
  cudaMalloc(&data, 4096);
  CUtensorMap m;
  cuuint64_t dims[] = {64, 16}, strides[] = {256};
  cuuint32_t box[] = {8, 4}, ones[] = {1, 1};
  encode(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, dims, strides, box, ones,
         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  tile<<<1, 1>>>(m, x, y, shift, how[0] == ',' ? how[2] : 0);
  cudaError_t e = cudaDeviceSynchronize();
  if (how[0] == ',' || !how[0]) printf("(%d, %d)%s: %s\n", x, y, how, cudaGetErrorString(e));
  else printf("%s: %s\n", how, cudaGetErrorString(e));
  cudaDeviceReset();
}

int main() {
  attempt(4, 1, 0, "");
  attempt(-4, 1, 0, "");
  attempt(5, 1, 0, "");
  attempt(-3, 1, 0, "");
  attempt(5, 1, 0, ", fetched ahead");
  attempt(4, 1, 64, "to a multiple of 64");
  attempt(4, 14, 0, ", back");
  attempt(-4, 1, 0, ", back");
  attempt(4, -2, 0, ", back");
}
