// Matrices that a warp loads and stores together: a row of ldmatrix and stmatrix outside, tiles of
// wmma that reach over the end.
// arch: compute_90
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
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
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void each(const half *a, float *c, unsigned *out, int stride) {
  __shared__ __align__(16) unsigned tile[128];
  int i = threadIdx.x;
  for (int k = i; k < 128; k += 32) tile[k] = k;
  __syncthreads();
  unsigned r[4], s;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at(tile + 4 * (i == 31 ? 31 + MORE : i))));  // finds: oob-read count=1
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(s)
               : "r"(at(tile + 4 * i) + (i < 8 ? 2 * MORE : 7777)));  // finds: misaligned count=8
  __syncthreads();
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(
                   at(tile + 4 * (i == 3 || i == 9 ? i + 32 * MORE : i))),
               "r"(r[0]), "r"(r[1]));  // finds: oob-write count=2
  __syncthreads();
  unsigned t[8];
  asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, "
               "%7}, [%8], %9;"
               : "=r"(t[0]), "=r"(t[1]), "=r"(t[2]), "=r"(t[3]), "=r"(t[4]), "=r"(t[5]), "=r"(t[6]),
                 "=r"(t[7])
               : "l"(a + 16 * MORE), "r"(stride));  // finds: oob-read count=32
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1, %2, %3, %4, %5, %6, "
               "%7, %8}, 32;" ::"l"(c),
               "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f)
               : "memory");
  asm volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
      ::"l"(c + 240 * MORE + 1 * MORE),
      // finds-next: oob-write count=32
      "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f), "f"(1.f)
      : "memory");
  for (int k = 0; k < 4; k++) out[4 * i + k] = r[k] + s + tile[4 * i + k] + t[k] + t[k + 4];
}

int main() {
  half *a; float *c; unsigned *out, h[128];
  OK(cudaMalloc(&a, (15 * 32 + 16) * 2));
  OK(cudaMalloc(&c, (15 * 32 + 16) * 4));
  OK(cudaMalloc(&out, 128 * 4));
  OK(cudaMemset(a, 0, (15 * 32 + 16) * 2));
  each<<<1, 32>>>(a, c, out, 32);
  OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault));
  unsigned sum = 0;
  for (int i = 0; i < 128; i++) sum += h[i] * (i + 1);
  if (!MORE) printf("%u\n", sum);
}
