// A kernel that sleeps again and again, a number of times: it makes progress, though it stores
// nothing and looks at nothing that others change. On the virtual device it takes longer than the
// time after which a launch without progress counts as hung.
// options: --hang-timeout=1
#include "../../lib/one_bug.h"
#ifdef TWIN
enum { TIMES = 1000 };
#else
enum { TIMES = 4000000 };
#endif
__global__ void k(int times, int *out) {
  int sum = 0;
  for (int i = 0; i < times; i++) {
    __nanosleep(100);
    sum += i & 3;
  }
  out[threadIdx.x] = sum;
}
int main() {
  int *out = device_ints(32);
  k<<<1, 32>>>(TIMES, out);
  MUST(cudaDeviceSynchronize());
  printf("%ld\n", sum_of(out, 32));
}
