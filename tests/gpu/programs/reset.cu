// The device is reset and used again: variables start anew, old pointers are gone.
// coverage: all
#include "gpu_test.h"

__device__ int counter = 5;
__managed__ int shared_value = 8;
__global__ void bump(int *out) { *out = ++counter + shared_value; }

int main() {
  for (int round = 0; round < 3; round++) {
    int *d, h = 0, set = 100 * round;
    OK(cudaMalloc(&d, 4));
    bump<<<1, 1>>>(d);
    OK(cudaMemcpy(&h, d, 4, cudaMemcpyDefault));
    printf("round %d: %d\n", round, h);
    EXPECT(h == 14);
    OK(cudaMemcpyToSymbol(counter, &set, 4));
    bump<<<1, 1>>>(d);
    OK(cudaMemcpy(&h, d, 4, cudaMemcpyDefault));
    EXPECT(h == set + 9);
    OK(cudaDeviceReset());
  }
  return finish();
}
