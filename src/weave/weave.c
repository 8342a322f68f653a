// The pipeline: survey the program, give kernels their record, let every pass see every function,
// verify.
#include "weave/execution_counts.h"
#include "weave/pass.h"

#include "base/options.h"

static const Pass *const passes[] = {
#define TOOL(id, name, help) &pass_##name,
#include "tools/tools.def"
};

bool tools_need_each_object(unsigned tools) {
  bool any = false;
  for (unsigned t = 0; t < ARRAY_LEN(passes); t++)
    any |= (tools >> t & 1) && passes[t]->needs_each_object;
  return any;
}

bool tools_hear_nvtx(unsigned tools) {
  bool any = false;
  for (unsigned t = 0; t < ARRAY_LEN(passes); t++) any |= (tools >> t & 1) && passes[t]->hears_nvtx;
  return any;
}

void weave_set_options(WeavePlan *plan, const Options *o) {
  for (unsigned t = 0; t < ARRAY_LEN(passes); t++)
    plan->tool_options[t] = passes[t]->options ? passes[t]->options(o, plan) : 0;
}

// The pass of bit t of WeavePlan.tools.
static const Pass *pass_of(const Program *p, unsigned t) {
  if (!(p->plan->tools >> t & 1)) return NULL;
  return t < ARRAY_LEN(passes) ? passes[t] : t == 31 ? &pass_test : NULL;
}

const Pass *pass_alone(const Program *p) {
  unsigned tools = p->plan->tools;
  return tools && !(tools & (tools - 1)) ? pass_of(p, (unsigned)__builtin_ctz(tools)) : NULL;
}

bool weave_takes_list(const WeavePlan *plan) {
  const Program p = {.plan = plan};
  for (unsigned t = 0; t < 32; t++)
    if (plan->tools >> t & 1 && !(pass_of(&p, t) && pass_of(&p, t)->numbers_in_findings))
      return false;
  return true;
}

static bool weave_function(Program *p, PtxFunc *f, uint32_t unit, Error *err) {
  const FuncInfo *info = func_info(f);
  // An unwoven kernel whose functions have probes must still tell them that it has no record.
  bool only_slot = f->is_entry && !info->wanted && info->calls_functions;
  if (!info->wanted && !only_slot) return true;
  for (unsigned t = 0; info->wanted && t < 32; t++)
    if (pass_of(p, t) && pass_of(p, t)->prepare) pass_of(p, t)->prepare(p, f);
  Body b;
  if (!body_open(&b, p, f, unit, err)) return false;
  if (f->is_entry && info->kernel < p->out->nkernels)
    p->out->kernels[info->kernel].has_loops = b.cfg->nloops > 0;
  record_fill_slot(&b);
  for (unsigned t = 0; info->wanted && t < 32; t++)
    if (pass_of(p, t)) pass_of(p, t)->weave(&b);
  execution_counts_flush(&b);
  bool changed = body_is_changed(&b);
  if (f->is_entry && info->wanted && info->record && !changed && !info->calls_functions &&
      pass_alone(p) && pass_alone(p)->only_checks_code)
    p->out->kernels[info->kernel].unchanged = true;
  if (!body_close(&b, err)) return false;
  return p->plan->spare_registers ? spare_registers(p, f, unit, b.cold_from, b.cold_to, err)
                                  : split_registers(f, err);
}

// Functions that passes add to a unit (probes) come after those of the program, and are not woven
// themselves.
static bool weave_unit(Program *p, uint32_t unit, Error *err) {
  PtxModule *m = p->units[unit];
  uint32_t n = m->nfuncs;
  for (uint32_t i = 0; i < n; i++)
    if (!m->funcs[i]->is_declaration && !weave_function(p, m->funcs[i], unit, err)) return false;
  return true;
}

static bool weave_all(Program *p, Error *err) {
  for (unsigned t = 0; t < 32; t++)
    if (pass_of(p, t) && pass_of(p, t)->begin) pass_of(p, t)->begin(p);
  for (uint32_t u = 0; u < p->nunits; u++)
    if (!weave_unit(p, u, err)) return false;
  for (unsigned t = 0; t < 32; t++)
    if (pass_of(p, t) && pass_of(p, t)->end && !pass_of(p, t)->end(p, err)) return false;
  for (uint32_t u = 0; u < p->nunits; u++)
    if (!ptx_verify_new(p->units[u], err)) return false;
  return true;
}

static bool needs_writes(const Program *p) {
  bool needs = p->plan->find_writes;
  for (unsigned t = 0; t < 32; t++) needs |= pass_of(p, t) && pass_of(p, t)->needs_writes;
  return needs;
}

// Raises the PTX version for activemask and other instructions of probes. The target stays.
static void raise_version(PtxModule *m) {
  if (m->version_major * 10 + m->version_minor < 62) {
    m->version_major = 6;
    m->version_minor = 2;
  }
}

static void drop_info(Program *p) {
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) p->units[u]->funcs[i]->user = NULL;
}

// How long inlining calls may make a kernel; 0: calls stay.
static uint32_t inlined_statements(const Program *p, bool debug) {
  uint32_t most = 0;
  for (unsigned t = 0; t < 32; t++) {
    const Pass *pass = pass_of(p, t);
    if (!pass) continue;
    if (pass->keeps_calls) return 0;
    most = MAX(most, MAX(pass->inlines, debug ? pass->inlines_debug : 0));
  }
  return most;
}

bool weave_module(PtxModule **units, uint32_t nunits, const WeavePlan *plan, Woven *out,
                  Error *err) {
  *out = (Woven){0};
  Program p = {.units = units, .nunits = nunits, .plan = plan, .out = out};
  for (uint32_t u = 0; u < nunits; u++) {
    uint32_t most = inlined_statements(&p, units[u]->debug);
    if (most) inline_calls(units[u], most);
  }
  bool ok = program_survey(&p, err);
  if (ok && needs_writes(&p)) writes_find(&p);
  if (ok && plan->find_writes) numerics_find(&p);
  if (ok && plan->tools) {
    for (uint32_t u = 0; u < nunits; u++) raise_version(units[u]);
    ok = record_add_parameters(&p, err) && weave_all(&p, err);
    out->nsites = p.sites.len;
    out->sites = ARENA_ARRAY(&out->arena, Site, p.sites.len + 1);
    if (p.sites.len) memcpy(out->sites, p.sites.data, sizeof *out->sites * p.sites.len);
  }
  drop_info(&p);
  probes_free(&p);
  vec_free(&p.sites);
  vec_free(&p.calls);
  vec_free(&p.declarations);
  u64map_free(&p.mnemonics);
  arena_free(&p.scratch);
  if (!ok) weave_free(out);
  return ok;
}

void weave_free(Woven *r) {
  arena_free(&r->arena);
  *r = (Woven){0};
}

const WovenKernel *weave_kernel(const Woven *r, const char *name) {
  for (uint32_t i = 0; i < r->nkernels; i++)
    if (!strcmp(r->kernels[i].name, name)) return &r->kernels[i];
  return NULL;
}
