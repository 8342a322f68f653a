// fpcheck's slow path: a test in the kernel's code found a value that may be exceptional. Looks
// closely, decides whether the exception was born here, and reports it. docs/fpcheck.md has the
// definitions.
#include "probe/device.h"
#include "tools/fpcheck/abi.h"
#include "tools/fpcheck/kinds.h"
#include "probe/probe_abi.h"

void wg_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
               uint64_t address, uint64_t value, uint64_t extra);

void wg_count(uint64_t channel, uint32_t site);
void wg_count_more(uint64_t channel, uint32_t site);

typedef enum { FP_FINITE, FP_ZERO, FP_SUBNORMAL, FP_INFINITE, FP_NOT_A_NUMBER } FpClass;

DEVICE FpClass fp_class(uint64_t bits, uint32_t format) {
  uint64_t fraction, exponent;
  switch (format) {
    case WG_FP_F16:
      fraction = 0x3ff;
      exponent = 0x7c00;
      break;
    case WG_FP_BF16:
      fraction = 0x7f;
      exponent = 0x7f80;
      break;
    case WG_FP_F32:
      fraction = 0x7fffff;
      exponent = 0x7f800000;
      break;
    case WG_FP_F64:
      fraction = 0xfffffffffffffull;
      exponent = 0x7ff0000000000000ull;
      break;
    default: return FP_FINITE;
  }
  if ((bits & exponent) == exponent) return bits & fraction ? FP_NOT_A_NUMBER : FP_INFINITE;
  if (bits & exponent) return FP_FINITE;
  return bits & fraction ? FP_SUBNORMAL : FP_ZERO;
}

// The site of one kind of exception: the sites of an instruction follow each other in the order of
// the bits of the kinds.
DEVICE uint32_t fp_site(uint32_t site, uint32_t what, uint32_t kind) {
  return site + (uint32_t)__builtin_popcount(WG_FP_WHAT_KINDS(what) & (kind - 1));
}

DEVICE int fp_is_division(uint32_t op) {
  return op == WG_FP_DIV || op == WG_FP_RCP || op == WG_FP_RSQRT;
}

DEVICE int fp_is_meant(uint32_t what, uint64_t r) {
  return what & WG_FP_WHAT_EXPONENT && (uint32_t)r == 0xff800000u;
}

// The exception that was born: one of WG_FP_NAN …, or 0.
DEVICE uint32_t fp_born(uint32_t what, uint64_t r, uint64_t a, uint64_t b, uint64_t c) {
  FpClass of_r = fp_class(r, WG_FP_WHAT_FORMAT(what)),
          of_a = fp_class(a, WG_FP_WHAT_OPERAND(what, 0));
  FpClass of_b = fp_class(b, WG_FP_WHAT_OPERAND(what, 1)),
          of_c = fp_class(c, WG_FP_WHAT_OPERAND(what, 2));
  int any_nan = of_a == FP_NOT_A_NUMBER || of_b == FP_NOT_A_NUMBER || of_c == FP_NOT_A_NUMBER;
  int any_inf = of_a == FP_INFINITE || of_b == FP_INFINITE || of_c == FP_INFINITE;
  int any_sub = of_a == FP_SUBNORMAL || of_b == FP_SUBNORMAL || of_c == FP_SUBNORMAL;
  uint32_t op = WG_FP_WHAT_OP(what);
  // The library's logarithms compute x * inf + inf for all special arguments, and discard it for
  // zero.
  if (of_r == FP_NOT_A_NUMBER && of_a == FP_ZERO &&
      (op == WG_FP_LOG || op == WG_FP_LOG_SCALED ||
       (op == WG_FP_FMA && of_b == FP_INFINITE && of_c == FP_INFINITE)))
    return 0;
  if (op == WG_FP_SATURATE) return any_nan || any_inf ? 0 : WG_FP_INF;
  if (of_r == FP_NOT_A_NUMBER) return any_nan ? 0 : WG_FP_NAN;
  if (of_r == FP_INFINITE) {
    if (any_nan || any_inf || fp_is_meant(what, r)) return 0;
    FpClass divisor = op == WG_FP_DIV ? of_b : of_a;
    int by_zero = divisor == FP_ZERO || (divisor == FP_SUBNORMAL && WG_FP_WHAT_FTZ(what));
    return fp_is_division(op) && by_zero ? WG_FP_DIV0 : WG_FP_INF;
  }
  return of_r == FP_SUBNORMAL && !any_sub ? WG_FP_SUBNORMAL : 0;
}

// No exception is born, but the result carries one on.
DEVICE int fp_carries(uint32_t what, uint64_t r) {
  return what & WG_FP_WHAT_FLOW && fp_class(r, WG_FP_WHAT_FORMAT(what)) >= FP_INFINITE &&
         !fp_is_meant(what, r);
}
DEVICE uint32_t fp_flow_site(uint32_t site, uint32_t what) {
  return site + (uint32_t)__builtin_popcount(WG_FP_WHAT_KINDS(what));
}

DEVICE uint32_t fp_kind(uint32_t born) {
  return born == WG_FP_NAN    ? KIND_FP_NAN
         : born == WG_FP_INF  ? KIND_FP_INF
         : born == WG_FP_DIV0 ? KIND_FP_DIV0
                              : KIND_FP_SUBNORMAL;
}

// For the full body of fast mode. hot: the kernel's counter, 0 if there is none. Sets its second
// word: a cause of the exceptions at its sinks is known.
DEVICE void fp_explain(uint64_t hot) {
  if (hot && !((const volatile uint32_t *)hot)[1]) ((volatile uint32_t *)hot)[1] = 1;
}

// A result r of operands a, b, c, in formats of up to 32 bits; operands that are f64 are given as 0
// and f32 bits of their class.
void wg_fp_result32(uint64_t channel, uint32_t launch, uint32_t site, uint32_t what, uint32_t r,
                    uint32_t a, uint32_t b, uint32_t c, uint64_t hot);
__attribute__((noinline)) void wg_fp_result32(uint64_t channel, uint32_t launch, uint32_t site,
                                              uint32_t what, uint32_t r, uint32_t a, uint32_t b,
                                              uint32_t c, uint64_t hot) {
  uint32_t born = fp_born(what, r, a, b, c) & WG_FP_WHAT_KINDS(what);
  if (born) fp_explain(hot);
  if (born)
    wg_report(channel, launch, fp_site(site, what, born), fp_kind(born), what, 0,
              r | (uint64_t)a << 32, b | (uint64_t)c << 32);
  else if (fp_carries(what, r))
    wg_report(channel, launch, fp_flow_site(site, what), KIND_FP_FLOW, what, 0,
              r | (uint64_t)a << 32, b | (uint64_t)c << 32);
}

void wg_fp_result64(uint64_t channel, uint32_t launch, uint32_t site, uint32_t what, uint64_t r,
                    uint64_t a, uint64_t b, uint64_t c, uint64_t hot);
__attribute__((noinline)) void wg_fp_result64(uint64_t channel, uint32_t launch, uint32_t site,
                                              uint32_t what, uint64_t r, uint64_t a, uint64_t b,
                                              uint64_t c, uint64_t hot) {
  uint32_t born = fp_born(what, r, a, b, c) & WG_FP_WHAT_KINDS(what);
  if (born) fp_explain(hot);
  if (born) wg_report(channel, launch, fp_site(site, what, born), fp_kind(born), what, b, r, a);
  else if (fp_carries(what, r))
    wg_report(channel, launch, fp_flow_site(site, what), KIND_FP_FLOW, what, b, r, a);
}

// --- who stored an exception where ---
// The first store of each launch and site is noted. The first store of a site is also reported to
// the host, and the launch waits for that.
DEVICE void fp_note_store(uint64_t channel, WgFpMemory *m, uint32_t launch, uint32_t site) {
  uint32_t last = device_swap32(&m->stored[site], launch);
  if (last == launch) return;
  device_increase64(&m->changes, 1);
  if (!last) device_add32(&((WgChannel *)((const WgReports *)channel)->channel)->tool_count, 1);
}

// Each lane writes its own entry.
DEVICE void fp_stored_at(const WgReports *r, uint32_t launch, uint32_t site, uint64_t address) {
  WgFpMemory *m = (WgFpMemory *)r->tool_memory;
  if (!m || !device_is_global(address) || site >= WG_SITE_NUMBERS) return;
  uint32_t hash = wg_fp_hash(address >> WG_FP_PAGE_SHIFT);
  uint64_t entry = WG_FP_WRITER(launch, site, WG_FP_KEPT(hash));
  *(volatile uint64_t *)&m->words[WG_FP_WORD_ENTRY(hash, address)] = entry;
  *(volatile uint64_t *)&m->pages[WG_FP_PAGE_ENTRY(hash)] = entry;
  if (m->stored[site] == launch) return;  // may be cached; stale: another launch's
  if (*(volatile uint32_t *)&m->stored[site] != launch) fp_note_store((uint64_t)r, m, launch, site);
}

DEVICE uint64_t fp_found(uint64_t entry, uint32_t hash, uint64_t how) {
  uint64_t kept = (1u << WG_FP_HASH_KEPT) - 1;
  return entry && (entry & kept) == WG_FP_KEPT(hash) ? (entry & ~kept) | how : 0;
}

DEVICE uint64_t fp_writer(const WgReports *r, uint64_t address) {
  const WgFpMemory *m = (const WgFpMemory *)r->tool_memory;
  if (!m || !address) return 0;
  uint32_t hash = wg_fp_hash(address >> WG_FP_PAGE_SHIFT);
  uint64_t found = fp_found(*(const volatile uint64_t *)&m->words[WG_FP_WORD_ENTRY(hash, address)],
                            hash, WG_FP_WRITER_WORD);
  return found ? found
               : fp_found(*(const volatile uint64_t *)&m->pages[WG_FP_PAGE_ENTRY(hash)], hash,
                          WG_FP_WRITER_PAGE);
}

// A value that is stored to global memory.
void wg_fp_stored(uint64_t channel, uint32_t launch, uint32_t site, uint32_t what, uint64_t value,
                  uint64_t address);
__attribute__((noinline)) void wg_fp_stored(uint64_t channel, uint32_t launch, uint32_t site,
                                            uint32_t what, uint64_t value, uint64_t address) {
  if (!channel || fp_class(value, WG_FP_WHAT_OPERAND(what, 0)) < FP_INFINITE) return;
  if (address) fp_stored_at((const WgReports *)channel, launch, site, address);
  if (what & WG_FP_WHAT_FLOW) wg_report(channel, launch, site, KIND_FP_FLOW, what, 0, value, 0);
}

// --- notes: in a program whose data is full of NaN every load has one, so only the first of each
// site is reported ---
DEVICE int fp_was_told(uint64_t channel, uint32_t site) {
  const WgFpMemory *m = (const WgFpMemory *)((const WgReports *)channel)->tool_memory;
  return m && site < WG_SITE_NUMBERS && m->told[site];  // a stale value does no harm
}

DEVICE void fp_mark_told(uint64_t channel, uint32_t site) {
  WgFpMemory *m = (WgFpMemory *)((const WgReports *)channel)->tool_memory;
  if (m && site < WG_SITE_NUMBERS) m->told[site] = 1;
}

// Fast mode: an exception has reached a sink; `address`: where it is stored, or 0. hot: the
// kernel's counter, or 0. The first exception at this sink sets the counter, so that blocks that
// start from now on run through the full body. A thread that sees `told` also sees the counter: it
// may run again.
void wg_fp_sink(uint64_t channel, uint32_t launch, uint32_t site, uint64_t address, uint64_t hot,
                uint32_t turn);
__attribute__((noinline)) void wg_fp_sink(uint64_t channel, uint32_t launch, uint32_t site,
                                          uint64_t address, uint64_t hot, uint32_t turn) {
  if (!channel) return;
  if (!fp_was_told(channel, site)) {
    WgFpMemory *m = (WgFpMemory *)((const WgReports *)channel)->tool_memory;
    if (hot) *(volatile uint64_t *)hot = turn;  // earlier findings do not explain this exception
    device_fence_system();
    if (m && site < WG_SITE_NUMBERS) *(volatile uint8_t *)&m->told[site] = 1;
    wg_count(channel, site);
  } else wg_count_more(channel, site);
  // last: a thread that sees this store of the launch also sees the report above
  if (address) fp_stored_at((const WgReports *)channel, launch, site, address);
}

// A launch that is not tested everywhere has reached a sink that was reported before: this launch
// is only noted.
void wg_fp_quiet(uint64_t channel, uint64_t memory, uint32_t launch, uint32_t site,
                 uint32_t multiprocessor, uint32_t stores);
__attribute__((noinline)) void wg_fp_quiet(uint64_t channel, uint64_t memory, uint32_t launch,
                                           uint32_t site, uint32_t multiprocessor,
                                           uint32_t stores) {
  WgFpMemory *m = (WgFpMemory *)memory;
  if (!channel || !m || site >= WG_SPREAD_SITES) return;
  uint32_t last = device_swap32(&m->quiet[multiprocessor % WG_SPREAD][site], launch);
  if (stores && last != launch) fp_note_store(channel, m, launch, site);
}

// As wg_fp_sink, for threads that start over: the full body will count their exceptions.
void wg_fp_first(uint64_t channel, uint32_t launch, uint32_t site, uint64_t address, uint64_t hot,
                 uint32_t turn);
__attribute__((noinline)) void wg_fp_first(uint64_t channel, uint32_t launch, uint32_t site,
                                           uint64_t address, uint64_t hot, uint32_t turn) {
  (void)launch;
  (void)site;
  (void)address;
  if (channel && hot) *(volatile uint64_t *)hot = turn;
}

// A value that came in from outside.
void wg_fp_input(uint64_t channel, uint32_t launch, uint32_t site, uint32_t what, uint64_t value,
                 uint64_t address, uint64_t hot);
__attribute__((noinline)) void wg_fp_input(uint64_t channel, uint32_t launch, uint32_t site,
                                           uint32_t what, uint64_t value, uint64_t address,
                                           uint64_t hot) {
  if (!channel || fp_class(value, WG_FP_WHAT_FORMAT(what)) < FP_INFINITE) return;
  // a generic address of the thread's or block's own memory
  if (address && what & WG_FP_WHAT_GLOBAL && !device_is_global(address)) return;
  fp_explain(hot);
  if (fp_was_told(channel, site)) wg_count_more(channel, site);
  else {
    wg_report(channel, launch, site, KIND_FP_INPUT, what, address, value,
              what & WG_FP_WHAT_GLOBAL ? fp_writer((const WgReports *)channel, address) : 0);
    fp_mark_told(channel, site);
  }
}

// A decision between a and b.
void wg_fp_compare(uint64_t channel, uint32_t launch, uint32_t site, uint32_t what, uint64_t a,
                   uint64_t b);
__attribute__((noinline)) void wg_fp_compare(uint64_t channel, uint32_t launch, uint32_t site,
                                             uint32_t what, uint64_t a, uint64_t b) {
  if (!channel || (fp_class(a, WG_FP_WHAT_OPERAND(what, 0)) != FP_NOT_A_NUMBER &&
                   fp_class(b, WG_FP_WHAT_OPERAND(what, 1)) != FP_NOT_A_NUMBER))
    return;
  if (fp_was_told(channel, site)) wg_count_more(channel, site);
  else {
    wg_report(channel, launch, site, KIND_FP_COMPARE, what, 0, a, b);
    fp_mark_told(channel, site);
  }
}

// --fp-flow: an exceptional operand that is stored, or whose result is not exceptional any more.
void wg_fp_flow(uint64_t channel, uint32_t launch, uint32_t site, uint32_t what, uint64_t value,
                uint64_t result);
__attribute__((noinline)) void wg_fp_flow(uint64_t channel, uint32_t launch, uint32_t site,
                                          uint32_t what, uint64_t value, uint64_t result) {
  if (fp_class(value, WG_FP_WHAT_OPERAND(what, 0)) < FP_INFINITE) return;
  if (fp_class(result, WG_FP_WHAT_FORMAT(what)) >= FP_INFINITE) return;
  wg_report(channel, launch, site, KIND_FP_FLOW, what, 0, value, result);
}
