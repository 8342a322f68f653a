// Finds the blocks of a large grid that have no effect and need not run, as with `if (i < n)` in a
// grid far larger than n.
//
// The kernel's code is executed on intervals: block indices in a box of the grid, all thread
// indices, the launch's parameters. A box is idle if every path through the code ends before
// anything that could have an effect, fail or wait. Other boxes are halved. Only arithmetic,
// ld.param and forward branches count as free of effects.
#include "vgpu/core.h"

enum {
  LEAST_BLOCKS = 1 << 16,
  LEAF_BLOCKS = 32,
  MOST_TESTS = 200000,
  MOST_REGS = 4096,
  MOST_STEPS = 4000,
  MOST_FORKS = 16
};

// lo <= register as an unsigned number <= hi; a predicate: 0 or 1
typedef struct Value {
  uint64_t lo, hi;
  bool known;
} Value;
typedef struct Box {
  uint32_t first[3], last[3];
} Box;                                                 // of block indices, inclusive
typedef enum { IDLE, ACTIVE, ALWAYS_ACTIVE } Verdict;  // ALWAYS: whatever the block
typedef struct Finder {
  Launch *l;
  IrCfg *cfg;
  Box box;
  uint32_t steps, forks;
  uint64_t tests, most_tests;
  bool conditional;  // a condition was met on the way
  bool always;
} Finder;

static const Value unknown;
static Value exactly(uint64_t v) { return (Value){v, v, true}; }
static bool is_single(Value v) { return v.known && v.lo == v.hi; }
static uint64_t mask_of(unsigned bits) { return bits >= 64 ? UINT64_MAX : (1ull << bits) - 1; }

// [lo, hi] of exact numbers, taken modulo 2^bits.
static Value wrap(__int128 lo, __int128 hi, unsigned bits) {
  __int128 size = (__int128)1 << bits, page = lo / size - (lo % size < 0);
  lo -= page * size;
  hi -= page * size;
  return hi < size ? (Value){(uint64_t)lo, (uint64_t)hi, true} : unknown;
}

static bool signed_bounds(Value v, unsigned bits, __int128 *lo, __int128 *hi) {
  uint64_t top = 1ull << (bits - 1);
  if (!v.known || (v.lo < top) != (v.hi < top)) return false;
  __int128 less = v.lo < top ? 0 : (__int128)1 << bits;
  *lo = (__int128)v.lo - less;
  *hi = (__int128)v.hi - less;
  return true;
}

// --- operands ---
static Value special(const Finder *f, const PtxOperand *o) {
  unsigned part = o->selector >= SEL_X && o->selector <= SEL_Z ? (unsigned)(o->selector - SEL_X)
                                                               : 3;
  const Launch *l = f->l;
  if (o->sreg == SREG_LANEID) return (Value){0, LANES - 1, true};
  if (part > 2) return unknown;
  switch (o->sreg) {
    case SREG_CTAID: return (Value){f->box.first[part], f->box.last[part], true};
    case SREG_NCTAID: return exactly(l->grid[part]);
    case SREG_TID: return (Value){0, l->block[part] - 1, true};
    case SREG_NTID: return exactly(l->block[part]);
    default: return unknown;
  }
}

static Value source(const Finder *f, const Value *regs, const PtxOperand *o, unsigned bits) {
  Value v = unknown;
  if (o->kind == OPD_INT) v = exactly((uint64_t)o->imm & mask_of(bits));
  else if (o->kind == OPD_SREG) v = special(f, o);
  else if (o->kind == OPD_REG && !o->reg->vector && !o->selector) v = regs[o->reg->id];
  if (o->negated && v.known) v = is_single(v) ? exactly(!v.lo) : unknown;
  return v.known && v.hi <= mask_of(bits) ? v : unknown;
}

// --- arithmetic on integers of 32 and 64 bits ---
static Value multiply(Value a, Value b, unsigned bits) {
  if (!a.known || !b.known) return unknown;
  if (a.hi > UINT32_MAX && b.hi > UINT32_MAX) return unknown;  // so that the product fits
  return wrap((__int128)a.lo * b.lo, (__int128)a.hi * b.hi, bits);
}

static Value multiply_wide(Value a, Value b, bool is_signed, unsigned bits) {
  __int128 alo, ahi, blo, bhi;
  if (!a.known || !b.known) return unknown;
  if (!is_signed) return multiply(a, b, 2 * bits);
  if (!signed_bounds(a, bits, &alo, &ahi) || !signed_bounds(b, bits, &blo, &bhi)) return unknown;
  __int128 p[4] = {alo * blo, alo * bhi, ahi * blo, ahi * bhi}, lo = p[0], hi = p[0];
  for (unsigned i = 1; i < 4; i++) {
    lo = MIN(lo, p[i]);
    hi = MAX(hi, p[i]);
  }
  return wrap(lo, hi, 2 * bits);
}

static Value shift(PtxOp op, Value a, Value b, bool is_signed, unsigned bits) {
  if (!a.known || !is_single(b) || b.lo >= bits) return unknown;
  if (op == OP_SHL) return wrap((__int128)a.lo << b.lo, (__int128)a.hi << b.lo, bits);
  if (is_signed && a.hi >> (bits - 1)) return unknown;
  return (Value){a.lo >> b.lo, a.hi >> b.lo, true};
}

static Value bitwise(PtxOp op, Value a, Value b) {
  if (!a.known || !b.known) return unknown;
  bool exact = is_single(a) && is_single(b);
  if (op == OP_XOR) return exact ? exactly(a.lo ^ b.lo) : unknown;
  if (op == OP_AND) return exact ? exactly(a.lo & b.lo) : (Value){0, MIN(a.hi, b.hi), true};
  uint64_t most = MAX(a.hi, b.hi), all = most ? mask_of(64 - (unsigned)__builtin_clzll(most)) : 0;
  return exact ? exactly(a.lo | b.lo) : (Value){MAX(a.lo, b.lo), all, true};
}

static Value choose_bound(PtxOp op, Value a, Value b, bool is_signed, unsigned bits) {
  if (!a.known || !b.known || (is_signed && (a.hi | b.hi) >> (bits - 1))) return unknown;
  if (op == OP_MIN) return (Value){MIN(a.lo, b.lo), MIN(a.hi, b.hi), true};
  return (Value){MAX(a.lo, b.lo), MAX(a.hi, b.hi), true};
}

static Value convert(const PtxInstr *in, Value a) {
  PtxKind to = ptx_type_kind(in->types[0]), from = ptx_type_kind(in->types[1]);
  unsigned bits = ptx_type_size(in->types[0]) * 8, was = ptx_type_size(in->types[1]) * 8;
  __int128 lo = a.lo, hi = a.hi;
  if ((to != KIND_SIGNED && to != KIND_UNSIGNED) || (from != KIND_SIGNED && from != KIND_UNSIGNED))
    return unknown;
  if (!a.known || bits < 32 || was < 32 || ptx_has(in, MOD_SAT)) return unknown;
  // it would be extended
  if (in->ops[0].kind != OPD_REG || ptx_type_size(in->ops[0].reg->type) * 8 != bits) return unknown;
  if (from == KIND_SIGNED && !signed_bounds(a, was, &lo, &hi)) return unknown;
  return wrap(lo, hi, bits);
}

// --- predicates ---
static bool is_word(PtxType t) {  // no packed halves
  return t == TYPE_B32 || t == TYPE_U32 || t == TYPE_S32 || t == TYPE_B64 || t == TYPE_U64 ||
         t == TYPE_S64;
}

// -1: not known.
static int compare(PtxMod m, __int128 alo, __int128 ahi, __int128 blo, __int128 bhi) {
  bool below = ahi<blo, above = alo> bhi, same = alo == ahi && blo == bhi && alo == blo;
  switch (m) {
    case MOD_EQ: return same ? 1 : below || above ? 0 : -1;
    case MOD_NE: return same ? 0 : below || above ? 1 : -1;
    case MOD_LT:
    case MOD_LO: return below ? 1 : alo >= bhi ? 0 : -1;
    case MOD_LE:
    case MOD_LS: return ahi <= blo ? 1 : above ? 0 : -1;
    case MOD_GT:
    case MOD_HI: return above ? 1 : ahi <= blo ? 0 : -1;
    case MOD_GE:
    case MOD_HS: return alo >= bhi ? 1 : below ? 0 : -1;
    default: return -1;
  }
}

static Value set_predicate(const Finder *f, const Value *regs, const PtxInstr *in) {
  static const PtxMod comparisons[] = {MOD_EQ, MOD_NE, MOD_LT, MOD_LE, MOD_GT,
                                       MOD_GE, MOD_LO, MOD_LS, MOD_HI, MOD_HS};
  PtxKind kind = ptx_type_kind(in->types[0]);
  unsigned bits = ptx_type_size(in->types[0]) * 8;
  if (in->nops != 3 || !is_word(in->types[0])) return unknown;
  Value a = source(f, regs, &in->ops[1], bits), b = source(f, regs, &in->ops[2], bits);
  __int128 alo = a.lo, ahi = a.hi, blo = b.lo, bhi = b.hi;
  bool ok = a.known && b.known;
  if (kind == KIND_SIGNED)
    ok = ok && signed_bounds(a, bits, &alo, &ahi) && signed_bounds(b, bits, &blo, &bhi);
  int result = -1;
  for (unsigned i = 0; ok && i < ARRAY_LEN(comparisons); i++)
    if (ptx_has(in, comparisons[i])) result = compare(comparisons[i], alo, ahi, blo, bhi);
  return result < 0 ? unknown : exactly((uint64_t)result);
}

static Value combine_predicates(const Finder *f, const Value *regs, const PtxInstr *in) {
  Value a = source(f, regs, &in->ops[1], 1),
        b = in->nops > 2 ? source(f, regs, &in->ops[2], 1) : unknown;
  switch (in->op) {
    case OP_MOV: return a;
    case OP_NOT: return a.known ? exactly(!a.lo) : unknown;
    case OP_AND:
      return (a.known && !a.lo) || (b.known && !b.lo) ? exactly(0)
             : a.known && b.known                     ? exactly(1)
                                                      : unknown;
    case OP_OR:
      return (a.known && a.lo) || (b.known && b.lo) ? exactly(1)
             : a.known && b.known                   ? exactly(0)
                                                    : unknown;
    case OP_XOR: return a.known && b.known ? exactly(a.lo ^ b.lo) : unknown;
    default: return unknown;
  }
}

// --- one instruction ---
static bool is_param_load(const Finder *f, const PtxInstr *in, uint64_t *at) {
  const PtxOperand *o = in->nops > 1 ? &in->ops[1] : NULL;
  if (in->op != OP_LD || in->space != SPACE_PARAM || o->kind != OPD_ADDR || !o->nlist ||
      o->list[0].kind != OPD_VAR)
    return false;
  const PtxVar *v = o->list[0].var;
  const PtxFunc *func = f->cfg->func;
  for (uint32_t i = 0; i < func->nparams; i++) {
    if (func->params[i] != v) continue;
    *at = v->param_offset + (uint64_t)o->imm + (uint64_t)o->list[0].imm;
    unsigned bytes = ptx_type_size(in->types[in->ntypes - 1]) *
                     (in->ops[0].kind == OPD_VECTOR ? in->ops[0].nlist : 1);
    return *at <= func->param_bytes && bytes <= func->param_bytes - *at;
  }
  return false;
}

static Value parameter(const Finder *f, const PtxInstr *in, uint64_t at) {
  unsigned bytes = ptx_type_size(in->types[0]);
  uint64_t v = 0;
  if (in->ops[0].kind != OPD_REG || bytes < 4 || bytes > 8 ||
      ptx_type_size(in->ops[0].reg->type) != bytes)
    return unknown;
  memcpy(&v, f->l->arguments + at, bytes);
  return exactly(v);
}

static Value arithmetic(const Finder *f, const Value *regs, const PtxInstr *in) {
  PtxType t = in->ntypes ? in->types[0] : TYPE_NONE;
  PtxKind kind = ptx_type_kind(t);
  unsigned bits = ptx_type_size(t) * 8;
  bool is_signed = kind == KIND_SIGNED;
  if (t == TYPE_PRED) return combine_predicates(f, regs, in);
  if (in->op == OP_SETP) return set_predicate(f, regs, in);
  if (!is_word(t) || in->nops < 2 || ptx_has(in, MOD_SAT) || ptx_has(in, MOD_CC)) return unknown;
  Value a = source(f, regs, &in->ops[1], in->op == OP_CVT ? ptx_type_size(in->types[1]) * 8 : bits);
  Value b = in->nops > 2
                ? source(f, regs, &in->ops[2], in->op == OP_SHL || in->op == OP_SHR ? 32 : bits)
                : unknown;
  bool both = a.known && b.known;
  switch (in->op) {
    case OP_MOV: return a;
    case OP_CVT: return convert(in, a);
    case OP_ADD: return both ? wrap((__int128)a.lo + b.lo, (__int128)a.hi + b.hi, bits) : unknown;
    case OP_SUB: return both ? wrap((__int128)a.lo - b.hi, (__int128)a.hi - b.lo, bits) : unknown;
    case OP_MUL:
      if (ptx_has(in, MOD_WIDE)) return bits == 32 ? multiply_wide(a, b, is_signed, bits) : unknown;
      return ptx_has(in, MOD_LO) ? multiply(a, b, bits) : unknown;
    case OP_MAD: {
      bool wide = ptx_has(in, MOD_WIDE);
      if (!ptx_has(in, MOD_LO) && !(wide && bits == 32)) return unknown;
      Value p = wide ? multiply_wide(a, b, is_signed, bits) : multiply(a, b, bits),
            c = source(f, regs, &in->ops[3], wide ? 64 : bits);
      return p.known && c.known
                 ? wrap((__int128)p.lo + c.lo, (__int128)p.hi + c.hi, wide ? 64 : bits)
                 : unknown;
    }
    case OP_SHL:
    case OP_SHR: return shift(in->op, a, b, is_signed, bits);
    case OP_AND:
    case OP_OR:
    case OP_XOR: return bitwise(in->op, a, b);
    case OP_MIN:
    case OP_MAX: return choose_bound(in->op, a, b, is_signed, bits);
    case OP_SELP: {
      Value p = source(f, regs, &in->ops[3], 1);
      if (p.known) return p.lo ? a : b;
      return both ? (Value){MIN(a.lo, b.lo), MAX(a.hi, b.hi), true} : unknown;
    }
    default: return unknown;
  }
}

static void forget(void *regs, PtxReg **reg, bool is_def) {
  if (is_def) ((Value *)regs)[(*reg)->id] = unknown;
}

// false: it may have an effect.
static bool step(const Finder *f, Value *regs, PtxInstr *in, bool certain) {
  uint64_t at;
  Value v = unknown;
  if (is_param_load(f, in, &at)) v = parameter(f, in, at);
  else if (ptx_op_is_arith(in->op)) v = arithmetic(f, regs, in);
  else if (in->op != OP_CVTA) return false;
  ptx_visit_regs(in, forget, regs);
  const PtxOperand *d = in->nops ? &in->ops[0] : NULL;
  if (certain && d && d->kind == OPD_REG && !d->reg->vector && !d->selector) regs[d->reg->id] = v;
  return true;
}

// --- paths ---
static Verdict run_paths(Finder *f, Value *regs, uint32_t block);

static Verdict fork_path(Finder *f, const Value *regs, uint32_t block) {
  if (++f->forks > MOST_FORKS) return ACTIVE;
  size_t bytes = (f->cfg->func->nregs + 1) * sizeof(Value);
  Value *copy = memcpy(mem_alloc(bytes), regs, bytes);
  Verdict v = run_paths(f, copy, block);
  free(copy);
  return v;
}

static Verdict effect(Finder *f) {
  f->always |= !f->conditional;
  return ACTIVE;
}

// Executes from the block's first instruction to the end of the kernel.
static Verdict run_paths(Finder *f, Value *regs, uint32_t block) {
  for (;;) {
    const IrBlock *b = &f->cfg->blocks[block];
    uint32_t next = b->nsucc ? b->succ[b->nsucc - 1] : IR_NONE;
    for (uint32_t i = b->first; i < b->end; i++) {
      PtxInstr *in = f->cfg->instrs[i];
      if (++f->steps > MOST_STEPS) return ACTIVE;
      Value guard = in->guard ? regs[in->guard->id] : exactly(1);
      if (guard.known && in->guard_negated) guard = exactly(!guard.lo);
      f->conditional |= in->guard != NULL;
      if (guard.known && !guard.lo) continue;
      if (in->op == OP_RET || in->op == OP_EXIT) {
        if (guard.known) return IDLE;
      } else if (in->op == OP_BRA) {
        uint32_t target = f->cfg->label_block[in->ops[0].label->id];
        if (f->cfg->blocks[target].rpo <= b->rpo) return effect(f);  // a loop
        if (!guard.known && fork_path(f, regs, target) != IDLE) return ACTIVE;
        if (guard.known) next = target;
        if (guard.known) break;
      } else if (!step(f, regs, in, guard.known)) return effect(f);
    }
    if (next == IR_NONE) return IDLE;
    if (f->cfg->blocks[next].rpo <= b->rpo) return effect(f);
    block = next;
  }
}

static Verdict test(Finder *f, const Box *box) {
  if (f->tests >= f->most_tests || f->always) return ACTIVE;
  f->tests++;
  f->box = *box;
  f->steps = f->forks = 0;
  f->conditional = false;
  size_t bytes = (f->cfg->func->nregs + 1) * sizeof(Value);
  Value *regs = mem_alloc(bytes);
  Verdict v = run_paths(f, regs, 0);
  free(regs);
  return v;
}

// --- boxes: split along z, then y, then x, so that each is a run of blocks in linear order ---
static uint64_t linear(const Launch *l, const uint32_t *at) {
  return at[0] + (uint64_t)l->grid[0] * (at[1] + (uint64_t)l->grid[1] * at[2]);
}

static void add_active(Launch *l, const Box *box) {
  uint64_t first = linear(l, box->first), end = linear(l, box->last) + 1;
  BlockRun *last = l->active.len ? &l->active.data[l->active.len - 1] : NULL;
  uint64_t before = last ? last->before + last->count : 0;
  if (last && last->first + last->count == first) last->count = end - last->first;
  else vec_push(&l->active, (BlockRun){first, end - first, before});
}

static void search(Finder *f, const Box *box) {
  if (test(f, box) == IDLE) return;
  unsigned axis = box->first[2] < box->last[2] ? 2 : box->first[1] < box->last[1] ? 1 : 0;
  uint64_t blocks = linear(f->l, box->last) - linear(f->l, box->first) + 1;
  if (blocks <= LEAF_BLOCKS || f->always || f->tests >= f->most_tests) {
    add_active(f->l, box);
    return;
  }
  Box low = *box, high = *box;
  low.last[axis] = box->first[axis] + (box->last[axis] - box->first[axis]) / 2;
  high.first[axis] = low.last[axis] + 1;
  search(f, &low);
  search(f, &high);
}

void idle_blocks_find(Launch *l) {
  PtxFunc *func = l->kernel->sym->func;
  if (l->nblocks < LEAST_BLOCKS || l->group_size != 1 || l->request->cooperative) return;
  if (l->kernel->code->has_unsupported || func->nregs > MOST_REGS) return;
  Error err = {""};
  Finder f = {.l = l,
              .cfg = ir_cfg_build(func, &err),
              .most_tests = MIN(l->nblocks / LEAF_BLOCKS, (uint64_t)MOST_TESTS)};
  if (!f.cfg) return;
  Box all = {.last = {l->grid[0] - 1, l->grid[1] - 1, l->grid[2] - 1}};
  if (f.cfg->norder) search(&f, &all);
  else add_active(l, &all);
  ir_cfg_free(f.cfg);
  const BlockRun *last = l->active.len ? &l->active.data[l->active.len - 1] : NULL;
  l->ngroups = last ? last->before + last->count : 0;
}

// The linear index of the n-th block that runs.
uint64_t idle_blocks_index(const Launch *l, uint64_t n) {
  if (!l->active.len) return n;
  uint32_t low = 0, high = l->active.len - 1;
  while (low < high) {
    uint32_t middle = low + (high - low + 1) / 2;
    if (l->active.data[middle].before <= n) low = middle;
    else high = middle - 1;
  }
  return l->active.data[low].first + (n - l->active.data[low].before);
}
