// Finds the variables inside a frame of local memory, from the debug information of unoptimised
// code (nvcc -G). nvcc puts the arrays of a function into one variable, __local_depot0; only
// .debug_info says where each array lies in it. Reads this much DWARF: abbreviations, variables
// located at "the address of the frame plus a number", and the sizes of their types. Anything
// unexpected is left out.
#include "base/reading.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

// --- a section as bytes, with the names that stand for some of them ---

typedef struct Named {
  uint64_t at;
  const char *name;
  size_t len;
} Named;
typedef struct Bytes {
  Str data;
  VEC(Named) names;
} Bytes;

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.' || c == '%';
}

static void add_number(Bytes *b, uint64_t v, unsigned width) {
  for (unsigned i = 0; i < width; i++) str_addc(&b->data, (char)(v >> 8 * i));
}

static void read_section(const char *text, Bytes *b) {
  const char *p = strchr(text, '{');
  unsigned width = 1;
  while (p && *p && *p != '}') {
    const char *start = p;
    if (*p == '/' && p[1] == '/') {
      while (*p && *p != '\n') p++;
    } else if ((*p >= '0' && *p <= '9') || (*p == '-' && p[1] >= '0' && p[1] <= '9')) {
      add_number(b, strtoull(p, (char **)&p, 0), width);
      while (is_word_char(*p)) p++;
    } else if (is_word_char(*p)) {
      while (is_word_char(*p)) p++;
      size_t len = (size_t)(p - start);
      if (*p == ':') p++;
      else if (len > 2 && len < 5 && start[0] == '.' && start[1] == 'b' && start[2] >= '0' &&
               start[2] <= '9')
        width = (unsigned)atoi(start + 2) / 8;
      else {
        vec_push(&b->names, (Named){b->data.len, start, len});
        uint64_t more = 0;
        if (*p == '+') more = strtoull(p + 1, (char **)&p, 0);
        add_number(b, more, width);
      }
    } else p++;
  }
}

static void free_bytes(Bytes *b) {
  str_free(&b->data);
  vec_free(&b->names);
}

static Reading all_of(const Bytes *b) {
  const uint8_t *start = (const uint8_t *)b->data.data;
  return (Reading){start, start + b->data.len, false};
}

static uint64_t offset_in(const Bytes *b, const uint8_t *at) {
  return (uint64_t)(at - (const uint8_t *)b->data.data);
}

// --- DWARF ---

enum {
  TAG_ARRAY = 1,
  TAG_CLASS = 2,
  TAG_PARAMETER = 5,
  TAG_TYPEDEF = 22,
  TAG_POINTER = 15,
  TAG_STRUCT = 19,
  TAG_SUBRANGE = 33,
  TAG_CONST = 38,
  TAG_VARIABLE = 52,
  TAG_VOLATILE = 53,
  TAG_RESTRICT = 55,
  TAG_NAMESPACE = 57
};
enum {
  AT_LOCATION = 2,
  AT_NAME = 3,
  AT_BYTE_SIZE = 11,
  AT_UPPER_BOUND = 47,
  AT_COUNT = 55,
  AT_TYPE = 73
};
enum { LOCATION_ADDR = 3, LOCATION_PLUS = 35 };

// count 0: not known
typedef struct Entry {
  uint64_t offset, tag, size, type, count;
  const char *name;
  const uint8_t *location;
  uint64_t location_len;
  uint32_t parent;
} Entry;
typedef struct Debug {
  Bytes info, abbreviations;
  VEC(Entry) entries;
} Debug;

// Reads a value of the form. Of a block or string, *place is its address and *len its length.
static uint64_t value(Reading *r, uint64_t form, unsigned address_bytes, const uint8_t **place,
                      uint64_t *len) {
  static const uint8_t sizes[] = {
      [5] = 2,  [6] = 4,  [7] = 8,  [11] = 1, [12] = 1, [14] = 4, [16] = 4,
      [17] = 1, [18] = 2, [19] = 4, [20] = 8, [23] = 4, [32] = 8};
  *place = NULL;
  *len = 0;
  switch (form) {
    case 1: return reading_number(r, address_bytes);
    case 3: *len = reading_number(r, 2); break;
    case 4: *len = reading_number(r, 4); break;
    case 9:
    case 24: *len = reading_uleb(r); break;
    case 10: *len = reading_number(r, 1); break;
    case 13:
    case 15:
    case 21: return reading_uleb(r);
    case 25: return 1;
    case 8:
      *place = r->at;
      while (!r->bad && reading_number(r, 1)) continue;
      *len = (uint64_t)(r->at - *place);
      return 0;
    default:
      if (form < ARRAY_LEN(sizes) && sizes[form]) return reading_number(r, sizes[form]);
      r->bad = true;
      return 0;
  }
  *place = r->at;
  reading_skip(r, *len);
  return 0;
}

// Moves to the attributes of the abbreviation with this number; false: there is none.
static bool find_abbreviation(Reading *a, uint64_t code, uint64_t *tag, bool *has_children) {
  while (!a->bad) {
    uint64_t here = reading_uleb(a);
    if (!here) return false;
    *tag = reading_uleb(a);
    *has_children = reading_number(a, 1);
    if (here == code) return !a->bad;
    while (!a->bad) {
      uint64_t name = reading_uleb(a), form = reading_uleb(a);
      if (!name && !form) break;
    }
  }
  return false;
}

typedef struct UnitHead {
  uint64_t at, abbreviations;  // offsets in their sections
  unsigned address_bytes;
} UnitHead;
static bool read_entry(Debug *d, Reading *r, const UnitHead *unit, uint32_t parent,
                       bool *has_children) {
  Reading a = all_of(&d->abbreviations);
  Entry e = {.offset = offset_in(&d->info, r->at), .parent = parent};
  reading_skip(&a, unit->abbreviations);
  uint64_t code = reading_uleb(r);
  *has_children = false;
  if (!code) return false;
  if (!find_abbreviation(&a, code, &e.tag, has_children)) r->bad = true;
  while (!r->bad) {
    const uint8_t *place;
    uint64_t name = reading_uleb(&a), form = reading_uleb(&a), len;
    if (a.bad) r->bad = true;
    if (!name && !form) break;
    uint64_t v = value(r, form, unit->address_bytes, &place, &len);
    if (name == AT_BYTE_SIZE) e.size = v;
    else if (name == AT_TYPE) e.type = form == 16 ? v : unit->at + v;
    else if (name == AT_UPPER_BOUND && !len) e.count = v + 1;
    else if (name == AT_COUNT && !len) e.count = v;
    else if (name == AT_NAME && form == 8) e.name = (const char *)place;
    else if (name == AT_LOCATION && len) {
      e.location = place;
      e.location_len = len;
    }
  }
  vec_push(&d->entries, e);
  return !r->bad;
}

static bool read_unit(Debug *d, Reading *r) {
  enum { DEEPEST = 64 };
  UnitHead unit = {.at = offset_in(&d->info, r->at)};
  uint64_t length = reading_number(r, 4);
  if (length > (uint64_t)(r->end - r->at)) return false;
  const uint8_t *end = r->at + length;
  uint64_t version = reading_number(r, 2);
  unit.abbreviations = reading_number(r, 4);
  unit.address_bytes = (unsigned)reading_number(r, 1);
  unsigned depth = 0;
  uint32_t parents[DEEPEST + 1] = {UINT32_MAX};
  if (r->bad || version < 2 || version > 4 || (unit.address_bytes != 4 && unit.address_bytes != 8))
    return false;
  while (r->at < end) {
    bool has_children;
    if (read_entry(d, r, &unit, parents[depth], &has_children)) {
      if (has_children && depth == DEEPEST) return false;
      if (has_children) parents[++depth] = d->entries.len - 1;
    } else if (r->bad) return false;
    else if (depth) depth--;
  }
  return true;
}

static const Entry *entry_at(const Debug *d, uint64_t offset) {
  uint32_t low = 0, high = d->entries.len;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (d->entries.data[middle].offset < offset) low = middle + 1;
    else high = middle;
  }
  return low < d->entries.len && d->entries.data[low].offset == offset ? &d->entries.data[low]
                                                                       : NULL;
}

// Bytes of a type; 0: not known.
static uint64_t type_size(const Debug *d, uint64_t offset, unsigned depth) {
  const Entry *e = entry_at(d, offset);
  if (!e || depth > 16) return 0;
  if (e->size) return e->size;
  if (e->tag == TAG_POINTER) return 8;
  if (e->tag == TAG_TYPEDEF || e->tag == TAG_CONST || e->tag == TAG_VOLATILE ||
      e->tag == TAG_RESTRICT)
    return type_size(d, e->type, depth + 1);
  if (e->tag != TAG_ARRAY) return 0;
  uint64_t size = type_size(d, e->type, depth + 1);
  uint32_t self = (uint32_t)(e - d->entries.data);
  for (uint32_t i = self + 1; i < d->entries.len && d->entries.data[i].parent != e->parent; i++) {
    const Entry *range = &d->entries.data[i];
    if (range->parent == self && range->tag == TAG_SUBRANGE &&
        (!range->count || __builtin_mul_overflow(size, range->count, &size)))
      return 0;
  }
  return size;
}

// --- parts of frames ---

static const Named *name_at(const Bytes *b, uint64_t at) {
  uint32_t low = 0, high = b->names.len;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (b->names.data[middle].at < at) low = middle + 1;
    else high = middle;
  }
  return low < b->names.len && b->names.data[low].at == at ? &b->names.data[low] : NULL;
}

static const PtxVar *find_frame(const PtxModule *m, const Named *n) {
  for (uint32_t f = 0; f < m->nfuncs; f++)
    for (uint32_t i = 0; i < m->funcs[f]->nlocals; i++) {
      const PtxVar *v = m->funcs[f]->locals[i];
      if (v->space == SPACE_LOCAL && strlen(v->name) == n->len && !memcmp(v->name, n->name, n->len))
        return v;
    }
  return NULL;
}

static void add_part(PtxModule *m, const PtxVar *frame, uint64_t offset, uint64_t size,
                     const char *name) {
  for (uint32_t i = 0; i < m->nparts; i++) {
    PtxFramePart *o = &m->parts[i];
    if (strcmp(o->frame, frame->name) || o->offset >= offset + size ||
        offset >= o->offset + o->var->size)
      continue;
    if (o->offset == offset) o->var->size = MAX(o->var->size, size);  // of another scope
    else o->var->size = 0;                                            // the layout is ambiguous
    return;
  }
  uint32_t align = frame->align;
  while (offset % align) align /= 2;
  PtxVar *v = ARENA_NEW(&m->arena, PtxVar);
  *v = (PtxVar){.name = arena_strdup(&m->arena, name),
                .space = SPACE_LOCAL,
                .type = TYPE_B8,
                .align = align,
                .size = size,
                .func = frame->func};
  PtxFramePart *parts = ARENA_ARRAY(&m->arena, PtxFramePart, m->nparts + 1);
  if (m->nparts) memcpy(parts, m->parts, sizeof *parts * m->nparts);
  parts[m->nparts++] = (PtxFramePart){frame->name, offset, v};
  m->parts = parts;
}

// Finds the frame and offset of a variable that lies in a frame. false: it lies elsewhere.
static bool find_place(const Debug *d, const Entry *e, const Named **frame, uint64_t *offset) {
  if ((e->tag != TAG_VARIABLE && e->tag != TAG_PARAMETER) || e->location_len < 11 || !e->name)
    return false;
  Reading r = {e->location, e->location + e->location_len, false};
  if (reading_number(&r, 1) != LOCATION_ADDR) return false;
  *frame = name_at(&d->info, offset_in(&d->info, r.at));
  reading_skip(&r, 8);
  if (!*frame || reading_number(&r, 1) != LOCATION_PLUS) return false;
  *offset = reading_uleb(&r);
  return !r.bad && r.at == r.end;
}

static void find_parts(PtxModule *m, const Debug *d) {
  for (uint32_t i = 0; i < d->entries.len; i++) {
    const Entry *e = &d->entries.data[i];
    const Named *n;
    uint64_t offset;
    const PtxVar *frame = find_place(d, e, &n, &offset) ? find_frame(m, n) : NULL;
    uint64_t size = frame ? type_size(d, e->type, 0) : 0;
    if (size && offset < frame->size && size <= frame->size - offset)
      add_part(m, frame, offset, size, e->name);
  }
}

static bool read_debug(const char *info, const char *abbreviations, Debug *d) {
  read_section(info, &d->info);
  read_section(abbreviations, &d->abbreviations);
  Reading r = all_of(&d->info);
  while (r.at < r.end && read_unit(d, &r)) continue;
  return r.at == r.end && !r.bad;
}

static void free_debug(Debug *d) {
  free_bytes(&d->info);
  free_bytes(&d->abbreviations);
  vec_free(&d->entries);
}

static const char *section_of(const PtxModule *m, const char *name) {
  for (uint32_t i = 0; i < m->nitems; i++) {
    if (m->items[i].kind != ITEM_SECTION) continue;
    const char *p = m->items[i].text + strlen(".section");
    while (*p == ' ' || *p == '\t') p++;
    if (!strncmp(p, name, strlen(name)) && !is_word_char(p[strlen(name)])) return m->items[i].text;
  }
  return NULL;
}

const PtxVar *ptx_frame_part(PtxModule *m, const PtxVar *frame, uint64_t offset) {
  if (!m->debug) return NULL;  // in optimised code an offset need not name a variable
  if (!m->knows_parts) {
    const char *info = section_of(m, ".debug_info"),
               *abbreviations = section_of(m, ".debug_abbrev");
    Debug d = {0};
    m->knows_parts = true;
    if (info && abbreviations && read_debug(info, abbreviations, &d)) find_parts(m, &d);
    free_debug(&d);
  }
  for (uint32_t i = 0; i < m->nparts; i++)
    if (m->parts[i].offset == offset && m->parts[i].var->size &&
        !strcmp(m->parts[i].frame, frame->name))
      return m->parts[i].var;
  return NULL;
}

// --- variables with their types ---

static const Entry *without_qualifiers(const Debug *d, const Entry *e) {
  for (unsigned depth = 0; e && depth < 16; depth++) {
    if (e->tag != TAG_TYPEDEF && e->tag != TAG_CONST && e->tag != TAG_VOLATILE &&
        e->tag != TAG_RESTRICT)
      return e;
    e = entry_at(d, e->type);
  }
  return NULL;
}

// "space::Pair", "float*"; "": it has no name.
static void name_type(const Debug *d, const Entry *e, char *out, size_t size) {
  e = without_qualifiers(d, e);
  out[0] = 0;
  if (!e) return;
  if (e->tag == TAG_POINTER) {
    const Entry *to = without_qualifiers(d, entry_at(d, e->type));
    if (to && to->name) snprintf(out, size, "%s*", to->name);
    return;
  }
  if (!e->name) return;
  snprintf(out, size, "%s", e->name);
  for (uint32_t p = e->parent; p < d->entries.len; p = d->entries.data[p].parent) {
    const Entry *of = &d->entries.data[p];
    if (of->tag != TAG_NAMESPACE && of->tag != TAG_STRUCT && of->tag != TAG_CLASS) break;
    if (!of->name) continue;
    char whole[160];
    snprintf(whole, sizeof whole, "%s", out);
    if ((size_t)snprintf(out, size, "%s::%s", of->name, whole) >= size) {
      out[0] = 0;
      return;
    }
  }
}

static void describe_type(const Debug *d, const Entry *e, PtxFrameVariable *v) {
  size_t len = 0;
  while ((e = without_qualifiers(d, e)) && e->tag == TAG_ARRAY) {
    uint32_t self = (uint32_t)(e - d->entries.data);
    for (uint32_t i = self + 1; i < d->entries.len && d->entries.data[i].parent != e->parent; i++) {
      const Entry *range = &d->entries.data[i];
      if (range->parent == self && range->tag == TAG_SUBRANGE && len + 24 < sizeof v->dims)
        len += (size_t)snprintf(v->dims + len, sizeof v->dims - len, "%s%llu", len ? "," : "",
                                (unsigned long long)range->count);
    }
    e = entry_at(d, e->type);
  }
  name_type(d, e, v->type, sizeof v->type);
}

static const char *section_in(const char *text, const char *name) {
  for (const char *p = text; (p = strstr(p, ".section")); p++) {
    const char *q = p + strlen(".section");
    while (*q == ' ' || *q == '\t') q++;
    if (!strncmp(q, name, strlen(name)) && !is_word_char(q[strlen(name)])) return p;
  }
  return NULL;
}

// Drops variables that overlap: an address in both could mean either.
static void drop_overlapping(PtxFrameVariables *all) {
  bool *alone = mem_alloc(all->len + 1);
  for (uint32_t i = 0; i < all->len; i++) {
    const PtxFrameVariable *a = &all->data[i];
    alone[i] = true;
    for (uint32_t k = 0; k < all->len && alone[i]; k++) {
      const PtxFrameVariable *b = &all->data[k];
      alone[i] = i == k || strcmp(a->frame, b->frame) || a->offset >= b->offset + b->bytes ||
                 b->offset >= a->offset + a->bytes;
    }
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < all->len; i++)
    if (alone[i]) all->data[kept++] = all->data[i];
  all->len = kept;
  free(alone);
}

void ptx_frame_variables(const char *text, PtxFrameVariables *out) {
  enum { MOST = 4096 };
  const char *info = section_in(text, ".debug_info"),
             *abbreviations = section_in(text, ".debug_abbrev");
  Debug d = {0};
  bool whole = info && abbreviations && read_debug(info, abbreviations, &d);
  for (uint32_t i = 0; whole && i < d.entries.len && out->len < MOST; i++) {
    const Entry *e = &d.entries.data[i];
    const Named *frame;
    PtxFrameVariable v = {0};
    if (!find_place(&d, e, &frame, &v.offset) || frame->len >= sizeof v.frame ||
        strncmp(frame->name, "__local_depot", 13) != 0)
      continue;
    v.bytes = type_size(&d, e->type, 0);
    if (!v.bytes || v.bytes > 1u << 28 || v.offset > 1u << 28) continue;
    snprintf(v.frame, sizeof v.frame, "%.*s", (int)frame->len, frame->name);
    snprintf(v.name, sizeof v.name, "%s", e->name);
    describe_type(&d, entry_at(&d, e->type), &v);
    vec_push(out, v);
  }
  drop_overlapping(out);
  free_debug(&d);
}
