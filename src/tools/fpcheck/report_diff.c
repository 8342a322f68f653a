// warpgrind diff --fp: floating-point exceptions that only one of two runs of fpcheck has, by
// source line; for example with and without --use_fast_math.
#include "report/report.h"
#include "tools/fpcheck/report.h"

// --- just enough JSON: a walk over one text ---
typedef struct Json {
  const char *at, *end;
  bool bad;
} Json;

static void skip_space(Json *j) {
  while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
    j->at++;
}
static bool take(Json *j, char c) {
  skip_space(j);
  if (j->at >= j->end || *j->at != c) return false;
  j->at++;
  return true;
}
// Keeps escapes as they are: both files come from the same writer.
static void read_string(Json *j, Str *out) {
  out->len = 0;
  str_add(out, "");
  if (!take(j, '"')) {
    j->bad = true;
    return;
  }
  const char *start = j->at;
  while (j->at < j->end && *j->at != '"') j->at += *j->at == '\\' && j->at + 1 < j->end ? 2 : 1;
  if (j->at >= j->end) j->bad = true;
  else str_addn(out, start, (size_t)(j->at++ - start));
}
static void skip_value(Json *j, unsigned depth) {
  Str text = {0};
  skip_space(j);
  if (depth > 64 || j->at >= j->end) j->bad = true;
  else if (*j->at == '"') read_string(j, &text);
  else if (*j->at == '{' || *j->at == '[') {
    char close = *j->at++ == '{' ? '}' : ']';
    while (!j->bad && !take(j, close)) {
      if (close == '}') {
        read_string(j, &text);
        if (!take(j, ':')) j->bad = true;
      }
      if (!j->bad) skip_value(j, depth + 1);
      take(j, ',');
    }
  } else {
    const char *start = j->at;
    while (j->at < j->end && !strchr(",]} \n\t\r", *j->at)) j->at++;
    if (j->at == start) j->bad = true;
  }
  str_free(&text);
}

// --- places ---
typedef struct Place {
  char *kind, *format, *file, *kernel;
  unsigned long long line, count;
  bool matched;
} Place;
typedef VEC(Place) Places;
static const char *const kinds[] = {"fp-nan", "fp-inf", "fp-div0", "fp-subnormal"};

static bool is_exception(const Place *p) {
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
    if (p->kind && !strcmp(p->kind, kinds[i])) return true;
  return false;
}
static void drop(Place *p) {
  free(p->kind);
  free(p->format);
  free(p->file);
  free(p->kernel);
}

// Exceptions inside functions of CUDA's and the compiler's headers belong to the calling line.
static bool is_header(const char *file) { return file && strstr(file, "/include/"); }

static void read_callers(Json *j, Place *p) {
  Str key = {0}, file = {0};
  if (!take(j, '[')) j->bad = true;
  while (!j->bad && !take(j, ']')) {
    unsigned long long line = 0;
    file.len = 0;
    if (!take(j, '{')) j->bad = true;
    while (!j->bad && !take(j, '}')) {
      read_string(j, &key);
      if (!take(j, ':')) j->bad = true;
      if (j->bad) break;
      skip_space(j);
      if (!strcmp(key.data, "file")) read_string(j, &file);
      else {
        if (!strcmp(key.data, "line") && j->at < j->end) line = strtoull(j->at, NULL, 10);
        skip_value(j, 0);
      }
      take(j, ',');
    }
    if (is_header(p->file) && file.len) {
      free(p->file);
      p->file = mem_strdup(file.data);
      p->line = line;
    }
    take(j, ',');
  }
  str_free(&key);
  str_free(&file);
}

static void read_finding(Json *j, Places *out) {
  Place p = {0};
  Str key = {0}, text = {0};
  if (!take(j, '{')) j->bad = true;
  while (!j->bad && !take(j, '}')) {
    read_string(j, &key);
    if (!take(j, ':')) j->bad = true;
    if (j->bad) break;
    char **field = !strcmp(key.data, "kind")     ? &p.kind
                   : !strcmp(key.data, "format") ? &p.format
                   : !strcmp(key.data, "file")   ? &p.file
                   : !strcmp(key.data, "kernel_readable") ||
                           (!strcmp(key.data, "kernel") && !p.kernel)
                       ? &p.kernel
                       : NULL;
    unsigned long long *number = !strcmp(key.data, "line") || !strcmp(key.data, "ptx_line")
                                     ? &p.line
                                 : !strcmp(key.data, "count") ? &p.count
                                                              : NULL;
    skip_space(j);
    if (field) {
      read_string(j, &text);
      free(*field);
      *field = mem_strdup(text.data);
    } else if (!strcmp(key.data, "inlined_at")) {
      read_callers(j, &p);
    } else {
      if (number && j->at < j->end) *number = strtoull(j->at, NULL, 10);
      skip_value(j, 0);
    }
    take(j, ',');
  }
  str_free(&key);
  str_free(&text);
  if (is_exception(&p) && !j->bad) vec_push(out, p);
  else drop(&p);
}

// Reads a report, or makes one from a run file. Reads a pipe once.
static bool read_json(const char *path, Str *text, Error *err) {
  static const char magic[] = "SQLite format 3";  // 16 bytes
  if (!file_read(path, text, err)) return false;
  if (text->len < sizeof magic || memcmp(text->data, magic, sizeof magic) != 0) return true;
  Run run = {0};
  text->len = 0;
  if (!run_load(path, &run, err)) return false;
  report_json(&run, text);
  return true;
}

static bool read_report(const char *path, Places *out, Error *err) {
  Str text = {0}, key = {0};
  if (!read_json(path, &text, err)) return false;
  Json j = {text.data, text.data + text.len, false};
  if (!take(&j, '{')) j.bad = true;
  bool found = false;
  while (!j.bad && !take(&j, '}')) {
    read_string(&j, &key);
    if (!take(&j, ':')) j.bad = true;
    if (j.bad) break;
    if (strcmp(key.data, "findings") != 0) skip_value(&j, 0);
    else {
      found = true;
      if (!take(&j, '[')) j.bad = true;
      while (!j.bad && !take(&j, ']')) {
        read_finding(&j, out);
        take(&j, ',');
      }
    }
    take(&j, ',');
  }
  str_free(&key);
  str_free(&text);
  return (found && !j.bad) ||
         error_set(err, "%s is neither a run file nor a report that --json wrote.", path);
}

// --- comparison ---
static const char *shown(const char *s) { return s ? s : "?"; }
static const char *base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : shown(path);
}
static bool same(const Place *a, const Place *b) {
  return a->line == b->line && !strcmp(a->kind, b->kind) &&
         !strcmp(shown(a->format), shown(b->format)) &&
         !strcmp(base_name(a->file), base_name(b->file)) &&
         !strcmp(shown(a->kernel), shown(b->kernel));
}
static void match(Places *a, Places *b) {
  for (uint32_t i = 0; i < a->len; i++)
    for (uint32_t k = 0; k < b->len; k++)
      if (!b->data[k].matched && same(&a->data[i], &b->data[k])) {
        a->data[i].matched = b->data[k].matched = true;
        break;
      }
}
static void print_table(const char *name, const Places *p) {
  static const char *const formats[] = {"f16", "bf16", "f32", "f64"};
  for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
    unsigned n[4] = {0};
    for (uint32_t i = 0; i < p->len; i++)
      for (size_t k = 0; k < 4; k++)
        n[k] += !strcmp(p->data[i].kind, kinds[k]) && !strcmp(shown(p->data[i].format), formats[f]);
    if (n[0] + n[1] + n[2] + n[3])
      printf("%-24.24s %-5s %6u %6u %6u %6u\n", name, formats[f], n[0], n[1], n[2], n[3]);
  }
}
static unsigned print_only(const char *name, const Places *p) {
  unsigned n = 0;
  for (uint32_t i = 0; i < p->len; i++) {
    const Place *x = &p->data[i];
    if (x->matched) continue;
    n++;
    printf("only in %s: %s %s at %s:%llu, %llu times, kernel %s\n", name, x->kind, shown(x->format),
           base_name(x->file), x->line, x->count, shown(x->kernel));
  }
  return n;
}

int fp_report_diff(const char *path_a, const char *path_b, Error *err) {
  Places a = {0}, b = {0};
  if (!read_report(path_a, &a, err) || !read_report(path_b, &b, err)) return -1;
  match(&a, &b);
  printf("%-24s %-5s %6s %6s %6s %6s\n", "places with exceptions", "", "NaN", "Inf", "Div0", "Sub");
  print_table(base_name(path_a), &a);
  print_table(base_name(path_b), &b);
  unsigned differences = print_only(base_name(path_a), &a) + print_only(base_name(path_b), &b);
  if (!differences) printf("the same places\n");
  for (uint32_t i = 0; i < a.len; i++) drop(&a.data[i]);
  for (uint32_t i = 0; i < b.len; i++) drop(&b.data[i]);
  vec_free(&a);
  vec_free(&b);
  return differences ? 1 : 0;
}
