// A thread whose value reaches a sink before it has done anything visible to others starts over in
// the full body. So births are found even if the kernel overwrites its input. To others it looks
// like a thread that began later. Only in kernels whose lanes do not need each other, since some
// lanes of a warp start over and others do not.
#include "tools/fpcheck/weave_slow.h"

static bool is_seen_by_others(const PtxInstr *in) {
  if (!(ptx_op_classes(in) & (CLASS_STORE | CLASS_ATOMIC | CLASS_SURFACE))) return false;
  return in->op != OP_ST || (in->space != SPACE_LOCAL && in->space != SPACE_PARAM);
}

static bool lanes_need_each_other(const IrCfg *cfg) {
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    if (ptx_op_classes(cfg->instrs[i]) &
            (CLASS_CALL | CLASS_SYNC | CLASS_ASYNC | CLASS_WARP | CLASS_TENSOR) ||
        cfg->instrs[i]->op == OP_ALLOCA)
      return true;
  return false;
}

// Propagates from block to block until nothing changes.
void fp_over_find(FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  if (k->hot < 0 || lanes_need_each_other(cfg)) return;
  bool *done = k->done_before = ARENA_ARRAY(&k->body->cfg->arena, bool, cfg->ninstrs + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < cfg->norder; n++) {
      const IrBlock *b = &cfg->blocks[cfg->order[n]];
      if (b->first == b->end) continue;
      bool now = done[b->first];
      for (uint32_t i = b->first; i < b->end; i++) {
        done[i] |= now;
        now = done[i] || is_seen_by_others(cfg->instrs[i]);
      }
      for (uint32_t s = 0; s < b->nsucc && now; s++) {
        uint32_t next = cfg->blocks[b->succ[s]].first;
        changed |= !done[next];
        done[next] = true;
      }
    }
  }
  k->full = body_label(k->body);
}

bool fp_over_closes_before(const FpCheck *k, uint32_t i) {
  return k->done_before && !k->done_before[i] && is_seen_by_others(k->body->cfg->instrs[i]);
}

// At the current group, before k->next.
bool fp_over_can(const FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  if (!k->done_before || k->clone || k->next > cfg->ninstrs) return false;
  uint32_t end = cfg->blocks[cfg->block_of[k->items.data[0].instr]].end;
  if (k->next < end) return !k->done_before[k->next];
  return !k->done_before[end - 1] && !is_seen_by_others(cfg->instrs[end - 1]);
}

typedef struct Decision {
  PtxReg *flags, *hot, *known, *has, *yes;
} Decision;
static Decision ask(FpCheck *k, Code *c) {
  Body *b = k->body;
  Decision d = {body_temp(b, TYPE_B32, 0), body_temp(b, TYPE_B32, 2), body_temp(b, TYPE_B32, 4),
                body_temp(b, TYPE_PRED, 1), body_temp(b, TYPE_PRED, 0)};
  record_load(c, d.flags, offsetof(WgLaunch, flags));
  EMIT(c, "setp.ge.u32", opd_reg(d.has), opd_reg(d.flags), opd_imm(1 << WG_LAUNCH_FP_TURN));
  fp_load_counter(k, c, "ld.global.v2.u32", d.has, d.hot, d.known);  // without it: no counter
  return d;
}

static void go_if(FpCheck *k, Code *c, Decision d) {
  EMIT(c, "setp.ne.and.u32", opd_reg(d.has), opd_reg(d.hot), opd_imm(0), opd_reg(d.has));
  fp_ask_counter(k, c, (FpCounter){d.flags, d.hot, d.known, d.yes}, false);
  EMIT(c, "and.pred", opd_reg(d.yes), opd_reg(d.yes), opd_reg(d.has));
  code_branch(c, d.yes, false, k->full);
}

static bool stores(const FpCheck *k) {
  for (uint32_t i = 0; i < k->items.len; i++)
    if (k->items.data[i].address.kind == OPD_REG) return true;
  return false;
}

// A thread that starts over does not note its stores here. The full body notes them after it has
// asked for the writer of its input, which may lie at the same place.
void fp_over_weave(FpCheck *k, Code *c, PtxLabel *resume) {
  FpItem *items = k->items.data;
  uint32_t n = k->items.len;
  if (!stores(k)) {
    fp_look_closely(k, c, items, n);
    go_if(k, c, ask(k, c));
    EMIT(c, "bra", opd_label(resume));
    return;
  }
  PtxLabel *first = body_label(k->body);
  FpQuiet q;
  bool quiet = fp_look_quietly(k, c, items, n, resume, &q);
  Decision d = ask(k, c);
  if (quiet) fp_ask_known(k, c, &q);
  EMIT(c, "setp.eq.and.u32", opd_reg(d.yes), opd_reg(d.hot), opd_imm(0), opd_reg(d.has));
  code_branch(c, d.yes, false, first);
  go_if(k, c, d);
  if (quiet) fp_count_known(k, c, &q);
  k->knows = quiet;
  fp_look_closely(k, c, items, n);
  k->knows = false;
  EMIT(c, "bra", opd_label(resume));
  code_label(c, first);
  for (uint32_t i = 0; i < n; i++) items[i].address = (PtxOperand){0};
  k->only_tells = true;
  fp_look_closely(k, c, items, n);
  k->only_tells = false;
  EMIT(c, "bra", opd_label(k->full));
}
