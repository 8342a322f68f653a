// Launches: counted, selected by the options, and announced to the tools and the command.
#include "base/runstats.h"
#include "session/internal.h"
#include "session/watchdog.h"
#include "tools/tool.h"

static _Atomic uint32_t last_launch;
static _Atomic uint64_t candidates;  // launches of kernels that --kernel and --kernel-exclude leave

static _Thread_local uint64_t threads;  // of this thread's last launch
static _Thread_local bool captured;
static _Thread_local SessionLaunch launched;
const SessionLaunch *session_launched(void) { return &launched; }
void session_launched_on(const void *stream) { launched.stream = stream; }
bool session_launch_cooperative(void) { return launched.cooperative; }
uint64_t session_threads_launched(void) { return threads; }
bool session_launch_captured(void) { return captured; }

static void first_launch(SessionKernel *k) {
  pthread_mutex_lock(&session_lock);
  session_announce_kernel(k);
  pthread_mutex_unlock(&session_lock);
}

static _Thread_local uint64_t launch_stack;
uint64_t session_launch_stack(void) { return launch_stack; }

// Looks up the Python lines that the kernel was made from, once.
static const char *lines_of(SessionKernel *k) {
  if (!session_options()->host_stacks) return NULL;
  if (!atomic_load_explicit(&k->looked_for_lines, memory_order_acquire)) {
    pthread_mutex_lock(&session_lock);
    if (!k->looked_for_lines) k->lines = where_hlo(k->name);
    atomic_store_explicit(&k->looked_for_lines, true, memory_order_release);
    pthread_mutex_unlock(&session_lock);
  }
  return k->lines;
}

static void send_launch(const SessionLaunch *l, uint32_t number) {
  launch_stack = session_stack_below(lines_of(l->kernel));
  session_send(EVENT_LAUNCH,
               &(EventLaunch){number, l->kernel->id, l->grid[0], l->grid[1], l->grid[2],
                              l->block[0], l->block[1], l->block[2], l->cluster[0], l->cluster[1],
                              l->cluster[2], l->shared, (uintptr_t)l->stream, (uint64_t)l->device,
                              (l->cooperative ? LAUNCH_COOPERATIVE : 0) |
                                  (l->captured ? LAUNCH_CAPTURED : 0) |
                                  (uint64_t)l->kernel->api << LAUNCH_API_SHIFT,
                              clock_ns(), launch_stack});
}

uint32_t session_launch_count(const SessionLaunch *l) {
  SessionKernel *k = l->kernel;
  EACH_RUNNING_TOOL(t, tool)
    if (tool->launch_asked) tool->launch_asked(l);
  captured = l->captured;
  launched = *l;
  threads = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] *
            ((uint64_t)l->block[0] * l->block[1] * l->block[2]);
  uint32_t number = atomic_fetch_add_explicit(&last_launch, 1, memory_order_relaxed) + 1;
  bool first = !atomic_load_explicit(&k->launched, memory_order_relaxed) &&
               !atomic_exchange(&k->launched, true);
  if (atomic_load_explicit(&k->sent, memory_order_relaxed) != session_generation()) first_launch(k);
  runstats_count_launch(first);
  atomic_fetch_add_explicit(&channel_kernel_counts(k->id)->launches, 1, memory_order_relaxed);
  session_watch_launch(l, number);
  return number;
}

void session_launch_tell(const SessionLaunch *l, uint32_t number) {
  if (session_wants_launches()) send_launch(l, number);
}

uint32_t session_launch(const SessionLaunch *l) {
  uint32_t number = session_launch_count(l);
  session_launch_tell(l, number);
  return number;
}

uint32_t session_launch_number(const SessionLaunch *l) {
  uint32_t number = atomic_fetch_add_explicit(&last_launch, 1, memory_order_relaxed) + 1;
  send_launch(l, number);
  return number;
}

uint32_t session_launch_in_graph(const SessionLaunch *l) {
  launched = *l;
  captured = false;
  return session_launch_number(l);
}

void session_launch_again(SessionKernel *k, bool checked) {
  ChannelKernelCounts *c = channel_kernel_counts(k->id);
  runstats_count_launch(false);
  atomic_fetch_add_explicit(&c->launches, 1, memory_order_relaxed);
  if (checked) atomic_fetch_add_explicit(&c->checked, 1, memory_order_relaxed);
}

void session_launch_only_captured(SessionKernel *k, bool checked) {
  ChannelKernelCounts *c = channel_kernel_counts(k->id);
  runstats_uncount_launch();
  atomic_fetch_sub_explicit(&c->launches, 1, memory_order_relaxed);
  if (checked) atomic_fetch_sub_explicit(&c->checked, 1, memory_order_relaxed);
}

void session_launch_unchanged(SessionKernel *k) {
  atomic_fetch_add_explicit(&channel_kernel_counts(k->id)->checked, 1, memory_order_relaxed);
}

// A tool that runs alone may leave out launches.
static bool is_left_out(SessionKernel *k) {
  for (unsigned t = 0; t < TOOL_COUNT_; t++)
    if (session_tools() == 1u << t && tool_table[t] && tool_table[t]->leaves_out)
      return tool_table[t]->leaves_out(k);
  return false;
}

bool session_launch_selected(SessionKernel *k) {
  const SessionOptions *o = session_options();
  if (!k->wanted) return false;
  if (is_left_out(k)) return false;
  if (!o->launch_skip && o->launch_count == UINT64_MAX) return true;
  uint64_t n = atomic_fetch_add_explicit(&candidates, 1, memory_order_relaxed);
  return n >= o->launch_skip && n - o->launch_skip < o->launch_count;
}

void session_graph_launch(const void *graph, const void *stream) {
  if (!session_wants_launches()) return;
  session_send(EVENT_GRAPH_LAUNCH, &(EventGraphLaunch){(uintptr_t)graph, (uintptr_t)stream,
                                                       clock_ns(), session_stack()});
  session_graph_launched(stream);
}
