// Types of elements, and the parameters of kernels with their types.
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

// Keeps the facts about a buffer's elements, as JSON without its braces.
static void put_type(ViewDesk *d, uint64_t allocation, const char *name, uint64_t id,
                     const char *why, const char *dims) {
  Str s = {0};
  if (u64map_get(&d->types, allocation)) return;
  str_add(&s, "{");
  json_text(&s, "type", name);
  if (id) json_number(&s, "type_id", id);
  json_text(&s, "why", why);
  json_text(&s, "dims", dims);
  u64map_put(&d->types, allocation, mem_strdup(s.data + 1));
  str_free(&s);
}

// If all instructions on a parameter have one floating-point type, and none is a vector, that is
// its type; integers and vectors may copy anything. By kernel << 16 | parameter.
static void read_instruction_types(ViewDesk *d, U64Map *out) {
  static char various[] = "";
  ViewRows r = view_rows(
      d,
      "SELECT k.id, s.parameter, s.text FROM site s JOIN kernel k ON k.name = s.function AND "
      "k.process = s.process "
      "WHERE s.parameter BETWEEN 1 AND 1000 AND s.classes & 7",
      "");
  while (view_next(&r)) {
    char type[16];
    unsigned vector;
    view_instruction_type(view_column_text(&r, 2), type, sizeof type, &vector);
    uint64_t key = view_column(&r, 0) << 16 | view_column(&r, 1);
    const char *known = u64map_get(out, key), *name = !strcmp(type, "f32")   ? "float"
                                                      : !strcmp(type, "f64") ? "double"
                                                                             : NULL;
    if (!name || vector > 1 || (known && strcmp(known, name))) name = various;
    u64map_put(out, key, (void *)name);
  }
}

// Reads from the first launch that got a buffer the name of its parameter. If the run file has no
// types (older ones, unfinished runs), also the type that the signature or instructions show.
static void read_given(ViewDesk *d) {
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
    const char *seen = u64map_get(&instructions, view_column(&r, 2) << 16 | (number + 1));
    char type[128];
    if (view_parameter_type(view_column_text(&r, 3), (unsigned)number, type, sizeof type))
      put_type(d, allocation, type, 0, NULL, NULL);
    else if (seen && seen[0]) put_type(d, allocation, seen, 0, "its instructions", NULL);
    const char *given = view_column_text(&r, 4);
    if (given && !u64map_get(&d->given, allocation))
      u64map_put(&d->given, allocation, mem_strdup(given));
  }
  u64map_free(&instructions);
}

// Follows the pointers in a buffer: the buffers they lead to have elements of the pointed-to type.
static void follow_pointers(ViewDesk *d, uint32_t allocation, const char *type) {
  enum { BYTES = 64 << 10 };
  const ViewAllocation *a = view_allocation(d, allocation);
  uint64_t n = a ? MIN(a->size, (uint64_t)BYTES) / 8 * 8 : 0;
  char name[256], why[400];
  Error err = {{0}};
  snprintf(name, sizeof name, "%s", type);
  if (!n || !d->trace || !cut(name, "*") || !strcmp(name, "void")) return;
  uint8_t *value = mem_alloc(n), *known = mem_alloc(n);
  uint64_t id = view_one(d, "SELECT id FROM type WHERE name = ? LIMIT 1", "t", name);
  snprintf(why, sizeof why, "a pointer in %s", a->name ? a->name : "a buffer");
  if (trace_contents(d->trace, &(TraceSlice){a->id, 0, 0, n}, value, known, &err))
    for (uint64_t i = 0; i < n; i += 8) {
      uint64_t pointer;
      memcpy(&pointer, value + i, 8);
      const ViewAllocation *to = known[i] == 1 && known[i + 7] == 1
                                     ? view_allocation_at(d, a->process, pointer, 0)
                                     : NULL;
      if (to) put_type(d, to->id, name, id, why, NULL);
    }
  free(value);
  free(known);
}

static void read_types(ViewDesk *d) {
  enum { POINTERS = 256 };
  ViewRows r = view_rows(d, "SELECT allocation, name, type, why, dims FROM buffer_type", "");
  while (view_next(&r)) {
    const char *name = view_column_text(&r, 1);
    if (name)
      put_type(d, view_column(&r, 0), name, view_column(&r, 2), view_column_text(&r, 3),
               view_column_text(&r, 4));
  }
  struct {
    uint32_t allocation;
    char name[256];
  } *pointers = mem_alloc(sizeof *pointers * POINTERS);
  uint32_t n = 0;
  r = view_rows(d, "SELECT allocation, name FROM buffer_type WHERE name LIKE '%*' LIMIT ?", "i",
                (int64_t)POINTERS);
  while (view_next(&r) && n < POINTERS) {
    pointers[n].allocation = (uint32_t)view_column(&r, 0);
    const char *name = view_column_text(&r, 1);
    snprintf(pointers[n].name, sizeof pointers[n].name, "%s", name ? name : "");
    n++;
  }
  view_rows_end(&r);
  for (uint32_t i = 0; i < n; i++) follow_pointers(d, pointers[i].allocation, pointers[i].name);
  free(pointers);
  read_given(d);
}

const char *view_buffer_type(ViewDesk *d, uint32_t allocation) {
  if (!d->types_read) {
    d->types_read = true;
    read_types(d);
  }
  return u64map_get(&d->types, allocation);
}

const char *view_buffer_given(ViewDesk *d, uint32_t allocation) {
  view_buffer_type(d, allocation);
  return u64map_get(&d->given, allocation);
}

// --- all types and variables ---

static void types_json(ViewDesk *d, Str *s) {
  ViewRows r = view_rows(d,
                         "SELECT t.id, t.name, t.bytes, p.path, p.offset, p.scalar, p.dims, "
                         "p.points_to FROM type t JOIN type_part p ON p.type = t.id ORDER BY t.id, "
                         "p.rowid LIMIT 200000",
                         "");
  uint64_t current = 0;
  json_open(s, "types", '{');
  while (view_next(&r)) {
    uint64_t id = view_column(&r, 0);
    if (id != current) {
      char key[24];
      snprintf(key, sizeof key, "%llu", (unsigned long long)id);
      if (current) str_add(s, "]}");
      json_open(s, key, '{');
      json_text(s, "name", view_column_text(&r, 1));
      json_number(s, "bytes", view_column(&r, 2));
      json_open(s, "parts", '[');
      current = id;
    }
    json_open(s, NULL, '[');
    json_string(s, view_column_text(&r, 3) ? view_column_text(&r, 3) : "");
    str_printf(s, ",%llu,", (unsigned long long)view_column(&r, 4));
    for (int i = 5; i < 8; i++) {
      json_string(s, view_column_text(&r, i) ? view_column_text(&r, i) : "");
      if (i < 7) str_addc(s, ',');
    }
    str_addc(s, ']');
  }
  str_add(s, current ? "]}}" : "}");
}

void view_answer_types(ViewDesk *d, ViewRequest *q, ViewAnswer *a) {
  Str *s = &a->body;
  str_add(s, "{");
  types_json(d, s);
  json_open(s, "variables", '[');
  ViewRows r = view_rows(d,
                         "SELECT kernel, space, object, name, address, bytes, type, dims, why, "
                         "address IS NULL FROM kernel_variable LIMIT 20000",
                         "");
  while (view_next(&r)) {
    json_open(s, NULL, '{');
    json_number(s, "kernel", view_column(&r, 0));
    json_text(s, "space", view_column_text(&r, 1));
    json_text(s, "object", view_column_text(&r, 2));
    json_text(s, "name", view_column_text(&r, 3));
    if (!view_column(&r, 9)) json_number(s, "address", view_column(&r, 4));
    json_number(s, "bytes", view_column(&r, 5));
    json_number(s, "type", view_column(&r, 6));
    json_text(s, "dims", view_column_text(&r, 7));
    json_text(s, "why", view_column_text(&r, 8));
    str_add(s, "}");
  }
  str_add(s, "]}");
}
