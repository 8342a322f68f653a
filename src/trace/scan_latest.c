// Visits writes of a launch to some bytes, the latest first. Blocks come in the order of their last
// access, so that few of them settle bytes that are written often, and others need not be unpacked
// for those bytes.
#include "trace/reader.h"

enum { AT_ONCE = 8, DIRECTORIES_AHEAD = 64 };
// postings: of the range, block for block, once they were needed
typedef struct LateChunk {
  uint32_t time;
  const ReaderChunk *chunk;
  Posting *postings;
} LateChunk;
// which of the chunk's postings; time: as they are sorted
typedef struct LateBlock {
  uint32_t time, chunk, block, first, n;
} LateBlock;
typedef struct Latest {
  const LatestScan *scan;
  LateChunk *chunks;
  uint32_t nchunks, next, ahead, window;
  VEC(LateBlock) heap;  // the latest in front
  uint32_t base;        // what times are counted from
} Latest;

static int latest_first(const void *p, const void *q) {
  const LateChunk *a = p, *b = q;
  return a->time != b->time            ? (a->time > b->time ? -1 : 1)
         : a->chunk->id > b->chunk->id ? -1
                                       : a->chunk->id < b->chunk->id;
}

static void find_chunks(TraceReader *t, const ReaderLaunch *l, Latest *x) {
  RangeScan range = {.low = x->scan->low, .high = x->scan->high};
  x->chunks = mem_alloc(sizeof *x->chunks * (l->nchunks + 1));
  x->base = t->chunks[l->first_chunk].last_time - (1u << 30);
  for (uint32_t i = 0; i < l->nchunks; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (chunk_in_range(c, &range))
      x->chunks[x->nchunks++] = (LateChunk){(c->last_time - x->base) & 0x7FFFFFFF, c, NULL};
  }
  if (x->nchunks) qsort(x->chunks, x->nchunks, sizeof *x->chunks, latest_first);
}

// --- blocks, a heap ---
static void heap_push(Latest *x, LateBlock b) {
  vec_push(&x->heap, b);
  LateBlock *h = x->heap.data;
  uint32_t i = x->heap.len - 1;
  for (; i && h[(i - 1) / 2].time < b.time; i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
  h[i] = b;
}

static LateBlock heap_pop(Latest *x) {
  LateBlock *h = x->heap.data, top = h[0], last = h[--x->heap.len];
  uint32_t i = 0, n = x->heap.len;
  for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && h[child + 1].time > h[child].time) child++;
    if (h[child].time <= last.time) break;
    h[i] = h[child];
  }
  if (n) h[i] = last;
  return top;
}

static bool is_open(const Latest *x, uint64_t start, uint64_t end, uint32_t time) {
  return x->scan->open(x->scan->user, start, end, (time + x->base) & 0x7FFFFFFF);
}

// Groups the postings of a chunk by block, and puts its blocks into the heap.
static bool add_blocks(TraceReader *t, Latest *x, uint32_t index, Error *err) {
  LateChunk *l = &x->chunks[index];
  const ChunkDirectory *d = reader_directory(t, l->chunk, err);
  if (!d) return false;
  uint32_t widest = 0;
  bool any = false;
  for (uint32_t i = 0; i < d->nplaces; i++) {
    any |= d->writes[i] && directory_may_touch(d, i, x->scan->low, x->scan->high);
    // accesses may be wider than postings know
    if (d->writes[i] && d->place_bytes[i] > place_width(&d->places[i]))
      widest = MAX(widest, d->place_bytes[i]);
  }
  PostingVec all = {0};
  OpenBytes open = {x->scan->low, x->scan->high, x->scan->state, widest};
  PostingQuery writes = {.low = x->scan->low - MIN(x->scan->low, (uint64_t)widest),
                         .high = x->scan->high,
                         .places = d->writes,
                         .open = &open};
  bool ok = !any || reader_postings(t, l->chunk, &writes, &all, err);
  // by block: where its next posting goes
  uint32_t *end = mem_alloc(sizeof *end * (d->nblocks + 1));
  for (uint32_t i = 0; i < all.len; i++) end[all.data[i].block + 1]++;
  for (uint32_t i = 0; i < d->nblocks; i++) end[i + 1] += end[i];
  l->postings = mem_alloc(sizeof *l->postings * (all.len + 1));
  for (uint32_t i = 0; i < all.len; i++) {
    all.data[i].end += widest;
    l->postings[end[all.data[i].block]++] = all.data[i];
  }
  for (uint32_t i = 0, from = 0; i < d->nblocks && ok; from = end[i++])
    if (end[i] > from)
      heap_push(x, (LateBlock){l->time - MIN(l->time, d->blocks[i].earlier), index, i, from,
                               end[i] - from});
  free(end);
  vec_free(&all);
  return ok;
}

static void directories_ahead(TraceReader *t, Latest *x) {
  if (x->next < x->ahead) return;
  Want list[DIRECTORIES_AHEAD];
  uint32_t n = 0;
  for (; x->ahead < x->nchunks && n < x->window; x->ahead++)
    list[n++] = (Want){.chunk = x->chunks[x->ahead].chunk, .part = PART_DIRECTORY};
  // the first ones may have what is sought
  x->window = MIN(x->window * 2, (uint32_t)DIRECTORIES_AHEAD);
  reader_ahead(t, list, n);
}

static bool still_wanted(const Latest *x, const LateBlock *b) {
  const Posting *p = x->chunks[b->chunk].postings + b->first;
  for (uint32_t i = 0; i < b->n; i++)
    if (is_open(x, p[i].start, p[i].end, b->time)) return true;
  return false;
}

// The next block that may decide something; false: none, or (err) damaged
static bool next_block(TraceReader *t, Latest *x, LateBlock *out, bool *failed, Error *err) {
  for (;;) {
    while (x->next < x->nchunks &&
           (!x->heap.len || x->chunks[x->next].time >= x->heap.data[0].time)) {
      uint32_t i = x->next;
      if (is_open(x, x->scan->low, x->scan->high, x->chunks[i].time)) {
        directories_ahead(t, x);
        if (!add_blocks(t, x, i, err)) {
          *failed = true;
          return false;
        }
      }
      x->next++;
    }
    if (!x->heap.len) return false;
    *out = heap_pop(x);
    if (still_wanted(x, out)) return true;
  }
}

typedef struct BlockScan {
  LateBlock block;
  RangeScan scan;
  const Latest *all;
} BlockScan;
static bool wanted(const void *user, uint64_t start, uint64_t end) {
  const BlockScan *b = user;
  return is_open(b->all, start, end, b->block.time);
}

static ScanResult some_blocks(TraceReader *t, Latest *x, bool *more, Error *err) {
  BlockScan list[AT_ONCE];
  Want wants[AT_ONCE];
  uint32_t n = 0;
  bool failed = false;
  while (n < AT_ONCE && next_block(t, x, &list[n].block, &failed, err)) n++;
  *more = n == AT_ONCE;
  for (uint32_t i = 0; i < n && !failed; i++) {
    BlockScan *b = &list[i];
    const ReaderChunk *c = x->chunks[b->block.chunk].chunk;
    b->all = x;
    b->scan = (RangeScan){.low = x->scan->low,
                          .high = x->scan->high,
                          .writes_only = true,
                          .values = true,
                          .wanted = wanted,
                          .user = b};
    wants[i] = (Want){c, reader_directory(t, c, err), PART_ROWS + b->block.block, true, &b->scan};
    failed = !wants[i].directory;
  }
  if (failed) return SCAN_FAILED;
  reader_ahead(t, wants, n);
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < n && result == SCAN_GO_ON; i++)
    if (still_wanted(x, &list[i].block))
      result = reader_scan_range_block(t, wants[i].chunk, list[i].block.block, &list[i].scan,
                                       &(LaneCall){x->scan->visit, x->scan->user}, err);
  return result;
}

ScanResult reader_scan_latest(TraceReader *t, const ReaderLaunch *l, const LatestScan *scan,
                              Error *err) {
  Latest x = {.scan = scan, .window = 4};
  find_chunks(t, l, &x);
  ScanResult result = SCAN_GO_ON;
  for (bool more = true; more && result == SCAN_GO_ON;) {
    if (!t->scanning) reader_cache_trim(t);
    t->scanning++;  // what was unpacked stays until it was looked at
    result = some_blocks(t, &x, &more, err);
    t->scanning--;
  }
  for (uint32_t i = 0; i < x.nchunks; i++) free(x.chunks[i].postings);
  free(x.chunks);
  vec_free(&x.heap);
  return result;
}
