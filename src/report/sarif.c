// SARIF 2.1.0, as editors and code scanning read it: one run of the tool, a rule for each kind of
// finding, a result for each place. Every result has a location with a line, since services refuse
// results without.
#include "report/internal.h"

#include <ctype.h>
#include <unistd.h>

#define BASE_ID "SRCROOT"

// folder: the current one, with a slash
typedef struct Sarif {
  Run *run;
  Str *out;
  char folder[4096];
  Arena arena;
} Sarif;

// --- URIs ---
static void add_uri(Str *out, const char *path) {
  for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
    if (isalnum(*p) || strchr("-._~/+,=@!$&'()*;", *p)) str_addc(out, (char)*p);
    else str_printf(out, "%%%02X", *p);
  }
}

// Without . and .. in between; an absolute path.
static char *normal_path(Sarif *s, const char *path) {
  Str whole = {0}, out = {0};
  if (path[0] != '/') str_add(&whole, s->folder);
  str_add(&whole, path);
  for (const char *p = whole.data; *p;) {
    p += strspn(p, "/");
    size_t n = strcspn(p, "/");
    if (n == 2 && !strncmp(p, "..", 2)) {
      while (out.len && out.data[--out.len] != '/') continue;
    } else if (n && !(n == 1 && *p == '.')) {
      str_addc(&out, '/');
      str_addn(&out, p, n);
    }
    p += n;
  }
  char *copy = arena_strndup(&s->arena, out.len ? out.data : "/", out.len ? out.len : 1);
  str_free(&whole);
  str_free(&out);
  return copy;
}

static void artifact(Sarif *s, const char *path) {
  Str uri = {0};
  const char *full = normal_path(s, path);
  size_t n = strlen(s->folder);
  bool below = n > 1 && !strncmp(full, s->folder, n);
  if (!below) str_add(&uri, "file://");
  add_uri(&uri, below ? full + n : full);
  json_open(s->out, "artifactLocation", '{');
  json_text(s->out, "uri", uri.data);
  if (below) json_text(s->out, "uriBaseId", BASE_ID);
  str_addc(s->out, '}');
  str_free(&uri);
}

static void physical(Sarif *s, const char *path, uint32_t line, uint32_t column) {
  json_open(s->out, "physicalLocation", '{');
  artifact(s, path);
  json_open(s->out, "region", '{');
  json_number(s->out, "startLine", MAX(line, 1u));
  if (column) json_number(s->out, "startColumn", column);
  str_add(s->out, "}}");
}

static void message(Sarif *s, const char *text) {
  Str plain = {0};
  report_style(text, strlen(text), false, &plain);
  json_open(s->out, "message", '{');
  json_text(s->out, "text", plain.len ? plain.data : "?");
  str_addc(s->out, '}');
  str_free(&plain);
}

static void logical(Sarif *s, const char *name, const char *decorated) {
  json_open(s->out, "logicalLocations", '[');
  json_open(s->out, NULL, '{');
  json_text(s->out, "fullyQualifiedName", name);
  if (decorated && strcmp(name, decorated)) json_text(s->out, "decoratedName", decorated);
  json_text(s->out, "kind", "function");
  str_add(s->out, "}]");
}

// --- where a finding is ---
typedef struct At {
  const char *file, *function;
  uint32_t line, column;
} At;

static bool frame_at(Run *r, RunStack *stack, At *at) {
  uint32_t n;
  const RunFrame *f = report_stack(r, stack, &n);
  for (uint32_t i = 0; i < n; i++) {
    // rather the call than a wrapper of a header
    if (!f[i].file || (f[i].inlined && i + 1 < n && f[i + 1].file)) continue;
    *at = (At){f[i].file, f[i].function, f[i].line, 0};
    return true;
  }
  return false;
}

// The line of device code; else the call of the host; else the program itself.
static At main_place(Sarif *s, const RunFinding *f) {
  At at = {0};
  uint32_t main = f->site && f->site->nplaces ? report_main_place(f->site) : 0;
  if (f->site && f->site->nplaces && f->site->places[main].file) {
    const RunPlace *p = &f->site->places[main];
    return (At){p->file, report_place_function(s->run, f->site, main), p->line, p->column};
  }
  if (frame_at(s->run, report_host_stack(f), &at)) return at;
  return (At){f->process->program ? f->process->program
              : s->run->program   ? s->run->program
                                  : "?",
              NULL, 1, 0};
}

static void locations(Sarif *s, const RunFinding *f) {
  At at = main_place(s, f);
  json_open(s->out, "locations", '[');
  json_open(s->out, NULL, '{');
  physical(s, at.file, at.line, at.column);
  if (f->kernel) logical(s, f->kernel->readable, f->kernel->name);
  else if (at.function) logical(s, at.function, NULL);
  str_add(s->out, "}]");
}

typedef struct Step {
  const char *title;
  At at;
} Step;

// In the order in which it happened; the last is the finding.
static uint32_t steps(Sarif *s, const RunFinding *f, Step *out) {
  uint32_t n = 0;
  At at;
  if (f->allocation && frame_at(s->run, f->allocation->stack, &at))
    out[n++] = (Step){"allocated here", at};
  if (f->allocation && frame_at(s->run, f->allocation->free_stack, &at))
    out[n++] = (Step){"freed here", at};
  if (frame_at(s->run, f->other_stack, &at))
    out[n++] = (Step){f->other_title ? f->other_title : "before", at};
  if (f->launch && frame_at(s->run, f->launch->stack, &at)) out[n++] = (Step){"launched here", at};
  return n;
}

static void related_place(Sarif *s, uint32_t id, const char *title, const At *at) {
  json_open(s->out, NULL, '{');
  json_number(s->out, "id", id);
  physical(s, at->file, at->line, at->column);
  message(s, title);
  str_addc(s->out, '}');
}

static void related(Sarif *s, const RunFinding *f) {
  Step list[8];
  uint32_t n = steps(s, f, list), places = f->site ? f->site->nplaces : 0,
           main = places ? report_main_place(f->site) : 0, id = 0;
  if (n == 0 && places < 2) return;
  json_open(s->out, "relatedLocations", '[');
  for (uint32_t i = 0; i < places; i++) {
    const RunPlace *p = &f->site->places[i];
    if (p->file && i != main)
      related_place(s, ++id, i < main ? "inside of" : "inlined here",
                    &(At){p->file, NULL, p->line, p->column});
  }
  for (uint32_t i = 0; i < n; i++) related_place(s, ++id, list[i].title, &list[i].at);
  str_addc(s->out, ']');
}

static void flow_step(Sarif *s, const char *title, const At *at) {
  json_open(s->out, NULL, '{');
  json_open(s->out, "location", '{');
  physical(s, at->file, at->line, at->column);
  message(s, title);
  str_add(s->out, "}}");
}

static void code_flow(Sarif *s, const RunFinding *f) {
  Step list[8];
  uint32_t n = steps(s, f, list);
  if (!n || !f->site || !f->site->nplaces) return;
  At at = main_place(s, f);
  json_open(s->out, "codeFlows", '[');
  str_add(s->out, "{\"threadFlows\":[{\"locations\":[");
  for (uint32_t i = 0; i < n; i++) flow_step(s, list[i].title, &list[i].at);
  Str title = {0};
  report_kind_title(report_words(f), f->kind, &title);
  flow_step(s, title.data, &at);
  str_free(&title);
  str_add(s->out, "]}]}]");
}

static void one_stack(Sarif *s, const char *title, RunStack *stack) {
  uint32_t n;
  const RunFrame *frames = report_stack(s->run, stack, &n);
  if (!n) return;
  json_open(s->out, NULL, '{');
  message(s, title);
  json_open(s->out, "frames", '[');
  for (uint32_t i = 0; i < n; i++) {
    const RunFrame *f = &frames[i];
    json_open(s->out, NULL, '{');
    if (f->file || f->function) {
      json_open(s->out, "location", '{');
      if (f->file) physical(s, f->file, f->line, 0);
      if (f->function) logical(s, f->function, NULL);
      str_addc(s->out, '}');
    }
    json_text(s->out, "module", f->object);
    str_addc(s->out, '}');
  }
  str_add(s->out, "]}");
}

static void stacks(Sarif *s, const RunFinding *f) {
  size_t before = s->out->len;
  json_open(s->out, "stacks", '[');
  size_t empty = s->out->len;
  if (f->launch) one_stack(s, "launched", f->launch->stack);
  one_stack(s, f->kind->parts & STACK_IS_ALLOCATION ? "allocated" : "called", f->stack);
  if (f->allocation) {
    one_stack(s, "allocated", f->allocation->stack);
    one_stack(s, "freed", f->allocation->free_stack);
  }
  one_stack(s, f->other_title ? f->other_title : "before", f->other_stack);
  if (s->out->len == empty) s->out->data[s->out->len = before] = 0;
  else str_addc(s->out, ']');
}

// The same finding after lines were added above it has the same fingerprint: no line numbers.
// Several of a kind in one function are told apart by their order in the source, not by the order
// in which they were found, which changes.
typedef struct Print {
  uint64_t hash;
  uint32_t line, column, ptx_line, index, rank;
} Print;

static Print print_of(Sarif *s, const RunFinding *f, uint32_t index) {
  At at = main_place(s, f);
  const char *slash = strrchr(at.file, '/');
  Str key = {0};
  str_printf(&key, "%s\n%s\n%s\n%s", f->kind->name, f->kernel ? f->kernel->name : "",
             slash ? slash + 1 : at.file, at.function ? at.function : "");
  Print p = {base_hash(key.data, key.len),    at.line, at.column,
             f->site ? f->site->ptx_line : 0, index,   0};
  str_free(&key);
  return p;
}

static int in_source_order(const void *a, const void *b) {
  const Print *x = a, *y = b;
  const uint64_t keys[][2] = {{x->hash, y->hash},
                              {x->line, y->line},
                              {x->column, y->column},
                              {x->ptx_line, y->ptx_line},
                              {x->index, y->index}};
  for (size_t i = 0; i < ARRAY_LEN(keys); i++)
    if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
  return 0;
}

static int in_order_found(const void *a, const void *b) {
  const Print *x = a, *y = b;
  return x->index < y->index ? -1 : x->index > y->index;
}

// By index of the finding.
static Print *fingerprints(Sarif *s) {
  uint32_t n = s->run->findings.len;
  Print *prints = ARENA_ARRAY(&s->arena, Print, n + 1);
  for (uint32_t i = 0; i < n; i++) prints[i] = print_of(s, s->run->findings.data[i], i);
  qsort(prints, n, sizeof *prints, in_source_order);
  for (uint32_t i = 0; i < n; i++)
    prints[i].rank = i && prints[i].hash == prints[i - 1].hash ? prints[i - 1].rank + 1 : 1;
  qsort(prints, n, sizeof *prints, in_order_found);
  return prints;
}

static void fingerprint(Sarif *s, const Print *p) {
  json_open(s->out, "partialFingerprints", '{');
  json_key(s->out, "warpgrindFinding/v1");
  str_printf(s->out, "\"%016llx:%u\"}", (unsigned long long)p->hash, p->rank);
}

static uint32_t rule_index(const Kind *kind) {
  uint32_t i = 0;
  for (const Kind *k = NULL; (k = kind_after(k)) && k != kind;) i++;
  return i;
}

static void properties(Sarif *s, const RunFinding *f) {
  json_open(s->out, "properties", '{');
  json_number(s->out, "process", (uint64_t)f->process->pid);
  if (f->has_thread) {
    json_three(s->out, "block", f->block);
    json_three(s->out, "thread", f->thread);
  }
  if (f->launch_number) json_number(s->out, "launch", f->launch_number);
  if (f->has_address) json_address(s->out, "address", f->address);
  if (f->size) json_number(s->out, "size", f->size);
  if (f->site) json_text(s->out, "space", f->site->space);
  str_addc(s->out, '}');
}

static void result(Sarif *s, const RunFinding *f, const Print *print) {
  Str sentence = {0};
  report_sentence(s->run, f, &sentence);
  if (f->kernel) words_printf(&sentence, report_words(f), ", in {kernel} %s", f->kernel->readable);
  if (f->count > 1) str_printf(&sentence, " (%llu times)", (unsigned long long)f->count);
  json_open(s->out, NULL, '{');
  json_text(s->out, "ruleId", f->kind->name);
  json_number(s->out, "ruleIndex", rule_index(f->kind));
  json_text(s->out, "level", severity_name(f->kind->severity));
  message(s, sentence.data);
  locations(s, f);
  related(s, f);
  code_flow(s, f);
  stacks(s, f);
  fingerprint(s, print);
  json_number(s->out, "occurrenceCount", MAX(f->count, (uint64_t)1));
  properties(s, f);
  str_addc(s->out, '}');
  str_free(&sentence);
}

// --- the tool and the run ---
// "launch-failure" as LaunchFailure
static void rule_name(const char *id, char *out) {
  bool capital = true;
  for (; *id; id++) {
    if (*id == '-') capital = true;
    else {
      *out++ = capital ? (char)toupper((unsigned char)*id) : *id;
      capital = false;
    }
  }
  *out = 0;
}

static void rule(Sarif *s, const Kind *k) {
  char name[64];
  Str title = {0};
  rule_name(k->name, name);
  report_kind_title(api_words(s->run->api), k, &title);
  json_open(s->out, NULL, '{');
  json_text(s->out, "id", k->name);
  json_text(s->out, "name", name);
  json_open(s->out, "shortDescription", '{');
  json_text(s->out, "text", title.data);
  str_addc(s->out, '}');
  json_open(s->out, "fullDescription", '{');
  json_text(s->out, "text", title.data);
  str_addc(s->out, '}');
  json_open(s->out, "defaultConfiguration", '{');
  json_text(s->out, "level", severity_name(k->severity));
  str_add(s->out, "}}");
  str_free(&title);
}

static void tool(Sarif *s) {
  json_open(s->out, "tool", '{');
  json_open(s->out, "driver", '{');
  json_text(s->out, "name", "Warpgrind");
  json_text(s->out, "version", WARPGRIND_VERSION);
  json_text(s->out, "semanticVersion", WARPGRIND_VERSION);
  json_open(s->out, "rules", '[');
  for (const Kind *k = NULL; (k = kind_after(k));) rule(s, k);
  str_add(s->out, "]}}");
}

static void notification(Sarif *s, Severity severity, const char *text) {
  json_open(s->out, NULL, '{');
  json_text(s->out, "level", severity == SEVERITY_NONE ? "note" : severity_name(severity));
  message(s, text);
  str_addc(s->out, '}');
}

static void invocation(Sarif *s) {
  Run *r = s->run;
  json_open(s->out, "invocations", '[');
  json_open(s->out, NULL, '{');
  json_key(s->out, "executionSuccessful");
  str_add(s->out, r->failure ? "false" : "true");
  json_key(s->out, "exitCode");
  str_printf(s->out, "%d", r->exit_code);
  if (r->main_pid > 0) json_number(s->out, "processId", (uint64_t)r->main_pid);
  json_open(s->out, "toolExecutionNotifications", '[');
  if (r->failure) notification(s, SEVERITY_ERROR, r->failure);
  for (uint32_t i = 0; i < r->notes.len; i++)
    notification(s, r->notes.data[i].severity, r->notes.data[i].text);
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    if (!k->launches || !k->reason) continue;
    Str text = {0};
    words_printf(&text, api_words(r->api), "{kernel} %s was not checked: %s", k->readable,
                 k->reason);
    notification(s, SEVERITY_WARNING, text.data);
    str_free(&text);
  }
  str_add(s->out, "]}]");
}

static void run_properties(Sarif *s) {
  Run *r = s->run;
  uint64_t places;
  json_open(s->out, "properties", '{');
  json_text(s->out, "program", r->program);
  json_text(s->out, "device", r->device);
  json_text(s->out, "tools", r->tools);
  json_number(s->out, "launches", r->launches);
  json_number(s->out, "checkedLaunches", r->checked_launches);
  json_number(s->out, "suppressed", run_count_suppressed(r, &places));
  str_addc(s->out, '}');
}

void report_sarif(Run *r, Str *out) {
  Sarif s = {.run = r, .out = out};
  if (!getcwd(s.folder, sizeof s.folder - 1)) strcpy(s.folder, "/");
  if (s.folder[strlen(s.folder) - 1] != '/') strcat(s.folder, "/");
  str_add(out, "{\"$schema\":\"https://json.schemastore.org/"
               "sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{");
  tool(&s);
  invocation(&s);
  Str base = {0};
  str_add(&base, "file://");
  add_uri(&base, s.folder);
  str_add(out, ",\"originalUriBaseIds\":{\"" BASE_ID "\":{");
  json_text(out, "uri", base.data);
  str_add(out, "}}");
  str_free(&base);
  json_open(out, "results", '[');
  const Print *prints = fingerprints(&s);
  for (uint32_t i = 0; i < r->findings.len; i++)
    if (!r->findings.data[i]->suppressed) result(&s, r->findings.data[i], &prints[i]);
  str_addc(out, ']');
  run_properties(&s);
  str_add(out, "}]}\n");
  arena_free(&s.arena);
}
