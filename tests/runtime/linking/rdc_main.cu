#include <stdio.h>
extern __device__ int shared_value;
extern __device__ int combine(int a, int b);
extern __constant__ int weights[4];
void set_weights();
__global__ void run(int *out) { *out = combine(shared_value, weights[2]); }

int main() {
  int *d, h = 0;
  cudaMalloc(&d, 4);
  set_weights();
  run<<<1, 1>>>(d);
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
  printf("combined %d, %s\n", h, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
