// Vectors that blocks exchange are read and written in one piece, whatever their size: whoever
// reads sees all of one write and nothing of another.
// arch: compute_75
// prints: all checks passed
#include "../runtime/check.h"

enum { TURNS = 100000, SHAPES = 4 };
static __device__ __align__(16) unsigned place[SHAPES][8];

template <int SHAPE> static __device__ void put(unsigned v) {
  unsigned *p = place[SHAPE];
  unsigned long long w = (unsigned long long)v << 32 | v;
  if (SHAPE == 0)
    asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v), "r"(~v)
                 : "memory");
  if (SHAPE == 1)
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %1, %2};" ::"l"(p), "r"(v), "r"(~v)
                 : "memory");
  if (SHAPE == 2)
    asm volatile("st.volatile.global.v2.u16 [%0], {%1, %2};" ::"l"(p), "h"((unsigned short)v),
                 "h"((unsigned short)~v)
                 : "memory");
  if (SHAPE == 3)
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(w), "l"(~w) : "memory");
}

template <int SHAPE> static __device__ bool is_whole() {
  unsigned *p = place[SHAPE], a, b, c = 0, d = ~0u;
  unsigned short s, t;
  unsigned long long x, y;
  if (SHAPE == 0)
    asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "l"(p)
                 : "memory");
  if (SHAPE == 1)
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(p)
                 : "memory");
  if (SHAPE == 2)
    asm volatile("ld.volatile.global.v2.u16 {%0, %1}, [%2];"
                 : "=h"(s), "=h"(t)
                 : "l"(p)
                 : "memory");
  if (SHAPE == 3)
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x), "=l"(y)
                 : "l"(p)
                 : "memory");
  if (SHAPE == 2) return s == (unsigned short)~t;
  if (SHAPE == 3) return x == ~y;
  return a == ~b && c == ~d && (SHAPE == 0 || a == c);
}

template <int SHAPE> __global__ void exchange(unsigned *torn) {
  for (unsigned i = 0; i < TURNS; i++)
    if (blockIdx.x == 0) put<SHAPE>(i);
    else if (!is_whole<SHAPE>()) atomicAdd(torn, 1);
}

template <int SHAPE> __global__ void begin() { put<SHAPE>(7); }

template <int SHAPE> static void test(const char *name) {
  unsigned *torn, seen = 0;
  cudaMalloc(&torn, 4);
  cudaMemset(torn, 0, 4);
  begin<SHAPE><<<1, 1>>>();
  exchange<SHAPE><<<2, 1>>>(torn);
  cudaMemcpy(&seen, torn, 4, cudaMemcpyDeviceToHost);
  if (seen) printf("%s: %u of %d reads saw parts of two writes\n", name, seen, TURNS);
  EXPECT(seen == 0);
}

int main() {
  test<0>("v2.u32");
  test<1>("v4.u32");
  test<2>("v2.u16");
  test<3>("v2.u64");
  return finish();
}
