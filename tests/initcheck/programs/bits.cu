// Instructions that move bits move what is bad of a word with them: its lower half was written, its
// upper half was not.
#include <cstdio>

#define MOVES(name, text)                                                                        \
  __device__ unsigned name(unsigned x, unsigned y) {                                             \
    unsigned r;                                                                                  \
    asm volatile(text : "=r"(r) : "r"(x), "r"(y));                                               \
    return r;                                                                                    \
  }
MOVES(reverse, "brev.b32 %0, %1;")
MOVES(extract, "bfe.u32 %0, %1, 8, 16;")
MOVES(extract_signed, "bfe.s32 %0, %1, 4, 8;")
MOVES(extract_bad_sign, "bfe.s32 %0, %1, 12, 8;")
MOVES(insert, "bfi.b32 %0, %1, %2, 4, 20;")
MOVES(permute, "prmt.b32 %0, %1, %2, 0x4021;")
MOVES(funnel_left, "shf.l.wrap.b32 %0, %1, %2, 40;")
MOVES(funnel_left_clamp, "shf.l.clamp.b32 %0, %1, %2, 40;")
MOVES(funnel_right, "shf.r.wrap.b32 %0, %1, %2, 8;")
MOVES(funnel_right_clamp, "shf.r.clamp.b32 %0, %1, %2, 24;")
__device__ unsigned extract_at(unsigned x, unsigned at) {
  unsigned r;
  asm volatile("bfe.u32 %0, %1, %2, 4;" : "=r"(r) : "r"(x), "r"(at));
  return r;
}
typedef unsigned long long Wide;
__device__ Wide extract_wide(Wide x) {
  Wide r;
  asm volatile("bfe.u64 %0, %1, 8, 32;" : "=l"(r) : "l"(x));
  return r;
}

__global__ void write_halves(short *h) { h[2 * threadIdx.x] = 0x1234; }

#define LOOK(name, statement) \
  __global__ void name(const unsigned *p, const unsigned *good, int *out) { \
    unsigned x = p[threadIdx.x], y = good[threadIdx.x]; \
    statement \
  }
LOOK(reverse_good, if (reverse(x, y) >> 16) out[threadIdx.x] = 1;)
// finds-next: uninit-use (what was the upper half)
LOOK(reverse_bad, if (reverse(x, y) & 0xffff) out[threadIdx.x] = 1;)
LOOK(extract_good, if (extract(x, y) & 0xff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (bit 16)
LOOK(extract_bad, if (extract(x, y) & 0x100) out[threadIdx.x] = 1;)
LOOK(extract_signed_good, if (extract_signed(x, y)) out[threadIdx.x] = 1;)
// finds-next: uninit-use (bit 19)
LOOK(extract_sign, if (extract_bad_sign(x, y) >> 31) out[threadIdx.x] = 1;)
LOOK(insert_good, if (insert(x, y) & 0xff00000f) out[threadIdx.x] = 1;)
// finds-next: uninit-use (bit 16, moved by 4)
LOOK(insert_bad, if (insert(x, y) & 0x00100000) out[threadIdx.x] = 1;)
// finds-next: uninit-use (what it was inserted into)
LOOK(insert_into, if (insert(y, x) >> 24) out[threadIdx.x] = 1;)
LOOK(permute_good, if (permute(x, y) & 0xffff00ff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (byte 2, now 1)
LOOK(permute_bad, if (permute(x, y) & 0xf000) out[threadIdx.x] = 1;)
LOOK(funnel_left_good, if (funnel_left(y, x) & 0xffffff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (bits 16 to 23)
LOOK(funnel_left_bad, if (funnel_left(y, x) >> 24) out[threadIdx.x] = 1;)
LOOK(funnel_left_clamp_good, if (funnel_left_clamp(y, x)) out[threadIdx.x] = 1;)
LOOK(funnel_right_good, if (funnel_right(x, y) & 0xff0000ff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (bit 16)
LOOK(funnel_right_bad, if (funnel_right(x, y) & 0x100) out[threadIdx.x] = 1;)
// finds-next: uninit-use (bit 24)
LOOK(funnel_right_clamp_bad, if (funnel_right_clamp(x, y) & 1) out[threadIdx.x] = 1;)
LOOK(extract_wide_good, if (extract_wide((Wide)x << 32 | y) >> 24 & 0xff) out[threadIdx.x] = 1;)
// finds-next: uninit-use (bit 16)
LOOK(extract_wide_bad, if (extract_wide((Wide)y << 32 | x) & 0x100) out[threadIdx.x] = 1;)
// finds-next: uninit-use (where it begins is bad)
LOOK(extract_where, if (extract_at(y, x >> 16 & 3)) out[threadIdx.x] = 1;)

int main() {
  unsigned *p, *good;
  int *out;
  cudaMalloc(&p, 4096);
  cudaMalloc(&good, 4096);
  cudaMalloc(&out, 4096);
  cudaMemset(good, 0x5a, 4096);
  cudaMemset(out, 0, 4096);
  write_halves<<<1, 32>>>((short *)p);
  void (*const kernels[])(const unsigned *, const unsigned *, int *) = {reverse_good,
                                                                        reverse_bad,
                                                                        extract_good,
                                                                        extract_bad,
                                                                        extract_signed_good,
                                                                        extract_sign,
                                                                        insert_good,
                                                                        insert_bad,
                                                                        insert_into,
                                                                        permute_good,
                                                                        permute_bad,
                                                                        funnel_left_good,
                                                                        funnel_left_bad,
                                                                        funnel_left_clamp_good,
                                                                        funnel_right_good,
                                                                        funnel_right_bad,
                                                                        funnel_right_clamp_bad,
                                                                        extract_wide_good,
                                                                        extract_wide_bad,
                                                                        extract_where};
  for (auto kernel : kernels) kernel<<<1, 32>>>(p, good, out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
