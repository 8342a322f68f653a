// The code that saves a thread and ends it, and the code that restores it.
#include "interrupt/stops.h"

enum { ROOM_PAUSE_NS = 5000 };  // between two looks of a thread that waits for memory

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

static void block_number(Emitter *e, Code *c, PtxReg *to) {
  if (e->number) EMIT(c, "mov.u32", opd_reg(to), opd_reg(e->number));
  else number_of(c, to, SREG_CTAID, SREG_NCTAID);
}

void emit_block(Emitter *e, Code *c, PtxReg *to) {
  block_number(e, c, word(c, 0));
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(word(c, 0)));
}

void emit_cluster(Code *c, PtxReg *to) { number_of(c, to, SREG_CLUSTERID, SREG_NCLUSTERID); }

void emit_this_thread(Emitter *e, Code *c) {
  block_number(e, c, word(c, 0));
  emit_block_threads(c, word(c, 3));
  EMIT(c, "mul.lo.u32", opd_reg(word(c, 3)), opd_reg(word(c, 3)), opd_reg(word(c, 0)));
  emit_thread_in_block(c, word(c, 0));
  EMIT(c, "add.u32", opd_reg(word(c, 0)), opd_reg(word(c, 0)), opd_reg(word(c, 3)));
  EMIT(c, "cvt.u64.u32", opd_reg(e->thread), opd_reg(word(c, 0)));
}

// --- blocks that enter the second kernel ---

static void load_word(Emitter *e, Code *c, PtxReg *to, unsigned offset) {
  EMIT(c, "ld.param.u32", opd_reg(to), opd_at(c, opd_var(e->launch), offset));
}

// Gives the registers in place of %ctaid and %nctaid their values in the program's launch.
static void set_coordinates(Emitter *e, Code *c) {
  PtxReg *rest = word(c, 1), *size = word(c, 2);
  EMIT(c, "mov.u32", opd_reg(rest), opd_reg(e->number));
  for (unsigned i = 0; i < 3; i++) {
    load_word(e, c, size, LAUNCH(grid) + 4 * i);
    if (e->listed->size[i]) EMIT(c, "mov.u32", opd_reg(e->listed->size[i]), opd_reg(size));
    if (e->listed->at[i])
      EMIT(c, "rem.u32", opd_reg(e->listed->at[i]), opd_reg(rest), opd_reg(size));
    if (i < 2) EMIT(c, "div.u32", opd_reg(rest), opd_reg(rest), opd_reg(size));
  }
}

void emit_listed(Emitter *e, Code *c) {
  PtxLabel *known = body_label(c->body);
  if (!e->listed) return;
  e->number = NULL;
  PtxReg *number = body_reg(c->body, TYPE_B32), *at = wide(c, 2);
  block_number(e, c, number);
  e->number = number;
  load_launch(e, c, at, LAUNCH(list));
  EMIT(c, "setp.eq.u64", opd_reg(pred(c, 0)), opd_reg(at), opd_imm(0));
  code_branch(c, pred(c, 0), false, known);
  EMIT(c, "mul.wide.u32", opd_reg(wide(c, 3)), opd_reg(number), opd_imm(4));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(wide(c, 3)));
  EMIT(c, "ld.global.u32", opd_reg(number), opd_at(c, opd_reg(at), 0));
  code_label(c, known);
  set_coordinates(e, c);
}

// --- places ---

// The thread's mark: word(3) gets the number of its word, word(1) its bit.
static void mark_of_thread(Emitter *e, Code *c) {
  PtxReg *thread = word(c, 0), *bit = word(c, 1), *at = word(c, 3), *words = word(c, 4);
  block_number(e, c, at);
  emit_block_threads(c, words);
  EMIT(c, "add.u32", opd_reg(words), opd_reg(words), opd_imm(31));
  EMIT(c, "shr.u32", opd_reg(words), opd_reg(words), opd_imm(5));
  EMIT(c, "mul.lo.u32", opd_reg(at), opd_reg(at), opd_reg(words));
  emit_thread_in_block(c, thread);
  EMIT(c, "shr.u32", opd_reg(words), opd_reg(thread), opd_imm(5));
  EMIT(c, "add.u32", opd_reg(at), opd_reg(at), opd_reg(words));
  EMIT(c, "and.b32", opd_reg(thread), opd_reg(thread), opd_imm(31));
  EMIT(c, "mov.u32", opd_reg(bit), opd_imm(1));
  EMIT(c, "shl.b32", opd_reg(bit), opd_reg(bit), opd_reg(thread));
}

// to = the launch's field + 4 * word(3)
static void word_at(Emitter *e, Code *c, PtxReg *to, unsigned field) {
  load_launch(e, c, to, field);
  EMIT(c, "mul.wide.u32", opd_reg(wide(c, 3)), opd_reg(word(c, 3)), opd_imm(4));
  EMIT(c, "add.u64", opd_reg(to), opd_reg(to), opd_reg(wide(c, 3)));
}

// Asks the host for room, if no other thread does.
static void ask_for_room(Emitter *e, Code *c, PtxReg *taken, bool slots) {
  PtxReg *control = wide(c, 2), *news = wide(c, 3), *found = word(c, 0), *p = pred(c, 0);
  PtxLabel *other = body_label(c->body);
  unsigned wants = slots ? offsetof(InterruptNews, wants_slots)
                         : offsetof(InterruptNews, wants_places),
           room = slots ? offsetof(InterruptNews, room_slots)
                        : offsetof(InterruptNews, room_places),
           here = slots ? offsetof(InterruptControl, room_slots)
                        : offsetof(InterruptControl, room_places);
  PtxOperand asking = opd_at(c, opd_reg(control), offsetof(InterruptControl, asking));
  EMIT(c, "ld.volatile.global.u32", opd_reg(found), asking);
  EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(found), opd_imm(0));
  code_branch(c, p, false, other);
  EMIT(c, "atom.global.exch.b32", opd_reg(found), asking, opd_imm(1));
  EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(found), opd_imm(0));
  code_branch(c, p, false, other);
  load_launch(e, c, news, LAUNCH(notify));
  EMIT(c, "add.u32", opd_reg(found), opd_reg(taken), opd_imm(1));
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(news), wants), opd_reg(found));
  EMIT(c, "ld.volatile.global.u32", opd_reg(found), opd_at(c, opd_reg(news), room));
  EMIT(c, "st.volatile.global.u32", opd_at(c, opd_reg(control), here), opd_reg(found));
  EMIT(c, "ld.volatile.global.u32", opd_reg(found),
       opd_at(c, opd_reg(news), offsetof(InterruptNews, refused)));
  EMIT(c, "st.volatile.global.u32",
       opd_at(c, opd_reg(control), offsetof(InterruptControl, refused)), opd_reg(found));
  EMIT(c, "st.volatile.global.u32", asking, opd_imm(0));
  code_label(c, other);
}

void emit_wait_for_room(Emitter *e, Code *c, PtxReg *taken, bool slots) {
  PtxLabel *again = body_label(c->body), *fits = body_label(c->body);
  PtxReg *found = word(c, 0), *control = wide(c, 2), *p = pred(c, 0);
  if (!e->waits_for_room) return;
  load_word(e, c, found, slots ? LAUNCH(room_slots) : LAUNCH(room_places));
  EMIT(c, "setp.lt.u32", opd_reg(p), opd_reg(taken), opd_reg(found));
  code_branch(c, p, false, fits);
  load_launch(e, c, control, LAUNCH(control));
  code_label(c, again);
  EMIT(c, "ld.volatile.global.u32", opd_reg(found),
       opd_at(c, opd_reg(control),
              slots ? offsetof(InterruptControl, room_slots)
                    : offsetof(InterruptControl, room_places)));
  EMIT(c, "setp.lt.u32", opd_reg(p), opd_reg(taken), opd_reg(found));
  code_branch(c, p, false, fits);
  ask_for_room(e, c, taken, slots);
  if (e->body->func->module->sm >= 70) EMIT(c, "nanosleep.u32", opd_imm(ROOM_PAUSE_NS));
  EMIT(c, "ld.volatile.global.u32", opd_reg(found),
       opd_at(c, opd_reg(control), offsetof(InterruptControl, refused)));
  EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(found), opd_imm(0));
  code_branch(c, p, false, again);
  code_emit(c, "exit", NULL, 0);
  code_label(c, fits);
}

// wide(2): the address of the place's first column of 1 << shift bytes
static void place_address(Emitter *e, Code *c, PtxReg *place, unsigned shift) {
  PtxReg *at = wide(c, 2), *more = wide(c, 3), *part = word(c, 0);
  EMIT(c, "shr.u32", opd_reg(part), opd_reg(place), opd_imm(5));
  EMIT(c, "mul.wide.u32", opd_reg(more), opd_reg(part), opd_imm(32 * (int64_t)e->place_bytes));
  load_launch(e, c, at, LAUNCH(places));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(more));
  EMIT(c, "and.b32", opd_reg(part), opd_reg(place), opd_imm(31));
  EMIT(c, "mul.wide.u32", opd_reg(more), opd_reg(part), opd_imm(1 << shift));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(more));
}

static PtxOperand place_word(Code *c, unsigned at) {
  return opd_at(c, opd_reg(wide(c, 2)), 32 * (int64_t)at);
}

// One lane takes places for all active lanes from the counter at `at`; n gets this lane's number
// among that counter's places.
static void count_lanes(Code *c, PtxReg *at, PtxReg *n) {
  PtxReg *here = word(c, 5), *lower = word(c, 6), *all = word(c, 7), *leads = pred(c, 0);
  EMIT(c, "activemask.b32", opd_reg(here));
  EMIT(c, "mov.u32", opd_reg(lower), opd_sreg(SREG_LANEMASK_LT, SEL_NONE));
  EMIT(c, "and.b32", opd_reg(lower), opd_reg(lower), opd_reg(here));
  EMIT(c, "popc.b32", opd_reg(lower), opd_reg(lower));
  EMIT(c, "popc.b32", opd_reg(all), opd_reg(here));
  EMIT(c, "setp.eq.u32", opd_reg(leads), opd_reg(lower), opd_imm(0));
  EMIT(c, "mov.u32", opd_reg(n), opd_imm(0));
  code_guard(c, leads, false);
  EMIT(c, "atom.global.add.u32", opd_reg(n),
       opd_at(c, opd_reg(at), offsetof(InterruptControl, places)), opd_reg(all));
  code_guard(c, NULL, false);
  EMIT(c, "brev.b32", opd_reg(all), opd_reg(here));
  EMIT(c, "clz.b32", opd_reg(all), opd_reg(all));  // the lane that leads
  EMIT(c, "shfl.sync.idx.b32", opd_reg(n), opd_reg(n), opd_reg(all), opd_imm(31), opd_reg(here));
  EMIT(c, "add.u32", opd_reg(n), opd_reg(n), opd_reg(lower));
}

// In the first kernel, takes a place for the thread. The number of its warp selects the counter.
static void take_place(Emitter *e, Code *c) {
  PtxReg *at = wide(c, 2), *counter = word(c, 3), *n = word(c, 4);
  mark_of_thread(e, c);
  word_at(e, c, at, LAUNCH(marks));
  EMIT(c, "red.global.or.b32", opd_at(c, opd_reg(at), 0), opd_reg(word(c, 1)));
  EMIT(c, "mul.lo.u32", opd_reg(counter), opd_reg(counter), opd_imm(PLACE_COUNTER_HASH));
  EMIT(c, "shr.u32", opd_reg(counter), opd_reg(counter), opd_imm(PLACE_COUNTER_SHIFT));
  EMIT(c, "mul.wide.u32", opd_reg(wide(c, 3)), opd_reg(counter),
       opd_imm(sizeof(((InterruptControl *)0)->places[0])));
  load_launch(e, c, at, LAUNCH(control));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(wide(c, 3)));
  count_lanes(c, at, n);
  EMIT(c, "shr.u32", opd_reg(e->place), opd_reg(n), opd_imm(5));
  EMIT(c, "mad.lo.u32", opd_reg(e->place), opd_reg(e->place), opd_imm(PLACE_COUNTERS),
       opd_reg(counter));
  EMIT(c, "shl.b32", opd_reg(e->place), opd_reg(e->place), opd_imm(5));
  EMIT(c, "and.b32", opd_reg(n), opd_reg(n), opd_imm(31));
  EMIT(c, "add.u32", opd_reg(e->place), opd_reg(e->place), opd_reg(n));
  emit_wait_for_room(e, c, e->place, false);
  emit_this_thread(e, c);
  EMIT(c, "cvt.u32.u64", opd_reg(word(c, 5)), opd_reg(e->thread));
  place_address(e, c, e->place, 2);
  EMIT(c, "st.global.u32", place_word(c, PLACE_THREAD), opd_reg(word(c, 5)));
}

// In the second kernel, finds the thread's place. A thread without a place goes to `none`.
static void find_place(Emitter *e, Code *c, PtxLabel *none) {
  PtxReg *at = wide(c, 2), *bit = word(c, 1), *mark = word(c, 5), *first = word(c, 6);
  mark_of_thread(e, c);
  word_at(e, c, at, LAUNCH(marks));
  EMIT(c, "ld.global.u32", opd_reg(mark), opd_at(c, opd_reg(at), 0));
  EMIT(c, "and.b32", opd_reg(first), opd_reg(mark), opd_reg(bit));
  EMIT(c, "setp.eq.u32", opd_reg(pred(c, 0)), opd_reg(first), opd_imm(0));
  code_branch(c, pred(c, 0), false, none);
  word_at(e, c, at, LAUNCH(firsts));
  EMIT(c, "ld.global.u32", opd_reg(first), opd_at(c, opd_reg(at), 0));
  EMIT(c, "sub.u32", opd_reg(bit), opd_reg(bit), opd_imm(1));
  EMIT(c, "and.b32", opd_reg(mark), opd_reg(mark), opd_reg(bit));
  EMIT(c, "popc.b32", opd_reg(mark), opd_reg(mark));
  EMIT(c, "add.u32", opd_reg(mark), opd_reg(mark), opd_reg(first));
  place_address(e, c, mark, 2);
  EMIT(c, "ld.global.u32", opd_reg(e->place), place_word(c, PLACE_ORDER));
}

// --- columns of a context ---

typedef struct Column {
  Emitter *e;
  Code *c;
  uint32_t at;  // bytes of the place before this column
  uint32_t size;
} Column;

// first: bytes of the context before this column
static Column column_begin(Emitter *e, Code *c, uint32_t first, unsigned shift) {
  place_address(e, c, e->place, shift);
  return (Column){e, c, PLACE_CONTEXT + first, 1u << shift};
}

static void column_next(Column *k) { k->at += k->size; }

static PtxOperand column_at(Column *k) { return place_word(k->c, k->at); }

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

// Says that a thread is suspended, on the device and in host memory, where the host looks. Even
// with a million threads, only the first ones write there.
static void say_suspended(Emitter *e, Code *c) {
  PtxReg *at = wide(c, 2), *known = pred(c, 0);
  PtxLabel *said = body_label(c->body);
  load_launch(e, c, at, LAUNCH(control));
  PtxOperand suspended = opd_at(c, opd_reg(at), offsetof(InterruptControl, suspended));
  EMIT(c, "ld.volatile.global.u32", opd_reg(word(c, 0)), suspended);
  EMIT(c, "setp.ne.u32", opd_reg(known), opd_reg(word(c, 0)), opd_imm(0));
  code_branch(c, known, false, said);
  EMIT(c, "st.volatile.global.u32", suspended, opd_imm(1));
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
  place_address(e, c, e->place, 2);
  EMIT(c, "st.global.u32", place_word(c, PLACE_STATE), opd_imm(s->number));
  if (s->kind == STOP_CALL) say_suspended(e, c);
}

void emit_suspend(Emitter *e, Code *c, const Stop *s) {
  if (e->stops->uses_async) code_emit(c, "cp.async.wait_all", NULL, 0);
  if (e->stops->uses_bulk) EMIT(c, "cp.async.bulk.wait_group", opd_imm(0));
  if (!e->resumes) take_place(e, c);
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
    place_address(e, c, e->place, 2);
    EMIT(c, "ld.global.u32", opd_reg(rank), place_word(c, PLACE_CONTEXT + s->call.args_at));
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
  find_place(e, c, ended);
  place_address(e, c, e->place, 2);
  EMIT(c, "ld.global.u32", opd_reg(state), place_word(c, PLACE_STATE));
  EMIT(c, "setp.eq.u32", opd_reg(none), opd_reg(state), opd_imm(0));
  code_branch(c, none, false, ended);
  EMIT(c, "st.global.u32", place_word(c, PLACE_STATE), opd_imm(0));
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
