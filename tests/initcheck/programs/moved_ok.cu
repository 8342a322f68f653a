// moved.cu with nothing missing; and what is only moved is not computed: a choice between two
// values of which one was never written, a vector of which three parts are computed and one is
// moved along.
#define MISSING 0
#define main all_there
#include "moved.cu"
#undef main

__global__ void pick(const int *a, int *b, int which) {
  int x = a[0], y = a[1];
  b[threadIdx.x] = which ? x : y;
}
__global__ void push(float4 *p, float by) {
  float4 v = p[threadIdx.x];
  v.x += by, v.y += by, v.z += by;
  p[threadIdx.x] = v;
}

int main() {
  int *a, *b, one = 1, h[32];
  float4 *p, q[32];
  all_there();
  cudaMalloc(&a, 8); cudaMalloc(&b, sizeof h); cudaMalloc(&p, sizeof q);
  cudaMemcpy(a, &one, 4, cudaMemcpyHostToDevice);
  cudaMemset2D(p, 16, 0, 12, 32);
  pick<<<1, 32>>>(a, b, 1);
  push<<<1, 32>>>(p, 1);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpy2D(q, 16, p, 16, 12, 32, cudaMemcpyDeviceToHost);
  printf("%d %g\n", h[31], q[31].z);
}
