// Parts of chunks, decoded when they are needed and kept for a while.
#include <zstd.h>

#include "trace/reader.h"

enum { MANY_ENTRIES = 100000, CONTENTS_BYTES = 1 << 20 };
static const uint64_t CACHE_BYTES = 192ull << 20;

// --- the blob stays open during a question: SQLite locks and checks the file at each opening ---
static void reader_blob_close(TraceReader *t) {
  if (t->blob) sqlite3_blob_close(t->blob);
  t->blob = NULL;
}

void reader_begin(TraceReader *t) { t->asking++; }
void reader_end(TraceReader *t) {
  if (!--t->asking) reader_blob_close(t);
}

static void free_entry(CacheEntry *e) {
  if (e->block) block_free(e->block);
  if (e->directory) {
    arena_free(&e->directory->arena);
    free(e->directory->asked.list);
  }
  free(e->directory);
  free(e->points);
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
  reader_blob_close(t);
  for (size_t i = 0; i < ARRAY_LEN(t->statements); i++) {
    sqlite3_finalize(t->statements[i].statement);
    t->statements[i].sql = NULL;
    t->statements[i].statement = NULL;
  }
}

// Evicts the half of the cache that was unused for longest. Bisects the clock for a time at which
// about half of the entries are older.
void reader_cache_trim(TraceReader *t) {
  if (t->cache_bytes < CACHE_BYTES && t->cache.len < MANY_ENTRIES) return;
  uint64_t oldest = t->clock, key;
  uint32_t it = 0;
  void *value;
  while (u64map_next(&t->cache, &it, &key, &value))
    oldest = MIN(oldest, ((CacheEntry *)value)->used);
  uint64_t limit = oldest + (t->clock - oldest) / 2;
  U64Map kept = {0};
  t->cache_bytes = 0;
  for (it = 0; u64map_next(&t->cache, &it, &key, &value);) {
    CacheEntry *e = value;
    if (e->used > limit) {
      u64map_put(&kept, key, e);
      t->cache_bytes += e->bytes;
    } else free_entry(e);
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
  e->id = id;
  e->used = ++t->clock;
  t->cache_bytes += e->bytes;
  u64map_put(&t->cache, id, e);
  return e;
}

const uint8_t *reader_contents(TraceReader *t, uint64_t id, uint64_t n, sqlite3_stmt *row,
                               int column) {
  static const uint64_t CONTENTS = 1ull << 63;  // no chunk has such a number
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

typedef bool Decode(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d,
                    const uint8_t *data, size_t n, CacheEntry *e);

// Where a part lies in its chunk; false: nowhere
static bool part_place(const ReaderChunk *c, const ChunkDirectory *d, uint32_t part, uint64_t *at,
                       uint64_t *end) {
  *at = *end = 0;
  if (part == PART_DIRECTORY) {
    *at = c->directory;
    *end = c->bytes;
  } else {
    uint32_t i = part >= PART_RANGES   ? d->nblocks + d->npoints + part - PART_RANGES
                 : part >= PART_POINTS ? d->nblocks + part - PART_POINTS
                                       : part;
    if (i < d->nblocks + d->npoints + d->nranges) {
      *at = d->parts[i];
      *end = d->parts[i + 1];
    }
  }
  return *end > *at && *end - *at <= PART_BYTES_MOST;
}

// Bytes of a chunk. false and no error: the file does not have them.
static bool chunk_bytes(TraceReader *t, const ReaderChunk *c, uint64_t at, uint64_t end,
                        uint8_t *to, Error *err) {
  bool ok = true;
  reader_begin(t);
  for (uint64_t row = at / PIECE_BYTES; ok && row * PIECE_BYTES < end; row++) {
    sqlite3_int64 id = (sqlite3_int64)(c->id << 16 | row);
    int code = row >> 16 ? SQLITE_ERROR
               : t->blob ? sqlite3_blob_reopen(t->blob, id)
                         : sqlite3_blob_open(t->db, "main", "trace_block", "data", id, 0, &t->blob);
    uint64_t from = MAX(at, row * PIECE_BYTES) - row * PIECE_BYTES,
             upto = MIN(end, (row + 1) * PIECE_BYTES) - row * PIECE_BYTES;
    // as if the row were not there
    if (code == SQLITE_OK && (uint64_t)sqlite3_blob_bytes(t->blob) < upto) code = SQLITE_ERROR;
    else if (code == SQLITE_OK)
      code = sqlite3_blob_read(t->blob, to, (int)(upto - from), (int)from);
    to += upto - from;
    ok = code == SQLITE_OK;
    if (!ok && code != SQLITE_ERROR) sql_fail(t->db, err, "recorded operations cannot be read");
  }
  if (!ok) reader_blob_close(t);
  reader_end(t);
  return ok;
}

static CacheEntry *get(TraceReader *t, const ReaderChunk *c, const ChunkDirectory *d, uint32_t part,
                       Decode *decode, Error *err) {
  uint64_t id = c->id << 16 | part, at, end;
  CacheEntry *e = find(t, id);
  if (e) return e;
  Error none = {{0}}, *why = err ? err : &none;
  why->text[0] = 0;
  bool ok = part_place(c, d, part, &at, &end);
  t->piece.len = 0;
  if (ok) bytes_reserve(&t->piece, end - at);
  if (ok && chunk_bytes(t, c, at, end, t->piece.data, why)) {
    e = mem_alloc(sizeof *e);
    if (!decode(t->coder, c, d, t->piece.data, end - at, e)) {
      free_entry(e);
      e = NULL;
    }
  }
  if (e) return add(t, e, id);
  if (!why->text[0]) reader_damaged(t, id, why);
  return NULL;
}

static bool decode_directory(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d,
                             const uint8_t *data, size_t n, CacheEntry *e) {
  (void)d;
  e->directory = mem_alloc(sizeof *e->directory);
  e->bytes = n * 8 + 4096;
  return directory_read(coder, data, n, c->records, c->directory, e->directory);
}

static bool decode_block(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d,
                         const uint8_t *data, size_t n, CacheEntry *e) {
  (void)c;
  e->block = mem_alloc(sizeof *e->block);
  if (!block_read(coder, data, n, d->places, d->nplaces, e->block)) return false;
  e->bytes = n * 2 + e->block->nrows * sizeof(TraceRow) + e->block->nwords * 5 + 65536;
  return true;
}

static bool decode_postings(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d,
                            const uint8_t *data, size_t n, CacheEntry *e) {
  (void)c;
  e->bytes = POSTINGS_PER_BLOCK * sizeof(Posting) + 65536;
  return postings_read(coder, data, n, d, &(PostingsRead){&e->arena, &e->postings, &e->npostings});
}

static bool decode_points(ColumnCoder *coder, const ReaderChunk *c, const ChunkDirectory *d,
                          const uint8_t *data, size_t n, CacheEntry *e) {
  (void)coder;
  (void)c;
  if (!points_check(data, n, d->nblocks)) return false;
  e->points = mem_realloc(NULL, n + POINTS_BEHIND);
  e->npoints = n;
  memcpy(e->points, data, n);
  memset(e->points + n, 0, POINTS_BEHIND);
  e->bytes = n + 512;
  return true;
}

// Scans the postings of a part (points or ranges) that touch [low, high), one after the other.
typedef struct PostingScan {
  CacheEntry *e;
  PointScan points;
  uint64_t low, high;
  uint32_t at;
  bool ranges;
} PostingScan;
// A question about one chunk.
typedef struct ChunkQuery {
  TraceReader *reader;
  const ReaderChunk *chunk;
  const ChunkDirectory *directory;
  const PostingQuery *q;
} ChunkQuery;
static bool postings_begin(const ChunkQuery *k, bool ranges, uint32_t part, PostingScan *s,
                           Error *err) {
  uint64_t low = k->q->low, high = k->q->high;
  *s = (PostingScan){.e = get(k->reader, k->chunk, k->directory,
                              (ranges ? PART_RANGES : PART_POINTS) + part,
                              ranges ? decode_postings : decode_points, err),
                     .low = low,
                     .high = high,
                     .ranges = ranges};
  if (s->e && !ranges) points_begin(&s->points, s->e->points, s->e->npoints, low, high);
  return s->e != NULL;
}
static bool postings_next(const ChunkDirectory *d, PostingScan *s, Posting *out) {
  if (!s->ranges) return points_next(&s->points, d->places, d->nplaces, out);
  for (; s->at < s->e->npostings; s->at++) {
    const Posting *p = &s->e->postings[s->at];
    if (p->start >= s->high || p->end <= s->low) continue;
    *out = *p;
    s->at++;
    return true;
  }
  return false;
}

static ChunkDirectory *directory_of(TraceReader *t, const ReaderChunk *c, Error *err) {
  CacheEntry *e = get(t, c, NULL, PART_DIRECTORY, decode_directory, err);
  ChunkDirectory *d = e ? e->directory : NULL;
  if (d && !d->place_bytes) {
    uint32_t process = t->launches[c->launch].process;
    d->place_bytes = ARENA_ARRAY(&d->arena, uint32_t, d->nplaces);
    d->writes = ARENA_ARRAY(&d->arena, bool, d->nplaces);
    for (uint32_t i = 0; i < d->nplaces; i++) {
      d->writes[i] = place_writes(t, process, &d->places[i]);
      if (d->places[i].has & (ROW_AFFINE | ROW_EACH))
        d->place_bytes[i] = place_bytes_of(&d->places[i],
                                           reader_site(t, process, d->places[i].site));
    }
  }
  return d;
}
const ChunkDirectory *reader_directory(TraceReader *t, const ReaderChunk *c, Error *err) {
  if (t->pause) t->pause(t->pause_user);
  if (t->given_up) {
    error_set(err, "the question was given up.");
    return NULL;
  }
  return directory_of(t, c, err);
}

TraceBlock *reader_block(TraceReader *t, const ReaderChunk *c, uint32_t block, bool values,
                         Error *err) {
  const ChunkDirectory *d = reader_directory(t, c, err);
  if (!d) return NULL;
  CacheEntry *e = get(t, c, d, PART_ROWS + block, decode_block, err);
  if (!e) return NULL;
  // The block must be as its directory says.
  bool ok = block < d->nblocks &&
            e->block->nrows == d->blocks[block + 1].first_row - d->blocks[block].first_row &&
            e->block->nplaces == d->nplaces;
  if (ok) e->block->places = d->places;  // the directory may have been read again since
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

// The next part of points or ranges, from part i on, that may touch [low, high); UINT32_MAX: none
static uint32_t next_part(const ChunkDirectory *d, bool ranges, uint32_t i, uint64_t low,
                          uint64_t high) {
  const PostingPart *parts = ranges ? d->ranges : d->points;
  uint32_t n = ranges ? d->nranges : d->npoints;
  // Points reach POINT_BYTES at most, so that the parts before can be left out by halving; ranges
  // are looked at one by one.
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

static bool collect(const ChunkQuery *k, bool ranges, uint8_t *marked, BlockSet *out, Error *err) {
  const ChunkDirectory *d = k->directory;
  const bool *places = k->q->places;
  const RangeScan *what = k->q->scan;
  for (uint32_t i = 0; (i = next_part(d, ranges, i, k->q->low, k->q->high)) != UINT32_MAX; i++) {
    PostingScan s;
    Posting p;
    if (!postings_begin(k, ranges, i, &s, err)) return false;
    while (postings_next(d, &s, &p)) {
      if (marked[p.block] || (places && !places[p.place]) ||
          (what && what->wanted && !what->wanted(what->user, p.start, p.end)))
        continue;
      marked[p.block] = 1;
      add_block(out, p.block);
    }
    if (s.points.bad) return reader_damaged(k->reader, s.e->id, err);
  }
  return true;
}

static int ascending(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

// One question asks for the same range several times (how often, where, what): keeps the answer.
static bool asked_before(const ChunkDirectory *d, uint64_t low, uint64_t high, BlockSet *out) {
  if (!d->asked.known || d->asked.low != low || d->asked.high != high) return false;
  for (uint32_t i = 0; i < d->asked.n; i++) add_block(out, d->asked.list[i]);
  return true;
}
static void keep_asked(ChunkDirectory *d, uint64_t low, uint64_t high, const BlockSet *set) {
  d->asked.low = low;
  d->asked.high = high;
  d->asked.n = set->n;
  d->asked.known = true;
  d->asked.list = mem_realloc(d->asked.list, sizeof *d->asked.list * (set->n + 1));
  if (set->n) memcpy(d->asked.list, set->list, sizeof *set->list * set->n);
}

bool reader_blocks_touching(TraceReader *t, const ReaderChunk *c, const PostingQuery *q,
                            BlockSet *out, Error *err) {
  out->n = 0;
  ChunkDirectory *d = directory_of(t, c, err);
  if (!d) return false;
  bool all = !q->places && !(q->scan && q->scan->wanted);
  if (all && asked_before(d, q->low, q->high, out)) return true;
  uint8_t *marked = mem_alloc(d->nblocks);
  ChunkQuery k = {t, c, d, q};
  bool ok = collect(&k, false, marked, out, err) && collect(&k, true, marked, out, err);
  free(marked);
  if (out->n) qsort(out->list, out->n, sizeof *out->list, ascending);
  if (ok && all) keep_asked(d, q->low, q->high, out);
  return ok;
}

bool reader_postings(TraceReader *t, const ReaderChunk *c, const PostingQuery *q, PostingVec *out,
                     Error *err) {
  const ChunkDirectory *d = reader_directory(t, c, err);
  if (!d) return false;
  ChunkQuery k = {t, c, d, q};
  PointQuery points = {d->places, d->nplaces, q->places, q->open};
  PostingScan s;
  Posting p;
  for (uint32_t i = 0; (i = next_part(d, false, i, q->low, q->high)) != UINT32_MAX; i++) {
    if (!postings_begin(&k, false, i, &s, err)) return false;
    if (!points_collect(&s.points, &points, out)) return reader_damaged(t, s.e->id, err);
  }
  for (uint32_t i = 0; (i = next_part(d, true, i, q->low, q->high)) != UINT32_MAX; i++) {
    if (!postings_begin(&k, true, i, &s, err)) return false;
    while (postings_next(d, &s, &p))
      if (q->places[p.place] && (!q->open || open_bytes_touch(q->open, p.start, p.end)))
        vec_push(out, p);
  }
  return true;
}

// --- for prefetch.c ---

static uint64_t want_id(const Want *w) { return w->chunk->id << 16 | w->part; }
CacheEntry *reader_kept(TraceReader *t, const Want *w) { return find(t, want_id(w)); }

uint8_t *reader_part(TraceReader *t, const Want *w, size_t *n) {
  Error none = {{0}};
  uint64_t at, end;
  if (t->pause) t->pause(t->pause_user);
  if (!part_place(w->chunk, w->directory, w->part, &at, &end)) return NULL;
  *n = end - at;
  uint8_t *data = mem_realloc(NULL, end - at);
  if (chunk_bytes(t, w->chunk, at, end, data, &none)) return data;
  free(data);
  return NULL;
}

bool reader_decode(ColumnCoder *c, const Want *w, const uint8_t *data, size_t n, CacheEntry *e) {
  Decode *decode = w->part == PART_DIRECTORY ? decode_directory
                   : w->part >= PART_RANGES  ? decode_postings
                   : w->part >= PART_POINTS  ? decode_points
                                             : decode_block;
  return decode(c, w->chunk, w->directory, data, n, e);
}

void reader_keep(TraceReader *t, const Want *w, CacheEntry *e, bool ok) {
  if (ok && !u64map_get(&t->cache, want_id(w))) add(t, e, want_id(w));
  else free_entry(e);
}

static bool may_touch(const ChunkDirectory *d, const RangeScan *what) {
  for (uint32_t i = 0; i < d->nplaces; i++)
    if ((d->writes[i] || !what->writes_only) && directory_may_touch(d, i, what->low, what->high))
      return true;
  return false;
}

void reader_ahead_postings(TraceReader *t, const ReaderChunk *const *chunks, uint32_t n,
                           const RangeScan *what) {
  VEC(Want) wants = {0};
  for (uint32_t i = 0; i < n; i++)
    vec_push(&wants, (Want){.chunk = chunks[i], .part = PART_DIRECTORY});
  reader_ahead(t, wants.data, wants.len);
  wants.len = 0;
  for (uint32_t i = 0; i < n; i++) {
    const ChunkDirectory *d = reader_directory(t, chunks[i], NULL);
    // Only ranges: points are searched as they lie, without unpacking.
    if (!d || !may_touch(d, what)) continue;
    for (uint32_t k = 0; (k = next_part(d, true, k, what->low, what->high)) != UINT32_MAX; k++)
      vec_push(&wants, (Want){.chunk = chunks[i], .directory = d, .part = PART_RANGES + k});
  }
  reader_ahead(t, wants.data, wants.len);
  vec_free(&wants);
}

bool reader_written_ranges(TraceReader *t, const ReaderLaunch *l, AddressRange within,
                           RangeVisitor *f, void *user, Error *err) {
  uint64_t low = within.low, high = within.high;
  for (uint32_t i = 0; i < l->nchunks; i++) {
    const ReaderChunk *c = &t->chunks[l->first_chunk + i];
    if (!c->has_global || c->low >= high || c->high <= low) continue;
    if (!t->scanning) reader_cache_trim(t);
    const ChunkDirectory *d = reader_directory(t, c, err);
    if (!d) return false;
    bool *writes = mem_alloc(d->nplaces), any = false, ok = true;
    for (uint32_t k = 0; k < d->nplaces; k++)
      any |= writes[k] = d->writes[k] && directory_may_touch(d, k, low, high);
    PostingQuery q = {.low = low, .high = high};
    ChunkQuery query = {t, c, d, &q};
    for (uint32_t k = 0; any && ok && k < d->npoints + d->nranges; k++) {
      bool range = k >= d->npoints;
      const PostingPart *part = range ? &d->ranges[k - d->npoints] : &d->points[k];
      if (part->first >= high || part->end <= low) continue;
      PostingScan s;
      Posting p;
      ok = postings_begin(&query, range, range ? k - d->npoints : k, &s, err);
      while (ok && postings_next(d, &s, &p))
        if (writes[p.place]) ok = f(t, c, &d->places[p.place], p.start, p.end, user);
      if (ok && s.points.bad) ok = reader_damaged(t, s.e->id, err);
    }
    free(writes);
    if (!ok) return false;
  }
  return true;
}
