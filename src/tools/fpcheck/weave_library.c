// Values that functions of CUDA's library return in place of a result: -inf for the logarithm of
// zero, inf for exponentials that overflow, NaN where the function is not defined. In PTX such a
// value is a constant in a selection, just like a programmer's own. It is recognised by the code
// around it; NaN is recognised by its bits.
#include "tools/fpcheck/internal.h"

bool fp_is_infinity(const FpFlow *f, const PtxOperand *o) {
  if (fp_operand_infinite(o)) return true;
  const PtxInstr *def = fp_def(f, o);
  return def && def->op == OP_MOV && def->nops == 2 && fp_operand_infinite(&def->ops[1]);
}

// The constant an operand is; NULL: it is none.
static const PtxOperand *constant_of(const FpFlow *f, const PtxOperand *o) {
  const PtxInstr *def = o->kind == OPD_REG ? fp_def(f, o) : NULL;
  const PtxOperand *c = def && def->op == OP_MOV && def->nops == 2 && !def->guard ? &def->ops[1]
                                                                                  : o;
  return c->kind == OPD_FLOAT ? c : NULL;
}

enum { NEITHER = -1 };
bool fp_is_constant(const FpFlow *f, const PtxOperand *o, uint64_t single, uint64_t wide) {
  const PtxOperand *c = constant_of(f, o);
  return c && (c->is_double ? wide : single) == (uint64_t)c->imm;
}
static bool is_positive_infinity(const FpFlow *f, const PtxOperand *o) {
  return fp_is_constant(f, o, 0x7f800000, 0x7ff0000000000000);
}

bool fp_is_largest(const FpFlow *f, const PtxOperand *o) {
  return fp_is_constant(f, o, 0x7f7fffff, 0x7fefffffffffffff) ||
         fp_is_constant(f, o, 0xff7fffff, 0xffefffffffffffff);
}

// NAN of a programmer is 7fc00000 or 7ff8000000000000.
bool fp_is_library_nan(const FpFlow *f, const PtxOperand *o) {
  return fp_is_constant(f, o, 0x7fffffff, 0xfff8000000000000);
}

// --- logarithms ---
static bool is_x_inf_inf(const FpFlow *f, const PtxInstr *in) {
  return in && in->op == OP_FMA && in->nops == 4 && fp_is_infinity(f, &in->ops[2]) &&
         fp_is_infinity(f, &in->ops[3]);
}

static uint32_t writers(const FpFlow *f, const PtxReg *r) {
  return r->id < f->nregs ? f->writes.n[r->id] : 0;
}
static PtxInstr *writer(const Body *b, const FpFlow *f, const PtxReg *r, uint32_t i) {
  return b->cfg->instrs[f->writes.instr[f->writes.start[r->id] + i]];
}

// Small and negative arguments are scaled up first. Returns the original argument, if a register
// still holds it.
static PtxOperand *before_scaling(const Body *b, const FpFlow *f, PtxOperand *x, bool *is_scaled) {
  const PtxInstr *def = fp_def(f, x);
  PtxOperand *scaled = def && def->op == OP_SELP ? &def->ops[1] : x;
  for (uint32_t i = 0; scaled->kind == OPD_REG && i < writers(f, scaled->reg); i++) {
    PtxInstr *in = writer(b, f, scaled->reg, i);
    if (in->op != OP_MUL || in->nops != 3 || in->ops[0].kind != OPD_REG) continue;
    // log(-x): the factor also negates
    bool of_negative = fp_is_constant(f, &in->ops[2], 0xcb000000, 0xc350000000000000);
    if (!of_negative && !fp_is_constant(f, &in->ops[2], 0x4b000000, 0x4350000000000000)) continue;
    if (!of_negative && in->ops[1].kind == OPD_REG && fp_is_fixed(f, &in->ops[1]))
      return &in->ops[1];
    *is_scaled = in->types[0] == TYPE_F64;
    return x;
  }
  return x;
}

static void find_write(void *ctx, PtxReg **reg, bool is_def) {
  const PtxReg **wanted = ctx;
  if (is_def && *reg == *wanted) *wanted = NULL;
}

// No instruction writes the register between `from`, which reads it, and `to`, later in its block.
static bool unchanged(const FpFlow *f, const IrCfg *cfg, const PtxInstr *from, const PtxInstr *to,
                      const PtxReg *r) {
  uint32_t i = 0, r_id = r->id;
  while (i < f->reads.n[r_id] && cfg->instrs[f->reads.instr[f->reads.start[r_id] + i]] != from) i++;
  if (i == f->reads.n[r_id]) return false;
  i = f->reads.instr[f->reads.start[r_id] + i];
  for (const IrBlock *b = &cfg->blocks[cfg->block_of[i]]; i < b->end && cfg->instrs[i] != to; i++) {
    ptx_visit_regs(cfg->instrs[i], find_write, &r);
    if (!r) return false;
  }
  return cfg->instrs[i] == to;
}

// Finds x * inf + inf among the values a register may be computed from. Compilers move code that
// follows the logarithm before its last selection.
static const PtxInstr *find_x_inf_inf(const Body *b, const FpFlow *f, const PtxReg *r,
                                      unsigned depth) {
  for (uint32_t i = 0; i < writers(f, r); i++) {
    const PtxInstr *def = writer(b, f, r, i), *found = NULL;
    if (def->nops < 2 || def->ops[0].kind != OPD_REG) continue;
    if (is_x_inf_inf(f, def)) return def;
    bool passes = def->op == OP_SELP || def->op == OP_MOV || def->op == OP_ADD ||
                  def->op == OP_SUB || def->op == OP_MUL || def->op == OP_FMA || def->op == OP_NEG;
    for (unsigned o = 1; passes && depth && !found && o < def->nops && o < 4; o++)
      if (def->ops[o].kind == OPD_REG && def->ops[o].reg != r && def->ops[o].reg->type != TYPE_PRED)
        found = find_x_inf_inf(b, f, def->ops[o].reg, depth - 1);
    if (found) return found;
  }
  return NULL;
}

// The library's logarithms end in  x == 0 ? -inf : r,  where r is x * inf + inf for infinities, NaN
// and negative numbers. x * inf + inf occurs nowhere else, and so tells this -inf from one that the
// programmer wrote.
static bool is_log_of_zero(const Body *b, const FpFlow *f, const PtxInstr *in, unsigned k,
                           PtxOperand **x) {
  const PtxOperand *other = &in->ops[3 - k];
  if (!fp_is_infinity(f, &in->ops[k]) || other->kind != OPD_REG) return false;
  for (uint32_t i = 0; i < writers(f, other->reg); i++) {
    const PtxInstr *def = writer(b, f, other->reg, i);
    if (def->nops < 2 || def->ops[0].kind != OPD_REG) continue;
    const PtxInstr *from = def->op == OP_SELP || def->op == OP_MOV ? fp_def(f, &def->ops[1]) : NULL;
    const PtxInstr *from2 = def->op == OP_SELP ? fp_def(f, &def->ops[2]) : NULL;
    const PtxInstr *fma = is_x_inf_inf(f, def)     ? def
                          : is_x_inf_inf(f, from)  ? from
                          : is_x_inf_inf(f, from2) ? from2
                                                   : NULL;
    if (!fma) continue;
    *x = &fma->ops[1];
    return fp_is_fixed(f, *x) || unchanged(f, b->cfg, fma, in, (*x)->reg);
  }
  // Follow arithmetic only if the selection itself asks for x == 0: a programmer's own -inf may
  // follow any logarithm.
  const PtxInstr *asks = in->ops[3].kind == OPD_REG ? fp_def(f, &in->ops[3]) : NULL,
                 *fma = find_x_inf_inf(b, f, other->reg, 2);
  if (!fma || !asks || asks->op != OP_SETP || asks->nops < 3 || !fp_is_fixed(f, &fma->ops[1]) ||
      fma->ops[1].kind != OPD_REG)
    return false;
  if (asks->ops[1].kind != OPD_REG || asks->ops[1].reg != fma->ops[1].reg ||
      asks->ops[2].kind != OPD_FLOAT || asks->ops[2].imm != 0)
    return false;
  *x = &fma->ops[1];
  return true;
}

// --- exponentials ---
static const PtxInstr *comparison_of(const FpFlow *f, const PtxInstr *in, PtxMod how) {
  const PtxInstr *asks = in->ops[3].kind == OPD_REG && !in->ops[3].negated ? fp_def(f, &in->ops[3])
                                                                           : NULL;
  return asks && asks->op == OP_SETP && asks->nops == 3 && ptx_has(asks, how) ? asks : NULL;
}

static bool is_upper_word(const FpFlow *f, const PtxOperand *o) {
  const PtxInstr *def = fp_def(f, o);
  return def && def->op == OP_MOV && def->nops == 2 && def->ops[0].kind == OPD_VECTOR &&
         def->ops[0].nlist == 2 && def->ops[0].list[1].kind == OPD_REG &&
         def->ops[0].list[1].reg == o->reg;
}

bool fp_is_of_word(const FpFlow *f, const PtxOperand *o) {
  const PtxInstr *def = fp_def(f, o);
  if (def && def->op == OP_ABS) def = fp_def(f, &def->ops[1]);
  return def && def->op == OP_MOV && def->nops == 2 && def->ops[0].kind == OPD_REG &&
         is_upper_word(f, &def->ops[1]);
}

// x < 0 ? 0 : inf, and -1 in place of 0: pow, exp10, expm1.
static bool is_of_sign(const FpFlow *f, const PtxInstr *in, unsigned k, PtxOperand **x) {
  const PtxInstr *asks = comparison_of(f, in, MOD_LT);
  if (k != 2 || !asks ||
      !(fp_is_constant(f, &in->ops[1], 0, 0) ||
        fp_is_constant(f, &in->ops[1], 0xbf800000, 0xbff0000000000000)))
    return false;
  bool words = !fp_type(asks->types[0]).format;
  if (words ? asks->ops[2].kind != OPD_INT || asks->ops[2].imm || !is_upper_word(f, &asks->ops[1])
            : asks->ops[1].kind != OPD_REG || !fp_is_constant(f, &asks->ops[2], 0, 0))
    return false;
  PtxOperand *asked = words ? &fp_def(f, &asks->ops[1])->ops[1] : &asks->ops[1];
  if (fp_is_fixed(f, asked)) *x = asked;
  return true;
}

// x >= limit ? inf : y. The limits are libdevice's own, too odd to occur in a program. The limit of
// expm1f, 128, counts only if y is a selection, as in libdevice.
static bool is_beyond_limit(const FpFlow *f, const PtxInstr *in, unsigned k, PtxOperand **x) {
  static const uint64_t limits[] = {0x408633ce8fb9f87e, 0x406573fae561f648};  // sinh, tgamma
  const PtxInstr *asks = comparison_of(f, in, MOD_GE), *above = comparison_of(f, in, MOD_GT),
                 *other = fp_def(f, &in->ops[2]);
  bool found = above && other && other->op == OP_SELP &&
               fp_is_constant(f, &above->ops[2], 0x43000000, (uint64_t)NEITHER);
  for (size_t i = 0; i < ARRAY_LEN(limits); i++)
    found |= asks && fp_is_constant(f, &asks->ops[2], (uint64_t)NEITHER, limits[i]);
  if (k != 1 || !found) return false;
  if (!asks) asks = above;
  if (fp_is_fixed(f, &asks->ops[1])) *x = &asks->ops[1];
  return true;
}

// x <= inf ? inf : x: cosh.
static bool is_unless_nan(const FpFlow *f, const PtxInstr *in, unsigned k, PtxOperand **x) {
  const PtxInstr *asks = comparison_of(f, in, MOD_LE);
  if (k != 1 || !asks || !is_positive_infinity(f, &asks->ops[2]) || asks->ops[1].kind != OPD_REG ||
      in->ops[2].kind != OPD_REG || in->ops[2].reg != asks->ops[1].reg)
    return false;
  *x = &in->ops[2];
  return true;
}

// exp: x < 0 ? 0 : x + inf.
static bool is_exp_overflow(const FpFlow *f, const PtxInstr *in, PtxOperand **x) {
  if (in->op != OP_ADD || in->nops != 3 || in->types[0] != TYPE_F64 || in->ops[0].kind != OPD_REG ||
      in->ops[1].kind != OPD_REG || !is_positive_infinity(f, &in->ops[2]))
    return false;
  uint32_t d = in->ops[0].reg->id;
  *x = &in->ops[1];
  return f->uses[d] == 1 && f->select_uses[d] == 1;
}

// --- powers ---
static void find_read(void *ctx, PtxReg **reg, bool is_def) {
  const PtxReg **wanted = ctx;
  if (!is_def && *reg == *wanted) *wanted = NULL;
}

// The only instruction that reads this one's result, if it is in the same block.
static const PtxInstr *only_reader(const Body *b, const FpFlow *f, const PtxInstr *in) {
  const IrCfg *cfg = b->cfg;
  const PtxReg *d = in->ops[0].kind == OPD_REG ? in->ops[0].reg : NULL;
  if (!d || d->id >= f->nregs || f->uses[d->id] != 1 || !ir_single_def(f->defs, in->ops[0].reg))
    return NULL;
  uint32_t i = f->defs->instr[d->id], end = cfg->blocks[cfg->block_of[i]].end;
  for (i++; i < end; i++) {
    const PtxReg *r = d;
    ptx_visit_regs(cfg->instrs[i], find_read, &r);
    if (!r) return cfg->instrs[i];
  }
  return NULL;
}

// x - x == 0
static bool asks_by_difference(const Body *b, const FpFlow *f, const PtxInstr *in) {
  const PtxInstr *reader = fp_is_own_difference(in) ? only_reader(b, f, in) : NULL;
  return reader && reader->op == OP_SETP;
}

static bool is_product(const PtxInstr *in) {
  return in && in->op == OP_MUL && fp_type(in->types[0]).format == WG_FP_F32 && !in->guard;
}

// Intrinsics compute 2^(log2(x) * y). For x = 0 the logarithm is infinite, and yet the power is
// zero: only the final result counts, as a function of x and y. Returns the product; NULL: the
// instruction is no part of a power.
static const PtxInstr *product_of_power(const Body *b, const FpFlow *f, const PtxInstr *in,
                                        PtxOperand **x, PtxOperand **y) {
  const PtxInstr *product = in->op == OP_LG2   ? only_reader(b, f, in)
                            : in->op == OP_MUL ? in
                            : in->op == OP_EX2 ? fp_def(f, &in->ops[1])
                                               : NULL;
  const PtxInstr *power = is_product(product) ? only_reader(b, f, product) : NULL;
  for (unsigned o = 1; power && power->op == OP_EX2 && o <= 2; o++) {
    const PtxInstr *log = fp_def(f, &product->ops[o]);
    if (!log || log->op != OP_LG2 || only_reader(b, f, log) != product) continue;
    *x = &log->ops[1];
    *y = &product->ops[3 - o];
    return fp_is_fixed(f, *x) && fp_is_fixed(f, *y) &&
                   ((*y)->kind == OPD_REG || (*y)->kind == OPD_FLOAT)
               ? product
               : NULL;
  }
  return NULL;
}

// --- calls ---
bool fp_is_library(const PtxFunc *f) {
  return !f->is_entry && !strncmp(f->name, "__internal_", 11);
}

// The result of a library function, which is not tested itself; the call's arguments are the
// operands.
static bool is_returned(const Body *b, const PtxInstr *in, uint32_t i, FpOperation *out) {
  const IrCfg *cfg = b->cfg;
  enum { FAR = 16 };
  if (in->op != OP_LD || in->space != SPACE_PARAM || in->ops[1].kind != OPD_ADDR ||
      in->ops[1].list[0].kind != OPD_VAR || !fp_type(in->types[0]).format)
    return false;
  uint32_t first = cfg->blocks[cfg->block_of[i]].first, c = i;
  while (c > first && i - c < FAR && cfg->instrs[c]->op != OP_CALL) c--;
  const PtxInstr *call = cfg->instrs[c];
  if (call->op != OP_CALL || call->ops[1].kind != OPD_FUNC || !fp_is_library(call->ops[1].func))
    return false;
  bool mine = false;
  for (unsigned r = 0; r < call->ops[0].nlist; r++)
    mine |= call->ops[0].list[r].var == in->ops[1].list[0].var;
  if (!mine) return false;
  *out = (FpOperation){
      .op = WG_FP_ANSWER, .result = fp_type(in->types[0]), .kinds = WG_FP_NAN | WG_FP_INF};
  for (unsigned a = 0; a < call->ops[2].nlist && out->n < FP_OPERANDS; a++)
    for (uint32_t s = c; s-- > first && c - s < FAR;) {
      PtxInstr *st = cfg->instrs[s];
      if (st->op != OP_ST || st->space != SPACE_PARAM || st->ops[0].kind != OPD_ADDR ||
          st->ops[0].list[0].var != call->ops[2].list[a].var)
        continue;
      if (fp_type(st->types[0]).format &&
          (st->ops[1].kind == OPD_REG || st->ops[1].kind == OPD_FLOAT)) {
        out->types[out->n] = fp_type(st->types[0]);
        out->operands[out->n++] = &st->ops[1];
      }
      break;
    }
  return true;
}

// fmod and remainder of f32: !(y > 0) || the bits of x say that it is not finite ? NaN. Both
// conditions also hold if y or x is NaN itself.
void fp_asked_for_nan(const FpFlow *f, const PtxReg *predicate, PtxReg *found[FP_UNLESS_NAN]) {
  const PtxInstr *both = ir_single_def(f->defs, predicate);
  unsigned n = 0;
  if (!both || both->op != OP_OR || both->nops != 3) return;
  for (unsigned o = 1; o <= 2; o++) {
    const PtxInstr *asks = fp_def(f, &both->ops[o]);
    if (!asks || asks->op != OP_SETP || asks->nops != 3 || asks->ops[1].kind != OPD_REG ||
        !fp_is_fixed(f, &asks->ops[1]))
      return;
    bool numbers = asks->types[0] == TYPE_F32 && ptx_has(asks, MOD_LEU) &&
                   fp_is_constant(f, &asks->ops[2], 0, (uint64_t)NEITHER);
    bool bits = asks->types[0] == TYPE_U32 && ptx_has(asks, MOD_GT) &&
                asks->ops[2].kind == OPD_INT && asks->ops[2].imm == 0x7f7fffff;
    if (numbers || bits) found[n++] = asks->ops[1].reg;
  }
}

// --- all of them ---
bool fp_result_of(const FpCheck *k, uint32_t i, FpOperation *out) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (is_returned(k->body, in, i, out)) return true;
  if (fp_is_pole(k->flow, in, out)) return true;
  if (!fp_operation(in, out) || asks_by_difference(k->body, k->flow, in) || fp_is_step(k, i))
    return false;
  PtxOperand *x, *y;
  if (product_of_power(k->body, k->flow, in, &x, &y)) {
    if (in->op != OP_EX2) return false;
    *out = (FpOperation){.op = WG_FP_ANSWER,
                         .result = out->result,
                         .types = {out->result, out->result},
                         .operands = {x, y},
                         .n = 2,
                         .kinds = WG_FP_NAN | out->kinds,
                         .ftz = out->ftz};
  } else if (is_x_inf_inf(k->flow, in) && in->ops[1].kind == OPD_REG) {
    bool is_scaled = false;
    x = before_scaling(k->body, k->flow, &in->ops[1], &is_scaled);
    if (x->reg == in->ops[0].reg) return true;
    out->op = is_scaled ? WG_FP_LOG_SCALED : WG_FP_LOG;
    out->n = 1;
    out->operands[0] = x;
  } else if (is_exp_overflow(k->flow, in, &x)) {
    out->op = WG_FP_ANSWER;
    out->n = 1;
    out->operands[0] = x;
    out->kinds = WG_FP_INF;
  } else out->is_exponent = fp_is_exponent(k, in);
  return true;
}

// Whether the argument was computed, perhaps by the library function itself; an argument of the
// program may have been computed as well.
static bool is_computed(const FpFlow *f, const PtxOperand *x) {
  const PtxInstr *def = fp_def(f, x);
  return def &&
         (def->op == OP_MUL || def->op == OP_ADD || def->op == OP_FMA || def->op == OP_CVT ||
          def->op == OP_SELP) &&
         def->types[def->ntypes - 1] == TYPE_F32;
}

bool fp_is_answer(const Body *b, const FpFlow *f, const PtxInstr *in, unsigned k,
                  FpOperation *out) {
  if (in->op != OP_SELP || in->guard || in->nops != 4 || in->ops[0].kind != OPD_REG) return false;
  FpType t = f->type[in->ops[0].reg->id];
  if ((t.format != WG_FP_F32 && t.format != WG_FP_F64) || t.packed) return false;
  PtxOperand *x = NULL;
  *out = (FpOperation){.op = WG_FP_ANSWER, .result = t, .kinds = WG_FP_INF};
  if (fp_is_library_nan(f, &in->ops[k])) {
    if (in->ops[3].kind == OPD_REG && fp_is_marker_if(f, b->cfg, in->ops[3].reg)) return false;
    out->kinds = WG_FP_NAN;
  } else if (is_log_of_zero(b, f, in, k, &x)) out->op = WG_FP_LOG;
  else if (fp_is_logb_answer(f, in, k, &x)) out->op = WG_FP_ANSWER;
  else if (!is_positive_infinity(f, &in->ops[k])) return false;
  else if (!fp_is_library_nan(f, &in->ops[3 - k]) && !is_of_sign(f, in, k, &x) &&
           !is_beyond_limit(f, in, k, &x) && !is_unless_nan(f, in, k, &x))
    return false;
  if (x && is_computed(f, x) && out->op == WG_FP_ANSWER) out->op = WG_FP_ANSWER_FROM;
  if (x && (x->kind == OPD_REG || x->kind == OPD_FLOAT)) {
    out->operands[0] = x;
    out->types[0] = t;
    out->n = 1;
  }
  return true;
}
