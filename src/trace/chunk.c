// Raw records of one launch become a chunk: sorted by warp, cut into blocks, with postings and a directory.
#include "trace/internal.h"

void chunk_end_part(ChunkOut *out) { vec_push(&out->parts, out->bytes.len); }

void chunk_note_addresses(ChunkOut *out, uint64_t low, uint64_t high) {
  out->low = out->shared_only ? low : MIN(out->low, low);
  out->high = out->shared_only ? high : MAX(out->high, high);
  out->shared_only = false;
}

void chunk_out_free(ChunkOut *out) {
  vec_free(&out->parts);
  vec_free(&out->points);
  vec_free(&out->ranges);
  free(out);
}

enum { AHEAD = 12 };                        // records
typedef struct Sorted { uint64_t warp; const uint32_t *raw; uint32_t place, part; } Sorted;   // part: of a group
typedef struct Places { U64Map numbers; VEC(TracePlace) list; uint64_t last_key[8]; uint32_t last[8]; } Places;

struct ChunkScratch {
  ColumnCoder *coder;
  PostingList *postings;
  TraceRow *rows;
  uint64_t *addresses;
  const uint32_t **words;
  uint32_t *unsplit;
  Sorted *list, *spare; size_t cap;
  RawGroup group;                          // the one that was expanded last
  ChunkPause pause;
};

ChunkScratch *chunk_scratch_new(ChunkPause pause) {
  ChunkScratch *s = mem_alloc(sizeof *s);
  s->pause = pause;
  s->coder = column_coder_new();
  s->postings = postings_new();
  s->rows = mem_alloc(sizeof *s->rows * BLOCK_ROWS);
  s->addresses = mem_alloc(sizeof *s->addresses * (BLOCK_LANES + 32));
  s->words = mem_alloc(sizeof *s->words * BLOCK_ROWS);
  s->unsplit = mem_alloc(sizeof *s->unsplit * (BLOCK_LANES + 32) * 8);
  return s;
}

void chunk_scratch_free(ChunkScratch *s) {
  column_coder_free(s->coder);
  postings_free(s->postings);
  free(s->rows);
  free(s->addresses);
  free(s->words);
  free(s->unsplit);
  free(s->list);
  free(s->spare);
  free(s);
}

// A loop goes from site to site: the last ones are likely the next.
static uint32_t place_number(Places *p, uint64_t key) {
  unsigned slot = (unsigned)(key ^ key >> 24) & 7;
  if (p->last[slot] && key == p->last_key[slot]) return p->last[slot] - 1;
  uintptr_t number = (uintptr_t)u64map_get(&p->numbers, key);
  if (!number) {
    vec_push(&p->list, raw_place(key));
    number = p->list.len;
    u64map_put(&p->numbers, key, (void *)number);
  }
  p->last_key[slot] = key, p->last[slot] = (uint32_t)number;
  return (uint32_t)number - 1;
}

static size_t list_group(ChunkScratch *s, Places *places, const uint32_t *w, size_t room, Sorted *to) {
  CHECK(raw_group_read(w, &s->group));
  uint32_t n = s->group.nops, rows = n * s->group.turns;
  CHECK(rows <= room);
  for (uint32_t i = 0; i < n; i++) to[i] = (Sorted){raw_warp(w), w, place_number(places, raw_key_of(&s->group.places[i])), i};
  for (uint32_t i = n; i < rows; i++) to[i] = to[i - n], to[i].part = i;
  s->group.raw = NULL;                       // the next one may stand at the same place in memory
  return rows;
}

NEWER_TOO static size_t list_records(ChunkScratch *s, Places *places, const RawPiece *pieces) {
  size_t count = 0, n = 0;
  for (const RawPiece *p = pieces; p; p = p->next) count += p->records;
  if (s->cap < count) {
    s->cap = count;
    s->list = memory_more(s->list, 0, count * sizeof *s->list);
    s->spare = memory_more(s->spare, 0, count * sizeof *s->spare);
  }
  for (const RawPiece *p = pieces; p; p = p->next)
    for (size_t at = 0; at < p->len;) {
      const uint32_t *w = (const uint32_t *)(p->data + at);
      size_t length = raw_length(w);
      CHECK(length && length <= p->len - at && n < count);      // trace_take has looked
      if (raw_is_group(w)) n += list_group(s, places, w, count - n, s->list + n);
      else s->list[n++] = (Sorted){raw_warp(w), w, place_number(places, raw_place_key(w)), 0};
      at += length;
    }
  return n;
}

// By warp; what a warp did stays in order.
NEWER_TOO static void sort_by_warp(ChunkScratch *s, size_t n) {
  uint64_t least = UINT64_MAX, most = 0;
  for (size_t i = 0; i < n; i++) least = MIN(least, s->list[i].warp), most = MAX(most, s->list[i].warp);
  if (!n || least == most) return;
  for (unsigned shift = 0; (most - least) >> shift; shift += 11) {
    size_t count[2048] = {0}, at = 0;
    for (size_t i = 0; i < n; i++) count[(s->list[i].warp - least) >> shift & 2047]++;
    for (unsigned d = 0; d < 2048; d++) {
      size_t k = count[d];
      count[d] = at, at += k;
    }
    for (size_t i = 0; i < n; i++) s->spare[count[(s->list[i].warp - least) >> shift & 2047]++] = s->list[i];
    Sorted *t = s->list;
    s->list = s->spare, s->spare = t;
  }
}

static void write_directory(ColumnCoder *c, const Places *places, const ChunkBlockInfo *blocks, uint32_t nblocks, ChunkOut *out) {
  Bytes col = {0};
  bytes_varint(&col, places->list.len);
  for (uint32_t i = 0; i < places->list.len; i++) {
    const TracePlace *p = &places->list.data[i];
    bytes_varint(&col, p->site);
    bytes_u8(&col, p->has);
    bytes_u8(&col, p->planes);
  }
  bytes_varint(&col, nblocks);
  for (uint32_t i = 0; i < nblocks; i++) {
    bytes_varint(&col, blocks[i].first_row - (i ? blocks[i - 1].first_row : 0));
    bytes_varint(&col, blocks[i].first_warp - (i ? blocks[i - 1].first_warp : 0));
  }
  for (int ranges = 0; ranges < 2; ranges++) {
    const PostingPart *parts = ranges ? out->ranges.data : out->points.data;
    uint32_t n = ranges ? out->ranges.len : out->points.len;
    bytes_varint(&col, n);
    for (uint32_t i = 0; i < n; i++) {
      bytes_varint(&col, parts[i].first - (i ? parts[i - 1].first : 0));
      bytes_varint(&col, parts[i].end - parts[i].first);
    }
  }
  for (uint32_t i = 0; i < out->parts.len; i++) bytes_varint(&col, out->parts.data[i] - (i ? out->parts.data[i - 1] : 0));
  column_write(c, &out->bytes, col.data, col.len);
  chunk_end_part(out);
  bytes_free(&col);
}

bool directory_read(ColumnCoder *c, const uint8_t *data, size_t n, uint64_t records, uint64_t bytes, ChunkDirectory *d) {
  Reading from = {data, data + n, false}, col;
  if (!column_read(c, &from, &d->arena, 64u << 20, &col)) return false;
  size_t most = (size_t)(col.end - col.at);
  uint64_t nplaces = reading_varint(&col);
  if (nplaces > most) return false;
  d->places = ARENA_ARRAY(&d->arena, TracePlace, nplaces + 1);
  d->nplaces = (uint32_t)nplaces;
  for (uint32_t i = 0; i < nplaces; i++) {
    TracePlace *p = &d->places[i];
    p->site = (uint32_t)reading_varint(&col) & 0xFFFFFF;
    p->has = reading_u8(&col);
    p->planes = reading_u8(&col);
    if ((p->planes != 1 && p->planes != 2 && p->planes != 4) || p->has > 31 || (p->has & 3) == 3) return false;
  }
  uint64_t nblocks = reading_varint(&col), row = 0, warp = 0;
  if (nblocks > most || nblocks > PART_POINTS) return false;
  d->blocks = ARENA_ARRAY(&d->arena, ChunkBlockInfo, nblocks + 1);
  d->nblocks = (uint32_t)nblocks;
  for (uint32_t i = 0; i < nblocks; i++) {
    row += reading_varint(&col), warp += reading_varint(&col);
    if (row >= records || (i && row <= d->blocks[i - 1].first_row) || (!i && row)) return false;
    d->blocks[i] = (ChunkBlockInfo){warp, (uint32_t)row};
  }
  d->blocks[nblocks].first_row = (uint32_t)records;
  for (int ranges = 0; ranges < 2; ranges++) {
    uint64_t count = reading_varint(&col), first = 0;
    if (count > most || count > (ranges ? PART_DIRECTORY - PART_RANGES : PART_RANGES - PART_POINTS)) return false;
    PostingPart *parts = ARENA_ARRAY(&d->arena, PostingPart, count + 1);
    for (uint64_t i = 0; i < count; i++) {
      first += reading_varint(&col);
      parts[i] = (PostingPart){first, first + reading_varint(&col)};
    }
    if (ranges) d->ranges = parts, d->nranges = (uint32_t)count;
    else d->points = parts, d->npoints = (uint32_t)count;
  }
  uint32_t nparts = d->nblocks + d->npoints + d->nranges;
  d->parts = ARENA_ARRAY(&d->arena, uint64_t, nparts + 1);
  for (uint32_t i = 0; i < nparts; i++) {
    uint64_t length = reading_varint(&col);
    if (length > bytes - d->parts[i]) return false;
    d->parts[i + 1] = d->parts[i] + length;
  }
  return !col.bad && nblocks && nplaces;
}

static const uint32_t *expand(ChunkScratch *s, const Sorted *from, TraceRow *r, BlockInput *in, uint32_t *unsplit) {
  if (!raw_is_group(from->raw)) return raw_expand(from->raw, r, s->addresses, &in->naddresses, s->unsplit, unsplit);
  if (s->group.raw != from->raw) CHECK(raw_group_read(from->raw, &s->group));
  return raw_group_expand(&s->group, from->part, r, s->addresses, &in->naddresses, s->unsplit, unsplit);
}

NEWER_TOO ChunkOut *chunk_encode(ChunkScratch *s, uint64_t id, uint32_t process, uint32_t launch, const RawPiece *pieces, Bytes memory) {
  ChunkOut *out = mem_alloc(sizeof *out);
  memory.len = 0;
  *out = (ChunkOut){.id = id, .process = process, .launch = launch, .shared_only = true, .bytes = memory};
  Places places = {0};
  size_t n = list_records(s, &places, pieces);
  sort_by_warp(s, n);
  VEC(ChunkBlockInfo) blocks = {0};
  for (size_t i = 0; i < n;) {
    BlockInput in = {.places = places.list.data, .nplaces = places.list.len, .rows = s->rows, .addresses = s->addresses, .words = s->words};
    vec_push(&blocks, (ChunkBlockInfo){s->list[i].warp, (uint32_t)i});
    uint32_t lanes = 0, unsplit = 0;
    if (s->pause.f) s->pause.f(s->pause.user);
    for (; i < n && in.nrows < BLOCK_ROWS && lanes < BLOCK_LANES; i++) {
      TraceRow *r = &s->rows[in.nrows];
      if (i + AHEAD < n) {                     // warps take turns in a ring, so that a warp's records are all over it
        const char *next = (const char *)s->list[i + AHEAD].raw;
        __builtin_prefetch(next), __builtin_prefetch(next + 64), __builtin_prefetch(next + 128);
      }
      s->words[in.nrows++] = expand(s, &s->list[i], r, &in, &unsplit);
      r->place = s->list[i].place;
      in.nwords += row_words(&places.list.data[r->place], r->lanes);
      if (places.list.data[r->place].has & (ROW_AFFINE | ROW_EACH) && (!out->has_time || time_is_later(r->time, out->last_time))) out->last_time = r->time, out->has_time = true;
      lanes += (uint32_t)__builtin_popcount(r->lanes);
    }
    out->operations += lanes;
    block_write(s->coder, &in, &out->bytes);
    chunk_end_part(out);
    postings_add(s->postings, &in, blocks.len - 1);
  }
  CHECK(blocks.len <= CHUNK_BLOCKS);
  out->records = n;
  out->first_warp = n ? s->list[0].warp : 0;
  out->last_warp = n ? s->list[n - 1].warp : 0;
  postings_write(s->postings, s->coder, places.list.data, places.list.len, blocks.len, out);
  write_directory(s->coder, &places, blocks.data, blocks.len, out);
  vec_free(&blocks);
  vec_free(&places.list);
  u64map_free(&places.numbers);
  return out;
}
