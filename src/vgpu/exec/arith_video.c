// Video instructions: vadd vsub vabsdiff vmin vmax vshl vshr vmad vset on bytes, halves and words
// of a register, and the two- and four-element ones (vadd2 … vset4). Rare: one lane at a time, from
// a description.
#include "vgpu/exec/arith_exec.h"

typedef struct VideoJob {
  PtxOp op;
  PtxSelector a_part, b_part, d_part;
  bool a_signed, b_signed, d_signed, saturate, wrap;
  PtxMod compare, second;  // second: add, min, max after the operation, or MOD_NONE
  bool a_negated, b_negated, c_negated, plus_one;
  unsigned scale;                // vmad: shift right
  unsigned elements;             // 1, 2, 4
  uint8_t a_from[4], b_from[4];  // several elements: which of the sources' elements each one takes
  unsigned written;              // and which are written, a mask
} VideoJob;

static inline int64_t part_of(uint32_t x, PtxSelector part, bool is_signed) {
  switch (part) {
    case SEL_B0:
    case SEL_B1:
    case SEL_B2:
    case SEL_B3: {
      uint32_t v = x >> (8 * (part - SEL_B0)) & 255;
      return is_signed ? (int8_t)v : (int64_t)v;
    }
    case SEL_H0:
    case SEL_H1: {
      uint32_t v = x >> (16 * (part - SEL_H0)) & 65535;
      return is_signed ? (int16_t)v : (int64_t)v;
    }
    default: return is_signed ? (int32_t)x : (int64_t)x;
  }
}
static inline int64_t clamp_bits(int64_t x, unsigned bits, bool is_signed) {
  int64_t high = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1,
          low = is_signed ? -(1ll << (bits - 1)) : 0;
  return x < low ? low : x > high ? high : x;
}
static unsigned part_bits(PtxSelector part) {
  return part >= SEL_B0 && part <= SEL_B3 ? 8 : part == SEL_H0 || part == SEL_H1 ? 16 : 32;
}

static inline bool compare_values(PtxMod how, int64_t x, int64_t y) {
  switch (how) {
    case MOD_EQ: return x == y;
    case MOD_NE: return x != y;
    case MOD_LT: return x < y;
    case MOD_LE: return x <= y;
    case MOD_GT: return x > y;
    default: return x >= y;
  }
}

static int64_t operate(const VideoJob *job, int64_t x, int64_t y) {
  switch (job->op) {
    case OP_VADD:
    case OP_VADD2:
    case OP_VADD4: return x + y;
    case OP_VSUB:
    case OP_VSUB2:
    case OP_VSUB4: return x - y;
    case OP_VABSDIFF:
    case OP_VABSDIFF2:
    case OP_VABSDIFF4: return x > y ? x - y : y - x;
    case OP_VMIN:
    case OP_VMIN2:
    case OP_VMIN4: return x < y ? x : y;
    case OP_VMAX:
    case OP_VMAX2:
    case OP_VMAX4: return x > y ? x : y;
    // halves round away from zero
    case OP_VAVRG2:
    case OP_VAVRG4: return (x + y + (x + y >= 0)) >> 1;
    case OP_VSHL:
    case OP_VSHR: {
      uint64_t count = (uint64_t)y & 0xffffffff;
      count = job->wrap ? count & 31 : count > 32 ? 32 : count;
      return job->op == OP_VSHL ? (int64_t)((uint64_t)x << count) : x >> count;
    }
    default: return compare_values(job->compare, x, y);  // vset
  }
}

static uint32_t merge_part(PtxSelector part, uint32_t value, uint32_t into) {
  unsigned bits = part_bits(part);
  unsigned shift = bits == 8    ? 8u * (unsigned)(part - SEL_B0)
                   : bits == 16 ? 16u * (unsigned)(part - SEL_H0)
                                : 0;
  uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << shift;
  return (into & ~mask) | (value << shift & mask);
}

static uint32_t second_operation(const VideoJob *job, uint32_t value, uint32_t c) {
  switch (job->second) {
    case MOD_ADD: return value + c;
    case MOD_MIN:
      return job->d_signed ? ((int32_t)value < (int32_t)c ? value : c) : (value < c ? value : c);
    case MOD_MAX:
      return job->d_signed ? ((int32_t)value > (int32_t)c ? value : c) : (value > c ? value : c);
    default: return value;
  }
}

EXEC(video_scalar) {
  const VideoJob *job = in->ptr;
  const uint32_t *a = REG(w, uint32_t, in->a), *b = REG(w, uint32_t, in->b),
                 *c = REG(w, uint32_t, in->c);
  uint32_t *d = REG(w, uint32_t, in->d);
  FOR_LANES(i, w->exec) {
    int64_t r = operate(job, part_of(a[i], job->a_part, job->a_signed),
                        part_of(b[i], job->b_part, job->b_signed));
    if (job->saturate) r = clamp_bits(r, part_bits(job->d_part), job->d_signed);
    d[i] = job->d_part != SEL_NONE ? merge_part(job->d_part, (uint32_t)r, c[i])
                                   : second_operation(job, (uint32_t)r, c[i]);
  }
  return in + 1;
}

EXEC(video_mad) {
  const VideoJob *job = in->ptr;
  const uint32_t *a = REG(w, uint32_t, in->a), *b = REG(w, uint32_t, in->b),
                 *c = REG(w, uint32_t, in->c);
  uint32_t *d = REG(w, uint32_t, in->d);
  bool negate = job->a_negated != job->b_negated;
  bool final_signed = job->a_signed || job->b_signed || negate || job->c_negated;
  FOR_LANES(i, w->exec) {
    __int128 t = (__int128)part_of(a[i], job->a_part, job->a_signed) *
                 part_of(b[i], job->b_part, job->b_signed);
    uint32_t addend = c[i];
    int one = 0;
    if (job->plus_one) one = 1;
    else if (negate) {
      t = ~t;
      one = 1;
    } else if (job->c_negated) {
      addend = ~addend;
      one = 1;
    }
    t += (final_signed ? (__int128)(int32_t)addend : (__int128)addend) + one;
    int64_t r = (int64_t)(t >> job->scale);
    if (job->saturate) {
      if (final_signed) r = r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r;
      else r = (uint64_t)r > UINT32_MAX ? UINT32_MAX : r;
    }
    d[i] = (uint32_t)r;
  }
  return in + 1;
}

// Elements are chosen from both sources: numbers below `elements` are a's, the others b's.
static int64_t element_of(const VideoJob *job, uint32_t a, uint32_t b, unsigned which,
                          bool is_signed) {
  PtxSelector first = job->elements == 2 ? SEL_H0 : SEL_B0;
  return part_of(which < job->elements ? a : b, first + which % job->elements, is_signed);
}
EXEC(video_simd) {
  const VideoJob *job = in->ptr;
  const uint32_t *a = REG(w, uint32_t, in->a), *b = REG(w, uint32_t, in->b),
                 *c = REG(w, uint32_t, in->c);
  uint32_t *d = REG(w, uint32_t, in->d);
  unsigned bits = 32 / job->elements;
  uint32_t element = (1u << bits) - 1;
  FOR_LANES(i, w->exec) {
    uint32_t r = c[i], sum = c[i];
    for (unsigned k = 0; k < job->elements; k++) {
      if (!(job->written >> k & 1)) continue;
      int64_t v = operate(job, element_of(job, a[i], b[i], job->a_from[k], job->a_signed),
                          element_of(job, a[i], b[i], job->b_from[k], job->b_signed));
      if (job->saturate) v = clamp_bits(v, bits, job->d_signed);
      sum += (uint32_t)v;
      r = (r & ~(element << (k * bits))) | ((uint32_t)v & element) << (k * bits);
    }
    d[i] = job->second == MOD_ADD ? sum : r;
  }
  return in + 1;
}

// Which elements an operand names: digits are written highest first. Without any, from[k] = first +
// k.
static void choose_elements(const PtxOperand *o, unsigned n, unsigned first, uint8_t *from) {
  for (unsigned k = 0; k < n; k++)
    from[k] = (uint8_t)(o->nlanes == n && (o->selector == SEL_B_LANES || o->selector == SEL_H_LANES)
                            ? o->lanes[n - 1 - k]
                            : first + k);
}
static unsigned choose_written(const PtxOperand *o, unsigned n) {
  unsigned mask = 0;
  if (o->selector == SEL_B_LANES || o->selector == SEL_H_LANES) {
    for (unsigned k = 0; k < o->nlanes; k++) mask |= 1u << o->lanes[k];
    return mask;
  }
  if (o->selector >= SEL_B0 && o->selector <= SEL_B3) return 1u << (o->selector - SEL_B0);
  if (o->selector == SEL_H0 || o->selector == SEL_H1) return 1u << (o->selector - SEL_H0);
  return (1u << n) - 1;
}

static unsigned elements_of(PtxOp op) {
  switch (op) {
    case OP_VADD2:
    case OP_VSUB2:
    case OP_VAVRG2:
    case OP_VABSDIFF2:
    case OP_VMIN2:
    case OP_VMAX2:
    case OP_VSET2: return 2;
    case OP_VADD4:
    case OP_VSUB4:
    case OP_VAVRG4:
    case OP_VABSDIFF4:
    case OP_VMIN4:
    case OP_VMAX4:
    case OP_VSET4: return 4;
    default: return 1;
  }
}

bool VGPU_NAME(arith_bind_video)(Binder *b) {
  const PtxInstr *in = b->in;
  static const PtxMod compares[] = {MOD_EQ, MOD_NE, MOD_LT, MOD_LE, MOD_GT, MOD_GE};
  static const PtxMod seconds[] = {MOD_ADD, MOD_MIN, MOD_MAX};
  VideoJob *job = bind_alloc(b, sizeof *job);
  bool is_set = in->op == OP_VSET || in->op == OP_VSET2 || in->op == OP_VSET4;
  unsigned first = is_set ? 0 : 1;  // vset has no destination type: it is u32
  if (in->ntypes < first + 2 || in->nops < 3)
    return bind_unsupported(b, "types or operands are missing");
  *job = (VideoJob){.op = in->op,
                    .d_part = in->ops[0].selector,
                    .a_part = in->ops[1].selector,
                    .b_part = in->ops[2].selector,
                    .a_signed = type_is_signed(in->types[first]),
                    .b_signed = type_is_signed(in->types[first + 1]),
                    .d_signed = !is_set && type_is_signed(in->types[0]),
                    .saturate = ptx_has(in, MOD_SAT),
                    .wrap = ptx_has(in, MOD_WRAP),
                    .a_negated = in->ops[1].negated,
                    .b_negated = in->ops[2].negated,
                    .c_negated = in->nops > 3 && in->ops[3].negated,
                    .plus_one = ptx_has(in, MOD_PO),
                    .scale = ptx_has(in, MOD_SHR7)    ? 7
                             : ptx_has(in, MOD_SHR15) ? 15
                                                      : 0,
                    .elements = elements_of(in->op)};
  for (size_t k = 0; k < ARRAY_LEN(compares); k++)
    if (ptx_has(in, compares[k])) job->compare = compares[k];
  for (size_t k = 0; k < ARRAY_LEN(seconds); k++)
    if (ptx_has(in, seconds[k])) job->second = seconds[k];
  if (job->elements > 1) {
    choose_elements(&in->ops[1], job->elements, 0, job->a_from);
    choose_elements(&in->ops[2], job->elements, job->elements, job->b_from);
    job->written = choose_written(&in->ops[0], job->elements);
  }
  uint32_t x = bind_src(b, &in->ops[1], TYPE_B32), y = bind_src(b, &in->ops[2], TYPE_B32);
  uint32_t z = in->nops > 3 ? bind_src(b, &in->ops[3], TYPE_B32) : bind_constant(b, 0, 4);
  ExecFn *fn = in->op == OP_VMAD ? video_mad : job->elements > 1 ? video_simd : video_scalar;
  emit(b, fn, bind_dst(b, &in->ops[0], TYPE_B32), x, y, z)->ptr = job;
  return true;
}
