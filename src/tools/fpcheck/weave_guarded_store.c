// Results that only a store under a predicate reads, directly or through shuffles: they matter only
// if something exceptional is stored. In warp reductions, lanes beyond the last partial sum load
// arbitrary values from shared memory, add them up, and throw them away; compilers such as Triton
// generate this.
//
// A value received by a shuffle was computed in another lane than the one that stores: such results
// count as soon as any lane of the warp stores something exceptional.
#include "tools/fpcheck/internal.h"

bool fp_is_guarded_store(const FpCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (in->op != OP_ST || !in->guard || k->flow->depth[i] || in->guard->id >= k->flow->nregs)
    return false;
  return fp_is_fixed(k->flow, &(PtxOperand){.kind = OPD_REG, .reg = in->guard});
}

// Tests a stored value, or a part of it, and adds the values that it was computed from to `out`.
static void test_value(FpCheck *k, const FpDeferred *f, Code *c, PtxOperand *v, FpItems *out) {
  const PtxInstr *def = v->kind == OPD_REG ? fp_def(k->flow, v) : NULL;
  bool parts = def && fp_is_pack(def) && f->owner[k->flow->defs->instr[v->reg->id]];
  PtxOperand *list = v->kind == OPD_VECTOR ? v : parts ? &def->ops[1] : NULL;
  for (unsigned e = 0; list && e < list->nlist; e++) test_value(k, f, c, &list->list[e], out);
  if (list || v->kind != OPD_REG || v->selector != SEL_NONE) return;
  uint32_t before = out->len;
  FpItem none = {.kind = FP_ITEM_RESULT};
  fp_deferred_gather(k, f, v, &none, out);
  FpType t = k->flow->type[v->reg->id];
  unsigned kinds = 0;
  for (uint32_t i = before; i < out->len; i++) kinds |= out->data[i].operation.kinds & k->kinds;
  if (out->len > before && t.format) fp_test_value(k, c, t, *v, kinds & WG_FP_SUBNORMAL, FP_ALWAYS);
}

// Narrows k->fired from "this lane has an exception" to "it is stored, too": by this lane or, after
// shuffles, by any lane of the warp.
static void ask_whether_stored(FpCheck *k, Code *c, const PtxInstr *store, bool shuffles) {
  PtxOperand fired = opd_reg(k->fired), guard = opd_reg(store->guard),
             stored = opd_reg(body_temp(k->body, TYPE_PRED, 0)),
             lanes = opd_reg(body_temp(k->body, TYPE_B32, 0));
  if (store->guard_negated) {
    EMIT(c, "not.pred", stored, guard);
    EMIT(c, "and.pred", stored, stored, fired);
  } else EMIT(c, "and.pred", stored, guard, fired);
  if (shuffles) {
    EMIT(c, "activemask.b32", lanes);
    EMIT(c, "vote.sync.any.pred", stored, stored, lanes);
    EMIT(c, "and.pred", fired, fired, stored);
  } else EMIT(c, "mov.pred", fired, stored);
}

bool fp_check_guarded_store(FpCheck *k, const FpDeferred *f, uint32_t i) {
  const IrCfg *cfg = k->body->cfg;
  if (f->store[i] != i + 1 || !f->results[i]) return false;
  FpItems items = {.root = i + 1};
  Code *c = fp_before(k, i);
  if (k->items.len) fp_close_group(k, c, false);
  for (uint32_t s = cfg->blocks[cfg->block_of[i]].first; s <= i; s++)
    if (f->store[s] == i + 1) test_value(k, f, c, &cfg->instrs[s]->ops[1], &items);
  fp_close_tests(k, c);
  bool any = items.len && k->open;
  if (any) ask_whether_stored(k, c, cfg->instrs[i], f->shuffles[i]);
  for (uint32_t m = 0; any && m < items.len; m++) fp_add_item(k, items.data[m]);
  vec_free(&items.paths);
  vec_free(&items);
  return any;
}
