// Stores of exceptions: WgFpMemory remembers the last writer of each place, for kernels that read
// it later and for copies to the host. Sinks of fast mode note the writer when they count
// (wg_fp_sink).
#include "tools/fpcheck/internal.h"

static bool is_store(const PtxInstr *in, unsigned *first, unsigned *end) {
  *first = in->op == OP_ATOM ? 2 : 1;
  *end = in->nops;
  if (in->op == OP_ST || in->op == OP_RED || in->op == OP_ATOM || in->op == OP_SUST)
    return in->space != SPACE_PARAM;
  return false;
}

bool fp_store_address(const PtxInstr *in, PtxOperand *address, int64_t *offset) {
  if (in->op != OP_ST && in->op != OP_RED && in->op != OP_ATOM) return false;
  if (in->space != SPACE_GLOBAL && in->space != SPACE_GENERIC) return false;
  const PtxOperand *m = &in->ops[in->op == OP_ATOM ? 1 : 0];
  if (m->kind != OPD_ADDR || m->nlist != 1 || m->list[0].kind != OPD_REG ||
      ptx_type_size(m->list[0].reg->type) != 8)
    return false;
  *address = m->list[0];
  *offset = m->imm;
  return true;
}

// Adds one item per value; the elements of a vector lie next to each other.
static bool check_value(FpCheck *k, uint32_t i, PtxOperand *v, unsigned element) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  if (v->kind == OPD_VECTOR) {
    bool any = false;
    for (unsigned e = 0; e < v->nlist; e++) any |= check_value(k, i, &v->list[e], e);
    return any;
  }
  if (v->kind != OPD_REG || v->selector != SEL_NONE || v->reg->vector ||
      v->reg->id >= k->flow->nregs)
    return false;
  FpType t = k->flow->type[v->reg->id];
  FpItem item = {.kind = FP_ITEM_STORE, .instr = i, .result = *v};
  if (!t.format || (!fp_store_address(in, &item.address, &item.offset) && !k->follow)) return false;
  item.offset += (int64_t)(element * ptx_type_size(v->reg->type));
  item.operation = (FpOperation){.op = WG_FP_STORED, .types = {t}, .operands = {v}, .n = 1};
  if (in->guard) {
    item.conditions[0].reg = in->guard;
    item.conditions[0].negated = in->guard_negated;
    item.nconditions = 1;
  }
  fp_test_value(k, fp_before(k, i), t, *v, false, (FpCondition){in->guard, in->guard_negated});
  fp_add_item(k, item);
  return true;
}

bool fp_check_stores(FpCheck *k, uint32_t i) {
  PtxInstr *in = k->body->cfg->instrs[i];
  unsigned first, end;
  bool any = false;
  if (!is_store(in, &first, &end) || !(k->kinds & (WG_FP_NAN | WG_FP_INF | WG_FP_DIV0)))
    return false;
  for (unsigned n = first; n < end; n++) any |= check_value(k, i, &in->ops[n], 0);
  // the atomic may overwrite the registers it reads
  if (any && in->op == OP_ATOM) fp_close_group(k, fp_before(k, i), false);
  return any;
}
