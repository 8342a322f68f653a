// Fast mode: loops whose tests branch to slow paths outside.
//
// To the compiler of machine code, a slow path that returns into a loop is part of the loop: it
// places the code inside, makes lanes reconverge after it in every iteration, and keeps live values
// in registers that survive calls. So an innermost loop with tests gets a copy out of line. The
// slow path returns into the copy, which finishes the loop with the same tests and slow paths, and
// leaves to the same place.
#include "tools/fpcheck/internal.h"

enum { LARGEST_LOOP = 600 };  // instructions

typedef struct FpLoop {
  uint32_t first, end, from, to;  // instructions, statements
  U64Map labels;                  // labels in the loop -> labels in the copy
  bool has_tests;
} FpLoop;
struct FpLoops {
  FpLoop *data;
  uint32_t len;
};

// Lanes that leave the loop for its copy finish it alone. So no other lane may wait for them in the
// loop, or read their stores without synchronizing.
static bool stands_alone(const PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  if (classes & (CLASS_SYNC | CLASS_CALL | CLASS_WARP | CLASS_TENSOR | CLASS_ASYNC | CLASS_ATOMIC |
                 CLASS_MEMFENCE))
    return false;
  if (in->op == OP_ST && in->space != SPACE_GLOBAL && in->space != SPACE_LOCAL) return false;
  return !(classes & (CLASS_LOAD | CLASS_STORE)) ||
         (!ptx_has(in, MOD_VOLATILE) && !ptx_has(in, MOD_RELAXED) && !ptx_has(in, MOD_ACQUIRE) &&
          !ptx_has(in, MOD_RELEASE));
}

static bool is_innermost(const IrCfg *cfg, uint32_t loop) {
  for (uint32_t l = 0; l < cfg->nloops; l++)
    if (cfg->loops[l].parent == loop) return false;
  return true;
}

static bool can_copy(const FpCheck *k, uint32_t loop, FpLoop *out) {
  const IrCfg *cfg = k->body->cfg;
  if (!is_innermost(cfg, loop) ||
      !body_loop_range(k->body, loop, &out->first, &out->end, &out->from, &out->to))
    return false;
  if (out->end - out->first > LARGEST_LOOP || out->end >= cfg->ninstrs) return false;
  for (uint32_t i = out->first; i < out->end; i++)
    if (k->flow->depth[i] || !stands_alone(cfg->instrs[i])) return false;
  return true;
}

void fp_loops_find(FpCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  Arena *a = &k->body->cfg->arena;
  k->loops = ARENA_NEW(a, struct FpLoops);
  k->loops->data = ARENA_ARRAY(a, FpLoop, cfg->nloops + 1);
  for (uint32_t l = 0; l < cfg->nloops; l++)
    if (can_copy(k, l, &k->loops->data[k->loops->len])) k->loops->len++;
}

PtxLabel *fp_loop_resume(FpCheck *k, uint32_t instr, PtxLabel *resume) {
  for (uint32_t l = 0; k->loops && !k->clone && l < k->loops->len; l++) {
    FpLoop *loop = &k->loops->data[l];
    if (instr < loop->first || instr >= loop->end) continue;
    PtxLabel *copy = body_label(k->body);
    u64map_put(&loop->labels, (uintptr_t)resume, copy);
    loop->has_tests = true;
    k->loop_tests = MAX(k->loop_tests, k->items.len);
    return copy;
  }
  return resume;
}

static PtxLabel *in_copy(const FpLoop *loop, PtxLabel *l) {
  PtxLabel *copy = u64map_get(&loop->labels, (uintptr_t)l);
  return copy ? copy : l;
}

static void copy_stmt(FpCheck *k, FpLoop *loop, Code *to, PtxStmt s) {
  if (s.kind == STMT_LABEL) s.label = in_copy(loop, s.label);
  if (s.kind == STMT_INSTR) {
    Arena *a = &k->body->func->module->arena;
    PtxInstr *in = ARENA_NEW(a, PtxInstr);
    *in = *s.instr;
    in->ops = ARENA_ARRAY(a, PtxOperand, in->nops + 1);
    if (in->nops) memcpy(in->ops, s.instr->ops, sizeof *in->ops * in->nops);
    for (unsigned i = 0; i < in->nops; i++)
      if (in->ops[i].kind == OPD_LABEL) in->ops[i].label = in_copy(loop, in->ops[i].label);
    s.instr = in;
  }
  code_stmt(to, s);
}

static void copy_code(FpCheck *k, FpLoop *loop, Code *to, const Code *c) {
  for (uint32_t i = c ? c->first : 0; i;) {
    Added a = k->body->added.data[i - 1];  // the list grows while we read it
    copy_stmt(k, loop, to, a.stmt);
    i = a.next;
  }
}

static void copy_loop(FpCheck *k, FpLoop *loop) {
  Body *b = k->body;
  const PtxFunc *f = b->func;
  Code *to = body_cold(b);
  for (uint32_t i = loop->from; i < loop->to; i++)
    if (f->stmts[i].kind == STMT_LABEL)
      u64map_put(&loop->labels, (uintptr_t)f->stmts[i].label, body_label(b));
  uint32_t n = loop->first;
  for (uint32_t i = loop->from; i < loop->to; i++) {
    if (f->stmts[i].kind == STMT_INSTR) copy_code(k, loop, to, b->before[n]);
    copy_stmt(k, loop, to, f->stmts[i]);
    if (f->stmts[i].kind == STMT_INSTR) copy_code(k, loop, to, b->after[n++]);
  }
  PtxLabel *leave = body_label(b);
  EMIT(to, "bra", opd_label(leave));
  code_label(body_after(b, loop->end - 1), leave);
}

void fp_loops_copy(FpCheck *k) {
  for (uint32_t l = 0; k->loops && l < k->loops->len; l++) {
    if (k->loops->data[l].has_tests) copy_loop(k, &k->loops->data[l]);
    u64map_free(&k->loops->data[l].labels);
  }
}

// A test that branches out of a loop needs one register, and tested values stay live longer. With
// many of these, too few registers would serialize the loads (on an H200 HeCBench's tsp, eight
// values in a loop, takes 1.44 times the plain time with 8 more).
void fp_loops_ask_registers(const FpCheck *k, WovenKernel *kernel) {
  enum { FEW_TESTS = 4, OF_FEW = 6, MOST_OF_FEW = 48, OF_MANY = 24, MOST_OF_MANY = 56 };
  bool few = k->loop_tests <= FEW_TESTS;
  kernel->loop_registers = few ? OF_FEW : OF_MANY;
  kernel->loop_registers_most = few ? MOST_OF_FEW : MOST_OF_MANY;
}
