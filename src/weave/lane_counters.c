// Keeps counters in the lanes of a warp, for code that is compiled to machine code. A register
// holds 32 counters, one in each lane: a full warp counts a block in that block's lane, which is
// always active. A thread that ends adds its registers to memory, 32 counters with one request. An
// atomic operation for each execution of a block would be as expensive as the block. A 32-bit
// register overflows only if a warp runs one block for minutes in one launch. Small loops, which
// repeat a block most often, have registers of 64 bits (loop_counters.c).
#include "weave/execution_counts.h"

enum { MOST_GROUPS = 16, KINDS = 3, NOWHERE = 255 };
_Static_assert(COUNT_GROUP == 32 && COUNT_GROUP_SIZE == KINDS * COUNT_GROUP, "one for each lane");

typedef struct CountLanes {
  PtxReg *slot;       // number of this lane; NOWHERE: nothing is to be counted in this launch
  uint32_t first, n;  // counters of blocks: first …
  uint32_t second;    // first instruction of the second body
  // by counter of a block and group of 32 blocks. regs NULL: not used; bodies: those that use it
  PtxReg *regs[KINDS][MOST_GROUPS];
  unsigned bodies[KINDS][MOST_GROUPS];
} CountLanes;

// Needs all threads to end in this function: it must be a kernel, and its calls must return.
static bool is_possible(const Counting *w) {
  const Body *b = w->body;
  if (!b->program->plan->spare_registers || !b->func->is_entry || !pass_alone(b->program))
    return false;
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++)
    if (b->cfg->instrs[i]->op == OP_CALL && program_may_not_return(b->cfg->instrs[i])) return false;
  return true;
}

void count_lanes_open(Counting *w, uint32_t first) {
  Body *b = w->body;
  uint32_t n = w->count->ncounters - first;
  if (!is_possible(w) || n > MOST_GROUPS * COUNT_GROUP_SIZE) return;
  CountLanes *l = w->in_lanes = ARENA_NEW(&b->cfg->arena, CountLanes);
  *l = (CountLanes){.slot = body_reg(b, TYPE_B32), .first = first, .n = n};
  l->second = second_body_first(b);
  Code *c = body_entry(b);
  PtxReg *off = body_temp(b, TYPE_PRED, 0);
  code_guard(c, NULL, false);
  EMIT(c, "mov.u32", opd_reg(l->slot), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(c, "setp.eq.u64", opd_reg(off), opd_reg(w->counters), opd_imm(0));
  EMIT(c, "selp.b32", opd_reg(l->slot), opd_imm(NOWHERE), opd_reg(l->slot), opd_reg(off));
}

PtxReg *count_lanes_register(Counting *w, uint32_t block, uint32_t counter) {
  CountLanes *l = w->in_lanes;
  uint32_t at = counter - l->first, which = at % COUNT_GROUP_SIZE / COUNT_GROUP,
           group = at / COUNT_GROUP_SIZE;
  PtxReg **reg = &l->regs[which][group];
  if (!*reg) {
    *reg = body_reg(w->body, TYPE_B32);
    Code *entry = body_entry(w->body);
    code_guard(entry, NULL, false);
    EMIT(entry, "mov.u32", opd_reg(*reg), opd_imm(0));
  }
  l->bodies[which][group] |= w->body->cfg->blocks[block].first < l->second ? 1 : 2;
  return *reg;
}

PtxReg *count_lanes_choose(Counting *w, Code *c, uint32_t block, uint32_t counter, PtxReg *mine) {
  const CountLanes *l = w->in_lanes;
  if (!l || counter < l->first || counter >= l->first + l->n) return NULL;
  uint32_t lane = (counter - l->first) % COUNT_GROUP;
  EMIT(c, "setp.eq.u32", opd_reg(mine), opd_reg(l->slot), opd_imm(lane));
  return count_lanes_register(w, block, counter);
}

// Adds this lane's counters to memory, in lanes that the guard lets pass. body: bits of `bodies`
static void add_to_memory(Counting *w, Code *c, unsigned body, PtxReg *guard, bool negated) {
  CountLanes *l = w->in_lanes;
  PtxReg *any = body_temp(w->body, TYPE_PRED, 0), *wide = body_temp(w->body, TYPE_B64, 0),
         *at = body_temp(w->body, TYPE_B64, 1);
  code_guard(c, NULL, false);
  EMIT(c, "mad.wide.u32", opd_reg(at), opd_reg(l->slot), opd_imm(8), opd_reg(w->counters));
  for (uint32_t which = 0; which < KINDS; which++)
    for (uint32_t g = 0; g < MOST_GROUPS; g++) {
      PtxReg *reg = l->regs[which][g];
      if (!reg || !(l->bodies[which][g] & body)) continue;
      code_guard(c, NULL, false);
      if (guard)
        EMIT(c, "setp.ne.and.u32", opd_reg(any), opd_reg(reg), opd_imm(0),
             negated ? opd_not(guard) : opd_reg(guard));
      else EMIT(c, "setp.ne.u32", opd_reg(any), opd_reg(reg), opd_imm(0));
      EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(reg));
      code_guard(c, any, false);
      int64_t counter = l->first + (int64_t)g * COUNT_GROUP_SIZE + which * COUNT_GROUP;
      EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(at), counter * 8), opd_reg(wide));
    }
  code_guard(c, NULL, false);
}

void count_lanes_flush(Counting *w) {
  Body *b = w->body;
  const IrCfg *cfg = b->cfg;
  if (!w->in_lanes) return;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if (in->op != OP_RET && in->op != OP_EXIT) continue;
    add_to_memory(w, body_before(b, i), i < w->in_lanes->second ? 1 : 2, in->guard,
                  in->guard_negated);
  }
  if (body_end_is_reached(b)) add_to_memory(w, body_before(b, cfg->ninstrs), 3, NULL, false);
}
