// The program of cubin_only.cu, ptx_only.cu, old_ptx.cu and shared_runtime.cu: they differ in how
// they are built.
#include "gpu_test.h"

__device__ int shared_by_both = 3;
__global__ void dot(const float *a, const float *b, float *out, int n) {
  __shared__ float part[128];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 128) s += a[i] * b[i] + 0.1f;
  part[threadIdx.x] = s;
  __syncthreads();
  for (int d = 64; d; d >>= 1) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0] + shared_by_both++;
}
__global__ void waves(float *out) {
  float x = threadIdx.x * 0.37f;
  out[threadIdx.x] = sinf(x) * expf(-x) + sqrtf(x) / (1 + x) + shared_by_both;
}
int main() {
  static float a[1000], b[1000], h[256];
  float *da, *db, *out;
  for (int i = 0; i < 1000; i++) a[i] = i * 0.001f, b[i] = 1 - a[i];
  OK(cudaMalloc(&da, sizeof a));
  OK(cudaMalloc(&db, sizeof b));
  OK(cudaMalloc(&out, sizeof h));
  OK(cudaMemcpy(da, a, sizeof a, cudaMemcpyDefault));
  OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyDefault));
  dot<<<1, 128>>>(da, db, out, 1000);
  OK(cudaMemcpy(h, out, 4, cudaMemcpyDefault));
  EXPECT(h[0] > 269 && h[0] < 270);
  show("dot", h, 4);
  waves<<<1, 256>>>(out);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  EXPECT(h[0] == 4);
  show("waves", h, sizeof h);
  return finish();
}
