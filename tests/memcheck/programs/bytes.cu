// Registers of 8 bits, as CUB has them: a bad load gives zero in these too.
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

__global__ void bytes(const unsigned char *a, unsigned char *b, int n) {
  int i = threadIdx.x;
  unsigned short x = 9, y = 9, z = 9;
  if (i < n)
    asm volatile("{ .reg .u8 d; ld.global.nc.u8 d, [%1]; cvt.u16.u8 %0, d; }"
                 : "=h"(x)
                 : "l"(a + i));  // finds: oob-read count=1
  if (i < n / 2)
    asm volatile(
        "{ .reg .u8 d, e; ld.global.v2.u8 {d, e}, [%2]; cvt.u16.u8 %0, d; cvt.u16.u8 %1, e; }"
        : "=h"(y), "=h"(z)
        : "l"(a + 2 * i + n % 2 * 2));  // finds: oob-read count=1
  if (i < n)
    asm volatile("{ .reg .u8 d; cvt.u8.u16 d, %1; st.global.cs.u8 [%0], d; }" ::"l"(b + i),
                 "h"((unsigned short)(x + y + z))  // finds: oob-write count=1
                 : "memory");
}

int main() {
  unsigned char *a, *b, h[100];
  int n = 101;
  OK(cudaMalloc(&a, 100)); OK(cudaMalloc(&b, 100));
  OK(cudaMemset(a, 1, 100));
  bytes<<<1, 128>>>(a, b, n);
  OK(cudaMemcpy(h, b, 100, cudaMemcpyDeviceToHost));
  printf("%d %d %d\n", h[0], h[49], h[99]);
}
