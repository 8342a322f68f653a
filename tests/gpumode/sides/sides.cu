// Branches with short sides, as a binary search has them, in full warps, in warps of which threads
// have ended, and in blocks with other shapes.
#include <cstdio>
#include <cstdlib>

// Both sides, one side, and a side of two blocks; labels are those of the braces.
#define BOTH(x, a, b) \
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; @p bra A; add.s32 %0, %0, 1; bra.uni B; " \
               "A: add.s32 %0, %0, 3; shl.b32 %0, %0, 1; B: }" \
               : "+r"(x) \
               : "r"(a), "r"(b))
#define ONE(x, a, b) \
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; @p bra A; xor.b32 %0, %0, 5; A: }" \
               : "+r"(x) \
               : "r"(a), "r"(b))
#define JUMPS(x, a, b) \
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; @!p bra A; bra.uni C; A: " \
               "add.s32 %0, %0, 7; bra.uni B; C: sub.s32 %0, %0, 2; B: }" \
               : "+r"(x) \
               : "r"(a), "r"(b))

__global__ void search(const int *from, int *to, int n, int turns) {
  int i = (blockIdx.y * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, x = 0;
  if (i >= n) return;
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
    int v = from[(x + t) & 255];
    BOTH(x, v, i);
    ONE(x, t, 3);
    JUMPS(x, i & 7, t);
    if (v == 200 && t > 2) break;
    BOTH(x, i, 16);
    ONE(x, i & 1, 1);
  }
  BOTH(x, x, i);
  to[i] = x;
}

// 80 of them: more counters than the lanes of a register hold.
__global__ void many(const int *from, int *to, int n) {
  int i = threadIdx.x, x = from[i & 255];
  if (i >= n) return;
#pragma unroll
  for (int k = 0; k < 80; k++) BOTH(x, from[(i + k) & 255], x & 255);
  to[i] = x;
}

int main() {
  int *from, *to, host[256];
  for (int i = 0; i < 256; i++) host[i] = i * 37 & 255;
  cudaMalloc(&from, sizeof host);
  cudaMalloc(&to, 4096 * sizeof(int));
  cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
  search<<<1, 128>>>(from, to, 100, 9);
  search<<<dim3(1, 2), dim3(16, 4)>>>(from, to, 128, 9);
  search<<<dim3(1, 2), dim3(24, 5)>>>(from, to, 230, 12);
  many<<<2, 96>>>(from, to, 90);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  puts("done");
  return 0;
}
