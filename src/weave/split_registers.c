// Gives each value of a tool's register a register of its own.
//
// Passes use the same few registers again and again. A machine-code compiler does not mind: it
// looks at values. The virtual device keeps one fact per register for all of its values, for
// example that it is equal in all lanes (vgpu/region/classes.c). So definitions that share no use
// get registers of their own.
//
// Nodes are definitions, and registers live at the beginning of a block. Nodes that reach the same
// use are united; each set of nodes becomes a register.
#include "weave/pass.h"

typedef struct Node {
  uint32_t parent, reg;  // the first node of a set is its own parent
} Node;
typedef struct Splitter {
  const IrCfg *cfg;
  IrLiveness *live;
  uint32_t nregs;      // before
  bool *is_candidate;  // by PtxReg.id
  bool *is_split;      // … it has several sets
  uint32_t *begins;    // by block: the node of the first register live at its beginning
  VEC(Node) nodes;
  uint32_t *now;  // by PtxReg.id: the node of its value
  PtxReg **own;   // by first node of a set: its register; NULL: it keeps the old one
  bool renames;   // second pass over the code: replaces registers
  uint32_t next;  // … node of the next definition
  bool keeps;     // the instruction at hand does not replace whole values
  bool touches;   // … it has registers that are split
} Splitter;

static uint32_t set_of(Splitter *s, uint32_t node) {
  Node *n = s->nodes.data;
  while (n[node].parent != node) node = n[node].parent = n[n[node].parent].parent;
  return node;
}

static void unite(Splitter *s, uint32_t a, uint32_t b) {
  a = set_of(s, a);
  b = set_of(s, b);
  s->nodes.data[MAX(a, b)].parent = MIN(a, b);
}

static uint32_t add_node(Splitter *s, uint32_t reg) {
  uint32_t n = s->nodes.len;
  vec_push(&s->nodes, (Node){n, reg});
  return n;
}

// --- which registers ---
static void count_definition(void *ctx, PtxReg **reg, bool is_def) {
  if (is_def) ((uint32_t *)ctx)[(*reg)->id]++;
}

// Registers of tools that are written in several places.
static bool find_candidates(Splitter *s, Arena *a) {
  const PtxFunc *f = s->cfg->func;
  uint32_t *definitions = ARENA_ARRAY(a, uint32_t, s->nregs + 1);
  bool any = false;
  for (uint32_t i = 0; i < s->cfg->ninstrs; i++)
    ptx_visit_regs(s->cfg->instrs[i], count_definition, definitions);
  for (uint32_t r = 0; r < s->nregs; r++) {
    s->is_candidate[r] = definitions[r] > 1 && !f->regs[r]->vector &&
                         !strncmp(f->regs[r]->name, "%wgp", 4);
    any |= s->is_candidate[r];
  }
  return any;
}

typedef void LiveVisitor(Splitter *s, uint32_t reg, uint32_t node);

// Calls f for the candidates live at the beginning of block b, with their nodes.
static void for_live(Splitter *s, uint32_t b, LiveVisitor *f) {
  uint32_t node = s->begins[b];
  for (uint32_t w = 0; w < s->live->words; w++)
    for (uint64_t bits = s->live->live_in[b][w]; bits; bits &= bits - 1) {
      uint32_t reg = w * 64 + (uint32_t)__builtin_ctzll(bits);
      if (s->is_candidate[reg]) f(s, reg, node++);
    }
}

static void add_live(Splitter *s, uint32_t reg, uint32_t node) { add_node(s, reg); }
static void begin_live(Splitter *s, uint32_t reg, uint32_t node) { s->now[reg] = node; }
static void unite_live(Splitter *s, uint32_t reg, uint32_t node) { unite(s, node, s->now[reg]); }

// --- going through the code ---
static void visit(void *ctx, PtxReg **reg, bool is_def) {
  Splitter *s = ctx;
  uint32_t r = (*reg)->id;
  if (r >= s->nregs || !s->is_candidate[r]) return;
  if (is_def && !s->keeps) s->now[r] = s->renames ? s->next++ : add_node(s, r);
  PtxReg *own = s->renames ? s->own[set_of(s, s->now[r])] : NULL;
  if (own) *reg = own;
}

static void look_for_split(void *ctx, PtxReg **reg, bool is_def) {
  Splitter *s = ctx;
  s->touches |= (*reg)->id < s->nregs && s->is_split[(*reg)->id];
}

static void copy_operands(Arena *a, PtxOperand **list, unsigned n) {
  PtxOperand *own = n ? ARENA_ARRAY(a, PtxOperand, n) : NULL;
  for (unsigned i = 0; i < n; i++) {
    own[i] = (*list)[i];
    if (own[i].nlist) copy_operands(a, &own[i].list, own[i].nlist);
  }
  *list = own;
}

static void go_through(Splitter *s, uint32_t b) {
  const IrBlock *block = &s->cfg->blocks[b];
  for_live(s, b, begin_live);
  for (uint32_t i = block->first; i < block->end; i++) {
    PtxInstr *in = s->cfg->instrs[i];
    s->keeps = in->guard || in->op == OP_WGMMA_MMA_ASYNC;
    s->touches = false;
    if (s->renames) ptx_visit_regs(in, look_for_split, s);
    // copies of an instruction share its operands
    if (s->touches) copy_operands(&s->cfg->func->module->arena, &in->ops, in->nops);
    ptx_visit_regs(in, visit, s);
  }
}

static void find_sets(Splitter *s) {
  const IrCfg *c = s->cfg;
  for (uint32_t b = 0; b < c->nblocks; b++) {
    s->begins[b] = s->nodes.len;
    for_live(s, b, add_live);
  }
  s->next = s->nodes.len;
  for (uint32_t b = 0; b < c->nblocks; b++) {
    go_through(s, b);
    for (uint32_t k = 0; k < c->blocks[b].nsucc; k++) for_live(s, c->blocks[b].succ[k], unite_live);
  }
}

static void declare(PtxFunc *f, PtxReg *const *regs, uint32_t n) {
  PtxStmt *stmts = ARENA_ARRAY(&f->module->arena, PtxStmt, f->nstmts + n + 1);
  for (uint32_t i = 0; i < n; i++) stmts[i] = (PtxStmt){.kind = STMT_REGS, .regs = {regs[i], 1}};
  if (f->nstmts) memcpy(stmts + n, f->stmts, f->nstmts * sizeof *stmts);
  f->stmts = stmts;
  f->nstmts += n;
  ptx_number_labels(f);
}

// The first set of a register keeps it.
static void name_sets(Splitter *s, Arena *scratch) {
  PtxFunc *f = s->cfg->func;
  Arena *a = &f->module->arena;
  uint32_t *keeper = ARENA_ARRAY(scratch, uint32_t, s->nregs + 1);  // + 1
  VEC(PtxReg *) more = {0};
  s->own = ARENA_ARRAY(scratch, PtxReg *, s->nodes.len + 1);
  for (uint32_t n = 0; n < s->nodes.len; n++) {
    uint32_t set = set_of(s, n), reg = s->nodes.data[n].reg;
    if (!keeper[reg]) keeper[reg] = set + 1;
    if (keeper[reg] == set + 1 || s->own[set]) continue;
    s->is_split[reg] = true;
    PtxReg *own = s->own[set] = ARENA_NEW(a, PtxReg);
    *own = *f->regs[reg];
    own->id = s->nregs + more.len;
    own->name = arena_printf(a, "%%wgp_value%u", own->id);
    vec_push(&more, own);
  }
  ARENA_APPEND(a, f->regs, f->nregs, more.data, more.len);
  declare(f, more.data, more.len);
  vec_free(&more);
}

bool split_registers(PtxFunc *f, Error *err) {
  Arena a = {0};
  IrCfg *cfg = ir_cfg_build(f, err);
  if (!cfg) return false;
  Splitter s = {.cfg = cfg, .nregs = f->nregs};
  s.is_candidate = ARENA_ARRAY(&a, bool, f->nregs + 1);
  s.is_split = ARENA_ARRAY(&a, bool, f->nregs + 1);
  s.begins = ARENA_ARRAY(&a, uint32_t, cfg->nblocks + 1);
  s.now = ARENA_ARRAY(&a, uint32_t, f->nregs + 1);
  if (find_candidates(&s, &a)) {
    s.live = ir_liveness_build(cfg);
    find_sets(&s);
    name_sets(&s, &a);
    s.renames = true;
    for (uint32_t b = 0; b < cfg->nblocks; b++) go_through(&s, b);
    ir_liveness_free(s.live);
  }
  vec_free(&s.nodes);
  ir_cfg_free(cfg);
  arena_free(&a);
  return true;
}
