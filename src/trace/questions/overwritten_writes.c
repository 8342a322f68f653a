// Finds writes that a later ordered write overwrites (access_relation). There may be very many, so
// they are not compared in pairs: for each set of bytes it keeps the last write of each warp, and
// how many barriers the last writer of each block had passed.
#include "trace/reader.h"

// warp: the warp whose write passed the most barriers; passed: how many; other: the most of the
// block's other warps
typedef struct BlockLast {
  uint64_t warp, passed, other;
  bool others;
} BlockLast;
// The last writes to one set of bytes (one bit each). record_of_warp: record plus 1; of_block:
// index plus 1
typedef struct Last {
  uint32_t bytes;
  U64Map record_of_warp, of_block;
} Last;
// first_warp: of each block, plus 1; shared: blocks in which several warps wrote
typedef struct Hiding {
  TraceReader *t;
  Timelines *lines;
  VEC(Last) lasts;
  VEC(BlockLast) blocks;
  U64Map first_warp, shared;
} Hiding;

static uint64_t block_of(const Hiding *h, const Access *a) {
  return a->warp / h->lines->launch->warps;
}

// Barriers before the write; 0 if only one warp of its block wrote: then they are not needed.
static bool passed_by(Hiding *h, const Access *a, uint64_t *passed, Error *err) {
  *passed = 0;
  if (!u64map_get(&h->shared, block_of(h, a))) return true;
  const Timeline *l = timeline_of(h->t, h->lines, a->warp, err);
  if (l) *passed = timeline_passed(l, a->record, a->lane);
  return l != NULL;
}

static void note_block(Hiding *h, const Access *a) {
  uint64_t block = block_of(h, a), first = (uint64_t)(uintptr_t)u64map_get(&h->first_warp, block);
  if (!first) u64map_put(&h->first_warp, block, (void *)(uintptr_t)(a->warp + 1));
  else if (first != a->warp + 1) u64map_put(&h->shared, block, h);
}

static Last *last_of(Hiding *h, uint32_t bytes) {
  for (uint32_t i = 0; i < h->lasts.len; i++)
    if (h->lasts.data[i].bytes == bytes) return &h->lasts.data[i];
  vec_push(&h->lasts, (Last){.bytes = bytes});
  return &h->lasts.data[h->lasts.len - 1];
}

static void note(Hiding *h, Last *last, const Access *a, uint64_t passed) {
  if ((uint64_t)(uintptr_t)u64map_get(&last->record_of_warp, a->warp) < a->record + 1)
    u64map_put(&last->record_of_warp, a->warp, (void *)(uintptr_t)(a->record + 1));
  uintptr_t i = (uintptr_t)u64map_get(&last->of_block, block_of(h, a));
  if (!i) {
    vec_push(&h->blocks, (BlockLast){.warp = a->warp, .passed = passed});
    u64map_put(&last->of_block, block_of(h, a), (void *)(uintptr_t)h->blocks.len);
    return;
  }
  BlockLast *b = &h->blocks.data[i - 1];
  if (b->warp == a->warp) b->passed = MAX(b->passed, passed);
  else if (passed > b->passed)
    *b = (BlockLast){.warp = a->warp, .passed = passed, .other = b->passed, .others = true};
  else {
    b->other = MAX(b->other, passed);
    b->others = true;
  }
}

static bool comes_behind(const Hiding *h, const Last *last, const Access *a, uint64_t passed) {
  if ((uint64_t)(uintptr_t)u64map_get(&last->record_of_warp, a->warp) > a->record + 1) return true;
  uintptr_t i = (uintptr_t)u64map_get(&last->of_block, block_of(h, a));
  const BlockLast *b = i ? &h->blocks.data[i - 1] : NULL;
  return b && (b->warp != a->warp ? b->passed > passed : b->others && b->other > passed);
}

// A copy that completes on an mbarrier is performed later than it is issued: its order with every
// other write is looked up pair by pair.
static bool hide_pair(const Hiding *h, const WritesToHide *w, uint32_t i, uint32_t k, Error *err) {
  uint32_t common = w->bytes[i] & w->bytes[k] & ~w->overwritten[i];
  if (i == k || !common || !w->before[i] || !w->before[k]) return true;
  Relation relation = access_relation(h->t, h->lines, &w->all->data[i], &w->all->data[k], err);
  if (relation == RELATION_BEFORE) w->overwritten[i] |= common;
  return relation != RELATION_FAILED;
}

static bool hide_told(const Hiding *h, const WritesToHide *w, Error *err) {
  for (uint32_t k = 0; k < w->all->len; k++)
    for (uint32_t i = 0; i < w->all->len && w->all->data[k].told; i++)
      if (!hide_pair(h, w, i, k, err) || !hide_pair(h, w, k, i, err)) return false;
  return true;
}

bool accesses_hide(TraceReader *t, Timelines *lines, const WritesToHide *w, Error *err) {
  const Accesses *all = w->all;
  const bool *before = w->before;
  const uint32_t *bytes = w->bytes;
  Hiding h = {.t = t, .lines = lines};
  uint64_t *passed = mem_alloc(sizeof *passed * (all->len + 1));
  bool ok = true;
  for (uint32_t i = 0; i < all->len; i++)
    if (before[i] && !all->data[i].told) note_block(&h, &all->data[i]);
  for (uint32_t i = 0; i < all->len && ok; i++) {
    if (!before[i] || all->data[i].told) continue;
    ok = passed_by(&h, &all->data[i], &passed[i], err);
    if (ok) note(&h, last_of(&h, bytes[i]), &all->data[i], passed[i]);
  }
  for (uint32_t i = 0; i < all->len && ok; i++)
    for (uint32_t k = 0; k < h.lasts.len && before[i] && !all->data[i].told; k++) {
      uint32_t common = bytes[i] & h.lasts.data[k].bytes & ~w->overwritten[i];
      if (common && comes_behind(&h, &h.lasts.data[k], &all->data[i], passed[i]))
        w->overwritten[i] |= common;
    }
  ok = ok && hide_told(&h, w, err);
  for (uint32_t k = 0; k < h.lasts.len; k++) {
    u64map_free(&h.lasts.data[k].record_of_warp);
    u64map_free(&h.lasts.data[k].of_block);
  }
  vec_free(&h.lasts);
  vec_free(&h.blocks);
  u64map_free(&h.first_warp);
  u64map_free(&h.shared);
  free(passed);
  return ok;
}
