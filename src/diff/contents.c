// What a buffer held after a launch, where that is known: a file of --dump-buffers, or what --record kept.
#include "diff/diff.h"

#include <sys/stat.h>

static bool read_binary(const char *path, uint64_t bytes, void *to, Error *err) {
  FILE *f = fopen(path, "rb");
  if (!f) return error_set(err, "%s cannot be opened", path);
  bool ok = fread(to, 1, bytes, f) == bytes && fgetc(f) == EOF;
  fclose(f);
  return ok || error_set(err, "%s does not have %llu bytes", path, (unsigned long long)bytes);
}

static bool read_text(const char *path, uint64_t bytes, DiffType t, char *to, Error *err) {
  FILE *f = fopen(path, "r");
  char line[128];
  uint64_t at = 0, number = 0;
  if (!f) return error_set(err, "%s cannot be opened", path);
  bool ok = true;
  while (ok && fgets(line, sizeof line, f)) {
    DiffType its = at + t.bytes <= bytes ? t : (DiffType){DIFF_BITS, 1};
    uint64_t bits;
    number++;
    ok = at + its.bytes <= bytes && diff_read(line, its, &bits);
    if (!ok) break;
    memcpy(to + at, &bits, its.bytes);
    at += its.bytes;
  }
  fclose(f);
  if (!ok) return error_set(err, "line %llu of %s is no element of it", (unsigned long long)number, path);
  return at == bytes || error_set(err, "%s ends too early", path);
}

void *diff_contents(const DiffBuffer *b, DiffType t, Error *err) {
  struct stat s;
  if (!b->dump) {
    error_set(err, "its contents were not kept");
    return NULL;
  }
  if (b->bytes > 1ull << 40 || stat(b->dump, &s) != 0 || (b->dump_text ? (uint64_t)s.st_size < b->bytes / t.bytes : (uint64_t)s.st_size != b->bytes)) {
    error_set(err, "%s is not there any more, or is not what was written", b->dump);
    return NULL;
  }
  void *bytes = mem_alloc(b->bytes + 8);
  if (b->dump_text ? read_text(b->dump, b->bytes, t, bytes, err) : read_binary(b->dump, b->bytes, bytes, err)) return bytes;
  free(bytes);
  return NULL;
}
