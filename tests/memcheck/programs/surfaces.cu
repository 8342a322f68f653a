// Surfaces: a write outside of one ends the launch, as on a GPU, and it is said where.
// device: cpu
// finds: oob-write 13 1
#include <cstdio>
#include <cstdlib>
#define OK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
#ifndef MORE
#define MORE 1
#endif

__global__ void each(cudaSurfaceObject_t s, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" :: "l"(s), "r"((x + (x == n - 1 && y == 2 ? MORE : 0)) * 4), "r"(y), "r"(x + y) : "memory");
}
__global__ void fetch(cudaSurfaceObject_t s, int *out, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  out[y * n + x] = surf2Dread<int>(s, x * 4, y) + surf2Dread<int>(s, (x + n) * 4, y, cudaBoundaryModeZero);
}

int main() {
  enum { N = 16 };
  cudaArray_t a; cudaSurfaceObject_t s; int *out, h[N * N];
  cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
  OK(cudaMallocArray(&a, &d, N, N, cudaArraySurfaceLoadStore)); OK(cudaMalloc(&out, sizeof h));
  cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a;
  OK(cudaCreateSurfaceObject(&s, &r));
  each<<<1, dim3(N, N)>>>(s, N);
  if (MORE) { printf("%d\n", cudaDeviceSynchronize() != cudaSuccess); return 0; }
  fetch<<<1, dim3(N, N)>>>(s, out, N);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  int sum = 0;
  for (int i = 0; i < N * N; i++) sum += h[i] * (i % 7);
  printf("%d\n", sum);
}
