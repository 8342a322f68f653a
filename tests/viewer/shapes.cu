// Buffers of unlike elements and shapes, for shapes.mjs: bytes in padded rows, halves, one float.
// The second kernel has names of its own for them.
#include <cstdio>
#include <cuda_fp16.h>

__global__ void make_grey(const uchar4 *src, size_t pitch, __half *grey, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  uchar4 p = ((const uchar4 *)((const char *)src + y * pitch))[x];
  grey[y * w + x] = __float2half(p.x * .25f + p.y * .5f + p.z * .25f);
}

__global__ void add_up(const __half *image, float *total, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += __half2float(image[i]);
  *total = sum;
}

int main() {
  const int w = 48, h = 32;
  static uchar4 p[w * h];
  for (int i = 0; i < w * h; i++) p[i] = make_uchar4(i % w, 2 * (i / w), 8, 255);
  uchar4 *src;
  __half *grey;
  float *total, sum;
  size_t pitch;
  cudaMallocPitch(&src, &pitch, w * 4, h);
  cudaMalloc(&grey, w * h * 2);
  cudaMalloc(&total, 4);
  cudaMemcpy2D(src, pitch, p, w * 4, w * 4, h, cudaMemcpyHostToDevice);
  make_grey<<<dim3(3, 4), dim3(16, 8)>>>(src, pitch, grey, w, h);
  add_up<<<1, 1>>>(grey, total, w * h);
  cudaMemcpy(&sum, total, 4, cudaMemcpyDeviceToHost);
  printf("%g\n", sum);
}
