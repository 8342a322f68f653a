// Sends events through this process's part of the channel; each string once.
#define _GNU_SOURCE

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/runstats.h"
#include "session/internal.h"

enum { NOT_TRIED, OPEN, NONE };
static _Atomic int lane_state;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t generation = 1;

// Strings that were sent, by hash of their text; the id is the generation's own.
typedef struct SentString {
  char *text;
  uint64_t id;
  uint32_t sent;
} SentString;
static StrMap strings;
static uint64_t last_string;

uint32_t session_generation(void) {
  return atomic_load_explicit(&generation, memory_order_relaxed);
}

static void read_command_line(Str *out) {
  Error err;
  if (!file_read("/proc/self/cmdline", out, &err)) return;
  for (size_t i = 0; i + 1 < out->len; i++)
    if (!out->data[i]) out->data[i] = ' ';
}

static void introduce_process(void) {
  char exe[4096];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  exe[n > 0 ? n : 0] = 0;
  Str arguments = {0};
  read_command_line(&arguments);
  channel_write(EVENT_PROCESS, &(EventProcess){(uint64_t)getpid(), (uint64_t)getppid(), clock_ns(),
                                               exe, arguments.data, session_device_name()});
  str_free(&arguments);
}

// Called by our own fork handler and by the driver's: only the first call in a process does
// something.
static void after_fork(void) {
  static int released_in;
  if (released_in == getpid()) return;
  released_in = getpid();
  // no handler ran before that fork
  if (channel_in_new_child()) open_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  channel_release_in_child();
  atomic_fetch_add(&generation, 1);
  atomic_store(&lane_state, NOT_TRIED);
}

static void before_fork(void) {
  pthread_mutex_lock(&session_lock);
  pthread_mutex_lock(&open_lock);
  channel_lock(true);
}

static void unlock_all(void) {
  channel_lock(false);
  pthread_mutex_unlock(&open_lock);
  pthread_mutex_unlock(&session_lock);
}

static void in_child(void) {
  unlock_all();
  after_fork();
}

static void fail_to_report(const char *why) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "Process %d cannot report to the warpgrind command (%.1900s): what it does is not checked.",
      (int)getpid(), why);
  log_error("%s", text);
  runstats_fail("%s", text);
}

static bool open_lane(void) {
  static bool forks_watched;
  pthread_mutex_lock(&open_lock);
  if (lane_state == NOT_TRIED) {
    if (!forks_watched) pthread_atfork(before_fork, unlock_all, in_child);
    forks_watched = true;
    Error err = {{0}};
    bool open = channel_attach()
                    ? channel_claim(&err)
                    : error_set(&err, "its memory cannot be opened: %s", strerror(errno));
    if (open) introduce_process();
    else if (channel_is_offered() && (session_options()->tools || session_options()->keeps_run))
      fail_to_report(err.text);
    lane_state = open ? OPEN : NONE;
  }
  pthread_mutex_unlock(&open_lock);
  return lane_state == OPEN;
}

bool session_is_open(void) { return atomic_load(&lane_state) == OPEN; }

bool session_send(ChannelEvent type, const void *event) {
  if (channel_in_new_child()) after_fork();
  int state = atomic_load_explicit(&lane_state, memory_order_acquire);
  if (state == NONE || (state == NOT_TRIED && !open_lane())) return false;
  return channel_write(type, event);
}

void session_note(Severity severity, const char *fmt, ...) {
  char text[2048];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (!session_send(EVENT_NOTE, &(EventNote){severity, text})) log_line("%s", text);
}

uint64_t session_string(const char *s) {
  if (!s) return 0;
  SentString *found = strmap_get(&strings, s);
  if (!found) {
    found = mem_alloc(sizeof *found);
    *found = (SentString){.text = mem_strdup(s), .id = ++last_string};
    strmap_put(&strings, found->text, found);
  }
  if (found->sent != session_generation()) {
    found->sent = session_generation();
    session_send(EVENT_STRING, &(EventString){found->id, s});
  }
  return found->id;
}

uint64_t *session_places(const SitePlace *places, uint32_t n, uint64_t *out) {
  for (uint32_t i = 0; i < n; i++) {
    out[4 * i] = session_string(places[i].file);
    out[4 * i + 1] = session_string(places[i].function);
    out[4 * i + 2] = places[i].line;
    out[4 * i + 3] = places[i].column;
  }
  return out;
}
