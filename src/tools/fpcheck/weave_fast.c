// Fast mode: values are tested only at sinks, where they leave or may vanish. NaN survives add,
// multiply and FMA, and infinity survives as infinity or NaN, so every exception that is born
// reaches a sink.
//
// Operations that keep an exception exceptional are no sinks: sqrt, lg2, sin and cos, conversions
// between floating-point formats, and a selection, whose result is tested later. Comparisons, min
// and max are tested for NaN only: they order infinity as any other number, and programs use
// infinity there as a mask or a seed.
#include "tools/fpcheck/internal.h"

enum { GROUP = 8, SEEN = 32 };

// seen: tested already in this block
typedef struct Fast {
  FpCheck *k;
  const FpDeferred *deferred;
  bool infinity_is_used;
  const PtxReg *seen[SEEN];
  unsigned nseen;
} Fast;

// The program works with infinity as a constant: a mask, a seed. Constants of the library's
// functions do not count: they stand in multiplications, and in selections that are known
// (tools/fpcheck/weave_library.c).
static bool uses_infinity(const FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  FpOperation answer;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if (in->op == OP_FMA || in->op == OP_MUL || in->op == OP_ADD || in->op == OP_SETP ||
        in->op == OP_SET || in->op == OP_TESTP)
      continue;
    // the place where it is used counts
    if (in->op == OP_MOV && in->nops == 2 && fp_is_fixed(k->flow, &in->ops[0])) continue;
    for (unsigned o = 1; o < in->nops; o++) {
      const PtxInstr *def = in->ops[o].kind == OPD_REG ? fp_def(k->flow, &in->ops[o]) : NULL;
      bool infinite = fp_operand_infinite(&in->ops[o]) ||
                      (def && def->op == OP_MOV && def->nops == 2 &&
                       fp_operand_infinite(&def->ops[1]));
      if (infinite && !(o <= 2 && fp_is_answer(k->body, k->flow, in, o, &answer))) return true;
    }
  }
  return false;
}

static bool was_seen(Fast *f, const PtxReg *r) {
  for (unsigned i = 0; i < f->nseen; i++)
    if (f->seen[i] == r) return true;
  if (f->nseen < SEEN) f->seen[f->nseen++] = r;
  return false;
}

static void forget(void *ctx, PtxReg **reg, bool is_def) {
  Fast *f = ctx;
  for (unsigned i = 0; is_def && i < f->nseen; i++)
    if (f->seen[i] == *reg) f->seen[i--] = f->seen[--f->nseen];
}

static FpItem new_item(uint32_t i, const PtxInstr *in, PtxOperand *o, FpType t) {
  FpItem item = {.kind = FP_ITEM_SINK, .instr = i, .result = *o};
  item.operation = (FpOperation){.op = WG_FP_SINK, .types = {t}, .operands = {o}, .n = 1};
  if (in->guard) {
    item.conditions[0].reg = in->guard;
    item.conditions[0].negated = in->guard_negated;
    item.nconditions = 1;
  }
  return item;
}

// --- redundant tests ---
// NaN and infinity go through these whatever the other operands are: an exceptional operand makes
// an exceptional result.
static bool carries(const PtxInstr *in) {
  if (in->guard || in->ntypes != 1 || !fp_type(in->types[0]).format || ptx_has(in, MOD_SAT) ||
      ptx_has(in, MOD_RELU))
    return false;
  return in->op == OP_ADD || in->op == OP_SUB || in->op == OP_MUL || in->op == OP_FMA ||
         in->op == OP_SQRT || in->op == OP_NEG || in->op == OP_ABS;
}

enum { TRACKED = 32, LONGEST_WALK = 512 };
// registers that, if exceptional, make the value in question exceptional
typedef struct Implying {
  const PtxReg *regs[TRACKED];
  unsigned n;
  bool defines;
} Implying;

static bool implies(const Implying *s, const PtxReg *r) {
  for (unsigned i = 0; i < s->n; i++)
    if (s->regs[i] == r) return true;
  return false;
}

static void take_out_defined(void *ctx, PtxReg **reg, bool is_def) {
  Implying *s = ctx;
  for (unsigned i = 0; is_def && i < s->n; i++)
    if (s->regs[i] == *reg) {
      s->regs[i--] = s->regs[--s->n];
      s->defines = true;
    }
}

static void step_back(Implying *s, PtxInstr *in) {
  s->defines = false;
  ptx_visit_regs(in, take_out_defined, s);
  for (unsigned o = 1; s->defines && carries(in) && o < in->nops; o++)
    if (in->ops[o].kind == OPD_REG && in->ops[o].selector == SEL_NONE && s->n < TRACKED)
      s->regs[s->n++] = in->ops[o].reg;
}

static bool asks_for_nan(const FpItem *item) {
  FpType t = item->operation.types[0];
  return item->nan_only && !t.packed && (t.format == WG_FP_F32 || t.format == WG_FP_F64);
}

// A sum that is stored in every iteration needs one test: once exceptional, it stays so. The slow
// path looks at all of its items.
static void find_implied(FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  for (uint32_t n = k->items.len; n-- > 0;) {
    const FpItem *last = &k->items.data[n];
    if (last->implied || last->kind != FP_ITEM_SINK || last->nconditions) continue;
    Implying s = {.regs = {last->result.reg}, .n = 1};
    uint32_t first = cfg->blocks[cfg->block_of[last->instr]].first, m = n;
    while (m > 0 && k->items.data[m - 1].instr == last->instr) m--;
    for (uint32_t i = last->instr; m > 0 && s.n && i-- > first && last->instr - i < LONGEST_WALK;) {
      step_back(&s, cfg->instrs[i]);
      for (; m > 0 && k->items.data[m - 1].instr == i; m--) {
        FpItem *item = &k->items.data[m - 1];
        if (item->kind == FP_ITEM_SINK && implies(&s, item->result.reg) &&
            (asks_for_nan(item) || !asks_for_nan(last)))
          item->implied = true;
      }
    }
  }
}

static void close_group(FpCheck *k, Code *c, uint32_t next, bool in_place) {
  k->next = in_place ? UINT32_MAX : next;
  find_implied(k);
  for (uint32_t i = 0; i < k->items.len; i++) {
    const FpItem *item = &k->items.data[i];
    FpCondition guard = item->nconditions ? item->conditions[0] : FP_ALWAYS;
    if (item->kind != FP_ITEM_SINK || item->implied) continue;
    if (asks_for_nan(item))
      fp_test_nan(k, c, item->operation.types[0], item->result, item->result, guard);
    else fp_test_value(k, c, item->operation.types[0], item->result, false, guard);
  }
  fp_close_group(k, c, in_place);
}

// One value that reaches a sink; tested where the group is closed.
static void sink(Fast *f, uint32_t i, PtxOperand *o, bool nan_only) {
  FpCheck *k = f->k;
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (o->kind == OPD_VECTOR) {
    for (unsigned e = 0; e < o->nlist; e++) sink(f, i, &o->list[e], nan_only);
    return;
  }
  if (o->kind != OPD_REG || o->selector != SEL_NONE) return;
  FpType t = k->flow->type[o->reg->id];
  if (!t.format || !k->flow->made[o->reg->id] || (!nan_only && !in->guard && was_seen(f, o->reg)))
    return;
  if (k->items.len >= GROUP && !k->flow->depth[i]) close_group(k, fp_before(k, i), i, false);
  FpItem item = new_item(i, in, o, t);
  item.nan_only = nan_only || f->infinity_is_used;
  if (!fp_store_address(in, &item.address, &item.offset)) item.address = (PtxOperand){0};
  fp_add_item(k, item);
}

static bool is_float(const PtxInstr *in) { return in->ntypes && fp_type(in->types[0]).format; }

// --- where an exception vanishes in arithmetic ---
typedef struct Vanishing {
  unsigned first, end;
  bool nan_only;
} Vanishing;  // operands
static bool vanishes_in(const PtxInstr *in, Vanishing *v) {
  switch (in->op) {
    case OP_MIN:
    case OP_MAX: *v = (Vanishing){1, in->nops, true}; return is_float(in) && !ptx_has(in, MOD_NAN);
    case OP_DIV: *v = (Vanishing){2, 3, false}; return is_float(in);
    case OP_RCP:
    case OP_RSQRT: *v = (Vanishing){1, 2, false}; return true;
    default: return false;
  }
}

// Operands of instructions in which an exception vanishes, if a selection may take their results:
// tanhf divides by a number that overflows, and then takes 1.
static void sinks_of_selection(Fast *f, uint32_t selection) {
  FpCheck *k = f->k;
  FpItems items = {0};
  Vanishing v;
  fp_deferred_items(k, f->deferred, selection, &items);
  for (uint32_t n = 0; n < items.paths.len; n++) {
    const FpItem *way = &items.paths.data[n];
    PtxInstr *in = k->body->cfg->instrs[way->instr];
    for (unsigned o = vanishes_in(in, &v) ? v.first : 1, end = vanishes_in(in, &v) ? v.end : 0;
         o < end; o++) {
      PtxOperand *value = &in->ops[o];
      FpType t = value->kind == OPD_REG && value->selector == SEL_NONE
                     ? k->flow->type[value->reg->id]
                     : (FpType){0};
      if (!t.format || !k->flow->made[value->reg->id]) continue;
      FpItem item = new_item(way->instr, in, value, t);
      item.nan_only = v.nan_only || f->infinity_is_used;
      memcpy(item.conditions, way->conditions, sizeof item.conditions);
      item.nconditions = way->nconditions;
      if (k->items.len >= GROUP) close_group(k, fp_before(k, selection), selection, false);
      fp_add_item(k, item);
    }
  }
  vec_free(&items.paths);
  vec_free(&items);
}

// The moved value is still a floating-point number; for a pair, both halves are.
static bool stays_number(const FpFlow *f, const PtxOperand *d) {
  bool all = d->nlist > 0;
  for (unsigned i = 0; d->kind == OPD_VECTOR && i < d->nlist; i++)
    all &= d->list[i].kind == OPD_REG && f->type[d->list[i].reg->id].format;
  return d->kind == OPD_VECTOR ? all : d->kind == OPD_REG && f->type[d->reg->id].format;
}

static void sinks_of(Fast *f, uint32_t i) {
  FpCheck *k = f->k;
  PtxInstr *in = k->body->cfg->instrs[i];
  FpOperation o;
  Vanishing v;
  if (in->op == OP_SELP && !f->deferred->owner[i] && !k->flow->depth[i]) sinks_of_selection(f, i);
  switch (in->op) {
    case OP_ST:
    case OP_RED:
    case OP_SUST:
    case OP_ST_ASYNC:
    case OP_RED_ASYNC:
    case OP_STMATRIX:
      if (in->space == SPACE_PARAM || in->nops < 2) return;
      if (in->op == OP_ST && ((in->space == SPACE_LOCAL && k->flow->local_carries) ||
                              (in->space == SPACE_SHARED && k->flow->shared_carries)))
        return;
      sink(f, i, &in->ops[1], false);
      return;
    case OP_WMMA_STORE: sink(f, i, &in->ops[1], false); return;
    case OP_ATOM:
      for (unsigned n = 2; n < in->nops; n++) sink(f, i, &in->ops[n], false);
      return;
    case OP_SETP:
    case OP_SET:
    case OP_TESTP:
    case OP_SLCT:
      if (in->op != OP_SLCT && fp_is_test(k->flow, in)) return;
      for (unsigned n = in->op == OP_SLCT ? 3 : 1; n < in->nops && n < 4; n++)
        sink(f, i, &in->ops[n], true);
      return;
    case OP_MIN:
    case OP_MAX:
    case OP_DIV:
    case OP_RCP:
    case OP_RSQRT:
      if (!f->deferred->owner[i] && vanishes_in(in, &v))
        for (unsigned n = v.first; n < v.end; n++) sink(f, i, &in->ops[n], v.nan_only);
      return;
    case OP_CVT:
      if (fp_operation(in, &o) && o.op == WG_FP_SATURATE) {
        FpItem item = new_item(i, in, o.operands[0], o.types[0]);
        item.kind = FP_ITEM_RESULT;
        item.operation = o;
        if (fp_test_overflow(k, fp_before(k, i), in, &o)) fp_add_item(k, item);
        return;
      }
      if (in->ntypes == 2 && fp_type(in->types[1]).format &&
          (!fp_type(in->types[0]).format || ptx_has(in, MOD_SAT)))
        sink(f, i, &in->ops[1], false);
      return;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA:
      if (is_float(in) && (ptx_has(in, MOD_SAT) || ptx_has(in, MOD_RELU)))
        for (unsigned n = 1; n < in->nops; n++) sink(f, i, &in->ops[n], false);
      return;
    case OP_MOV:
    case OP_SHFL:
      if (!stays_number(k->flow, in->ops[0].kind == OPD_PAIR ? &in->ops[0].list[0] : &in->ops[0]))
        sink(f, i, &in->ops[1], false);
      return;
    default:
      if (!is_float(in) && ptx_op_classes(in) & CLASS_INT)
        for (unsigned n = 1; n < in->nops; n++) sink(f, i, &in->ops[n], false);
      return;
  }
}

void fp_weave_fast(FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  Fast f = {.k = k, .deferred = fp_deferred_build(k), .infinity_is_used = uses_infinity(k)};
  for (uint32_t b = 0; b < cfg->nblocks; b++) {
    if (cfg->blocks[b].rpo == IR_NONE || cfg->blocks[b].first < k->first ||
        cfg->blocks[b].first >= k->end)
      continue;
    f.nseen = 0;
    for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
      bool nested = k->flow->depth[i] != 0;
      if (nested && k->items.len) close_group(k, fp_after(k, i - 1), i, false);
      sinks_of(&f, i);
      // Tests go before an instruction that overwrites registers which they or the slow path read.
      if (k->items.len && (nested || fp_must_close_before(k, i) || fp_over_closes_before(k, i)))
        close_group(k, fp_before(k, i), i, nested);
      ptx_visit_regs(cfg->instrs[i], forget, &f);
    }
    if (k->items.len)
      close_group(k, fp_after(k, cfg->blocks[b].end - 1), cfg->blocks[b].end, false);
  }
}
