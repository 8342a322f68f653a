// Suppressed findings: which entry of a suppression file matches, and an entry for a finding.
#include "report/internal.h"

static bool matches(const char *glob, const char *text) {
  return text && report_glob(glob, strlen(glob), text);
}

// A path as it was recorded, or its end from any slash on.
static bool matches_path(const char *glob, const char *path) {
  if (matches(glob, path)) return true;
  for (const char *s = path ? strchr(path, '/') : NULL; s; s = strchr(s + 1, '/'))
    if (matches(glob, s + 1)) return true;
  return false;
}

// "void ns::f<int>(int*) [clone]": what stands before its parameters, without the type in front.
static void bare_name(const char *name, char *out, size_t size) {
  const char *close = strrchr(name, ')'), *open = close;
  for (int depth = 0; open; open = open > name ? open - 1 : NULL) {
    depth += *open == ')' ? 1 : *open == '(' ? -1 : 0;
    if (!depth) break;
  }
  if (!strncmp(name, "void ", 5)) name += 5;
  snprintf(out, size, "%.*s", (int)(open && open > name ? (size_t)(open - name) : strlen(name)),
           name);
}

// The whole name or the bare one.
static bool matches_name(const char *glob, const char *name) {
  char bare[1024];
  if (!name) return false;
  if (matches(glob, name)) return true;
  bare_name(name, bare, sizeof bare);
  return matches(glob, bare);
}

static bool matches_list(const char *list, const char *word) {
  for (const char *s = list; *s;) {
    s += strspn(s, ", ");
    size_t n = strcspn(s, ", ");
    if (n && report_glob(s, n, word)) return true;
    s += n;
  }
  return false;
}

static bool matches_place(const SuppressEntry *e, const char *file, uint32_t line,
                          const char *function) {
  return (!e->file || matches_path(e->file, file)) &&
         (!e->first_line || (file && line >= e->first_line && line <= e->last_line)) &&
         (!e->function || matches_name(e->function, function));
}

// Some place of the inline chain matches file, line and function. For a finding about a call of the
// host the place is that of the call.
static bool matches_any_place(Run *r, const SuppressEntry *e, const RunFinding *f) {
  if (!e->file && !e->first_line && !e->function) return true;
  const RunSite *s = f->site;
  for (uint32_t i = 0; s && i < s->nplaces; i++)
    if (matches_place(e, s->places[i].file, s->places[i].line, report_place_function(r, s, i)))
      return true;
  if (s && s->nplaces) return false;
  if (s && s->function)
    return matches_place(e, NULL, 0, run_readable_name(r, s->function)) ||
           matches_place(e, NULL, 0, s->function);
  uint32_t n;
  const RunFrame *frames = report_stack(r, report_host_stack(f), &n);
  return n && matches_place(e, frames[0].file, frames[0].line, frames[0].function);
}

static bool matches_frame(const FramePattern *p, const RunFrame *f) {
  switch (p->kind) {
    case FRAME_FUNCTION: return matches_name(p->glob, f->function);
    case FRAME_OBJECT: return matches_path(p->glob, f->object);
    case FRAME_SOURCE: return matches_path(p->glob, f->file) && (!p->line || p->line == f->line);
    case FRAME_ANY: return true;
  }
  return false;
}

// From the innermost frame on; frames after the last pattern do not matter.
static bool matches_frames(const FramePattern *p, uint32_t np, const RunFrame *f, uint32_t nf) {
  if (!np) return true;
  if (p->kind != FRAME_ANY)
    return nf && matches_frame(p, f) && matches_frames(p + 1, np - 1, f + 1, nf - 1);
  for (uint32_t i = 0; i <= nf; i++)
    if (matches_frames(p + 1, np - 1, f + i, nf - i)) return true;
  return false;
}

static bool matches_stack(Run *r, const FramePattern *p, uint32_t np, RunStack *s) {
  uint32_t n;
  if (!np) return true;
  static const RunFrame none;
  const RunFrame *frames = report_stack(r, s, &n);
  return matches_frames(p, np, frames ? frames : &none, n);
}

static bool matches_finding(Run *r, const SuppressEntry *e, const RunFinding *f) {
  if (!matches_list(e->kind, f->kind->name)) return false;
  if (e->kernel && (!f->kernel || (!matches_name(e->kernel, f->kernel->readable) &&
                                   !matches(e->kernel, f->kernel->name))))
    return false;
  if (e->text && !matches(e->text, f->text)) return false;
  if (e->program && !matches_path(e->program, f->process->program)) return false;
  return matches_any_place(r, e, f) &&
         matches_stack(r, e->stack.data, e->stack.len, report_host_stack(f)) &&
         matches_stack(r, e->allocated.data, e->allocated.len,
                       f->allocation ? f->allocation->stack : NULL);
}

static RunSuppression *suppression_of(Run *r, const RunFinding *f, void *user) {
  const ReportSuppressions *s = user;
  for (uint32_t i = 0; i < s->entries.len; i++)
    if (matches_finding(r, s->entries.data[i], f))
      return r->suppressions.data[r->suppressions.len - s->entries.len + i];
  return NULL;
}

ReportSuppressions *report_suppressions_read(const char *list, Error *err) {
  ReportSuppressions *s = mem_alloc(sizeof *s);
  for (const char *p = list; *p; p += *p == ',') {
    size_t n = strcspn(p, ",");
    char *path = arena_strndup(&s->arena, p, n);
    Str text = {0};
    bool ok = file_read(path, &text, err) &&
              report_suppress_parse(s, path, text.data ? text.data : "", err);
    str_free(&text);
    if (!ok) {
      report_suppressions_free(s);
      return NULL;
    }
    p += n;
  }
  return s;
}

void report_suppressions_use(ReportSuppressions *s, Run *r) {
  for (uint32_t i = 0; i < s->entries.len; i++) {
    const SuppressEntry *e = s->entries.data[i];
    run_add_suppression(r, e->name, e->path, e->line);
  }
  r->suppress = suppression_of;
  r->suppress_user = s;
  for (uint32_t i = 0; i < r->findings.len; i++)
    if (!r->findings.data[i]->suppressed)
      r->findings.data[i]->suppressed = suppression_of(r, r->findings.data[i], s);
}

void report_suppressions_free(ReportSuppressions *s) {
  for (uint32_t i = 0; i < s->entries.len; i++) {
    vec_free(&s->entries.data[i]->stack);
    vec_free(&s->entries.data[i]->allocated);
  }
  vec_free(&s->entries);
  arena_free(&s->arena);
  free(s);
}

// --- an entry for a finding ---
static void field(Str *out, const char *key, const char *value) {
  if (value) str_printf(out, "  %s: %s\n", key, value);
}

static const char *base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path;
}

void report_suppression_entry(Run *r, const RunFinding *f, Str *out) {
  const RunSite *s = f->site;
  str_add(out, "{\n");
  str_printf(out, "  name: %s", f->kind->name);
  uint32_t main = s && s->nplaces ? report_main_place(s) : 0;
  const RunPlace *p = s && s->nplaces ? &s->places[main] : NULL;
  if (p && p->file) str_printf(out, " at %s:%u", base_name(p->file), p->line);
  else if (f->kernel) str_printf(out, " in %s", f->kernel->name);
  str_addc(out, '\n');
  field(out, "kind", f->kind->name);
  if (f->kernel) field(out, "kernel", f->kernel->readable);
  if (p) {
    field(out, "file", base_name(p->file));
    field(out, "function", report_place_function(r, s, main));
    if (p->file) str_printf(out, "  # line: %u\n", p->line);
  } else if (s && s->function) field(out, "function", run_readable_name(r, s->function));
  // numbers differ from run to run
  if (!s && f->text && !strpbrk(f->text, "0123456789\n")) field(out, "text", f->text);
  uint32_t n;
  const RunFrame *frames = report_stack(r, report_host_stack(f), &n);
  if (n) str_add(out, "  stack:\n");
  for (uint32_t i = 0; i < n; i++) {
    if (frames[i].function) str_printf(out, "    fun: %s\n", frames[i].function);
    else if (frames[i].object) str_printf(out, "    obj: %s\n", base_name(frames[i].object));
    else if (i == 0 || frames[i - 1].function || frames[i - 1].object) str_add(out, "    ...\n");
  }
  str_add(out, "}\n");
}

// --- the summary of suppressions at the end ---
void report_suppressed(Run *r, bool all, Str *out) {
  enum { SHOWN = 20 };
  uint64_t places, findings = run_count_suppressed(r, &places);
  uint32_t shown = 0;
  if (places)
    str_printf(out, "suppressed: %llu finding%s from %llu place%s\n", (unsigned long long)findings,
               findings == 1 ? "" : "s", (unsigned long long)places, places == 1 ? "" : "s");
  for (uint32_t i = 0; i < r->suppressions.len; i++) {
    const RunSuppression *s = r->suppressions.data[i];
    if (s->places && (all || shown++ < SHOWN))
      str_printf(out, "  %llu from %llu place%s by \"%s\" (%s:%u)\n",
                 (unsigned long long)s->findings, (unsigned long long)s->places,
                 s->places == 1 ? "" : "s", s->name, s->file, s->line);
  }
  if (shown > SHOWN)
    str_printf(out, "  and %u more suppressions that were used (-v names them all)\n",
               shown - SHOWN);
  shown = 0;
  for (uint32_t i = 0; i < r->suppressions.len; i++) {
    const RunSuppression *s = r->suppressions.data[i];
    if (!s->places && (all || shown++ < SHOWN))
      str_printf(out, "suppression \"%s\" (%s:%u) was not used\n", s->name, s->file, s->line);
  }
  if (shown > SHOWN)
    str_printf(out, "and %u more suppressions were not used (-v names them all)\n", shown - SHOWN);
}
