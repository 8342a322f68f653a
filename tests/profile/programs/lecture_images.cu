// The lecture's image reconstruction in one queue: an image is copied, then projected back, then
// the next one is copied.
#include "host.h"
__global__ void back_project(float *image, const float *sinogram, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) image[i] += sinogram[i];
}
int main() {
  int images = 6, n = 1 << 16;
  float *host, *image = buffer<float>(n), *sinograms = buffer<float>(n * images);
  cudaMallocHost(&host, n * images * 4);
  for (int k = 0; k < images; k++) {
    float *sinogram = sinograms + k * n;
    cudaMemcpyAsync(sinogram, host + k * n, n * 4, cudaMemcpyHostToDevice);  // advice: no-overlap
    back_project<<<n / 256, 256>>>(image, sinogram, n);
  }
  return finish();
}
