// Langdon's copy of an answer from shared to global memory: work spread evenly, stores side by
// side, no bank conflicts.
#include "host.h"
enum { VALUES = 1000 };
__global__ void answer(float *out) {
  __shared__ float values[VALUES];
  for (int i = threadIdx.x; i < VALUES; i += blockDim.x) values[i] = i;
  __syncthreads();
  float *mine = out + blockIdx.x * 1024;
  for (int i = threadIdx.x; i < VALUES; i += blockDim.x) mine[i] = values[i];
}
int main() {
  answer<<<64, 256>>>(buffer<float>(64 * 1024));
  return finish();
}
