// cfg: cuts a function body into basic blocks and connects them.
//
// requires: a parsed function with a body. keeps: the PTX. A block starts at the first instruction,
// at a code label that some instruction names and after every instruction that may go elsewhere.
// Labels that only debug information names ($L__tmp1) start none. Running off the end of the body
// is a return.
#include "ir/internal.h"

static bool ends_block(const PtxInstr *in) { return ptx_op_classes(in) & CLASS_BRANCH; }

// Lists the instructions in order.
static void list_instructions(IrCfg *c) {
  PtxFunc *f = c->func;
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) n += f->stmts[i].kind == STMT_INSTR;
  c->instrs = ARENA_ARRAY(&c->arena, PtxInstr *, n + 1);
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR) c->instrs[c->ninstrs++] = f->stmts[i].instr;
}

static bool is_code_label(const PtxStmt *s) {
  return s->kind == STMT_LABEL && s->label->kind == LABEL_CODE;
}

static void mark_named(const PtxLabel *label, bool *named, uint32_t n) {
  if (label->id < n) named[label->id] = true;
  for (uint32_t i = 0; i < label->ntargets; i++)
    if (label->targets[i] && label->targets[i]->id < n) named[label->targets[i]->id] = true;
}

// For each label: whether an instruction names it, directly or in a list of branch targets.
static bool *named_labels(IrCfg *c) {
  bool *named = ARENA_ARRAY(&c->arena, bool, c->func->nlabels + 1);
  for (uint32_t i = 0; i < c->ninstrs; i++)
    for (unsigned o = 0; o < c->instrs[i]->nops; o++)
      if (c->instrs[i]->ops[o].kind == OPD_LABEL && c->instrs[i]->ops[o].label)
        mark_named(c->instrs[i]->ops[o].label, named, c->func->nlabels);
  return named;
}

// Finds the blocks. A label after the last instruction gets an empty block, so that a branch to it
// has a target.
static void cut_blocks(IrCfg *c) {
  PtxFunc *f = c->func;
  bool *starts = ARENA_ARRAY(&c->arena, bool, c->ninstrs + 1), *named = named_labels(c);
  starts[0] = true;
  uint32_t at = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (is_code_label(&f->stmts[i]) && named[f->stmts[i].label->id]) starts[at] = true;
    if (f->stmts[i].kind == STMT_INSTR && ends_block(c->instrs[at++]) && at < c->ninstrs)
      starts[at] = true;
  }
  for (uint32_t i = 0; i <= c->ninstrs; i++) c->nblocks += starts[i];
  c->blocks = ARENA_ARRAY(&c->arena, IrBlock, c->nblocks);
  c->block_of = ARENA_ARRAY(&c->arena, uint32_t, c->ninstrs + 1);
  uint32_t b = IR_NONE;
  for (uint32_t i = 0; i <= c->ninstrs; i++) {
    if (starts[i]) {
      if (b != IR_NONE) c->blocks[b].end = i;
      b++;  // IR_NONE + 1 is 0
      c->blocks[b] = (IrBlock){
          .first = i, .end = i, .rpo = IR_NONE, .idom = IR_NONE, .ipdom = IR_NONE, .loop = IR_NONE};
    }
    if (i < c->ninstrs) c->block_of[i] = b;
  }
  c->blocks[b].end = c->ninstrs;

  c->label_block = ARENA_ARRAY(&c->arena, uint32_t, f->nlabels + 1);
  for (uint32_t i = 0; i < f->nlabels; i++) c->label_block[i] = IR_NONE;
  at = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (is_code_label(&f->stmts[i]) && named[f->stmts[i].label->id])
      c->label_block[f->stmts[i].label->id] = at < c->ninstrs ? c->block_of[at] : c->nblocks - 1;
    at += f->stmts[i].kind == STMT_INSTR;
  }
}

typedef struct Edges {
  IrCfg *c;
  Error *err;
  uint32_t *seen;  // block -> source block + 1 that already has an edge to it
  uint32_t *list;
  uint32_t n, cap;  // edges of the block at hand
} Edges;

static bool add_target(Edges *e, uint32_t from, const PtxInstr *in, const PtxLabel *label) {
  const PtxFunc *f = e->c->func;
  uint32_t to = label && label->id < f->nlabels ? e->c->label_block[label->id] : IR_NONE;
  if (to == IR_NONE)
    return error_set(e->err,
                     "%s:%u: branch in %s to %s, which is not a code label of this function",
                     f->module ? f->module->name : "ptx", in->ptx_line, f->name,
                     label ? label->name : "nothing");
  if (e->seen[to] == from + 1) return true;
  e->seen[to] = from + 1;
  e->list[e->n++] = to;
  return true;
}

static bool add_targets(Edges *e, uint32_t from, const PtxInstr *in) {
  const PtxOperand *last = in->nops ? &in->ops[in->nops - 1] : NULL;
  const PtxLabel *label = last && last->kind == OPD_LABEL ? last->label : NULL;
  if (in->op == OP_BRX_IDX && label && label->kind == LABEL_BRANCHTARGETS) {
    for (uint32_t i = 0; i < label->ntargets; i++)
      if (!add_target(e, from, in, label->targets[i])) return false;
    return true;
  }
  return add_target(e, from, in, label);
}

static bool connect_blocks(IrCfg *c, Error *err) {
  Edges e = {.c = c, .err = err};
  e.seen = mem_alloc(sizeof(uint32_t) * c->nblocks);
  e.list = mem_alloc(sizeof(uint32_t) * (c->nblocks + 1));
  bool ok = true;
  for (uint32_t b = 0; ok && b < c->nblocks; b++) {
    IrBlock *bl = &c->blocks[b];
    const PtxInstr *in = bl->end > bl->first ? c->instrs[bl->end - 1] : NULL;
    e.n = 0;
    if (in && (in->op == OP_BRA || in->op == OP_BRX_IDX)) ok = add_targets(&e, b, in);
    bool falls = !in || !ends_block(in) || in->guard;
    if (falls && b + 1 < c->nblocks && e.seen[b + 1] != b + 1) e.list[e.n++] = b + 1;
    bl->nsucc = e.n;
    bl->succ = ARENA_ARRAY(&c->arena, uint32_t, e.n);
    memcpy(bl->succ, e.list, sizeof(uint32_t) * e.n);
    for (uint32_t i = 0; i < e.n; i++) c->blocks[e.list[i]].npred++;
  }
  for (uint32_t b = 0; b < c->nblocks; b++) {
    c->blocks[b].pred = ARENA_ARRAY(&c->arena, uint32_t, c->blocks[b].npred);
    c->blocks[b].npred = 0;
  }
  for (uint32_t b = 0; ok && b < c->nblocks; b++)
    for (uint32_t i = 0; i < c->blocks[b].nsucc; i++) {
      IrBlock *to = &c->blocks[c->blocks[b].succ[i]];
      to->pred[to->npred++] = b;
    }
  free(e.seen);
  free(e.list);
  return ok;
}

IrCfg *ir_cfg_build(PtxFunc *f, Error *err) {
  if (f->is_declaration) {
    error_set(err, "function %s has no body", f->name);
    return NULL;
  }
  IrCfg *c = mem_alloc(sizeof *c);
  c->func = f;
  list_instructions(c);
  cut_blocks(c);
  if (!connect_blocks(c, err)) {
    ir_cfg_free(c);
    return NULL;
  }
  order_depth_first(c);
  dominators_compute(c);
  loops_find(c);
  order_by_loops(c);
  return c;
}

void ir_cfg_free(IrCfg *c) {
  if (!c) return;
  arena_free(&c->arena);
  free(c);
}

bool ir_is_kernel_param(const PtxFunc *f, const PtxOperand *o) {
  if (!f->is_entry || o->kind != OPD_VAR) return false;
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i] == o->var) return true;
  return false;
}
