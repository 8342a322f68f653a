// Keeps counters of blocks inside loops in registers: an iteration then costs additions instead of
// atomic operations on memory. Lanes that count add to their own registers; when the loop is left,
// lanes with non-zero registers add them to memory. The counts stay exact because a loop can only
// be left through its edges, a guarded ret, exit or trap, or a call that does not return, and all
// of these add first. The registers have 64 bits: a loop that spins for hours counts right.
#include "weave/execution_counts.h"

// registers of 64 and of 32 bits for one outermost loop with everything inside it
enum { REGISTERS = 8, SHORT_REGISTERS = 16 };

typedef struct Kept {
  uint32_t counter;
  PtxReg *reg;
  PtxReg *only;   // lanes whose register counts; NULL: all
  bool by_lanes;  // every lane has a part of the sum
} Kept;
typedef struct KeptLoop {
  bool possible;
  uint32_t n;
  Kept kept[REGISTERS];
  uint32_t nshort;
  Kept short_kept[SHORT_REGISTERS];
} KeptLoop;
typedef struct CountLoops {
  uint32_t *top;    // block -> outermost loop around it, IR_NONE: none
  bool *chosen;     // block: its counters are kept
  KeptLoop *loops;  // by loop; outermost ones only
} CountLoops;

static bool inside(const CountLoops *l, uint32_t block, uint32_t top) {
  return l->top[block] == top;
}

static const PtxInstr *last_of(const IrCfg *cfg, const IrBlock *b) {
  return b->end > b->first ? cfg->instrs[b->end - 1] : NULL;
}

static bool leaves(const CountLoops *l, const IrBlock *b, uint32_t top) {
  for (uint32_t i = 0; i < b->nsucc; i++)
    if (!inside(l, b->succ[i], top)) return true;
  return false;
}

// Every exit must be able to hold code: no indexed branch, no empty block.
static bool can_be_flushed(const IrCfg *cfg, const CountLoops *l, const IrLoop *loop,
                           uint32_t top) {
  for (uint32_t i = 0; i < loop->nblocks; i++) {
    const IrBlock *b = &cfg->blocks[loop->blocks[i]];
    const PtxInstr *last = last_of(cfg, b);
    if (leaves(l, b, top) && (!last || last->op == OP_BRX_IDX)) return false;
  }
  const IrBlock *header = &cfg->blocks[loop->header];
  for (uint32_t i = 0; i < header->npred; i++)
    if (!inside(l, header->pred[i], top) && !last_of(cfg, &cfg->blocks[header->pred[i]]))
      return false;
  return true;
}

// How many counters a block wants at most.
static uint32_t cost(const IrCfg *cfg, const IrBlock *b) {
  uint32_t n = 1;
  for (uint32_t i = b->first; i < b->end; i++) {
    n += cfg->instrs[i]->guard != NULL;
    if (cfg->instrs[i]->op == OP_CALL && program_may_not_return(cfg->instrs[i])) n++;
  }
  return n;
}

static uint32_t depth_of(const IrCfg *cfg, uint32_t block) {
  return cfg->loops[cfg->blocks[block].loop].depth;
}

// The innermost blocks of every outermost loop first, as many as fit.
static void choose_blocks(const IrCfg *cfg, CountLoops *l, const IrLoop *loop) {
  uint32_t deepest = 0, left = REGISTERS;
  for (uint32_t i = 0; i < loop->nblocks; i++)
    deepest = MAX(deepest, depth_of(cfg, loop->blocks[i]));
  for (uint32_t depth = deepest; depth > 0 && left; depth--)
    for (uint32_t i = 0; i < loop->nblocks; i++) {
      uint32_t block = loop->blocks[i], want = cost(cfg, &cfg->blocks[block]);
      if (depth_of(cfg, block) != depth || want > left) continue;
      l->chosen[block] = true;
      left -= want;
    }
}

void count_loops_choose(Counting *w) {
  IrCfg *cfg = w->body->cfg;
  if (!cfg->nloops) return;
  CountLoops *l = w->loops = ARENA_NEW(&cfg->arena, CountLoops);
  l->top = ARENA_ARRAY(&cfg->arena, uint32_t, cfg->nblocks);
  l->chosen = ARENA_ARRAY(&cfg->arena, bool, cfg->nblocks);
  l->loops = ARENA_ARRAY(&cfg->arena, KeptLoop, cfg->nloops);
  for (uint32_t b = 0; b < cfg->nblocks; b++) l->top[b] = IR_NONE;
  for (uint32_t i = 0; i < cfg->nloops; i++)
    for (uint32_t k = 0; cfg->loops[i].parent == IR_NONE && k < cfg->loops[i].nblocks; k++)
      l->top[cfg->loops[i].blocks[k]] = i;
  for (uint32_t i = 0; i < cfg->nloops; i++) {
    if (cfg->loops[i].parent != IR_NONE || !can_be_flushed(cfg, l, &cfg->loops[i], i)) continue;
    l->loops[i].possible = true;
    // an iteration of a large loop takes so long that 32 bits of a lane are enough
    if (w->in_lanes && cfg->loops[i].nblocks > REGISTERS) continue;
    choose_blocks(cfg, l, &cfg->loops[i]);
  }
}

PtxReg *count_loops_register(Counting *w, uint32_t block, uint32_t counter, PtxReg *only) {
  CountLoops *l = w->loops;
  if (!l || !l->chosen[block]) return NULL;
  KeptLoop *loop = &l->loops[l->top[block]];
  CHECK(loop->n < REGISTERS);  // cost() was an upper bound
  PtxReg *reg = body_reg(w->body, TYPE_B64);
  loop->kept[loop->n++] = (Kept){counter, reg, only, false};
  return reg;
}

bool count_loops_has_room(const Counting *w, uint32_t block, uint32_t n) {
  const CountLoops *l = w->loops;
  if (!l || l->top[block] == IR_NONE || !l->loops[l->top[block]].possible) return false;
  return l->loops[l->top[block]].nshort + n <= SHORT_REGISTERS;
}

PtxReg *count_loops_short_register(Counting *w, uint32_t block, uint32_t counter, PtxReg *only) {
  CountLoops *l = w->loops;
  if (!count_loops_has_room(w, block, 1)) return NULL;
  KeptLoop *loop = &l->loops[l->top[block]];
  PtxReg *reg = body_reg(w->body, TYPE_B32);
  loop->short_kept[loop->nshort++] = (Kept){counter, reg, only, false};
  return reg;
}

PtxReg *count_loops_lanes_register(Counting *w, uint32_t block, uint32_t counter) {
  PtxReg *reg = count_loops_short_register(w, block, counter, NULL);
  if (!reg) return NULL;
  KeptLoop *loop = &w->loops->loops[w->loops->top[block]];
  loop->short_kept[loop->nshort - 1].by_lanes = true;
  return reg;
}

static void set_to_zero(Code *c, const KeptLoop *loop) {
  code_guard(c, NULL, false);
  for (uint32_t i = 0; i < loop->nshort; i++)
    EMIT(c, "mov.u32", opd_reg(loop->short_kept[i].reg), opd_imm(0));
  for (uint32_t i = 0; i < loop->n; i++) EMIT(c, "mov.u64", opd_reg(loop->kept[i].reg), opd_imm(0));
}

bool count_may_reduce(const Body *b) {
  const char *target = b->func->module->target;
  return target && !strncmp(target, "sm_", 3) && atoi(target + 3) >= 80;
}

// Adds the parts of all lanes that `guard` lets pass: where redux.sync exists one lane adds their
// sum, else each lane adds its own.
static void add_sum_to_memory(Counting *w, Code *c, const Kept *k, PtxReg *guard, bool negated) {
  Body *b = w->body;
  PtxReg *sum = body_temp(b, TYPE_B32, 0), *lanes = body_temp(b, TYPE_B32, 1),
         *leads = body_temp(b, TYPE_PRED, 0), *wide = body_temp(b, TYPE_B64, 0);
  PtxOperand part = opd_reg(k->reg), none = opd_imm(0);
  code_guard(c, NULL, false);
  if (guard)
    EMIT(c, "selp.b32", opd_reg(sum), negated ? none : part, negated ? part : none, opd_reg(guard));
  else EMIT(c, "mov.b32", opd_reg(sum), part);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  if (count_may_reduce(b)) {
    EMIT(c, "redux.sync.add.u32", opd_reg(sum), opd_reg(sum), opd_reg(lanes));
    EMIT(c, "and.b32", opd_reg(lanes), opd_reg(lanes), opd_reg(w->lower));
    EMIT(c, "setp.eq.u32", opd_reg(leads), opd_reg(lanes), opd_imm(0));
    EMIT(c, "setp.ne.and.u32", opd_reg(leads), opd_reg(sum), opd_imm(0), opd_reg(leads));
  } else {
    EMIT(c, "setp.ne.u64", opd_reg(leads), opd_reg(w->counters), opd_imm(0));
    EMIT(c, "setp.ne.and.u32", opd_reg(leads), opd_reg(sum), opd_imm(0), opd_reg(leads));
  }
  EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(sum));
  code_guard(c, leads, false);
  EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(w->counters), k->counter * 8ll), opd_reg(wide));
  code_guard(c, NULL, false);
}

// Adds only in lanes that `guard`, if there is one, lets pass.
static void add_to_memory(Counting *w, Code *c, const KeptLoop *loop, PtxReg *guard, bool negated) {
  PtxReg *any = body_temp(w->body, TYPE_PRED, 0), *wide = body_temp(w->body, TYPE_B64, 0);
  for (uint32_t i = 0; i < loop->n + loop->nshort; i++) {
    const Kept *k = i < loop->n ? &loop->kept[i] : &loop->short_kept[i - loop->n];
    PtxOperand kept = opd_reg(k->reg);
    if (k->by_lanes) {
      add_sum_to_memory(w, c, k, guard, negated);
      continue;
    }
    code_guard(c, NULL, false);
    if (i >= loop->n) {
      EMIT(c, "cvt.u64.u32", opd_reg(wide), kept);
      kept = opd_reg(wide);
    }
    if (guard)
      EMIT(c, "setp.ne.and.u64", opd_reg(any), kept, opd_imm(0),
           negated ? opd_not(guard) : opd_reg(guard));
    else EMIT(c, "setp.ne.u64", opd_reg(any), kept, opd_imm(0));
    if (k->only) EMIT(c, "and.pred", opd_reg(any), opd_reg(any), opd_reg(k->only));
    code_guard(c, any, false);
    EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(w->counters), k->counter * 8ll), kept);
  }
  code_guard(c, NULL, false);
}

// A guarded branch out of the loop: @p bra X  becomes  @!p bra over; add; bra X; over:
static void add_on_taken_edge(Counting *w, uint32_t i, const KeptLoop *loop) {
  PtxInstr *in = w->body->cfg->instrs[i];
  Code *c = body_instead(w->body, i);
  PtxLabel *over = body_label(w->body);
  code_guard(c, in->guard, !in->guard_negated);
  EMIT(c, "bra", opd_label(over));
  add_to_memory(w, c, loop, NULL, false);
  PtxInstr *jump = code_instr(c, in);
  jump->guard = NULL;
  jump->guard_negated = false;
  code_label(c, over);
}

static void flush_block(Counting *w, const CountLoops *l, uint32_t block, uint32_t top) {
  const IrCfg *cfg = w->body->cfg;
  const IrBlock *b = &cfg->blocks[block];
  const KeptLoop *loop = &l->loops[top];
  for (uint32_t i = b->first; i < b->end; i++)
    if (cfg->instrs[i]->op == OP_CALL && program_may_not_return(cfg->instrs[i])) {
      Code *c = body_before(w->body, i);
      add_to_memory(w, c, loop, NULL, false);
      set_to_zero(c, loop);
    }
  const PtxInstr *last = last_of(cfg, b);
  if (!last) return;
  uint32_t at = b->end - 1;
  bool falls = b->nsucc && b->succ[b->nsucc - 1] == block + 1 &&
               (last->op != OP_BRA || last->guard);
  if ((last->op == OP_RET || last->op == OP_EXIT || last->op == OP_TRAP) && last->guard)
    add_to_memory(w, body_before(w->body, at), loop, last->guard, last->guard_negated);
  if (last->op == OP_BRA && !inside(l, b->succ[0], top)) {
    if (last->guard) add_on_taken_edge(w, at, loop);
    else add_to_memory(w, body_before(w->body, at), loop, NULL, false);
  }
  if (falls && !inside(l, block + 1, top))
    add_to_memory(w, body_after(w->body, at), loop, NULL, false);
}

// Before the loop the registers become zero: at the end of every block that leads to its header.
static void enter_loop(Counting *w, const CountLoops *l, uint32_t top) {
  const IrCfg *cfg = w->body->cfg;
  uint32_t header = cfg->loops[top].header;
  if (header == 0) set_to_zero(body_entry(w->body), &l->loops[top]);
  for (uint32_t i = 0; i < cfg->blocks[header].npred; i++) {
    uint32_t pred = cfg->blocks[header].pred[i];
    const IrBlock *b = &cfg->blocks[pred];
    if (inside(l, pred, top) || b->rpo == IR_NONE) continue;
    const PtxInstr *last = last_of(cfg, b);
    bool jumps = last->op == OP_BRA || last->op == OP_BRX_IDX || last->op == OP_RET ||
                 last->op == OP_EXIT || last->op == OP_TRAP;
    set_to_zero(jumps ? body_before(w->body, b->end - 1) : body_after(w->body, b->end - 1),
                &l->loops[top]);
  }
}

void count_loops_flush(Counting *w) {
  const IrCfg *cfg = w->body->cfg;
  CountLoops *l = w->loops;
  for (uint32_t i = 0; i < cfg->nloops; i++) {
    if (!l->loops[i].possible || !(l->loops[i].n + l->loops[i].nshort)) continue;
    enter_loop(w, l, i);
    for (uint32_t k = 0; k < cfg->loops[i].nblocks; k++)
      flush_block(w, l, cfg->loops[i].blocks[k], i);
  }
}
