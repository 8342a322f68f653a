// Finds instructions whose results may differ between devices or between runs: approximations, and
// instructions whose result depends on the order of threads. For warpgrind gold.
#include "weave/pass.h"

#include <math.h>

// The largest difference between a GPU's and the virtual device's result of an instruction:
// tests/semantics/forms.def compares both.
static const struct {
  PtxOp op;
  PtxMod mod;
  double ulps, relative, absolute;
} limits[] = {{OP_DIV, MOD_APPROX, 4, 0, 0},       {OP_DIV, MOD_FULL, 4, 0, 0},
              {OP_RCP, MOD_APPROX, 2, 0, 0},       {OP_SQRT, MOD_APPROX, 4, 0, 0},
              {OP_RSQRT, MOD_APPROX, 4, 0, 0},     {OP_SIN, MOD_APPROX, 0, 0, 0x1p-19},
              {OP_COS, MOD_APPROX, 0, 0, 0x1p-19}, {OP_LG2, MOD_APPROX, 3, 0, 0x1p-21},
              {OP_EX2, MOD_APPROX, 5, 0, 0},       {OP_TANH, MOD_APPROX, 0, 0x1p-10, 0}};

typedef struct Numerics {
  VEC(const char *) approximate, order;
  double relative, absolute;
  Arena *arena;
} Numerics;

static double unit_of(PtxType t) {
  switch (t) {
    case TYPE_F16:
    case TYPE_F16X2: return 0x1p-10;
    case TYPE_BF16:
    case TYPE_BF16X2: return 0x1p-7;
    case TYPE_F64: return 0x1p-20;  // approximations of double precision see the upper half only
    default: return 0x1p-23;
  }
}

static void mnemonic(const PtxInstr *in, Str *out) {
  Str text = {0};
  ptx_print_instr(in, &text);
  const char *start = text.data;
  if (*start == '@') start = strchr(start, ' ') ? strchr(start, ' ') + 1 : start;
  str_addn(out, start, strcspn(start, " \t;"));
  str_free(&text);
}

static void look_at_value(Numerics *n, const PtxInstr *in) {
  for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
    if (in->op != limits[i].op || !ptx_has(in, limits[i].mod)) continue;
    Str name = {0};
    mnemonic(in, &name);
    n->relative = fmax(
        n->relative,
        fmax(limits[i].relative, limits[i].ulps * unit_of(in->ntypes ? in->types[0] : TYPE_F32)));
    n->absolute = fmax(n->absolute, limits[i].absolute);
    for (uint32_t k = 0; k < n->approximate.len; k++)
      if (!strcmp(n->approximate.data[k], name.data)) name.len = 0;
    if (name.len) vec_push(&n->approximate, arena_strdup(n->arena, name.data));
    str_free(&name);
    return;
  }
}

static void add_order(Numerics *n, const char *text) {
  for (uint32_t k = 0; k < n->order.len; k++)
    if (!strcmp(n->order.data[k], text)) return;
  vec_push(&n->order, arena_strdup(n->arena, text));
}

static bool is_float(const PtxInstr *in) {
  for (unsigned i = 0; i < in->ntypes; i++)
    if (ptx_type_kind(in->types[i]) == KIND_FLOAT) return true;
  return false;
}

static bool sees_time(const PtxOperand *o) {
  if (o->kind == OPD_SREG) switch (o->sreg) {
      case SREG_CLOCK:
      case SREG_CLOCK64:
      case SREG_CLOCK_HI:
      case SREG_GLOBALTIMER:
      case SREG_GLOBALTIMER_LO:
      case SREG_SMID:
      case SREG_WARPID: return true;
      default: return false;
    }
  for (unsigned i = 0; i < o->nlist; i++)
    if (sees_time(&o->list[i])) return true;
  return false;
}

// Notes registers that are read: an atomic whose result is unread learns nothing.
static void note_read(void *user, PtxReg **reg, bool is_def) {
  if (!is_def) u64map_put(user, (uintptr_t)*reg, *reg);
}

static bool result_is_read(const PtxInstr *in, const U64Map *read) {
  return in->ops[0].kind != OPD_REG || u64map_get(read, (uintptr_t)in->ops[0].reg);
}

static void look_at_order(Numerics *n, const PtxInstr *in, const U64Map *read) {
  bool atomic = in->op == OP_ATOM || in->op == OP_RED;
  Str name = {0};
  mnemonic(in, &name);
  if (atomic && is_float(in) && ptx_has(in, MOD_ADD))
    add_order(n, arena_printf(n->arena, "%s adds in the order in which threads come", name.data));
  else if (in->op == OP_ATOM && in->space != SPACE_SHARED && result_is_read(in, read))
    add_order(
        n, arena_printf(n->arena, "what %s finds depends on which thread comes first", name.data));
  for (unsigned i = 0; i < in->nops; i++)
    if (sees_time(&in->ops[i])) add_order(n, "it reads a clock, or where it runs");
  str_free(&name);
}

static const char *joined(Arena *a, const char *const *list, uint32_t n) {
  Str text = {0};
  for (uint32_t i = 0; i < n && i < 8; i++) str_printf(&text, "%s%s", i ? "; " : "", list[i]);
  if (n > 8) str_add(&text, "; …");
  const char *result = n ? arena_strdup(a, text.data) : NULL;
  str_free(&text);
  return result;
}

static void look_at_function(Numerics *n, const PtxFunc *f, U64Map *seen) {
  if (u64map_get(seen, (uintptr_t)f)) return;
  u64map_put(seen, (uintptr_t)f, seen);
  U64Map read = {0};
  for (uint32_t i = 0; i < f->nstmts; i++)
    if (f->stmts[i].kind == STMT_INSTR) ptx_visit_regs(f->stmts[i].instr, note_read, &read);
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind != STMT_INSTR) continue;
    const PtxInstr *in = f->stmts[i].instr;
    look_at_value(n, in);
    look_at_order(n, in, &read);
    const FuncInfo *callee = in->op == OP_CALL ? program_callee(in) : NULL;
    if (callee) look_at_function(n, callee->func, seen);
  }
  u64map_free(&read);
}

void numerics_find(Program *p) {
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      const PtxFunc *f = p->units[u]->funcs[i];
      if (!f->is_entry || f->is_declaration) continue;
      Numerics n = {.arena = &p->out->arena};
      U64Map seen = {0};
      look_at_function(&n, f, &seen);
      WovenKernel *k = &p->out->kernels[func_info(f)->kernel];
      k->approximate = joined(n.arena, n.approximate.data, n.approximate.len);
      k->order_dependent = joined(n.arena, n.order.data, n.order.len);
      k->relative_limit = n.relative;
      k->absolute_limit = n.absolute;
      vec_free(&n.approximate);
      vec_free(&n.order);
      u64map_free(&seen);
    }
}
