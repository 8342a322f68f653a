// printf on the device, with every kind of argument.
// coverage: all
#include "gpu_test.h"

__global__ void say(int n, const char *text) {
  for (int i = 0; i < n; i++)
    printf("%d %5.2f %s %c %lld %x %%\n", i, i * 1.5, text, 'a' + i, (long long)i << 40, i * 255);
  printf("no arguments\n");
}
__global__ void many() { printf("thread\n"); }
int main() {
  const char word[] = "word";
  char *d;
  OK(cudaMalloc(&d, sizeof word));
  OK(cudaMemcpy(d, word, sizeof word, cudaMemcpyDefault));
  say<<<1, 1>>>(5, d);
  OK(cudaDeviceSynchronize());
  many<<<2, 64>>>();
  OK(cudaDeviceSynchronize());
  return finish();
}
