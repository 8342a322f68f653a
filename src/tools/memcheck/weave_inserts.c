// Loads that a compiler makes for a store: for `v.y = x` of a vector in memory it loads the whole
// vector, inserts x and stores it. The program reads nothing there.
#include "tools/memcheck/internal.h"

static bool same_address(const PtxOperand *a, const PtxOperand *b) {
  return a->kind == OPD_ADDR && b->kind == OPD_ADDR && a->imm == b->imm &&
         a->list[0].kind == OPD_REG && b->list[0].kind == OPD_REG &&
         a->list[0].reg == b->list[0].reg;
}

// The store of the same bytes in the same basic block; NULL: there is none.
static const PtxInstr *store_behind(const Memcheck *m, const Check *c) {
  const IrCfg *cfg = m->body->cfg;
  const PtxInstr *load = cfg->instrs[c->instr];
  for (uint32_t i = c->instr + 1; i < cfg->blocks[cfg->block_of[c->instr]].end; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if (in->op == OP_ST && in->nops == 2 && access_bytes(in) == c->bytes &&
        same_address(&in->ops[0], &load->ops[1]))
      return in;
  }
  return NULL;
}

typedef struct Uses {
  const PtxReg *of;
  uint32_t n;
} Uses;

static void count_use(void *ctx, PtxReg **reg, bool is_def) {
  Uses *u = ctx;
  u->n += !is_def && *reg == u->of;
}

static uint32_t uses_in(PtxInstr *in, const PtxReg *r) {
  Uses u = {.of = r};
  ptx_visit_regs(in, count_use, &u);
  return u.n;
}

// Bytes of the register are moved to other positions: elements of a vector of small elements.
static bool moves_bytes(const PtxInstr *in) {
  return in->op == OP_PRMT || in->op == OP_BFI || in->op == OP_AND || in->op == OP_OR;
}

// Is the register used by the store only, or to put something into what it stores?
static bool only_stored(const Memcheck *m, const PtxReg *r, const PtxInstr *store) {
  const IrCfg *cfg = m->body->cfg;
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    if (uses_in(cfg->instrs[i], r) && cfg->instrs[i] != store && !moves_bytes(cfg->instrs[i]))
      return false;
  return true;
}

bool memcheck_inserts(const Memcheck *m, const Check *c) {
  const PtxInstr *load = m->body->cfg->instrs[c->instr];
  if (load->op != OP_LD || load->nops != 2 || c->access != WG_ACCESS_READ) return false;
  const PtxInstr *store = store_behind(m, c);
  const PtxOperand *to = &load->ops[0];
  if (!store) return false;
  if (to->kind == OPD_REG) return only_stored(m, to->reg, store);
  for (unsigned i = 0; i < to->nlist; i++)
    if (to->list[i].kind != OPD_REG || !only_stored(m, to->list[i].reg, store)) return false;
  return to->nlist > 0;
}
