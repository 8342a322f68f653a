// Gives every register and label a new name. Registers declared as one range stay one range. A name
// in debug information keeps its length: there it is a number of that many bytes.
#include "ptx/ptx.h"

// in_debug: the PtxRegs that debug information names
typedef struct Renamer {
  PtxModule *m;
  U64Map in_debug;
  uint32_t same_length;
} Renamer;

// The n-th name of `len` characters: '%' and capital letters, which no special register has.
static const char *capital_name(Renamer *r, size_t len, uint32_t n) {
  char *text = arena_alloc(&r->m->arena, len + 1);
  text[0] = '%';
  for (size_t i = len - 1; i > 0; i--, n /= 26) text[i] = (char)('A' + n % 26);
  return text;
}

static size_t prefix_length(const char *name) {
  size_t n = strlen(name);
  while (n && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
  return n;
}

static void rename_group(Renamer *r, PtxReg *regs, uint32_t count, uint32_t group) {
  bool in_debug = false;
  for (uint32_t i = 0; i < count && !in_debug && r->in_debug.len; i++)
    in_debug = u64map_get(&r->in_debug, (uintptr_t)&regs[i]);
  size_t len = count ? prefix_length(regs[0].name) : 0;
  const char *prefix = NULL;
  if (in_debug && len > 1) {
    do prefix = capital_name(r, len, r->same_length++);
    while (!strncmp(prefix, regs[0].name, len));
  }
  bool single = count == 1 && len == strlen(regs[0].name);
  for (uint32_t i = 0; i < count; i++) {
    if (prefix)
      regs[i].name = single ? prefix
                            : arena_printf(&r->m->arena, "%s%s", prefix, regs[i].name + len);
    else regs[i].name = arena_printf(&r->m->arena, "%%wg%u_%u", group, i);
  }
}

static void rename_func(Renamer *r, PtxFunc *f, uint32_t number) {
  bool *declared = mem_alloc(f->nregs + 1);
  uint32_t group = 0;
  r->same_length = 0;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind != STMT_REGS) continue;
    PtxReg *first = f->stmts[i].regs.first;
    for (uint32_t k = 0; k < f->stmts[i].regs.count; k++) declared[first[k].id] = true;
    rename_group(r, first, f->stmts[i].regs.count, group++);
  }
  for (uint32_t i = 0; i < f->nregs; i++)  // .reg parameters
    if (!declared[i]) f->regs[i]->name = arena_printf(&r->m->arena, "%%wgp%u", i);
  free(declared);
  for (uint32_t i = 0; i < f->nlabels; i++)
    f->labels[i]->name = arena_printf(&r->m->arena, "$WG_%u_%u", number, i);
}

void ptx_rename_all(PtxModule *m) {
  Renamer r = {.m = m};
  for (uint32_t i = 0; i < m->nitems; i++)
    for (uint32_t k = 0; m->items[i].kind == ITEM_SECTION && k < m->items[i].nrefs; k++)
      if (m->items[i].refs[k].reg) u64map_put(&r.in_debug, (uintptr_t)m->items[i].refs[k].reg, m);
  for (uint32_t i = 0; i < m->nfuncs; i++) rename_func(&r, m->funcs[i], i);
  u64map_free(&r.in_debug);
}
