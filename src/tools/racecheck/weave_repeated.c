// Redundant accesses of one basic block. If a thread reads bytes that it has read or written
// before, with nothing between that orders accesses, the repetition adds nothing. If a write
// follows a read, only the write is checked; of several writes of sums, the first.
#include "tools/racecheck/internal.h"

static bool is_plain(const RaceCheck *k, const RaceAccess *a) {
  PtxOp op = k->body->cfg->instrs[a->instr]->op;
  return (op == OP_LD || op == OP_LDU || op == OP_ST) && !(a->flags & WG_RACE_STRONG) &&
         a->address->nlist == 1 && a->address->list[0].kind == OPD_REG;
}

bool race_same_address(const RaceAccess *a, const RaceAccess *b) {
  return a->place == b->place && a->fact_at == b->fact_at &&
         a->is_shared_space == b->is_shared_space &&
         a->address->list[0].reg == b->address->list[0].reg && a->address->imm == b->address->imm;
}

static void forget(void *user, PtxReg **r, bool is_def) {
  RaceCheck *k = user;
  if (!is_def) return;
  for (uint32_t i = k->same_from; i < k->accesses.len; i++) {
    RaceAccess *a = &k->accesses.data[i];
    const PtxReg *guard = k->body->cfg->instrs[a->instr]->guard;
    if (a->same && (a->address->list[0].reg == *r || guard == *r)) a->same = false;
  }
}

// Whether earlier accesses, of this thread or of others, may be ordered differently after it.
bool race_is_order(const PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  if (ptx_op_order(in->op) != ORDER_NONE || classes & (CLASS_CALL | CLASS_RETURN)) return true;
  switch (ptx_op_memory(in->op)) {
    case MEMORY_MATRIX:
    case MEMORY_TILE:
    case MEMORY_COPY:
    case MEMORY_BULK:
    case MEMORY_TENSOR:
    case MEMORY_DESCRIPTOR: return true;
    default: return classes & CLASS_ATOMIC || race_is_strong(in) || race_stores_later(in);
  }
}

typedef struct Defines {
  const PtxReg *reg;
  bool yes;
} Defines;
static void note_def(void *user, PtxReg **r, bool is_def) {
  Defines *d = user;
  d->yes |= is_def && *r == d->reg;
}

bool race_writes_register(PtxInstr *in, const PtxReg *reg) {
  Defines d = {.reg = reg};
  ptx_visit_regs(in, note_def, &d);
  return d.yes;
}

// The store writes a running sum: other threads are not expected to write the same value.
bool race_writes_sum(const RaceCheck *k, const RaceAccess *a) {
  const IrCfg *c = k->body->cfg;
  const PtxInstr *store = c->instrs[a->instr];
  if (store->op != OP_ST || store->nops != 2 || store->ops[1].kind != OPD_REG ||
      store->ops[1].selector != SEL_NONE)
    return false;
  for (uint32_t i = a->instr; i-- > c->blocks[c->block_of[a->instr]].first;) {
    if (!race_writes_register(c->instrs[i], store->ops[1].reg)) continue;
    PtxOp op = c->instrs[i]->op;
    return (op == OP_ADD || op == OP_SUB || op == OP_FMA || op == OP_MAD || op == OP_MUL) &&
           !c->instrs[i]->guard;
  }
  return false;
}

// `a` came before `b`, and nothing has changed since. true: b needs no check.
static bool join(const RaceCheck *k, RaceAccess *a, RaceAccess *b) {
  const PtxInstr *first = k->body->cfg->instrs[a->instr], *second = k->body->cfg->instrs[b->instr];
  bool alike = first->guard == second->guard &&
               (!first->guard || first->guard_negated == second->guard_negated);
  if (!race_same_address(a, b)) return false;
  if (!(b->flags & WG_RACE_WRITE)) return b->bytes <= a->bytes && (alike || !first->guard);
  if (a->flags & b->flags & WG_RACE_WRITE && a->bytes == b->bytes && (alike || !first->guard) &&
      race_writes_sum(k, b)) {
    a->reads_too = true;
    return true;
  }
  if (a->flags & WG_RACE_WRITE || a->bytes > b->bytes || !(alike || !second->guard)) return false;
  a->gone = b->reads_too = true;
  return false;
}

void race_join_same(RaceCheck *k) {
  const IrCfg *c = k->body->cfg;
  for (uint32_t block = 0, n = 0; block < c->nblocks; block++) {
    while (n < k->accesses.len && c->block_of[k->accesses.data[n].instr] < block) n++;
    k->same_from = n;
    for (uint32_t i = c->blocks[block].first; i < c->blocks[block].end; i++) {
      for (; n < k->accesses.len && k->accesses.data[n].instr == i; n++) {
        RaceAccess *b = &k->accesses.data[n];
        if (!is_plain(k, b)) continue;
        b->same = true;
        for (uint32_t p = k->same_from; p < n && !b->gone; p++)
          if (k->accesses.data[p].same && !k->accesses.data[p].gone)
            b->gone = join(k, &k->accesses.data[p], b);
      }
      if (race_is_order(c->instrs[i])) k->same_from = n;
      else ptx_visit_regs(c->instrs[i], forget, k);
    }
  }
}
