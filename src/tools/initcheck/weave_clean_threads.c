// The shadows of several accesses, for threads that have read nothing bad so far.
//
//     x = base + lowest offset - object;   in = x < size (&& x + span < size)
//     at = in ? shadow + x / 4 : words of ours that are good
//     ld.u8 w, [at + …];   all &= w                      each that reads
//     all does not say that everything is good? bra Follow
//     @in st.u8 [at + …], good                           each that stores
//
// Accesses with one base register share the code before the loads, which is most of it. No load is
// guarded, so none waits for another. Loads and stores of the shadow are as weak as the program's
// accesses next to them. A mark that is not visible yet only costs time: before something counts as
// bad, it is read again from memory (wg_init_follow).
#include "tools/initcheck/internal.h"

static const PtxInstr *instr(const InitClean *z, unsigned n) {
  return z->k->body->cfg->instrs[z->accesses[n]];
}
static const PtxOperand *address(const InitClean *z, unsigned n) {
  return init_address(instr(z, n));
}

// --- which accesses form a group ---

static bool is_part(const InitClean *z, unsigned n) { return access_bytes(instr(z, n)) < 4; }

static bool has_group(const InitClean *z, unsigned n) {
  InitPlaceKind kind = z->k->place[z->accesses[n]].kind;
  PtxOperandKind base = address(z, n)->list[0].kind;
  return (kind == PLACE_PARAM || kind == PLACE_SHARED) && !z->k->place[z->accesses[n]].is_whole &&
         !is_part(z, n) && address(z, n)->imm % 4 == 0 && (base == OPD_REG || base == OPD_VAR);
}

static bool is_alike(const InitClean *z, unsigned n, unsigned m) {
  const PtxInstr *a = instr(z, n), *b = instr(z, m);
  const PtxOperand *x = &address(z, n)->list[0], *y = &address(z, m)->list[0];
  const InitPlace *p = &z->k->place[z->accesses[n]], *q = &z->k->place[z->accesses[m]];
  if (p->kind != q->kind || p->fact_at != q->fact_at || a->space != b->space ||
      a->guard != b->guard || a->guard_negated != b->guard_negated)
    return false;
  return x->kind == y->kind && (x->kind == OPD_REG ? x->reg == y->reg : x->var == y->var);
}

// span of a group in bytes, from the first to the last access; also the memory that the good words
// cover
enum { MOST_SPAN = 4096 };

static bool fits(const InitGroup *g, int64_t at, bool can_follow) {
  return can_follow ? MAX(g->high, at) - MIN(g->low, at) <= MOST_SPAN : g->low == at;
}

// Can both accesses be aligned at the same time? An access that is left out as misaligned must not
// prevent the checks of others, unless Follow can check each.
static bool go_together(const InitClean *z, const InitGroup *g, unsigned n, bool can_follow) {
  int64_t one = access_bytes(instr(z, n)), other = access_bytes(instr(z, g->widest)),
          bytes = MIN(one, other);
  if (one != other && !can_follow) return false;
  return bytes <= 4 || (address(z, n)->imm - address(z, g->widest)->imm) % bytes == 0;
}

InitClean init_clean(InitCheck *k, const uint32_t *accesses, unsigned n, bool can_follow) {
  InitClean z = {.k = k, .accesses = accesses, .n = n};
  for (unsigned i = 0; i < n; i++) {
    z.group[i] = INIT_NO_GROUP;
    if (!has_group(&z, i)) continue;
    int64_t at = address(&z, i)->imm;
    unsigned g = 0;
    while (g < z.ngroups &&
           !(is_alike(&z, z.groups[g].leader, i) && fits(&z.groups[g], at, can_follow) &&
             go_together(&z, &z.groups[g], i, can_follow)))
      g++;
    if (g == z.ngroups)
      z.groups[z.ngroups++] = (InitGroup){.leader = i, .widest = i, .low = at, .high = at};
    uint32_t bytes = access_bytes(instr(&z, i)), most = access_bytes(instr(&z, z.groups[g].widest));
    z.groups[g].is_mixed |= bytes != most;
    if (bytes > most) z.groups[g].widest = i;
    z.groups[g].low = MIN(z.groups[g].low, at);
    z.groups[g].high = MAX(z.groups[g].high, at);
    z.group[i] = (uint8_t)g;
  }
  return z;
}

bool init_clean_is_short(const InitClean *z) {
  for (unsigned n = 0; n < z->n; n++) {
    InitPlaceKind kind = z->k->place[z->accesses[n]].kind;
    if ((kind != PLACE_PARAM && kind != PLACE_SHARED) ||
        (is_part(z, n) && instr(z, n)->op == OP_ST))
      return false;
  }
  return true;
}

// --- finding the shadow of a group ---

// The shadow of memory that is good, for accesses whose memory is not followed.
static PtxVar *good_words(InitCheck *k) {
  PtxModule *m = k->body->func->module;
  const char *name = arena_printf(&m->arena, "%sgood", k->body->program->prefix);
  for (uint32_t i = 0; i < m->nvars; i++)
    if (!strcmp(m->vars[i]->name, name)) return m->vars[i];
  PtxVar *v = init_new_variable(m, name, MOST_SPAN / 4 + 8);
  memset(v->init, WG_SHADOW_GOOD, v->size);
  return v;
}

static PtxReg *own_reg(Body *b, PtxReg **r, PtxType t) { return *r ? *r : (*r = body_reg(b, t)); }
static PtxReg *at_of(const InitClean *z, unsigned g) {
  return own_reg(z->k->body, &z->k->group_at[g], TYPE_B64);
}
static PtxReg *in_of(const InitClean *z, unsigned g) {
  return own_reg(z->k->body, &z->k->group_in[g], TYPE_PRED);
}

// in = guard && x < size
static void test_inside(Code *c, const PtxInstr *i, bool wide, PtxReg *in, PtxReg *x,
                        PtxReg *size) {
  PtxOperand guard = i->guard ? opd_guard(i) : (PtxOperand){0};
  if (i->guard)
    EMIT(c, wide ? "setp.lt.and.u64" : "setp.lt.and.u32", opd_reg(in), opd_reg(x), opd_reg(size),
         guard);
  else EMIT(c, wide ? "setp.lt.u64" : "setp.lt.u32", opd_reg(in), opd_reg(x), opd_reg(size));
}

static void lowest_address(const InitClean *z, Code *c, PtxReg *to, const InitGroup *g) {
  PtxOperand lowest = *address(z, g->leader);
  lowest.imm = g->low;
  access_address(c, to, &lowest);
}

// x = offset of the group's lowest access in its object; 32 bits in shared memory.
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
  } else if (in->space == SPACE_SHARED && base->kind == OPD_REG &&
             ptx_type_size(base->reg->type) == 4) {
    if (g->low) EMIT(c, "add.s32", opd_reg(x), *base, opd_imm(g->low));
    else EMIT(c, "mov.b32", opd_reg(x), *base);
  } else {
    lowest_address(z, c, wide, g);
    if (in->space == SPACE_GENERIC) EMIT(c, "cvta.to.shared.u64", opd_reg(wide), opd_reg(wide));
    EMIT(c, "cvt.u32.u64", opd_reg(x), opd_reg(wide));
  }
}

// Narrows the group's `in` to `kept`. is_part: that may exclude only some of its accesses; then
// *stray is set where it does, and Follow looks at each access.
static void keep_inside(const InitClean *z, Code *c, unsigned n, PtxReg *kept, bool is_part,
                        PtxReg **stray) {
  PtxReg *one = body_temp(z->k->body, TYPE_PRED, *stray ? 3 : 4);
  if (is_part) {
    EMIT(c, "xor.pred", opd_reg(one), opd_reg(in_of(z, n)), opd_reg(kept));
    if (*stray) EMIT(c, "or.pred", opd_reg(*stray), opd_reg(*stray), opd_reg(one));
    else *stray = one;
  }
  EMIT(c, "and.pred", opd_reg(in_of(z, n)), opd_reg(in_of(z, n)), opd_reg(kept));
}

// memcheck reports a misaligned access and skips it; our code next to it still runs, and its own
// access to the shadow must be aligned. So a misaligned access counts as outside.
static void keep_aligned(const InitClean *z, Code *c, unsigned n, PtxReg *x, bool wide,
                         PtxReg **stray) {
  const InitGroup *g = &z->groups[n];
  int64_t bytes = access_bytes(instr(z, g->widest)),
          from_widest = (address(z, g->widest)->imm - g->low) % bytes;
  PtxType t = wide ? TYPE_B64 : TYPE_B32;
  PtxReg *rest = body_temp(z->k->body, t, 5), *aligned = body_temp(z->k->body, TYPE_PRED, 2);
  if (bytes <= 4 || !(z->k->body->program->plan->tools & TOOL_BIT(MEMCHECK))) return;
  if (from_widest)
    EMIT(c, wide ? "add.s64" : "add.s32", opd_reg(rest), opd_reg(x), opd_imm(from_widest));
  EMIT(c, wide ? "and.b64" : "and.b32", opd_reg(rest), opd_reg(from_widest ? rest : x),
       opd_imm(bytes - 1));
  EMIT(c, wide ? "setp.eq.u64" : "setp.eq.u32", opd_reg(aligned), opd_reg(rest), opd_imm(0));
  keep_inside(z, c, n, aligned, g->is_mixed, stray);
}

static bool has_parts(const InitGroup *g) { return g->high > g->low || g->is_mixed; }

static void find_group(InitClean *z, Code *c, unsigned n, PtxReg **stray) {
  Body *b = z->k->body;
  InitGroup *g = &z->groups[n];
  const PtxInstr *in = instr(z, g->leader);
  InitPlace place = z->k->place[z->accesses[g->leader]];
  bool wide = place.kind == PLACE_PARAM;
  PtxType t = wide ? TYPE_B64 : TYPE_B32;
  PtxReg *x = body_temp(b, t, 6), *last = body_temp(b, t, 5),
         *size = wide ? body_temp(b, TYPE_B64, 3) : z->k->shared_limit, *shadow = z->k->shared_at;
  if (g->is_found) return;
  g->is_found = true;
  c->near = in;
  find_offset(z, c, x, g);
  if (wide) record_load(c, size, place.fact_at + 8);
  test_inside(c, in, wide, in_of(z, n), x, size);
  if (g->high > g->low) {
    PtxReg *also = body_temp(b, TYPE_PRED, 2);
    EMIT(c, wide ? "add.s64" : "add.s32", opd_reg(last), opd_reg(x), opd_imm(g->high - g->low));
    test_inside(c, in, wide, also, last, size);
    keep_inside(z, c, n, also, true, stray);
  }
  keep_aligned(z, c, n, x, wide, stray);
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

// Makes loads of the group's shadow find good words if the access is not inside.
static void make_readable(InitClean *z, Code *c, unsigned n) {
  PtxReg *good = body_temp(z->k->body, TYPE_B64, 4);
  if (z->groups[n].is_readable) return;
  z->groups[n].is_readable = true;
  EMIT(c, "mov.u64", opd_reg(good), opd_var(good_words(z->k)));
  EMIT(c, "selp.b64", opd_reg(at_of(z, n)), opd_reg(at_of(z, n)), opd_reg(good),
       opd_reg(in_of(z, n)));
}

// Accesses to the shadow of shared memory may always be weak: only threads of one block use it, and
// these share a cache.
static bool is_weak(const InitClean *z, unsigned n) {
  const PtxInstr *in = instr(z, n);
  if (z->k->place[z->accesses[n]].kind == PLACE_SHARED) return true;
  return !ptx_has(in, MOD_VOLATILE) && !ptx_has(in, MOD_RELAXED) && !ptx_has(in, MOD_ACQUIRE) &&
         !ptx_has(in, MOD_RELEASE);
}

static InitShadow shadow_at(const InitClean *z, unsigned n, int64_t *offset) {
  unsigned g = z->group[n];
  *offset = (address(z, n)->imm - z->groups[g].low) / 4;
  return (InitShadow){.body = z->k->body,
                      .off = NULL,
                      .shadow = at_of(z, g),
                      .bytes = access_bytes(instr(z, n)),
                      .is_weak = is_weak(z, n)};
}

// all = the and of the shadows of all reads, separately for 1, 2 and 4 bytes of shadow
typedef struct Sums {
  PtxReg *all[3];
  bool begun[3];
} Sums;
static void add_to(Sums *sums, Code *c, uint32_t bytes, PtxReg *w) {
  unsigned n = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
  if (sums->begun[n]) EMIT(c, "and.b32", opd_reg(sums->all[n]), opd_reg(sums->all[n]), opd_reg(w));
  else EMIT(c, "mov.b32", opd_reg(sums->all[n]), opd_reg(w));
  sums->begun[n] = true;
}

// bad |= (w & good) != good
static void test_word(InitClean *z, Code *c, PtxReg *bad, PtxReg *w, int64_t good) {
  PtxReg *t = body_temp(z->k->body, TYPE_B32, 3);
  if (good != -1) EMIT(c, "and.b32", opd_reg(t), opd_reg(w), opd_imm(good));
  EMIT(c, "setp.ne.or.u32", opd_reg(bad), opd_reg(good != -1 ? t : w), opd_imm(good), opd_reg(bad));
}

void init_clean_test(InitClean *z, Code *c, PtxReg *bad, PtxReg *dirty) {
  Body *b = z->k->body;
  PtxReg *others = body_temp(b, TYPE_B32, 7), *w = body_temp(b, TYPE_B32, 3),
         *high = body_temp(b, TYPE_B32, 4), *stray = NULL;
  Sums sums = {
      .all = {body_temp(b, TYPE_B32, 0), body_temp(b, TYPE_B32, 1), body_temp(b, TYPE_B32, 2)}};
  bool has_others = false;
  for (unsigned g = 0; g < z->ngroups; g++)
    if (has_parts(&z->groups[g])) find_group(z, c, g, &stray);
  for (unsigned n = 0; n < z->n; n++) {
    int64_t offset;
    unsigned g = z->group[n];
    c->near = instr(z, n);
    if (g == INIT_NO_GROUP) {
      if (instr(z, n)->op == OP_ST && z->k->place[z->accesses[n]].kind != PLACE_LOOKUP) continue;
      if (!has_others) EMIT(c, "mov.b32", opd_reg(others), opd_imm(-1));
      has_others = true;
      init_test_access(z->k, c, z->accesses[n], others, is_weak(z, n));
    } else if (instr(z, n)->op != OP_ST) {
      find_group(z, c, g, &stray);
      make_readable(z, c, g);
      InitShadow s = shadow_at(z, n, &offset);
      init_load_shadow(&s, c, offset, w, high);
      add_to(&sums, c, s.bytes, w);
      if (s.bytes == 32) add_to(&sums, c, s.bytes, high);
    }
  }
  EMIT(c, "mov.pred", opd_reg(bad), opd_reg(dirty));
  if (stray) EMIT(c, "or.pred", opd_reg(bad), opd_reg(bad), opd_reg(stray));
  static const int64_t good[] = {0x0f, 0x0f0f, 0x0f0f0f0f};
  for (unsigned n = 0; n < ARRAY_LEN(good); n++)
    if (sums.begun[n]) test_word(z, c, bad, sums.all[n], good[n]);
  if (has_others) test_word(z, c, bad, others, -1);
}

void init_clean_mark(InitClean *z, Code *c) {
  for (unsigned n = 0; n < z->n; n++) {
    int64_t offset;
    if (instr(z, n)->op != OP_ST || z->k->place[z->accesses[n]].is_whole) continue;
    c->near = instr(z, n);
    if (z->group[n] == INIT_NO_GROUP) init_mark_access(z->k, c, z->accesses[n], is_weak(z, n));
    else {
      PtxReg *none = NULL;
      find_group(z, c, z->group[n], &none);
      InitShadow s = shadow_at(z, n, &offset);
      init_mark_good_at(&s, c, in_of(z, z->group[n]), offset);
    }
  }
}
