// What became of the exceptions of each kernel, as far as --fp-flow followed them: the worst first.
#include "report/report.h"

#include "probe/fp_abi.h"

typedef enum { BORN, LEAVES, DECIDES, VANISHES, OTHER } Step;
static const char *const words[] = {"born at", "written to memory at", "decide at", "vanish at"};

static Step step_of(const RunFinding *f) {
  uint32_t op = WG_FP_WHAT_OP((uint32_t)f->extra[2]);
  if (f->suppressed) return OTHER;
  switch (f->kind->number) {
    case KIND_FP_NAN: case KIND_FP_INF: case KIND_FP_DIV0: return BORN;
    case KIND_FP_COMPARE: return DECIDES;
    case KIND_FP_FLOW: return op == WG_FP_STORED ? LEAVES : op == WG_FP_VANISHES ? VANISHES : OTHER;
    default: return OTHER;
  }
}

static void add_place(const RunFinding *f, Str *out) {
  const RunSite *s = f->site;
  if (s && s->nplaces) {
    const RunPlace *p = &s->places[s->nplaces - 1];              // the line of the kernel itself
    const char *name = p->file ? strrchr(p->file, '/') : NULL;
    str_printf(out, "%s:%u", name ? name + 1 : p->file ? p->file : "?", p->line);
  } else str_printf(out, "PTX line %u", s ? s->ptx_line : 0);
  if (f->count > 1) str_printf(out, " (%llu times)", (unsigned long long)f->count);
}

static uint32_t count_steps(const Run *r, const RunKernel *k, Step step) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->findings.len; i++) n += r->findings.data[i]->kernel == k && step_of(r->findings.data[i]) == step;
  return n;
}

static void add_kernel(const Run *r, const RunKernel *k, Str *out) {
  enum { SHOWN = 8 };
  str_printf(out, "exceptions of %s:", k->readable);
  str_add(out, count_steps(r, k, LEAVES) ? " they reach memory\n" : count_steps(r, k, DECIDES) ? " they decide what is done\n" : " they die in the kernel\n");
  for (Step step = BORN; step <= VANISHES; step++) {
    uint32_t shown = 0, n = count_steps(r, k, step);
    for (uint32_t i = 0; i < r->findings.len && n && shown < SHOWN; i++) {
      const RunFinding *f = r->findings.data[i];
      if (f->kernel != k || step_of(f) != step) continue;
      if (shown) str_add(out, ", ");
      else str_printf(out, "  %s ", words[step]);
      add_place(f, out);
      shown++;
    }
    if (n > shown) str_printf(out, " and %u more", n - shown);
    if (n) str_addc(out, '\n');
  }
}

// 0: they reach memory, 1: they decide, 2: they die.
static unsigned rank(const Run *r, const RunKernel *k) { return count_steps(r, k, LEAVES) ? 0 : count_steps(r, k, DECIDES) ? 1 : 2; }

// Fast mode saw something leave and nothing being born or coming in.
static void add_unexplained(const Run *r, Str *out) {
  const RunKernel *last = NULL;
  for (uint32_t i = 0; i < r->findings.len; i++) {
    const RunFinding *f = r->findings.data[i];
    if (f->kind->number != KIND_FP_REACHED || !f->kernel || f->kernel == last) continue;
    bool explained = false;
    for (uint32_t k = 0; k < r->findings.len; k++)
      explained |= r->findings.data[k]->kernel == f->kernel && (step_of(r->findings.data[k]) == BORN || r->findings.data[k]->kind->number == KIND_FP_INPUT);
    last = f->kernel;
    if (!explained) str_printf(out, "%s: NaN or infinity was seen, but not where it came from: --fp-mode=full tests every instruction\n", f->kernel->readable);
  }
}

void report_fp_verdicts(Run *r, Str *out) {
  add_unexplained(r, out);
  bool followed = false;
  for (uint32_t i = 0; i < r->findings.len; i++) followed |= r->findings.data[i]->kind->number == KIND_FP_FLOW;
  if (!followed) return;
  for (unsigned wanted = 0; wanted < 3; wanted++)
    for (uint32_t i = 0; i < r->kernels.len; i++)
      if (count_steps(r, r->kernels.data[i], BORN) && rank(r, r->kernels.data[i]) == wanted) add_kernel(r, r->kernels.data[i], out);
}
