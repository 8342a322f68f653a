// Writes raw records as a kernel does (src/probe/trace_abi.h), for tests and benchmarks.
#ifndef RECORDS_H
#define RECORDS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/trace_abi.h"

typedef struct Out { uint8_t *data; size_t len, cap; } Out;
typedef struct WarpOp {
  uint32_t site, launch, lanes, time;
  uint64_t warp;
  int has_address, planes, values;           // values: 0, 1, 2 (and what an atomic found)
  uint64_t address[32];                      // by lane; bits 60 and 61: the memory
  uint32_t value[4][32], old[4][32];
  int same;                                  // a load: its value is the same where the address is
  int wide;                                  // as kernels of a GPU write it
} WarpOp;

static inline uint32_t *out_words(Out *o, uint32_t bytes) {
  if (o->cap - o->len < bytes) o->data = realloc(o->data, o->cap = o->cap * 2 + bytes + 65536);
  uint32_t *w = (uint32_t *)(o->data + o->len);
  o->len += bytes;
  return w;
}

// The last `units` + `rest` words, which are filled up to 16 bytes, become a record with its parts
// in lines of their own.
static inline void record_widen(Out *o, uint32_t begin, uint32_t units, uint32_t rest) {
  const uint32_t line = WG_TRACE_LINE / 4, lines = (units + line - 1) / line * line,
                 at = units + rest > lines ? lines : units,
                 words = (at + rest + line - 1) / line * line;
  uint32_t narrow[WG_TRACE_MAX / 4];
  memcpy(narrow, o->data + begin, (units + rest) * 4);
  o->len = begin;
  uint32_t *w = out_words(o, words * 4);
  memset(w, 0, words * 4);                   // what lies between is anything
  if (narrow[1] & 1) for (uint32_t i = units; i < at; i++) w[i] = 0x80000000u;
  memcpy(w, narrow, units * 4);
  memcpy(w + at, narrow + units, rest * 4);
  w[3] |= WG_TRACE_WIDE;
}

static inline void record_write(Out *o, const WarpOp *op) {
  const uint32_t top = 0x80000000u;
  uint32_t lanes = op->lanes, leader = (uint32_t)__builtin_ctz(lanes),
           n = (uint32_t)__builtin_popcount(lanes), words = 0,
           format = op->has_address ? WG_TRACE_ADDRESS : 0;
  uint32_t rest = lanes & (lanes - 1), second = rest ? (uint32_t)__builtin_ctz(rest) : leader;
  uint64_t first = op->address[leader], base = first;
  int64_t step = 0;
  int affine = 1, near = 1, one = 0, split = 0;
  if (op->has_address) {
    step = second == leader
               ? 0
               : (int32_t)(uint32_t)(op->address[second] - first) / (int32_t)(second - leader);
    for (uint32_t l = leader; l < 32; l++) {
      if (!(lanes >> l & 1)) continue;
      affine &= op->address[l] - first == (uint64_t)(step * (int64_t)(l - leader)) &&
                (uint32_t)step + (1u << 30) < 1u << 31;
      near &= op->address[l] - first + (1u << 30) < 1u << 31;
    }
    if (affine) base = first - (uint64_t)(step * (int64_t)leader);
    else {
      step = 0;
      format |= near ? WG_TRACE_OFFSETS : WG_TRACE_FAR;
      words = near ? n : 2 * n;
    }
    one = op->same && affine && !step;
  }
  if (op->values) {
    for (int p = 0; p < op->planes; p++)
      for (uint32_t l = 0; l < 32; l++)
        split |= (lanes >> l & 1) && (op->value[p][l] == WG_TRACE_KEY ||
                                      (op->values == 2 && op->old[p][l] == WG_TRACE_KEY));
    format |= WG_TRACE_VALUES | (op->values == 2 ? WG_TRACE_OLD : 0) |
              (split ? WG_TRACE_SPLIT : 0) | (one ? WG_TRACE_ONE_VALUE : 0);
    words += (uint32_t)(op->planes * op->values) * (one ? 1 : n) << split;
  }
  uint32_t bytes = 16 + (op->has_address ? 16 : 0) + ((words * 4 + 15) & ~15u),
           from = (uint32_t)o->len, *w = out_words(o, bytes), *end = w + bytes / 4;
  *w++ = op->site | top | format << 24;
  *w++ = lanes;
  *w++ = (uint32_t)op->warp | top;
  *w++ = op->launch | top | (uint32_t)(op->warp >> 31 & 15) << 24 |
         (uint32_t)(op->planes == 4 ? 2 : op->planes == 2) << 28;
  if (op->has_address) {
    *w++ = (uint32_t)base | top;
    *w++ = (uint32_t)(base >> 31) | top;
    *w++ = (uint32_t)step | top;
    *w++ = op->time | top;
  }
  for (uint32_t l = 0; l < 32 && op->has_address && !affine; l++) {
    if (!(lanes >> l & 1)) continue;
    if (near) *w++ = (uint32_t)(op->address[l] - first) | top;
    else {
      *w++ = (uint32_t)op->address[l] | top;
      *w++ = (uint32_t)(op->address[l] >> 31) | top;
    }
  }
  for (int part = 0; part < op->values; part++)
    for (int p = 0; p < op->planes; p++)
      for (uint32_t l = leader; l < 32; l++) {
        if (!(lanes >> l & 1) || (one && l != leader)) continue;
        uint32_t v = part ? op->old[p][l] : op->value[p][l];
        if (split) {
          *w++ = (v & 0xffff) | top;
          *w++ = v >> 16 | top;
        } else *w++ = v ^ WG_TRACE_KEY;
      }
  while (w < end) *w++ = top;
  if (op->wide) record_widen(o, from, op->has_address ? 8 : 4, words);
}
#endif
