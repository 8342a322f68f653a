// Allocates through its runtime, sets more than that, and forgets to free.
#include <stddef.h>
#include <stdio.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemsetD8_v2(unsigned long long p, unsigned char value, size_t bytes);
int cudaMalloc(void **p, size_t bytes);

__attribute__((noinline)) static void make(void) {
  void *heights;
  if (cudaMalloc(&heights, 4000)) printf("cudaMalloc fails\n");   // here
  cuMemsetD8_v2((unsigned long long)(size_t)heights, 0, 4001);
}

int main(void) {
  void *context;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
    printf("no device\n");
  make();
  printf("done\n");
  return 0;
}
