// Data that the code of fpcheck, its device-side half and the report share: a word that says what
// was tested, and the layout of values in a finding.
#ifndef WG_PROBE_FP_ABI_H
#define WG_PROBE_FP_ABI_H

#include <stdint.h>

#include "probe/probe_abi.h"

typedef enum WgFpFormat { WG_FP_NONE, WG_FP_F16, WG_FP_BF16, WG_FP_F32, WG_FP_F64 } WgFpFormat;

// The operation that made the value, or the use that was made of it.
typedef enum WgFpOp {
  WG_FP_ADD,
  WG_FP_SUB,
  WG_FP_MUL,
  WG_FP_FMA,
  WG_FP_DIV,
  WG_FP_RCP,
  WG_FP_SQRT,
  WG_FP_RSQRT,
  WG_FP_SIN,
  WG_FP_COS,
  WG_FP_LG2,
  WG_FP_EX2,
  WG_FP_TANH,
  WG_FP_CONVERT,
  // a narrowing that turned an overflow into the largest finite number; r is the value before it
  WG_FP_SATURATE,
  WG_FP_LOG,  // the library's logarithm of zero or of a negative number
  // mma: a says what the operands of the whole warp held (one float: NaN if anything exceptional,
  // or 0)
  WG_FP_MATRIX,
  WG_FP_LOAD,  // read from memory or a parameter
  WG_FP_COMPARE,
  // --fp-flow: operand a is exceptional and the result is not, or there is no result
  WG_FP_VANISHES,
  WG_FP_STORED,      // --fp-flow: a goes to memory
  WG_FP_SINK,        // fast mode: a reaches a sink, where it leaves or may vanish
  WG_FP_LOG_SCALED,  // as WG_FP_LOG, of a f64 that was multiplied by 2^54 before
  // a function of the library returns it in place of a result; a: its argument, if that is known
  WG_FP_ANSWER,
  WG_FP_ANSWER_FROM,  // the same; a: an intermediate value, which no programmer knows
} WgFpOp;

enum { WG_FP_NAN = 1, WG_FP_INF = 2, WG_FP_DIV0 = 4, WG_FP_SUBNORMAL = 8, WG_FP_ALL = 15 };  // --fp

// The word: format of the result, formats of the operands (WG_FP_NONE: there is none), operation,
// kinds of exceptions to look for. A place has one site for each kind, in the order of the bits.
#define WG_FP_WHAT(format, a, b, c, op, kinds, ftz) \
  ((uint32_t)(format) | (uint32_t)(a) << 4 | (uint32_t)(b) << 8 | (uint32_t)(c) << 12 | \
   (uint32_t)(op) << 16 | (uint32_t)(kinds) << 24 | (uint32_t)(ftz) << 28)
#define WG_FP_WHAT_EXPONENT \
  (1u << 22)  // of a power of 2, which is 0 if this is -inf: that is no exception
#define WG_FP_WHAT_FLOW \
  (1u << 29)  // --fp-flow: results that only carry an exception on are reported too, at the site
              // after the others
#define WG_FP_WHAT_GLOBAL \
  (1u << 30)  // WG_FP_LOAD: from global memory, so that its writer may be known
#define WG_FP_WHAT_FORMAT(w) ((w)&15)
#define WG_FP_WHAT_OPERAND(w, i) ((w) >> (4 + 4 * (i)) & 15)
#define WG_FP_WHAT_OP(w) ((w) >> 16 & 63)
#define WG_FP_WHAT_KINDS(w) ((w) >> 24 & 15)
#define WG_FP_WHAT_FTZ(w) ((w) >> 28 & 1)

// In a finding: WgFinding.size is the word. Formats of up to 32 bits: value[0] = r | a << 32,
// extra[0] = b | c << 32. f64: value[0] = r, extra[0] = a, address = b; c is not kept. WG_FP_LOAD:
// value[0] = r, address is the address read, extra[0] is the writer as in WgFpMemory, with
// WG_FP_WRITER_… in place of the hash; 0: not known.

static inline uint32_t wg_fp_bytes(uint32_t what) {
  switch (WG_FP_WHAT_FORMAT(what) ? WG_FP_WHAT_FORMAT(what) : WG_FP_WHAT_OPERAND(what, 0)) {
    case WG_FP_F16:
    case WG_FP_BF16: return 2;
    case WG_FP_F32: return 4;
    default: return 8;
  }
}

// Site.classes: a sink of fast mode. It sends no records: only the number of its findings is known.
#define WG_FP_SITE_SINK (1u << 31)

// Who last stored an exception where: two tables, by word of memory and by page, without lists for
// collisions. An entry is one word, so that one store writes it: the launch, the site and some bits
// of the page's hash. The hash also chose the entry; a later exception with the same hash simply
// replaces an earlier one. Entry number and kept bits together tell all bits of the hash in the
// table of words, and all but two in the table of pages.
enum {
  WG_FP_WORD_SHIFT = 2,
  WG_FP_WORD_BITS = 18,
  WG_FP_PAGE_SHIFT = 12,
  WG_FP_PAGE_BITS = 16,
  WG_FP_HASH_KEPT = 14
};
enum { WG_FP_PAGE_WORDS = 1 << (WG_FP_PAGE_SHIFT - WG_FP_WORD_SHIFT) };
enum { WG_FP_WRITER_WORD = 1, WG_FP_WRITER_PAGE = 2 };  // which table had the entry
typedef struct WgFpCounts {
  // device address of the counts that inline code adds to at sinks:
  // uint64_t[parts][WG_SPREAD_SITES]
  uint64_t address;
  // parts, a power of two, less 1: a thread may add to any part. Sites that have a count there
  uint32_t last_part, sites;
} WgFpCounts;
typedef struct WgFpMemory {
  WgFpCounts counts;
  // about the number of (launch, site) pairs that stored an exception: it grows with each new one
  uint64_t changes;
  uint64_t words[1 << WG_FP_WORD_BITS], pages[1 << WG_FP_PAGE_BITS];
  uint32_t stored[1 << 18];  // by site: the last launch that stored an exception there, 0: none
  // by site: a note of it is on its way to the command; later ones are only counted
  uint8_t told[1 << 18];
  // For each multiprocessor and site: the last launch that stored an exception there and does not
  // run the full body. Its later exceptions are only counted and remembered. With one word for all
  // multiprocessors, all warps that begin a launch would contend for it.
  uint32_t quiet[WG_SPREAD][WG_SPREAD_SITES];
} WgFpMemory;
// Hash of a page. Its upper bits choose the entry, its lower bits are kept in the entry. The words
// of a cache line lie close together in the table, in some order: a warp that stores exceptions
// writes few lines of the table.
enum { WG_FP_HASH_FACTOR = -1640531535 };
static inline uint32_t wg_fp_hash(uint64_t page) {
  return ((uint32_t)page ^ (uint32_t)(page >> 32)) * (uint32_t)WG_FP_HASH_FACTOR;
}
#define WG_FP_KEPT(hash) ((hash) & ((1u << WG_FP_HASH_KEPT) - 1))
#define WG_FP_WORD_ENTRY(hash, address) \
  ((hash) >> (32 - WG_FP_WORD_BITS) ^ \
   ((uint32_t)((address) >> WG_FP_WORD_SHIFT) & (WG_FP_PAGE_WORDS - 1)))
#define WG_FP_PAGE_ENTRY(hash) ((hash) >> (32 - WG_FP_PAGE_BITS))
#define WG_FP_WRITER(launch, site, kept) \
  ((uint64_t)(launch) << 32 | ((uint64_t)(site)&0x3ffff) << WG_FP_HASH_KEPT | (kept))
#define WG_FP_WRITER_LAUNCH(w) ((uint32_t)((w) >> 32))
#define WG_FP_WRITER_SITE(w) ((uint32_t)((w) >> WG_FP_HASH_KEPT & 0x3ffff))

// WgLaunch.flags
enum {
  WG_LAUNCH_FP_FULL = 1 << 8,   // this launch is to be tested at every instruction
  WG_LAUNCH_FP_APART = 1 << 9,  // its reads and its writes go to different allocations
  // a graph may launch it any number of times with the same record: its turn is not known
  WG_LAUNCH_FP_GRAPH = 1 << 12,
  // from this bit on: the launch's number among those of its kernel, from 1; wraps after 65535
  WG_LAUNCH_FP_TURN = 16,
};

// Fast mode. The first word of a kernel's counter is the turn in which an exception first came to
// one of its sinks, 0 if none did. The second word is 1 if a birth or an input has been found
// since. Turns at distance 0 and at powers of 16 from that first turn are tested everywhere. At
// distance 1 all blocks are tested only if nothing has been found by then; else one in 8 of the
// first 1024 blocks is tested, if threads neither run again nor start over. So repeated births are
// found at once, and known ones cost less and less. All launches of a graph have one turn: they are
// tested everywhere as long as the second word is 0.
#define WG_FP_SKIPPED 0xeeeeu  // bits of a distance that is no power of 16

#endif
