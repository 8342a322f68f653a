// … in two queues, one for copies and one for kernels: an event says that an image is there.
#include "host.h"
__global__ void back_project(float *image, const float *sinogram, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) image[i] += sinogram[i];
}
int main() {
  int images = 6, n = 1 << 16;
  float *host, *image = buffer<float>(n), *sinograms = buffer<float>(n * images);
  cudaStream_t copies, kernels;
  cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking);
  cudaMallocHost(&host, n * images * 4);
  for (int k = 0; k < images; k++) {
    float *sinogram = sinograms + k * n;
    cudaEvent_t here;
    cudaEventCreate(&here);
    cudaMemcpyAsync(sinogram, host + k * n, n * 4, cudaMemcpyHostToDevice, copies);
    cudaEventRecord(here, copies);
    cudaStreamWaitEvent(kernels, here, 0);
    back_project<<<n / 256, 256, 0, kernels>>>(image, sinogram, n);
  }
  return finish();
}
