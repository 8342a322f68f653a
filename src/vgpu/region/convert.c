// cvt of a compiled function (exec/arith_cvt.c): integers of all sizes, f16, bf16, f32, f64.
#include "vgpu/region/lanes.h"

static bool is_float(PtxType t) { return ptx_type_kind(t) == KIND_FLOAT; }
static unsigned bits_of(PtxType t) { return 8 * ptx_type_size(t); }

// The low bits of the source register are the source; the result is extended to its register.
static Name to_register(Lanes *l, const PtxInstr *in, Name v, unsigned from) {
  unsigned d = bits_of(in->types[0]);
  v = lanes_resize(l, v, from, d, lanes_is_signed(in->types[1]));
  return lanes_resize(l, v, d, region_bits(in->ops[0].reg), lanes_is_signed(in->types[0]));
}

static Name integers(Lanes *l, const PtxInstr *in) {
  unsigned s = bits_of(in->types[1]);
  return to_register(l, in, lanes_resize(l, l->s[0], l->width[0], s, false), s);
}

// --- integers to floats ---
static Name as_float(Lanes *l, Name v, unsigned from, unsigned to, bool with_sign) {
  const char *f = region_float(l->f, to);
  return region_emit(l->r, "%s %s %s to %s", with_sign ? "sitofp" : "uitofp",
                     region_int(l->f, from), v.text, f);
}

// 64 bits to f32 through a double whose last bit says that something was cut off.
static Name long_to_float(Lanes *l, Name v, bool with_sign) {
  Lanes w = lanes_of(l, 64);
  Name sign = lanes_with(&w, "ashr", v, 63), m = v;
  if (with_sign) m = lanes_int(&w, "sub", lanes_int(&w, "xor", v, sign), sign);
  Name cut = lanes_compare_with(&w, "ne", lanes_with(&w, "and", m, 2047), 0);
  Name odd = lanes_int(&w, "or", lanes_with(&w, "lshr", m, 11), lanes_resize(l, cut, 1, 64, false));
  Name large = lanes_compare_with(&w, "ugt", m, (1ull << 53) - 1);
  Name x = as_float(l, lanes_choose(&w, large, odd, m), 64, 64, true);
  Name factor = lanes_choose(&w, large, lanes_constant(&w, 0x40a0000000000000ull, 64),  // 2048
                             lanes_constant(&w, 0x3ff0000000000000ull, 64));
  x = lanes_float(&w, "fmul", x, lanes_to_float(&w, factor));
  if (with_sign) {
    Name bits = lanes_to_int(&w, x);
    bits = lanes_int(&w, "or", bits, lanes_with(&w, "shl", sign, 63));
    x = lanes_to_float(&w, bits);
  }
  return region_emit(l->r, "fptrunc %s %s to %s", w.fl, x.text, region_float(l->f, 32));
}

static Name from_integer(Lanes *l, const PtxInstr *in) {
  unsigned to = bits_of(in->types[0]), s = bits_of(in->types[1]);
  bool with_sign = lanes_is_signed(in->types[1]);
  Name v = lanes_resize(l, l->s[0], l->width[0], s, false);
  v = lanes_resize(l, v, s, MAX(s, 32u), with_sign);
  Lanes d = lanes_of(l, to);
  Name x = s == 64 && to == 32 ? long_to_float(l, v, with_sign)
                               : as_float(l, v, MAX(s, 32u), to, with_sign);
  return lanes_to_int(&d, x);
}

// --- floats ---
static const char *whole_rounding(const PtxInstr *in) {
  return ptx_has(in, MOD_RNI)   ? "rint"
         : ptx_has(in, MOD_RZI) ? "trunc"
         : ptx_has(in, MOD_RMI) ? "floor"
         : ptx_has(in, MOD_RPI) ? "ceil"
                                : NULL;
}

// A NaN of an f64 only becomes quiet.
static Name quiet(Lanes *l, Name bits) {
  Name x = lanes_to_float(l, bits), nan = lanes_float_compare(l, "uno", x, x);
  return lanes_choose(l, nan, lanes_with(l, "or", bits, 0x0008000000000000ull), bits);
}

static Name round_whole(Lanes *l, const char *how, Name bits) {
  Name v = lanes_to_int(l, lanes_call(l, how, l->fl, lanes_to_float(l, bits)));
  if (l->bits == 32) return lanes_canonical(l, v);
  Name x = lanes_to_float(l, bits), nan = lanes_float_compare(l, "uno", x, x);
  return lanes_choose(l, nan, quiet(l, bits), v);
}

static Name saturate(Lanes *l, Name bits) {
  Name x = lanes_to_float(l, bits), zero = lanes_to_float(l, lanes_constant(l, 0, 32));
  Name one = lanes_to_float(l, lanes_constant(l, 0x3f800000, 32));
  Name low = lanes_float_choose(l, lanes_float_compare(l, "olt", x, one), x, one);
  Name v = lanes_float_choose(l, lanes_float_compare(l, "ogt", x, zero), low, zero);
  return lanes_to_int(l, v);
}

// The source's bits as an f32 or f64: halves widened, rounded to a whole number if asked for.
static Name source(Lanes *l, const PtxInstr *in, Lanes *as) {
  PtxType t = in->types[1];
  *as = lanes_of(l, t == TYPE_F64 ? 64 : 32);
  Name v = lanes_resize(l, l->s[0], l->width[0], bits_of(t), false);
  if (t == TYPE_BF16) v = lanes_with(as, "shl", lanes_resize(l, v, 16, 32, false), 16);
  if (t == TYPE_F16) {
    Name h = lanes_resize(l, v, 16, 32, false);
    Name u = lanes_with(as, "shl", lanes_with(as, "and", h, 0x7fff), 13);
    Name sign = lanes_with(as, "shl", lanes_with(as, "and", h, 0x8000), 16);
    Name factor = lanes_to_float(as, lanes_constant(as, 0x77800000, 32));  // 2^112
    Name finite = lanes_to_int(as, lanes_float(as, "fmul", lanes_to_float(as, u), factor));
    Name past = lanes_compare_with(as, "ugt", u, 0x0f7fffffu);
    v = lanes_choose(as, past, lanes_with(as, "or", u, 0x7f800000u), finite);
    v = lanes_canonical(as, lanes_int(as, "or", v, sign));
  }
  if (ptx_has(in, MOD_FTZ) && t == TYPE_F32) v = lanes_flush(as, lanes_canonical(as, v));
  return v;
}

static Name to_f16(Lanes *l, Name x) {
  Name sign = lanes_with(l, "and", lanes_with(l, "lshr", x, 16), 0x8000);
  Name u = lanes_with(l, "and", x, 0x7fffffffu);
  Name half = lanes_to_float(l, lanes_constant(l, 0x3f000000, 32));
  Name sum = lanes_float(l, "fadd", lanes_to_float(l, u), half);
  Name tiny = lanes_with(l, "sub", lanes_to_int(l, sum), 0x3f000000u);
  Name even = lanes_with(l, "and", lanes_with(l, "lshr", u, 13), 1);
  Name normal = lanes_int(l, "add", lanes_with(l, "add", u, 0xc8000fffu), even);
  normal = lanes_with(l, "lshr", normal, 13);
  Name r = lanes_choose(l, lanes_compare_with(l, "ult", u, 0x38800000u), tiny, normal);
  Name past = lanes_compare_with(l, "ugt", u, 0x477fefffu);
  r = lanes_int(l, "or", lanes_choose(l, past, lanes_constant(l, 0x7c00, 32), r), sign);
  Name nan = lanes_compare_with(l, "ugt", u, 0x7f800000u);
  return lanes_choose(l, nan, lanes_constant(l, 0x7fff, 32), r);
}

static Name to_bf16(Lanes *l, Name x) {
  Name even = lanes_with(l, "and", lanes_with(l, "lshr", x, 16), 1);
  Name r = lanes_int(l, "add", lanes_with(l, "add", x, 0x7fff), even);
  r = lanes_with(l, "lshr", r, 16);
  Name nan = lanes_compare_with(l, "ugt", lanes_with(l, "and", x, 0x7fffffffu), 0x7f800000u);
  return lanes_choose(l, nan, lanes_constant(l, 0x7fff, 32), r);
}

static Name floats(Lanes *l, const PtxInstr *in) {
  Lanes as;
  PtxType to = in->types[0], from = in->types[1];
  const char *whole = whole_rounding(in);
  Name v = source(l, in, &as);
  bool sat = ptx_has(in, MOD_SAT), ftz = ptx_has(in, MOD_FTZ);
  if (whole) v = round_whole(&as, whole, v);
  if (to == TYPE_F16 || to == TYPE_BF16) {
    Name h = to == TYPE_F16 ? to_f16(&as, v) : to_bf16(&as, v);
    return lanes_resize(l, h, 32, region_bits(in->ops[0].reg), false);
  }
  Lanes d = lanes_of(l, bits_of(to));
  if (as.bits != d.bits) {
    const char *how = d.bits == 64 ? "fpext" : "fptrunc";
    Name x = lanes_to_float(&as, v);
    v = lanes_to_int(&d, region_emit(l->r, "%s %s %s to %s", how, as.fl, x.text, d.fl));
  }
  if (sat && from == to) v = lanes_canonical(&d, v);
  if (ftz && to == TYPE_F32) v = lanes_flush(&d, v);
  return sat ? saturate(&d, v) : v;
}

// --- floats to integers ---
// Values past the range are clamped. A NaN of an f64, or to 64 bits, gives the sign bit alone.
static Name to_integer(Lanes *l, const PtxInstr *in) {
  Lanes as;
  PtxType to = in->types[0];
  const char *whole = whole_rounding(in);
  Name v = source(l, in, &as);
  if (whole && strcmp(whole, "trunc")) v = round_whole(&as, whole, v);
  bool with_sign = lanes_is_signed(to), is_vector = l->f == FORM_VECTOR;
  unsigned bits = MAX(bits_of(to), 32u);
  Lanes d = lanes_of(l, bits);
  Name x = lanes_to_float(&as, v);
  Name n = region_emit(l->r, "call %s @llvm.fpto%ci.sat.%si%u.%sf%u(%s %s)", d.i,
                       with_sign ? 's' : 'u', is_vector ? "v32" : "", bits, is_vector ? "v32" : "",
                       as.bits, as.fl, x.text);
  if (bits_of(to) < 32) {
    int64_t high = (1ll << (bits_of(to) - with_sign)) - 1, low = with_sign ? -high - 1 : 0;
    Name most = lanes_constant(&d, (uint64_t)high, 32),
         least = lanes_constant(&d, (uint64_t)low, 32);
    n = lanes_choose(&d, lanes_compare(&d, with_sign ? "sgt" : "ugt", n, most), most, n);
    if (with_sign) n = lanes_choose(&d, lanes_compare(&d, "slt", n, least), least, n);
  }
  if (as.bits == 64 || bits == 64) {
    Name nan = lanes_float_compare(&as, "uno", x, x);
    n = lanes_choose(&d, nan, lanes_constant(&d, 1ull << (bits_of(to) - 1), bits), n);
  }
  n = lanes_resize(l, n, bits, bits_of(to), with_sign);
  return lanes_resize(l, n, bits_of(to), region_bits(in->ops[0].reg), with_sign);
}

Name region_convert(Lanes *l, const PtxInstr *in) {
  bool to_float = is_float(in->types[0]), from_float = is_float(in->types[1]);
  if (!to_float && !from_float) return integers(l, in);
  if (!from_float) return from_integer(l, in);
  return to_float ? floats(l, in) : to_integer(l, in);
}
