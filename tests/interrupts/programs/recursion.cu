// nvcc: -Iinclude
// Interrupts in functions that call themselves or each other, with local arrays and structures; in
// functions that are called through pointers, and virtual ones; with a barrier between. Each kernel
// is compared with itself without interrupts.
#include <cstdio>

#include "warpgrind.h"

enum { N = 256 };

WG_INTERRUPT_OR(twice_on_host, int(int x), 0);
WG_HANDLER(twice_on_host, wg_callers &callers, wg_list<int> x, wg_results<int> r) {
  for (size_t i = 0; i < callers.size(); i++) r[i] = 2 * x[i];
}
template <bool I> __device__ int twice(int x) { return I ? twice_on_host(x) : 2 * x; }

template <bool I> __device__ __noinline__ int deeper(int n, int *sum) {
  int local[3] = {n, n + 1, n * 2};
  if (!n) return 1;
  int v = deeper<I>(n - 1, sum) * 3 + twice<I>(n) + local[(n * 7) % 3];
  *sum += v;
  return v;
}
template <bool I> __global__ void recursion(int *out) {
  int sum = 0, i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = deeper<I>(3 + i % 3, &sum) + sum;
}

struct Pair {
  double a;
  short b, c;
};
template <bool I> __device__ Pair odd(Pair p, int n);
template <bool I> __device__ __noinline__ Pair even(Pair p, int n) {
  if (n <= 0) return p;
  p.a += twice<I>(n);
  return odd<I>(p, n - 1);
}
template <bool I> __device__ __noinline__ Pair odd(Pair p, int n) {
  if (n <= 0) return p;
  Pair q = even<I>(p, n - 1);
  q.b += p.c;
  q.c = (short)twice<I>(q.b);
  return q;
}
template <bool I> __global__ void mutual(int *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  Pair p = even<I>(Pair{(double)i, 1, 2}, i % 5);
  out[i] = (int)p.a * 100 + p.b + p.c;
}

template <bool I> struct Shape {
  __device__ virtual int area(int k) const { return k; }
};
template <bool I> struct Square : Shape<I> {
  int a;
  __device__ Square(int a) : a(a) {}
  __device__ int area(int k) const override { return twice<I>(a) + k; }
};
template <bool I> struct Circle : Shape<I> {
  int a;
  __device__ Circle(int a) : a(a) {}
  __device__ int area(int k) const override { return a - k; }
};
template <bool I> __device__ __noinline__ int asks(int x) { return twice<I>(x) + 1; }
template <bool I> __device__ __noinline__ int computes(int x) { return 3 * x; }
typedef int Function(int);
template <bool I> __device__ Function *functions[2] = {asks<I>, computes<I>};

template <bool I> __global__ void pointers(int *out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  Square<I> s(i);
  Circle<I> c(i);
  Shape<I> *p = i % 3 ? (Shape<I> *)&s : (Shape<I> *)&c;
  int sum = 0;
  for (int k = 0; k < 3; k++) sum += functions<I>[(i + k) % 2](sum + k) + p->area(i * 100);
  out[i] = sum;
}

template <bool I> __global__ void barriers(int *out) {
  __shared__ int s[64];
  int sum = 0, t = threadIdx.x, i = t + blockIdx.x * blockDim.x;
  s[t] = t % 4 ? t : deeper<I>(t % 3 + 1, &sum);
  __syncthreads();
  int v = s[63 - t];
  __syncthreads();
  if (t < 40) s[t] = deeper<I>(v % 4, &sum);
  __syncthreads();
  out[i] = s[(t + 1) % 64] + sum;
}

typedef void Kernel(int *);
static void compare(const char *name, Kernel *plain, Kernel *interrupts) {
  static int expected[N], found[N], *out;
  Kernel *both[] = {plain, interrupts};
  cudaMalloc(&out, sizeof found);
  for (int k = 0; k < 2; k++) {
    both[k]<<<N / 64, 64>>>(out);
    cudaMemcpy(k ? found : expected, out, sizeof found, cudaMemcpyDeviceToHost);
  }
  int different = 0;
  for (int i = 0; i < N; i++) different += expected[i] != found[i];
  printf("%s: %d different, %s\n", name, different, cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
}

int main() {
  compare("recursion", recursion<false>, recursion<true>);
  compare("mutual recursion", mutual<false>, mutual<true>);
  compare("pointers", pointers<false>, pointers<true>);
  compare("barriers", barriers<false>, barriers<true>);
}
