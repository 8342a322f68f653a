// A launch that is too large for fast mode to test everywhere at once. Every thread divides by zero
// when asked to. Run by launches.sh.
#include <cstdio>
#include <cstdlib>

__global__ void divides(float *out, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3.0f / b[i & 63];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 200000, launches = argc > 2 ? atoi(argv[2]) : 1;
  float zero = argc > 3 ? (float)atof(argv[3]) : 0.0f, b[64];
  for (int i = 0; i < 64; i++) b[i] = i == 5 ? zero : 1.0f;
  float *out, *dev, last;
  if (cudaMalloc(&out, n * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&dev, sizeof b) != cudaSuccess)
    return 1;
  cudaMemcpy(dev, b, sizeof b, cudaMemcpyHostToDevice);
  for (int k = 0; k < launches; k++) divides<<<(n + 255) / 256, 256>>>(out, dev, n);
  if (cudaMemcpy(&last, out + 5, sizeof last, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  printf("%g\n", last);
}
