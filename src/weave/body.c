// One function while passes see it; inserts the code that they added.
#include "weave/pass.h"

bool body_open(Body *b, Program *p, PtxFunc *f, uint32_t unit, Error *err) {
  *b = (Body){.program = p, .func = f, .info = func_info(f), .unit = unit};
  b->cfg = ir_cfg_build(f, err);
  if (!b->cfg) return false;
  uint32_t n = b->cfg->ninstrs + 1;
  Arena *a = &b->cfg->arena;
  b->before = ARENA_ARRAY(a, Code *, n);
  b->after = ARENA_ARRAY(a, Code *, n);
  b->instead = ARENA_ARRAY(a, Code *, n);
  b->before_once = ARENA_ARRAY(a, Code *, n);
  b->refused = ARENA_ARRAY(a, PtxLabel *, n);
  return true;
}

static Code *code_at(Body *b, Code **place, const PtxInstr *near) {
  if (!*place) {
    *place = ARENA_NEW(&b->cfg->arena, Code);
    (*place)->body = b;
    (*place)->near = near;
  }
  (*place)->guard = NULL;
  (*place)->guard_negated = false;
  return *place;
}

static const PtxInstr *instr_at(const Body *b, uint32_t i) {
  const IrCfg *c = b->cfg;
  return i < c->ninstrs ? c->instrs[i] : c->ninstrs ? c->instrs[c->ninstrs - 1] : NULL;
}

Code *body_entry(Body *b) { return code_at(b, &b->entry, instr_at(b, 0)); }
Code *body_before(Body *b, uint32_t i) { return code_at(b, &b->before[i], instr_at(b, i)); }
Code *body_cold(Body *b) { return code_at(b, &b->cold, instr_at(b, b->cfg->ninstrs)); }
Code *body_before_once(Body *b, uint32_t i) {
  return code_at(b, &b->before_once[i], instr_at(b, i));
}
Code *body_after(Body *b, uint32_t i) { return code_at(b, &b->after[i], instr_at(b, i)); }
Code *body_instead(Body *b, uint32_t i) { return code_at(b, &b->instead[i], instr_at(b, i)); }

void body_refused_at(Body *b, uint32_t i, PtxLabel *label) {
  code_label_first(body_after(b, i), label);
  b->refused[i] = label;
}

// The statement of the label in a piece of code, as an index in Body.added plus 1; 0: none.
static uint32_t find_label(const Body *b, const Code *c, const PtxLabel *label) {
  for (uint32_t at = c->first; at; at = b->added.data[at - 1].next)
    if (b->added.data[at - 1].stmt.kind == STMT_LABEL && b->added.data[at - 1].stmt.label == label)
      return at;
  return 0;
}

// Makes of the access:  access;  bra Made;  Refused:  what `emit` adds;  Made:  the code after it.
bool body_if_refused(Body *b, uint32_t i, void (*emit)(Code *c, void *user), void *user) {
  uint32_t at = b->refused[i] ? find_label(b, b->after[i], b->refused[i]) : 0;
  if (!at || at != b->after[i]->first) return false;
  Code *after = body_after(b, i);
  Code skip = {.body = b, .near = after->near}, piece = skip;
  PtxLabel *made = body_label(b);
  EMIT(&skip, "bra", opd_label(made));
  emit(&piece, user);
  code_label(&piece, made);
  b->added.data[skip.last - 1].next = at;
  after->first = skip.first;
  b->added.data[piece.last - 1].next = b->added.data[at - 1].next;
  b->added.data[at - 1].next = piece.first;
  if (after->last == at) after->last = piece.last;
  return true;
}

bool body_end_is_reached(const Body *b) {
  const IrCfg *cfg = b->cfg;
  const PtxInstr *last = cfg->ninstrs ? cfg->instrs[cfg->ninstrs - 1] : NULL;
  bool ends = last && !last->guard &&
              (last->op == OP_RET || last->op == OP_EXIT || last->op == OP_TRAP ||
               last->op == OP_BRA);
  // a label after the last instruction
  bool empty_end = cfg->blocks[cfg->nblocks - 1].first == cfg->ninstrs;
  return !ends || empty_end;
}

void body_at_exits(Body *b, void (*emit)(Code *c, void *user), void *user) {
  const IrCfg *cfg = b->cfg;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if (in->op != OP_RET && in->op != OP_EXIT) continue;
    Code *c = body_before(b, i);
    code_guard(c, in->guard, in->guard_negated);
    emit(c, user);
  }
  if (body_end_is_reached(b)) emit(body_before(b, cfg->ninstrs), user);
}

PtxReg *body_reg(Body *b, PtxType t) {
  Arena *a = &b->func->module->arena;
  PtxReg *r = ARENA_NEW(a, PtxReg);
  *r = (PtxReg){.name = arena_printf(a, "%s%u", b->program->reg_prefix, b->regs.len),
                .type = t,
                .id = b->func->nregs + b->regs.len};
  vec_push(&b->regs, r);
  return r;
}

void body_copied(Body *b, uint32_t i) {
  if (!b->copied) b->copied = ARENA_ARRAY(&b->cfg->arena, bool, b->cfg->ninstrs + 1);
  b->copied[i] = true;
}

PtxReg *body_temp(Body *b, PtxType t, unsigned k) {
  CHECK(k < BODY_TEMPS);
  if (!b->temps[t][k]) b->temps[t][k] = body_reg(b, t);
  return b->temps[t][k];
}

PtxLabel *body_label(Body *b) {
  Arena *a = &b->func->module->arena;
  PtxLabel *l = ARENA_NEW(a, PtxLabel);
  *l = (PtxLabel){.name = arena_printf(a, "$L%s%u", b->program->prefix, b->labels.len),
                  .kind = LABEL_CODE,
                  .id = b->func->nlabels + b->labels.len};
  vec_push(&b->labels, l);
  return l;
}

PtxVar *body_param(Body *b, PtxType t) {
  Arena *a = &b->func->module->arena;
  PtxVar *v = ARENA_NEW(a, PtxVar);
  uint32_t size = ptx_type_size(t);
  *v = (PtxVar){.name = arena_printf(a, "%sarg%u", b->program->prefix, b->locals.len),
                .space = SPACE_PARAM,
                .type = t,
                .align = size,
                .size = size,
                .id = b->func->nlocals + b->locals.len,
                .func = b->func};
  vec_push(&b->locals, v);
  return v;
}

PtxVar *body_area(Body *b, const char *name) {
  Arena *a = &b->func->module->arena;
  PtxVar *v = ARENA_NEW(a, PtxVar);
  *v = (PtxVar){.name = arena_printf(a, "%s%s", b->program->prefix, name),
                .space = SPACE_LOCAL,
                .type = TYPE_B8,
                .align = 8,
                .align_given = true,
                .ndims = 1,
                .id = b->func->nlocals + b->locals.len,
                .func = b->func};
  return v;
}

void body_declare(Body *b, PtxVar *area) {
  code_stmt(body_entry(b), (PtxStmt){.kind = STMT_VAR, .var = area});
  vec_push(&b->locals, area);
}

static void put_code(const Body *b, const Code *c, PtxStmt **at) {
  if (!c) return;
  for (uint32_t i = c->first; i; i = b->added.data[i - 1].next)
    *(*at)++ = b->added.data[i - 1].stmt;
}

// Writes the declarations first, then the entry code before the first instruction, then the body
// with the code hung at each instruction.
static void install_stmts(Body *b) {
  PtxFunc *f = b->func;
  for (uint32_t i = 0; i < b->copies.len; i++) {
    loop_copy_decide(b, &b->copies.data[i]);
    loop_copy_returns(b, &b->copies.data[i]);
  }
  uint32_t room = f->nstmts + b->regs.len + b->added.len + loop_copy_size(b) + b->copies.len + 2;
  PtxStmt *stmts = ARENA_ARRAY(&f->module->arena, PtxStmt, room), *at = stmts;
  for (uint32_t i = 0; i < b->regs.len; i++, at++) {
    at->kind = STMT_REGS;
    at->regs.first = b->regs.data[i];
    at->regs.count = 1;
  }
  const bool *gone = scopes_to_open(b);
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (gone[i] && f->stmts[i].kind != STMT_SCOPE_BEGIN && f->stmts[i].kind != STMT_SCOPE_END)
      *at++ = f->stmts[i];
  uint32_t n = 0;
  bool entered = false;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxStmt *s = &f->stmts[i];
    const LoopCopy *left = loop_copy_ends(b, i), *entered_loop = loop_copy_begins(b, i);
    if (left) *at++ = (PtxStmt){.kind = STMT_LABEL, .label = left->leave};
    if (entered_loop) put_code(b, entered_loop->decide, &at);
    if (gone[i]) continue;
    // A label at the very beginning may be a loop's header, so the entry code precedes it. The
    // declarations in the entry code hold for the whole body.
    if (!entered && (s->kind == STMT_INSTR || s->kind == STMT_SCOPE_BEGIN ||
                     (s->kind == STMT_LABEL && s->label->kind == LABEL_CODE))) {
      put_code(b, b->entry, &at);
      entered = true;
    }
    if (s->kind != STMT_INSTR) {
      *at++ = *s;
      continue;
    }
    put_code(b, b->before[n], &at);
    put_code(b, b->before_once[n], &at);
    if (b->instead[n]) put_code(b, b->instead[n], &at);
    else *at++ = *s;
    put_code(b, b->after[n], &at);
    n++;
  }
  if (!entered) put_code(b, b->entry, &at);
  const LoopCopy *last = loop_copy_ends(b, f->nstmts);
  if (last) *at++ = (PtxStmt){.kind = STMT_LABEL, .label = last->leave};
  put_code(b, b->before[n], &at);
  if (b->copies.len || b->cold) {  // the body ends in a return: no thread may fall through
    PtxInstr *ret = ARENA_NEW(&f->module->arena, PtxInstr);
    ret->op = OP_RET;
    *at++ = (PtxStmt){.kind = STMT_INSTR, .instr = ret};
  }
  b->cold_from = (uint32_t)(at - stmts);
  put_code(b, b->cold, &at);
  b->cold_to = (uint32_t)(at - stmts);
  for (uint32_t i = 0; i < b->copies.len; i++) loop_copy_install(b, &b->copies.data[i], gone, &at);
  CHECK(at <= stmts + room);
  f->stmts = stmts;
  f->nstmts = (uint32_t)(at - stmts);
  ptx_number_labels(f);
}

// The hardware issues bulk copies and mbarrier operations once per warp. ptxas takes the guard of
// one (often from elect.sync) to hold for the warp as it was before our code. Our code may have
// made the lanes diverge: lanes without the guard would then issue it, too. A branch around the
// instruction keeps them away; the warp barrier keeps ptxas from turning the branch into a guard.
static void branch_around_warp_issued(Body *b) {
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    PtxMemory memory = ptx_op_memory(in->op);
    if (!in->guard || !b->before[i] || b->instead[i]) continue;
    if (memory != MEMORY_BULK && memory != MEMORY_TENSOR && memory != MEMORY_MBARRIER) continue;
    Code *c = body_instead(b, i);
    PtxLabel *over = body_label(b);
    PtxReg *lanes = body_reg(b, TYPE_B32);
    code_branch(c, in->guard, !in->guard_negated, over);
    EMIT(c, "activemask.b32", opd_reg(lanes));
    EMIT(c, "bar.warp.sync", opd_reg(lanes));
    PtxInstr *alone = code_instr(c, in);
    alone->guard = NULL;
    alone->guard_negated = false;
    code_label(c, over);
  }
}

bool body_is_changed(const Body *b) { return b->added.len != 0 || b->copies.len != 0; }

bool body_close(Body *b, Error *err) {
  PtxFunc *f = b->func;
  Arena *a = &f->module->arena;
  bool changed = body_is_changed(b);
  if (changed) {
    branch_around_warp_issued(b);
    install_stmts(b);
    if (b->regs.len) ARENA_APPEND(a, f->regs, f->nregs, b->regs.data, b->regs.len);
    if (b->labels.len) ARENA_APPEND(a, f->labels, f->nlabels, b->labels.data, b->labels.len);
    if (b->locals.len) ARENA_APPEND(a, f->locals, f->nlocals, b->locals.data, b->locals.len);
  }
  vec_free(&b->added);
  vec_free(&b->regs);
  vec_free(&b->labels);
  vec_free(&b->locals);
  vec_free(&b->copies);
  ir_cfg_free(b->cfg);
  b->cfg = NULL;
#ifdef WARPGRIND_STRESS
  IrCfg *c = changed ? ir_cfg_build(f, err) : NULL;
  bool ok = !changed || (c && ir_verify(c, err));
  ir_cfg_free(c);
  return ok;
#else
  return true;
#endif
}
