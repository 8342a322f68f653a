// alignment: finds the power of two that divides every value of a register.
//
// Fixpoint over registers, downwards: every register starts as divisible by the largest power
// looked at, each write lowers it to what the instruction leaves. Low bits survive truncation and
// wrapping, so widths do not matter. A pointer parameter's own alignment is known only when the
// kernel is launched: a register computed from one is described relative to it.
#include "ir/ir.h"

// divisible by 2^zeros; based: relative to a parameter of 8 bytes
typedef struct Bits {
  uint8_t zeros;
  bool based;
} Bits;

static const Bits nothing = {0, false};

static Bits of_number(int64_t n) {
  return (Bits){
      n ? (uint8_t)MIN(__builtin_ctzll((uint64_t)n), IR_ALIGNMENT_MOST) : IR_ALIGNMENT_MOST, false};
}

static Bits of_operand(const IrAlignment *a, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_REG:
      return o->selector == SEL_NONE ? (Bits){a->zeros[o->reg->id], a->based[o->reg->id]} : nothing;
    case OPD_INT: return of_number(o->imm);
    case OPD_VAR: {
      Bits b = of_number(o->imm | (int64_t)o->var->align);
      return o->var->space == SPACE_REG ? nothing : b;
    }
    default: return nothing;
  }
}

static Bits lower(Bits a, Bits b) { return (Bits){MIN(a.zeros, b.zeros), a.based || b.based}; }

static Bits sum(Bits a, Bits b, bool subtract) {
  if ((a.based && b.based) || (subtract && b.based)) return nothing;
  return lower(a, b);
}

// The low bits of a parameter itself are not known.
static Bits known(Bits b) { return b.based ? nothing : b; }

static Bits product(Bits a, Bits b) {
  return (Bits){(uint8_t)MIN(known(a).zeros + known(b).zeros, IR_ALIGNMENT_MOST), false};
}

// A mask makes the bits it clears zero.
static Bits masked(Bits a, Bits b) { return (Bits){MAX(known(a).zeros, known(b).zeros), false}; }

static bool is_integer(const PtxInstr *in) {
  return in->ntypes && ptx_type_kind(in->types[0]) != KIND_FLOAT && !ptx_has(in, MOD_SAT) &&
         !ptx_has(in, MOD_HI);
}

static Bits shifted(const PtxInstr *in, Bits a) {
  bool left = ptx_op_result(in->op) == RESULT_SHL;
  a = known(a);
  if (in->ops[2].kind != OPD_INT || in->ops[2].imm < 0 || in->ops[2].imm > 63)
    return left ? a : nothing;
  int by = (int)in->ops[2].imm, zeros = left ? a.zeros + by : a.zeros - by;
  return (Bits){(uint8_t)MAX(MIN(zeros, IR_ALIGNMENT_MOST), 0), false};
}

static Bits of_load(const IrAlignment *a, const PtxInstr *in) {
  const PtxOperand *from = &in->ops[1];
  bool param = in->space == SPACE_PARAM && in->ntypes && ptx_type_size(in->types[0]) == 8 &&
               from->kind == OPD_ADDR && from->nlist &&
               ir_is_kernel_param(a->cfg->func, &from->list[0]);
  return param ? (Bits){IR_ALIGNMENT_MOST, true} : nothing;
}

static Bits of_result(const IrAlignment *a, const PtxInstr *in) {
#define OPERAND(i) of_operand(a, &in->ops[i])
  switch (ptx_op_result(in->op)) {
    case RESULT_COPY: return in->nops == 2 && in->ops[0].kind == OPD_REG ? OPERAND(1) : nothing;
    case RESULT_ADDRESS: return OPERAND(1);
    case RESULT_CONVERT:
      if (!is_integer(in) || in->ntypes != 2 || ptx_type_kind(in->types[1]) == KIND_FLOAT)
        return nothing;
      return ptx_type_size(in->types[0]) >= 2 && ptx_type_size(in->types[1]) >= 2 ? OPERAND(1)
                                                                                  : nothing;
    case RESULT_ADD: return is_integer(in) ? sum(OPERAND(1), OPERAND(2), false) : nothing;
    case RESULT_SUB: return is_integer(in) ? sum(OPERAND(1), OPERAND(2), true) : nothing;
    case RESULT_MUL: return is_integer(in) ? product(OPERAND(1), OPERAND(2)) : nothing;
    case RESULT_MAD:
      return is_integer(in) ? sum(product(OPERAND(1), OPERAND(2)), OPERAND(3), false) : nothing;
    case RESULT_SHL:
    case RESULT_SHR: return shifted(in, OPERAND(1));
    case RESULT_AND: return masked(OPERAND(1), OPERAND(2));
    case RESULT_OR:
    case RESULT_XOR: {
      Bits x = OPERAND(1), y = OPERAND(2);
      return x.based || y.based ? nothing : lower(x, y);
    }
    case RESULT_SELECT: return lower(OPERAND(1), OPERAND(2));
    case RESULT_MIN:
    case RESULT_MAX: return is_integer(in) ? lower(OPERAND(1), OPERAND(2)) : nothing;
    case RESULT_LOAD: return of_load(a, in);
    default: return nothing;
  }
#undef OPERAND
}

typedef struct Writes {
  IrAlignment *a;
  Bits value;
  bool changed;
} Writes;

static void visit(void *ctx, PtxReg **reg, bool is_def) {
  Writes *w = ctx;
  if (!is_def) return;
  uint32_t id = (*reg)->id;
  Bits now = lower(w->value, (Bits){w->a->zeros[id], w->a->based[id]});
  if (now.zeros == w->a->zeros[id] && now.based == w->a->based[id]) return;
  w->a->zeros[id] = now.zeros;
  w->a->based[id] = now.based;
  w->changed = true;
}

IrAlignment *ir_alignment_build(const IrCfg *c) {
  IrAlignment *a = mem_alloc(sizeof *a);
  a->cfg = c;
  a->zeros = ARENA_ARRAY(&a->arena, uint8_t, c->func->nregs + 1);
  a->based = ARENA_ARRAY(&a->arena, bool, c->func->nregs + 1);
  memset(a->zeros, IR_ALIGNMENT_MOST, c->func->nregs + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < c->norder; i++) {
      const IrBlock *b = &c->blocks[c->order[i]];
      for (uint32_t k = b->first; k < b->end; k++) {
        Writes w = {a, of_result(a, c->instrs[k]), false};
        ptx_visit_regs(c->instrs[k], visit, &w);
        changed |= w.changed;
      }
    }
  }
  return a;
}

void ir_alignment_free(IrAlignment *a) {
  if (!a) return;
  arena_free(&a->arena);
  free(a);
}

bool ir_is_aligned(const IrAlignment *a, const PtxOperand *address, uint32_t bytes,
                   bool to_parameter) {
  if (address->kind != OPD_ADDR || !address->nlist || (address->imm & (bytes - 1))) return false;
  Bits b = of_operand(a, &address->list[0]);
  return (b.based ? to_parameter : true) && 1u << b.zeros >= bytes;
}
