// The part of an access's check that needs no call: reads, tests and replaces entries inline, for
// one word of 4 bytes, a part of one, or up to four words.
//
// Entries are read like ordinary memory: from a cache, which may be stale. A thread that has
// replaced an entry since has seen the stale one, and an entry never held anything untrue.
#include "tools/racecheck/weave_emit.h"

enum { WHOLE = 15 << WG_RACE_BYTES_AT };
static const int64_t not_the_time = (int64_t)1023 << WG_RACE_SITE_AT | WG_RACE_FLAGS;
static const int64_t one_launch = (int64_t)1 << WG_RACE_LAUNCH_AT;
static const int64_t of_launch = -((int64_t)1 << WG_RACE_LAUNCH_AT);  // a mask
static const int64_t the_site = (int64_t)WG_RACE_NO_SITE << WG_RACE_SITE_AT;
static const int64_t who_and_when = ~((int64_t)1023 << WG_RACE_SITE_AT | WG_RACE_FLAGS | WHOLE);

// Makes the entry of this access for one of its words. bytes: which bytes of the word; NULL: all.
static void make_entry(Emit *e, Code *c, PtxReg *to, PtxReg *bytes, unsigned word) {
  bool constant;
  int64_t rest = (int64_t)e->a->site << WG_RACE_SITE_AT | e->a->flags | (bytes ? 0 : WHOLE);
  if (!race_written(e, NULL, NULL, NULL, &constant)) {
    EMIT(c, "or.b64", opd_reg(to), opd_reg(e->k->me), opd_imm(rest));
    if (bytes) EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_reg(bytes));
    return;
  }
  race_written_word(e, c, to, word);
  EMIT(c, "mul.lo.u64", opd_reg(to), opd_reg(to), opd_imm((int64_t)0x9e3779b97f4a7c15));
  bool strong = e->a->flags & WG_RACE_STRONG;  // WG_RACE_STRONG_VALUE, WG_RACE_VALUE
  EMIT(c, "shr.u64", opd_reg(to), opd_reg(to), opd_imm(strong ? 63 : 61));
  EMIT(c, "shl.b64", opd_reg(to), opd_reg(to), opd_imm(strong ? 5 : 3));
  EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_reg(e->k->me));
  EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_imm(rest));
  if (bytes) EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_reg(bytes));
}

// Loads an entry; sets `other` to the bits that differ from this thread's entry.
static void load_entry(Emit *e, Code *c, PtxReg *to, PtxReg *other, PtxReg *at, int64_t offset) {
  EMIT(c, "ld.global.u64", opd_reg(to), opd_at(c, opd_reg(at), offset));
  EMIT(c, "xor.b64", opd_reg(other), opd_reg(to), opd_reg(e->k->me));
}

// Branches if (entry ^ me) & look == want. `other` holds entry ^ me.
static void branch_if(Emit *e, Code *c, PtxReg *other, int64_t want, int64_t look, PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_imm(look));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(want));
  code_branch(c, p, false, to);
}

// The flags that a read tests in addition to thread and time: the entry may be an atomic write of
// this thread, which may stand for atomics of others, too.
static int64_t looks_at_strong(const Emit *e) { return e->k->writes_strong ? WG_RACE_STRONG : 0; }

// Branches if the entry is of this launch and barrier interval.
static void branch_if_now(Emit *e, Code *c, PtxReg *other, PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  RACE_LOAD(e->k, c, t, interval);
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(t));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(0));
  code_branch(c, p, false, to);
}

// Sets p if a barrier orders the entry of shared memory before this access. The entry of an access
// that is performed later (cp.async, bulk copies) is ordered by its clock alone: the thread must
// know that clock.
static void test_before(Emit *e, Code *c, PtxReg *entry, PtxReg *other, PtxReg *p) {
  PtxReg *t = wide(e, 5), *known = wide(e, 7), *waited = pred(e, 1), *shift = word(e, 0);
  if (e->k->has_async) {
    RACE_LOAD(e->k, c, t, clock);
    RACE_LOAD(e->k, c, shift, clock_at);
    EMIT(c, "and.b64", opd_reg(t), opd_reg(t), opd_reg(entry));
    EMIT(c, "shr.u64", opd_reg(t), opd_reg(t), opd_reg(shift));
    EMIT(c, "and.b64", opd_reg(known), opd_reg(e->k->knows), opd_imm(WG_RACE_KNOWN));
    EMIT(c, "setp.lt.u64", opd_reg(waited), opd_reg(t), opd_reg(known));
    EMIT(c, "and.b64", opd_reg(t), opd_reg(entry), opd_imm(WG_RACE_STRONG | WG_RACE_CTA));
    EMIT(c, "setp.ne.or.u64", opd_reg(waited), opd_reg(t), opd_imm(WG_RACE_CTA), opd_reg(waited));
    EMIT(c, "setp.ge.or.u64", opd_reg(waited), opd_reg(other), opd_imm(one_launch),
         opd_reg(waited));
  }
  RACE_LOAD(e->k, c, t, interval);
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(t));
  if (e->k->has_async)
    EMIT(c, "setp.ne.and.u64", opd_reg(p), opd_reg(t), opd_imm(0), opd_reg(waited));
  else EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(0));
}

static void branch_if_before(Emit *e, Code *c, PtxReg *entry, PtxReg *other, bool so,
                             PtxLabel *to) {
  PtxReg *p = pred(e, 0);
  test_before(e, c, entry, other, p);
  code_branch(c, p, !so, to);
}

// The bits of a shared memory entry that mark an access performed later.
static int64_t looks_at_later(const Emit *e) { return e->k->has_async ? WG_RACE_CTA : 0; }

// The entry at [at + offset]; held: the register with its value.
typedef struct Slot {
  PtxReg *at;
  int64_t offset;
  PtxReg *held;
} Slot;

// Replaces the entry by `t` and branches to `done`; falls through if another thread was faster.
static void swap(Emit *e, Code *c, Slot s, PtxReg *t, PtxLabel *done) {
  PtxReg *p = pred(e, 0);
  EMIT(c, "atom.global.cas.b64", opd_reg(t), opd_at(c, opd_reg(s.at), s.offset), opd_reg(s.held),
       opd_reg(t));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_reg(s.held));
  code_branch(c, p, false, done);
}

static void swap_in(Emit *e, Code *c, Slot s, PtxReg *bytes, PtxLabel *done) {
  PtxReg *t = wide(e, 5);
  make_entry(e, c, t, bytes, 0);
  swap(e, c, s, t, done);
}

// All functions below fall through if a call is needed.
static void read_of_pair(Emit *e, Code *c, PtxReg *at) {
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *moment = wide(e, 6), *t = wide(e, 5),
         *p = pred(e, 0);
  PtxLabel *old = body_label(e->k->body), *kept = body_label(e->k->body),
           *call = body_label(e->k->body), *again = body_label(e->k->body);
  int64_t strong = e->a->flags & WG_RACE_STRONG, alike = WHOLE | strong,
          kind = WG_RACE_STRONG | looks_at_later(e);
  load_entry(e, c, entry, other, at, 8);
  code_label(c, again);
  branch_if_before(e, c, entry, other, true, old);
  // an entry that can race with more accesses stays
  if (strong) branch_if(e, c, other, WHOLE, WHOLE | kind, kept);
  branch_if(e, c, other, alike, ~not_the_time | kind, kept);  // this thread, before
  RACE_LOAD(e->k, c, moment, moment);                         // several
  EMIT(c, "or.b64", opd_reg(moment), opd_reg(moment), opd_imm(WHOLE | WG_RACE_MANY | kind));
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(moment));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(t), opd_imm(alike | WG_RACE_MANY));
  code_branch(c, p, false, kept);
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(alike));
  code_branch(c, p, false, call);
  if (e->k->has_clock) {  // of two clocks the later one must be kept
    RACE_LOAD(e->k, c, t, clock);
    EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(t));
    EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(0));
    code_branch(c, p, false, call);
  }
  EMIT(c, "mov.b64", opd_reg(t), opd_imm(WG_RACE_MANY));  // records that several threads have read
  EMIT(c, "red.global.or.b64", opd_at(c, opd_reg(at), 8), opd_reg(t));
  code_label(c, kept);
  load_entry(e, c, entry, other, at, 0);
  branch_if_before(e, c, entry, other, true, e->back);
  branch_if(e, c, other, WHOLE | WG_RACE_WRITE,
            ~not_the_time | WG_RACE_WRITE | looks_at_strong(e) | looks_at_later(e), e->back);
  if (strong)
    branch_if(e, c, other, WG_RACE_WRITE | WG_RACE_STRONG, WG_RACE_WRITE | WG_RACE_STRONG, e->back);
  EMIT(c, "bra", opd_label(call));
  code_label(c, old);
  swap_in(e, c, (Slot){at, 8, entry}, NULL, kept);
  // Another lane that reads the same word was faster: tests its entry.
  EMIT(c, "mov.b64", opd_reg(entry), opd_reg(t));
  EMIT(c, "xor.b64", opd_reg(other), opd_reg(entry), opd_reg(e->k->me));
  EMIT(c, "bra", opd_label(again));
  code_label(c, call);
}

// Branches if the entry's thread is not of this block.
static void branch_if_other_block(Emit *e, Code *c, PtxReg *entry, PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0), *number = word(e, 0), *limit = word(e, 1);
  EMIT(c, "shr.u64", opd_reg(t), opd_reg(entry), opd_imm(WG_RACE_TIME_AT));
  EMIT(c, "cvt.u32.u64", opd_reg(number), opd_reg(t));
  EMIT(c, "sub.u32", opd_reg(number), opd_reg(number), opd_reg(e->k->first));
  RACE_LOAD(e->k, c, limit, threads);
  EMIT(c, "and.b32", opd_reg(number), opd_reg(number), opd_reg(limit));
  RACE_LOAD(e->k, c, limit, block);
  EMIT(c, "setp.ge.u32", opd_reg(p), opd_reg(number), opd_reg(limit));
  code_branch(c, p, false, to);
}

// Atomic operations. Branches if the entry can stay: it is of an atomic of the same kind in the
// same barrier interval, and is this thread's own, or says already that other threads of this
// block, or of other blocks, made one, too.
static void branch_if_strong(Emit *e, Code *c, PtxReg *entry, PtxReg *other, bool shared,
                             PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  PtxLabel *differs = body_label(e->k->body);
  int64_t scope = shared ? 0 : WG_RACE_CTA, kind = WHOLE | WG_RACE_WRITE | WG_RACE_STRONG;
  branch_if(e, c, other, kind, who_and_when | kind | scope, to);
  RACE_LOAD(e->k, c, t, interval);
  EMIT(c, "or.b64", opd_reg(t), opd_reg(t), opd_imm(kind | scope));
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(t));
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(kind));
  code_branch(c, p, false, differs);
  if (!shared) branch_if(e, c, other, WG_RACE_BLOCKS, WG_RACE_BLOCKS, to);
  branch_if(e, c, other, 0, WG_RACE_MANY, differs);
  if (!shared) branch_if_other_block(e, c, entry, differs);
  EMIT(c, "bra", opd_label(to));
  code_label(c, differs);
}

// number: of the word, among those that the access writes
static void write_of_pair(Emit *e, Code *c, PtxReg *at, unsigned number) {
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *p = pred(e, 0), *t = wide(e, 5);
  PtxLabel *call = body_label(e->k->body), *kept = body_label(e->k->body);
  bool strong = e->a->flags & WG_RACE_STRONG, later = !strong && e->a->flags & WG_RACE_CTA;
  load_entry(e, c, entry, other, at, 0);
  if (strong) branch_if_strong(e, c, entry, other, true, e->a->unread ? e->back : kept);
  else if (!later)
    branch_if(e, c, other, WHOLE | WG_RACE_WRITE,
              ~not_the_time | WG_RACE_WRITE | WG_RACE_STRONG | looks_at_later(e),
              e->back);  // this thread wrote it before: later readers have already met that write
  branch_if_before(e, c, entry, other, false, call);
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(entry), opd_imm((int64_t)WG_RACE_BENIGN));
  code_branch(c, p, false, e->back);
  make_entry(e, c, t, NULL, number);
  swap(e, c, (Slot){at, 0, entry}, t, e->a->unread ? e->back : kept);
  if (e->a->unread) {
    code_label(c, call);
    return;
  }
  EMIT(c, "bra", opd_label(call));
  code_label(c, kept);
  load_entry(e, c, entry, other, at, 8);
  branch_if_before(e, c, entry, other, true, e->back);
  if (strong) {
    EMIT(c, "and.b64", opd_reg(t), opd_reg(entry), opd_imm(WG_RACE_STRONG));
    EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(0));
    code_branch(c, p, false, e->back);
  } else
    branch_if(e, c, other, WHOLE, ~not_the_time | WG_RACE_MANY | WG_RACE_STRONG | looks_at_later(e),
              e->back);
  code_label(c, call);
}

// Branches on an entry of an earlier launch that is ordered before this one.
static void branch_if_replaceable(Emit *e, Code *c, PtxReg *entry, PtxReg *other, bool so,
                                  PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  RACE_LOAD(e->k, c, t, replace);
  EMIT(c, "setp.lt.u64", opd_reg(p), opd_reg(entry), opd_reg(t));
  EMIT(c, "setp.ge.and.u64", opd_reg(p), opd_reg(other), opd_imm(one_launch), opd_reg(p));
  code_branch(c, p, !so, to);
}

// Falls through for another thread's entry of this launch and block, not strong, and of the whole
// word. Otherwise branches to `to`.
static void branch_if_strange(Emit *e, Code *c, PtxReg *entry, PtxReg *other, PtxLabel *to) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_imm(of_launch | WHOLE | WG_RACE_STRONG));
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(WHOLE));
  code_branch(c, p, false, to);
  branch_if_other_block(e, c, entry, to);
}

// The entry was left by a thread of this block, before the last barrier or after it. load_entry has
// put it into wide(3) and wide(4).
static void of_own_block(Emit *e, Code *c, PtxReg *at, PtxLabel *mine, PtxLabel *call) {
  bool writes = e->a->flags & WG_RACE_WRITE;
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *t = wide(e, 5), *keep = wide(e, 6),
         *p = pred(e, 0);
  PtxLabel *now = body_label(e->k->body);
  branch_if_strange(e, c, entry, other, call);
  branch_if_now(e, c, other, now);
  if (writes) {  // a barrier lies between, unless other blocks have read it, too
    branch_if(e, c, other, WG_RACE_BLOCKS, WG_RACE_WRITE | WG_RACE_BLOCKS, call);
    EMIT(c, "bra", opd_label(mine));
  } else {
    EMIT(c, "and.b64", opd_reg(t), opd_reg(entry), opd_imm(WG_RACE_WRITE));
    EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(0));
    EMIT(c, "and.b64", opd_reg(keep), opd_reg(entry), opd_imm(WG_RACE_WROTE | WG_RACE_BLOCKS));
    EMIT(c, "selp.b64", opd_reg(keep), opd_imm(WG_RACE_WROTE), opd_reg(keep), opd_reg(p));
    make_entry(e, c, t, NULL, 0);
    EMIT(c, "or.b64", opd_reg(t), opd_reg(t), opd_reg(keep));
    swap(e, c, (Slot){at, 0, entry}, t, e->back);
    EMIT(c, "bra", opd_label(call));
  }
  code_label(c, now);
  // this thread has read it, and no other has
  if (writes)
    branch_if(e, c, other, WHOLE,
              who_and_when | WHOLE | WG_RACE_WRITE | WG_RACE_MANY | WG_RACE_BLOCKS, mine);
  else {  // other threads have read it in this barrier interval, and none has written it
    RACE_LOAD(e->k, c, t, moment);
    EMIT(c, "or.b64", opd_reg(t), opd_reg(t), opd_imm(WG_RACE_WRITE));
    EMIT(c, "and.b64", opd_reg(t), opd_reg(other), opd_reg(t));
    EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(0));
    code_branch(c, p, false, call);
    branch_if(e, c, other, WG_RACE_MANY, WG_RACE_MANY, e->back);
    EMIT(c, "or.b64", opd_reg(t), opd_reg(entry), opd_imm(WG_RACE_MANY));
    swap(e, c, (Slot){at, 0, entry}, t, e->back);
  }
  EMIT(c, "bra", opd_label(call));
}

// Entries that an atomic or volatile read leaves as they are: atomic writes, weak reads, reads of
// several blocks.
static void known_to_strong_read(Emit *e, Code *c, PtxReg *other) {
  branch_if(e, c, other, WHOLE | WG_RACE_WRITE | WG_RACE_STRONG,
            of_launch | WHOLE | WG_RACE_WRITE | WG_RACE_STRONG | WG_RACE_CTA, e->back);
  branch_if(e, c, other, WHOLE, of_launch | WHOLE | WG_RACE_WRITE | WG_RACE_STRONG | WG_RACE_WROTE,
            e->back);
  branch_if(e, c, other, WHOLE | WG_RACE_STRONG | WG_RACE_BLOCKS,
            of_launch | WHOLE | WG_RACE_WRITE | WG_RACE_STRONG | WG_RACE_WROTE | WG_RACE_BLOCKS,
            e->back);
}

static void one_entry(Emit *e, Code *c, PtxReg *at) {
  RaceCheck *k = e->k;
  bool writes = e->a->flags & WG_RACE_WRITE, strong = e->a->flags & WG_RACE_STRONG;
  PtxReg *entry = wide(e, 3), *other = wide(e, 4);
  PtxLabel *call = body_label(k->body), *mine = body_label(k->body);
  load_entry(e, c, entry, other, at, 0);
  if (strong && writes) branch_if_strong(e, c, entry, other, false, e->back);
  else if (strong) known_to_strong_read(e, c, other);
  else
    branch_if(e, c, other, WHOLE | (writes ? WG_RACE_WRITE : 0),
              ~not_the_time | (writes ? WG_RACE_WRITE | WG_RACE_STRONG : looks_at_strong(e)),
              e->back);
  if (!strong && !writes && !k->has_clock)  // reads of several blocks
    branch_if(e, c, other, WHOLE | WG_RACE_BLOCKS,
              of_launch | WHOLE | WG_RACE_BLOCKS | WG_RACE_WRITE | WG_RACE_WROTE | WG_RACE_STRONG,
              e->back);
  if (strong || k->has_clock) branch_if_replaceable(e, c, entry, other, false, call);
  else {
    branch_if_replaceable(e, c, entry, other, true, mine);
    of_own_block(e, c, at, mine, call);
  }
  code_label(c, mine);
  swap_in(e, c, (Slot){at, 0, entry}, NULL, e->back);
  code_label(c, call);
}

// A part of a word. Each thread may have some bytes of it: of writes, the last one is kept.
static void part_of_word(Emit *e, Code *c, PtxReg *at) {
  RaceCheck *k = e->k;
  bool writes = e->a->flags & WG_RACE_WRITE;
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *t = wide(e, 5), *bytes = wide(e, 6),
         *old = wide(e, 7), *p = pred(e, 0), *shift = word(e, 0);
  PtxLabel *call = body_label(k->body), *mine = body_label(k->body), *others = body_label(k->body);
  EMIT(c, "cvt.u32.u64", opd_reg(shift), opd_reg(e->at));
  EMIT(c, "and.b32", opd_reg(shift), opd_reg(shift), opd_imm(3));
  EMIT(c, "mov.b64", opd_reg(bytes), opd_imm(((1 << e->a->bytes) - 1) << WG_RACE_BYTES_AT));
  EMIT(c, "shl.b64", opd_reg(bytes), opd_reg(bytes), opd_reg(shift));
  load_entry(e, c, entry, other, at, 0);
  EMIT(c, "and.b64", opd_reg(old), opd_reg(entry), opd_reg(bytes));
  // this thread's entry, at the same time
  EMIT(c, "and.b64", opd_reg(t), opd_reg(other),
       opd_imm(who_and_when | WG_RACE_STRONG | WG_RACE_WRITE));
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t), opd_imm(writes ? WG_RACE_WRITE : 0));
  code_branch(c, p, false, others);
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(old), opd_reg(bytes));
  code_branch(c, p, false, e->back);
  if (!writes) branch_if(e, c, other, 0, WG_RACE_MANY | WG_RACE_BLOCKS | WG_RACE_WROTE, mine);
  if (!writes) EMIT(c, "bra", opd_label(call));
  EMIT(c, "bra", opd_label(mine));
  code_label(c, others);
  if (writes) {
    PtxLabel *same_launch = body_label(k->body);
    EMIT(c, "setp.lt.u64", opd_reg(p), opd_reg(other), opd_imm(one_launch));
    code_branch(c, p, false, same_launch);
    branch_if_replaceable(e, c, entry, other, false, call);
    swap_in(e, c, (Slot){at, 0, entry}, bytes, e->back);
    EMIT(c, "bra", opd_label(call));
    code_label(c, same_launch);  // other bytes
    EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(old), opd_imm(0));
    code_branch(c, p, false, call);
  } else branch_if_replaceable(e, c, entry, other, false, call);
  swap_in(e, c, (Slot){at, 0, entry}, bytes, e->back);
  EMIT(c, "bra", opd_label(call));
  // adds bytes of the same thread; the site stays known only if both accesses have the same one
  code_label(c, mine);
  make_entry(e, c, t, bytes, 0);
  EMIT(c, "and.b64", opd_reg(old), opd_reg(entry), opd_imm(WHOLE));
  EMIT(c, "or.b64", opd_reg(t), opd_reg(t), opd_reg(old));
  EMIT(c, "and.b64", opd_reg(old), opd_reg(other), opd_imm(the_site));
  EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(old), opd_imm((int64_t)e->a->site << WG_RACE_SITE_AT));
  EMIT(c, "or.b64", opd_reg(old), opd_reg(t), opd_imm(the_site));
  EMIT(c, "selp.b64", opd_reg(t), opd_reg(t), opd_reg(old), opd_reg(p));
  swap(e, c, (Slot){at, 0, entry}, t, e->back);
  code_label(c, call);
}

void race_find_entries(Emit *e, Code *c, PtxReg *to, bool shared) {
  if (shared) EMIT(c, "mov.b64", opd_reg(to), opd_reg(e->entries ? e->entries : e->k->shared_at));
  else if (e->a->place == RACE_PARAM) record_load(c, to, e->a->fact_at + 16);
  else EMIT(c, "mov.b64", opd_reg(to), opd_reg(e->k->cache_entries));
}

// Sets pred(0) if (entry ^ me) & look == want for all n entries. The entries stay in wide(8) and
// the following registers.
static void test_all(Emit *e, Code *c, PtxReg *at, unsigned n, PtxOperand want, PtxOperand look) {
  PtxReg *other = wide(e, 4), *p = pred(e, 0);
  for (unsigned i = 0; i < n; i++) {
    load_entry(e, c, wide(e, 8 + i), other, at, 8 * i);
    EMIT(c, "and.b64", opd_reg(other), opd_reg(other), look);
    if (i) EMIT(c, "setp.eq.and.u64", opd_reg(p), opd_reg(other), want, opd_reg(p));
    else EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(other), want);
  }
}

// Replaces all entries, whose values are in wide(8) and the following registers, and branches back;
// falls through if another thread was faster.
static void swap_all(Emit *e, Code *c, PtxReg *at, unsigned n, unsigned apart) {
  PtxReg *t = wide(e, 5), *p = pred(e, 0);
  bool constant, differ = race_written(e, NULL, NULL, NULL, &constant);
  for (unsigned i = 0; i < n; i++) {
    if (!i || differ) make_entry(e, c, t, NULL, i);
    EMIT(c, "atom.global.cas.b64", opd_reg(wide(e, 12 + i)), opd_at(c, opd_reg(at), apart * i),
         opd_reg(wide(e, 8 + i)), opd_reg(t));
  }
  for (unsigned i = 0; i < n; i++)
    if (i)
      EMIT(c, "setp.eq.and.u64", opd_reg(p), opd_reg(wide(e, 12 + i)), opd_reg(wide(e, 8 + i)),
           opd_reg(p));
    else EMIT(c, "setp.eq.u64", opd_reg(p), opd_reg(wide(e, 12)), opd_reg(wide(e, 8)));
  code_branch(c, p, false, e->back);
}

// Several words of global memory: no call is needed if each entry already is this access, or is of
// an earlier launch.
static void several_words(Emit *e, Code *c, PtxReg *at, unsigned n) {
  bool writes = e->a->flags & WG_RACE_WRITE;
  PtxReg *mask = wide(e, 5), *other = wide(e, 4), *p = pred(e, 0);
  PtxLabel *call = body_label(e->k->body);
  int64_t strong = WHOLE | WG_RACE_WRITE | WG_RACE_STRONG;
  if (e->a->flags & WG_RACE_STRONG) {  // this thread's, or of several blocks
    test_all(e, c, at, n, opd_imm(strong), opd_imm(who_and_when | strong | WG_RACE_CTA));
    code_branch(c, p, false, e->back);
    RACE_LOAD(e->k, c, mask, interval);
    EMIT(c, "or.b64", opd_reg(mask), opd_reg(mask), opd_imm(strong | WG_RACE_CTA | WG_RACE_BLOCKS));
    test_all(e, c, at, n, opd_imm(strong | WG_RACE_BLOCKS), opd_reg(mask));
  } else
    test_all(
        e, c, at, n, opd_imm(WHOLE | (writes ? WG_RACE_WRITE : 0)),
        opd_imm(~not_the_time | (writes ? WG_RACE_WRITE | WG_RACE_STRONG : looks_at_strong(e))));
  code_branch(c, p, false, e->back);
  RACE_LOAD(e->k, c, mask, replace);
  for (unsigned i = 0; i < n; i++) {
    EMIT(c, "xor.b64", opd_reg(other), opd_reg(wide(e, 8 + i)), opd_reg(e->k->me));
    if (i)
      EMIT(c, "setp.lt.and.u64", opd_reg(p), opd_reg(wide(e, 8 + i)), opd_reg(mask), opd_reg(p));
    else EMIT(c, "setp.lt.u64", opd_reg(p), opd_reg(wide(e, 8 + i)), opd_reg(mask));
    EMIT(c, "setp.ge.and.u64", opd_reg(p), opd_reg(other), opd_imm(one_launch), opd_reg(p));
  }
  code_branch(c, p, true, call);
  swap_all(e, c, at, n, 8);
  code_label(c, call);
}

// In shared memory. Branches back if several threads have read all words since the last barrier,
// and none has written them.
static void several_shared(Emit *e, Code *c, PtxReg *at, unsigned n) {
  PtxReg *entry = wide(e, 3), *other = wide(e, 4), *mask = wide(e, 6), *all = pred(e, 2),
         *before = pred(e, 0);
  RACE_LOAD(e->k, c, mask, moment);
  EMIT(c, "or.b64", opd_reg(mask), opd_reg(mask),
       opd_imm(WHOLE | WG_RACE_MANY | WG_RACE_STRONG | looks_at_later(e)));
  for (unsigned i = 0; i < n; i++) {
    load_entry(e, c, entry, other, at, 16 * i + 8);
    EMIT(c, "and.b64", opd_reg(other), opd_reg(other), opd_reg(mask));
    if (i)
      EMIT(c, "setp.eq.and.u64", opd_reg(all), opd_reg(other), opd_imm(WHOLE | WG_RACE_MANY),
           opd_reg(all));
    else EMIT(c, "setp.eq.u64", opd_reg(all), opd_reg(other), opd_imm(WHOLE | WG_RACE_MANY));
    load_entry(e, c, entry, other, at, 16 * i);
    test_before(e, c, entry, other, before);
    EMIT(c, "and.pred", opd_reg(all), opd_reg(all), opd_reg(before));
  }
  code_branch(c, all, false, e->back);
}

// … word by word.
static void each_shared_read(Emit *e, Code *c, PtxReg *at, unsigned n) {
  PtxReg *left = word(e, 2), *p = pred(e, 0);
  PtxLabel *all = e->back, *next = body_label(e->k->body), *call = body_label(e->k->body);
  EMIT(c, "mov.b32", opd_reg(left), opd_imm(n));
  code_label(c, next);
  e->back = body_label(e->k->body);
  read_of_pair(e, c, at);
  EMIT(c, "bra", opd_label(call));
  code_label(c, e->back);
  e->back = all;
  EMIT(c, "sub.u32", opd_reg(left), opd_reg(left), opd_imm(1));
  EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(left), opd_imm(0));
  code_branch(c, p, false, all);
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_imm(16));
  EMIT(c, "bra", opd_label(next));
  code_label(c, call);
}

static void each_shared_write(Emit *e, Code *c, PtxReg *at, unsigned n) {
  PtxLabel *all = e->back, *call = body_label(e->k->body);
  for (unsigned i = 0; i < n; i++) {
    e->back = i + 1 < n ? body_label(e->k->body) : all;
    write_of_pair(e, c, at, i);
    if (i + 1 == n) break;
    EMIT(c, "bra", opd_label(call));
    code_label(c, e->back);
    EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_imm(16));
  }
  code_label(c, call);
}

// … a write to words that are not read there. Replaces the entries if no thread has written the
// words since the last barrier.
static void several_unread(Emit *e, Code *c, PtxReg *at, unsigned n) {
  PtxReg *other = wide(e, 4), *interval = wide(e, 5), *p = pred(e, 0);
  PtxLabel *call = body_label(e->k->body);
  RACE_LOAD(e->k, c, interval, interval);
  for (unsigned i = 0; i < n; i++) {
    PtxReg *entry = wide(e, 8 + i);
    load_entry(e, c, entry, other, at, 16 * i);
    EMIT(c, "and.b64", opd_reg(other), opd_reg(other), opd_reg(interval));
    if (i) EMIT(c, "setp.ne.and.u64", opd_reg(p), opd_reg(other), opd_imm(0), opd_reg(p));
    else EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(other), opd_imm(0));
    EMIT(c, "setp.ne.and.u64", opd_reg(p), opd_reg(entry), opd_imm((int64_t)WG_RACE_BENIGN),
         opd_reg(p));
  }
  code_branch(c, p, true, call);
  swap_all(e, c, at, n, 16);
  code_label(c, call);
}

void race_without_call(Emit *e, Code *c, bool shared) {
  bool writes = e->a->flags & WG_RACE_WRITE;
  unsigned n = e->a->bytes / 4;
  bool strong = e->a->flags & WG_RACE_STRONG, part = e->a->bytes == 1 || e->a->bytes == 2;
  if (strong && (e->k->has_clock || part || n > 2 || (n == 2 && !writes) || (shared && n != 1) ||
                 (!shared && e->a->flags & WG_RACE_CTA)))
    return;
  if ((e->a->bytes % 4 && !part) || n > 4 || e->a->site == WG_RACE_NO_SITE ||
      (!shared && e->k->body->program->plan->tool_options[TOOL_RACECHECK] & RACE_FULL))
    return;
  if (part && (shared || e->a->lanes)) return;
  if (!shared && e->k->has_global_async) return;
  if (shared && e->k->has_clusters) return;  // a barrier of the block does not order other blocks
  // this is mostly the first write since a barrier
  if (shared && writes && n > 1 && !e->a->unread && !e->k->has_async) return;
  // .nc promises that no thread writes there: this is hardly ever reached, and need not be fast
  if (ptx_has(e->in, MOD_NC)) return;
  PtxReg *at = wide(e, 2), *entries = wide(e, 3);
  race_find_entries(e, c, entries, shared);
  if (part) {  // the allocation may begin within a word, too
    EMIT(c, "sub.s64", opd_reg(at), opd_reg(e->at), opd_reg(e->off));
    EMIT(c, "and.b64", opd_reg(at), opd_reg(at), opd_imm(3));
    EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(e->off));
    EMIT(c, "and.b64", opd_reg(at), opd_reg(at), opd_imm(~3));
  } else if (e->a->place == RACE_LOOKUP &&
             !shared) {  // a variable may begin within a word, which counts as a whole; the address
                         // is a multiple of 4
    EMIT(c, "add.u64", opd_reg(at), opd_reg(e->off), opd_imm(3));
    EMIT(c, "and.b64", opd_reg(at), opd_reg(at), opd_imm(~3));
  } else EMIT(c, "and.b64", opd_reg(at), opd_reg(e->off), opd_imm(~3));
  EMIT(c, "shl.b64", opd_reg(at), opd_reg(at), opd_imm(shared ? 2 : 1));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(at), opd_reg(entries));
  if (part) part_of_word(e, c, at);
  else if (n > 1 && !shared) several_words(e, c, at, n);
  else if (n > 1 && writes && e->a->unread) several_unread(e, c, at, n);
  else if (n > 1 && writes) each_shared_write(e, c, at, n);
  else if (n > 1) {
    several_shared(e, c, at, n);
    each_shared_read(e, c, at, n);
  } else if (!shared) one_entry(e, c, at);
  else if (writes) write_of_pair(e, c, at, 0);
  else read_of_pair(e, c, at);
}
