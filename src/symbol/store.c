// Files by path and build id, and what was found in them. Thousands of processes of one program
// share one file: it is opened once, and each address is looked up once. Few files are kept open:
// one with debug information takes many megabytes.
#include "symbol/internal.h"

#include <sys/stat.h>

enum { OPEN_MOST = 32, FRAMES_MOST = 16 };

SymbolStore *symbol_store_new(void) { return mem_alloc(sizeof(SymbolStore)); }

const char *symbol_text(SymbolStore *s, const char *text) {
  if (!text) return NULL;
  const char *known = strmap_get(&s->texts, text);
  if (known) return known;
  char *copy = arena_strdup(&s->strings, text);
  strmap_put(&s->texts, copy, copy);
  return copy;
}

// A file without a build id is known by its size and its time.
static void file_key(const SymbolObject *o, Str *key) {
  struct stat st = {0};
  for (uint32_t i = 0; i < MIN(o->build_id_len, (uint32_t)sizeof o->build_id); i++)
    str_printf(key, "%02x", o->build_id[i]);
  if (!o->build_id_len && stat(o->path, &st) == 0)
    str_printf(key, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
               st.st_mtim.tv_nsec);
  str_printf(key, " %s", o->path);
}

SymbolFile *symbol_file(SymbolStore *s, const SymbolObject *o) {
  Str key = {0};
  file_key(o, &key);
  SymbolFile *f = strmap_get(&s->files, key.data);
  if (!f) {
    f = mem_alloc(sizeof *f);
    *f = (SymbolFile){.path = symbol_text(s, o->path), .build_id_len = o->build_id_len};
    memcpy(f->build_id, o->build_id, sizeof f->build_id);
    strmap_put(&s->files, symbol_text(s, key.data), f);
  }
  str_free(&key);
  return f;
}

static void close_oldest(SymbolStore *s) {
  uint32_t oldest = 0;
  for (uint32_t i = 1; i < s->open.len; i++)
    if (s->open.data[i]->used < s->open.data[oldest]->used) oldest = i;
  symbol_dwarf_close(s->open.data[oldest]);
  s->open.data[oldest] = s->open.data[--s->open.len];
}

bool symbol_file_open(SymbolStore *s, SymbolFile *f) {
  if (f->dwfl || f->unusable) return f->dwfl;
  if (s->open.len >= OPEN_MOST) close_oldest(s);
  f->unusable = !symbol_dwarf_open(f);
  if (f->unusable) return false;
  vec_push(&s->open, f);
  return true;
}

uint32_t symbol_file_lookup(SymbolStore *s, SymbolFile *f, uint64_t address, SymbolFrame *out,
                            uint32_t max) {
  FoundFrames *known = u64map_get(&f->found, address);
  if (!known) {
    SymbolFrame frames[FRAMES_MOST];
    uint32_t n = symbol_file_open(s, f) ? symbol_dwarf_lookup(s, f, address, frames, FRAMES_MOST)
                                        : 0;
    f->used = ++s->clock;
    known = arena_alloc(&s->strings, sizeof *known + n * sizeof *frames);
    known->n = n;
    memcpy(known->frames, frames, n * sizeof *frames);
    u64map_put(&f->found, address, known);
  }
  uint32_t n = MIN(known->n, max);
  memcpy(out, known->frames, n * sizeof *out);
  return n;
}

void symbol_store_free(SymbolStore *s) {
  uint32_t it = 0;
  const char *key;
  void *f;
  if (!s) return;
  while (strmap_next(&s->files, &it, &key, &f)) {
    symbol_dwarf_close(f);
    u64map_free(&((SymbolFile *)f)->found);
    free(f);
  }
  vec_free(&s->open);
  strmap_free(&s->files);
  strmap_free(&s->names);
  strmap_free(&s->types);
  strmap_free(&s->texts);
  arena_free(&s->strings);
  free(s);
}
