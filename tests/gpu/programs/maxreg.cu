// A register limit that stands in the options of the fatbin entry, not in the PTX: without it 1024
// threads would not fit.
// nvcc: -maxrregcount=32
// coverage: all
#include "gpu_test.h"

__global__ void heavy(const float *in, float *out, int n) {
  float v[64];
  int t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 64; i++) v[i] = in[(t * 64 + i * 7) % n];
  for (int r = 0; r < 4; r++) {
#pragma unroll
    for (int i = 0; i < 64; i++) v[i] = v[i] * v[(i + 17) % 64] + v[(i * 5 + 3) % 64];
  }
  float s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) s += v[i];
  out[t] = s;
}
int main() {
  enum { N = 4096 };
  static float h[N], r[1024];
  float *in, *out;
  for (int i = 0; i < N; i++) h[i] = (i * 37 % 101) * 0.015625f - 0.75f;
  OK(cudaMalloc(&in, sizeof h));
  OK(cudaMalloc(&out, sizeof r));
  OK(cudaMemcpy(in, h, sizeof h, cudaMemcpyDefault));
  cudaFuncAttributes a;
  OK(cudaFuncGetAttributes(&a, heavy));
  EXPECT(a.maxThreadsPerBlock == 1024);
  heavy<<<1, 1024>>>(in, out, N);
  OK(cudaGetLastError());
  OK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDefault));
  show("result", r, sizeof r);
  return finish();
}
