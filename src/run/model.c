// A run in memory: its texts, names, notes and counts, and how it is freed.
#include "run/internal.h"

void run_free(Run *r) {
  run_free_sources(r);
  strmap_free(&r->texts);
  strmap_free(&r->count_keys);
  strmap_free(&r->finding_keys);
  strmap_free(&r->variables);
  strmap_free(&r->proved_sources);
  strmap_free(&r->saved_types);
  u64map_free(&r->type_bytes);
  for (uint32_t i = 0; i < r->processes.len; i++) run_free_process(r->processes.data[i]);
  symbol_store_free(r->symbols);
  vec_free(&r->processes);
  vec_free(&r->kernels);
  vec_free(&r->findings);
  vec_free(&r->explanations);
  vec_free(&r->waiting);
  vec_free(&r->suppressions);
  vec_free(&r->counts);
  vec_free(&r->notes);
  vec_free(&r->limits);
  arena_free(&r->arena);
}

const char *run_text(Run *r, const char *text) {
  if (!text) return NULL;
  char *known = strmap_get(&r->texts, text);
  if (known) return known;
  known = arena_strdup(&r->arena, text);
  strmap_put(&r->texts, known, known);
  return known;
}

SymbolStore *run_symbols(Run *r) {
  if (!r->symbols) r->symbols = symbol_store_new();
  return r->symbols;
}

const char *run_readable_name(Run *r, const char *name) {
  return symbol_readable_name(run_symbols(r), name);
}

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

const char *run_readable_text(Run *r, const char *text) {
  if (!text || !strstr(text, "_Z")) return run_text(r, text);
  Str out = {0}, name = {0};
  for (size_t i = 0, n = 0; text[i]; i += n ? n : 1, n = 0) {
    while (is_name(text[i + n])) n++;
    if (!n) str_addc(&out, text[i]);
    else {
      name.len = 0;
      str_printf(&name, "%.*s", (int)n, &text[i]);
      str_add(&out, strncmp(name.data, "_Z", 2) ? name.data : run_readable_name(r, name.data));
    }
  }
  const char *kept = run_text(r, out.data);
  str_free(&out);
  str_free(&name);
  return kept;
}

void run_add_note(Run *r, RunProcess *p, Severity severity, const char *fmt, ...) {
  char text[4096];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  RunNote note = {p, severity, run_text(r, text)};
  vec_push(&r->notes, note);
  if (r->on_note) r->on_note(r, &note, r->user);
}

const char *run_incomplete(Run *r) {
  if (r->damaged)
    return arena_printf(&r->arena,
                        "The program (process %d) has damaged the memory it reports through: "
                        "findings may be missing.",
                        r->damaged_pid);
  if (r->channel_damaged)
    return "The program has damaged the memory that its processes report through: findings may be "
           "missing.";
  if (r->unrecorded)
    return arena_printf(&r->arena,
                        "%u processes could not be recorded, since too many ran at the same time: "
                        "their findings are missing.",
                        r->unrecorded);
  if (r->lost_events)
    return arena_printf(&r->arena,
                        "%llu events could not be written in time: findings may be missing.",
                        (unsigned long long)r->lost_events);
  return NULL;
}

uint64_t run_count_findings(const Run *r, Severity at_least, uint64_t *places) {
  uint64_t n = 0, where = 0;
  for (uint32_t i = 0; i < r->findings.len; i++) {
    if (r->findings.data[i]->kind->severity < at_least || r->findings.data[i]->suppressed) continue;
    n += r->findings.data[i]->count;
    where++;
  }
  if (at_least == SEVERITY_ERROR) {
    n += r->findings_left_out;
    where += r->places_left_out;
  }
  if (places) *places = where;
  return n;
}

uint64_t run_count_suppressed(Run *r, uint64_t *places) {
  uint64_t n = 0;
  *places = 0;
  for (uint32_t i = 0; i < r->suppressions.len; i++)
    r->suppressions.data[i]->findings = r->suppressions.data[i]->places = 0;
  for (uint32_t i = 0; i < r->findings.len; i++) {
    RunSuppression *s = r->findings.data[i]->suppressed;
    if (!s) continue;
    s->findings += r->findings.data[i]->count;
    s->places++;
    n += r->findings.data[i]->count;
    ++*places;
  }
  return n;
}

RunSuppression *run_add_suppression(Run *r, const char *name, const char *file, uint32_t line) {
  RunSuppression *s = ARENA_NEW(&r->arena, RunSuppression);
  *s = (RunSuppression){.id = r->suppressions.len + 1,
                        .name = run_text(r, name),
                        .file = run_text(r, file),
                        .line = line};
  vec_push(&r->suppressions, s);
  return s;
}

RunCount *run_count_row(Run *r, const char *kernel, const char *file, uint32_t line) {
  Str key = {0};
  str_printf(&key, "%s\n%s\n%u", kernel, file ? file : "", line);
  RunCount *c = strmap_get(&r->count_keys, key.data);
  if (!c && r->counts.len < RUN_COUNTS_KEPT) {
    c = ARENA_NEW(&r->arena, RunCount);
    *c = (RunCount){.kernel = run_text(r, kernel), .file = run_text(r, file), .line = line};
    strmap_put(&r->count_keys, arena_strdup(&r->arena, key.data), c);
    vec_push(&r->counts, c);
  }
  if (!c && !r->counts_full) {
    r->counts_full = true;
    run_add_note(r, NULL, SEVERITY_WARNING,
                 "more than %d source lines were counted: the others are left out",
                 RUN_COUNTS_KEPT);
  }
  str_free(&key);
  return c;
}

const char *run_memory_kind(uint32_t kind) {
  static const char *const names[] = {"device", "pinned",  "managed",    "pool",  "variable",
                                      "array",  "virtual", "registered", "graph", "imported"};
  return kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

const char *run_class_name(unsigned bit) {
  static const char *const names[] = {
      "load",   "store",   "atomic",  "sync",   "branch",   "return",  "call",
      "int",    "float",   "compare", "select", "move",     "convert", "warp",
      "tensor", "texture", "surface", "async",  "memfence", "address", "hint",
  };
  return bit < ARRAY_LEN(names) ? names[bit] : NULL;
}
