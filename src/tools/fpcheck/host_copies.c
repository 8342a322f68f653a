// fpcheck: exceptions that are copied to the host. After a copy of memory to which kernels have
// stored exceptions, the copied bytes are checked: only pages that WgFpMemory has an entry for, in
// the format of the last store there.
#define _GNU_SOURCE

#include <sys/uio.h>
#include <unistd.h>

#include "tools/fpcheck/host.h"

enum { WRITERS = 16, CHUNK = 4096, PAGES = 1 << WG_FP_PAGE_BITS, SAID = 4096 };
typedef struct Open {
  ToolDevice *on;
  const WgChannel *channel;
} Open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // taken before session_lock
static VEC(Open) devices;
static _Atomic uint32_t ndevices;
static U64Map said;  // site and allocation
static uint32_t nsaid;
static uint64_t looked_at;  // bytes, in all
#define MOST \
  (4ull << 30)  // enough bytes: beyond this, a program copies exceptions from overwritten memory
                // again and again

void fp_copies_open(ToolDevice *d, const WgChannel *channel) {
  pthread_mutex_lock(&lock);
  vec_push(&devices, (Open){d, channel});
  ndevices = devices.len;
  pthread_mutex_unlock(&lock);
}

void fp_copies_close(ToolDevice *d) {
  FpDevice *state = d->state;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < devices.len; i++)
    if (devices.data[i].on == d) {
      devices.data[i] = devices.data[--devices.len];
      break;
    }
  ndevices = devices.len;
  free(state->pages);
  state->pages = NULL;
  pthread_mutex_unlock(&lock);
}

// --- which pages ---

static bool has_stored(const Open *o) {
  return *(const volatile uint32_t *)&o->channel->tool_count;
}

// The table as it is now; NULL: it cannot be read. Running kernels may change it during the read,
// entry by entry.
static const uint64_t *pages_of(const Open *o) {
  const SessionDeviceOps *ops = o->on->ops;
  FpDevice *state = o->on->state;
  uint64_t at = state->memory + offsetof(WgFpMemory, pages), now;
  if (ops->direct) return (const uint64_t *)(uintptr_t)at;
  if (!ops->read(o->on->user, &now, state->memory + offsetof(WgFpMemory, changes), sizeof now))
    return NULL;
  if (!state->pages) {
    state->pages = mem_alloc(PAGES * 8);
    state->pages_at = 0;
  }
  if (state->pages_at != now && !ops->read(o->on->user, state->pages, at, PAGES * 8)) return NULL;
  state->pages_at = now;
  return state->pages;
}

static uint64_t writer_of(const uint64_t *pages, uint64_t address) {
  uint32_t hash = wg_fp_hash(address >> WG_FP_PAGE_SHIFT);
  uint64_t entry = pages[WG_FP_PAGE_ENTRY(hash)], kept = (1u << WG_FP_HASH_KEPT) - 1;
  return entry && (entry & kept) == WG_FP_KEPT(hash) ? entry & ~kept : 0;
}

// --- what is in them ---

// done: said before
typedef struct Writer {
  uint64_t entry, first, nan, inf;
  uint32_t format;
  bool done;
} Writer;
typedef struct Look {
  Writer writers[WRITERS];
  uint32_t n;
} Look;

static uint32_t format_of(uint64_t entry) {
  const Piece *piece;
  const Site *site;
  pthread_mutex_lock(&session_lock);
  uint32_t format = session_site(WG_FP_WRITER_SITE(entry), &piece, &site) ? site->detail
                                                                          : WG_FP_NONE;
  pthread_mutex_unlock(&session_lock);
  return format;
}

// Identifies a site and an allocation: each pair is reported once.
static uint64_t key_of(uint64_t entry, uint64_t address) {
  HeapRange range = {0};
  session_ranges_look(address, &range);
  return ((uint64_t)WG_FP_WRITER_SITE(entry) << 44 ^ range.memory.base) + 1;
}

static Writer *writer(Look *l, uint64_t entry, uint64_t address) {
  for (uint32_t i = 0; i < l->n; i++)
    if (l->writers[i].entry == entry) return &l->writers[i];
  if (l->n == WRITERS) return NULL;
  l->writers[l->n] = (Writer){.entry = entry,
                              .format = format_of(entry),
                              .done = nsaid >= SAID || u64map_get(&said, key_of(entry, address))};
  return &l->writers[l->n++];
}

// 0: ordinary, 1: infinite, 2: NaN
static unsigned class_of(const unsigned char *p, uint32_t format) {
  uint16_t h;
  uint32_t w;
  uint64_t d;
  switch (format) {
    case WG_FP_F16: memcpy(&h, p, 2); return (h & 0x7c00) != 0x7c00 ? 0 : h & 0x3ff ? 2 : 1;
    case WG_FP_BF16: memcpy(&h, p, 2); return (h & 0x7f80) != 0x7f80 ? 0 : h & 0x7f ? 2 : 1;
    case WG_FP_F32:
      memcpy(&w, p, 4);
      return (w & 0x7f800000) != 0x7f800000 ? 0 : w & 0x7fffff ? 2 : 1;
    case WG_FP_F64:
      memcpy(&d, p, 8);
      return (d & 0x7ff0000000000000) != 0x7ff0000000000000 ? 0 : d & 0xfffffffffffff ? 2 : 1;
    default: return 0;
  }
}

// Another thread of the program may have freed the memory.
static bool read_host(void *to, uint64_t from, size_t n) {
  struct iovec mine = {to, n}, its = {(void *)(uintptr_t)from, n};
  return process_vm_readv(getpid(), &mine, 1, &its, 1, 0) == (ssize_t)n;
}

static void scan(Look *l, uint64_t entry, uint64_t host, uint64_t address, size_t n) {
  unsigned char bytes[CHUNK];
  Writer *w = writer(l, entry, address);
  if (!w || !w->format || w->done || looked_at >= MOST || !read_host(bytes, host, n)) return;
  looked_at += n;
  size_t size = wg_fp_bytes(w->format);
  for (size_t i = (size - address % size) % size; i + size <= n; i += size) {
    unsigned class = class_of(bytes + i, w->format);
    if (!class) continue;
    if (!w->nan && !w->inf) w->first = address + i;
    if (class == 2) w->nan++;
    else w->inf++;
  }
}

static void scan_row(Look *l, const uint64_t *pages, uint64_t host, uint64_t from, size_t n) {
  for (size_t step; n; host += step, from += step, n -= step) {
    step = MIN(n, (size_t)CHUNK - from % CHUNK);
    uint64_t entry = writer_of(pages, from);
    if (entry) scan(l, entry, host, from, step);
  }
}

// --- reports ---

static void say(const Writer *w, const SessionCopy *c) {
  static const char *const formats[] = {"", "f16", "bf16", "f32", "f64"};
  const Piece *piece;
  const Site *site;
  u64map_put(&said, key_of(w->entry, w->first), &said);
  nsaid++;
  pthread_mutex_lock(&session_lock);
  bool known = session_site(WG_FP_WRITER_SITE(w->entry), &piece, &site);
  SessionKernel *kernel = known ? session_site_kernel(piece, site) : NULL;
  pthread_mutex_unlock(&session_lock);
  if (!known) return;
  Str text = {0};
  if (w->nan) str_printf(&text, "%llu NaN%s", (unsigned long long)w->nan, w->inf ? " and " : "");
  if (w->inf)
    str_printf(&text, "%llu infinite value%s", (unsigned long long)w->inf, w->inf == 1 ? "" : "s");
  str_printf(&text, " (%s) copied to the host", formats[w->format]);
  session_finding(&(SessionFinding){.kind = "fp-output",
                                    .text = text.data,
                                    .kernel = kernel,
                                    .launch = WG_FP_WRITER_LAUNCH(w->entry),
                                    .places = site->places,
                                    .nplaces = site->nplaces,
                                    .has_address = true,
                                    .address = w->first,
                                    .size = wg_fp_bytes(w->format),
                                    .stack = c->stack ? c->stack : session_stack()});
  str_free(&text);
}

static bool is_host(const SessionPlace *p) {
  HeapRange range;
  if (p->kind == SESSION_PLACE_HOST) return true;
  if (p->kind != SESSION_PLACE_UNIFIED) return false;
  return !session_ranges_look(p->address, &range) || range.kind == SESSION_PINNED ||
         range.kind == SESSION_REGISTERED;
}

bool fp_wants_copy(const SessionCopy *c) {
  return ndevices && !c->is_set && c->from.kind != SESSION_PLACE_HOST &&
         c->from.kind != SESSION_PLACE_ARRAY && c->to.kind != SESSION_PLACE_ARRAY &&
         is_host(&c->to);
}

static uint64_t row_of(const SessionPlace *p, const SessionCopy *c, size_t y, size_t z) {
  uint64_t pitch = p->pitch ? p->pitch : p->x + c->width,
           rows = p->rows ? p->rows : p->y + c->height;
  return p->address + ((p->z + z) * rows + p->y + y) * pitch + p->x;
}

void fp_copied(const SessionCopy *c) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < devices.len; i++) {
    const uint64_t *pages = has_stored(&devices.data[i]) ? pages_of(&devices.data[i]) : NULL;
    Look l = {.n = 0};
    for (size_t z = 0; pages && z < c->depth; z++)
      for (size_t y = 0; y < c->height; y++)
        scan_row(&l, pages, row_of(&c->to, c, y, z), row_of(&c->from, c, y, z), c->width);
    for (uint32_t w = 0; w < l.n; w++)
      if (l.writers[w].nan || l.writers[w].inf) say(&l.writers[w], c);
  }
  pthread_mutex_unlock(&lock);
}
