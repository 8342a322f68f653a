// Searches all launches for races, one by one, while the page is already open. Short runs have
// their races in the run file (run/launch_uses.c). Those of others are kept in a file beside it,
// RUN-races, so that they are known at once the next time; the run file itself is never changed
// here. The search waits while the server answers questions, but never for long at a time.
#define _GNU_SOURCE
#include "view/server.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct FoundRace {
  uint32_t launch, first_lane, second_lane, kind;
  uint64_t first, second, count;
} FoundRace;
struct ViewBackground {
  const char *path;
  pthread_t thread;
  pthread_mutex_t lock;
  uint32_t done, total;
  bool finished, failed, kept;
  bool started;   // there is a thread to join
  bool resuming;  // a request waits for it to end, to start it again
  VEC(FoundRace) races;
  ViewDesk *desk;  // NULL: none is open. With `lock`
  _Atomic bool stop;
  _Atomic unsigned questions;    // that are being answered
  _Atomic uint64_t draws_until;  // until then a page may still draw its answer
  pthread_cond_t answered;       // no question is left, or the search must stop
  uint64_t turn_ends;            // until then the search does not wait
};

// The search waits while questions are answered, and DRAW_MS more: the page draws the answer, on a
// machine that may have two processors. If questions never stop, it works for TURN_MS of each
// WAIT_MS + TURN_MS, so that it ends.
enum { WAIT_MS = 100, TURN_MS = 20, DRAW_MS = 300 };
static struct timespec time_of(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
}
static void let_questions_pass(void *user) {
  ViewBackground *b = user;
  uint64_t now = clock_ns(), end = now + WAIT_MS * 1000000ull;
  if (now < b->turn_ends || (!b->questions && now >= b->draws_until)) return;
  pthread_mutex_lock(&b->lock);
  while ((b->questions || now < b->draws_until) && !b->stop && now < end) {
    struct timespec until = time_of(b->questions || end < b->draws_until ? end : b->draws_until);
    pthread_cond_timedwait(&b->answered, &b->lock, &until);
    now = clock_ns();
  }
  pthread_mutex_unlock(&b->lock);
  if (now >= end) b->turn_ends = now + TURN_MS * 1000000ull;
}

void view_background_question(ViewBackground *b, bool begins) {
  if (!b) return;
  pthread_mutex_lock(&b->lock);
  b->questions += begins ? 1u : -1u;
  b->draws_until = clock_ns() + DRAW_MS * 1000000ull;
  if (!b->questions) pthread_cond_signal(&b->answered);
  pthread_mutex_unlock(&b->lock);
}

static void read_kept(ViewBackground *b, ViewDesk *d) {
  ViewRows r = view_rows(d,
                         "SELECT launch, first_record, first_lane, second_record, second_lane, "
                         "count, kind FROM race_found LIMIT 1000000",
                         "");
  while (view_next(&r))
    vec_push(&b->races, ((FoundRace){(uint32_t)view_column(&r, 0), (uint32_t)view_column(&r, 2),
                                     (uint32_t)view_column(&r, 4), (uint32_t)view_column(&r, 6),
                                     view_column(&r, 1), view_column(&r, 3), view_column(&r, 5)}));
}

// The run that a file of races belongs to.
static void identity(ViewDesk *d, const char *path, Str *out) {
  struct stat st = {0};
  stat(path, &st);
  str_printf(
      out, "warpgrind races 1 %lld %llu\n", (long long)st.st_size,
      (unsigned long long)view_one(d, "SELECT value FROM meta WHERE key = 'started_ms'", ""));
}

static bool read_beside(ViewBackground *b, const char *who) {
  Str name = {0}, text = {0};
  str_printf(&name, "%s-races", b->path);
  bool ok = file_read(name.data, &text, NULL) && !strncmp(text.data, who, strlen(who));
  for (const char *p = ok ? text.data + strlen(who) : ""; *p;
       p += strcspn(p, "\n"), p += *p == '\n') {
    unsigned long long v[7];
    if (sscanf(p, "%llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
               &v[6]) != 7)
      break;
    vec_push(&b->races, ((FoundRace){(uint32_t)v[0], (uint32_t)v[2], (uint32_t)v[4], (uint32_t)v[6],
                                     v[1], v[3], v[5]}));
  }
  str_free(&name);
  str_free(&text);
  return ok;
}

static void save_beside(const ViewBackground *b, const char *who) {
  Str name = {0}, other = {0}, text = {0};
  str_printf(&name, "%s-races", b->path);
  str_printf(&other, "%s.%d", name.data, (int)getpid());
  str_add(&text, who);
  for (uint32_t i = 0; i < b->races.len; i++) {
    const FoundRace *f = &b->races.data[i];
    str_printf(&text, "%u %llu %u %llu %u %llu %u\n", f->launch, (unsigned long long)f->first,
               f->first_lane, (unsigned long long)f->second, f->second_lane,
               (unsigned long long)f->count, f->kind);
  }
  int fd = open(other.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool ok = fd >= 0 && file_write_all(fd, text.data, text.len) == 0;
  if (fd >= 0) ok = close(fd) == 0 && ok;
  if (fd >= 0 && (!ok || rename(other.data, name.data) != 0)) unlink(other.data);
  str_free(&name);
  str_free(&other);
  str_free(&text);
}

static void look_at(ViewBackground *b, ViewDesk *d, uint32_t launch) {
  TraceRaces races = {0};
  Error err = {{0}};
  store_set_deadline(d->store, 0);
  bool ok = trace_races(d->trace, launch, &races, &err);
  if (!ok && b->stop) return;
  pthread_mutex_lock(&b->lock);
  for (uint32_t i = 0; ok && i < races.n; i++) {
    const TraceRace *r = &races.list[i];
    vec_push(&b->races, ((FoundRace){launch, r->first.lane, r->second.lane, r->class,
                                     r->first.record, r->second.record, r->count}));
  }
  b->failed |= !ok;
  b->done++;
  pthread_mutex_unlock(&b->lock);
  trace_races_free(&races);
}

static void *work(void *user) {
  // The page comes first; threads that this one starts inherit it. SCHED_IDLE would stop the search
  // where other programs keep all processors busy.
  enum { NICE = 15 };
  ViewBackground *b = user;
  Error err = {{0}};
  setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
  ViewDesk *d = view_desk_open(b->path, &err);
  if (d && d->trace) trace_pause_with(d->trace, let_questions_pass, b);
  pthread_mutex_lock(&b->lock);
  b->desk = d;
  pthread_mutex_unlock(&b->lock);
  VEC(uint32_t) launches = {0};
  Str who = {0};
  if (d && d->trace) {
    identity(d, b->path, &who);
    b->kept = view_one(d, "SELECT count(*) FROM meta WHERE key = 'races_found'", "");
    ViewRows r = view_rows(d,
                           "SELECT launch FROM step WHERE kind = 'launch' AND launch > 0 AND "
                           "recorded > 0 ORDER BY id",
                           "");
    while (view_next(&r)) vec_push(&launches, (uint32_t)view_column(&r, 0));
    pthread_mutex_lock(&b->lock);
    b->total = launches.len;
    if (b->kept) read_kept(b, d);
    else if (!b->done) b->kept = read_beside(b, who.data);
    if (b->kept) b->done = b->total;
    pthread_mutex_unlock(&b->lock);
    for (uint32_t i = b->done; !b->kept && i < launches.len && !b->stop; i++)
      look_at(b, d, launches.data[i]);
  }
  bool keep = d && d->trace && !b->kept && !b->stop && !b->failed && launches.len;
  vec_free(&launches);
  pthread_mutex_lock(&b->lock);
  b->desk = NULL;
  pthread_mutex_unlock(&b->lock);
  if (d) view_desk_close(d);
  if (keep) save_beside(b, who.data);
  str_free(&who);
  pthread_mutex_lock(&b->lock);
  b->finished = true;
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

static void start(ViewBackground *b) {
  b->started = pthread_create(&b->thread, NULL, work, b) == 0;
  b->finished = !b->started;
}

ViewBackground *view_background_start(const char *path) {
  ViewBackground *b = mem_alloc(sizeof *b);
  b->path = path;
  pthread_mutex_init(&b->lock, NULL);
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);  // of clock_ns
  pthread_cond_init(&b->answered, &clock);
  pthread_condattr_destroy(&clock);
  start(b);
  return b;
}

void view_background_stop(ViewBackground *b) {
  if (!b) return;
  pthread_mutex_lock(&b->lock);
  b->stop = true;
  if (b->desk) sqlite3_interrupt(b->desk->db);
  if (b->desk && b->desk->trace) trace_give_up(b->desk->trace, true);
  pthread_cond_signal(&b->answered);
  pthread_mutex_unlock(&b->lock);
}

void view_background_resume(ViewBackground *b) {
  if (!b) return;
  pthread_mutex_lock(&b->lock);
  bool again = b->stop && !b->resuming;  // only one of the callers restarts it
  b->resuming |= again;
  pthread_mutex_unlock(&b->lock);
  if (!again) return;
  if (b->started) pthread_join(b->thread, NULL);
  pthread_mutex_lock(&b->lock);
  b->stop = b->resuming = false;
  start(b);
  pthread_mutex_unlock(&b->lock);
}

// {"done", "total", "finished", "stopped", "launches":[[launch, races], …]}; without a background:
// nothing is under way
void view_answer_race_state(ViewBackground *b, ViewAnswer *a) {
  *a = (ViewAnswer){.status = 200, .type = "application/json"};
  Str *s = &a->body;
  str_add(s, "{");
  if (b) pthread_mutex_lock(&b->lock);
  json_number(s, "done", b ? b->done : 0);
  json_number(s, "total", b ? b->total : 0);
  json_key(s, "finished");
  str_add(s, !b || b->finished ? "true" : "false");
  json_key(s, "stopped");
  str_add(s, b && b->stop && b->done < b->total ? "true" : "false");
  json_open(s, "launches", '[');
  uint32_t launch = 0, n = 0;
  bool first = true;
  for (uint32_t i = 0; b && i <= b->races.len; i++) {
    if (i == b->races.len || b->races.data[i].launch != launch) {
      if (n) str_printf(s, "%s[%u,%u]", first ? "" : ",", launch, n);
      first = first && !n;
      n = 0;
      if (i < b->races.len) launch = b->races.data[i].launch;
    }
    if (i < b->races.len && b->races.data[i].kind != RACE_SAME_VALUE) n++;
  }
  str_add(s, "]}");
  if (b) pthread_mutex_unlock(&b->lock);
}
