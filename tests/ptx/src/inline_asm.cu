// Inline assembly: scopes with names that hide others, labels in scopes, vectors, every kind of
// operand.
__device__ __forceinline__ unsigned twice(unsigned x) {
  unsigned r;
  asm("{ .reg .u32 t, %%loop<2>; mov.u32 t, %1; { .reg .u32 t; add.u32 t, %1, 1; mov.u32 %%loop0, "
      "t; }\n"
      "  add.u32 %0, t, %%loop0; }"
      : "=r"(r)
      : "r"(x));
  return r;
}
__device__ __forceinline__ int spin(int n) {
  int r;
  asm volatile("{\n .reg .pred p;\n .reg .s32 i;\n mov.s32 i, 0;\nLOOP:\n add.s32 i, i, 1;\n "
               "setp.lt.s32 p, i, %1;\n"
               " @p bra LOOP;\n mov.s32 %0, i;\n}"
               : "=r"(r)
               : "r"(n));
  return r;
}
__global__ void inline_asm(int *out, const int4 *in, float f, double d, unsigned short h) {
  int i = threadIdx.x, a = spin(i), b = spin(a + 1);
  int4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.s32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(in + i));
  unsigned lo, hi;
  asm("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "d"(d));
  unsigned lane, mask;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  int s, carry;
  asm("add.cc.s32 %0, %2, %3;\n addc.s32 %1, 0, 0;" : "=r"(s), "=r"(carry) : "r"(v.x), "r"(v.y));
  int p;
  asm("{ .reg .pred p, q; setp.gt.f32 p|q, %1, 0f3F800000; @!p bra ELSE; mov.s32 %0, 1; bra.uni "
      "END;\n"
      "ELSE: selp.s32 %0, 2, 3, q;\nEND: }"
      : "=r"(p)
      : "f"(f));
  unsigned sel;
  asm("{ .reg .b16 x; mov.b16 x, %1; cvt.u32.u16 %0, x; prmt.b32 %0, %0, %2, 0x5410; }"
      : "=r"(sel)
      : "h"(h), "n"(1 + 2 * 3));
  out[i] = a + b + (int)twice(lane) + (int)(lo ^ hi) + v.z + v.w + s + carry + p + (int)sel +
           (int)mask;
  asm volatile("// a comment only\n /* and another */" ::: "memory");
}
