// Measures how fast one thread makes chunks of raw records, and their size. It encodes the same
// records again and again, in memory that was used before, so that nothing else is measured.
//   encode PATTERN|FILE [megabytes [rounds]]    FILE: raw records, one after the other
#include "patterns.h"
#include "trace/internal.h"

enum { RESIDENT = 2048, CHUNKS = 256 };     // RESIDENT: warps that are at work at the same time
static RawPiece pieces[CHUNKS];

static void close_chunk(unsigned *chunk, const uint8_t *data, size_t n, uint32_t rows) {
  if (!n || *chunk == CHUNKS) return;
  pieces[*chunk] = (RawPiece){.data = memory_more(NULL, 0, n),
                              .len = n,
                              .records = rows};  // in large pages, as the writer has them
  memcpy(pieces[(*chunk)++].data, data, n);
}

// Records of a file: a launch is a chunk, or several.
static unsigned load(FILE *f, size_t bytes) {
  uint8_t *data = mem_alloc(bytes + WG_TRACE_MAX);
  size_t n = fread(data, 1, bytes, f), from = 0, at = 0;
  uint32_t rows = 0, launch = 0;
  unsigned chunk = 0;
  while (n - at >= 32) {
    const uint32_t *w = (const uint32_t *)(data + at);
    size_t length = raw_length(w), used;
    uint32_t some, its = w[3] & ((1u << WG_TRACE_LAUNCH_BITS) - 1);
    if (!length || length > n - at || raw_look(w, length, &used, &some) != RAW_COMPLETE) break;
    if (its != launch || rows >= CHUNK_RECORDS || at - from >= CHUNK_BYTES) {
      close_chunk(&chunk, data + from, at - from, rows);
      from = at;
      rows = 0;
      launch = its;
    }
    rows += some;
    at += length;
  }
  close_chunk(&chunk, data + from, at - from, rows);
  free(data);
  return chunk;
}

// Fills chunks as trace_take does; returns how many.
static unsigned fill(const Pattern *p, const Shape *s, size_t bytes, uint64_t *operations) {
  static struct { uint64_t warp; uint32_t k; } at[RESIDENT];
  uint32_t n = 0, chunk = 0, time = 0, rows = 0;
  uint64_t next = 0;
  Out out = {0};
  for (size_t all = 0; all < bytes && chunk < CHUNKS;) {
    while (n < RESIDENT && next < s->warps) {
      at[n].warp = next++;
      at[n++].k = 0;
    }
    if (!n) break;
    for (uint32_t i = 0; i < n && all < bytes && chunk < CHUNKS;) {
      WarpOp op = {.warp = at[i].warp, .launch = 1, .time = time++ & 0x7FFFFFFF};
      size_t before = out.len;
      uint64_t some = make_record(p, s, &op, at[i].k++, &out);
      if (!some) {
        at[i] = at[--n];
        continue;
      }
      *operations += some;
      rows += p->group ? (uint32_t)(some / 32) : 1;
      all += out.len - before;
      i++;
      if (rows < CHUNK_RECORDS && out.len < CHUNK_BYTES) continue;
      close_chunk(&chunk, out.data, out.len, rows);
      out.len = rows = 0;
    }
  }
  close_chunk(&chunk, out.data, out.len, rows);
  free(out.data);
  return chunk;
}

int main(int argc, char **argv) {
  const Pattern *p = argc > 1 ? pattern_named(argv[1]) : NULL;
  FILE *f = p || argc < 2 ? NULL : fopen(argv[1], "rb");
  if (!p && !f) {
    fprintf(stderr, "usage: encode PATTERN|FILE [MEGABYTES [ROUNDS]]\n");
    return 2;
  }
  double megabytes = argc > 2 ? atof(argv[2]) : 48, best = 1e9;
  unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
  uint64_t operations = 0, raw = 0, kept = 0;
  Shape s = p ? shape_of(p, 1e8) : (Shape){0};
  unsigned n = p ? fill(p, &s, (size_t)(megabytes * 1e6), &operations)
                 : load(f, (size_t)(megabytes * 1e6));
  CHECK(n);
  ChunkScratch *scratch = chunk_scratch_new((ChunkPause){0});
  Bytes memory = {0};
  for (unsigned round = 0; round < rounds; round++) {
    double began = now(CLOCK_THREAD_CPUTIME_ID);
    raw = kept = operations = 0;
    for (unsigned i = 0; i < n; i++) {
      ChunkOut *c = chunk_encode(scratch, i + 1, 1, 1, &pieces[i], memory);
      raw += pieces[i].len;
      kept += c->bytes.len;
      operations += c->operations;
      memory = c->bytes;
      chunk_out_free(c);
    }
    best = fmin(best, now(CLOCK_THREAD_CPUTIME_ID) - began);
  }
  printf("%-10s %.2f GB/s of raw records, %.2f billion operations a second of a processor; %.3f "
         "bytes of records for each operation, %.3f in chunks\n",
         p ? p->name : argv[1], (double)raw / best / 1e9, (double)operations / best / 1e9,
         (double)raw / (double)operations, (double)kept / (double)operations);
  return 0;
}
