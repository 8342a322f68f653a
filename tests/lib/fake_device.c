#define _GNU_SOURCE
#include "fake_device.h"

#include <sys/mman.h>

// --- device memory ---

static const uint64_t OFFSET = 1ull << 60;

void *fake_device_host(uint64_t address) { return (void *)(uintptr_t)(address - OFFSET); }

static uint64_t device_address(const void *p) { return (uintptr_t)p + OFFSET; }

uint32_t fake_device_live(const FakeDevice *d) { return d->allocations - d->frees; }

static bool is_inside(FakeDevice *d, uint64_t address, size_t size) {
  uint32_t it = 0;
  uint64_t base;
  void *bytes;
  while (u64map_next(&d->blocks, &it, &base, &bytes))
    if (address >= base && address - base <= (uintptr_t)bytes &&
        size <= (uintptr_t)bytes - (address - base))
      return true;
  d->mistakes++;
  return false;
}

static uint64_t take(void *user, size_t size) {
  FakeDevice *d = user;
  if (d->no_memory) return 0;
  uint64_t address = device_address(calloc(1, size ? size : 1));
  u64map_put(&d->blocks, address, (void *)(uintptr_t)size);
  d->allocations++;
  return address;
}

static void give(void *user, uint64_t address) {
  FakeDevice *d = user;
  if (!u64map_remove(&d->blocks, address)) {
    d->mistakes++;
    return;
  }
  d->frees++;
  free(fake_device_host(address));
}

static bool map_host(void *user, void *p, size_t size, uint64_t *address) {
  ((FakeDevice *)user)->mapped++;
  *address = device_address(p);
  return true;
}

static void unmap_host(void *user, void *p) { ((FakeDevice *)user)->mapped--; }

static bool read_memory(void *user, void *to, uint64_t from, size_t size) {
  FakeDevice *d = user;
  if (d->unreadable || !is_inside(d, from, size)) return false;
  memcpy(to, fake_device_host(from), size);
  return true;
}

static bool write_memory(void *user, uint64_t to, const void *from, size_t size) {
  if (!is_inside(user, to, size)) return false;
  memcpy(fake_device_host(to), from, size);
  return true;
}

static bool settle(void *user) {
  FakeDevice *d = user;
  d->settles++;
  return !d->busy;
}

static bool fill(void *user, const void *stream, uint64_t to, uint8_t value, size_t size) {
  if (!is_inside(user, to, size)) return false;
  memset(fake_device_host(to), value, size);
  return true;
}

static bool move(void *user, const void *stream, uint64_t to, uint64_t from, size_t size) {
  if (!is_inside(user, to, size) || !is_inside(user, from, size)) return false;
  memmove(fake_device_host(to), fake_device_host(from), size);
  return true;
}

const SessionDeviceOps fake_device_ops = {.map_host = map_host,
                                          .unmap_host = unmap_host,
                                          .alloc = take,
                                          .free = give,
                                          .read = read_memory,
                                          .write = write_memory,
                                          .settle = settle,
                                          .fill = fill,
                                          .move = move,
                                          .give_back = give};

// --- the command's side: the linker sends these calls here (--wrap) ---

static VEC(FakeEvent) events;

void fake_events_clear(void) { events.len = 0; }

uint32_t fake_events(ChannelEvent type) {
  uint32_t n = 0;
  while (fake_event(type, n)) n++;
  return n;
}

const FakeEvent *fake_event(ChannelEvent type, uint32_t i) {
  for (uint32_t k = 0; k < events.len; k++)
    if (events.data[k].type == type && !i--) return &events.data[k];
  return NULL;
}

bool __wrap_session_send(ChannelEvent type, const void *event) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  FakeEvent e = {.type = type};
  const char *text = NULL;
  if (type == EVENT_NOTE) text = ((const EventNote *)event)->text;
  else if (type == EVENT_FINDING) text = ((const EventFinding *)event)->text;
  else if (type == EVENT_UNLOAD) e.first = ((const EventUnload *)event)->module;
  else memcpy(&e.first, event, 16);
  if (text) snprintf(e.text, sizeof e.text, "%s", text);
  pthread_mutex_lock(&lock);
  vec_push(&events, e);
  pthread_mutex_unlock(&lock);
  return true;
}

void __wrap_session_note(Severity severity, const char *fmt, ...) {
  char text[160];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  __wrap_session_send(EVENT_NOTE, &(EventNote){severity, text});
}

WgChannel *__wrap_channel_device_claim(uint32_t *index, Error *err) {
  static uint32_t claimed;
  WgChannel *c = mmap(NULL, CHANNEL_DEVICE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(c != MAP_FAILED);
  c->counts_at = sizeof *c;
  c->sites = WG_SITE_NUMBERS * WG_SITE_PLANES;
  *index = claimed++;
  return c;
}

void __wrap_channel_device_unmap(WgChannel *c) { munmap(c, CHANNEL_DEVICE_BYTES); }

// --- modules and launches ---

SessionModule *fake_module(const char *name, const char *kernel, uint32_t counters) {
  Woven w = {.nkernels = 1, .nsites = 1, .ncounters = counters};
  w.kernels = ARENA_ARRAY(&w.arena, WovenKernel, 1);
  w.kernels[0] = (WovenKernel){.name = arena_printf(&w.arena, "%s", kernel),
                               .instrumented = true,
                               .record_bytes = sizeof(WgLaunch)};
  w.sites = ARENA_ARRAY(&w.arena, Site, 1);
  w.sites[0] = (Site){.function = w.kernels[0].name, .text = "ld.global.u32", .bytes = 4};
  SessionModule *m = session_module(name, 1, "fake");
  session_module_instrumented(m, &w);
  return m;
}

uint32_t fake_launch(SessionKernel *k) {
  return session_launch(&(SessionLaunch){.kernel = k, .grid = {2, 1, 1}, .block = {32, 1, 1}});
}
