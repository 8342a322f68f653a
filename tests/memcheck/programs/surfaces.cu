// Surfaces: a device would end the launch at an access outside of one.
#include <cstdio>
#include <cstdlib>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
#ifndef MORE
#define MORE 1
#endif

__global__ void each(cudaSurfaceObject_t s, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(s),
               // finds-next: oob-write count=1
               "r"((x + (x == n - 1 && y == 2 ? MORE : 0)) * 4), "r"(y), "r"(x + y)
               : "memory");
}
__global__ void fetch(cudaSurfaceObject_t s, int *out, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  out[y * n + x] += surf2Dread<int>(s, x * 4, y) +
                    surf2Dread<int>(s, (x + n) * 4, y, cudaBoundaryModeZero);
}

__global__ void deep(cudaSurfaceObject_t s, int *out, int n) {
  int x = threadIdx.x, z = threadIdx.y;
  surf3Dwrite(x + z, s, x * 4, 1, z);
  out[z * n + x] = surf3Dread<int>(s, x * 4, 1, z);
  int left = (x - 2 * MORE) * 4 + (MORE ? 0 : 4);
  if (x < 2 && z == 3)
    // finds-next: oob-read count=4
    out[z * n + x] += surf3Dread<int>(s, x * 4, 1, z + MORE) + surf3Dread<int>(s, left, 1, z);
}
__global__ void layers(cudaSurfaceObject_t s, int *out, int n) {
  int x = threadIdx.x, layer = threadIdx.y;
  // finds-next: oob-write count=1
  surf2DLayeredwrite(x + layer, s, x * 4, 1, layer + (x == 5 && layer == 3 ? MORE : 0));
  out[layer * n + x] += surf2DLayeredread<int>(s, x * 4, 1, layer);
}

static cudaSurfaceObject_t over(int width, int height, int depth, unsigned flags) {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
  cudaArray_t a; cudaSurfaceObject_t s;
  OK(cudaMalloc3DArray(&a, &d, make_cudaExtent(width, height, depth),
                       cudaArraySurfaceLoadStore | flags));
  cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a;
  OK(cudaCreateSurfaceObject(&s, &r));
  return s;
}

int main() {
  enum { N = 16 };
  int *out, h[N * N];
  OK(cudaMalloc(&out, sizeof h)); OK(cudaMemset(out, 0, sizeof h));
  cudaSurfaceObject_t s = over(N, N, 0, 0), cube = over(N, 2, 4, 0),
                      sheets = over(N, 2, 4, cudaArrayLayered);
  deep<<<1, dim3(N, 4)>>>(cube, out, N);
  layers<<<1, dim3(N, 4)>>>(sheets, out, N);
  each<<<1, dim3(N, N)>>>(s, N);
  fetch<<<1, dim3(N, N)>>>(s, out, N);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  int sum = 0;
  for (int i = 0; i < N * N; i++) sum += h[i] * (i % 7);
  printf("%d\n", sum);
}
