// Finds the reads that saw a write: looks up the writers of every later read of these bytes
// (order.c). If very many operations of the launch touched them, it looks only near the write, for
// reads of the value that the write left.
#include "trace/reader.h"

typedef struct Readers {
  const TraceOp *write;
  const Access *access;  // access: NULL: by the host
  TraceOps *out;
  uint64_t skip, seen, offered;
  uint32_t most, cap;
  bool all, *overwritten;
  uint64_t low, high;
  WritesKept kept;
} Readers;

static ScanResult found(Readers *x, const TraceOp *op) {
  if (x->seen++ < x->skip) return SCAN_GO_ON;
  if (x->out->n == x->most) {
    x->out->more = true;
    return SCAN_STOP;
  }
  ops_push(x->out, op, &x->cap);
  return SCAN_GO_ON;
}

// With very many writers, the value that was read decides.
static bool is_decided(Readers *x, const TraceOp *op, bool *saw) {
  const Access *w = x->access;
  bool atomic = op->kind == TRACE_ATOMIC;
  if (x->all || !w || !w->value_known || !(x->kept.many || x->out->some) ||
      op->address != w->address || op->bytes != w->bytes ||
      !(atomic ? op->old_known : op->value_known))
    return false;
  *saw = memcmp(atomic ? op->old : op->value, w->value, w->bytes) == 0;
  return x->out->some = true;
}

static ScanResult offer(TraceReader *t, Readers *x, const TraceOp *op, Error *err) {
  TraceWriters w;
  bool saw = false;
  if (is_decided(x, op, &saw)) return saw ? found(x, op) : SCAN_GO_ON;
  if (x->offered++ >= READS_MOST && !x->all) {
    x->out->some = true;
    return SCAN_STOP;
  }
  if (!reader_writers_of(t, op, x->all, &x->kept, &w, err)) return SCAN_FAILED;
  for (uint32_t i = 0; i < w.ops.n; i++)
    saw |= w.ops.list[i].record == x->write->record && w.ops.list[i].lane == x->write->lane;
  trace_ops_free(&w.ops);
  x->out->some |= w.some && !saw;  // not all writers were looked at: it may have seen this one
  return saw ? found(x, op) : SCAN_GO_ON;
}

// --- in the launch of the write ---
static bool is_itself(const Readers *x, uint64_t record, uint32_t lane) {
  return record == x->write->record && lane == x->write->lane;
}

typedef struct Fitting {
  const Readers *x;
  Accesses list;
  const TraceBlock *block;
  uint32_t nblocks;
} Fitting;
static ScanResult fitting(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                          Error *err) {
  Fitting *f = user;
  const Access *w = f->x->access;
  if (r->block != f->block) {
    f->block = r->block;
    f->nblocks++;
  }
  if (f->nblocks > GATHERED_BLOCKS_MOST || f->list.len == READS_MOST) return SCAN_STOP;
  if (at->address != w->address || at->bytes != w->bytes || is_itself(f->x, r->record, at->lane) ||
      row_kind(t, r, NULL) == TRACE_STORE)
    return SCAN_GO_ON;
  Access a;
  if (!access_of(t, r, at, &a, err)) return SCAN_FAILED;
  bool atomic = a.kind == TRACE_ATOMIC;
  if ((atomic ? a.old_known : a.value_known) &&
      memcmp(atomic ? a.old : a.value, w->value, w->bytes) == 0)
    vec_push(&f->list, a);
  return SCAN_GO_ON;
}

static ScanResult offer_fitting(TraceReader *t, Readers *x, const ReaderLaunch *l,
                                const RangeScan *scan, Error *err) {
  x->out->some = true;
  if (!x->access->value_known) return SCAN_GO_ON;
  Fitting f = {.x = x};
  Timelines lines = {.launch = l};
  uint32_t n;
  const ReaderChunk **chunks = reader_chunks_near(t, l, scan, x->access, &n);
  ScanResult result = reader_scan_chunks(t, chunks, n, scan, &(LaneCall){fitting, &f}, err);
  free(chunks);
  accesses_sort(&f.list);
  if (result != SCAN_FAILED) result = SCAN_GO_ON;
  for (uint32_t i = 0; i < f.list.len && result == SCAN_GO_ON; i++) {
    const Access *a = &f.list.data[i];
    TraceOp op;
    Relation relation = access_relation(t, &lines, x->access, a, err);
    if (relation == RELATION_FAILED || !trace_one(t, a->record, a->lane, &op, err))
      result = SCAN_FAILED;
    else if (relation != RELATION_AFTER) result = found(x, &op);
  }
  vec_free(&f.list);
  timelines_free(&lines);
  return result;
}

// Rows of one warp are in the order in which they happened: a row before the write has not seen it,
// nor has a row after the warp's next write of all its bytes. A loop that adds to one place has
// many such rows.
static uint64_t next_of_warp(const Readers *x, const Accesses *all) {
  const Access *w = x->access;
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < all->len; i++) {
    const Access *a = &all->data[i];
    if (a->warp == w->warp && a->record > w->record && access_writes(a) && !a->told &&
        a->address <= w->address && a->address + a->bytes >= w->address + w->bytes)
      next = MIN(next, a->record);
  }
  return next;
}

static ScanResult in_own_launch(TraceReader *t, Readers *x, const ReaderLaunch *l,
                                const RangeScan *scan, Error *err) {
  GatheredAccesses all = {0};
  Sought sought = {.near = x->access, .most = READS_MOST};
  ScanResult result = SCAN_GO_ON;
  if (!accesses_gather(t, l, scan, x->all ? NULL : &sought, &all, err)) result = SCAN_FAILED;
  else if (all.how != GATHERED_ALL && !x->all) result = offer_fitting(t, x, l, scan, err);
  else {
    uint64_t next = next_of_warp(x, &all.list);
    for (uint32_t i = 0; i < all.list.len && result == SCAN_GO_ON; i++) {
      const Access *a = &all.list.data[i];
      TraceOp op;
      if (a->warp == x->access->warp && !x->access->told &&
          (a->record < x->access->record || a->record > next))
        continue;
      if (is_itself(x, a->record, a->lane) || a->kind == TRACE_STORE) continue;
      result = trace_one(t, a->record, a->lane, &op, err) ? offer(t, x, &op, err) : SCAN_FAILED;
    }
  }
  vec_free(&all.list);
  return result;
}

// --- in later steps ---
static ScanResult read_lane(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                            Error *err) {
  Readers *x = user;
  TraceOp op;
  if (row_writes(t, r) && x->overwritten)
    for (uint64_t a = MAX(at->address, x->low); a < MIN(at->address + at->bytes, x->high); a++)
      x->overwritten[a - x->low] = true;
  if (row_kind(t, r, NULL) == TRACE_STORE) return SCAN_GO_ON;
  return reader_op(t, r, at->lane, &op, err) ? offer(t, x, &op, err) : SCAN_FAILED;
}

static bool all_overwritten(const Readers *x) {
  if (!x->overwritten) return false;
  for (uint64_t i = 0; i < x->high - x->low; i++)
    if (!x->overwritten[i]) return false;
  return true;
}

static ScanResult in_step(TraceReader *t, const ReaderStep *s, Readers *x, Error *err) {
  if (s->launch) {
    const ReaderLaunch *l = &t->launches[s->launch - 1];
    RangeScan scan = {.low = x->low, .high = x->high, .values = true};
    bool own = x->access && l == x->kept.launch;
    if (own && x->write->space) {
      scan.first_warp = x->access->warp / l->warps * l->warps;
      scan.last_warp = scan.first_warp + l->warps - 1;
    }
    return own          ? in_own_launch(t, x, l, &scan, err)
           : l->nchunks ? reader_scan_range(t, l, &scan, read_lane, x, err)
                        : SCAN_GO_ON;
  }
  uint64_t at, n;
  if (step_touches(s, true, x->low, x->high, &at, &n) && s->first_record != x->write->record) {
    TraceOp op;
    if (!reader_host_op(t, s, 1, (HostRange){at, n}, &op, err)) return SCAN_FAILED;
    ScanResult result = offer(t, x, &op, err);
    if (result != SCAN_GO_ON) return result;
  }
  for (uint64_t low = x->low; x->overwritten && s->first_record != x->write->record &&
                              step_touches(s, false, low, x->high, &at, &n);
       low = at + n)
    memset(x->overwritten + (at - x->low), 1, n);
  return SCAN_GO_ON;
}

static bool find_readers(TraceReader *t, const TraceOp *op, uint32_t first, uint64_t bytes,
                         Readers *x, Error *err) {
  uint32_t process = t->steps[first].process,
           allocation = op->space
                            ? 0
                            : reader_allocation_at(t, process, op->address, t->steps[first].order);
  ScanResult result = SCAN_GO_ON;
  // for a copy, all later steps are searched
  if (x->access) x->overwritten = mem_alloc(bytes + 1);
  for (uint32_t i = first; i < t->nsteps && result == SCAN_GO_ON && !all_overwritten(x); i++) {
    if (t->steps[i].process != process || (op->space && i > first)) continue;
    if (allocation && i > first && t->steps[i].launch == 0 &&
        reader_allocation_at(t, process, op->address, t->steps[i].order) != allocation)
      break;
    x->out->cut |= t->steps[i].cut;
    result = in_step(t, &t->steps[i], x, err);
  }
  free(x->overwritten);
  x->out->some |= x->kept.some;
  writes_kept_free(&x->kept);
  if (!x->out->more && !x->out->some && !x->out->cut) {
    x->out->total = x->seen;
    x->out->total_known = true;
  }
  return result != SCAN_FAILED;
}

bool trace_readers(TraceReader *t, TraceOpId write, TracePage page, bool all, TraceOps *out,
                   Error *err) {
  uint64_t record = write.record;
  uint32_t lane = write.lane;
  *out = (TraceOps){0};
  TraceOp op;
  RowRef r = {0};
  const ReaderStep *host;
  if (!trace_one(t, record, lane, &op, err) || !reader_row(t, record, &r, &host, err)) return false;
  if (op.kind == TRACE_LOAD || op.kind == TRACE_SYNC || op.kind == TRACE_VALUE || (host && lane))
    return error_set(err, "this operation writes no memory.");
  if (host && host->to_host) return error_set(err, "this copy goes to memory of the host.");
  const ReaderLaunch *l = host ? NULL : &t->launches[r.chunk->launch];
  uint64_t low = op.address | (uint64_t)op.space << WG_TRACE_SPACE_AT,
           bytes = host ? host->width : op.bytes;
  Access self;
  if (!host && !access_of(t, &r, &(LaneAccess){lane, op.bytes, low}, &self, err)) return false;
  Readers x = {.write = &op,
               .access = host ? NULL : &self,
               .out = out,
               .skip = page.skip,
               .most = page.most,
               .all = all,
               .low = low,
               .high = low + bytes,
               .kept = {.reader = t,
                        .low = low,
                        .high = low + MIN(bytes, (uint64_t)16),
                        .launch = l,
                        .write = host ? NULL : &self,
                        .all = all}};
  if (find_readers(t, &op, host ? (uint32_t)(host - t->steps) : l->step, bytes, &x, err))
    return true;
  trace_ops_free(out);
  return false;
}
