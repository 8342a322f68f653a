// Makes the PTX that runs in place of a piece's PTX: parse, verify, contract, instrument, print.
// With no tool it is only printed again, and what comes out assembles to the same machine code as
// what went in.
#include "gpu/modules/modules.h"

#include "ir/ir.h"

// If the compiler fuses nothing (-O0, --fmad=false), plain products and sums get an explicit .rn,
// which keeps the driver's compiler from fusing them.
static void make_rounding_explicit(PtxModule *m) {
  for (uint32_t i = 0; i < m->nfuncs; i++)
    for (uint32_t k = 0; k < m->funcs[i]->nstmts; k++) {
      if (m->funcs[i]->stmts[k].kind != STMT_INSTR) continue;
      PtxInstr *in = m->funcs[i]->stmts[k].instr;
      if ((in->op != OP_MUL && in->op != OP_ADD && in->op != OP_SUB) || !in->ntypes ||
          ptx_type_kind(in->types[0]) != KIND_FLOAT)
        continue;
      if (ptx_has(in, MOD_RN) || ptx_has(in, MOD_RZ) || ptx_has(in, MOD_RM) || ptx_has(in, MOD_RP))
        continue;
      PtxMod *mods = ARENA_ARRAY(&m->arena, PtxMod, in->nmods + 1u);
      mods[0] = MOD_RN;
      if (in->nmods) memcpy(mods + 1, in->mods, in->nmods * sizeof *mods);
      in->mods = mods;
      in->nmods++;
    }
}

// A probe that reads a product keeps the compiler from fusing it with the sum it goes into; a
// branch between the two might. The probes of count do neither, but count what both devices run.
static bool may_stop_fusing(void) { return session_tools() != 0; }

static PtxModule *read_unit(const char *text, size_t len, const char *name, const GpuJit *jit,
                            unsigned sm, Error *err) {
  PtxModule *m = ptx_parse(text, len, name, err);
  if (!m) return NULL;
  bool ok = ptx_verify(m, err);
  if (ok && !may_stop_fusing()) return m;
  if (ok && jit->contract_off) {
    make_rounding_explicit(m);
    ok = ptx_verify(m, err);
  } else if (ok) {
    ok = ir_contract_for(m, sm, NULL, err);
  }
  if (ok) return m;
  ptx_free(m);
  return NULL;
}

// The plan of the run, less the kernels that the compiler has refused.
typedef struct LessRefused {
  const WeavePlan *all;
  const GpuRefused *refused;
} LessRefused;
static bool wants_kernel(const char *name, void *user) {
  const LessRefused *l = user;
  if (gpu_refused_reason(l->refused, name)) return false;
  return !l->all->wants_kernel || l->all->wants_kernel(name, l->all->user);
}

static bool weave_wanted(PtxModule **units, uint32_t n, const GpuRefused *refused, Woven *out,
                         Error *err) {
  WeavePlan plan = *session_plan();
  LessRefused less = {session_plan(), refused};
  if (refused->kernels.len) {
    plan.wants_kernel = wants_kernel;
    plan.user = &less;
  }
  if (!weave_module(units, n, &plan, out, err)) return false;
  for (uint32_t i = 0; i < out->nkernels; i++) {
    const char *reason = gpu_refused_reason(refused, out->kernels[i].name);
    if (reason) out->kernels[i].reason = arena_strdup(&out->arena, reason);
  }
  return true;
}

bool gpu_emit(const GpuSource *s, const GpuRefused *refused, PtxModule **units, GpuEmitted *emitted,
              Error *err) {
  uint32_t n = s->n;
  Woven *out = &emitted->woven;
  *emitted = (GpuEmitted){0};
  uint32_t made = 0;
  for (; made < n; made++) {
    const char *source = s->code->units[made].source;
    units[made] = read_unit(s->texts[made], s->lens[made], source[0] ? source : s->code->name,
                            s->jit, s->sm, err);
    if (!units[made]) break;
  }
  bool may_wait = made == n && gpu_may_wait(units, n);
  emitted->interrupts.in_line = !session_tools();
  emitted->interrupts.listed = weave_takes_list(session_plan());
  bool split = made == n && interrupt_pass(units, n, &emitted->interrupts, err);
  if (split && ((!session_tools() && !session_plan()->find_writes) ||
                weave_wanted(units, n, refused, out, err))) {
    out->may_wait = may_wait;
    return true;
  }
  for (uint32_t i = 0; i < made; i++) ptx_free(units[i]);
  interrupt_free(&emitted->interrupts);
  return false;
}

void gpu_emit_print(PtxModule *const *units, uint32_t n, GpuTexts *out) {
  for (uint32_t i = 0; i < n; i++) {
    Str text = {0};
    ptx_print(units[i], &text);
    vec_push(&out->units, text);
  }
}

void gpu_texts_free(GpuTexts *t) {
  for (uint32_t i = 0; i < t->units.len; i++) str_free(&t->units.data[i]);
  vec_free(&t->units);
  vec_free(&t->registers);
}
