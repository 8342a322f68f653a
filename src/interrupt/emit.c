// The code that saves a thread and ends it, and the code that brings it back.
#include "interrupt/stops.h"

// to = to * sreg.selector + sreg2.selector
static void scale_and_add(Code *c, PtxReg *to, PtxSreg size, PtxSelector of, PtxSreg place,
                          PtxSelector at) {
  EMIT(c, "mov.u32", opd_reg(word(c, 1)), opd_sreg(size, of));
  EMIT(c, "mov.u32", opd_reg(word(c, 2)), opd_sreg(place, at));
  EMIT(c, "mad.lo.u32", opd_reg(to), opd_reg(to), opd_reg(word(c, 1)), opd_reg(word(c, 2)));
}

static void number_of(Code *c, PtxReg *to, PtxSreg place, PtxSreg size) {
  EMIT(c, "mov.u32", opd_reg(to), opd_sreg(place, SEL_Z));
  scale_and_add(c, to, size, SEL_Y, place, SEL_Y);
  scale_and_add(c, to, size, SEL_X, place, SEL_X);
}

void emit_thread_in_block(Code *c, PtxReg *to) { number_of(c, to, SREG_TID, SREG_NTID); }

void emit_block_threads(Code *c, PtxReg *to) {
  EMIT(c, "mov.u32", opd_reg(to), opd_sreg(SREG_NTID, SEL_X));
  EMIT(c, "mov.u32", opd_reg(word(c, 1)), opd_sreg(SREG_NTID, SEL_Y));
  EMIT(c, "mul.lo.u32", opd_reg(to), opd_reg(to), opd_reg(word(c, 1)));
  EMIT(c, "mov.u32", opd_reg(word(c, 1)), opd_sreg(SREG_NTID, SEL_Z));
  EMIT(c, "mul.lo.u32", opd_reg(to), opd_reg(to), opd_reg(word(c, 1)));
}

void emit_block(Code *c, PtxReg *to) {
  number_of(c, word(c, 0), SREG_CTAID, SREG_NCTAID);
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(word(c, 0)));
}

void emit_cluster(Code *c, PtxReg *to) { number_of(c, to, SREG_CLUSTERID, SREG_NCLUSTERID); }

static void emit_number(Code *c, PtxReg *to) {
  number_of(c, word(c, 0), SREG_CTAID, SREG_NCTAID);
  emit_block_threads(c, word(c, 3));
  EMIT(c, "mul.lo.u32", opd_reg(word(c, 3)), opd_reg(word(c, 3)), opd_reg(word(c, 0)));
  emit_thread_in_block(c, word(c, 0));
  EMIT(c, "add.u32", opd_reg(word(c, 0)), opd_reg(word(c, 0)), opd_reg(word(c, 3)));
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(word(c, 0)));
}

// --- columns of a context: `at` moves from one to the next ---

typedef struct Column {
  Emitter *e;
  Code *c;
  PtxReg *at, *step;
} Column;

// first: bytes of the columns before
static Column column_begin(Emitter *e, Code *c, uint32_t first, unsigned shift) {
  Column k = {e, c, wide(c, 2), wide(c, 3)};
  load_launch(e, c, k.at, LAUNCH(contexts));
  if (first) {
    EMIT(c, "mul.lo.u64", opd_reg(k.step), opd_reg(e->count), opd_imm(first));
    EMIT(c, "add.u64", opd_reg(k.at), opd_reg(k.at), opd_reg(k.step));
  }
  EMIT(c, "shl.b64", opd_reg(k.step), opd_reg(e->thread), opd_imm(shift));
  EMIT(c, "add.u64", opd_reg(k.at), opd_reg(k.at), opd_reg(k.step));
  EMIT(c, "shl.b64", opd_reg(k.step), opd_reg(e->count), opd_imm(shift));
  return k;
}

static void column_next(Column *k) {
  EMIT(k->c, "add.u64", opd_reg(k->at), opd_reg(k->at), opd_reg(k->step));
}

static PtxOperand column_at(Column *k) { return opd_at(k->c, opd_reg(k->at), 0); }

static void save_word(Column *k, PtxReg *r) {
  Code *c = k->c;
  if (ptx_type_size(r->type) == 2) {
    EMIT(c, "mov.b16", opd_reg(body_temp(c->body, TYPE_B16, 0)), opd_reg(r));
    EMIT(c, "cvt.u32.u16", opd_reg(word(c, 0)), opd_reg(body_temp(c->body, TYPE_B16, 0)));
    r = word(c, 0);
  }
  EMIT(c, "st.global.b32", column_at(k), opd_reg(r));
  column_next(k);
}

static void restore_word(Column *k, PtxReg *r) {
  Code *c = k->c;
  if (ptx_type_size(r->type) == 2) {
    EMIT(c, "ld.global.b32", opd_reg(word(c, 0)), column_at(k));
    EMIT(c, "cvt.u16.u32", opd_reg(body_temp(c->body, TYPE_B16, 0)), opd_reg(word(c, 0)));
    EMIT(c, "mov.b16", opd_reg(r), opd_reg(body_temp(c->body, TYPE_B16, 0)));
  } else {
    EMIT(c, "ld.global.b32", opd_reg(r), column_at(k));
  }
  column_next(k);
}

// 32 predicates are a word.
static void save_preds(Column *k, PtxReg *const *preds, uint32_t n) {
  Code *c = k->c;
  for (uint32_t i = 0; i < n; i++) {
    PtxReg *bits = word(c, 0), *bit = word(c, 1);
    if (i % 32 == 0) EMIT(c, "mov.u32", opd_reg(bits), opd_imm(0));
    EMIT(c, "selp.b32", opd_reg(bit), opd_imm((int64_t)(1u << i % 32)), opd_imm(0),
         opd_reg(preds[i]));
    EMIT(c, "or.b32", opd_reg(bits), opd_reg(bits), opd_reg(bit));
    if (i % 32 == 31 || i + 1 == n) save_word(k, bits);
  }
}

static void restore_preds(Column *k, PtxReg *const *preds, uint32_t n) {
  Code *c = k->c;
  for (uint32_t i = 0; i < n; i++) {
    PtxReg *bits = word(c, 0), *bit = word(c, 1);
    if (i % 32 == 0) restore_word(k, bits);
    EMIT(c, "and.b32", opd_reg(bit), opd_reg(bits), opd_imm((int64_t)(1u << i % 32)));
    EMIT(c, "setp.ne.u32", opd_reg(preds[i]), opd_reg(bit), opd_imm(0));
  }
}

static uint32_t arg_words(const InterruptCall *call) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < call->nparams; i++) n += (call->param_bytes[i] + 3) / 4;
  return n;
}

// --- suspending ---

void emit_this_thread(Emitter *e, Code *c) {
  emit_number(c, e->thread);
  load_launch(e, c, e->count, LAUNCH(threads));
}

// The host looks at its own memory. Of a million threads only the first ones write there.
static void say_suspended(Emitter *e, Code *c) {
  PtxReg *at = wide(c, 2), *known = pred(c, 0);
  PtxLabel *said = body_label(c->body);
  load_launch(e, c, at, LAUNCH(control));
  EMIT(c, "ld.volatile.global.u32", opd_reg(word(c, 0)), opd_at(c, opd_reg(at), 0));
  EMIT(c, "setp.ne.u32", opd_reg(known), opd_reg(word(c, 0)), opd_imm(0));
  code_branch(c, known, false, said);
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(at), 0), opd_imm(1));
  gate_tell(e, c, NEWS_SUSPENDED, said);
  code_label(c, said);
}

void emit_overflow(Emitter *e, Code *c) {
  load_launch(e, c, wide(c, 2), LAUNCH(control));
  EMIT(c, "st.volatile.global.u32",
       opd_at(c, opd_reg(wide(c, 2)), offsetof(InterruptControl, overflow)), opd_imm(1));
  say_suspended(e, c);
}

static void store_state(Emitter *e, Code *c, const Stop *s) {
  load_launch(e, c, wide(c, 2), LAUNCH(states));
  EMIT(c, "shl.b64", opd_reg(wide(c, 3)), opd_reg(e->thread), opd_imm(2));
  EMIT(c, "add.u64", opd_reg(wide(c, 2)), opd_reg(wide(c, 2)), opd_reg(wide(c, 3)));
  EMIT(c, "st.global.u32", opd_at(c, opd_reg(wide(c, 2)), 0), opd_imm(s->number));
  if (s->kind == STOP_CALL) say_suspended(e, c);
}

void emit_suspend(Emitter *e, Code *c, const Stop *s) {
  if (e->stops->uses_async) code_emit(c, "cp.async.wait_all", NULL, 0);
  if (e->stops->uses_bulk) EMIT(c, "cp.async.bulk.wait_group", opd_imm(0));
  emit_this_thread(e, c);
  if (s->nwide) {
    Column k = column_begin(e, c, 0, 3);
    for (uint32_t i = 0; i < s->nwide; i++) {
      EMIT(c, "st.global.b64", column_at(&k), opd_reg(s->saved[i]));
      column_next(&k);
    }
  }
  uint32_t args = s->kind == STOP_CALL ? arg_words(&s->call) : 0;
  if (s->nnarrow || s->npreds || args) {
    Column k = column_begin(e, c, 8 * e->stops->nwide, 2);
    for (uint32_t i = 0; i < s->nnarrow; i++) save_word(&k, s->saved[s->nwide + i]);
    save_preds(&k, s->saved + s->nwide + s->nnarrow, s->npreds);
    // unoptimised code has branches for other numbers of arguments, which are never taken
    for (uint32_t i = 0; i < args; i++)
      if (s->args[i]) save_word(&k, s->args[i]);
  }
  store_state(e, c, s);
  cluster_mark(e, c);
  if (e->block) block_leave(e, c, true);
  else code_emit(c, "exit", NULL, 0);
}

// --- going on ---

static void load_results(Emitter *e, Code *c, const Stop *s) {
  uint32_t bytes = s->call.result_bytes;
  PtxReg *at = wide(c, 2), *rank = word(c, 0);
  if (bytes) {
    load_launch(e, c, at, LAUNCH(ranks));
    EMIT(c, "shl.b64", opd_reg(wide(c, 3)), opd_reg(e->thread), opd_imm(2));
    EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(wide(c, 3)));
    EMIT(c, "ld.global.u32", opd_reg(rank), opd_at(c, opd_reg(at), 0));
    load_launch(e, c, at, LAUNCH(control));
    EMIT(c, "ld.global.u64", opd_reg(at),
         opd_at(c, opd_reg(at), (int64_t)(sizeof(InterruptControl) + 8 * (s->number - 1))));
    EMIT(c, "mul.wide.u32", opd_reg(wide(c, 3)), opd_reg(rank), opd_imm(bytes));
    EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(wide(c, 3)));
  }
  for (uint32_t i = 0; i < INTERRUPT_RESULT_WORDS; i++) {
    if (!s->results[i]) continue;
    PtxOperand from = opd_at(c, opd_reg(at), 4 * i), to = opd_reg(s->results[i]);
    if (4 * i >= bytes) EMIT(c, "mov.b32", to, opd_imm(0));
    else if (bytes == 1) EMIT(c, "ld.global.u8", to, from);
    else if (bytes == 2) EMIT(c, "ld.global.u16", to, from);
    else EMIT(c, "ld.global.b32", to, from);
  }
  if (s->served) EMIT(c, "mov.b32", opd_reg(s->served), opd_imm(1));
}

static void emit_restore(Emitter *e, Code *c, const Stop *s) {
  for (uint32_t i = 0; i < s->nagain; i++) code_instr(c, e->body->cfg->instrs[s->again[i]]);
  if (s->nwide) {
    Column k = column_begin(e, c, 0, 3);
    for (uint32_t i = 0; i < s->nwide; i++) {
      EMIT(c, "ld.global.b64", opd_reg(s->saved[i]), column_at(&k));
      column_next(&k);
    }
  }
  if (s->nnarrow || s->npreds) {
    Column k = column_begin(e, c, 8 * e->stops->nwide, 2);
    for (uint32_t i = 0; i < s->nnarrow; i++) restore_word(&k, s->saved[s->nwide + i]);
    restore_preds(&k, s->saved + s->nwide + s->nnarrow, s->npreds);
  }
  if (s->kind == STOP_CALL) load_results(e, c, s);
  code_branch(c, NULL, false, e->restored[s->number - 1]);
}

// The second kernel begins here: threads that are not suspended end, the others go to their stop.
void emit_dispatch(Emitter *e, Code *c) {
  PtxReg *state = body_reg(e->body, TYPE_B32), *none = body_temp(e->body, TYPE_PRED, 0);
  PtxLabel *ended = body_label(e->body);
  if (e->block) block_enter(e, c);
  emit_this_thread(e, c);
  load_launch(e, c, wide(c, 2), LAUNCH(states));
  EMIT(c, "shl.b64", opd_reg(wide(c, 3)), opd_reg(e->thread), opd_imm(2));
  EMIT(c, "add.u64", opd_reg(wide(c, 2)), opd_reg(wide(c, 2)), opd_reg(wide(c, 3)));
  EMIT(c, "ld.global.u32", opd_reg(state), opd_at(c, opd_reg(wide(c, 2)), 0));
  EMIT(c, "setp.eq.u32", opd_reg(none), opd_reg(state), opd_imm(0));
  code_branch(c, none, false, ended);
  EMIT(c, "st.global.u32", opd_at(c, opd_reg(wide(c, 2)), 0), opd_imm(0));
  for (uint32_t i = 0; i < e->stops->n; i++) {
    PtxLabel *next = body_label(e->body);
    EMIT(c, "setp.ne.u32", opd_reg(none), opd_reg(state), opd_imm(e->stops->list[i].number));
    code_branch(c, none, false, next);
    emit_restore(e, c, &e->stops->list[i]);
    code_label(c, next);
  }
  code_label(c, ended);
  if (e->block) block_leave(e, c, false);
  else code_emit(c, "exit", NULL, 0);
}
