// Spans of time, and how much two lists of them have in common.
#ifndef WG_OPENCL_LAYER_OVERLAP_H
#define WG_OPENCL_LAYER_OVERLAP_H

#include "base/base.h"

typedef struct Span {
  uint64_t begin, end;
} Span;
typedef VEC(Span) Spans;

// Sorts them and joins those that touch; returns the time that they cover.
uint64_t spans_join(Spans *list);
// The time that both cover. Both are joined.
uint64_t spans_common(const Spans *a, const Spans *b);
#endif
