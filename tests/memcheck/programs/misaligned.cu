// Addresses that are no multiple of what is accessed there: by the pointer, the index, the offset, in loops, of vectors, atomics, shared
// and local memory, through pointers from memory. The bad access is left out, the others are made.
// finds: misaligned 20 32
// finds: misaligned 21 24
// finds: misaligned 22 32
// finds: misaligned 23 16
// finds: misaligned 24 31
// finds: misaligned 25 16
// finds: misaligned 26 32
// finds: misaligned 28 7
// finds: misaligned 30 8
// finds: oob-read 31 3
#include <cstdio>
#include <cstdlib>
#define OK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

__global__ void each(const int *shifted, const char *bytes, const float *values, int *counter, const char **list, int *out) {
  __shared__ __align__(16) char tile[256];
  int i = threadIdx.x, s = 0;
  s += shifted[i];
  s += *(const int *)(bytes + i);
  s += *(const int *)(bytes + 4 * i + 1);
  float x, y; asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(values + i)); s += (int)(x + y);
  asm volatile("red.global.add.s32 [%0], 1;" :: "l"((char *)counter + (i != 0)) : "memory");
  s += *(const int *)(list[0] + 2 * i);
  *(short *)(tile + 2 * i + 1) = 1;
  __syncthreads();
  _Pragma("unroll 1") for (int k = 0; k < 7; k++) s += *(const int *)(bytes + 4 * k + 2 + (i ? 2 : 0));
  out[i] = s;
  if (i < 16) s += *(const short *)(list[1] + 3 * i + 1);
  else if (i < 19) s += *(const short *)(list[1] + 256);
  out[i] = s;
}

int main() {
  char *a, *list[2], **d; int *out;
  OK(cudaMalloc(&a, 512)); OK(cudaMalloc(&out, 512)); OK(cudaMalloc(&list[1], 256)); OK(cudaMalloc(&d, sizeof list));
  OK(cudaMemset(a, 0, 512)); OK(cudaMemset(out, 0, 512)); OK(cudaMemset(list[1], 0, 256));
  list[0] = a;
  OK(cudaMemcpy(d, list, sizeof list, cudaMemcpyDefault));
  each<<<1, 32>>>((int *)(a + 2), a, (float *)a, out + 64, (const char **)d, out);
  OK(cudaDeviceSynchronize());
  puts("done");
}
