// Accesses that cannot meet: every thread stays with bytes of its own.
//
// The address of each access through a parameter is taken apart into multiples of the thread's coordinates, of values that are the same for all
// threads, and of anything else. If all accesses through the parameter agree in the first two, what is left decides at the launch: as soon as
// the shape of the grid is known, it is known whether different threads have different bytes. 32-bit sums are taken as if they did not overflow.
#include "instrument/racecheck.h"

enum { UNIFORM = 4, DEPTH = 24 };
typedef struct Form {
  bool known;
  int64_t constant, stride[RACE_COORDINATES], rest;      // rest: greatest common divisor of the factors of everything else
  struct { const PtxVar *param; int64_t offset, factor; } uniform[UNIFORM];
  unsigned nuniform;
  int axis;                                // 1 + axis: this is %ntid of an axis and nothing else
} Form;
typedef struct Apart { const RaceCheck *k; const IrDefs *defs; } Apart;

static int64_t gcd(int64_t a, int64_t b) {
  a = a < 0 ? -a : a, b = b < 0 ? -b : b;
  while (b) {
    int64_t t = a % b;
    a = b, b = t;
  }
  return a;
}

static Form number(int64_t n) { return (Form){.known = true, .constant = n}; }
static Form anything(void) { return (Form){.known = true, .rest = 1}; }
static const Form unknown;

static Form add(Form a, Form b, int64_t factor) {
  if (!a.known || !b.known) return unknown;
  a.axis = 0;
  a.constant += b.constant * factor;
  for (unsigned i = 0; i < RACE_COORDINATES; i++) a.stride[i] += b.stride[i] * factor;
  a.rest = gcd(a.rest, b.rest * factor);
  for (unsigned i = 0; i < b.nuniform; i++) {
    unsigned n = 0;
    while (n < a.nuniform && (a.uniform[n].param != b.uniform[i].param || a.uniform[n].offset != b.uniform[i].offset)) n++;
    if (n == UNIFORM) return unknown;
    if (n == a.nuniform) {
      a.uniform[a.nuniform++] = b.uniform[i];
      a.uniform[n].factor = 0;
    }
    a.uniform[n].factor += b.uniform[i].factor * factor;
  }
  return a;
}

static bool is_number(const Form *f) {
  for (unsigned i = 0; i < RACE_COORDINATES; i++)
    if (f->stride[i]) return false;
  return f->known && !f->rest && !f->nuniform && !f->axis;
}

// %ctaid of an axis times something, and nothing else.
static int64_t block_stride(const Form *f, int axis) {
  for (unsigned i = 0; i < RACE_COORDINATES; i++)
    if (f->stride[i] && i != 3u + (unsigned)axis) return 0;
  return f->known && !f->rest && !f->nuniform && !f->constant && !f->axis ? f->stride[3 + axis] : 0;
}

static Form times(Form a, Form b) {
  if (is_number(&b)) return add(number(0), a, b.constant);
  if (is_number(&a)) return add(number(0), b, a.constant);
  for (int swap = 0; swap < 2; swap++) {
    if (b.axis && block_stride(&a, b.axis - 1)) {
      Form f = number(0);
      f.stride[6 + b.axis - 1] = block_stride(&a, b.axis - 1);
      return f;
    }
    Form t = a;
    a = b, b = t;
  }
  return anything();
}

static Form of_register(const Apart *a, const PtxReg *r, unsigned depth);

static Form of_special(const PtxOperand *o) {
  int axis = o->selector == SEL_X ? 0 : o->selector == SEL_Y ? 1 : o->selector == SEL_Z ? 2 : -1;
  Form f = number(0);
  if (axis < 0) return anything();
  if (o->sreg == SREG_TID) f.stride[axis] = 1;
  else if (o->sreg == SREG_CTAID) f.stride[3 + axis] = 1;
  else if (o->sreg == SREG_NTID) f.axis = axis + 1, f.rest = 1;
  else return anything();
  return f;
}

static Form of_operand(const Apart *a, const PtxOperand *o, unsigned bytes, unsigned depth) {
  if (o->kind == OPD_INT) return number(bytes == 4 ? (int32_t)o->imm : o->imm);
  if (o->kind == OPD_SREG) return of_special(o);
  if (o->kind == OPD_REG && o->selector == SEL_NONE) return of_register(a, o->reg, depth);
  return anything();
}

static bool is_integer(const PtxInstr *in) {
  return in->ntypes && ptx_type_kind(in->types[0]) != KIND_FLOAT && ptx_type_size(in->types[0]) >= 4 && !ptx_has(in, MOD_SAT) && !ptx_has(in, MOD_CC) && !ptx_has(in, MOD_HI);
}

static Form of_param(const Apart *a, const PtxInstr *in) {
  const PtxOperand *o = &in->ops[1];
  if (in->space != SPACE_PARAM || o->kind != OPD_ADDR || !o->nlist || o->list[0].kind != OPD_VAR || !ir_is_kernel_param(a->k->body->func, &o->list[0])) return anything();
  Form f = number(0);
  f.nuniform = 1;
  f.uniform[0].param = o->list[0].var;
  f.uniform[0].offset = o->imm + o->list[0].imm;
  f.uniform[0].factor = 1;
  return f;
}

static Form of_register(const Apart *a, const PtxReg *r, unsigned depth) {
  const PtxInstr *in = ir_single_def(a->defs, r);
  unsigned bytes = in && in->ntypes ? ptx_type_size(in->types[0]) : 0;
  if (!in || !depth || in->ops[0].kind != OPD_REG) return anything();
  depth--;
  switch (in->op) {
    case OP_MOV: case OP_CVTA: return of_operand(a, &in->ops[1], bytes, depth);
    case OP_CVT: {
      if (in->ntypes != 2 || !is_integer(in) || ptx_type_kind(in->types[1]) == KIND_FLOAT || ptx_type_size(in->types[1]) < 4 || bytes < ptx_type_size(in->types[1])) return anything();
      return of_operand(a, &in->ops[1], ptx_type_size(in->types[1]), depth);
    }
    case OP_LD: return of_param(a, in);
    case OP_ADD: case OP_SUB:
      if (!is_integer(in)) return anything();
      return add(of_operand(a, &in->ops[1], bytes, depth), of_operand(a, &in->ops[2], bytes, depth), in->op == OP_ADD ? 1 : -1);
    case OP_MUL: return is_integer(in) ? times(of_operand(a, &in->ops[1], bytes, depth), of_operand(a, &in->ops[2], bytes, depth)) : anything();
    case OP_MAD:
      if (!is_integer(in)) return anything();
      return add(times(of_operand(a, &in->ops[1], bytes, depth), of_operand(a, &in->ops[2], bytes, depth)), of_operand(a, &in->ops[3], bytes, depth), 1);
    case OP_SHL:
      if (in->ops[2].kind != OPD_INT || in->ops[2].imm < 0 || in->ops[2].imm > 31) return anything();
      return times(of_operand(a, &in->ops[1], bytes, depth), number((int64_t)1 << in->ops[2].imm));
    default: return anything();
  }
}

static Form of_address(const Apart *a, const PtxOperand *address) {
  if (address->kind != OPD_ADDR || address->nlist != 1) return unknown;
  return add(of_operand(a, &address->list[0], 8, DEPTH), number(address->imm), 1);
}

static bool agree(const Form *a, const Form *b) {
  if (!a->known || !b->known || a->nuniform != b->nuniform) return false;
  for (unsigned i = 0; i < RACE_COORDINATES; i++)
    if (a->stride[i] != b->stride[i]) return false;
  for (unsigned i = 0; i < a->nuniform; i++) {
    bool found = false;
    for (unsigned n = 0; n < b->nuniform; n++)
      found |= a->uniform[i].param == b->uniform[n].param && a->uniform[i].offset == b->uniform[n].offset && a->uniform[i].factor == b->uniform[n].factor;
    if (!found) return false;
  }
  return true;
}

static int64_t distance(int64_t from, int64_t to, int64_t modulus) {
  int64_t d = to - from;
  if (!modulus) return d;
  d %= modulus;
  return d < -modulus / 2 ? d + modulus : d > modulus / 2 ? d - modulus : d;
}

static const RacePrivate *settle(const Apart *a, InstrumentFact *fact) {
  Form first = {0};
  int64_t rest = 0, low = 0, high = 0;
  bool any = false;
  for (int pass = 0; pass < 2; pass++)                    // the second one with all of `rest`
    for (uint32_t i = 0; i < a->k->accesses.len; i++) {
      const RaceAccess *x = &a->k->accesses.data[i];
      if (x->place != RACE_PARAM || x->fact_at != fact->record_offset) continue;
      Form f = of_address(a, x->address);
      if (!f.known || x->flags & WG_RACE_STRONG || (any && !agree(&first, &f))) return NULL;
      if (!any) first = f, any = true;
      rest = gcd(rest, f.rest);
      int64_t at = distance(first.constant, f.constant, rest);
      if (!pass) continue;
      low = MIN(low, at);
      high = MAX(high, at + (int64_t)x->bytes);
    }
  if (!any || rest == 1) return NULL;
  RacePrivate *p = ARENA_NEW(&a->k->body->program->out->arena, RacePrivate);
  memcpy(p->stride, first.stride, sizeof p->stride);
  p->modulus = rest;
  p->window = high - low;
  return p;
}

void race_find_private(RaceCheck *k) {
  Apart a = {k, ir_defs_build(k->body->cfg)};
  for (uint32_t i = 0; i < k->facts.len; i++)
    if (!k->facts.data[i].read_only) k->facts.data[i].race_private = settle(&a, &k->facts.data[i]);
  ir_defs_free((IrDefs *)a.defs);
}
