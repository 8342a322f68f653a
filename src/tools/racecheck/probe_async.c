// racecheck: what is done later than where it stands, and by another way to memory.
#include "tools/racecheck/probe_core.h"

// Copies of more than COARSE bytes are looked at in one word of each PIECE: one thread asks for
// them, and what meets them mostly meets all of it.
enum { CHUNK = 64, COARSE = 512, PIECE = 32 };
typedef struct Pieces {
  uint32_t apart, bytes;
} Pieces;
DEVICE Pieces pieces_of(uint32_t bytes) {
  return bytes > COARSE ? (Pieces){PIECE, 4} : (Pieces){CHUNK, CHUNK};
}

// Bytes of shared memory, of an access that is done at some time from now on. The entry it races
// with, or 0. stride: of entries, 4 for each byte there is.
uint64_t wg_race_range(uint64_t entries, uint64_t offset, uint32_t bytes, uint32_t stride,
                       uint32_t what, uint64_t me, uint32_t layout, uint32_t first, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_range(uint64_t entries, uint64_t offset, uint32_t bytes,
                                                 uint32_t stride, uint32_t what, uint64_t me,
                                                 uint32_t layout, uint32_t first, uint64_t knows) {
  uint64_t found = 0;
  // of another block of the cluster
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

// The same in global memory, in the allocation that the address is in: a WgMemoryRange.
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

// A fence between the proxies: the moment of the last one of the block is kept, counted in
// barriers. Whose it was is not: any counts for all, which misses some that are missing.
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

// The asynchronous proxy reads these bytes. A write of this block behind the last such fence, or 0.
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

// --- who waits ---

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

// groups: clocks when the last four groups of copies were committed, the last one's lowest.
uint64_t wg_race_commit(uint64_t groups, uint64_t me, uint32_t layout);
__attribute__((noinline)) uint64_t wg_race_commit(uint64_t groups, uint64_t me, uint32_t layout) {
  return groups << 16 | (race_view(me, layout).clock & 0xffff);
}

// All but the last n groups are done; more than 3: all are, as far as we know.
uint64_t wg_race_waited(uint64_t groups, uint32_t n, uint64_t me, uint32_t layout, uint64_t knows);
__attribute__((noinline)) uint64_t wg_race_waited(uint64_t groups, uint32_t n, uint64_t me,
                                                  uint32_t layout, uint64_t knows) {
  return race_learn(knows, 0,
                    n < 4 ? (uint32_t)(groups >> 16 * n) & 0xffff : race_view(me, layout).clock);
}
