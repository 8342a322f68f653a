// Simple queries: a thread's operations, an element's operations, one operation.
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
  // not NULL: keeps no operations, looks for this one's number
  const TraceSought *sought;
  int64_t index;
} Page;

static ScanResult page_seek(Page *p, uint64_t record, uint32_t lane, bool writes) {
  const TraceSought *w = p->sought;
  uint64_t number = p->seen++;
  bool this_one = w->record && record == w->record && lane == w->lane;
  if (this_one || (!w->record && (writes || !w->writes_only))) p->index = (int64_t)number;
  return this_one || p->seen >= w->most || (p->seen >= w->first && clock_ns() > w->deadline)
             ? SCAN_STOP
             : SCAN_GO_ON;
}

static ScanResult page_add(TraceReader *t, Page *p, const RowRef *r, uint32_t lane, Error *err) {
  if (p->sought) return page_seek(p, r->record, lane, row_writes(t, r));
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
    if (p->sought) {
      if (page_seek(p, s->first_record, reads, !reads) == SCAN_STOP) return SCAN_STOP;
      continue;
    }
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

// Operations of a launch are sorted by the device's clock, if there are few enough; else they come
// warp by warp.
enum { SORTED_MOST = 256, BLOCKS_AT_ONCE = 192 };
typedef struct Hit {
  uint64_t record;
  uint32_t lane, time;
  bool writes;
} Hit;
typedef struct Hits {
  Hit list[SORTED_MOST];
  uint32_t n;
  bool many;
} Hits;

static ScanResult hit(TraceReader *t, const RowRef *r, const LaneAccess *at, void *user,
                      Error *err) {
  (void)err;
  Hits *h = user;
  h->many = h->n == SORTED_MOST;
  if (h->many) return SCAN_STOP;
  h->list[h->n++] = (Hit){r->record, at->lane, r->row->time, row_writes(t, r)};
  return SCAN_GO_ON;
}

static int by_time(const void *p, const void *q) {
  const Hit *a = p, *b = q;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  if (a->record != b->record) return a->record < b->record ? -1 : 1;
  return a->lane < b->lane ? -1 : a->lane > b->lane;
}

// Whether there are too many to sort, as far as postings tell: each of their blocks has at least
// one access.
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
  // Unpacks all of these blocks, as many as the cache keeps; but not all of their values, if these
  // are many.
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

// Unpacks the values of the operations on the page.
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

// Launches whose blocks are unpacked together: a launch of a long run has few blocks that touch an
// element, and a single block keeps only one processor busy.
enum { LAUNCHES_AT_ONCE = 64, FEW_BLOCKS = 8 };
typedef struct LaunchesAhead {
  const Life *life;
  uint32_t upto, window;  // step; launches
} LaunchesAhead;

static bool is_alive(const Life *life, const ReaderStep *s) {
  return s->process == life->process && s->order >= life->born && s->order < life->died;
}

static void launches_ahead(TraceReader *t, LaunchesAhead *a, uint32_t step, const RangeScan *scan) {
  if (step < a->upto) return;
  if (!t->scanning) reader_cache_trim(t);
  VEC(const ReaderChunk *) chunks = {0};
  VEC(Want) blocks = {0};
  for (uint32_t launches = 0; step < t->nsteps && launches < a->window; step++) {
    const ReaderStep *s = &t->steps[step];
    const ReaderLaunch *l = s->launch ? &t->launches[s->launch - 1] : NULL;
    uint32_t before = chunks.len;
    for (uint32_t i = 0; l && is_alive(a->life, s) && i < l->nchunks; i++)
      if (chunk_in_range(&t->chunks[l->first_chunk + i], scan))
        vec_push(&chunks, &t->chunks[l->first_chunk + i]);
    launches += chunks.len > before;
  }
  a->upto = step;
  a->window = MIN(a->window * 2, (uint32_t)LAUNCHES_AT_ONCE);
  RangeScan few = *scan;
  few.few_values = true;
  BlockSet set = {0};
  Error none = {{0}};  // a later read of the part reports the error
  PostingQuery all = {.low = scan->low, .high = scan->high};
  reader_ahead_postings(t, chunks.data, chunks.len, scan);
  for (uint32_t i = 0; i < chunks.len && blocks.len < BLOCKS_AT_ONCE; i++) {
    const ChunkDirectory *d = reader_directory(t, chunks.data[i], &none);
    if (!d || !reader_blocks_touching(t, chunks.data[i], &all, &set, &none)) break;
    for (uint32_t k = 0; k < set.n && set.n <= FEW_BLOCKS && blocks.len < BLOCKS_AT_ONCE; k++)
      vec_push(&blocks, ((Want){.chunk = chunks.data[i],
                                .directory = d,
                                .part = PART_ROWS + set.list[k],
                                .what = &few}));
  }
  reader_ahead(t, blocks.data, blocks.len);
  free(set.list);
  vec_free(&blocks);
  vec_free(&chunks);
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
  // The clock has 31 bits and may have wrapped: counts from half its range before the first time.
  uint32_t from = h->n ? h->list[0].time - (1u << 30) : 0;
  for (uint32_t i = 0; i < h->n; i++) h->list[i].time = (h->list[i].time - from) & 0x7FFFFFFF;
  qsort(h->list, h->n, sizeof *h->list, by_time);
  if (!p->sought) page_ahead(t, h, p, scan);
  result = result == SCAN_FAILED ? result : SCAN_GO_ON;
  for (uint32_t i = 0; i < h->n && result == SCAN_GO_ON; i++) {
    RowRef r;
    const ReaderStep *host;
    if (p->sought) result = page_seek(p, h->list[i].record, h->list[i].lane, h->list[i].writes);
    else if (p->seen < p->skip) p->seen++;
    else
      result = reader_row(t, h->list[i].record, &r, &host, err) && !host
                   ? page_add(t, p, &r, h->list[i].lane, err)
                   : SCAN_FAILED;
  }
  free(h);
  return result;
}

// Remembers how many operations each step has on the element, so that the next pages need not count
// again.
static uint32_t *counts_of(TraceReader *t, uint32_t allocation, TraceBytes at) {
  uint64_t low = at.address, high = at.address + at.bytes;
  if (!t->counts.of_step || t->counts.allocation != allocation || t->counts.low != low ||
      t->counts.high != high) {
    free(t->counts.of_step);
    t->counts.of_step = mem_alloc(sizeof *t->counts.of_step * (t->nsteps + 1));
    t->counts.allocation = allocation;
    t->counts.low = low;
    t->counts.high = high;
  }
  return t->counts.of_step;
}

static ScanResult element_in_steps(TraceReader *t, uint32_t allocation, TraceBytes at, Page *p,
                                   Error *err) {
  Life life;
  if (!reader_life(t, allocation, &life, err)) return SCAN_FAILED;
  if (at.address < life.base || at.address - life.base > life.size ||
      at.bytes > life.size - (at.address - life.base)) {
    error_set(err, "the allocation begins at 0x%llx and has %llu bytes.",
              (unsigned long long)life.base, (unsigned long long)life.size);
    return SCAN_FAILED;
  }
  RangeScan scan = {
      .low = at.address, .high = at.address + at.bytes, .values = !p->skip && !p->sought};
  LaunchesAhead ahead = {.life = &life, .window = 4};
  uint32_t *counts = counts_of(t, allocation, at);
  ScanResult result = SCAN_GO_ON;
  reader_begin(t);
  for (uint32_t i = 0; i < t->nsteps && result == SCAN_GO_ON; i++) {
    const ReaderStep *s = &t->steps[i];
    if (!is_alive(&life, s)) continue;
    if (p->sought && !p->sought->record && s->id > p->sought->step) break;
    if (counts[i] && p->seen + counts[i] - 1 <= p->skip) {
      p->seen += counts[i] - 1;
      continue;
    }
    uint64_t before = p->seen;
    launches_ahead(t, &ahead, i, &scan);
    if (!s->launch) result = host_element(t, s, at.address, at.bytes, p, err);
    else if (t->launches[s->launch - 1].nchunks)
      result = element_in_launch(t, &t->launches[s->launch - 1], &scan, p, err);
    if (result == SCAN_GO_ON) counts[i] = (uint32_t)MIN(p->seen - before + 1, (uint64_t)UINT32_MAX);
  }
  reader_end(t);
  return result;
}

bool trace_of_element(TraceReader *t, uint32_t allocation, TraceBytes at, TracePage page,
                      TraceOps *out, Error *err) {
  *out = (TraceOps){0};
  Page p = {.out = out, .skip = page.skip, .most = page.most};
  return page_end(&p, element_in_steps(t, allocation, at, &p, err));
}

bool trace_element_index(TraceReader *t, uint32_t allocation, TraceBytes at,
                         const TraceSought *sought, int64_t *index, Error *err) {
  Page p = {.sought = sought, .index = -1};
  bool ok = element_in_steps(t, allocation, at, &p, err) != SCAN_FAILED;
  *index = p.index;
  return ok;
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
