// Bit fields, whose bytes are not their own: those that were written may be read, in this kernel or
// another. What was not written is found where a byte has none of what was; fields_ok.cu writes all
// of it.
#include <cstdio>
#ifndef EARLY
#define EARLY 1
#endif
struct Fields { unsigned a : 3, b : 7, c : 22; };
struct Flags { unsigned char ready : 1, kind : 4, rest : 3; };

__global__ void set_a(Fields *f, Flags *g) {
  f[threadIdx.x].a = threadIdx.x;
  g[threadIdx.x].kind = 3;
}
__global__ void set_b(Fields *f, Flags *g) {
  f[threadIdx.x].b = threadIdx.x;
  g[threadIdx.x].ready = 1;
}
__global__ void set_c(Fields *f) { f[threadIdx.x].c = threadIdx.x; }
__global__ void read_ab(const Fields *f, const Flags *g, int *out) {
  Fields x = f[threadIdx.x];
  if (x.a == 3 && x.b > 2) out[threadIdx.x] = 1;
  Flags y = g[threadIdx.x];
  if (y.ready && y.kind == 3) out[threadIdx.x] = 2;
}
__global__ void read_c(const Fields *f, int *out) {
  // finds-next: uninit-use (c was not written)
  if (f[threadIdx.x].c > 3) out[threadIdx.x] = 3;
}
__global__ void read_later(const Fields *f, int *out) {
  if (f[threadIdx.x].c == 3) out[threadIdx.x] = 3;
}
// No field: which bits stay is known only when it runs.
__global__ void mask(unsigned *m, const unsigned *by) { m[threadIdx.x] &= by[threadIdx.x]; }
__global__ void read_mask(const unsigned *m, int *out) {
  // finds-next: uninit-use (m was not written)
  if (m[threadIdx.x] & 0x10) out[threadIdx.x] = 4;
}

int main() {
  Fields *f;
  Flags *g;
  int *out, h[32];
  unsigned *m, *by;
  cudaMalloc(&f, 32 * sizeof *f); cudaMalloc(&g, 32 * sizeof *g); cudaMalloc(&out, sizeof h);
  cudaMemset(out, 0, sizeof h);
  set_a<<<1, 32>>>(f, g);
  set_b<<<1, 32>>>(f, g);
  read_ab<<<1, 32>>>(f, g, out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  if (EARLY) read_c<<<1, 32>>>(f, out);
  set_c<<<1, 32>>>(f);
  read_later<<<1, 32>>>(f, out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  cudaMalloc(&m, sizeof h); cudaMalloc(&by, sizeof h);
  cudaMemset(by, 0x11, sizeof h);
  if (!EARLY) cudaMemset(m, 0, sizeof h);
  mask<<<1, 32>>>(m, by);
  read_mask<<<1, 32>>>(m, out);
  printf("%d %d\n", h[1], h[31]);
  return 0;
}
