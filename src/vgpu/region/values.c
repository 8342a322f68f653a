// Values of a compiled function as LLVM text: reading and writing registers, the three forms, and
// moving registers to their slots and back.
#include "vgpu/region/region.h"

Name region_name(const char *fmt, ...) {
  Name n;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(n.text, sizeof n.text, fmt, ap);
  va_end(ap);
  return n;
}

static void add_formatted(Str *to, const char *fmt, va_list ap) {
  char line[1600];
  int n = vsnprintf(line, sizeof line, fmt, ap);
  CHECK(n >= 0 && (size_t)n < sizeof line);
  str_addn(to, line, (size_t)n);
}

Name region_emit(Region *r, const char *fmt, ...) {
  Name n = region_name("%%v%u", r->next++);
  str_printf(r->to, "  %s = ", n.text);
  va_list ap;
  va_start(ap, fmt);
  add_formatted(r->to, fmt, ap);
  va_end(ap);
  str_addc(r->to, '\n');
  return n;
}

void region_line(Region *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  str_add(r->to, "  ");
  add_formatted(r->to, fmt, ap);
  va_end(ap);
  str_addc(r->to, '\n');
}

Name region_label(Region *r) { return region_name("L%u", r->next++); }
void region_place(Region *r, Name label) { str_printf(r->to, "%s:\n", label.text); }

void region_expect(Region *r, Name condition, Name yes, Name no) {
  region_line(r, "br i1 %s, label %%%s, label %%%s, !prof !1", condition.text, yes.text, no.text);
}

const char *region_int(Form f, unsigned bits) {
  bool v = f == FORM_VECTOR;
  switch (bits) {
    case 1: return v ? "<32 x i1>" : "i1";
    case 8: return v ? "<32 x i8>" : "i8";
    case 16: return v ? "<32 x i16>" : "i16";
    case 32: return v ? "<32 x i32>" : "i32";
    default: return v ? "<32 x i64>" : "i64";
  }
}

const char *region_float(Form f, unsigned bits) {
  bool v = f == FORM_VECTOR;
  return bits == 32 ? (v ? "<32 x float>" : "float") : (v ? "<32 x double>" : "double");
}

LaneValue region_value(Form f, unsigned bits, Name base) {
  return (LaneValue){.form = f, .bits = bits, .base = base, .x = {"0"}, .y = {"0"}};
}

LaneValue region_constant(uint64_t value, unsigned bits) {
  if (bits == 1) return region_value(FORM_SAME, 1, region_name(value ? "true" : "false"));
  int64_t v = bits == 64 ? (int64_t)value : bits == 32 ? (int32_t)value : (int16_t)value;
  return region_value(FORM_SAME, bits, region_name("%lld", (long long)v));
}

static Name splat(Region *r, Name scalar, unsigned bits) {
  const char *v = region_int(FORM_VECTOR, bits), *s = region_int(FORM_SAME, bits);
  Name one = region_emit(r, "insertelement %s poison, %s %s, i32 0", v, s, scalar.text);
  return region_emit(r, "shufflevector %s %s, %s poison, <32 x i32> zeroinitializer", v, one.text,
                     v);
}

// Adds lane's column (or row) times a scalar.
static Name add_steps(Region *r, Name sum, Name step, unsigned bits, bool rows) {
  if (!strcmp(step.text, "0")) return sum;
  const char *v = region_int(FORM_VECTOR, bits), *s = region_int(FORM_SAME, bits);
  Str list = {0};
  for (uint32_t l = 0; l < LANES; l++)
    str_printf(&list, "%s%s %u", l ? ", " : "", s, rows ? l / r->columns : l % r->columns);
  Name all = splat(r, step, bits);
  Name steps = region_emit(r, "mul %s %s, <%s>", v, all.text, list.data);
  str_free(&list);
  return region_emit(r, "add %s %s, %s", v, sum.text, steps.text);
}

Name region_vector(Region *r, const LaneValue *v) {
  if (v->form == FORM_VECTOR) return v->base;
  Name n = splat(r, v->base, v->bits);
  if (v->form == FORM_SAME) return n;
  n = add_steps(r, n, v->x, v->bits, false);
  return r->columns < LANES ? add_steps(r, n, v->y, v->bits, true) : n;
}

Name region_as(Region *r, const LaneValue *v, Form f) {
  if (f == FORM_SAME && v->form != FORM_SAME) r->failed = true;
  return f == FORM_SAME ? v->base : region_vector(r, v);
}

static Form form_of(const Region *r, const PtxReg *reg) {
  LaneClass c = (LaneClass)r->lanes[reg->id];
  return c == LANES_SAME ? FORM_SAME : c <= LANES_LINEAR ? FORM_LINEAR : FORM_VECTOR;
}

static LaneValue canonical(Region *r, LaneValue v) {
  const char *t = region_int(v.form, 32), *f = region_float(v.form, 32);
  Name x = region_emit(r, "bitcast %s %s to %s", t, v.base.text, f);
  Name nan = region_emit(r, "fcmp uno %s %s, %s", f, x.text, x.text);
  LaneValue c = region_constant(0x7fffffff, 32);
  Name good = region_as(r, &c, v.form);
  v.base = region_emit(r, "select %s %s, %s %s, %s %s", region_int(v.form, 1), nan.text, t,
                       good.text, t, v.base.text);
  return v;
}

LaneValue region_read(Region *r, const PtxReg *reg, bool raw) {
  LaneValue v = {.form = form_of(r, reg), .bits = region_bits(reg), .x = {"0"}, .y = {"0"}};
  const char *t = region_int(v.form, v.bits);
  v.base = region_emit(r, "load %s, ptr %%r%u", t, reg->id);
  if (v.form == FORM_LINEAR) {
    if (r->lanes[reg->id] == LANES_LINEAR) v.x = region_emit(r, "load %s, ptr %%r%ux", t, reg->id);
    if (r->columns < LANES) v.y = region_emit(r, "load %s, ptr %%r%uy", t, reg->id);
  }
  // some lanes alone cannot leave where a linear value would have to be tested
  if (r->masked && v.form == FORM_LINEAR)
    v = region_value(FORM_VECTOR, v.bits, region_vector(r, &v));
  return r->lazy_nan[reg->id] && !raw && v.form != FORM_LINEAR ? canonical(r, v) : v;
}

// Selects the new value in the lanes of the mask, and the old one in the others.
static LaneValue blend(Region *r, const PtxReg *reg, LaneValue v) {
  LaneValue old = region_read(r, reg, true);
  Name now = region_vector(r, &v), was = region_vector(r, &old);
  const char *t = region_int(FORM_VECTOR, v.bits);
  return region_value(
      FORM_VECTOR, v.bits,
      region_emit(r, "select <32 x i1> %s, %s %s, %s %s", r->mask.text, t, now.text, t, was.text));
}

void region_write(Region *r, const PtxReg *reg, LaneValue v) {
  Form f = form_of(r, reg);
  unsigned bits = region_bits(reg);
  bool rows = r->lanes[reg->id] == LANES_ROWS;
  if (v.bits != bits || v.form > f || (rows && strcmp(v.x.text, "0"))) {
    r->failed = true;
    return;
  }
  if (r->masked && f != FORM_VECTOR) {
    r->failed = true;
    return;
  }
  if (r->masked && r->crosses[reg->id]) v = blend(r, reg, v);
  const char *t = region_int(f, bits);
  Name base = f == FORM_VECTOR ? region_vector(r, &v) : v.base;
  region_line(r, "store %s %s, ptr %%r%u", t, base.text, reg->id);
  if (f != FORM_LINEAR) return;
  if (!rows) region_line(r, "store %s %s, ptr %%r%ux", t, v.x.text, reg->id);
  if (r->columns < LANES) region_line(r, "store %s %s, ptr %%r%uy", t, v.y.text, reg->id);
}

// The bits of a number as the decoder takes it (decode.c: bind_src).
static uint64_t immediate_bits(const PtxOperand *o, PtxType t) {
  unsigned size = ptx_type_size(t);
  uint64_t bits = (uint64_t)o->imm;
  if (o->kind == OPD_FLOAT && o->is_double && size == 4) {
    double d;
    memcpy(&d, &o->imm, 8);
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
  }
  if (o->kind == OPD_FLOAT && !o->is_double && size == 8) {
    uint32_t u = (uint32_t)o->imm;
    float f;
    memcpy(&f, &u, 4);
    double d = f;
    memcpy(&bits, &d, 8);
  }
  return bits;
}

LaneValue region_operand(Region *r, const PtxOperand *o, PtxType t, bool raw) {
  unsigned bits = t == TYPE_PRED ? 1 : 8 * slot_width(t);
  if (o->kind != OPD_REG) return region_constant(immediate_bits(o, t), bits);
  LaneValue v = region_read(r, o->reg, raw);
  if (!o->negated) return v;
  Name ones = region_as(r, &(LaneValue){.form = FORM_SAME, .bits = 1, .base = {"true"}}, v.form);
  v.base = region_emit(r, "xor %s %s, %s", region_int(v.form, 1), v.base.text, ones.text);
  return v;
}

Name region_field(Region *r, const char *base, size_t offset) {
  return region_emit(r, "getelementptr i8, ptr %s, i64 %zu", base, offset);
}

Name region_slot(Region *r, uint32_t slot) {
  if (!r->block) return region_field(r, "%regs", slot);
  // of the warp whose turn it is; most turns need none
  Name at = region_field(r, "%w", offsetof(Warp, regs));
  Name regs = region_emit(r, "load ptr, ptr %s", at.text);
  return region_field(r, regs.text, slot);
}

Name region_inst(Region *r, const Inst *in) {
  return region_field(r, "%insts", (size_t)(in - r->code->insts) * sizeof(Inst));
}

void region_spill(Region *r, const PtxReg *reg) {
  if (!r->kept[reg->id]) return;
  LaneValue v = region_read(r, reg, false);
  Name at = region_slot(r, r->code->slots[reg->id]);
  if (v.bits > 1) {
    Name all = region_vector(r, &v);
    region_line(r, "store %s %s, ptr %s, align 64", region_int(FORM_VECTOR, v.bits), all.text,
                at.text);
    return;
  }
  Name mask = v.form == FORM_SAME ? region_emit(r, "sext i1 %s to i32", v.base.text)
                                  : region_emit(r, "bitcast <32 x i1> %s to i32", v.base.text);
  region_line(r, "store i32 %s, ptr %s, align 4", mask.text, at.text);
}

void region_spill_lanes(Region *r, const PtxReg *reg, Name lanes) {
  LaneValue v = region_read(r, reg, false);
  Name at = region_slot(r, r->code->slots[reg->id]), all = region_vector(r, &v);
  if (v.bits > 1) {
    const char *t = region_int(FORM_VECTOR, v.bits);
    Name mask = region_emit(r, "bitcast i32 %s to <32 x i1>", lanes.text);
    Name old = region_emit(r, "load %s, ptr %s, align 64", t, at.text);
    Name now = region_emit(r, "select <32 x i1> %s, %s %s, %s %s", mask.text, t, all.text, t,
                           old.text);
    region_line(r, "store %s %s, ptr %s, align 64", t, now.text, at.text);
    return;
  }
  Name bits = region_emit(r, "bitcast <32 x i1> %s to i32", all.text);
  Name old = region_emit(r, "load i32, ptr %s, align 4", at.text);
  Name differ = region_emit(r, "xor i32 %s, %s", bits.text, old.text);
  differ = region_emit(r, "and i32 %s, %s", differ.text, lanes.text);
  Name now = region_emit(r, "xor i32 %s, %s", differ.text, old.text);
  region_line(r, "store i32 %s, ptr %s, align 4", now.text, at.text);
}

void region_reload(Region *r, const PtxReg *reg) {
  if (!r->kept[reg->id]) return;
  unsigned bits = region_bits(reg);
  Name at = region_slot(r, r->code->slots[reg->id]), v;
  if (bits > 1)
    v = region_emit(r, "load %s, ptr %s, align 64", region_int(FORM_VECTOR, bits), at.text);
  else {
    Name mask = region_emit(r, "load i32, ptr %s, align 4", at.text);
    v = region_emit(r, "bitcast i32 %s to <32 x i1>", mask.text);
  }
  region_write(r, reg, region_value(FORM_VECTOR, bits, v));
}

Name region_exit(Region *r, const Inst *in) {
  uint32_t i = (uint32_t)(in - r->code->insts);
  r->exits[i] = true;
  return region_name("X%u", i);
}
