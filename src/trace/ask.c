// The plain questions: a thread's operations, an element's, one operation.
#include "trace/reader.h"

void trace_ops_free(TraceOps *o) {
  free(o->list);
  *o = (TraceOps){0};
}

void ops_push(TraceOps *o, const TraceOp *op, uint32_t *cap) {
  if (o->n == *cap) {
    *cap = MAX(64u, *cap * 2);
    o->list = mem_realloc(o->list, sizeof *o->list * *cap);
  }
  o->list[o->n++] = *op;
}

// A page of answers: `skip` are passed over, `most` kept, and one more is looked for.
typedef struct Page {
  TraceOps *out;
  uint64_t skip, seen;
  uint32_t most, cap;
  uint32_t lane;
  const ReaderLaunch *launch;
  U64Map threads;
  bool each_thread_once;
} Page;

static ScanResult page_add(TraceReader *t, Page *p, const RowRef *r, uint32_t lane, Error *err) {
  if (p->seen++ < p->skip) return SCAN_GO_ON;
  if (p->out->n == p->most) {
    p->out->more = true;
    return SCAN_STOP;
  }
  TraceOp op;
  if (!reader_op(t, r, lane, &op, err) || !reader_fill_load(t, &op, err)) return SCAN_FAILED;
  ops_push(p->out, &op, &p->cap);
  return SCAN_GO_ON;
}

static bool page_end(Page *p, ScanResult result) {
  if (result == SCAN_FAILED) {
    trace_ops_free(p->out);
    return false;
  }
  if (!p->out->more) {
    p->out->total = p->seen;
    p->out->total_known = true;
  }
  return true;
}

static ScanResult thread_row(TraceReader *t, const RowRef *r, void *user, Error *err) {
  Page *p = user;
  return r->row->lanes >> p->lane & 1 ? page_add(t, p, r, p->lane, err) : SCAN_GO_ON;
}

bool trace_of_thread(TraceReader *t, uint32_t launch, uint64_t thread, TracePage page,
                     TraceOps *out, Error *err) {
  *out = (TraceOps){0};
  const ReaderLaunch *l = reader_launch(t, launch);
  if (!l) return error_set(err, "the run file has no launch %u.", launch);
  if (thread >= l->blocks * l->threads)
    return error_set(err, "the launch has %llu threads only.",
                     (unsigned long long)(l->blocks * l->threads));
  uint64_t block = thread / l->threads, inside = thread % l->threads;
  Page p = {.out = out, .skip = page.skip, .most = page.most, .lane = (uint32_t)(inside % 32)};
  return page_end(&p, reader_scan_warp(t, l, block * l->warps + inside / 32, thread_row, &p, err));
}

static ScanResult element_lane(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                               Error *err) {
  Page *p = user;
  if (p->each_thread_once) {
    uint64_t thread = reader_thread(p->launch, r->row->warp, at->lane);
    if (u64map_get(&p->threads, thread)) return SCAN_GO_ON;
    u64map_put(&p->threads, thread, p);
  }
  return page_add(t, p, r, at->lane, err);
}

static ScanResult host_element(TraceReader *t, const ReaderStep *s, uint64_t address,
                               uint64_t bytes, Page *p, Error *err) {
  for (uint32_t reads = 0; reads < 2; reads++) {
    uint64_t at, n;
    if (!step_touches(s, reads, address, address + bytes, &at, &n)) continue;
    if (p->seen++ < p->skip) continue;
    if (p->out->n == p->most) {
      p->out->more = true;
      return SCAN_STOP;
    }
    TraceOp op;
    if (!reader_host_op(t, s, reads, (HostRange){at, n}, &op, err)) return SCAN_FAILED;
    ops_push(p->out, &op, &p->cap);
  }
  return SCAN_GO_ON;
}

// Within a launch the clock of the device says what came first, if it is not too much to sort; else
// warp for warp.
enum { SORTED_MOST = 256, BLOCKS_AT_ONCE = 192 };
typedef struct Hit {
  uint64_t record;
  uint32_t lane, time;
} Hit;
typedef struct Hits {
  Hit list[SORTED_MOST];
  uint32_t n;
  bool many;
} Hits;

static ScanResult hit(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                      Error *err) {
  (void)t;
  (void)err;
  Hits *h = user;
  h->many = h->n == SORTED_MOST;
  if (h->many) return SCAN_STOP;
  h->list[h->n++] = (Hit){r->record, at->lane, r->row->time};
  return SCAN_GO_ON;
}

static int by_time(const void *p, const void *q) {
  const Hit *a = p, *b = q;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  if (a->record != b->record) return a->record < b->record ? -1 : 1;
  return a->lane < b->lane ? -1 : a->lane > b->lane;
}

// Whether it is too much, as far as postings tell: a block that is in them has an access at least.
static bool touched_often(TraceReader *t, const ReaderLaunch *l, const RangeScan *scan, bool *often,
                          Error *err) {
  BlockSet set = {0};
  uint64_t n = 0;
  bool ok = true;
  uint32_t ahead = 0, window = 8, nchunks;
  const ReaderChunk **chunks = reader_chunks_in_range(t, l, scan, &nchunks);
  VEC(Want) blocks = {0};
  for (uint32_t i = 0; i < nchunks && ok && n <= SORTED_MOST; i++) {
    if (!t->scanning) reader_cache_trim(t);
    if (i >= ahead) ahead = reader_chunks_ahead(t, chunks, nchunks, i, &window, scan);
    PostingQuery all = {.low = scan->low, .high = scan->high};
    ok = reader_blocks_touching(t, chunks[i], &all, &set, err);
    for (uint32_t k = 0; ok && k < set.n; k++)
      vec_push(&blocks, (Want){.chunk = chunks[i], .part = PART_ROWS + set.list[k]});
    n += set.n;
  }
  free(chunks);
  free(set.list);
  *often = n > SORTED_MOST;
  // All of them will be looked at, as many as the cache keeps; but not all values, if they are
  // many.
  RangeScan few = *scan;
  few.few_values = true;
  blocks.len = MIN(blocks.len, (uint32_t)BLOCKS_AT_ONCE);
  for (uint32_t k = 0; ok && !*often && k < blocks.len; k++) {
    blocks.data[k].what = &few;
    ok = (blocks.data[k].directory = reader_directory(t, blocks.data[k].chunk, err)) != NULL;
  }
  if (ok && !*often) reader_ahead(t, blocks.data, blocks.len);
  vec_free(&blocks);
  return ok;
}

// Values of those that come on the page.
static void page_ahead(TraceReader *t, const Hits *h, const Page *p, const RangeScan *scan) {
  RangeScan values = *scan;
  values.values = true;
  Want list[BLOCKS_AT_ONCE];
  uint32_t n = 0;
  uint64_t from = p->skip > p->seen ? p->skip - p->seen : 0,
           upto = from + (p->most - MIN(p->most, p->out->n));
  for (uint64_t i = from; i < MIN((uint64_t)h->n, upto) && n < BLOCKS_AT_ONCE; i++) {
    Want w;
    bool known = !reader_want_of(t, h->list[i].record, &w);
    for (uint32_t k = 0; k < n && !known; k++)
      known = list[k].chunk == w.chunk && list[k].part == w.part;
    w.what = &values;
    if (!known) list[n++] = w;
  }
  reader_ahead(t, list, n);
}

static ScanResult element_in_launch(TraceReader *t, const ReaderLaunch *l, const RangeScan *scan,
                                    Page *p, Error *err) {
  bool often;
  if (!touched_often(t, l, scan, &often, err)) return SCAN_FAILED;
  if (often) return reader_scan_range(t, l, scan, element_lane, p, err);
  Hits *h = mem_alloc(sizeof *h);
  RangeScan places = *scan;
  places.values = false;
  ScanResult result = reader_scan_range(t, l, &places, hit, h, err);
  if (h->many && result != SCAN_FAILED) {
    free(h);
    return reader_scan_range(t, l, scan, element_lane, p, err);
  }
  // The clock has 31 bits and may have begun anew: from half of them before the first one seen.
  uint32_t from = h->n ? h->list[0].time - (1u << 30) : 0;
  for (uint32_t i = 0; i < h->n; i++) h->list[i].time = (h->list[i].time - from) & 0x7FFFFFFF;
  qsort(h->list, h->n, sizeof *h->list, by_time);
  page_ahead(t, h, p, scan);
  result = result == SCAN_FAILED ? result : SCAN_GO_ON;
  for (uint32_t i = 0; i < h->n && result == SCAN_GO_ON; i++) {
    RowRef r;
    const ReaderStep *host;
    if (p->seen < p->skip) p->seen++;
    else
      result = reader_row(t, h->list[i].record, &r, &host, err) && !host
                   ? page_add(t, p, &r, h->list[i].lane, err)
                   : SCAN_FAILED;
  }
  free(h);
  return result;
}

bool trace_of_element(TraceReader *t, uint32_t allocation, TraceBytes at, TracePage page,
                      TraceOps *out, Error *err) {
  *out = (TraceOps){0};
  Life life;
  if (!reader_life(t, allocation, &life, err)) return false;
  if (at.address < life.base || at.address - life.base > life.size ||
      at.bytes > life.size - (at.address - life.base))
    return error_set(err, "the allocation begins at 0x%llx and has %llu bytes.",
                     (unsigned long long)life.base, (unsigned long long)life.size);
  Page p = {.out = out, .skip = page.skip, .most = page.most};
  RangeScan scan = {.low = at.address, .high = at.address + at.bytes, .values = !page.skip};
  ScanResult result = SCAN_GO_ON;
  reader_begin(t);
  for (uint32_t i = 0; i < t->nsteps && result == SCAN_GO_ON; i++) {
    const ReaderStep *s = &t->steps[i];
    if (s->process != life.process || s->order < life.born || s->order >= life.died) continue;
    if (!s->launch) result = host_element(t, s, at.address, at.bytes, &p, err);
    else if (t->launches[s->launch - 1].nchunks)
      result = element_in_launch(t, &t->launches[s->launch - 1], &scan, &p, err);
  }
  reader_end(t);
  return page_end(&p, result);
}

bool trace_touching(TraceReader *t, uint32_t launch, TraceBytes at, TracePage page, TraceOps *out,
                    Error *err) {
  *out = (TraceOps){0};
  const ReaderLaunch *l = reader_launch(t, launch);
  if (!l) return error_set(err, "the run file has no launch %u.", launch);
  Page p = {
      .out = out, .skip = page.skip, .most = page.most, .launch = l, .each_thread_once = true};
  RangeScan scan = {.low = at.address, .high = at.address + at.bytes, .values = !page.skip};
  bool ok = page_end(&p, reader_scan_range(t, l, &scan, element_lane, &p, err));
  u64map_free(&p.threads);
  return ok;
}

bool trace_one(TraceReader *t, uint64_t record, uint32_t lane, TraceOp *out, Error *err) {
  RowRef r;
  const ReaderStep *host;
  if (!reader_row(t, record, &r, &host, err)) return false;
  if (host) {
    uint64_t address = lane ? host->source : host->destination;
    return (lane <= (host->kind == STEP_COPY) ||
            error_set(err, "operation %llu has no lane %u.", (unsigned long long)record, lane)) &&
           reader_host_op(t, host, lane, (HostRange){address, host->width}, out, err);
  }
  if (lane > 31 || !(r.row->lanes >> lane & 1))
    return error_set(err, "lane %u did not take part in operation %llu.", lane,
                     (unsigned long long)record);
  return reader_op(t, &r, lane, out, err) && reader_fill_load(t, out, err);
}
