// A list that is followed through memory, unrolled: no load by itself has many of the sectors.
#include "host.h"
struct Node {
  int next;
  float value[3];
};
__global__ void chase(const Node *n, float *out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = i * 37 % count;
  float s = 0;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    at = (at * 53 + n[at].next + 7) % count;  // advice: uncoalesced
  }
  s += at;
  out[i] = s;
}
int main() {
  int n = 4096;
  chase<<<64, 256>>>(buffer<Node>(n), buffer<float>(64 * 256), n);
  return finish();
}
