// Lists the instructions that write and read each register, in code order. Built once, so that
// queries for many registers need not scan the whole function each time.
#include "tools/fpcheck/internal.h"

// reads, writes
typedef struct Builder {
  FpIndex *index[2];
  uint32_t nregs, at;
  bool counts;
} Builder;

static void note(void *ctx, PtxReg **reg, bool is_def) {
  Builder *b = ctx;
  FpIndex *x = b->index[is_def];
  uint32_t r = (*reg)->id;
  if (r >= b->nregs) return;
  uint32_t *n = &x->n[r];
  if (b->counts) x->start[r + 1]++;
  else if (!*n || x->instr[x->start[r] + *n - 1] != b->at)
    x->instr[x->start[r] + (*n)++] = b->at;  // x * x reads x once
}

static void visit_all(Builder *b, const IrCfg *cfg) {
  for (b->at = 0; b->at < cfg->ninstrs; b->at++) ptx_visit_regs(cfg->instrs[b->at], note, b);
}

void fp_index_build(IrCfg *cfg, uint32_t nregs, FpIndex *reads, FpIndex *writes) {
  Arena *a = &cfg->arena;
  Builder b = {.index = {reads, writes}, .nregs = nregs, .counts = true};
  for (unsigned k = 0; k < 2; k++) {
    b.index[k]->start = ARENA_ARRAY(a, uint32_t, nregs + 1);
    b.index[k]->n = ARENA_ARRAY(a, uint32_t, nregs + 1);
  }
  visit_all(&b, cfg);
  for (unsigned k = 0; k < 2; k++) {
    for (uint32_t r = 0; r < nregs; r++) b.index[k]->start[r + 1] += b.index[k]->start[r];
    b.index[k]->instr = ARENA_ARRAY(a, uint32_t, b.index[k]->start[nregs] + 1);
  }
  b.counts = false;
  visit_all(&b, cfg);
}

bool fp_is_named(const FpIndex *x, const PtxReg *r, uint32_t from, uint32_t end) {
  for (uint32_t n = 0; n < x->n[r->id]; n++) {
    uint32_t at = x->instr[x->start[r->id] + n];
    if (at >= from && at < end) return true;
  }
  return false;
}
