// Compares copies and sets with the entries of the words they access, and a launch's accesses with
// entries of other launches. Compiled for the device, and for the host if the device's memory is
// its own. The including file defines DEVICE, race_load and device_swap_if64.
#ifndef WG_PROBE_RACE_COPY_H
#define WG_PROBE_RACE_COPY_H

#include "tools/racecheck/abi.h"

// A launch that was requested after this one, and has already left an entry, is unordered with it.
// Numbers within one half only grow.
DEVICE int race_is_unordered(uint64_t unordered, uint32_t launch, uint32_t mine) {
  if (unordered & WG_RACE_LATER && launch > mine && launch / WG_RACE_HALF == mine / WG_RACE_HALF)
    return 1;
  for (unordered &= ~WG_RACE_LATER; unordered; unordered >>= 9)
    if ((unordered & 511) == launch) return 1;
  return 0;
}

// Whether the access of the entry `old` and that of a copy race.
DEVICE int race_copy_meets(uint64_t old, uint64_t mine, const WgRaceCopy *c) {
  uint32_t launch = (uint32_t)(old >> WG_RACE_LAUNCH_AT);
  if (old == WG_RACE_BENIGN || !launch || !(old & mine & (15u << WG_RACE_BYTES_AT))) return 0;
  int writes = ((old | mine) & WG_RACE_WRITE) || (old & WG_RACE_WROTE && !(old & WG_RACE_WRITE));
  return writes && race_is_unordered(c->unordered, launch, c->number);
}

// Enters one word: an entry that the copy races with stays, any other is replaced. Returns the
// entry it races with, or 0. Two copies often end at the same time: if the other one has replaced
// the entry first, looks again.
DEVICE uint64_t race_copy_word(uint64_t *at, uint64_t mine, const WgRaceCopy *c) {
  uint64_t *own = at + (c->pairs && !(mine & WG_RACE_WRITE)),
           *other = at + !!(mine & WG_RACE_WRITE), old = race_load(own);
  for (;;) {
    if (race_copy_meets(old, mine, c)) return old;
    uint32_t launch = (uint32_t)(old >> WG_RACE_LAUNCH_AT);
    // the host had waited for the copy, and not for this launch
    int later = launch > c->number && launch / WG_RACE_HALF == c->number / WG_RACE_HALF;
    if (old == WG_RACE_BENIGN || c->looks || later) break;
    uint64_t found = device_swap_if64(own, old, mine);
    if (found == old) break;
    old = found;
  }
  if (!c->pairs) return 0;
  old = race_load(other);
  return race_copy_meets(old, mine, c) ? old : 0;
}

// Enters word `i` of words_of. Returns the entry it races with, or 0; address: of the first byte
// that counts.
DEVICE uint64_t race_copy_words_of(const WgRaceRows *r) {
  return (r->width / 4 + 2) * ((uint64_t)r->rows * r->slices);
}
DEVICE uint64_t race_copy_at(const WgRaceCopy *c, uint32_t side, uint64_t i, uint64_t *address) {
  const WgRaceRows *r = &c->side[side];
  uint64_t row = 0, words = r->width / 4 + 2;
  if (r->rows > 1 || r->slices > 1) {
    row = i / words;
    i %= words;
  }
  uint64_t first = r->offset + row / r->rows * r->slice + row % r->rows * r->pitch,
           end = first + r->width, word = (first & ~3ull) + 4 * i;
  if (word >= end) return 0;
  uint64_t from = word < first ? first - word : 0, to = end - word < 4 ? end - word : 4;
  uint64_t mine = (uint64_t)c->number << WG_RACE_LAUNCH_AT |
                  (uint64_t)WG_RACE_NO_SITE << WG_RACE_SITE_AT |
                  ((1ull << to) - (1ull << from)) << WG_RACE_BYTES_AT | (side ? 0 : WG_RACE_WRITE);
  *address = r->word + word + from;
  return race_copy_word((uint64_t *)(r->entries + (word << 1 << c->pairs)), mine, c);
}

#endif
