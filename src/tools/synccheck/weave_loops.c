// Loops whose iterations the threads of a block share: for (i = threadIdx.x; i < n; i +=
// blockDim.x).
//
// If such a loop is in code that not all threads reach, the share of the missing threads is
// silently not done. Every thread counts how often it came, and how often its right neighbour
// should have come, too, because its first index was inside the bound. When the block ends, the
// numbers are compared.
#include "tools/synccheck/internal.h"

// Follows copies: the source of a register's only write in the function.
static const PtxOperand *copied_from(const IrDefs *d, const PtxOperand *o) {
  for (int hops = 0; hops < 6 && o->kind == OPD_REG; hops++) {
    const PtxInstr *def = ir_single_def(d, o->reg);
    if (!def || def->op != OP_MOV || def->nops != 2) break;
    o = &def->ops[1];
  }
  return o;
}

static bool is_sreg(const PtxOperand *o, PtxSreg s) {
  return o->kind == OPD_SREG && o->sreg == s && o->selector == SEL_X;
}

// The value of the index at the loop's entry: the last write in the block before it, or the only
// one outside of the loop. `more`: a remainder of an unrolled loop has advanced it by the step
// before.
static const PtxOperand *start_of(const IrCfg *c, const IrDefs *d, uint32_t loop,
                                  uint32_t preheader, const IrLoopEnd *e, bool *more) {
  const PtxInstr *found = NULL;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    uint32_t block = c->block_of[i];
    if (!in->nops || in->ops[0].kind != OPD_REG || in->ops[0].reg != e->index ||
        ir_in_loop(c, block, loop))
      continue;
    bool moves = in->op == OP_ADD && in->nops == 3 && in->ops[1].kind == OPD_REG &&
                 in->ops[1].reg == e->index && in->ops[2].kind == OPD_REG &&
                 in->ops[2].reg == e->step->reg;
    if (moves) {
      *more = true;
      continue;
    }
    if (block != preheader && (found || !ir_dominates(c, block, preheader))) return NULL;
    found = in;
  }
  return found && found->op == OP_MOV && found->nops == 2 && !found->guard
             ? copied_from(d, &found->ops[1])
             : NULL;
}

// Counts additions of the step: an unrolled loop has several.
static uint32_t count_steps(const IrCfg *c, uint32_t loop, const PtxReg *step) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->loops[loop].nblocks; k++) {
    const IrBlock *b = &c->blocks[c->loops[loop].blocks[k]];
    for (uint32_t i = b->first; i < b->end; i++) {
      const PtxInstr *in = c->instrs[i];
      n += in->op == OP_ADD && in->nops == 3 &&
           ((in->ops[1].kind == OPD_REG && in->ops[1].reg == step) ||
            (in->ops[2].kind == OPD_REG && in->ops[2].reg == step));
    }
  }
  return n;
}

typedef struct Shape {
  uint32_t preheader, gate, behind_gate;
  const PtxInstr *test;
  bool stays_if_true;
  const PtxOperand *bound;
  const PtxReg *index;
} Shape;

// The block before the loop.
static bool find_entry(const IrCfg *c, uint32_t loop, Shape *s) {
  const IrLoop *l = &c->loops[loop];
  const IrBlock *h = &c->blocks[l->header];
  s->preheader = IR_NONE;
  for (uint32_t i = 0; i < h->npred; i++) {
    if (ir_in_loop(c, h->pred[i], loop)) continue;
    if (s->preheader != IR_NONE) return false;
    s->preheader = h->pred[i];
  }
  if (s->preheader == IR_NONE || c->blocks[s->preheader].nsucc != 1) return false;
  return true;
}

static bool asks_for_loop(const IrCfg *c, const IrDefs *d, const Shape *s, uint32_t gate) {
  const PtxInstr *branch = c->instrs[c->blocks[gate].end - 1],
                 *test = branch->guard ? ir_single_def(d, branch->guard) : NULL;
  if (!test || test->op != OP_SETP || test->nops != 3) return false;
  for (unsigned k = 1; k <= 2; k++) {
    const PtxOperand *own = &test->ops[k], *bound = &test->ops[3 - k];
    bool of_index = (own->kind == OPD_REG && own->reg == s->index) ||
                    is_sreg(copied_from(d, own), SREG_TID);
    bool same = bound->kind == s->bound->kind &&
                (bound->kind == OPD_INT ? llabs(bound->imm - s->bound->imm) <= 1
                                        : bound->kind == OPD_REG && bound->reg == s->bound->reg);
    if (of_index && same) return true;
  }
  return false;
}

// The block whose branch tests the loop's own condition before the first iteration, and skips the
// loop if it fails; else the block before the loop.
static void find_gate(const IrCfg *c, const IrDefs *d, uint32_t loop, Shape *s) {
  s->gate = s->preheader;
  s->behind_gate = IR_NONE;
  uint32_t header = c->loops[loop].header;
  for (uint32_t at = s->preheader, hops = 0; hops < 8 && at != IR_NONE;
       hops++, at = c->blocks[at].idom) {
    const IrBlock *g = &c->blocks[at];
    if (g->nsucc != 2 || g->first == g->end || !asks_for_loop(c, d, s, at)) continue;
    for (uint32_t i = 0; i < 2; i++) {
      const IrBlock *e = &c->blocks[g->succ[i]];
      if (!ir_dominates(c, g->succ[i], header) || e->npred != 1 || e->first == e->end ||
          e->loop != c->loops[loop].parent)
        continue;
      s->gate = at;
      s->behind_gate = g->succ[i];
    }
    return;
  }
}

static bool find_shape(const Body *b, const IrDefs *d, uint32_t loop, Shape *s) {
  const IrCfg *c = b->cfg;
  IrLoopEnd e;
  ir_loop_end(c, loop, &e);
  if (e.kind != IR_END_STEPS || !find_entry(c, loop, s)) return false;
  if (e.step->kind != OPD_REG) return false;
  bool more = count_steps(c, loop, e.step->reg) > 1;
  const PtxOperand *start = start_of(c, d, loop, s->preheader, &e, &more),
                   *step = e.step->kind == OPD_REG ? copied_from(d, e.step) : NULL;
  if (!start || !step || !is_sreg(start, SREG_TID) || !is_sreg(step, SREG_NTID)) return false;
  const PtxInstr *branch = c->instrs[e.branch];
  for (uint32_t i = e.branch; i-- > c->blocks[c->block_of[e.branch]].first && !s->test;)
    if (c->instrs[i]->op == OP_SETP && c->instrs[i]->ops[0].kind == OPD_REG &&
        c->instrs[i]->ops[0].reg == branch->guard)
      s->test = c->instrs[i];
  if (!s->test || s->test->guard || s->test->nops != 3 || s->test->ops[1].kind != OPD_REG ||
      s->test->ops[1].reg != e.index)
    return false;
  uint32_t to = c->blocks[c->block_of[e.branch]].succ[0];
  s->stays_if_true = ir_in_loop(c, to, loop) != branch->guard_negated;
  bool upward = s->stays_if_true ? ptx_has(s->test, MOD_LT) || ptx_has(s->test, MOD_LE)
                                 : ptx_has(s->test, MOD_GE) || ptx_has(s->test, MOD_GT);
  if (!upward || s->test->ntypes != 1 || ptx_type_size(s->test->types[0]) != 4) return false;
  s->bound = &s->test->ops[2];
  s->index = e.index;
  find_gate(c, d, loop, s);
  return !more || s->behind_gate != IR_NONE;
}

static bool same_line(const PtxLoc *a, const PtxLoc *b) {
  return a && b && a->file == b->file && a->line == b->line && a->column == b->column;
}

void synccheck_plan_loops(Sync *s) {
  Body *b = s->body;
  IrDefs *d = b->cfg->nloops ? ir_defs_build(b->cfg) : NULL;
  Shape shapes[4];
  for (uint32_t k = 0; d && k < b->cfg->nloops && s->nshared < ARRAY_LEN(s->shared); k++) {
    Shape *shape = &shapes[s->nshared];
    *shape = (Shape){0};
    if (!find_shape(b, d, k, shape) || !s->t.apart_strict[shape->gate]) continue;
    s->shared[s->nshared++] = (struct SharedLoop){.loop = k, .preheader = shape->preheader};
  }
  // If the compiler has made two copies of a loop, for different threads, a thread that misses one
  // of them is not missing. (This does not apply to copies in two bodies: all threads reach one of
  // these.)
  uint32_t second = second_body_first(b);
  for (uint32_t i = 0; i < s->nshared; i++)
    for (uint32_t k = 0; k < s->nshared; k++) {
      bool same_body = (b->cfg->blocks[shapes[i].preheader].first >= second) ==
                       (b->cfg->blocks[shapes[k].preheader].first >= second);
      if (i != k && same_body && same_line(shapes[i].test->loc, shapes[k].test->loc))
        s->shared[i].loop = IR_NONE;
    }
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nshared; i++)
    if (s->shared[i].loop != IR_NONE) s->shared[n++] = s->shared[i];
  s->nshared = n;
  if (d) ir_defs_free(d);
}

void synccheck_weave_loops(Sync *s) {
  Body *b = s->body;
  IrDefs *d = s->nshared ? ir_defs_build(b->cfg) : NULL;
  for (uint32_t k = 0; k < s->nshared; k++) {
    struct SharedLoop *l = &s->shared[k];
    Shape shape = {0};
    CHECK(find_shape(b, d, l->loop, &shape));
    l->visits = body_reg(b, TYPE_B32);
    l->expects = body_reg(b, TYPE_B32);
    Code *e = body_entry(b);
    EMIT(e, "mov.u32", opd_reg(l->visits), opd_imm(0));
    EMIT(e, "mov.u32", opd_reg(l->expects), opd_imm(0));
    const PtxInstr *first = b->cfg->instrs[b->cfg->blocks[b->cfg->loops[l->loop].header].first];
    l->site = program_site(b->program, b, shape.test->loc ? shape.test : first);
    // After the gate; else at the end of the block before the loop, which has no branch, or one
    // that goes to the loop.
    const IrBlock *p = &b->cfg->blocks[l->preheader];
    const PtxInstr *last = p->first < p->end ? b->cfg->instrs[p->end - 1] : NULL;
    Code *c = shape.behind_gate != IR_NONE ? body_before(b, b->cfg->blocks[shape.behind_gate].first)
              : !last || last->op == OP_BRA ? (last ? body_before(b, p->end - 1) : NULL)
                                            : body_after(b, p->end - 1);
    if (!c) continue;
    PtxReg *next = body_temp(b, TYPE_B32, 0), *more = body_temp(b, TYPE_PRED, 0);
    EMIT(c, "mov.u32", opd_reg(next), opd_sreg(SREG_TID, SEL_X));
    EMIT(c, "add.u32", opd_reg(next), opd_reg(next), opd_imm(1));
    PtxInstr *test = code_instr(c, shape.test);
    PtxOperand *ops = ARENA_ARRAY(&b->func->module->arena, PtxOperand, 3);
    ops[0] = opd_reg(more);
    ops[1] = opd_reg(next);
    ops[2] = *shape.bound;
    test->ops = ops;
    EMIT(c, "add.u32", opd_reg(l->visits), opd_reg(l->visits), opd_imm(1));
    code_guard(c, more, !shape.stays_if_true);
    EMIT(c, "add.u32", opd_reg(l->expects), opd_reg(l->expects), opd_imm(1));
    // only if there is a neighbour on the right
    code_guard(c, NULL, false);
    PtxReg *width = body_temp(b, TYPE_B32, 1);
    PtxReg *edge = body_temp(b, TYPE_PRED, 1);
    EMIT(c, "mov.u32", opd_reg(width), opd_sreg(SREG_NTID, SEL_X));
    EMIT(c, "setp.ge.u32", opd_reg(edge), opd_reg(next), opd_reg(width));
    code_guard(c, edge, false);
    EMIT(c, "mov.u32", opd_reg(l->expects), opd_imm(0));
    code_guard(c, NULL, false);
  }
  if (d) ir_defs_free(d);
}

void synccheck_leave_loops(Sync *s, Code *c) {
  Body *b = s->body;
  PtxReg *guard = c->guard;
  bool negated = c->guard_negated;
  for (uint32_t k = 0; k < s->nshared; k++) {
    struct SharedLoop *l = &s->shared[k];
    PtxReg *site = body_temp(b, TYPE_B32, 1);
    PtxLabel *over = guard ? body_label(b) : NULL;
    if (guard) code_branch(c, guard, !negated, over);
    record_site(c, site, l->site);
    SYNC_CALL(s, c, "wg_sync_shared_loop", opd_reg(site), opd_reg(l->visits), opd_reg(l->expects));
    if (over) code_label(c, over);
    code_guard(c, guard, negated);
  }
}
