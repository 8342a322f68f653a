// Bytes that grow, numbers of variable length, and columns compressed with zstd.
#include <zstd.h>

#include "trace/predict.h"

enum { LEVEL = 1, WORTH_PLANES = 256, SAMPLE = 2048 };      // SAMPLE: words

struct ColumnCoder {
  ZSTD_CCtx *compress;
  ZSTD_DCtx *expand;
  Bytes first, second, planes;
  uint32_t *table;
};

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
  bytes_free(&c->first);
  bytes_free(&c->second);
  bytes_free(&c->planes);
  free(c->table);
  free(c);
}

uint32_t *column_coder_table(ColumnCoder *c) {
  if (!c->table) return c->table = mem_alloc(sizeof *c->table * VALUE_SLOTS);
  return memset(c->table, 0, sizeof *c->table * VALUE_SLOTS);
}

static void compress(ColumnCoder *c, const uint8_t *data, size_t n, Bytes *out) {
#ifdef TRACE_UNCOMPRESSED                    // for fuzzing: what is behind the compression is to be damaged
  out->len = 0;
  return;
#endif
  if (!c->compress) c->compress = ZSTD_createCCtx();
  CHECK(c->compress);
  out->len = 0;
  bytes_reserve(out, ZSTD_compressBound(n));
  size_t got = ZSTD_compressCCtx(c->compress, out->data, out->cap, data, n, LEVEL);
  out->len = ZSTD_isError(got) || got >= n ? 0 : got;      // 0: kept as it is
}

// length << 1 | planes, compressed length (0: not compressed), bytes
static void put(Bytes *out, bool planes, const uint8_t *data, size_t n, const Bytes *compressed) {
  bytes_varint(out, (uint64_t)n << 1 | planes);
  bytes_varint(out, compressed->len);
  if (compressed->len) bytes_add(out, compressed->data, compressed->len);
  else bytes_add(out, data, n);
}

void column_write(ColumnCoder *c, Bytes *out, const uint8_t *data, size_t n) {
  c->first.len = 0;
  if (n > 16) compress(c, data, n, &c->first);
  put(out, false, data, n, &c->first);
}

static void split(const uint32_t *words, size_t n, Bytes *planes) {
  planes->len = 0;
  bytes_reserve(planes, n * 4);
  uint8_t *p = planes->data;
  for (size_t i = 0; i < n; i++) {
    uint32_t w = words[i];
    p[i] = (uint8_t)w, p[n + i] = (uint8_t)(w >> 8), p[2 * n + i] = (uint8_t)(w >> 16), p[3 * n + i] = (uint8_t)(w >> 24);
  }
}

static size_t size_or(const Bytes *compressed, size_t n) { return compressed->len ? compressed->len : n; }

// Of many words a piece decides whether planes are better, and whether either is worth it.
void column_write_words(ColumnCoder *c, Bytes *out, const uint32_t *words, size_t n) {
  size_t bytes = n * 4;
  bool plain = bytes > 16, planes = bytes >= WORTH_PLANES;
  c->first.len = c->second.len = 0;
  if (n > 4 * SAMPLE) {
    const uint32_t *sample = words + (n - SAMPLE) / 2;
    compress(c, (const uint8_t *)sample, SAMPLE * 4, &c->first);
    split(sample, SAMPLE, &c->planes);
    compress(c, c->planes.data, SAMPLE * 4, &c->second);
    planes = size_or(&c->second, SAMPLE * 4) < size_or(&c->first, SAMPLE * 4);
    plain = !planes;
    c->first.len = c->second.len = 0;
  }
  if (plain) compress(c, (const uint8_t *)words, bytes, &c->first);
  if (planes) {
    split(words, n, &c->planes);
    compress(c, c->planes.data, bytes, &c->second);
    if (c->second.len && (!c->first.len || c->second.len < c->first.len)) {
      put(out, true, NULL, bytes, &c->second);
      return;
    }
  }
  put(out, false, (const uint8_t *)words, bytes, &c->first);
}

static bool read_head(Reading *from, size_t *n, bool *planes, size_t *compressed) {
  uint64_t head = reading_varint(from), length = reading_varint(from);
  *planes = head & 1;
  *n = head >> 1;
  *compressed = length;
  return !from->bad && (length ? length : head >> 1) <= (uint64_t)(from->end - from->at);
}

bool column_skip(Reading *from) {
  size_t n, compressed;
  bool planes;
  if (!read_head(from, &n, &planes, &compressed)) return false;
  from->at += compressed ? compressed : n;
  return true;
}

static bool read_column(ColumnCoder *c, Reading *from, Arena *arena, size_t most, Reading *out, bool *planes) {
  size_t n, compressed;
  if (!read_head(from, &n, planes, &compressed) || n > most) return false;
  uint8_t *data = arena_alloc(arena, n ? n : 1);
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
  bool planes;
  return read_column(c, from, arena, most, out, &planes) && !planes;
}

bool column_read_words(ColumnCoder *c, Reading *from, Arena *arena, size_t most, const uint32_t **words, size_t *n) {
  bool planes;
  Reading r;
  if (!read_column(c, from, arena, most, &r, &planes) || (r.end - r.at) % 4) return false;
  *n = (size_t)(r.end - r.at) / 4;
  if (!planes) {
    *words = (const uint32_t *)r.at;       // arenas align to 16
    return true;
  }
  uint32_t *w = ARENA_ARRAY(arena, uint32_t, *n + 1);
  const uint8_t *p = r.at;
  size_t k = *n;
  for (size_t i = 0; i < k; i++) w[i] = p[i] | (uint32_t)p[k + i] << 8 | (uint32_t)p[2 * k + i] << 16 | (uint32_t)p[3 * k + i] << 24;
  *words = w;
  return true;
}
