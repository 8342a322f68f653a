// Rows of a recording, one after the other: those of a warp, those that touch a range of addresses.
#include "trace/reader.h"

enum { BLOCKS_AHEAD = 32, CHUNKS_AHEAD = 64 };
enum { CLASS_LOAD = 1 << 0, CLASS_STORE = 1 << 1, CLASS_ATOMIC = 1 << 2, CLASS_SYNC = 1 << 3 };     // site.classes; docs/run-file.md

TraceKind row_kind(const TraceReader *t, const RowRef *r, const ReaderSite **site) {
  const TracePlace *p = &r->block->places[r->row->place];
  const ReaderSite *s = reader_site(t, t->launches[r->chunk->launch].process, p->site);
  if (site) *site = s;
  if (!(p->has & (ROW_AFFINE | ROW_EACH))) return p->has & ROW_VALUES && !(s && s->classes & CLASS_SYNC) ? TRACE_VALUE : TRACE_SYNC;
  if (p->has & ROW_OLD || (s && s->classes & CLASS_ATOMIC)) return TRACE_ATOMIC;
  return s && s->classes & CLASS_STORE && !(s->classes & CLASS_LOAD) ? TRACE_STORE : TRACE_LOAD;
}

bool place_writes(const TraceReader *t, uint32_t process, const TracePlace *p) {
  if (!(p->has & (ROW_AFFINE | ROW_EACH))) return false;
  const ReaderSite *s = reader_site(t, process, p->site);
  return p->has & ROW_OLD || (s && (s->classes & CLASS_ATOMIC || (s->classes & CLASS_STORE && !(s->classes & CLASS_LOAD))));
}

bool row_writes(const TraceReader *t, const RowRef *r) { return place_writes(t, t->launches[r->chunk->launch].process, &r->block->places[r->row->place]); }

uint32_t place_bytes_of(const TracePlace *p, const ReaderSite *site) { return site && site->bytes ? site->bytes : 4u * p->planes; }
uint32_t row_bytes(const RowRef *r, const ReaderSite *site) { return place_bytes_of(&r->block->places[r->row->place], site); }

uint64_t reader_thread(const ReaderLaunch *l, uint64_t warp, uint32_t lane) { return warp / l->warps * l->threads + warp % l->warps * 32 + lane; }

bool reader_op(TraceReader *t, const RowRef *r, uint32_t lane, TraceOp *out, Error *err) {
  const TracePlace *p = &r->block->places[r->row->place];
  const ReaderLaunch *l = &t->launches[r->chunk->launch];
  const ReaderSite *site;
  *out = (TraceOp){.record = r->record, .lane = lane, .kind = row_kind(t, r, &site), .step = t->steps[l->step].id, .launch = l->id, .thread = reader_thread(l, r->row->warp, lane),
                   .site = site ? site->id : 0};
  out->bytes = out->kind == TRACE_SYNC && !(p->has & ROW_VALUES) ? 0 : row_bytes(r, site);
  if (p->has & (ROW_AFFINE | ROW_EACH)) {
    uint64_t a = row_address(r->block, r->row, lane);
    out->has_address = true;
    out->space = (uint8_t)(a >> WG_TRACE_SPACE_AT & 3);
    out->address = a & ((1ull << WG_TRACE_SPACE_AT) - 1);
  }
  if (!(p->has & (ROW_VALUES | ROW_OLD))) return true;
  uint32_t words[LANE_WORDS_MAX];
  if (!block_lane_words(t->coder, r->block, r->index, lane, words)) return reader_damaged(t, r->chunk->id << 16, err);
  if (p->has & ROW_VALUES) memcpy(out->value, words, p->planes * sizeof *words), out->value_known = true;
  if (p->has & ROW_OLD) memcpy(out->old, words + (p->has & ROW_VALUES ? p->planes : 0), p->planes * sizeof *words), out->old_known = true;
  return true;
}

static void enter(TraceReader *t) {
  reader_begin(t);
  if (!t->scanning++) reader_cache_trim(t);
}
static void between(TraceReader *t) {
  if (t->scanning == 1) reader_cache_trim(t);
}
static void leave(TraceReader *t) {
  t->scanning--;
  reader_end(t);
}

static uint32_t first_row_of(const TraceBlock *b, uint64_t warp) {
  uint32_t low = 0, high = b->nrows;
  while (low < high) {
    uint32_t m = (low + high) / 2;
    if (b->rows[m].warp < warp) low = m + 1;
    else high = m;
  }
  return low;
}

static ScanResult scan_warp_chunk(TraceReader *t, const ReaderChunk *c, uint64_t warp, RowVisitor *f, void *user, Error *err) {
  const ChunkDirectory *d = reader_directory(t, c, err);
  if (!d) return SCAN_FAILED;
  // The last block that begins before the warp may end with its first rows.
  uint32_t low = 0, high = d->nblocks;
  while (low < high) {
    uint32_t m = (low + high) / 2;
    if (d->blocks[m].first_warp < warp) low = m + 1;
    else high = m;
  }
  for (uint32_t i = low ? low - 1 : 0; i < d->nblocks && d->blocks[i].first_warp <= warp; i++) {
    TraceBlock *b = reader_block(t, c, i, false, err);
    if (!b) return SCAN_FAILED;
    for (uint32_t k = first_row_of(b, warp); k < b->nrows && b->rows[k].warp == warp; k++) {
      RowRef r = {c, b, &b->rows[k], k, c->first_record + d->blocks[i].first_row + k};
      ScanResult result = f(t, &r, user, err);
      if (result != SCAN_GO_ON) return result;
    }
  }
  return SCAN_GO_ON;
}

ScanResult reader_scan_warp(TraceReader *t, const ReaderLaunch *l, uint64_t warp, RowVisitor *f, void *user, Error *err) {
  enter(t);
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < l->nchunks && result == SCAN_GO_ON; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (warp < c->first_warp || warp > c->last_warp) continue;
    between(t);
    result = scan_warp_chunk(t, c, warp, f, user, err);
  }
  leave(t);
  return result;
}

ScanResult reader_scan_launch(TraceReader *t, const ReaderLaunch *l, RowVisitor *f, void *user, Error *err) {
  enter(t);
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < l->nchunks && result == SCAN_GO_ON; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    between(t);
    const ChunkDirectory *d = reader_directory(t, c, err);
    if (!d) result = SCAN_FAILED;
    for (uint32_t k = 0; d && k < d->nblocks && result == SCAN_GO_ON; k++) {
      TraceBlock *b = reader_block(t, c, k, false, err);
      if (!b) result = SCAN_FAILED;
      for (uint32_t j = 0; b && j < b->nrows && result == SCAN_GO_ON; j++) {
        RowRef r = {c, b, &b->rows[j], j, c->first_record + d->blocks[k].first_row + j};
        result = f(t, &r, user, err);
      }
    }
  }
  leave(t);
  return result;
}

typedef struct RangeState { const RangeScan *what; LaneVisitor *f; void *user; } RangeState;

static ScanResult visit_lanes(TraceReader *t, const RangeState *s, const RowRef *r, uint32_t bytes, Error *err) {
  const RangeScan *w = s->what;
  const uint64_t *each = r->block->places[r->row->place].has & ROW_EACH ? r->block->addresses + r->row->addresses : NULL;
  for (uint32_t left = r->row->lanes; left; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    uint64_t a = each ? *each++ : row_address(r->block, r->row, lane);
    if (a >= w->high || a + bytes <= w->low) continue;
    ScanResult result = s->f(t, r, lane, a, bytes, s->user, err);
    if (result != SCAN_GO_ON) return result;
  }
  return SCAN_GO_ON;
}

static void blocks_all(BlockSet *set, uint32_t n) {
  if (set->cap < n) set->list = mem_realloc(set->list, sizeof *set->list * n), set->cap = n;
  for (set->n = 0; set->n < n; set->n++) set->list[set->n] = set->n;
}

static void blocks_ahead(TraceReader *t, const ReaderChunk *c, const ChunkDirectory *d, const BlockSet *set, uint32_t from, const RangeScan *what) {
  Want list[BLOCKS_AHEAD];
  uint32_t n = MIN(set->n - from, (uint32_t)BLOCKS_AHEAD);
  for (uint32_t i = 0; i < n; i++) list[i] = (Want){c, d, PART_ROWS + set->list[from + i], what->values, what};
  reader_ahead(t, list, n);
}

// group: the 32 warps whose shared or local memory it is; UINT64_MAX: all
static ScanResult scan_range_block(TraceReader *t, const ReaderChunk *c, const ChunkDirectory *d, uint32_t block, const RangeState *s, uint64_t group, Error *err) {
  const RangeScan *w = s->what;
  bool global = !(w->low >> WG_TRACE_SPACE_AT);
  TraceBlock *b = reader_block(t, c, block, false, err);
  if (!b) return SCAN_FAILED;
  RowList rows = {0};
  bool some = global && block_rows_at(b, d->place_bytes, w->low, w->high, &rows);
  if (!some) block_find(b, d->place_bytes, w->low, w->high);
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < (some ? rows.n : b->found.n) && result == SCAN_GO_ON; i++) {
    uint32_t k = some ? rows.list[i] : b->found.list[i];
    const TraceRow *row = &b->rows[k];
    if ((w->writes_only && !d->writes[row->place]) || (!global && (row->warp < w->first_warp || row->warp > w->last_warp || (group != UINT64_MAX && row->warp >> 5 != group)))) continue;
    RowRef r = {c, b, row, k, c->first_record + d->blocks[block].first_row + k};
    result = visit_lanes(t, s, &r, d->place_bytes[row->place], err);
  }
  free(rows.list);
  return result;
}

ScanResult reader_scan_range_block(TraceReader *t, const ReaderChunk *c, uint32_t block, const RangeScan *what, LaneVisitor *f, void *user, Error *err) {
  const ChunkDirectory *d = reader_directory(t, c, err);
  return d ? scan_range_block(t, c, d, block, &(RangeState){what, f, user}, UINT64_MAX, err) : SCAN_FAILED;
}

static ScanResult scan_range_chunk(TraceReader *t, const ReaderChunk *c, const RangeState *s, BlockSet *set, Error *err) {
  const RangeScan *w = s->what;
  const ChunkDirectory *d = reader_directory(t, c, err);
  if (!d) return SCAN_FAILED;
  const bool *places = w->writes_only ? d->writes : NULL;
  const uint32_t *bytes = d->place_bytes;
  uint32_t widest = 0, wanted = 0;
  for (uint32_t i = 0; i < d->nplaces; i++) {
    if (!bytes[i] || (places && !places[i])) continue;
    wanted++;
    if (bytes[i] > place_width(&d->places[i])) widest = MAX(widest, bytes[i]);      // postings know less than the site
  }
  // Global memory is everybody's; shared and local memory is looked up for 32 warps at a time, unless there are so many that the blocks themselves are fewer.
  bool global = !(w->low >> WG_TRACE_SPACE_AT);
  uint64_t first = global ? 0 : MAX(w->first_warp, c->first_warp) >> 5, last = global ? 0 : MIN(w->last_warp, c->last_warp) >> 5;
  bool all = last - first >= d->nblocks;
  ScanResult result = SCAN_GO_ON;
  for (uint64_t group = first; wanted && group <= last && result == SCAN_GO_ON; group++) {
    uint64_t low = posting_key(w->low, group << 5), high = low + (w->high - w->low), from = low - MIN(low, (uint64_t)widest);
    if (all) blocks_all(set, d->nblocks);
    else if (!reader_blocks_touching(t, c, from, high, places, widest ? NULL : w, set, err)) result = SCAN_FAILED;
    for (uint32_t i = 0; i < set->n && result == SCAN_GO_ON; i++) {
      if (i % BLOCKS_AHEAD == 0) blocks_ahead(t, c, d, set, i, w);
      result = scan_range_block(t, c, d, set->list[i], s, global || all ? UINT64_MAX : group, err);
    }
    if (all) break;
  }
  return result;
}

ScanResult reader_scan_range_chunk(TraceReader *t, const ReaderChunk *c, const RangeScan *what, LaneVisitor *f, void *user, Error *err) {
  RangeState s = {what, f, user};
  BlockSet set = {0};
  enter(t);
  ScanResult result = scan_range_chunk(t, c, &s, &set, err);
  leave(t);
  free(set.list);
  return result;
}

bool chunk_in_range(const ReaderChunk *c, const RangeScan *what) {
  bool global = !(what->low >> WG_TRACE_SPACE_AT);
  return global ? c->has_global && c->low < what->high && c->high + 64 > what->low : c->first_warp <= what->last_warp && c->last_warp >= what->first_warp;
}

uint32_t reader_chunks_ahead(TraceReader *t, const ReaderLaunch *l, uint32_t from, uint32_t *window, const RangeScan *what) {
  const ReaderChunk *list[CHUNKS_AHEAD];
  uint32_t n = 0, i = from;
  for (; i < l->nchunks && n < *window; i++)
    if (chunk_in_range(&t->chunks[l->first_chunk + i], what)) list[n++] = &t->chunks[l->first_chunk + i];
  if (!(what->low >> WG_TRACE_SPACE_AT)) reader_ahead_postings(t, list, n, what->low, what->high);
  *window = MIN(*window * 2, (uint32_t)CHUNKS_AHEAD);          // the first ones may have what is sought
  return i;
}

ScanResult reader_scan_range(TraceReader *t, const ReaderLaunch *l, const RangeScan *what, LaneVisitor *f, void *user, Error *err) {
  RangeState s = {what, f, user};
  BlockSet set = {0};
  ScanResult result = SCAN_GO_ON;
  uint32_t ahead = 0, window = 4;
  enter(t);
  for (uint32_t i = 0; i < l->nchunks && result == SCAN_GO_ON; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (!chunk_in_range(c, what)) continue;
    between(t);
    if (i >= ahead) ahead = reader_chunks_ahead(t, l, i, &window, what);
    result = scan_range_chunk(t, c, &s, &set, err);
  }
  leave(t);
  free(set.list);
  return result;
}

// The last step that begins there or before.
static const ReaderStep *step_of(const TraceReader *t, uint64_t record) {
  uint32_t low = 0, high = t->nsteps;
  while (high - low > 1) {
    uint32_t m = (low + high) / 2;
    if (t->steps[m].first_record <= record) low = m;
    else high = m;
  }
  return &t->steps[low];
}

// The block of a launch that has the record, and which row of it that is.
static bool find_block(TraceReader *t, const ReaderLaunch *l, uint64_t record, Want *out, uint32_t *index, Error *err) {
  for (uint32_t i = 0; i < l->nchunks; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (record < c->first_record || record >= c->first_record + c->records) continue;
    const ChunkDirectory *d = reader_directory(t, c, err);
    if (!d) return false;
    uint32_t row = (uint32_t)(record - c->first_record), a = 0, b = d->nblocks;
    while (b - a > 1) {
      uint32_t m = (a + b) / 2;
      if (d->blocks[m].first_row <= row) a = m;
      else b = m;
    }
    *out = (Want){c, d, PART_ROWS + a, true, NULL};
    *index = row - d->blocks[a].first_row;
    return true;
  }
  return error_set(err, "there is no recorded operation %llu.", (unsigned long long)record);
}

bool reader_want_of(TraceReader *t, uint64_t record, Want *out) {
  Error none = {{0}};
  uint32_t index;
  if (!record || record > t->records) return false;
  const ReaderStep *s = step_of(t, record);
  return s->launch && find_block(t, &t->launches[s->launch - 1], record, out, &index, &none);
}

bool reader_row(TraceReader *t, uint64_t record, RowRef *out, const ReaderStep **host, Error *err) {
  *host = NULL;
  if (!t->scanning) reader_cache_trim(t);
  if (!record || record > t->records) return error_set(err, "there is no recorded operation %llu.", (unsigned long long)record);
  const ReaderStep *s = step_of(t, record);
  if (!s->launch) {
    *host = s;
    return true;
  }
  Want w;
  uint32_t index;
  if (!find_block(t, &t->launches[s->launch - 1], record, &w, &index, err)) return false;
  TraceBlock *block = reader_block(t, w.chunk, w.part - PART_ROWS, false, err);
  if (!block) return false;
  *out = (RowRef){w.chunk, block, &block->rows[index], index, record};
  return true;
}
