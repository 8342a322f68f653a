// provenance: which parameter or variable an address was computed from.
//
// Optimistic fixpoint over registers: every register starts as "nothing known yet" and is raised
// until nothing changes. A register written in several places joins what each of them gives. An
// address keeps the object of its pointer operand through additions of integers, conversions
// between address spaces and selections; scaling (mul, shl …) makes an integer of anything; two
// pointers added, a pointer masked, a pointer loaded from memory are unknown. A 64-bit parameter
// may be a pointer or a size: one that was converted to an address space, is declared .ptr or is an
// address by itself counts as a pointer, and wins over one that was not.
#include "ir/ir.h"

enum { MOST_ROUNDS = 64 };

static const IrOrigin bottom = {.kind = IR_FROM_NOTHING}, integer = {.kind = IR_FROM_INTEGER},
                      unknown = {.kind = IR_FROM_UNKNOWN};

static bool same_object(IrOrigin a, IrOrigin b) {
  return a.kind == b.kind && a.var == b.var && a.offset == b.offset;
}
static bool equal(IrOrigin a, IrOrigin b) {
  return same_object(a, b) && a.is_pointer == b.is_pointer && a.is_null == b.is_null;
}

static IrOrigin join(IrOrigin a, IrOrigin b) {
  if (a.kind == IR_FROM_NOTHING) return b;
  if (b.kind == IR_FROM_NOTHING) return a;
  if (same_object(a, b)) {
    a.is_pointer |= b.is_pointer;
    a.is_null &= b.is_null;
    return a;
  }
  // p or null: an access through null is out of bounds of p's object as well
  if (ir_is_object(a) && b.is_null) return a;
  if (ir_is_object(b) && a.is_null) return b;
  return unknown;
}

// --- operands ---

static IrOrigin of_operand(const IrProvenance *p, const PtxOperand *o) {
  switch (o->kind) {
    case OPD_REG: return o->selector == SEL_NONE ? p->reg[o->reg->id] : unknown;
    case OPD_INT: return (IrOrigin){.kind = IR_FROM_INTEGER, .is_null = o->imm == 0};
    case OPD_FLOAT:
    case OPD_SREG: return integer;
    case OPD_VAR:
      if (o->var->space == SPACE_REG ||
          (o->var->space == SPACE_PARAM && !ir_is_kernel_param(p->cfg->func, o)))
        return unknown;
      return (IrOrigin){.kind = IR_FROM_VAR, .is_pointer = true, .var = o->var};
    default: return unknown;
  }
}

// The sum of two numbers. Of two parameters, one that is never used as a pointer counts as an
// offset.
static IrOrigin sum(IrOrigin a, IrOrigin b) {
  if (a.kind == IR_FROM_NOTHING || b.kind == IR_FROM_NOTHING) return bottom;
  a.is_null = b.is_null = false;
  if (ir_is_object(a) && ir_is_object(b))
    return a.is_pointer && !b.is_pointer ? a : b.is_pointer && !a.is_pointer ? b : unknown;
  if (a.kind == IR_FROM_UNKNOWN || b.kind == IR_FROM_UNKNOWN) return unknown;
  return ir_is_object(a) ? a : b;
}

static IrOrigin difference(IrOrigin a, IrOrigin b) {
  if (a.kind == IR_FROM_NOTHING || b.kind == IR_FROM_NOTHING) return bottom;
  if (a.kind == IR_FROM_UNKNOWN || b.kind == IR_FROM_UNKNOWN) return unknown;
  if (ir_is_object(b)) return ir_is_object(a) && a.is_pointer && !b.is_pointer ? a : integer;
  a.is_null = false;
  return a;
}

// Bits taken out of a number: an aligned-down pointer may have left its object, a masked index is
// an index.
static IrOrigin masked(IrOrigin a, IrOrigin b) {
  if (a.kind == IR_FROM_NOTHING || b.kind == IR_FROM_NOTHING) return bottom;
  return a.kind == IR_FROM_INTEGER && b.kind == IR_FROM_INTEGER ? integer : unknown;
}

// --- results ---

static uint32_t result_bytes(const PtxInstr *in) {
  return in->ntypes ? ptx_type_size(in->types[0]) : 8;
}

static IrOrigin of_param_load(const IrProvenance *p, const PtxInstr *in, uint32_t element) {
  const PtxOperand *a = &in->ops[1];
  const PtxVar *v = a->kind == OPD_ADDR && a->list[0].kind == OPD_VAR ? a->list[0].var : NULL;
  if (result_bytes(in) < 8) return integer;
  if (!v || !ir_is_kernel_param(p->cfg->func, &a->list[0])) return unknown;
  int64_t offset = a->imm + a->list[0].imm + (int64_t)element * 8;
  return (IrOrigin){.kind = IR_FROM_PARAM, .is_pointer = v->is_ptr, .var = v, .offset = offset};
}

static IrOrigin of_load(const IrProvenance *p, const PtxInstr *in, uint32_t element) {
  if (in->space == SPACE_PARAM) return of_param_load(p, in, element);
  // a pointer to shared memory kept in 32 bits: see ir_access_origin
  return result_bytes(in) < 8 ? integer : unknown;
}

static IrOrigin of_conversion(IrOrigin from) {
  if (ir_is_object(from)) from.is_pointer = true;
  return from;
}

static IrOrigin of_result(const IrProvenance *p, const PtxInstr *in, uint32_t element) {
#define OPERAND(i) of_operand(p, &in->ops[i])
  switch (ptx_op_result(in->op)) {
    case RESULT_COPY:
      return in->ops[1].kind == OPD_VECTOR || in->ops[0].kind == OPD_VECTOR ? unknown : OPERAND(1);
    case RESULT_ADDRESS: return of_conversion(OPERAND(1));
    case RESULT_CONVERT:  // u64 to u64 or u32 to u64 of an address keeps it
      return in->ntypes == 2 && ptx_type_kind(in->types[1]) != KIND_FLOAT ? OPERAND(1) : integer;
    case RESULT_ADD: return sum(OPERAND(1), OPERAND(2));
    case RESULT_SUB: return difference(OPERAND(1), OPERAND(2));
    case RESULT_MAD:
    case RESULT_MAD24: return sum(integer, OPERAND(3));
    case RESULT_SELECT:
    case RESULT_MIN:
    case RESULT_MAX: return join(OPERAND(1), OPERAND(2));
    case RESULT_AND:
    case RESULT_OR:
    case RESULT_XOR: return masked(OPERAND(1), OPERAND(2));
    case RESULT_NOT: return masked(OPERAND(1), integer);
    case RESULT_LOAD: return of_load(p, in, element);
    case RESULT_MUL:
    case RESULT_MUL24:
    case RESULT_DIV:
    case RESULT_REM:
    case RESULT_NEG:
    case RESULT_SHL:
    case RESULT_SHR:
    case RESULT_COUNT:
    case RESULT_FIELD:
    case RESULT_NUMBER: return integer;
    case RESULT_NONE:
      if (ptx_op_classes(in) & (CLASS_CALL | CLASS_ADDRESS | CLASS_ATOMIC)) return unknown;
      break;
  }
  return result_bytes(in) < 8 ? integer : unknown;
#undef OPERAND
}

static bool raise(IrProvenance *p, const PtxReg *r, IrOrigin value) {
  IrOrigin now = join(p->reg[r->id], value);
  if (equal(now, p->reg[r->id])) return false;
  p->reg[r->id] = now;
  return true;
}

typedef struct Writes {
  IrProvenance *p;
  PtxInstr *in;
  uint32_t element;
  bool changed;
} Writes;

static void visit(void *ctx, PtxReg **reg, bool is_def) {
  Writes *w = ctx;
  if (is_def && raise(w->p, *reg, of_result(w->p, w->in, w->element++))) w->changed = true;
}

IrProvenance *ir_provenance_build(const IrCfg *c) {
  IrProvenance *p = mem_alloc(sizeof *p);
  p->cfg = c;
  p->reg = ARENA_ARRAY(&p->arena, IrOrigin, c->func->nregs + 1);
  bool changed = true;
  for (int round = 0; changed; round++) {
    changed = false;
    for (uint32_t i = 0; i < c->norder; i++) {
      const IrBlock *b = &c->blocks[c->order[i]];
      for (uint32_t k = b->first; k < b->end; k++) {
        Writes w = {p, c->instrs[k], 0, false};
        ptx_visit_regs(c->instrs[k], visit, &w);
        changed |= w.changed;
      }
    }
    // the lattice has height 4
    CHECK(!changed || round < MAX(MOST_ROUNDS, 4 * (int)c->func->nregs + 8));
  }
  return p;
}

void ir_provenance_free(IrProvenance *p) {
  if (!p) return;
  arena_free(&p->arena);
  free(p);
}

IrOrigin ir_access_origin(const IrProvenance *p, const PtxOperand *address) {
  if (address->kind != OPD_ADDR || !address->nlist) return unknown;
  IrOrigin o = of_operand(p, &address->list[0]);
  return ir_is_object(o) ? o : unknown;
}
