// Makes calls of out-of-line code keep no register of the kernel.
//
// For a function called by name, the machine-code compiler chooses any registers. Values of the
// kernel that are live across the call must lie where the function leaves them alone, and a value
// has one place for its whole life: a call that is hardly ever reached makes the compiler keep the
// variables of the hottest loop in local memory. A function called through a pointer must preserve
// most registers and saves them itself, when it is called. So calls out of line are made through a
// pointer.
#include "weave/pass.h"

typedef struct Spare {
  Body body;
  PtxReg *target;
  U64Map prototypes;  // by function: PtxLabel
} Spare;

static PtxVar **unnamed(Arena *a, PtxVar *const *vars, uint32_t n) {
  PtxVar **list = ARENA_ARRAY(a, PtxVar *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    list[i] = ARENA_NEW(a, PtxVar);
    *list[i] = *vars[i];
    list[i]->name = "_";
  }
  return list;
}

static PtxLabel *prototype_of(Spare *s, PtxFunc *f) {
  PtxLabel *known = u64map_get(&s->prototypes, (uint64_t)(uintptr_t)f);
  if (known) return known;
  PtxModule *m = s->body.func->module;
  PtxFunc *p = ARENA_NEW(&m->arena, PtxFunc);
  *p = (PtxFunc){.name = "_",
                 .module = m,
                 .is_declaration = true,
                 .nparams = f->nparams,
                 .nreturns = f->nreturns,
                 .param_bytes = f->param_bytes,
                 .params = unnamed(&m->arena, f->params, f->nparams),
                 .returns = unnamed(&m->arena, f->returns, f->nreturns)};
  PtxLabel *l = body_label(&s->body);
  l->name = arena_printf(&m->arena, "$L%sproto%u", s->body.program->prefix, s->prototypes.len);
  l->kind = LABEL_CALLPROTOTYPE;
  l->prototype = p;
  u64map_put(&s->prototypes, (uint64_t)(uintptr_t)f, l);
  code_stmt(body_entry(&s->body), (PtxStmt){.kind = STMT_LABEL, .label = l});
  return l;
}

static void spare_call(Spare *s, uint32_t call) {
  PtxInstr *in = s->body.cfg->instrs[call];
  if (in->nops != 3 || in->ops[1].kind != OPD_FUNC || in->ops[1].func->is_declaration) return;
  PtxOperand *ops = ARENA_ARRAY(&s->body.func->module->arena, PtxOperand, 4);
  memcpy(ops, in->ops, sizeof *ops * 3);
  if (!s->target) {  // the numbered names are taken
    s->target = body_reg(&s->body, TYPE_B64);
    s->target->name = arena_printf(&s->body.func->module->arena, "%starget",
                                   s->body.program->reg_prefix);
  }
  EMIT(body_before(&s->body, call), "mov.u64", opd_reg(s->target), in->ops[1]);
  ops[1] = opd_reg(s->target);
  ops[3] = opd_label(prototype_of(s, in->ops[1].func));
  in->ops = ops;
  in->nops = 4;
  in->form = 0;
}

// --- kernels with many values alive ---
// A function called by name preserves all registers that it does not use. A probe that uses few
// preserves most of a large kernel's: there it is better called by name.
enum { FIT = 48 };  // words live across a call that a call through a pointer preserves cheaply

typedef struct Live {
  uint64_t *now;
  bool before_it;
} Live;
static void visit(void *user, PtxReg **r, bool is_def) {
  Live *l = user;
  uint64_t *word = &l->now[(*r)->id / 64], bit = 1ull << ((*r)->id % 64);
  if (l->before_it && !is_def) *word |= bit;
  if (!l->before_it && is_def) *word &= ~bit;
}

static uint32_t words_live_behind(const Body *b, const IrLiveness *live, uint64_t *now,
                                  uint32_t i) {
  const IrCfg *c = b->cfg;
  Live l = {now, false};
  memcpy(now, live->live_out[c->block_of[i]], sizeof *now * live->words);
  for (uint32_t k = c->blocks[c->block_of[i]].end; --k > i;) {
    l.before_it = false;
    if (!c->instrs[k]->guard) ptx_visit_regs(c->instrs[k], visit, &l);
    l.before_it = true;
    ptx_visit_regs(c->instrs[k], visit, &l);
  }
  uint32_t words = 0;
  for (uint32_t w = 0; w < live->words; w++)  // few of many registers are live
    for (uint64_t left = now[w]; left; left &= left - 1) {
      const PtxReg *r = b->func->regs[w * 64 + (uint32_t)__builtin_ctzll(left)];
      if (r->type != TYPE_PRED) words += ptx_type_size(r->type) > 4 ? 2 : 1;
    }
  return words;
}

enum { MOST_SPILLED = 4000 };  // words of all calls; more take the compiler too long

// Words live across calls out of line: across the call with the most, and summed over all calls.
typedef struct Crowd {
  uint32_t most, sum;
} Crowd;
static Crowd crowd_of(const Body *b, uint32_t cold, uint32_t cold_end) {
  IrLiveness *live = ir_liveness_build(b->cfg);
  uint64_t *now = ARENA_ARRAY(&b->cfg->arena, uint64_t, live->words + 1);
  Crowd crowd = {0, 0};
  bool counts = true;
  for (uint32_t i = 0, n = 0; i < cold_end && counts; i++) {
    if (b->func->stmts[i].kind != STMT_INSTR) continue;
    if (i >= cold && b->func->stmts[i].instr->op == OP_CALL) {
      uint32_t words = words_live_behind(b, live, now, n);
      crowd.most = MAX(crowd.most, words);
      crowd.sum += words;
      counts = crowd.sum <= MOST_SPILLED || crowd.most <= FIT;
    }
    n++;
  }
  ir_liveness_free(live);
  return crowd;
}

static bool has_calls(const PtxFunc *f, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    if (f->stmts[i].kind == STMT_INSTR && f->stmts[i].instr->op == OP_CALL) return true;
  return false;
}

bool spare_registers(Program *p, PtxFunc *f, uint32_t unit, uint32_t cold, uint32_t cold_end,
                     Error *err) {
  if (!has_calls(f, cold, cold_end)) return true;
  Spare s = {0};
  if (!body_open(&s.body, p, f, unit, err)) return false;
  const Pass *alone = pass_alone(p);
  bool always = alone && alone->spills_always, spills = alone && alone->spills_around;
  Crowd crowd = always || spills ? crowd_of(&s.body, cold, cold_end) : (Crowd){0, 0};
  bool crowded = always ? crowd.sum > MOST_SPILLED : crowd.most > FIT;
  Spill *away = NULL;
  for (uint32_t i = 0, n = 0; i < cold_end && !crowded; i++) {
    if (f->stmts[i].kind != STMT_INSTR) continue;
    if (i >= cold && f->stmts[i].instr->op == OP_CALL) {
      if (always || (spills && alone->spills_around(f->stmts[i].instr)))
        spill_call(away = away ? away : spill_begin(&s.body), n);
      if (!always) spare_call(&s, n);
    }
    n++;
  }
  if (away) spill_end(away);
  u64map_free(&s.prototypes);
  return body_close(&s.body, err);
}
