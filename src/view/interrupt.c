// Interrupts: who called, with which values, and what the handler returned.
#include "view/internal.h"

enum { MOST = 1000 };

static void add_hex(Str *s, const char *hex, uint64_t n) {
  str_addc(s, '"');
  for (uint64_t i = 0; i < n; i++)
    if (strchr("0123456789abcdef", hex[i])) str_addc(s, hex[i]);
  str_addc(s, '"');
}

// ["2a000000", …]: each value is in words of its own, two digits a byte.
static void add_arguments(Str *s, const char *sizes, const char *hex) {
  uint64_t n = hex ? strlen(hex) : 0;
  str_addc(s, '[');
  for (uint64_t at = 0; sizes && *sizes;) {
    char *end;
    uint64_t size = strtoull(sizes, &end, 10);
    if (end == sizes || !size || size > 1024 || 2 * size > n - at) break;
    if (at) str_addc(s, ',');
    add_hex(s, hex + at, 2 * size);
    at = MIN(n, at + 2 * ((size + 7) / 8 * 8));
    if (*end >= 'a' && *end <= 'z') end++;
    if (*end == '=') break;
    sizes = *end == ',' ? end + 1 : end;
  }
  str_addc(s, ']');
}

static void add_callers(ViewDesk *d, ViewRequest *q, const char *sizes, uint64_t result_bytes,
                        Str *s) {
  uint64_t step = view_number(q, "step", UINT32_MAX), skip = view_number_or(q, "skip", 0, 1u << 30),
           most = view_number_or(q, "most", 200, MOST);
  ViewRows r = view_rows(d,
                         "SELECT c.thread, c.file, c.line, lower(hex(c.arguments)), "
                         "lower(hex(c.result)) FROM step s JOIN "
                         "interrupt_caller c ON c.process = s.process AND c.step = s.number WHERE "
                         "s.id = ? AND c.number >= ? ORDER BY c.number LIMIT ?",
                         "iii", (int64_t)step, (int64_t)skip, (int64_t)most);
  json_open(s, "callers", '[');
  for (bool first = true; view_next(&r); first = false) {
    const char *result = view_column_text(&r, 4);
    str_printf(s, "%s[%llu,", first ? "" : ",", (unsigned long long)view_column(&r, 0));
    json_string(s, view_column_text(&r, 1) ? view_column_text(&r, 1) : "");
    str_printf(s, ",%llu,", (unsigned long long)view_column(&r, 2));
    add_arguments(s, sizes, view_column_text(&r, 3));
    str_addc(s, ',');
    add_hex(s, result, result ? MIN(strlen(result), 2 * result_bytes) : 0);
    str_addc(s, ']');
  }
  str_addc(s, ']');
}

void view_answer_interrupt(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  uint64_t step = view_number(q, "step", UINT32_MAX);
  char sizes[256] = "";
  if (q->error.text[0]) return;
  // files of older versions do not have the table
  if (!view_one(d, "SELECT count(*) FROM sqlite_master WHERE name = 'interrupt'", "")) {
    view_fail(a, 404, "there is no such interrupt");
    return;
  }
  ViewRows r = view_rows(d,
                         "SELECT i.launch, i.callers, i.result_bytes, i.param_bytes FROM step s "
                         "JOIN interrupt i ON i.process = s.process AND i.step = s.number WHERE "
                         "s.id = ?",
                         "i", (int64_t)step);
  if (!view_next(&r)) {
    view_fail(a, 404, "there is no such interrupt");
    return;
  }
  uint64_t launch = view_column(&r, 0), callers = view_column(&r, 1), bytes = view_column(&r, 2);
  if (view_column_text(&r, 3)) snprintf(sizes, sizeof sizes, "%s", view_column_text(&r, 3));
  view_rows_end(&r);
  Str *s = &a->body;
  str_add(s, "{");
  json_number(s, "launch", launch);
  json_number(s, "total", callers);
  json_number(s, "result_bytes", bytes);
  json_text(s, "types", sizes);
  add_callers(d, q, sizes, bytes, s);
  str_add(s, "}");
}
