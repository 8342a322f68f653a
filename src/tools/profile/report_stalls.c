// Why the warps of a kernel wait, and at which lines, as shares of all samples of its warps.
#include "tools/profile/report_stalls.h"

#include "base/json.h"
#include "report/report.h"

enum { SHOWN = 3, REASONS = 64 };
static const char prefix[] = "smsp__pcsamp_warps_issue_stalled_";

typedef struct Reason {
  const char *name;  // "long_scoreboard"
  uint64_t samples;
} Reason;
typedef struct StallLine {
  const char *file;
  uint32_t line;
  uint64_t samples;
  Reason main;  // samples 0: its warps do not wait
} StallLine;
typedef struct Stalls {
  Reason reasons[REASONS];  // the most samples first
  uint32_t n;
  uint64_t samples;      // of warps that wait, are selected, or could have been
  VEC(StallLine) lines;  // the most samples first
} Stalls;

// NULL: it is not the name of a stall reason.
static const char *short_name(const char *name) {
  size_t n = strlen(prefix);
  return strncmp(name, prefix, n) ? NULL : name + n;
}

// The warp issues an instruction, or could have while another warp did.
static bool goes_on(const char *name) {
  return !strcmp(name, "selected") || !strcmp(name, "not_selected");
}

static const char *words_for(const char *name) {
#define STALL(end, what) \
  if (!strcmp(name, end)) return what;
#include "tools/profile/stalls.def"
#undef STALL
  return name;
}

static int by_samples(const void *x, const void *y) {
  const Reason *a = x, *b = y;
  if (a->samples != b->samples) return a->samples < b->samples ? 1 : -1;
  return strcmp(a->name, b->name);
}

static int by_line_samples(const void *x, const void *y) {
  const StallLine *a = x, *b = y;
  if (a->samples != b->samples) return a->samples < b->samples ? 1 : -1;
  return a->line < b->line ? -1 : a->line > b->line;
}

static void add_line(Stalls *s, const RunMeasure *x, const char *name) {
  uint32_t at = 0;
  if (!x->file) return;
  while (at < s->lines.len &&
         (s->lines.data[at].file != x->file || s->lines.data[at].line != x->line))
    at++;
  if (at == s->lines.len) vec_push(&s->lines, ((StallLine){x->file, x->line, 0, {0}}));
  StallLine *l = &s->lines.data[at];
  l->samples += x->v[0];
  if (!goes_on(name) && x->v[0] > l->main.samples) l->main = (Reason){name, x->v[0]};
}

static void find(const ProfileModel *m, const KernelProfile *k, Stalls *s) {
  *s = (Stalls){0};
  for (uint32_t i = 0; i < m->run->measures.len; i++) {
    const RunMeasure *x = m->run->measures.data[i];
    if (strcmp(x->what, MEASURE_STALLS) || !x->kernel || strcmp(x->kernel, k->name) || !x->text)
      continue;
    const char *name = short_name(x->text);
    if (!name) continue;
    s->samples += x->v[0];
    add_line(s, x, name);
    if (goes_on(name)) continue;
    uint32_t at = 0;
    while (at < s->n && strcmp(s->reasons[at].name, name)) at++;
    if (at == REASONS) continue;
    if (at == s->n) s->reasons[s->n++].name = name;
    s->reasons[at].samples += x->v[0];
  }
  qsort(s->reasons, s->n, sizeof *s->reasons, by_samples);
  if (s->lines.len) qsort(s->lines.data, s->lines.len, sizeof *s->lines.data, by_line_samples);
}

static void lines_text(const Stalls *s, bool all, Str *out) {
  uint32_t shown = all ? s->lines.len : MIN(s->lines.len, (uint32_t)SHOWN);
  for (uint32_t i = 0; i < shown; i++) {
    const StallLine *l = &s->lines.data[i];
    double share = 100 * (double)l->samples / (double)s->samples;
    if (i && share < (all ? 1 : 5)) break;
    str_printf(out, "    %s:%u: %.0f%% of the samples", report_path(l->file), l->line, share);
    if (l->main.samples) str_printf(out, ", most of them wait for %s", words_for(l->main.name));
    str_addc(out, '\n');
  }
}

void stalls_text(const ProfileModel *m, const KernelProfile *k, bool all, Str *out) {
  Stalls s;
  find(m, k, &s);
  uint32_t shown = all ? s.n : MIN(s.n, (uint32_t)SHOWN);
  for (uint32_t i = 0; i < shown; i++) {
    double share = 100 * (double)s.reasons[i].samples / (double)s.samples;
    if (i && share < (all ? 1 : 5)) break;
    str_printf(out, "%s%.0f%% for %s (%s)", i ? ", " : "  its warps wait: ", share,
               words_for(s.reasons[i].name), s.reasons[i].name);
  }
  if (shown && s.samples) str_addc(out, '\n');
  if (s.samples) lines_text(&s, all, out);
  vec_free(&s.lines);
}

static void json_lines(const Stalls *s, Str *out) {
  json_open(out, "stall_lines", '[');
  for (uint32_t i = 0; i < s->lines.len; i++) {
    const StallLine *l = &s->lines.data[i];
    json_open(out, NULL, '{');
    json_text(out, "file", l->file);
    json_number(out, "line", l->line);
    json_number(out, "samples", l->samples);
    if (l->main.samples) json_text(out, "reason", l->main.name);
    str_addc(out, '}');
  }
  str_addc(out, ']');
}

void stalls_json(const ProfileModel *m, const KernelProfile *k, Str *out) {
  Stalls s;
  find(m, k, &s);
  if (!s.samples) return;
  json_lines(&s, out);
  vec_free(&s.lines);
  json_key(out, "stalls");
  str_addc(out, '{');
  json_number(out, "samples", s.samples);
  for (uint32_t i = 0; i < s.n; i++) json_number(out, s.reasons[i].name, s.reasons[i].samples);
  str_addc(out, '}');
}
