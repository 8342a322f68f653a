// mma.sp: every shape and type, with metadata as the PTX manual lays them out, and exact sums.
// arch: compute_90
// prints: all checks passed
#include "../runtime/check.h"

// What the lanes of a warp pass to one instruction: A, B, C, metadata.
typedef struct Lane {
  unsigned a[4], b[4], c[4], meta;
} Lane;

#define KERNEL(name, op, NREGS, NC, selector) \
  __global__ void name(const Lane *in, unsigned *out) { \
    const Lane *l = &in[threadIdx.x]; \
    unsigned r[4] = {0, 0, 0, 0}; \
    SPARSE_##NREGS##NC("mma.sp" op, #selector); \
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = r[i]; \
  }
#define A2 "r"(l->a[0]), "r"(l->a[1])
#define A4 A2, "r"(l->a[2]), "r"(l->a[3])
#define B2 "r"(l->b[0]), "r"(l->b[1])
#define B4 B2, "r"(l->b[2]), "r"(l->b[3])
#define C2 "r"(l->c[0]), "r"(l->c[1])
#define C4 C2, "r"(l->c[2]), "r"(l->c[3])
#define D2 "=r"(r[0]), "=r"(r[1])
#define D4 D2, "=r"(r[2]), "=r"(r[3])
#define SPARSE_24(op, s) \
  asm volatile(op " {%0,%1,%2,%3},{%4,%5},{%6,%7},{%8,%9,%10,%11},%12," s ";" \
               : D4 : A2, B2, C4, "r"(l->meta))
#define SPARSE_44(op, s) \
  asm volatile(op " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9,%10,%11},{%12,%13,%14,%15},%16," s ";" \
               : D4 : A4, B4, C4, "r"(l->meta))
#define SPARSE_42(op, s) \
  asm volatile(op " {%0,%1},{%2,%3,%4,%5},{%6,%7,%8,%9},{%10,%11},%12," s ";" \
               : D2 : A4, B4, C2, "r"(l->meta))

typedef enum { F16, BF16, TF32, E4M3, S8, U8, S4, U4, F32, S32 } Type;
static const int bits_of[] = {16, 16, 32, 8, 8, 8, 4, 4, 32, 32};

#define ALL_FORMS(X) \
  X(h16, ".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2, 4, 2, 16, F16, F16, F32) \
  X(h32, "::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 1, 32, F16, \
    F16, F32) \
  X(hh32, ".sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", 4, 2, 0, 32, F16, F16, F16) \
  X(b16, ".sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 2, 4, 3, 16, BF16, BF16, F32) \
  X(b32, ".sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 0, 32, BF16, BF16, F32) \
  X(t8, ".sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 2, 4, 1, 8, TF32, TF32, F32) \
  X(t16, ".sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 4, 4, 1, 16, TF32, TF32, F32) \
  X(e64, ".sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", 4, 4, 0, 64, E4M3, E4M3, F32) \
  X(s32, ".sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 2, 4, 1, 32, S8, U8, S32) \
  X(s64, ".sync.aligned.m16n8k64.row.col.satfinite.s32.u8.s8.s32", 4, 4, 0, 64, U8, S8, S32) \
  X(q64, ".sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 2, 4, 0, 64, S4, U4, S32) \
  X(q128, "::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32", 4, 4, 0, 128, U4, \
    S4, S32)
#define DEFINE(name, op, NREGS, NC, selector, ...) KERNEL(name, op, NREGS, NC, selector)
ALL_FORMS(DEFINE)

// --- values: small integers, exact in every type ---
static unsigned seed = 7;
static unsigned draw(unsigned below) { return (seed = seed * 1664525 + 1013904223) / 256 % below; }
static int value_of(Type t) {
  if (t == U8 || t == U4) return (int)draw(t == U8 ? 256 : 16);
  return t == S8 ? (int)draw(256) - 128 : (int)draw(15) - 7;
}

// A small integer as a float with so many bits of exponent and mantissa.
static unsigned encode_float(int v, int exponent_bits, int mantissa_bits) {
  unsigned magnitude = (unsigned)(v < 0 ? -v : v),
           sign = v < 0 ? 1u << (exponent_bits + mantissa_bits) : 0;
  if (!magnitude) return sign;
  int e = 31 - __builtin_clz(magnitude), bias = (1 << (exponent_bits - 1)) - 1;
  unsigned rest = magnitude - (1u << e);
  rest = e <= mantissa_bits ? rest << (mantissa_bits - e) : rest >> (e - mantissa_bits);
  return sign | (unsigned)(e + bias) << mantissa_bits | rest;
}
static unsigned encode(Type t, int v) {
  switch (t) {
  case F16: return encode_float(v, 5, 10);
  case BF16: return encode_float(v, 8, 7);
  case E4M3: return encode_float(v, 4, 3);
  case TF32:
  case F32: return encode_float(v, 8, 23);
  case S8:
  case U8: return (unsigned)v & 255;
  case S4:
  case U4: return (unsigned)v & 15;
  default: return (unsigned)v;
  }
}

static void put(unsigned *regs, Type t, int i, int v) {
  int each = 32 / bits_of[t];
  regs[i / each] |= encode(t, v) << i % each * (each == 1 ? 0 : bits_of[t]);
}

static int A[16][128], B[128][8], C[16][8];

// The group's two (tf32: one) places, as the four bits of the metadata.
static unsigned draw_code(Type t) {
  static const unsigned pairs[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  return t == TF32 ? (draw(2) ? 0xe : 0x4) : pairs[draw(6)];
}

// Row, stored column and group of an element, and the lane and bits where its group's code lies.
static void place_code(Type t, int k, int row, int group, int selector, int *lane, int *shift) {
  int groups = k / (t == TF32 ? 2 : bits_of[t] == 4 ? 8 : 4), quad = row % 8 * 4;
  if (bits_of[t] >= 16) {
    *lane = quad + (groups == 4 ? selector : selector * 2 + group / 4);
    *shift = (row / 8 * 4 + group % 4) * 4;
  } else if (groups == 8) {
    *lane = quad + selector * 2 + row / 8;
    *shift = group * 4;
  } else {
    *lane = quad + group / 8 * 2 + row / 8;
    *shift = group % 8 * 4;
  }
}

static void fill_a(Lane *lanes, Type t, int k, int selector) {
  int size = t == TF32 ? 2 : bits_of[t] == 4 ? 8 : 4, unit = bits_of[t] == 4 ? 2 : 1,
      each = 32 / bits_of[t];
  for (int row = 0; row < 16; row++)
    for (int group = 0; group < k / size; group++) {
      unsigned code = draw_code(t);
      int lane, shift;
      place_code(t, k, row, group, selector, &lane, &shift);
      lanes[lane].meta |= code << shift;
      for (int i = 0; i < size / 2; i++) {
        int place = t == TF32 ? (code == 0xe) : (int)(code >> i / unit * 2 & 3) * unit + i % unit,
            stored = group * size / 2 + i, v = value_of(t),
            // registers: rows 0 to 7, 8 to 15, then the same for the next 16 bytes of the row
            at = (stored / (4 * each) * 2 + row / 8) * each + stored % each;
        A[row][group * size + place] = v;
        put(lanes[row % 8 * 4 + stored / each % 4].a, t, at, v);
      }
    }
}

static void check(const char *name, void (*kernel)(const Lane *, unsigned *), int nc,
                  int selector, int k, Type ta, Type tb, Type tc) {
  Lane *in;
  unsigned *out;
  int wrong = 0, each = 32 / bits_of[tb];
  OK(cudaMallocManaged(&in, 32 * sizeof *in));
  OK(cudaMallocManaged(&out, 32 * 4 * sizeof *out));
  memset(in, 0, 32 * sizeof *in);
  memset(A, 0, sizeof A);
  fill_a(in, ta, k, selector);
  for (int q = 0; q < k; q++)
    for (int col = 0; col < 8; col++)
      put(in[col * 4 + q / each % 4].b, tb, q / (4 * each) * each + q % each,
          B[q][col] = value_of(tb));
  for (int row = 0; row < 16; row++)
    for (int col = 0; col < 8; col++)
      put(in[row % 8 * 4 + col / 2].c, tc, row / 8 * 2 + col % 2,
          C[row][col] = (int)draw(41) - 20);
  kernel<<<1, 32>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 32; lane++) {
    unsigned want[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
      int row = lane / 4 + i / 2 * 8, col = lane % 4 * 2 + i % 2, sum = C[row][col];
      for (int q = 0; q < k; q++) sum += A[row][q] * B[q][col];
      put(want, tc, i, sum);
    }
    for (int i = 0; i < nc; i++) wrong += want[i] != out[lane * 4 + i];
  }
  if (wrong) printf("%s: %d registers are wrong\n", name, wrong), failures++;
  cudaFree(in), cudaFree(out);
}

int main() {
#define RUN(name, op, NREGS, NC, selector, k, ta, tb, tc) \
  check(op, name, NC, selector, k, ta, tb, tc);
  ALL_FORMS(RUN)
  return finish();
}
