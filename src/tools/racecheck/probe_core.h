// Compares one access with the entries of the same word, and updates them.
#ifndef WG_PROBE_RACE_CORE_H
#define WG_PROBE_RACE_CORE_H

#include "tools/racecheck/probe_same.h"

#include "tools/racecheck/probe_copy.h"

// The thread that makes an access: the launch's layout of entries, the first thread of its block,
// launches that are unordered with this one, and its knowledge of others (wg_race_check). layout:
// for an access to shared memory, race_in_space adds WG_RACE_SHARED
typedef struct RaceThread {
  uint32_t layout, first;
  uint64_t unordered, knows, slots;
  uint32_t serial;
} RaceThread;
DEVICE RaceThread race_in_space(const RaceThread *x, uint32_t what) {
  RaceThread t = *x;
  t.layout |= race_shared_layout(what);
  return t;
}

// Whether the access of the entry `old` and `mine` race.
DEVICE int race_conflict(uint64_t old, uint64_t mine, const RaceThread *x, RaceKnown known,
                         uint32_t cluster) {
  uint32_t layout = x->layout;
  uint32_t launch = (uint32_t)(old >> WG_RACE_LAUNCH_AT), both = (uint32_t)(old & mine),
           any = (uint32_t)(old | mine);
  if (!launch || !(race_bytes(old) & race_bytes(mine))) return 0;
  if (launch != (uint32_t)(mine >> WG_RACE_LAUNCH_AT))
    return !(layout & WG_RACE_SHARED) && (any & WG_RACE_WRITE || old & WG_RACE_WROTE) &&
           !(both & WG_RACE_STRONG && !(any & WG_RACE_CTA)) &&
           race_is_unordered(x->unordered, launch, (uint32_t)(mine >> WG_RACE_LAUNCH_AT));
  RacePair p = race_pair(old, mine, layout, x->first, known);
  if (!race_shares(&p, layout, cluster)) return 0;
  if (!(any & WG_RACE_WRITE))
    return old & WG_RACE_WROTE && !p.same_block && !race_clock_orders(&p, layout);
  if (both & WG_RACE_STRONG && (p.same_block || !(any & WG_RACE_CTA))) return 0;
  // old == mine: the entry that this same access has just left (weave_inline.c)
  if (race_is_async(old)) return old != mine && !race_clock_orders(&p, layout);
  if (!race_ordered(&p, layout)) return !race_read_is_over(old, mine, &p, layout, known);
  if (old & WG_RACE_WRITE && !(old & WG_RACE_STRONG)) return 0;
  if (old & WG_RACE_BLOCKS)  // some other block has, too
    return !race_clock_orders(&p, layout) && !race_read_is_over(old, mine, &p, layout, known);
  if (!(old & WG_RACE_MANY) || race_barrier_orders(&p, layout) || race_clock_orders(&p, layout))
    return 0;
  // the entry is this thread's, and another thread has accessed it, too
  return p.same_warp && !race_warp_orders(&p, layout);
}

// Adds bytes to `e` that the same thread has accessed at the same time. The site stays known only
// if both accesses have the same one.
DEVICE uint64_t race_with_bytes(uint64_t e, uint64_t of) {
  uint64_t both = e | (uint64_t)race_bytes(of) << WG_RACE_BYTES_AT,
           no_site = (uint64_t)WG_RACE_NO_SITE << WG_RACE_SITE_AT;
  return both != e && (e ^ of) & no_site ? both | no_site : both;
}

// A read after a read: which entry to keep. Flags must hold for all bytes of the entry.
DEVICE uint64_t race_after_read(uint64_t old, uint64_t mine, const RacePair *p) {
  if (race_is_async(old) != race_is_async(mine))
    return race_is_async(mine) || p->was.clock < p->know ? mine : old;
  uint32_t same_clock = p->was.clock == p->now.clock, common = race_bytes(old) & race_bytes(mine);
  uint32_t covers = common == race_bytes(old), within = common == race_bytes(mine);
  uint64_t wrote = same_clock && within && p->same_block ? old & WG_RACE_WROTE : 0,
           blocks = same_clock && within ? old & WG_RACE_BLOCKS : 0;
  // the weak one can race with more accesses
  if ((old ^ mine) & WG_RACE_STRONG) return mine & WG_RACE_STRONG ? old : mine | wrote;
  if (p->same_thread) {
    if (p->was.barriers != p->now.barriers || p->was.syncs != p->now.syncs || !same_clock)
      return mine | wrote | blocks;
    return within || old & (WG_RACE_MANY | WG_RACE_BLOCKS | WG_RACE_WROTE)
               ? old
               : race_with_bytes(old, mine);
  }
  if (p->same_block) {
    if (p->was.barriers != p->now.barriers) return mine | wrote | blocks;
    if (p->same_warp && p->was.syncs != p->now.syncs) return mine | wrote | blocks;
    if (!same_clock) return p->was.clock < p->now.clock ? mine : old;
    return covers ? old | WG_RACE_MANY : old;
  }
  // an access that is ordered after the later one is ordered after both
  if (!same_clock) return p->was.clock < p->now.clock ? mine : old;
  if (old & WG_RACE_WROTE) return old;
  if (!covers) return old & WG_RACE_BLOCKS ? old : mine;
  return old | WG_RACE_BLOCKS;
}

// A strong write after a strong write of the same scope: which entry to keep. Both race with any
// weak access that is not ordered after them. Flags must hold for all bytes of the entry.
DEVICE uint64_t race_after_strong(uint64_t old, uint64_t mine, const RacePair *p) {
  uint32_t common = race_bytes(old) & race_bytes(mine), covers = common == race_bytes(old),
           within = common == race_bytes(mine);
  uint32_t same_barriers = p->was.barriers == p->now.barriers,
           same_syncs = p->was.syncs == p->now.syncs;
  if (p->was.clock != p->now.clock) return mine;
  uint64_t blocks = within ? old & WG_RACE_BLOCKS : 0;
  if (p->same_thread && same_barriers && same_syncs)
    return within ? old : race_with_bytes(mine, old);
  if (!p->same_block) return covers && within ? old | WG_RACE_BLOCKS : mine;
  if (p->same_thread || !same_barriers || (p->same_warp && !same_syncs)) return mine | blocks;
  return covers && within ? old | WG_RACE_MANY : mine;
}

// Merges both accesses into one entry. raced: they race.
DEVICE uint64_t race_next(uint64_t old, uint64_t mine, const RaceThread *x, RaceKnown known,
                          uint32_t cluster, int raced) {
  uint32_t layout = x->layout;
  uint32_t launch = (uint32_t)(old >> WG_RACE_LAUNCH_AT);
  if (launch != (uint32_t)(mine >> WG_RACE_LAUNCH_AT)) return mine;
  RacePair p = race_pair(old, mine, layout, x->first, known);
  if (!race_shares(&p, layout, cluster)) return mine;
  uint32_t same_time = p.was.barriers == p.now.barriers && p.was.syncs == p.now.syncs &&
                       p.was.clock == p.now.clock;
  if (mine & WG_RACE_WRITE) {
    if (old & mine & WG_RACE_STRONG && old & WG_RACE_WRITE && !((old ^ mine) & WG_RACE_CTA))
      return race_after_strong(old, mine, &p);
    // The thread made a weak write before this strong one. The entry keeps the weak write, which
    // can race with more accesses.
    uint32_t within = !(race_bytes(mine) & ~race_bytes(old)),
             same_interval = p.was.barriers == p.now.barriers && p.was.syncs == p.now.syncs;
    uint32_t weak_before = (old & (WG_RACE_WRITE | WG_RACE_STRONG | WG_RACE_CTA)) ==
                               WG_RACE_WRITE &&
                           p.same_thread && same_interval && p.was.clock == known.own;
    if (weak_before && mine & WG_RACE_STRONG && within) return old;
    if (old & WG_RACE_WRITE && p.same_thread && same_time &&
        !((old ^ mine) & (WG_RACE_STRONG | WG_RACE_CTA)))
      return race_with_bytes(mine, old);
    return mine;
  }
  if (!(old & WG_RACE_WRITE)) return race_after_read(old, mine, &p);
  if (raced || old & WG_RACE_STRONG || (p.same_thread && same_time)) return old;
  if (!p.same_block || p.was.clock != p.now.clock ||
      (race_bytes(old) & race_bytes(mine)) != race_bytes(mine))
    return mine;
  return mine | WG_RACE_WROTE;
}

// Puts the access into the entries of one word: one entry, or two, for the last write and for
// reads. A read is stored before the last write is loaded, and the other way round: so of two
// concurrent accesses at least one sees the other. Returns the entry it races with, or 0.
DEVICE uint64_t race_enter(uint64_t *at, uint64_t mine, const RaceThread *x, RaceKnown known,
                           uint32_t what) {
  uint32_t pairs = x->layout >> 30 & 1, own = pairs && !(mine & WG_RACE_WRITE),
           cluster = WG_RACE_ACCESS_CLUSTER(what);
  uint64_t found = 0;
  if (own && race_load(at) == WG_RACE_BENIGN) return 0;
  for (uint32_t i = 0; i <= pairs; i++) {
    uint64_t *slot = at + (i ^ own), old = race_load(slot);
    while (old != WG_RACE_BENIGN) {
      int raced = race_conflict(old, mine, x, known, cluster);
      uint64_t new = i || what &WG_RACE_ACCESS_LOOK
                         ? old
                         : race_next(old, mine, x, known, cluster, raced),
               there = new == old ? old : device_swap_if64(slot, old, new);
      if (there == old) {
        if (raced && !found) found = old;
        break;
      }
      old = there;
    }
  }
  return found;
}

// An atomic write is part of the release that begins at the fence before it: a thread that knows of
// the accesses before the fence knows of the write, too.
DEVICE uint64_t race_at_fence(uint64_t me, uint32_t what, uint32_t layout) {
  uint32_t kind = (WG_RACE_STRONG | WG_RACE_WRITE) << WG_RACE_ACCESS_FLAGS_AT,
           bits = WG_RACE_CLOCK_BITS(layout),
           clock = race_field(me, WG_RACE_CLOCK_AT(layout), bits);
  return (what & kind) == kind && clock && !race_is_full(clock, bits)
             ? me - (1ull << WG_RACE_CLOCK_AT(layout))
             : me;
}

// An access at `address`, which is `offset` bytes after the address of the first entry at
// `entries`. what: WG_RACE_ACCESS. value: the written value, if known.
typedef struct RaceTouch {
  uint64_t entries, offset, address;
  uint32_t what;
  RaceValue value;
} RaceTouch;

// Enters the access. me: the thread's entry, without the access. x.knows: the thread knows of
// accesses with a clock below RACE_KNOWN of it, but see RaceKnown. Returns the entry it races with,
// including a verdict (tools/racecheck/probe_same.h), or 0.
DEVICE uint64_t race_check(const RaceTouch *a, uint64_t me, const RaceThread *of) {
  uint32_t what = a->what;
  uint64_t offset = a->offset;
  uint64_t mine = race_mine(race_at_fence(me, what, of->layout), what), found = 0;
  RaceValue value = race_value(a->value, what);
  RaceThread x = race_in_space(of, what);
  offset += (a->address - offset) & 3;  // an allocation may begin within a word
  uint64_t end = offset + (what & WG_RACE_ACCESS_BYTES);
  // number 4: no word. The words of a misaligned access are not those of its value.
  uint32_t number = offset & 3 && end > (offset & ~3ull) + 4 ? 4 : 0;
  for (uint64_t word = offset & ~3ull; word < end; word += 4, number++) {
    uint32_t from = word < offset ? (uint32_t)(offset - word) : 0,
             to = end - word < 4 ? (uint32_t)(end - word) : 4;
    uint64_t it = mine | (uint64_t)((1u << to) - (1u << from)) << WG_RACE_BYTES_AT;
    if (what & WG_RACE_ACCESS_STORES && number < 4)
      it |= WG_RACE_VALUE_OF(race_word(value, number)) & race_value_bits(mine);
    RaceKnown known = {x.slots, x.serial, RACE_KNOWN(x.knows), race_view(me, x.layout).clock};
    uint64_t with = race_enter((uint64_t *)(a->entries + (word << 1 << (x.layout >> 30 & 1))), it,
                               &x, known, what);
    if (with) found = race_worse(found, race_compared(with, it, number, what));
  }
  return found;
}

#endif
