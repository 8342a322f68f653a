// A launch for each row of a small matrix.
#include "host.h"
__global__ void twice(float *row, int n) {
  int i = threadIdx.x;
  if (i < n) row[i] *= 2;
}
int main() {
  int n = 200;
  float *a = buffer<float>(n * n);
  for (int i = 0; i < n; i++) twice<<<1, 256>>>(a + i * 256 % n, n);  // advice: small-launches
  return finish();
}
