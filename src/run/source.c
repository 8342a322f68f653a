// Parses enough C++ to find a call and its arguments in a line, and to know when the result is not
// certain.
#include "run/source.h"

#include <ctype.h>

enum { SOURCE_MAX = 8 << 20, CALL_MAX = 4000, LINES_BACK = 8 };

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Replaces comments, strings and characters by blanks; line numbers stay the same.
static void blank_out(char *t) {
  for (char *p = t; *p;) {
    char *end = NULL;
    if (p[0] == '/' && p[1] == '/') end = p + strcspn(p, "\n");
    else if (p[0] == '/' && p[1] == '*') {
      end = strstr(p + 2, "*/");
      end = end ? end + 2 : p + strlen(p);
    } else if (*p == '"' || (*p == '\'' && !(p > t && is_word(p[-1])))) {  // 1'000 is a number
      for (end = p + 1; *end && *end != *p && *end != '\n'; end++) end += *end == '\\' && end[1];
      end += *end == *p;
    }
    if (!end) {
      p++;
      continue;
    }
    for (; p < end; p++)
      if (*p != '\n') *p = ' ';
  }
}

bool source_read(Source *s, const char *path) {
  Str text = {0};
  *s = (Source){0};
  if (!file_read(path, &text, NULL) || !text.len || text.len > SOURCE_MAX ||
      strlen(text.data) != text.len) {
    str_free(&text);
    return false;
  }
  s->text = text.data;
  blank_out(s->text);
  VEC(uint32_t) lines = {0};
  vec_push(&lines, 0);
  for (char *p = s->text; (p = strchr(p, '\n')); p++) vec_push(&lines, (uint32_t)(p + 1 - s->text));
  s->lines = lines.data;
  s->nlines = lines.len;
  return true;
}

void source_free(Source *s) {
  free(s->text);
  free(s->lines);
  *s = (Source){0};
}

// The bracket that closes the one at p; NULL: not within reach.
static const char *matching(const char *p, char open, char close) {
  int depth = 0;
  for (const char *end = p + CALL_MAX; *p && p < end; p++) {
    depth += *p == open ? 1 : *p == close ? -1 : 0;
    if (!depth) return p;
    if (*p == ';' || (open == '<' && strchr("(){}", *p))) return NULL;
  }
  return NULL;
}

static const char *skip_blanks(const char *p) { return p + strspn(p, " \t\r\n"); }

uint32_t source_calls(const Source *s, uint32_t line, SourceIsWanted *wanted, void *user,
                      SourceCall *out, uint32_t most) {
  if (!line || line > s->nlines) return 0;
  const char *first = s->text + s->lines[line > LINES_BACK ? line - LINES_BACK - 1 : 0],
             *start = s->text + s->lines[line - 1];
  const char *end = start + strcspn(start, "\n");
  uint32_t found = 0;
  for (const char *p = first; p < end; p++) {
    if (!is_word(*p) || (p > s->text && is_word(p[-1]))) continue;
    size_t n = 1;
    while (is_word(p[n])) n++;
    const char *open = skip_blanks(p + n), *close;
    if (*open == '<' && (close = matching(open, '<', '>'))) open = skip_blanks(close + 1);
    if (*open == '(' && wanted(p, n, user) && (close = matching(open, '(', ')')) &&
        close >= start) {
      if (found < most) out[found] = (SourceCall){p, open, close};
      found++;
    }
    p += n - 1;
  }
  return found;
}

bool source_call(const Source *s, uint32_t line, SourceIsWanted *wanted, void *user,
                 SourceCall *out) {
  return source_calls(s, line, wanted, user, out, 1) == 1;
}

// A name, or several with . -> :: and [] between them.
static bool is_path(const char *p) {
  for (;;) {
    if (!isalpha((unsigned char)*p) && *p != '_') return false;
    while (is_word(*p)) p++;
    while (*p == '[') {
      p += strcspn(p, "]");
      if (!*p++) return false;
    }
    if (!*p) return true;
    if (*p == '.') p++;
    else if ((p[0] == '-' && p[1] == '>') || (p[0] == ':' && p[1] == ':')) p += 2;
    else return false;
  }
}

ArgumentKind source_argument(const char *from, const char *to, char *out, size_t size) {
  size_t n = 0;
  for (; from < to && n + 1 < size; from++)
    if (!isspace((unsigned char)*from)) out[n++] = *from;
  out[n] = 0;
  bool address = false;
  for (;;) {
    n = strlen(out);
    const char *close = out[0] == '(' ? matching(out, '(', ')') : NULL;
    char *cast = strstr(out, "_cast<");
    if (close && close == out + n - 1) {  // (x)
      out[n - 1] = 0;
      memmove(out, out + 1, n - 1);
    } else if (close && close[-1] == '*') {  // (void **)x
      memmove(out, close + 1, strlen(close + 1) + 1);
    } else if (cast && (cast == out + strlen("reinterpret") || cast == out + strlen("static")) &&
               (close = matching(cast + 5, '<', '>')) && close[1] == '(') {
      memmove(out, close + 1, strlen(close + 1) + 1);
    } else if (out[0] == '&' && !address) {
      memmove(out, out + 1, n);
      address = true;
    } else break;
  }
  if (!strncmp(out, "this->", 6)) memmove(out, out + 6, strlen(out + 6) + 1);
  return !is_path(out) ? ARGUMENT_OTHER : address ? ARGUMENT_ADDRESS : ARGUMENT_PLAIN;
}

const char *source_argument_end(const char *from, const char *close) {
  int depth = 0;
  for (; from < close; from++) {
    depth += strchr("([{", *from) ? 1 : strchr(")]}", *from) ? -1 : 0;
    if (*from == ',' && !depth) return from;
  }
  return close;
}

static const char *back_over(const Source *s, const char *p, const char *set) {
  while (p > s->text && strchr(set, p[-1])) p--;
  return p;
}

bool source_assigned(const Source *s, const SourceCall *c, char *out, size_t size) {
  const char *p = c->name;
  while (p > s->text && (is_word(p[-1]) || p[-1] == ':')) p--;  // ns::call
  p = back_over(s, p, " \t\r\n");
  if (p > s->text && p[-1] == ')') {  // (float *)call
    while (p > s->text && p[-1] != '(' && p[-1] != ';') p--;
    p = back_over(s, p - 1, " \t\r\n");
  }
  if (p == s->text || p[-1] != '=' || p - 1 == s->text || strchr("=!<>+-*/%&|^", p[-2]))
    return false;
  const char *end = back_over(s, p - 1, " \t\r\n"), *from = end;
  while (from > s->text && (is_word(from[-1]) || strchr(".>-:[]", from[-1]))) from--;
  return from < end && source_argument(from, end, out, size) == ARGUMENT_PLAIN;
}

bool source_is_returned(const Source *s, const char *from, const char *name) {
  for (const char *p = from, *end = from + CALL_MAX; *p && p < end; p++) {
    if (p[0] == '\n' && p[1] == '}') return false;  // the function ends
    if (strncmp(p, "return", 6) || is_word(p[6]) || is_word(p[-1])) continue;
    const char *stop = p + strcspn(p, ";");
    char value[256];
    return *stop && source_argument(p + 6, stop, value, sizeof value) == ARGUMENT_PLAIN &&
           !strcmp(value, name);
  }
  return false;
}

// --- the parameters of a function ---

// The end of a parameter: a comma outside of all brackets, or `close`.
static const char *parameter_end(const char *p, const char *close) {
  int depth = 0;
  for (; p < close; p++) {
    depth += strchr("([{<", *p) ? 1 : strchr(")]}>", *p) ? -1 : 0;
    if (*p == ',' && !depth) return p;
  }
  return close;
}

// "const float *__restrict__ a = nullptr": a. Words in [] are not names.
static bool declared(const char *from, const char *to, bool only_pointer, char *out, size_t size) {
  bool pointer = !only_pointer;
  int words = 0, depth = 0;
  const char *name = NULL;
  size_t n = 0;
  for (const char *p = from; p < to && *p != '='; p++) {
    pointer |= *p == '*' || *p == '[';
    depth += strchr("[<", *p) ? 1 : strchr("]>", *p) ? -1 : 0;
    if (depth || !is_word(*p) || (p > from && is_word(p[-1]))) continue;
    for (n = 1; p + n < to && is_word(p[n]);) n++;
    name = p;
    words++;
  }
  if (!only_pointer && words < 2) return false;  // a type alone
  if (!pointer || !name || n >= size || isdigit((unsigned char)*name)) return false;
  static const char *const types[] = {"const", "restrict", "__restrict__", "__restrict", "int",
                                      "float", "double",   "void",         "char",       "unsigned",
                                      "long",  "short",    "bool",         "signed"};
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (strlen(types[i]) == n && !strncmp(name, types[i], n)) return false;  // it has no name
  snprintf(out, size, "%.*s", (int)n, name);
  return true;
}

// The one definition of a function of this name.
static bool find_definition(const Source *s, const char *function, SourceCall *out) {
  size_t n = strlen(function);
  unsigned found = 0;
  for (const char *p = s->text; (p = strstr(p, function)); p += n) {
    const char *open = skip_blanks(p + n), *close;
    if ((p > s->text && is_word(p[-1])) || is_word(p[n]) || *open != '(' ||
        !(close = matching(open, '(', ')')) || *skip_blanks(close + 1) != '{')
      continue;
    *out = (SourceCall){p, open, close};
    found++;
  }
  return found == 1;
}

bool source_body(const Source *s, const char *function, const char **open, const char **close) {
  SourceCall definition;
  if (!find_definition(s, function, &definition)) return false;
  int depth = 0;
  *open = skip_blanks(definition.close + 1);
  for (const char *p = *open; *p; p++) {
    depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
    if (depth) continue;
    *close = p;
    return true;
  }
  return false;
}

bool source_parameter(const Source *s, const char *function, uint32_t index, bool pointer,
                      char *out, size_t size) {
  SourceCall definition;
  if (!find_definition(s, function, &definition)) return false;
  for (const char *p = definition.open + 1; p < definition.close; index--) {
    const char *end = parameter_end(p, definition.close);
    if (!index) return declared(p, end, pointer, out, size);
    p = end + 1;
  }
  return false;
}
