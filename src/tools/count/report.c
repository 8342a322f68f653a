// count inside the command: for each kernel its totals by class, then the lines that executed most
// instructions.
#include "report/report.h"
#include "tools/report.h"

enum { LINES_SHOWN = 20, WARP = 32 };

typedef struct KernelRows {
  const char *kernel;
  RunCount sum;
  const RunCount **rows;
  uint32_t nrows;
} KernelRows;

static void add_to(RunCount *sum, const RunCount *c) {
  sum->total += c->total;
  sum->warp_total += c->warp_total;
  sum->loads += c->loads;
  sum->stores += c->stores;
  sum->atomics += c->atomics;
  sum->load_bytes += c->load_bytes;
  sum->store_bytes += c->store_bytes;
  sum->atomic_bytes += c->atomic_bytes;
  for (size_t i = 0; i < ARRAY_LEN(sum->classes); i++) sum->classes[i] += c->classes[i];
}

static int by_total(const void *a, const void *b) {
  const RunCount *x = *(const RunCount *const *)a, *y = *(const RunCount *const *)b;
  if (x->total != y->total) return x->total < y->total ? 1 : -1;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return strcmp(x->file ? x->file : "", y->file ? y->file : "");
}

static int by_sum(const void *a, const void *b) {
  const KernelRows *x = a, *y = b;
  if (x->sum.total != y->sum.total) return x->sum.total < y->sum.total ? 1 : -1;
  return strcmp(x->kernel, y->kernel);
}

static KernelRows *group(Run *r, uint32_t *n) {
  StrMap index = {0};
  KernelRows *kernels = mem_alloc(sizeof *kernels * (r->counts.len + 1));
  *n = 0;
  for (uint32_t i = 0; i < r->counts.len; i++) {
    const RunCount *c = r->counts.data[i];
    uintptr_t at = (uintptr_t)strmap_get(&index, c->kernel);
    if (!at) {
      at = ++*n;
      strmap_put(&index, c->kernel, (void *)at);
      kernels[at - 1] = (KernelRows){.kernel = c->kernel};
    }
    kernels[at - 1].nrows++;
    add_to(&kernels[at - 1].sum, c);
  }
  for (uint32_t k = 0; k < *n; k++) {
    kernels[k].rows = mem_alloc(sizeof(RunCount *) * kernels[k].nrows);
    kernels[k].nrows = 0;
  }
  for (uint32_t i = 0; i < r->counts.len; i++) {
    KernelRows *k = &kernels[(uintptr_t)strmap_get(&index, r->counts.data[i]->kernel) - 1];
    k->rows[k->nrows++] = r->counts.data[i];
  }
  strmap_free(&index);
  for (uint32_t k = 0; k < *n; k++)
    qsort(kernels[k].rows, kernels[k].nrows, sizeof *kernels[k].rows, by_total);
  qsort(kernels, *n, sizeof *kernels, by_sum);
  return kernels;
}

static double active(const RunCount *c) {
  return c->warp_total ? 100.0 * (double)c->total / (double)c->warp_total / WARP : 0;
}

static void add_head(Run *r, const KernelRows *k, Str *out) {
  const RunCount *s = &k->sum;
  const ApiWords *w = api_words(r->api);
  words_printf(out, w, " \ncount: {kernel} %s\n", run_readable_name(r, k->kernel));
  words_printf(
      out, w, "  %llu instructions by {threads}, %llu by {warps}: %.1f%% of the lanes are active\n",
      (unsigned long long)s->total, (unsigned long long)s->warp_total, active(s));
  str_printf(
      out,
      "  memory: %llu loads (%llu bytes), %llu stores (%llu bytes), %llu atomics (%llu bytes)\n",
      (unsigned long long)s->loads, (unsigned long long)s->load_bytes,
      (unsigned long long)s->stores, (unsigned long long)s->store_bytes,
      (unsigned long long)s->atomics, (unsigned long long)s->atomic_bytes);
  str_add(out, "  by class:");
  for (unsigned i = 0; i < ARRAY_LEN(s->classes); i++)
    if (s->classes[i] && run_class_name(i))
      str_printf(out, " %s %llu", run_class_name(i), (unsigned long long)s->classes[i]);
  str_addc(out, '\n');
}

static void add_row(const KernelRows *k, const RunCount *c, Str *out) {
  double share = k->sum.total ? 100.0 * (double)c->total / (double)k->sum.total : 0;
  str_printf(out, "  %14llu %6.1f%% %6.1f%% %12llu %12llu  ", (unsigned long long)c->total, share,
             active(c), (unsigned long long)(c->loads + c->stores + c->atomics),
             (unsigned long long)(c->load_bytes + c->store_bytes + c->atomic_bytes));
  if (c->file) str_printf(out, "%s:%u\n", c->file, c->line);
  else str_printf(out, "PTX line %u\n", c->line);
}

static void results(Run *r, bool all, Str *out) {
  uint32_t n;
  bool named = r->tools && (strstr(r->tools, "count") || strstr(r->tools, "all"));
  if (!named) return;  // the figures belong to another tool
  KernelRows *kernels = group(r, &n);
  for (uint32_t i = 0; i < n; i++) {
    const KernelRows *k = &kernels[i];
    add_head(r, k, out);
    str_printf(out, "  %14s %7s %7s %12s %12s  line\n", "instructions", "share", "active",
               "accesses", "bytes");
    uint32_t shown = all ? k->nrows : MIN(k->nrows, (uint32_t)LINES_SHOWN);
    for (uint32_t j = 0; j < shown; j++) add_row(k, k->rows[j], out);
    if (shown < k->nrows)
      str_printf(out, "  and %u more lines (-v names them all)\n", k->nrows - shown);
  }
  for (uint32_t i = 0; i < n; i++) free(kernels[i].rows);
  free(kernels);
}

const ToolReport tool_report_count = {.results = results};
