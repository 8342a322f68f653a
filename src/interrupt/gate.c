// Tests, on the device, whether the previous launch has really ended (InterruptLaunch.gate_before).
// If not, all its threads end, and the host launches it again.
//
// The kernel loads the gate first, and tests the value only before it does anything that other
// blocks could see. Meanwhile it computes addresses, reads memory and uses shared memory, so that
// no thread waits for the load. An earlier test would wait: ptxas moves loads after it. Values
// that the kernel reads before the test may be out of date, but their addresses are those of the
// program: they follow from parameters and thread numbers, not from values that were read. All
// threads of the launch find the same value in the gate, so that those of a block end together.
#include "interrupt/stops.h"

static void load_word(Emitter *e, Code *c, PtxReg *to, unsigned offset) {
  EMIT(c, "ld.param.u32", opd_reg(to), opd_at(c, opd_var(e->launch), offset));
}

void gate_tell(Emitter *e, Code *c, unsigned news, PtxLabel *said) {
  PtxReg *at = wide(c, 2);
  load_launch(e, c, at, LAUNCH(notify));
  EMIT(c, "setp.eq.u64", opd_reg(pred(c, 0)), opd_reg(at), opd_imm(0));
  code_branch(c, pred(c, 0), false, said);
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(at), 0), opd_imm(news));
  load_launch(e, c, at, LAUNCH(gate));
  load_word(e, c, word(c, 0), LAUNCH(serial));
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(at), 0), opd_reg(word(c, 0)));
}

// --- where the gate is tested ---

typedef struct Gate {
  Emitter *e;
  PtxReg *found;  // .b32: the value of the gate
  PtxLabel *not_begun;
  bool *read;   // by register: it depends on memory
  bool is_now;  // the instruction that is visited uses such a register
} Gate;

static void look_before(Gate *g, uint32_t i) {
  Code *c = body_before(g->e->body, i);
  load_word(g->e, c, word(c, 0), LAUNCH(serial_before));
  EMIT(c, "setp.eq.u32", opd_reg(pred(c, 0)), opd_reg(g->found), opd_reg(word(c, 0)));
  code_branch(c, pred(c, 0), false, g->not_begun);
}

static void visit_use(void *ctx, PtxReg **r, bool is_def) {
  Gate *g = ctx;
  if (!is_def && g->read[(*r)->id]) g->is_now = true;
}
static void visit_result(void *ctx, PtxReg **r, bool is_def) {
  Gate *g = ctx;
  if (is_def) g->read[(*r)->id] = true;
}

static bool depends_on_memory(Gate *g, PtxInstr *in) {
  g->is_now = false;
  ptx_visit_regs(in, visit_use, g);
  return g->is_now;
}

static bool is_known(const Gate *g, const PtxOperand *o) {
  return o->kind == OPD_INT || (o->kind == OPD_REG && !g->read[o->reg->id]);
}

static bool address_depends(const Gate *g, const PtxInstr *in) {
  for (unsigned o = 0; o < in->nops; o++)
    for (unsigned k = 0; in->ops[o].kind == OPD_ADDR && k < in->ops[o].nlist; k++)
      if (in->ops[o].list[k].kind == OPD_REG && !is_known(g, &in->ops[o].list[k])) return true;
  return in->guard && g->read[in->guard->id];
}

static bool is_stop(const Gate *g, uint32_t i) {
  for (uint32_t k = 0; k < g->e->stops->n; k++)
    if (g->e->stops->list[k].at == i) return true;
  return false;
}

// Only threads of the block take part in it.
static bool stays_in_block(Gate *g, uint32_t i) {
  PtxInstr *in = g->e->body->cfg->instrs[i];
  bool shared = (in->op == OP_LD || in->op == OP_ST) && in->space == SPACE_SHARED &&
                !ptx_has(in, MOD_SHARED_CLUSTER);
  bool lanes = (in->op == OP_SHFL || in->op == OP_VOTE) && ptx_has(in, MOD_SYNC) &&
               is_known(g, &in->ops[in->nops - 1]);
  bool barrier = stops_is_block_barrier(in) && !ptx_has(in, MOD_RED);
  if (is_stop(g, i) || !(shared || lanes || barrier) || address_depends(g, in)) return false;
  ptx_visit_regs(in, visit_result, g);
  return true;
}

static bool is_plain_load(const PtxInstr *in) {
  return in->op == OP_LD && !ptx_has(in, MOD_VOLATILE) && !ptx_has(in, MOD_ACQUIRE) &&
         !ptx_has(in, MOD_RELAXED) &&
         (in->space == SPACE_GLOBAL || in->space == SPACE_PARAM || in->space == SPACE_CONST);
}

// true: no other block sees that it was executed, and memory does not decide its addresses.
static bool may_go_first(Gate *g, uint32_t i) {
  PtxInstr *in = g->e->body->cfg->instrs[i];
  enum {
    COMPUTES = CLASS_INT | CLASS_FLOAT | CLASS_COMPARE | CLASS_SELECT | CLASS_MOVE | CLASS_CONVERT |
               CLASS_ADDRESS
  };
  unsigned classes = ptx_op_classes(in);
  bool depends = depends_on_memory(g, in);
  if (in->op == OP_BRA) return !depends;
  if (stops_is_call(in) || !in->nops) return false;
  if (stays_in_block(g, i)) return true;
  if (is_plain_load(in)) {
    if (depends) return false;
    if (in->space != SPACE_PARAM) ptx_visit_regs(in, visit_result, g);
    return true;
  }
  if (in->op == OP_LD || !(classes & COMPUTES) || classes & ~(unsigned)COMPUTES) return false;
  if (depends) ptx_visit_regs(in, visit_result, g);
  return true;
}

static bool is_loop_header(const IrCfg *c, uint32_t block) {
  const IrBlock *b = &c->blocks[block];
  for (uint32_t i = 0; i < b->npred; i++)
    if (c->blocks[b->pred[i]].rpo >= b->rpo) return true;
  return block == 0;
}

// Tests the gate as late as possible on each path from the entry, but not inside loops. Some paths
// test it twice.
static void place_looks(Gate *g) {
  const IrCfg *c = g->e->body->cfg;
  bool *to_look = ARENA_ARRAY(&g->e->body->cfg->arena, bool, c->nblocks + 1);
  to_look[0] = true;
  for (uint32_t o = 0; o < c->norder; o++) {
    const IrBlock *b = &c->blocks[c->order[o]];
    if (!to_look[c->order[o]]) continue;
    uint32_t i = b->first;
    while (i < b->end && may_go_first(g, i)) i++;
    bool goes_on = i == b->end && b->nsucc;
    for (uint32_t k = 0; k < b->nsucc && goes_on; k++) goes_on = !is_loop_header(c, b->succ[k]);
    for (uint32_t k = 0; k < b->nsucc && goes_on; k++) to_look[b->succ[k]] = true;
    if (goes_on) continue;
    // before the branch at its end, if there is one
    bool at_end = i == b->end && i > b->first && c->instrs[i - 1]->op == OP_BRA;
    look_before(g, at_end ? i - 1 : i);
  }
}

// --- the code ---

static void emit_not_begun(Gate *g) {
  Code *c = body_cold(g->e->body);
  PtxLabel *ends = body_label(g->e->body);
  PtxReg *at = wide(c, 2);
  code_label(c, g->not_begun);
  load_launch(g->e, c, at, LAUNCH(gate));
  load_word(g->e, c, word(c, 1), LAUNCH(serial));
  EMIT(c, "ld.volatile.global.u32", opd_reg(word(c, 0)), opd_at(c, opd_reg(at), 0));
  EMIT(c, "setp.eq.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_reg(word(c, 1)));
  code_branch(c, pred(c, 0), false, ends);
  gate_tell(g->e, c, NEWS_NOT_BEGUN, ends);
  code_label(c, ends);
  code_emit(c, "exit", NULL, 0);
}

void gate_emit(Emitter *e) {
  Body *b = e->body;
  Gate g = {.e = e,
            .found = body_reg(b, TYPE_B32),
            .not_begun = body_label(b),
            .read = ARENA_ARRAY(&b->cfg->arena, bool, b->func->nregs + 1)};
  Code *c = body_entry(b);
  PtxReg *at = wide(c, 2);
  load_launch(e, c, at, LAUNCH(gate_before));
  EMIT(c, "ld.global.u32", opd_reg(g.found), opd_at(c, opd_reg(at), 0));
  place_looks(&g);
  emit_not_begun(&g);
}
