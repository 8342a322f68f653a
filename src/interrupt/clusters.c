// Barriers of a cluster.
//
// They have no reduction that could count the threads that arrive. So a thread that is suspended
// sets a word of its cluster, and after each barrier all threads read it. They decide alike, since
// a second barrier follows: no thread goes on, and sets the word for the next barrier, before all
// have read it.
//
// Blocks of a cluster use each other's shared memory. So a block with suspended threads stays until
// the whole cluster has come so far: the thread that leaves it last takes part in the two barriers
// in place of all others, which have left and are not waited for. Then it saves the shared memory.
#include "interrupt/stops.h"

uint32_t clusters_arrive_of(const IrCfg *c, uint32_t wait) {
  uint32_t first = c->blocks[c->block_of[wait]].first;
  if (c->instrs[wait]->guard) return IR_NONE;
  for (uint32_t i = wait; i-- > first;) {
    const PtxInstr *in = c->instrs[i];
    if (in->op == OP_BARRIER_CLUSTER) return in->guard || ptx_has(in, MOD_WAIT) ? IR_NONE : i;
    if (stops_is_call(in) || in->op == OP_CALL || ptx_op_order(in->op) != ORDER_NONE)
      return IR_NONE;
  }
  return IR_NONE;
}

static void synchronise(Code *c) {
  code_emit(c, "barrier.cluster.arrive", NULL, 0);
  code_emit(c, "barrier.cluster.wait", NULL, 0);
}

// The address of the word of this cluster.
static void word_address(Emitter *e, Code *c, PtxReg *to) {
  emit_cluster(c, word(c, 0));
  EMIT(c, "mul.wide.u32", opd_reg(wide(c, 3)), opd_reg(word(c, 0)), opd_imm(4));
  load_launch(e, c, to, LAUNCH(clusters));
  EMIT(c, "add.u64", opd_reg(to), opd_reg(to), opd_reg(wide(c, 3)));
}

void cluster_mark(Emitter *e, Code *c) {
  if (!e->stops->uses_clusters) return;
  word_address(e, c, wide(c, 2));
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(wide(c, 2)), 0), opd_imm(1));
  code_emit(c, "membar.gl", NULL, 0);
}

void cluster_wait_for_others(Emitter *e, Code *c) {
  if (!e->stops->uses_clusters) return;
  synchronise(c);
  synchronise(c);
}

// All threads of the stopped blocks are here, and their shared memory is as it was.
void cluster_enter_again(Emitter *e, Code *c) {
  if (!e->stops->uses_clusters) return;
  word_address(e, c, wide(c, 2));
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(wide(c, 2)), 0), opd_imm(0));
  code_emit(c, "membar.gl", NULL, 0);
  synchronise(c);
}

// Moves the arrive behind, to the wait. Threads arrive later than they might, but no thread waits
// for the arrival alone.
void cluster_check(Emitter *e, const Stop *s) {
  body_instead(e->body, clusters_arrive_of(e->body->cfg, s->at));
  Code *c = body_instead(e->body, s->at);
  PtxLabel *leaves = body_label(e->body);
  PtxReg *found = word(c, 4);
  if (e->resumes) code_label(c, e->restored[s->number - 1]);
  synchronise(c);
  word_address(e, c, wide(c, 2));
  EMIT(c, "ld.volatile.global.u32", opd_reg(found), opd_at(c, opd_reg(wide(c, 2)), 0));
  synchronise(c);
  EMIT(c, "setp.ne.u32", opd_reg(pred(c, 0)), opd_reg(found), opd_imm(0));
  code_branch(c, pred(c, 0), false, leaves);
  Code *cold = body_cold(e->body);
  code_label(cold, leaves);
  emit_suspend(e, cold, s);
}
