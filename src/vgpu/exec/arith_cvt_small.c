// cvt to and from packed and narrow formats: f16x2 bf16x2 tf32, the eight-, six- and four-bit ones,
// ue8m0; and cvt.pack.
#include "vgpu/exec/arith_exec.h"
#include "vgpu/exec/arith_small.h"

// bits of one element's place
typedef struct SmallType {
  PtxType type;
  const SmallFormat *format;
  unsigned bits;
} SmallType;
static const SmallType small_types[] = {
    {TYPE_F16X2, &format_f16, 16},  {TYPE_BF16X2, &format_bf16, 16}, {TYPE_E4M3X2, &format_e4m3, 8},
    {TYPE_E5M2X2, &format_e5m2, 8}, {TYPE_E2M3X2, &format_e2m3, 8},  {TYPE_E3M2X2, &format_e3m2, 8},
    {TYPE_E2M1X2, &format_e2m1, 4},
};
static const SmallType *find_small(PtxType t) {
  for (size_t k = 0; k < ARRAY_LEN(small_types); k++)
    if (small_types[k].type == t) return &small_types[k];
  return NULL;
}

// The description of one conversion, for the execute functions.
typedef struct SmallJob {
  const SmallType *to, *from;
  Rounding rounding;
  bool satfinite, relu;
  unsigned d_bytes, s_bytes;  // registers
} SmallJob;

static inline uint32_t encode(const SmallJob *job, float x) {
  const SmallFormat *f = job->to->format;
  uint32_t code = small_encode(f, x, job->rounding, job->satfinite);
  return job->relu && x == x && code & f->sign ? 0 : code;
}

static inline void store_lane(Warp *w, uint32_t slot, unsigned bytes, uint32_t lane,
                              uint32_t value) {
  uint64_t v = value;
  memcpy(w->regs + slot + (size_t)lane * bytes, &v, bytes);
}
static inline uint32_t load_lane(Warp *w, uint32_t slot, unsigned bytes, uint32_t lane) {
  uint32_t v = 0;
  memcpy(&v, w->regs + slot + (size_t)lane * bytes, MIN(bytes, 4u));
  return v;
}

// d = {a, b}: a goes to the upper half.
EXEC(pack_small) {
  const SmallJob *job = in->ptr;
  const float *a = REG(w, float, in->a), *b = REG(w, float, in->b);
  FOR_LANES(i, w->exec)
    store_lane(w, in->d, job->d_bytes, i, encode(job, a[i]) << job->to->bits | encode(job, b[i]));
  return in + 1;
}
// The common ones, vectorized.
EXEC_2(pack_f16x2_rn, uint32_t, float, float, (uint32_t)f16_from_f32(a) << 16 | f16_from_f32(b))
EXEC_2(pack_bf16x2_rn, uint32_t, float, float, (uint32_t)bf16_from_f32(a) << 16 | bf16_from_f32(b))
// Packed to packed: element by element.
EXEC(repack_small) {
  const SmallJob *job = in->ptr;
  FOR_LANES(i, w->exec) {
    uint32_t v = load_lane(w, in->a, job->s_bytes, i), value = 0;
    for (unsigned k = 0; k < 2; k++) {
      uint32_t code = v >> (k * job->from->bits) & ((1u << job->from->bits) - 1);
      value |= encode(job, small_decode(job->from->format, code)) << (k * job->to->bits);
    }
    store_lane(w, in->d, job->d_bytes, i, value);
  }
  return in + 1;
}
// tf32; flag[0]: rounding, flag[1]: relu, flag[2]: satfinite.
EXEC(to_tf32) {
  const float *a = REG(w, float, in->a);
  Rounding r = in->flag[0];
  bool relu = in->flag[1], satfinite = in->flag[2];
  ELEMENTWISE(w, uint32_t, in->d, i, ({
                uint32_t u = tf32_encode(a[i], r, satfinite);
                relu &&u >> 31 ? 0 : u;
              }));
  return in + 1;
}
EXEC(to_ue8m0) {
  const float *a = REG(w, float, in->a), *b = REG(w, float, in->b);
  Rounding r = in->flag[0];
  bool satfinite = in->flag[1];
  ELEMENTWISE(w, uint16_t, in->d, i,
              (uint16_t)(ue8m0_encode(a[i], r, satfinite) << 8 | ue8m0_encode(b[i], r, satfinite)));
  return in + 1;
}
EXEC(bf16x2_to_ue8m0) {
  const uint32_t *a = REG(w, uint32_t, in->a);
  Rounding r = in->flag[0];
  bool satfinite = in->flag[1];
  ELEMENTWISE(w, uint16_t, in->d, i,
              (uint16_t)(ue8m0_encode(f32_from_bf16((uint16_t)(a[i] >> 16)), r, satfinite) << 8 |
                         ue8m0_encode(f32_from_bf16((uint16_t)a[i]), r, satfinite)));
  return in + 1;
}
EXEC_1(bf16x2_from_ue8m0, uint32_t, uint16_t,
       (uint32_t)bf16_from_ue8m0(a >> 8) << 16 | bf16_from_ue8m0(a & 255))

static bool bind_ue8m0(Binder *b, PtxType td, PtxType ts) {
  const PtxInstr *in = b->in;
  Inst *i;
  if (ts == TYPE_UE8M0X2) {
    uint32_t x = bind_src(b, &in->ops[1], TYPE_B16);
    i = emit(b, bf16x2_from_ue8m0, bind_dst(b, &in->ops[0], TYPE_B32), x, 0, 0);
  } else if (ts == TYPE_BF16X2) {
    uint32_t x = bind_src(b, &in->ops[1], TYPE_B32);
    i = emit(b, bf16x2_to_ue8m0, bind_dst(b, &in->ops[0], TYPE_B16), x, 0, 0);
  } else {
    uint32_t x = bind_src(b, &in->ops[1], TYPE_F32), y = bind_src(b, &in->ops[2], TYPE_F32);
    i = emit(b, to_ue8m0, bind_dst(b, &in->ops[0], TYPE_B16), x, y, 0);
  }
  i->flag[0] = ptx_has(in, MOD_RP) ? ROUND_UP : ROUND_ZERO;
  i->flag[1] = ptx_has(in, MOD_SATFINITE);
  return true;
}

bool VGPU_NAME(arith_bind_cvt_small)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType td = in->types[0], ts = in->types[1];
  Rounding r = ptx_has(in, MOD_RZ) ? ROUND_ZERO : ptx_has(in, MOD_RNA) ? ROUND_AWAY : ROUND_NEAREST;
  bool relu = ptx_has(in, MOD_RELU), satfinite = ptx_has(in, MOD_SATFINITE);
  if (ptx_has(in, MOD_RS)) return bind_unsupported(b, "stochastic rounding");
  if (td == TYPE_UE8M0X2 || ts == TYPE_UE8M0X2) return bind_ue8m0(b, td, ts);
  if (td == TYPE_TF32) {
    uint32_t x = bind_src(b, &in->ops[1], TYPE_F32);
    Inst *i = emit(b, to_tf32, bind_dst(b, &in->ops[0], TYPE_B32), x, 0, 0);
    i->flag[0] = (uint8_t)r;
    i->flag[1] = relu;
    i->flag[2] = satfinite;
    return true;
  }
  SmallJob *job = bind_alloc(b, sizeof *job);
  *job = (SmallJob){.to = find_small(td),
                    .from = find_small(ts),
                    .rounding = r,
                    .satfinite = satfinite,
                    .relu = relu};
  if (!job->to || (ts != TYPE_F32 && !job->from)) return bind_unsupported(b, "no such conversion");
  job->d_bytes = bind_width(b, &in->ops[0], td);
  if (ts != TYPE_F32) {
    job->s_bytes = bind_width(b, &in->ops[1], ts);
    uint32_t x = bind_src(b, &in->ops[1], ts);
    emit(b, repack_small, bind_dst(b, &in->ops[0], td), x, 0, 0)->ptr = job;
    return true;
  }
  uint32_t x = bind_src(b, &in->ops[1], TYPE_F32), y = bind_src(b, &in->ops[2], TYPE_F32);
  bool plain = r == ROUND_NEAREST && !relu && !satfinite && job->d_bytes == 4;
  ExecFn *fn = plain && td == TYPE_F16X2    ? pack_f16x2_rn
               : plain && td == TYPE_BF16X2 ? pack_bf16x2_rn
                                            : pack_small;
  emit(b, fn, bind_dst(b, &in->ops[0], td), x, y, 0)->ptr = job;
  return true;
}

// --- cvt.pack: two signed integers, clamped, below what c holds (shifted up) ---
// flag[0]: bits of one element, flag[1]: signed.
static inline uint32_t clamp_to(int32_t x, unsigned bits, bool is_signed) {
  int64_t high = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1,
          low = is_signed ? -(1ll << (bits - 1)) : 0;
  int64_t r = x < low ? low : x > high ? high : x;
  return (uint32_t)r & (uint32_t)((1ull << bits) - 1);
}
EXEC(pack_clamped) {
  const int32_t *a = REG(w, int32_t, in->a), *b = REG(w, int32_t, in->b);
  const uint32_t *c = REG(w, uint32_t, in->c);
  unsigned bits = in->flag[0];
  bool is_signed = in->flag[1];
  ELEMENTWISE(w, uint32_t, in->d, i,
              (bits == 16 ? 0 : c[i] << (2 * bits)) | clamp_to(a[i], bits, is_signed) << bits |
                  clamp_to(b[i], bits, is_signed));
  return in + 1;
}

bool VGPU_NAME(arith_bind_cvt_pack)(Binder *b) {
  const PtxInstr *in = b->in;
  static const struct {
    PtxType type;
    uint8_t bits, is_signed;
  } table[] = {
      {TYPE_U16, 16, 0}, {TYPE_S16, 16, 1}, {TYPE_U8, 8, 0}, {TYPE_S8, 8, 1},
      {TYPE_U4, 4, 0},   {TYPE_S4, 4, 1},   {TYPE_U2, 2, 0}, {TYPE_S2, 2, 1},
  };
  for (size_t k = 0; k < ARRAY_LEN(table); k++) {
    if (in->types[0] != table[k].type) continue;
    uint32_t x = bind_src(b, &in->ops[1], TYPE_S32), y = bind_src(b, &in->ops[2], TYPE_S32);
    uint32_t z = in->nops > 3 ? bind_src(b, &in->ops[3], TYPE_B32) : x;
    Inst *i = emit(b, pack_clamped, bind_dst(b, &in->ops[0], TYPE_B32), x, y, z);
    i->flag[0] = table[k].bits;
    i->flag[1] = table[k].is_signed;
    return true;
  }
  return bind_unsupported(b, "no such packed type");
}
