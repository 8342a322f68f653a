// Two runs that differ: with an argument the second launch of `blur` takes another weight for one
// element.
#include <cstdio>
__global__ void blur(float *to, const float *from, int n, int odd) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = from[i ? i - 1 : 0], right = from[i + 1 < n ? i + 1 : i];
  to[i] = .25f * left + (i == odd ? .625f : .5f) * from[i] + .25f * right;
}
int main(int argc, char **) {
  const int n = 1024;
  float *a, *b, start[n];
  for (int i = 0; i < n; i++) start[i] = i % 32;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, start, n * 4, cudaMemcpyHostToDevice);
  blur<<<4, 256>>>(b, a, n, -1);
  blur<<<4, 256>>>(a, b, n, argc > 1 ? 700 : -1);
  blur<<<4, 256>>>(b, a, n, -1);
  cudaDeviceSynchronize();
  puts(cudaGetErrorString(cudaGetLastError()));
}
