// A program that reports through src/session as a driver does, with "device code" that runs on the
// host.
#ifndef FAKE_H
#define FAKE_H

#include <stdatomic.h>
#include <unistd.h>

#include "session/session.h"

// --- a device whose memory is the host's ---
static bool fake_readable = true;
static bool map_host(void *user, void *p, size_t size, uint64_t *device_address) {
  *device_address = (uintptr_t)p;
  return true;
}
static void unmap_host(void *user, void *p) {}
static uint64_t fake_alloc(void *user, size_t size) { return (uintptr_t)mem_alloc(size); }
static void fake_free(void *user, uint64_t p) { free((void *)(uintptr_t)p); }
static bool fake_read(void *user, void *to, uint64_t from, size_t size) {
  if (fake_readable) memcpy(to, (void *)(uintptr_t)from, size);
  return fake_readable;
}
static const SessionDeviceOps fake_ops = {.map_host = map_host,
                                          .unmap_host = unmap_host,
                                          .alloc = fake_alloc,
                                          .free = fake_free,
                                          .read = fake_read,
                                          .direct = true};

// --- a module with one kernel and `sites` places; the first line of site i is 10 + i ---
static SessionModule *fake_module(const char *kernel, uint32_t sites, uint32_t counters) {
  SessionModule *m = session_module("fake.cu", 0x1234, "fatbin, compute_75");
  Woven r = {0};
  r.kernels = ARENA_ARRAY(&r.arena, WovenKernel, 1);
  r.nkernels = 1;
  r.kernels[0] = (WovenKernel){.name = arena_strdup(&r.arena, kernel),
                               .instrumented = true,
                               .record_bytes = sizeof(WgLaunch)};
  r.sites = ARENA_ARRAY(&r.arena, Site, sites);
  r.nsites = sites;
  for (uint32_t i = 0; i < sites; i++) {
    SitePlace *p = ARENA_ARRAY(&r.arena, SitePlace, 2);
    p[0] = (SitePlace){"fake.cu", "helper", 10 + i, 3};
    p[1] = (SitePlace){"fake.cu", "outer", 100 + i, 5};
    r.sites[i] = (Site){.function = "outer",
                        .text = "st.global.f32 [%rd1], %f1",
                        .ptx_line = 20 + i,
                        .classes = CLASS_STORE,
                        .space = SPACE_GLOBAL,
                        .bytes = 4,
                        .places = p,
                        .nplaces = 2};
  }
  if (sites > 30) {  // compiled without -lineinfo
    r.sites[sites - 1].nplaces = 0;
    r.sites[sites - 1].function = "_Z5outerPfi";
  }
  r.ncounters = counters;
  session_module_instrumented(m, &r);
  return m;
}

static uint32_t fake_launch(SessionKernel *k) {
  return session_launch(&(SessionLaunch){.kernel = k, .grid = {2, 1, 1}, .block = {32, 1, 1}});
}

// What src/probe does on a device: the first finding of a site goes through the ring, every one
// counts. false: no slot.
static bool fake_record(const WgLaunch *l, uint32_t site, const WgFinding *what, uint32_t thread) {
  WgChannel *c = (WgChannel *)(uintptr_t)((const WgReports *)(uintptr_t)l->channel)->channel;
  site += l->site_base;
  uint64_t *counts = (uint64_t *)((char *)c + c->counts_at);
  if (__atomic_fetch_add(&counts[site], 1, __ATOMIC_RELAXED) != 0) return true;
  uint32_t number = __atomic_fetch_add(&c->head, 1, __ATOMIC_RELAXED);
  for (int i = 0; number - __atomic_load_n(&c->tail, __ATOMIC_ACQUIRE) >= c->slots; i++) {
    if (i == 10000) {
      __atomic_fetch_add(&c->lost, 1, __ATOMIC_RELAXED);
      return false;
    }
    usleep(100);
  }
  WgFinding *f = (WgFinding *)((char *)c + c->slots_at) + number % c->slots, record = *what;
  record.sequence = f->sequence;
  record.site = site;
  record.launch = l->launch;
  record.block[0] = 1;
  record.thread[0] = thread;
  record.lanes = 1u << thread % 32;
  *f = record;
  __atomic_store_n(&f->sequence, number + 1, __ATOMIC_RELEASE);
  return true;
}

static uint32_t fake_size = 4;
static uint64_t fake_value, fake_extra;
static inline bool fake_report(const WgLaunch *l, uint32_t site, uint32_t kind, uint64_t address,
                               uint32_t thread) {
  return fake_record(l, site,
                     &(WgFinding){.kind = kind,
                                  .size = fake_size,
                                  .address = address,
                                  .value = {fake_value},
                                  .extra = {fake_extra}},
                     thread);
}

#endif
