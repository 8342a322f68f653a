// A launch in which one thread of the first block divides by zero: in fast mode the sink fires when nobody else does it. Run by births.sh.
#include <cstdio>

__global__ void divides(float *out, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3.0f / b[i];
}

int main() {
  const int n = 200000;
  static float b[n];
  for (int i = 0; i < n; i++) b[i] = i == 5 ? 0.0f : 1.0f;
  float *out, *dev;
  if (cudaMalloc(&out, sizeof b) != cudaSuccess || cudaMalloc(&dev, sizeof b) != cudaSuccess) return 1;
  cudaMemcpy(dev, b, sizeof b, cudaMemcpyHostToDevice);
  divides<<<(n + 255) / 256, 256>>>(out, dev, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  printf("done\n");
}
