// cp.async.bulk and cp.reduce.async.bulk: copies of a number of bytes that the thread computes.
// Each 16 bytes become a load and a store (for a reduction: an atomic operation) of that thread.
//
// Everything is recorded before the copy starts: its source is complete by then, and a thread that
// waits for the copy may overwrite the source while we would still read it. If memcheck skips the
// instruction, it skips the code before it, too.
#include "tools/record/internal.h"

enum { PIECE = WG_TRACE_PIECE, RANKS = 16 };

typedef struct Bulk {
  Recorder *t;
  const PtxInstr *in;
  Code *c;
  PtxSpace to, from;
  unsigned writes;  // class of what it does at its destination
} Bulk;

static void set_out(Bulk *b) {
  access_address(b->c, b->t->from, &b->in->ops[1]);
  EMIT(b->c, "mov.b32", opd_reg(b->t->left), b->in->ops[2]);
}

// A loop over the pieces: records what is read, what is written, or both.
static void pieces(Bulk *b, bool loads, bool stores) {
  Recorder *t = b->t;
  Code *c = b->c;
  PtxReg *done = body_temp(t->body, TYPE_PRED, 0);
  PtxLabel *next = body_label(t->body), *end = body_label(t->body);
  code_label(c, next);
  EMIT(c, "setp.lt.u32", opd_reg(done), opd_reg(t->left), opd_imm(PIECE));
  code_branch(c, done, false, end);
  recorder_read_memory(t, c, t->from, b->from, PIECE);
  if (loads)
    recorder_piece(t, c,
                   &(RecorderPiece){b->in, &b->in->ops[1], t->from, CLASS_LOAD, b->from, PIECE});
  if (stores)
    recorder_piece(t, c, &(RecorderPiece){b->in, &b->in->ops[0], t->to, b->writes, b->to, PIECE});
  EMIT(c, "add.u64", opd_reg(t->from), opd_reg(t->from), opd_imm(PIECE));
  if (stores) EMIT(c, "add.u64", opd_reg(t->to), opd_reg(t->to), opd_imm(PIECE));
  EMIT(c, "sub.u32", opd_reg(t->left), opd_reg(t->left), opd_imm(PIECE));
  EMIT(c, "bra", opd_label(next));
  code_label(c, end);
}

// The copy goes to the same offset in several blocks of the cluster. The address in the thread's
// own block is the one that its other threads use.
void recorder_each_rank(Recorder *t, Code *c, const PtxOperand *mask, const PtxOperand *address,
                        void (*emit)(void *user), void *user) {
  PtxReg *bit = body_temp(t->body, TYPE_B32, 0), *there = body_temp(t->body, TYPE_B32, 1),
         *half = body_temp(t->body, TYPE_B16, 0), *p = body_temp(t->body, TYPE_PRED, 0);
  PtxLabel *next = body_label(t->body), *own = body_label(t->body), *over = body_label(t->body),
           *end = body_label(t->body);
  EMIT(c, "mov.u32", opd_reg(t->rank), opd_imm(0));
  code_label(c, next);
  EMIT(c, "mov.b16", opd_reg(half), *mask);
  EMIT(c, "cvt.u32.u16", opd_reg(bit), opd_reg(half));
  EMIT(c, "shr.u32", opd_reg(bit), opd_reg(bit), opd_reg(t->rank));
  EMIT(c, "and.b32", opd_reg(bit), opd_reg(bit), opd_imm(1));
  EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(bit), opd_imm(0));
  code_branch(c, p, false, over);
  access_address(c, t->to, address);
  EMIT(c, "mov.u32", opd_reg(bit), opd_sreg(SREG_CLUSTER_CTARANK, SEL_NONE));
  EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(t->rank), opd_reg(bit));
  code_branch(c, p, false, own);
  EMIT(c, "cvt.u32.u64", opd_reg(there), opd_reg(t->to));
  EMIT(c, "mapa.shared::cluster.u32", opd_reg(there), opd_reg(there), opd_reg(t->rank));
  EMIT(c, "cvt.u64.u32", opd_reg(t->to), opd_reg(there));
  code_label(c, own);
  emit(user);
  code_label(c, over);
  EMIT(c, "add.u32", opd_reg(t->rank), opd_reg(t->rank), opd_imm(1));
  EMIT(c, "setp.ge.u32", opd_reg(p), opd_reg(t->rank), opd_imm(RANKS));
  code_branch(c, p, false, end);
  EMIT(c, "bra", opd_label(next));
  code_label(c, end);
}

static void pieces_there(void *user) {
  set_out(user);
  pieces(user, false, true);
}

// Copies only some of each 16 bytes, or stops at the end of an allocation: which bytes is not
// known.
static bool leaves_some_out(const PtxInstr *in) {
  return ptx_has(in, MOD_CP_MASK) || ptx_has(in, MOD_IGNORE_OOB);
}

bool recorder_bulk_copy(Recorder *t, uint32_t i, const PtxInstr *in) {
  bool cluster;
  Bulk b = {.t = t,
            .in = in,
            .to = access_bulk_space(in, 0, &cluster),
            .from = access_bulk_space(in, 1, &cluster),
            .writes = in->op == OP_CP_ASYNC_BULK ? CLASS_STORE : CLASS_ATOMIC};
  if (b.to == SPACE_NONE || b.from == SPACE_NONE || leaves_some_out(in)) return false;
  recorder_reg(t, &t->from, TYPE_B64);
  recorder_reg(t, &t->to, TYPE_B64);
  recorder_reg(t, &t->left, TYPE_B32);
  recorder_reg(t, &t->rank, TYPE_B32);
  b.c = body_before(t->body, i);
  PtxLabel *over = recorder_guard(t, b.c, in);
  set_out(&b);
  if (ptx_has(in, MOD_MULTICAST_CLUSTER)) {
    pieces(&b, true, false);
    recorder_each_rank(t, b.c, &in->ops[4], &in->ops[0], pieces_there, &b);
  } else {
    access_address(b.c, t->to, &in->ops[0]);
    pieces(&b, true, true);
  }
  if (ptx_has(in, MOD_COMPLETE_TX_BYTES)) recorder_completes_at(t, b.c, in, &in->ops[3]);
  code_label(b.c, over);
  return true;
}
