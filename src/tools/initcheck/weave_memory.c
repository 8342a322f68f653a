// Loads, stores and atomics: the shadow of memory is read and written beside the memory.
//
//     shadow of the destination = 0
//     off = address - base;  in = off < size           base and size: in the launch record
//     @in bra Slow                                     size 0: all of it is initialised
//   Back:
//     ld …
//   Slow:                                            out of line
//     all bytes good? bra Back
//     shadow of the destination = the bad bytes; remember where;  bra Back
//
// A store updates the shadow first: a thread that learns of the data from a flag then finds the
// shadow, too.
#include "tools/initcheck/internal.h"

typedef struct Access {
  InitCheck *k;
  PtxInstr *in;
  uint32_t index;  // its number
  InitPlace place;
  uint32_t bytes;
  const PtxOperand *address;
  // the address; its offset in the object; the start of the object's shadow
  PtxReg *at, *off, *shadow;
  PtxLabel *slow, *back;
} Access;

static PtxReg *temp32(Access *a, unsigned n) { return body_temp(a->k->body, TYPE_B32, n); }
static PtxReg *pred(Access *a, unsigned n) { return body_temp(a->k->body, TYPE_PRED, n); }

// in = guard && off < size
static void test_inside(Access *a, Code *c, PtxReg *in, PtxOperand size) {
  const PtxInstr *i = a->in;
  if (i->guard) EMIT(c, "setp.lt.and.u64", opd_reg(in), opd_reg(a->off), size, opd_guard(i));
  else EMIT(c, "setp.lt.u64", opd_reg(in), opd_reg(a->off), size);
}

static void address_in_shared(Access *a, Code *c) {
  access_address(c, a->off, a->address);
  if (a->in->space == SPACE_GENERIC)
    EMIT(c, "cvta.to.shared.u64", opd_reg(a->off), opd_reg(a->off));
}

// The address of a variable of the thread in the form the access uses.
void init_local_address(Code *c, PtxReg *to, const PtxVar *v, bool generic) {
  EMIT(c, "mov.u64", opd_reg(to), opd_var((PtxVar *)v));
  if (generic) EMIT(c, "cvta.local.u64", opd_reg(to), opd_reg(to));
}

// Sets a->off, and `in` if the access is to followed memory; find_shadow sets a->shadow.
static void find_object(Access *a, Code *c, PtxReg *in) {
  InitCheck *k = a->k;
  PtxReg *size = body_temp(k->body, TYPE_B64, 3), *base = body_temp(k->body, TYPE_B64, 4);
  switch (a->place.kind) {
    case PLACE_PARAM:
      access_address(c, a->off, a->address);
      record_load(c, base, a->place.fact_at);
      record_load(c, size, a->place.fact_at + 8);
      EMIT(c, "sub.s64", opd_reg(a->off), opd_reg(a->off), opd_reg(base));
      test_inside(a, c, in, opd_reg(size));
      return;
    case PLACE_SHARED:
      address_in_shared(a, c);
      test_inside(a, c, in, opd_reg(k->shared_bytes));
      return;
    case PLACE_LOCAL:
      access_address(c, a->off, a->address);
      init_local_address(c, base, a->place.var, a->in->space == SPACE_GENERIC);
      EMIT(c, "sub.s64", opd_reg(a->off), opd_reg(a->off), opd_reg(base));
      test_inside(a, c, in, opd_imm((int64_t)a->place.var->size));
      return;
    default: return;
  }
}

static void find_shadow(Access *a, Code *c) {
  switch (a->place.kind) {
    case PLACE_PARAM: record_load(c, a->shadow, a->place.fact_at + 16); return;
    case PLACE_SHARED: EMIT(c, "mov.b64", opd_reg(a->shadow), opd_reg(a->k->shared_at)); return;
    case PLACE_LOCAL:
      init_local_address(c, a->shadow, a->k->local_shadow[a->place.var->id], false);
      return;
    default: return;
  }
}

// An address of unknown origin: looks in the range found last, then in the table; also tests for a
// generic address of shared memory. Branches to slow with off and shadow set, or falls through.
static void look_up(Access *a, Code *hot) {
  InitCheck *k = a->k;
  Body *b = k->body;
  Code *cold = body_cold(b);
  PtxReg *in = pred(a, 0), *other = pred(a, 1), *range = body_temp(b, TYPE_B64, 3);
  PtxLabel *miss = body_label(b), *over = body_label(b), *found = body_label(b);
  access_address(hot, a->at, a->address);
  EMIT(hot, "sub.s64", opd_reg(a->off), opd_reg(a->at), opd_reg(k->cache_base));
  if (a->in->guard) code_branch(hot, a->in->guard, !a->in->guard_negated, over);
  EMIT(hot, "setp.ge.u64", opd_reg(in), opd_reg(a->off), opd_reg(k->cache_size));
  code_branch(hot, in, false, miss);
  EMIT(hot, "mov.b64", opd_reg(a->shadow), opd_reg(k->cache_shadow));
  EMIT(hot, "setp.ne.u64", opd_reg(in), opd_reg(k->cache_shadow), opd_imm(0));
  code_branch(hot, in, false, a->slow);
  code_label(hot, over);

  cold->near = a->in;
  code_label(cold, miss);
  if (a->in->space == SPACE_GENERIC) {
    EMIT(cold, "isspacep.global", opd_reg(other), opd_reg(a->at));
    code_branch(cold, other, false, found);
    if (k->shared_at) {
      EMIT(cold, "isspacep.shared", opd_reg(other), opd_reg(a->at));
      code_branch(cold, other, true, a->back);
      EMIT(cold, "cvta.to.shared.u64", opd_reg(a->off), opd_reg(a->at));
      EMIT(cold, "mov.b64", opd_reg(a->shadow), opd_reg(k->shared_at));
      EMIT(cold, "setp.lt.u64", opd_reg(other), opd_reg(a->off), opd_reg(k->shared_bytes));
      code_branch(cold, other, false, a->slow);
    }
    EMIT(cold, "bra", opd_label(a->back));
    code_label(cold, found);
  }
  PtxReg *table = body_temp(b, TYPE_B64, 4);
  record_load(cold, table, offsetof(WgLaunch, init_memory));
  const PtxOperand args[] = {opd_reg(table), opd_reg(a->at)};
  code_call_value(cold, probe_function(b->program, b->unit, "wg_init_find"), range, args, 2);
  EMIT(cold, "setp.eq.u64", opd_reg(other), opd_reg(range), opd_imm(0));
  code_branch(cold, other, false, a->back);
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_base),
       opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, base)));
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_size),
       opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, size)));
  EMIT(cold, "ld.global.u64", opd_reg(k->cache_shadow),
       opd_at(cold, opd_reg(range), offsetof(WgMemoryRange, tools.shadow)));
  EMIT(cold, "sub.s64", opd_reg(a->off), opd_reg(a->at), opd_reg(k->cache_base));
  EMIT(cold, "mov.b64", opd_reg(a->shadow), opd_reg(k->cache_shadow));
  EMIT(cold, "setp.eq.u64", opd_reg(other), opd_reg(k->cache_shadow), opd_imm(0));
  code_branch(cold, other, false, a->back);
  EMIT(cold, "bra", opd_label(a->slow));
}

// Branches from `hot` to code out of line if the access is to followed memory. Returns that code;
// off and shadow are set there.
static Code *begin_slow(Access *a, Code *hot) {
  if (a->place.kind == PLACE_LOOKUP) {
    look_up(a, hot);
  } else {
    find_object(a, hot, pred(a, 0));
    code_branch(hot, pred(a, 0), false, a->slow);
  }
  code_label(hot, a->back);
  Code *c = body_cold(a->k->body);
  c->near = a->in;
  code_label(c, a->slow);
  find_shadow(a, c);
  return c;
}

// --- bytes and shadows of registers ---

void init_elements(const PtxOperand *o, PtxReg **out, unsigned *n) {
  if (o->kind == OPD_REG) out[(*n)++] = o->reg;
  else if (o->kind == OPD_VECTOR)
    for (unsigned i = 0; i < o->nlist && *n < 8; i++)
      out[(*n)++] = o->list[i].kind == OPD_REG ? o->list[i].reg : NULL;
  else out[(*n)++] = NULL;
}

// The four low bits of m as four bytes, in place.
static void bits_to_bytes(Code *c, PtxReg *m) {
  EMIT(c, "and.b32", opd_reg(m), opd_reg(m), opd_imm(15));
  EMIT(c, "mul.lo.u32", opd_reg(m), opd_reg(m), opd_imm(0x00204081));
  EMIT(c, "and.b32", opd_reg(m), opd_reg(m), opd_imm(0x01010101));
  EMIT(c, "mul.lo.u32", opd_reg(m), opd_reg(m), opd_imm(255));
}

// Computes the shadow of a destination from the bad bytes that were read.
static void shadow_from_bytes(Access *a, Code *c, PtxReg *r, unsigned first, unsigned bytes,
                              PtxReg *bad) {
  bool is_signed = ptx_type_kind(a->in->types[0]) == KIND_SIGNED;
  PtxReg *s = init_shadow(a->k, r), *low = temp32(a, 3), *high = temp32(a, 4);
  if (!s) return;
  EMIT(c, "shr.u32", opd_reg(low), opd_reg(bad), opd_imm(first));
  if (bytes == 8) EMIT(c, "shr.u32", opd_reg(high), opd_reg(bad), opd_imm(first + 4));
  else if (bytes < 4) EMIT(c, "and.b32", opd_reg(low), opd_reg(low), opd_imm((1 << bytes) - 1));
  bits_to_bytes(c, low);
  if (bytes == 8) bits_to_bytes(c, high);
  else if (bytes < 4 && is_signed) {
    EMIT(c, "shl.b32", opd_reg(low), opd_reg(low), opd_imm(32 - 8 * bytes));
    EMIT(c, "shr.s32", opd_reg(low), opd_reg(low), opd_imm(32 - 8 * bytes));
  }
  if (s->type == TYPE_B64) {
    if (bytes < 8 && is_signed) EMIT(c, "shr.s32", opd_reg(high), opd_reg(low), opd_imm(31));
    else if (bytes < 8) EMIT(c, "mov.b32", opd_reg(high), opd_imm(0));
    EMIT(c, "mov.b64", opd_reg(s),
         opd_vector(c, (const PtxOperand[]){opd_reg(low), opd_reg(high)}, 2));
  } else {
    if (ptx_type_size(r->type) == 2)
      EMIT(c, "and.b32", opd_reg(low), opd_reg(low), opd_imm(0xffff));
    EMIT(c, "mov.b32", opd_reg(s), opd_reg(low));
  }
}

static void set_destinations(Access *a, Code *c, PtxReg *bad) {
  PtxReg *regs[8];
  unsigned n = 0, bytes = ptx_type_size(a->in->types[0]);
  init_elements(&a->in->ops[0], regs, &n);
  for (unsigned i = 0; i < n; i++)
    if (regs[i]) shadow_from_bytes(a, c, regs[i], i * bytes, bytes, bad);
}

static void clear_destination(void *ctx, PtxReg **reg, bool is_def) {
  struct {
    InitCheck *k;
    Code *c;
  } *x = ctx;
  if (is_def && init_shadow(x->k, *reg)) init_clear(x->c, init_shadow(x->k, *reg));
}

static void clear_destinations(Access *a, Code *c) {
  struct {
    InitCheck *k;
    Code *c;
  } x = {a->k, c};
  code_guard(c, a->in->guard, a->in->guard_negated);
  ptx_visit_regs(a->in, clear_destination, &x);
  code_guard(c, NULL, false);
}

// The bad bytes of a shadow register, as bits first, first + 1, … of `to`. whole: only bytes with
// all bits bad.
typedef struct ByteRange {
  unsigned first, n;
} ByteRange;
static void bytes_from_shadow(Access *a, Code *c, PtxReg *s, ByteRange at, PtxReg *to, bool whole) {
  unsigned first = at.first, bytes = at.n;
  PtxReg *word = temp32(a, 3), *t = temp32(a, 4), *other = temp32(a, 5);
  for (unsigned half = 0; half < (bytes == 8 ? 2u : 1u); half++) {
    if (s->type == TYPE_B64)
      EMIT(c, "mov.b64",
           opd_vector(
               c, (const PtxOperand[]){opd_reg(half ? other : word), opd_reg(half ? word : other)},
               2),
           opd_reg(s));
    else EMIT(c, "mov.b32", opd_reg(word), opd_reg(s));
    for (int by = 4; by; by /= 2) {
      EMIT(c, "shr.u32", opd_reg(t), opd_reg(word), opd_imm(by));
      EMIT(c, whole ? "and.b32" : "or.b32", opd_reg(word), opd_reg(word), opd_reg(t));
    }
    EMIT(c, "and.b32", opd_reg(word), opd_reg(word), opd_imm(0x01010101));
    EMIT(c, "mul.lo.u32", opd_reg(word), opd_reg(word), opd_imm(0x10204080));
    EMIT(c, "shr.u32", opd_reg(word), opd_reg(word), opd_imm(28));
    if (bytes < 4) EMIT(c, "and.b32", opd_reg(word), opd_reg(word), opd_imm((1 << bytes) - 1));
    EMIT(c, "shl.b32", opd_reg(word), opd_reg(word), opd_imm(first + 4 * half));
    EMIT(c, "or.b32", opd_reg(to), opd_reg(to), opd_reg(word));
  }
}

// --- the instructions ---

static InitShadow shadow_of_access(const Access *a) {
  return (InitShadow){a->k->body, a->off, a->shadow, a->bytes, a->place.kind == PLACE_LOCAL, false};
}

const PtxOperand *init_stored(const PtxInstr *in) { return &in->ops[in->op == OP_ATOM ? 2 : 1]; }

static void remember_origin(Access *a, Code *c) {
  InitCheck *k = a->k;
  uint32_t site = program_site(k->body->program, k->body, a->in);
  record_site(c, k->origin_site, site);
  if (a->place.kind == PLACE_SHARED || a->place.kind == PLACE_LOCAL)
    EMIT(c, "mov.b64", opd_reg(k->origin_address), opd_imm(0));
  else access_address(c, k->origin_address, a->address);
  InitShadow s = shadow_of_access(a);
  init_read_derived(&s, c, k->origin_derived);
}

static void emit_load(Access *a, Code *hot) {
  clear_destinations(a, hot);
  Code *c = begin_slow(a, hot);
  PtxReg *bad = temp32(a, 0);
  InitShadow s = shadow_of_access(a);
  init_read_shadow(&s, c, bad, a->back);
  set_destinations(a, c, bad);
  remember_origin(a, c);
  EMIT(c, "bra", opd_label(a->back));
}

static bool is_made_of_copies(const InitCheck *k, const PtxOperand *o, unsigned depth) {
  PtxReg *from[8];
  unsigned n = 0;
  init_elements(o, from, &n);
  for (unsigned i = 0; i < n; i++)
    if (from[i] && !init_is_copy(k, from[i], depth + 1)) return false;
  return true;
}

// Whether the stored value came from memory and was only moved, selected by a good predicate, or
// widened.
bool init_is_copy(const InitCheck *k, const PtxReg *r, unsigned depth) {
  const PtxInstr *d = ir_single_def(k->defs, r);
  if (!init_shadow(k, r)) return true;
  if (!d || depth > 8) return false;
  switch (d->op) {
    case OP_LD:
    case OP_LDU: return true;
    case OP_MOV: return is_made_of_copies(k, &d->ops[1], depth);
    case OP_CVT: return init_rule(d) == RULE_CONVERT && is_made_of_copies(k, &d->ops[1], depth);
    case OP_SELP: {
      bool chosen_well = d->ops[3].kind != OPD_REG || !init_shadow(k, d->ops[3].reg);
      return chosen_well && is_made_of_copies(k, &d->ops[1], depth) &&
             is_made_of_copies(k, &d->ops[2], depth);
    }
    default: return false;
  }
}

static bool is_constant(const InitCheck *k, const PtxOperand *o) {
  const PtxInstr *d = o->kind == OPD_REG ? ir_single_def(k->defs, o->reg) : NULL;
  return o->kind == OPD_INT || (d && d->op == OP_MOV && d->ops[1].kind == OPD_INT);
}

// Whether constants determine which bits it takes from which operand.
static bool replaces_bits(const InitCheck *k, const PtxInstr *d) {
  switch (d->op) {
    case OP_AND: return is_constant(k, &d->ops[1]) || is_constant(k, &d->ops[2]);
    case OP_LOP3:
      return is_constant(k, &d->ops[1]) || is_constant(k, &d->ops[2]) || is_constant(k, &d->ops[3]);
    case OP_BFI: return is_constant(k, &d->ops[3]) && is_constant(k, &d->ops[4]);
    case OP_PRMT: return is_constant(k, &d->ops[3]);
    default: return false;
  }
}

// A bit field shares bytes with its neighbours, and the shadow knows only whole bytes. A byte that
// a field was written to counts as written; otherwise uninitialised neighbours would make the field
// bad.
static bool replaces_bits_of(const InitCheck *k, const PtxOperand *o, const PtxInstr *store,
                             bool replaced, unsigned depth) {
  const PtxInstr *d = o->kind == OPD_REG ? ir_single_def(k->defs, o->reg) : NULL;
  if (!d || depth > 6) return false;
  switch (d->op) {
    case OP_LD: {
      const PtxOperand *from = init_address(d), *to = init_address(store);
      const PtxOperand *x = from ? &from->list[0] : NULL, *y = &to->list[0];
      bool same = x && x->kind == y->kind && from->imm == to->imm &&
                  (x->kind == OPD_REG ? x->reg == y->reg : x->kind == OPD_VAR && x->var == y->var);
      return replaced && same && access_bytes(d) == access_bytes(store);
    }
    case OP_AND:
    case OP_BFI:
    case OP_LOP3:
    case OP_PRMT: replaced |= replaces_bits(k, d); break;
    case OP_OR:
    case OP_MOV:
    case OP_CVT: break;
    default: return false;
  }
  for (unsigned i = 1; i < d->nops; i++)
    if (replaces_bits_of(k, &d->ops[i], store, replaced, depth + 1)) return true;
  return false;
}

bool init_sets_bits(const InitCheck *k, const PtxInstr *store) {
  return store->op == OP_ST && replaces_bits_of(k, init_stored(store), store, false, 0);
}

// derived = the bad bytes that were computed and not moved. Moved bytes keep the state they had
// where they were read: the thread remembers the state of its last bad read.
static void find_derived(Access *a, Code *c, PtxReg *derived, PtxReg *bad, int64_t moved) {
  PtxReg *p = pred(a, 0), *kept = temp32(a, 3);
  EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(a->k->origin_derived), opd_imm(0));
  EMIT(c, "selp.b32", opd_reg(kept), opd_imm((int32_t)~moved), opd_imm(-1), opd_reg(p));
  EMIT(c, "and.b32", opd_reg(derived), opd_reg(bad), opd_reg(kept));
}

// A bad value that is read here later has its origin at this store, unless it was only moved.
static void report_bad_store(Access *a, Code *c, PtxReg *derived) {
  InitCheck *k = a->k;
  PtxLabel *over = derived ? body_label(k->body) : NULL;
  if (derived) {
    EMIT(c, "setp.eq.u32", opd_reg(pred(a, 0)), opd_reg(derived), opd_imm(0));
    code_branch(c, pred(a, 0), false, over);
  }
  PtxReg *to = body_temp(k->body, TYPE_B64, 3), *origin = body_temp(k->body, TYPE_B64, 4);
  access_address(c, to, a->address);
  init_origin(k, c, origin);
  code_report(c, &(CodeReport){.site = program_site(k->body->program, k->body, a->in),
                               .kind = opd_imm(KIND_UNINIT_STORE),
                               .size = opd_imm(a->bytes),
                               .address = opd_reg(k->origin_address),
                               .value = opd_reg(to),
                               .extra = opd_reg(origin)});
  if (over) code_label(c, over);
}

static void emit_store(Access *a, Code *hot) {
  InitCheck *k = a->k;
  Code *c = begin_slow(a, hot);
  PtxReg *regs[8], *shadows[8];
  unsigned n = 0, nshadows = 0, bytes = ptx_type_size(a->in->types[0]);
  init_elements(init_stored(a->in), regs, &n);
  int64_t moved = 0;  // bytes
  for (unsigned i = 0; i < n; i++) {
    if (!regs[i] || !init_shadow(k, regs[i])) continue;
    shadows[nshadows++] = init_shadow(k, regs[i]);
    if (init_is_copy(k, regs[i], 0)) moved |= ((1ll << bytes) - 1) << i * bytes;
  }
  PtxLabel *bad = nshadows ? body_label(k->body) : NULL;
  if (nshadows) {
    PtxReg *any = init_any(k, c, shadows, nshadows), *p = pred(a, 0);
    EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(any), opd_imm(0));
    code_branch(c, p, false, bad);
  }
  InitShadow s = shadow_of_access(a);
  PtxLabel *write = nshadows ? body_label(k->body) : NULL;
  init_good_state(&s, c);
  if (write) code_label(c, write);
  init_store_state(&s, c);
  EMIT(c, "bra", opd_label(a->back));
  if (!nshadows) return;
  code_label(c, bad);
  PtxReg *mask = temp32(a, 2), *derived = moved ? temp32(a, 0) : NULL;
  EMIT(c, "mov.b32", opd_reg(mask), opd_imm(0));
  for (unsigned i = 0; i < n; i++)
    if (regs[i] && init_shadow(k, regs[i]))
      bytes_from_shadow(a, c, init_shadow(k, regs[i]), (ByteRange){i * bytes, bytes}, mask,
                        init_sets_bits(k, a->in));
  if (derived) find_derived(a, c, derived, mask, moved);
  if (a->place.kind == PLACE_PARAM || a->place.kind == PLACE_LOOKUP)
    report_bad_store(a, c, derived);
  init_bad_state(&s, c, mask, derived);
  EMIT(c, "bra", opd_label(write));
}

// cp.async: shared memory gets the source's state when the copy is issued. A thread that changes
// the source before the copy is complete has a race.
static void emit_copy(Access *a, Code *hot) {
  InitCheck *k = a->k;
  const PtxInstr *in = a->in;
  PtxReg *state = temp32(a, 2);
  const PtxOperand *more = in->nops > 3 ? &in->ops[3] : NULL,
                   *ignored = more && more->kind == OPD_REG && more->reg->type == TYPE_PRED ? more
                                                                                            : NULL;
  const PtxOperand *bytes = more && (more->kind == OPD_INT || (more->kind == OPD_REG && !ignored &&
                                                               ptx_type_size(more->reg->type) == 4))
                                ? more
                                : NULL;
  Access from = *a;
  from.place = k->source[a->index];
  from.address = init_source(in);
  from.slow = body_label(k->body);
  from.back = body_label(k->body);
  EMIT(hot, "mov.b32", opd_reg(state), opd_imm(0x0f0f0f0f));
  Code *c = begin_slow(&from, hot);
  InitShadow s = shadow_of_access(&from);
  init_take_state(&s, c, state, bytes);
  if (ignored) EMIT(c, "selp.b32", opd_reg(state), opd_imm(0x0f0f0f0f), opd_reg(state), *ignored);
  EMIT(c, "bra", opd_label(from.back));
  c = begin_slow(a, hot);
  s = shadow_of_access(a);
  init_put_state(&s, c, state);
  EMIT(c, "bra", opd_label(a->back));
}

// The result gets the shadow of the old value. The new value is bad if the old value or the operand
// was bad.
static void emit_atomic(Access *a, Code *hot) {
  InitCheck *k = a->k;
  clear_destinations(a, hot);
  Code *c = begin_slow(a, hot);
  PtxReg *bad = temp32(a, 0), *mask = temp32(a, 2), *none = pred(a, 0);
  bool replaces = ptx_has(a->in, MOD_EXCH);
  InitShadow s = shadow_of_access(a);
  init_read_shadow(&s, c, bad, NULL);
  EMIT(c, "mov.b32", opd_reg(mask), replaces ? opd_imm(0) : opd_reg(bad));
  unsigned bytes = ptx_type_size(a->in->types[0]);
  for (unsigned i = a->in->op == OP_ATOM ? 2 : 1; i < a->in->nops; i++) {
    PtxReg *regs[8];
    unsigned n = 0;
    init_elements(&a->in->ops[i], regs, &n);
    for (unsigned e = 0; e < n; e++)
      if (regs[e] && init_shadow(k, regs[e]) && e * bytes < a->bytes)
        bytes_from_shadow(a, c, init_shadow(k, regs[e]), (ByteRange){e * bytes, bytes}, mask,
                          false);
  }
  if (a->in->op == OP_ATOM) set_destinations(a, c, bad);
  PtxLabel *was_good = body_label(k->body);
  EMIT(c, "setp.eq.u32", opd_reg(none), opd_reg(bad), opd_imm(0));
  code_branch(c, none, false, was_good);
  remember_origin(a, c);
  code_label(c, was_good);
  EMIT(c, "or.b32", opd_reg(temp32(a, 3)), opd_reg(bad), opd_reg(mask));
  EMIT(c, "setp.eq.u32", opd_reg(none), opd_reg(temp32(a, 3)), opd_imm(0));
  code_branch(c, none, false, a->back);
  if (a->place.kind == PLACE_PARAM || a->place.kind == PLACE_LOOKUP) report_bad_store(a, c, mask);
  init_write_shadow(&s, c, mask, NULL);
  EMIT(c, "bra", opd_label(a->back));
}

// --- code for threads that have read nothing bad yet ---
static Access clean_access(InitCheck *k, Code *c, uint32_t i) {
  PtxInstr *in = k->body->cfg->instrs[i];
  Access a = {.k = k,
              .in = in,
              .place = k->place[i],
              .bytes = access_bytes(in),
              .address = init_address(in)};
  a.at = body_temp(k->body, TYPE_B64, 0);
  a.off = body_temp(k->body, TYPE_B64, 1);
  a.shadow = body_temp(k->body, TYPE_B64, 2);
  if (a.place.kind == PLACE_LOOKUP) {
    access_address(c, a.at, a.address);
    EMIT(c, "sub.s64", opd_reg(a.off), opd_reg(a.at), opd_reg(k->cache_base));
    test_inside(&a, c, pred(&a, 0), opd_reg(k->cache_size));
    EMIT(c, "mov.b64", opd_reg(a.shadow), opd_reg(k->cache_shadow));
  } else {
    find_object(&a, c, pred(&a, 0));
    find_shadow(&a, c);
  }
  return a;
}

void init_test_access(InitCheck *k, Code *c, uint32_t i, PtxReg *all, bool is_weak) {
  Access a = clean_access(k, c, i);
  const PtxInstr *in = a.in;
  PtxReg *inside = pred(&a, 0), *miss = pred(&a, 1);
  if (a.place.kind == PLACE_LOOKUP) {  // if it is elsewhere, the exact code looks it up
    if (in->guard)
      EMIT(c, "setp.ge.and.u64", opd_reg(miss), opd_reg(a.off), opd_reg(k->cache_size),
           opd_guard(in));
    else EMIT(c, "setp.ge.u64", opd_reg(miss), opd_reg(a.off), opd_reg(k->cache_size));
    EMIT(c, "selp.b32", opd_reg(all), opd_imm(0), opd_reg(all), opd_reg(miss));
    EMIT(c, "setp.ne.and.u64", opd_reg(inside), opd_reg(k->cache_shadow), opd_imm(0),
         opd_reg(inside));
  }
  if (in->op == OP_ST) return;
  InitShadow s = shadow_of_access(&a);
  s.is_weak = is_weak;
  init_test_shadow(&s, c, inside, all);
}

void init_mark_access(InitCheck *k, Code *c, uint32_t i, bool is_weak) {
  Access a = clean_access(k, c, i);
  PtxLabel *over = body_label(k->body);
  if (a.place.kind == PLACE_LOOKUP)
    EMIT(c, "setp.ne.and.u64", opd_reg(pred(&a, 0)), opd_reg(k->cache_shadow), opd_imm(0),
         opd_reg(pred(&a, 0)));
  InitShadow s = shadow_of_access(&a);
  s.is_weak = is_weak;
  if (a.bytes >= 4) {
    code_guard(c, pred(&a, 0), false);
    init_mark_good(&s, c);
    code_guard(c, NULL, false);
    return;
  }
  code_branch(c, pred(&a, 0), true, over);
  init_mark_good(&s, c);
  code_label(c, over);
}

void init_access(InitCheck *k, uint32_t i) {
  Body *b = k->body;
  PtxInstr *in = b->cfg->instrs[i];
  Access a = {.k = k, .in = in, .index = i, .place = k->place[i], .bytes = access_bytes(in)};
  if (a.place.kind == PLACE_NONE && (in->op == OP_LD || in->op == OP_LDU || in->op == OP_ATOM))
    clear_destinations(&a, body_before(b, i));
  if (a.place.kind == PLACE_NONE || !a.bytes || a.bytes > 32) return;
  a.address = init_address(in);
  a.at = body_temp(b, TYPE_B64, 0);
  a.off = body_temp(b, TYPE_B64, 1);
  a.shadow = body_temp(b, TYPE_B64, 2);
  a.slow = body_label(b);
  a.back = body_label(b);
  Code *hot = body_before(b, i);
  switch (in->op) {
    case OP_LD:
    case OP_LDU: emit_load(&a, hot); return;
    case OP_ST: emit_store(&a, hot); return;
    case OP_CP_ASYNC:
      if (k->source[i].kind != PLACE_NONE) emit_copy(&a, hot);
      else emit_store(&a, hot);
      return;
    default: emit_atomic(&a, hot); return;
  }
}
