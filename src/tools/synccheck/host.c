// synccheck inside the program: reads the state that warps write to device memory (abi.h), and
// watches it for hangs, through a stream of our own.
//
// A warp stands still if it waits at a barrier, or if its loop goes on while all values that decide
// about the loop stay the same. A launch hangs if some of its warps stand still and nothing that
// its warps have written has changed for the time the user gave.
#define _GNU_SOURCE
#include "session/watchdog.h"
#include "tools/synccheck/abi.h"
#include "tools/tool.h"

#include <time.h>

static const uint64_t SECOND = 1000000000;

// device address of its WgWatch; 0: none yet
typedef struct SyncDevice {
  uint64_t watch;
  bool failed;
} SyncDevice;

// --- devices ---

typedef struct Seen {
  uint64_t key, turns, since, turned;
  uint32_t site, state, barrier, waiting;
} Seen;
typedef struct Device {
  SessionDeviceOps ops;
  void *user;
  const void *owner;
  uint64_t watch;
  Seen *seen;
  struct Device *next;
} Device;
static Device *devices;
// of the list; never taken with session_lock held
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void watch_device(const ToolDevice *on, uint64_t watch) {
  if (on->ops->direct || !session_options()->hang_ns) return;
  Device *d = mem_alloc(sizeof *d);
  *d = (Device){.ops = *on->ops,
                .user = on->user,
                .owner = on->device,
                .watch = watch,
                .seen = mem_alloc(sizeof(Seen) * WG_WATCH_WARPS)};
  pthread_mutex_lock(&lock);
  d->next = devices;
  devices = d;
  pthread_mutex_unlock(&lock);
  session_watchdog_start();
}

static void device_closing(ToolDevice *on) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 3;  // the thread may be stuck in the driver: then its memory is not freed
  if (pthread_mutex_timedlock(&lock, &until) != 0) return;
  for (Device **p = &devices; *p;) {
    Device *d = *p;
    if (d->owner != on->device) {
      p = &d->next;
      continue;
    }
    *p = d->next;
    free(d->seen);
    free(d);
  }
  pthread_mutex_unlock(&lock);
}

// --- what a warp has written ---

typedef struct Wanted {
  uint32_t number;
  const Site *site;
  uint32_t ordinal;
} Wanted;
static void look_in(void *user, Piece *p) {
  Wanted *w = user;
  if (w->number >= p->site_base && w->number - p->site_base < p->code.nsites)
    w->site = &p->code.sites[w->number - p->site_base];
}

static const Site *find_site(uint32_t number) {
  Wanted w = {.number = number};
  pthread_mutex_lock(&session_lock);
  session_each_piece(look_in, &w);
  pthread_mutex_unlock(&session_lock);
  return w.site;
}

// Of an instruction like "bar.sync 1, 64;". 0 if a register has the number, which is seldom.
static uint32_t barrier_number(const Site *s) {
  const char *operands = s ? strpbrk(s->text, " \t") : NULL;
  return operands ? (uint32_t)strtoul(operands, NULL, 10) : 0;
}

static void describe(const WgWatchWarp *w, const WatchedLaunch *l, SessionStanding *s) {
  uint32_t threads = l->block[0] * l->block[1] * l->block[2], warps = (threads + 31) / 32,
           serial = (uint32_t)w->key;
  uint32_t block = serial / warps, lanes = w->barrier_site ? UINT32_MAX
                                           : w->wait_lanes ? w->wait_lanes
                                                           : w->loop_lanes;
  const Site *site = find_site(w->barrier_site ? w->barrier_site - 1
                               : w->wait_lanes ? w->wait_site
                                               : w->loop_site - 1);
  *s = (SessionStanding){
      .key = site, .warp = serial % warps, .lanes = lanes ? lanes : 1, .gone = w->gone};
  uint32_t first = s->warp * 32 + (uint32_t)__builtin_ctz(s->lanes), rest = threads - s->warp * 32;
  if (rest < 32) s->lanes &= (1u << rest) - 1;
  s->block[0] = block % l->grid[0];
  s->block[1] = block / l->grid[0] % l->grid[1];
  s->block[2] = block / l->grid[0] / l->grid[1];
  s->thread[0] = first % l->block[0];
  s->thread[1] = first / l->block[0] % l->block[1];
  s->thread[2] = first / l->block[0] / l->block[1];
  if (site) {
    s->places = site->places;
    s->nplaces = site->nplaces;
    s->function = site->function;
    s->ptx_line = site->ptx_line;
  }
  if (w->barrier_site) {
    s->wait = SESSION_WAITS_BARRIER;
    s->barrier = barrier_number(site);
    return;
  }
  if (w->wait_lanes) {
    s->wait = SESSION_WAITS_WARP;
    s->needed = w->wait_mask & ~w->dead;
    return;
  }
  s->in_loop = true;
  s->turns = w->loop_turns;
  s->no_step = w->loop_flags & WG_WATCH_NO_STEP;
  s->fixed = w->loop_flags & WG_WATCH_FIXED;
  s->unchanged = true;
  s->wait = w->loop_flags & WG_WATCH_WAITS && !s->no_step && !s->fixed ? SESSION_WAITS_MEMORY
                                                                       : SESSION_RUNS;
  s->address = s->wait == SESSION_WAITS_MEMORY ? w->loop_address : 0;
  s->shared = w->loop_flags & WG_WATCH_SHARED;
}

// Does this warp stand still, and since when? If the iterations of a loop have not increased for
// long, the warp has left the loop.
static bool stands_still(const WgWatchWarp *w, Seen *s, uint64_t now) {
  if (w->key != s->key || w->barrier_site != s->barrier || w->wait_lanes != s->waiting ||
      (!w->barrier_site && !w->wait_lanes &&
       (w->loop_site != s->site || w->loop_state != s->state || w->loop_turns < s->turns))) {
    *s = (Seen){.key = w->key,
                .turns = w->loop_turns,
                .since = now,
                .turned = 0,
                .site = w->loop_site,
                .state = w->loop_state,
                .barrier = w->barrier_site,
                .waiting = w->wait_lanes};
    return w->barrier_site || w->wait_lanes;
  }
  if (w->loop_turns != s->turns) s->turned = now;
  s->turns = w->loop_turns;
  return w->barrier_site || w->wait_lanes || (s->turned && now - s->turned < 5 * SECOND);
}

typedef struct Stuck {
  uint32_t launch;
  uint64_t changed;
  uint32_t n;
} Stuck;

static void tell(Device *d, const WgWatchWarp *warps, const bool *still, const Stuck *k,
                 uint64_t now, bool asked) {
  WatchedLaunch *l = session_watched_launch(k->launch);
  if (!l) return;
  SessionStanding *list = mem_alloc(sizeof *list * (k->n + 1));
  uint32_t n = 0;
  for (uint32_t i = 0; i < WG_WATCH_WARPS; i++)
    if (still[i] && warps[i].key >> 32 == k->launch) describe(&warps[i], l, &list[n++]);
  l->said = true;
  if (session_hang(&(SessionHang){.kernel = l->kernel,
                                  .launch = k->launch,
                                  .list = list,
                                  .n = n,
                                  .ns = now - k->changed,
                                  .block = l->block,
                                  .asked = asked}) &&
      d->ops.write &&
      !d->ops.write(d->user, d->watch + offsetof(WgWatch, stop), &k->launch, sizeof k->launch))
    session_note(SEVERITY_WARNING, "launch %u could not be ended: the device does not answer",
                 k->launch);
  free(list);
}

// asked: report current hangs at once. Returns true if the place of some waiting warp is known
static bool look_at_device(Device *d, uint64_t now, uint64_t patience, bool asked) {
  WgWatchWarp *warps = mem_alloc(sizeof *warps * WG_WATCH_WARPS);
  bool *still = mem_alloc(WG_WATCH_WARPS), told = false;
  VEC(Stuck) stuck = {0};
  bool read = d->ops.read(d->user, warps, d->watch + offsetof(WgWatch, warps),
                          sizeof *warps * WG_WATCH_WARPS);
  for (uint32_t i = 0; read && i < WG_WATCH_WARPS; i++) {
    if (!warps[i].key) continue;
    uint32_t launch = (uint32_t)(warps[i].key >> 32), k = 0;
    still[i] = stands_still(&warps[i], &d->seen[i], now);
    while (k < stuck.len && stuck.data[k].launch != launch) k++;
    if (k == stuck.len) vec_push(&stuck, (Stuck){.launch = launch});
    stuck.data[k].n += still[i];
    stuck.data[k].changed = MAX(stuck.data[k].changed, d->seen[i].since);
  }
  for (uint32_t k = 0; k < stuck.len; k++) {
    const WatchedLaunch *l = session_watched_launch(stuck.data[k].launch);
    told |= stuck.data[k].n != 0;
    if (stuck.data[k].n && l && !l->said && now - stuck.data[k].changed >= patience)
      tell(d, warps, still, &stuck.data[k], now, asked);
  }
  vec_free(&stuck);
  free(still);
  free(warps);
  return told;
}

static bool find_stuck(uint64_t now, uint64_t patience, bool asked) {
  bool told = false;
  pthread_mutex_lock(&lock);
  for (Device *d = devices; d; d = d->next) told |= look_at_device(d, now, patience, asked);
  pthread_mutex_unlock(&lock);
  return told;
}

// --- launches ---

static bool launch(ToolDevice *d, ToolLaunch *l) {
  SyncDevice *state = d->state;
  bool fresh = false;
  pthread_mutex_lock(&session_lock);
  if (!state->watch && !state->failed) {
    state->watch = d->ops->alloc(d->user, sizeof(WgWatch));
    state->failed = !state->watch;
    fresh = state->watch != 0;
    if (state->failed)
      session_note(SEVERITY_WARNING,
                   "device %d has no memory for what synccheck keeps of its warps: kernels are not "
                   "checked by it",
                   d->ordinal);
  }
  pthread_mutex_unlock(&session_lock);
  if (fresh) watch_device(d, state->watch);
  l->record->progress = state->watch;
  if (session_launch_cooperative()) l->record->flags |= WG_LAUNCH_COOPERATIVE;
  return true;
}

static void device_close(ToolDevice *d, bool alive) {
  SyncDevice *state = d->state;
  if (alive && state->watch) d->ops->free(d->user, state->watch);
}

// The kinds of findings for barriers at which the virtual device ended a launch.
static const char *fault_kind(const SessionFault *f) {
  if (f->what != SESSION_FAULT_TRAP || !f->sync) return NULL;
  return f->load || f->store || f->atomic ? "barrier-misuse" : "barrier-mismatch";
}

const Tool tool_synccheck = {.device_bytes = sizeof(SyncDevice),
                             .launch = launch,
                             .fault_kind = fault_kind,
                             .device_closing = device_closing,
                             .device_close = device_close,
                             .find_stuck = find_stuck};
