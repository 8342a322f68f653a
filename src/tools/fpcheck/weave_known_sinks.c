// Sinks that have reported an exception: later exceptions there are only counted, and their stores
// are remembered. This code is inline, since kernels of a program full of NaN run it for every
// number they store: every instruction counts.
#include "tools/fpcheck/weave_slow.h"

// wide temporaries
enum { MEMORY = 0, COUNTS = 1, AT = 2, MORE = 3, ADDRESS = 4, SHIFTED = 6, ENTRY = 7 };
enum { LAST_PART = 3 };

// The questions of one site, and which of them store something.
typedef struct Place {
  uint32_t site, asked, stores;
} Place;

static Place next_place(FpCheck *k, const Ask *asks, unsigned n, uint32_t *left) {
  Place p = {.site = asks[__builtin_ctz(*left)].site};
  for (unsigned i = 0; i < n; i++) {
    if (!(*left >> i & 1) || asks[i].site != p.site) continue;
    p.asked |= 1u << i;
    if (asks[i].item->address.kind == OPD_REG) {
      p.stores |= 1u << i;
      k->body->program->sites.data[p.site].detail = asks[i].item->operation.types[0].format;
    }
  }
  *left &= ~p.asked;
  return p;
}

static void load_counts(FpCheck *k, Code *c) {
  PtxOperand parts = temp64(k, AT);
  EMIT(c, "ld.global.v2.u64", opd_vector(c, (PtxOperand[]){temp64(k, COUNTS), parts}, 2),
       opd_at(c, temp64(k, MEMORY), offsetof(WgFpMemory, counts)));
  // sites
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){temp32(k, LAST_PART), temp32(k, LOWEST)}, 2),
       parts);
}

// Notes which site stored the exception, in the entries of its word and of its page, as probe.c
// does (fp_stored_at).
static void remember(FpCheck *k, Code *c, const Ask *a, PtxReg *has) {
  PtxOperand memory = temp64(k, MEMORY), address = temp64(k, ADDRESS), shifted = temp64(k, SHIFTED),
             entry = temp64(k, ENTRY), at = temp64(k, AT), hash = temp32(k, 0),
             index = temp32(k, 1), word = temp32(k, 2);
  EMIT(c, "add.u64", address, a->item->address, opd_imm(a->item->offset));
  EMIT(c, "shr.u64", shifted, address, opd_imm(WG_FP_PAGE_SHIFT));
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){hash, index}, 2), shifted);
  EMIT(c, "xor.b32", hash, hash, index);
  EMIT(c, "mul.lo.u32", hash, hash, opd_imm(WG_FP_HASH_FACTOR));
  EMIT(c, "and.b32", index, hash, opd_imm((1 << WG_FP_HASH_KEPT) - 1));
  EMIT(c, "shl.b32", word, temp32(k, SITE), opd_imm(WG_FP_HASH_KEPT));
  EMIT(c, "or.b32", index, index, word);
  EMIT(c, "mov.b64", entry, opd_vector(c, (PtxOperand[]){index, temp32(k, LAUNCH)}, 2));
  EMIT(c, "cvt.u32.u64", word, address);
  EMIT(c, "shr.u32", word, word, opd_imm(WG_FP_WORD_SHIFT));
  EMIT(c, "and.b32", word, word, opd_imm(WG_FP_PAGE_WORDS - 1));
  EMIT(c, "shr.u32", index, hash, opd_imm(32 - WG_FP_WORD_BITS));
  EMIT(c, "xor.b32", index, index, word);
  EMIT(c, "mad.wide.u32", at, index, opd_imm(8), memory);
  code_guard(c, has, false);
  EMIT(c, "st.global.u64", opd_at(c, at, offsetof(WgFpMemory, words)), entry);
  code_guard(c, NULL, false);
  EMIT(c, "shr.u32", index, hash, opd_imm(32 - WG_FP_PAGE_BITS));
  EMIT(c, "mad.wide.u32", at, index, opd_imm(8), memory);
  code_guard(c, has, false);
  EMIT(c, "st.global.u64", opd_at(c, at, offsetof(WgFpMemory, pages)), entry);
  code_guard(c, NULL, false);
}

// Another store of the group overwrites this one.
static bool is_stored_over(const Ask *asks, unsigned n, unsigned i) {
  const FpItem *item = asks[i].item;
  for (unsigned k = i + 1; k < n; k++) {
    const FpItem *later = asks[k].item;
    if (later->address.kind == OPD_REG && later->address.reg == item->address.reg &&
        later->offset == item->offset && !later->nconditions)
      return true;
  }
  return false;
}

// certain: every active lane has the place's only question.
static void remember_stores(FpCheck *k, Code *c, const Ask *asks, unsigned n, Place p,
                            bool certain) {
  PtxOperand bits = temp32(k, 0), has = temp_pred(k, 2);
  for (uint32_t rest = p.stores; rest; rest &= rest - 1) {
    if (is_stored_over(asks, n, (unsigned)__builtin_ctz(rest))) continue;
    if (!certain) {
      EMIT(c, "and.b32", bits, opd_reg(k->asked), opd_imm((int64_t)(rest & -rest)));
      EMIT(c, "setp.ne.u32", has, bits, opd_imm(0));
    }
    remember(k, c, &asks[__builtin_ctz(rest)], certain ? NULL : has.reg);
  }
}

// Adds up how many questions of the place the active lanes have, each at least one. One lane then
// adds the sum to the count: if all lanes added one after another, that would take as long as the
// whole kernel.
static void count_lanes(FpCheck *k, Code *c, uint32_t asked) {
  PtxOperand lanes = temp32(k, 0), sum = temp32(k, 1), some = temp32(k, 2), first = temp_pred(k, 2),
             has = temp_pred(k, 3);
  EMIT(c, "activemask.b32", lanes);
  if (!(asked & (asked - 1))) EMIT(c, "popc.b32", sum, lanes);
  else {
    EMIT(c, "mov.u32", sum, opd_imm(0));
    for (uint32_t left = asked; left; left &= left - 1) {
      EMIT(c, "and.b32", some, opd_reg(k->asked), opd_imm((int64_t)(left & -left)));
      EMIT(c, "setp.ne.u32", has, some, opd_imm(0));
      EMIT(c, "vote.sync.ballot.b32", some, has, lanes);
      EMIT(c, "popc.b32", some, some);
      EMIT(c, "add.u32", sum, sum, some);
    }
  }
  EMIT(c, "cvt.u64.u32", temp64(k, MORE), sum);
  EMIT(c, "mov.u32", some, opd_sreg(SREG_LANEMASK_LT, SEL_NONE));
  EMIT(c, "and.b32", some, some, lanes);
  EMIT(c, "setp.eq.u32", first, some, opd_imm(0));
}

// A thread may add to any part of the counts, as long as threads spread over the parts: it takes
// that of its multiprocessor, as report.c does (own_count).
static void find_count(FpCheck *k, Code *c) {
  PtxOperand part = temp32(k, 0), before = temp32(k, 2);
  EMIT(c, "mov.u32", part, opd_sreg(SREG_SMID, SEL_NONE));
  EMIT(c, "and.b32", part, part, temp32(k, LAST_PART));
  EMIT(c, "mad.lo.u32", part, part, opd_imm(WG_SPREAD_SITES), temp32(k, SITE));
  // `before` is 0 for the lane that adds. Without it the compiler would know that the address is
  // the same in all lanes, and would add the lanes up itself.
  EMIT(c, "add.u32", part, part, before);
  EMIT(c, "mad.wide.u32", temp64(k, AT), part, opd_imm(sizeof(uint64_t)), temp64(k, COUNTS));
}

static void count_place(FpCheck *k, Code *c, const Ask *asks, unsigned n, Place p, bool certain) {
  remember_stores(k, c, asks, n, p, certain);
  count_lanes(k, c, p.asked);
  find_count(k, c);
  code_guard(c, temp_pred(k, 2).reg, false);
  EMIT(c, "red.global.add.u64", opd_at(c, temp64(k, AT), 0), temp64(k, MORE));
  code_guard(c, NULL, false);
}

// A sink that stores nothing, or a store to global memory. Limited in number: the compiler takes
// long for that code.
enum { MOST_REMEMBERED = 24 };
static bool counts_here(const FpCheck *k, const Ask *a, unsigned *remembered) {
  if (a->item->address.kind != OPD_REG) return true;
  return k->body->cfg->instrs[a->item->instr]->space == SPACE_GLOBAL &&
         (*remembered)++ < MOST_REMEMBERED;
}

// Finds the lanes that have a question of this place.
static void ask_place(FpCheck *k, Code *c, Place p, PtxOperand mine) {
  EMIT(c, "and.b32", temp32(k, 1), opd_reg(k->asked), opd_imm((int64_t)p.asked));
  EMIT(c, "setp.ne.u32", mine, temp32(k, 1), opd_imm(0));
}

// A table of WgFpMemory; look_up loads the site's entry for the lanes in `has`, and 0 for other
// lanes and for sites that are not in the table.
typedef struct Table {
  const char *load;
  uint64_t at;
  unsigned size;
  uint32_t sites;
  bool in_parts;
} Table;
static const Table stored = {"ld.global.u32", offsetof(WgFpMemory, stored), 4, WG_SITE_NUMBERS,
                             false};
static const Table told = {"ld.global.u8", offsetof(WgFpMemory, told), 1, WG_SITE_NUMBERS, false};
static const Table known = {"ld.global.u8", offsetof(WgFpMemory, told), 1, WG_SPREAD_SITES, false};
static const Table quiet = {"ld.global.u32", offsetof(WgFpMemory, quiet), 4, WG_SPREAD_SITES, true};
static void look_up(FpCheck *k, Code *c, const Table *t, PtxOperand to, uint32_t site,
                    PtxOperand has) {
  PtxOperand number = temp32(k, SITE), index = number, at = temp64(k, AT);
  record_site(c, number.reg, site);
  if (t->in_parts) {
    index = temp32(k, 0);
    EMIT(c, "mov.u32", index, opd_sreg(SREG_SMID, SEL_NONE));
    EMIT(c, "and.b32", index, index, opd_imm(WG_SPREAD - 1));
    EMIT(c, "mad.lo.u32", index, index, opd_imm(WG_SPREAD_SITES), number);
  }
  EMIT(c, "setp.lt.and.u32", has, number, opd_imm(t->sites), has);
  EMIT(c, "mov.u32", to, opd_imm(0));
  EMIT(c, "mad.wide.u32", at, index, opd_imm(t->size), temp64(k, MEMORY));
  code_guard(c, has.reg, false);
  EMIT(c, t->load, to, opd_at(c, at, (int64_t)t->at));
  code_guard(c, NULL, false);
}

// Lanes branch to `otherwise` if the launch has no WgFpMemory.
static void load_memory(FpCheck *k, Code *c, PtxLabel *otherwise) {
  PtxOperand memory = temp64(k, MEMORY), none = temp_pred(k, 0);
  record_load(c, memory.reg, offsetof(WgLaunch, fp));
  EMIT(c, "setp.eq.u64", none, memory, opd_imm(0));
  code_branch(c, none.reg, false, otherwise);
  load_counts(k, c);
  record_load(c, temp32(k, LAUNCH).reg, offsetof(WgLaunch, launch));
}

// Sites that store must have been reported in this launch.
void fp_count_told(FpCheck *k, Code *c, const Ask *asks, unsigned n) {
  PtxOperand asked = opd_reg(k->asked), found = temp32(k, 1), mine = temp_pred(k, 1);
  PtxLabel *over = body_label(k->body);
  uint32_t left = 0;
  for (unsigned i = 0; i < n; i++) left |= counts_here(k, &asks[i], &k->remembered) ? 1u << i : 0;
  if (!left) return;
  load_memory(k, c, over);
  while (left) {  // all questions of one place together
    Place p = next_place(k, asks, n, &left);
    PtxLabel *next = body_label(k->body);
    ask_place(k, c, p, mine);
    look_up(k, c, p.stores ? &stored : &told, found, p.site, mine);
    EMIT(c, "setp.lt.and.u32", mine, temp32(k, SITE), temp32(k, LOWEST), mine);
    // the first store of a launch is reported to the host, after everything else (probe.c)
    if (p.stores) EMIT(c, "setp.eq.and.u32", mine, found, temp32(k, LAUNCH), mine);
    else EMIT(c, "setp.ne.and.u32", mine, found, opd_imm(0), mine);
    code_branch(c, mine.reg, true, next);
    count_place(k, c, asks, n, p, !(p.asked & (p.asked - 1)));
    EMIT(c, "and.b32", asked, asked, opd_imm((int64_t)(uint32_t)~p.asked));
    fp_again_mark(k, c);
    code_label(c, next);
  }
  code_label(c, over);
}

bool fp_counts_quiet(FpCheck *k, const Ask *asks, unsigned n) {
  unsigned remembered = k->remembered;
  for (unsigned i = 0; i < n; i++)
    if (asks[i].kind != ASK_SINK || !counts_here(k, &asks[i], &remembered)) return false;
  k->remembered = remembered;
  return true;
}

static void ask_quiet_place(FpCheck *k, Code *c, const FpQuiet *q, Place p, PtxOperand mine) {
  if (q->certain) EMIT(c, "setp.ne.u64", mine, temp64(k, MEMORY), opd_imm(0));
  else ask_place(k, c, p, mine);
}

typedef void OfPlace(FpCheck *k, Code *c, const FpQuiet *q, Place p);
static void for_places(FpCheck *k, Code *c, const FpQuiet *q, OfPlace *f) {
  PtxOperand mine = temp_pred(k, 1);
  for (uint32_t left = (1u << q->n) - 1; left;) {
    Place p = next_place(k, q->asks, q->n, &left);
    PtxLabel *next = body_label(k->body);
    if (q->n > 1) record_site(c, temp32(k, SITE).reg, p.site);
    if (!q->certain) {
      ask_place(k, c, p, mine);
      code_branch(c, mine.reg, true, next);
    }
    f(k, c, q, p);
    code_label(c, next);
  }
}

static void count_quiet_place(FpCheck *k, Code *c, const FpQuiet *q, Place p) {
  count_place(k, c, q->asks, q->n, p, q->certain || !(p.asked & (p.asked - 1)));
}

void fp_count_quiet(FpCheck *k, Code *c, FpQuiet *q, PtxLabel *resume) {
  PtxOperand found = temp32(k, 1), mine = temp_pred(k, 1), none = temp_pred(k, 0);
  PtxLabel *loud = body_label(k->body);
  load_memory(k, c, loud);
  for (uint32_t left = (1u << q->n) - 1; left;) {
    Place p = next_place(k, q->asks, q->n, &left);
    ask_quiet_place(k, c, q, p, mine);
    EMIT(c, "mov.pred", none, mine);
    look_up(k, c, &quiet, found, p.site, mine);
    EMIT(c, "setp.ne.and.u32", none, found, temp32(k, LAUNCH), none);
    code_branch(c, none.reg, false, loud);
  }
  code_label(c, q->counts = body_label(k->body));
  for_places(k, c, q, count_quiet_place);
  EMIT(c, "bra", opd_label(resume));
  code_label(c, loud);
}

// Has no branches, so that these loads overlap the loads that decide whether the launch is tested
// everywhere (whose temporaries are left alone): at the start of a launch all warps wait for both.
void fp_ask_known(FpCheck *k, Code *c, FpQuiet *q) {
  PtxOperand found = temp32(k, 1), mine = temp_pred(k, 3), asked = temp_pred(k, 2),
             memory = temp64(k, MEMORY);
  q->known = body_reg(k->body, TYPE_B32);
  record_load(c, memory.reg, offsetof(WgLaunch, fp));
  EMIT(c, "mov.u32", opd_reg(q->known), opd_imm(1));
  for (uint32_t left = (1u << q->n) - 1; left;) {
    Place p = next_place(k, q->asks, q->n, &left);
    ask_quiet_place(k, c, q, p, asked);
    EMIT(c, "setp.ne.and.u64", mine, memory, opd_imm(0), asked);
    look_up(k, c, &known, found, p.site, mine);
    if (!q->certain) EMIT(c, "selp.u32", found, found, opd_imm(1), asked);
    EMIT(c, "and.b32", opd_reg(q->known), opd_reg(q->known), found);
  }
}

// One lane calls for all.
static void make_quiet(FpCheck *k, Code *c, const FpQuiet *q, Place p) {
  PtxLabel *next = body_label(k->body);
  PtxOperand channel = temp64(k, CHANNEL), lanes = temp32(k, 0), part = temp32(k, 1),
             before = temp32(k, 2), first = temp_pred(k, 2);
  (void)q;
  EMIT(c, "activemask.b32", lanes);
  EMIT(c, "mov.u32", before, opd_sreg(SREG_LANEMASK_LT, SEL_NONE));
  EMIT(c, "and.b32", before, before, lanes);
  EMIT(c, "setp.eq.u32", first, before, opd_imm(0));
  code_branch(c, first.reg, true, next);
  record_load(c, channel.reg, offsetof(WgLaunch, channel));
  EMIT(c, "mov.u32", part, opd_sreg(SREG_SMID, SEL_NONE));
  const PtxOperand args[] = {channel, temp64(k, MEMORY),     temp32(k, LAUNCH), temp32(k, SITE),
                             part,    opd_imm(p.stores != 0)};
  code_call(c, probe_function(k->body->program, k->body->unit, "wg_fp_quiet"), args,
            ARRAY_LEN(args));
  code_label(c, next);
}

void fp_count_known(FpCheck *k, Code *c, const FpQuiet *q) {
  PtxLabel *otherwise = body_label(k->body);
  PtxOperand none = temp_pred(k, 0);
  EMIT(c, "setp.eq.u32", none, opd_reg(q->known), opd_imm(0));
  code_branch(c, none.reg, false, otherwise);
  load_memory(k, c, otherwise);
  for (uint32_t left = (1u << q->n) - 1; left;) {
    Place p = next_place(k, q->asks, q->n, &left);
    record_site(c, temp32(k, SITE).reg, p.site);
    EMIT(c, "setp.ge.u32", none, temp32(k, SITE), temp32(k, LOWEST));  // not counted inline
    code_branch(c, none.reg, false, otherwise);
  }
  for_places(k, c, q, make_quiet);
  EMIT(c, "bra", opd_label(q->counts));
  code_label(c, otherwise);
}
