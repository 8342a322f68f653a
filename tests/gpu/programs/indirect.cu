// Calls through pointers: function pointers in memory, virtual functions, a table in constant
// memory.
// coverage: all
#include "gpu_test.h"

typedef int (*Op)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ Op ops[3] = {plus, minus, times};
__constant__ Op constant_ops[3] = {times, plus, minus};
__global__ void apply(int *p) {
  int t = threadIdx.x;
  p[t] = ops[t % 3](t, 7) + constant_ops[t / 3 % 3](t, 2);
}
__global__ void pass(int *p, Op op) { p[threadIdx.x] = op(threadIdx.x, 100); }

struct Shape { __device__ virtual int area() const = 0; };
struct Square : Shape {
  int a;
  __device__ Square(int a) : a(a) {}
  __device__ int area() const override { return a * a; }
};
struct Box : Shape {
  int a, b;
  __device__ Box(int a, int b) : a(a), b(b) {}
  __device__ int area() const override { return a * b; }
};
__global__ void shapes(int *p) {
  Shape *s;
  if (threadIdx.x & 1) s = new Square(threadIdx.x);
  else s = new Box(threadIdx.x, 3);
  p[threadIdx.x] = s->area();
  delete s;
}
int main() {
  int *d, h[64];
  Op op;
  OK(cudaMalloc(&d, sizeof h));
  apply<<<1, 64>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int t = 0; t < 64; t++) {
    int a[3] = {t + 7, t - 7, t * 7}, b[3] = {t * 2, t + 2, t - 2};
    EXPECT(h[t] == a[t % 3] + b[t / 3 % 3]);
  }
  show("apply", h, sizeof h);
  OK(cudaMemcpyFromSymbol(&op, ops, sizeof op, sizeof op));
  pass<<<1, 64>>>(d, op);  // a device function's address goes through the host
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int t = 0; t < 64; t++) EXPECT(h[t] == t - 100);
  show("pass", h, sizeof h);
  shapes<<<1, 64>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault));
  for (int t = 0; t < 64; t++) EXPECT(h[t] == (t & 1 ? t * t : t * 3));
  show("shapes", h, sizeof h);
  return finish();
}
