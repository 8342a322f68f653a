// For --record=inputs: what copies from the host and sets bring, before launches that read it and
// what the launches before them wrote.
#include <cuda_runtime.h>
#include <stdio.h>

enum { N = 40000 };                        // between two and three pages

__global__ void add(const float4 *in, float4 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 x = in[i], y = out[i];
  out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

#define TRY(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s: %s\n", #call, cudaGetErrorString(e)); \
      return 1; \
    } \
  } while (0)
#define ADD() add<<<(N / 4 + 255) / 256, 256>>>((float4 *)a, (float4 *)b, N / 4)

int main() {
  static float values[N], other[N];
  float *a, *b, *pinned;
  for (int i = 0; i < N; i++) values[i] = i * 0.5f, other[i] = N - i;
  TRY(cudaMalloc(&a, sizeof values));
  TRY(cudaMalloc(&b, sizeof values));
  TRY(cudaMallocHost(&pinned, sizeof values));
  TRY(cudaMemcpy(a, values, sizeof values, cudaMemcpyHostToDevice));
  TRY(cudaMemset(b, 0, sizeof values));
  ADD();                                                              // 1
  TRY(cudaMemcpy(a, values, sizeof values, cudaMemcpyHostToDevice));  // the same again
  ADD();                                                              // 2
  TRY(cudaMemset(b, 0, sizeof values));  // what was there before, over what launches wrote
  ADD();                                 // 3
  TRY(cudaMemcpy(a + 20001, other, 1000 * sizeof(float),
                 cudaMemcpyHostToDevice));  // pieces of pages
  TRY(cudaMemcpy(b + 7, other, 5 * sizeof(float), cudaMemcpyHostToDevice));
  ADD();  // 4
  TRY(cudaMemcpy2D(a + 100, 3000 * sizeof(float), other, 64 * sizeof(float), 64 * sizeof(float), 10,
                   cudaMemcpyHostToDevice));
  TRY(cudaMemset2D(b + 50, 4000 * sizeof(float), 0, 33 * sizeof(float), 8));
  ADD();  // 5
  TRY(cudaMemcpyAsync(a, other, sizeof other,
                      cudaMemcpyHostToDevice));  // staged when the call returns
  for (int i = 0; i < N; i++) other[i] = -1;
  ADD();  // 6
  TRY(cudaMemcpyAsync(
      pinned, b, sizeof values,
      cudaMemcpyDeviceToHost));  // only the stream's order tells what the second one reads
  TRY(cudaMemcpyAsync(a, pinned, sizeof values, cudaMemcpyHostToDevice));
  ADD();  // 7
  TRY(cudaDeviceSynchronize());
  TRY(cudaMemset(a + 16384, 0x40, 16384 * sizeof(float)));  // a page of it
  ADD();                                                    // 8
  TRY(cudaMemcpy(a, values, sizeof values,
                 cudaMemcpyHostToDevice));  // what it was in the beginning
  ADD();                                    // 9
  TRY(cudaMemcpy(a, b, sizeof values / 2, cudaMemcpyDeviceToDevice));
  ADD();  // 10
  TRY(cudaMemcpy(values, b, sizeof values, cudaMemcpyDeviceToHost));
  double sum = 0;
  for (int i = 0; i < N; i++) sum += values[i] * (i % 13);
  printf("%.3f\n", sum);
  return 0;
}
