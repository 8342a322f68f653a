#define _GNU_SOURCE
// Bytes that grow, numbers of variable length, and columns compressed with zstd.
#include <sys/mman.h>
#include <zstd.h>

#include "trace/internal.h"

enum { LEVEL = -1 };  // as short as 1, faster by a tenth to a fifth

struct ColumnCoder {
  ZSTD_CCtx *compress;
  ZSTD_DCtx *expand;
  Bytes compressed, scratch[CODER_SCRATCHES];
  ColumnHabit habit;
};

void *memory_more(void *p, size_t used, size_t cap) {
  enum { PAGE = 2 << 20 };
  void *more = NULL;
  if (cap < PAGE || posix_memalign(&more, PAGE, cap) != 0) return mem_realloc(p, cap);
  madvise(more, cap / PAGE * PAGE, MADV_HUGEPAGE);
  if (used) memcpy(more, p, used);
  free(p);
  return more;
}

void bytes_reserve(Bytes *b, size_t more) {
  if (b->cap - b->len >= more) return;
  b->cap = MAX(b->cap * 2, b->len + more + 64);
  b->data = mem_realloc(b->data, b->cap);
}

void bytes_add(Bytes *b, const void *data, size_t n) {
  bytes_reserve(b, n);
  if (n) memcpy(b->data + b->len, data, n);
  b->len += n;
}

void bytes_varint(Bytes *b, uint64_t v) {
  if (b->cap - b->len < 10) bytes_reserve(b, 10);
  for (; v >= 0x80; v >>= 7) b->data[b->len++] = (uint8_t)(v | 0x80);
  b->data[b->len++] = (uint8_t)v;
}

void bytes_free(Bytes *b) {
  free(b->data);
  *b = (Bytes){0};
}

uint64_t reading_varint_slow(Reading *r) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
    uint8_t byte = *r->at++;
    v |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return v;
  }
  r->bad = true;
  return 0;
}

ColumnCoder *column_coder_new(void) { return mem_alloc(sizeof(ColumnCoder)); }

void column_coder_free(ColumnCoder *c) {
  if (!c) return;
  ZSTD_freeCCtx(c->compress);
  ZSTD_freeDCtx(c->expand);
  bytes_free(&c->compressed);
  bytes_free(&c->habit.trial);
  for (unsigned i = 0; i < CODER_SCRATCHES; i++) bytes_free(&c->scratch[i]);
  free(c);
}

ColumnHabit *column_coder_habit(ColumnCoder *c) { return &c->habit; }

uint8_t *column_coder_scratch(ColumnCoder *c, unsigned which, size_t n) {
  bytes_reserve(&c->scratch[which], n + 64);
  return c->scratch[which].data;
}

static void compress(ColumnCoder *c, const uint8_t *data, size_t n, Bytes *out) {
#ifdef TRACE_UNCOMPRESSED  // for fuzzing: lets the fuzzer damage the data inside the compression
  out->len = 0;
  return;
#endif
  if (!c->compress) c->compress = ZSTD_createCCtx();
  CHECK(c->compress);
  out->len = 0;
  bytes_reserve(out, ZSTD_compressBound(n));
  size_t got = ZSTD_compressCCtx(c->compress, out->data, out->cap, data, n, LEVEL);
  out->len = ZSTD_isError(got) || got >= n ? 0 : got;  // 0: kept as it is
}

// length, compressed length (0: not compressed), bytes
static void put(Bytes *out, const uint8_t *data, size_t n, const Bytes *compressed) {
  bytes_varint(out, n);
  bytes_varint(out, compressed->len);
  if (compressed->len) bytes_add(out, compressed->data, compressed->len);
  else bytes_add(out, data, n);
}

void column_write(ColumnCoder *c, Bytes *out, const uint8_t *data, size_t n) {
  c->compressed.len = 0;
  if (n > 16) compress(c, data, n, &c->compressed);
  put(out, data, n, &c->compressed);
}

static bool read_head(Reading *from, size_t most, uint64_t *n, uint64_t *compressed) {
  *n = reading_varint(from);
  *compressed = reading_varint(from);
  return !from->bad && *n <= most &&
         (*compressed ? *compressed : *n) <= (uint64_t)(from->end - from->at);
}

static bool read_column(ColumnCoder *c, Reading *from, uint8_t *data, uint64_t n,
                        uint64_t compressed, Reading *out) {
  if (compressed) {
    if (!c->expand) c->expand = ZSTD_createDCtx();
    CHECK(c->expand);
    if (ZSTD_decompressDCtx(c->expand, data, n, from->at, compressed) != n) return false;
    from->at += compressed;
  } else {
    if (n) memcpy(data, from->at, n);
    from->at += n;
  }
  *out = (Reading){data, data + n, false};
  return true;
}

bool column_read(ColumnCoder *c, Reading *from, Arena *arena, size_t most, Reading *out) {
  uint64_t n, compressed;
  return read_head(from, most, &n, &compressed) &&
         read_column(c, from, arena_alloc_uncleared(arena, n ? n : 1), n, compressed, out);
}

bool column_read_scratch(ColumnCoder *c, Reading *from, unsigned which, size_t most, Reading *out) {
  uint64_t n, compressed;
  return read_head(from, most, &n, &compressed) &&
         read_column(c, from, column_coder_scratch(c, which, n), n, compressed, out);
}
