// Threads of a block that need each other: barriers, operations of several lanes, shared memory.
//
// A thread that is suspended has left the kernel, and the hardware no longer waits for it: barriers
// and operations of lanes would pass without it. So each of them first counts the threads that
// arrive (the reduction of a barrier, a vote). If all arrive, nothing else happens. Missing threads
// have ended or are suspended; in the latter case all threads that have arrived are suspended, too,
// and come back to the same place. Counting by reduction makes all of them decide alike: a word in
// memory alone may be changed by a thread that has already gone on.
//
// Suspended threads do not wait in the kernel instead: a barrier that lanes of one warp come to by
// different instructions fails on a GPU (sm_90).
//
// The thread that leaves a block last, ended or suspended, saves its shared memory: stops.h has the
// ways to find out who is the last. InterruptLaunch.stopped says that it was saved, and counts
// LEAVING_TOGETHER.
#include "interrupt/stops.h"

static PtxOperand block_word(Emitter *e, Code *c, unsigned at) {
  return opd_at(c, opd_var(e->block), (int64_t)e->words_at + at);
}

// --- shared memory, copied from or to memory of the launch ---

typedef struct Copying {
  PtxReg *place;  // .b64, where the block's memory is kept
  bool saves;
  PtxReg *rank, *count;  // of the threads that copy; NULL: one copies all of it
} Copying;

// Copies every count-th word of `bytes`, from or to the shared memory at the address in word(7).
static void copy_words(Code *c, const Copying *k, PtxReg *bytes) {
  PtxReg *at = word(c, 5), *from = word(c, 7), *to = word(c, 8), *step = word(c, 6);
  PtxLabel *again = body_label(c->body), *done = body_label(c->body);
  if (k->rank) {
    EMIT(c, "shl.b32", opd_reg(at), opd_reg(k->rank), opd_imm(2));
    EMIT(c, "shl.b32", opd_reg(step), opd_reg(k->count), opd_imm(2));
  } else {
    EMIT(c, "mov.u32", opd_reg(at), opd_imm(0));
    EMIT(c, "mov.u32", opd_reg(step), opd_imm(4));
  }
  code_label(c, again);
  EMIT(c, "setp.ge.u32", opd_reg(pred(c, 0)), opd_reg(at), opd_reg(bytes));
  code_branch(c, pred(c, 0), false, done);
  EMIT(c, "add.u32", opd_reg(to), opd_reg(from), opd_reg(at));
  EMIT(c, "cvt.u64.u32", opd_reg(wide(c, 3)), opd_reg(at));
  EMIT(c, "add.u64", opd_reg(wide(c, 3)), opd_reg(wide(c, 3)), opd_reg(k->place));
  if (k->saves) {
    EMIT(c, "ld.shared.u32", opd_reg(word(c, 9)), opd_at(c, opd_reg(to), 0));
    EMIT(c, "st.global.u32", opd_at(c, opd_reg(wide(c, 3)), 0), opd_reg(word(c, 9)));
  } else {
    EMIT(c, "ld.global.u32", opd_reg(word(c, 9)), opd_at(c, opd_reg(wide(c, 3)), 0));
    EMIT(c, "st.shared.u32", opd_at(c, opd_reg(to), 0), opd_reg(word(c, 9)));
  }
  EMIT(c, "add.u32", opd_reg(at), opd_reg(at), opd_reg(step));
  code_branch(c, NULL, false, again);
  code_label(c, done);
}

static void copy_shared(Emitter *e, Code *c, Copying k, PtxReg *slot) {
  PtxReg *bytes = word(c, 4);
  load_launch(e, c, k.place, LAUNCH(saved));
  load_launch(e, c, wide(c, 3), LAUNCH(saved_stride));
  EMIT(c, "cvt.u64.u32", opd_reg(wide(c, 6)), opd_reg(slot));
  EMIT(c, "mul.lo.u64", opd_reg(wide(c, 3)), opd_reg(wide(c, 3)), opd_reg(wide(c, 6)));
  EMIT(c, "add.u64", opd_reg(k.place), opd_reg(k.place), opd_reg(wide(c, 3)));
  if (e->words_at) {
    EMIT(c, "mov.u32", opd_reg(bytes), opd_imm(e->words_at));
    EMIT(c, "mov.u32", opd_reg(word(c, 7)), opd_var(e->block));
    copy_words(c, &k, bytes);
  }
  if (!e->dynamic) return;
  if (e->words_at) EMIT(c, "add.u64", opd_reg(k.place), opd_reg(k.place), opd_imm(e->words_at));
  EMIT(c, "mov.u32", opd_reg(bytes), opd_sreg(SREG_DYNAMIC_SMEM_SIZE, SEL_NONE));
  EMIT(c, "mov.u32", opd_reg(word(c, 7)), opd_var(e->dynamic));
  copy_words(c, &k, bytes);
}

// stopped[block], slots[block]
static void word_of_block(Emitter *e, Code *c, PtxReg *to, unsigned field, PtxReg *block) {
  load_launch(e, c, to, field);
  EMIT(c, "shl.b64", opd_reg(wide(c, 3)), opd_reg(block), opd_imm(2));
  EMIT(c, "add.u64", opd_reg(to), opd_reg(to), opd_reg(wide(c, 3)));
}

static void stopped_address(Emitter *e, Code *c, PtxReg *to, PtxReg *block) {
  word_of_block(e, c, to, LAUNCH(stopped), block);
}

// The slot where the block's shared memory is saved; the first kernel takes one.
static void find_slot(Emitter *e, Code *c, PtxReg *slot, PtxReg *block) {
  PtxReg *at = wide(c, 6);
  if (!e->resumes) {
    load_launch(e, c, at, LAUNCH(control));
    EMIT(c, "atom.global.add.u32", opd_reg(slot),
         opd_at(c, opd_reg(at), offsetof(InterruptControl, slots)), opd_imm(1));
    emit_wait_for_room(e, c, slot, true);
  }
  word_of_block(e, c, at, LAUNCH(slots), block);
  if (e->resumes) EMIT(c, "ld.global.u32", opd_reg(slot), opd_at(c, opd_reg(at), 0));
  else EMIT(c, "st.global.u32", opd_at(c, opd_reg(at), 0), opd_reg(slot));
}

// --- entering and leaving ---

static void clear(Emitter *e, Code *c, unsigned from, unsigned to) {
  for (unsigned at = from; at < to; at += 4)
    EMIT(c, "st.volatile.shared.u32", block_word(e, c, at), opd_reg(word(c, 0)));
}

// All threads clear the words that every kernel has, which is faster than to choose one of them;
// one clears the rest. Then they wait for each other.
static void clear_words(Emitter *e, Code *c) {
  if (e->stops->leaving != LEAVING_COUNTED) return;
  PtxLabel *others = body_label(c->body);
  if (e->stops->uses_warps) {
    emit_thread_in_block(c, word(c, 0));
    EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_imm(0));
    code_branch(c, pred(c, 0), false, others);
    EMIT(c, "mov.u32", opd_reg(word(c, 0)), opd_imm(0));
    clear(e, c, WORD_WARPS, WORDS_BYTES);
    code_label(c, others);
  }
  EMIT(c, "mov.u32", opd_reg(word(c, 0)), opd_imm(0));
  clear(e, c, 0, WORD_WARPS);
}

void block_enter(Emitter *e, Code *c) {
  PtxReg *block = wide(c, 4), *stopped = wide(c, 5);
  if (e->per_block) emit_block_threads(c, e->per_block);
  if (e->resumes) {
    PtxLabel *goes_on = body_label(c->body);
    emit_block(e, c, block);
    stopped_address(e, c, stopped, block);
    EMIT(c, "ld.global.u32", opd_reg(word(c, 0)), opd_at(c, opd_reg(stopped), 0));
    EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_imm(0));
    code_branch(c, pred(c, 0), false, goes_on);
    code_emit(c, "exit", NULL, 0);
    code_label(c, goes_on);
    emit_thread_in_block(c, word(c, 10));
    emit_block_threads(c, word(c, 11));
    find_slot(e, c, word(c, 12), block);
    copy_shared(e, c, (Copying){wide(c, 2), false, word(c, 10), word(c, 11)}, word(c, 12));
  }
  clear_words(e, c);
  if (e->resumes) EMIT(c, "barrier.sync", opd_imm(0));
  else if (e->waits_at_entry && e->stops->leaving == LEAVING_COUNTED)
    EMIT(c, "bar.sync", opd_imm(0));
  if (!e->resumes) return;
  PtxLabel *others = body_label(c->body);
  emit_thread_in_block(c, word(c, 0));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_imm(0));
  code_branch(c, pred(c, 0), false, others);
  EMIT(c, "st.global.u32", opd_at(c, opd_reg(stopped), 0), opd_imm(0));
  code_label(c, others);
  if (e->stops->leaving != LEAVING_COUNTED) EMIT(c, "barrier.sync", opd_imm(0));
  cluster_enter_again(e, c);
}

static void mark_lane(Emitter *e, Code *c) {
  if (!e->stops->uses_warps) return;
  emit_thread_in_block(c, word(c, 0));
  EMIT(c, "shr.u32", opd_reg(word(c, 0)), opd_reg(word(c, 0)), opd_imm(5));
  EMIT(c, "shl.b32", opd_reg(word(c, 0)), opd_reg(word(c, 0)), opd_imm(2));
  EMIT(c, "mov.u32", opd_reg(word(c, 1)), opd_var(e->block));
  EMIT(c, "add.u32", opd_reg(word(c, 0)), opd_reg(word(c, 0)), opd_reg(word(c, 1)));
  EMIT(c, "mov.u32", opd_reg(word(c, 1)), opd_sreg(SREG_LANEMASK_EQ, SEL_NONE));
  EMIT(c, "red.shared.or.b32", opd_at(c, opd_reg(word(c, 0)), (int64_t)e->words_at + WORD_WARPS),
       opd_reg(word(c, 1)));
}

static void save_block(Emitter *e, Code *c) {
  emit_block(e, c, wide(c, 4));
  find_slot(e, c, word(c, 12), wide(c, 4));
  copy_shared(e, c, (Copying){.place = wide(c, 2), .saves = true}, word(c, 12));
}

// Counts the thread in a word of its block, which also says whether any thread is suspended: the
// thread that is counted last learns it for the whole block. In most blocks no thread is suspended,
// and their threads end here.
static void count_leaving(Emitter *e, Code *c, bool suspended, PtxLabel *ends) {
  PtxReg *left = word(c, 4);
  if (suspended) code_emit(c, "membar.cta", NULL, 0);
  EMIT(c, "red.shared.add.u32", block_word(e, c, WORD_LEFT),
       opd_imm(suspended ? ONE_SUSPENDED + 1 : 1));
  EMIT(c, "ld.volatile.shared.u32", opd_reg(left), block_word(e, c, WORD_LEFT));
  if (suspended) return;
  EMIT(c, "setp.lt.u32", opd_reg(pred(c, 0)), opd_reg(left), opd_imm(ONE_SUSPENDED));
  code_branch(c, pred(c, 0), false, ends);
}

// When all threads have left and one is suspended, one of those that see this saves the shared
// memory.
static void leave_counted(Emitter *e, Code *c, bool suspended, PtxLabel *ends) {
  PtxReg *left = word(c, 4);
  if (suspended) mark_lane(e, c);
  count_leaving(e, c, suspended, ends);
  code_emit(c, "membar.cta", NULL, 0);
  EMIT(c, "and.b32", opd_reg(left), opd_reg(left), opd_imm(ONE_SUSPENDED - 1));
  emit_block_threads(c, word(c, 0));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_reg(left));
  code_branch(c, pred(c, 0), false, ends);
  EMIT(c, "atom.shared.exch.b32", opd_reg(left), block_word(e, c, WORD_SAVER), opd_imm(1));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(left), opd_imm(0));
  code_branch(c, pred(c, 0), false, ends);
  cluster_wait_for_others(e, c);
  save_block(e, c);
  stopped_address(e, c, wide(c, 5), wide(c, 4));
  EMIT(c, "st.global.u32", opd_at(c, opd_reg(wide(c, 5)), 0), opd_imm(1));
}

// Adds one to stopped[block]; `before` gets the old value.
static void count_stopped(Emitter *e, Code *c, PtxReg *before) {
  emit_block(e, c, wide(c, 4));
  stopped_address(e, c, wide(c, 5), wide(c, 4));
  EMIT(c, "atom.global.add.u32", opd_reg(before), opd_at(c, opd_reg(wide(c, 5)), 0), opd_imm(1));
}

static void leave_together(Emitter *e, Code *c, PtxLabel *ends) {
  PtxReg *before = word(c, 4);
  code_emit(c, "membar.cta", NULL, 0);
  count_stopped(e, c, before);
  code_emit(c, "membar.cta", NULL, 0);
  EMIT(c, "add.u32", opd_reg(before), opd_reg(before), opd_imm(1));
  emit_block_threads(c, word(c, 0));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_reg(before));
  code_branch(c, pred(c, 0), false, ends);
  save_block(e, c);
}

// One place for all stops: lanes of a warp must come to a barrier by the same instruction.
void block_wait(Emitter *e) {
  Code *c = body_cold(e->body);
  PtxLabel *ends = body_label(e->body);
  code_label(c, e->leave);
  EMIT(c, "barrier.sync", opd_imm(0));
  count_stopped(e, c, word(c, 4));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 4)), opd_imm(0));
  code_branch(c, pred(c, 0), false, ends);
  save_block(e, c);
  code_label(c, ends);
  code_emit(c, "exit", NULL, 0);
}

void block_leave(Emitter *e, Code *c, bool suspended) {
  PtxLabel *ends = body_label(c->body);
  Leaving how = e->stops->leaving;
  if (how == LEAVING_WAITS && suspended) {
    if (!e->leave) e->leave = body_label(e->body);
    code_branch(c, NULL, false, e->leave);
    return;
  }
  if (how == LEAVING_COUNTED) leave_counted(e, c, suspended, ends);
  else if (suspended) leave_together(e, c, ends);
  code_label(c, ends);
  code_emit(c, "exit", NULL, 0);
}

void block_at_exits(Emitter *e) {
  Body *b = e->body;
  const IrCfg *cfg = b->cfg;
  if (e->stops->leaving != LEAVING_COUNTED) return;
  PtxLabel *leave = body_label(b);
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if ((in->op == OP_RET || in->op == OP_EXIT) && e->stops->counted[i])
      code_branch(body_instead(b, i), in->guard, in->guard_negated, leave);
  }
  code_branch(body_before(b, cfg->ninstrs), NULL, false, leave);
  Code *c = body_cold(b);
  code_label(c, leave);
  block_leave(e, c, false);
}

// --- barrier or suspend ---

static void suspend_if(Emitter *e, Code *cold, const Stop *s, PtxLabel *back) {
  code_branch(cold, pred(cold, 0), true, back);
  emit_suspend(e, cold, s);
}

static void check_barrier(Emitter *e, const Stop *s) {
  const PtxInstr *in = e->body->cfg->instrs[s->at];
  bool stays = ptx_has(in, MOD_RED);
  Code *c = stays ? body_before(e->body, s->at) : body_instead(e->body, s->at);
  PtxLabel *missing = body_label(e->body), *back = body_label(e->body);
  PtxReg *here = word(c, 4);
  PtxOperand id = in->ops[stays ? 1 : 0];
  if (e->resumes) code_label(c, e->restored[s->number - 1]);
  EMIT(c, "mov.pred", opd_reg(pred(c, 1)), opd_imm(1));
  // Other lanes of the warp may be about to leave, or come from another stop.
  if (e->aligned) EMIT(c, "bar.red.popc.u32", opd_reg(here), id, opd_reg(pred(c, 1)));
  else EMIT(c, "barrier.red.popc.u32", opd_reg(here), id, opd_reg(pred(c, 1)));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(here), opd_reg(e->per_block));
  code_branch(c, pred(c, 0), false, missing);
  code_label(c, back);
  Code *cold = body_cold(e->body);
  code_label(cold, missing);
  if (e->stops->leaving == LEAVING_TOGETHER) {  // nobody has ended
    emit_suspend(e, cold, s);
    return;
  }
  EMIT(cold, "ld.volatile.shared.u32", opd_reg(word(cold, 4)), block_word(e, cold, WORD_LEFT));
  EMIT(cold, "barrier.sync", id);  // all have read it before anybody goes on
  EMIT(cold, "setp.ge.u32", opd_reg(pred(cold, 0)), opd_reg(word(cold, 4)), opd_imm(ONE_SUSPENDED));
  suspend_if(e, cold, s, back);
}

static PtxOperand mask_of(const PtxInstr *in) {
  if (ptx_op_classes(in) & CLASS_TENSOR) return opd_imm(-1);
  return in->ops[in->nops - 1];
}

// If all lanes of the mask are here together, none is missing; else they vote.
static void check_warp(Emitter *e, const Stop *s) {
  const PtxInstr *in = e->body->cfg->instrs[s->at];
  Code *c = body_before(e->body, s->at);
  PtxLabel *apart = body_label(e->body), *back = body_label(e->body);
  PtxReg *absent = word(c, 4);
  if (e->resumes) code_label(c, e->restored[s->number - 1]);
  EMIT(c, "activemask.b32", opd_reg(absent));
  EMIT(c, "not.b32", opd_reg(absent), opd_reg(absent));
  EMIT(c, "and.b32", opd_reg(absent), opd_reg(absent), mask_of(in));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(absent), opd_imm(0));
  code_branch(c, pred(c, 0), false, apart);
  code_label(c, back);
  Code *cold = body_cold(e->body);
  code_label(cold, apart);
  EMIT(cold, "mov.pred", opd_reg(pred(cold, 1)), opd_imm(1));
  EMIT(cold, "vote.sync.ballot.b32", opd_reg(absent), opd_reg(pred(cold, 1)), mask_of(in));
  EMIT(cold, "not.b32", opd_reg(absent), opd_reg(absent));
  EMIT(cold, "and.b32", opd_reg(absent), opd_reg(absent), mask_of(in));
  emit_thread_in_block(cold, word(cold, 0));
  EMIT(cold, "shr.u32", opd_reg(word(cold, 0)), opd_reg(word(cold, 0)), opd_imm(5));
  EMIT(cold, "shl.b32", opd_reg(word(cold, 0)), opd_reg(word(cold, 0)), opd_imm(2));
  EMIT(cold, "mov.u32", opd_reg(word(cold, 1)), opd_var(e->block));
  EMIT(cold, "add.u32", opd_reg(word(cold, 0)), opd_reg(word(cold, 0)), opd_reg(word(cold, 1)));
  EMIT(cold, "ld.volatile.shared.u32", opd_reg(word(cold, 0)),
       opd_at(cold, opd_reg(word(cold, 0)), (int64_t)e->words_at + WORD_WARPS));
  EMIT(cold, "and.b32", opd_reg(word(cold, 0)), opd_reg(word(cold, 0)), opd_reg(absent));
  EMIT(cold, "setp.ne.u32", opd_reg(pred(cold, 0)), opd_reg(word(cold, 0)), opd_imm(0));
  suspend_if(e, cold, s, back);
}

// A loop that waits for other threads leaves when any thread of the grid is suspended: it may be
// the one it waits for.
static void check_loop(Emitter *e, const Stop *s) {
  Code *c = body_before(e->body, s->at), *cold = body_cold(e->body);
  PtxLabel *leaves = body_label(e->body);
  if (e->resumes) code_label(c, e->restored[s->number - 1]);
  load_launch(e, c, wide(c, 2), LAUNCH(control));
  EMIT(c, "ld.volatile.global.u32", opd_reg(word(c, 0)),
       opd_at(c, opd_reg(wide(c, 2)), offsetof(InterruptControl, suspended)));
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(word(c, 0)), opd_imm(0));
  code_branch(c, pred(c, 0), false, leaves);
  code_label(cold, leaves);
  emit_suspend(e, cold, s);
}

void block_check(Emitter *e, const Stop *s) {
  if (s->kind == STOP_BARRIER) check_barrier(e, s);
  else if (s->kind == STOP_WARP) check_warp(e, s);
  else if (s->kind == STOP_CLUSTER) cluster_check(e, s);
  else check_loop(e, s);
}
