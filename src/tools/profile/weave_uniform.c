// Counts instructions whose results are the same in all lanes of a warp, for any shape of the
// block. Weaves nothing: blocks have counters already.
#include "tools/profile/internal.h"

typedef struct Results {
  const Profiling *w;
  uint32_t n, same;
} Results;

static void look_at(void *ctx, PtxReg **reg, bool is_def) {
  Results *r = ctx;
  if (!is_def) return;
  r->n++;
  r->same += r->w->any[(*reg)->id].class == LANES_SAME;
}

static bool is_uniform(const Profiling *w, PtxInstr *in) {
  Results r = {.w = w};
  if (!in->ptx_line || ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC | CLASS_SYNC))
    return false;
  ptx_visit_regs(in, look_at, &r);
  return r.n && r.same == r.n;
}

void weave_uniform(Profiling *w) {
  const IrCfg *cfg = w->body->cfg;
  RegionBlock *blocks = ARENA_ARRAY(&w->body->program->out->arena, RegionBlock, cfg->nblocks);
  ProfileSite s = {.kernel = w->counting->kernel,
                   .text = "",
                   .space = SITE_UNIFORM,
                   .block = COUNT_NONE,
                   .outside = COUNT_NONE,
                   .region = blocks};
  for (uint32_t i = 0; i < cfg->nblocks; i++) {
    const IrBlock *b = &cfg->blocks[i];
    uint32_t n = 0;
    if (w->counting->entry[i] == COUNT_NONE) continue;
    for (uint32_t k = b->first; k < b->end; k++) n += is_uniform(w, cfg->instrs[k]);
    if (n) blocks[s.nregion++] = (RegionBlock){w->counting->entry[i], n};
  }
  if (s.nregion) vec_push(&w->profile->sites, s);
}
