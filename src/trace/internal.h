// How recorded operations are kept (docs/run-file.md, "Recorded operations").
// - chunk: up to CHUNK_RECORDS records of one launch, sorted by warp, each warp's in order; encoded
//   by one thread
// - block: consecutive rows of a chunk, decoded together: columns, each compressed by itself
// - postings of a chunk: which blocks touch which addresses, by which sites
#ifndef WG_TRACE_INTERNAL_H
#define WG_TRACE_INTERNAL_H

#include <pthread.h>

#include "base/reading.h"
#include "probe/trace_abi.h"
#include "trace/trace.h"

enum {
  CHUNK_RECORDS = 1 << 16,
  CHUNK_BYTES = 16 << 20,  // of raw records
  BLOCK_ROWS = 4096,
  BLOCK_LANES = 32768,  // a block ends when it has so many
  CHUNK_BLOCKS = 4096,  // at most; enough for CHUNK_RECORDS full warps
  POSTINGS_PER_BLOCK = 1024,
  POINT_BYTES = 64,  // points reach so far at most
  // no part of a chunk is longer, as it lies in the file or unpacked; what says so is damaged
  PART_BYTES_MOST = 64 << 20,
  // of a row of trace_block: with what SQLite adds, one page of 32 KB (docs/run-file.md)
  PIECE_BYTES = 32640,
  // parts of a chunk
  PART_ROWS = 0,
  PART_POINTS = 0x4000,
  PART_RANGES = 0x8000,
  PART_DIRECTORY = 0xFFFF,
};

// Compiles a function twice: for any processor, and for those that count bits and work on 32 bytes
// at a time. The program chooses one when it starts.
#if defined __x86_64__ && defined __gnu_linux__ && defined __GNUC__ && __GNUC__ >= 12 && \
    !defined __clang__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define NEWER_TOO __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define NEWER_TOO
#endif
// Loops over many numbers, which compilers can do several at a time.
#if defined __GNUC__ && !defined __clang__
#define MANY_AT_A_TIME __attribute__((optimize("O3"))) NEWER_TOO
#else
#define MANY_AT_A_TIME
#endif

// --- format/bytes.c: growing bytes, and reading what may be damaged ---
typedef struct Bytes {
  uint8_t *data;
  size_t len, cap;
} Bytes;
void bytes_reserve(Bytes *b, size_t more);
void bytes_add(Bytes *b, const void *data, size_t n);
void bytes_varint(Bytes *b, uint64_t v);
void bytes_free(Bytes *b);
// Like realloc, with large pages for large memory: scattered writes would need thousands of small
// pages.
void *memory_more(void *p, size_t used, size_t cap);
static inline void bytes_u8(Bytes *b, uint8_t v) {
  if (b->len == b->cap) bytes_reserve(b, 1);
  b->data[b->len++] = v;
}
static inline uint64_t zigzag(int64_t v) { return (uint64_t)v << 1 ^ (uint64_t)(v >> 63); }
static inline int64_t unzigzag(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

uint64_t reading_varint_slow(Reading *r);
static inline uint64_t reading_varint(Reading *r) {
  const uint8_t *p = r->at;
  if (r->end - p < 3) return reading_varint_slow(r);
  if (p[0] < 0x80) {
    r->at = p + 1;
    return p[0];
  }
  if (p[1] < 0x80) {
    r->at = p + 2;
    return (p[0] & 0x7Fu) | (uint32_t)p[1] << 7;
  }
  if (p[2] < 0x80) {
    r->at = p + 3;
    return (p[0] & 0x7Fu) | (p[1] & 0x7Fu) << 7 | (uint32_t)p[2] << 14;
  }
  return reading_varint_slow(r);
}
static inline uint8_t reading_u8(Reading *r) {
  if (r->at < r->end) return *r->at++;
  r->bad = true;
  return 0;
}
static inline uint32_t reading_u32(Reading *r) {
  uint32_t v = 0;
  if (r->end - r->at < 4) {
    r->bad = true;
    r->at = r->end;
  } else {
    memcpy(&v, r->at, 4);
    r->at += 4;
  }
  return v;
}

// A column is its length, its compressed length and its bytes. A column of 4-byte words is kept as
// four planes of bytes; planes that look worth it are compressed.
typedef struct ColumnCoder ColumnCoder;  // of one thread
enum {
  CODER_TABLE,
  CODER_STREAMS,
  CODER_STATES,
  CODER_GIVEN,
  CODER_RESTS,
  CODER_PLANES,
  CODER_PACKED,
  CODER_STEPS,
  CODER_SCRATCHES
};
// Memory to work in, of at least n bytes, uninitialised.
uint8_t *column_coder_scratch(ColumnCoder *c, unsigned which, size_t n);
ColumnCoder *column_coder_new(void);
void column_coder_free(ColumnCoder *c);
void column_write(ColumnCoder *c, Bytes *out, const uint8_t *data, size_t n);
// kind: the shortest kind of words; code: how words looked then; tried: how often it was asked for
// since
typedef struct ColumnHabit {
  unsigned tried, kind, code;
  Bytes trial;
} ColumnHabit;
ColumnHabit *column_coder_habit(ColumnCoder *c);
// words.c
void column_write_words(ColumnCoder *c, Bytes *out, const uint32_t *words, size_t n);
// Writes the lowest planes of words whose other planes are 0.
void column_write_planes(ColumnCoder *c, Bytes *out, const uint32_t *words, size_t n,
                         unsigned planes);
// Reads the next column into memory of `arena`; more than `most` bytes are damage.
bool column_read(ColumnCoder *c, Reading *from, Arena *arena, size_t most, Reading *out);
// The same in memory of the coder, until that is used for something else.
bool column_read_scratch(ColumnCoder *c, Reading *from, unsigned which, size_t most, Reading *out);
// A column of words as read: its planes, which may stay where they lie, or (words not NULL) all of
// its words.
typedef struct WordColumn {
  size_t n;
  const uint32_t *words;
  const uint8_t *bytes[4];
  unsigned planes;
  bool steps;
} WordColumn;
bool column_open_words(ColumnCoder *c, Reading *from, Arena *arena, size_t most, WordColumn *out);
void column_join_words(const WordColumn *from, uint32_t *to);
static inline uint32_t column_word(const WordColumn *c, size_t i) {  // not of steps
  uint32_t v = 0;
  if (c->words) return c->words[i];
  for (unsigned p = 0; p < c->planes; p++) v |= (uint32_t)c->bytes[p][i] << 8 * p;
  return v;
}

// --- write/raw.c: records as the device wrote them ---
enum {  // what a row has
  // one of them, where there is an address: base + stride * lane, or one for each lane
  ROW_AFFINE = 1,
  ROW_EACH = 2,
  ROW_VALUES = 4,
  ROW_OLD = 8,
  ROW_ONE = 16,
};
typedef struct TraceRow {
  uint64_t warp, base;
  uint32_t lanes, time, place;  // place: index in the chunk's list of places
  int32_t stride;
  uint32_t addresses, words;  // where they begin in the block's lists
} TraceRow;
// The properties of a site that do not change between executions; kept once for a chunk.
typedef struct TracePlace {
  uint32_t site;
  uint8_t has, planes;
} TracePlace;  // planes: 1, 2 or 4
static inline unsigned place_bytes(uint32_t nplaces) {
  return nplaces <= 1u << 8 ? 1 : nplaces <= 1u << 16 ? 2 : 3;
}
// Number of words of a record, by the bits of its format and its planes: without those of its lanes
// (fixed), and for each lane (each). fixed 0: there is no such record, or it is a group.
typedef struct RawShape {
  uint8_t fixed, each;
} RawShape;
extern const RawShape raw_shapes[4][128];
#define RAW_UNFINISHED SIZE_MAX
static inline bool raw_is_group(const uint32_t *words) {
  return (words[0] >> 24 & 7) == WG_TRACE_GROUP;
}
size_t raw_group_length(const uint32_t *words);
static inline bool raw_is_wide(const uint32_t *w) { return w[3] & WG_TRACE_WIDE; }
static inline uint32_t raw_wide(uint32_t words) {
  return (words + WG_TRACE_LINE / 4 - 1) & ~(uint32_t)(WG_TRACE_LINE / 4 - 1);
}
// The word where lane offsets and values begin: `units` words precede them, `rest` is their own
// number.
static inline uint32_t raw_begin(const uint32_t *w, uint32_t units, uint32_t rest) {
  return raw_is_wide(w) && units + rest > raw_wide(units) ? raw_wide(units) : units;
}
// Bytes of a record, from its first 8 words (missing ones are 0); 0: it is damaged; RAW_UNFINISHED:
// too early to tell
static inline size_t raw_length(const uint32_t *w) {
  if (!(w[0] & w[2] & w[3] & 0x80000000u) || !w[1]) return 0;
  const RawShape *s = &raw_shapes[w[3] >> 28 & 3][w[0] >> 24 & 0x7F];
  if (raw_is_group(w)) return raw_group_length(w);
  uint32_t words = (uint32_t)__builtin_popcount(w[1]) * s->each + s->fixed,
           units = w[0] >> 24 & WG_TRACE_ADDRESS ? 8 : 4;
  return !s->fixed        ? 0
         : raw_is_wide(w) ? 4 * raw_wide(raw_begin(w, units, words - units) + words - units)
                          : (words * 4 + 15) & ~15u;
}
// The state of a record. used: its bytes without filling; rows: the number of rows it stands for
typedef enum { RAW_MISSING, RAW_COMPLETE, RAW_DAMAGED } RawState;
RawState raw_look(const uint32_t *words, size_t length, size_t *used, uint32_t *rows);
bool raw_complete(const uint8_t *record, size_t n);
// Most records look like the one before: then only their words have to be there.
// words NULL: none; units, begin, rest: words that must be there
typedef struct RawSeen {
  const uint32_t *words;
  size_t length, used;
  uint32_t rows, units, begin, rest;
} RawSeen;
// Remembers a complete record.
RawSeen raw_seen(const uint32_t *words, size_t length, size_t used, uint32_t rows);
// Whether the record has the same form and launch, and is complete.
bool raw_again(const uint32_t *words, const RawSeen *s);
// clocks have 31 bits
static inline bool time_is_later(uint32_t a, uint32_t b) { return (int32_t)((a - b) << 1) > 0; }
static inline uint64_t raw_warp(const uint32_t *w) {
  return (w[2] & 0x7FFFFFFF) | (uint64_t)(w[3] >> 24 & 15) << 31;
}
uint64_t raw_place_key(const uint32_t *words);
TracePlace raw_place(uint64_t key);
uint64_t raw_key_of(const TracePlace *p);
// Fills the row, and appends its addresses to the list. Returns its values, each ^ WG_TRACE_KEY:
// where they lie in the record, or in `unsplit`.
const uint32_t *raw_expand(const uint32_t *words, TraceRow *row, uint64_t *addresses,
                           uint32_t *naddresses, uint32_t *unsplit, uint32_t *nunsplit);
// --- write/raw_group.c: records of several operations ---
// What records of one form have in common; positions are words from the record's start, 0: none.
// place: filled in by the caller
typedef struct RawGroupOp {
  uint32_t values, nwords, unit, place;
  int32_t distance;
  TracePlace kind;
} RawGroupOp;
typedef struct RawGroup {
  const uint32_t *raw;          // one of them
  uint32_t rows, nops, nunits;  // rows: nops for each turn, in program order
  bool split, far;
  uint32_t units, offsets[WG_TRACE_GROUP_UNITS];
  RawGroupOp ops[WG_TRACE_GROUP_OPS];
} RawGroup;
// The number of rows of a group whose units are complete, 0: it is damaged; *begin: where the rest
// begins, *rest: its words
uint32_t raw_group_rows(const uint32_t *words, uint32_t *begin, uint32_t *rest);
uint32_t raw_group_units(const uint32_t *words);          // words before lane offsets and values
bool raw_group_read(const uint32_t *words, RawGroup *g);  // false: it is damaged
// Whether two groups agree in all that determines their length and the places of their values
// (raw_group.c): counts, operations, and which units have one address for all lanes.
static inline bool raw_same_group(const uint32_t *w, const uint32_t *before) {
  if (w[4] != before[4] || w[5] != before[5]) return false;
  uint32_t nops = w[4] & 0xFF, nunits = w[4] >> 8 & 15, units = raw_group_units(w) - 4 * nunits,
           differ = 0;
  for (uint32_t i = 0; i < nops; i++) differ |= w[7 + i] ^ before[7 + i];
  for (uint32_t u = 0; u < nunits; u++) differ |= w[units + 4 * u + 2] ^ before[units + 4 * u + 2];
  return !differ;
}
// Whether both have the same form.
static inline bool raw_group_is_like(const uint32_t *w, const uint32_t *before) {
  return w[0] == before[0] && !((w[3] ^ before[3]) & WG_TRACE_WIDE) &&
         (w[1] == before[1] || __builtin_popcount(w[1]) == __builtin_popcount(before[1])) &&
         raw_same_group(w, before);
}
// Where rows go, with their values as raw_expand returns them: rows and values to these places;
// addresses and unsplit values are appended. nwords: of all values so far
typedef struct RowsOut {
  TraceRow *rows;
  const uint32_t **values;
  uint64_t *addresses;
  uint32_t naddresses;
  uint32_t *unsplit;
  uint32_t nunsplit, nwords;
} RowsOut;
// Expands n rows of a record of this form, from row `part` on.
void raw_group_expand(const RawGroup *g, const uint32_t *words, uint32_t part, uint32_t n,
                      RowsOut *out);
static inline uint32_t row_plane_words(const TracePlace *p, uint32_t lanes) {
  return p->has & ROW_ONE ? 1 : (uint32_t)__builtin_popcount(lanes);
}
static inline uint32_t row_words(const TracePlace *p, uint32_t lanes) {
  return row_plane_words(p, lanes) * p->planes * (!!(p->has & ROW_VALUES) + !!(p->has & ROW_OLD));
}
// The width of a place's accesses, as far as records tell: without values they do not tell it.
static inline uint32_t place_width(const TracePlace *p) {
  return p->has & (ROW_VALUES | ROW_OLD) ? 4u * p->planes : 32;
}

// --- format/columns.c, columns_read.c: rows of a block and back ---
typedef struct TraceBlock {  // decoded
  uint64_t id;
  Arena arena;
  const TracePlace *places;
  uint32_t nplaces;
  TraceRow *rows;
  uint32_t nrows;
  uint64_t *addresses;
  uint32_t *words;  // see block_read_values
  const uint8_t *flags;
  Reading masks, values;  // `words` is decoded from these
  WordColumn given;
  bool given_open;
  struct GivenStart *starts;  // values_few.c
  // values of single lanes that were asked for; times_few: how often
  struct FewWords *few;
  uint32_t nfew, times_few;
  // rows that touch the range of the last question
  struct {
    uint64_t low, high;
    uint32_t *list, n;
    bool known;
  } found;
  uint32_t nwords;
  size_t bytes;
  uint64_t used;                                  // by the cache
  uint32_t scans, *first_of_line, *rows_of_line;  // block_lines.c
} TraceBlock;
typedef struct BlockInput {
  const TracePlace *places;
  uint32_t nplaces;
  // words: of each row, as raw_expand gives them
  const TraceRow *rows;
  const uint32_t *const *words;
  uint32_t nrows;
  const uint64_t *addresses;
  uint32_t naddresses, nwords;
  uint32_t lanes, last_time;
  bool has_time;  // lanes: of all rows; last_time: the latest
} BlockInput;
void block_write(ColumnCoder *c, const BlockInput *in, Bytes *out);
bool block_read(ColumnCoder *c, const uint8_t *data, size_t n, const TracePlace *places,
                uint32_t nplaces, TraceBlock *out);
bool block_read_values(ColumnCoder *c, TraceBlock *b);
uint64_t row_address(const TraceBlock *b, const TraceRow *row, uint32_t lane);  // lane takes part
static inline uint32_t lane_rank(uint32_t lanes, uint32_t lane) {
  return (uint32_t)__builtin_popcount(lanes & ((1u << lane) - 1));
}

// --- format/values.c: words of values that earlier rows of the block do not predict ---
// given, masks: where the next ones go
typedef struct ValueWriter {
  uint32_t *table, *given;
  uint8_t *masks;
  const uint32_t *before;
  uint32_t nbefore;
} ValueWriter;
void values_begin(ColumnCoder *c, ValueWriter *v, const BlockInput *in, uint8_t *masks);
// Returns how the words are kept: VALUE_*.
unsigned values_write(ValueWriter *v, const BlockInput *in, uint32_t row);
bool values_read(ColumnCoder *c, TraceBlock *b);
// --- format/values_few.c: those of single lanes ---
enum { LANE_WORDS_MAX = 8 };
// of a row: where its words and masks begin; the row with words before it
typedef struct GivenStart {
  uint32_t given, masks, before;
} GivenStart;
typedef enum { FEW_OK, FEW_TOO_MUCH, FEW_DAMAGED } FewResult;
bool block_open_given(ColumnCoder *c, TraceBlock *b);
// The words of a lane, of all planes, as they lie in the row; FEW_TOO_MUCH: decoding all words of
// the block is cheaper.
FewResult block_few_values(ColumnCoder *c, TraceBlock *b, uint32_t row, uint32_t lane,
                           uint32_t *out);

// --- format/postings.c ---
// The sort key of postings. Shared and local memory belong to warps near one another, so 32 warps
// share one key space.
static inline uint64_t posting_key(uint64_t address, uint64_t warp) {
  uint64_t space = address >> WG_TRACE_SPACE_AT & 3;
  return space == WG_TRACE_GLOBAL ? address
                                  : space << 62 | (warp >> 5) << 24 | (address & 0xFFFFFF);
}
typedef struct Posting {
  uint64_t start, end;
  uint32_t block, place;
} Posting;
typedef VEC(Posting) PostingVec;
// of a block of postings: its first start, its largest end
typedef struct PostingPart {
  uint64_t first, end;
} PostingPart;
// lower and upper bound of all that a place touches; high 0: not known, or not only in global
// memory
typedef struct PlaceBounds {
  uint64_t low, high;
} PlaceBounds;
typedef struct PostingList PostingList;
PostingList *postings_new(void);
void postings_free(PostingList *p);
void postings_add(PostingList *p, const BlockInput *in, uint32_t block);
typedef struct ChunkOut ChunkOut;
// Empties the list.
void postings_write(PostingList *p, ColumnCoder *c, const TracePlace *places, uint32_t nplaces,
                    uint32_t nblocks, ChunkOut *out);
struct ChunkDirectory;
// where the postings go
typedef struct PostingsRead {
  Arena *arena;
  const Posting **list;
  uint32_t *n;
} PostingsRead;
bool postings_read(ColumnCoder *c, const uint8_t *data, size_t n, const struct ChunkDirectory *d,
                   const PostingsRead *to);

// --- format/points.c: postings exactly as wide as their place says ---
enum { POSTING_PLACE_BITS = 20 };
typedef struct PointList PointList;
PointList *points_new(void);
void points_free(PointList *p);
void points_clear(PointList *p);
// tag: block << POSTING_PLACE_BITS | place
void points_add(PointList *p, uint64_t start, uint32_t tag);
// Adds a row of points in global memory.
void points_add_row(PointList *p, const uint64_t *starts, uint32_t n, uint32_t tag);
size_t points_count(const PointList *p);
void points_get(const PointList *p, size_t i, uint64_t *start, uint32_t *tag);
// false: the points are too far apart
bool points_write(PointList *p, const TracePlace *places, uint32_t nplaces, uint32_t nblocks,
                  ChunkOut *out);
// Scans the points of a part that touch [low, high). The part was checked, and POINTS_BEHIND bytes
// after it may be read.
enum { POINTS_BEHIND = 16 };
typedef struct PointScan {
  Reading runs;
  const uint8_t *bits;
  uint64_t low, high, entries, at, run_end, least, first, span;
  uint32_t block;
  uint8_t shift, width, place_bits;
  bool bad;
} PointScan;
bool points_check(const uint8_t *data, size_t n, uint32_t nblocks);  // false: damaged
void points_begin(PointScan *s, const uint8_t *data, size_t n, uint64_t low, uint64_t high);
// false: no more, or (bad) damaged
bool points_next(PointScan *s, const TracePlace *places, uint32_t nplaces, Posting *out);

// --- format/points_collect.c ---
// The bytes of [low, high) that are still open for a question: their state has the top bit set.
// longer: accesses may be so many bytes longer than their postings
typedef struct OpenBytes {
  uint64_t low, high;
  const uint8_t *state;
  uint32_t longer;
} OpenBytes;
bool open_bytes_touch(const OpenBytes *o, uint64_t start, uint64_t end);
// wanted: by place; open NULL: all bytes are open
typedef struct PointQuery {
  const TracePlace *places;
  uint32_t nplaces;
  const bool *wanted;
  const OpenBytes *open;
} PointQuery;
// Appends to `out` all wanted points that points_next would return from the beginning on. false:
// damaged
bool points_collect(PointScan *s, const PointQuery *q, PostingVec *out);

// segment: its memory is a segment of writer.h. unpacked: bytes of its packed records (pack.h) once
// they are unpacked; 0: they are not packed
typedef struct RawPiece {
  struct RawPiece *next;
  uint32_t ring;
  uint8_t *data;
  size_t len, cap, unpacked;
  uint32_t records;
  bool segment;
} RawPiece;
// --- write/chunk_rows.c: raw records of one launch become rows ---
typedef struct RowMaker RowMaker;
RowMaker *row_maker_new(void);
void row_maker_free(RowMaker *m);
bool row_maker_damaged(const RowMaker *m);  // the pieces hold something that is no record
// Returns the number of rows. The pieces must stay until the last block was made.
uint64_t row_maker_begin(RowMaker *m, const RawPiece *pieces);
bool row_maker_block(RowMaker *m, BlockInput *in);  // the next ones; false: there are no more
void row_maker_places(const RowMaker *m, const TracePlace **list, uint32_t *n);
uint64_t row_maker_first_warp(const RowMaker *m);
uint64_t row_maker_last_warp(const RowMaker *m);

// --- write/chunk.c: rows become blobs ---
// earlier: time from the block's last access to the chunk's last, at least; 0 in older files
typedef struct ChunkBlockInfo {
  uint64_t first_warp;
  uint32_t first_row, last_time, earlier;
  bool has_time;
} ChunkBlockInfo;
struct ChunkOut {
  struct ChunkOut *next;
  uint64_t id;
  uint32_t process, launch;
  uint64_t records, operations, low, high, first_warp, last_warp;
  uint32_t last_time;
  bool has_time;
  VEC(uint64_t) parts;  // where each ends in `bytes`: blocks, points, ranges, directory
  VEC(PostingPart) points, ranges;
  VEC(PlaceBounds) bounds;  // of each place
  Bytes bytes;
  bool shared_only;  // low and high say nothing
  bool damaged;      // it is empty: the records were no records
};
void chunk_note_addresses(ChunkOut *out, uint64_t low, uint64_t high);  // of global memory
void chunk_end_part(ChunkOut *out);        // ends a part: the bytes added since the last one
typedef struct ChunkScratch ChunkScratch;  // memory that an encoding thread uses again and again
// Called between blocks; may wait.
typedef struct ChunkPause {
  void (*f)(void *user);
  void *user;
} ChunkPause;
ChunkScratch *chunk_scratch_new(ChunkPause pause);
void chunk_scratch_free(ChunkScratch *s);
// memory: for the result; see its `damaged`
ChunkOut *chunk_encode(ChunkScratch *s, uint64_t id, uint32_t process, uint32_t launch,
                       const RawPiece *pieces, Bytes memory);
void chunk_out_free(ChunkOut *out);  // but not out->bytes
typedef struct ChunkDirectory {
  Arena arena;
  TracePlace *places;
  uint32_t nplaces;
  ChunkBlockInfo *blocks;
  uint32_t nblocks;
  PostingPart *points, *ranges;
  uint32_t npoints, nranges;
  uint64_t *parts;      // where each begins: blocks, points, ranges; and where the last one ends
  PlaceBounds *bounds;  // of each place; NULL: in older files
  // set by the reader: bytes of an access of each place (0: none), and whether it writes
  uint32_t *place_bytes;
  bool *writes;
  // blocks that touch the range of the last question
  struct {
    uint64_t low, high;
    uint32_t *list, n;
    bool known;
  } asked;
} ChunkDirectory;
// bytes: of the chunk
bool directory_read(ColumnCoder *c, const uint8_t *data, size_t n, uint64_t records, uint64_t bytes,
                    ChunkDirectory *out);
// Whether a place may have accesses in the range.
bool directory_may_touch(const ChunkDirectory *d, uint32_t place, uint64_t low, uint64_t high);

// --- format/tables.c ---
bool tables_create(sqlite3 *db, Error *err);
bool sql_fail(sqlite3 *db, Error *err, const char *doing);

#endif
