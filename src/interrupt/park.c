// Blocks in which no operation of several lanes follows an interrupt: a suspended thread does not
// leave, it parks at the barrier until all threads of its block are suspended or have ended.
//
// The barriers of the program become reductions: "is anybody parked?" Nobody is, mostly, and that
// costs little more than the barrier alone; threads that end do nothing at all. Where somebody is,
// all that came to the barrier are suspended there. A parked thread passes when all others of the
// block came to a barrier (and are suspended), are parked, or have ended: then all of them save the
// shared memory together, and leave.
#include "interrupt/stops.h"

static PtxReg *word(Code *c, unsigned k) { return body_temp(c->body, TYPE_B32, k); }
static PtxReg *pred(Code *c, unsigned k) { return body_temp(c->body, TYPE_PRED, k); }

static void meet(Code *c, bool parked) {
  EMIT(c, "mov.pred", opd_reg(pred(c, 1)), opd_imm(parked));
  EMIT(c, "barrier.red.or.pred", opd_reg(pred(c, 0)), opd_imm(0), opd_reg(pred(c, 1)));
}

void park_barrier(Emitter *e, const Stop *s) {
  const PtxInstr *in = e->body->cfg->instrs[s->at];
  bool stays = ptx_has(in, MOD_RED);
  Code *c = stays ? body_before(e->body, s->at) : body_instead(e->body, s->at);
  PtxLabel *parked = body_label(e->body);
  body_copied(e->body, s->at);  // its registers are saved out of line
  if (e->resumes) code_label(c, e->restored[s->number - 1]);
  meet(c, false);
  code_branch(c, pred(c, 0), false, parked);
  Code *cold = body_cold(e->body);
  code_label(cold, parked);
  emit_suspend(e, cold, s);
}

void park_leave(Emitter *e, Code *c, const Stop *s) {
  code_branch(c, NULL, false, s->kind == STOP_BARRIER ? e->drained : e->park);
}

void park_at_end(Emitter *e) {
  Code *c = body_cold(e->body);
  PtxReg *rank = word(c, 10), *count = word(c, 11);
  PtxOperand counted = opd_at(c, opd_var(e->block), (int64_t)e->words_at + WORD_LEFT);
  code_label(c, e->park);
  meet(c, true);
  code_label(c, e->drained);
  EMIT(c, "atom.shared.exch.b32", opd_reg(rank), counted, opd_imm(0));
  EMIT(c, "barrier.sync", opd_imm(0));
  EMIT(c, "atom.shared.add.u32", opd_reg(rank), counted, opd_imm(1));
  EMIT(c, "barrier.sync", opd_imm(0));
  EMIT(c, "ld.volatile.shared.u32", opd_reg(count), counted);
  block_save(e, c, rank, count);
  code_emit(c, "exit", NULL, 0);
}
