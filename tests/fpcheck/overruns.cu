// A kernel with two faults: it divides by zero, and two threads write behind the buffer. Run by
// together.sh.
#include <cstdlib>

__global__ void divides(float *out, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 3.0f / b[i & 63];
}

int main(int argc, char **argv) {
  int n = 1000, launches = argc > 1 ? atoi(argv[1]) : 1, behind = argc > 2 ? 0 : 2;
  float b[64];
  for (int i = 0; i < 64; i++) b[i] = i == 5 && argc <= 2 ? 0.0f : 1.0f;
  float *out, *dev;
  if (cudaMalloc(&out, n * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&dev, sizeof b) != cudaSuccess)
    return 1;
  cudaMemcpy(dev, b, sizeof b, cudaMemcpyHostToDevice);
  for (int k = 0; k < launches; k++) divides<<<4, 256>>>(out, dev, n + behind);
  return cudaDeviceSynchronize() != cudaSuccess;
}
