// Steps that compute the shadows of registers from each other, as data:
// tools/initcheck/weave_steps.c writes them, tools/initcheck/probe_follow.c executes them.
#ifndef WG_PROBE_FOLLOW_ABI_H
#define WG_PROBE_FOLLOW_ABI_H

#include <stdint.h>

// A thread's shadows are uint64_t in its own memory, by number. So are the values of registers and
// the places of memory that steps need. acc, bad and mask are kept from step to step: acc is the or
// of shadows, bad the bad bytes of the last read, mask those of the next write.
typedef enum {
  // imm: byte offset from this step to the numbers (uint16_t) of the shadows that stay live, ended
  // by WG_NO_NUMBER: if none of these is bad, the thread is no longer dirty. 0: no such list
  WG_STEP_END,
  WG_STEP_OR,   // acc |= shadow a << imm; with WG_STEP_FIRST acc is zero before
                // the next four: acc |= shadow a | shadow b; with WG_STEP_FIRST acc is zero before
  WG_STEP_SET,  // to = acc
  WG_STEP_SPREAD,   // to = acc ? all bits : 0
  WG_STEP_UPWARDS,  // to = acc and every bit above one of acc
  WG_STEP_HALVES,   // to = each imm bits, 16 or 8: all if one of them is in acc
  WG_STEP_PART,     // to = shadow a >> imm
  // to = shadow of the bits of a & b, a | b: good where one of them is a good 0 (and), a good 1
  // (or)
  WG_STEP_AND,
  WG_STEP_OR_BITS,
  // to = shadow of lop3 with the table `from`, of values v, w and imm >> 16, shadows a, b and imm %
  // 65536
  WG_STEP_TABLE,
  // to = all bits if the bad bits of values v and w, of `from` bits, can change how they compare:
  // equal or, with WG_STEP_ORDER, v < w; shadows a, b
  WG_STEP_COMPARE,
  WG_STEP_SHIFT,    // to = shadow a shifted by value b
  WG_STEP_CONVERT,  // to = shadow a, of `from` bits, made imm bits wide
  WG_STEP_SELECT,   // to = value v ? shadow a : shadow b; all bits if shadow imm is not zero
  // to = shadows a and b (insert, permute and funnel shifts have two) with their bits moved as
  // values v and w say; imm: WG_BITS_…
  WG_STEP_BITS,
  WG_STEP_SPOIL,  // to = all bits if shadow a is not zero
  WG_STEP_CLEAR,  // to = 0
  WG_STEP_USE,    // reports if shadow a is not zero, and clears it; imm: WG_INIT_…
  // the access: address in value v, place in value w (WG_PLACE_…), `from` bytes; bad = its bad
  // bytes. to: the first imm bytes of bad
  WG_STEP_READ,
  WG_STEP_DESTINATION,  // to = bad bytes from imm on, `from` of them
  WG_STEP_START_WRITE,  // mask = 0; with WG_STEP_FIRST mask = bad
  // mask |= bytes of shadow a, from bit imm on, `from` of them; with WG_STEP_FIRST mask is zero
  // before
  WG_STEP_SOURCE,
  WG_STEP_WRITE,  // mask becomes the access's bad bytes
  // the access as in READ; with WG_STEP_FIRST mask = bytes of shadow a, from bit imm % 256 on, imm
  // / 256 of them; then as WRITE
  WG_STEP_STORE,
  // to = shadow a of another lane: shfl with values v, w and b (the lanes that take part); imm:
  // WG_SHUFFLE_…
  WG_STEP_SHUFFLE,
  // to = where shadow a is not zero, as bits of lanes; all bits if it is somewhere. Lanes that take
  // part: value b
  WG_STEP_BALLOT,
  WG_STEP_ANY_LANE,
  // to = shadow a of other lanes' halves: movmatrix. Lanes that take part: value b, all 32
  WG_STEP_TRANSPOSE,
} WgStepKind;
// funnel shifts: with WG_STEP_FIRST by at most 32, else modulo 32
enum {
  WG_BITS_REVERSE,
  WG_BITS_EXTRACT,
  WG_BITS_INSERT,
  WG_BITS_PERMUTE,
  WG_BITS_FUNNEL_LEFT,
  WG_BITS_FUNNEL_RIGHT
};
enum { WG_SHUFFLE_UP, WG_SHUFFLE_DOWN, WG_SHUFFLE_BUTTERFLY, WG_SHUFFLE_INDEX };

enum {  // WgStep.flags
  WG_STEP_FIRST = 1,
  WG_STEP_NOT = 2,  // the guard is negated
  WG_STEP_SIGNED = 4,
  WG_STEP_RIGHT = 8,  // SHIFT
  WG_STEP_IMM_V = 16,
  WG_STEP_IMM_W = 32,     // imm in place of value v or w
  WG_STEP_WHOLE = 64,     // STORE: only bytes of shadow a whose bits are all bad count
  WG_STEP_PRIVATE = 128,  // WRITE: no other thread writes this shadow
  WG_STEP_REPORTS = 256,  // WRITE: bad bytes are reported, with the address
  WG_STEP_ATOMIC = 512,   // WRITE: nothing to do if all was good and stays good
  WG_STEP_ORIGIN = 1024,  // READ: with its address
  WG_STEP_ORDER = 2048,   // COMPARE
};
enum { WG_NO_NUMBER = 0xffff };

typedef struct WgStep {
  uint8_t what, bits, from;
  // WRITE: the access in 8 equal parts, a bit each, set if the program only moved the value of the
  // part. Bad bytes of such a part keep the state that they had where they were read
  uint8_t moved;
  uint16_t flags, to, a, b;
  uint16_t v, w, guard;  // guard: number of a value, plus 1; if that is zero, the step is skipped
  uint16_t unused2;
  uint32_t site;
  uint64_t imm;
} WgStep;  // 32 bytes, aligned to 16; there is room for one more after the last list

// numbers that are not shadows: the address and site of the last bad read, and whether it found a
// computed value
enum { WG_SHADOW_ORIGIN, WG_SHADOW_ORIGIN_SITE, WG_SHADOW_ORIGIN_DERIVED, WG_SHADOW_FIRST };
// A place: three consecutive values: base and size of followed memory, and its shadow. The first
// place among a region's values is the range that was looked up last. SHARED: the access may also
// be to shared memory, which is the second place
enum { WG_PLACE_LOOKUP = 0xffff, WG_PLACE_LOOKUP_SHARED = 0xfffe };

#endif
