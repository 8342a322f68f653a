// Writes records of several operations (src/probe/trace_abi.h, "A GROUP") as a kernel does, for
// tests and benchmarks.
#ifndef GROUP_RECORDS_H
#define GROUP_RECORDS_H

#include <stdbool.h>

#include "records.h"

typedef struct Unit { uint64_t address[32]; int64_t step; } Unit;
typedef struct Group {
  uint32_t nops, nunits, turns;
  Unit units[WG_TRACE_GROUP_UNITS];
  uint32_t unit[WG_TRACE_GROUP_OPS];
  int32_t distance[WG_TRACE_GROUP_OPS];
  WarpOp ops[WG_TRACE_GROUP_OPS];
} Group;

// base + stride * lane?
static inline bool group_is_affine(const Unit *u, uint32_t lanes, uint64_t *base, int32_t *stride) {
  uint32_t leader = (uint32_t)__builtin_ctz(lanes), rest = lanes & (lanes - 1),
           second = rest ? (uint32_t)__builtin_ctz(rest) : leader;
  int64_t step = second == leader ? 0
                                  : (int64_t)(u->address[second] - u->address[leader]) /
                                        (int32_t)(second - leader);
  for (uint32_t l = leader; l < 32; l++)
    if (lanes >> l & 1 &&
        u->address[l] - u->address[leader] != (uint64_t)(step * (int64_t)(l - leader)))
      return false;
  if (step < -(1 << 30) || step >= 1 << 30) return false;
  *stride = (int32_t)step;
  *base = u->address[leader] - (uint64_t)(step * (int64_t)leader);
  return true;
}

static inline void write_group(Out *out, const Group *g, bool wide) {
  const uint32_t top = 0x80000000u;
  uint32_t w[WG_TRACE_MAX / 4] = {0}, n = 7, units, from = (uint32_t)out->len,
                            lanes = g->ops[0].lanes, each = 0, far = 0, split = 0;
  uint64_t base[WG_TRACE_GROUP_UNITS];
  int32_t stride[WG_TRACE_GROUP_UNITS] = {0};
  for (uint32_t u = 0; u < g->nunits; u++) {
    base[u] = g->units[u].address[__builtin_ctz(lanes)];
    if (group_is_affine(&g->units[u], lanes, &base[u], &stride[u])) continue;
    each |= 1u << u;
    for (uint32_t l = 0; l < 32; l++)
      if (lanes >> l & 1) far |= g->units[u].address[l] - base[u] + (1u << 30) >= 1u << 31;
  }
  for (uint32_t i = 0; i < g->nops; i++)
    for (int p = 0; p < g->ops[i].planes && g->ops[i].values; p++)
      for (uint32_t l = 0; l < 32; l++)
        split |= lanes >> l & 1 && g->ops[i].value[p][l] == WG_TRACE_KEY;
  for (uint32_t i = 0; i < g->nops; i++) {
    const WarpOp *o = &g->ops[i];
    uint32_t code = o->values ? (o->planes == 4 ? 3 : (uint32_t)o->planes) : 0;
    w[n++] = top | g->unit[i] << 27 | (o->same ? WG_TRACE_GROUP_LOAD : 0) | code << 24 |
             ((uint32_t)g->distance[i] & 0xFFFFFF);
  }
  while (n % 4) w[n++] = top;
  for (uint32_t u = 0; u < g->nunits; u++) {
    w[n++] = (uint32_t)base[u] | top;
    w[n++] = (uint32_t)(base[u] >> 31) | top;
    w[n++] = (uint32_t)stride[u] | top;
    w[n++] = (uint32_t)g->units[u].step | top;
  }
  units = n;
  for (uint32_t u = 0; u < g->nunits; u++)
    for (uint32_t l = 0; l < 32 && each >> u & 1; l++) {
      if (!(lanes >> l & 1)) continue;
      w[n++] = (uint32_t)(g->units[u].address[l] - (far ? 0 : base[u])) | top;
      if (far) w[n++] = (uint32_t)(g->units[u].address[l] >> 31) | top;
    }
  for (uint32_t i = 0; i < g->nops; i++) {
    const WarpOp *o = &g->ops[i];
    bool one = o->same && !(each >> g->unit[i] & 1) && !stride[g->unit[i]];
    for (int p = 0; p < o->planes && o->values; p++)
      for (uint32_t l = 0; l < 32; l++) {
        if (!(lanes >> l & 1) || (one && l != (uint32_t)__builtin_ctz(lanes))) continue;
        if (split) {
          w[n++] = (o->value[p][l] & 0xFFFF) | top;
          w[n++] = o->value[p][l] >> 16 | top;
        } else w[n++] = o->value[p][l] ^ WG_TRACE_KEY;
      }
  }
  uint32_t rest = n - units, used = n;
  while (n % 4) w[n++] = top;
  const WarpOp *o = &g->ops[0];
  w[0] = top |
         (uint32_t)(WG_TRACE_GROUP | (far ? WG_TRACE_GROUP_FAR : 0) | (split ? WG_TRACE_SPLIT : 0))
             << 24 |
         o->site;
  w[1] = lanes;
  w[2] = (uint32_t)o->warp | top;
  w[3] = o->launch | top | (uint32_t)(o->warp >> 31 & 15) << 24;
  w[4] = top | g->nops | g->nunits << 8 | n / 4 << 12;
  w[5] = top | g->turns | each << 16;
  w[6] = top | o->time;
  memcpy(out_words(out, n * 4), w, n * 4);
  if (!wide) return;
  if (used != units + rest) abort();
  record_widen(out, from, units, rest);
  uint32_t *wider = (uint32_t *)(out->data + from);
  wider[4] = (wider[4] & ~(0xFFFu << 12)) | (uint32_t)(out->len - from) / 16 << 12;
}
#endif
