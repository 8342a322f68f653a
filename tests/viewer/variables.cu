// Variables of a module: their initial values are no copies of the program's, and the host's
// pointer to a managed variable is not its type.
#include <cstdio>
__device__ int best = -7;
__managed__ int done = 3;
__global__ void add(int *out) {
  out[0] = best + done;
  done = 4;
}
int main() {
  int *out;
  cudaMalloc(&out, 4);
  add<<<1, 1>>>(out);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
  return done == 4 ? 0 : 1;
}
