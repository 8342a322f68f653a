// Facts that the host puts into the launch record for passes, at each launch.
#include "weave/pass.h"

uint32_t facts_param(const Body *b, const PtxVar *v) {
  for (uint32_t i = 0; b->info->record && i < b->func->nparams; i++)
    if (b->func->params[i] == v) return i;
  return UINT32_MAX;
}

void facts_keep(Body *b, const WeaveFact *facts, uint32_t n) {
  if (!n) return;
  Woven *out = b->program->out;
  WovenKernel *k = &out->kernels[b->info->kernel];
  WeaveFact *all = ARENA_ARRAY(&out->arena, WeaveFact, k->nfacts + n);
  if (k->nfacts) memcpy(all, k->facts, sizeof *all * k->nfacts);
  if (n) memcpy(all + k->nfacts, facts, sizeof *all * n);
  k->facts = all;
  k->nfacts += n;
}
