// Where what is reported was read: by the first instruction of the program, and after a sum that
// atomic operations made.
#include <cstdio>

__global__ void permutes(const int *where, const float *from, float *to) {
  // finds-next: uninit-use (the other half of `where`)
  // origin-next: here
  to[threadIdx.x] = from[where[threadIdx.x] & 31];
}

__global__ void sums(const float *from, float *to) {
  // origin-next: half of it
  float own = from[threadIdx.x];
  atomicAdd(to, own);
}

int main() {
  float zeros[32] = {};
  int *where;
  float *from, *half, *to;
  cudaMalloc(&where, 128), cudaMalloc(&from, 128), cudaMalloc(&half, 128), cudaMalloc(&to, 128);
  cudaMemcpy(where, zeros, 64, cudaMemcpyHostToDevice);
  cudaMemcpy(from, zeros, 128, cudaMemcpyHostToDevice);
  cudaMemcpy(half, zeros, 64, cudaMemcpyHostToDevice);
  permutes<<<1, 32>>>(where, from, to);
  cudaMemset(to, 0, 128);
  sums<<<1, 32>>>(half, to);
  cudaMemcpy(zeros, to, 4, cudaMemcpyDeviceToHost);   // finds: uninit-use (the sum)
  sums<<<1, 32>>>(from, to + 1);
  cudaMemcpy(zeros, to + 1, 4, cudaMemcpyDeviceToHost);
  printf("%g\n", zeros[0]);
}
