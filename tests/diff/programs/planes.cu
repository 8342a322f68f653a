// Launches that each write a part of a large buffer, with copies and sets between them, a kernel
// that stores through a pointer it reads from memory, one with a loop, and another stream: hashes
// must be those of all of the buffer each time.
#include <cstdio>
#include <vector>

__global__ void plane(float *x, int i, int side, float v) {
  int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (j < side && k < side) x[i * side * side + j * side + k] = v + j * 0.5f + k;
}
__global__ void everywhere(float *x, int n, float v) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += v;
}
__global__ void through(float **x, int at, float v) { (*x)[at] = v; }
__global__ void one(float *x, int at, float v) { x[at] = v; }
__global__ void back(float *x, unsigned n, float v) {
  x[n - 1 - (blockIdx.x * blockDim.x + threadIdx.x)] = v;
}

int main() {
  const int side = 256, planes = 32, n = side * side * planes;       // 8 MB
  float *x, *y, **cell;
  std::vector<float> host(1000, 3.5f);
  cudaMalloc(&x, n * 4);
  cudaMalloc(&y, n * 4);
  cudaMalloc(&cell, 8);
  cudaMemset(x, 0, n * 4);
  cudaMemset(y, 0, n * 4);
  cudaMemcpy(cell, &x, 8, cudaMemcpyHostToDevice);
  dim3 grid(side / 32, side / 8), block(32, 8);
  for (int i = 0; i < 5; i++) plane<<<grid, block>>>(x, i * 3, side, i + 1);
  cudaMemcpy(x + n - 1000, host.data(), 4000, cudaMemcpyHostToDevice);   // far from the next plane
  plane<<<grid, block>>>(x, 1, side, 100);
  cudaMemsetAsync(x + 5 * side * side, 7, 100000);
  plane<<<grid, block>>>(x, 2, side, 200);
  cudaMemcpy(x + 20 * side * side, x, 50000, cudaMemcpyDeviceToDevice);
  one<<<1, 1>>>(x, 12345, 1);
  through<<<1, 1>>>(cell, 777777, 9);
  one<<<1, 1>>>(x, n - 1, 2);
  plane<<<grid, block>>>(y, 3, side, 1);
  everywhere<<<32, 256>>>(x, n, 0.25f);
  one<<<1, 1>>>(x, 0, 5);
  back<<<4, 64>>>(x, n, 6);
  cudaStream_t s;
  cudaStreamCreate(&s);
  plane<<<grid, block, 0, s>>>(x, 9, side, 300);
  cudaStreamSynchronize(s);
  one<<<1, 1, 0, s>>>(x, 1, 5);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaMalloc(&x, n * 4);  // perhaps where it was, with something else in it
  cudaMemset(x, 1, n * 4);
  cudaDeviceSynchronize();
  one<<<1, 1>>>(x, 3, 5);
  one<<<1, 1>>>(x, 4, 5);
  cudaDeviceSynchronize();
  puts("done");
  return 0;
}
