// Stops following shared memory once all of it is written, in kernels where nothing else can be
// bad.
//
// The second body reads nothing bad from global memory. So once all shared memory of the block is
// good, and no thread has anything bad in its registers, nothing can become bad again. All threads
// together ask for that after the program's barriers:
//
//     bar.sync 0
//     asks >>= 1;   the bit that went is set?  bra Look
//   Back:
//     …
//   Look:
//     good = !dirty && the part of the shadow that is this thread's is good
//     bar.red.popc n, 0, good;   n == threads of the block?  shared memory is not followed from
//     here on bra Back
//
// Threads that have ended cannot answer, so their parts are not known to be good. Regions of the
// second body test whether shared memory is followed before they look at it
// (tools/initcheck/weave_region.c).
#include "tools/initcheck/internal.h"

// bit mask of the barriers after which a block asks, the first is bit 0; most loads of a thread at
// one of them
enum { ASKS = 0x8b, MOST_LOADS = 16 };

static bool is_barrier(const PtxInstr *in) { return in->op == OP_BAR || in->op == OP_BARRIER; }

// All threads of the block execute it, each warp as a whole.
static bool takes_everybody(const PtxInstr *in) {
  return !in->guard && ptx_has(in, MOD_SYNC) && (in->op == OP_BAR || ptx_has(in, MOD_ALIGNED)) &&
         in->nops == 1 && in->ops[0].kind == OPD_INT && in->ops[0].imm == 0;
}

bool init_can_settle(const InitCheck *k) {
  const Body *b = k->body;
  const PtxModule *m = b->func->module;
  bool meets = false;
  if (m->version_major < 5) return false;  // %dynamic_smem_size does not exist before PTX 5
  if (!k->by_regions || k->second == UINT32_MAX || k->reads_unknown || !b->func->is_entry ||
      b->info->is_twin)
    return false;
  for (uint32_t i = 0; i < b->func->nlocals; i++)
    if (k->local_shadow[i]) return false;
  for (uint32_t i = k->second; i < b->cfg->ninstrs; i++) {
    if (!is_barrier(b->cfg->instrs[i])) continue;
    if (!takes_everybody(b->cfg->instrs[i])) return false;  // unknown who waits for whom there
    meets = true;
  }
  return meets;
}

void init_prepare_settle(InitCheck *k, Code *c) {
  PtxReg *followed = body_temp(k->body, TYPE_PRED, 0);
  k->asks = body_reg(k->body, TYPE_B32);
  EMIT(c, "setp.ne.u32", opd_reg(followed), opd_reg(k->shared_limit), opd_imm(0));
  EMIT(c, "selp.b32", opd_reg(k->asks), opd_imm(ASKS), opd_imm(0), opd_reg(followed));
}

// --- where shared memory of the program begins and ends ---

typedef struct Range {
  Body *body;
  Code *c;
  PtxReg *first, *end, *at;
  VEC(const PtxVar *) seen;
} Range;

static void add_variable(Range *r, PtxVar *v) {
  for (uint32_t i = 0; i < r->seen.len; i++)
    if (r->seen.data[i] == v) return;
  vec_push(&r->seen, v);
  EMIT(r->c, "mov.u32", opd_reg(r->at), opd_var(v));
  EMIT(r->c, "min.u32", opd_reg(r->first), opd_reg(r->first), opd_reg(r->at));
  if (v->size) EMIT(r->c, "add.u32", opd_reg(r->at), opd_reg(r->at), opd_imm((int64_t)v->size));
  else {
    PtxReg *size = body_temp(r->body, TYPE_B32, 3);
    EMIT(r->c, "mov.u32", opd_reg(size), opd_sreg(SREG_DYNAMIC_SMEM_SIZE, SEL_NONE));
    EMIT(r->c, "add.u32", opd_reg(r->at), opd_reg(r->at), opd_reg(size));
  }
  EMIT(r->c, "max.u32", opd_reg(r->end), opd_reg(r->end), opd_reg(r->at));
}

static void see_operand(Range *r, const PtxOperand *o) {
  if (o->kind == OPD_VAR && o->var->space == SPACE_SHARED) add_variable(r, o->var);
  for (unsigned i = 0; i < o->nlist; i++) see_operand(r, &o->list[i]);
}

static void find_range(InitCheck *k, Code *c, PtxReg *first, PtxReg *end) {
  Range r = {
      .body = k->body, .c = c, .first = first, .end = end, .at = body_temp(k->body, TYPE_B32, 2)};
  EMIT(c, "mov.u32", opd_reg(first), opd_reg(k->shared_limit));
  EMIT(c, "mov.u32", opd_reg(end), opd_imm(0));
  for (uint32_t i = 0; i < k->body->cfg->ninstrs; i++)
    for (unsigned o = 0; o < k->body->cfg->instrs[i]->nops; o++)
      see_operand(&r, &k->body->cfg->instrs[i]->ops[o]);
  vec_free(&r.seen);
}

// --- the question ---

void init_find_thread(Code *c, PtxReg *thread, PtxReg *threads, PtxReg *word) {
  static const PtxSelector axis[] = {SEL_Z, SEL_Y, SEL_X};
  EMIT(c, "mov.u32", opd_reg(thread), opd_imm(0));
  EMIT(c, "mov.u32", opd_reg(threads), opd_imm(1));
  for (unsigned i = 0; i < 3; i++) {
    EMIT(c, "mov.u32", opd_reg(word), opd_sreg(SREG_NTID, axis[i]));
    EMIT(c, "mul.lo.u32", opd_reg(threads), opd_reg(threads), opd_reg(word));
    EMIT(c, "mul.lo.u32", opd_reg(thread), opd_reg(thread), opd_reg(word));
    EMIT(c, "mov.u32", opd_reg(word), opd_sreg(SREG_TID, axis[i]));
    EMIT(c, "add.u32", opd_reg(thread), opd_reg(thread), opd_reg(word));
  }
}

// good = !dirty && every byte of shadow at first + thread, first + thread + threads, … before end
// is good. All threads make the same number of iterations.
typedef struct SharedWalk {
  PtxReg *first, *end, *thread, *threads;  // all but end are changed
} SharedWalk;
static void test_shadow(InitCheck *k, Code *c, PtxReg *good, SharedWalk r) {
  Body *b = k->body;
  PtxReg *first = r.first, *end = r.end, *thread = r.thread, *threads = r.threads;
  PtxReg *at = body_temp(b, TYPE_B64, 0), *step = body_temp(b, TYPE_B64, 1),
         *w = body_temp(b, TYPE_B32, 2), *mine = body_temp(b, TYPE_PRED, 1),
         *more = body_temp(b, TYPE_PRED, 2);
  PtxLabel *again = body_label(b);
  EMIT(c, "not.pred", opd_reg(good), opd_reg(k->dirty));
  EMIT(c, "add.u32", opd_reg(thread), opd_reg(thread), opd_reg(first));
  EMIT(c, "cvt.u64.u32", opd_reg(at), opd_reg(thread));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(k->shared_at));
  EMIT(c, "cvt.u64.u32", opd_reg(step), opd_reg(threads));
  code_label(c, again);
  EMIT(c, "setp.lt.u32", opd_reg(mine), opd_reg(thread), opd_reg(end));
  EMIT(c, "mov.u32", opd_reg(w), opd_imm(WG_SHADOW_GOOD));
  code_guard(c, mine, false);
  EMIT(c, "ld.global.u8", opd_reg(w), opd_at(c, opd_reg(at), 0));
  code_guard(c, NULL, false);
  EMIT(c, "and.b32", opd_reg(w), opd_reg(w), opd_imm(WG_SHADOW_GOOD));
  EMIT(c, "setp.eq.and.u32", opd_reg(good), opd_reg(w), opd_imm(WG_SHADOW_GOOD), opd_reg(good));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(step));
  EMIT(c, "add.u32", opd_reg(thread), opd_reg(thread), opd_reg(threads));
  EMIT(c, "add.u32", opd_reg(first), opd_reg(first), opd_reg(threads));
  EMIT(c, "setp.lt.u32", opd_reg(more), opd_reg(first), opd_reg(end));
  code_branch(c, more, false, again);
}

void init_settle(InitCheck *k, uint32_t i, bool *cuts) {
  Body *b = k->body;
  if (!k->asks || i < k->second || !is_barrier(b->cfg->instrs[i])) return;
  PtxLabel *ask = body_label(b), *back = body_label(b), *never = body_label(b);
  PtxReg *p = body_temp(b, TYPE_PRED, 0), *good = body_temp(b, TYPE_PRED, 3);
  PtxReg *first = body_temp(b, TYPE_B32, 0), *end = body_temp(b, TYPE_B32, 1),
         *n = body_temp(b, TYPE_B32, 2), *word = body_temp(b, TYPE_B32, 4),
         *thread = body_temp(b, TYPE_B32, 5), *threads = body_temp(b, TYPE_B32, 6);
  Code *hot = body_after(b, i), *c = body_cold(b);
  cuts[i + 1] = true;
  hot->near = c->near = b->cfg->instrs[i];
  EMIT(hot, "and.b32", opd_reg(word), opd_reg(k->asks), opd_imm(1));
  EMIT(hot, "shr.u32", opd_reg(k->asks), opd_reg(k->asks), opd_imm(1));
  EMIT(hot, "setp.ne.u32", opd_reg(p), opd_reg(word), opd_imm(0));
  code_branch(hot, p, false, ask);
  code_label(hot, back);
  code_label(c, ask);
  find_range(k, c, first, end);
  EMIT(c, "setp.gt.u32", opd_reg(p), opd_reg(end), opd_reg(k->shared_limit));
  code_branch(c, p, false, never);
  EMIT(c, "shr.u32", opd_reg(first), opd_reg(first), opd_imm(2));
  EMIT(c, "add.u32", opd_reg(end), opd_reg(end), opd_imm(3));
  EMIT(c, "shr.u32", opd_reg(end), opd_reg(end), opd_imm(2));
  init_find_thread(c, thread, threads, word);
  EMIT(c, "mad.lo.u32", opd_reg(n), opd_reg(threads), opd_imm(MOST_LOADS), opd_reg(first));
  EMIT(c, "setp.gt.u32", opd_reg(p), opd_reg(end), opd_reg(n));
  code_branch(c, p, false, never);
  test_shadow(k, c, good, (SharedWalk){first, end, thread, threads});
  EMIT(c, "bar.red.popc.u32", opd_reg(n), opd_imm(0), opd_reg(good));
  EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(n), opd_reg(threads));
  code_branch(c, p, false, back);
  EMIT(c, "mov.u32", opd_reg(k->shared_limit), opd_imm(0));
  EMIT(c, "mov.u64", opd_reg(k->shared_bytes), opd_imm(0));
  code_label(c, never);
  EMIT(c, "mov.u32", opd_reg(k->asks), opd_imm(0));
  EMIT(c, "bra", opd_label(back));
}
