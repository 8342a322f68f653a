// Shared memory of one block and local memory of one thread: operations on some of its bytes, in
// the order of the block's barriers, and its contents at the end of each interval between two
// barriers.
#include "trace/reader.h"

enum { HITS_MOST = 1 << 18 };
typedef struct Hit {
  uint64_t record, phase, warp;
  uint32_t lane, time;
} Hit;
typedef struct Hits {
  VEC(Hit) list;
  uint32_t lane;  // local memory: whose; UINT32_MAX: any
  bool many;
} Hits;

static ScanResult hit(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                      Error *err) {
  (void)t;
  (void)err;
  Hits *h = user;
  if (h->lane != UINT32_MAX && at->lane != h->lane) return SCAN_GO_ON;
  h->many = h->list.len == HITS_MOST;
  if (h->many) return SCAN_STOP;
  vec_push(&h->list, ((Hit){r->record, 0, r->row->warp, at->lane, r->row->time}));
  return SCAN_GO_ON;
}

static int by_phase(const void *p, const void *q) {
  const Hit *a = p, *b = q;
  if (a->phase != b->phase) return a->phase < b->phase ? -1 : 1;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  if (a->record != b->record) return a->record < b->record ? -1 : 1;
  return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static bool gather(TraceReader *t, const TracePrivate *of, Hits *h, Error *err) {
  const ReaderLaunch *l = reader_launch(t, of->launch);
  if (!l) return error_set(err, "the run file has no launch %u.", of->launch);
  if (of->block >= l->blocks || of->thread >= l->threads)
    return error_set(err, "the launch has %llu blocks of %u threads only.",
                     (unsigned long long)l->blocks, l->threads);
  bool local = of->space == WG_TRACE_LOCAL;
  uint64_t first = of->block * l->warps, tag = (uint64_t)of->space << WG_TRACE_SPACE_AT;
  RangeScan scan = {.low = tag | of->address,
                    .high = (tag | of->address) + of->bytes,
                    .first_warp = local ? first + of->thread / 32 : first,
                    .last_warp = local ? first + of->thread / 32 : first + l->warps - 1};
  h->lane = local ? of->thread % 32 : UINT32_MAX;
  if (reader_scan_range(t, l, &scan, hit, h, err) == SCAN_FAILED) return false;
  Timelines lines = {.launch = l};
  bool ok = true;
  // the clock has 31 bits and may have begun anew
  uint32_t from = h->list.len ? h->list.data[0].time - (1u << 30) : 0;
  for (uint32_t i = 0; ok && i < h->list.len; i++) {
    Hit *x = &h->list.data[i];
    const Timeline *line = timeline_of(t, &lines, x->warp, err);
    ok = line != NULL;
    if (ok) x->phase = timeline_passed(line, x->record, x->lane);
    x->time = (x->time - from) & 0x7FFFFFFF;
  }
  timelines_free(&lines);
  if (ok && h->list.len) qsort(h->list.data, h->list.len, sizeof *h->list.data, by_phase);
  return ok;
}

static bool operation(TraceReader *t, const Hit *h, TraceOp *op, Error *err) {
  RowRef r;
  const ReaderStep *host;
  return reader_row(t, h->record, &r, &host, err) && !host && reader_op(t, &r, h->lane, op, err);
}

bool trace_of_private(TraceReader *t, const TracePrivate *of, uint64_t skip, uint32_t most,
                      TracePrivateOps *out, Error *err) {
  Hits h = {0};
  uint32_t cap = 0;
  *out = (TracePrivateOps){0};
  reader_begin(t);
  bool ok = gather(t, of, &h, err);
  uint32_t n = ok && skip < h.list.len ? (uint32_t)MIN((uint64_t)most, h.list.len - skip) : 0;
  out->phases = mem_alloc(sizeof *out->phases * (n + 1));
  for (uint32_t i = 0; ok && i < n; i++) {
    TraceOp op;
    ok = operation(t, &h.list.data[skip + i], &op, err);
    if (ok) ops_push(&out->ops, &op, &cap);
    out->phases[i] = h.list.data[skip + i].phase;
  }
  out->ops.more = skip + n < h.list.len;
  out->ops.total = h.list.len;
  out->ops.total_known = !h.many;
  reader_end(t);
  vec_free(&h.list);
  if (!ok) trace_private_free(out);
  return ok;
}

void trace_private_free(TracePrivateOps *o) {
  trace_ops_free(&o->ops);
  free(o->phases);
  o->phases = NULL;
}

// The contents of memory after the operation; false: not known.
static bool value_after(TraceReader *t, const TraceOp *op, uint8_t after[16], Error *err) {
  RowRef r;
  const ReaderStep *host;
  const ReaderSite *s = NULL;
  memcpy(after, op->value, 16);
  if (op->kind != TRACE_ATOMIC) return op->value_known;
  return op->value_known && op->old_known && reader_row(t, op->record, &r, &host, err) && !host &&
         row_kind(t, &r, &s) == TRACE_ATOMIC && s &&
         atomic_result(s, op->value, op->old, op->bytes, after);
}

bool trace_private_contents(TraceReader *t, const TracePrivate *of, uint64_t phase,
                            TracePrivateContents *out, Error *err) {
  Hits h = {0};
  memset(out->known, 0, of->bytes);
  memset(out->touched, 0, of->bytes);
  reader_begin(t);
  bool ok = gather(t, of, &h, err);
  out->phases = h.list.len ? h.list.data[h.list.len - 1].phase + 1 : 0;
  for (uint32_t i = 0; ok && i < h.list.len && h.list.data[i].phase <= phase; i++) {
    TraceOp op;
    uint8_t after[16];
    if (!(ok = operation(t, &h.list.data[i], &op, err))) break;
    bool writes = op.kind == TRACE_STORE || op.kind == TRACE_ATOMIC,
         now = value_after(t, &op, after, err);
    for (uint32_t b = 0; b < op.bytes; b++) {
      uint64_t at = op.address + b - of->address;
      if (at >= of->bytes) continue;
      if (h.list.data[i].phase == phase) out->touched[at] |= writes ? TRACE_WRITES : TRACE_READS;
      if (writes) out->known[at] = 2;
      if (!now || b >= 16 || (!writes && out->known[at])) continue;
      out->value[at] = after[b];
      out->known[at] = 1;
    }
  }
  reader_end(t);
  vec_free(&h.list);
  return ok;
}
