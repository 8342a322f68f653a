// Full mode: every instruction in which an exception can be born is tested.
//
// Compilers compute both sides of a selection and throw one away: erf of the library computes a
// formula that overflows for large numbers, and then takes 1. So a result that only a selection
// reads, directly or through other such instructions of its block, is tested at the selection and
// not where it is computed. tools/fpcheck/weave_defer.c finds these.
#include "tools/fpcheck/internal.h"

enum { GROUP = 4 };  // items of a group: more keep more registers alive, fewer branch more often

static PtxReg *written(const PtxInstr *in) {
  return in->nops && in->ops[0].kind == OPD_REG ? in->ops[0].reg : NULL;
}

// --- one instruction ---
// Copies an operand before the instruction, if the instruction overwrites a register that its slow
// path reads.
static PtxOperand *copy_operand(FpCheck *k, uint32_t i, const PtxOperand *o, FpType t) {
  Code *c = fp_before(k, i);
  unsigned bytes = ptx_type_size(o->reg->type);
  PtxOperand *copy = ARENA_NEW(&k->body->cfg->arena, PtxOperand);
  *copy = opd_reg(body_reg(k->body, bytes == 8 ? TYPE_B64 : bytes == 4 ? TYPE_B32 : TYPE_B16));
  if (bytes == 8) EMIT(c, "mov.b64", *copy, *o);
  else if (bytes == 4) EMIT(c, "mov.b32", *copy, *o);
  else EMIT(c, "mov.b16", *copy, *o);
  (void)t;
  return copy;
}

void fp_save_overwritten(FpCheck *k, uint32_t i, FpOperation *o) {
  const PtxReg *d = written(k->body->cfg->instrs[i]);
  PtxOperand *copy = NULL;
  for (unsigned n = 0; n < o->n; n++) {
    if (o->operands[n]->kind != OPD_REG || o->operands[n]->reg != d) continue;
    if (!copy) copy = copy_operand(k, i, o->operands[n], o->types[n]);
    o->operands[n] = copy;
  }
}

static void add_guard(FpItem *item, const PtxInstr *in) {
  if (!in->guard) return;
  item->conditions[item->nconditions].reg = in->guard;
  item->conditions[item->nconditions++].negated = in->guard_negated;
}

static bool usable(const PtxOperand *o) {
  return (o->kind == OPD_REG && o->selector == SEL_NONE) || o->kind == OPD_FLOAT ||
         o->kind == OPD_INT;
}

// The place of a value's test: after its instruction (NULL), or before a branch, for the lanes that
// branch to its use.
typedef struct Where {
  Code *code;
  FpCondition way;
} Where;
static Code *code_at(FpCheck *k, uint32_t i, Where w) { return w.code ? w.code : fp_after(k, i); }
static void add_way(FpItem *item, Where w) {
  if (w.way.reg) item->conditions[item->nconditions++] = w.way;
}

static bool check_result(FpCheck *k, uint32_t i, Where w) {
  PtxInstr *in = k->body->cfg->instrs[i];
  FpItem item = {.kind = FP_ITEM_RESULT, .instr = i};
  FpOperation *o = &item.operation;
  if (!fp_result_of(k, i, o) || !(o->kinds & k->kinds) || in->ops[0].kind != OPD_REG) return false;
  for (unsigned n = 0; n < o->n; n++)
    if (!usable(o->operands[n])) return false;
  add_guard(&item, in);
  add_way(&item, w);
  fp_save_overwritten(k, i, o);
  Code *c = code_at(k, i, w);
  if (o->op == WG_FP_SATURATE) {
    if (!fp_test_overflow(k, c, in, o)) return false;
    item.result = *o->operands[0];
  } else {
    item.result = in->ops[0];
    item.unless_zero = fp_asks_for_zero(k, i, o);
    fp_test_value(k, c, o->result, in->ops[0], k->kinds & o->kinds & WG_FP_SUBNORMAL,
                  item.nconditions ? item.conditions[0] : FP_ALWAYS);
  }
  fp_add_item(k, item);
  return true;
}

static bool check_selection(FpCheck *k, const FpDeferred *f, uint32_t i, Where w) {
  PtxInstr *in = k->body->cfg->instrs[i];
  if (in->op != OP_SELP || in->nops != 4 || in->ops[3].kind != OPD_REG) return false;
  FpItems items = {0};
  if (!f->owner[i]) fp_deferred_items(k, f, i, &items);
  FpType t = k->flow->type[in->ops[0].reg->id];
  bool any = items.len && t.format;
  unsigned kinds = 0;
  for (uint32_t m = 0; m < items.len; m++) kinds |= items.data[m].operation.kinds & k->kinds;
  if (any) fp_test_value(k, code_at(k, i, w), t, in->ops[0], kinds & WG_FP_SUBNORMAL, w.way);
  for (uint32_t m = 0; any && m < items.len; m++) {
    add_way(&items.data[m], w);
    fp_add_item(k, items.data[m]);
  }
  vec_free(&items.paths);
  vec_free(&items);
  return any;
}

// At the end of a block: tests registers that then hold a NaN or an infinity of the library, if the
// next block reads them. Compilers like to set the register before they compare.
static void check_answers(FpCheck *k, uint32_t block, Code *c) {
  const IrCfg *cfg = k->body->cfg;
  const IrBlock *b = &cfg->blocks[block];
  const PtxInstr *last = cfg->instrs[b->end - 1];
  for (uint32_t i = b->first; i < b->end; i++) {
    PtxInstr *in = cfg->instrs[i];
    if (in->op != OP_MOV || in->guard || in->nops != 2 || in->ops[0].kind != OPD_REG ||
        in->ops[1].kind != OPD_FLOAT)
      continue;
    FpOperation answer = {.op = WG_FP_ANSWER, .result = fp_type(in->types[0]), .kinds = WG_FP_NAN};
    if (!fp_is_library_nan(k->flow, &in->ops[1]) && !fp_is_pole_in(k, block, in, &answer)) continue;
    if (!(answer.kinds & k->kinds)) continue;
    const PtxReg *d = in->ops[0].reg;
    if (fp_is_fixed(k->flow, &in->ops[0]) || k->flow->depth[i] ||
        fp_is_named(&k->flow->writes, d, i + 1, b->end))
      continue;
    FpItem item = {.kind = FP_ITEM_RESULT, .instr = i, .result = in->ops[0], .operation = answer};
    bool taken = b->nsucc && fp_is_live(k, b->succ[0], d),
         on = b->nsucc && fp_is_live(k, b->succ[b->nsucc - 1], d),
         branches = b->nsucc == 2 && last->guard;
    if (!item.operation.result.format || !(branches ? taken || on : on)) continue;
    if (answer.kinds == WG_FP_INF && !(branches && taken && !on)) continue;
    if (branches && taken != on ? fp_is_marker_if(k->flow, cfg, last->guard)
                                : fp_is_marker_in(k->flow, cfg, block))
      continue;
    if (branches && taken != on) {
      item.conditions[0].reg = last->guard;
      item.nconditions = 1;
      item.conditions[0].negated = taken ? last->guard_negated : !last->guard_negated;
    }
    fp_test_value(k, c, item.operation.result, item.result, false, FP_ALWAYS);
    fp_add_item(k, item);
  }
}

static void check_late(FpCheck *k, const FpDeferred *f, uint32_t block, Code *c) {
  const IrBlock *b = &k->body->cfg->blocks[block];
  for (uint32_t i = b->first; i < b->end; i++) {
    Where w = {c, {0}};
    if (fp_is_late(k, f, block, i, &w.way) && !check_result(k, i, w)) check_selection(k, f, i, w);
  }
}

static bool check_comparison(FpCheck *k, uint32_t i) {
  PtxInstr *in = k->body->cfg->instrs[i];
  if ((in->op != OP_SETP && in->op != OP_SET) || in->nops < 3 || !(k->kinds & WG_FP_NAN) ||
      fp_is_test(k->flow, in) || fp_is_of_word(k->flow, &in->ops[1]))
    return false;
  FpType t = fp_type(in->types[in->op == OP_SET ? in->ntypes - 1 : 0]);
  if ((t.format != WG_FP_F32 && t.format != WG_FP_F64) || t.packed || !usable(&in->ops[1]) ||
      !usable(&in->ops[2]))
    return false;
  PtxOperand *a = &in->ops[1], *b = &in->ops[2];
  if (a->kind != OPD_REG) {
    b = a;
    a = &in->ops[2];
  }
  if (a->kind != OPD_REG) return false;
  FpItem item = {.kind = FP_ITEM_COMPARE, .instr = i};
  item.operation = (FpOperation){.op = WG_FP_COMPARE, .types = {t, t}, .operands = {a, b}, .n = 2};
  item.result = *a;
  fp_save_overwritten(k, i, &item.operation);
  add_guard(&item, in);
  // If the comparison writes its own guard, the guard's value is lost.
  if (in->guard && in->ops[0].kind == OPD_REG && in->ops[0].reg == in->guard) return false;
  fp_test_nan(k, fp_after(k, i), t, *item.operation.operands[0], *item.operation.operands[1],
              (FpCondition){in->guard, in->guard_negated});
  fp_add_item(k, item);
  return true;
}

static bool check_matrix(FpCheck *k, uint32_t i) {
  PtxInstr *in = k->body->cfg->instrs[i];
  FpType types[4];
  if (in->guard || k->flow->depth[i] || !(k->kinds & (WG_FP_NAN | WG_FP_INF)) ||
      !fp_is_matrix(in, &types[0], &types[1], &types[2], &types[3]))
    return false;
  PtxOperand operands[4];
  memcpy(operands, in->ops, sizeof operands);
  for (unsigned o = 1; o < 4; o++) {  // accumulators are usually updated in place
    if (operands[o].kind != OPD_VECTOR || !types[o].format) continue;
    operands[o] = opd_vector(fp_before(k, i), operands[o].list, operands[o].nlist);
    for (unsigned e = 0; e < operands[o].nlist; e++) {
      PtxOperand *v = &operands[o].list[e];
      for (unsigned d = 0;
           v->kind == OPD_REG && in->ops[0].kind == OPD_VECTOR && d < in->ops[0].nlist; d++)
        if (in->ops[0].list[d].kind == OPD_REG && in->ops[0].list[d].reg == v->reg) {
          *v = *copy_operand(k, i, v, types[o]);
          break;
        }
    }
  }
  fp_check_matrix(k, i, types, operands);
  return true;
}

// --- asynchronous products ---
// Their accumulators are complete only when all products have been waited for. Their operands lie
// in shared memory and are not looked at: an exception is only noted, as at a sink of fast mode.
enum { ACCUMULATORS = 8 };
static void note_seen(void *ctx, PtxReg **reg, bool is_def) {
  (void)is_def;
  ((bool *)ctx)[(*reg)->id] = true;
}

// registers that are declared in braces are not visible after them
static bool *seen_outside(const FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  bool *seen = ARENA_ARRAY(&k->body->cfg->arena, bool, k->flow->nregs + 1);
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    if (!k->flow->depth[i]) ptx_visit_regs(cfg->instrs[i], note_seen, seen);
  return seen;
}

static bool has_passed(const IrCfg *cfg, uint32_t product, uint32_t wait) {
  uint32_t a = cfg->block_of[product], b = cfg->block_of[wait];
  return a == b ? product < wait : ir_dominates(cfg, a, b);
}

static void check_wait(FpCheck *k, uint32_t i) {
  const IrCfg *cfg = k->body->cfg;
  const PtxInstr *wait = cfg->instrs[i];
  if (wait->op != OP_WGMMA_WAIT_GROUP || !wait->nops || wait->ops[0].kind != OPD_INT ||
      wait->ops[0].imm || k->flow->depth[i] || !(k->kinds & (WG_FP_NAN | WG_FP_INF)))
    return;
  bool *left = seen_outside(k);
  for (uint32_t p = 0; p < cfg->ninstrs; p++) {
    const PtxInstr *in = cfg->instrs[p];
    FpType t = in->op == OP_WGMMA_MMA_ASYNC ? fp_type(in->types[0]) : (FpType){0};
    if (!t.format || !has_passed(cfg, p, i)) continue;
    t.packed = t.format == WG_FP_F16 || t.format == WG_FP_BF16;
    for (unsigned e = 0; e < in->ops[0].nlist; e++) {
      PtxOperand *v = &in->ops[0].list[e];
      if (v->kind != OPD_REG || v->reg->id >= k->flow->nregs || !left[v->reg->id]) continue;
      left[v->reg->id] = false;  // a later product adds to the same accumulator
      FpItem item = {.kind = FP_ITEM_SINK, .instr = p, .result = *v};
      item.operation = (FpOperation){.op = WG_FP_SINK, .types = {t}, .operands = {v}, .n = 1};
      fp_test_value(k, fp_after(k, i), t, *v, false, FP_ALWAYS);
      fp_add_item(k, item);
      if (k->items.len >= ACCUMULATORS) fp_close_group(k, fp_after(k, i), false);
    }
  }
  if (k->items.len) fp_close_group(k, fp_after(k, i), false);
}

// --- blocks ---
static bool must_close_before(const FpCheck *k, uint32_t i) {
  return k->flow->depth[i] || k->items.len >= GROUP || fp_must_close_before(k, i);
}

void fp_weave_full(FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  const FpDeferred *f = fp_deferred_build(k);
  for (uint32_t b = 0; b < cfg->nblocks; b++) {
    if (cfg->blocks[b].rpo == IR_NONE || cfg->blocks[b].first < k->first ||
        cfg->blocks[b].first >= k->end)
      continue;
    for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
      bool last = i + 1 == cfg->blocks[b].end && !k->flow->depth[i],
           leaves = ptx_op_classes(cfg->instrs[i]) & CLASS_BRANCH;
      if (last && leaves) {
        check_late(k, f, b, fp_before(k, i));
        check_answers(k, b, fp_before(k, i));
      }
      // A label inside { } is not visible outside.
      if (k->items.len && must_close_before(k, i))
        fp_close_group(k, k->flow->depth[i] ? fp_after(k, i - 1) : fp_before(k, i), false);
      check_wait(k, i);
      if (fp_check_guarded_store(k, f, i)) fp_close_group(k, fp_before(k, i), false);
      bool selects = cfg->instrs[i]->op == OP_SELP;
      if ((f->owner[i] && !selects) || check_matrix(k, i)) continue;
      Where w = {0};
      bool late = fp_is_late(k, f, b, i, &w.way),
           checked = !late && (check_result(k, i, w) || check_selection(k, f, i, w) ||
                               check_comparison(k, i));
      if (k->follow && !k->flow->depth[i]) checked |= fp_check_flow(k, i);
      if (!k->flow->depth[i]) checked |= fp_check_stores(k, i);
      if (checked && k->flow->depth[i]) fp_close_group(k, fp_after(k, i), true);
      if (last && !leaves) check_answers(k, b, fp_after(k, i));
    }
    if (k->items.len) fp_close_group(k, fp_after(k, cfg->blocks[b].end - 1), false);
  }
}
