// The tools' measurements of the run, as in the JSON report, and the sources that they refer to.
#include "view/internal.h"

#include "report/report.h"

enum { MOST_FILES = 64 };

static void add_source(ViewDesk *d, const char *path, Str *s) {
  Str text = {0}, real = {0};
  Error why = {{0}};
  bool ok = view_source_read(d, path, &text, &real, &why);
  json_open(s, NULL, '{');
  json_text(s, "path", path);
  json_text(s, ok ? "text" : "missing", ok ? text.data : why.text);
  str_addc(s, '}');
  str_free(&real);
  str_free(&text);
}

// Adds each file with a measured line once.
static void add_sources(ViewDesk *d, Str *s) {
  StrMap seen = {0};
  uint32_t n = 0;
  json_open(s, "sources", '[');
  for (uint32_t i = 0; i < d->run->measures.len && n < MOST_FILES; i++) {
    const char *path = d->run->measures.data[i]->file;
    if (!path || strmap_get(&seen, path)) continue;
    strmap_put(&seen, path, d);
    add_source(d, path, s);
    n++;
  }
  strmap_free(&seen);
  str_addc(s, ']');
}

static void add_kernels(ViewDesk *d, ViewAnswer *a) {
  ViewRows r = view_rows(d, "SELECT id, coalesce(readable, name) FROM kernel LIMIT 10000", "");
  json_open(&a->body, "kernel_ids", '[');
  while (view_next(&r)) {
    json_open(&a->body, NULL, '{');
    json_number(&a->body, "id", view_column(&r, 0));
    json_text(&a->body, "kernel", view_column_text(&r, 1));
    str_addc(&a->body, '}');
  }
  str_addc(&a->body, ']');
  view_rows_ok(&r, a);
}

void view_answer_profile(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  if (!view_load_run(d)) {
    view_fail(a, 500, d->run_error);
    return;
  }
  str_addc(&a->body, '{');
  report_json_measured(d->run, &a->body);
  add_sources(d, &a->body);
  add_kernels(d, a);
  str_addc(&a->body, '}');
}
