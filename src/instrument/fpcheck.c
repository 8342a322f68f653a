// fpcheck: where NaN, infinity, division by zero and subnormal numbers are born.
//
// requires: contracted code (ir_contract), so that a test that reads a product does not change whether ptxas fuses it.
// keeps: every result. docs/fpcheck.md is the page about it.
#include "instrument/fpcheck.h"

static void weave(Body *b) {
  if (!b->cfg->ninstrs) return;
  FpCheck k = {.body = b, .kinds = b->program->plan->fp_kinds ? b->program->plan->fp_kinds : WG_FP_ALL};
  k.flow = fp_flow_build(b);
  k.fired = body_reg(b, TYPE_PRED);
  k.matrix_operand = body_reg(b, TYPE_B32);
  fp_weave_full(&k);
  fp_flow_free(k.flow);
  strmap_free(&k.sites);
  vec_free(&k.items);
  vec_free(&k.kept);
}

const Pass pass_fpcheck = {.weave = weave};

bool instrument_fp_parse(const char *list, unsigned *kinds, Error *err) {
  static const struct { const char *name; unsigned bit; } names[] = {{"nan", WG_FP_NAN}, {"inf", WG_FP_INF}, {"div0", WG_FP_DIV0}, {"sub", WG_FP_SUBNORMAL}};
  *kinds = 0;
  for (const char *p = list;; p++) {
    size_t n = strcspn(p, ","), i = 0;
    while (i < ARRAY_LEN(names) && (strlen(names[i].name) != n || memcmp(names[i].name, p, n))) i++;
    if (i == ARRAY_LEN(names)) return error_set(err, "--fp: there is no exception '%.*s'. They are nan, inf, div0 and sub", (int)n, p);
    *kinds |= names[i].bit;
    p += n;
    if (!*p) return true;
  }
}
