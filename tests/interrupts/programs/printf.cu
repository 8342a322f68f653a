// nvcc: -Iinclude
// wg_printf against the host's printf: the expected output has every line twice.
#include "warpgrind_functions.h"

// clang-format off
#define LINES(print) \
  print("no value, 100%%\n"); \
  print("%d|%5d|%-5d|%05d|%+d|% d\n", 42, 42, 42, 42, 42, 42); \
  print("%i %u %o %x %X %#x %#o\n", -7, 7u, 8u, 255u, 255u, 255u, 8u); \
  print("%hhd %hd %ld %lld %zu %jd %td\n", (signed char)-3, (short)-300, -5L, -6LL, (size_t)7, \
        8L, 9L); \
  print("%hhu %hu %lu %llu\n", (unsigned char)250, (unsigned short)65000, 5UL, ~0ULL); \
  print("%c%c|%5c|%-3c|\n", 'a', 'b', 'c', 'd'); \
  print("%s|%10s|%-10s|%.2s|%*s|%.*s\n", "s", "right", "left", "cut", 7, "star", 3, "shortened"); \
  print("%f %F %e %E %g %G %a %A\n", 1.5, 2.5, 1e10, 1e-10, 1e20, 1e-20, 1.0, 0.5); \
  print("%.3f|%10.2f|%-10.2f|%+.1e|%*.*f|\n", 3.14159, 2.71828, 1.41421, 12345.678, 12, 4, 0.5); \
  print("%.320e|%400d|%300s|\n", 0.1, 5, "far"); \
  print("%2$s %1$d %2$s|%1$*3$d\n", 4, "twice", 6); \
  print("%.*f|%*d|\n", -1, 1.5, -6, 3); \
  print("%p\n", (void *)0x1234); \
  print("%d %d %d %d %d %d %d %d %d %s\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, "ten"); \
  print("%lc|%ls|\n", L'w', L"wide"); \
  print("%f %f\n", 1e308 * 10, -1e308 * 10);
// clang-format on

__global__ void kernel() { LINES(wg_printf) }
__global__ void count(int *n) { wg_printf("four%n and more, %d\n", n, 5); }

int main() {
  int *n, host = 0;
  kernel<<<1, 1>>>();
  cudaDeviceSynchronize();
  LINES(printf)
  cudaMalloc(&n, sizeof *n);
  count<<<1, 1>>>(n);
  cudaMemcpy(&host, n, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d, %s\n", host, cudaGetErrorString(cudaGetLastError()));
  cudaFree(n);
}
