// The PTX of a kernel beside its source, and how often its places were executed.
#include "view/internal.h"

#include <zstd.h>

enum { TEXT_MOST = 16 << 20 };

bool view_unpack(ViewRows *r, int bytes, int data, Str *out) {
  uint64_t n = view_column(r, bytes);
  const void *packed = sqlite3_column_blob(r->statement, data);
  size_t len = (size_t)sqlite3_column_bytes(r->statement, data);
  if (n > TEXT_MOST || (!packed && n)) return false;
  char *text = mem_alloc(n + 1);
  bool ok = n == 0 || ZSTD_decompress(text, n, packed, len) == n;
  if (ok) str_addn(out, text, n);
  if (ok && !out->data) str_add(out, "");
  free(text);
  return ok;
}

void view_answer_ptx(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t kernel = view_number(q, "kernel", UINT32_MAX);
  if (q->error.text[0]) return;
  Str *s = &a->body;
  str_add(s, "{");
  json_open(s, "pieces", '[');
  ViewRows r = view_rows(
      d, "SELECT line, bytes, data FROM kernel_ptx WHERE kernel = ? ORDER BY rowid LIMIT 1000", "i",
      (int64_t)kernel);
  while (view_next(&r)) {
    Str text = {0};
    if (view_unpack(&r, 1, 2, &text) && !memchr(text.data, 0, text.len)) {
      json_open(s, NULL, '{');
      json_number(s, "line", view_column(&r, 0));
      json_text(s, "text", text.data);
      str_add(s, "}");
    }
    str_free(&text);
  }
  str_add(s, "]");
  // [line of PTX, site, file, line]: those that were recorded have the largest numbers
  json_open(s, "lines", '[');
  r = view_rows(
      d,
      "SELECT s.ptx_line, max(s.id), p.file, p.line FROM site s JOIN kernel k ON k.name = "
      "s.function AND k.process = s.process LEFT JOIN place p ON p.site = s.id AND "
      "p.depth = 0 WHERE k.id = ? GROUP BY s.ptx_line ORDER BY 1 LIMIT 20000",
      "i", (int64_t)kernel);
  for (bool first = true; view_next(&r); first = false) {
    const char *file = view_column_text(&r, 2);
    str_printf(s, "%s[%llu,%llu,%d,%llu]", first ? "" : ",", (unsigned long long)view_column(&r, 0),
               (unsigned long long)view_column(&r, 1), file ? view_file_number(d, file) : -1,
               (unsigned long long)view_column(&r, 3));
  }
  str_add(s, "]}");
  view_rows_ok(&r, a);
}

// -1: the block made no access
static void block_times(Str *s, const char *key, const uint32_t *times, uint64_t n) {
  json_open(s, key, '[');
  for (uint64_t i = 0; i < n; i++)
    str_printf(s, "%s%lld", i ? "," : "", times[i] == UINT32_MAX ? -1ll : (long long)times[i]);
  str_add(s, "]");
}

void view_answer_counts(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint32_t launch = (uint32_t)view_number(q, "launch", UINT32_MAX);
  if (q->error.text[0]) return;
  TraceCounts c = {0};
  Error err = {{0}};
  ViewFacts facts = {0};
  if (!d->trace || !trace_counts(d->trace, launch, &c, &err)) {
    view_fail(a, 404, d->trace ? err.text : "nothing was recorded in this run");
    return;
  }
  Str *s = &a->body;
  str_add(s, "{");
  json_open(s, "counts", '[');
  for (uint32_t i = 0; i < c.n; i++) {
    str_printf(s, "%s[%u,%llu,%llu,%llu,%llu]", i ? "," : "", c.sites[i].site,
               (unsigned long long)c.sites[i].operations, (unsigned long long)c.sites[i].records,
               (unsigned long long)c.sites[i].divergent, (unsigned long long)c.sites[i].passes);
    view_facts_op(d, &facts, &(TraceOp){.site = c.sites[i].site}, 0);
  }
  str_add(s, "]");
  json_open(s, "blocks", '[');
  for (uint64_t i = 0; i < c.nblocks; i++)
    str_printf(s, "%s%llu", i ? "," : "", (unsigned long long)c.blocks[i]);
  str_add(s, "]");
  block_times(s, "began", c.began, c.nblocks);
  block_times(s, "took", c.took, c.nblocks);
  view_facts_write(d, &facts, s);
  str_add(s, "}");
  view_facts_free(&facts);
  trace_counts_free(&c);
}

void view_answer_touched(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  enum { ELEMENTS_MOST = 1 << 24 };
  const ViewAllocation *b = view_allocation(d, (uint32_t)view_number(q, "allocation", UINT32_MAX));
  TraceTouched what = {.launch = (uint32_t)view_number(q, "launch", UINT32_MAX),
                       .first = view_number(q, "first", UINT64_MAX),
                       .last = view_number(q, "last", UINT64_MAX),
                       .stride = view_number(q, "stride", 1 << 20)};
  Error err = {{0}};
  if (q->error.text[0]) return;
  if (!d->trace || !b || !what.stride || b->size / what.stride > ELEMENTS_MOST) {
    view_fail(a, 404, "there is no such buffer, or it is too large for this");
    return;
  }
  what.base = b->base;
  what.count = MAX(b->size / what.stride, (uint64_t)1);
  uint8_t *marks = mem_alloc(what.count);
  if (trace_touched(d->trace, &what, marks, &err)) {
    a->type = "application/octet-stream";
    str_addn(&a->body, (const char *)marks, what.count);
  } else view_fail(a, 400, err.text);
  free(marks);
}
