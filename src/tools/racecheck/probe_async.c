// racecheck: accesses that are performed later than they are issued, and through another proxy.
#include "tools/racecheck/probe_core.h"

// Copies of more than COARSE bytes are checked in one word of each PIECE: one thread issues the
// copy, and conflicting accesses mostly cover all of it.
enum { CHUNK = 64, COARSE = 512, PIECE = 32 };
typedef struct Pieces {
  uint32_t apart, bytes;
} Pieces;
DEVICE Pieces pieces_of(uint32_t bytes) {
  return bytes > COARSE ? (Pieces){PIECE, 4} : (Pieces){CHUNK, CHUNK};
}

// Checks bytes of shared memory for an access that is performed at some time from now on. Returns
// the entry it races with, or 0. stride: bytes of entries, 4 for each byte of memory.
uint64_t wg_race_range(uint64_t entries, uint64_t offset, uint32_t bytes, uint32_t stride,
                       uint32_t what, uint64_t me, uint32_t layout, uint32_t first, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_range(uint64_t entries, uint64_t offset, uint32_t bytes,
                                                 uint32_t stride, uint32_t what, uint64_t me,
                                                 uint32_t layout, uint32_t first, uint64_t knows) {
  uint64_t found = 0;
  // the memory of another block of the cluster
  if (offset >= stride / 4 || bytes > stride / 4 - offset) return 0;
  Pieces p = pieces_of(bytes);
  for (uint32_t at = 0; at < bytes; at += p.apart) {
    uint32_t n = bytes - at < p.bytes ? bytes - at : p.bytes;
    RaceTouch part = {
        entries, offset + at, offset + at, (what & ~(uint32_t)WG_RACE_ACCESS_BYTES) | n, {0}};
    uint64_t with = race_check(&part, me,
                               &(RaceThread){.layout = layout, .first = first, .knows = knows});
    if (!found) found = with;
  }
  return found;
}

// The same for global memory, in the allocation that contains the address: a WgMemoryRange.
uint64_t wg_race_global_range(uint64_t range, uint64_t address, uint32_t bytes, uint32_t what,
                              uint64_t me, uint32_t layout, uint32_t first, uint64_t unordered,
                              uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_global_range(uint64_t range, uint64_t address,
                                                        uint32_t bytes, uint32_t what, uint64_t me,
                                                        uint32_t layout, uint32_t first,
                                                        uint64_t unordered, uint64_t knows) {
  const WgMemoryRange *m = (const WgMemoryRange *)range;
  uint64_t found = 0, offset = address - m->base;
  if (!m->tools.race || offset >= m->size || bytes > m->size - offset) return 0;
  Pieces p = pieces_of(bytes);
  for (uint32_t at = 0; at < bytes; at += p.apart) {
    uint32_t n = bytes - at < p.bytes ? bytes - at : p.bytes;
    RaceTouch part = {m->tools.race,
                      offset + at,
                      address + at,
                      (what & ~(uint32_t)WG_RACE_ACCESS_BYTES) | n,
                      {0}};
    uint64_t with = race_check(&part, me,
                               &(RaceThread){layout, first, unordered, knows, .slots = 0});
    if (!found) found = with;
  }
  return found;
}

// A fence between the proxies: keeps the moment of the block's last one, counted in barriers. The
// thread is not kept: a fence of any thread counts for all, which hides some missing fences.
DEVICE uint64_t *race_proxy(uint64_t slots, uint32_t serial, uint32_t first) {
  return &race_slot(slots, serial, (uint64_t)WG_RACE_MEET_PROXY << 32 ^ first)->clock;
}

uint32_t wg_race_proxied(uint64_t slots, uint32_t serial, uint64_t me, uint32_t layout,
                         uint32_t first);
__attribute__((noinline)) uint32_t wg_race_proxied(uint64_t slots, uint32_t serial, uint64_t me,
                                                   uint32_t layout, uint32_t first) {
  if (!slots || !me) return 0;
  race_raise(race_proxy(slots, serial, first), serial, race_view(me, layout).barriers + 1);
  device_fence();
  return 0;
}

// The asynchronous proxy reads these bytes. Returns a write of this block after the last such
// fence, or 0.
uint64_t wg_race_unfenced(uint64_t entries, uint64_t offset, uint32_t bytes, uint32_t stride,
                          uint64_t slots, uint32_t serial, uint64_t me, uint32_t layout,
                          uint32_t first);
__attribute__((noinline)) uint64_t wg_race_unfenced(uint64_t entries, uint64_t offset,
                                                    uint32_t bytes, uint32_t stride, uint64_t slots,
                                                    uint32_t serial, uint64_t me, uint32_t layout,
                                                    uint32_t first) {
  if (!slots || !me || offset >= stride / 4 || bytes > stride / 4 - offset) return 0;
  uint32_t told = race_told(race_proxy(slots, serial, first), serial),
           bits = WG_RACE_BARRIER_BITS(layout);
  uint32_t apart = bytes > COARSE ? PIECE : 4;
  for (uint64_t word = offset & ~3ull; word < offset + bytes; word += apart) {
    uint64_t e = race_load((const uint64_t *)(entries + (word << 2)));
    if (e == WG_RACE_BENIGN || (e ^ me) >> WG_RACE_LAUNCH_AT || !(e & WG_RACE_WRITE) ||
        race_is_async(e))
      continue;
    RacePair p = race_pair(e, me, layout, first, (RaceKnown){0});
    if (p.same_block && !race_is_full(p.was.barriers, bits) && p.was.barriers + 1 > told) return e;
  }
  return 0;
}

// --- waiting for copies ---

// A copy was issued that completes on an mbarrier: a thread that sees its next phase knows the copy
// is done.
uint32_t wg_race_issued(uint64_t slots, uint32_t serial, uint64_t address, uint64_t me,
                        uint32_t layout, uint32_t first);
__attribute__((noinline)) uint32_t wg_race_issued(uint64_t slots, uint32_t serial, uint64_t address,
                                                  uint64_t me, uint32_t layout, uint32_t first) {
  if (!slots) return 0;
  race_raise(&race_slot(slots, serial,
                        race_in_block(race_place(address, WG_RACE_TELL_SHARED | WG_RACE_CTA, first),
                                      first))
                  ->clock,
             serial, race_view(me, layout).clock);
  race_raise(race_warp_told(slots, serial, race_first_lane(me, layout, first)), serial,
             race_view(me, layout).clock);
  device_fence();
  return 0;
}

// groups: clocks at the commits of the last four groups of copies, the latest lowest.
uint64_t wg_race_commit(uint64_t groups, uint64_t me, uint32_t layout);
__attribute__((noinline)) uint64_t wg_race_commit(uint64_t groups, uint64_t me, uint32_t layout) {
  return groups << 16 | (race_view(me, layout).clock & 0xffff);
}

// All groups except the last n are complete; n > 3: all groups are assumed complete.
uint64_t wg_race_waited(uint64_t groups, uint32_t n, uint64_t me, uint32_t layout, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_waited(uint64_t groups, uint32_t n, uint64_t me,
                                                  uint32_t layout, uint64_t knows) {
  return race_learn(knows, 0,
                    n < 4 ? (uint32_t)(groups >> 16 * n) & 0xffff : race_view(me, layout).clock);
}
