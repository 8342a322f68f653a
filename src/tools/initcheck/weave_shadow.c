// Reads and writes the shadow of one access inline: for the compiler of machine code a call would
// cost more than all of this (docs/initcheck.md). See WG_SHADOW_GOOD for the meaning of the bits.
#include "tools/initcheck/internal.h"

// --- loads and stores of the shadow itself ---

static const char *const loads[3][4] = {
    {"ld.volatile.global.u8", "ld.volatile.global.u16", "ld.volatile.global.u32",
     "ld.volatile.global.v2.u32"},
    {"ld.global.u8", "ld.global.u16", "ld.global.u32", "ld.global.v2.u32"},
    {"ld.local.u8", "ld.local.u16", "ld.local.u32", "ld.local.v2.u32"}};
static const char *const stores[3][4] = {
    {"st.volatile.global.u8", "st.volatile.global.u16", "st.volatile.global.u32",
     "st.volatile.global.v2.u32"},
    {"st.global.u8", "st.global.u16", "st.global.u32", "st.global.v2.u32"},
    {"st.local.u8", "st.local.u16", "st.local.u32", "st.local.v2.u32"}};
static const char *form_of(const InitShadow *s, const char *const forms[3][4]) {
  return forms[s->is_private ? 2 : s->is_weak][s->bytes <= 4    ? 0
                                               : s->bytes == 8  ? 1
                                               : s->bytes == 16 ? 2
                                                                : 3];
}
static void load_words(const InitShadow *s, Code *c, PtxReg *at, int64_t offset, PtxReg *low,
                       PtxReg *high) {
  PtxOperand to = s->bytes == 32
                      ? opd_vector(c, (const PtxOperand[]){opd_reg(low), opd_reg(high)}, 2)
                      : opd_reg(low);
  EMIT(c, form_of(s, loads), to, opd_at(c, opd_reg(at), offset));
}
static void store_words(const InitShadow *s, Code *c, PtxReg *at, int64_t offset, PtxReg *low,
                        PtxReg *high) {
  PtxOperand from = s->bytes == 32
                        ? opd_vector(c, (const PtxOperand[]){opd_reg(low), opd_reg(high)}, 2)
                        : opd_reg(low);
  EMIT(c, form_of(s, stores), opd_at(c, opd_reg(at), offset), from);
}

static PtxReg *word(const InitShadow *s, unsigned n) { return body_temp(s->body, TYPE_B32, n); }

static PtxReg *shadow_at(const InitShadow *s, Code *c) {
  PtxReg *at = body_temp(s->body, TYPE_B64, 3);
  // memcheck reports misaligned accesses
  if (s->bytes > 4) EMIT(c, "and.b64", opd_reg(at), opd_reg(s->off), opd_imm(-(int64_t)s->bytes));
  EMIT(c, "shr.u64", opd_reg(at), opd_reg(s->bytes > 4 ? at : s->off), opd_imm(2));
  EMIT(c, "add.s64", opd_reg(at), opd_reg(at), opd_reg(s->shadow));
  return at;
}

// An access of less than a word: byte_in_word is the first of its bytes there.
static bool is_part(const InitShadow *s) { return s->bytes < 4; }
static void byte_in_word(const InitShadow *s, Code *c, PtxReg *to) {
  EMIT(c, "cvt.u32.u64", opd_reg(to), opd_reg(s->off));
  EMIT(c, "and.b32", opd_reg(to), opd_reg(to), opd_imm(3));
}
static int64_t words_read(const InitShadow *s) {
  return s->bytes == 4 ? 0x0f : s->bytes == 8 ? 0x0f0f : 0x0f0f0f0f;
}
static int64_t covered(const InitShadow *s) { return (1 << s->bytes) - 1; }

// --- compact bits (4 bits after each other) and bits of shadow words (4 in each byte) ---

static void close_up(const InitShadow *s, Code *c, PtxReg *w, unsigned words) {
  PtxReg *t = word(s, 4);
  for (unsigned by = 4; by < 4 * words; by *= 2) {
    EMIT(c, "shr.u32", opd_reg(t), opd_reg(w), opd_imm(by));
    EMIT(c, "or.b32", opd_reg(w), opd_reg(w), opd_reg(t));
    EMIT(c, "and.b32", opd_reg(w), opd_reg(w),
         opd_imm(by == 4 && words == 4 ? 0x00ff00ff
                 : words == 4          ? 0xffff
                                       : 0xff));
  }
}

static void spread_out(const InitShadow *s, Code *c, PtxReg *w, unsigned words) {
  PtxReg *t = word(s, 4);
  for (unsigned by = words == 4 ? 8 : 4; by >= 4 && words > 1; by /= 2) {
    EMIT(c, "shl.b32", opd_reg(t), opd_reg(w), opd_imm(by));
    EMIT(c, "or.b32", opd_reg(w), opd_reg(w), opd_reg(t));
    EMIT(c, "and.b32", opd_reg(w), opd_reg(w),
         opd_imm(by == 8      ? 0x00ff00ff
                 : words == 4 ? 0x0f0f0f0f
                              : 0x0f0f));
  }
}

// --- reading ---

static void leave_if_zero(const InitShadow *s, Code *c, PtxReg *w, PtxLabel *to) {
  PtxReg *p = body_temp(s->body, TYPE_PRED, 1);
  if (!to) return;
  EMIT(c, "setp.eq.u32", opd_reg(p), opd_reg(w), opd_imm(0));
  code_branch(c, p, false, to);
}

// w = the bits that are not set in it, of `bits`
static void invert(Code *c, PtxReg *w, int64_t bits) {
  EMIT(c, "not.b32", opd_reg(w), opd_reg(w));
  EMIT(c, "and.b32", opd_reg(w), opd_reg(w), opd_imm(bits));
}

static void read_two(const InitShadow *s, Code *c, PtxReg *at, PtxReg *bad, PtxLabel *good) {
  PtxReg *high = word(s, 3), *any = word(s, 4);
  load_words(s, c, at, 0, bad, high);
  invert(c, bad, 0x0f0f0f0f);
  invert(c, high, 0x0f0f0f0f);
  EMIT(c, "or.b32", opd_reg(any), opd_reg(bad), opd_reg(high));
  leave_if_zero(s, c, any, good);
  close_up(s, c, bad, 4);
  close_up(s, c, high, 4);
  EMIT(c, "shl.b32", opd_reg(high), opd_reg(high), opd_imm(16));
  EMIT(c, "or.b32", opd_reg(bad), opd_reg(bad), opd_reg(high));
}

void init_read_shadow(const InitShadow *s, Code *c, PtxReg *bad, PtxLabel *good) {
  PtxReg *at = shadow_at(s, c), *first = word(s, 3);
  if (s->bytes == 32) {
    read_two(s, c, at, bad, good);
    return;
  }
  load_words(s, c, at, 0, bad, NULL);
  if (is_part(s)) {
    byte_in_word(s, c, first);
    EMIT(c, "shr.u32", opd_reg(bad), opd_reg(bad), opd_reg(first));
    invert(c, bad, covered(s));
  } else invert(c, bad, s->bytes == 4 ? 0x0f : s->bytes == 8 ? 0x0f0f : 0x0f0f0f0f);
  leave_if_zero(s, c, bad, good);
  if (!is_part(s)) close_up(s, c, bad, s->bytes / 4);
}

void init_read_derived(const InitShadow *s, Code *c, PtxReg *to) {
  PtxReg *at = shadow_at(s, c), *other = word(s, 3);
  load_words(s, c, at, 0, to, other);
  if (s->bytes == 32) EMIT(c, "or.b32", opd_reg(to), opd_reg(to), opd_reg(other));
  if (is_part(s)) {
    byte_in_word(s, c, other);
    EMIT(c, "shr.u32", opd_reg(to), opd_reg(to), opd_reg(other));
  }
  EMIT(c, "and.b32", opd_reg(to), opd_reg(to),
       opd_imm((int32_t)((is_part(s) ? covered(s) : words_read(s)) << 4)));
}

// all &= the shadow of the bytes read, if they are inside; all other bits stay.
void init_test_shadow(const InitShadow *s, Code *c, PtxReg *inside, PtxReg *all) {
  PtxReg *at = shadow_at(s, c), *w = word(s, 3), *high = word(s, 4);
  EMIT(c, "mov.b32", opd_reg(w), opd_imm(-1));
  if (s->bytes == 32) EMIT(c, "mov.b32", opd_reg(high), opd_imm(-1));
  code_guard(c, inside, false);
  load_words(s, c, at, 0, w, high);
  code_guard(c, NULL, false);
  if (s->bytes == 32) EMIT(c, "and.b32", opd_reg(w), opd_reg(w), opd_reg(high));
  if (is_part(s)) {
    byte_in_word(s, c, high);
    EMIT(c, "shr.u32", opd_reg(w), opd_reg(w), opd_reg(high));
  }
  EMIT(c, "or.b32", opd_reg(w), opd_reg(w),
       opd_imm((int32_t) ~(is_part(s) ? covered(s) : words_read(s))));
  EMIT(c, "and.b32", opd_reg(all), opd_reg(all), opd_reg(w));
}

void init_load_shadow(const InitShadow *s, Code *c, int64_t offset, PtxReg *w, PtxReg *high) {
  load_words(s, c, s->shadow, offset, w, high);
}

// --- writing ---

// Sets the bits `set` of a shadow byte and clears the other bits that the access covers. Other
// threads may write the rest of the byte at the same time, so it takes two steps. A byte with both
// bits set counts as good, so no thread that reads in between takes a good byte for a bad one.
// `first`: see byte_in_word.
static void store_part(const InitShadow *s, Code *c, PtxReg *at, PtxReg *set, PtxReg *first,
                       PtxReg *unless) {
  PtxReg *clear = word(s, 4), *shift = word(s, 6);
  EMIT(c, "xor.b32", opd_reg(clear), opd_reg(set), opd_imm(covered(s) * 17));
  if (s->is_private) {
    PtxReg *state = word(s, 6);
    EMIT(c, "shl.b32", opd_reg(set), opd_reg(set), opd_reg(first));
    EMIT(c, "shl.b32", opd_reg(clear), opd_reg(clear), opd_reg(first));
    EMIT(c, "not.b32", opd_reg(clear), opd_reg(clear));
    load_words(s, c, at, 0, state, NULL);
    EMIT(c, "or.b32", opd_reg(state), opd_reg(state), opd_reg(set));
    EMIT(c, "and.b32", opd_reg(state), opd_reg(state), opd_reg(clear));
    store_words(s, c, at, 0, state, NULL);
    return;
  }
  EMIT(c, "cvt.u32.u64", opd_reg(shift), opd_reg(at));
  EMIT(c, "and.b32", opd_reg(shift), opd_reg(shift), opd_imm(3));
  EMIT(c, "shl.b32", opd_reg(shift), opd_reg(shift), opd_imm(3));
  EMIT(c, "add.u32", opd_reg(shift), opd_reg(shift), opd_reg(first));
  EMIT(c, "shl.b32", opd_reg(set), opd_reg(set), opd_reg(shift));
  EMIT(c, "shl.b32", opd_reg(clear), opd_reg(clear), opd_reg(shift));
  EMIT(c, "not.b32", opd_reg(clear), opd_reg(clear));
  EMIT(c, "and.b64", opd_reg(at), opd_reg(at), opd_imm(-4));
  code_guard(c, unless, unless != NULL);
  EMIT(c, "red.or.b32", opd_at(c, opd_reg(at), 0), opd_reg(set));
  EMIT(c, "red.and.b32", opd_at(c, opd_reg(at), 0), opd_reg(clear));
  code_guard(c, NULL, false);
}

void init_mark_good_at(const InitShadow *s, Code *c, PtxReg *in, int64_t offset) {
  PtxReg *w = word(s, 3);
  EMIT(c, "mov.b32", opd_reg(w), opd_imm(0x0f0f0f0f));
  code_guard(c, in, false);
  store_words(s, c, s->shadow, offset, w, w);
  code_guard(c, NULL, false);
}

// The new shadow of a store, before it is written: in words 3 and 5, for the address `at`. For a
// part of a word, word 5 is byte_in_word, and `already` means that nothing changes: then no atomic
// operation is needed.
typedef struct State {
  PtxReg *at, *w, *other, *already;
} State;
static State state_at(const InitShadow *s, Code *c) {
  State x = {shadow_at(s, c), word(s, 3), word(s, 5),
             is_part(s) && !s->is_private ? body_temp(s->body, TYPE_PRED, 1) : NULL};
  if (is_part(s)) byte_in_word(s, c, x.other);
  return x;
}

void init_good_state(const InitShadow *s, Code *c) {
  State x = state_at(s, c);
  if (x.already) {
    load_words(s, c, x.at, 0, x.w, NULL);
    EMIT(c, "shr.u32", opd_reg(x.w), opd_reg(x.w), opd_reg(x.other));
    EMIT(c, "and.b32", opd_reg(x.w), opd_reg(x.w), opd_imm(covered(s) * 17));
    EMIT(c, "setp.eq.u32", opd_reg(x.already), opd_reg(x.w), opd_imm(covered(s)));
  }
  EMIT(c, "mov.b32", opd_reg(x.w), opd_imm(is_part(s) ? covered(s) : 0x0f0f0f0f));
  if (s->bytes == 32) EMIT(c, "mov.b32", opd_reg(x.other), opd_reg(x.w));
}

// w = the shadow of words, or of a part of one; its bad bytes are the bits of `bad` from `first` on
static void state_of(const InitShadow *s, Code *c, PtxReg *w, PtxReg *bad, PtxReg *derived,
                     unsigned first) {
  unsigned words = MIN(s->bytes / 4, 4u);
  int64_t bits = is_part(s) ? covered(s) : words_read(s),
          taken = is_part(s) ? covered(s) : (1 << 4 * words) - 1;
  PtxReg *computed = word(s, 7), *from[] = {bad, derived}, *to[] = {w, computed};
  for (unsigned n = 0; n < (derived ? 2 : 1); n++) {
    if (first) EMIT(c, "shr.u32", opd_reg(to[n]), opd_reg(from[n]), opd_imm(first));
    EMIT(c, "and.b32", opd_reg(to[n]), opd_reg(first ? to[n] : from[n]), opd_imm(taken));
    if (!is_part(s)) spread_out(s, c, to[n], words);
  }
  EMIT(c, "shl.b32", opd_reg(computed), opd_reg(derived ? computed : w), opd_imm(4));
  EMIT(c, "xor.b32", opd_reg(w), opd_reg(w), opd_imm(bits));
  EMIT(c, "or.b32", opd_reg(w), opd_reg(w), opd_reg(computed));
}

void init_bad_state(const InitShadow *s, Code *c, PtxReg *bad, PtxReg *derived) {
  State x = state_at(s, c);
  if (x.already) EMIT(c, "setp.ne.u32", opd_reg(x.already), opd_reg(x.other), opd_reg(x.other));
  state_of(s, c, x.w, bad, derived, 0);
  if (s->bytes == 32) state_of(s, c, x.other, bad, derived, 16);
}

void init_store_state(const InitShadow *s, Code *c) {
  PtxReg *at = body_temp(s->body, TYPE_B64, 3), *w = word(s, 3), *other = word(s, 5);
  if (is_part(s))
    store_part(s, c, at, w, other, s->is_private ? NULL : body_temp(s->body, TYPE_PRED, 1));
  else store_words(s, c, at, 0, w, other);
}

void init_take_state(const InitShadow *s, Code *c, PtxReg *state, const PtxOperand *bytes) {
  PtxReg *kept = word(s, 3), *t = word(s, 4);
  load_words(s, c, shadow_at(s, c), 0, state, NULL);
  if (!bytes) return;
  EMIT(c, "min.u32", opd_reg(kept), *bytes, opd_imm(s->bytes));
  EMIT(c, "mov.u32", opd_reg(t), opd_imm(1));
  EMIT(c, "shl.b32", opd_reg(kept), opd_reg(t), opd_reg(kept));
  EMIT(c, "sub.u32", opd_reg(kept), opd_reg(kept), opd_imm(1));
  spread_out(s, c, kept, s->bytes / 4);
  EMIT(c, "shl.b32", opd_reg(t), opd_reg(kept), opd_imm(4));
  EMIT(c, "or.b32", opd_reg(t), opd_reg(t), opd_reg(kept));
  EMIT(c, "and.b32", opd_reg(state), opd_reg(state), opd_reg(t));
  EMIT(c, "not.b32", opd_reg(kept), opd_reg(kept));
  EMIT(c, "and.b32", opd_reg(kept), opd_reg(kept), opd_imm(0x0f0f0f0f));
  EMIT(c, "or.b32", opd_reg(state), opd_reg(state), opd_reg(kept));
}

void init_put_state(const InitShadow *s, Code *c, PtxReg *state) {
  store_words(s, c, shadow_at(s, c), 0, state, NULL);
}

void init_mark_good(const InitShadow *s, Code *c) {
  init_good_state(s, c);
  init_store_state(s, c);
}

void init_write_shadow(const InitShadow *s, Code *c, PtxReg *bad, PtxReg *derived) {
  init_bad_state(s, c, bad, derived);
  init_store_state(s, c);
}
