// address: splits an address into object + scale * index + offset, by following the instructions
// that compute it.
//
// Follows only registers with a single, unguarded write: they still hold where the address is used
// what they held where it was computed. The index may be written more often, but not between its
// read and the access. An address that cannot be split is its own index, with scale 1.
#include "ir/ir.h"

enum { DEEPEST = 24 };

static void count_write(void *ctx, PtxReg **reg, bool is_def) {
  struct {
    IrDefs *d;
    uint32_t instr;
    bool guarded;
  } *w = ctx;
  if (!is_def) return;
  uint32_t *slot = &w->d->instr[(*reg)->id];
  *slot = *slot == IR_NONE && !w->guarded ? w->instr : IR_SEVERAL;
}

IrDefs *ir_defs_build(const IrCfg *c) {
  IrDefs *d = mem_alloc(sizeof *d);
  d->cfg = c;
  d->instr = ARENA_ARRAY(&d->arena, uint32_t, c->func->nregs + 1);
  memset(d->instr, 0xff, sizeof *d->instr * (c->func->nregs + 1));
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    struct {
      IrDefs *d;
      uint32_t instr;
      bool guarded;
    } w = {d, i, c->instrs[i]->guard != NULL};
    ptx_visit_regs(c->instrs[i], count_write, &w);
  }
  return d;
}

void ir_defs_free(IrDefs *d) {
  if (!d) return;
  arena_free(&d->arena);
  free(d);
}

const PtxInstr *ir_single_def(const IrDefs *d, const PtxReg *r) {
  uint32_t i = d->instr[r->id];
  return i == IR_NONE || i == IR_SEVERAL ? NULL : d->cfg->instrs[i];
}

// A sum under construction. ok: all terms so far fit the form.
// bytes: of the address
typedef struct Sum {
  const IrDefs *d;
  const IrProvenance *p;
  IrAddress a;
  uint32_t use;
  unsigned bytes;
  bool has_base, ok;
} Sum;

static bool constant(const IrDefs *d, const PtxOperand *o, int64_t *value) {
  for (int depth = 0; depth < DEEPEST && o->kind == OPD_REG; depth++) {
    const PtxInstr *in = ir_single_def(d, o->reg);
    if (!in || in->op != OP_MOV || in->nops != 2) return false;
    o = &in->ops[1];
  }
  *value = o->imm;
  return o->kind == OPD_INT;
}

static void find_write(void *ctx, PtxReg **reg, bool is_def) {
  struct {
    const PtxReg *r;
    bool found;
  } *w = ctx;
  if (is_def && *reg == w->r) w->found = true;
}

// Does r still hold at instruction `use` what it held at `read`?
static bool unchanged(const IrDefs *d, const PtxReg *r, uint32_t read, uint32_t use) {
  const IrCfg *c = d->cfg;
  if (d->instr[r->id] != IR_SEVERAL) return true;
  if (c->block_of[read] != c->block_of[use] || read > use) return false;
  struct {
    const PtxReg *r;
    bool found;
  } w = {r, false};
  for (uint32_t i = read; i < use && !w.found; i++) ptx_visit_regs(c->instrs[i], find_write, &w);
  return !w.found;
}

// Addresses wrap: sums and products of them are taken modulo 2^64.
static int64_t wrapping_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrapping_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

static void add_index(Sum *s, const PtxReg *r, uint32_t read, int64_t scale, uint8_t bytes,
                      bool is_signed) {
  if (!unchanged(s->d, r, read, s->use)) s->ok = false;
  if (s->a.index && s->a.index == r && s->a.index_bytes == bytes &&
      s->a.index_signed == is_signed) {
    s->a.scale = wrapping_add(s->a.scale, scale);
    return;
  }
  if (s->a.index) {
    s->ok = false;
    return;
  }
  s->a.index = r;
  s->a.scale = scale;
  s->a.index_bytes = bytes;
  s->a.index_signed = is_signed;
}

static bool is_wide(const PtxInstr *in) { return ptx_has(in, MOD_WIDE); }
static bool has_bytes(const PtxInstr *in, unsigned bytes) {
  return in->ntypes && ptx_type_size(in->types[0]) == bytes;
}
static bool is_signed(const PtxInstr *in) { return ptx_type_kind(in->types[0]) == KIND_SIGNED; }
static bool is_float(const PtxInstr *in) {
  return in->ntypes && ptx_type_kind(in->types[0]) == KIND_FLOAT;
}

// cvt.*64.*32 of a 32-bit register. From a 64-bit register it takes the lower half: no register
// holds that half alone, so no check could compare it.
static bool widens_register(const PtxInstr *in) {
  return in->ntypes == 2 && ptx_type_size(in->types[0]) == 8 && ptx_type_size(in->types[1]) == 4 &&
         ptx_type_kind(in->types[1]) != KIND_FLOAT && in->ops[1].kind == OPD_REG &&
         in->ops[1].selector == SEL_NONE && ptx_type_size(in->ops[1].reg->type) == 4;
}

// The factor of a mul.wide.*32 as the multiplication sees it: -4 is 4294967292 for .u32.
static int64_t wide_factor(const PtxInstr *in, int64_t n) {
  if (ptx_type_size(in->types[0]) != 4) return n;
  return is_signed(in) ? (int32_t)n : (int64_t)(uint32_t)n;
}

static void add_term(Sum *s, const PtxOperand *o, uint32_t read, int64_t scale, int depth);

// A widened register is one index: the 32-bit arithmetic that computes it may wrap where a 64-bit
// sum would not.
static void add_product(Sum *s, const PtxInstr *in, uint32_t at, int64_t scale, int depth) {
  int64_t factor;
  if (!constant(s->d, &in->ops[2], &factor)) {
    s->ok = false;
    return;
  }
  if (!is_wide(in)) add_term(s, &in->ops[1], at, wrapping_mul(scale, factor), depth);
  else if (in->ops[1].kind == OPD_REG) {
    scale = wrapping_mul(scale, wide_factor(in, factor));
    add_index(s, in->ops[1].reg, at, scale, (uint8_t)ptx_type_size(in->types[0]), is_signed(in));
  } else s->ok = false;
}

static bool is_param_load(const IrDefs *d, const PtxReg *r) {
  const PtxInstr *in = ir_single_def(d, r);
  return in && in->op == OP_LD && in->space == SPACE_PARAM;
}

// A constant or an address: a sum that contains one is worth splitting.
static bool is_part(const Sum *s, const PtxOperand *o) {
  int64_t n;
  return o->kind == OPD_VAR || constant(s->d, o, &n) ||
         (o->kind == OPD_REG && ir_is_object(s->p->reg[o->reg->id]));
}

static void add_register(Sum *s, const PtxReg *r, uint32_t read, int64_t scale, int depth) {
  uint32_t at = s->d->instr[r->id];
  const PtxInstr *in = depth < DEEPEST ? ir_single_def(s->d, r) : NULL;
  IrOrigin origin = s->p->reg[r->id];
  bool fits = in &&
              (has_bytes(in, s->bytes) || is_wide(in) || in->op == OP_CVT || in->op == OP_CVTA);
  if (fits && !is_float(in)) switch (ptx_op_result(in->op)) {
      case RESULT_COPY:
        if (in->ops[0].kind == OPD_REG && in->ops[1].kind != OPD_VECTOR) {
          add_term(s, &in->ops[1], at, scale, depth + 1);
          return;
        }
        break;
      case RESULT_ADDRESS:  // its operand is the object's address, or a sum with it
        if (in->ops[1].kind == OPD_REG && origin.kind == IR_FROM_PARAM &&
            is_param_load(s->d, in->ops[1].reg))
          break;
        add_term(s, &in->ops[1], at, scale, depth + 1);
        return;
      case RESULT_ADD:  // a sum of two indices is one index
        if (!is_part(s, &in->ops[1]) && !is_part(s, &in->ops[2])) break;
        add_term(s, &in->ops[1], at, scale, depth + 1);
        add_term(s, &in->ops[2], at, scale, depth + 1);
        return;
      case RESULT_SUB:
        if (!is_part(s, &in->ops[1]) && !is_part(s, &in->ops[2])) break;
        add_term(s, &in->ops[1], at, scale, depth + 1);
        add_term(s, &in->ops[2], at, wrapping_mul(scale, -1), depth + 1);
        return;
      case RESULT_MUL:
        if (ptx_has(in, MOD_HI) || (in->ops[2].kind != OPD_INT && in->ops[2].kind != OPD_REG))
          break;
        if (is_wide(in) || ptx_has(in, MOD_LO)) {
          int64_t factor;
          if (!constant(s->d, &in->ops[2], &factor)) break;
          add_product(s, in, at, scale, depth + 1);
          return;
        }
        break;
      case RESULT_MAD: {
        int64_t factor;
        if (s->bytes == 4 && is_wide(in)) break;
        if (ptx_has(in, MOD_HI) || !constant(s->d, &in->ops[2], &factor)) break;
        add_product(s, in, at, scale, depth + 1);
        add_term(s, &in->ops[3], at, scale, depth + 1);
        return;
      }
      case RESULT_SHL: {
        int64_t by;
        if (!has_bytes(in, s->bytes) || !constant(s->d, &in->ops[2], &by) || by < 0 || by > 32)
          break;
        add_term(s, &in->ops[1], at, wrapping_mul(scale, (int64_t)1 << by), depth + 1);
        return;
      }
      case RESULT_CONVERT:
        if (widens_register(in)) {
          add_index(s, in->ops[1].reg, at, scale, 4, ptx_type_kind(in->types[1]) == KIND_SIGNED);
          return;
        }
        break;
      default: break;
    }
  // is_start: r holds the pointer itself, not an address computed from it
  bool is_start = in && (in->op == OP_CVTA || is_param_load(s->d, r));
  if (is_start && ir_is_object(origin) && origin.is_pointer && scale == 1 && !s->has_base) {
    s->has_base = true;
    s->a.origin = origin;
    s->a.base = r;
    return;
  }
  add_index(s, r, read, scale, (uint8_t)MAX(ptx_type_size(r->type), 4), false);
}

static void add_term(Sum *s, const PtxOperand *o, uint32_t read, int64_t scale, int depth) {
  if (o->kind == OPD_INT) s->a.offset = wrapping_add(s->a.offset, wrapping_mul(o->imm, scale));
  else if (o->kind == OPD_REG && o->selector == SEL_NONE)
    add_register(s, o->reg, read, scale, depth);
  else if (o->kind == OPD_VAR && scale == 1 && !s->has_base) {
    s->has_base = true;
    s->a.origin = (IrOrigin){.kind = IR_FROM_VAR, .is_pointer = true, .var = o->var};
    s->a.offset = wrapping_add(s->a.offset, o->imm);
  } else s->ok = false;
}

IrAddress ir_address(const IrDefs *d, const IrProvenance *p, uint32_t use,
                     const PtxOperand *address) {
  IrAddress whole = {.origin = {.kind = IR_FROM_UNKNOWN}, .scale = 1, .index_bytes = 8};
  if (address->kind != OPD_ADDR || !address->nlist) return whole;
  whole.origin = ir_access_origin(p, address);
  whole.index = address->list[0].kind == OPD_REG ? address->list[0].reg : NULL;
  whole.offset = address->imm;
  Sum s = {.d = d, .p = p, .a = {.offset = address->imm}, .use = use, .bytes = 8, .ok = true};
  if (whole.index) s.bytes = ptx_type_size(whole.index->type);
  add_term(&s, &address->list[0], use, 1, 0);
  s.a.taken_apart = s.ok && s.has_base;
  return s.a.taken_apart ? s.a : whole;
}
