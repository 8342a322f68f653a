// Loads of sixteen bytes of which several writes wrote a part, one after the other.
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void from_copies(const float4 *in, float4 *out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void from_stores(float4 *own, float4 *out) {
  int i = threadIdx.x;
  own[i] = make_float4(i, i + 1, i + 2, i + 3);
  __threadfence();
  ((volatile float *)own)[4 * i + 1] = i + 1;  // the value that is there
  __threadfence();
  out[i] = own[i];
}

int main() {
  float values[128], others[5] = {-1, -2, -3, -4, -5};
  float4 *in, *own, *out;
  for (int i = 0; i < 128; i++) values[i] = i;
  cudaMalloc(&in, sizeof values);
  cudaMalloc(&own, sizeof values);
  cudaMalloc(&out, sizeof values);
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemcpy((float *)in + 13, others, sizeof others, cudaMemcpyHostToDevice);
  from_copies<<<1, 32>>>(in, out);
  from_stores<<<1, 32>>>(own, out);
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
  printf("%g %s\n", values[13], cudaGetErrorString(cudaGetLastError()));
}
