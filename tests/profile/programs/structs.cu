// An array of structs of which one field is used: 7 of 8 bytes that are moved are not wanted.
#include "host.h"
struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};
__global__ void weigh(float *out, const Particle *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * p[i].mass;  // advice: uncoalesced
}
int main() {
  int n = 65536;
  weigh<<<n / 256, 256>>>(buffer<float>(n), buffer<Particle>(n), n);
  return finish();
}
