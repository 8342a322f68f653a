// WgReports of a device, and what fpcheck remembers of its memory. Where its memory is not the host's, findings are counted in memory of its own, and the counts in the channel
// are made equal when the device is closed; after a crash they are what wg_far_count has left there.
#include "tools/fpcheck/abi.h"
#include "session/internal.h"

static bool wants_fp(void) { return session_tools() & TOOL_BIT(FPCHECK); }

static uint64_t *counts_of(WgChannel *channel) { return (uint64_t *)((char *)channel + channel->counts_at); }

void session_reports_open(Reports *r, WgChannel *channel, const SessionDeviceOps *ops, void *user) {
  WgReports w = {.channel = r->channel_address, .counts = r->channel_address + channel->counts_at, .sites = channel->sites};
  channel->counts_exact = 1;
  channel->reports = w;
  atomic_store(&r->address, r->channel_address + offsetof(WgChannel, reports));
  if (!(session_tools() & ~TOOL_BIT(COUNT)) || (!ops->write && !wants_fp())) r->settled = true;
}

// What fpcheck's code finds there in line. Without it who wrote an exception is not known, and all is counted by calls.
static void open_fp(Reports *r, WgChannel *channel, const WgReports *w, const SessionDeviceOps *ops, void *user) {
  WgFpCounts counts = {.address = w->counts, .sites = MIN(channel->sites, (uint32_t)WG_SITE_NUMBERS)};
  uint64_t at = ops->alloc(user, sizeof(WgFpMemory));
  if (!at) return;
  if (r->spread) counts = (WgFpCounts){.address = r->spread, .last_part = WG_SPREAD - 1, .sites = WG_SPREAD_SITES};
  if (!ops->write) memcpy((void *)(uintptr_t)at, &counts, sizeof counts);
  else if (!ops->write(user, at, &counts, sizeof counts)) {
    ops->free(user, at);
    return;
  }
  r->fp_memory = at;
}

// Device memory is taken when the first launch is checked.
static void go_near(Reports *r, WgChannel *channel, const SessionDeviceOps *ops, void *user) {
  WgReports w = channel->reports;
  uint64_t near = ops->write ? ops->alloc(user, sizeof w + (size_t)channel->sites * 8) : 0;      // none: slow where many threads report, but right
  if (near && wants_fp()) w.spread = r->spread = ops->alloc(user, sizeof(WgSpread));
  if (near) w.far_counts = w.counts, w.counts = near + sizeof w;
  if (wants_fp()) open_fp(r, channel, &w, ops, user);
  channel->reports.fp_memory = w.fp_memory = r->fp_memory;
  if (!near || !ops->write(user, near, &w, sizeof w)) return;
  channel->counts_exact = 0;
  r->near = near;
  atomic_store(&r->address, near);
}

uint64_t session_reports(Reports *r, WgChannel *channel, const SessionDeviceOps *ops, void *user) {
  if (atomic_load_explicit(&r->settled, memory_order_acquire)) return r->address;
  pthread_mutex_lock(&session_lock);
  if (!r->settled && channel) go_near(r, channel, ops, user);
  atomic_store_explicit(&r->settled, true, memory_order_release);
  pthread_mutex_unlock(&session_lock);
  if (r->fp_memory) session_fp_meet(r, channel, ops, user);
  return r->address;
}

// One kind of finding has counts in a row, by site. Those the channel has never heard of are zero.
static bool copy_counts(const Reports *r, WgChannel *channel, const SessionDeviceOps *ops, void *user, uint32_t first, uint32_t n) {
  uint64_t *to = counts_of(channel);
  uint32_t end = first + n;
  while (first < end && !to[first]) first++;
  while (first < end && !to[end - 1]) end--;
  if (first == end) return true;
  size_t bytes = (size_t)(end - first) * 8;
  uint64_t *exact = mem_alloc(bytes);
  bool ok = ops->read(user, exact, r->near + sizeof(WgReports) + (uint64_t)first * 8, bytes);
  for (uint32_t i = first; ok && i < end; i++) to[i] = MAX(to[i], exact[i - first] & ~WG_COUNT_DESCRIBED);
  for (uint32_t copy = 0; copy < WG_SPREAD && ok && r->spread && first < WG_SPREAD_SITES; copy++) {
    uint32_t some = MIN(end, (uint32_t)WG_SPREAD_SITES) - first;
    ok = ops->read(user, exact, r->spread + ((uint64_t)copy * WG_SPREAD_SITES + first) * 8, (size_t)some * 8);
    for (uint32_t i = 0; ok && i < some; i++) to[first + i] += exact[i];
  }
  free(exact);
  return ok;
}

void session_reports_close(Reports *r, WgChannel *channel, const SessionDeviceOps *ops, void *user, bool alive) {
  if (alive && r->fp_memory) ops->free(user, r->fp_memory);
  free(r->fp_pages);
  if (!r->near && alive && r->spread) ops->free(user, r->spread);
  if (!r->near) return;
  bool ok = alive;
  for (uint32_t plane = 0; plane < WG_SITE_PLANES && ok; plane++)
    ok = copy_counts(r, channel, ops, user, plane * WG_SITE_NUMBERS, MIN(session_sites(), (uint32_t)WG_SITE_NUMBERS));
  if (ok) channel->counts_exact = 1;
  if (alive && r->spread) ops->free(user, r->spread);
  if (alive) ops->free(user, r->near);
}
