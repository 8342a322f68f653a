// Loops with sinks in them: exceptions are born in the middle of a loop, in some threads, and come
// to sinks in all turns that are left. What is counted there is counted exactly, and results stay
// the same. `twin`: nothing overflows. Prints a digest of the results, then how many threads of the
// first kernel make one, and what sinks of the second must see. Run by launches.sh.
#include <cmath>
#include <cstdio>
#include <cstring>

enum {
  N = 70000,
  TURNS = 37,
  LARGE = 3
};  // more threads than are tested everywhere in a first launch

// Updates its input in place: blocks that begin after the first exception are tested everywhere.
__global__ void sums(float *c, const float *a, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  for (int k = 0; k < turns; k++) c[i] += a[k] * 2.0f;     // label: sums
}

// Several tests in a loop, and two ways out of it.
__global__ void leaves(float *out, const float *a, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N) return;
  float x = a[i];
  for (int k = 0; k < turns; k++) {
    x *= 1024.0f;
    if (k & 1) out[i] = x;                                 // label: stores
    if (__fdividef(3.0f, x) == 0.75f) break;               // label: divides
  }
}

static bool exceptional(float x) { return !(fabsf(x) < INFINITY); }
static float c[N], a[N];
static unsigned digest(const float *x) {
  unsigned sum = 0, bits;
  for (int i = 0; i < N; i++) memcpy(&bits, &x[i], 4), sum = sum * 31 + bits;
  return sum;
}

int main(int argc, char **argv) {
  bool twin = argc > 1;
  float *dev_c, *dev_a;
  if (cudaMalloc(&dev_c, sizeof c) != cudaSuccess || cudaMalloc(&dev_a, sizeof a) != cudaSuccess)
    return 1;
  long threads = 0, stores = 0, divides = 0;
  for (int i = 0; i < N; i++) c[i] = !twin && i % 5 == LARGE ? 2e38f : 1.0f, threads += c[i] > 1.0f;
  for (int k = 0; k < TURNS; k++) a[k] = k == 20 && !twin ? 1e38f : 0.5f;
  cudaMemcpy(dev_c, c, sizeof c, cudaMemcpyHostToDevice);
  cudaMemcpy(dev_a, a, sizeof a, cudaMemcpyHostToDevice);
  sums<<<(N + 255) / 256, 256>>>(dev_c, dev_a, TURNS);
  if (cudaMemcpy(c, dev_c, sizeof c, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  printf("%08x\n", digest(c));
  for (int i = 0; i < N; i++) {
    a[i] = i % 4 == 0 ? 4.0f / 1024.0f : i % 3 || twin ? 1e-30f : (float)(i % 11 + 1);
    float x = a[i];
    for (int k = 0; k < (twin ? 9 : TURNS); k++) {
      x *= 1024.0f;
      stores += k & 1 && exceptional(x);
      divides += exceptional(x);
      if (x == 4.0f) break;
    }
  }
  cudaMemset(dev_c, 0, sizeof c);
  cudaMemcpy(dev_a, a, sizeof a, cudaMemcpyHostToDevice);
  leaves<<<(N + 255) / 256, 256>>>(dev_c, dev_a, twin ? 9 : TURNS);
  if (cudaMemcpy(c, dev_c, sizeof c, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  printf("%08x\n", digest(c));
  printf("%ld %ld %ld\n", threads, stores, divides);
}
