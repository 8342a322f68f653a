// NaN that a program uses as a marker for "no number": the condition that selects it was not
// computed from numbers. CUDART_NAN has the same bits as the NaN that functions of CUDA's library
// return; but these test their argument, which is a number.
#include "tools/fpcheck/internal.h"

static bool is_number(const FpFlow *f, const PtxReg *r, const void *unused) {
  (void)unused;
  return r->type == TYPE_F32 || r->type == TYPE_F64 || (r->id < f->nregs && f->type[r->id].format);
}

static bool asks_numbers(const FpFlow *f, const IrCfg *cfg, const PtxReg *predicate) {
  FpSearch search = {.is_it = is_number, .through_predicates = true};
  return fp_made_of(f, cfg, predicate, &search) || !search.whole;
}

bool fp_is_marker_if(const FpFlow *f, const IrCfg *cfg, const PtxReg *predicate) {
  return !asks_numbers(f, cfg, predicate);
}

// Tests the branches that lead to a block: those before it, or before the single block that
// precedes it.
bool fp_is_marker_in(const FpFlow *f, const IrCfg *cfg, uint32_t block) {
  enum { MOST_BLOCKS = 8 };
  for (unsigned n = 0; n < MOST_BLOCKS; n++) {
    const IrBlock *b = &cfg->blocks[block];
    unsigned asked = 0;
    for (uint32_t p = 0; p < b->npred; p++) {
      const IrBlock *before = &cfg->blocks[b->pred[p]];
      const PtxInstr *last = cfg->instrs[before->end - 1];
      if (before->nsucc < 2) continue;
      if (!last->guard || asks_numbers(f, cfg, last->guard)) return false;
      asked++;
    }
    if (asked || b->npred != 1) return asked && asked == b->npred;
    block = b->pred[0];
  }
  return false;
}
