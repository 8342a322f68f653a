// Parts of chunks, decoded when they are needed and kept for a while.
#include <zstd.h>

#include "trace/reader.h"

enum { MANY_ENTRIES = 100000, CONTENTS_BYTES = 1 << 20 };
static const uint64_t CACHE_BYTES = 192ull << 20;

static void free_entry(CacheEntry *e) {
  if (e->block) arena_free(&e->block->arena);
  free(e->block);
  if (e->directory) arena_free(&e->directory->arena);
  free(e->directory);
  arena_free(&e->arena);
  free(e);
}

void reader_cache_free(TraceReader *t) {
  uint32_t it = 0;
  uint64_t key;
  void *value;
  while (u64map_next(&t->cache, &it, &key, &value)) free_entry(value);
  u64map_free(&t->cache);
  t->cache_bytes = 0;
}

void reader_idle(TraceReader *t) {
  sqlite3_finalize(t->get_block);
  t->get_block = NULL;
  for (size_t i = 0; i < ARRAY_LEN(t->statements); i++) {
    sqlite3_finalize(t->statements[i].statement);
    t->statements[i].sql = NULL, t->statements[i].statement = NULL;
  }
}

// Half of what is there goes, the longest unused first: found by halving the span of time until about half is older.
void reader_cache_trim(TraceReader *t) {
  if (t->cache_bytes < CACHE_BYTES && t->cache.len < MANY_ENTRIES) return;
  uint64_t oldest = t->clock, key;
  uint32_t it = 0;
  void *value;
  while (u64map_next(&t->cache, &it, &key, &value)) oldest = MIN(oldest, ((CacheEntry *)value)->used);
  uint64_t limit = oldest + (t->clock - oldest) / 2;
  U64Map kept = {0};
  t->cache_bytes = 0;
  for (it = 0; u64map_next(&t->cache, &it, &key, &value);) {
    CacheEntry *e = value;
    if (e->used > limit) u64map_put(&kept, key, e), t->cache_bytes += e->bytes;
    else free_entry(e);
  }
  u64map_free(&t->cache);
  t->cache = kept;
}

static CacheEntry *find(TraceReader *t, uint64_t id) {
  CacheEntry *e = u64map_get(&t->cache, id);
  if (e) e->used = ++t->clock;
  return e;
}

static CacheEntry *add(TraceReader *t, CacheEntry *e, uint64_t id) {
  e->id = id, e->used = ++t->clock;
  t->cache_bytes += e->bytes;
  u64map_put(&t->cache, id, e);
  return e;
}

const uint8_t *reader_contents(TraceReader *t, uint64_t id, uint64_t n, sqlite3_stmt *row, int column) {
  static const uint64_t CONTENTS = 1ull << 63;               // no chunk has such a number
  CacheEntry *e = find(t, CONTENTS | id);
  if (e && e->bytes == n) return e->contents;
  const uint8_t *data = sqlite3_column_blob(row, column);
  size_t len = (size_t)sqlite3_column_bytes(row, column);
  if (e || !data || id & CONTENTS || n > CONTENTS_BYTES) return NULL;
  e = mem_alloc(sizeof *e);
  e->contents = arena_alloc(&e->arena, n + 1);
  e->bytes = n;
  if (len == n) memcpy(e->contents, data, n);
  else if (ZSTD_decompress(e->contents, n, data, len) != n) {
    free_entry(e);
    return NULL;
  }
  return add(t, e, CONTENTS | id)->contents;
}

typedef bool Decode(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d, const uint8_t *data, size_t n, CacheEntry *e);

// Where a part lies in its chunk.
static void part_place(const ReaderChunk *c, const ChunkDirectory *d, uint32_t part, uint64_t *at, uint64_t *end) {
  *at = *end = 0;
  if (part == PART_DIRECTORY) {
    *at = MIN(c->directory, c->bytes), *end = c->bytes;
    return;
  }
  uint32_t i = part >= PART_RANGES ? d->nblocks + d->npoints + part - PART_RANGES : part >= PART_POINTS ? d->nblocks + part - PART_POINTS : part;
  if (i < d->nblocks + d->npoints + d->nranges) *at = d->parts[i], *end = d->parts[i + 1];
}

// Bytes of a chunk: where the one row that has them holds them, or copied from several. NULL and no error: the file does not have them. The statement is left on the row.
static const uint8_t *chunk_bytes(TraceReader *t, const ReaderChunk *c, uint64_t at, uint64_t end, Error *err) {
  if (!t->get_block && !(t->get_block = reader_prepare(t, "SELECT data FROM trace_block WHERE id=?", err))) return NULL;
  t->piece.len = 0;
  for (uint64_t row = at / PIECE_BYTES; row * PIECE_BYTES < end && row < 1 << 16; row++) {
    sqlite3_reset(t->get_block);
    sqlite3_bind_int64(t->get_block, 1, (int64_t)(c->id << 16 | row));
    int code = sqlite3_step(t->get_block);
    if (code != SQLITE_ROW && code != SQLITE_DONE) sql_fail(t->db, err, "recorded operations cannot be read");
    const uint8_t *data = code == SQLITE_ROW ? sqlite3_column_blob(t->get_block, 0) : NULL;
    uint64_t n = data ? (uint64_t)sqlite3_column_bytes(t->get_block, 0) : 0, from = MAX(at, row * PIECE_BYTES) - row * PIECE_BYTES, upto = MIN(end, (row + 1) * PIECE_BYTES) - row * PIECE_BYTES;
    if (n < upto) return NULL;
    if (upto - from == end - at) return data + from;
    bytes_add(&t->piece, data + from, upto - from);
  }
  return t->piece.len == end - at ? t->piece.data : NULL;
}

static CacheEntry *get(TraceReader *t, const ReaderChunk *c, const ChunkDirectory *d, uint32_t part, Decode *decode, Error *err) {
  uint64_t id = c->id << 16 | part, at, end;
  CacheEntry *e = find(t, id);
  if (e) return e;
  Error none = {{0}}, *why = err ? err : &none;
  why->text[0] = 0;
  part_place(c, d, part, &at, &end);
  const uint8_t *data = end > at ? chunk_bytes(t, c, at, end, why) : NULL;
  if (data) {
    e = mem_alloc(sizeof *e);
    if (!decode(t->coder, c, d, data, end - at, e)) free_entry(e), e = NULL;
  }
  if (t->get_block) sqlite3_reset(t->get_block);
  if (e) return add(t, e, id);
  if (!why->text[0]) reader_damaged(t, id, why);
  return NULL;
}

static bool decode_directory(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d, const uint8_t *data, size_t n, CacheEntry *e) {
  (void)d;
  e->directory = mem_alloc(sizeof *e->directory);
  e->bytes = n * 8 + 4096;
  return directory_read(coder, data, n, c->records, c->directory, e->directory);
}

static bool decode_block(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d, const uint8_t *data, size_t n, CacheEntry *e) {
  (void)c;
  e->block = mem_alloc(sizeof *e->block);
  if (!block_read(coder, data, n, d->places, d->nplaces, e->block)) return false;
  e->bytes = n * 2 + e->block->nrows * sizeof(TraceRow) + e->block->nwords * 5 + 65536;
  return true;
}

static bool decode_postings(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d, const uint8_t *data, size_t n, CacheEntry *e) {
  (void)c;
  e->bytes = POSTINGS_PER_BLOCK * sizeof(Posting) + 65536;
  return postings_read(coder, data, n, d->nblocks, d->nplaces, &e->arena, &e->postings, &e->npostings);
}

static bool decode_points(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d, const uint8_t *data, size_t n, CacheEntry *e) {
  (void)coder, (void)c;
  bool ok = points_read(data, n, d->nblocks, d->places, d->nplaces, &e->arena, &e->postings, &e->npostings);
  e->bytes = e->npostings * sizeof(Posting) + 4096;
  return ok;
}

const ChunkDirectory *reader_directory(TraceReader *t, const ReaderChunk *c, Error *err) {
  CacheEntry *e = get(t, c, NULL, PART_DIRECTORY, decode_directory, err);
  return e ? e->directory : NULL;
}

TraceBlock *reader_block(TraceReader *t, const ReaderChunk *c, uint32_t block, bool values, Error *err) {
  const ChunkDirectory *d = reader_directory(t, c, err);
  if (!d) return NULL;
  CacheEntry *e = get(t, c, d, PART_ROWS + block, decode_block, err);
  if (!e) return NULL;
  // What the directory promised.
  bool ok = block < d->nblocks && e->block->nrows == d->blocks[block + 1].first_row - d->blocks[block].first_row && e->block->nplaces == d->nplaces;
  if (ok) e->block->places = d->places;      // the directory may have been read again since
  if (ok && values) ok = block_read_values(t->coder, e->block);
  if (ok) return e->block;
  reader_damaged(t, e->id, err);
  return NULL;
}

static void add_block(BlockSet *s, uint32_t block) {
  if (s->n == s->cap) {
    s->cap = MAX(64u, s->cap * 2);
    s->list = mem_realloc(s->list, s->cap * sizeof *s->list);
  }
  s->list[s->n++] = block;
}

// The next part of points or ranges, from the one of that number on, that may touch [low, high); UINT32_MAX: none
static uint32_t next_part(const ChunkDirectory *d, bool ranges, uint32_t i, uint64_t low, uint64_t high) {
  const PostingPart *parts = ranges ? d->ranges : d->points;
  uint32_t n = ranges ? d->nranges : d->npoints;
  // Points reach POINT_BYTES at most, so that the parts before can be left out by halving; ranges are looked at one by one.
  if (!ranges && !i) {
    uint64_t from = low < POINT_BYTES ? 0 : low - POINT_BYTES;
    uint32_t a = 0, b = n;
    while (a < b) {
      uint32_t m = (a + b) / 2;
      if (parts[m].first < from) a = m + 1;
      else b = m;
    }
    i = a ? a - 1 : 0;
  }
  while (i < n && parts[i].first < high && parts[i].end <= low) i++;
  return i < n && parts[i].first < high ? i : UINT32_MAX;
}

static bool collect(TraceReader *t, const ReaderChunk *c, const ChunkDirectory *d, bool ranges, uint64_t low, uint64_t high, const bool *places, const RangeScan *what, uint8_t *marked, BlockSet *out, Error *err) {
  for (uint32_t i = 0; (i = next_part(d, ranges, i, low, high)) != UINT32_MAX; i++) {
    CacheEntry *e = get(t, c, d, (ranges ? PART_RANGES : PART_POINTS) + i, ranges ? decode_postings : decode_points, err);
    if (!e) return false;
    for (uint32_t at = 0; at < e->npostings; at++) {
      const Posting *p = &e->postings[at];
      if (p->start >= high || p->end <= low || marked[p->block] || (places && !places[p->place]) || (what && what->wanted && !what->wanted(what->user, p->start, p->end))) continue;
      marked[p->block] = 1;
      add_block(out, p->block);
    }
  }
  return true;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

bool reader_blocks_touching(TraceReader *t, const ReaderChunk *c, uint64_t low, uint64_t high, const bool *places, const RangeScan *what, BlockSet *out, Error *err) {
  out->n = 0;
  const ChunkDirectory *d = reader_directory(t, c, err);
  if (!d) return false;
  uint8_t *marked = mem_alloc(d->nblocks);
  bool ok = collect(t, c, d, false, low, high, places, what, marked, out, err) && collect(t, c, d, true, low, high, places, what, marked, out, err);
  free(marked);
  if (out->n) qsort(out->list, out->n, sizeof *out->list, ascending);
  return ok;
}

// --- for ahead.c ---

static uint64_t want_id(const Want *w) { return w->chunk->id << 16 | w->part; }
CacheEntry *reader_kept(TraceReader *t, const Want *w) { return find(t, want_id(w)); }

uint8_t *reader_part(TraceReader *t, const Want *w, size_t *n) {
  Error none = {{0}};
  uint64_t at, end;
  part_place(w->chunk, w->directory, w->part, &at, &end);
  const uint8_t *data = end > at ? chunk_bytes(t, w->chunk, at, end, &none) : NULL;
  uint8_t *copy = data ? memcpy(mem_realloc(NULL, end - at), data, end - at) : NULL;
  *n = end - at;
  if (t->get_block) sqlite3_reset(t->get_block);
  return copy;
}

bool reader_decode(ColumnCoder *c, const Want *w, const uint8_t *data, size_t n, CacheEntry *e) {
  Decode *decode = w->part == PART_DIRECTORY ? decode_directory : w->part >= PART_RANGES ? decode_postings : w->part >= PART_POINTS ? decode_points : decode_block;
  return decode(c, w->chunk, w->directory, data, n, e);
}

void reader_keep(TraceReader *t, const Want *w, CacheEntry *e, bool ok) {
  if (ok && !u64map_get(&t->cache, want_id(w))) add(t, e, want_id(w));
  else free_entry(e);
}

void reader_ahead_postings(TraceReader *t, const ReaderChunk *const *chunks, uint32_t n, uint64_t low, uint64_t high) {
  VEC(Want) wants = {0};
  for (uint32_t i = 0; i < n; i++) vec_push(&wants, (Want){.chunk = chunks[i], .part = PART_DIRECTORY});
  reader_ahead(t, wants.data, wants.len);
  wants.len = 0;
  for (uint32_t i = 0; i < n; i++) {
    const ChunkDirectory *d = reader_directory(t, chunks[i], NULL);
    for (int ranges = 0; d && ranges < 2; ranges++)
      for (uint32_t k = 0; (k = next_part(d, ranges, k, low, high)) != UINT32_MAX; k++) vec_push(&wants, (Want){chunks[i], d, (ranges ? PART_RANGES : PART_POINTS) + k, false});
  }
  reader_ahead(t, wants.data, wants.len);
  vec_free(&wants);
}

bool reader_written_ranges(TraceReader *t, const ReaderLaunch *l, uint64_t low, uint64_t high, RangeVisitor *f, void *user, Error *err) {
  for (uint32_t i = 0; i < l->nchunks; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (!c->has_global || c->low >= high || c->high <= low) continue;
    if (!t->scanning) reader_cache_trim(t);
    const ChunkDirectory *d = reader_directory(t, c, err);
    if (!d) return false;
    bool *writes = mem_alloc(d->nplaces), any = false, ok = true;
    for (uint32_t k = 0; k < d->nplaces; k++) any |= writes[k] = place_writes(t, l->process, &d->places[k]);
    for (uint32_t k = 0; any && ok && k < d->npoints + d->nranges; k++) {
      bool range = k >= d->npoints;
      const PostingPart *part = range ? &d->ranges[k - d->npoints] : &d->points[k];
      if (part->first >= high || part->end <= low) continue;
      CacheEntry *e = get(t, c, d, range ? PART_RANGES + k - d->npoints : PART_POINTS + k, range ? decode_postings : decode_points, err);
      for (uint32_t j = 0; e && ok && j < e->npostings; j++) {
        const Posting *p = &e->postings[j];
        if (writes[p->place] && p->start < high && p->end > low) ok = f(t, c, &d->places[p->place], p->start, p->end, user);
      }
      ok = ok && e;
    }
    free(writes);
    if (!ok) return false;
  }
  return true;
}
