// What passes want the host to tell a kernel at each launch.
#include "instrument/pass.h"

uint32_t facts_param(const Body *b, const PtxVar *v) {
  for (uint32_t i = 0; b->info->record && i < b->func->nparams; i++)
    if (b->func->params[i] == v) return i;
  return UINT32_MAX;
}

void facts_keep(Body *b, const InstrumentFact *facts, uint32_t n) {
  if (!n) return;
  Instrumented *out = b->program->out;
  InstrumentedKernel *k = &out->kernels[b->info->kernel];
  InstrumentFact *all = ARENA_ARRAY(&out->arena, InstrumentFact, k->nfacts + n);
  if (k->nfacts) memcpy(all, k->facts, sizeof *all * k->nfacts);
  if (n) memcpy(all + k->nfacts, facts, sizeof *all * n);
  k->facts = all;
  k->nfacts += n;
}
