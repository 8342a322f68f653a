// arch: 80
// Tiles that are copied ahead, into two or more buffers, as they should be.
#include <cstdint>
#include <cstdio>

#define AT(p) ((uint32_t)__cvta_generic_to_shared(p))
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(AT(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
enum { THREADS = 64, TILES = 4, BLOCKS = 3 };

// two barriers in each turn
__global__ void two_buffers(float *out, const float *in, int n) {
  __shared__ float s[2][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) COPY(&s[(i + 1) % 2][t], in + (i + 1) * THREADS + t);
    COMMIT();
    WAIT(1);
    __syncthreads();
    sum += s[i % 2][t ^ 32];
    __syncthreads();
  }
  out[blockIdx.x * THREADS + t] = sum;
}

// a thread is one turn ahead of others at most
__global__ void three_buffers(float *out, const float *in, int n) {
  __shared__ float s[3][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) COPY(&s[(i + 1) % 3][t], in + (i + 1) * THREADS + t);
    COMMIT();
    WAIT(1);
    __syncthreads();
    sum += s[i % 3][t ^ 32];
  }
  out[blockIdx.x * THREADS + t] = sum;
}

// nothing is left when the turn begins
__global__ void four_buffers(float *out, const float *in, int n) {
  __shared__ float s[4][THREADS];
  int t = threadIdx.x;
  float sum = 0;
  COPY(&s[0][t], in + t);
  COMMIT();
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) COPY(&s[(i + 1) % 4][t], in + (i + 1) * THREADS + t);
    COMMIT();
    WAIT(0);
    __syncthreads();
    sum += s[i % 4][t ^ 32];
  }
  out[blockIdx.x * THREADS + t] = sum;
}

int main() {
  float *in, *out;
  cudaMalloc(&in, TILES * THREADS * sizeof(float));
  cudaMalloc(&out, BLOCKS * THREADS * sizeof(float));
  cudaMemset(in, 0, TILES * THREADS * sizeof(float));
  two_buffers<<<BLOCKS, THREADS>>>(out, in, TILES);
  three_buffers<<<BLOCKS, THREADS>>>(out, in, TILES);
  four_buffers<<<BLOCKS, THREADS>>>(out, in, TILES);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
