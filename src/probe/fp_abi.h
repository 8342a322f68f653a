// What the code of fpcheck, its device-side half and the report agree on: one word that says what was tested, and how values
// are packed into a finding.
#ifndef WG_PROBE_FP_ABI_H
#define WG_PROBE_FP_ABI_H

#include <stdint.h>

typedef enum WgFpFormat { WG_FP_NONE, WG_FP_F16, WG_FP_BF16, WG_FP_F32, WG_FP_F64 } WgFpFormat;

// What made the value, or what was done with it.
typedef enum WgFpOp {
  WG_FP_ADD, WG_FP_SUB, WG_FP_MUL, WG_FP_FMA, WG_FP_DIV, WG_FP_RCP, WG_FP_SQRT, WG_FP_RSQRT, WG_FP_SIN, WG_FP_COS, WG_FP_LG2, WG_FP_EX2, WG_FP_TANH,
  WG_FP_CONVERT,
  WG_FP_SATURATE,          // a narrowing that turned an overflow into the largest finite number; r is the value before it
  WG_FP_LOG_ZERO,          // the library's logarithm of zero
  WG_FP_MATRIX,            // mma: a says what the operands of the whole warp held (one float: NaN if anything exceptional, or 0)
  WG_FP_LOAD,              // read from memory or a parameter
  WG_FP_COMPARE,
  WG_FP_VANISHES,          // --fp-flow: the operand a is exceptional and the result is not; or is where there is none
  WG_FP_STORED,            // --fp-flow: a goes to memory
  WG_FP_SINK,              // fast mode: goes where it leaves or may vanish
} WgFpOp;

enum { WG_FP_NAN = 1, WG_FP_INF = 2, WG_FP_DIV0 = 4, WG_FP_SUBNORMAL = 8, WG_FP_ALL = 15 };   // --fp

// The word: format of the result, formats of the operands (WG_FP_NONE: there is none), operation, what is looked for. A place
// has one site for each thing looked for, in the order of the bits.
#define WG_FP_WHAT(format, a, b, c, op, kinds, ftz) \
  ((uint32_t)(format) | (uint32_t)(a) << 4 | (uint32_t)(b) << 8 | (uint32_t)(c) << 12 | (uint32_t)(op) << 16 | (uint32_t)(kinds) << 24 | (uint32_t)(ftz) << 28)
#define WG_FP_WHAT_FLOW (1u << 29)         // --fp-flow: results that only carry an exception on are reported too, at the site behind the others
#define WG_FP_WHAT_FORMAT(w) ((w) & 15)
#define WG_FP_WHAT_OPERAND(w, i) ((w) >> (4 + 4 * (i)) & 15)
#define WG_FP_WHAT_OP(w) ((w) >> 16 & 63)
#define WG_FP_WHAT_KINDS(w) ((w) >> 24 & 15)
#define WG_FP_WHAT_FTZ(w) ((w) >> 28 & 1)

// In a finding: WgFinding.size is the word. Formats of up to 32 bits: value[0] = r | a << 32, extra[0] = b | c << 32. f64:
// value[0] = r, extra[0] = a, address = b; c is not kept. WG_FP_LOAD: value[0] = r, address is the address read.

static inline uint32_t wg_fp_bytes(uint32_t what) {
  switch (WG_FP_WHAT_FORMAT(what) ? WG_FP_WHAT_FORMAT(what) : WG_FP_WHAT_OPERAND(what, 0)) {
    case WG_FP_F16: case WG_FP_BF16: return 2;
    case WG_FP_F32: return 4;
    default: return 8;
  }
}

// Site.classes: a sink of fast mode. Its code only counts (no call, so that ptxas takes no registers from the kernel for it): what
// is known of its findings is their number.
#define WG_FP_SITE_SINK (1u << 31)

// WgLaunch.flags
enum {
  WG_LAUNCH_FP_FULL = 1 << 8,              // this launch is to be tested at every instruction
  WG_LAUNCH_FP_APART = 1 << 9,             // what it reads and what it writes are different allocations
};

#endif
