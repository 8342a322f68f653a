// Which memory is followed at each access, and which registers can hold something bad.
#include "tools/initcheck/internal.h"

// bytes of a thread's array that is followed: its shadow is cleared at every call
enum { LARGEST_LOCAL = 4096 };

bool init_is_decision(const PtxInstr *in) {
  return ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC | CLASS_SYNC | CLASS_BRANCH |
                               CLASS_RETURN | CLASS_CALL | CLASS_WARP | CLASS_TENSOR |
                               CLASS_TEXTURE | CLASS_SURFACE | CLASS_ASYNC | CLASS_MEMFENCE);
}

// --- memory ---

// Writes of memory that this pass does not follow. What such a kernel wrote counts as initialised.
static bool is_unfollowed(const PtxInstr *in) {
  switch (ptx_op_memory(in->op)) {
    case MEMORY_REMOTE:
    case MEMORY_FILL:
    case MEMORY_MATRIX:
    case MEMORY_TILE:
    case MEMORY_BULK:
    case MEMORY_TENSOR:
    case MEMORY_MULTIMEM: return ptx_op_classes(in) & CLASS_STORE;
    default: return false;
  }
}

const char *init_unfollowed(const PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR && is_unfollowed(f->stmts[i].instr))
      return ptx_op_name(f->stmts[i].instr->op);
  return NULL;
}

// Other blocks of the cluster may write a block's shared memory.
bool init_shares_shared(const PtxFunc *f) {
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR &&
        (f->stmts[i].instr->op == OP_MAPA || ptx_has(f->stmts[i].instr, MOD_SHARED_CLUSTER)))
      return true;
  return false;
}

const PtxOperand *init_address(const PtxInstr *in) {
  for (unsigned i = 0; i < in->nops; i++)
    if (in->ops[i].kind == OPD_ADDR) return &in->ops[i];
  return NULL;
}

static uint32_t shadow_fact(InitCheck *k, const IrOrigin *o) {
  Body *b = k->body;
  uint32_t param = facts_param(b, o->var);
  if (param == UINT32_MAX) return 0;
  for (uint32_t i = 0; i < k->facts.len; i++)
    if (k->facts.data[i].param == param && k->facts.data[i].param_offset == (uint32_t)o->offset)
      return k->facts.data[i].record_offset;
  WeaveFact f = {.kind = FACT_SHADOW,
                 .param = param,
                 .param_offset = (uint32_t)o->offset,
                 .param_at = (uint32_t)(o->var->param_offset + (uint64_t)o->offset)};
  f.record_offset = record_reserve(b, 24);
  if (f.record_offset) vec_push(&k->facts, f);
  return f.record_offset;
}

static InitPlace place_at(InitCheck *k, const PtxOperand *address, PtxSpace space) {
  InitPlace none = {PLACE_NONE, 0, NULL, false};
  IrOrigin o = ir_access_origin(k->provenance, address);
  if (o.kind == IR_FROM_VAR && o.var->space == SPACE_LOCAL)
    return o.var->func == k->body->func && k->local_shadow[o.var->id]
               ? (InitPlace){PLACE_LOCAL, 0, o.var, false}
               : none;
  switch (space) {
    case SPACE_SHARED: return k->shared_followed ? (InitPlace){PLACE_SHARED, 0, NULL, false} : none;
    case SPACE_GLOBAL:
    case SPACE_GENERIC: break;
    default: return none;
  }
  if (o.kind == IR_FROM_VAR && o.var->space == SPACE_SHARED)
    return k->shared_followed ? (InitPlace){PLACE_SHARED, 0, NULL, false} : none;
  if (o.kind == IR_FROM_VAR) return none;  // variables start with zeros or an initialiser
  uint32_t at = o.kind == IR_FROM_PARAM ? shadow_fact(k, &o) : 0;
  return at ? (InitPlace){PLACE_PARAM, at, NULL, false} : (InitPlace){PLACE_LOOKUP, 0, NULL, false};
}

static InitPlace place_of(InitCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  const PtxOperand *address = init_address(in);
  if (!address || !(in->op == OP_LD || in->op == OP_LDU || in->op == OP_ST || in->op == OP_ATOM ||
                    in->op == OP_RED || in->op == OP_CP_ASYNC))
    return (InitPlace){PLACE_NONE, 0, NULL, false};
  return place_at(k, address, in->space);
}

const PtxOperand *init_source(const PtxInstr *in) {
  bool copies = in->op == OP_CP_ASYNC && in->nops > 2 && in->ops[0].kind == OPD_ADDR &&
                in->ops[1].kind == OPD_ADDR;
  return copies && access_bytes(in) >= 4 && access_bytes(in) <= 16 ? &in->ops[1] : NULL;
}

// A local array is followed if every use of its address is known: then no other instruction can
// write to it.
typedef struct Escape {
  InitCheck *k;
  const PtxInstr *in;
  const PtxVar *result;
  bool is_access;
  bool *escapes;
} Escape;

static void result_of(void *ctx, PtxReg **reg, bool is_def) {
  Escape *e = ctx;
  IrOrigin o = e->k->provenance->reg[(*reg)->id];
  if (is_def && o.kind == IR_FROM_VAR) e->result = o.var;
}

static void use_of(void *ctx, PtxReg **reg, bool is_def) {
  Escape *e = ctx;
  IrOrigin o = e->k->provenance->reg[(*reg)->id];
  if (is_def || o.kind != IR_FROM_VAR || o.var->space != SPACE_LOCAL || o.var == e->result ||
      e->in->op == OP_SETP)
    return;
  if (e->is_access && init_address(e->in)->list[0].kind == OPD_REG &&
      init_address(e->in)->list[0].reg == *reg)
    return;
  if (o.var->func == e->k->body->func) e->escapes[o.var->id] = true;
}

static void named_in(Escape *e, const PtxOperand *o, bool as_address) {
  if (o->kind == OPD_VAR && o->var->space == SPACE_LOCAL && o->var->func == e->k->body->func &&
      !as_address && e->in->op != OP_MOV && e->in->op != OP_CVTA && e->in->op != OP_ADD)
    e->escapes[o->var->id] = true;
  for (unsigned i = 0; i < o->nlist; i++) named_in(e, &o->list[i], o->kind == OPD_ADDR);
}

static PtxVar *new_local(Body *b, uint32_t bytes) {
  Arena *a = &b->func->module->arena;
  PtxVar *v = ARENA_NEW(a, PtxVar);
  bytes = (bytes + 7) & ~7u;
  *v = (PtxVar){.name = arena_printf(a, "%slocal%u", b->program->prefix, b->locals.len),
                .space = SPACE_LOCAL,
                .type = TYPE_B8,
                .align = 8,
                .align_given = true,
                .dims = {bytes},
                .ndims = 1,
                .size = bytes,
                .id = b->func->nlocals + b->locals.len,
                .func = b->func};
  vec_push(&b->locals, v);
  code_stmt(body_entry(b), (PtxStmt){.kind = STMT_VAR, .var = v});
  return v;
}

static void find_locals(InitCheck *k) {
  const PtxFunc *f = k->body->func;
  const IrCfg *cfg = k->body->cfg;
  bool *escapes = ARENA_ARRAY(&k->body->cfg->arena, bool, f->nlocals + 1);
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    PtxInstr *in = cfg->instrs[i];
    Escape e = {.k = k, .in = in, .escapes = escapes};
    e.is_access = (in->op == OP_LD || in->op == OP_ST) && init_address(in);
    ptx_visit_regs(in, result_of, &e);
    ptx_visit_regs(in, use_of, &e);
    for (unsigned o = 0; o < in->nops; o++) named_in(&e, &in->ops[o], false);
  }
  for (uint32_t i = 0; i < f->nlocals; i++) {
    const PtxVar *v = f->locals[i];
    if (v->space != SPACE_LOCAL || escapes[i] || !v->size || v->size > LARGEST_LOCAL) continue;
    k->local_shadow[i] = new_local(k->body, (uint32_t)((v->size + 3) / 4));
  }
}

// --- registers ---

static bool can_shadow(const PtxReg *r) {
  return !r->vector &&
         (r->type == TYPE_PRED || (ptx_type_size(r->type) && ptx_type_size(r->type) <= 8));
}

typedef struct Taint {
  InitCheck *k;
  const PtxInstr *in;
  bool bad, changed;
} Taint;

static void sees(void *ctx, PtxReg **reg, bool is_def) {
  Taint *t = ctx;
  if (is_def || !init_shadow(t->k, *reg)) return;
  if (*reg != t->in->guard || !init_is_decision(t->in)) t->bad = true;
}

static void spoils(void *ctx, PtxReg **reg, bool is_def) {
  Taint *t = ctx;
  if (!is_def || init_shadow(t->k, *reg) || !can_shadow(*reg)) return;
  t->k->shadow[(*reg)->id] = body_reg(
      t->k->body,
      (*reg)->type != TYPE_PRED && ptx_type_size((*reg)->type) == 8 ? TYPE_B64 : TYPE_B32);
  t->changed = true;
}

static bool reads_followed(const InitCheck *k, uint32_t i) {
  const PtxInstr *in = k->body->cfg->instrs[i];
  return k->place[i].kind != PLACE_NONE &&
         (in->op == OP_LD || in->op == OP_LDU || in->op == OP_ATOM);
}

static void find_shadows(InitCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < cfg->ninstrs; i++) {
      PtxInstr *in = cfg->instrs[i];
      Taint t = {.k = k, .in = in, .bad = reads_followed(k, i)};
      if (!t.bad && init_rule(in) == RULE_CLEAR) continue;
      if (!t.bad) ptx_visit_regs(in, sees, &t);
      if (t.bad) ptx_visit_regs(in, spoils, &t);
      changed |= t.changed;
    }
  }
}

static bool is_write(const PtxInstr *in) {
  return in->op == OP_ST || in->op == OP_ATOM || in->op == OP_RED;
}
static bool is_read(const PtxInstr *in) {
  return in->op == OP_LD || in->op == OP_LDU || in->op == OP_ATOM || in->op == OP_RED;
}

bool init_strays(const InitCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    if (k->place[i].kind == PLACE_LOOKUP && is_write(cfg->instrs[i])) return true;
  return false;
}

static WeaveFact *fact_at(InitCheck *k, const InitPlace *place) {
  for (uint32_t n = 0; n < k->facts.len; n++)
    if (place->kind == PLACE_PARAM && k->facts.data[n].record_offset == place->fact_at)
      return &k->facts.data[n];
  return NULL;
}
static WeaveFact *fact_of(InitCheck *k, uint32_t i) { return fact_at(k, &k->place[i]); }

static void plan_second_read(InitCheck *k, uint32_t i, InitPlace *from) {
  WeaveFact *fact = fact_at(k, from);
  if (i >= k->second) from->kind = PLACE_NONE;
  else if (fact) fact->is_read = true;
  else k->reads_unknown = true;
}

// The second body reads nothing bad, so its reads are not tested. The conditions for that are
// collected from the first body.
static void plan_second(InitCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  bool unmarks = init_unmarks(k->body->func);
  for (uint32_t n = 0; n < k->facts.len; n++) k->facts.data[n].read_only = !unmarks;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    WeaveFact *fact = fact_of(k, i);
    if (fact && is_write(cfg->instrs[i])) fact->read_only = false;
    if (k->source[i].kind != PLACE_NONE) plan_second_read(k, i, &k->source[i]);
    if (!is_read(cfg->instrs[i]) || k->place[i].kind == PLACE_NONE) continue;
    if (k->place[i].kind == PLACE_LOCAL || k->place[i].kind == PLACE_SHARED) k->reads_own = true;
    else plan_second_read(k, i, &k->place[i]);
  }
}

// The second body runs only if all memory behind the parameters is initialised: there, storing an
// initialised value needs no mark.
static void drop_marks(InitCheck *k) {
  const IrCfg *cfg = k->body->cfg;
  for (uint32_t i = k->second; i < cfg->ninstrs; i++) {
    const WeaveFact *fact = fact_of(k, i);
    PtxReg *regs[8];
    unsigned n = 0;
    if (cfg->instrs[i]->op != OP_ST || !fact || !fact->is_read) continue;
    init_elements(init_stored(cfg->instrs[i]), regs, &n);
    bool good = true;
    for (unsigned e = 0; e < n; e++) good &= !regs[e] || !init_shadow(k, regs[e]);
    k->place[i].is_whole = true;
    if (good) k->place[i].kind = PLACE_NONE;
  }
}

void init_plan(InitCheck *k) {
  IrCfg *cfg = k->body->cfg;
  const PtxFunc *f = k->body->func;
  k->place = ARENA_ARRAY(&cfg->arena, InitPlace, cfg->ninstrs + 1);
  k->source = ARENA_ARRAY(&cfg->arena, InitPlace, cfg->ninstrs + 1);
  k->shadow = ARENA_ARRAY(&cfg->arena, PtxReg *, f->nregs + 1);
  k->local_shadow = ARENA_ARRAY(&cfg->arena, PtxVar *, f->nlocals + 1);
  k->second = second_body_first(k->body);
  find_locals(k);
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    if (cfg->blocks[cfg->block_of[i]].rpo == IR_NONE) continue;
    k->place[i] = place_of(k, i);
    const PtxOperand *source = k->place[i].kind == PLACE_SHARED ? init_source(cfg->instrs[i])
                                                                : NULL;
    if (source) k->source[i] = place_at(k, source, SPACE_GLOBAL);
  }
  plan_second(k);
  find_shadows(k);
  if (k->second != UINT32_MAX && !k->reads_unknown) drop_marks(k);
}
