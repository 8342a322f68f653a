// Device functions with struct parameters and results, of every alignment; by value, by pointer,
// through function pointers.
struct Small { char a; short b; };
struct Mixed { int a; double b; char c[5]; float4 v; };
struct alignas(16) Wide { long long x[3]; };

__device__ __noinline__ Small swap(Small s) { Small r = {(char)s.b, (short)s.a}; return r; }
__device__ __noinline__ Mixed change(Mixed m, int k, Small s) {
  m.a += k + s.a;
  m.v.y *= 2.0f;
  m.c[k & 3] = (char)s.b;
  return m;
}
__device__ __noinline__ Wide widen(Wide w, const Mixed *m) { w.x[1] += m->a; return w; }

typedef int (*Step)(int, const int *);
__device__ __noinline__ int forward(int i, const int *p) { return p[i + 1]; }
__device__ __noinline__ int backward(int i, const int *p) { return p[i - 1]; }
__device__ Step steps[2] = {forward, backward};

__global__ void structs(Mixed m, Wide w, Small s, double *out, const int *p, int n) {
  Mixed r = change(m, n, swap(s));
  Wide q = widen(w, &r);
  out[threadIdx.x] = r.b + r.v.y + q.x[1] + steps[n & 1](n, p) + r.c[2];
}
