// mma.sync: every shape and type, against the fragment layouts as the PTX manual writes them, with
// exact sums.
// arch: compute_90
// prints: all checks passed
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "../runtime/check.h"

// A fragment is up to 8 registers of 8 bytes for each lane; 32-bit registers use the low half.
typedef unsigned long long Register;
typedef Register Fragment[32][8];

#define R32(v) "r"((unsigned)(v))
#define KERNEL32(name, op, NA, NB, NC) \
  __global__ void name(const Fragment *f, Fragment *d) { \
    unsigned l = threadIdx.x; \
    unsigned a[4], b[4], c[8], r[8]; \
    for (int i = 0; i < 4; i++) a[i] = (unsigned)f[0][l][i], b[i] = (unsigned)f[1][l][i]; \
    for (int i = 0; i < 8; i++) c[i] = (unsigned)f[2][l][i], r[i] = 0; \
    MMA_##NA##NB##NC(op); \
    for (int i = 0; i < NC; i++) (*d)[l][i] = r[i]; \
  }
#define MMA_112(op) \
  asm volatile(op " {%0,%1},{%2},{%3},{%4,%5};" \
               : "=r"(r[0]), "=r"(r[1]) \
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]))
#define MMA_212(op) \
  asm volatile(op " {%0,%1},{%2,%3},{%4},{%5,%6};" \
               : "=r"(r[0]), "=r"(r[1]) \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]))
#define MMA_214(op) asm volatile(op " {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};" \
    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) \
    : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define MMA_422(op) asm volatile(op " {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%9};" \
    : "=r"(r[0]), "=r"(r[1]) \
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]))
#define MMA_424(op) \
  asm volatile(op " {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};" \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), \
                 "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define MMA_228(op) \
  asm volatile(op \
               " {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%9},{%10,%11},{%12,%13,%14,%15,%16,%17,%18,%19};" \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), \
                 "=r"(r[6]), "=r"(r[7]) \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), \
                 "r"(c[3]), "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))

typedef enum { F16, BF16, TF32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, F32, S32 } Type;
static const int bits_of[] = {16, 16, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32, 32};

// --- where element i of a lane lies ---
static void place_a(int m, int k, Type t, int lane, int i, int *row, int *col) {
  int group = lane >> 2, in_group = lane % 4,
      each = bits_of[t] >= 32 ? 1 : 32 / bits_of[t];  // elements in a register
  int reg = i / each;
  if (m == 8) *row = group, *col = in_group * each + i;
  else {
    *row = reg % 2 ? group + 8 : group;
    *col = in_group * each + i % each + reg / 2 * 4 * each;
  }
}
static void place_b(Type t, int lane, int i, int *row, int *col) {
  int each = bits_of[t] >= 32 ? 1 : 32 / bits_of[t];
  *row = lane % 4 * each + i % each + i / each * 4 * each;
  *col = lane >> 2;
}
static void place_c(int lane, int i, int *row, int *col) {
  *row = (lane >> 2) + (i >= 2 ? 8 : 0);
  *col = lane % 4 * 2 + (i & 1);
}

// --- values ---
static unsigned seed = 7;
static unsigned draw() { return (seed = seed * 1664525 + 1013904223) >> 8; }

static Register encode(Type t, int v) {
  switch (t) {
  case F16: { __half h = __float2half((float)v); unsigned short s; memcpy(&s, &h, 2); return s; }
  case BF16: {
    __nv_bfloat16 h = __float2bfloat16((float)v);
    unsigned short s;
    memcpy(&s, &h, 2);
    return s;
  }
  case E4M3: return (unsigned char)__nv_cvt_float_to_fp8((float)v, __NV_SATFINITE, __NV_E4M3);
  case E5M2: return (unsigned char)__nv_cvt_float_to_fp8((float)v, __NV_SATFINITE, __NV_E5M2);
  case TF32: case F32: { float f = (float)v; unsigned u; memcpy(&u, &f, 4); return u; }
  case F64: { double f = v; Register u; memcpy(&u, &f, 8); return u; }
  case S4: case U4: return (unsigned)v & 15;
  case S8: case U8: return (unsigned)v & 255;
  case B1: return v & 1;
  default: return (unsigned)v;
  }
}
static int low_of(Type t) {
  return t == S8                         ? -128
         : t == S4 || t == E4M3          ? -8
         : t == E5M2                     ? -4
         : t == U8 || t == U4 || t == B1 ? 0
                                         : -12;
}
static int high_of(Type t) {
  return t == S8     ? 127
         : t == U8   ? 255
         : t == S4   ? 7
         : t == U4   ? 15
         : t == B1   ? 1
         : t == E4M3 ? 8
         : t == E5M2 ? 4
                     : 12;
}
static int value_of(Type t) {
  return low_of(t) + (int)(draw() % (unsigned)(high_of(t) - low_of(t) + 1));
}

static void put(Fragment f, int lane, Type t, int i, Register v) {
  int each = bits_of[t] >= 32 ? 1 : 32 / bits_of[t];
  f[lane][i / each] |= v << i % each * (each == 1 ? 0 : bits_of[t]);
}

static int A[32][256], B[256][8], C[16][8];

static void check(const char *name, void (*kernel)(const Fragment *, Fragment *), int m, int k,
                  Type ta, Type tb, Type tc, Type td, char mode = '*') {
  Fragment *f, *d;
  OK(cudaMallocManaged(&f, 3 * sizeof *f));
  OK(cudaMallocManaged(&d, sizeof *d));
  memset(f, 0, 3 * sizeof *f);
  int n_a = m * k / 32, n_b = k * 8 / 32, n_c = m * 8 / 32, row, col, wrong = 0;
  for (int l = 0; l < 32; l++) {
    for (int i = 0; i < n_a; i++) {
      place_a(m, k, ta, l, i, &row, &col);
      put(f[0], l, ta, i, encode(ta, A[row][col] = value_of(ta)));
    }
    for (int i = 0; i < n_b; i++) {
      place_b(tb, l, i, &row, &col);
      put(f[1], l, tb, i, encode(tb, B[row][col] = value_of(tb)));
    }
    for (int i = 0; i < n_c; i++) {
      place_c(l, i, &row, &col);
      put(f[2], l, tc, i, encode(tc, C[row][col] = (int)(draw() % 41) - 20));
    }
  }
  kernel<<<1, 32>>>(f, d);
  OK(cudaDeviceSynchronize());
  for (int l = 0; l < 32; l++) {
    Fragment want;
    memset(want, 0, sizeof want);
    for (int i = 0; i < n_c; i++) {
      place_c(l, i, &row, &col);
      int sum = C[row][col];
      for (int q = 0; q < k; q++)
        sum += mode == '^'   ? A[row][q] ^ B[q][col]
               : mode == '&' ? A[row][q] & B[q][col]
                             : A[row][q] * B[q][col];
      put(want, l, td, i, encode(td, sum));
    }
    for (int i = 0; i < n_c / (td == F16 ? 2 : 1); i++) wrong += want[l][i] != (*d)[l][i];
  }
  if (wrong) printf("%s: %d registers are wrong\n", name, wrong), failures++;
  cudaFree(f), cudaFree(d);
}

#define CHECK32(name, op, NA, NB, NC, m, k, ta, tb, tc, td, ...) \
  KERNEL32(name, "mma.sync.aligned." op, NA, NB, NC)
#define ALL_FORMS(X) \
  X(h16n8k8f, "m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4, 16, 8, F16, F16, F32, F32) \
  X(h16n8k8h, "m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, 16, 8, F16, F16, F16, F16) \
  X(h16n8k16f, "m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 16, 16, F16, F16, F32, F32) \
  X(h16n8k16h, "m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 16, 16, F16, F16, F16, F16) \
  X(b16n8k8, "m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4, 16, 8, BF16, BF16, F32, F32) \
  X(b16n8k16, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, 16, 16, BF16, BF16, F32, F32) \
  X(t16n8k4, "m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, 16, 4, TF32, TF32, F32, F32) \
  X(t16n8k8, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, 16, 8, TF32, TF32, F32, F32) \
  X(e4e4, "m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 2, 4, 16, 32, E4M3, E4M3, F32, F32) \
  X(e4e5, "m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 2, 4, 16, 32, E4M3, E5M2, F32, F32) \
  X(e5e4, "m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 2, 4, 16, 32, E5M2, E4M3, F32, F32) \
  X(s8k16m8, "m8n8k16.row.col.s32.s8.u8.s32", 1, 1, 2, 8, 16, S8, U8, S32, S32) \
  X(s8k16, "m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4, 16, 16, S8, S8, S32, S32) \
  X(u8k32, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2, 4, 16, 32, U8, S8, S32, S32) \
  X(s4k32m8, "m8n8k32.row.col.s32.s4.s4.s32", 1, 1, 2, 8, 32, S4, S4, S32, S32) \
  X(s4k32, "m16n8k32.row.col.s32.s4.u4.s32", 2, 1, 4, 16, 32, S4, U4, S32, S32) \
  X(u4k64, "m16n8k64.row.col.s32.u4.s4.s32", 4, 2, 4, 16, 64, U4, S4, S32, S32) \
  X(x1k128m8, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 1, 1, 2, 8, 128, B1, B1, S32, S32, '^') \
  X(x1k128, "m16n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 4, 16, 128, B1, B1, S32, S32, '&') \
  X(x1k256, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 4, 16, 256, B1, B1, S32, S32, '^')
ALL_FORMS(CHECK32)

#define D(i) "d"(__longlong_as_double((long long)(i)))
#define KERNEL64(name, ...) \
  __global__ void name(const Fragment *f, Fragment *d) { \
    const Register *a = f[0][threadIdx.x], *b = f[1][threadIdx.x], *c = f[2][threadIdx.x]; \
    double r[4] = {0, 0, 0, 0}; \
    __VA_ARGS__; \
    for (int i = 0; i < 4; i++) (*d)[threadIdx.x][i] = (Register)__double_as_longlong(r[i]); \
  }
KERNEL64(d8n8k4,
         asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%4,%5};"
                      : "=d"(r[0]), "=d"(r[1])
                      : D(a[0]), D(b[0]), D(c[0]), D(c[1])))
KERNEL64(d16n8k4, asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
                               "{%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"
                               : "=d"(r[0]), "=d"(r[1]), "=d"(r[2]), "=d"(r[3])
                               : D(a[0]), D(a[1]), D(b[0]), D(c[0]), D(c[1]), D(c[2]), D(c[3])))
KERNEL64(d16n8k8, asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                               "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%10,%11,%12,%13};"
                               : "=d"(r[0]), "=d"(r[1]), "=d"(r[2]), "=d"(r[3])
                               : D(a[0]), D(a[1]), D(a[2]), D(a[3]), D(b[0]), D(b[1]), D(c[0]),
                                 D(c[1]), D(c[2]), D(c[3])))
KERNEL64(
    d16n8k16,
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7,%8,%9,%10,%11},{%12,%13,%14,%15},{%16,%17,%18,%19};"
                 : "=d"(r[0]), "=d"(r[1]), "=d"(r[2]), "=d"(r[3])
                 : D(a[0]), D(a[1]), D(a[2]), D(a[3]), D(a[4]), D(a[5]), D(a[6]), D(a[7]), D(b[0]),
                   D(b[1]), D(b[2]), D(b[3]), D(c[0]), D(c[1]), D(c[2]), D(c[3])))

// --- m8n8k4 with f16: four products at a time ---
KERNEL32(quad_rc, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 2, 2, 8)
KERNEL32(quad_cr, "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32", 2, 2, 8)

static void check_quads(const char *name, void (*kernel)(const Fragment *, Fragment *),
                        bool a_column, bool b_row) {
  static int a[4][8][4], b[4][4][8], c[4][8][8];
  Fragment *f, *d;
  OK(cudaMallocManaged(&f, 3 * sizeof *f));
  OK(cudaMallocManaged(&d, sizeof *d));
  memset(f, 0, 3 * sizeof *f);
  int wrong = 0;
  for (int l = 0; l < 32; l++) {
    int q = l % 16 / 4, upper = l >= 16 ? 4 : 0;
    for (int i = 0; i < 4; i++) {
      int va = value_of(F16), vb = value_of(F16);
      if (a_column) a[q][i + upper][l % 4] = va; else a[q][l % 4 + upper][i] = va;
      if (b_row) b[q][l % 4][i + upper] = vb; else b[q][i][l % 4 + upper] = vb;
      put(f[0], l, F16, i, encode(F16, va)), put(f[1], l, F16, i, encode(F16, vb));
    }
    for (int i = 0; i < 8; i++)
      put(f[2], l, F32, i,
          encode(F32,
                 c[q][(l & 1) + (i & 2) + upper][(i & 4) + (l & 2) + (i & 1)] = value_of(F16)));
  }
  kernel<<<1, 32>>>(f, d);
  OK(cudaDeviceSynchronize());
  for (int l = 0; l < 32; l++)
    for (int i = 0; i < 8; i++) {
      int q = l % 16 / 4, row = (l & 1) + (i & 2) + (l >= 16 ? 4 : 0),
          col = (i & 4) + (l & 2) + (i & 1), sum = c[q][row][col];
      for (int k = 0; k < 4; k++) sum += a[q][row][k] * b[q][k][col];
      wrong += (*d)[l][i] != encode(F32, sum);
    }
  if (wrong) printf("%s: %d registers are wrong\n", name, wrong), failures++;
  cudaFree(f), cudaFree(d);
}

// --- ldmatrix, stmatrix, movmatrix ---
__global__ void matrices(const unsigned short *in, unsigned *out, unsigned short *back) {
  __shared__ __align__(16) unsigned short s[32 * 8], t[32 * 8];
  for (int i = threadIdx.x; i < 256; i += 32) s[i] = in[i], t[i] = 0;
  __syncwarp();
  unsigned from = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 8),
           to = (unsigned)__cvta_generic_to_shared(t + threadIdx.x * 8), r[7];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
               : "=r"(r[4]), "=r"(r[5])
               : "r"(from));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[6]) : "r"(r[0]));
  for (int i = 0; i < 7; i++) out[i * 32 + threadIdx.x] = r[i];
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(to),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) back[i] = t[i];
}

static void check_matrices() {
  unsigned short *in, *back;
  unsigned *out;
  OK(cudaMallocManaged(&in, 512));
  OK(cudaMallocManaged(&back, 512));
  OK(cudaMallocManaged(&out, 7 * 128));
  for (int i = 0; i < 256; i++) in[i] = (unsigned short)(i * 259);
  matrices<<<1, 32>>>(in, out, back);
  OK(cudaDeviceSynchronize());
  for (int l = 0; l < 32; l++) {
    int row = l / 4, col = l % 4 * 2;
    for (int q = 0; q < 4; q++)
      EXPECT(out[q * 32 + l] ==
             (in[q * 64 + row * 8 + col] | (unsigned)in[q * 64 + row * 8 + col + 1] << 16));
    for (int q = 0; q < 2; q++)
      EXPECT(out[(4 + q) * 32 + l] ==
             (in[q * 64 + col * 8 + row] | (unsigned)in[q * 64 + (col + 1) * 8 + row] << 16));
    EXPECT(out[6 * 32 + l] == out[4 * 32 + l]);
  }
  for (int q = 0; q < 4; q++)
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) EXPECT(back[q * 64 + i * 8 + j] == in[q * 64 + j * 8 + i]);
}

int main() {
#define RUN32(name, op, NA, NB, NC, m, k, ...) check(op, name, m, k, __VA_ARGS__);
  ALL_FORMS(RUN32)
  check("f64 m8n8k4", d8n8k4, 8, 4, F64, F64, F64, F64);
  check("f64 m16n8k4", d16n8k4, 16, 4, F64, F64, F64, F64);
  check("f64 m16n8k8", d16n8k8, 16, 8, F64, F64, F64, F64);
  check("f64 m16n8k16", d16n8k16, 16, 16, F64, F64, F64, F64);
  check_quads("m8n8k4 row col", quad_rc, false, false);
  check_quads("m8n8k4 col row", quad_cr, true, true);
  check_matrices();
  return finish();
}
