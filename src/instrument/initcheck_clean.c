// The shadows of several accesses, for threads that have read nothing bad so far.
//
//     x = base + lowest offset - object;   in = x < size (&& x + span < size)
//     at = shadow + x / 4
//     @in ld.u8 w, [at + …];   all &= w                  each that reads
//     all does not say that everything is good? bra Follow
//     @in st.u8 [at + …], good                           each that stores
//
// Accesses with one base register share what comes before the loads: that is most of it. Loads and stores of the shadow are as weak as the program's beside them. A mark that
// is not seen yet costs time only: what looks bad is looked at again, in memory itself, before it counts (wg_init_follow).
#include "instrument/initcheck.h"

static const PtxInstr *instr(const InitClean *z, unsigned n) { return z->k->body->cfg->instrs[z->accesses[n]]; }
static const PtxOperand *address(const InitClean *z, unsigned n) { return init_address(instr(z, n)); }

// --- which accesses belong together ---

static bool is_part(const InitClean *z, unsigned n) { return access_bytes(instr(z, n)) < 4; }

static bool has_group(const InitClean *z, unsigned n) {
  InitPlaceKind kind = z->k->place[z->accesses[n]].kind;
  PtxOperandKind base = address(z, n)->list[0].kind;
  return (kind == PLACE_PARAM || kind == PLACE_SHARED) && !is_part(z, n) && address(z, n)->imm % 4 == 0 && (base == OPD_REG || base == OPD_VAR);
}

static bool is_alike(const InitClean *z, unsigned n, unsigned m) {
  const PtxInstr *a = instr(z, n), *b = instr(z, m);
  const PtxOperand *x = &address(z, n)->list[0], *y = &address(z, m)->list[0];
  const InitPlace *p = &z->k->place[z->accesses[n]], *q = &z->k->place[z->accesses[m]];
  if (p->kind != q->kind || p->fact_at != q->fact_at || a->space != b->space || a->guard != b->guard || a->guard_negated != b->guard_negated) return false;
  return x->kind == y->kind && (x->kind == OPD_REG ? x->reg == y->reg : x->var == y->var);
}

InitClean init_clean(InitCheck *k, const uint32_t *accesses, unsigned n, bool can_follow) {
  InitClean z = {.k = k, .accesses = accesses, .n = n};
  for (unsigned i = 0; i < n; i++) {
    z.group[i] = INIT_NO_GROUP;
    if (!has_group(&z, i)) continue;
    int64_t at = address(&z, i)->imm;
    unsigned g = 0;
    while (g < z.ngroups && !(is_alike(&z, z.groups[g].leader, i) && (can_follow || z.groups[g].low == at))) g++;
    if (g == z.ngroups) z.groups[z.ngroups++] = (InitGroup){.leader = i, .low = at, .high = at};
    z.groups[g].low = MIN(z.groups[g].low, at);
    z.groups[g].high = MAX(z.groups[g].high, at);
    z.group[i] = (uint8_t)g;
  }
  return z;
}

bool init_clean_is_short(const InitClean *z) {
  for (unsigned n = 0; n < z->n; n++) {
    InitPlaceKind kind = z->k->place[z->accesses[n]].kind;
    if ((kind != PLACE_PARAM && kind != PLACE_SHARED) || (is_part(z, n) && instr(z, n)->op == OP_ST)) return false;
  }
  return true;
}

// --- where the shadow of a group is ---

static PtxReg *own_reg(Body *b, PtxReg **r, PtxType t) { return *r ? *r : (*r = body_reg(b, t)); }
static PtxReg *at_of(const InitClean *z, unsigned g) { return own_reg(z->k->body, &z->k->group_at[g], TYPE_B64); }
static PtxReg *in_of(const InitClean *z, unsigned g) { return own_reg(z->k->body, &z->k->group_in[g], TYPE_PRED); }

// in = guard && x < size
static void test_inside(Code *c, const PtxInstr *i, bool wide, PtxReg *in, PtxReg *x, PtxReg *size) {
  PtxOperand guard = i->guard ? i->guard_negated ? opd_not(i->guard) : opd_reg(i->guard) : (PtxOperand){0};
  if (i->guard) EMIT(c, wide ? "setp.lt.and.u64" : "setp.lt.and.u32", opd_reg(in), opd_reg(x), opd_reg(size), guard);
  else EMIT(c, wide ? "setp.lt.u64" : "setp.lt.u32", opd_reg(in), opd_reg(x), opd_reg(size));
}

static void lowest_address(const InitClean *z, Code *c, PtxReg *to, const InitGroup *g) {
  PtxOperand lowest = *address(z, g->leader);
  lowest.imm = g->low;
  access_address(c, to, &lowest);
}

// x = where the lowest access of the group is in its object. In shared memory that has 32 bits.
static void find_offset(const InitClean *z, Code *c, PtxReg *x, const InitGroup *g) {
  Body *b = z->k->body;
  const PtxInstr *in = instr(z, g->leader);
  const PtxOperand *base = &address(z, g->leader)->list[0];
  PtxReg *wide = body_temp(b, TYPE_B64, 1), *object = body_temp(b, TYPE_B64, 4);
  InitPlace place = z->k->place[z->accesses[g->leader]];
  if (place.kind == PLACE_PARAM) {
    lowest_address(z, c, x, g);
    record_load(c, object, place.fact_at);
    EMIT(c, "sub.s64", opd_reg(x), opd_reg(x), opd_reg(object));
  } else if (in->space == SPACE_SHARED && base->kind == OPD_REG && ptx_type_size(base->reg->type) == 4) {
    if (g->low) EMIT(c, "add.s32", opd_reg(x), *base, opd_imm(g->low));
    else EMIT(c, "mov.b32", opd_reg(x), *base);
  } else {
    lowest_address(z, c, wide, g);
    if (in->space == SPACE_GENERIC) EMIT(c, "cvta.to.shared.u64", opd_reg(wide), opd_reg(wide));
    EMIT(c, "cvt.u32.u64", opd_reg(x), opd_reg(wide));
  }
}

// Where only a part of a group is inside, Follow looks at each access.
static void find_group(InitClean *z, Code *c, unsigned n, PtxReg *all) {
  Body *b = z->k->body;
  InitGroup *g = &z->groups[n];
  const PtxInstr *in = instr(z, g->leader);
  InitPlace place = z->k->place[z->accesses[g->leader]];
  bool wide = place.kind == PLACE_PARAM;
  PtxType t = wide ? TYPE_B64 : TYPE_B32;
  PtxReg *x = body_temp(b, t, 6), *last = body_temp(b, t, 5), *size = wide ? body_temp(b, TYPE_B64, 3) : z->k->shared_limit, *shadow = z->k->shared_at;
  if (g->is_found) return;
  g->is_found = true;
  c->near = in;
  find_offset(z, c, x, g);
  if (wide) record_load(c, size, place.fact_at + 8);
  test_inside(c, in, wide, in_of(z, n), x, size);
  if (g->high > g->low) {
    PtxReg *also = body_temp(b, TYPE_PRED, 2), *one = body_temp(b, TYPE_PRED, 3);
    EMIT(c, wide ? "add.s64" : "add.s32", opd_reg(last), opd_reg(x), opd_imm(g->high - g->low));
    test_inside(c, in, wide, also, last, size);
    EMIT(c, "xor.pred", opd_reg(one), opd_reg(in_of(z, n)), opd_reg(also));
    EMIT(c, "selp.b32", opd_reg(all), opd_imm(0), opd_reg(all), opd_reg(one));
    EMIT(c, "and.pred", opd_reg(in_of(z, n)), opd_reg(in_of(z, n)), opd_reg(also));
  }
  EMIT(c, wide ? "shr.u64" : "shr.u32", opd_reg(x), opd_reg(x), opd_imm(2));
  if (wide) {
    shadow = body_temp(b, TYPE_B64, 4);
    record_load(c, shadow, place.fact_at + 16);
    EMIT(c, "add.s64", opd_reg(at_of(z, n)), opd_reg(x), opd_reg(shadow));
  } else {
    EMIT(c, "cvt.u64.u32", opd_reg(at_of(z, n)), opd_reg(x));
    EMIT(c, "add.s64", opd_reg(at_of(z, n)), opd_reg(at_of(z, n)), opd_reg(shadow));
  }
}

static bool is_weak(const PtxInstr *in) {
  return !ptx_has(in, MOD_VOLATILE) && !ptx_has(in, MOD_RELAXED) && !ptx_has(in, MOD_ACQUIRE) && !ptx_has(in, MOD_RELEASE);
}

static InitShadow shadow_at(const InitClean *z, unsigned n, int64_t *offset) {
  unsigned g = z->group[n];
  *offset = (address(z, n)->imm - z->groups[g].low) / 4;
  return (InitShadow){.body = z->k->body, .off = NULL, .shadow = at_of(z, g), .bytes = access_bytes(instr(z, n)), .is_weak = is_weak(instr(z, n))};
}

void init_clean_test(InitClean *z, Code *c, PtxReg *all) {
  for (unsigned g = 0; g < z->ngroups; g++)
    if (z->groups[g].high > z->groups[g].low) find_group(z, c, g, all);
  for (unsigned n = 0; n < z->n; n++) {
    int64_t offset;
    c->near = instr(z, n);
    if (z->group[n] == INIT_NO_GROUP) {
      if (instr(z, n)->op != OP_ST || z->k->place[z->accesses[n]].kind == PLACE_LOOKUP) init_test_access(z->k, c, z->accesses[n], all, is_weak(instr(z, n)));
    } else if (instr(z, n)->op != OP_ST) {
      find_group(z, c, z->group[n], all);
      InitShadow s = shadow_at(z, n, &offset);
      init_test_shadow_at(&s, c, in_of(z, z->group[n]), offset, all);
    }
  }
}

void init_clean_mark(InitClean *z, Code *c) {
  for (unsigned n = 0; n < z->n; n++) {
    int64_t offset;
    if (instr(z, n)->op != OP_ST) continue;
    c->near = instr(z, n);
    if (z->group[n] == INIT_NO_GROUP) init_mark_access(z->k, c, z->accesses[n], is_weak(instr(z, n)));
    else {
      find_group(z, c, z->group[n], NULL);
      InitShadow s = shadow_at(z, n, &offset);
      init_mark_good_at(&s, c, in_of(z, z->group[n]), offset);
    }
  }
}
