// liveness: which registers may still be read at the start and end of each block.
//
// One register at a time: from each block that reads it before writing it, backwards until blocks
// that write it. The work is the size of the answer. Rows of blocks with the same answer are
// shared: look, do not write.
#include "ir/internal.h"

typedef struct Pair {
  uint32_t reg, block;
} Pair;
typedef VEC(Pair) Pairs;

typedef struct Scan {
  uint32_t block;
  bool kills;                      // writes of the instruction at hand replace the whole register
  uint32_t *read_in, *written_in;  // register -> block + 1 seen last
  Pairs reads, kills_in;
  bool defs;  // pass over the definitions (after the uses) of one instruction
} Scan;

static void visit(void *ctx, PtxReg **reg, bool is_def) {
  Scan *s = ctx;
  uint32_t r = (*reg)->id;
  if (is_def != s->defs) return;
  if (!is_def) {
    if (s->written_in[r] == s->block + 1 || s->read_in[r] == s->block + 1) return;
    s->read_in[r] = s->block + 1;
    vec_push(&s->reads, (Pair){r, s->block});
  } else if (s->kills && !(*reg)->vector && s->written_in[r] != s->block + 1) {
    s->written_in[r] = s->block + 1;
    vec_push(&s->kills_in, (Pair){r, s->block});
  }
}

// Turns pairs into blocks by register: list[at[r] .. at[r + 1]).
static void group(Arena *a, const Pairs *p, uint32_t nregs, uint32_t **at_out,
                  uint32_t **list_out) {
  uint32_t *at = ARENA_ARRAY(a, uint32_t, nregs + 2), *list = ARENA_ARRAY(a, uint32_t, p->len + 1);
  for (uint32_t i = 0; i < p->len; i++) at[p->data[i].reg + 2]++;
  for (uint32_t r = 1; r <= nregs; r++) at[r + 1] += at[r];
  for (uint32_t i = 0; i < p->len; i++) list[at[p->data[i].reg + 1]++] = p->data[i].block;
  *at_out = at;
  *list_out = list;
}

// Old code returns values in registers: (.reg .b32 x). ret reads them.
static void read_returns(const PtxFunc *f, Scan *s) {
  for (uint32_t i = 0; i < f->nreturns; i++) {
    if (f->returns[i]->space != SPACE_REG) continue;
    for (uint32_t r = 0; r < f->nregs; r++)
      if (!strcmp(f->regs[r]->name, f->returns[i]->name)) visit(s, (PtxReg **)&f->regs[r], false);
  }
}

IrLiveness *ir_liveness_build(const IrCfg *c) { return liveness_without(c, NULL); }

IrLiveness *liveness_without(const IrCfg *c, const bool *dead) {
  const PtxFunc *f = c->func;
  IrLiveness *l = mem_alloc(sizeof *l);
  l->words = (f->nregs + 63) / 64;
  l->live_in = ARENA_ARRAY(&l->arena, uint64_t *, c->nblocks);
  l->live_out = ARENA_ARRAY(&l->arena, uint64_t *, c->nblocks);
  uint64_t *empty = ARENA_ARRAY(&l->arena, uint64_t, l->words);
  for (uint32_t b = 0; b < c->nblocks; b++) l->live_in[b] = l->live_out[b] = empty;

  Arena a = {0};
  Scan s = {.read_in = ARENA_ARRAY(&a, uint32_t, f->nregs + 1),
            .written_in = ARENA_ARRAY(&a, uint32_t, f->nregs + 1)};
  for (uint32_t b = 0; b < c->nblocks; b++) {
    s.block = b;
    for (uint32_t i = c->blocks[b].first; i < c->blocks[b].end; i++) {
      PtxInstr *in = c->instrs[i];
      if (dead && dead[i]) continue;
      s.kills = !in->guard && in->op != OP_WGMMA_MMA_ASYNC;  // wgmma adds to its destination
      s.defs = false;
      ptx_visit_regs(in, visit, &s);
      s.defs = true;
      ptx_visit_regs(in, visit, &s);
      s.defs = false;
      if (in->op == OP_RET) read_returns(f, &s);
    }
    if (c->blocks[b].nsucc == 0) read_returns(f, &s);
  }

  uint32_t *read_at, *read_list, *kill_at, *kill_list;
  group(&a, &s.reads, f->nregs, &read_at, &read_list);
  group(&a, &s.kills_in, f->nregs, &kill_at, &kill_list);
  uint32_t *killed = ARENA_ARRAY(&a, uint32_t, c->nblocks),
           *stack = ARENA_ARRAY(&a, uint32_t, c->nblocks + 1);
  for (uint32_t r = 0; r < f->nregs; r++) {
    uint64_t bit = 1ull << (r % 64);
    uint32_t top = 0;
    for (uint32_t i = kill_at[r]; i < kill_at[r + 1]; i++) killed[kill_list[i]] = r + 1;
    for (uint32_t i = read_at[r]; i < read_at[r + 1]; i++) stack[top++] = read_list[i];
    for (uint32_t i = 0; i < top; i++) {
      uint64_t **row = &l->live_in[stack[i]];
      if (*row == empty) *row = ARENA_ARRAY(&l->arena, uint64_t, l->words);
      (*row)[r / 64] |= bit;
    }
    while (top) {
      const IrBlock *bl = &c->blocks[stack[--top]];
      for (uint32_t k = 0; k < bl->npred; k++) {
        uint32_t p = bl->pred[k];
        if (killed[p] == r + 1 || (l->live_in[p][r / 64] & bit)) continue;
        if (l->live_in[p] == empty) l->live_in[p] = ARENA_ARRAY(&l->arena, uint64_t, l->words);
        l->live_in[p][r / 64] |= bit;
        stack[top++] = p;
      }
    }
  }
  for (uint32_t b = 0; b < c->nblocks; b++) {
    const IrBlock *bl = &c->blocks[b];
    if (bl->nsucc == 1) l->live_out[b] = l->live_in[bl->succ[0]];
    if (bl->nsucc < 2) continue;
    l->live_out[b] = ARENA_ARRAY(&l->arena, uint64_t, l->words);
    for (uint32_t k = 0; k < bl->nsucc; k++)
      for (uint32_t w = 0; w < l->words; w++) l->live_out[b][w] |= l->live_in[bl->succ[k]][w];
  }
  vec_free(&s.reads);
  vec_free(&s.kills_in);
  arena_free(&a);
  return l;
}

void ir_liveness_free(IrLiveness *l) {
  if (!l) return;
  arena_free(&l->arena);
  free(l);
}
