// initcheck for kernels that are machine code only. After such a launch, allocations that its
// parameters point to count as written; all others keep their state. Its reads cannot be seen. A
// note is printed for an allocation that was never written, if the kernel loads from it and does
// not store to it. The machine code tells through which parameters it loads and stores (src/sass).
#include "tools/initcheck/host.h"

// Refuses no kernel: if one stores through pointers in memory, everything counts as written.
const char *init_refuses_closed(SessionKernel *k, const SassStores *stores) {
  (void)k;
  (void)stores;
  return NULL;
}

static bool stores_through(const SassStores *s, uint32_t param) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->list[i].param == param) return true;
  return false;
}

static bool loads_through(const SassStores *s, uint32_t param) {
  for (uint32_t i = 0; i < s->nreads; i++)
    if (s->reads[i] == param) return true;
  return false;
}

// --- before the launch ---

// Each kernel and place in its parameters is reported once.
static bool was_said(const SessionKernel *k, uint32_t param) {
  static U64Map said;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  uint64_t key = ((uint64_t)k->id << 32 | param) + 1;
  pthread_mutex_lock(&lock);
  bool before = u64map_get(&said, key);
  if (!before) u64map_put(&said, key, &said);
  pthread_mutex_unlock(&lock);
  return before;
}

static void say(const SessionClosedLaunch *l, const SessionClosedPointer *p) {
  Str text = {0};
  str_printf(&text,
             "A kernel of machine code gets %llu bytes that were never written, and does "
             "not write them itself",
             (unsigned long long)p->size);
  session_finding(&(SessionFinding){.kind = "uninit-input",
                                    .text = text.data,
                                    .kernel = l->kernel,
                                    .launch = l->number,
                                    .has_address = true,
                                    .address = p->base});
  str_free(&text);
}

void init_closed_begins(ToolDevice *d, const SessionClosedLaunch *l) {
  (void)d;
  if (stores_through(l->stores, SASS_NO_PARAM)) return;
  for (uint32_t i = 0; i < l->pointers.len; i++) {
    const SessionClosedPointer *p = &l->pointers.data[i];
    bool written = !loads_through(l->stores, p->param);
    for (uint32_t k = 0; k < l->pointers.len && !written; k++)
      written = l->pointers.data[k].base == p->base &&
                stores_through(l->stores, l->pointers.data[k].param);
    if (written) continue;
    shadow_lock();
    const Shadow *s = shadow_find(p->base);
    bool untouched = s && s->address && !s->touched;
    shadow_unlock();
    if (untouched && !was_said(l->kernel, p->param)) say(l, p);
  }
}

// --- after the launch ---

static void mark(uint64_t base, const void *stream) {
  Shadow *s = shadow_find(base);
  if (!s || !s->address || s->whole) return;
  shadow_set(s, stream, 0, s->size, SHADOW_GOOD);
  shadow_covered(s, 0, s->size);
}

void init_closed_ends(ToolDevice *d, const SessionClosedLaunch *l) {
  if (l->stores->anywhere) {
    shadow_unchecked_writes(d->device, l->stream);
    return;
  }
  shadow_lock();
  for (uint32_t i = 0; i < l->pointers.len; i++) mark(l->pointers.data[i].base, l->stream);
  shadow_unlock();
}
