// Addresses that are no multiple of what is accessed there: by the pointer, the index, the offset,
// in loops, of vectors, atomics, shared and local memory, through pointers from memory. The bad
// access is left out, the others are made.
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

__global__ void each(const int *shifted, const char *bytes, const float *values, int *counter,
                     const char **list, int *out) {
  __shared__ __align__(16) char tile[256];
  int i = threadIdx.x, s = 0;
  s += shifted[i];  // finds: misaligned count=32
  s += *(const int *)(bytes + i);  // finds: misaligned count=24
  s += *(const int *)(bytes + 4 * i + 1);  // finds: misaligned count=32
  float x, y;
  // finds-next: misaligned count=16
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(values + i));
  s += (int)(x + y);
  // finds-next: misaligned count=31
  asm volatile("red.global.add.s32 [%0], 1;" :: "l"((char *)counter + (i != 0)) : "memory");
  s += *(const int *)(list[0] + 2 * i);  // finds: misaligned count=16
  *(short *)(tile + 2 * i + 1) = 1;  // finds: misaligned count=32
  __syncthreads();
  _Pragma("unroll 1") for (int k = 0; k < 7; k++)
      s += *(const int *)(bytes + 4 * k + 2 + (i ? 2 : 0));  // finds: misaligned count=7
  out[i] = s;
  if (i < 16) s += *(const short *)(list[1] + 3 * i + 1);  // finds: misaligned count=8
  else if (i < 19) s += *(const short *)(list[1] + 256);  // finds: oob-read count=3
  out[i] = s;
}

// Stores of more than 4 bytes, to memory that nobody wrote before.
__global__ void wide(char *p, int by) {
  char *q = p + 64 * threadIdx.x + by;
  *(double *)q = 1;  // finds: misaligned count=32
  *(float4 *)(q + 16) = make_float4(1, 2, 3, 4);  // finds: misaligned count=32
  *(int2 *)(q + 40) = make_int2(1, 2);  // finds: misaligned count=32
}

int main() {
  char *a, *list[2], **d; int *out;
  OK(cudaMalloc(&a, 512));
  OK(cudaMalloc(&out, 512));
  OK(cudaMalloc(&list[1], 256));
  OK(cudaMalloc(&d, sizeof list));
  OK(cudaMemset(a, 0, 512)); OK(cudaMemset(out, 0, 512)); OK(cudaMemset(list[1], 0, 256));
  list[0] = a;
  OK(cudaMemcpy(d, list, sizeof list, cudaMemcpyDefault));
  each<<<1, 32>>>((int *)(a + 2), a, (float *)a, out + 64, (const char **)d, out);
  OK(cudaMalloc(&a, 4096));
  wide<<<1, 32>>>(a, 4);
  OK(cudaDeviceSynchronize());
  puts("done");
}
