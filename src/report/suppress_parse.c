// Suppression files. The grammar, line by line (docs/suppressions.md has examples):
//   file   = { comment | entry }         comment = "#" anything
//   entry  = "{" { field | comment } "}"
//   field  = key ":" value  |  "stack:" { frame }  |  "allocated:" { frame }
//   frame  = "fun:" glob  |  "obj:" glob  |  "src:" glob [ ":" number ]  |  "..."
#include "report/internal.h"

#include <ctype.h>

typedef struct Parse {
  ReportSuppressions *out;
  const char *path;
  Error *err;
  const char *line_start, *at;
  uint32_t line;         // at: what is being read
  SuppressEntry *entry;  // NULL: outside
  bool in_stack, in_allocated;
} Parse;

static bool fail(const Parse *p, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool fail(const Parse *p, const char *at, const char *fmt, ...) {
  char why[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  return error_set(p->err, "%s:%u:%u: %s", p->path, p->line, (unsigned)(at - p->line_start) + 1,
                   why);
}

bool report_glob(const char *p, size_t n, const char *text) {
  const char *end = p + n, *star = NULL, *retry = NULL;
  for (;;) {
    if (p < end && *p == '*') {
      star = ++p;
      retry = text;
      continue;
    }
    bool escaped = p + 1 < end && *p == '\\';
    if (*text && p < end && (escaped ? p[1] == *text : *p == '?' || *p == *text)) {
      p += escaped ? 2 : 1;
      text++;
      continue;
    }
    if (!*text && p == end) return true;
    if (!star || !*retry) return false;
    p = star;
    text = ++retry;
  }
}

// --- fields ---
static bool check_kinds(const Parse *p, const char *list) {
  for (const char *s = list;; s++) {
    while (*s == ' ') s++;
    size_t n = strcspn(s, ", ");
    bool known = false;
    for (const Kind *k = NULL; (k = kind_after(k));) known |= report_glob(s, n, k->name);
    if (!known)
      return fail(p, p->at + (s - list), "no kind of finding is called \"%.*s\".", (int)n, s);
    s += n + strspn(s + n, " ");
    if (!*s) return true;
    if (*s != ',') return fail(p, p->at + (s - list), "kinds are separated by commas.");
  }
}

static bool parse_lines(Parse *p, const char *value) {
  char *end;
  unsigned long first = strtoul(value, &end, 10), last = first;
  if (!isdigit((unsigned char)*value))
    return fail(p, p->at, "expected a line, or two with - between them.");
  if (*end == '-' && isdigit((unsigned char)end[1])) last = strtoul(end + 1, &end, 10);
  if (*end) return fail(p, p->at + (end - value), "expected a line, or two with - between them.");
  if (!first || last < first || last > UINT32_MAX)
    return fail(p, p->at, "there are no such lines.");
  p->entry->first_line = (uint32_t)first;
  p->entry->last_line = (uint32_t)last;
  return true;
}

static bool parse_field(Parse *p, const char *key, size_t n, const char *value) {
  SuppressEntry *e = p->entry;
  const struct {
    const char *key;
    const char **to;
  } texts[] = {{"name", &e->name},      {"kind", &e->kind},         {"kernel", &e->kernel},
               {"file", &e->file},      {"function", &e->function}, {"text", &e->text},
               {"program", &e->program}};
  bool is_line = n == 4 && !strncmp(key, "line", 4);
  const char **to = NULL;
  for (size_t i = 0; i < ARRAY_LEN(texts); i++)
    if (strlen(texts[i].key) == n && !strncmp(key, texts[i].key, n)) to = texts[i].to;
  if (!to && !is_line)
    return fail(p, key,
                "\"%.*s\" is not known here; there are name, kind, kernel, file, line, function, "
                "text, program, stack and allocated.",
                (int)n, key);
  if ((to && *to) || (is_line && e->first_line))
    return fail(p, key, "\"%.*s\" stands twice in this entry.", (int)n, key);
  if (!*value) return fail(p, p->at, "\"%.*s\" needs a value.", (int)n, key);
  if (is_line) return parse_lines(p, value);
  *to = arena_strdup(&p->out->arena, value);
  return to != &e->kind || check_kinds(p, value);
}

// src:merge.cu:17 — a number after the last colon is the line.
static FramePattern source_frame(Parse *p, const char *value) {
  const char *colon = strrchr(value, ':');
  bool has_line = colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
  return (FramePattern){
      FRAME_SOURCE,
      arena_strndup(&p->out->arena, value, has_line ? (size_t)(colon - value) : strlen(value)),
      has_line ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0};
}

// *is_frame false: it is something else.
static bool parse_frame(Parse *p, const char *word, size_t n, const char *value, bool *is_frame) {
  SuppressEntry *e = p->entry;
  bool fun = n == 3 && !strncmp(word, "fun", 3), obj = n == 3 && !strncmp(word, "obj", 3),
       src = n == 3 && !strncmp(word, "src", 3), any = !strcmp(word, "...");
  *is_frame = fun || obj || src || any;
  if (!*is_frame) return true;
  if (!p->in_stack && !p->in_allocated)
    return fail(p, word, "frames go on the lines below \"stack:\" or \"allocated:\".");
  if (!any && !*value) return fail(p, p->at, "\"%.*s\" needs a value.", (int)n, word);
  FramePattern f = any   ? (FramePattern){.kind = FRAME_ANY}
                   : src ? source_frame(p, value)
                         : (FramePattern){fun ? FRAME_FUNCTION : FRAME_OBJECT,
                                          arena_strdup(&p->out->arena, value), 0};
  if (p->in_stack) vec_push(&e->stack, f);
  else vec_push(&e->allocated, f);
  return true;
}

// --- lines ---
static bool begin_entry(Parse *p) {
  p->entry = ARENA_NEW(&p->out->arena, SuppressEntry);
  p->entry->path = arena_strdup(&p->out->arena, p->path);
  p->entry->line = p->line;
  vec_push(&p->out->entries, p->entry);
  p->in_stack = p->in_allocated = false;
  return true;
}

static bool end_entry(Parse *p) {
  SuppressEntry *e = p->entry;
  if (!e->kind) return fail(p, p->at, "the entry has no kind (\"kind: *\" is every kind).");
  if (!e->name) e->name = arena_printf(&p->out->arena, "%s:%u", e->path, e->line);
  p->entry = NULL;
  return true;
}

static bool parse_line(Parse *p, char *word) {
  p->at = word;
  if (!*word || *word == '#') return true;
  if (!p->entry)
    return !strcmp(word, "{") ? begin_entry(p) : fail(p, word, "expected { or a comment (#).");
  if (!strcmp(word, "}")) return end_entry(p);
  size_t n = strcspn(word, ": ");
  const char *value = word + n + strspn(word + n, " ");
  bool has_colon = *value == ':', is_frame;
  value += has_colon;
  value += strspn(value, " \t");
  p->at = value;
  if (!has_colon && strcmp(word, "...")) return fail(p, word, "expected a word and a colon, or }.");
  if (!parse_frame(p, word, n, value, &is_frame)) return false;
  if (is_frame) return true;
  bool stack = n == 5 && !strncmp(word, "stack", 5),
       allocated = n == 9 && !strncmp(word, "allocated", 9);
  p->in_stack = stack;
  p->in_allocated = allocated;
  if (!stack && !allocated) return parse_field(p, word, n, value);
  return !*value || fail(p, value, "frames go on the lines below, one on each line.");
}

bool report_suppress_parse(ReportSuppressions *s, const char *path, const char *text, Error *err) {
  Parse p = {.out = s, .path = path, .err = err};
  for (const char *line = text; *line;) {
    size_t n = strcspn(line, "\n"), first = 0, last = n;
    char *copy = arena_strndup(&s->arena, line, n);
    p.line++;
    p.line_start = copy;
    while (last && isspace((unsigned char)copy[last - 1])) copy[--last] = 0;
    while (isspace((unsigned char)copy[first])) first++;
    if (!parse_line(&p, copy + first)) return false;
    line += n + (line[n] == '\n');
  }
  if (!p.entry) return true;
  p.line = p.entry->line;
  p.line_start = p.at = "";
  return fail(&p, p.at, "the entry that begins here has no }.");
}
