// Variables of a kernel become memory whose addresses are the same in both kernels: a suspended
// thread may hold such addresses in registers and in memory.
//
// Local variables move to memory of the launch, where they stay. Shared variables become one, so
// that the compiler of machine code has no choice how to arrange them.
#include "interrupt/stops.h"

// --- local variables ---

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

uint32_t locals_bytes(const PtxFunc *f) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < f->nlocals; i++) {
    const PtxVar *v = f->locals[i];
    if (v->space == SPACE_LOCAL) bytes = round_up(bytes, MAX(v->align, 8)) + v->size;
  }
  return (uint32_t)round_up(bytes, 16);
}

static uint64_t local_offset(const PtxFunc *f, const PtxVar *of) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < f->nlocals; i++) {
    const PtxVar *v = f->locals[i];
    if (v->space != SPACE_LOCAL) continue;
    at = round_up(at, MAX(v->align, 8));
    if (v == of) return at;
    at += v->size;
  }
  return 0;
}

static bool is_local(const PtxOperand *o) {
  return o->kind == OPD_VAR && o->var->space == SPACE_LOCAL;
}

static void to_global(PtxModule *m, PtxInstr *in) {
  PtxMod *mods = ARENA_ARRAY(&m->arena, PtxMod, in->nmods + 1u);
  for (unsigned i = 0; i < in->nmods; i++)
    mods[i] = in->mods[i] == MOD_LOCAL ? MOD_GLOBAL : in->mods[i];
  in->mods = mods;
  if (in->space == SPACE_LOCAL) in->space = SPACE_GLOBAL;
  in->form = 0;
}

// cvta.local, cvta.to.local: the address is a generic one already.
static void to_move(PtxModule *m, PtxInstr *in) {
  in->op = OP_MOV;
  in->mods = ARENA_ARRAY(&m->arena, PtxMod, 2);
  in->mods[0] = MOD_B64;
  in->nmods = 1;
  in->types[0] = TYPE_B64;
  in->ntypes = 1;
  in->space = SPACE_NONE;
  in->form = 0;
}

// [variable + n] becomes [base + offset + n]; the address of a variable an addition.
static void move_operand(PtxFunc *f, PtxInstr *in, PtxOperand *o, PtxReg *base, uint32_t first) {
  if (o->kind == OPD_ADDR && o->nlist && is_local(&o->list[0])) {
    o->imm += (int64_t)local_offset(f, o->list[0].var) + first + o->list[0].imm;
    o->list[0] = opd_reg(base);
  } else if (is_local(o)) {
    int64_t at = (int64_t)local_offset(f, o->var) + first + o->imm;
    PtxOperand *ops = ARENA_ARRAY(&f->module->arena, PtxOperand, 3);
    PtxMod *mods = ARENA_ARRAY(&f->module->arena, PtxMod, 2);
    CHECK(in->nops == 2);
    ops[0] = in->ops[0];
    ops[1] = opd_reg(base);
    ops[2] = opd_imm(at);
    mods[0] = MOD_S64;
    *in = (PtxInstr){.op = OP_ADD,
                     .nmods = 1,
                     .nops = 3,
                     .mods = mods,
                     .ops = ops,
                     .guard = in->guard,
                     .guard_negated = in->guard_negated,
                     .types = {TYPE_S64},
                     .ntypes = 1,
                     .ptx_line = in->ptx_line,
                     .ptx_column = in->ptx_column,
                     .loc = in->loc};
  }
}

void locals_move(PtxFunc *f, PtxReg *base) {
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind != STMT_INSTR) continue;
    PtxInstr *in = f->stmts[i].instr;
    if (in->op == OP_CVTA && ptx_has(in, MOD_LOCAL)) to_move(f->module, in);
    else if (ptx_has(in, MOD_LOCAL)) to_global(f->module, in);
    for (unsigned o = 0; o < in->nops; o++) move_operand(f, in, &in->ops[o], base, 0);
  }
}

void locals_move_by(PtxFunc *f, PtxReg *base, uint32_t offset) {
  for (uint32_t i = 0; i < f->nstmts; i++) {
    PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    for (unsigned o = 0; in && o < in->nops; o++) move_operand(f, in, &in->ops[o], base, offset);
  }
}

// --- the workspace of a cooperative launch ---

void workspace_keep(PtxFunc *f, PtxVar *launch) {
  Arena *a = &f->module->arena;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    if (!in || in->op != OP_MOV || in->ops[1].kind != OPD_SREG) continue;
    bool low = in->ops[1].sreg == SREG_ENVREG2;
    if (!low && in->ops[1].sreg != SREG_ENVREG1) continue;
    in->op = OP_LD;
    in->mods = ARENA_ARRAY(a, PtxMod, 2);
    in->mods[0] = MOD_PARAM;
    in->mods[1] = MOD_U32;
    in->nmods = 2;
    in->types[0] = TYPE_U32;
    in->ntypes = 1;
    in->space = SPACE_PARAM;
    in->form = 0;
    PtxOperand *base = ARENA_NEW(a, PtxOperand);
    *base = opd_var(launch);
    in->ops[1] = (PtxOperand){.kind = OPD_ADDR,
                              .nlist = 1,
                              .list = base,
                              .imm = (int64_t)offsetof(InterruptLaunch, workspace) + (low ? 0 : 4)};
  }
}

// --- shared variables ---

typedef struct Joined {
  U64Map offsets;  // variable: its offset + 1
  uint64_t bytes;
  PtxVar *into, *dynamic;
} Joined;

static bool is_dynamic(const PtxVar *v) { return v->linkage == LINK_EXTERN || !v->size; }

static void join_operand(Joined *j, PtxOperand *o) {
  if (o->kind == OPD_VAR && o->var->space == SPACE_SHARED && o->var != j->into) {
    PtxVar *v = o->var;
    if (is_dynamic(v)) {
      if (!j->dynamic || v->align > j->dynamic->align) j->dynamic = v;
      return;
    }
    uint64_t known = (uint64_t)(uintptr_t)u64map_get(&j->offsets, (uintptr_t)v);
    if (!known) {
      uint64_t align = MAX(v->align, 4);
      j->bytes = round_up(j->bytes, align);
      j->into->align = MAX(j->into->align, (uint32_t)align);
      known = j->bytes + 1;
      u64map_put(&j->offsets, (uintptr_t)v, (void *)(uintptr_t)known);
      j->bytes += v->size;
    }
    o->var = j->into;
    o->imm += (int64_t)known - 1;
  }
  for (unsigned i = 0; i < o->nlist; i++) join_operand(j, &o->list[i]);
  if (o->kind == OPD_ADDR && o->nlist && o->list[0].kind == OPD_VAR && o->list[0].var == j->into) {
    o->imm += o->list[0].imm;
    o->list[0].imm = 0;
  }
}

// Returns their bytes; *dynamic: the variable whose size the launch gives, NULL: none
uint32_t shared_join(PtxFunc *f, PtxVar *into, PtxVar **dynamic) {
  Joined j = {.into = into};
  for (uint32_t i = 0; i < f->nstmts; i++) {
    PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    for (unsigned o = 0; in && o < in->nops; o++) join_operand(&j, &in->ops[o]);
  }
  uint32_t n = 0, kept = 0;
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind != STMT_VAR || !u64map_get(&j.offsets, (uintptr_t)f->stmts[i].var))
      f->stmts[n++] = f->stmts[i];
  f->nstmts = n;
  for (uint32_t i = 0; i < f->nlocals; i++)
    if (!u64map_get(&j.offsets, (uintptr_t)f->locals[i])) {
      f->locals[kept] = f->locals[i];
      f->locals[kept]->id = kept;
      kept++;
    }
  f->nlocals = kept;
  ptx_number_labels(f);
  u64map_free(&j.offsets);
  *dynamic = j.dynamic;
  return (uint32_t)round_up(j.bytes, 16);
}
