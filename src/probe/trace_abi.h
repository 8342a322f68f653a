// The format of a trace: what recorded kernels write (--record). One record for each operation of a
// warp goes into rings that the `warpgrind` command makes and drains. src/tools/record writes them,
// src/channel carries them, src/trace reads and keeps them.
//
// A record is complete when no word of it is zero, so no fence is needed: the command sets what it
// has read to zero before it moves `tail`. Words are therefore written so that they cannot
// be zero: fields have bit 31 set, and values are written as value ^ WG_TRACE_KEY; where a value is
// the key itself the whole record is SPLIT: each value word is two words of 16 bits, bit 31 set.
//
//   head (16 bytes) | address unit, if any | lane offsets, if any | values | what an atomic found |
//   filling to 16 bytes, bit 31 set
//
// - head.place: bit 31, TRACE_* format in bits 24..30, bits 0..23: the process-wide number of the
//   site
// - head.lanes: the lanes that take part, never 0
// - head.warp: bit 31, bits 0..30 of the warp's number in its launch: block (x fastest) * warps per
//   block + warp of the block
// - head.launch: bit 31; bit 30: WIDE; bits 28..29: the planes of a value (0: one word, 1: two, 2:
//   four); bits 24..27: bits 31..34 of the warp's number; bits 0..23: the launch's number in its
//   process, modulo 2^24
//
// The lanes whose words follow are those of head.lanes, lowest first, without gaps.
//
// WIDE records, which kernels of a GPU make, begin at multiples of WG_TRACE_LINE bytes: the
// smallest piece of memory that a GPU writes without a byte mask. Lane offsets and values begin at
// such multiples, too, unless all of them fit into the rest of the units' line. Gaps may have any
// content, zero too.
//
// The kind of operation: with an address, the site's classes tell it (load, store, atomic; an
// instruction that does two of them, cp.async, has a site and a record for each). Without an
// address: wg_record if there are values, else a barrier or fence. An mbarrier operation (the
// site's class says barrier) has two words: its place in shared memory, and MBARRIER_* bits. A copy
// that completes at an mbarrier has such a record after its others. Addresses have 62 bits, modulo
// 2^62; bits 60 and 61 tell the memory (WG_TRACE_GLOBAL …). Shared and local addresses count from
// the start of the block's (cluster's) and of the thread's memory. Values are stored as in memory,
// the first 4 bytes in the first plane; values shorter than 4 bytes are filled up with 0. The value
// of an atomic operation is its operand; of cas it is the memory's content afterwards. An operation
// of more than 16 bytes, or one whose value was not known when it was recorded (cp.async), has an
// address and no values.
//
// A GROUP is one record for several operations: the loads and stores of straight-line code that the
// same lanes executed once, or several times in a loop that records nothing else. It stands for its
// operations in program order, turn (iteration) after turn.
//
//   head (16 bytes) | counts, turns, time, a word for each operation, filling to 16 bytes | address
//   units | lane offsets | values | filling
//
// - head.place: as above; the format is GROUP, with GROUP_FAR and SPLIT where they apply; the site
//   is the first operation's, those of the others follow it by one each
// - counts: bit 31, bits 0..7 operations, bits 8..11 address units, bits 12..23 the record's length
//   in units of 16 bytes
// - turns: bit 31, bits 0..15 how often; more than 1 only where no operation has a value. Bits
//   16..23: units that have an address for each lane
// - time: as above
// - operation: bit 31; bits 27..30 its unit; bit 26 GROUP_LOAD: one value for all lanes where they
//   have one address; bits 24 and 25 planes of its value (0: none, 3: four); bits 0..23 with sign:
//   its address minus that of the unit
// - address unit: as WgTraceAddress, with what each turn adds to the address (31 bits with sign) in
//   the place of the time
// - lane offsets: of each unit that `turns` names: as OFFSETS, with GROUP_FAR as FAR
#ifndef WG_TRACE_ABI_H
#define WG_TRACE_ABI_H

#include <stdint.h>

enum {
  WG_TRACE_KEY = 0x5A7C3E19,
  WG_TRACE_SITE_BITS = 24,
  WG_TRACE_LAUNCH_BITS = 24,
  // format bits of head.place, from bit 24
  WG_TRACE_ADDRESS = 1,  // an address unit follows
  // … and a word for each lane: the lane's address minus base, as 31 bits with sign, bit 31 set
  WG_TRACE_OFFSETS = 2,
  // instead two words for each lane: its address, bits 0..30 and 31..61, bit 31 set in each
  WG_TRACE_FAR = 4,
  WG_TRACE_VALUES = 8,      // planes of values; a plane is one word for each lane
  WG_TRACE_OLD = 16,        // as many planes again: what an atomic operation found
  WG_TRACE_ONE_VALUE = 32,  // each plane has one word only, the same for all lanes
  WG_TRACE_SPLIT = 64,      // each word of a plane is two
  // bits of an mbarrier's second word
  // parity of the phase that was waited for and is over, or that a copy is counted in
  WG_TRACE_MBARRIER_PARITY = 1,
  WG_TRACE_MBARRIER_KNOWN = 2,   // … if that is known
  WG_TRACE_MBARRIER_REMOTE = 4,  // another block's
  // bits 60 and 61 of an address
  WG_TRACE_GLOBAL = 0,
  WG_TRACE_SHARED = 1,
  WG_TRACE_LOCAL = 2,
  WG_TRACE_SPACE_AT = 60,
  // instead of the first three bits: a group
  WG_TRACE_GROUP = WG_TRACE_OFFSETS | WG_TRACE_FAR,
  WG_TRACE_GROUP_FAR = WG_TRACE_OLD,
  WG_TRACE_GROUP_LOAD = 1 << 26,
  // at most
  WG_TRACE_GROUP_OPS = 24,
  WG_TRACE_GROUP_UNITS = 6,
  WG_TRACE_GROUP_PLANES = 12,
  WG_TRACE_GROUP_TURNS = 512,
  WG_TRACE_WIDE = 1 << 30,  // of head.launch
  // 128 was measured, too: the bus carries 5 % more bytes, and an eighth of them or more is padding
  WG_TRACE_LINE = 32,
  // bytes of the longest record
  WG_TRACE_MAX = 16 + 112 + WG_TRACE_GROUP_UNITS * (16 + 256) + WG_TRACE_GROUP_PLANES * 2 * 128 +
                 2 * WG_TRACE_LINE,
  WG_TRACE_ROOM = 8192 - 128,  // bytes after the end of a ring
};

typedef struct WgTraceHead {
  uint32_t place, lanes, warp, launch;
} WgTraceHead;
// Address of the k-th lane that takes part, without OFFSETS and FAR: base + stride * lane (its
// number in the warp, not k). time: 31 bits of a clock of the device, a hint only. 31 bits each,
// bit 31 set; stride is signed
typedef struct WgTraceAddress {
  uint32_t base_low, base_high, stride, time;
} WgTraceAddress;

// One ring, in memory shared with the command. Positions count bytes since the start; a record
// begins at data[position % size] and may reach up to WG_TRACE_MAX beyond the end of the ring,
// where there is room for it (WG_TRACE_ROOM).
typedef struct WgTraceRing {
  uint64_t tail;    // written by the command: everything before it has been read and is zero
  uint32_t closed;  // not 0: the command reads no more; records are dropped
  uint8_t pad[116];
  uint8_t data[];
} WgTraceRing;
// The device's own half, in device memory.
typedef struct WgTraceHeadPosition {
  uint64_t head;     // positions are given out by adding to it
  uint64_t tail;     // as last seen
  uint64_t dropped;  // records, when closed
  uint32_t asking;   // not 0: a warp reads the ring's tail
  uint32_t closed;   // as last seen
  uint8_t pad[96];
} WgTraceHeadPosition;
// The data that a launch's record points to. KEPT: the first bytes of a WgTrace, which the kernel's
// own parameter holds, too.
enum { WG_TRACE_RANGES = 8, WG_TRACE_KEPT = 24 };
typedef struct WgTraceRange {
  uint64_t first, last;
} WgTraceRange;
typedef struct WgTrace {
  // the first ring, as the device sees it; they are sizeof(WgTraceRing) + ring_size + WG_TRACE_ROOM
  // apart
  uint64_t rings;
  uint64_t heads;      // WgTraceHeadPosition[nrings], device memory
  uint32_t nrings;     // a power of two; which one a warp uses: tools/record/weave_record.c
  uint32_t ring_size;  // bytes of data, a power of two of at least 8192
  // 0: all. Else only operations in which some lane's address (in global memory) or thread is in
  // one of these ranges
  uint32_t nbuffers, nthreads;
  WgTraceRange buffers[WG_TRACE_RANGES], threads[WG_TRACE_RANGES];
} WgTrace;
// A tensor map that a kernel copies by, as its record describes it. pieces 0: not known.
enum { WG_TRACE_PIECE = 16 };
typedef struct WgTraceTensor {
  uint64_t address;
  uint64_t strides[4];  // bytes, of dimensions 1 to 4
  uint32_t dims[5];     // elements; those that it does not have: 1
  uint32_t box[5];      // elements that a tile has
  uint32_t steps[5];    // elements from one of these to the next; of dimension 0 always 1
  uint32_t element;     // bytes
  // bits of a shared address, from bit 7 on, that are XORed into those from bit 4 on
  uint32_t swizzle_mask;
  uint32_t fill[2];  // the value of elements outside, in shared memory, as two words
  uint32_t pieces;   // of WG_TRACE_PIECE bytes in a tile
} WgTraceTensor;
#endif
