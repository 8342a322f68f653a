// The watchdog: a thread that looks every half second for launches that make no progress. Tools
// whose code says where warps wait look at the device (Tool.find_stuck). If no tool knows, and the
// program itself waits for the device, a message at least names the last launch.
#define _GNU_SOURCE
#include "session/watchdog.h"
#include "tools/tool.h"

#include <time.h>

static const uint64_t SECOND = 1000000000;
enum { POLL_MS = 500, LAUNCHES = 1024, WAITERS = 64 };

// --- launches: the last ones, for their kernels and shapes ---

static WatchedLaunch launches[LAUNCHES];
static uint32_t newest;
// guards all below; never taken with session_lock held
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void session_watch_launch(const SessionLaunch *l, uint32_t number) {
  if (!session_options()->hang_ns || !session_tools()) return;
  WatchedLaunch *to = &launches[number % LAUNCHES];
  *to = (WatchedLaunch){.number = number, .kernel = l->kernel};
  memcpy(to->grid, l->grid, sizeof to->grid);
  memcpy(to->block, l->block, sizeof to->block);
  newest = number;
}

WatchedLaunch *session_watched_launch(uint32_t number) {
  WatchedLaunch *l = &launches[number % LAUNCHES];
  return l->number == number && l->kernel ? l : NULL;
}

// --- threads of the program that wait for the device ---

typedef struct Waiter {
  const char *_Atomic call;
  _Atomic uint64_t since;
  _Atomic bool said;
  _Atomic bool taken;
} Waiter;
static Waiter waiters[WAITERS];
static _Thread_local Waiter *mine;

static void free_waiter(void *p) { atomic_store(&((Waiter *)p)->taken, false); }
static pthread_key_t waiter_key;
static void make_key(void) { pthread_key_create(&waiter_key, free_waiter); }

static Waiter *take_waiter(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_key);
  for (unsigned i = 0; i < WAITERS; i++) {
    bool no = false;
    if (!atomic_compare_exchange_strong(&waiters[i].taken, &no, true)) continue;
    waiters[i].call = NULL;
    pthread_setspecific(waiter_key, &waiters[i]);
    return &waiters[i];
  }
  return NULL;
}

bool session_waits(const char *call) {
  if (!session_options()->hang_ns || !session_tools()) return false;
  if (!mine && !(mine = take_waiter())) return false;
  if (mine->call) return false;  // inside another one of these
  mine->since = clock_ns();
  mine->said = false;
  mine->call = call;
  session_watchdog_start();
  return true;
}

void session_waited(bool began) {
  if (began) mine->call = NULL;
}

static void say_why_unknown(Str *out, const SessionKernel *k) {
  if (!session_kernel_code(k)) {
    str_add(out, "its machine code is the program's own and does not say where it stands");
    return;
  }
  for (unsigned t = 0; t < TOOL_COUNT_; t++) {
    if (!tool_table[t] || !tool_table[t]->find_stuck) continue;
    if (session_tools() >> t & 1) str_add(out, "nothing in it says where it stands");
    else str_printf(out, "only with --tool=%s kernels say where they stand", tool_name(t));
    return;
  }
}

static void name_launch(const Waiter *w, uint64_t now) {
  const WatchedLaunch *l = session_watched_launch(newest);
  if (!l || l->said) return;
  Str why = {0};
  say_why_unknown(&why, l->kernel);
  session_note(
      SEVERITY_WARNING,
      "the program has waited for %.0f s in %s. The last launch is number %u, of kernel %s; %s",
      (double)(now - w->since) / 1e9, w->call, l->number, l->kernel->name, why.data);
  str_free(&why);
}

static void look(bool asked) {
  uint64_t now = clock_ns(), patience = asked ? 0 : session_options()->hang_ns;
  bool told = false;
  pthread_mutex_lock(&lock);
  EACH_RUNNING_TOOL(t, tool)
    if (tool->find_stuck) told |= tool->find_stuck(now, patience, asked);
  for (unsigned i = 0; i < WAITERS && !told; i++) {
    Waiter *w = &waiters[i];
    // warps need a moment to be seen
    if (!w->taken || !w->call || w->said ||
        now - w->since < (asked ? SECOND : patience + 2 * SECOND))
      continue;
    w->said = true;
    name_launch(w, now);
  }
  pthread_mutex_unlock(&lock);
}

// On Ctrl-C, looks twice: only a growing count of turns shows that a loop runs.
static void say_where(void) {
  look(false);
  nanosleep(&(struct timespec){0, 300000000}, NULL);
  look(true);
}

static void *watch(void *unused) {
  for (;;) {
    nanosleep(&(struct timespec){POLL_MS / 1000, POLL_MS % 1000 * 1000000}, NULL);
    look(false);
  }
  return NULL;
}

static void begin(void) {
  pthread_t thread;
  if (thread_start(&thread, watch, NULL) == 0) pthread_detach(thread);
  session_on_interrupt(say_where);
}

void session_watchdog_start(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, begin);
}
