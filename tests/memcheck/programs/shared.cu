// Shared memory: dynamic as a whole, a static array that runs into the next one, pointers whose
// variable is not known, generic ones.
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

// the pointer may be to anything
__device__ __noinline__ void put(int *p, int i, int v) { p[i] = v; }  // finds: oob-write count=2

__global__ void each(int *out, int n, int far) {
  extern __shared__ int dynamic[];
  __shared__ int first[32], second[32];
  int i = threadIdx.x;
  dynamic[i + (i >= 28 ? n - 28 : 0)] = i;  // finds: oob-write count=4
  __syncthreads();
  out[i] = i == 5 ? dynamic[-i] : 0;  // finds: oob-read count=1
  first[i] = second[i] = i;
  if (i == 3) first[i + 29 + (n - 32)] = 7;  // finds: oob-write count=1
  __syncthreads();
  const int *past = (const int *)((const char *)second + 4 * 32 + 4 * (n - 32));
  out[i] += first[(i + 1) % 32] + second[i] + *past;  // finds: oob-read count=32
  if (i < 2) put(i ? first : dynamic, far, 1);
  unsigned at = (unsigned)__cvta_generic_to_shared(&second[n]);
  // finds-next: oob-atomic count=1
  if (i == 9) asm volatile("red.shared.add.s32 [%0], 1;" ::"r"(at) : "memory");
}

int main() {
  int *out;
  OK(cudaMalloc(&out, 32 * 4));
  each<<<1, 32, 32 * 4>>>(out, 32, 60000 / 4);
  OK(cudaDeviceSynchronize());
  puts("done");
}
