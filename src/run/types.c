// Types for the viewer: of parameters, from the kernel's signature; of structs, from the host's
// debug information (-g); of buffers, from the parameters or the host variable that point to them.
// If none of these says, the type stays unknown: a guess would show wrong values.
#include "run/internal.h"
#include "symbol/type.h"

enum { NAME_MOST = 512, PARAMETERS_MOST = 256 };

// "Particle const*" -> "Particle*": without const, volatile and __restrict__, outside of <>.
static void canonical(const char *from, size_t n, char *out, size_t size) {
  static const char *const words[] = {"const", "volatile", "__restrict__", "__restrict", "struct"};
  size_t len = 0;
  int depth = 0;
  for (size_t i = 0; i < n && len + 1 < size; i++) {
    depth += from[i] == '<' ? 1 : from[i] == '>' ? -1 : 0;
    bool starts = !depth && (i == 0 || strchr(" *&,", from[i - 1]));
    size_t skip = 0;
    for (size_t w = 0; starts && w < ARRAY_LEN(words); w++) {
      size_t k = strlen(words[w]);
      if (i + k <= n && !strncmp(from + i, words[w], k) &&
          (i + k == n || strchr(" *&", from[i + k])))
        skip = k;
    }
    if (skip) i += skip - 1;
    else out[len++] = from[i];
  }
  while (len && out[len - 1] == ' ') len--;
  out[len] = 0;
  // spaces before *, doubled ones
  size_t to = 0;
  for (size_t i = 0; i < len; i++)
    if (out[i] != ' ' || (to && out[to - 1] != ' ' && !strchr("* &", out[i + 1]) && out[i + 1]))
      out[to++] = out[i];
  out[to] = 0;
}

// Parameter `number` of "reduce(float*, float const*)", canonical. false: there is none.
static bool parameter_text(const char *readable, uint32_t number, char *out, size_t size) {
  const char *end = readable ? strrchr(readable, ')') : NULL, *p = end;
  int depth = 0;
  for (; p && p >= readable; p--) {
    depth += *p == ')' ? 1 : *p == '(' ? -1 : 0;
    if (!depth) break;
  }
  if (!p || p < readable) return false;
  for (const char *start = ++p;; p++) {
    bool ends = !depth && (*p == ',' || p == end);
    if (*p == '(' || *p == '<' || *p == '[') depth++;
    else if (depth && (*p == ')' || *p == '>' || *p == ']')) depth--;
    if (!ends) continue;
    if (!number--) {
      start += strspn(start, " ");
      canonical(start, (size_t)(p - start), out, size);
      return out[0] != 0;
    }
    if (p == end) return false;
    start = p + 1;
  }
}

static int64_t save_type(Run *r, const SymbolType *t) {
  int64_t id = ++r->last_id;
  u64map_put(&r->type_bytes, (uint64_t)id, (void *)(uintptr_t)t->bytes);
  run_save(r, TABLE_type, "iti", id, t->name, (int64_t)t->bytes);
  for (uint32_t i = 0; i < t->nparts; i++) {
    const SymbolPart *p = &t->parts[i];
    Str dims = {0};
    for (unsigned d = 0; d < p->ndims; d++)
      str_printf(&dims, "%s%llu:%llu", d ? "," : "", (unsigned long long)p->dims[d].count,
                 (unsigned long long)p->dims[d].stride);
    run_save(r, TABLE_type_part, "itittt", id, p->path, (int64_t)p->offset, p->scalar,
             dims.len ? dims.data : NULL, p->of);
    str_free(&dims);
  }
  return id;
}

// Saves each type only once in the file.
static int64_t type_id(Run *r, const SymbolType *t) {
  if (!t) return 0;
  Str key = {0};
  str_printf(&key, "%s %llu", t->name, (unsigned long long)t->bytes);
  uintptr_t known = (uintptr_t)strmap_get(&r->saved_types, key.data);
  if (!known) {
    known = (uintptr_t)save_type(r, t);
    strmap_put(&r->saved_types, run_text(r, key.data), (void *)known);
  }
  str_free(&key);
  return (int64_t)known;
}

uint64_t run_type_bytes(const Run *r, int64_t id) {
  return (uintptr_t)u64map_get(&r->type_bytes, (uint64_t)id);
}

int64_t run_type_id(Run *r, SymbolTable *symbols, const char *name) {
  char text[NAME_MOST];
  canonical(name, strlen(name), text, sizeof text);
  return type_id(r, symbol_type_named(symbols, text));
}

void run_save_kernel_types(Run *r, RunKernel *k) {
  char text[NAME_MOST];
  if (!k->launches && !k->code.len) return;
  for (uint32_t i = 0; i < PARAMETERS_MOST && parameter_text(k->readable, i, text, sizeof text);
       i++)
    run_save(r, TABLE_parameter_type, "iiti", (int64_t)k->id, (int64_t)i, text,
             type_id(r, symbol_type_named(k->process->symbols, text)));
}

void run_note_given(RunAllocation *a, RunKernel *k, uint32_t number, uint32_t offset) {
  for (unsigned i = 0; i < a->ngiven; i++)
    if (a->given[i].kernel == k) return;
  if (a->ngiven == RUN_GIVEN_KEPT) return;
  a->given[a->ngiven].kernel = k;
  a->given[a->ngiven].number = number;
  a->given[a->ngiven++].offset = offset;
}

// The type of a buffer's elements, or only its name; `why` says how it is known.
typedef struct Elements {
  const SymbolType *type;
  char name[NAME_MOST], why[NAME_MOST + 200], dims[100];
} Elements;

// Types of raw bytes do not tell the type of the elements.
static bool says_nothing(const char *name) {
  static const char *const words[] = {"void", "char", "unsigned char", "std::byte", ""};
  for (size_t i = 0; i < ARRAY_LEN(words); i++)
    if (!strcmp(name, words[i])) return true;
  return false;
}

static bool cut_pointer(char *name) {
  size_t n = strlen(name);
  if (!n || name[n - 1] != '*') return false;
  name[--n] = 0;
  while (n && name[n - 1] == ' ') name[--n] = 0;
  return true;
}

static bool from_parameter(const RunAllocation *a, unsigned i, Elements *out) {
  RunKernel *k = a->given[i].kernel;
  SymbolTable *symbols = k->process->symbols;
  char text[NAME_MOST];
  if (!parameter_text(k->readable, a->given[i].number, text, sizeof text)) return false;
  if (!cut_pointer(text)) {  // a struct that holds the pointer
    const SymbolType *t = symbol_type_named(symbols, text);
    const char *of = NULL;
    for (uint32_t p = 0; t && p < t->nparts; p++)
      if (t->parts[p].offset == a->given[i].offset && t->parts[p].of) of = t->parts[p].of;
    if (!of) return false;
    snprintf(text, sizeof text, "%s", of);
  }
  if (says_nothing(text)) return false;
  snprintf(out->name, sizeof out->name, "%s", text);
  snprintf(out->why, sizeof out->why, "parameter %u of %.400s", a->given[i].number + 1,
           k->readable);
  out->type = symbol_type_named(symbols, text);
  return true;
}

static bool from_variable(Run *r, const RunAllocation *a, Elements *out) {
  const char *name = run_readable_name(r, a->name);
  const SymbolVariable *v = symbol_variable(a->process->symbols, name);
  if (!v) return false;
  size_t n = 0;
  for (unsigned i = 0; i < v->ndims; i++)
    n += (size_t)snprintf(out->dims + n, sizeof out->dims - n, "%s%llu", i ? "," : "",
                          (unsigned long long)v->dims[i]);
  snprintf(out->name, sizeof out->name, "%s", v->type->name);
  snprintf(out->why, sizeof out->why, "variable %.400s", name);
  out->type = v->type;
  // A __managed__ variable is a pointer of the same name on the host.
  if (!v->ndims && v->type->bytes && a->size != v->type->bytes && cut_pointer(out->name))
    out->type = symbol_type_named(a->process->symbols, out->name);
  return true;
}

static bool from_pointer(Run *r, const RunAllocation *a, Elements *out) {
  uint32_t n;
  const RunFrame *frames = a->pointer && a->stack ? run_stack_frames(r, a->stack, &n) : NULL;
  for (uint32_t i = 0; frames && i < a->stack->naddresses; i++) {
    const SymbolType *t = symbol_pointed_type(a->stack->symbols, a->stack->addresses[i],
                                              a->pointer);
    if (!t || says_nothing(t->name)) continue;
    snprintf(out->name, sizeof out->name, "%s", t->name);
    snprintf(out->why, sizeof out->why, "variable %.400s", a->pointer);
    out->type = t;
    return true;
  }
  return false;
}

void run_save_buffer_type(Run *r, RunAllocation *a) {
  Elements e = {0};
  bool known = a->name && from_variable(r, a, &e);
  for (unsigned i = 0; !known && i < a->ngiven; i++) known = from_parameter(a, i, &e);
  known = known || (!a->name && from_pointer(r, a, &e));
  if (known)
    run_save(r, TABLE_buffer_type, "iittt", (int64_t)a->id, type_id(r, e.type), e.name, e.why,
             e.dims[0] ? e.dims : NULL);
}
