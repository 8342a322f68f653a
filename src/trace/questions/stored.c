// Finds what the blocks of a launch stored into a piece of memory.
#include "trace/reader.h"

typedef struct Storing {
  const TraceStored *what;
  const ReaderLaunch *launch;
  TraceStoredVisitor *f;
  void *user;
} Storing;

static ScanResult visit(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                        Error *err) {
  const Storing *s = user;
  const TraceStored *w = s->what;
  TraceOp op;
  if (!reader_op(t, r, at->lane, &op, err)) return SCAN_FAILED;
  if (op.kind != TRACE_STORE || !op.value_known || at->bytes > sizeof op.value) return SCAN_GO_ON;
  uint64_t end = at->address + at->bytes;
  uint64_t i = at->address > w->base ? (at->address - w->base + w->stride - 1) / w->stride : 0;
  // elements that the store wrote whole
  for (uint64_t a = w->base + i * w->stride; i < w->count && a + w->bytes <= end;
       i++, a += w->stride)
    if (a >= at->address)
      s->f(s->user, r->row->warp / s->launch->warps, op.value + (a - at->address));
  return SCAN_GO_ON;
}

bool trace_stored(TraceReader *t, const TraceStored *what, TraceStoredVisitor *f, void *user,
                  Error *err) {
  const ReaderLaunch *l = reader_launch(t, what->launch);
  if (!l) return error_set(err, "the run file has no launch %u.", what->launch);
  if (!what->stride || !what->count || !what->bytes) return true;
  Storing s = {what, l, f, user};
  RangeScan scan = {.low = what->base,
                    .high = what->base + (what->count - 1) * what->stride + what->bytes,
                    .writes_only = true,
                    .values = true};
  return reader_scan_range(t, l, &scan, visit, &s, err) != SCAN_FAILED;
}
