// Shadows of registers and memory, followed step by step: for threads that have read something bad,
// or may have. See follow_abi.h.
#include "probe/device.h"
#include "tools/initcheck/abi.h"
#include "tools/initcheck/follow_abi.h"
#include "tools/initcheck/kinds.h"

uint64_t wg_init_find(uint64_t table, uint64_t address);
uint32_t wg_init_source(uint64_t table, uint64_t address);
void wg_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
               uint64_t address, uint64_t value, uint64_t extra);

typedef struct Follow {
  uint64_t *shadows;
  uint32_t n, dirty;
} Follow;

DEVICE uint64_t all_bits(uint32_t bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

DEVICE uint64_t get(const Follow *f, uint32_t number) {
  return f->dirty && number != WG_NO_NUMBER ? f->shadows[number] : 0;
}

// While a thread is clean, its shadows in memory are not valid: all of them count as zero.
DEVICE void make_dirty(Follow *f) {
  if (f->dirty) return;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < f->n; i++) f->shadows[i] = 0;
  f->shadows[WG_SHADOW_ORIGIN_SITE] = 0xffffffff;
  f->dirty = 1;
}
DEVICE void set(Follow *f, uint32_t number, uint64_t shadow) {
  if (!f->dirty && !shadow) return;
  make_dirty(f);
  f->shadows[number] = shadow;
}

DEVICE uint64_t shift(uint64_t shadow, uint32_t by, uint32_t bits, uint32_t flags) {
  if (!(flags & WG_STEP_RIGHT)) return by >= bits ? 0 : shadow << by;
  if (!(flags & WG_STEP_SIGNED)) return by >= bits ? 0 : shadow >> by;
  int64_t wide = bits == 64 ? (int64_t)shadow : (int32_t)(uint32_t)shadow;
  return (uint64_t)(wide >> (by >= bits ? bits - 1 : by));
}

// --- formulas.def, as code that computes ---

// of values of `bits` bits; the variables are wider
typedef struct Operand {
  uint64_t value, bad;
  uint32_t bits;
} Operand;

#define OPERAND Operand
#define SHADOW uint64_t
#define WORD uint32_t
#define NUMBER uint32_t
#define FORMULA(id, ...) \
  DEVICE uint64_t formula_##id(uint32_t width, __VA_ARGS__) { \
    uint64_t to = 0; \
    (void)width; \
    (void)to;
#define END_FORMULA(x) \
  return x; \
  }
#define SHADOW_OF(x, a, n) uint64_t x = a.bad;
#define VALUE_OF(x, a, n) uint64_t x = a.value;
#define TEMP(x, n) uint64_t x;
#define TEMP_WORD(x, n) uint32_t x;
#define FLAG(x, n) uint32_t x = 0;
#define OR(x, a, b) x = a | b;
#define AND(x, a, b) x = a & b;
#define XOR(x, a, b) x = a ^ b;
#define NOT(x, a) x = ~a;
#define NEG(x, a) x = 0 - a;
#define AND_N(x, a, n) x = a & n;
#define ADD_N(x, a, n) x = a + n;
#define MUL_N(x, a, n) x = a * n;
#define SHL_N(x, a, n) x = a << (n);
#define SHR_N(x, a, n) x = a >> (n);
#define SAR_N(x, a, n) x = (uint64_t)((int64_t)a >> (n));
#define FILL(x, bad, bits) x = bad ? bits : 0;
#define COMPLEMENT(x, n) x = ~x;
#define TRIM(x) x &= all_bits(a.bits);
#define NEEDS(x, a) \
  x = a != 0; \
  if (!x) return 0;
#define IS_ZERO_AND(x, a, b) x = !a;
#define SIGN uint32_t
#define IS_SIGNED(how) (how & WG_STEP_SIGNED)
#define LOW_BITS(n) all_bits(n)
// With the sign bit flipped, signed numbers compare like unsigned ones.
#define BOUNDS(a, least, most, how) \
  a.value = (a.value ^ (IS_SIGNED(how) ? 1ull << (a.bits - 1) : 0)) & all_bits(a.bits);
#define LEAST(a, n) (a.value & ~a.bad)
#define MOST(a, n) (a.value | a.bad)
#define IS_LESS(x, a, b) x = a < b;
#define DIFFER(x, a, b) x = a != b;
#include "tools/initcheck/formulas.def"

DEVICE uint64_t logic(uint64_t bad_a, uint64_t bad_b, uint64_t a, uint64_t b, uint32_t is_and) {
  return formula_logic(64, (Operand){a, bad_a, 64}, (Operand){b, bad_b, 64}, is_and);
}
DEVICE uint64_t is_open(uint64_t a, uint64_t bad_a, uint64_t b, uint64_t bad_b, uint32_t bits,
                        uint32_t flags) {
  if (!(flags & WG_STEP_ORDER))
    return formula_equal(bits, (Operand){a, bad_a, bits}, (Operand){b, bad_b, bits});
  return formula_order(bits, (Operand){a, bad_a, bits}, (Operand){b, bad_b, bits}, flags);
}
DEVICE uint64_t convert(uint64_t shadow, uint32_t from, uint32_t to, uint32_t bits,
                        uint32_t flags) {
  return formula_convert(bits, shadow, from, to, flags);
}

// --- instructions that move bits, applied to shadows ---

DEVICE uint64_t reverse(uint64_t a, uint32_t bits) {
  uint64_t to = 0;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < bits; i++) to |= (a >> i & 1) << (bits - 1 - i);
  return to;
}

DEVICE uint64_t extract(uint64_t a, uint32_t first, uint32_t n, uint32_t bits, uint32_t is_signed) {
  uint64_t last = n && is_signed ? a >> (first + n > bits ? bits - 1 : first + n - 1) & 1 : 0,
           to = 0;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < bits; i++)
    to |= (i < n && first + i < bits ? a >> (first + i) & 1 : last) << i;
  return to;
}

DEVICE uint64_t insert(uint64_t a, uint64_t into, uint32_t first, uint32_t n, uint32_t bits) {
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < n && first + i < bits; i++)
    into = (into & ~(1ull << (first + i))) | (a >> i & 1) << (first + i);
  return into;
}

DEVICE uint64_t permute(uint64_t both, uint32_t how) {
  uint64_t to = 0;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < 4; i++, how >>= 4) {
    uint64_t byte = both >> 8 * (how & 7) & 0xff;
    to |= (how & 8 ? (byte & 0x80 ? 0xffull : 0) : byte) << 8 * i;
  }
  return to;
}

DEVICE uint64_t move_bits(const WgStep *s, uint64_t a, uint64_t b, uint32_t v, uint32_t w) {
  uint64_t both = b << 32 | (uint32_t)a;
  uint32_t by = s->flags & WG_STEP_FIRST ? (v > 32 ? 32 : v) : v & 31;
  switch (s->imm) {
    case WG_BITS_REVERSE: return reverse(a, s->bits);
    case WG_BITS_EXTRACT: return extract(a, v & 0xff, w & 0xff, s->bits, s->flags & WG_STEP_SIGNED);
    case WG_BITS_INSERT: return insert(a, b, v & 0xff, w & 0xff, s->bits);
    case WG_BITS_PERMUTE: return permute(both, v);
    case WG_BITS_FUNNEL_LEFT: return both << by >> 32;
    default: return both >> by;
  }
}

DEVICE uint64_t parts(uint64_t acc, uint32_t bits) {
  return bits == 8 ? formula_bytes(32, (uint32_t)acc) : formula_halves(32, acc);
}

// A bit is bad if, for the possible values of the bad bits, it may be 1 and may be 0.
uint32_t wg_init_table(uint32_t table, uint32_t sa, uint32_t a, uint32_t sb, uint32_t b,
                       uint32_t sc, uint32_t c);
__attribute__((noinline)) uint32_t wg_init_table(uint32_t table, uint32_t sa, uint32_t a,
                                                 uint32_t sb, uint32_t b, uint32_t sc, uint32_t c) {
  uint32_t may_be[2] = {0, 0};
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < 8; i++, table >>= 1) {
    uint32_t here = ((i & 4 ? a : ~a) | sa) & ((i & 2 ? b : ~b) | sb) & ((i & 1 ? c : ~c) | sc);
    may_be[0] |= table & 1 ? 0 : here;
    may_be[1] |= table & 1 ? here : 0;
  }
  return may_be[0] & may_be[1];
}

#ifdef __NVPTX__
#define SHUFFLE(mode) \
  __asm__ volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;" \
                   : "=r"(v) \
                   : "r"(shadow), "r"(b), "r"(c), "r"(lanes))
DEVICE uint32_t shuffle(uint32_t how, uint32_t shadow, uint32_t b, uint32_t c, uint32_t lanes) {
  uint32_t v;
  switch (how) {
    case WG_SHUFFLE_UP: SHUFFLE("up"); break;
    case WG_SHUFFLE_DOWN: SHUFFLE("down"); break;
    case WG_SHUFFLE_BUTTERFLY: SHUFFLE("bfly"); break;
    default: SHUFFLE("idx"); break;
  }
  return v;
}
#else
DEVICE uint32_t shuffle(uint32_t how, uint32_t shadow, uint32_t b, uint32_t c, uint32_t lanes) {
  (void)how;
  (void)b;
  (void)c;
  (void)lanes;
  return shadow;
}
#endif

// The received value inherits the origin of lane `from`'s. All `lanes` call this together.
DEVICE void take_origin(Follow *f, uint32_t lanes, uint32_t from, uint32_t takes) {
  uint64_t address = f->dirty ? f->shadows[WG_SHADOW_ORIGIN] : 0;
  uint32_t low = device_read_lane(lanes, (uint32_t)address, from),
           high = device_read_lane(lanes, (uint32_t)(address >> 32), from);
  uint32_t site = device_read_lane(
      lanes, f->dirty ? (uint32_t)f->shadows[WG_SHADOW_ORIGIN_SITE] : 0xffffffff, from);
  uint32_t derived = device_read_lane(
      lanes, f->dirty ? (uint32_t)f->shadows[WG_SHADOW_ORIGIN_DERIVED] : 0, from);
  if (!takes) return;
  make_dirty(f);
  f->shadows[WG_SHADOW_ORIGIN] = (uint64_t)high << 32 | low;
  f->shadows[WG_SHADOW_ORIGIN_SITE] = site;
  f->shadows[WG_SHADOW_ORIGIN_DERIVED] = derived;
}

// Transposes an 8 by 8 matrix of halves, two of them in each lane's word; from: a lane whose part
// was bad, if any.
DEVICE uint32_t transpose(uint32_t shadow, uint32_t lanes, uint32_t *from) {
  uint32_t lane = device_lane(), first = (lane & 3) * 8 + (lane >> 3), half = (lane >> 2 & 1) * 16;
  uint32_t low = shuffle(WG_SHUFFLE_INDEX, shadow, first, 31, lanes) >> half & 0xffff,
           high = shuffle(WG_SHUFFLE_INDEX, shadow, first + 4, 31, lanes) >> half & 0xffff;
  *from = low ? first : first + 4;
  return low | high << 16;
}

// Returns the shadow that a lane receives from other lanes; if that is bad, the lane becomes dirty.
// Not inlined, since few registers are live at its call.
uint32_t wg_init_exchange(uint32_t what, uint32_t how, uint32_t shadow, uint32_t b, uint32_t c,
                          uint32_t lanes, uint64_t shadow_list, uint32_t n, uint32_t dirty);
__attribute__((noinline)) uint32_t wg_init_exchange(uint32_t what, uint32_t how, uint32_t shadow,
                                                    uint32_t b, uint32_t c, uint32_t lanes,
                                                    uint64_t shadow_list, uint32_t n,
                                                    uint32_t dirty) {
  Follow f = {(uint64_t *)shadow_list, n, dirty};
  uint32_t got = 0, from = 0, any = device_ballot(lanes, shadow != 0);
  if (!any) return 0;
  if (what == WG_STEP_SHUFFLE) {
    got = shuffle(how, shadow, b, c, lanes);
    from = shuffle(how, device_lane(), b, c, lanes);
  } else if (what == WG_STEP_TRANSPOSE) {
    got = transpose(shadow, lanes, &from);
  } else {
    got = what == WG_STEP_BALLOT ? any : 0xffffffff;
    from = (uint32_t)__builtin_ctz(any);
  }
  take_origin(&f, lanes, from, got != 0);
  return got;
}

// Converts bits to bytes and back, four at a time; each product has every bit exactly once.
DEVICE uint32_t four_bytes(uint32_t bits) { return ((bits & 15) * 0x204081u & 0x01010101u) * 0xff; }
// whole: the bytes of which all bits are set, instead of any
DEVICE uint32_t four_bits(uint32_t bytes, uint32_t whole) {
  if (whole) bytes = ~bytes;
  bytes |= bytes >> 4;
  bytes |= bytes >> 2;
  bytes |= bytes >> 1;
  if (whole) bytes = ~bytes;
  return (bytes & 0x01010101u) * 0x01020408u >> 24 & 15;
}
DEVICE uint64_t bytes_of_bits(uint32_t bits, uint32_t bytes) {
  uint64_t shadow = four_bytes(bits);
  if (bytes > 4) shadow |= (uint64_t)four_bytes(bits >> 4) << 32;
  return shadow & all_bits(bytes * 8);
}
DEVICE uint32_t bits_of_bytes(uint64_t shadow, uint32_t bytes, uint32_t whole) {
  shadow &= all_bits(bytes * 8);
  uint32_t bits = four_bits((uint32_t)shadow, whole);
  return bytes > 4 ? bits | four_bits((uint32_t)(shadow >> 32), whole) << 4 : bits;
}

// --- memory ---

// shadow 0: the memory is not followed
typedef struct Where {
  uint64_t address, off, shadow;
  uint32_t bytes;
} Where;

DEVICE Where locate(uint64_t *values, uint64_t address, uint32_t bytes, uint32_t place,
                    uint64_t table) {
  Where at = {address, 0, 0, bytes};
  if (place >= WG_PLACE_LOOKUP_SHARED) {
    if (place == WG_PLACE_LOOKUP_SHARED && device_is_shared(address)) {
      at.off = device_to_shared(address) - values[3];
      at.shadow = at.off < values[4] ? values[5] : 0;
      return at;
    }
    if (place == WG_PLACE_LOOKUP_SHARED && !device_is_global(address)) return at;
    if (address - values[0] >= values[1]) {
      const WgMemoryRange *r = (const WgMemoryRange *)wg_init_find(table, address);
      if (!r) return at;
      values[0] = r->base;
      values[1] = r->size;
      values[2] = r->tools.shadow;
    }
    place = 0;
  }
  at.off = address - values[place];
  if (at.off < values[place + 1]) at.shadow = values[place + 2];
  return at;
}

// A bit for each byte of the access. A byte of shadow holds the bits of 4 bytes of memory. by 0:
// bytes that are good; 4: bytes computed from unwritten memory
DEVICE uint32_t bytes_that_are(Where at, uint32_t by) {
  uint32_t first = (uint32_t)at.off & 3, n = (first + at.bytes + 3) >> 2;
  const volatile uint8_t *shadow = (const volatile uint8_t *)(at.shadow + (at.off >> 2));
  uint64_t are = 0;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < n; i++) are |= (uint64_t)(shadow[i] >> by & 15) << 4 * i;
  return (uint32_t)(are >> first & all_bits(at.bytes));
}
DEVICE uint32_t bad_bytes(Where at) {
  return (uint32_t)(~bytes_that_are(at, 0) & all_bits(at.bytes));
}

// Expands WgStep.moved to one bit per byte of the access.
DEVICE uint32_t moved_bytes(uint32_t moved, uint32_t bytes) {
  uint32_t are = 0;
#pragma clang loop unroll(disable)
  for (uint32_t i = 0; i < bytes && moved; i++) are |= (moved >> i * 8 / bytes & 1) << i;
  return are;
}

// A byte with both bits set counts as good. So in the order below, no thread that reads between the
// two steps takes a good byte for a bad one.
DEVICE void write_state(uint64_t at, uint32_t good, uint32_t derived, uint32_t covered,
                        int is_private) {
  if (covered == 15 || is_private) {
    uint32_t state = covered == 15 ? 0 : *(volatile uint8_t *)at;
    *(volatile uint8_t *)at = (uint8_t)((state & ~(covered * 17u)) | good | derived << 4);
    return;
  }
  uint32_t *word = (uint32_t *)(at & ~3ull), by = (uint32_t)(at & 3) * 8;
  uint32_t state = good | derived << 4, clear = covered * 17u & ~state;
  if (state) device_or32(word, state << by);
  if (clear) device_and32(word, ~(clear << by));
}

DEVICE void write_bytes(Where at, uint32_t bad, uint32_t computed, uint32_t flags) {
  uint32_t first = (uint32_t)at.off & 3;
  uint64_t covered = all_bits(at.bytes) << first, worse = (uint64_t)bad << first,
           derived = (uint64_t)computed << first;
#pragma clang loop unroll(disable)
  for (uint64_t word = at.shadow + (at.off >> 2); covered;
       word++, covered >>= 4, worse >>= 4, derived >>= 4) {
    uint32_t here = (uint32_t)covered & 15, wrong = (uint32_t)worse & here;
    write_state(word, here & ~wrong, (uint32_t)derived & here, here, flags & WG_STEP_PRIVATE);
  }
}

// Is one of these shadows bad?
DEVICE uint32_t any_bad(const Follow *f, const uint16_t *numbers) {
#pragma clang loop unroll(disable)
  for (; *numbers != WG_NO_NUMBER; numbers++)
    if (f->shadows[*numbers]) return 1;
  return 0;
}

// Loads a whole step at once: the latencies of separate loads would add up. The step is decoded
// only when it is executed, so that two steps take few registers.
typedef struct Step {
  uint32_t w[8];
} Step;
#ifdef __NVPTX__
DEVICE Step load_step(const WgStep *s) {
  Step v;
  __asm__ volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
                   : "l"(s));
  __asm__ volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4+16];"
                   : "=r"(v.w[4]), "=r"(v.w[5]), "=r"(v.w[6]), "=r"(v.w[7])
                   : "l"(s));
  return v;
}
#else
DEVICE Step load_step(const WgStep *s) {
  Step v;
  __builtin_memcpy(&v, s, sizeof v);
  return v;
}
#endif
DEVICE WgStep unpack(Step p) {
  const uint32_t *w = p.w;
  return (WgStep){.what = (uint8_t)w[0],
                  .bits = (uint8_t)(w[0] >> 8),
                  .from = (uint8_t)(w[0] >> 16),
                  .moved = (uint8_t)(w[0] >> 24),
                  .flags = (uint16_t)w[1],
                  .to = (uint16_t)(w[1] >> 16),
                  .a = (uint16_t)w[2],
                  .b = (uint16_t)(w[2] >> 16),
                  .v = (uint16_t)w[3],
                  .w = (uint16_t)(w[3] >> 16),
                  .guard = (uint16_t)w[4],
                  .site = w[5],
                  .imm = (uint64_t)w[7] << 32 | w[6]};
}

// Includes the lookup of the malloc site. Not inlined, since few registers are live at its call.
// See WG_INIT_BRANCH.
void wg_init_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
                    uint64_t value, const uint64_t *shadows, uint64_t table);
__attribute__((noinline)) void wg_init_report(uint64_t channel, uint32_t launch, uint32_t site,
                                              uint32_t kind, uint32_t size, uint64_t value,
                                              const uint64_t *shadows, uint64_t table) {
  uint64_t from = shadows[WG_SHADOW_ORIGIN];
  wg_report(channel, launch, site, kind, size, from, value,
            shadows[WG_SHADOW_ORIGIN_SITE] | (uint64_t)wg_init_source(table, from) << 32);
}

typedef struct Access {  // the access of the last READ or STORE
  Where at;
  uint32_t bad, mask;  // bad bytes: of the last read, of the current write
} Access;

DEVICE void read_access(Follow *f, const WgStep *s, uint64_t *values, uint64_t table, uint32_t site,
                        Access *a) {
  a->at = locate(values, values[s->v], s->from, s->w, table);
  if (a->at.shadow) a->bad = bad_bytes(a->at);
  if (a->bad) {
    make_dirty(f);
    f->shadows[WG_SHADOW_ORIGIN_SITE] = site;  // may be 0
    f->shadows[WG_SHADOW_ORIGIN] = s->flags & WG_STEP_ORIGIN ? a->at.address : 0;
    f->shadows[WG_SHADOW_ORIGIN_DERIVED] = bytes_that_are(a->at, 4) & a->bad;
  }
  if (s->to == WG_NO_NUMBER) return;
  uint64_t to = bytes_of_bits(a->bad, (uint32_t)s->imm);
  if (s->flags & WG_STEP_SIGNED) to = convert(to, (uint32_t)s->imm * 8, 64, 64, WG_STEP_SIGNED);
  set(f, s->to, to & all_bits(s->bits));
}

// STORE, WRITE: returns the bytes that were computed from bad values; the caller reports them.
DEVICE uint32_t write_access(Follow *f, const WgStep *s, uint64_t *values, uint64_t table,
                             Access *a) {
  uint32_t flags = s->flags;
  if (s->what == WG_STEP_STORE) {
    a->at = locate(values, values[s->v], s->from, s->w, table);
    if (flags & WG_STEP_FIRST)
      a->mask = bits_of_bytes(get(f, s->a), (uint32_t)s->imm >> 8, flags & WG_STEP_WHOLE)
                << (s->imm & 0xff);
  }
  if (!a->at.shadow || (flags & WG_STEP_ATOMIC && !(a->bad | a->mask))) return 0;
  uint32_t computed = a->mask && s->moved && !get(f, WG_SHADOW_ORIGIN_DERIVED)
                          ? a->mask & ~moved_bytes(s->moved, a->at.bytes)
                          : a->mask;
  write_bytes(a->at, a->mask, computed, flags);
  return computed;
}

// The build fails if the switch lacks a kind of step.
#pragma clang diagnostic push
#pragma clang diagnostic error "-Wswitch"
// The shadow of a result that depends only on shadows and values of this thread.
DEVICE uint64_t result_of(const Follow *f, const WgStep *s, const uint64_t *values, uint64_t all) {
  uint32_t flags = s->flags;
  switch ((WgStepKind)s->what) {
    case WG_STEP_PART: return get(f, s->a) >> s->imm;
    case WG_STEP_AND:
    case WG_STEP_OR_BITS:
      return logic(get(f, s->a), get(f, s->b), flags & WG_STEP_IMM_V ? s->imm : values[s->v],
                   flags & WG_STEP_IMM_W ? s->imm : values[s->w], s->what == WG_STEP_AND);
    case WG_STEP_TABLE:
      return wg_init_table(s->from, (uint32_t)get(f, s->a), (uint32_t)values[s->v],
                           (uint32_t)get(f, s->b), (uint32_t)values[s->w],
                           (uint32_t)get(f, (uint32_t)s->imm & 0xffff),
                           (uint32_t)values[(uint32_t)s->imm >> 16]);
    case WG_STEP_COMPARE:
      return is_open(flags & WG_STEP_IMM_V ? s->imm : values[s->v], get(f, s->a),
                     flags & WG_STEP_IMM_W ? s->imm : values[s->w], get(f, s->b), s->from, flags)
                 ? all
                 : 0;
    case WG_STEP_SHIFT:
      return shift(get(f, s->a), flags & WG_STEP_IMM_V ? (uint32_t)s->imm : (uint32_t)values[s->v],
                   s->bits, flags);
    case WG_STEP_CONVERT: return convert(get(f, s->a), s->from, (uint32_t)s->imm, s->bits, flags);
    case WG_STEP_SELECT:
      if (get(f, (uint32_t)s->imm)) return all;
      return (uint32_t)values[s->v] ? get(f, s->a) : get(f, s->b);
    case WG_STEP_BITS:
      return move_bits(s, get(f, s->a), get(f, s->b), (uint32_t)values[s->v],
                       (uint32_t)values[s->w]);
    case WG_STEP_CLEAR: return 0;
    // wg_init_follow executes these itself
    case WG_STEP_END:
    case WG_STEP_OR:
    case WG_STEP_SET:
    case WG_STEP_SPREAD:
    case WG_STEP_UPWARDS:
    case WG_STEP_HALVES:
    case WG_STEP_SPOIL:
    case WG_STEP_USE:
    case WG_STEP_READ:
    case WG_STEP_DESTINATION:
    case WG_STEP_START_WRITE:
    case WG_STEP_SOURCE:
    case WG_STEP_WRITE:
    case WG_STEP_STORE:
    case WG_STEP_SHUFFLE:
    case WG_STEP_BALLOT:
    case WG_STEP_ANY_LANE:
    case WG_STEP_TRANSPOSE: break;
  }
  return 0;
}
#pragma clang diagnostic pop

// Returns whether the thread is dirty now.
uint32_t wg_init_follow(uint64_t steps, uint64_t value_list, uint64_t shadow_list,
                        uint32_t nshadows, uint32_t dirty, uint64_t table, uint64_t channel,
                        uint32_t launch, uint32_t site_base);
__attribute__((noinline)) uint32_t wg_init_follow(uint64_t steps, uint64_t value_list,
                                                  uint64_t shadow_list, uint32_t nshadows,
                                                  uint32_t dirty, uint64_t table, uint64_t channel,
                                                  uint32_t launch, uint32_t site_base) {
  Follow f = {(uint64_t *)shadow_list, nshadows, dirty};
  uint64_t *values = (uint64_t *)value_list, acc = 0;
  Access access = {{0, 0, 0, 0}, 0, 0};
  const WgStep *place = (const WgStep *)steps;
  Step packed = load_step(place);
#pragma clang loop unroll(disable)
  for (Step next; (packed.w[0] & 0xff) != WG_STEP_END; packed = next) {
    WgStep step = unpack(packed), *s = &step;
    next = load_step(++place);  // there is room for one more after the last step, too
    uint32_t flags = s->flags, runs = 1;
    uint64_t all = all_bits(s->bits), to = 0;
    if (s->guard) runs = ((uint32_t)values[s->guard - 1] != 0) == !(flags & WG_STEP_NOT);
    if (s->what == WG_STEP_READ) {
      access.at = (Where){0, 0, 0, 0};
      access.bad = 0;
      if (runs) read_access(&f, s, values, table, site_base + s->site, &access);
      continue;
    }
    if (!runs) continue;
    if (s->what <= WG_STEP_HALVES) {
      acc = (flags & WG_STEP_FIRST ? 0 : acc) | (get(&f, s->a) | get(&f, s->b))
                                                    << (s->what == WG_STEP_OR ? s->imm : 0);
      if (s->what == WG_STEP_OR) continue;
      to = s->what == WG_STEP_SET       ? acc
           : s->what == WG_STEP_SPREAD  ? (acc ? all : 0)
           : s->what == WG_STEP_UPWARDS ? formula_upwards(64, acc)
                                        : parts(acc, (uint32_t)s->imm);
      set(&f, s->to, to & all);
      continue;
    }
    switch (s->what) {
      case WG_STEP_SPOIL:
        if (!get(&f, s->a)) continue;
        to = all;
        break;
      case WG_STEP_SHUFFLE:
      case WG_STEP_BALLOT:
      case WG_STEP_ANY_LANE:
      case WG_STEP_TRANSPOSE:
        to = wg_init_exchange(s->what, (uint32_t)s->imm, (uint32_t)get(&f, s->a),
                              s->what == WG_STEP_SHUFFLE ? (uint32_t)values[s->v] : 0,
                              s->what == WG_STEP_SHUFFLE ? (uint32_t)values[s->w] : 0,
                              (uint32_t)values[s->b], shadow_list, f.n, f.dirty);
        if (to) f.dirty = 1;
        break;
      case WG_STEP_USE:
        if (!get(&f, s->a)) continue;
        wg_init_report(channel, launch, site_base + s->site, KIND_UNINIT_USE, 0, s->imm, f.shadows,
                       table);
        set(&f, s->a, 0);
        continue;
      case WG_STEP_DESTINATION:
        to = bytes_of_bits(access.bad >> s->imm, s->from);
        if (flags & WG_STEP_SIGNED) to = convert(to, s->from * 8u, 64, 64, WG_STEP_SIGNED);
        break;
      case WG_STEP_START_WRITE: access.mask = flags & WG_STEP_FIRST ? access.bad : 0; continue;
      case WG_STEP_SOURCE:
        access.mask = (flags & WG_STEP_FIRST ? 0 : access.mask) |
                      bits_of_bytes(get(&f, s->a), s->from, 0) << s->imm;
        continue;
      case WG_STEP_STORE:
      case WG_STEP_WRITE:
        // a computed byte means that the thread is dirty, and the origin valid
        if (write_access(&f, s, values, table, &access) && flags & WG_STEP_REPORTS)
          wg_init_report(channel, launch, site_base + s->site, KIND_UNINIT_STORE, access.at.bytes,
                         access.at.address, f.shadows, table);
        continue;
      default: to = result_of(&f, s, values, all);
    }
    set(&f, s->to, to & all);
  }
  uint64_t alive = (uint64_t)packed.w[7] << 32 | packed.w[6];
  return f.dirty && (!alive || any_bad(&f, (const uint16_t *)((uint64_t)place + alive)));
}
