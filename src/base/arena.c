// Arenas: memory that is given out piece by piece and freed all at once.
#include "base/base.h"

struct ArenaChunk {
  ArenaChunk *next;
  size_t size;
};

#ifdef WARPGRIND_STRESS
// one chunk per request, so that the sanitizer sees where each ends
enum { FIRST_CHUNK = 0, LARGEST_CHUNK = 0 };
#else
enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20 };
#endif

// A new chunk, twice the last one up to a limit; a large request gets a chunk of its own.
static void add_chunk(Arena *a, size_t need) {
  size_t size = a->chunks ? MIN(a->chunks->size * 2, (size_t)LARGEST_CHUNK) : FIRST_CHUNK;
  if (size < need + 16) size = need + 16;
  ArenaChunk *c = mem_alloc(size);
  c->size = size;
  c->next = a->chunks;
  a->chunks = c;
  a->next = (char *)c + 16;
  a->end = (char *)c + size;
}

void *arena_alloc(Arena *a, size_t size) {
  size = (size + 15) & ~(size_t)15;
  if (!a->chunks || (size_t)(a->end - a->next) < size) add_chunk(a, size);
  void *p = a->next;
  a->next += size;
  return p;
}

// A chunk of its own, after the one that is being filled.
void *arena_alloc_uncleared(Arena *a, size_t size) {
  if (size < FIRST_CHUNK) return arena_alloc(a, size);
  ArenaChunk *c = mem_realloc(NULL, size + 16);
  c->size = FIRST_CHUNK / 2;  // does not make the next chunk larger
  if (a->chunks) {
    c->next = a->chunks->next;
    a->chunks->next = c;
  } else {
    c->next = NULL;
    a->chunks = c;
    a->next = a->end = (char *)c + size + 16;
  }
  return (char *)c + 16;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
  char *p = arena_alloc(a, n + 1);
  memcpy(p, s, n);
  return p;
}

char *arena_strdup(Arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_printf(Arena *a, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  char *p = arena_alloc(a, (size_t)n + 1);
  vsnprintf(p, (size_t)n + 1, fmt, again);
  va_end(again);
  va_end(ap);
  return p;
}

void arena_free(Arena *a) {
  for (ArenaChunk *c = a->chunks, *next; c; c = next) {
    next = c->next;
    free(c);
  }
  *a = (Arena){0};
}
