// range: bounds an address relative to the variable it was computed from, for any input of the
// program.
//
// Computes, per basic block, intervals of the integer registers that addresses of variables depend
// on. They are propagated forwards, joined where paths meet, and narrowed by the comparison of a
// branch. A value computed from a compared register before the comparison is narrowed too, if
// computing it again would give the same. A bound that keeps moving around a loop is given up at
// the loop's header; two more rounds without giving up recover the bounds that comparisons give. A
// 32-bit register counts as signed; a result that does not fit is unbounded, because it may have
// wrapped.
#include "ir/ir.h"

enum {
  GIVE_UP_AFTER = 3,
  NARROWING_ROUNDS = 3,
  MOST_ENTRIES = 1 << 20,
  MOST_THREADS = 1024,
  MOST_THREADS_Z = 64
};

typedef struct Analysis {
  const IrCfg *c;
  const IrDefs *defs;
  Arena arena;
  uint32_t *slot, n;  // by register: its place in a state, IR_NONE: not followed
  const PtxReg **regs;
  IrRange *entry, *next, *now;  // entry, next: by block, n each
  bool *reached, *next_reached;
  uint32_t *visits;
  bool *narrowed, any_narrowed;  // by slot: narrowed by the current branch
  // instructions that compute one followed register from others, operands before their users;
  // words: of a bit set of such instructions
  uint32_t *derived, nderived, words;
  uint64_t *valid;  // by block: those that would give the same result again at its end
} Analysis;

// --- intervals ---

static IrRange anything(unsigned bytes) {
  return bytes == 4 ? (IrRange){NULL, INT32_MIN, INT32_MAX} : (IrRange){NULL, INT64_MIN, INT64_MAX};
}
static IrRange number(int64_t n) { return (IrRange){NULL, n, n}; }
static IrRange between(int64_t low, int64_t high) { return (IrRange){NULL, low, high}; }

// The range of a result in a register of so many bytes.
static IrRange fit(IrRange r, unsigned bytes) {
  return bytes == 4 && (r.low < INT32_MIN || r.high > INT32_MAX) ? anything(4) : r;
}

static bool same(IrRange a, IrRange b) {
  return a.var == b.var && a.low == b.low && a.high == b.high;
}

static IrRange join(IrRange a, IrRange b, unsigned bytes) {
  if (a.var != b.var) return anything(bytes);
  return (IrRange){a.var, MIN(a.low, b.low), MAX(a.high, b.high)};
}

static IrRange sum(IrRange a, IrRange b, unsigned bytes) {
  IrRange r = {a.var ? a.var : b.var, 0, 0};
  if ((a.var && b.var) || __builtin_add_overflow(a.low, b.low, &r.low) ||
      __builtin_add_overflow(a.high, b.high, &r.high))
    return anything(bytes);
  return fit(r, bytes);
}

static IrRange difference(IrRange a, IrRange b, unsigned bytes) {
  IrRange r = {a.var, 0, 0};
  if (b.var || __builtin_sub_overflow(a.low, b.high, &r.low) ||
      __builtin_sub_overflow(a.high, b.low, &r.high))
    return anything(bytes);
  return fit(r, bytes);
}

static IrRange product(IrRange a, IrRange b, unsigned bytes) {
  int64_t p[4];
  if (a.var || b.var || __builtin_mul_overflow(a.low, b.low, &p[0]) ||
      __builtin_mul_overflow(a.low, b.high, &p[1]) ||
      __builtin_mul_overflow(a.high, b.low, &p[2]) || __builtin_mul_overflow(a.high, b.high, &p[3]))
    return anything(bytes);
  return fit(between(MIN(MIN(p[0], p[1]), MIN(p[2], p[3])), MAX(MAX(p[0], p[1]), MAX(p[2], p[3]))),
             bytes);
}

static int64_t ones_up_to(int64_t n) {  // the smallest 2^k - 1 that is >= n
  int64_t mask = 0;
  while (mask < n) mask = mask << 1 | 1;
  return mask;
}

static bool is_natural(IrRange r) { return !r.var && r.low >= 0; }

static IrRange bits(PtxResult what, IrRange a, IrRange b, unsigned bytes) {
  if (what == RESULT_AND && is_natural(a))
    return between(0, is_natural(b) ? MIN(a.high, b.high) : a.high);
  if (what == RESULT_AND && is_natural(b)) return between(0, b.high);
  if (what == RESULT_AND || !is_natural(a) || !is_natural(b)) return anything(bytes);
  return between(what == RESULT_OR ? MAX(a.low, b.low) : 0, ones_up_to(MAX(a.high, b.high)));
}

static IrRange shifted_left(IrRange a, IrRange by, unsigned bytes) {
  if (!is_natural(by) || by.high > 31) return anything(bytes);
  if (by.low != by.high && !is_natural(a)) return anything(bytes);
  IrRange least = product(a, number((int64_t)1 << by.low), bytes),
          most = product(a, number((int64_t)1 << by.high), bytes);
  return join(least, most, bytes);
}

static IrRange shifted_right(IrRange a, IrRange by, unsigned bytes, bool is_signed) {
  if (!is_natural(by) || by.high > 8 * bytes - 1) return anything(bytes);
  if (is_natural(a)) return between(a.low >> by.high, a.high >> by.low);
  if (a.var) return anything(bytes);
  if (is_signed) return between(a.low >> by.low, a.high < 0 ? a.high >> by.high : a.high >> by.low);
  return by.low ? between(0, (int64_t)((bytes == 4 ? (uint64_t)UINT32_MAX : UINT64_MAX) >> by.low))
                : anything(bytes);
}

static IrRange divided(PtxResult what, IrRange a, IrRange b, unsigned bytes, bool is_signed) {
  if (a.var || !is_natural(b) || !b.low) return anything(bytes);
  if (what == RESULT_DIV)
    return is_natural(a) ? between(a.low / b.high, a.high / b.low) : anything(bytes);
  if (is_natural(a)) return between(0, MIN(a.high, b.high - 1));
  return is_signed ? between(-(b.high - 1), b.high - 1) : between(0, b.high - 1);
}

static IrRange least_or_most(PtxResult what, IrRange a, IrRange b, unsigned bytes, bool is_signed) {
  if (a.var || b.var) return anything(bytes);
  if (is_signed || (is_natural(a) && is_natural(b)))
    return what == RESULT_MIN ? between(MIN(a.low, b.low), MIN(a.high, b.high))
                              : between(MAX(a.low, b.low), MAX(a.high, b.high));
  if (what == RESULT_MIN && (is_natural(a) || is_natural(b)))
    return between(0, is_natural(a) ? a.high : b.high);
  return anything(bytes);
}

// --- operands and instructions ---

static int64_t threads_of(const PtxFunc *f) {
  const PtxDim3 *d = f->reqntid.x ? &f->reqntid : &f->maxntid;
  int64_t n = (int64_t)MAX(d->x, 1u) * MAX(d->y, 1u) * MAX(d->z, 1u);
  return f->is_entry && d->x && n < MOST_THREADS ? n : MOST_THREADS;
}

static IrRange of_special(const Analysis *a, const PtxOperand *o, unsigned bytes) {
  int64_t threads = threads_of(a->c->func);
  if (o->selector == SEL_Z && (o->sreg == SREG_TID || o->sreg == SREG_NTID))
    threads = MIN(threads, MOST_THREADS_Z);
  switch ((int)o->sreg) {
    case SREG_TID: return o->selector == SEL_NONE ? anything(bytes) : between(0, threads - 1);
    case SREG_NTID: return o->selector == SEL_NONE ? anything(bytes) : between(1, threads);
    case SREG_CTAID: return o->selector == SEL_NONE ? anything(bytes) : between(0, INT32_MAX - 1);
    case SREG_NCTAID: return o->selector == SEL_NONE ? anything(bytes) : between(1, INT32_MAX);
    case SREG_LANEID: return between(0, 31);
    default: return anything(bytes);
  }
}

static IrRange of_operand(const Analysis *a, const PtxOperand *o, unsigned bytes) {
  switch (o->kind) {
    case OPD_INT: return number(bytes == 4 ? (int32_t)o->imm : o->imm);
    case OPD_VAR:
      return o->var->space == SPACE_REG || o->var->space == SPACE_PARAM
                 ? anything(bytes)
                 : (IrRange){o->var, o->imm, o->imm};
    case OPD_SREG: return of_special(a, o, bytes);
    case OPD_REG:
      if (o->selector != SEL_NONE || o->reg->vector || a->slot[o->reg->id] == IR_NONE ||
          ptx_type_size(o->reg->type) != bytes)
        return anything(bytes);
      return a->now[a->slot[o->reg->id]];
    default: return anything(bytes);
  }
}

// Values of a type that is narrower than a register.
static bool of_narrow(PtxType t, IrRange *r) {
  unsigned size = ptx_type_size(t);
  if (size > 2 || !size || ptx_type_kind(t) == KIND_FLOAT) return false;
  bool is_signed = ptx_type_kind(t) == KIND_SIGNED;
  *r = is_signed ? between(-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1)
                 : between(0, (1 << (8 * size)) - 1);
  return true;
}

static IrRange converted(const Analysis *a, const PtxInstr *in, unsigned bytes) {
  IrRange r;
  if (in->ntypes != 2 || ptx_type_size(in->types[0]) != bytes ||
      ptx_type_kind(in->types[0]) == KIND_FLOAT || ptx_type_kind(in->types[1]) == KIND_FLOAT ||
      ptx_has(in, MOD_SAT))
    return anything(bytes);
  if (of_narrow(in->types[1], &r)) return r;
  unsigned from = ptx_type_size(in->types[1]);
  r = of_operand(a, &in->ops[1], from);
  if (bytes == from || r.var) return r;
  if (bytes == 4) return fit(r, 4);
  return ptx_type_kind(in->types[1]) == KIND_SIGNED || is_natural(r) ? r : between(0, UINT32_MAX);
}

static IrRange multiplied(const Analysis *a, const PtxInstr *in, unsigned bytes) {
  unsigned from = ptx_type_size(in->types[0]);
  bool is_signed = ptx_type_kind(in->types[0]) == KIND_SIGNED;
  IrRange x = of_operand(a, &in->ops[1], from), y = of_operand(a, &in->ops[2], from);
  if (ptx_has(in, MOD_WIDE))
    return is_signed || (is_natural(x) && is_natural(y)) ? product(x, y, 8) : anything(bytes);
  if (ptx_has(in, MOD_HI))
    return from == 4 && is_natural(x) && is_natural(y)
               ? between((x.low * y.low) >> 32, (x.high * y.high) >> 32)
               : anything(bytes);
  return product(x, y, bytes);
}

static IrRange result(const Analysis *a, const PtxInstr *in, unsigned bytes) {
  if (!in->ntypes || ptx_type_kind(in->types[0]) == KIND_FLOAT || ptx_has(in, MOD_SAT) ||
      ptx_has(in, MOD_CC))
    return anything(bytes);
  PtxType t = in->types[0];
  bool is_signed = ptx_type_kind(t) == KIND_SIGNED, wide = ptx_has(in, MOD_WIDE);
  PtxResult what = ptx_op_result(in->op);
  if (what == RESULT_LOAD) {
    IrRange r;
    return of_narrow(t, &r) ? r : anything(bytes);
  }
  if (what == RESULT_CONVERT) return converted(a, in, bytes);
  if (what == RESULT_COUNT) return between(0, 64);
  if (ptx_type_size(t) != (wide ? 4 : bytes)) return anything(bytes);
#define OPERAND(i) of_operand(a, &in->ops[i], bytes)
  switch (what) {
    case RESULT_COPY:
    case RESULT_ADDRESS:
      return in->nops == 2 && in->ops[1].kind != OPD_VECTOR ? OPERAND(1) : anything(bytes);
    case RESULT_ADD: return sum(OPERAND(1), OPERAND(2), bytes);
    case RESULT_SUB: return difference(OPERAND(1), OPERAND(2), bytes);
    case RESULT_MUL: return multiplied(a, in, bytes);
    case RESULT_MAD: return sum(multiplied(a, in, bytes), OPERAND(3), bytes);
    case RESULT_AND:
    case RESULT_OR:
    case RESULT_XOR: return bits(what, OPERAND(1), OPERAND(2), bytes);
    case RESULT_NOT: return difference(number(-1), OPERAND(1), bytes);
    case RESULT_NEG: return difference(number(0), OPERAND(1), bytes);
    case RESULT_SHL: return shifted_left(OPERAND(1), of_operand(a, &in->ops[2], 4), bytes);
    case RESULT_SHR:
      return shifted_right(OPERAND(1), of_operand(a, &in->ops[2], 4), bytes, is_signed);
    case RESULT_DIV:
    case RESULT_REM: return divided(what, OPERAND(1), OPERAND(2), bytes, is_signed);
    case RESULT_MIN:
    case RESULT_MAX: return least_or_most(what, OPERAND(1), OPERAND(2), bytes, is_signed);
    case RESULT_SELECT: return join(OPERAND(1), OPERAND(2), bytes);
    case RESULT_FIELD: {
      IrRange length = of_operand(a, &in->ops[3], 4);
      return !is_signed && is_natural(length) && length.high < 31
                 ? between(0, ((int64_t)1 << length.high) - 1)
                 : anything(bytes);
    }
    default: return anything(bytes);
  }
#undef OPERAND
}

typedef struct Write {
  Analysis *a;
  IrRange value;
  const PtxReg *main;
  bool guarded;
} Write;

static void write_register(void *user, PtxReg **reg, bool is_def) {
  Write *w = user;
  uint32_t slot = is_def ? w->a->slot[(*reg)->id] : IR_NONE;
  if (slot == IR_NONE) return;
  unsigned bytes = ptx_type_size((*reg)->type);
  IrRange value = *reg == w->main ? w->value : anything(bytes);
  w->a->now[slot] = w->guarded ? join(w->a->now[slot], value, bytes) : value;
}

static void execute(Analysis *a, PtxInstr *in) {
  const PtxReg *main = in->nops && in->ops[0].kind == OPD_REG && in->ops[0].selector == SEL_NONE
                           ? in->ops[0].reg
                           : NULL;
  if (main && a->slot[main->id] == IR_NONE) main = NULL;
  Write w = {.a = a, .main = main, .guarded = in->guard != NULL};
  if (main) w.value = result(a, in, ptx_type_size(main->type));
  ptx_visit_regs(in, write_register, &w);
}

// --- what a branch says ---

typedef struct Wanted {
  const PtxReg *reg;
  bool found;
} Wanted;
static void look_for(void *user, PtxReg **reg, bool is_def) {
  Wanted *w = user;
  w->found |= is_def && *reg == w->reg;
}

// Does the register hold at the end of the block what it held at instruction `at`?
static bool is_kept(const Analysis *a, const PtxReg *r, uint32_t at, uint32_t block) {
  if (ir_single_def(a->defs, r)) return true;
  if (a->c->block_of[at] != block) return false;
  Wanted w = {r, false};
  for (uint32_t i = at; i < a->c->blocks[block].end && !w.found; i++)
    ptx_visit_regs(a->c->instrs[i], look_for, &w);
  return !w.found;
}

static uint32_t definition(const Analysis *a, const PtxReg *p, uint32_t block) {
  const IrBlock *b = &a->c->blocks[block];
  for (uint32_t i = b->end; i-- > b->first;) {
    Wanted w = {p, false};
    ptx_visit_regs(a->c->instrs[i], look_for, &w);
    if (w.found) return a->c->instrs[i]->guard ? IR_NONE : i;
  }
  return ir_single_def(a->defs, p) ? a->defs->instr[p->id] : IR_NONE;
}

typedef enum Relation { LESS, LESS_OR_SAME, MORE, MORE_OR_SAME, SAME, OTHER, NO_RELATION } Relation;

static Relation relation_of(const PtxInstr *in, bool holds) {
  static const struct {
    PtxMod mod;
    Relation relation, negated;
  } table[] = {{MOD_LT, LESS, MORE_OR_SAME}, {MOD_LE, LESS_OR_SAME, MORE},
               {MOD_GT, MORE, LESS_OR_SAME}, {MOD_GE, MORE_OR_SAME, LESS},
               {MOD_EQ, SAME, OTHER},        {MOD_NE, OTHER, SAME}};
  for (unsigned i = 0; i < ARRAY_LEN(table); i++)
    if (ptx_has(in, table[i].mod)) return holds ? table[i].relation : table[i].negated;
  return NO_RELATION;
}

// x <relation> y, as signed numbers.
static IrRange narrowed(IrRange x, Relation relation, IrRange y) {
  switch (relation) {
    case LESS:
      if (y.high > INT64_MIN) x.high = MIN(x.high, y.high - 1);
      break;
    case LESS_OR_SAME: x.high = MIN(x.high, y.high); break;
    case MORE:
      if (y.low < INT64_MAX) x.low = MAX(x.low, y.low + 1);
      break;
    case MORE_OR_SAME: x.low = MAX(x.low, y.low); break;
    case SAME:
      x.low = MAX(x.low, y.low);
      x.high = MIN(x.high, y.high);
      break;
    case OTHER:
      if (y.low != y.high) break;
      if (x.low == y.low) x.low++;
      else if (x.high == y.high) x.high--;
      break;
    default: break;
  }
  return x;
}

static const Relation mirrored[] = {MORE, MORE_OR_SAME, LESS,       LESS_OR_SAME,
                                    SAME, OTHER,        NO_RELATION};

// A comparison (the instruction `at`) whose outcome is known in a block.
typedef struct Comparison {
  bool is_unsigned;
  uint32_t at, block;
} Comparison;
// Narrows the operand's range to numbers in that relation to y. false: there are none.
static bool narrow_register(Analysis *a, const PtxOperand *o, Relation relation, IrRange y,
                            const Comparison *c) {
  bool is_unsigned = c->is_unsigned;
  if (o->kind != OPD_REG || o->selector != SEL_NONE || a->slot[o->reg->id] == IR_NONE ||
      !is_kept(a, o->reg, c->at, c->block))
    return true;
  IrRange *x = &a->now[a->slot[o->reg->id]];
  if (x->var || y.var || x->low > x->high) return true;
  if (is_unsigned && !is_natural(y)) return true;
  // an unsigned number below a natural one is natural itself
  if (is_unsigned && (relation == LESS || relation == LESS_OR_SAME)) x->low = MAX(x->low, 0);
  if (is_unsigned && (relation == MORE || relation == MORE_OR_SAME) && x->low < 0) return true;
  IrRange before = *x;
  *x = narrowed(*x, relation, y);
  if (is_unsigned || !same(before, *x)) a->narrowed[a->slot[o->reg->id]] = a->any_narrowed = true;
  return x->low <= x->high;
}

static bool assume(Analysis *a, const PtxReg *p, bool holds, uint32_t block, int depth) {
  uint32_t at = definition(a, p, block);
  if (at == IR_NONE || depth > 4) return true;
  const PtxInstr *in = a->c->instrs[at];
  if ((in->op == OP_AND && holds) || (in->op == OP_OR && !holds)) {
    for (unsigned k = 1; k < in->nops; k++)
      if (in->ops[k].kind == OPD_REG && in->ops[k].reg->type == TYPE_PRED &&
          is_kept(a, in->ops[k].reg, at, block) &&
          !assume(a, in->ops[k].reg, holds, block, depth + 1))
        return false;
    return true;
  }
  if (in->op == OP_NOT && in->ops[1].kind == OPD_REG && is_kept(a, in->ops[1].reg, at, block))
    return assume(a, in->ops[1].reg, !holds, block, depth + 1);
  if (in->op != OP_SETP || in->nops != 3 || in->ntypes != 1 || in->ops[0].kind != OPD_REG ||
      in->ops[0].reg != p || ptx_type_kind(in->types[0]) == KIND_FLOAT)
    return true;
  unsigned bytes = ptx_type_size(in->types[0]);
  Relation relation = relation_of(in, holds);
  if ((bytes != 4 && bytes != 8) || relation == NO_RELATION) return true;
  bool is_unsigned = ptx_type_kind(in->types[0]) != KIND_SIGNED && relation != SAME &&
                     relation != OTHER;
  for (unsigned k = 1; k <= 2; k++)
    if (in->ops[k].kind == OPD_REG &&
        (ptx_type_size(in->ops[k].reg->type) != bytes || !is_kept(a, in->ops[k].reg, at, block)))
      return true;
  IrRange x = of_operand(a, &in->ops[1], bytes), y = of_operand(a, &in->ops[2], bytes);
  Comparison c = {is_unsigned, at, block};
  return narrow_register(a, &in->ops[1], relation, y, &c) &&
         narrow_register(a, &in->ops[2], mirrored[relation], x, &c);
}

// --- values computed from a narrowed register ---

static bool is_derived(const Analysis *a, const PtxInstr *in) {
  if (!in->nops || in->guard || in->ops[0].kind != OPD_REG || in->ops[0].selector != SEL_NONE ||
      a->slot[in->ops[0].reg->id] == IR_NONE)
    return false;
  if (ptx_op_classes(in) & (CLASS_LOAD | CLASS_ATOMIC | CLASS_WARP | CLASS_CALL)) return false;
  bool needs = false;
  for (unsigned k = 1; k < in->nops; k++) {
    const PtxOperand *o = &in->ops[k];
    if (o->kind != OPD_REG) continue;
    if (o->reg == in->ops[0].reg || a->slot[o->reg->id] == IR_NONE) return false;
    needs = true;
  }
  return needs;
}

typedef struct Kill {
  const Analysis *a;
  const uint64_t *kills;
  uint64_t *set;
} Kill;
static void kill_written(void *user, PtxReg **reg, bool is_def) {
  Kill *k = user;
  uint32_t slot = is_def ? k->a->slot[(*reg)->id] : IR_NONE;
  for (uint32_t w = 0; slot != IR_NONE && w < k->a->words; w++)
    k->set[w] &= ~k->kills[(size_t)slot * k->a->words + w];
}

// Finds the instructions that would give the same result again at the end of each block: on no path
// has anything they read or write been written since.
static void find_valid(Analysis *a) {
  enum { MOST_SETS = 1 << 20 };
  const IrCfg *c = a->c;
  a->words = (a->nderived + 63) / 64;
  if ((uint64_t)a->words * MAX(c->nblocks, a->n) > MOST_SETS) a->nderived = a->words = 0;
  uint64_t *kills = ARENA_ARRAY(&a->arena, uint64_t, (size_t)a->n * a->words + 1),
           *now = ARENA_ARRAY(&a->arena, uint64_t, a->words + 1);
  uint32_t *number = ARENA_ARRAY(&a->arena, uint32_t, c->ninstrs + 1);
  a->valid = ARENA_ARRAY(&a->arena, uint64_t, (size_t)c->nblocks * a->words + 1);
  memset(a->valid, 0xff, sizeof *a->valid * ((size_t)c->nblocks * a->words + 1));
  for (uint32_t i = 0; i < a->nderived; i++) {
    const PtxInstr *in = c->instrs[a->derived[i]];
    number[a->derived[i]] = i + 1;
    for (unsigned k = 0; k < in->nops; k++)
      if (in->ops[k].kind == OPD_REG)
        kills[(size_t)a->slot[in->ops[k].reg->id] * a->words + i / 64] |= 1ull << (i % 64);
  }
  for (bool changed = a->nderived != 0; changed;) {
    changed = false;
    for (uint32_t o = 0; o < c->norder; o++) {
      const IrBlock *b = &c->blocks[c->order[o]];
      uint64_t *out = a->valid + (size_t)c->order[o] * a->words;
      memset(now, b->npred && c->order[o] ? 0xff : 0, sizeof *now * a->words);
      for (uint32_t p = 0; p < b->npred; p++)
        for (uint32_t w = 0; w < a->words && c->blocks[b->pred[p]].rpo != IR_NONE; w++)
          now[w] &= a->valid[(size_t)b->pred[p] * a->words + w];
      for (uint32_t i = b->first; i < b->end; i++) {
        ptx_visit_regs(c->instrs[i], kill_written, &(Kill){a, kills, now});
        if (number[i]) now[(number[i] - 1) / 64] |= 1ull << ((number[i] - 1) % 64);
      }
      changed |= memcmp(out, now, sizeof *now * a->words) != 0;
      memcpy(out, now, sizeof *now * a->words);
    }
  }
}

static void find_derived(Analysis *a) {
  a->derived = ARENA_ARRAY(&a->arena, uint32_t, a->c->ninstrs + 1);
  for (uint32_t i = 0; i < a->c->norder; i++) {
    const IrBlock *b = &a->c->blocks[a->c->order[i]];
    for (uint32_t k = b->first; k < b->end; k++)
      if (is_derived(a, a->c->instrs[k])) a->derived[a->nderived++] = k;
  }
  find_valid(a);
}

static bool needs_narrowed(const Analysis *a, const PtxInstr *in) {
  for (unsigned k = 1; k < in->nops; k++)
    if (in->ops[k].kind == OPD_REG && a->slot[in->ops[k].reg->id] != IR_NONE &&
        a->narrowed[a->slot[in->ops[k].reg->id]])
      return true;
  return false;
}

// Narrows the registers derived from narrowed ones, after the branch at the end of `block`.
static void derive(Analysis *a, uint32_t block) {
  for (uint32_t i = 0; i < a->nderived; i++) {
    const PtxInstr *in = a->c->instrs[a->derived[i]];
    if (!needs_narrowed(a, in) || !(a->valid[(size_t)block * a->words + i / 64] >> (i % 64) & 1))
      continue;
    IrRange *now = &a->now[a->slot[in->ops[0].reg->id]],
            again = result(a, in, ptx_type_size(in->ops[0].reg->type));
    if (now->var != again.var) continue;
    int64_t low = MAX(now->low, again.low), high = MIN(now->high, again.high);
    if (low > high || (low == now->low && high == now->high)) continue;
    now->low = low;
    now->high = high;
    a->narrowed[a->slot[in->ops[0].reg->id]] = true;
  }
  memset(a->narrowed, 0, sizeof *a->narrowed * a->n);
  a->any_narrowed = false;
}

// --- blocks ---

static bool is_header(const Analysis *a, uint32_t block) {
  uint32_t loop = a->c->blocks[block].loop;
  return loop != IR_NONE && a->c->loops[loop].header == block;
}

// Joins `now` into the beginning of a block. Tells whether that has changed.
static bool flow(Analysis *a, uint32_t to, IrRange *entry, bool *reached, bool gives_up) {
  IrRange *at = entry + (size_t)to * a->n;
  if (!reached[to]) {
    reached[to] = true;
    memcpy(at, a->now, sizeof *at * a->n);
    return true;
  }
  bool changed = false;
  for (uint32_t i = 0; i < a->n; i++) {
    unsigned bytes = ptx_type_size(a->regs[i]->type);
    IrRange all = join(at[i], a->now[i], bytes);
    if (same(all, at[i])) continue;
    if (gives_up && all.var) all = anything(bytes);
    else if (gives_up)
      all = (IrRange){NULL, all.low < at[i].low ? anything(bytes).low : all.low,
                      all.high > at[i].high ? anything(bytes).high : all.high};
    at[i] = all;
    changed = true;
  }
  return changed;
}

static bool run_block(Analysis *a, uint32_t block, IrRange *scratch, IrRange *entry, bool *reached,
                      bool narrows) {
  const IrBlock *b = &a->c->blocks[block];
  memcpy(a->now, a->entry + (size_t)block * a->n, sizeof *a->now * a->n);
  for (uint32_t i = b->first; i < b->end; i++) execute(a, a->c->instrs[i]);
  memcpy(scratch, a->now, sizeof *scratch * a->n);
  const PtxInstr *last = b->end > b->first ? a->c->instrs[b->end - 1] : NULL;
  bool branches = last && last->op == OP_BRA && last->guard && b->nsucc == 2 &&
                  b->succ[0] != b->succ[1],
       changed = false;
  for (uint32_t k = 0; k < b->nsucc; k++) {
    uint32_t to = b->succ[k];
    memcpy(a->now, scratch, sizeof *scratch * a->n);
    if (branches && !assume(a, last->guard, (k == 0) != last->guard_negated, block, 0)) continue;
    if (a->any_narrowed) derive(a, block);
    uint32_t limit = is_header(a, to) ? GIVE_UP_AFTER : 4 * GIVE_UP_AFTER;
    changed |= flow(a, to, entry, reached, !narrows && a->visits[to] > limit);
  }
  return changed;
}

static void settle(Analysis *a) {
  IrRange *scratch = ARENA_ARRAY(&a->arena, IrRange, a->n + 1);
  for (uint32_t i = 0; i < a->n; i++) a->entry[i] = anything(ptx_type_size(a->regs[i]->type));
  a->reached[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < a->c->norder; i++) {
      uint32_t b = a->c->order[i];
      if (!a->reached[b]) continue;
      a->visits[b]++;
      changed |= run_block(a, b, scratch, a->entry, a->reached, false);
    }
  }
  for (int round = 0; round < NARROWING_ROUNDS; round++) {
    memset(a->next_reached, 0, sizeof *a->next_reached * a->c->nblocks);
    a->next_reached[0] = true;
    for (uint32_t i = 0; i < a->n; i++) a->next[i] = anything(ptx_type_size(a->regs[i]->type));
    for (uint32_t i = 0; i < a->c->norder; i++)
      if (a->reached[a->c->order[i]])
        run_block(a, a->c->order[i], scratch, a->next, a->next_reached, true);
    IrRange *entry = a->entry;
    a->entry = a->next;
    a->next = entry;
    bool *reached = a->reached;
    a->reached = a->next_reached;
    a->next_reached = reached;
  }
}

// --- choosing the registers ---

static bool follows(const Analysis *a, const PtxReg *r) { return a->slot[r->id] != IR_NONE; }

static bool follow(Analysis *a, const PtxOperand *o) {
  if (o->kind != OPD_REG || o->reg->vector || o->reg->type == TYPE_PRED || follows(a, o->reg))
    return false;
  unsigned bytes = ptx_type_size(o->reg->type);
  if ((bytes != 4 && bytes != 8) || ptx_type_kind(o->reg->type) == KIND_FLOAT) return false;
  a->slot[o->reg->id] = a->n;
  a->regs[a->n++] = o->reg;
  return true;
}

static bool is_access(const PtxInstr *in) {
  return (ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC)) &&
         in->space != SPACE_PARAM && in->space != SPACE_GLOBAL;
}

static void choose_registers(Analysis *a) {
  const IrCfg *c = a->c;
  for (uint32_t i = 0; i < c->func->nregs; i++) a->slot[i] = IR_NONE;
  for (uint32_t i = 0; i < c->ninstrs; i++)
    for (unsigned k = 0; is_access(c->instrs[i]) && k < c->instrs[i]->nops; k++)
      if (c->instrs[i]->ops[k].kind == OPD_ADDR) follow(a, &c->instrs[i]->ops[k].list[0]);
  for (bool more = a->n != 0; more;) {
    more = false;
    for (uint32_t i = c->ninstrs; i-- > 0;) {
      const PtxInstr *in = c->instrs[i];
      if (!in->nops || ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC)) continue;
      bool wanted = in->ops[0].kind == OPD_REG && in->ops[0].reg->type != TYPE_PRED &&
                    follows(a, in->ops[0].reg);
      if (in->op == OP_SETP && in->nops == 3)
        for (unsigned k = 1; k < 3; k++)
          wanted |= in->ops[k].kind == OPD_REG && in->ops[k].reg->type != TYPE_PRED &&
                    follows(a, in->ops[k].reg);
      for (unsigned k = 1; wanted && k < in->nops; k++) more |= follow(a, &in->ops[k]);
    }
  }
}

static void note_addresses(const Analysis *a, IrRanges *out, uint32_t i) {
  const PtxInstr *in = a->c->instrs[i];
  for (unsigned k = 0; is_access(in) && k < in->nops && k < IR_RANGE_OPERANDS; k++) {
    const PtxOperand *o = &in->ops[k];
    if (o->kind != OPD_ADDR) continue;
    const PtxOperand *base = &o->list[0];
    unsigned bytes = base->kind == OPD_REG ? ptx_type_size(base->reg->type) : 8;
    out->address[(size_t)i * IR_RANGE_OPERANDS + k] = sum(of_operand(a, base, bytes),
                                                          number(o->imm), bytes);
  }
}

IrRanges *ir_ranges_build(const IrCfg *c, const IrDefs *defs) {
  IrRanges *out = mem_alloc(sizeof *out);
  *out = (IrRanges){
      .address = ARENA_ARRAY(&out->arena, IrRange, (size_t)c->ninstrs * IR_RANGE_OPERANDS + 1)};
  Analysis a = {.c = c, .defs = defs};
  a.slot = ARENA_ARRAY(&a.arena, uint32_t, c->func->nregs + 1);
  a.regs = ARENA_ARRAY(&a.arena, const PtxReg *, c->func->nregs + 1);
  choose_registers(&a);
  if (a.n && (uint64_t)a.n * c->nblocks <= MOST_ENTRIES) {
    a.entry = ARENA_ARRAY(&a.arena, IrRange, (size_t)a.n * c->nblocks + 1);
    a.next = ARENA_ARRAY(&a.arena, IrRange, (size_t)a.n * c->nblocks + 1);
    a.now = ARENA_ARRAY(&a.arena, IrRange, a.n + 1);
    a.reached = ARENA_ARRAY(&a.arena, bool, c->nblocks + 1);
    a.next_reached = ARENA_ARRAY(&a.arena, bool, c->nblocks + 1);
    a.narrowed = ARENA_ARRAY(&a.arena, bool, a.n + 1);
    a.visits = ARENA_ARRAY(&a.arena, uint32_t, c->nblocks + 1);
    find_derived(&a);
    settle(&a);
    for (uint32_t b = 0; b < c->nblocks; b++) {
      if (!a.reached[b]) continue;
      memcpy(a.now, a.entry + (size_t)b * a.n, sizeof *a.now * a.n);
      for (uint32_t i = c->blocks[b].first; i < c->blocks[b].end; i++) {
        note_addresses(&a, out, i);
        execute(&a, c->instrs[i]);
      }
    }
  }
  arena_free(&a.arena);
  return out;
}

void ir_ranges_free(IrRanges *r) {
  if (!r) return;
  arena_free(&r->arena);
  free(r);
}

bool ir_stays_inside(const IrRanges *r, uint32_t instr, unsigned operand, const PtxVar *v,
                     uint32_t bytes) {
  if (operand >= IR_RANGE_OPERANDS) return false;
  IrRange a = r->address[(size_t)instr * IR_RANGE_OPERANDS + operand];
  return a.var == v && v && a.low >= 0 && a.high <= (int64_t)v->size - (int64_t)bytes;
}
