// Entries of racecheck and their order. tools/racecheck/abi.h has their form.
//
// Nothing here may treat ordered accesses as unordered. If something is not known, the accesses
// count as ordered.
#ifndef WG_PROBE_RACE_H
#define WG_PROBE_RACE_H

#include "probe/device.h"
#include "probe/probe_abi.h"
#include "tools/racecheck/abi.h"

#define RACE_KNOWN(knows) \
  ((uint32_t)(knows)&WG_RACE_KNOWN)  // the first of three clocks: tools/racecheck/probe_order.c

typedef struct RaceView {  // fields of an entry, in the launch's layout
  uint32_t thread, barriers, syncs, clock;
} RaceView;

DEVICE uint32_t race_field(uint64_t e, uint32_t at, uint32_t bits) {
  return (uint32_t)(e >> at) & ((1u << bits) - 1);
}

DEVICE RaceView race_view(uint64_t e, uint32_t layout) {
  uint32_t c = WG_RACE_CLOCK_BITS(layout), s = WG_RACE_SYNC_BITS(layout),
           b = WG_RACE_BARRIER_BITS(layout), t = WG_RACE_THREAD_BITS(layout);
  return (RaceView){.thread = race_field(e, WG_RACE_TIME_AT, t),
                    .clock = race_field(e, WG_RACE_TIME_AT + t, c),
                    .syncs = race_field(e, WG_RACE_TIME_AT + t + c, s),
                    .barriers = race_field(e, WG_RACE_TIME_AT + t + c + s, b)};
}

DEVICE int race_is_full(uint32_t value, uint32_t bits) { return value == (1u << bits) - 1; }
DEVICE uint32_t race_bytes(uint64_t e) { return (uint32_t)(e >> WG_RACE_BYTES_AT) & 15; }

// A thread's knowledge of other threads. clock: it knows of accesses with an earlier clock; if
// slots is set, the clock that a block has released bounds what others know of it. own: the
// thread's own clock now
typedef struct RaceKnown {
  uint64_t slots;
  uint32_t serial, clock, own;
} RaceKnown;
typedef struct RacePair {
  RaceView was, now;
  uint32_t know, in_block, was_in_block, same_thread, same_block, same_warp;
} RacePair;
DEVICE uint32_t race_bounded(uint32_t clock, const RacePair *p, uint32_t layout, RaceKnown known);
DEVICE RacePair race_pair(uint64_t old, uint64_t mine, uint32_t layout, uint32_t first,
                          RaceKnown known) {
  RacePair p = {.was = race_view(old, layout), .now = race_view(mine, layout)};
  uint32_t mask = (1u << WG_RACE_THREAD_BITS(layout)) - 1;
  p.in_block = (p.now.thread - first) & mask;
  p.was_in_block = (p.was.thread - first) & mask;
  p.same_thread = p.was.thread == p.now.thread;
  p.same_block = p.was_in_block < WG_RACE_BLOCK(layout);
  p.same_warp = p.same_block && p.was_in_block / 32 == p.in_block / 32;
  p.know = race_bounded(known.clock, &p, layout, known);
  return p;
}

// Entries of shared memory that another block has left do not count, unless that block is of the
// same cluster (of this many consecutive blocks).
DEVICE int race_shares(const RacePair *p, uint32_t layout, uint32_t cluster) {
  if (!(layout & WG_RACE_SHARED) || p->same_block) return 1;
  return cluster > 1 && p->was.thread / WG_RACE_BLOCK(layout) / cluster ==
                            p->now.thread / WG_RACE_BLOCK(layout) / cluster;
}

DEVICE int race_clock_orders(const RacePair *p, uint32_t layout) {
  uint32_t bits = WG_RACE_CLOCK_BITS(layout);
  return bits && (p->was.clock < p->know || race_is_full(p->was.clock, bits) ||
                  race_is_full(p->now.clock, bits));
}

// A barrier of the block lies between the two accesses, or it is not known that there is none.
DEVICE int race_barrier_orders(const RacePair *p, uint32_t layout) {
  uint32_t bits = WG_RACE_BARRIER_BITS(layout);
  return p->was.barriers != p->now.barriers || race_is_full(p->now.barriers, bits);
}

DEVICE int race_warp_orders(const RacePair *p, uint32_t layout) {
  uint32_t bits = WG_RACE_SYNC_BITS(layout);
  return p->same_warp && bits && (p->was.syncs != p->now.syncs || race_is_full(p->now.syncs, bits));
}

// Issued, and performed at some later time: ordered only before threads that wait for it.
DEVICE int race_is_async(uint64_t e) { return (e & (WG_RACE_STRONG | WG_RACE_CTA)) == WG_RACE_CTA; }

DEVICE int race_ordered(const RacePair *p, uint32_t layout) {
  if (p->same_thread || race_clock_orders(p, layout)) return 1;
  return p->same_block && (race_barrier_orders(p, layout) || race_warp_orders(p, layout));
}

DEVICE uint64_t race_with_clock(uint64_t e, uint32_t clock, uint32_t layout) {
  uint32_t at = WG_RACE_CLOCK_AT(layout);
  uint64_t mask = ((1ull << WG_RACE_CLOCK_BITS(layout)) - 1) << at;
  return (e & ~mask) | (uint64_t)clock << at;
}

DEVICE uint64_t race_load(const uint64_t *at) { return *(const volatile uint64_t *)at; }

// The value written by an access `what` (WG_RACE_ACCESS), and its entry without bytes and value.
typedef struct RaceValue {
  uint64_t low, high;  // high: after the first 8 bytes
} RaceValue;
DEVICE RaceValue race_value(RaceValue v, uint32_t what) {
  uint32_t bytes = what & WG_RACE_ACCESS_BYTES;
  if (bytes < 8) v.low &= (1ull << 8 * bytes) - 1;
  if (bytes <= 8) v.high = 0;
  return v;
}
DEVICE uint32_t race_word(RaceValue v, uint32_t word) {
  return (uint32_t)((word < 2 ? v.low : v.high) >> 32 * (word & 1));
}
DEVICE int race_equal(RaceValue a, RaceValue b) { return a.low == b.low && a.high == b.high; }
DEVICE uint64_t race_mine(uint64_t me, uint32_t what) {
  return me | (uint64_t)WG_RACE_ACCESS_SITE(what) << WG_RACE_SITE_AT |
         (what >> WG_RACE_ACCESS_FLAGS_AT & 7);
}

// The bits of an entry that hold a hash of the value it wrote.
DEVICE uint64_t race_value_bits(uint64_t flags) {
  return flags & WG_RACE_STRONG ? WG_RACE_STRONG_VALUE : WG_RACE_VALUE;
}

DEVICE uint32_t race_shared_layout(uint32_t what) {
  return what & WG_RACE_ACCESS_SHARED ? (uint32_t)WG_RACE_PAIRS | (uint32_t)WG_RACE_SHARED : 0;
}

DEVICE uint32_t race_thread_mask(uint32_t layout) {
  return (1u << WG_RACE_THREAD_BITS(layout)) - 1;
}

DEVICE uint32_t race_block_number(void) {
  return (device_ctaid_z() * device_nctaid_y() + device_ctaid_y()) * device_nctaid_x() +
         device_ctaid_x();
}
DEVICE uint32_t race_first_thread(uint32_t layout) {
  return race_block_number() * WG_RACE_BLOCK(layout) & race_thread_mask(layout);
}
DEVICE uint64_t race_shared_entries(uint64_t shared, uint32_t stride, uint32_t slots) {
  return slots ? shared + (uint64_t)(race_block_number() % slots) * stride : 0;
}

// --- clocks: released by one thread, acquired by another ---

// knows: three clocks. The first: the thread knows of accesses before it. The second: it will know
// of these after a fence. The third: after a fence of its block only.
enum { KNOWS = 21 };
DEVICE uint32_t race_clock_of(uint64_t knows, uint32_t which) {
  return (uint32_t)(knows >> which * KNOWS) & ((1u << KNOWS) - 1);
}
DEVICE uint64_t race_learn(uint64_t knows, uint32_t which, uint32_t clock) {
  uint32_t most = (1u << KNOWS) - 1;
  clock = clock < most ? clock : most;
  if (race_clock_of(knows, which) >= clock) return knows;
  return (knows & ~((uint64_t)most << which * KNOWS)) | (uint64_t)clock << which * KNOWS;
}

DEVICE WgRaceSlot *race_slot(uint64_t slots, uint32_t serial, uint64_t key) {
  key = (key ^ (uint64_t)serial << 40) * 0x9e3779b97f4a7c15ull;
  return (WgRaceSlot *)slots + ((key ^ key >> 29) >> 32 & (WG_RACE_SLOTS - 1));
}

DEVICE void race_raise(uint64_t *at, uint32_t serial, uint32_t clock) {
  uint64_t value = (uint64_t)serial << 32 | clock;
  if (race_load(at) < value) device_max64(at, value);
}

// If another launch has taken the slot, nothing is known.
DEVICE uint32_t race_told(const uint64_t *at, uint32_t serial) {
  uint64_t value = race_load(at);
  return value >> 32 == serial ? (uint32_t)value : value >> 32 > serial ? 0xffffffffu : 0;
}

// Clocks are scalars: a thread that has acquired a late clock may still know nothing of a block
// with an earlier clock. The clock that the block has released bounds the knowledge of others about
// it. The bound is the clock released by the access's own warp, unless some thread of the block
// passed a barrier after the access and then released. If there are more threads than thread
// numbers, the block is not known.
DEVICE uint64_t *race_released(uint64_t slots, uint32_t serial, uint32_t first) {
  return &race_slot(slots, serial, 0x4000000000000000ull ^ first)->released;
}
// barriers passed, plus 1
DEVICE uint64_t *race_released_at(uint64_t slots, uint32_t serial, uint32_t first) {
  return &race_slot(slots, serial, 0x5000000000000000ull ^ first)->released;
}
// lane: number of the warp's first thread
DEVICE uint64_t *race_warp_told(uint64_t slots, uint32_t serial, uint32_t lane) {
  return &race_slot(slots, serial, 0x6000000000000000ull ^ lane)->released;
}
DEVICE uint32_t race_bounded(uint32_t clock, const RacePair *p, uint32_t layout, RaceKnown known) {
  if (!known.slots || p->same_block || p->was.clock >= clock ||
      WG_RACE_THREAD_BITS(layout) >= WG_RACE_MOST_THREAD_BITS)
    return clock;
  uint32_t in_block = p->was.thread % WG_RACE_BLOCK(layout), first = p->was.thread - in_block;
  uint32_t released = race_told(race_released(known.slots, known.serial, first), known.serial),
           most = released < clock ? released : clock;
  if (race_is_full(p->was.barriers, WG_RACE_BARRIER_BITS(layout)) ||
      race_told(race_released_at(known.slots, known.serial, first), known.serial) >
          p->was.barriers + 1)
    return most;
  uint32_t told = race_told(race_warp_told(known.slots, known.serial, first + in_block / 32 * 32),
                            known.serial);
  return told < most ? told : most;
}

// --- reads that end before a flag is written ---
//
// A read is over at the next barrier of its block. If the block then writes a flag and another
// block reads it, what that block writes afterwards cannot change what was read, even if no fence
// is near. Algorithms that work in place and pass on a sum from block to block rely on this (CUB,
// Thrust).

// barriers that the block had passed when it last wrote a flag, plus 1
DEVICE uint64_t *race_flagged_at(uint64_t slots, uint32_t serial, uint32_t first) {
  return &race_slot(slots, serial, 0x7000000000000000ull ^ first)->released;
}
DEVICE uint64_t *race_flag_written(uint64_t slots, uint32_t serial, uint64_t place) {
  return &race_slot(slots, serial, 0x8000000000000000ull ^ place)->released;
}
// the block has read a flag that some thread has written
DEVICE uint64_t *race_flag_read(uint64_t slots, uint32_t serial, uint32_t first) {
  return &race_slot(slots, serial, 0x9000000000000000ull ^ first)->released;
}
DEVICE int race_read_is_over(uint64_t old, uint64_t mine, const RacePair *p, uint32_t layout,
                             RaceKnown known) {
  if (old & WG_RACE_WRITE || !(mine & WG_RACE_WRITE) || p->same_block || !known.slots ||
      race_is_async(old) || WG_RACE_THREAD_BITS(layout) >= WG_RACE_MOST_THREAD_BITS)
    return 0;
  uint32_t its = p->was.thread - p->was.thread % WG_RACE_BLOCK(layout),
           my = p->now.thread - p->now.thread % WG_RACE_BLOCK(layout);
  return race_told(race_flagged_at(known.slots, known.serial, its), known.serial) >
             p->was.barriers + 1 &&
         race_told(race_flag_read(known.slots, known.serial, my), known.serial);
}

// The number of the first thread of this thread's warp.
DEVICE uint32_t race_first_lane(uint64_t me, uint32_t layout, uint32_t first) {
  return first + (((race_view(me, layout).thread - first) & race_thread_mask(layout)) & ~31u);
}

// The place where threads that access an address release and acquire clocks. how: WG_RACE_CTA: only
// for the block; WG_RACE_TELL_SHARED: an address of shared memory
DEVICE uint64_t race_place(uint64_t address, uint32_t how, uint32_t first) {
  if (how & WG_RACE_TELL_GENERIC && device_is_shared(address)) {
    address = device_to_shared(address);
    how |= WG_RACE_TELL_SHARED;
  }
  return address << 3 ^
         (how & WG_RACE_TELL_SHARED ? 0x1000000000000000ull ^ (uint64_t)first << 28 : 0);
}
// … for clocks that are for the threads of the block only
DEVICE uint64_t race_in_block(uint64_t place, uint32_t first) {
  return place ^ 0x2000000000000000ull ^ (uint64_t)first << 20;
}

#endif
