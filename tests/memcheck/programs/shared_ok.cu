// Shared memory used well: several arrays carved out of the dynamic one, pointers in tables and
// arguments, another block's memory (clusters).
// arch: compute_90
#include <cstdio>
#include <cstdlib>
#include <cooperative_groups.h>
#define OK(call) \
  do { \
    cudaError_t e = (call); \
    if (e != cudaSuccess) { \
      printf("%s\n", cudaGetErrorString(e)); \
      exit(1); \
    } \
  } while (0)
namespace cg = cooperative_groups;

__device__ __noinline__ void put(int *p, int i, int v) { p[i] = v; }
__device__ __noinline__ int get(const int *const *table, int which, int i) {
  return table[which][i];
}

__global__ void __cluster_dims__(2, 1, 1) each(int *out) {
  extern __shared__ __align__(16) char dynamic[];
  __shared__ int fixed[32];
  __shared__ const int *table[3];
  int i = threadIdx.x, *a = (int *)dynamic, *b = a + 32;
  short *c = (short *)(b + 32);
  a[i] = i, b[i] = 2 * i, c[i] = (short)(3 * i);
  put(fixed, i, 5 * i);
  put(b, i, 7 * i);
  if (!i) table[0] = a, table[1] = b, table[2] = fixed;
  cg::this_cluster().sync();
  const int *other = cg::this_cluster().map_shared_rank(fixed, cg::this_cluster().block_rank() ^ 1);
  int *mine = cg::this_cluster().map_shared_rank(a, cg::this_cluster().block_rank());
  atomicAdd(mine + i, 1);
  out[blockIdx.x * 32 + i] = get(table, i % 3, i) + other[31 - i] + c[31 - i];
  cg::this_cluster().sync();
}

int main() {
  int *out, h[64];
  OK(cudaMalloc(&out, sizeof h));
  each<<<2, 32, 32 * 4 * 2 + 32 * 2>>>(out);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) printf("%d\n", h[i]);
}
