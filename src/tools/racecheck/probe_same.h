// Do two racing writes write the same value? Decided for the bytes that both write: by the value
// bits of the entry, and by the value in memory.
//
// An access may have several words, and race in only some of them. Which word it is, and the
// verdict of its value bits, are put into the entry that race_check returns, in place of bytes and
// value:
//
//   bytes  those that both write, of one word; 0: the values differ
//   value  2 bits: which word; 1 bit: the other access wrote other bytes of it, too, or fewer, so
//          that only memory can tell. (Of a strong write 1 bit: the first word, or the second.)
#ifndef WG_PROBE_RACE_SAME_H
#define WG_PROBE_RACE_SAME_H

#include "tools/racecheck/probe_entries.h"

enum { RACE_WORD_AT = 3, RACE_STRONG_WORD_AT = 5, RACE_OTHER_BYTES = 32 };

// The bytes of its first word that an access covers.
DEVICE uint32_t race_own_bytes(uint64_t address, uint32_t what) {
  uint32_t bytes = what & WG_RACE_ACCESS_BYTES;
  return bytes < 4 ? ((1u << bytes) - 1) << (address & 3) & 15 : 15;
}

// Puts a verdict into the entry `old` of a write.
DEVICE uint64_t race_judged(uint64_t old, uint32_t word, uint32_t common, int other_bytes,
                            int differs) {
  int strong = (old & WG_RACE_STRONG) != 0;
  old &= ~(race_value_bits(old) | 15ull << WG_RACE_BYTES_AT);
  if (differs || (strong ? word > 1 || other_bytes : word > 3)) return old;
  old |= (uint64_t)common << WG_RACE_BYTES_AT;
  if (strong) return old | (uint64_t)word << RACE_STRONG_WORD_AT;
  return old | (uint64_t)word << RACE_WORD_AT | (other_bytes ? RACE_OTHER_BYTES : 0);
}

// `mine` races with `old`; both are entries of word number `word` of the access.
DEVICE uint64_t race_compared(uint64_t old, uint64_t mine, uint32_t word, uint32_t what) {
  if (!(what & WG_RACE_ACCESS_STORES) || !(old & WG_RACE_WRITE)) return old;
  int other_bytes = race_bytes(old) != race_bytes(mine),
      differs = !other_bytes && (old ^ mine) & race_value_bits(old | mine);
  return race_judged(old, word, race_bytes(old) & race_bytes(mine), other_bytes, differs);
}

// Returns the worse of two racing words of an access: a word in which the values differ.
DEVICE uint64_t race_worse(uint64_t found, uint64_t with) {
  return !found || (with && race_bytes(found) && !race_bytes(with)) ? with : found;
}

// old: with a verdict. there: the value in memory. site: of this access. The other write may not
// have reached memory yet: then the value bits decide, for writes of the same place.
DEVICE int race_writes_same(uint64_t old, uint64_t address, RaceValue value, RaceValue there,
                            uint32_t site) {
  uint32_t common = race_bytes(old), strong = (old & WG_RACE_STRONG) != 0,
           word = (uint32_t)(strong ? old >> RACE_STRONG_WORD_AT & 1 : old >> RACE_WORD_AT & 3),
           differ = race_word(value, word) ^ race_word(there, word);
  if (!common) return 0;
  if (((old >> WG_RACE_SITE_AT) & 1023) == site && (strong || !(old & RACE_OTHER_BYTES))) return 1;
  common >>= address & 3;
  for (uint32_t i = 0; i < 4; i++)
    if (common >> i & 1 && differ >> 8 * i & 255) return 0;
  return 1;
}

#endif
