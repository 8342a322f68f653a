// One access too many, before and behind, into a neighbour, through every kind of index.
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
enum { N = 100 };

__global__ void each(int *a, const int *b, char *bytes, long long far, float4 *v, int *counter) {
  int i = threadIdx.x;
  long long wide = i;
  if (i <= N) a[i] = 1;  // finds: oob-write count=1
  if (i <= N) atomicAdd(counter, b[i - 1]);  // finds: oob-read count=1
  if (i < 32) atomicAdd(counter, b[wide + far]);  // finds: oob-read count=32
  if (i >= N && i < N + 3) bytes[i] = 1;  // finds: oob-write count=3
  if (i <= N / 4) atomicAdd(counter, (int)v[i].y);  // finds: oob-read count=1
  // finds-next: oob-atomic count=32
  if (i < 32) asm volatile("red.global.add.s32 [%0], 1;" :: "l"(counter + 1) : "memory");
}

int main() {
  int *a, *b, *counter; char *bytes; float4 *v;
  OK(cudaMalloc(&a, N * 4));
  OK(cudaMalloc(&b, N * 4));
  OK(cudaMalloc(&bytes, N));
  OK(cudaMalloc(&v, N / 4 * 16));
  OK(cudaMalloc(&counter, 4));
  OK(cudaMemset(b, 0, N * 4)); OK(cudaMemset(v, 0, N / 4 * 16)); OK(cudaMemset(counter, 0, 4));
  each<<<1, 128>>>(a, b, bytes, a - b, v, counter);  // b + far is a: inside of memory, outside of b
  OK(cudaDeviceSynchronize());
  puts("done");
}
