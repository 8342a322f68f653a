// Finds which elements of a piece of memory some threads of a launch read and wrote.
#include "trace/reader.h"

typedef struct Marking {
  const TraceTouched *what;
  uint64_t first, last;  // threads
  uint8_t *out;
} Marking;

static ScanResult mark(TraceReader *t, const RowRef *r, void *user, Error *err) {
  (void)err;
  Marking *m = user;
  const TraceTouched *w = m->what;
  const ReaderLaunch *l = &t->launches[r->chunk->launch];
  const ReaderSite *site;
  TraceKind kind = row_kind(t, r, &site);
  if (!(r->block->places[r->row->place].has & (ROW_AFFINE | ROW_EACH))) return SCAN_GO_ON;
  uint8_t how = kind == TRACE_STORE    ? TRACE_WRITES
                : kind == TRACE_ATOMIC ? TRACE_READS | TRACE_WRITES
                                       : TRACE_READS;
  uint32_t bytes = row_bytes(r, site);
  for (uint32_t lanes = r->row->lanes; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    uint64_t thread = reader_thread(l, r->row->warp, lane),
             at = row_address(r->block, r->row, lane);
    if (thread < m->first || thread > m->last || at >= w->base + w->count * w->stride ||
        at + bytes <= w->base)
      continue;
    uint64_t from = at > w->base ? (at - w->base) / w->stride : 0,
             to = MIN((at + bytes - 1 - w->base) / w->stride, w->count - 1);
    for (uint64_t i = from; i <= to; i++) m->out[i] |= how;
  }
  return SCAN_GO_ON;
}

bool trace_touched(TraceReader *t, const TraceTouched *what, uint8_t *out, Error *err) {
  const ReaderLaunch *l = reader_launch(t, what->launch);
  if (!l) return error_set(err, "the run file has no launch %u.", what->launch);
  uint64_t all = l->blocks * l->threads;
  if (what->first > what->last || what->last >= all || !what->count || !what->stride)
    return error_set(err, "the launch has %llu threads only.", (unsigned long long)all);
  Marking m = {what, what->first, what->last, out};
  memset(out, 0, what->count);
  if (what->last - what->first > all / 2)
    return reader_scan_launch(t, l, mark, &m, err) != SCAN_FAILED;
  uint64_t end = what->last / l->threads * l->warps + what->last % l->threads / 32;
  for (uint64_t w = what->first / l->threads * l->warps + what->first % l->threads / 32; w <= end;
       w++)
    if (reader_scan_warp(t, l, w, mark, &m, err) == SCAN_FAILED) return false;
  return true;
}
