// One place that goes wrong in three ways: each is described and counted.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)

__global__ void each(int **p, int *out, int which, int n) {
  // finds-next: misaligned count=32; oob-read count=64; use-after-free count=96
  out[threadIdx.x] = p[which][threadIdx.x % n];
}

int main() {
  int *h[4], **p, *out;
  OK(cudaMalloc(&p, sizeof h));
  OK(cudaMalloc(&h[0], 64 * 4));
  OK(cudaMalloc(&h[1], 128 * 4));
  OK(cudaMalloc(&h[3], 64 * 4));
  OK(cudaMalloc(&out, 128 * 4));
  OK(cudaMemset(h[0], 0, 64 * 4));
  h[2] = (int *)((char *)h[0] + 2);
  OK(cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault));
  each<<<1, 64>>>(p, out, 0, 64);
  each<<<1, 128>>>(p, out, 0, 128);
  each<<<1, 32>>>(p, out, 2, 32);
  OK(cudaFree(h[1]));
  each<<<1, 96>>>(p, out, 1, 128);
  OK(cudaDeviceSynchronize());
  puts("done");
}
