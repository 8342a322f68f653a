// Rows of a recording, one after the other: those of a warp, those of a launch, one. Those that
// touch some bytes: scan_range.c.
#include "trace/reader.h"

// site.classes; docs/run-file.md
enum { CLASS_LOAD = 1 << 0, CLASS_STORE = 1 << 1, CLASS_ATOMIC = 1 << 2, CLASS_SYNC = 1 << 3 };

TraceKind row_kind(const TraceReader *t, const RowRef *r, const ReaderSite **site) {
  const TracePlace *p = &r->block->places[r->row->place];
  const ReaderSite *s = reader_site(t, t->launches[r->chunk->launch].process, p->site);
  if (site) *site = s;
  if (!(p->has & (ROW_AFFINE | ROW_EACH)))
    return p->has & ROW_VALUES && !(s && s->classes & CLASS_SYNC) ? TRACE_VALUE : TRACE_SYNC;
  if (p->has & ROW_OLD || (s && s->classes & CLASS_ATOMIC)) return TRACE_ATOMIC;
  return s && s->classes & CLASS_STORE && !(s->classes & CLASS_LOAD) ? TRACE_STORE : TRACE_LOAD;
}

bool place_writes(const TraceReader *t, uint32_t process, const TracePlace *p) {
  if (!(p->has & (ROW_AFFINE | ROW_EACH))) return false;
  const ReaderSite *s = reader_site(t, process, p->site);
  return p->has & ROW_OLD || (s && (s->classes & CLASS_ATOMIC ||
                                    (s->classes & CLASS_STORE && !(s->classes & CLASS_LOAD))));
}

bool row_writes(const TraceReader *t, const RowRef *r) {
  return place_writes(t, t->launches[r->chunk->launch].process, &r->block->places[r->row->place]);
}

uint32_t place_bytes_of(const TracePlace *p, const ReaderSite *site) {
  return site && site->bytes ? site->bytes : 4u * p->planes;
}
uint32_t row_bytes(const RowRef *r, const ReaderSite *site) {
  return place_bytes_of(&r->block->places[r->row->place], site);
}

bool row_is_refused(const ReaderSite *site) {
  return site && site->classes & (CLASS_STORE | CLASS_ATOMIC);
}

// Decodes a refused store: a value at the site of a store, with the address and the value that were
// not written.
static void take_refused(const ReaderSite *site, const uint32_t *words, TraceOp *out) {
  uint64_t a = words[0] | (uint64_t)words[1] << 32;
  out->kind = site->classes & CLASS_ATOMIC ? TRACE_ATOMIC : TRACE_STORE;
  out->refused = true;
  out->has_address = true;
  out->space = (uint8_t)(a >> WG_TRACE_SPACE_AT & 3);
  out->address = a & ((1ull << WG_TRACE_SPACE_AT) - 1);
  out->bytes = site->bytes;
  memset(out->value, 0, sizeof out->value);
  memcpy(out->value, words + 2, 2 * sizeof *words);
  out->value_known = site->bytes <= 8;
}

uint64_t reader_thread(const ReaderLaunch *l, uint64_t warp, uint32_t lane) {
  return warp / l->warps * l->threads + warp % l->warps * 32 + lane;
}

bool reader_op(TraceReader *t, const RowRef *r, uint32_t lane, TraceOp *out, Error *err) {
  const TracePlace *p = &r->block->places[r->row->place];
  const ReaderLaunch *l = &t->launches[r->chunk->launch];
  const ReaderSite *site;
  *out = (TraceOp){.record = r->record,
                   .lane = lane,
                   .kind = row_kind(t, r, &site),
                   .step = t->steps[l->step].id,
                   .launch = l->id,
                   .thread = reader_thread(l, r->row->warp, lane),
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
  if (!block_lane_words(t->coder, r->block, r->index, lane, words))
    return reader_damaged(t, r->chunk->id << 16, err);
  if (p->has & ROW_VALUES) {
    memcpy(out->value, words, p->planes * sizeof *words);
    out->value_known = true;
  }
  if (p->has & ROW_OLD) {
    memcpy(out->old, words + (p->has & ROW_VALUES ? p->planes : 0), p->planes * sizeof *words);
    out->old_known = true;
  }
  if (out->kind == TRACE_VALUE && row_is_refused(site)) take_refused(site, words, out);
  return true;
}

void reader_scan_begin(TraceReader *t) {
  reader_begin(t);
  if (!t->scanning++) reader_cache_trim(t);
}
void reader_scan_between(TraceReader *t) {
  if (t->scanning == 1) reader_cache_trim(t);
}
void reader_scan_end(TraceReader *t) {
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

static ScanResult scan_warp_chunk(TraceReader *t, const ReaderChunk *c, uint64_t warp,
                                  RowVisitor *f, void *user, Error *err) {
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

ScanResult reader_scan_warp(TraceReader *t, const ReaderLaunch *l, uint64_t warp, RowVisitor *f,
                            void *user, Error *err) {
  reader_scan_begin(t);
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < l->nchunks && result == SCAN_GO_ON; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (warp < c->first_warp || warp > c->last_warp) continue;
    reader_scan_between(t);
    result = scan_warp_chunk(t, c, warp, f, user, err);
  }
  reader_scan_end(t);
  return result;
}

ScanResult reader_scan_launch(TraceReader *t, const ReaderLaunch *l, RowVisitor *f, void *user,
                              Error *err) {
  reader_scan_begin(t);
  ScanResult result = SCAN_GO_ON;
  for (uint32_t i = 0; i < l->nchunks && result == SCAN_GO_ON; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    reader_scan_between(t);
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
  reader_scan_end(t);
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
static bool find_block(TraceReader *t, const ReaderLaunch *l, uint64_t record, Want *out,
                       uint32_t *index, Error *err) {
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
  if (!record || record > t->records)
    return error_set(err, "there is no recorded operation %llu.", (unsigned long long)record);
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
