// Racecheck's shadow memory: entries for each word of memory; and racecheck's part of the launch
// record.
// docs/racecheck.md explains the method.
//
// An entry is the last access to a word that matters, in 64 bits:
//
//   63      55 54                                   20 19    10 9   6 5    0
//   | launch  | barriers | syncs | clock | thread     |  site  | bytes| flags|
//
// launch 0: no access yet. barriers: how many barriers of the block the thread had passed; syncs:
// of its warp, since the last barrier; clock: see below; thread: its number in the grid. The widths
// of these four are chosen for each launch (WG_RACE_LAYOUT). A number of all ones is not known:
// accesses that it might order count as ordered. site: of the kernel's accesses; all ones: not
// known.
#ifndef WG_PROBE_RACE_ABI_H
#define WG_PROBE_RACE_ABI_H

#include <stdint.h>

enum {
  WG_RACE_WRITE = 1,
  WG_RACE_STRONG = 2,  // atomic, volatile, relaxed or stronger
  // … for the threads of its block only; without STRONG: issued here and performed later
  WG_RACE_CTA = 4,
  // a read, or a strong write: another thread of the block has made the same access since the same
  // barrier
  WG_RACE_MANY = 8,
  WG_RACE_BLOCKS = 16,        // … and so has another block
  WG_RACE_WROTE = 32,         // a read: its block has written it before, in this launch
  WG_RACE_VALUE = 56,         // a weak write: 3 bits of a hash of the value
  WG_RACE_STRONG_VALUE = 32,  // … of a strong write: the first of these bits
  WG_RACE_FLAGS = 63,
};
enum { WG_RACE_BYTES_AT = 6, WG_RACE_SITE_AT = 10, WG_RACE_TIME_AT = 20, WG_RACE_LAUNCH_AT = 55 };
enum { WG_RACE_MOST_THREAD_BITS = 26 };  // with more threads, several share a number
enum { WG_RACE_HALF = 256 };             // numbers of launches are reused in two halves
enum {
  WG_RACE_TIME_BITS = WG_RACE_LAUNCH_AT - WG_RACE_TIME_AT,
  WG_RACE_NO_SITE = 1023,
  WG_RACE_LAUNCHES = 511
};

// Widths: clock, syncs, barriers, thread; then the threads of a block, and flags.
#define WG_RACE_LAYOUT(clock, syncs, barriers, thread, block) \
  ((uint32_t)(clock) | (uint32_t)(syncs) << 5 | (uint32_t)(barriers) << 9 | \
   (uint32_t)(thread) << 14 | (uint32_t)(block) << 19)
enum {
  WG_RACE_PAIRS = 1 << 30,  // each word has two entries: the last write, and reads
                            // shared memory: entries of another block are ignored
  WG_RACE_SHARED = 1 << 31
};
#define WG_RACE_CLOCK_BITS(l) ((l)&31)
#define WG_RACE_SYNC_BITS(l) ((l) >> 5 & 15)
#define WG_RACE_BARRIER_BITS(l) ((l) >> 9 & 31)
#define WG_RACE_THREAD_BITS(l) ((l) >> 14 & 31)
#define WG_RACE_CLOCK_AT(l) (WG_RACE_TIME_AT + WG_RACE_THREAD_BITS(l))
#define WG_RACE_BLOCK(l) ((l) >> 19 & 2047)

#define WG_RACE_BENIGN (~0ull)  // an entry: races here are intended. No launch has this number
#define WG_RACE_LATER \
  (1ull \
   << 63)  // in WgRaceRecord.unordered: larger numbers are of launches that were asked for later

// Clocks: threads that synchronize by memory (locks, flags, barriers of a part of the block) have
// scalar clocks. One thread releases its clock at a place with a key; another acquires it there.
// Keys share slots by a hash: that can only add order.
enum { WG_RACE_SLOTS = 1 << 16 };
enum { WG_RACE_KNOWN = 0x1fffff };  // of a thread's knowledge: the clock that is in effect
// wg_race_arrive: for PART, the barrier's number << 8 is added
enum {
  WG_RACE_MEET_BLOCK,
  WG_RACE_MEET_PART,
  WG_RACE_MEET_WARP,
  WG_RACE_MEET_ALL,
  WG_RACE_MEET_PROXY
};
// flags in addition to WG_RACE_CTA
enum {
  WG_RACE_TELL_SHARED = 1,
  WG_RACE_TELL_GENERIC = 2,
  WG_RACE_TELL_ACQUIRE = 8,
  WG_RACE_TELL_FLAG = 16  // a load or store of memory that other blocks reach
};
// released: the latest clock that threads of a block have released: an upper bound for the
// knowledge of others about the block; other keys use the field too (probe_entries.h). serial of
// the launch << 32 | the largest so far
typedef struct WgRaceSlot {
  uint64_t clock, fence, know, released;
} WgRaceSlot;

// A launch, by its number in entries. sites: the process-wide number of its kernel's first site
typedef struct WgRaceLaunch {
  uint32_t launch, sites;
  uint64_t channel;
} WgRaceLaunch;
// Follows WgLaunch in the kernel's parameter. All zero: this launch is not checked.
typedef struct WgRaceRecord {
  uint64_t start;  // the launch's number in an entry, in its place
  // one barrier; all bits of the barriers; all bits of the syncs: each at its position in an entry
  uint64_t barrier, barriers, syncs;
  uint64_t sync;              // one sync of the warp
  uint64_t interval, moment;  // masks: launch and barriers; launch, barriers and syncs
  uint64_t clock;             // mask of the clock
  uint64_t shared;            // entries of shared memory
  uint64_t slots;             // WgRaceSlot[WG_RACE_SLOTS]
  // numbers, in entries, of launches that are unordered with this one, 9 bits each
  uint64_t unordered;
  uint64_t replace;   // an entry of another launch below this may be replaced without a test
  uint64_t launches;  // WgRaceLaunch[WG_RACE_LAUNCHES]
  // bytes of entries for a block; blocks whose numbers are equal modulo shared_slots share a slot
  uint32_t shared_stride, shared_slots;
  uint32_t layout, serial;  // serial: unique among the launches of the process
  uint64_t channel;         // WgReports
  uint32_t sites;           // the process-wide number of the kernel's first site
  uint32_t threads;         // a mask: bits of a thread's number
  uint32_t block, bounds;   // threads of a block; bounds: whether WgRaceSlot.released is kept
  uint32_t clock_at, reserved;
} WgRaceRecord;

// Copies and sets have numbers as launches have, and are entered in the same way
// (tools/racecheck/probe_copy.h). This describes rows of bytes in one allocation, starting at
// `offset` from its first word; rows 0: no bytes. word: the address of the first word
typedef struct WgRaceRows {
  uint64_t entries, word, offset, pitch, slice, width;
  uint32_t rows, slices;
} WgRaceRows;
// the first race of a copy; found: WG_RACE_MET_ALL when the struct is complete
typedef struct WgRaceMet {
  uint64_t entry, address;
  uint32_t found, writes;
} WgRaceMet;
enum { WG_RACE_MET_SOME = 1, WG_RACE_MET_ALL = 2 };
typedef struct WgRaceCopy {
  WgRaceRows side[2];   // the bytes it writes, the bytes it reads
  uint64_t unordered;   // as in WgRaceRecord
  uint64_t met, count;  // its WgRaceMet, in the host's memory; how many copies have met a race
  uint32_t number, pairs;
  uint32_t looks, reserved;  // looks: it leaves no entries
} WgRaceCopy;
enum { WG_RACE_COPY_THREADS = 256 };

// An access in one word, for wg_race_access: bytes | these | its flags (WG_RACE_WRITE, STRONG, CTA)
// << FLAGS_AT | site << SITE_AT
enum {
  WG_RACE_ACCESS_BYTES = 255,
  WG_RACE_ACCESS_STORES = 1 << 8,  // the value it writes is known
  WG_RACE_ACCESS_SHARED = 1 << 9,
  WG_RACE_ACCESS_CONSTANT = 1 << 10,
  // a write; the thread has read the word just before, and that read was not checked
  WG_RACE_ACCESS_READS = 1 << 11,
  WG_RACE_ACCESS_FOUND = 1 << 15,  // the allocation was found by lookup: see WgRaceWaiting
  WG_RACE_ACCESS_FLAGS_AT = 12,
  WG_RACE_ACCESS_SITE_AT = 16,
  WG_RACE_ACCESS_LOOK = 1 << 26,   // it is compared with the entry, and the entry stays
  WG_RACE_ACCESS_CLUSTER_AT = 28,  // shared memory: blocks of a cluster, less 1
  WG_RACE_ACCESS_PROXY = 1 << 27,  // for the report: a fence between the proxies is missing
};
#define WG_RACE_ACCESS_CLUSTER(what) (((uint32_t)(what) >> WG_RACE_ACCESS_CLUSTER_AT) + 1)
#define WG_RACE_ACCESS_SITE(what) ((uint32_t)(what) >> WG_RACE_ACCESS_SITE_AT & 1023)
// The upper half: where the base, size and entries of the allocation are, relative to the
// WgRaceRecord.
#define WG_RACE_ACCESS_OF(what, fact) ((uint64_t)(what) | (uint64_t)(uint32_t)(fact) << 32)
// Accesses of a basic block that need a full check are queued in memory of the thread and checked
// together. value, there: of a store; the second element is for the bytes after the first 8;
// entries, base: of an allocation found by lookup.
typedef struct WgRaceWaiting {
  uint64_t offset, what, value[2], there[2], entries, base;
} WgRaceWaiting;
enum { WG_RACE_WAITING = 16 };
enum { WG_RACE_ONLY_COUNT = 4096 };  // races of one place; later ones are counted and not described
// WG_RACE_VALUE of an entry, for the written word
#define WG_RACE_VALUE_OF(word) ((uint64_t)(word)*0x9e3779b97f4a7c15ull >> 61 << 3)
enum { WG_RACE_MOST_STORED = 16 };  // most bytes of a store whose value is known

// WgFinding of a race: value[0] and [1]: block x, y, z and thread (x | y << 11 | z << 22) of the
// other access; value[2]: the value written here, value[3]: the value in memory; extra[0]: site of
// the other access (0xffffffff: not known); extra[2]: these
enum {
  WG_RACE_WHY = 15,  // WG_RACE_NO_BARRIER …
  WG_RACE_OTHER_WRITE = 1 << 4,
  WG_RACE_OTHER_STRONG = 1 << 5,
  WG_RACE_SAME_VALUE = 1 << 6,
  WG_RACE_BLOCK_KNOWN = 1 << 7,
  WG_RACE_THREAD_KNOWN = 1 << 8,
  WG_RACE_VALUES = 1 << 9,  // value[2] and value[3] are set
  WG_RACE_IN_SHARED = 1 << 12,
  WG_RACE_MINE_WRITE = 1 << 10,
  WG_RACE_MINE_STRONG = 1 << 11,
};
enum {
  WG_RACE_NO_BARRIER,
  WG_RACE_NO_WARP_SYNC,
  WG_RACE_SAME_INSTRUCTION,
  WG_RACE_OTHER_BLOCK,
  WG_RACE_BLOCK_SCOPE,
  WG_RACE_OTHER_LAUNCH,
  WG_RACE_NO_ACQUIRE,
  WG_RACE_NOT_WAITED,
  WG_RACE_NO_PROXY_FENCE
};

#endif
