// A context's channel for findings and the counters of its modules.
#include <unistd.h>

#include "base/runstats.h"
#include "session/counters.h"
#include "session/tool_memory.h"
#include "tools/tool.h"

struct SessionDevice {
  SessionDeviceOps ops;
  void *user;
  int ordinal;
  WgChannel *channel;  // NULL: none
  uint32_t index;      // of the channel
  Reports reports;
  MemoryTables tables;
  ToolDevice tools[TOOL_COUNT_];
};

int session_device_ordinal(const SessionDevice *d) { return d->ordinal; }

const SessionDeviceOps *session_device_ops(const SessionDevice *d, void **user) {
  *user = d->user;
  return &d->ops;
}

static void open_tools(SessionDevice *d) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++) {
    d->tools[t] = (ToolDevice){.device = d, .ops = &d->ops, .user = d->user, .ordinal = d->ordinal};
    const Tool *tool = tool_running(t);
    if (tool && tool->device_bytes) d->tools[t].state = mem_alloc(tool->device_bytes);
  }
}

static void free_tools(SessionDevice *d) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++) free(d->tools[t].state);
}

// Counting works without a channel; nothing else does.
static bool needs_channel(void) { return session_has_findings(); }

static bool open_channel(SessionDevice *d, Error *err) {
  session_send(EVENT_STRING, &(EventString){0, ""});  // makes sure that there is a lane
  d->channel = channel_device_claim(&d->index, err);
  if (!d->channel) return false;
  bool mapped = d->ops.map_host(d->user, d->channel, CHANNEL_DEVICE_BYTES,
                                &d->reports.channel_address);
  session_send(EVENT_DEVICE, &(EventDevice){d->index, (uint64_t)d->ordinal});
  if (mapped) {
    session_reports_open(&d->reports, d->channel, &d->ops);
    return true;
  }
  session_send(EVENT_DEVICE_END, &(EventDeviceEnd){d->index, (uint64_t)d->ordinal});
  channel_device_unmap(d->channel);
  d->channel = NULL;
  return error_set(err, "device %d cannot reach the memory that findings are written to",
                   d->ordinal);
}

SessionDevice *session_device_open(const SessionDeviceOps *ops, void *user, int ordinal,
                                   Error *err) {
  SessionDevice *d = mem_alloc(sizeof *d);
  d->ops = *ops;
  d->user = user;
  d->ordinal = ordinal;
  Error why = {{0}};
  open_tools(d);
  if (open_channel(d, &why) || !needs_channel()) {
    EACH_RUNNING_TOOL(t, tool)
      if (tool->device_open) tool->device_open(&d->tools[t]);
    return d;
  }
  session_note(SEVERITY_WARNING, "findings of device %d cannot be reported: %s", ordinal, why.text);
  if (channel_command_lives())
    runstats_fail("Findings of device %d in process %d cannot be reported: %s.", ordinal,
                  (int)getpid(), why.text);
  error_set(err, "%s", why.text);
  free_tools(d);
  free(d);
  return NULL;
}

ToolDevice *session_tool_device(SessionDevice *d, ToolId tool) { return &d->tools[tool]; }

void session_device_set_heap(SessionDevice *d, uint64_t address) {
  d->tables.heap = address;
  session_ranges_outdated();
}

static uint64_t table_for_launch(SessionDevice *d) {
  pthread_mutex_lock(&session_lock);
  uint64_t table = session_table(&d->tables, &d->ops, d->user);
  pthread_mutex_unlock(&session_lock);
  return table;
}

static void set_tables(SessionDevice *d, SessionKernel *k, const SessionLaunch *shape,
                       WgLaunch *r) {
  EACH_RUNNING_TOOL(t, tool)
    if (tool->before_table) tool->before_table(&d->tools[t], k, shape);
  r->memory = table_for_launch(d);
}

static void fill_tool_facts(SessionDevice *d, ToolLaunch *l) {
  EACH_RUNNING_TOOL(t, tool)
    if (tool->facts) tool->facts(&d->tools[t], l);
}

void session_device_open_reports(SessionDevice *d) {
  session_reports(&d->reports, d->channel, d->tools);
}

void session_device_closed(SessionDevice *d, SessionKernel *k, const SessionLaunch *l,
                           WgClosed *c) {
  WgLaunch r = {.channel = session_reports(&d->reports, d->channel, d->tools)};
  if (session_wants_memory()) set_tables(d, k, l, &r);
  c->channel = r.channel;
  c->memory = r.memory;
}

bool session_device_record(SessionDevice *d, SessionKernel *k, uint32_t launch,
                           const SessionParams *params, void *record) {
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->instrumented) return false;
  // of the record without a tool's own facts
  uint32_t bytes = code->record_bytes ? code->record_bytes : (uint32_t)sizeof(WgLaunch);
  uint64_t counters = session_counters(d, k->piece);
  if (k->piece->code.ncounters && !counters) return false;
  memset(record, 0, bytes);
  WgLaunch r = {.channel = session_reports(&d->reports, d->channel, d->tools),
                .counters = counters,
                .launch = launch,
                .site_base = k->piece->site_base};
  ToolLaunch l = {k, params, &r, record, .shape = session_launched()};
  EACH_RUNNING_TOOL(t, tool)
    if (tool->launch && !tool->launch(&d->tools[t], &l)) return false;
  if (session_wants_memory()) {
    // a captured one gets them when its graph is launched
    if (!session_launch_captured()) set_tables(d, k, session_launched(), &r);
    session_fill_facts(code, params, record);
    fill_tool_facts(d, &l);
  }
  memcpy(record, &r, sizeof r);
  atomic_fetch_add_explicit(&channel_kernel_counts(k->id)->checked, 1, memory_order_relaxed);
  return true;
}

uint32_t session_device_refresh(SessionDevice *d, SessionKernel *k, const SessionParams *params,
                                const SessionLaunch *shape, void *record) {
  const WovenKernel *code = session_kernel_code(k);
  if (!code || !code->instrumented) return 0;
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  ToolLaunch l = {k, params, &r, record, .shape = shape, .refreshed = true};
  EACH_RUNNING_TOOL(t, tool)
    if (tool->captured_launch) tool->captured_launch(&d->tools[t], &l);
  if (session_wants_memory()) {
    set_tables(d, k, shape, &r);
    session_fill_facts(code, params, record);
    fill_tool_facts(d, &l);
  }
  memcpy(record, &r, sizeof r);
  return l.number;
}

uint64_t session_memory_version(void) { return session_ranges_version(); }

void session_device_uses_table(SessionDevice *d) { table_for_launch(d); }

bool session_device_crowded(SessionDevice *d) {
  pthread_mutex_lock(&session_lock);
  bool crowded = session_table_crowded(&d->tables);
  pthread_mutex_unlock(&session_lock);
  return crowded;
}

void session_device_done(SessionDevice *d, const void *record) {
  WgLaunch r;
  memcpy(&r, record, sizeof r);
  EACH_RUNNING_TOOL(t, tool)
    if (tool->launch_done) tool->launch_done(&d->tools[t], &r);
  if (!r.memory) return;
  pthread_mutex_lock(&session_lock);
  session_table_done(&d->tables, r.memory);
  pthread_mutex_unlock(&session_lock);
}

uint64_t session_device_mark(SessionDevice *d) {
  pthread_mutex_lock(&session_lock);
  uint64_t mark = d->tables.launches;
  pthread_mutex_unlock(&session_lock);
  return mark;
}

void session_device_settled(SessionDevice *d, uint64_t mark) {
  pthread_mutex_lock(&session_lock);
  d->tables.settled = MAX(d->tables.settled, mark);
  pthread_mutex_unlock(&session_lock);
}

void session_device_collect(SessionDevice *d, SessionModule *m) {
  pthread_mutex_lock(&session_lock);
  EACH_RUNNING_TOOL(t, tool)
    if (tool->collect) tool->collect(&d->tools[t], m);
  pthread_mutex_unlock(&session_lock);
}

void session_launches_ended(SessionDevice *d, const uint64_t *launches, uint32_t n) {
  if (!d) return;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->launches_ended) tool->launches_ended(&d->tools[t], launches, n);
}

void session_device_close(SessionDevice *d, bool alive) {
  EACH_RUNNING_TOOL(t, tool)
    if (tool->device_closing) tool->device_closing(&d->tools[t]);
  session_tool_memory_close(d, alive);
  pthread_mutex_lock(&session_lock);
  EACH_RUNNING_TOOL(t, tool)
    if (tool->device_close) tool->device_close(&d->tools[t], alive);
  session_counters_close(d, alive);
  session_tables_free(&d->tables, &d->ops, d->user, alive);
  if (d->channel) {
    session_reports_close(&d->reports, d->channel, &d->ops, d->user, alive);
    if (alive) d->ops.unmap_host(d->user, d->channel);
    session_send(EVENT_DEVICE_END, &(EventDeviceEnd){d->index, (uint64_t)d->ordinal});
    channel_device_unmap(d->channel);
  }
  pthread_mutex_unlock(&session_lock);
  free_tools(d);
  free(d);
}
