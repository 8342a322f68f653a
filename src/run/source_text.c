// Keeps the source files of kernels in the run file, compressed, each once: the run can be opened
// anywhere and shows the original lines, even if the files change later.
#include "run/internal.h"

#include <zstd.h>

enum { SOURCE_MOST = 4 << 20, LEVEL = 9 };

void run_pack(const void *data, size_t n, Str *out) {
  size_t bound = ZSTD_compressBound(n);
  char *packed = mem_alloc(bound);
  size_t len = ZSTD_compress(packed, bound, data, n, LEVEL);
  if (!ZSTD_isError(len)) str_addn(out, packed, len);
  free(packed);
}

// FNV-1a: tells whether a file has changed, not who changed it.
static uint64_t hash_of(const Str *text) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < text->len; i++) h = (h ^ (uint8_t)text->data[i]) * 0x100000001b3ull;
  return h;
}

bool run_keep_source(Run *r, const char *file, const char *real, char hash[17]) {
  Str text = {0}, packed = {0};
  bool ok = file_read(real, &text, NULL) && text.len <= SOURCE_MOST &&
            !(text.len && memchr(text.data, 0, text.len));
  if (ok) snprintf(hash, 17, "%016llx", (unsigned long long)hash_of(&text));
  if (ok && !r->leaves_sources_out) {
    run_pack(text.data ? text.data : "", text.len, &packed);
    run_save(r, TABLE_source_text, "tib", file, (int64_t)text.len, packed.data, packed.len);
  }
  str_free(&text);
  str_free(&packed);
  return ok;
}
