#include "view/internal.h"

// The list of parameters: what is between the last ( at the outermost level and its ). (anonymous
// namespace) comes before it.
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

static bool cut(char *text, const char *word) {  // at the end
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
  // a char is often just bytes
  return n > 0 && out[n - 1] != '*' && strcmp(out, "void") != 0 && strcmp(out, "char") != 0;
}

void view_instruction_type(const char *text, char *type, size_t size, unsigned *vector) {
  *vector = 1;
  type[0] = 0;
  if (!text) return;
  if (*text == '@') {
    text += strcspn(text, " ");
    text += strspn(text, " ");
  }
  size_t n = strcspn(text, " \t;");
  for (const char *p = text; p < text + n;) {
    size_t word = strcspn(p, ". \t;");
    if (word == 2 && *p == 'v' && strchr("248", p[1])) *vector = (unsigned)(p[1] - '0');
    if (word >= 2 && word <= 5 && (strchr("busf", *p) || strncmp(p, "bf", 2) == 0) &&
        strcspn(p, "0123456789") <= 2 && strcspn(p, "0123456789") < word)
      snprintf(type, size, "%.*s", (int)word, p);
    p += word + 1;
  }
}

// What instructions do with the parameters of kernels: by kernel << 16 | parameter.
static void read_instruction_types(ViewDesk *d, U64Map *out) {
  ViewRows r = view_rows(
      d,
      "SELECT k.id, s.parameter, s.text FROM site s JOIN kernel k ON k.name = s.function AND "
      "k.process = s.process "
      "WHERE s.parameter BETWEEN 1 AND 1000 AND s.classes & 7 GROUP BY k.id, s.parameter",
      "");
  while (view_next(&r)) {
    char type[16];
    unsigned vector;
    view_instruction_type(view_column_text(&r, 2), type, sizeof type, &vector);
    uint64_t key = view_column(&r, 0) << 16 | view_column(&r, 1);
    if (!type[0] || u64map_get(out, key)) continue;
    Str s = {0};
    str_add(&s, "{");
    json_text(&s, "ptx", type);
    json_number(&s, "vector", vector);
    u64map_put(out, key, mem_strdup(s.data + 1));
    str_free(&s);
  }
}

static void read_types(ViewDesk *d) {
  // of very long runs: what is given later is known once it has been looked at
  enum { ROWS = 400000 };
  U64Map instructions = {0};
  read_instruction_types(d, &instructions);
  ViewRows r = view_rows(
      d,
      "SELECT p.allocation, p.number, l.kernel, coalesce(k.readable, k.name), p.name FROM "
      "(SELECT allocation, number, name, min(launch) AS launch FROM parameter WHERE rowid <= ? AND "
      "allocation > 0 GROUP BY allocation, number) p "
      "JOIN launch l ON l.id = p.launch JOIN kernel k ON k.id = l.kernel WHERE p.number < 1000 "
      "ORDER BY p.launch, p.number",
      "i", (int64_t)ROWS);
  while (view_next(&r)) {
    uint64_t allocation = view_column(&r, 0), number = view_column(&r, 1);
    const char *instruction = u64map_get(&instructions, view_column(&r, 2) << 16 | (number + 1));
    char type[128];
    bool named = view_parameter_type(view_column_text(&r, 3), (unsigned)number, type, sizeof type);
    const char *given = view_column_text(&r, 4);
    if ((!named && !instruction && !given) || u64map_get(&d->types, allocation)) continue;
    Str s = {0};
    str_add(&s, "{");
    json_text(&s, "given", given);
    if (named) json_text(&s, "type", type);
    if (instruction) str_printf(&s, "%s%s", s.len > 1 ? "," : "", instruction);
    u64map_put(&d->types, allocation, mem_strdup(s.data + 1));
    str_free(&s);
  }
  u64map_free_all(&instructions);
}

const char *view_buffer_type(ViewDesk *d, uint32_t allocation) {
  if (!d->types_read) {
    d->types_read = true;
    read_types(d);
  }
  return u64map_get(&d->types, allocation);
}
