// Takes the names of template parameters from the source and their values from the demangled name
// of the instance: `__shared__ T s[N]` of `reduce<float, 256>` is `float s[256]`.
#define _GNU_SOURCE
#include "run/template_arguments.h"

#include <ctype.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The next comma or closing > of a list of arguments, outside of brackets; NULL: none
static const char *argument_end(const char *p, const char *end) {
  int depth = 0;
  for (; p < end; p++) {
    if (!depth && (*p == ',' || *p == '>')) return p;
    depth += strchr("<([{", *p) ? 1 : strchr(">)]}", *p) ? -1 : 0;
  }
  return NULL;
}

// `typename T = float`, `unsigned int N`: the last word before the default. false: `…Ts` and others
static bool parameter_name(const char *p, const char *end, char *out, size_t size) {
  const char *equals = memchr(p, '=', (size_t)(end - p));
  if (memmem(p, (size_t)(end - p), "...", 3)) return false;
  if (equals) end = equals;
  while (end > p && isspace((unsigned char)end[-1])) end--;
  const char *from = end;
  while (from > p && is_word(from[-1])) from--;
  if (from == end || from == p || (size_t)(end - from) >= size) return false;
  snprintf(out, size, "%.*s", (int)(end - from), from);
  return true;
}

// `template <` of the definition whose body begins there; NULL: it is no template
static const char *head_of(const Source *s, const char *body) {
  static const char word[] = "template";
  const char *from = body;
  while (from > s->text && !strchr(";}{", from[-1])) from--;
  const char *p = memmem(from, (size_t)(body - from), word, sizeof word - 1);
  if (!p || is_word(p[sizeof word - 1]) || (p > s->text && is_word(p[-1]))) return NULL;
  p += sizeof word - 1;
  p += strspn(p, " \t\r\n");
  return p < body && *p == '<' ? p + 1 : NULL;
}

// `<float, 256>` after the function's name
static const char *instance_of(const char *readable, const char *function) {
  size_t n = strlen(function);
  for (const char *p = readable; n && (p = strstr(p, function)); p++)
    if (p[n] == '<' && (p == readable || !is_word(p[-1]))) return p + n + 1;
  return NULL;
}

void template_arguments(const Source *s, const char *function, const char *readable,
                        TemplateArguments *out) {
  const char *open, *close, *value = instance_of(readable, function);
  out->n = 0;
  const char *name = value && source_body(s, function, &open, &close) ? head_of(s, open) : NULL;
  if (!name) return;
  for (const char *last = value + strlen(value); out->n < TEMPLATE_ARGUMENTS; out->n++) {
    const char *name_end = argument_end(name, open), *value_end = argument_end(value, last);
    value += strspn(value, " ");
    if (!name_end || !value_end || value_end - value >= TEMPLATE_VALUE ||
        !parameter_name(name, name_end, out->list[out->n].name, sizeof out->list[0].name))
      break;
    snprintf(out->list[out->n].value, TEMPLATE_VALUE, "%.*s", (int)(value_end - value), value);
    if (*name_end == '>' && *value_end == '>') {
      out->n++;
      return;
    }
    if (*name_end != *value_end) break;
    name = name_end + 1;
    value = value_end + 1;
  }
  out->n = 0;
}

const char *template_value(const TemplateArguments *a, const char *name, size_t n) {
  for (unsigned i = 0; i < a->n; i++)
    if (strlen(a->list[i].name) == n && !strncmp(a->list[i].name, name, n)) return a->list[i].value;
  return NULL;
}

bool template_type(const TemplateArguments *a, char *type, size_t size) {
  Str out = {0};
  for (const char *p = type; *p;) {
    size_t n = 0;
    while (is_word(p[n])) n++;
    const char *value = n ? template_value(a, p, n) : NULL;
    if (value) str_add(&out, value);
    else str_addn(&out, p, MAX(n, (size_t)1));
    p += MAX(n, (size_t)1);
  }
  bool fits = out.len < size;
  if (fits && out.len) snprintf(type, size, "%s", out.data);
  str_free(&out);
  return fits;
}
