// What looks misaligned and is not: bytes taken apart, offsets that make up for each other, packed
// structures read as the compiler does it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
struct __attribute__((packed)) Packed { char tag; int value; };

__global__ void each(const char *odd, const char *bytes, const float *values, const Packed *packed,
                     const char **list, int *out, long step) {
  __shared__ __align__(16) char tile[512];
  int i = threadIdx.x, s = 0, w;
  s += *(const int *)(odd + 4 * i + 1);
  s += ((const float4 *)values)[i].w;
  s += packed[i].value;
  s += *(const int *)(list[0] + 4 * i) + *(const short *)(list[0] + 2 * i) + list[0][i];
  *(long long *)(tile + 8 * (i ^ 1)) = i;
  __syncthreads();
  for (int k = 0; k < 7; k++) s += *(const int *)(bytes + k * step);
  memcpy(&w, bytes + 3 * i, 4);
  out[i] = s + w + (int)*(long long *)(tile + 8 * i);
}

// Stores of more than 4 bytes, to memory that nobody wrote before.
__global__ void wide(char *p, int by) {
  char *q = p + 64 * threadIdx.x + by;
  *(double *)q = 1;
  *(float4 *)(q + 16) = make_float4(1, 2, 3, 4);
  *(int2 *)(q + 40) = make_int2(1, 2);
}

int main() {
  char *a, *list[1], **d; int *out, h[32];
  OK(cudaMalloc(&a, 512)); OK(cudaMalloc(&out, 512)); OK(cudaMalloc(&d, sizeof list));
  for (int i = 0; i < 128; i++) {
    int v = i * 7;
    OK(cudaMemcpy(a + 4 * i, &v, 4, cudaMemcpyDefault));
  }
  list[0] = a;
  OK(cudaMemcpy(d, list, sizeof list, cudaMemcpyDefault));
  each<<<1, 32>>>(a + 3, a, (float *)a, (Packed *)a, (const char **)d, out, 8);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 32; i++) printf("%d\n", h[i]);
  OK(cudaMalloc(&a, 4096));
  wide<<<1, 32>>>(a, 16);
  OK(cudaMemcpy(h, a + 64 * 31 + 56, 8, cudaMemcpyDefault));
  printf("%d %d\n", h[0], h[1]);
}
