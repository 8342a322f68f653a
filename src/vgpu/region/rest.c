// Lists the instructions of a function that are not compiled, for -v: those whose execute functions
// are called, and those at which the interpreter continues, most frequent first.
#include "vgpu/region/region.h"

enum { MOST_KINDS = 64, MOST_NAMED = 12 };

typedef struct Kind {
  char name[48];
  uint32_t n;
} Kind;

typedef struct Rest {
  Kind kinds[MOST_KINDS];
  uint32_t nkinds;
} Rest;

// The opcode with its modifiers: what stands before the first blank of the printed instruction.
static void name_of(const PtxInstr *in, bool called, char *name, size_t size) {
  Str text = {0};
  ptx_print_instr(in, &text);
  const char *p = text.data + strspn(text.data, " \t");
  if (*p == '@') p += strcspn(p, " ") + 1;
  snprintf(name, size, "%.*s%s%s", (int)MIN(strcspn(p, " ;"), (size_t)30), p,
           in->guard ? " (guarded)" : "", called ? "" : "!");
  str_free(&text);
}

static void add(Rest *rest, const PtxInstr *in, bool called) {
  char name[sizeof rest->kinds->name];
  name_of(in, called, name, sizeof name);
  uint32_t k = 0;
  while (k < rest->nkinds && strcmp(rest->kinds[k].name, name)) k++;
  if (k == MOST_KINDS) return;
  if (k == rest->nkinds) memcpy(rest->kinds[rest->nkinds++].name, name, sizeof name);
  rest->kinds[k].n++;
}

static int by_number(const void *a, const void *b) {
  uint32_t x = ((const Kind *)a)->n, y = ((const Kind *)b)->n;
  return x < y ? 1 : x > y ? -1 : strcmp(((const Kind *)a)->name, ((const Kind *)b)->name);
}

static bool is_guarded_access(const Region *r, const Inst *in, Shape s) {
  return (s == SHAPE_LOAD || s == SHAPE_STORE) && in->fn == exec_guarded &&
         r->lanes[in->src->guard->id] != LANES_SAME && !region_can_gather(in);
}

void region_list_rest(const Region *r, Str *out) {
  Rest rest = {.nkinds = 0};
  for (uint32_t i = 0; i < r->code->ninsts; i++) {
    const Inst *in = &r->code->insts[i];
    Shape s = (Shape)r->shape[i];
    if (!r->group_end[i] || !in->src || region_is_cold(r, in)) continue;
    if (in->src->op == OP_RET || in->src->op == OP_EXIT || in->fn == exec_return) continue;
    if (s == SHAPE_STOP) add(&rest, in->src, false);
    else if (s == SHAPE_UNKNOWN || is_guarded_access(r, in, s)) add(&rest, in->src, true);
  }
  qsort(rest.kinds, rest.nkinds, sizeof *rest.kinds, by_number);
  for (uint32_t k = 0; k < MIN(rest.nkinds, (uint32_t)MOST_NAMED); k++)
    str_printf(out, "%s %s %u", k ? "," : "", rest.kinds[k].name, rest.kinds[k].n);
}
