#include "symbol/type.h"

#include "symbol/internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

enum { DEEP = 16, SEARCH_MS = 2000, NAME_MOST = 512 };

// --- names of scalars, for signatures of programs without debug information ---

static const struct {
  const char *name, *scalar;
  unsigned bytes;
} scalars[] = {
    {"char", "i8", 1},           {"signed char", "i8", 1},   {"unsigned char", "u8", 1},
    {"bool", "bool", 1},         {"short", "i16", 2},        {"unsigned short", "u16", 2},
    {"int", "i32", 4},           {"unsigned int", "u32", 4}, {"long", "i64", 8},
    {"unsigned long", "u64", 8}, {"long long", "i64", 8},    {"unsigned long long", "u64", 8},
    {"float", "f32", 4},         {"double", "f64", 8},       {"__half", "f16", 2},
    {"__nv_bfloat16", "bf16", 2}};
// CUDA's vector types: the name before the number, the scalar
static const struct {
  const char *name, *scalar;
  unsigned bytes;
} vectors[] = {{"char", "i8", 1},       {"uchar", "u8", 1},          {"short", "i16", 2},
               {"ushort", "u16", 2},    {"int", "i32", 4},           {"uint", "u32", 4},
               {"long", "i64", 8},      {"ulong", "u64", 8},         {"longlong", "i64", 8},
               {"ulonglong", "u64", 8}, {"float", "f32", 4},         {"double", "f64", 8},
               {"__half", "f16", 2},    {"__nv_bfloat16", "bf16", 2}};

typedef struct Made {
  SymbolStore *store;
  SymbolPart *parts;
  uint32_t n;
  bool unknown;  // a part has no description: then nothing is described at all
} Made;

static void add_part(Made *m, const SymbolPart *p) {
  if (m->n < SYMBOL_TYPE_PARTS) m->parts[m->n++] = *p;
  else m->unknown = true;
}

static const SymbolType *keep(Made *m, const char *name, uint64_t bytes) {
  SymbolType *t = arena_alloc(&m->store->strings, sizeof *t);
  *t = (SymbolType){.name = symbol_text(m->store, name), .bytes = bytes, .nparts = m->n};
  t->parts = arena_alloc(&m->store->strings, sizeof *t->parts * (m->n + 1));
  memcpy(t->parts, m->parts, sizeof *t->parts * m->n);
  return t;
}

static const SymbolType *plain(SymbolStore *s, const char *name) {
  SymbolPart one[4];
  Made m = {.store = s, .parts = one};
  size_t n = strlen(name);
  if (n && name[n - 1] == '*') {
    char of[NAME_MOST];
    for (n--; n && name[n - 1] == ' ';) n--;
    snprintf(of, sizeof of, "%.*s", (int)n, name);
    add_part(&m, &(SymbolPart){.path = "", .scalar = "ptr", .of = symbol_text(s, of)});
    return keep(&m, name, 8);
  }
  for (size_t i = 0; i < ARRAY_LEN(scalars); i++)
    if (!strcmp(scalars[i].name, name)) {
      add_part(&m, &(SymbolPart){.path = "", .scalar = scalars[i].scalar});
      return keep(&m, name, scalars[i].bytes);
    }
  for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
    size_t w = strlen(vectors[i].name);
    if (n != w + 1 || strncmp(vectors[i].name, name, w) || name[w] < '1' || name[w] > '4') continue;
    unsigned count = (unsigned)(name[w] - '0');
    static const char *const paths[] = {".x", ".y", ".z", ".w"};
    for (unsigned k = 0; k < count; k++)
      add_part(&m, &(SymbolPart){.path = paths[k],
                                 .scalar = vectors[i].scalar,
                                 .offset = k * vectors[i].bytes});
    return keep(&m, name, (uint64_t)count * vectors[i].bytes);
  }
  return NULL;
}

// --- descriptions of types ---

static bool type_of(Dwarf_Die *die, Dwarf_Die *out) {
  Dwarf_Attribute attr;
  return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, out);
}

static bool peeled(Dwarf_Die *die, Dwarf_Die *out) { return dwarf_peel_type(die, out) == 0; }

static uint64_t number_of(Dwarf_Die *die, unsigned name, uint64_t otherwise) {
  Dwarf_Attribute attr;
  Dwarf_Word v;
  return dwarf_attr_integrate(die, name, &attr) && dwarf_formudata(&attr, &v) == 0 ? v : otherwise;
}

static uint64_t bytes_of(Dwarf_Die *die) {
  Dwarf_Word n;
  return dwarf_aggregate_size(die, &n) == 0 ? n : 0;
}

// "ns::Vec<float>": with the namespaces and classes it is in.
static void qualified(Dwarf_Die *die, Str *out) {
  Dwarf_Die *scopes = NULL;
  int n = dwarf_getscopes_die(die, &scopes);
  for (int i = n - 1; i > 0; i--) {
    int tag = dwarf_tag(&scopes[i]);
    bool names = tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
                 tag == DW_TAG_class_type;
    if (!names) continue;
    const char *name = dwarf_diename(&scopes[i]);
    str_printf(out, "%s::", name ? name : "(anonymous namespace)");
  }
  free(scopes);
  str_add(out, dwarf_diename(die) ? dwarf_diename(die) : "");
}

// As a declaration has it, without const: "float", "Particle*".
static void type_name(Dwarf_Die *die, Str *out, unsigned depth) {
  Dwarf_Die at = *die, below;
  while (dwarf_tag(&at) == DW_TAG_const_type || dwarf_tag(&at) == DW_TAG_volatile_type ||
         dwarf_tag(&at) == DW_TAG_restrict_type) {
    if (!type_of(&at, &below)) {
      str_add(out, "void");
      return;
    }
    at = below;
  }
  int tag = dwarf_tag(&at);
  if (depth < DEEP && (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type)) {
    if (type_of(&at, &below)) type_name(&below, out, depth + 1);
    else str_add(out, "void");
    str_addc(out, '*');
    return;
  }
  qualified(&at, out);
}

static const char *scalar_of(Dwarf_Die *base) {
  uint64_t n = bytes_of(base), encoding = number_of(base, DW_AT_encoding, 0);
  static const char *const floats[] = {NULL, NULL, "f16", NULL, "f32", NULL, NULL, NULL, "f64"};
  static const char *const ints[] = {NULL, "i8", "i16", NULL, "i32", NULL, NULL, NULL, "i64"};
  static const char *const unsigneds[] = {NULL, "u8", "u16", NULL, "u32", NULL, NULL, NULL, "u64"};
  if (n > 8) return NULL;
  switch (encoding) {
    case DW_ATE_float: return floats[n];
    case DW_ATE_boolean: return n == 1 ? "bool" : unsigneds[n];
    case DW_ATE_signed:
    case DW_ATE_signed_char: return ints[n];
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF: return unsigneds[n];
    default: return NULL;
  }
}

static void flatten(Made *m, Dwarf_Die *type, const SymbolPart *at, unsigned depth);

static void add_leaf(Made *m, const SymbolPart *at, const char *scalar, const char *of) {
  SymbolPart p = *at;
  p.path = symbol_text(m->store, at->path);
  p.scalar = scalar;
  p.of = of;
  if (scalar) add_part(m, &p);
  else m->unknown = true;
}

static void flatten_pointer(Made *m, Dwarf_Die *type, const SymbolPart *at) {
  Dwarf_Die below;
  Str of = {0};
  if (type_of(type, &below)) type_name(&below, &of, 0);
  add_leaf(m, at, "ptr", symbol_text(m->store, of.len ? of.data : "void"));
  str_free(&of);
}

// Adds the dimensions of an array to the part.
static void flatten_dims(Made *m, Dwarf_Die *array, SymbolPart *p) {
  Dwarf_Die element, child;
  uint64_t counts[SYMBOL_TYPE_DIMS];
  uint64_t stride = type_of(array, &element) ? bytes_of(&element) : 0;
  unsigned n = 0;
  for (bool more = dwarf_child(array, &child) == 0; more;
       more = dwarf_siblingof(&child, &child) == 0) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    uint64_t count = number_of(&child, DW_AT_count, UINT64_MAX);
    if (count == UINT64_MAX) count = number_of(&child, DW_AT_upper_bound, UINT64_MAX) + 1;
    if (n + p->ndims >= SYMBOL_TYPE_DIMS || !count || !stride) {
      m->unknown = true;
      return;
    }
    counts[n++] = count;
  }
  for (unsigned i = n; i-- > 0;) {
    p->dims[p->ndims + i].count = counts[i];
    p->dims[p->ndims + i].stride = stride;
    stride *= counts[i];
  }
  p->ndims += n;
}

static void flatten_array(Made *m, Dwarf_Die *type, const SymbolPart *at, unsigned depth) {
  Dwarf_Die element;
  SymbolPart p = *at;
  if (type_of(type, &element)) flatten_dims(m, type, &p);
  else m->unknown = true;
  if (m->unknown) return;
  Str path = {0};
  str_add(&path, at->path);
  for (unsigned i = at->ndims; i < p.ndims; i++) str_add(&path, "[]");
  p.path = path.data;
  flatten(m, &element, &p, depth + 1);
  str_free(&path);
}

static void flatten_bits(Made *m, Dwarf_Die *member, Dwarf_Die *type, const SymbolPart *at) {
  uint64_t bits = number_of(member, DW_AT_bit_size, 0), unit = bytes_of(type),
           first = number_of(member, DW_AT_data_bit_offset, UINT64_MAX);
  const char *scalar = scalar_of(type);
  char text[40];
  if (!scalar || !unit || first == UINT64_MAX) {
    m->unknown = true;
    return;
  }
  SymbolPart p = *at;
  p.offset += first / 8 / unit * unit;
  snprintf(text, sizeof text, "%s:%llu:%llu", strcmp(scalar, "bool") ? scalar : "u8",
           (unsigned long long)(first % (8 * unit)), (unsigned long long)bits);
  add_leaf(m, &p, symbol_text(m->store, text), NULL);
}

static void flatten_members(Made *m, Dwarf_Die *type, const SymbolPart *at, unsigned depth) {
  Dwarf_Die child, of, bare;
  for (bool more = dwarf_child(type, &child) == 0; more;
       more = dwarf_siblingof(&child, &child) == 0) {
    int tag = dwarf_tag(&child);
    bool base = tag == DW_TAG_inheritance;
    if ((tag != DW_TAG_member && !base) || dwarf_hasattr(&child, DW_AT_external)) continue;
    if (!type_of(&child, &of) || !peeled(&of, &bare)) {
      m->unknown = true;
      return;
    }
    const char *name = base ? NULL : dwarf_diename(&child);
    Str path = {0};
    str_add(&path, at->path);
    if (name) str_printf(&path, ".%s", name);
    SymbolPart p = *at;
    p.path = path.data;
    if (dwarf_hasattr(&child, DW_AT_bit_size)) flatten_bits(m, &child, &bare, &p);
    else {
      p.offset += number_of(&child, DW_AT_data_member_location, 0);
      flatten(m, &of, &p, depth + 1);
    }
    str_free(&path);
  }
}

static void flatten(Made *m, Dwarf_Die *type, const SymbolPart *at, unsigned depth) {
  Dwarf_Die bare;
  if (depth > DEEP || !peeled(type, &bare)) {
    m->unknown = true;
    return;
  }
  const char *name = dwarf_diename(&bare);
  switch (dwarf_tag(&bare)) {
    case DW_TAG_base_type: add_leaf(m, at, scalar_of(&bare), NULL); break;
    case DW_TAG_enumeration_type: {
      static const char *const words[] = {NULL, "u8", "u16", NULL, "i32", NULL, NULL, NULL, "i64"};
      uint64_t n = bytes_of(&bare);
      add_leaf(m, at, n <= 8 ? words[n] : NULL, NULL);
      break;
    }
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type: flatten_pointer(m, &bare, at); break;
    case DW_TAG_array_type: flatten_array(m, &bare, at, depth); break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: {
      const SymbolType *known = name && (!strcmp(name, "__half") || !strcmp(name, "__nv_bfloat16"))
                                    ? plain(m->store, name)
                                    : NULL;
      if (known) add_leaf(m, at, known->parts[0].scalar, NULL);
      else if (dwarf_hasattr(&bare, DW_AT_declaration)) m->unknown = true;
      else flatten_members(m, &bare, at, depth);
      break;
    }
    default: m->unknown = true;
  }
}

// NULL: not all of it is described.
static const SymbolType *described(SymbolStore *s, Dwarf_Die *type) {
  Made m = {.store = s, .parts = mem_alloc(sizeof(SymbolPart) * SYMBOL_TYPE_PARTS)};
  Str name = {0};
  const SymbolType *out = NULL;
  type_name(type, &name, 0);
  flatten(&m, type, &(SymbolPart){.path = ""}, 0);
  uint64_t bytes = bytes_of(type);
  if (!m.unknown && m.n && bytes) out = keep(&m, name.len ? name.data : "", bytes);
  str_free(&name);
  free(m.parts);
  return out;
}

// --- where to look ---

// The object of a search in a file: a type or a variable, by its qualified name.
typedef struct Search {
  SymbolStore *store;
  const char *name;
  bool variable;
  uint64_t end;
  const SymbolVariable *found;
} Search;

static bool is_sought(Search *q, Dwarf_Die *die, int tag) {
  bool fits = q->variable ? tag == DW_TAG_variable
                          : tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
                                tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type ||
                                tag == DW_TAG_typedef;
  const char *name = fits ? dwarf_diename(die) : NULL;
  if (!name || !text_ends_with(q->name, name) || dwarf_hasattr(die, DW_AT_declaration))
    return false;
  Str whole = {0};
  qualified(die, &whole);
  bool same = !strcmp(whole.data, q->name);
  str_free(&whole);
  return same;
}

// A variable's type; of an array that of its elements, and its dimensions.
static const SymbolVariable *variable_of(SymbolStore *s, Dwarf_Die *type) {
  Dwarf_Die bare, element;
  SymbolVariable *v = arena_alloc(&s->strings, sizeof *v);
  *v = (SymbolVariable){0};
  if (peeled(type, &bare) && dwarf_tag(&bare) == DW_TAG_array_type && type_of(&bare, &element)) {
    SymbolPart dims[1] = {{.path = ""}}, all[SYMBOL_TYPE_DIMS];
    Made m = {.store = s, .parts = all};
    flatten_dims(&m, &bare, dims);
    if (m.unknown) return NULL;
    v->ndims = dims->ndims;
    for (unsigned i = 0; i < v->ndims; i++) v->dims[i] = dims->dims[i].count;
    type = &element;
  }
  v->type = described(s, type);
  return v->type ? v : NULL;
}

static void look_in(Search *q, Dwarf_Die *parent, unsigned depth) {
  Dwarf_Die child, type;
  for (bool more = dwarf_child(parent, &child) == 0; more && !q->found && clock_ns() < q->end;
       more = dwarf_siblingof(&child, &child) == 0) {
    int tag = dwarf_tag(&child);
    if (is_sought(q, &child, tag)) {
      if (!q->variable) q->found = variable_of(q->store, &child);
      else if (type_of(&child, &type)) q->found = variable_of(q->store, &type);
    }
    // classes may contain classes
    if (depth < DEEP &&
        (tag == DW_TAG_namespace || (!q->variable && strstr(q->name, "::") &&
                                     (tag == DW_TAG_structure_type || tag == DW_TAG_class_type))))
      look_in(q, &child, depth + 1);
  }
}

static void look_in_file(Search *q, SymbolFile *f) {
  Dwarf_Addr bias;
  if (!symbol_file_open(q->store, f)) return;
  for (Dwarf_Die *unit = NULL;
       !q->found && clock_ns() < q->end && (unit = dwfl_module_nextcu(f->module, unit, &bias));)
    look_in(q, unit, 0);
}

static const SymbolVariable *look_everywhere(SymbolTable *t, const char *name, bool variable) {
  Search q = {t->store, name, variable, clock_ns() + SEARCH_MS * 1000000ull, NULL};
  for (uint32_t i = 0; i < t->objects.len && !q.found; i++) {
    SymbolObject *o = &t->objects.data[i];
    if (!o->file) o->file = symbol_file(t->store, o);
    look_in_file(&q, o->file);
  }
  return q.found;
}

static const SymbolVariable *without_search(SymbolStore *s, const char *name) {
  const SymbolType *t = plain(s, name);
  SymbolVariable *v = t ? arena_alloc(&s->strings, sizeof *v) : NULL;
  if (v) *v = (SymbolVariable){.type = t};
  return v;
}

// Keeps answers, "not known" too: a search takes long.
static const SymbolVariable nothing;
static const SymbolVariable *remembered(SymbolTable *t, const char *name, bool variable) {
  Str key = {0};
  if (!t || !name || !*name || strlen(name) >= NAME_MOST) return NULL;
  str_printf(&key, "%c%s", variable ? 'v' : 't', name);
  const SymbolVariable *known = strmap_get(&t->store->types, key.data);
  if (!known) {
    known = variable ? NULL : without_search(t->store, name);
    if (!known) known = look_everywhere(t, name, variable);
    if (!known) known = &nothing;
    strmap_put(&t->store->types, symbol_text(t->store, key.data), (void *)known);
  }
  str_free(&key);
  return known == &nothing ? NULL : known;
}

const SymbolType *symbol_type_named(SymbolTable *t, const char *name) {
  const SymbolVariable *v = remembered(t, name, false);
  return v ? v->type : NULL;
}

const SymbolVariable *symbol_variable(SymbolTable *t, const char *name) {
  return remembered(t, name, true);
}

// --- the pointer that a function calls `path` ---

static bool is_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool member_named(Dwarf_Die *type, const char *name, size_t n, Dwarf_Die *out) {
  Dwarf_Die child;
  for (bool more = dwarf_child(type, &child) == 0; more;
       more = dwarf_siblingof(&child, &child) == 0) {
    const char *is = dwarf_tag(&child) == DW_TAG_member ? dwarf_diename(&child) : NULL;
    if (is && strlen(is) == n && !strncmp(is, name, n)) return type_of(&child, out);
  }
  return false;
}

// Follows ".data", "->next", "[i]" from the type of the variable.
static bool follow(Dwarf_Die *type, const char *path) {
  Dwarf_Die bare, next;
  while (*path) {
    if (!peeled(type, &bare)) return false;
    int tag = dwarf_tag(&bare);
    if (*path == '[') {
      path += strcspn(path, "]");
      if (!*path++ || (tag != DW_TAG_array_type && tag != DW_TAG_pointer_type) ||
          !type_of(&bare, &next))
        return false;
    } else {
      if (path[0] == '-' && (tag != DW_TAG_pointer_type || !type_of(&bare, &next))) return false;
      if (path[0] == '-' && !peeled(&next, &bare)) return false;
      path += *path == '-' ? 2 : 1;
      size_t n = 0;
      while (is_name(path[n])) n++;
      if (!n || !member_named(&bare, path, n, &next)) return false;
      path += n;
    }
    *type = next;
  }
  return true;
}

static bool local_named(SymbolFile *f, uint64_t address, const char *name, Dwarf_Die *type) {
  Dwarf_Addr bias;
  uint64_t pc = address + f->base;
  Dwarf_Die *unit = dwfl_module_addrdie(f->module, pc, &bias), *inner = NULL, *scopes = NULL, found;
  int ninner = unit ? dwarf_getscopes(unit, pc - bias, &inner) : 0;
  // parents, so that an inlined function (cudaMalloc<float>) leads to the one that called it
  int n = ninner > 0 ? dwarf_getscopes_die(&inner[0], &scopes) : 0;
  bool ok = n > 0 && dwarf_getscopevar(scopes, n, name, 0, NULL, 0, 0, &found) >= 0 &&
            type_of(&found, type);
  free(inner);
  free(scopes);
  return ok;
}

const SymbolType *symbol_pointed_type(SymbolTable *t, uint64_t return_address, const char *path) {
  char name[NAME_MOST];
  size_t n = 0;
  while (is_name(path[n])) n++;
  if (!t || !n || n >= sizeof name || !return_address) return NULL;
  snprintf(name, sizeof name, "%.*s", (int)n, path);
  SymbolObject *o = symbol_find_object(t, return_address - 1);
  if (o && !o->file) o->file = symbol_file(t->store, o);
  Dwarf_Die type, bare, below;
  if (!o || !symbol_file_open(t->store, o->file) ||
      !local_named(o->file, return_address - 1 - o->bias, name, &type) ||
      !follow(&type, path + n) || !peeled(&type, &bare) ||
      dwarf_tag(&bare) != DW_TAG_pointer_type || !type_of(&bare, &below))
    return NULL;
  return described(t->store, &below);
}
