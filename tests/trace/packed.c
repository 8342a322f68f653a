// Records that were packed are what they were when they are unpacked, however they look; packed
// bytes that are cut off or changed are noticed, or are other records, but never read or written
// beyond their end.
#include <stdio.h>

#include "trace/write/pack.h"
#include "trace/trace.h"

enum { MOST = 20000, RECORDS = 1024 };
static uint64_t state = 1;
static uint32_t any(uint32_t below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(state >> 33) % below;
}

// Records of a few lengths; alike: so many of 100 words are those of the one before.
static size_t make(uint8_t *data, PackRecord *records, uint32_t *count, uint32_t alike) {
  size_t n = 0, last[8] = {0}, most = 1 + any(MOST - 1);
  uint32_t lengths[8];
  for (int i = 0; i < 8; i++) lengths[i] = 1 + any(40);
  for (*count = 0; *count < RECORDS;) {
    uint32_t form = any(8), length = lengths[form] * 16;
    if (n + length > most && *count) break;
    size_t back = last[form] ? n + 1 - last[form] : 0;
    for (uint32_t k = 0; k < length; k += 4) {
      uint32_t w = any(2) ? any(UINT32_MAX) : any(3);
      if (back && any(100) < alike) memcpy(&w, data + n - back + k, 4);
      memcpy(data + n + k, &w, 4);
    }
    records[(*count)++] = (PackRecord){(uint16_t)(length / 16),
                                       (uint16_t)(any(20) ? back / 16 : 0)};
    last[form] = n + 1;
    n += length;
  }
  return n;
}

static uint8_t *exactly(const uint8_t *data, size_t n) {
  return memcpy(mem_alloc(n ? n : 1), data, n);
}  // so that a sanitizer sees what lies behind

static bool round_trip(uint32_t alike, bool plain, bool plain_back) {
  static uint8_t data[4][MOST + 16], packed[4 * (PACK_MOST(MOST + 16, RECORDS) + PACK_BEHIND)];
  static PackRecord records[RECORDS];
  uint32_t count, blocks = 1 + any(4);
  size_t sizes[4], all = 0, n = 0;
  pack_plainly = plain;
  for (uint32_t b = 0; b < blocks; b++) {
    sizes[b] = make(data[b], records, &count, alike);
    size_t took = pack_records(packed + n, data[b], sizes[b], records, count);
    if (took % 16 || took > PACK_MOST(sizes[b], count) + 15) return false;
    if (alike == 100 && count > 500 && took > sizes[b] / 2) return false;
    n += took;
    all += sizes[b];
  }
  pack_plainly = plain_back;
  uint8_t *from = exactly(packed, n), *to = mem_alloc(all);
  bool same = unpack_records(to, all, from, n) == all;
  for (size_t b = 0, at = 0; b < blocks && same; at += sizes[b++])
    same = memcmp(to + at, data[b], sizes[b]) == 0;
  if (same && unpack_records(to, all - 16, from, n) != SIZE_MAX) same = false;
  for (int i = 0; i < 20; i++) {                               // what comes of these is not said
    size_t cut = any((uint32_t)n);
    uint8_t *damaged = exactly(packed, i % 2 ? n : cut);
    for (int k = 0; k < 4 && i % 2; k++) damaged[any((uint32_t)n)] = (uint8_t)any(256);
    unpack_records(to, all, damaged, i % 2 ? n : cut);
    free(damaged);
  }
  free(from);
  free(to);
  return same;
}

int main(void) {
  static const uint32_t alike[] = {0, 10, 50, 95, 100};
  for (unsigned a = 0; a < ARRAY_LEN(alike); a++)
    for (int how = 0; how < 4; how++) {
      int failed = 0;
      for (int i = 0; i < 60; i++) failed += !round_trip(alike[a], how & 1, how & 2);
      printf("%s of 100 words %u alike, packed %s, unpacked %s\n", failed ? "FAIL" : "ok", alike[a],
             how & 1 ? "plainly" : "fast", how & 2 ? "plainly" : "fast");
    }
}
