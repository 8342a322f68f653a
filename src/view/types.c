#include "view/internal.h"

// The list of parameters: what is between the last ( at the outermost level and its ). (anonymous namespace) comes before it.
static const char *parameter_list(const char *readable) {
  const char *end = strrchr(readable, ')');
  int depth = 0;
  for (const char *p = end; p && p >= readable; p--) {
    depth += *p == ')' ? 1 : *p == '(' ? -1 : 0;
    if (depth == 0) return p + 1;
  }
  return NULL;
}

static const char *next_parameter(const char *p) {
  int depth = 0;
  for (; *p; p++) {
    if (*p == '(' || *p == '<' || *p == '[') depth++;
    else if ((*p == ')' && depth == 0) || (*p == ',' && depth == 0)) return p;
    else if (*p == ')' || *p == '>' || *p == ']') depth--;
  }
  return p;
}

static bool cut(char *text, const char *word) {              // at the end
  size_t n = strlen(text), w = strlen(word);
  if (n < w || strcmp(text + n - w, word) != 0) return false;
  text[n - w] = 0;
  while (n - w > 0 && text[n - w - 1] == ' ') text[--n - w] = 0;
  return true;
}

bool view_parameter_type(const char *readable, unsigned index, char *out, size_t size) {
  const char *p = readable ? parameter_list(readable) : NULL;
  if (!p) return false;
  for (unsigned i = 0; i < index; i++) {
    p = next_parameter(p);
    if (*p != ',') return false;
    p++;
  }
  p += strspn(p, " ");
  const char *end = next_parameter(p);
  size_t n = MIN((size_t)(end - p), size - 1);
  memcpy(out, p, n);
  out[n] = 0;
  while (cut(out, "__restrict__") || cut(out, "const") || cut(out, "volatile")) {}
  if (!cut(out, "*")) return false;
  while (cut(out, "const") || cut(out, "volatile")) {}
  if (strncmp(out, "const ", 6) == 0) memmove(out, out + 6, strlen(out + 6) + 1);
  n = strlen(out);
  return n > 0 && out[n - 1] != '*' && strcmp(out, "void") != 0 && strcmp(out, "char") != 0;      // a char is often just bytes
}

void view_instruction_type(const char *text, char *type, size_t size, unsigned *vector) {
  *vector = 1;
  type[0] = 0;
  if (!text) return;
  if (*text == '@') text += strcspn(text, " "), text += strspn(text, " ");
  size_t n = strcspn(text, " \t;");
  for (const char *p = text; p < text + n;) {
    size_t word = strcspn(p, ". \t;");
    if (word == 2 && *p == 'v' && strchr("248", p[1])) *vector = (unsigned)(p[1] - '0');
    if (word >= 2 && word <= 5 && (strchr("busf", *p) || strncmp(p, "bf", 2) == 0) && strcspn(p, "0123456789") <= 2 && strcspn(p, "0123456789") < word)
      snprintf(type, size, "%.*s", (int)word, p);
    p += word + 1;
  }
}
