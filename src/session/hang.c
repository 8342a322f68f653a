// A launch that makes no progress becomes one finding: its message names the cause, the lines after
// it list the places of the warps.
#define _GNU_SOURCE
#include "session/internal.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

uint64_t session_hang_ns(void) { return session_options()->hang_ns; }

// --- groups: warps that stand at the same place and wait for the same thing ---

typedef struct Group {
  const SessionStanding *first;
  uint64_t warps, threads, turns;
  // a member that reads another address than the first, a sign of locks taken in different orders
  const SessionStanding *other_address;
  // the last one counted: a warp may stand at one place in two parts
  const SessionStanding *warp_of;
} Group;
typedef struct Groups {
  Group *list;
  uint32_t n;
} Groups;

static bool same_warp(const SessionStanding *a, const SessionStanding *b) {
  return a->warp == b->warp && !memcmp(a->block, b->block, sizeof a->block);
}

static bool same_group(const SessionStanding *a, const SessionStanding *b) {
  return a->key == b->key && a->in_loop == b->in_loop && a->wait == b->wait &&
         a->no_step == b->no_step && a->fixed == b->fixed;
}

// A warp in a loop that cannot end is the cause; a warp that waits for memory may be; a warp at a
// barrier waits for one of those.
static unsigned rank(const SessionStanding *s) {
  if (s->wait == SESSION_RUNS) return s->no_step || s->fixed ? 0 : s->unchanged ? 1 : 2;
  return s->wait == SESSION_WAITS_MEMORY ? 3 : s->wait == SESSION_WAITS_WARP ? 4 : 5;
}

static int by_rank(const void *x, const void *y) {
  const Group *a = x, *b = y;
  unsigned ra = rank(a->first), rb = rank(b->first);
  if (ra != rb) return ra < rb ? -1 : 1;
  if (a->warps != b->warps) return a->warps > b->warps ? -1 : 1;
  return a->first < b->first ? -1 : a->first > b->first;
}

static int by_thread(const void *x, const void *y) {
  const SessionStanding *a = x, *b = y;
  for (int i = 2; i >= 0; i--)
    if (a->block[i] != b->block[i]) return a->block[i] < b->block[i] ? -1 : 1;
  if (a->warp != b->warp) return a->warp < b->warp ? -1 : 1;
  return a->lanes < b->lanes ? -1 : a->lanes > b->lanes;
}

static Groups group(const SessionHang *h) {
  Groups g = {mem_alloc(sizeof *g.list * (h->n + 1)), 0};
  for (uint32_t i = 0; i < h->n; i++) {
    const SessionStanding *s = &h->list[i];
    uint32_t k = 0;
    while (k < g.n && !same_group(g.list[k].first, s)) k++;
    if (k == g.n) g.list[g.n++] = (Group){.first = s};
    Group *to = &g.list[k];
    if (!to->warp_of || !same_warp(to->warp_of, s)) to->warps++;
    to->warp_of = s;
    to->threads += (unsigned)__builtin_popcount(s->lanes);
    if (!to->other_address && s->address && s->address != to->first->address) to->other_address = s;
    to->turns = MAX(to->turns, s->turns);
  }
  qsort(g.list, g.n, sizeof *g.list, by_rank);
  return g;
}

// --- words ---

static void add_number(Str *out, uint64_t n) {
  if (n >= 10000000000u) str_printf(out, "%.1f billion", (double)n / 1e9);
  else if (n >= 1000000) str_printf(out, "%.1f million", (double)n / 1e6);
  else str_printf(out, "%llu", (unsigned long long)n);
}

static void add_count(Str *out, uint64_t n, const char *what) {
  str_printf(out, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

static void add_place(Str *out, const SessionStanding *s) {
  const char *file = s->nplaces ? s->places[0].file : NULL,
             *slash = file ? strrchr(file, '/') : NULL;
  if (file) str_printf(out, "%s:%u", slash ? slash + 1 : file, s->places[0].line);
  else str_printf(out, "line %u of the PTX of %s", s->ptx_line, s->function ? s->function : "?");
}

static void add_lanes(Str *out, uint32_t lanes) {
  bool any = false;
  for (unsigned i = 0; i < 32; i++) {
    unsigned first = i;
    if (!(lanes >> i & 1)) continue;
    while (i < 31 && lanes >> (i + 1) & 1) i++;
    str_printf(out, first == i ? "%s%u" : "%s%u-%u", any ? ", " : "", first, i);
    any = true;
  }
}

static const char *loop_words(const SessionStanding *s) {
  if (s->no_step)
    return "in a loop that never ends: its step is 0, so that its index never changes";
  if (s->fixed) return "in a loop that never ends: nothing that could end it changes in it";
  if (s->wait == SESSION_WAITS_MEMORY)
    return "in a loop that waits for a value in memory to change";
  if (s->circles)
    return "in a loop that never ends: it goes round in a circle, what decides about it is what it "
           "was some turns before";
  if (s->unchanged)
    return "in a loop that never ends: it changes nothing from one turn to the next";
  return "in a loop";
}

// Says where the block's threads are that do not wait at the barrier: the place of the next group
// of the block, or that they have ended.
static void add_missing(Str *out, const SessionHang *h, const SessionStanding *s) {
  const ApiWords *w = api_words(h->api);
  uint32_t elsewhere = 0, gone = 0;
  const SessionStanding *other = NULL;
  uint64_t seen = 0;
  for (uint32_t i = 0; i < h->n; i++) {
    const SessionStanding *o = &h->list[i];
    if (memcmp(o->block, s->block, sizeof s->block)) continue;
    if (o->warp < 64 && !(seen >> o->warp & 1)) {
      gone += (unsigned)__builtin_popcount(o->gone);
      seen |= 1ull << o->warp;
    }
    if (o->wait == SESSION_WAITS_BARRIER && o->barrier == s->barrier) continue;
    elsewhere += (unsigned)__builtin_popcount(o->lanes);
    if (!other) other = o;
  }
  if (other) {
    str_add(out, "; ");
    add_count(out, elsewhere, w->thread);
    words_printf(out, w, " of the {block} never came: {thread} (%u,%u,%u) %s at ", other->thread[0],
                 other->thread[1], other->thread[2],
                 elsewhere == 1 ? "stands" : "and others stand");
    add_place(out, other);
  } else if (s->expected > s->arrived) {
    str_printf(out, "; %u never come", s->expected - s->arrived);
    if (gone) words_printf(out, w, " (%u {threads} of these {warps} have ended)", gone);
  }
}

static void add_addresses(Str *out, const ApiWords *w, const Group *g) {
  const SessionStanding *s = g->first, *o = g->other_address;
  words_add(out, w, s->shared ? "; it reads {shared} " : "; it reads ");
  str_printf(out, "address 0x%llx", (unsigned long long)s->address);
  if (o)
    words_printf(out, w, ", {thread} (%u,%u,%u) of {block} (%u,%u,%u) reads 0x%llx", o->thread[0],
                 o->thread[1], o->thread[2], o->block[0], o->block[1], o->block[2],
                 (unsigned long long)o->address);
}

static void add_group(Str *out, const SessionHang *h, const Group *g) {
  const ApiWords *w = api_words(h->api);
  const SessionStanding *s = g->first;
  str_add(out, "\n  ");
  add_count(out, g->warps, w->warp);
  str_add(out, " (");
  add_count(out, g->threads, w->thread);
  str_add(out, ") at ");
  add_place(out, s);
  str_add(out, " ");
  if (s->wait == SESSION_WAITS_BARRIER) {
    str_printf(out, g->warps == 1 ? "waits at barrier %u" : "wait at barrier %u", s->barrier);
    if (s->expected)
      words_printf(out, w, ", where %u of %u {threads} have come", s->arrived, s->expected);
    add_missing(out, h, s);
  } else if (s->wait == SESSION_WAITS_WARP) {
    str_add(out, g->warps == 1 ? "waits for lanes " : "wait for lanes ");
    add_lanes(out, s->needed & ~s->lanes);
    words_add(out, w, " of the {warp}, which stand elsewhere");
  } else if (s->wait == SESSION_WAITS_CLUSTER) {
    words_add(out, w, "wait for other {blocks} of their cluster");
  } else if (s->in_loop) {
    str_add(out, loop_words(s));
    if (g->turns) {
      str_add(out, "; turned about ");
      add_number(out, g->turns);
      str_add(out, " times");
    }
    if (s->address) add_addresses(out, w, g);
  } else str_add(out, g->warps == 1 ? "runs" : "run");
  words_printf(out, w, "; the first is {thread} (%u,%u,%u) of {block} (%u,%u,%u)", s->thread[0],
               s->thread[1], s->thread[2], s->block[0], s->block[1], s->block[2]);
}

static void add_headline(Str *out, const SessionHang *h, const Groups *g) {
  const ApiWords *w = api_words(h->api);
  if (h->deadlock) words_add(out, w, "Deadlock: the {threads} of a {block} wait for each other");
  else
    str_printf(out, "A launch has made no progress for %.*f s", h->ns < 10000000000u ? 1 : 0,
               (double)h->ns / 1e9);
  if (!g->n) {
    str_printf(out, "; where it stands is not known: %s",
               h->why_unknown ? h->why_unknown : "nothing of it was seen");
    return;
  }
  const SessionStanding *s = g->list[0].first;
  if (s->wait == SESSION_WAITS_BARRIER && !h->deadlock)
    words_add(out, w, ": {threads} wait at a barrier that others never reach");
  else if (s->wait == SESSION_WAITS_WARP)
    words_add(out, w, ": lanes of a {warp} wait for others that never come");
  else if (s->in_loop) words_printf(out, w, ": {threads} are %s", loop_words(s));
}

static void add_blocks(Str *out, const SessionHang *h) {
  if (!h->blocks_known) return;
  words_printf(out, api_words(h->api), "\n  %llu of the %llu {blocks} have ended",
               (unsigned long long)h->blocks_ended, (unsigned long long)h->blocks);
}

enum { SHOWN = 12 };

bool session_hang(const SessionHang *given) {
  const SessionOptions *o = session_options();
  SessionHang sorted = *given, *h = &sorted;
  if (h->kernel) h->api = h->kernel->api;
  SessionStanding *list = mem_alloc(sizeof *list * (h->n + 1));
  if (h->n) memcpy(list, h->list, sizeof *list * h->n);
  qsort(list, h->n, sizeof *list, by_thread);
  h->list = list;
  Str text = {0};
  Groups g = group(h);
  add_headline(&text, h, &g);
  for (uint32_t i = 0; i < MIN(g.n, (uint32_t)SHOWN); i++) add_group(&text, h, &g.list[i]);
  if (g.n > SHOWN) str_printf(&text, "\n  and %u more places", g.n - SHOWN);
  add_blocks(&text, h);
  bool ends = o->hang_stop && !h->asked && !h->deadlock;
  if (ends) str_add(&text, "\n  the launch is ended (--hang-action=stop)");
  else if (!h->asked && !h->deadlock)
    str_add(&text, "\n  it goes on (--hang-action=stop would end it)");
  const SessionStanding *s = g.n ? g.list[0].first : NULL;
  SessionFinding f = {.kind = "hang", .text = text.data, .kernel = h->kernel, .launch = h->launch};
  if (s) {
    f.places = s->places;
    f.nplaces = s->nplaces;
    f.has_thread = true;
    memcpy(f.block, s->block, sizeof f.block);
    memcpy(f.thread, s->thread, sizeof f.thread);
    f.has_address = s->address && !s->shared;
    f.address = s->address;
  }
  if (o->tools) session_finding(&f);
  else log_error("%s", text.data);
  str_free(&text);
  free(g.list);
  free(list);
  return ends;
}

// --- Ctrl-C ---

static void (*_Atomic where)(void);
static sem_t interrupted;

static void on_interrupt(int sig) {
  int saved = errno;
  sem_post(&interrupted);
  errno = saved;
}

static void *answer(void *unused) {
  while (sem_wait(&interrupted) != 0) continue;
  void (*f)(void) = where;
  if (f) f();
  // SA_RESETHAND has restored what was there before: it happens now.
  kill(getpid(), SIGINT);
  return NULL;
}

static void install(void) {
  struct sigaction old, own = {.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
  if (sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler != SIG_DFL ||
      sem_init(&interrupted, 0, 0) != 0)
    return;
  pthread_t thread;
  if (thread_start(&thread, answer, NULL) != 0) return;
  pthread_detach(thread);
  sigaction(SIGINT, &own, NULL);
}

void session_on_interrupt(void (*f)(void)) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  where = f;
  pthread_once(&once, install);
}
