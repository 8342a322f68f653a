// Two copies that reach a word at the same time: the second finds the first, whoever is first.
#include <stdint.h>
#include <stdio.h>

#define DEVICE static inline
static uint64_t *word, other;  // stored there between a look and a swap; 0: nothing
DEVICE uint64_t race_load(const uint64_t *at) { return *at; }
DEVICE uint64_t device_swap_if64(uint64_t *p, uint64_t was, uint64_t v) {
  if (other) {
    *word = other;
    other = 0;
  }
  uint64_t old = *p;
  if (old == was) *p = v;
  return old;
}
#include "tools/racecheck/probe_copy.h"

static uint64_t entry(uint32_t number, unsigned flags) {
  return (uint64_t)number << WG_RACE_LAUNCH_AT | 15u << WG_RACE_BYTES_AT | flags;
}

// number: of the copy; theirs: what another leaves at that moment. The entry it races with
static uint64_t meets(uint32_t number, uint64_t unordered, uint64_t theirs, unsigned flags) {
  static uint64_t entries[2];
  entries[0] = entries[1] = 0;
  word = entries;
  other = theirs;
  WgRaceCopy c = {.number = number, .unordered = unordered};
  return race_copy_word((uint64_t *)entries, entry(number, flags), &c);
}

static void expect(const char *what, uint64_t got, uint64_t want) {
  printf("%s %s\n", got == want ? "ok" : "FAIL", what);
}

int main(void) {
  uint64_t first = entry(5, WG_RACE_WRITE), second = entry(6, WG_RACE_WRITE);
  expect("the first was faster", meets(6, 5 | WG_RACE_LATER, first, WG_RACE_WRITE), first);
  expect("the second was faster", meets(5, WG_RACE_LATER, second, WG_RACE_WRITE), second);
  expect("the other is ordered", meets(6, 0, first, WG_RACE_WRITE), 0);
  expect("nobody else", meets(6, 5, 0, WG_RACE_WRITE), 0);
  expect("both read", meets(6, 5 | WG_RACE_LATER, entry(5, 0), 0), 0);
  return 0;
}
