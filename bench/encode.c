// How fast one thread makes chunks of raw records, and what they take up: the same records again and again, in memory that was used before, so that nothing is measured but that.
//   encode PATTERN [megabytes [rounds]]
#include "patterns.h"
#include "trace/internal.h"

enum { RESIDENT = 2048, CHUNKS = 256 };     // RESIDENT: warps that are at work at the same time
static RawPiece pieces[CHUNKS];

// Fills chunks as trace_take does; how many.
static unsigned fill(const Pattern *p, const Shape *s, size_t bytes, uint64_t *operations) {
  static struct { uint64_t warp; uint32_t k; } at[RESIDENT];
  uint32_t n = 0, chunk = 0, time = 0, rows = 0;
  uint64_t next = 0;
  Out out = {0};
  for (size_t all = 0; all < bytes && chunk < CHUNKS;) {
    while (n < RESIDENT && next < s->warps) at[n].warp = next++, at[n++].k = 0;
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
      pieces[chunk] = (RawPiece){.data = memory_more(NULL, 0, out.len), .len = out.len, .records = rows};        // in large pages, as the writer has them
      memcpy(pieces[chunk++].data, out.data, out.len);
      out.len = rows = 0;
    }
  }
  free(out.data);
  return chunk;
}

int main(int argc, char **argv) {
  const Pattern *p = argc > 1 ? pattern_named(argv[1]) : NULL;
  if (!p) {
    fprintf(stderr, "usage: encode PATTERN [MEGABYTES [ROUNDS]]\n");
    return 2;
  }
  double megabytes = argc > 2 ? atof(argv[2]) : 48, best = 1e9;
  unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
  Shape s = shape_of(p, 1e8);
  uint64_t operations = 0, raw = 0, kept = 0;
  unsigned n = fill(p, &s, (size_t)(megabytes * 1e6), &operations);
  ChunkScratch *scratch = chunk_scratch_new((ChunkPause){0});
  Bytes memory = {0};
  for (unsigned round = 0; round < rounds; round++) {
    double began = now(CLOCK_THREAD_CPUTIME_ID);
    raw = kept = operations = 0;
    for (unsigned i = 0; i < n; i++) {
      ChunkOut *c = chunk_encode(scratch, i + 1, 1, 1, &pieces[i], memory);
      raw += pieces[i].len, kept += c->bytes.len, operations += c->operations;
      memory = c->bytes;
      chunk_out_free(c);
    }
    best = fmin(best, now(CLOCK_THREAD_CPUTIME_ID) - began);
  }
  printf("%-10s %.2f GB/s of raw records, %.2f billion operations a second of a processor; %.3f bytes of records for each operation, %.3f in chunks\n", p->name, (double)raw / best / 1e9, (double)operations / best / 1e9,
         (double)raw / (double)operations, (double)kept / (double)operations);
  return 0;
}
