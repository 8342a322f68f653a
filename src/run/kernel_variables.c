// Variables of kernels in shared and local memory: their addresses, from the kernel's PTX; their
// names and types, from the source that declares them. nvcc keeps neither in PTX: all it has is
// `.shared .align 4 .b8 _ZZ6reducePfPKfE1s[1024]` and one `.local` array for all variables of a
// function.
#include "run/declared.h"
#include "run/frame_variables.h"
#include "run/internal.h"

#include <ctype.h>

// SHARED_START: shared memory below belongs to the system, on devices of compute capability 8 and
// later and on the virtual device
enum { VARIABLES_MOST = 64, SHARED_START = 1024, DYNAMIC_ALIGN = 16 };
static const int64_t NOWHERE = -1;

typedef struct Variable {
  char object[512];                // as linked
  bool shared, dynamic, of_entry;  // of_entry: declared in the kernel itself
  uint64_t bytes, align;
  int64_t address;
} Variable;
typedef struct Variables {
  Variable list[VARIABLES_MOST];
  unsigned n;
} Variables;

static bool is_word(char c) { return isalnum((unsigned char)c) || strchr("_$%", c) != NULL; }

static unsigned scalar_bytes(const char *type, size_t n) {
  static const struct {
    const char *name;
    unsigned bytes;
  } types[] = {{".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2},  {".u16", 2}, {".s16", 2},
               {".f16", 2}, {".b32", 4}, {".u32", 4}, {".s32", 4},  {".f32", 4}, {".b64", 8},
               {".u64", 8}, {".s64", 8}, {".f64", 8}, {".b128", 16}};
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (strlen(types[i].name) == n && !strncmp(types[i].name, type, n)) return types[i].bytes;
  return 0;
}

// ".extern .shared .align 16 .b8 smem[];" false: another statement.
static bool read_declaration(const char *p, size_t len, Variable *v) {
  const char *end = p + len;
  bool space = false, external = false;
  uint64_t element = 0, vector = 1;
  *v = (Variable){.align = 1, .address = NOWHERE};
  for (p += strspn(p, " \t"); p < end && *p == '.'; p += strspn(p, " \t")) {
    size_t n = 1;
    while (p + n < end && (isalnum((unsigned char)p[n]) || p[n] == '_')) n++;
    if (n == 7 && !strncmp(p, ".shared", 7)) space = v->shared = true;
    else if (n == 6 && !strncmp(p, ".local", 6)) space = true;
    else if (n == 7 && !strncmp(p, ".extern", 7)) external = true;
    else if (n == 6 && !strncmp(p, ".align", 6)) {
      char *next;
      v->align = strtoull(p + n, &next, 10);
      n = (size_t)(next - p);
    } else if (n == 3 && p[1] == 'v') vector = (uint64_t)(p[2] - '0');
    else if (scalar_bytes(p, n)) element = scalar_bytes(p, n);
    p += n;
  }
  size_t n = 0;
  while (p + n < end && is_word(p[n])) n++;
  if (!space || !element || !n || n >= sizeof v->object) return false;
  snprintf(v->object, sizeof v->object, "%.*s", (int)n, p);
  v->bytes = element * vector;
  for (p += n; p < end && *p == '['; p++) {
    uint64_t count = strtoull(p + 1, NULL, 10);
    v->dynamic |= external && count == 0;
    v->bytes *= count;
    p += strcspn(p, "]");
    if (p >= end) return false;
  }
  return v->align && v->align <= 1 << 20 && v->bytes <= 1 << 28;
}

static void read_variables(const char *code, const char *entry, const char *end, Variables *all) {
  for (const char *p = code; *p; p += strcspn(p, "\n"), p += *p == '\n') {
    Variable v;
    if (all->n == VARIABLES_MOST || !read_declaration(p, strcspn(p, "\n;"), &v)) continue;
    bool known = false;
    v.of_entry = entry && p > entry && p < end;
    for (unsigned i = 0; i < all->n; i++) known |= !strcmp(all->list[i].object, v.object);
    if (!known) all->list[all->n++] = v;
  }
}

static bool is_declaration(const char *code, const char *p) {
  while (p > code && p[-1] != '\n') p--;
  Variable v;
  return read_declaration(p, strcspn(p, "\n;"), &v);
}

// Lays variables out as the virtual device does: in the order in which the code first refers to
// them (vgpu/kernel.c). Variables that only called functions refer to get no place here.
static void lay_out(const char *code, const char *end, Variables *all) {
  uint64_t at = SHARED_START, align = DYNAMIC_ALIGN;
  for (const char *p = code; p < end; p++) {
    if (!is_word(*p) || (p > code && (is_word(p[-1]) || p[-1] == '.'))) continue;
    size_t n = 1;
    while (p + n < end && is_word(p[n])) n++;
    for (unsigned i = 0; i < all->n; i++) {
      Variable *v = &all->list[i];
      if (!v->shared || strlen(v->object) != n || strncmp(v->object, p, n) ||
          v->address != NOWHERE || is_declaration(code, p))
        continue;
      if (v->dynamic) align = MAX(align, v->align);
      else {
        at = (at + v->align - 1) / v->align * v->align;
        v->address = (int64_t)at;
        at += v->bytes;
      }
    }
    p += n - 1;
  }
  bool whole = true;  // every variable before the dynamic part has its place
  for (unsigned i = 0; i < all->n; i++)
    whole &= !all->list[i].shared || all->list[i].dynamic || all->list[i].address != NOWHERE;
  for (unsigned i = 0; i < all->n; i++)
    if (all->list[i].dynamic && whole)
      all->list[i].address = (int64_t)((at + align - 1) / align * align);
}

// On a GPU ptxas decides; one variable alone can only be at the start.
static void forget_places(Variables *all) {
  unsigned shared = 0;
  for (unsigned i = 0; i < all->n; i++) shared += all->list[i].shared;
  for (unsigned i = 0; i < all->n; i++)
    if (shared > 1 || !all->list[i].shared) all->list[i].address = NOWHERE;
}

// --- names and types ---

typedef struct Described {
  char name[512];
  DeclaredArray declared;
  bool is_declared;
  const char *why;  // why it is not
} Described;

// "reduce(float*, float const*)::s": s, of reduce.
static void describe_shared(Run *r, const RunKernel *k, const Source *source, const Variable *v,
                            Described *out) {
  char function[512], of[512];
  const char *readable = run_readable_name(r, v->object), *last = NULL;
  for (const char *p = readable; (p = strstr(p, "::")); p += 2) last = p;
  snprintf(out->name, sizeof out->name, "%s", last ? last + 2 : readable);
  snprintf(of, sizeof of, "%.*s", last ? (int)(last - readable) : 0, readable);
  if (!run_base_name(last ? of : k->readable, function, sizeof function)) function[0] = 0;
  DeclaringFunction in = {source, function, last ? of : k->readable};
  out->is_declared = source && declared_shared(&in, out->name, &out->declared);
  out->why = !source ? "the source of the kernel could not be read when it was recorded"
                     : "its declaration was not found in the source";
}

// All sites that use the function's local memory must be written in one and the same function.
static bool local_function(Run *r, const RunKernel *k, const char *object, char *out, size_t size) {
  uint32_t it = 0;
  uint64_t number;
  void *found;
  out[0] = 0;
  while (u64map_next(&k->process->sites, &it, &number, &found)) {
    const RunSite *s = found;
    if (!s->object || strcmp(s->object, object) || !s->nplaces) continue;
    const char *own = s->function ? run_readable_name(r, s->function) : k->readable,
               *function = s->nplaces > 1 && s->places[0].function ? s->places[0].function : own;
    char name[512];
    if (!run_base_name(function, name, sizeof name) || (out[0] && strcmp(out, name))) return false;
    snprintf(out, size, "%s", name);
  }
  return out[0] != 0;
}

static void describe_local(Run *r, const RunKernel *k, const Source *source, const Variable *v,
                           Described *out) {
  char function[512];
  DeclaringFunction in = {source, function, k->readable};
  snprintf(out->name, sizeof out->name, "%s", v->object);
  out->why = "several variables share a function's local memory, and PTX does not name them";
  out->is_declared = source && local_function(r, k, v->object, function, sizeof function) &&
                     declared_local(&in, &out->declared);
  if (out->is_declared) snprintf(out->name, sizeof out->name, "%s", out->declared.name);
}

// Fills in the one dimension that the source does not tell as a number. false: it does not fit.
static bool complete_dims(DeclaredArray *a, uint64_t element, const Variable *v) {
  uint64_t product = element;
  unsigned missing = UINT32_MAX;
  for (unsigned i = 0; i < a->ndims; i++) {
    if (a->dims[i]) product *= a->dims[i];
    else if (missing == UINT32_MAX) missing = i;
    else return false;
  }
  if (!product) return false;
  if (v->dynamic) return missing == 0 || missing == UINT32_MAX;
  if (missing != UINT32_MAX) {
    a->dims[missing] = v->bytes / product;
    product *= a->dims[missing];
  }
  return product == v->bytes;
}

static void save_variable(Run *r, const RunKernel *k, const Variable *v, Described *d) {
  DeclaredArray *a = &d->declared;
  int64_t type = d->is_declared ? run_type_id(r, k->process->symbols, a->type) : 0;
  uint64_t element = type ? run_type_bytes(r, type) : 0;
  Str dims = {0};
  if (d->is_declared && !type)
    d->why = "its type is not described: compile with -g for the fields of structs";
  if (type && !complete_dims(a, element, v)) {
    type = 0;
    d->why = "its size is not what the source declares";
  }
  // a local array that does not fill the frame may be a different one
  if (!v->shared && !type) snprintf(d->name, sizeof d->name, "%s", v->object);
  for (unsigned i = 0; type && i < a->ndims; i++)
    str_printf(&dims, "%s%llu", i ? "," : "", (unsigned long long)a->dims[i]);
  char kinds[] = "itttiiittxx";
  if (v->address == NOWHERE) kinds[4] = 'x';
  run_save(r, TABLE_kernel_variable, kinds, (int64_t)k->id, v->shared ? "shared" : "local",
           v->object, d->name, v->address, (int64_t)v->bytes, type, dims.len ? dims.data : NULL,
           type ? NULL : d->why, (int64_t)0, (int64_t)0);
  str_free(&dims);
}

// Variables that debug information of unoptimised code (-G) finds in a frame. false: it has none.
static bool save_frame(Run *r, const RunKernel *k, const Variable *frame) {
  bool any = false;
  FrameVariable v;
  for (const char *p = k->frames.data; p && frame_variable_next(&p, &v);) {
    if (strcmp(v.frame, frame->object) || v.offset + v.bytes > frame->bytes) continue;
    int64_t type = v.type[0] ? run_type_id(r, k->process->symbols, v.type) : 0;
    uint64_t element = type ? run_type_bytes(r, type) : 0;
    if (element && v.bytes % element) type = 0;
    char kinds[] = "itttiiittii";
    if (frame->address == NOWHERE) kinds[4] = 'x';
    run_save(r, TABLE_kernel_variable, kinds, (int64_t)k->id, "local", frame->object, v.name,
             frame->address == NOWHERE ? NOWHERE : frame->address + (int64_t)v.offset,
             (int64_t)v.bytes, type, v.dims[0] ? v.dims : NULL,
             type ? NULL : "its type is not described: compile with -g for the fields of structs",
             (int64_t)v.offset, (int64_t)frame->bytes);
    any = true;
  }
  return any;
}

void run_save_variables(Run *r, RunKernel *k) {
  if (!k->code.len) return;
  Variables *all = mem_alloc(sizeof *all);
  const Source *source = run_kernel_source(r, k);
  // the kernel itself: functions that it calls follow
  const char *entry = strstr(k->code.data, ".entry"), *end = entry ? strstr(entry, ".func") : NULL;
  if (entry && !end) end = entry + strlen(entry);
  read_variables(k->code.data, entry, end, all);
  if (entry) lay_out(entry, end, all);
  // the frame of a called function lies wherever the stack is at the call
  for (unsigned i = 0; i < all->n; i++)
    if (!all->list[i].shared) all->list[i].address = all->list[i].of_entry ? 0 : NOWHERE;
  if (k->process->device && strcmp(k->process->device, "cpu")) forget_places(all);
  for (unsigned i = 0; i < all->n; i++) {
    Described d = {0};
    if (!all->list[i].shared && save_frame(r, k, &all->list[i])) continue;
    if (all->list[i].shared) describe_shared(r, k, source, &all->list[i], &d);
    else describe_local(r, k, source, &all->list[i], &d);
    save_variable(r, k, &all->list[i], &d);
  }
  free(all);
}
