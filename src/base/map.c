// Open addressing with linear probing, at most 70% full.
#include "base/base.h"

struct StrMapSlot {
  const char *key;
  size_t n;
  uint64_t hash;
  void *value;
};
// state: 0 free, 1 used, 2 removed
struct U64MapSlot {
  uint64_t key;
  void *value;
  uint8_t state;
};
enum { FREE, USED, REMOVED };

uint64_t base_hash(const void *data, size_t n) {
  const unsigned char *p = data;
  uint64_t h = 0x9E3779B97F4A7C15ull ^ n;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    h = (h ^ w) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  uint64_t w = 0;
  memcpy(&w, p, n);
  h = (h ^ w) * 0xc4ceb9fe1a85ec53ull;
  return h ^ h >> 29;
}

static struct StrMapSlot *str_slot(const StrMap *m, const char *key, size_t n, uint64_t hash) {
  uint32_t mask = m->cap - 1;
  for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
    struct StrMapSlot *s = &m->slots[i];
    if (!s->key || (s->hash == hash && s->n == n && !memcmp(s->key, key, n))) return s;
  }
}

void *strmap_getn(const StrMap *m, const char *key, size_t n) {
  return m->cap ? str_slot(m, key, n, base_hash(key, n))->value : NULL;
}

void *strmap_get(const StrMap *m, const char *key) { return strmap_getn(m, key, strlen(key)); }

static void str_rehash(StrMap *m, uint32_t cap) {
  StrMap bigger = {mem_alloc(cap * sizeof(struct StrMapSlot)), 0, cap};
  for (uint32_t i = 0; i < m->cap; i++) {
    struct StrMapSlot *s = &m->slots[i];
    if (s->key) {
      *str_slot(&bigger, s->key, s->n, s->hash) = *s;
      bigger.len++;
    }
  }
  free(m->slots);
  *m = bigger;
}

void strmap_put(StrMap *m, const char *key, void *value) {
  if ((m->len + 1) * 10 > m->cap * 7) str_rehash(m, m->cap ? m->cap * 2 : 16);
  size_t n = strlen(key);
  uint64_t hash = base_hash(key, n);
  struct StrMapSlot *s = str_slot(m, key, n, hash);
  if (!s->key) m->len++;
  *s = (struct StrMapSlot){key, n, hash, value};
}

bool strmap_next(const StrMap *m, uint32_t *it, const char **key, void **value) {
  for (; *it < m->cap; ++*it)
    if (m->slots[*it].key) {
      *key = m->slots[*it].key;
      *value = m->slots[(*it)++].value;
      return true;
    }
  return false;
}

void strmap_free(StrMap *m) {
  free(m->slots);
  *m = (StrMap){0};
}

static uint64_t mix(uint64_t k) {
  k = (k ^ k >> 33) * 0xff51afd7ed558ccdull;
  return k ^ k >> 33;
}

// The slot that holds key, or the one to put it into.
static struct U64MapSlot *u64_slot(const U64Map *m, uint64_t key) {
  uint32_t mask = m->cap - 1;
  struct U64MapSlot *removed = NULL;
  for (uint32_t i = (uint32_t)mix(key) & mask;; i = (i + 1) & mask) {
    struct U64MapSlot *s = &m->slots[i];
    if (s->state == FREE) return removed ? removed : s;
    if (s->state == REMOVED) removed = removed ? removed : s;
    else if (s->key == key) return s;
  }
}

void *u64map_get(const U64Map *m, uint64_t key) {
  if (!m->cap) return NULL;
  struct U64MapSlot *s = u64_slot(m, key);
  return s->state == USED ? s->value : NULL;
}

void u64map_put(U64Map *m, uint64_t key, void *value) {
  if ((m->used + 1) * 10 > m->cap * 7) {
    uint32_t cap = m->len * 4 < 16 ? 16 : m->cap;
    while ((m->len + 1) * 10 > cap * 5) cap *= 2;
    U64Map bigger = {mem_alloc(cap * sizeof(struct U64MapSlot)), m->len, cap, m->len};
    for (uint32_t i = 0; i < m->cap; i++)
      if (m->slots[i].state == USED) *u64_slot(&bigger, m->slots[i].key) = m->slots[i];
    free(m->slots);
    *m = bigger;
  }
  struct U64MapSlot *s = u64_slot(m, key);
  if (s->state != USED) m->len++;
  if (s->state == FREE) m->used++;
  *s = (struct U64MapSlot){key, value, USED};
}

void *u64map_remove(U64Map *m, uint64_t key) {
  if (!m->cap) return NULL;
  struct U64MapSlot *s = u64_slot(m, key);
  if (s->state != USED) return NULL;
  s->state = REMOVED;
  m->len--;
  return s->value;
}

bool u64map_next(const U64Map *m, uint32_t *it, uint64_t *key, void **value) {
  for (; *it < m->cap; ++*it)
    if (m->slots[*it].state == USED) {
      *key = m->slots[*it].key;
      *value = m->slots[(*it)++].value;
      return true;
    }
  return false;
}

void u64map_free_all(U64Map *m) {
  uint32_t it = 0;
  uint64_t key;
  void *value;
  while (u64map_next(m, &it, &key, &value)) free(value);
  u64map_free(m);
}

void u64map_free(U64Map *m) {
  free(m->slots);
  *m = (U64Map){0};
}
