// The kernels that make exceptions from numbers, and the kernels that read data stored by these.
#include "tools/fpcheck/report.h"

static bool is_birth(const RunFinding *f) {
  return f->kind->number >= KIND_FP_NAN && f->kind->number <= KIND_FP_DIV0;
}

static bool add(StrMap *makers, const char *kernel) {
  if (strmap_get(makers, kernel)) return false;
  strmap_put(makers, kernel, makers);
  return true;
}

// A sink of fast mode fired in a kernel that reads no exception: the exception is born in it.
static void add_unexplained(const Run *r, StrMap *makers) {
  StrMap reads = {0};
  for (uint32_t i = 0; i < r->findings.len; i++) {
    const RunFinding *f = r->findings.data[i];
    if (f->kernel && f->kind->number == KIND_FP_INPUT) add(&reads, f->kernel->name);
  }
  for (uint32_t i = 0; i < r->findings.len; i++) {
    const RunFinding *f = r->findings.data[i];
    if (f->kernel && f->kind->number == KIND_FP_REACHED && !strmap_get(&reads, f->kernel->name))
      add(makers, f->kernel->name);
  }
  strmap_free(&reads);
}

void fp_report_makers(const Run *r, StrMap *makers) {
  for (uint32_t i = 0; i < r->findings.len; i++)
    if (r->findings.data[i]->kernel && is_birth(r->findings.data[i]))
      add(makers, r->findings.data[i]->kernel->name);
  add_unexplained(r, makers);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < r->findings.len; i++) {
      const RunFinding *f = r->findings.data[i];
      if (f->kernel && f->kind->number == KIND_FP_INPUT && f->origin && f->origin->function &&
          strmap_get(makers, f->origin->function))
        more |= add(makers, f->kernel->name);
    }
  }
}
