// Calls: recursion, function pointers that differ between lanes, virtual functions, struct
// parameters, parameters by address.
// prints: recursion: 610
// prints: mutual recursion: 1 0
// prints: pointers differ between lanes: 5 6 25 -5
// prints: virtual functions: 3 16
// prints: struct by value: 36.0 7
// prints: address of a parameter: 32
// prints: grid constant: 120
// prints: stack overflow is an error: yes
#include <cstdio>

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n == 0 ? false : even(n - 1); }
__global__ void recursion(int *out) {
  out[threadIdx.x] = fib(threadIdx.x & 15);
  if (threadIdx.x == 0) out[40] = even(10), out[41] = even(7);
}

typedef int (*op_t)(int);
__device__ __noinline__ int same(int x) { return x; }
__device__ __noinline__ int next(int x) { return x + 1; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int minus(int x) { return -x; }
__device__ op_t table[4] = {same, next, square, minus};
__global__ void pointers(int *out) { out[threadIdx.x] = table[threadIdx.x & 3](5); }

struct Shape { __device__ virtual int area() const = 0; };
struct Line : Shape {
  int n;
  __device__ Line(int n) : n(n) {}
  __device__ int area() const override { return n; }
};
struct Square : Shape {
  int n;
  __device__ Square(int n) : n(n) {}
  __device__ int area() const override { return n * n; }
};
__global__ void virtuals(int *out) {
  Line line(3);
  Square sq(4);
  const Shape *s = threadIdx.x & 1 ? (const Shape *)&sq : &line;
  out[threadIdx.x] = s->area();
}

struct __align__(16) Big { float f[8]; char c; double d; };
__device__ __noinline__ float total(Big b) {
  float t = 0;
  for (int i = 0; i < 8; i++) t += b.f[i];
  return t;
}
__global__ void by_value(char lead, Big b, float *out) {
  out[0] = total(b);
  ((int *)out)[1] = b.c;
}

struct Many { int v[16]; };
__global__ void by_address(Many m, int k,
                           int *out) {  // dynamic index: the parameter's address is taken
  int t = 0;
  for (int i = k; i < 16; i += 3) t += m.v[(i * k) & 15];
  *out = t;
}
__device__ __noinline__ int through(const Many *m) {
  int t = 0;
  for (int i = 0; i < 16; i++) t += m->v[i];
  return t;
}
__global__ void grid_constant(const __grid_constant__ Many m, int *out) { *out = through(&m); }

__device__ __noinline__ int deep(int n, volatile int *p) {
  volatile int frame[64];
  frame[n & 63] = n;
  return n == 0 ? *p : deep(n - 1, p) + frame[n & 63];
}
__global__ void overflow(int n, int *out) { *out = deep(n, out); }

int main() {
  int *out, h[64];
  cudaMalloc(&out, 4096);
  auto fetch = [&] { cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost); };
  recursion<<<1, 32>>>(out), fetch();
  printf("recursion: %d\nmutual recursion: %d %d\n", h[15], h[40], h[41]);
  pointers<<<1, 32>>>(out), fetch();
  printf("pointers differ between lanes: %d %d %d %d\n", h[0], h[1], h[2], h[3]);
  virtuals<<<1, 32>>>(out), fetch();
  printf("virtual functions: %d %d\n", h[0], h[1]);
  Big b = {{1, 2, 3, 4, 5, 6, 7, 8}, 7, 2.5};
  by_value<<<1, 1>>>(1, b, (float *)out), fetch();
  printf("struct by value: %.1f %d\n", *(float *)h, h[1]);
  Many m;
  for (int i = 0; i < 16; i++) m.v[i] = i;
  by_address<<<1, 1>>>(m, 2, out), fetch();
  printf("address of a parameter: %d\n", h[0]);
  grid_constant<<<1, 1>>>(m, out), fetch();
  printf("grid constant: %d\n", h[0]);
  overflow<<<1, 1>>>(100000, out);
  printf("stack overflow is an error: %s\n", cudaDeviceSynchronize() != cudaSuccess ? "yes" : "no");
  return 0;
}
