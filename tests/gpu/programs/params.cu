// Parameters of every shape: structs with alignment, __grid_constant__ and its address, four
// thousand bytes, none at all.
// coverage: all
#include "gpu_test.h"

struct __align__(16) Vec { float x, y, z, w; };
struct Odd { char a; short b; char c[5]; };
struct __align__(64) Wide { double d[9]; };
struct Big { int v[1000]; };
__device__ int nothing_ran;
__global__ void nothing() { nothing_ran++; }
__global__ void shapes(char c, Vec v, Odd o, Wide w, bool b, float *out) {
  out[0] = c, out[1] = v.x + v.w, out[2] = o.a + o.b + o.c[4], out[3] = (float)w.d[8], out[4] = b;
}
__device__ __noinline__ int sum(const Big *b) {
  int s = 0;
  for (int i = 0; i < 1000; i++) s += b->v[i];
  return s;
}
__global__ void constant(const __grid_constant__ Big b, int i, float *out) {
  out[5] = sum(&b), out[6] = b.v[i];
}
__global__ void changed(Big b, int i, float *out) {
  b.v[i] = 5;
  out[7] = sum(&b);
}  // a local copy

int main() {
  float *d, h[8];
  OK(cudaMalloc(&d, sizeof h));
  Big big;
  for (int i = 0; i < 1000; i++) big.v[i] = i;
  Wide w = {};
  w.d[8] = 99;
  nothing<<<3, 1>>>();
  nothing<<<1, 1>>>();
  shapes<<<1, 1>>>('c', Vec{1, 2, 3, 4}, Odd{1, 2, {0, 0, 0, 0, 5}}, w, true, d);
  constant<<<1, 1>>>(big, 17, d);
  changed<<<1, 1>>>(big, 17, d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  EXPECT(h[0] == 'c' && h[1] == 5 && h[2] == 8 && h[3] == 99 && h[4] == 1 && h[5] == 499500 &&
         h[6] == 17 && h[7] == 499488);
  show("out", h, sizeof h);
  return finish();
}
