// Makes a second copy of a loop, without the code marked as belonging to the original only. The
// copy stands at the end of the function. If a predicate holds where the loop is entered, the copy
// runs instead; it exits to where the loop exits.
#include "weave/pass.h"

// The instructions of the loop as one range; false: they are scattered.
static bool loop_range(const Body *b, uint32_t loop, uint32_t *first, uint32_t *end) {
  const IrCfg *c = b->cfg;
  const IrLoop *l = &c->loops[loop];
  uint32_t n = 0;
  *first = UINT32_MAX;
  *end = 0;
  for (uint32_t i = 0; i < l->nblocks; i++) {
    const IrBlock *k = &c->blocks[l->blocks[i]];
    *first = MIN(*first, k->first);
    *end = MAX(*end, k->end);
    n += k->end - k->first;
  }
  return n == *end - *first && *first == c->blocks[l->header].first;
}

static bool ends_flow(const PtxInstr *in) {
  return !in->guard && (in->op == OP_BRA || in->op == OP_RET || in->op == OP_EXIT ||
                        in->op == OP_TRAP || in->op == OP_BRX_IDX);
}

// Whether a statement may stand in a copied loop. Braces with registers in them are opened.
static bool can_stand_in_loop(const PtxStmt *s, int depth) {
  switch (s->kind) {
    case STMT_LABEL: return s->label->kind == LABEL_CODE;
    case STMT_INSTR: return s->instr->op != OP_BRX_IDX;
    case STMT_SCOPE_END:
    case STMT_REGS: return depth > 0;
    case STMT_SCOPE_BEGIN:
    case STMT_LOC:
    case STMT_PRAGMA: return true;
    default: return false;
  }
}

// Finds where the statements of a range of instructions begin (at the labels before the first) and
// end.
static bool stmt_range(const Body *b, uint32_t first, uint32_t end, uint32_t *from, uint32_t *to) {
  const PtxFunc *f = b->func;
  uint32_t n = 0, i = 0;
  int depth = 0;
  *from = UINT32_MAX;
  for (; i < f->nstmts && n < end; i++) {
    const PtxStmt *s = &f->stmts[i];
    if (n == first && *from == UINT32_MAX && s->kind == STMT_LABEL) *from = i;
    n += s->kind == STMT_INSTR;
    if (*from == UINT32_MAX) continue;
    if (!can_stand_in_loop(s, depth)) return false;
    depth += (s->kind == STMT_SCOPE_BEGIN) - (s->kind == STMT_SCOPE_END);
  }
  *to = i;
  return *from != UINT32_MAX && *from < i && !depth;
}

bool body_loop_range(const Body *b, uint32_t loop, uint32_t *first, uint32_t *end, uint32_t *from,
                     uint32_t *to) {
  return loop_range(b, loop, first, end) && stmt_range(b, *first, *end, from, to);
}

bool body_can_copy(const Body *b, uint32_t loop) {
  uint32_t first, end, from, to;
  if (!loop_range(b, loop, &first, &end) || !first || ends_flow(b->cfg->instrs[first - 1]) ||
      !stmt_range(b, first, end, &from, &to))
    return false;
  for (uint32_t i = 0; i < b->copies.len; i++)  // one inside another would be copied with it
    if (first < b->copies.data[i].end && b->copies.data[i].first < end) return false;
  return true;
}

Code *body_copy_loop(Body *b, uint32_t loop, PtxReg *safe) {
  LoopCopy k = {.safe = safe,
                .start = body_label(b),
                .leave = body_label(b),
                .decide = ARENA_NEW(&b->cfg->arena, Code)};
  CHECK(loop_range(b, loop, &k.first, &k.end) && stmt_range(b, k.first, k.end, &k.from, &k.to));
  k.decide->body = b;
  k.decide->near = b->cfg->instrs[k.first];
  for (uint32_t i = k.first; i < k.end; i++) body_copied(b, i);
  vec_push(&b->copies, k);
  return k.decide;
}

// The label as it is in the copy.
static PtxLabel *label_in_copy(Body *b, LoopCopy *k, PtxLabel *l) {
  for (uint32_t i = 0; i < k->nreturns; i++)
    if (k->returns[i].label == l) return k->returns[i].copy;
  enum { STEP = 16 };
  if (k->nreturns % STEP == 0) {
    void *more = ARENA_ARRAY(&b->cfg->arena, char, sizeof *k->returns *(k->nreturns + STEP));
    if (k->nreturns) memcpy(more, k->returns, sizeof *k->returns * k->nreturns);
    k->returns = more;
  }
  k->returns[k->nreturns].label = l;
  return k->returns[k->nreturns++].copy = body_label(b);
}

// --- code out of line, which the loop and its copy share, returns to the one it came from ---

static void note_label(U64Map *labels, const PtxStmt *s) {
  if (s->kind == STMT_LABEL) u64map_put(labels, (uintptr_t)s->label, s->label);
}

static void note_labels(const Body *b, U64Map *labels, const Code *c) {
  for (uint32_t i = c ? c->first : 0; i; i = b->added.data[i - 1].next)
    note_label(labels, &b->added.data[i - 1].stmt);
}

static U64Map labels_of_loop(const Body *b, const LoopCopy *k) {
  U64Map labels = {0};
  for (uint32_t i = k->from; i < k->to; i++) note_label(&labels, &b->func->stmts[i]);
  for (uint32_t n = k->first; n < k->end; n++) {
    note_labels(b, &labels, b->before[n]);
    note_labels(b, &labels, b->instead[n]);
    note_labels(b, &labels, b->after[n]);
  }
  return labels;
}

//     @p bra Label;   becomes   @!p bra Skip;  @safe bra Copy;  bra Label;  Skip:
// Returns the last statement of that, as an index in Body.added plus 1.
static uint32_t return_to_copy(Body *b, LoopCopy *k, uint32_t at) {
  PtxInstr *branch = b->added.data[at - 1].stmt.instr;
  PtxLabel *label = branch->ops[0].label, *skip = branch->guard ? body_label(b) : NULL;
  Code piece = {.body = b, .near = branch};
  if (skip) code_branch(&piece, branch->guard, !branch->guard_negated, skip);
  code_branch(&piece, k->safe, false, label_in_copy(b, k, label));
  EMIT(&piece, "bra", opd_label(label));
  if (skip) code_label(&piece, skip);
  b->added.data[piece.last - 1].next = b->added.data[at - 1].next;
  b->added.data[at - 1] = b->added.data[piece.first - 1];
  return piece.last == piece.first ? at : piece.last;
}

void loop_copy_returns(Body *b, LoopCopy *k) {
  U64Map labels = labels_of_loop(b, k);
  for (uint32_t i = b->cold ? b->cold->first : 0; i; i = b->added.data[i - 1].next) {
    const PtxStmt *s = &b->added.data[i - 1].stmt;
    bool returns = s->kind == STMT_INSTR && s->instr->op == OP_BRA &&
                   s->instr->ops[0].kind == OPD_LABEL &&
                   u64map_get(&labels, (uintptr_t)s->instr->ops[0].label);
    if (!returns) continue;
    bool was_last = b->cold->last == i;
    i = return_to_copy(b, k, i);
    if (was_last) b->cold->last = i;
  }
  u64map_free(&labels);
}

// --- installing the copy: body.c calls these while it installs the statements ---

const LoopCopy *loop_copy_begins(const Body *b, uint32_t stmt) {
  for (uint32_t i = 0; i < b->copies.len; i++)
    if (b->copies.data[i].from == stmt) return &b->copies.data[i];
  return NULL;
}

const LoopCopy *loop_copy_ends(const Body *b, uint32_t stmt) {
  for (uint32_t i = 0; i < b->copies.len; i++)
    if (b->copies.data[i].to == stmt) return &b->copies.data[i];
  return NULL;
}

void loop_copy_decide(Body *b, const LoopCopy *k) {
  code_guard(k->decide, k->safe, false);
  EMIT(k->decide, "bra", opd_label(k->start));
}

typedef struct Renaming {
  Body *b;
  U64Map labels;
} Renaming;

static PtxLabel *renamed(Renaming *r, PtxLabel *l) {
  PtxLabel *copy = u64map_get(&r->labels, (uintptr_t)l);
  return copy ? copy : l;
}

static PtxStmt copy_stmt(Renaming *r, PtxStmt s) {
  if (s.kind == STMT_LABEL) s.label = renamed(r, s.label);
  if (s.kind != STMT_INSTR) return s;
  Arena *a = &r->b->func->module->arena;
  PtxInstr *in = ARENA_NEW(a, PtxInstr);
  *in = *s.instr;
  bool has_label = false;
  for (unsigned i = 0; i < in->nops; i++) has_label |= in->ops[i].kind == OPD_LABEL;
  if (has_label) {
    in->ops = ARENA_ARRAY(a, PtxOperand, in->nops);
    memcpy(in->ops, s.instr->ops, sizeof *in->ops * in->nops);
    for (unsigned i = 0; i < in->nops; i++)
      if (in->ops[i].kind == OPD_LABEL) in->ops[i].label = renamed(r, in->ops[i].label);
  }
  s.instr = in;
  return s;
}

static void name_labels(Renaming *r, const PtxStmt *s) {
  if (s->kind == STMT_LABEL && !u64map_get(&r->labels, (uintptr_t)s->label))
    u64map_put(&r->labels, (uintptr_t)s->label, body_label(r->b));
}

static void each_code(Renaming *r, const Code *c, PtxStmt **at) {
  for (uint32_t i = c ? c->first : 0; i; i = r->b->added.data[i - 1].next) {
    if (at) *(*at)++ = copy_stmt(r, r->b->added.data[i - 1].stmt);
    else name_labels(r, &r->b->added.data[i - 1].stmt);
  }
}

// Walks the same statements twice: first to name the labels, then to write.
static void each_stmt(Renaming *r, const LoopCopy *k, const bool *gone, PtxStmt **at) {
  Body *b = r->b;
  uint32_t n = k->first;
  for (uint32_t i = k->from; i < k->to; i++) {
    const PtxStmt *s = &b->func->stmts[i];
    if (gone[i]) continue;
    if (s->kind != STMT_INSTR) {
      if (at) *(*at)++ = copy_stmt(r, *s);
      else name_labels(r, s);
      continue;
    }
    each_code(r, b->before[n], at);
    if (b->instead[n]) each_code(r, b->instead[n], at);
    else if (at) *(*at)++ = copy_stmt(r, *s);
    each_code(r, b->after[n], at);
    n++;
  }
}

uint32_t loop_copy_size(const Body *b) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < b->copies.len; i++)
    n += b->copies.data[i].to - b->copies.data[i].from + 4;
  return n ? n + b->added.len : 0;
}

void loop_copy_install(Body *b, const LoopCopy *k, const bool *gone, PtxStmt **at) {
  Renaming r = {.b = b};
  for (uint32_t i = 0; i < k->nreturns; i++)
    u64map_put(&r.labels, (uintptr_t)k->returns[i].label, k->returns[i].copy);
  each_stmt(&r, k, gone, NULL);
  *(*at)++ = (PtxStmt){.kind = STMT_LABEL, .label = k->start};
  each_stmt(&r, k, gone, at);
  Arena *a = &b->func->module->arena;
  PtxInstr *leave = ARENA_NEW(a, PtxInstr);
  *leave = (PtxInstr){.op = OP_BRA, .nops = 1, .ops = ARENA_NEW(a, PtxOperand)};
  leave->ops[0] = opd_label(k->leave);
  *(*at)++ = (PtxStmt){.kind = STMT_INSTR, .instr = leave};
  u64map_free(&r.labels);
}
