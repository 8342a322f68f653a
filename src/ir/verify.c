// verify: checks that the flat view agrees with its function. Run after every transformation that
// changes the PTX, on a freshly built IrCfg; a failure is our own mistake; the message says which
// rule is broken.
#include "ir/ir.h"

typedef struct Verifier {
  const IrCfg *c;
  const PtxInstr *in;
  Error *err;
  bool ok;
} Verifier;

static bool fail(const IrCfg *c, Error *err, const char *what, uint32_t a, uint32_t b) {
  return error_set(err, "function %s: %s (%u, %u)", c->func->name, what, a, b);
}

static void visit(void *ctx, PtxReg **reg, bool is_def) {
  Verifier *v = ctx;
  const PtxFunc *f = v->c->func;
  if (!v->ok) return;
  if (!*reg || (*reg)->id >= f->nregs || f->regs[(*reg)->id] != *reg)
    v->ok = error_set(
        v->err, "function %s, PTX line %u: register %s %s by %s is not one of this function's",
        f->name, v->in->ptx_line, *reg ? (*reg)->name : "(none)", is_def ? "written" : "read",
        ptx_op_name(v->in->op));
}

static bool has(const uint32_t *list, uint32_t n, uint32_t x) {
  for (uint32_t i = 0; i < n; i++)
    if (list[i] == x) return true;
  return false;
}

// Blocks tile the instructions, edges run both ways, only the last instruction of a block leaves
// it.
static bool verify_blocks(const IrCfg *c, Error *err) {
  uint32_t at = 0, out = 0, in = 0;
  for (uint32_t b = 0; b < c->nblocks; b++) {
    const IrBlock *bl = &c->blocks[b];
    if (bl->first != at || bl->end < bl->first)
      return fail(c, err, "block does not start where the one before ends", b, bl->first);
    if (bl->end == bl->first && b + 1 != c->nblocks)
      return fail(c, err, "empty block inside the function", b, bl->first);
    at = bl->end;
    for (uint32_t i = bl->first; i < bl->end; i++) {
      bool leaves = ptx_op_classes(c->instrs[i]) & CLASS_BRANCH;
      if (c->block_of[i] != b)
        return fail(c, err, "instruction is assigned to another block", i, b);
      if (leaves && i + 1 != bl->end)
        return fail(c, err, "control flow in the middle of a block", i, b);
    }
    for (uint32_t i = 0; i < bl->nsucc; i++) {
      if (bl->succ[i] >= c->nblocks) return fail(c, err, "edge to no block", b, bl->succ[i]);
      const IrBlock *to = &c->blocks[bl->succ[i]];
      if (to->npred < 64 && !has(to->pred, to->npred, b))
        return fail(c, err, "edge without its reverse", b, bl->succ[i]);
    }
    for (uint32_t i = 0; i < bl->npred; i++) {
      if (bl->pred[i] >= c->nblocks) return fail(c, err, "edge from no block", bl->pred[i], b);
      const IrBlock *from = &c->blocks[bl->pred[i]];
      if (from->nsucc < 64 && !has(from->succ, from->nsucc, b))
        return fail(c, err, "edge without its reverse", bl->pred[i], b);
    }
    out += bl->nsucc;
    in += bl->npred;
  }
  if (at != c->ninstrs) return fail(c, err, "blocks do not cover all instructions", at, c->ninstrs);
  if (in != out) return fail(c, err, "numbers of successors and predecessors differ", out, in);
  return true;
}

static bool verify_labels(const IrCfg *c, Error *err) {
  const PtxFunc *f = c->func;
  uint32_t at = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind == STMT_INSTR) {
      if (at >= c->ninstrs || c->instrs[at] != f->stmts[i].instr)
        return fail(c, err, "the body was changed after the graph was built, at instruction", at,
                    c->ninstrs);
      at++;
    }
    if (f->stmts[i].kind != STMT_LABEL || f->stmts[i].label->kind != LABEL_CODE) continue;
    const PtxLabel *l = f->stmts[i].label;
    if (l->id >= f->nlabels || f->labels[l->id] != l)
      return fail(c, err, "label with a wrong id, at statement", i, l->id);
    uint32_t b = c->label_block[l->id];
    if (b == IR_NONE) continue;  // no instruction names it
    if (b >= c->nblocks || c->blocks[b].first != at)
      return fail(c, err, "label is not at the start of its block", l->id, b);
  }
  return at == c->ninstrs ||
         fail(c, err, "the body has fewer instructions than the graph", at, c->ninstrs);
}

// The order holds every reachable block once, dominators come first, loops are contiguous.
static bool verify_order(const IrCfg *c, Error *err) {
  for (uint32_t i = 0; i < c->norder; i++) {
    uint32_t b = c->order[i];
    if (b >= c->nblocks || c->blocks[b].rpo != i)
      return fail(c, err, "block is not at its place in the order", i, b);
    uint32_t up = c->blocks[b].idom;
    if ((up == IR_NONE) != (b == 0)) return fail(c, err, "only the entry has no dominator", b, up);
    if (up != IR_NONE && c->blocks[up].rpo >= i)
      return fail(c, err, "dominator comes after its block", b, up);
    for (uint32_t k = 0; k < c->blocks[b].nsucc; k++)
      if (c->blocks[c->blocks[b].succ[k]].rpo == IR_NONE)
        return fail(c, err, "successor of a reachable block is not reachable", b,
                    c->blocks[b].succ[k]);
  }
  for (uint32_t l = 0; l < c->nloops; l++) {
    const IrLoop *loop = &c->loops[l];
    uint32_t first = c->blocks[loop->header].rpo;
    for (uint32_t i = 0; i < loop->nblocks; i++)
      if (c->blocks[loop->blocks[i]].rpo - first >= loop->nblocks)
        return fail(c, err, "loop is not contiguous", l, loop->blocks[i]);
  }
  return true;
}

bool ir_verify(const IrCfg *c, Error *err) {
  if (!verify_blocks(c, err) || !verify_labels(c, err) || !verify_order(c, err)) return false;
  Verifier v = {.c = c, .err = err, .ok = true};
  for (uint32_t i = 0; v.ok && i < c->ninstrs; i++) {
    v.in = c->instrs[i];
    ptx_visit_regs(c->instrs[i], visit, &v);
  }
  return v.ok;
}
