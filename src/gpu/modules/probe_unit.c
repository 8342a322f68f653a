// The probes of a program that is linked (-rdc=true) are a unit of their own.
//
// Linked code is compiled function by function: the compiler and the linker refuse a kernel that
// calls a function with more registers than the kernel may have, by its launch bounds or .maxnreg.
// Probes use up to 200 registers without a limit. So they are compiled with the limit of the kernel
// that has the fewest, and spill the rest; functions of the program keep their registers.
#include "gpu/modules/modules.h"

enum { REGISTER_FILE = 65536, REGISTER_STEP = 8, MOST_REGISTERS = 255 };
// what a function needs to be called at all
enum { FEWEST_REGISTERS = 24 };

static unsigned threads_of(PtxDim3 d) { return MAX(d.x, 1) * MAX(d.y, 1) * MAX(d.z, 1); }

// The most registers that the directives of a kernel admit.
static unsigned limit_of(const PtxFunc *f) {
  unsigned limit = f->maxnreg ? f->maxnreg : MOST_REGISTERS,
           threads = MAX(threads_of(f->maxntid), threads_of(f->reqntid)),
           all = (threads + 31) / 32 * 32 * MAX(f->minnctapersm, 1);
  return MIN(limit, REGISTER_FILE / MAX(all, 1) / REGISTER_STEP * REGISTER_STEP);
}

void gpu_probe_unit_limits(PtxModule *const *units, uint32_t n, unsigned *registers) {
  unsigned fewest = MOST_REGISTERS;
  for (uint32_t u = 0; u < n; u++)
    for (uint32_t i = 0; i < units[u]->nfuncs; i++) {
      const PtxFunc *f = units[u]->funcs[i];
      if (f->is_entry && !f->is_declaration) fewest = MIN(fewest, limit_of(f));
    }
  registers[n] = fewest < MOST_REGISTERS ? MAX(fewest, (unsigned)FEWEST_REGISTERS) : 0;
}

static bool is_probe(const PtxFunc *f, const char *prefix) {
  return !f->is_entry && !strncmp(f->name, prefix, strlen(prefix));
}

typedef VEC(PtxFunc *) Functions;
static bool has(const Functions *list, const char *name) {
  for (uint32_t i = 0; i < list->len; i++)
    if (!strcmp(list->data[i]->name, name)) return true;
  return false;
}

// Prints a unit with its probes declared only, or defined for others to call.
static void print(const PtxModule *m, const char *prefix, bool define, GpuTexts *out) {
  Str text = {0};
  for (uint32_t i = 0; i < m->nitems; i++)
    if (m->items[i].kind == ITEM_FUNC && is_probe(m->items[i].func, prefix)) {
      m->items[i].func->is_declaration = !define;
      m->items[i].func->linkage = define ? LINK_VISIBLE : LINK_EXTERN;
    }
  ptx_print(m, &text);
  for (uint32_t i = 0; i < m->nitems; i++)
    if (m->items[i].kind == ITEM_FUNC && is_probe(m->items[i].func, prefix)) {
      m->items[i].func->is_declaration = false;
      m->items[i].func->linkage = LINK_NONE;
    }
  vec_push(&out->units, text);
}

// A module with nothing but these functions in it.
static void print_probes(PtxModule *const *units, uint32_t n, const Functions *probes,
                         const char *prefix, GpuTexts *out) {
  char target[16];
  PtxModule m = {.sm = units[0]->sm, .address_size = 64, .address_size_given = true};
  m.items = mem_alloc(sizeof *m.items * probes->len);
  for (; m.nitems < probes->len; m.nitems++)
    m.items[m.nitems] = (PtxItem){.kind = ITEM_FUNC, .func = probes->data[m.nitems]};
  for (uint32_t u = 0; u < n; u++) {
    uint32_t version = units[u]->version_major * 100 + units[u]->version_minor;
    if (version > m.version_major * 100 + m.version_minor) {
      m.version_major = units[u]->version_major;
      m.version_minor = units[u]->version_minor;
    }
    m.sm = MIN(m.sm, units[u]->sm);
  }
  snprintf(target, sizeof target, "sm_%u", m.sm);
  m.target = target;
  print(&m, prefix, true, out);
  free(m.items);
}

void gpu_probe_unit_print(PtxModule *const *units, uint32_t n, const char *probe_prefix,
                          const unsigned *registers, GpuTexts *out) {
  Functions probes = {0};
  for (uint32_t u = 0; u < n; u++) {
    // callees first, as they stand in each unit
    for (uint32_t i = 0; i < units[u]->nitems; i++)
      if (units[u]->items[i].kind == ITEM_FUNC && is_probe(units[u]->items[i].func, probe_prefix) &&
          !has(&probes, units[u]->items[i].func->name))
        vec_push(&probes, units[u]->items[i].func);
    print(units[u], probe_prefix, false, out);
    vec_push(&out->registers, registers[u]);
  }
  if (probes.len) {
    print_probes(units, n, &probes, probe_prefix, out);
    vec_push(&out->registers, registers[n]);
  }
  vec_free(&probes);
}
