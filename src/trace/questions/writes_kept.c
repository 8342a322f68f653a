// Gathers the writes of launches to the bytes of a given write: once, for all reads that may have
// seen it.
#include "trace/reader.h"

// Drops writes that a later ordered write of the launch overwrites: no later step can read them.
static bool drop_hidden(TraceReader *t, const ReaderLaunch *l, const WritesKept *k, Accesses *all,
                        Error *err) {
  Timelines lines = {.launch = l};
  bool *before = mem_alloc(all->len + 1);
  uint32_t *bytes = mem_alloc(sizeof *bytes * (all->len + 1)),
           *overwritten = mem_alloc(sizeof *overwritten * (all->len + 1)), n = 0;
  for (uint32_t i = 0; i < all->len; i++) {
    const Access *a = &all->data[i];
    before[i] = true;
    for (uint64_t at = MAX(a->address, k->low); at < MIN(a->address + a->bytes, k->high); at++)
      bytes[i] |= 1u << (at - k->low);
  }
  bool ok = accesses_hide(t, &lines, &(WritesToHide){all, before, bytes, overwritten}, err);
  for (uint32_t i = 0; i < all->len; i++)
    if (overwritten[i] != bytes[i]) all->data[n++] = all->data[i];
  all->len = n;
  free(before);
  free(overwritten);
  free(bytes);
  timelines_free(&lines);
  return ok;
}

bool writes_kept(WritesKept *k, const ReaderLaunch *l, bool inside, const RangeScan *scan,
                 GatheredAccesses *out, Error *err) {
  TraceReader *t = k->reader;
  uint64_t key = (uint64_t)(l - t->launches) << 1 | inside;
  GatheredAccesses *w = u64map_get(&k->launches, key);
  if (!w) {
    w = mem_alloc(sizeof *w);
    u64map_put(&k->launches, key, w);
    Sought sought = {.near = l == k->launch ? k->write : NULL, .most = inside ? READS_MOST : 0};
    if (!accesses_gather(t, l, scan, k->all ? NULL : &sought, w, err) ||
        (!inside && !drop_hidden(t, l, k, &w->list, err)))
      return false;
  }
  k->some |= w->how != GATHERED_ALL;
  k->many |= w->list.len > READS_MOST;
  out->how = w->how;
  for (uint32_t i = 0; i < w->list.len; i++) vec_push(&out->list, w->list.data[i]);
  return true;
}

void writes_kept_free(WritesKept *k) {
  uint32_t it = 0;
  uint64_t key;
  void *value;
  while (u64map_next(&k->launches, &it, &key, &value)) {
    vec_free(&((GatheredAccesses *)value)->list);
    free(value);
  }
  u64map_free(&k->launches);
}
