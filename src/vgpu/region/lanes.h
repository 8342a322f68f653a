// Helpers that write lane-by-lane instructions of a compiled function: the same LLVM text for one
// value and for 32 of them.
#ifndef WG_VGPU_REGION_LANES_H
#define WG_VGPU_REGION_LANES_H

#include "vgpu/region/region.h"

enum { LANES_SOURCES = 4 };

typedef struct Lanes {
  Region *r;
  Form f;  // SAME or VECTOR
  PtxType t;
  unsigned bits;
  const char *i, *fl, *b;         // LLVM types: integers, floats, truth
  Name s[LANES_SOURCES];          // sources; [0] is the first
  unsigned width[LANES_SOURCES];  // their bits
} Lanes;

// The same lanes with values of another width.
static inline Lanes lanes_of(const Lanes *l, unsigned bits) {
  Lanes w = *l;
  w.bits = bits;
  w.i = region_int(l->f, bits);
  w.fl = region_float(l->f, bits);
  return w;
}

static inline Name lanes_constant(Lanes *l, uint64_t v, unsigned bits) {
  LaneValue c = region_constant(v, bits);
  return region_as(l->r, &c, l->f);
}
static inline Name lanes_int(Lanes *l, const char *op, Name a, Name b) {
  return region_emit(l->r, "%s %s %s, %s", op, l->i, a.text, b.text);
}
// lanes_int with a constant as second operand.
static inline Name lanes_with(Lanes *l, const char *op, Name a, uint64_t b) {
  return lanes_int(l, op, a, lanes_constant(l, b, l->bits));
}
static inline Name lanes_compare(Lanes *l, const char *how, Name a, Name b) {
  return region_emit(l->r, "icmp %s %s %s, %s", how, l->i, a.text, b.text);
}
static inline Name lanes_compare_with(Lanes *l, const char *how, Name a, uint64_t b) {
  return lanes_compare(l, how, a, lanes_constant(l, b, l->bits));
}
static inline Name lanes_choose(Lanes *l, Name c, Name a, Name b) {
  return region_emit(l->r, "select %s %s, %s %s, %s %s", l->b, c.text, l->i, a.text, l->i, b.text);
}
static inline Name lanes_to_float(Lanes *l, Name a) {
  return region_emit(l->r, "bitcast %s %s to %s", l->i, a.text, l->fl);
}
static inline Name lanes_to_int(Lanes *l, Name a) {
  return region_emit(l->r, "bitcast %s %s to %s", l->fl, a.text, l->i);
}
static inline Name lanes_float_compare(Lanes *l, const char *how, Name a, Name b) {
  return region_emit(l->r, "fcmp %s %s %s, %s", how, l->fl, a.text, b.text);
}
static inline Name lanes_float(Lanes *l, const char *op, Name a, Name b) {
  return region_emit(l->r, "%s %s %s, %s", op, l->fl, a.text, b.text);
}
static inline Name lanes_float_choose(Lanes *l, Name c, Name a, Name b) {
  return region_emit(l->r, "select %s %s, %s %s, %s %s", l->b, c.text, l->fl, a.text, l->fl,
                     b.text);
}

// From an integer of `from` bits to one of `to`.
static inline Name lanes_resize(Lanes *l, Name v, unsigned from, unsigned to, bool with_sign) {
  if (from == to) return v;
  return region_emit(l->r, "%s %s %s to %s",
                     from > to   ? "trunc"
                     : with_sign ? "sext"
                                 : "zext",
                     region_int(l->f, from), v.text, region_int(l->f, to));
}

// A call of an LLVM intrinsic of one argument, named for its types; region_declare_calls declares
// them.
static inline Name lanes_call(Lanes *l, const char *name, const char *type, Name a) {
  return region_emit(l->r, "call %s @llvm.%s.%s%c%u(%s %s)", type, name,
                     l->f == FORM_VECTOR ? "v32" : "", type == l->i ? 'i' : 'f', l->bits, type,
                     a.text);
}

// .ftz of an f32: a subnormal number becomes zero with its sign.
static inline Name lanes_flush(Lanes *l, Name bits) {
  Name exponent = lanes_with(l, "and", bits, 0x7f800000);
  Name tiny = lanes_compare_with(l, "eq", exponent, 0);
  return lanes_choose(l, tiny, lanes_with(l, "and", bits, 0x80000000u), bits);
}

// An f32 that is a NaN becomes the canonical one.
static inline Name lanes_canonical(Lanes *l, Name bits) {
  Name x = lanes_to_float(l, bits), nan = lanes_float_compare(l, "uno", x, x);
  return lanes_choose(l, nan, lanes_constant(l, 0x7fffffff, 32), bits);
}

static inline bool lanes_is_signed(PtxType t) { return ptx_type_kind(t) == KIND_SIGNED; }

// --- approx.c, bits.c, convert.c ---
Name region_approximate(Lanes *l, const PtxInstr *in);
Name region_bit_op(Lanes *l, const PtxInstr *in);
Name region_convert(Lanes *l, const PtxInstr *in);

#endif
