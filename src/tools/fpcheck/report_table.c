// fpcheck's table: how many places, by format and exception, for the whole program and for each
// kernel that has any.
#include "tools/fpcheck/report.h"

enum { KERNELS = 20, COLUMNS = 4 };
typedef struct Table {
  uint32_t places[WG_FP_F64 + 1][COLUMNS];
  bool any;
} Table;

static void count_place(Table *t, const RunFinding *f) {
  if (f->suppressed) return;
  uint32_t what = (uint32_t)f->extra[2], format = WG_FP_WHAT_FORMAT(what);
  if (f->kind->number < KIND_FP_NAN || f->kind->number > KIND_FP_SUBNORMAL || format < WG_FP_F16 ||
      format > WG_FP_F64)
    return;
  t->places[format][f->kind->number - KIND_FP_NAN]++;
  t->any = true;
}

static void add_rows(const Table *t, const char *title, Str *out) {
  static const char *const names[] = {"", "f16", "bf16", "f32", "f64"};
  str_printf(out, "  %s\n", title);
  for (unsigned format = WG_FP_F16; format <= WG_FP_F64; format++) {
    const uint32_t *n = t->places[format];
    if (n[0] + n[1] + n[2] + n[3])
      str_printf(out, "    %-5s %7u %7u %7u %7u\n", names[format], n[0], n[1], n[2], n[3]);
  }
}

void fp_report_table(Run *r, Str *out) {
  Table all = {0};
  for (uint32_t i = 0; i < r->findings.len; i++) count_place(&all, r->findings.data[i]);
  if (!all.any) return;
  str_printf(out, "places with exceptions:\n    %-5s %7s %7s %7s %7s\n", "", "NaN", "Inf", "Div0",
             "Sub");
  add_rows(&all, "all kernels", out);
  uint32_t shown = 0;
  for (uint32_t k = 0; k < r->kernels.len && shown <= KERNELS; k++) {
    Table t = {0};
    for (uint32_t i = 0; i < r->findings.len; i++)
      if (r->findings.data[i]->kernel == r->kernels.data[k]) count_place(&t, r->findings.data[i]);
    if (!t.any) continue;
    if (shown++ == KERNELS) str_add(out, "  and more kernels\n");
    else add_rows(&t, r->kernels.data[k]->readable, out);
  }
}
