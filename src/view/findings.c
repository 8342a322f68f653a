// The findings of a run, as the page lists them.
#include "view/internal.h"

#include "report/report.h"

enum { FINDINGS_MOST = 5000 };

static uint64_t thread_number(const uint64_t *grid, const uint64_t *block, const uint64_t *at_block,
                              const uint64_t *at_thread) {
  uint64_t b = at_block[0] + grid[0] * (at_block[1] + grid[1] * at_block[2]);
  return b * block[0] * block[1] * block[2] + at_thread[0] +
         block[0] * (at_thread[1] + block[1] * at_thread[2]);
}

void view_answer_findings(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t skip = view_number_or(q, "skip", 0, UINT32_MAX),
           most = view_number_or(q, "most", 500, FINDINGS_MOST);
  if (q->error.text[0]) return;
  ViewFacts facts = {0};
  Str *s = &a->body;
  str_add(s, "{");
  json_number(s, "total", view_one(d, "SELECT count(*) FROM finding WHERE suppressed = 0", ""));
  json_open(s, "findings", '[');
  ViewRows r = view_rows(d,
                         "SELECT f.id, f.kind, f.severity, f.text, l.id, f.site, f.address, "
                         "f.size, f.allocation, f.offset, f.count, f.thread_x IS NOT NULL, "
                         "f.block_x, f.block_y, f.block_z, f.thread_x, f.thread_y, f.thread_z, "
                         "l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, f.launch, "
                         "f.address IS NOT NULL, coalesce(k.readable, k.name), f.lanes "
                         "FROM finding f LEFT JOIN launch l ON l.number = f.launch AND l.process = "
                         "f.process LEFT JOIN kernel k ON k.id = f.kernel WHERE f.suppressed = 0 "
                         "ORDER BY CASE f.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE "
                         "2 END, f.id LIMIT ? OFFSET ?",
                         "ii", (int64_t)most, (int64_t)skip);
  while (view_next(&r)) {
    const char *kind = view_column_text(&r, 1);
    const Kind *info = kind ? kind_named(kind) : NULL;
    Str title = {0};
    if (info) report_kind_title(api_words(API_CUDA), info, &title);
    TraceOp about = {.site = (uint32_t)view_column(&r, 5), .launch = (uint32_t)view_column(&r, 4)};
    json_open(s, NULL, '{');
    json_number(s, "id", view_column(&r, 0));
    json_text(s, "kind", kind);
    json_text(s, "severity", view_column_text(&r, 2));
    json_text(s, "headline",
              view_column_text(&r, 3) ? view_column_text(&r, 3)
              : info                  ? title.data
                                      : kind);
    json_number(s, "launch", about.launch);
    json_number(s, "launch_number", view_column(&r, 24));
    json_number(s, "site", about.site);
    json_text(s, "kernel", view_column_text(&r, 26));
    if (view_column(&r, 25)) json_address(s, "address", view_column(&r, 6));
    json_number(s, "size", view_column(&r, 7));
    json_number(s, "allocation", view_column(&r, 8));
    json_key(s, "offset");
    str_printf(s, "%lld", (long long)view_column(&r, 9));
    json_number(s, "count", view_column(&r, 10));
    if (view_column(&r, 11) && about.launch) {
      uint64_t n[12];
      for (int i = 0; i < 12; i++) n[i] = view_column(&r, 12 + i);
      json_number(s, "thread", thread_number(n + 6, n + 9, n, n + 3));
      if (view_column(&r, 27)) json_number(s, "lanes", view_column(&r, 27) & UINT32_MAX);
    }
    str_add(s, "}");
    str_free(&title);
    view_facts_op(d, &facts, &about, (uint32_t)view_column(&r, 8));
  }
  str_add(s, "]");
  view_facts_write(d, &facts, s);
  str_add(s, "}");
  view_facts_free(&facts);
  view_rows_ok(&r, a);
}

bool view_load_run(ViewDesk *d) {
  if (d->run || d->run_error) return d->run != NULL;
  Error err = {{0}};
  d->run = mem_alloc(sizeof *d->run);
  if (run_load(d->path, d->run, &err)) return true;
  run_free(d->run);
  free(d->run);
  d->run = NULL;
  d->run_error = mem_strdup(err.text);
  return false;
}

void view_answer_finding(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t id = view_number(q, "id", UINT32_MAX);
  if (q->error.text[0]) return;
  if (!view_load_run(d)) {
    view_fail(a, 500, d->run_error);
    return;
  }
  for (uint32_t i = 0; i < d->run->findings.len; i++) {
    const RunFinding *f = d->run->findings.data[i];
    if (f->id != id) continue;
    Str marked = {0}, plain = {0};
    report_finding(d->run, f, &marked);
    report_style(marked.data, marked.len, false, &plain);
    str_add(&a->body, "{");
    json_text(&a->body, "text", plain.data);
    str_add(&a->body, "}");
    str_free(&marked);
    str_free(&plain);
    return;
  }
  view_fail(a, 404, "there is no such finding");
}
