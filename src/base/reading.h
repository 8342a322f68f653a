// Reads numbers from bytes that may be damaged: missing bytes read as 0 and set `bad`.
#ifndef WG_BASE_READING_H
#define WG_BASE_READING_H

#include "base/base.h"

typedef struct Reading {
  const uint8_t *at, *end;
  bool bad;
} Reading;  // bad: the end was passed

static inline uint64_t reading_number(Reading *r, size_t n) {  // of n bytes, at most 8
  uint64_t v = 0;
  if ((size_t)(r->end - r->at) < n) {
    r->bad = true;
    r->at = r->end;
    return 0;
  }
  memcpy(&v, r->at, n);
  r->at += n;
  return v;
}

static inline uint64_t reading_uleb(Reading *r) {
  uint64_t v = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint64_t b = reading_number(r, 1);
    if (shift < 64) v |= (b & 127) << shift;
    if (!(b & 128)) return v;
  }
}

static inline void reading_skip(Reading *r, uint64_t n) {
  if ((uint64_t)(r->end - r->at) < n) {
    r->bad = true;
    r->at = r->end;
  } else r->at += n;
}

#endif
