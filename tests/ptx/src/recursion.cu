// Recursion, indirect calls, virtual functions, device heap, printf and assert.
#include <cassert>
#include <cstdio>
struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float a;
  __device__ Square(float x) : a(x) {}
  __device__ float area() const override { return a * a; }
};
struct Circle : Shape {
  float r;
  __device__ Circle(float x) : r(x) {}
  __device__ float area() const override { return 3.14159f * r * r; }
};
__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void recursion(float *out, int n) {
  int i = threadIdx.x;
  Shape *s = i & 1 ? (Shape *)new Square(i) : (Shape *)new Circle(i);
  int *scratch = (int *)malloc(n * sizeof(int));
  assert(scratch != nullptr && n > 0);
  scratch[i % n] = ackermann(i & 1, 3) + fibonacci(n & 7);
  out[i] = s->area() + scratch[i % n];
  if (i == 0) printf("area %f of %d, %s %lld\n", out[i], n, "text", (long long)n * n);
  free(scratch);
  delete s;
}
