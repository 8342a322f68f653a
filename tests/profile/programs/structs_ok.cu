// An array for each field.
#include "host.h"
struct Particles {
  float *x, *y, *z, *mass, *vx, *vy, *vz, *charge;
};
__global__ void weigh(float *out, Particles p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * p.mass[i];
}
int main() {
  int n = 65536;
  Particles p = {};
  p.mass = buffer<float>(n);
  weigh<<<n / 256, 256>>>(buffer<float>(n), p, n);
  return finish();
}
