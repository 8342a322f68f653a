// contract_unroll: loops that ptxas may unroll completely before it fuses.
//
// Unrolling puts several iterations and the code before the loop into one block. Whether ptxas
// unrolls depends on sizes we do not know, so the contract pass leaves a pair alone that meets only
// across such a loop.
#include "ir/contract.h"

typedef struct Counter {  // what is known of one register
  // written by mov of a constant, by add of a constant to itself, otherwise
  bool from_constant, stepped, other;
} Counter;

typedef struct Scan {
  const IrCfg *c;
  const PtxInstr *in;
  Counter *counters;
  const ContractFacts *facts;
} Scan;

static void note_def(void *ctx, PtxReg **reg, bool is_def) {
  Scan *s = ctx;
  if (!is_def) return;
  const PtxInstr *in = s->in;
  Counter *n = &s->counters[(*reg)->id];
  uint64_t bits;
  bool constant = contract_constant(s->facts, &in->ops[in->nops - 1], &bits);
  if (in->guard) n->other = true;
  else if (in->op == OP_MOV && in->nops == 2 && constant) n->from_constant = true;
  else if ((in->op == OP_ADD || in->op == OP_SUB) && in->nops == 3 && constant &&
           in->ops[1].kind == OPD_REG)
    n->stepped = true;
  else if (in->op == OP_MOV && in->nops == 2 && in->ops[1].kind == OPD_REG)
    n->stepped = true;  // i = next
  else n->other = true;
}

// Blocks marked by .pragma "nounroll", which stands at or before the loop's label.
static bool *find_nounroll(const IrCfg *c, Arena *a) {
  bool *marked = ARENA_ARRAY(a, bool, c->nblocks);
  bool pending = false;
  uint32_t at = 0;
  for (uint32_t i = 0; i < c->func->nstmts; i++) {
    const PtxStmt *s = &c->func->stmts[i];
    if (s->kind == STMT_PRAGMA && strstr(s->text, "nounroll")) {
      pending = true;
      if (at < c->ninstrs) marked[c->block_of[at]] = true;
    } else if (s->kind == STMT_LABEL && s->label->kind == LABEL_CODE &&
               c->label_block[s->label->id] != IR_NONE) {
      if (pending) marked[c->label_block[s->label->id]] = true;
      pending = false;
    } else if (s->kind == STMT_INSTR) {
      at++;
    }
  }
  return marked;
}

// Some exit of the loop is decided by comparing a counter with a constant.
static bool counts_to_constant(const Scan *s, const IrLoop *loop) {
  for (uint32_t k = 0; k < loop->nblocks; k++) {
    const IrBlock *b = &s->c->blocks[loop->blocks[k]];
    for (uint32_t i = b->first; i < b->end; i++) {
      const PtxInstr *in = s->c->instrs[i];
      uint64_t bits;
      if (in->op != OP_SETP || in->nops < 3) continue;
      for (int o = 1; o < 3; o++) {
        if (in->ops[o].kind != OPD_REG || !contract_constant(s->facts, &in->ops[3 - o], &bits))
          continue;
        const Counter *n = &s->counters[in->ops[o].reg->id];
        if (n->stepped && !n->other) return true;
      }
    }
  }
  return false;
}

bool *contract_find_unrollable(const IrCfg *c, const ContractFacts *facts, Arena *a) {
  bool *in_loop = ARENA_ARRAY(a, bool, c->nblocks);
  if (!c->nloops) return in_loop;
  Scan s = {.c = c, .facts = facts, .counters = ARENA_ARRAY(a, Counter, c->func->nregs + 1)};
  bool *nounroll = find_nounroll(c, a);
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    s.in = c->instrs[i];
    if (s.in->nops) ptx_visit_regs(c->instrs[i], note_def, &s);
  }
  for (uint32_t l = 0; l < c->nloops; l++) {
    const IrLoop *loop = &c->loops[l];
    if (nounroll[loop->header] || !counts_to_constant(&s, loop)) continue;
    for (uint32_t k = 0; k < loop->nblocks; k++) in_loop[loop->blocks[k]] = true;
  }
  return in_loop;
}
