// async [twin]: an asynchronous product of a warp group (wgmma) overflows in its accumulators,
// which are FP16. Run by situations.sh.
#include <cstdio>
#include <cuda_fp16.h>

// 64x8 = 64x16 times 16x8: pieces of 8 rows of 16 bytes, one behind the other.
__global__ void products(__half2 *out, __half a, __half b) {
  __shared__ __align__(128) __half sa[64 * 16], sb[8 * 16];
  for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) sa[i] = a;
  for (int i = threadIdx.x; i < 8 * 16; i += blockDim.x) sb[i] = b;
  __syncthreads();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  auto describe = [](const void *p, unsigned rows) {
    unsigned long long d = __cvta_generic_to_shared(p) >> 4 & 0x3fff;
    return d | (unsigned long long)(rows * 16 >> 4) << 16 | 128ull >> 4 << 32;
  };
  unsigned d0 = 0, d1 = 0;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %1}, %2, %3, 1, 1, 1, 0, 0;"
               // label-next: bug
               : "+r"(d0), "+r"(d1) : "l"(describe(sa, 64)), "l"(describe(sb, 8)));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
               : "+r"(d0), "+r"(d1)::"memory");
  __half2 lower, upper;
  memcpy(&lower, &d0, 4), memcpy(&upper, &d1, 4);
  out[threadIdx.x] = __halves2half2(__low2half(lower), __high2half(upper));
}

int main(int argc, char **) {
  __half2 *out, first;
  if (cudaMalloc(&out, 128 * sizeof *out) != cudaSuccess) return 1;
  products<<<1, 128>>>(out, __float2half(argc > 1 ? 2.0f : 200.0f), __float2half(100.0f));
  if (cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  printf("%g %g\n", __low2float(first), __high2float(first));
}
