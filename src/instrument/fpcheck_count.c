// Sinks of which an exception was told already are only counted, and what they store is remembered: in line, since in a program full of NaN that is what its kernels do most, for every
// number they store. So each instruction here is one of the few that count.
#include "instrument/fpcheck_slow.h"

enum { MEMORY = 0, COUNTS = 1, AT = 2, MORE = 3, ADDRESS = 4, SHIFTED = 6, ENTRY = 7 };        // wide temporaries
enum { LAST_PART = 3 };

// What a site's questions are, and which of them store something.
typedef struct Place { uint32_t site, asked, stores; } Place;

static Place next_place(FpCheck *k, const Ask *asks, unsigned n, uint32_t *left) {
  Place p = {.site = asks[__builtin_ctz(*left)].site};
  for (unsigned i = 0; i < n; i++) {
    if (!(*left >> i & 1) || asks[i].site != p.site) continue;
    p.asked |= 1u << i;
    if (asks[i].item->address.kind == OPD_REG) p.stores |= 1u << i, k->body->program->sites.data[p.site].fp_format = asks[i].item->operation.types[0].format;
  }
  *left &= ~p.asked;
  return p;
}

static void load_counts(FpCheck *k, Code *c) {
  PtxOperand parts = temp64(k, AT);
  EMIT(c, "ld.global.v2.u64", opd_vector(c, (PtxOperand[]){temp64(k, COUNTS), parts}, 2), opd_at(c, temp64(k, MEMORY), offsetof(WgFpMemory, counts)));
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){temp32(k, LAST_PART), temp32(k, LOWEST)}, 2), parts);       // sites
}

// Leaves a mark where the exception is stored, as fp.c does (fp_stored_at): who stored it, in the entries of its word and of its page.
static void remember(FpCheck *k, Code *c, const Ask *a, PtxReg *has) {
  PtxOperand memory = temp64(k, MEMORY), address = temp64(k, ADDRESS), shifted = temp64(k, SHIFTED), entry = temp64(k, ENTRY), at = temp64(k, AT), hash = temp32(k, 0), index = temp32(k, 1), word = temp32(k, 2);
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

// Another store of the group goes to the same place: what lies there is that one's.
static bool is_stored_over(const Ask *asks, unsigned n, unsigned i) {
  const FpItem *item = asks[i].item;
  for (unsigned k = i + 1; k < n; k++) {
    const FpItem *later = asks[k].item;
    if (later->address.kind == OPD_REG && later->address.reg == item->address.reg && later->offset == item->offset && !later->nconditions) return true;
  }
  return false;
}

// The address of one of them is left in its temporary; false: there is none. certain: every lane that is here has the only one.
static bool remember_stores(FpCheck *k, Code *c, const Ask *asks, unsigned n, Place p, bool certain) {
  PtxOperand bits = temp32(k, 0), has = temp_pred(k, 2);
  bool any = false;
  for (uint32_t rest = p.stores; rest; rest &= rest - 1) {
    if (is_stored_over(asks, n, (unsigned)__builtin_ctz(rest))) continue;
    if (!certain) {
      EMIT(c, "and.b32", bits, opd_reg(k->asked), opd_imm((int64_t)(rest & -rest)));
      EMIT(c, "setp.ne.u32", has, bits, opd_imm(0));
    }
    remember(k, c, &asks[__builtin_ctz(rest)], certain ? NULL : has.reg);
    any = true;
  }
  return any;
}

// How many questions of the place the lanes that are here have, each of them at least one. One lane adds that for all: lanes that add to one count one after another take as long as all of the kernel.
static void count_lanes(FpCheck *k, Code *c, uint32_t asked) {
  PtxOperand lanes = temp32(k, 0), sum = temp32(k, 1), some = temp32(k, 2), first = temp_pred(k, 2), has = temp_pred(k, 3);
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

// Any part of the counts will do, if others take others: by the line that is stored to, or by multiprocessor as report.c does (own_count).
static void find_count(FpCheck *k, Code *c, bool stores) {
  PtxOperand part = temp32(k, 0), one = temp32(k, 1);
  enum { LINE = 128 };
  if (stores) {
    EMIT(c, "cvt.u32.u64", part, temp64(k, ADDRESS));
    EMIT(c, "shr.u32", part, part, opd_imm(__builtin_ctz(LINE)));
  } else {
    EMIT(c, "mov.u32", part, opd_sreg(SREG_SMID, SEL_NONE));
    EMIT(c, "mov.u32", one, opd_sreg(SREG_LANEMASK_EQ, SEL_NONE));         // the compiler does not know that it has one bit, and so not that the address is the same in all lanes: it would add them up itself
    EMIT(c, "popc.b32", one, one);
    EMIT(c, "mul.lo.u32", part, part, one);
  }
  EMIT(c, "and.b32", part, part, temp32(k, LAST_PART));
  EMIT(c, "mad.lo.u32", part, part, opd_imm(WG_SPREAD_SITES), temp32(k, SITE));
  EMIT(c, "mad.wide.u32", temp64(k, AT), part, opd_imm(sizeof(uint64_t)), temp64(k, COUNTS));
}

static void count_place(FpCheck *k, Code *c, const Ask *asks, unsigned n, Place p, bool certain) {
  bool stores = remember_stores(k, c, asks, n, p, certain);
  count_lanes(k, c, p.asked);
  find_count(k, c, stores);
  code_guard(c, temp_pred(k, 2).reg, false);
  EMIT(c, "red.global.add.u64", opd_at(c, temp64(k, AT), 0), temp64(k, MORE));
  code_guard(c, NULL, false);
}

// A sink that stores nothing, or a store to global memory, unless there are too many: the compiler takes long for that code.
enum { MOST_REMEMBERED = 24 };
static bool counts_here(const FpCheck *k, const Ask *a, unsigned *remembered) {
  if (a->item->address.kind != OPD_REG) return true;
  return k->body->cfg->instrs[a->item->instr]->space == SPACE_GLOBAL && (*remembered)++ < MOST_REMEMBERED;
}

// The lanes that have a question of this place.
static void ask_place(FpCheck *k, Code *c, Place p, PtxOperand mine) {
  EMIT(c, "and.b32", temp32(k, 0), opd_reg(k->asked), opd_imm((int64_t)p.asked));
  EMIT(c, "setp.ne.u32", mine, temp32(k, 0), opd_imm(0));
}

// What a table of WgFpMemory holds of the site, for these lanes; 0 for others, and for sites that are not in it.
typedef struct Table { const char *load; uint64_t at; size_t size; } Table;
static const Table stored = {"ld.global.u32", offsetof(WgFpMemory, sites) + offsetof(WgFpSite, stored), sizeof(WgFpSite)};
static const Table quiet = {"ld.global.u32", offsetof(WgFpMemory, sites) + offsetof(WgFpSite, quiet), sizeof(WgFpSite)};
static const Table told = {"ld.global.u8", offsetof(WgFpMemory, told), 1};
static void look_up(FpCheck *k, Code *c, const Table *t, PtxOperand to, uint32_t site, PtxOperand has) {
  PtxOperand number = temp32(k, SITE), at = temp64(k, AT);
  record_site(c, number.reg, site);
  EMIT(c, "setp.lt.and.u32", has, number, opd_imm(WG_SITE_NUMBERS), has);
  EMIT(c, "mov.u32", to, opd_imm(0));
  EMIT(c, "mad.wide.u32", at, number, opd_imm((int64_t)t->size), temp64(k, MEMORY));
  code_guard(c, has.reg, false);
  EMIT(c, t->load, to, opd_at(c, at, (int64_t)t->at));
  code_guard(c, NULL, false);
}

// Those that store must have been told in this launch.
void fp_count_told(FpCheck *k, Code *c, const Ask *asks, unsigned n) {
  PtxOperand memory = temp64(k, MEMORY), asked = opd_reg(k->asked), found = temp32(k, 1), launch = temp32(k, LAUNCH), mine = temp_pred(k, 1);
  PtxLabel *over = body_label(k->body);
  uint32_t left = 0;
  for (unsigned i = 0; i < n; i++) left |= counts_here(k, &asks[i], &k->remembered) ? 1u << i : 0;
  if (!left) return;
  record_load(c, memory.reg, offsetof(WgLaunch, fp));
  EMIT(c, "setp.eq.u64", mine, memory, opd_imm(0));
  code_branch(c, mine.reg, false, over);
  load_counts(k, c);
  record_load(c, launch.reg, offsetof(WgLaunch, launch));
  while (left) {                           // those of one place together
    Place p = next_place(k, asks, n, &left);
    PtxLabel *next = body_label(k->body);
    ask_place(k, c, p, mine);
    look_up(k, c, p.stores ? &stored : &told, found, p.site, mine);
    EMIT(c, "setp.lt.and.u32", mine, temp32(k, SITE), temp32(k, LOWEST), mine);
    if (p.stores) EMIT(c, "setp.eq.and.u32", mine, found, launch, mine);     // the first of a launch is told to the host, after all else (fp.c)
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

void fp_count_quiet(FpCheck *k, Code *c, const Ask *asks, unsigned n, bool certain, PtxLabel *resume) {
  PtxOperand memory = temp64(k, MEMORY), found = temp32(k, 1), launch = temp32(k, LAUNCH), mine = temp_pred(k, 1), none = temp_pred(k, 0);
  PtxLabel *loud = body_label(k->body);
  record_load(c, memory.reg, offsetof(WgLaunch, fp));
  EMIT(c, "setp.eq.u64", none, memory, opd_imm(0));
  code_branch(c, none.reg, false, loud);
  load_counts(k, c);
  record_load(c, launch.reg, offsetof(WgLaunch, launch));
  for (uint32_t left = (1u << n) - 1; left;) {
    Place p = next_place(k, asks, n, &left);
    if (certain) EMIT(c, "setp.ne.u64", mine, memory, opd_imm(0));
    else ask_place(k, c, p, mine);
    EMIT(c, "mov.pred", none, mine);
    look_up(k, c, &quiet, found, p.site, mine);
    EMIT(c, "setp.ne.and.u32", none, found, launch, none);
    code_branch(c, none.reg, false, loud);
  }
  for (uint32_t left = (1u << n) - 1; left;) {
    Place p = next_place(k, asks, n, &left);
    PtxLabel *next = body_label(k->body);
    if (n > 1) record_site(c, temp32(k, SITE).reg, p.site);
    if (!certain) {
      ask_place(k, c, p, mine);
      code_branch(c, mine.reg, true, next);
    }
    count_place(k, c, asks, n, p, certain || !(p.asked & (p.asked - 1)));
    code_label(c, next);
  }
  EMIT(c, "bra", opd_label(resume));
  code_label(c, loud);
}
