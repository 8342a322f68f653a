// WgReports of a device. A device with memory of its own counts findings there; closing it brings
// the counts in the channel up to date. After a crash, they are what wg_far_count has left there.
#include "session/internal.h"
#include "tools/tool.h"

// Some tool keeps more on the device than findings.
static bool wants_more(void) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool) any |= tool->reports_open != NULL;
  return any;
}
static bool wants_spread(void) {
  bool any = false;
  EACH_RUNNING_TOOL(t, tool) any |= tool->spreads_counts;
  return any;
}

static uint64_t *counts_of(WgChannel *channel) {
  return (uint64_t *)((char *)channel + channel->counts_at);
}

void session_reports_open(Reports *r, WgChannel *channel, const SessionDeviceOps *ops) {
  WgReports w = {.channel = r->channel_address,
                 .counts = r->channel_address + channel->counts_at,
                 .sites = channel->sites};
  channel->counts_exact = 1;
  channel->reports = w;
  atomic_store(&r->address, r->channel_address + offsetof(WgChannel, reports));
  if (!session_has_findings() || (!ops->write && !wants_more())) r->settled = true;
}

// Device memory is taken when the first launch is checked.
static void go_near(Reports *r, WgChannel *channel, ToolDevice *tools) {
  const SessionDeviceOps *ops = tools->ops;
  void *user = tools->user;
  WgReports w = channel->reports;
  // without device memory, counts are slow where many threads report, but right
  uint64_t near = ops->write ? ops->alloc(user, sizeof w + (size_t)channel->sites * 8) : 0;
  if (near && wants_spread()) w.spread = r->spread = ops->alloc(user, sizeof(WgSpread));
  if (near) {
    w.far_counts = w.counts;
    w.counts = near + sizeof w;
  }
  EACH_RUNNING_TOOL(t, tool)
    if (tool->reports_open) tool->reports_open(&tools[t], channel, &w);
  channel->reports.tool_memory = w.tool_memory;
  if (!near || !ops->write(user, near, &w, sizeof w)) return;
  channel->counts_exact = 0;
  r->near = near;
  atomic_store(&r->address, near);
}

uint64_t session_reports(Reports *r, WgChannel *channel, ToolDevice *tools) {
  if (atomic_load_explicit(&r->settled, memory_order_acquire)) return r->address;
  bool first = false;
  pthread_mutex_lock(&session_lock);
  if (!r->settled && channel) {
    go_near(r, channel, tools);
    first = true;
  }
  atomic_store_explicit(&r->settled, true, memory_order_release);
  pthread_mutex_unlock(&session_lock);
  if (!first) return r->address;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->reports_ready) tool->reports_ready(&tools[t], channel);
  return r->address;
}

// Copies the counts of one kind of finding, a row by site. Sites unknown to the channel have zero.
static bool copy_counts(const Reports *r, WgChannel *channel, const SessionDeviceOps *ops,
                        void *user, uint32_t first, uint32_t n) {
  uint64_t *to = counts_of(channel);
  uint32_t end = first + n;
  while (first < end && !to[first]) first++;
  while (first < end && !to[end - 1]) end--;
  if (first == end) return true;
  size_t bytes = (size_t)(end - first) * 8;
  uint64_t *exact = mem_alloc(bytes);
  bool ok = ops->read(user, exact, r->near + sizeof(WgReports) + (uint64_t)first * 8, bytes);
  for (uint32_t i = first; ok && i < end; i++)
    to[i] = MAX(to[i], exact[i - first] & ~WG_COUNT_DESCRIBED);
  for (uint32_t copy = 0; copy < WG_SPREAD && ok && r->spread && first < WG_SPREAD_SITES; copy++) {
    uint32_t some = MIN(end, (uint32_t)WG_SPREAD_SITES) - first;
    ok = ops->read(user, exact, r->spread + ((uint64_t)copy * WG_SPREAD_SITES + first) * 8,
                   (size_t)some * 8);
    for (uint32_t i = 0; ok && i < some; i++) to[first + i] += exact[i];
  }
  free(exact);
  return ok;
}

void session_reports_close(Reports *r, WgChannel *channel, const SessionDeviceOps *ops, void *user,
                           bool alive) {
  if (!r->near && alive && r->spread) ops->free(user, r->spread);
  if (!r->near) return;
  bool ok = alive;
  for (uint32_t plane = 0; plane < WG_SITE_PLANES && ok; plane++)
    ok = copy_counts(r, channel, ops, user, plane * WG_SITE_NUMBERS,
                     MIN(session_sites(), (uint32_t)WG_SITE_NUMBERS));
  if (ok) channel->counts_exact = 1;
  if (alive && r->spread) ops->free(user, r->spread);
  if (alive) ops->free(user, r->near);
}
