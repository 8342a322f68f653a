// Visits accesses to some bytes. Looks up the blocks that may have them for several chunks at a
// time, and unpacks those together, more each time: the first ones may have what is sought.
#include "trace/reader.h"

enum { FIRST_CHUNKS = 4, CHUNKS_AHEAD = 64, FIRST_BLOCKS = 8, BLOCKS_AHEAD = 32 };
// group: the 32 warps whose shared or local memory it is; UINT64_MAX: all
typedef struct RangeBlock {
  const ReaderChunk *chunk;
  uint64_t group;
  uint32_t block;
} RangeBlock;
typedef VEC(RangeBlock) RangeBlocks;
typedef struct RangeState {
  const RangeScan *what;
  const LaneCall *call;
} RangeState;

static ScanResult visit_lanes(TraceReader *t, const RangeState *s, const RowRef *r, uint32_t bytes,
                              Error *err) {
  const RangeScan *w = s->what;
  const uint64_t *each = r->block->places[r->row->place].has & ROW_EACH
                             ? r->block->addresses + r->row->addresses
                             : NULL;
  for (uint32_t left = r->row->lanes; left; left &= left - 1) {
    LaneAccess at = {.lane = (uint32_t)__builtin_ctz(left), .bytes = bytes};
    at.address = each ? *each++ : row_address(r->block, r->row, at.lane);
    if (at.address >= w->high || at.address + bytes <= w->low) continue;
    ScanResult result = s->call->visit(t, r, &at, s->call->user, err);
    if (result != SCAN_GO_ON) return result;
  }
  return SCAN_GO_ON;
}

static bool is_global(const RangeScan *w) { return !(w->low >> WG_TRACE_SPACE_AT); }

static ScanResult visit_block(TraceReader *t, const RangeBlock *at, const RangeState *s,
                              Error *err) {
  const RangeScan *w = s->what;
  const ChunkDirectory *d = reader_directory(t, at->chunk, err);
  TraceBlock *b = d ? reader_block(t, at->chunk, at->block, false, err) : NULL;
  if (!b) return SCAN_FAILED;
  RowList rows = {0};
  bool global = is_global(w),
       some = global && block_rows_at(b, d->place_bytes, w->low, w->high, &rows);
  if (!some) block_find(b, d->place_bytes, w->low, w->high);
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < (some ? rows.n : b->found.n) && result == SCAN_GO_ON; i++) {
    uint32_t k = some ? rows.list[i] : b->found.list[i];
    const TraceRow *row = &b->rows[k];
    if ((w->writes_only && !d->writes[row->place]) ||
        (!global && (row->warp < w->first_warp || row->warp > w->last_warp ||
                     (at->group != UINT64_MAX && row->warp >> 5 != at->group))))
      continue;
    RowRef r = {at->chunk, b, row, k, at->chunk->first_record + d->blocks[at->block].first_row + k};
    result = visit_lanes(t, s, &r, d->place_bytes[row->place], err);
  }
  free(rows.list);
  return result;
}

ScanResult reader_scan_range_block(TraceReader *t, const ReaderChunk *c, uint32_t block,
                                   const RangeScan *what, const LaneCall *call, Error *err) {
  return visit_block(t, &(RangeBlock){c, UINT64_MAX, block}, &(RangeState){what, call}, err);
}

static void add_blocks(const ReaderChunk *c, uint64_t group, const BlockSet *set, uint32_t nblocks,
                       RangeBlocks *out) {
  for (uint32_t i = 0; i < (set ? set->n : nblocks); i++)
    vec_push(out, (RangeBlock){c, group, set ? set->list[i] : i});
}

// All warps share global memory; shared and local memory is looked up for 32 warps at a time,
// unless the chunk has fewer blocks than that takes lookups.
static bool blocks_of_chunk(TraceReader *t, const ReaderChunk *c, const RangeScan *w, BlockSet *set,
                            RangeBlocks *out, Error *err) {
  const ChunkDirectory *d = reader_directory(t, c, err);
  if (!d) return false;
  const bool *places = w->writes_only ? d->writes : NULL;
  uint32_t widest = 0, wanted = 0;
  for (uint32_t i = 0; i < d->nplaces; i++) {
    if (!d->place_bytes[i] || (places && !places[i]) || !directory_may_touch(d, i, w->low, w->high))
      continue;
    wanted++;
    // accesses may be wider than postings know
    if (d->place_bytes[i] > place_width(&d->places[i])) widest = MAX(widest, d->place_bytes[i]);
  }
  bool global = is_global(w), ok = true;
  uint64_t first = global ? 0 : MAX(w->first_warp, c->first_warp) >> 5,
           last = global ? 0 : MIN(w->last_warp, c->last_warp) >> 5;
  if (!wanted || first > last) return true;
  if (last - first >= d->nblocks) {
    add_blocks(c, UINT64_MAX, NULL, d->nblocks, out);
    return true;
  }
  for (uint64_t group = first; group <= last && ok; group++) {
    uint64_t low = posting_key(w->low, group << 5), high = low + (w->high - w->low),
             from = low - MIN(low, (uint64_t)widest);
    PostingQuery q = {.low = from, .high = high, .places = places, .scan = widest ? NULL : w};
    ok = reader_blocks_touching(t, c, &q, set, err);
    if (ok) add_blocks(c, global ? UINT64_MAX : group, set, 0, out);
  }
  return ok;
}

static ScanResult visit_blocks(TraceReader *t, const RangeBlocks *blocks, uint32_t *at_once,
                               const RangeState *s, Error *err) {
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < blocks->len && result == SCAN_GO_ON;) {
    Want list[BLOCKS_AHEAD];
    uint32_t n = MIN(*at_once, blocks->len - i);
    reader_scan_between(t);
    for (uint32_t k = 0; k < n && result == SCAN_GO_ON; k++) {
      const RangeBlock *b = &blocks->data[i + k];
      list[k] = (Want){b->chunk, reader_directory(t, b->chunk, err), PART_ROWS + b->block,
                       s->what->values, s->what};
      if (!list[k].directory) result = SCAN_FAILED;
    }
    if (result == SCAN_GO_ON) reader_ahead(t, list, n);
    for (uint32_t k = 0; k < n && result == SCAN_GO_ON; k++)
      result = visit_block(t, &blocks->data[i + k], s, err);
    i += n;
    *at_once = MIN(*at_once * 2, (uint32_t)BLOCKS_AHEAD);
  }
  return result;
}

bool chunk_in_range(const ReaderChunk *c, const RangeScan *what) {
  return is_global(what) ? c->has_global && c->low < what->high && c->high + 64 > what->low
                         : c->first_warp <= what->last_warp && c->last_warp >= what->first_warp;
}

uint32_t reader_chunks_ahead(TraceReader *t, const ReaderChunk *const *chunks, uint32_t n,
                             uint32_t from, uint32_t *window, const RangeScan *what) {
  uint32_t some = MIN(*window, n - from);
  if (is_global(what)) reader_ahead_postings(t, chunks + from, some, what);
  *window = MIN(*window * 2, (uint32_t)CHUNKS_AHEAD);
  return from + some;
}

ScanResult reader_scan_chunks(TraceReader *t, const ReaderChunk *const *chunks, uint32_t n,
                              const RangeScan *what, const LaneCall *call, Error *err) {
  RangeState s = {what, call};
  BlockSet set = {0};
  RangeBlocks blocks = {0};
  ScanResult result = SCAN_GO_ON;
  uint32_t window = FIRST_CHUNKS, at_once = FIRST_BLOCKS;
  reader_scan_begin(t);
  for (uint32_t i = 0; i < n && result == SCAN_GO_ON;) {
    bool ok = true;
    blocks.len = 0;
    reader_scan_between(t);
    for (uint32_t upto = reader_chunks_ahead(t, chunks, n, i, &window, what); i < upto && ok; i++)
      ok = blocks_of_chunk(t, chunks[i], what, &set, &blocks, err);
    Error before = {{0}};  // the damaged chunk comes after these blocks
    result = visit_blocks(t, &blocks, &at_once, &s, ok ? err : &before);
    if (result == SCAN_FAILED && !ok && err) *err = before;
    if (result == SCAN_GO_ON && !ok) result = SCAN_FAILED;
  }
  reader_scan_end(t);
  vec_free(&blocks);
  free(set.list);
  return result;
}

const ReaderChunk **reader_chunks_in_range(const TraceReader *t, const ReaderLaunch *l,
                                           const RangeScan *what, uint32_t *n) {
  const ReaderChunk **list = mem_alloc(sizeof *list * (l->nchunks + 1));
  *n = 0;
  for (uint32_t i = 0; i < l->nchunks; i++)
    if (chunk_in_range(&t->chunks[l->first_chunk + i], what))
      list[(*n)++] = &t->chunks[l->first_chunk + i];
  return list;
}

ScanResult reader_scan_range(TraceReader *t, const ReaderLaunch *l, const RangeScan *what,
                             LaneVisitor *f, void *user, Error *err) {
  uint32_t n;
  const ReaderChunk **chunks = reader_chunks_in_range(t, l, what, &n);
  ScanResult result = reader_scan_chunks(t, chunks, n, what, &(LaneCall){f, user}, err);
  free(chunks);
  return result;
}
