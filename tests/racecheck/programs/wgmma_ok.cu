// arch: 90a
// wgmma reads shared memory through the asynchronous proxy, after its fence.
#include <cstdint>
#include <cstdio>

__device__ static uint64_t descriptor(const void *p) {                  // no swizzle
  uint32_t at = (uint32_t)__cvta_generic_to_shared(p);
  return (uint64_t)(at >> 4 & 0x3fff) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}
#define PRODUCT(d, a, b) \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned." \
               "m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b))

template <bool FENCE> __device__ void multiply(float *out) {
  __shared__ alignas(128) uint16_t a[64 * 16], b[8 * 16];
  float d[4] = {0, 0, 0, 0};
  for (int i = threadIdx.x; i < 64 * 16; i += 128) a[i] = 0x3c00;
  if (threadIdx.x < 128) b[threadIdx.x] = 0x3c00;
  if (FENCE) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  PRODUCT(d, descriptor(a), descriptor(b));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}

__global__ void fenced(float *out) { multiply<true>(out); }

int main() {
  float *out, first;
  cudaMalloc(&out, 4096);
  fenced<<<1, 128>>>(out);
  cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost);
  printf("%s %g\n", cudaGetErrorString(cudaDeviceSynchronize()), first);
}
