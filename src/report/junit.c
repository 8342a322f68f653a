// JUnit XML: a suite for each process, a test case for each kernel it launched and one for errors
// of the program itself. A case has at most one failure, since many readers take only one; all
// findings of the kernel stand in it.
#include "report/internal.h"

// Writes text as XML can hold it: replaces control characters, bytes that are not UTF-8, and the
// two noncharacters U+FFFE and U+FFFF.
static void add_text(Str *out, const char *text, bool attribute) {
  for (const char *p = text; *p;) {
    unsigned n = json_utf8_length(p);
    unsigned char c = (unsigned char)*p;
    if (c == '&') str_add(out, "&amp;");
    else if (c == '<') str_add(out, "&lt;");
    else if (c == '>') str_add(out, "&gt;");
    else if (c == '"') str_add(out, "&quot;");
    else if (c == '\n' || c == '\t')
      attribute ? str_printf(out, "&#%u;", c) : str_addc(out, (char)c);
    else if (c < 0x20 || c == 0x7f) str_addc(out, '?');
    else if (!n || (n == 3 && (!memcmp(p, "\xef\xbf\xbe", 3) || !memcmp(p, "\xef\xbf\xbf", 3))))
      str_add(out, "\xef\xbf\xbd");
    else str_addn(out, p, n);
    p += n ? n : 1;
  }
}

static void attribute(Str *out, const char *name, const char *value) {
  str_printf(out, " %s=\"", name);
  add_text(out, value ? value : "", true);
  str_addc(out, '"');
}

static void number(Str *out, const char *name, uint64_t value) {
  str_printf(out, " %s=\"%llu\"", name, (unsigned long long)value);
}

static void property(Str *out, const char *name, const char *value) {
  str_add(out, "   <property");
  attribute(out, "name", name);
  attribute(out, "value", value);
  str_add(out, "/>\n");
}

static void number_property(Str *out, const char *name, uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  property(out, name, text);
}

static bool is_about(const RunFinding *f, const RunProcess *p, const RunKernel *k) {
  return !f->suppressed && f->process == p && f->kernel == k;
}

static uint64_t errors_of(const Run *r, const RunProcess *p, const RunKernel *k,
                          const RunFinding **first) {
  uint64_t n = 0;
  *first = NULL;
  for (uint32_t i = 0; i < r->findings.len; i++) {
    const RunFinding *f = r->findings.data[i];
    if (!is_about(f, p, k) || f->kind->severity != SEVERITY_ERROR) continue;
    if (!*first) *first = f;
    n += f->count;
  }
  return n;
}

static void add_findings(Run *r, const RunProcess *p, const RunKernel *k, bool errors, Str *out) {
  for (uint32_t i = 0; i < r->findings.len; i++) {
    const RunFinding *f = r->findings.data[i];
    if (!is_about(f, p, k) || (f->kind->severity == SEVERITY_ERROR) != errors) continue;
    Str text = {0}, plain = {0};
    report_finding(r, f, &text);
    report_style(text.data, text.len, false, &plain);
    add_text(out, plain.data + strspn(plain.data, " \n"), false);
    if (f->count > 1) str_printf(out, "  %llu times\n", (unsigned long long)f->count);
    str_free(&text);
    str_free(&plain);
  }
}

// A kernel counts as skipped, not as passed, if none of its launches was checked.
static const char *why_skipped(const Run *r, const RunKernel *k) {
  if (!k || k->reason) return k ? k->reason : NULL;
  bool tools = r->tools && strcmp(r->tools, "none") != 0;
  return k->checked ? NULL : tools ? "none of its launches was checked" : "no tool was running";
}

static void test_case(Run *r, const RunProcess *p, const RunKernel *k, const char *name, Str *out) {
  const RunFinding *first;
  uint64_t errors = errors_of(r, p, k, &first);
  str_add(out, "  <testcase");
  attribute(out, "classname", p->program ? p->program : r->program);
  attribute(out, "name", name);
  str_add(out, " time=\"0\">");
  if (errors) {
    Str sentence = {0}, plain = {0};
    report_sentence(r, first, &sentence);
    report_style(sentence.data, sentence.len, false, &plain);
    if (errors > 1) str_printf(&plain, " (%llu errors in all)", (unsigned long long)errors);
    str_add(out, "\n   <failure");
    attribute(out, "type", first->kind->name);
    attribute(out, "message", plain.data);
    str_addc(out, '>');
    add_findings(r, p, k, true, out);
    str_add(out, "</failure>");
    str_free(&sentence);
    str_free(&plain);
  } else if (why_skipped(r, k)) {
    str_add(out, "\n   <skipped");
    attribute(out, "message", why_skipped(r, k));
    str_add(out, "/>");
  }
  Str others = {0};
  add_findings(r, p, k, false, &others);
  if (others.len) str_printf(out, "\n   <system-out>%s</system-out>", others.data);
  str_free(&others);
  str_add(out, "\n  </testcase>\n");
}

typedef struct Sums {
  uint64_t tests, failures, errors, skipped;
} Sums;

static bool has_case(const RunKernel *k, const RunProcess *p) {
  return k->process == p && (k->launches || k->reason);
}

// If Warpgrind itself failed, that is one more test case, with an error.
static Sums sums_of(Run *r, const RunProcess *p, bool main) {
  const RunFinding *first;
  Sums s = {.tests = 1 + (main && r->failure), .errors = main && r->failure};
  s.failures = errors_of(r, p, NULL, &first) != 0;
  for (uint32_t i = 0; main && i < r->limits.len; i++) {
    s.tests++;
    s.failures += r->limits.data[i].passed != NULL;
  }
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    if (!has_case(k, p)) continue;
    s.tests++;
    if (errors_of(r, p, k, &first)) s.failures++;
    else s.skipped += why_skipped(r, k) != NULL;
  }
  return s;
}

static void limit_case(const Run *r, const RunLimit *l, Str *out) {
  str_add(out, "  <testcase");
  attribute(out, "classname", r->program);
  attribute(out, "name", l->name);
  str_add(out, " time=\"0\">");
  if (l->passed) {
    str_add(out, "\n   <failure type=\"limit\"");
    attribute(out, "message", l->passed);
    str_add(out, "/>\n  ");
  }
  str_add(out, "</testcase>\n");
}

static void add_sums(Str *out, const Sums *s) {
  number(out, "tests", s->tests);
  number(out, "failures", s->failures);
  number(out, "errors", s->errors);
  number(out, "skipped", s->skipped);
  str_add(out, " time=\"0\"");
}

static void suite(Run *r, const RunProcess *p, bool main, Str *out) {
  Sums s = sums_of(r, p, main);
  uint64_t launches = 0, checked = 0, places;
  str_add(out, " <testsuite");
  attribute(out, "name", p->program ? p->program : r->program);
  add_sums(out, &s);
  str_add(out, ">\n  <properties>\n");
  for (uint32_t i = 0; i < r->kernels.len; i++)
    if (r->kernels.data[i]->process == p) {
      launches += r->kernels.data[i]->launches;
      checked += r->kernels.data[i]->checked;
    }
  property(out, "device", p->device ? p->device : r->device);
  property(out, "tools", r->tools);
  number_property(out, "process", (uint64_t)p->pid);
  number_property(out, "launches", launches);
  number_property(out, "checked_launches", checked);
  if (main) number_property(out, "suppressed", run_count_suppressed(r, &places));
  if (main) number_property(out, "exit_code", (uint64_t)r->exit_code);
  str_add(out, "  </properties>\n");
  test_case(r, p, NULL, "CUDA calls", out);
  for (uint32_t i = 0; i < r->kernels.len; i++)
    if (has_case(r->kernels.data[i], p))
      test_case(r, p, r->kernels.data[i], r->kernels.data[i]->readable, out);
  for (uint32_t i = 0; main && i < r->limits.len; i++) limit_case(r, &r->limits.data[i], out);
  if (main && r->failure) {
    str_add(out, "  <testcase");
    attribute(out, "classname", r->program);
    str_add(out, " name=\"Warpgrind\" time=\"0\">\n   <error type=\"warpgrind\"");
    attribute(out, "message", r->failure);
    str_add(out, "/>\n  </testcase>\n");
  }
  str_add(out, " </testsuite>\n");
}

void report_junit(Run *r, Str *out) {
  RunProcess none = {.pid = r->main_pid, .program = r->program, .device = r->device};
  uint32_t n = r->processes.len;
  Sums all = {0};
  for (uint32_t i = 0; i < MAX(n, 1u); i++) {
    Sums s = sums_of(r, n ? r->processes.data[i] : &none, i == 0);
    all.tests += s.tests;
    all.failures += s.failures;
    all.errors += s.errors;
    all.skipped += s.skipped;
  }
  str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"warpgrind\"");
  add_sums(out, &all);
  str_add(out, ">\n");
  for (uint32_t i = 0; i < MAX(n, 1u); i++) suite(r, n ? r->processes.data[i] : &none, i == 0, out);
  str_add(out, "</testsuites>\n");
}
