// The second kernel of a launch in which few blocks have suspended threads: only those enter it.
// Their numbers are in InterruptLaunch.list, and %ctaid and %nctaid become registers that are what
// they were in the first kernel.
#include "interrupt/stops.h"

static bool is_of_block(const PtxOperand *o) {
  return o->kind == OPD_SREG && (o->sreg == SREG_CTAID || o->sreg == SREG_NCTAID);
}
static bool is_one_word(const PtxOperand *o) {
  return o->selector == SEL_X || o->selector == SEL_Y || o->selector == SEL_Z;
}

// Special registers that would change with the grid and cannot be replaced, or are not known here.
static bool changes(const PtxOperand *o) {
  if (o->kind == OPD_SREG) {
    switch (o->sreg) {
      case SREG_CLUSTERID:
      case SREG_NCLUSTERID:
      case SREG_CLUSTER_CTAID:
      case SREG_CLUSTER_NCTAID:
      case SREG_CLUSTER_CTARANK:
      case SREG_CLUSTER_NCTARANK: return true;
      default: return is_of_block(o) && !is_one_word(o);
    }
  }
  for (unsigned i = 0; i < o->nlist; i++)
    if (o->list[i].kind == OPD_SREG) return true;
  return false;
}

// Functions that the kernel calls keep the special registers, and functions of other units may use
// them.
static bool callees_change(const PtxModule *m) {
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    const PtxFunc *f = m->funcs[i];
    if (f->is_entry) continue;
    if (f->is_declaration) return true;
    for (uint32_t k = 0; k < f->nstmts; k++) {
      const PtxInstr *in = f->stmts[k].kind == STMT_INSTR ? f->stmts[k].instr : NULL;
      for (unsigned o = 0; in && o < in->nops; o++)
        if (changes(&in->ops[o]) || is_of_block(&in->ops[o])) return true;
    }
  }
  return false;
}

bool listed_can_be(const PtxFunc *f) {
  bool calls = false;
  if (f->reqnctapercluster.given || f->maxclusterrank || f->explicitcluster || f->blocksareclusters)
    return false;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    const PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    if (!in) continue;
    calls |= in->op == OP_CALL;
    for (unsigned o = 0; o < in->nops; o++)
      if (changes(&in->ops[o])) return false;
  }
  return !calls || !callees_change(f->module);
}

static PtxReg *replacement(PtxFunc *f, Listed *l, const PtxOperand *o) {
  static const char axis[] = "xyz";
  unsigned i = o->selector - SEL_X;
  PtxReg **r = o->sreg == SREG_CTAID ? &l->at[i] : &l->size[i];
  if (!*r) {
    char name[16];
    snprintf(name, sizeof name, "%s_%c", o->sreg == SREG_CTAID ? "ctaid" : "nctaid", axis[i]);
    *r = stops_new_register(f, TYPE_B32, name);
  }
  return *r;
}

void listed_replace(PtxFunc *f, Listed *out) {
  for (uint32_t i = 0; i < f->nstmts; i++) {
    PtxInstr *in = f->stmts[i].kind == STMT_INSTR ? f->stmts[i].instr : NULL;
    for (unsigned o = 0; in && o < in->nops; o++) {
      if (!is_of_block(&in->ops[o])) continue;
      uint32_t before = f->nstmts;
      PtxOperand with = opd_reg(replacement(f, out, &in->ops[o]));
      i += f->nstmts - before;  // its declaration comes first
      in->ops[o] = with;
      in->form = 0;
    }
  }
}
