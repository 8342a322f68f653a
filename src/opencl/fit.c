// Changes clang's PTX for OpenCL so that the CUDA driver accepts it.
//   - A hidden last parameter carries values that CUDA has no register for: offset and size of the
//     NDRange (OclLaunch). Only a kernel itself can read its parameters, so clang inlines all
//     functions, and the unused ones are removed here.
//   - A __local argument is an offset in the dynamic shared memory, to which its start is added.
//     It is declared as a number: the CUDA driver loads no module with `.ptr .shared` parameters.
//   - __constant is .global: CUDA's constant bank is not where buffers are.
//   - printf is CUDA's vprintf.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <ctype.h>

#define LAUNCH "__wgcl_launch"
#define LOCAL "__wgcl_local"
#define EXTEND "cvt.s64.s32"
#define LOW_HALF "%%wgcl_low"  // in a format of printf

typedef enum { ITEM_TEXT, ITEM_VARIABLE, ITEM_FUNCTION, ITEM_KERNEL, ITEM_DROPPED } ItemKind;
typedef struct Item {  // at the top level
  ItemKind kind;
  const char *text;
  size_t len;
  const char *body;  // of a function; NULL: only declared
  char *name;
  bool used;
  bool is_forward;  // a function that is only declared here, and has a body further down
} Item;
typedef VEC(Item) Items;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool has_word(const char *text, size_t n, const char *word) {
  size_t len = strlen(word);
  for (const char *p = text; (p = memmem(p, n - (size_t)(p - text), word, len)); p++)
    if ((p == text || !is_word(p[-1])) && !is_word(p[len])) return true;
  return false;
}

static const char *line_end(const char *p) {
  p += strcspn(p, "\n");
  return *p ? p + 1 : p;
}

// The end of an item: a `;` or, of a function with a body, the brace that closes it.
static const char *item_end(const char *p, const char **body) {
  bool function = false;
  int depth = 0;
  const char *start = p;
  for (; *p; p++) {
    if (p[0] == '/' && p[1] == '/') p = line_end(p) - 1;
    else if (*p == '"') p += 1 + strcspn(p + 1, "\"");
    else if (*p == '{' && depth++ == 0) {
      function = memmem(start, (size_t)(p - start), ".func", 5) ||
                 memmem(start, (size_t)(p - start), ".entry", 6) ||
                 memmem(start, (size_t)(p - start), ".section", 8);
      if (function) *body = p;
    } else if (*p == '}' && --depth == 0 && function) return p + 1;
    else if (*p == ';' && depth == 0) return p + 1;
  }
  return p;
}

// Its name: the word before the parentheses of its parameters, or before [ or =.
static char *item_name(const char *p, const char *end, bool function, Arena *a) {
  const char *first = p;
  if (function) {
    first = memmem(p, (size_t)(end - p), ".func", 5);
    first = first ? first + 5 : (const char *)memmem(p, (size_t)(end - p), ".entry", 6) + 6;
    while (isspace((unsigned char)*first)) first++;
    if (*first == '(') first = strchr(first, ')') + 1;  // what it returns
    while (isspace((unsigned char)*first)) first++;
    const char *last = first;
    while (is_word(*last)) last++;
    return arena_strndup(a, first, (size_t)(last - first));
  }
  size_t n = strcspn(p, "[=;");
  while (n && !is_word(p[n - 1])) n--;
  size_t begin = n;
  while (begin && is_word(p[begin - 1])) begin--;
  return arena_strndup(a, p + begin, n - begin);
}

static void split(const char *ptx, Arena *a, Items *out) {
  for (const char *p = ptx; *p;) {
    if (isspace((unsigned char)*p)) {
      p++;
      continue;
    }
    Item i = {.text = p};
    bool line = starts(p, "//") || starts(p, ".version") || starts(p, ".target") ||
                starts(p, ".address_size") || starts(p, ".file");
    const char *end = line ? line_end(p) : item_end(p, &i.body);
    i.len = (size_t)(end - p);
    bool kernel = !line && memmem(p, MIN(i.len, 40), ".entry", 6);
    bool function = !line && !kernel && memmem(p, MIN(i.len, 40), ".func", 5);
    if (starts(p, "//") || starts(p, ".section")) i.kind = ITEM_DROPPED;
    else if (line) i.kind = ITEM_TEXT;
    else i.kind = kernel ? ITEM_KERNEL : function ? ITEM_FUNCTION : ITEM_VARIABLE;
    if (!line && i.kind != ITEM_DROPPED) i.name = item_name(p, end, kernel || function, a);
    vec_push(out, i);
    p = end;
  }
}

static void mark_forward(Items *items) {
  for (uint32_t i = 0; i < items->len; i++) {
    Item *f = &items->data[i];
    if (f->kind != ITEM_FUNCTION || f->body) continue;
    for (uint32_t k = i + 1; k < items->len; k++) {
      const Item *g = &items->data[k];
      if (g->kind == ITEM_FUNCTION && g->body && !strcmp(f->name, g->name)) f->is_forward = true;
    }
  }
}

// Marks the kernels and everything that they use.
static void mark_used(Items *items) {
  for (uint32_t i = 0; i < items->len; i++)
    items->data[i].used = items->data[i].kind == ITEM_KERNEL;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < items->len; i++) {
      Item *f = &items->data[i];
      for (uint32_t k = 0; !f->used && f->name && k < items->len; k++) {
        const Item *by = &items->data[k];
        if (!by->used || by == f || !has_word(by->text, by->len, f->name)) continue;
        f->used = more = true;
      }
    }
  }
}

// Replaces names of __constant by those of __global, and printf by vprintf.
static void add_text(Str *out, const char *text, size_t n) {
  static const char *const changes[][2] = {{"ld.const", "ld.global"},
                                           {".ptr .const", ".ptr .global"},
                                           {"cvta.const", "cvta.global"},
                                           {"cvta.to.const", "cvta.to.global"}};
  for (size_t i = 0; i < n;) {
    size_t k = 0, len = 0;
    for (; k < ARRAY_LEN(changes); k++) {
      len = strlen(changes[k][0]);
      if (len <= n - i && !memcmp(text + i, changes[k][0], len)) break;
    }
    if (k < ARRAY_LEN(changes)) {
      str_add(out, changes[k][1]);
      i += len;
      continue;
    }
    bool print = n - i > 6 && !memcmp(text + i, "printf", 6) && (!i || !is_word(text[i - 1])) &&
                 !is_word(text[i + 6]);
    if (print) str_addc(out, 'v');
    str_addc(out, text[i++]);
  }
}

typedef struct Declared {  // a parameter in the head of a kernel
  char name[128];
  size_t bytes;
  bool is_local;
} Declared;
typedef VEC(Declared) DeclaredList;

static size_t type_bytes(const char *text) {
  static const char *const sizes[] = {"8", "16", "32", "64"};
  for (const char *p = text; (p = strchr(p, '.')); p++) {
    if (!strchr("busf", p[1])) continue;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
      if (starts(p + 2, sizes[i]) && !isdigit((unsigned char)p[2 + strlen(sizes[i])]))
        return (size_t)1 << i;
  }
  return 0;
}

static void read_head(const Item *k, DeclaredList *out) {
  for (const char *p = k->text; p < k->body && (p = strstr(p, ".param")) && p < k->body;) {
    Declared d = {0};
    size_t n = strcspn(p, ",)\n");
    char *text = strndup(p, n);
    size_t end = strcspn(text, "[");
    unsigned long count = text[end] == '[' ? strtoul(text + end + 1, NULL, 10) : 1;
    while (end && !is_word(text[end - 1])) end--;
    size_t begin = end;
    while (begin && is_word(text[begin - 1])) begin--;
    snprintf(d.name, sizeof d.name, "%.*s", (int)(end - begin), text + begin);
    text[begin] = 0;
    d.bytes = type_bytes(text + 6) * count;
    d.is_local = strstr(text, ".ptr .shared");
    vec_push(out, d);
    free(text);
    p += n;
  }
}

// `ld.param.u64 %rd3, [k_param_1];` of a __local argument is followed by an addition.
static void add_local_base(Str *out, const char *line, size_t n, const DeclaredList *list) {
  const char *load = memmem(line, n, "ld.param.", 9);
  for (uint32_t i = 0; load && i < list->len; i++) {
    char operand[140];
    snprintf(operand, sizeof operand, "[%s]", list->data[i].name);
    if (!list->data[i].is_local || !memmem(line, n, operand, strlen(operand))) continue;
    const char *reg = memchr(load, '%', n - (size_t)(load - line));
    int len = (int)strcspn(reg, ",");
    str_printf(out,
               "{\n.reg .b64 %%wgcl_base;\nmov.u64 %%wgcl_base, " LOCAL
               ";\nadd.s64 %.*s, %.*s, %%wgcl_base;\n}\n",
               len, reg, len, reg);
  }
}

// The source of `cvt.s64.s32 %rd10, %rd9;`, the low half of a 64-bit register extended: `int i =
// get_global_id(0)` becomes that. *to: its destination. NULL: another line.
static const char *extension(const char *line, const char *end, const char **to) {
  const char *p = line + strspn(line, " \t");
  if (!starts(p, EXTEND)) return NULL;
  *to = memchr(p, '%', (size_t)(end - p));
  const char *from = *to ? memchr(*to + 1, '%', (size_t)(end - *to - 1)) : NULL;
  return from && starts(from, "%rd") ? from : NULL;
}

static uint32_t count_extensions(const char *p, const char *end) {
  uint32_t n = 0;
  const char *to;
  for (; p < end; p = line_end(p)) n += extension(p, line_end(p), &to) != NULL;
  return n;
}

// Extends in two steps, so that the virtual device sees that neighbouring threads use neighbouring
// addresses.
static bool add_extension(Str *out, const char *line, size_t n, uint32_t number) {
  const char *to, *from = extension(line, line + n, &to);
  if (!from) return false;
  str_printf(out, "cvt.u32.u64 " LOW_HALF "%u, %.*s;\n", number, (int)strcspn(from, ";"), from);
  str_printf(out, EXTEND " %.*s, " LOW_HALF "%u;\n", (int)strcspn(to, ","), to, number);
  return true;
}

// The head of a kernel without the words `.ptr .shared .align N`.
static void add_head(Str *out, const char *text, const char *end) {
  static const char words[] = ".ptr .shared .align ";
  for (const char *p; (p = memmem(text, (size_t)(end - text), words, sizeof words - 1));) {
    add_text(out, text, (size_t)(p - text));
    p += sizeof words - 1;
    text = p + strspn(p, "0123456789 ");
  }
  add_text(out, text, (size_t)(end - text));
}

static void add_kernel(Str *out, const Item *k, const DeclaredList *list, bool has_launch) {
  const char *close = k->body;
  while (*close != ')') close--;
  while (isspace((unsigned char)close[-1])) close--;
  if (!starts(k->text, ".visible")) str_add(out, ".visible ");
  add_head(out, k->text, close);
  if (has_launch)
    str_printf(out, "%s\n.param .align 8 .b8 " LAUNCH "[%zu]", list->len ? "," : "",
               sizeof(OclLaunch));
  const char *end = k->text + k->len;
  uint32_t number = 0, extensions = count_extensions(k->body, end);
  add_text(out, close, (size_t)(k->body + 1 - close));
  if (extensions) str_printf(out, "\n.reg .b32 " LOW_HALF "<%u>;", extensions);
  for (const char *p = k->body + 1; p < end;) {
    size_t n = MIN((size_t)(line_end(p) - p), (size_t)(end - p));
    if (add_extension(out, p, n, number)) number++;
    else add_text(out, p, n);
    add_local_base(out, p, n, list);
    p += n;
  }
  str_addc(out, '\n');
}

// libclc (19) reads its table of the bits of pi 16 bytes at a time, and two bytes past its end: the
// table gets two more.
static void add_bits_of_pi(Str *out, const Item *v) {
  const char *size = memmem(v->text, v->len, "[158]", 5);
  size_t head = size ? (size_t)(size - v->text) : v->len;
  str_addn(out, v->text, head);
  if (size) str_add(out, "[160]");
  if (size) str_addn(out, size + 5, v->len - head - 5);
}

static void add_variable(Str *out, const Item *v) {
  if (strstr(v->name, "PIBITS_TBL")) {
    Str wider = {0};
    add_bits_of_pi(&wider, v);
    Item changed = {.text = wider.data, .len = wider.len, .name = ""};
    add_variable(out, &changed);
    str_free(&wider);
    return;
  }
  const char *at = memmem(v->text, v->len, ".const", 6);
  size_t head = at ? (size_t)(at - v->text) : 0;
  bool constant = at && head < strcspn(v->text, "=[");
  str_addn(out, v->text, constant ? head : v->len);
  if (constant) {
    str_add(out, ".global");
    str_addn(out, at + 6, v->len - head - 6);
  }
  str_addc(out, '\n');
}

// "_Z6mad_hiiii" is called mad_hi in the program.
static void readable_name(const char *mangled, char *out, size_t room) {
  unsigned n;
  int used = 0;
  if (sscanf(mangled, "_Z%u%n", &n, &used) == 1 && n < strlen(mangled))
    snprintf(out, room, "%.*s", (int)n, mangled + used);
  else snprintf(out, room, "%s", mangled);
}

// Functions that the CUDA driver provides.
static bool is_provided(const char *name) { return !strcmp(name, "printf"); }

static bool check(const Items *items, Error *err) {
  char name[256];
  for (uint32_t i = 0; i < items->len; i++) {
    const Item *f = &items->data[i];
    if (f->kind != ITEM_FUNCTION || !f->used) continue;
    readable_name(f->name, name, sizeof name);
    if (!f->body && !f->is_forward && !is_provided(f->name))
      return error_set(err,
                       "error: function '%s' is not defined, and is no built-in that this "
                       "compiler's library has",
                       name);
    if (f->body && has_word(f->text, f->len, LAUNCH))
      return error_set(err,
                       "error: function '%s' cannot be inlined, and asks for the id of its "
                       "work-item",
                       name);
  }
  return true;
}

static OclEntry *entry_named(const OclEntries *list, const char *name) {
  for (uint32_t i = 0; i < list->len; i++)
    if (!strcmp(list->data[i]->name, name)) return list->data[i];
  return NULL;
}

static bool describe(Str *out, const Item *k, const OclEntry *e, const DeclaredList *list,
                     bool has_launch, Error *err) {
  if (!e || e->parameters.len != list->len)
    return error_set(err, "error: kernel '%s': the compiler's metadata do not fit its code",
                     k->name);
  str_printf(out, "kernel %s %zu %zu %zu %d %u %s\n", k->name, e->required[0], e->required[1],
             e->required[2], has_launch, list->len, e->attributes);
  for (uint32_t i = 0; i < list->len; i++) {
    const OclParameter *p = &e->parameters.data[i];
    str_printf(out, "%u %zu %s\t%s\t%s\t%s\n", p->space, list->data[i].bytes, p->access, p->type,
               p->qualifiers, p->name);
  }
  return true;
}

bool ocl_fit(const char *ptx, const char *assembly, const OclRequest *r, Str *out, Error *err) {
  Arena a = {0};
  Items items = {0};
  OclEntries facts = {0};
  Str code = {0};
  split(ptx, &a, &items);
  mark_forward(&items);
  mark_used(&items);
  for (uint32_t i = 0; i < r->objects.len; i++) ocl_kernel_facts(r->objects.data[i], &a, &facts);
  bool ok = check(&items, err);
  str_add(out, OCL_IMAGE_MARK);
  bool declared = false;
  for (uint32_t i = 0; ok && i < items.len; i++) {
    const Item *it = &items.data[i];
    DeclaredList list = {0};
    bool target = it->kind == ITEM_TEXT && starts(it->text, ".target");
    if (it->kind == ITEM_TEXT && !target) str_addn(&code, it->text, it->len);
    if (target) str_addn(&code, it->text, strcspn(it->text, ",\n"));
    if (target) str_addc(&code, '\n');
    if (it->kind == ITEM_TEXT && starts(it->text, ".address_size"))
      str_add(&code, ".extern .shared .align 16 .b8 " LOCAL "[];\n");
    if (it->kind == ITEM_VARIABLE && it->used) add_variable(&code, it);
    if (it->kind == ITEM_FUNCTION && it->used && !it->body && !it->is_forward) {
      if (!declared)
        str_add(&code, ".extern .func (.param .b32 func_retval0) vprintf\n(\n.param .b64 "
                       "vprintf_param_0,\n.param .b64 vprintf_param_1\n);\n");
      declared = true;
    } else if (it->kind == ITEM_FUNCTION && it->used) {
      add_text(&code, it->text, it->len);
      str_addc(&code, '\n');
    }
    if (it->kind == ITEM_KERNEL) {
      bool has_launch = has_word(it->text, it->len, LAUNCH);
      read_head(it, &list);
      ok = describe(out, it, entry_named(&facts, it->name), &list, has_launch, err);
      if (ok) add_kernel(&code, it, &list, has_launch);
    }
    vec_free(&list);
  }
  str_add(out, "ptx\n");
  if (ok) ocl_add_chains(code.data, assembly, out);
  for (uint32_t i = 0; i < facts.len; i++) vec_free(&facts.data[i]->parameters);
  vec_free(&facts);
  vec_free(&items);
  str_free(&code);
  arena_free(&a);
  return ok;
}
