// Bits and integers of a compiled function beyond plain arithmetic and logic: funnel shifts, lop3,
// prmt, bit fields and counts, high products, sad, dp4a (arith_int.h, exec/arith_logic.c).
#include "vgpu/region/lanes.h"

static Name inverse(Lanes *l, Name a) { return lanes_with(l, "xor", a, ~0ull); }

// --- lop3 ---
// A function of two values; bit 2y + z of the table is its result.
static Name of_two(Lanes *l, unsigned table, Name y, Name z) {
  bool inverted = table & 1;  // of 0, 0: the others are inverses
  Name v;
  switch (inverted ? table ^ 15 : table) {
    case 0: v = lanes_constant(l, 0, 32); break;
    case 2: v = lanes_int(l, "and", inverse(l, y), z); break;
    case 4: v = lanes_int(l, "and", y, inverse(l, z)); break;
    case 6: v = lanes_int(l, "xor", y, z); break;
    case 8: v = lanes_int(l, "and", y, z); break;
    case 10: v = z; break;
    case 12: v = y; break;
    default: v = lanes_int(l, "or", y, z); break;
  }
  return inverted ? inverse(l, v) : v;
}

static Name of_three(Lanes *l, unsigned table) {
  unsigned low = table & 15, high = table >> 4 & 15;
  Name x = l->s[0], g0 = of_two(l, low, l->s[1], l->s[2]);
  if (low == high) return g0;
  if (low == (high ^ 15)) return lanes_int(l, "xor", x, g0);
  Name g1 = of_two(l, high, l->s[1], l->s[2]);
  Name yes = lanes_int(l, "and", x, g1), no = lanes_int(l, "and", inverse(l, x), g0);
  return low == 0 ? yes : high == 0 ? no : lanes_int(l, "or", yes, no);
}

// --- shf, prmt ---
static Name funnel(Lanes *l, const PtxInstr *in) {
  bool left = ptx_has(in, MOD_L);
  Name low = l->s[0], high = l->s[1], by = l->s[2];
  Name v = region_emit(l->r, "call %s @llvm.fsh%c.%si32(%s %s, %s %s, %s %s)", l->i,
                       left ? 'l' : 'r', l->f == FORM_VECTOR ? "v32" : "", l->i, high.text, l->i,
                       low.text, l->i, by.text);
  if (ptx_has(in, MOD_WRAP)) return v;
  Name all = lanes_compare_with(l, "ugt", by, 31);
  return lanes_choose(l, all, left ? low : high, v);
}

// prmt by a constant whose nibbles all name bytes (shapes.c).
static Name permute(Lanes *l, uint32_t selector) {
  unsigned lanes = l->f == FORM_VECTOR ? LANES : 1, bytes = 4 * lanes;
  Str list = {0};
  for (unsigned i = 0; i < bytes; i++) {
    unsigned from = selector >> (4 * (i % 4)) & 7;
    str_printf(&list, "%si32 %u", i ? ", " : "", i / 4 * 4 + from % 4 + (from > 3 ? bytes : 0));
  }
  Name part[2];
  for (unsigned k = 0; k < 2; k++)
    part[k] = region_emit(l->r, "bitcast %s %s to <%u x i8>", l->i, l->s[k].text, bytes);
  Name v = region_emit(l->r, "shufflevector <%u x i8> %s, <%u x i8> %s, <%u x i32> <%s>", bytes,
                       part[0].text, bytes, part[1].text, bytes, list.data);
  str_free(&list);
  return region_emit(l->r, "bitcast <%u x i8> %s to %s", bytes, v.text, l->i);
}

// --- bit fields at places that are known now ---
static uint64_t low_bits(uint32_t n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }

// Position and length as the execute functions read them.
static void field_of(const Lanes *l, const PtxInstr *in, unsigned k, uint32_t *pos, uint32_t *len) {
  uint32_t most = l->bits == 32 ? 255 : UINT32_MAX;
  *pos = (uint32_t)in->ops[k].imm & most;
  *len = (uint32_t)in->ops[k + 1].imm & most;
}

static Name extract_field(Lanes *l, const PtxInstr *in) {
  uint32_t pos, len, bits = l->bits;
  field_of(l, in, 2, &pos, &len);
  if (!lanes_is_signed(l->t)) {
    if (pos >= bits) return lanes_constant(l, 0, bits);
    return lanes_with(l, "and", lanes_with(l, "lshr", l->s[0], pos), low_bits(len));
  }
  if (len == 0) return lanes_constant(l, 0, bits);
  pos = MIN(pos, bits - 1);
  uint32_t end = MIN((uint64_t)pos + len, bits);
  return lanes_with(l, "ashr", lanes_with(l, "shl", l->s[0], bits - end), bits - (end - pos));
}

static Name insert_field(Lanes *l, const PtxInstr *in) {
  uint32_t pos, len, bits = l->bits;
  field_of(l, in, 3, &pos, &len);
  if (pos >= bits) return l->s[1];
  uint64_t mask = low_bits(MIN(len, bits)) << pos;
  Name kept = lanes_with(l, "and", l->s[1], ~mask);
  Name moved = lanes_with(l, "and", lanes_with(l, "shl", l->s[0], pos), mask);
  return lanes_int(l, "or", kept, moved);
}

// --- counts ---
static Name leading_zeros(Lanes *l, Name a) {
  return region_emit(l->r, "call %s @llvm.ctlz.%si%u(%s %s, i1 false)", l->i,
                     l->f == FORM_VECTOR ? "v32" : "", l->bits, l->i, a.text);
}

static Name find_bit(Lanes *l, const PtxInstr *in) {
  Name a = l->s[0];
  if (lanes_is_signed(l->t)) a = lanes_int(l, "xor", a, lanes_with(l, "ashr", a, l->bits - 1));
  Name zeros = leading_zeros(l, a);
  if (!ptx_has(in, MOD_SHIFTAMT))
    return lanes_int(l, "sub", lanes_constant(l, l->bits - 1, l->bits), zeros);
  Name none = lanes_compare_with(l, "eq", a, 0);
  return lanes_choose(l, none, lanes_constant(l, ~0ull, l->bits), zeros);
}

static Name count(Lanes *l, const PtxInstr *in) {
  Name v = in->op == OP_POPC    ? lanes_call(l, "ctpop", l->i, l->s[0])
           : in->op == OP_CLZ   ? leading_zeros(l, l->s[0])
           : in->op == OP_BFIND ? find_bit(l, in)
                                : lanes_call(l, "bitreverse", l->i, l->s[0]);
  return lanes_resize(l, v, l->bits, region_bits(in->ops[0].reg), false);
}

// --- products ---
static Name half_product(Lanes *l, Name a, bool a_high, Name b, bool b_high) {
  if (a_high) a = lanes_with(l, "lshr", a, 32);
  else a = lanes_with(l, "and", a, UINT32_MAX);
  if (b_high) b = lanes_with(l, "lshr", b, 32);
  else b = lanes_with(l, "and", b, UINT32_MAX);
  return lanes_int(l, "mul", a, b);
}

// Of 64 bits, from products of 32: vectors have no wider ones.
static Name high_product64(Lanes *l) {
  Name a = l->s[0], b = l->s[1];
  Name low = half_product(l, a, false, b, false), high = half_product(l, a, true, b, true);
  Name cross = half_product(l, a, true, b, false), other = half_product(l, a, false, b, true);
  Name sum = lanes_int(l, "add", cross, lanes_with(l, "lshr", low, 32));
  Name carry = lanes_int(l, "add", lanes_with(l, "and", sum, UINT32_MAX), other);
  Name v = lanes_int(l, "add", high, lanes_with(l, "lshr", sum, 32));
  v = lanes_int(l, "add", v, lanes_with(l, "lshr", carry, 32));
  if (!lanes_is_signed(l->t)) return v;
  // a negative factor counts 2^64 too much
  v = lanes_int(l, "sub", v, lanes_int(l, "and", lanes_with(l, "ashr", a, 63), b));
  return lanes_int(l, "sub", v, lanes_int(l, "and", lanes_with(l, "ashr", b, 63), a));
}

static Name high_product(Lanes *l) {
  if (l->bits == 64) return high_product64(l);
  unsigned wide = l->bits * 2;
  Lanes w = lanes_of(l, wide);
  bool with_sign = lanes_is_signed(l->t);
  Name a = lanes_resize(l, l->s[0], l->bits, wide, with_sign);
  Name b = lanes_resize(l, l->s[1], l->bits, wide, with_sign);
  Name h = lanes_with(&w, "lshr", lanes_int(&w, "mul", a, b), l->bits);
  return lanes_resize(l, h, wide, l->bits, false);
}

static Name distance(Lanes *l) {
  Name a = l->s[0], b = l->s[1];
  Name less = lanes_compare(l, lanes_is_signed(l->t) ? "slt" : "ult", a, b);
  Name d = lanes_choose(l, less, lanes_int(l, "sub", b, a), lanes_int(l, "sub", a, b));
  return lanes_int(l, "add", l->s[2], d);
}

static Name byte_of(Lanes *l, Name a, unsigned k, bool with_sign) {
  Name up = lanes_with(l, "shl", a, 24 - 8 * k);
  return lanes_with(l, with_sign ? "ashr" : "lshr", up, 24);
}

static Name dot_product(Lanes *l, const PtxInstr *in) {
  bool sa = lanes_is_signed(in->types[0]), sb = lanes_is_signed(in->types[1]);
  Name sum = l->s[2];
  for (unsigned k = 0; k < 4; k++) {
    Name p = lanes_int(l, "mul", byte_of(l, l->s[0], k, sa), byte_of(l, l->s[1], k, sb));
    sum = lanes_int(l, "add", sum, p);
  }
  return sum;
}

bool region_is_bit_op(const PtxInstr *in) {
  switch (in->op) {
    case OP_SHF:
    case OP_LOP3:
    case OP_PRMT:
    case OP_BFE:
    case OP_BFI:
    case OP_BFIND:
    case OP_POPC:
    case OP_CLZ:
    case OP_BREV:
    case OP_CNOT:
    case OP_SAD:
    case OP_DP4A: return true;
    case OP_MUL:
    case OP_MAD: return ptx_has(in, MOD_HI);
    default: return false;
  }
}

Name region_bit_op(Lanes *l, const PtxInstr *in) {
  switch (in->op) {
    case OP_SHF: return funnel(l, in);
    case OP_LOP3: return of_three(l, (unsigned)in->ops[4].imm & 255);
    case OP_PRMT: return permute(l, (uint32_t)in->ops[3].imm);
    case OP_BFE: return extract_field(l, in);
    case OP_BFI: return insert_field(l, in);
    case OP_CNOT:
      return lanes_resize(l, lanes_compare_with(l, "eq", l->s[0], 0), 1, l->bits, false);
    case OP_SAD: return distance(l);
    case OP_DP4A: return dot_product(l, in);
    case OP_MUL: return high_product(l);
    case OP_MAD: return lanes_int(l, "add", high_product(l), l->s[2]);
    default: return count(l, in);
  }
}

// --- mov of several registers into one, and back ---
void region_pack(Region *r, const PtxInstr *in) {
  const PtxOperand *list = in->ops[1].list, *whole = &in->ops[0];
  unsigned n = in->ops[1].nlist, bits = region_bits(whole->reg), part = bits / n;
  LaneValue v[4];
  Form f = FORM_SAME;
  for (unsigned k = 0; k < n; k++) {
    v[k] = region_operand(r, &list[k], part == 32 ? TYPE_B32 : TYPE_B16, false);
    if (v[k].form != FORM_SAME) f = FORM_VECTOR;
  }
  Lanes l = {.r = r, .f = f, .bits = bits, .i = region_int(f, bits)};
  Name sum = {""};
  for (unsigned k = 0; k < n; k++) {
    Name one = lanes_resize(&l, region_as(r, &v[k], f), part, bits, false);
    if (k) one = lanes_with(&l, "shl", one, (uint64_t)k * part);
    sum = k ? lanes_int(&l, "or", sum, one) : one;
  }
  region_write(r, whole->reg, region_value(f, bits, sum));
}

void region_unpack(Region *r, const PtxInstr *in) {
  const PtxOperand *list = in->ops[0].list, *whole = &in->ops[1];
  unsigned n = in->ops[0].nlist, bits = region_bits(whole->reg), part = bits / n;
  LaneValue v = region_read(r, whole->reg, false);
  Form f = v.form == FORM_SAME ? FORM_SAME : FORM_VECTOR;
  Lanes l = {.r = r, .f = f, .bits = bits, .i = region_int(f, bits)};
  Name all = region_as(r, &v, f), one[4];
  for (unsigned k = 0; k < n; k++) {
    one[k] = k ? lanes_with(&l, "lshr", all, (uint64_t)k * part) : all;
    one[k] = lanes_resize(&l, one[k], bits, part, false);
  }
  for (unsigned k = 0; k < n; k++)
    if (list[k].kind == OPD_REG) region_write(r, list[k].reg, region_value(f, part, one[k]));
}
