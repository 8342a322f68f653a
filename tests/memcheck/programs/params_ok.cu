// Parameters with addresses: __grid_constant__ structures, their address given away, aligned
// structures by value, arrays indexed at run time.
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
struct Weights { int w[8]; };
struct __align__(32) Wide { double d[3]; float4 f; };
struct Holder { const int *p; Weights inside; int *q; };

__device__ __noinline__ int pick(const Weights *p, int i) { return p->w[i]; }
__device__ __noinline__ double mix(Wide w, int i) { return w.d[i % 3] + w.f.w; }
__device__ const Weights *shelf[1];

__global__ void each(int *out, const __grid_constant__ Weights p, Wide w, Holder h, Weights plain) {
  int i = threadIdx.x, local[8];
  shelf[0] = &p;
  for (int k = 0; k < 8; k++) local[k] = plain.w[(i + k) % 8];
  __syncthreads();
  h.q[i] = pick(&p, i % 8) + (int)mix(w, i) + h.p[i] + h.inside.w[i % 8] + local[(i * 5) % 8];
  out[i] = pick(shelf[0], 7 - i % 8);
}

int main() {
  int *out, *a, h[64];
  OK(cudaMalloc(&out, 64 * 4)); OK(cudaMalloc(&a, 32 * 4)); OK(cudaMemset(a, 0, 32 * 4));
  Weights p = {{1, 2, 3, 4, 5, 6, 7, 8}};
  each<<<1, 32>>>(out, p, Wide{{1, 2, 3}, {4, 5, 6, 7}}, Holder{a, p, out + 32}, p);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) printf("%d\n", h[i]);
}
