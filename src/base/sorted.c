// A sorted map in chunks: an insertion moves the entries of one chunk, so a million entries cost as
// little each as a hundred.
#include "base/base.h"

#ifdef WARPGRIND_STRESS
enum { CHUNK = 4 };
#else
enum { CHUNK = 256 };
#endif

typedef struct Entry {
  uint64_t key;
  void *value;
} Entry;
struct SortedChunk {
  uint32_t n;
  Entry entries[CHUNK];
};
typedef struct SortedChunk Chunk;
typedef struct Spot {
  uint32_t chunk, at;
} Spot;

// The last chunk whose first key is <= key, or chunk 0.
static uint32_t chunk_of(const SortedMap *m, uint64_t key) {
  uint32_t low = 0, high = m->nchunks;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (m->chunks[middle]->entries[0].key <= key) low = middle + 1;
    else high = middle;
  }
  return low ? low - 1 : 0;
}

// The first entry of the chunk whose key is >= key.
static uint32_t place_in(const Chunk *c, uint64_t key) {
  uint32_t low = 0, high = c->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (c->entries[middle].key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void insert_chunk(SortedMap *m, uint32_t at, Chunk *c) {
  if (m->nchunks == m->cap) m->chunks = vec_grow(m->chunks, &m->cap, sizeof *m->chunks);
  memmove(&m->chunks[at + 1], &m->chunks[at], (m->nchunks - at) * sizeof *m->chunks);
  m->chunks[at] = c;
  m->nchunks++;
}

static void split(SortedMap *m, uint32_t at, uint32_t place) {
  Chunk *c = m->chunks[at], *second = mem_alloc(sizeof *second);
  // growing keys then leave full chunks behind
  uint32_t kept = place == CHUNK ? CHUNK - 1 : CHUNK / 2;
  second->n = CHUNK - kept;
  memcpy(second->entries, &c->entries[kept], second->n * sizeof *c->entries);
  c->n = kept;
  insert_chunk(m, at + 1, second);
}

static Entry *find(const SortedMap *m, uint64_t key, Spot *s) {
  if (!m->nchunks) return NULL;
  s->chunk = chunk_of(m, key);
  Chunk *c = m->chunks[s->chunk];
  s->at = place_in(c, key);
  return s->at < c->n && c->entries[s->at].key == key ? &c->entries[s->at] : NULL;
}

void *sorted_get(const SortedMap *m, uint64_t key) {
  Spot s;
  const Entry *e = find(m, key, &s);
  return e ? e->value : NULL;
}

void sorted_put(SortedMap *m, uint64_t key, void *value) {
  Spot s;
  Entry *e = find(m, key, &s);
  if (e) {
    e->value = value;
    return;
  }
  if (!m->nchunks) {
    insert_chunk(m, 0, mem_alloc(sizeof(Chunk)));
    s = (Spot){0, 0};
  } else if (m->chunks[s.chunk]->n == CHUNK) {
    split(m, s.chunk, s.at);
    uint32_t kept = m->chunks[s.chunk]->n;
    if (s.at > kept) s = (Spot){s.chunk + 1, s.at - kept};
  }
  Chunk *c = m->chunks[s.chunk];
  memmove(&c->entries[s.at + 1], &c->entries[s.at], (c->n - s.at) * sizeof *c->entries);
  c->entries[s.at] = (Entry){key, value};
  c->n++;
  m->len++;
}

void *sorted_remove(SortedMap *m, uint64_t key) {
  Spot s;
  Entry *e = find(m, key, &s);
  if (!e) return NULL;
  void *value = e->value;
  Chunk *c = m->chunks[s.chunk];
  memmove(e, e + 1, (--c->n - s.at) * sizeof *e);
  m->len--;
  if (c->n) return value;
  free(c);
  memmove(&m->chunks[s.chunk], &m->chunks[s.chunk + 1],
          (--m->nchunks - s.chunk) * sizeof *m->chunks);
  return value;
}

void *sorted_below(const SortedMap *m, uint64_t key, uint64_t *found) {
  Spot s;
  const Entry *e = find(m, key, &s);
  if (!m->nchunks || (!e && !s.at)) return NULL;
  if (!e) e = &m->chunks[s.chunk]->entries[s.at - 1];
  if (found) *found = e->key;
  return e->value;
}

void *sorted_from(const SortedMap *m, uint64_t key, uint64_t *found) {
  Spot s;
  const Entry *e = find(m, key, &s);
  if (!m->nchunks) return NULL;
  if (!e && s.at < m->chunks[s.chunk]->n) e = &m->chunks[s.chunk]->entries[s.at];
  else if (!e && s.chunk + 1 < m->nchunks) e = &m->chunks[s.chunk + 1]->entries[0];
  if (e && found) *found = e->key;
  return e ? e->value : NULL;
}
