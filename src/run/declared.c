#define _GNU_SOURCE
#include "run/declared.h"

#include <ctype.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip(const char *p, const char *end) {
  while (p < end && isspace((unsigned char)*p)) p++;
  return p;
}

static size_t word_length(const char *p, const char *end) {
  size_t n = 0;
  while (p + n < end && is_word(p[n])) n++;
  return n;
}

static bool is(const char *p, size_t n, const char *word) {
  return strlen(word) == n && !strncmp(p, word, n);
}

static const char *closing(const char *p, const char *end, char open, char close) {
  int depth = 0;
  for (; p < end; p++) {
    depth += *p == open ? 1 : *p == close ? -1 : 0;
    if (!depth) return p;
  }
  return NULL;
}

// The source, and what the template parameters of the function stand for.
typedef struct Scope {
  const Source *source;
  TemplateArguments arguments;
} Scope;

// --- numbers of dimensions ---

static bool constant_named(const Scope *s, const char *name, size_t n, unsigned depth,
                           uint64_t *out);

// "256", "16 + 1", "TILE": products and sums of numbers and of constants of the file.
static bool number(const Scope *s, const char *p, const char *end, unsigned depth, uint64_t *out) {
  uint64_t sum = 0, product = 1;
  bool wants = true;
  for (p = skip(p, end); p < end; p = skip(p, end)) {
    uint64_t v = 0;
    size_t n = word_length(p, end);
    if (wants && n && isdigit((unsigned char)*p)) v = strtoull(p, NULL, 0);
    else if (wants && n && depth < 8) {
      if (!constant_named(s, p, n, depth + 1, &v)) return false;
    } else if (!wants && (*p == '+' || *p == '*')) {
      if (*p == '+') {
        sum += product;
        product = 1;
      }
      p++;
      wants = true;
      continue;
    } else return false;
    product *= v;
    p += n;
    wants = false;
  }
  *out = sum + product;
  return !wants && *out && *out < 1ull << 40;
}

// `#define NAME 16`, `const int NAME = 16;`: the only one of the file.
static bool constant_named(const Scope *s, const char *name, size_t n, unsigned depth,
                           uint64_t *out) {
  unsigned found = 0;
  const char *last = s->source->text + strlen(s->source->text),
             *value_of = template_value(&s->arguments, name, n);
  if (value_of) return number(s, value_of, value_of + strspn(value_of, "0123456789"), depth, out);
  for (const char *p = s->source->text; (p = memmem(p, (size_t)(last - p), name, n)); p++) {
    if (is_word(p[n]) || (p > s->source->text && is_word(p[-1]))) continue;
    const char *line = p;
    while (line > s->source->text && line[-1] != '\n') line--;
    const char *end = p + strcspn(p, "\n"), *hash = skip(line, p), *value = skip(p + n, end);
    bool defines = *hash == '#' && memmem(hash, (size_t)(p - hash), "define", 6);
    if (!defines && (*value != '=' || value[1] == '=')) continue;
    if (!defines) {
      value++;
      end = value + strcspn(value, ";,}");
    }
    uint64_t v = 0;
    if (!number(s, value, end, depth, &v)) return false;
    if (found && v != *out) return false;
    *out = v;
    found++;
  }
  return found > 0;
}

// --- declarations ---

// The declarators that follow a type: "a[4], b[8][3]". Finds the one with this name; name NULL:
// any.
static bool declarator(const Scope *s, const char *p, const char *end, const char *name,
                       DeclaredArray *out) {
  while (p < end) {
    p = skip(p, end);
    size_t n = word_length(p, end);
    if (!n || n >= sizeof out->name) return false;
    bool fits = !name || is(p, n, name);
    snprintf(out->name, sizeof out->name, "%.*s", (int)n, p);
    out->ndims = 0;
    for (p = skip(p + n, end); p < end && *p == '['; p = skip(p, end)) {
      const char *close = closing(p, end, '[', ']');
      if (!close || out->ndims == DECLARED_DIMS) return false;
      out->dims[out->ndims] = 0;
      if (!number(s, p + 1, close, 0, &out->dims[out->ndims])) out->dims[out->ndims] = 0;
      out->ndims++;
      p = close + 1;
    }
    if (fits) return true;
    p += strcspn(p, ",;");
    if (p >= end || *p != ',') return false;
    p++;
  }
  return false;
}

// The words of a type, from p on; returns where the declarator begins.
static const char *type_words(const char *p, const char *end, DeclaredArray *out) {
  static const char *const left_out[] = {"const",      "volatile",  "static",   "extern",
                                         "__shared__", "constexpr", "register", "struct",
                                         "typename",   "mutable"};
  size_t len = 0;
  out->type[0] = 0;
  for (p = skip(p, end); p < end; p = skip(p, end)) {
    size_t n = word_length(p, end);
    if (!n) return NULL;
    bool out_of_type = false;
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++) out_of_type |= is(p, n, left_out[i]);
    bool aligned = is(p, n, "alignas") || is(p, n, "__align__");
    const char *next = skip(p + n, end);
    if (aligned && next < end && *next == '(') {
      next = closing(next, end, '(', ')');
      if (!next) return NULL;
      p = next + 1;
      continue;
    }
    if (out_of_type) {
      p = next;
      continue;
    }
    // a name before [ , ; = or { is the declared name
    if (len && next < end && strchr("[,;={", *next)) return p;
    if (len + n + 4 >= DECLARED_TYPE) return NULL;
    bool joined = len && out->type[len - 1] == ':';
    len += (size_t)snprintf(out->type + len, DECLARED_TYPE - len, "%s%.*s",
                            len && !joined ? " " : "", (int)n, p);
    p = next;
    if (p + 1 < end && p[0] == ':' && p[1] == ':') {
      len += (size_t)snprintf(out->type + len, DECLARED_TYPE - len, "::");
      p += 2;
    } else if (p < end && *p == '<') {
      const char *close = closing(p, end, '<', '>');
      size_t args = close ? (size_t)(close + 1 - p) : 0;
      if (!close || len + args + 1 >= DECLARED_TYPE) return NULL;
      memcpy(out->type + len, p, args);
      out->type[len += args] = 0;
      p = close + 1;
    } else if (p < end && *p == '*') return NULL;  // arrays of pointers: left alone
  }
  return NULL;
}

// unsigned -> unsigned int, and the like, as signatures have them.
static void usual_name(const Scope *s, DeclaredArray *a) {
  static const struct {
    const char *written, *usual;
  } names[] = {{"unsigned", "unsigned int"},    {"uint", "unsigned int"},
               {"uint32_t", "unsigned int"},    {"int32_t", "int"},
               {"uint8_t", "unsigned char"},    {"int8_t", "signed char"},
               {"uint16_t", "unsigned short"},  {"int16_t", "short"},
               {"uint64_t", "unsigned long"},   {"int64_t", "long"},
               {"size_t", "unsigned long"},     {"half", "__half"},
               {"nv_bfloat16", "__nv_bfloat16"}};
  if (!template_type(&s->arguments, a->type, sizeof a->type)) a->type[0] = 0;
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (!strcmp(a->type, names[i].written)) {
      snprintf(a->type, sizeof a->type, "%s", names[i].usual);
      return;
    }
}

static unsigned shared_between(const Scope *s, const char *from, const char *to, const char *name,
                               DeclaredArray *out) {
  static const char word[] = "__shared__";
  unsigned found = 0;
  for (const char *p = from; p < to && (p = strstr(p, word)) && p < to; p++) {
    const char *end = p + strcspn(p, ";{");
    DeclaredArray a;
    const char *declares = type_words(p, MIN(end + 1, to), &a);
    if (!declares || !declarator(s, declares, end, name, &a)) continue;
    usual_name(s, &a);
    *out = a;
    found++;
  }
  return found;
}

static Scope scope_of(const DeclaringFunction *f) {
  Scope s = {.source = f->source};
  template_arguments(f->source, f->name, f->readable, &s.arguments);
  return s;
}

bool declared_shared(const DeclaringFunction *f, const char *name, DeclaredArray *out) {
  const char *open, *close, *text = f->source->text;
  Scope s = scope_of(f);
  if (source_body(f->source, f->name, &open, &close)) {
    unsigned n = shared_between(&s, open, close, name, out);
    if (n) return n == 1;
  }
  s.arguments.n = 0;  // they are those of another function
  return shared_between(&s, text, text + strlen(text), name, out) == 1;
}

static unsigned locals_between(const Scope *s, const char *open, const char *close,
                               DeclaredArray *out) {
  unsigned found = 0;
  for (const char *p = open + 1; p < close;) {
    p = skip(p, close);
    const char *end = p + strcspn(p, ";{}");
    DeclaredArray a;
    size_t n = word_length(p, end);
    bool other = is(p, n, "return") || is(p, n, "extern") || is(p, n, "static") ||
                 is(p, n, "else") || is(p, n, "using") || is(p, n, "case") || *p == '#' ||
                 memmem(p, (size_t)(end - p), "__shared__", 10);
    const char *at = other || !n ? NULL : type_words(p, end + 1, &a);
    for (; at && at < end; at += strcspn(at, ",;"), at += at < end) {
      if (!declarator(s, at, end, NULL, &a)) break;
      if (!a.ndims) continue;
      usual_name(s, &a);
      *out = a;
      found++;
    }
    p = MIN(end, close - 1) + 1;
  }
  return found;
}

bool declared_local(const DeclaringFunction *f, DeclaredArray *out) {
  const char *open, *close;
  if (!source_body(f->source, f->name, &open, &close)) return false;
  Scope s = scope_of(f);
  return locals_between(&s, open, close, out) == 1;
}
