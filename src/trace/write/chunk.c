// Makes a chunk from raw records of one launch: sorted by warp, cut into blocks, with postings and
// a directory.
#include "trace/internal.h"
#include "trace/write/pack.h"

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
  vec_free(&out->bounds);
  free(out);
}

struct ChunkScratch {
  ColumnCoder *coder;
  PostingList *postings;
  RowMaker *rows;
  ChunkPause pause;
  Bytes unpacked;
  VEC(RawPiece) pieces;
};

ChunkScratch *chunk_scratch_new(ChunkPause pause) {
  ChunkScratch *s = mem_alloc(sizeof *s);
  *s = (ChunkScratch){.coder = column_coder_new(),
                      .postings = postings_new(),
                      .rows = row_maker_new(),
                      .pause = pause};
  return s;
}

void chunk_scratch_free(ChunkScratch *s) {
  column_coder_free(s->coder);
  postings_free(s->postings);
  row_maker_free(s->rows);
  free(s->unpacked.data);
  vec_free(&s->pieces);
  free(s);
}

static void write_directory(ColumnCoder *c, const TracePlace *places, uint32_t nplaces,
                            const ChunkBlockInfo *blocks, uint32_t nblocks, ChunkOut *out) {
  Bytes col = {0};
  bytes_varint(&col, nplaces);
  for (uint32_t i = 0; i < nplaces; i++) {
    const TracePlace *p = &places[i];
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
  for (uint32_t i = 0; i < out->parts.len; i++)
    bytes_varint(&col, out->parts.data[i] - (i ? out->parts.data[i - 1] : 0));
  for (uint32_t i = 0; i < nblocks; i++)
    bytes_varint(&col,
                 blocks[i].has_time ? (out->last_time - blocks[i].last_time) & 0x7FFFFFFF : 0);
  for (uint32_t i = 0; i < nplaces; i++) {
    PlaceBounds b = out->bounds.data[i];
    bytes_varint(&col, b.high - b.low);  // 0: not known
    if (b.high) bytes_varint(&col, b.low);
  }
  column_write(c, &out->bytes, col.data, col.len);
  chunk_end_part(out);
  bytes_free(&col);
}

bool directory_read(ColumnCoder *c, const uint8_t *data, size_t n, uint64_t records, uint64_t bytes,
                    ChunkDirectory *d) {
  Reading from = {data, data + n, false}, col;
  if (!column_read_scratch(c, &from, CODER_STREAMS, PART_BYTES_MOST, &col)) return false;
  size_t most = (size_t)(col.end - col.at);
  uint64_t nplaces = reading_varint(&col);
  if (nplaces > most || nplaces > 1u << POSTING_PLACE_BITS) return false;
  d->places = ARENA_ARRAY(&d->arena, TracePlace, nplaces + 1);
  d->nplaces = (uint32_t)nplaces;
  for (uint32_t i = 0; i < nplaces; i++) {
    TracePlace *p = &d->places[i];
    p->site = (uint32_t)reading_varint(&col) & 0xFFFFFF;
    p->has = reading_u8(&col);
    p->planes = reading_u8(&col);
    if ((p->planes != 1 && p->planes != 2 && p->planes != 4) || p->has > 31 || (p->has & 3) == 3)
      return false;
  }
  uint64_t nblocks = reading_varint(&col), row = 0, warp = 0;
  if (nblocks > most || nblocks > PART_POINTS) return false;
  d->blocks = ARENA_ARRAY(&d->arena, ChunkBlockInfo, nblocks + 1);
  d->nblocks = (uint32_t)nblocks;
  for (uint32_t i = 0; i < nblocks; i++) {
    row += reading_varint(&col);
    warp += reading_varint(&col);
    if (row >= records || (i && row <= d->blocks[i - 1].first_row) || (!i && row)) return false;
    d->blocks[i] = (ChunkBlockInfo){.first_warp = warp, .first_row = (uint32_t)row};
  }
  d->blocks[nblocks].first_row = (uint32_t)records;
  for (int ranges = 0; ranges < 2; ranges++) {
    uint64_t count = reading_varint(&col), first = 0;
    if (count > most || count > (ranges ? PART_DIRECTORY - PART_RANGES : PART_RANGES - PART_POINTS))
      return false;
    PostingPart *parts = arena_alloc_uncleared(&d->arena, sizeof *parts * (count + 1));
    for (uint64_t i = 0; i < count; i++) {
      first += reading_varint(&col);
      parts[i] = (PostingPart){first, first + reading_varint(&col)};
    }
    if (ranges) {
      d->ranges = parts;
      d->nranges = (uint32_t)count;
    } else {
      d->points = parts;
      d->npoints = (uint32_t)count;
    }
  }
  uint32_t nparts = d->nblocks + d->npoints + d->nranges;
  d->parts = arena_alloc_uncleared(&d->arena, sizeof *d->parts * (nparts + 1));
  d->parts[0] = 0;
  for (uint32_t i = 0; i < nparts; i++) {
    uint64_t length = reading_varint(&col);
    if (length > bytes - d->parts[i]) return false;
    d->parts[i + 1] = d->parts[i] + length;
  }
  for (uint32_t i = 0; i < nblocks && col.at < col.end; i++)
    d->blocks[i].earlier = (uint32_t)reading_varint(&col) & 0x7FFFFFFF;
  if (col.at < col.end) d->bounds = ARENA_ARRAY(&d->arena, PlaceBounds, nplaces);
  for (uint32_t i = 0; i < nplaces && d->bounds; i++) {
    uint64_t length = reading_varint(&col), low = length ? reading_varint(&col) : 0;
    d->bounds[i] = (PlaceBounds){low, low + length};
    if (low + length < low) return false;
  }
  return !col.bad && nblocks && nplaces;
}

bool directory_may_touch(const ChunkDirectory *d, uint32_t place, uint64_t low, uint64_t high) {
  if (!d->bounds || !d->bounds[place].high || low >> WG_TRACE_SPACE_AT) return true;
  // accesses may be wider than postings know
  return d->bounds[place].low < high &&
         d->bounds[place].high + MAX(d->place_bytes[place], 4u) > low;
}

// Unpacks the records of the pieces.
static const RawPiece *unpack(ChunkScratch *s, const RawPiece *pieces) {
  size_t room = 0, at = 0;
  for (const RawPiece *p = pieces; p; p = p->next) room += p->unpacked;
  if (!room) return pieces;
  if (s->unpacked.cap < room)
    s->unpacked = (Bytes){.data = memory_more(s->unpacked.data, 0, room), .cap = room};
  s->pieces.len = 0;
  for (const RawPiece *p = pieces; p; p = p->next) {
    RawPiece raw = *p;
    if (p->unpacked) {
      raw.data = s->unpacked.data + at;
      raw.len = p->unpacked;
      CHECK(unpack_records(raw.data, p->unpacked, p->data, p->len) == p->unpacked);
      at += p->unpacked;
    }
    vec_push(&s->pieces, raw);
  }
  for (uint32_t i = 0; i < s->pieces.len; i++)
    s->pieces.data[i].next = i + 1 < s->pieces.len ? &s->pieces.data[i + 1] : NULL;
  return s->pieces.data;
}

ChunkOut *chunk_encode(ChunkScratch *s, uint64_t id, uint32_t process, uint32_t launch,
                       const RawPiece *pieces, Bytes memory) {
  ChunkOut *out = mem_alloc(sizeof *out);
  memory.len = 0;
  *out = (ChunkOut){
      .id = id, .process = process, .launch = launch, .shared_only = true, .bytes = memory};
  out->records = row_maker_begin(s->rows, unpack(s, pieces));
  out->damaged = row_maker_damaged(s->rows);
  if (out->damaged) return out;
  out->first_warp = row_maker_first_warp(s->rows);
  out->last_warp = row_maker_last_warp(s->rows);
  VEC(ChunkBlockInfo) blocks = {0};
  BlockInput in;
  for (uint64_t row = 0; row_maker_block(s->rows, &in); row += in.nrows) {
    vec_push(&blocks, (ChunkBlockInfo){.first_warp = in.rows[0].warp,
                                       .first_row = (uint32_t)row,
                                       .last_time = in.last_time,
                                       .has_time = in.has_time});
    if (in.has_time && (!out->has_time || time_is_later(in.last_time, out->last_time))) {
      out->last_time = in.last_time;
      out->has_time = true;
    }
    out->operations += in.lanes;
    block_write(s->coder, &in, &out->bytes);
    chunk_end_part(out);
    postings_add(s->postings, &in, blocks.len - 1);
    if (s->pause.f) s->pause.f(s->pause.user);
  }
  CHECK(blocks.len <= CHUNK_BLOCKS);
  const TracePlace *places;
  uint32_t nplaces;
  row_maker_places(s->rows, &places, &nplaces);
  postings_write(s->postings, s->coder, places, nplaces, blocks.len, out);
  write_directory(s->coder, places, nplaces, blocks.data, blocks.len, out);
  vec_free(&blocks);
  return out;
}
