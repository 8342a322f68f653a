// Three short kernels in turns: none is launched often enough by itself.
#include "host.h"
__global__ void add(float *a) { a[threadIdx.x] += 1; }
__global__ void twice(float *a) { a[threadIdx.x] *= 2; }
__global__ void half(float *a) { a[threadIdx.x] /= 2; }
int main() {
  float *a = buffer<float>(256);
  for (int i = 0; i < 50; i++) {
    add<<<1, 256>>>(a);  // advice: small-launches
    twice<<<1, 256>>>(a);
    half<<<1, 256>>>(a);
  }
  return finish();
}
