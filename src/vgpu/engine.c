// Launches: which blocks run when, and on which thread.
//
// The thread that calls vgpu_launch works on its own grid; workers - 1 further threads, started at
// the first launch that can use them, help whichever grids have work. A group (one block, or the
// blocks of a cluster) runs on one thread at a time. A group that spins, or that has run for long
// while others wait, is suspended and a fresh or suspended one takes its turn, so blocks that wait
// for each other make progress; at most `max_resident` groups of a grid are begun and not ended, as
// many as the device's multiprocessors would hold.
#define _GNU_SOURCE
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "vgpu/core.h"

enum { MOST_SHARED = 1 << 20, MOST_STACK = 512 << 10 };  // bytes; a GPU has no more
// How long a group runs before others get a turn: when it only works, and when it might be waiting
// in a loop of atomics.
static const uint64_t GROUP_SLICE_NS = 20000000, LONG_RUN_NS = 2000000000,
                      MAYBE_WAITING_NS = 60000000;

typedef struct Group {
  Block *blocks;
  // its shape: a later launch of the same shape can use it again
  uint32_t nblocks, nwarps, shared_bytes, local_bytes;
  uint32_t block_dims[3];
  Cluster cluster;
  Block *members[16];
  uint64_t index;
  uint64_t ran_ns;
  uint64_t rng;
  Watched watched;
  BlockTurns turns;
  size_t turns_bytes;  // of turns.memory
  bool begun;
  bool resumed;  // compiled code has left it in the turn of warp `resume`
  uint32_t resume;
  struct Group *next;
} Group;

// It is held for moments only: it is worth waiting for awake.
static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t work_arrived = PTHREAD_COND_INITIALIZER,
                      state_changed = PTHREAD_COND_INITIALIZER;
static VgpuConfig config;
static Launch *launches;  // running grids
static int helpers_started, helpers_asleep;
static _Atomic uint32_t arrivals;  // launches that can use helpers
static _Atomic uint64_t grid_ids;
static _Atomic bool cancelled;
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;

void vgpu_configure(const VgpuConfig *c) {
  config = *c;
  region_configure(c->jit);
}

bool vgpu_is_allocated(uint64_t address) {
  return config.is_allocated && config.is_allocated(address);
}

static int core_count(void) {
  static _Atomic int cores;  // asking reads a file, which takes longer than a small launch
  if (!cores) cores = (int)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
  return cores;
}

static int worker_count(void) { return config.workers > 0 ? config.workers : core_count(); }

void vgpu_print(Launch *l, const char *text, size_t n) {
  pthread_mutex_lock(&print_lock);
  if (l->request->print) l->request->print(l->request->user, text, n);
  else fwrite(text, 1, n, stdout);
  pthread_mutex_unlock(&print_lock);
}

static uint64_t next_random(uint64_t *s) {  // xorshift64*
  *s ^= *s >> 12;
  *s ^= *s << 25;
  *s ^= *s >> 27;
  return *s * 0x2545F4914F6CDD1Dull;
}

// --- faults ---
static const char *where(const PtxInstr *in, const Warp *w, char *buf, size_t n) {
  const PtxFunc *f = w->frame ? w->frame->code->func : NULL;
  const char *path = in && in->loc && f ? ptx_file_path(f->module, in->loc->file) : NULL;
  if (path) snprintf(buf, n, "%s:%u", path, in->loc->line);
  else if (in && f)
    snprintf(buf, n, "%s, PTX line %u (nvcc -lineinfo gives the source line)", f->name,
             in->ptx_line);
  else snprintf(buf, n, "an unknown place");
  return buf;
}

const Inst *vgpu_fault(Warp *w, const Inst *in, VgpuStatus s, unsigned lane, uint64_t address,
                       const char *fmt, ...) {
  Launch *l = w->launch;
  char what[700];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  pthread_mutex_lock(&lock);
  if (!l->stop) {
    l->fault.status = s;
    l->fault.address = address;
    l->fault.classes = in && in->src ? ptx_op_classes(in->src) : 0;
    l->fault.what_bytes = (uint32_t)strlen(what);
    if (in && in->src && in->src->loc && w->frame) {
      l->fault.module = w->frame->code->func->module;
      l->fault.loc = in->src->loc;
    }
    if (in && in->src && !in->src->loc && w->frame) {
      l->fault.ptx = w->frame->code->func->module->text;
      l->fault.ptx_bytes = w->frame->code->func->module->text_len;
    }
    for (int i = 0; i < 3; i++) {
      l->fault.block[i] = w->block->ctaid[i];
      l->fault.thread[i] = w->tid[i][lane];
    }
    const ApiWords *words = api_words(l->request->api);
    snprintf(l->fault.text, sizeof l->fault.text,
             "%s; kernel %s at %s, %s (%u,%u,%u), %s (%u,%u,%u)", what, l->kernel->info.name,
             where(in ? in->src : NULL, w, l->fault.place, sizeof l->fault.place), words->block,
             w->block->ctaid[0], w->block->ctaid[1], w->block->ctaid[2], words->thread,
             w->tid[0][lane], w->tid[1][lane], w->tid[2][lane]);
    l->stop = (int)s;
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static __thread sigjmp_buf *recover;
static __thread uint64_t bad_address;
static struct sigaction old_segv, old_bus;

static void on_memory_signal(int sig, siginfo_t *info, void *context) {
  if (recover) {
    bad_address = (uint64_t)info->si_addr;
    siglongjmp(*recover, 1);
  }
  struct sigaction *old = sig == SIGBUS ? &old_bus : &old_segv;
  if (old->sa_flags & SA_SIGINFO) old->sa_sigaction(sig, info, context);
  else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
    sigaction(sig, old, NULL);  // not ours: it happens again and is the program's own
  } else old->sa_handler(sig);
}

bool engine_try(void (*work)(void *user), void *user, uint64_t *bad) {
  sigjmp_buf env, *outer = recover;
  bool ok = sigsetjmp(env, 0) == 0;
  if (ok) {
    recover = &env;
    work(user);
  } else *bad = bad_address;
  recover = outer;
  return ok;
}

static void install_handlers(void) {
  struct sigaction sa = {.sa_sigaction = on_memory_signal,
                         .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
  sigaction(SIGSEGV, &sa, &old_segv);
  sigaction(SIGBUS, &sa, &old_bus);
}

// --- groups ---
static size_t round64(size_t n) { return (n + 63) & ~(size_t)63; }

static bool fits(const Group *g, const Launch *l) {
  return g->nblocks == l->group_size && g->nwarps == l->nwarps &&
         g->shared_bytes == l->shared_bytes && g->local_bytes == l->local_bytes &&
         !memcmp(g->block_dims, l->block, sizeof g->block_dims);
}

static void group_free(Group *g) {
  watch_forget(&g->watched);
  for (uint32_t k = 0; k < g->nblocks; k++) {
    Block *b = &g->blocks[k];
    for (uint32_t i = 0; i < g->nwarps; i++) warp_free_frames(&b->warps[i]);
    free(b->warps);
    free(b->barriers[0].arrived);
    free(b->mem);
  }
  free(g->turns.memory);
  free(g->blocks);
  free(g);
}

void engine_free_groups(VgpuKernel *k) {
  for (Group *g = k->spare_groups, *next; g; g = next) {
    next = g->next;
    group_free(g);
  }
  k->spare_groups = NULL;
}

// One group for each worker stays with its kernel, so that small launches need not build theirs
// anew.
static void group_keep(Launch *l, Group *g) {
  pthread_mutex_lock(&lock);
  VgpuKernel *k = l->kernel;
  if (k->spare_groups && !fits(k->spare_groups, l)) engine_free_groups(k);
  uint32_t n = 0;
  for (Group *x = k->spare_groups; x; x = x->next) n++;
  bool keep = n < (uint32_t)worker_count();
  if (keep) {
    g->next = k->spare_groups;
    k->spare_groups = g;
  }
  pthread_mutex_unlock(&lock);
  if (!keep) group_free(g);
}

static Group *group_build(Launch *l);

static Group *group_new(Launch *l) {
  pthread_mutex_lock(&lock);
  Group *g = l->kernel->spare_groups;
  if (g && fits(g, l)) l->kernel->spare_groups = g->next;
  else g = NULL;
  pthread_mutex_unlock(&lock);
  return g ? g : group_build(l);
}

static Group *group_build(Launch *l) {
  Group *g = mem_alloc(sizeof *g);
  g->nblocks = l->group_size;
  g->nwarps = l->nwarps;
  g->shared_bytes = l->shared_bytes;
  g->local_bytes = l->local_bytes;
  memcpy(g->block_dims, l->block, sizeof g->block_dims);
  const Code *code = l->kernel->code;
  g->blocks = mem_alloc(l->group_size * sizeof(Block));
  size_t regs = round64(code->reg_bytes) * l->nwarps + REG_MARGIN,
         shared = round64(l->shared_bytes + 64);
  size_t local = round64((size_t)l->local_bytes * LANES) * l->nwarps;
  for (uint32_t k = 0; k < l->group_size; k++) {
    Block *b = &g->blocks[k];
    b->nwarps = l->nwarps;
    b->nthreads = l->nthreads;
    b->warps = mem_alloc(l->nwarps * sizeof(Warp));
    char *mem = NULL;
    if (posix_memalign((void **)&mem, 64, regs + shared + local)) mem = NULL;
    CHECK(mem);
    memset(mem, 0, regs + shared);
    b->mem = mem;
    b->shared = mem + regs;
    b->shared_end = l->shared_bytes;
    b->cluster_rank = k;
    uint32_t *arrived = mem_alloc(NUM_BARRIERS * l->nwarps * sizeof *arrived);
    for (uint32_t i = 0; i < NUM_BARRIERS; i++) b->barriers[i].arrived = arrived + i * l->nwarps;
    for (uint32_t i = 0; i < l->nwarps; i++) {
      Warp *w = &b->warps[i];
      w->index = i;
      w->block = b;
      w->shared = b->shared;
      w->local_bytes = l->local_bytes;
      w->local = mem + regs + shared + i * round64((size_t)l->local_bytes * LANES);
      char *r = mem + i * round64(code->reg_bytes);
      memcpy(r + code->const_start, code->constants, code->const_bytes);
      w->base_frame.regs = r;
      for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t t = i * LANES + lane;
        w->tid[0][lane] = t % l->block[0];
        w->tid[1][lane] = t / l->block[0] % l->block[1];
        w->tid[2][lane] = t / l->block[0] / l->block[1];
      }
    }
  }
  return g;
}

static void place(Launch *l, Block *b, uint64_t group, uint32_t rank) {
  if (!l->cluster[0] && group < l->grid[0]) {  // one row of blocks needs no division
    b->ctaid[0] = (uint32_t)group;
    b->ctaid[1] = b->ctaid[2] = 0;
    b->linear = group;
    return;
  }
  uint32_t c[3] = {MAX(l->cluster[0], 1u), MAX(l->cluster[1], 1u), MAX(l->cluster[2], 1u)};
  uint64_t gx = l->grid[0] / c[0], gy = l->grid[1] / c[1];
  b->ctaid[0] = (uint32_t)(group % gx) * c[0] + rank % c[0];
  b->ctaid[1] = (uint32_t)(group / gx % gy) * c[1] + rank / c[0] % c[1];
  b->ctaid[2] = (uint32_t)(group / gx / gy) * c[2] + rank / c[0] / c[1];
  b->linear = b->ctaid[0] +
              (uint64_t)l->grid[0] * (b->ctaid[1] + (uint64_t)l->grid[1] * b->ctaid[2]);
}

// As clock_ns, a few milliseconds late, and cheaper.
static uint64_t coarse_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Something happened in this launch. Many blocks begin in one tick of the coarse clock: the word,
// which all workers share, is written once for them.
static void note_progress(Launch *l) {
  uint64_t now = coarse_ns();
  if (atomic_load_explicit(&l->moved_ns, memory_order_relaxed) != now)
    atomic_store_explicit(&l->moved_ns, now, memory_order_relaxed);
}

static void group_start(Launch *l, Group *g, uint64_t index) {
  if (l->shuffled)
    index = (uint64_t)(((unsigned __int128)index * l->shuffle_mul + l->shuffle_add) % l->ngroups);
  index = idle_blocks_index(l, index);
  g->index = index;
  g->ran_ns = 0;
  g->begun = g->resumed = false;
  watch_forget(&g->watched);
  g->rng = (config.seed + 1) * 0x9E3779B97F4A7C15ull ^ (index + 1) * 0xD1B54A32D192ED03ull;
  if (!g->rng) g->rng = 1;
  for (uint32_t k = 0; k < l->group_size; k++) g->members[k] = &g->blocks[k];
  // without clusters each block is one
  g->cluster = (Cluster){
      .blocks = g->members, .nblocks = l->group_size, .alive = l->group_size * l->nthreads};
  for (uint32_t k = 0; k < l->group_size; k++) {
    Block *b = &g->blocks[k];
    b->launch = l;
    b->cluster = &g->cluster;
    place(l, b, index, k);
    b->alive_threads = l->nthreads;
    FOR_LANES(i, b->active_barriers)
      memset(b->barriers[i].arrived, 0, l->nwarps * sizeof(uint32_t));
    b->active_barriers = 0;
    for (uint32_t i = 0; i < l->nwarps; i++) {
      Warp *w = &b->warps[i];
      uint32_t lanes = MIN(l->nthreads - i * LANES, (uint32_t)LANES);
      w->launch = l;
      w->arguments = l->arguments;
      w->turns = w->seen_state = w->seen_deciding = 0;
      w->only_polls = w->same = false;
      w->stores_to_wait = l->nwarps > 1 ? STORES_TO_WAIT : 0;
      w->shared_store_waits = l->nwarps > 1;
      w->live = lanes == LANES ? FULL_MASK : (1u << lanes) - 1;
      warp_start(w, l->kernel->code, w->base_frame.regs);
    }
  }
}

typedef enum { RAN_BLOCKED, RAN_PREEMPTED, RAN_SPINNING, RAN_ENDED, RAN_NOTHING } Ran;

// As warp_pick, for a warp whose lanes stand together.
static inline bool pick(Warp *w) {
  const Fragment *f = &w->frags[0];
  if (w->nfrags != 1) return warp_pick(w);
  w->rotate = w->fair = false;
  if (f->state != FRAG_READY) return false;
  w->current = 0;
  w->active = w->exec = f->mask;
  w->frame = f->frame;
  w->regs = f->frame->regs;
  return true;
}

// Runs one warp until it has no ready fragment, its budget is used up, or all its lanes have ended.
static Ran run_warp(Warp *w, Launch *l, Warp *volatile *running) {
  if (!w->nfrags) return RAN_ENDED;
  w->unspent = 0;
  w->polls = w->atomics = 0;
  bool ran = false;
  *running = w;
  while (w->budget >= 0 && w->nfrags && pick(w)) {
    ran = true;
    for (const Inst *pc = w->frags[w->current].pc; pc;) pc = pc->fn(w, pc);
    if (l->stop) return RAN_BLOCKED;
  }
  uint32_t turns = (uint32_t)(WARP_BUDGET - MAX(w->budget, 0) - w->unspent);
  if (turns || w->polls) watch_ran(w, turns);
  else w->only_polls = false;
  if (!w->nfrags) return RAN_ENDED;
  if (w->budget < 0) return w->polls ? RAN_SPINNING : RAN_PREEMPTED;
  if (!ran) {  // every fragment waits: for lanes of this warp only?
    bool only_warp = true;
    for (uint32_t i = 0; i < w->nfrags; i++) only_warp &= w->frags[i].state == FRAG_WARP_SYNC;
    if (only_warp) {
      w->frags[0].state = FRAG_READY;
      w->frags[0].resumed = true;
      return RAN_PREEMPTED;
    }
  }
  return ran ? RAN_BLOCKED : RAN_NOTHING;
}

static void report_deadlock(Launch *l, Group *g) {
  watch_deadlock(l, g->blocks, g->nblocks);
  for (uint32_t k = 0; k < l->group_size; k++)
    for (uint32_t i = 0; i < l->nwarps; i++) {
      Warp *w = &g->blocks[k].warps[i];
      if (!w->nfrags) continue;
      Fragment *f = &w->frags[0];
      w->frame = f->frame;
      vgpu_fault(w, f->pc, VGPU_DEADLOCK, (unsigned)__builtin_ctz(f->mask), 0,
                 "deadlock: threads wait at a barrier that the others of their block never reach");
      return;
    }
}

typedef enum { GROUP_ENDED, GROUP_SUSPEND, GROUP_STOPPED } GroupResult;

static bool watch(Launch *l, Group *g, uint64_t now) {
  if (!watch_group(l, g->blocks, g->nblocks, &g->watched, now, config.hang_ns)) return false;
  for (uint32_t i = 0; i < l->nwarps; i++) {
    Warp *w = &g->blocks[0].warps[i];
    if (!w->nfrags) continue;
    w->frame = w->frags[0].frame;
    vgpu_fault(w, w->frags[0].pc, VGPU_DEADLOCK, (unsigned)__builtin_ctz(w->frags[0].mask), 0,
               "the launch was ended because it hangs (--hang-action=stop)");
    break;
  }
  return true;
}

// Is it time to look at the clock? Looking costs as much as the turn of a warp that only comes to
// its next store or barrier; so it is done after some work, or some rounds of such turns.
static bool clock_is_due(uint32_t *rounds, uint64_t *spent) {
  enum { MOST_ROUNDS = 16, MOST_SPENT = 2000 };  // spent: of the budgets of warps
  if (++*rounds < MOST_ROUNDS && *spent < MOST_SPENT) return false;
  *rounds = 0;
  *spent = 0;
  return true;
}

static GroupResult run_group_inner(Launch *l, Group *g, Warp *volatile *running) {
  uint64_t start = 0, spent = 0;
  uint32_t rounds = 0;
  for (;;) {
    bool any_left = false, moved = false, worked = false, spun = false, atomics = false;
    bool resumed = g->resumed;
    g->resumed = false;
    for (uint32_t k = 0; k < l->group_size; k++) {
      Block *b = &g->blocks[k];
      uint32_t first = config.seeded ? (uint32_t)(next_random(&g->rng) % l->nwarps) : 0;
      for (uint32_t i = resumed ? g->resume : 0; i < l->nwarps; i++) {
        uint32_t at = first + i;
        Warp *w = &b->warps[at < l->nwarps ? at : at - l->nwarps];
        if (!w->nfrags) continue;
        if (!resumed || i != g->resume) w->budget = WARP_BUDGET;
        Ran r = run_warp(w, l, running);
        if (l->stop) return GROUP_STOPPED;
        any_left |= r != RAN_ENDED;
        moved |= r != RAN_NOTHING;
        worked |= r == RAN_ENDED || r == RAN_BLOCKED || r == RAN_PREEMPTED;
        spun |= r == RAN_SPINNING;
        atomics |= r == RAN_PREEMPTED && w->atomics;
        spent += (uint64_t)(WARP_BUDGET - MAX(w->budget, 0) - w->unspent);
      }
    }
    if (resumed) continue;  // the rest of a round says nothing about the other warps
    if (!any_left) return GROUP_ENDED;
    if (!moved) {
      bool released = false;
      for (uint32_t k = 0; k < l->group_size && !released; k++)
        released = block_release_stuck(&g->blocks[k]);
      if (!released) {
        report_deadlock(l, g);
        return GROUP_STOPPED;
      }
      continue;
    }
    if (!clock_is_due(&rounds, &spent) && !spun) continue;
    uint64_t now = clock_ns();
    if (spun && !worked) return watch(l, g, now) ? GROUP_STOPPED : GROUP_SUSPEND;
    if (!start) start = now;
    else if (now - start > GROUP_SLICE_NS) {
      if (watch(l, g, now)) return GROUP_STOPPED;
      if (watch_waits_for_others(l, &g->watched)) return GROUP_SUSPEND;
      g->ran_ns += now - start;
      start = now;
      if (cancelled) return GROUP_SUSPEND;
      if (spun || g->ran_ns > (atomics ? MAYBE_WAITING_NS : LONG_RUN_NS)) {
        g->ran_ns = 0;
        return GROUP_SUSPEND;
      }
    }
  }
}

// Fresh groups that one executor has taken at once, so that the counters of the launch, which all
// executors share, change once for several groups.
typedef struct Batch {
  uint64_t next, end;  // taken and not begun
  uint32_t ended;      // and not yet counted by the launch
  uint32_t whole;      // of those, run in compiled code
} Batch;

// The compiled form for whole blocks, if this launch can use it.
static TurnsFn *turns_of(Launch *l, Group *g) {
  if (!l->whole_blocks || g->begun) return NULL;
  uint64_t bytes = 0;
  TurnsFn *fn = region_turns(l->kernel->code, l->lane_shape, &bytes);
  if (!fn) return NULL;
  if (g->turns_bytes < bytes * l->nwarps || !g->turns.memory) {
    free(g->turns.memory);
    g->turns_bytes = bytes * l->nwarps + 64;
    g->turns.memory = aligned_alloc(64, round64(g->turns_bytes));
    CHECK(g->turns.memory);
  }
  g->turns.waiting_bytes = bytes;
  turns_prepare(l, &g->blocks[0], &g->turns);
  return fn;
}

// A group follows one that turns_run has ended: most of its state is as it was at the start.
static void group_follow(Launch *l, Group *g, uint64_t index) {
  g->index = idle_blocks_index(l, index);
  place(l, &g->blocks[0], g->index, 0);
  turns_begin(&g->blocks[0]);
}

// Counts a block that has left compiled code. If that is frequent, the engine begins the next ones.
static void count_left(Launch *l) {
  enum { LOOK_AFTER = 8 };
  uint32_t left = ++l->blocks_left;
  if (left >= LOOK_AFTER && left > l->blocks_whole / 4) l->whole_blocks = false;
}

// Runs this block, and those that the batch has left, in compiled code. GROUP_SUSPEND: the engine
// goes on with the last one.
static GroupResult run_whole_blocks(Launch *l, Group *g, TurnsFn *fn, Batch *batch) {
  for (;;) {
    switch (turns_run(l, &g->blocks[0], fn, &g->turns, &g->resume)) {
      case TURNS_ENDED: break;
      case TURNS_FAULT: return GROUP_STOPPED;
      default:
        g->resumed = true;
        count_left(l);
        return GROUP_SUSPEND;
    }
    batch->whole++;
    if (l->stop) return GROUP_STOPPED;
    if (batch->next == batch->end || l->suspended_first) return GROUP_ENDED;
    batch->ended++;
    group_follow(l, g, batch->next++);
  }
}

static GroupResult run_group(Launch *l, Group *g, Batch *batch) {
  sigjmp_buf env;
  GroupResult r = GROUP_SUSPEND;
  if (sigsetjmp(env, 0) == 0) {
    recover = &env;
    TurnsFn *fn = turns_of(l, g);
    g->begun = true;
    if (fn) r = run_whole_blocks(l, g, fn, batch);
    g->turns.access = 0;
    if (r == GROUP_SUSPEND) r = run_group_inner(l, g, &g->turns.running);
  } else {
    Warp *w = g->turns.running;
    const Inst *at = g->turns.access ? &g->turns.insts[g->turns.access] : w->mem_pc;
    vgpu_fault(w, at, VGPU_ILLEGAL_ADDRESS, (unsigned)__builtin_ctz(w->exec ? w->exec : 1),
               bad_address, "illegal address 0x%" PRIx64, bad_address);
    r = GROUP_STOPPED;
  }
  recover = NULL;
  return r;
}

// --- executors ---
// Groups that are taken are a part of those that may be resident.
static uint64_t most_taken(const Launch *l) {
  enum { PART = 4, MOST = 32 };
  uint64_t n = l->max_resident / ((uint64_t)worker_count() * PART);
  return MIN(MAX(n, (uint64_t)1), (uint64_t)MOST);
}

// Fewer and fewer, so that all workers end at about the same time. `next` may be out of date.
static uint64_t batch_size(const Launch *l, uint64_t next) {
  enum { SHARE = 8 };
  uint64_t left = next < l->ngroups ? l->ngroups - next : 0;
  return MIN(MAX(left / ((uint64_t)worker_count() * SHARE), (uint64_t)1), l->batch);
}

// Tells the launch which groups have ended. true: they were the last ones.
static bool batch_report(Launch *l, Batch *b) {
  uint32_t n = b->ended;
  b->ended = 0;
  if (!n) return false;
  if (b->whole) atomic_fetch_add_explicit(&l->blocks_whole, b->whole, memory_order_relaxed);
  b->whole = 0;
  return atomic_fetch_add(&l->done_groups, n) + n == l->ngroups;
}

// The next fresh group; false: there is none.
static bool batch_take(Launch *l, Batch *b, uint64_t *index) {
  if (b->next == b->end) {
    uint64_t n = batch_size(l, atomic_load_explicit(&l->next_group, memory_order_relaxed));
    b->next = atomic_fetch_add(&l->next_group, n);
    b->end = MIN(b->next + n, l->ngroups);
    if (b->next >= l->ngroups) {
      b->next = b->end = 0;
      return false;
    }
    note_progress(l);
  }
  *index = b->next++;
  return true;
}

static bool may_begin(const Launch *l) {
  return l->next_group < l->ngroups && launch_resident(l) < l->max_resident;
}

// Takes a group to run: alternates between suspended ones and fresh ones. NULL: nothing to do for
// this launch now.
static Group *take_group(Launch *l, Batch *batch, Group **spare, unsigned turn) {
  Group *g = NULL;
  if (l->suspended_first) {  // racy look, settled under the lock
    pthread_mutex_lock(&lock);
    bool taken = batch->next < batch->end;
    bool fresh = taken || may_begin(l);
    if (l->suspended_first && (!fresh || turn % 2)) {
      g = l->suspended_first;
      l->suspended_first = g->next;
      if (!g->next) l->suspended_last = NULL;
    }
    bool full = !taken && l->next_group < l->ngroups && !may_begin(l);
    pthread_mutex_unlock(&lock);
    if (g) return g;
    if (full) return NULL;
  }
  uint64_t index;
  if (!batch_take(l, batch, &index)) return NULL;
  g = *spare ? *spare : group_new(l);
  *spare = NULL;
  group_start(l, g, index);
  return g;
}

static void suspend(Launch *l, Group *g) {
  pthread_mutex_lock(&lock);
  g->next = NULL;
  if (l->suspended_last) l->suspended_last->next = g;
  else l->suspended_first = g;
  l->suspended_last = g;
  pthread_cond_broadcast(&state_changed);
  pthread_mutex_unlock(&lock);
}

// Works on l until there is nothing to take. A helper leaves after it suspended a group, to look at
// other grids, but begins all groups that it has taken first: no other executor can.
static void execute(Launch *l, bool helper) {
  Group *spare = NULL, *g;
  Batch batch = {0};
  unsigned turn = 0;
  while (!l->stop && (g = take_group(l, &batch, &spare, turn++))) {
    GroupResult r = run_group(l, g, &batch);
    if (r == GROUP_SUSPEND && !cancelled) {
      batch_report(l, &batch);
      suspend(l, g);
      if (helper && batch.next == batch.end) break;
      sched_yield();
      continue;
    }
    if (cancelled && !l->stop) l->stop = VGPU_CANCELLED;
    if (r == GROUP_ENDED) {
      note_progress(l);
      if (spare) group_keep(l, spare);  // g was suspended and did not need the spare one
      spare = g;
      batch.ended++;
      if (batch.next == batch.end && batch_report(l, &batch)) break;
    } else group_free(g);
  }
  batch_report(l, &batch);
  if (spare) group_keep(l, spare);
}

static Launch *find_work(void) {
  for (Launch *l = launches; l; l = l->next)
    if (!l->stop && (may_begin(l) || l->suspended_first)) return l;
  return NULL;
}

// --- waiting ---
// The next launch, or the end of one, is often nearer than the time it takes to wake a thread:
// first a thread waits awake, if there is a core for each worker.
static const uint64_t AWAKE_NS = 50000;

static void pause_core(void) {
#if defined __x86_64__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static bool is_over(uint64_t start, unsigned *turns) {
  enum { TURNS = 64 };  // between looks at the clock
  pause_core();
  return ++*turns % TURNS == 0 && clock_ns() - start > AWAKE_NS;
}

static void await_arrival(uint32_t seen) {
  uint64_t start = clock_ns();
  for (unsigned turns = 0; arrivals == seen && !is_over(start, &turns);) {}
}

static void await_executors(const Launch *l) {
  if (!l->executors || worker_count() > core_count()) return;
  uint64_t start = clock_ns();
  for (unsigned turns = 0; l->executors && !is_over(start, &turns);) {}
}

// Under the lock. A helper that is woken wakes two others: a launch need not wake them all.
static void wake_two(void) {
  for (int i = 0; i < 2 && i < helpers_asleep; i++) pthread_cond_signal(&work_arrived);
}

// Under the lock, until there may be work. *soon: the last work came within AWAKE_NS
static void helper_wait(bool *soon) {
  uint32_t seen = arrivals;
  uint64_t start = clock_ns();
  if (*soon && worker_count() <= core_count()) {
    pthread_mutex_unlock(&lock);
    await_arrival(seen);
    pthread_mutex_lock(&lock);
  }
  if (arrivals == seen) {
    helpers_asleep++;
    pthread_cond_wait(&work_arrived, &lock);
    helpers_asleep--;
  }
  *soon = clock_ns() - start < 2 * AWAKE_NS;
}

static void *helper_main(void *arg) {
  sigset_t all;
  bool soon = true;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  pthread_mutex_lock(&lock);
  for (;;) {
    Launch *l = find_work();
    if (!l) {
      helper_wait(&soon);
      continue;
    }
    l->executors++;
    // the next helper looks at another grid first
    if (l->next) {
      Launch **p = &launches;
      while (*p != l) p = &(*p)->next;
      *p = l->next;
      while (*p) p = &(*p)->next;
      l->next = NULL;
      *p = l;
    }
    if (find_work()) wake_two();
    pthread_mutex_unlock(&lock);
    execute(l, true);
    pthread_mutex_lock(&lock);
    bool last = --l->executors == 0;
    if (last || l->suspended_first || may_begin(l)) pthread_cond_broadcast(&state_changed);
  }
  return NULL;
}

static void start_helpers(void) {  // under the lock
  for (; helpers_started < worker_count() - 1; helpers_started++) {
    pthread_t t;
    if (pthread_create(&t, thread_attributes(), helper_main, NULL)) break;
    pthread_detach(t);
  }
}

// --- parameter buffers: in the window, because kernels may take the address of a parameter ---
enum { PARAM_SLOT = 4352 };  // 4 KB of parameters and the workspace of a grid barrier
static VEC(char *) param_slots;

static char *params_take(Launch *l, size_t bytes) {
  if (bytes > PARAM_SLOT) {
    l->params_bytes = bytes;
    return vgpu_mem_alloc(bytes, 0);
  }
  pthread_mutex_lock(&lock);
  if (!param_slots.len) {
    enum { SLAB = 64 };
    char *slab = vgpu_mem_alloc(SLAB * PARAM_SLOT, 0);
    for (unsigned i = 0; slab && i < SLAB; i++) vec_push(&param_slots, slab + i * PARAM_SLOT);
  }
  char *p = param_slots.len ? param_slots.data[--param_slots.len] : NULL;
  pthread_mutex_unlock(&lock);
  return p;
}

static void params_give(Launch *l) {
  if (!l->params) return;
  if (l->params_bytes) vgpu_mem_free(l->params, l->params_bytes);
  else {
    pthread_mutex_lock(&lock);
    vec_push(&param_slots, l->params);
    pthread_mutex_unlock(&lock);
  }
}

// --- launch ---
static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }

static void shuffle_order(Launch *l) {
  if (!config.seeded || l->ngroups < 2) return;
  uint64_t s = (config.seed + 1) * 0x9E3779B97F4A7C15ull ^ l->grid_id;
  if (!s) s = 1;
  do l->shuffle_mul = next_random(&s) % l->ngroups;
  while (gcd(l->shuffle_mul, l->ngroups) != 1);
  l->shuffle_add = next_random(&s) % l->ngroups;
  l->shuffled = true;
}

uint32_t vgpu_max_resident_blocks(const VgpuKernel *k, uint32_t threads, uint32_t dynamic_shared) {
  const VgpuKernelInfo *info = vgpu_kernel_info(k);
  uint32_t warps = (threads + LANES - 1) / LANES;
  if (!warps || threads > 1024 || threads > info->max_threads) return 0;
  uint32_t by_warps = 64 / warps;
  uint32_t regs = MAX(info->registers, 16u) * LANES;
  uint32_t by_regs = 65536 / ((regs + 255) / 256 * 256) / warps;
  uint32_t shared = info->static_shared + dynamic_shared + 1024;
  uint32_t by_shared = shared > 228 * 1024 ? 0 : 228 * 1024 / shared;
  return MIN(MIN(32u, by_warps), MIN(by_regs, by_shared));
}

static VgpuStatus refuse(VgpuFault *f, VgpuStatus s, const char *kernel, const char *why) {
  f->status = s;
  snprintf(f->text, sizeof f->text, "kernel %s cannot be launched: %s", kernel, why);
  return s;
}

static VgpuStatus set_up(Launch *l, const VgpuLaunch *r, VgpuFault *fault) {
  VgpuKernel *k = r->kernel;
  Error err = {""};
  if (!kernel_prepare(k, &err)) return refuse(fault, VGPU_UNSUPPORTED, k->info.name, err.text);
  l->kernel = k;
  l->request = r;
  memcpy(l->grid, r->grid, sizeof l->grid);
  memcpy(l->block, r->block, sizeof l->block);
  memcpy(l->cluster, r->cluster[0] ? r->cluster : k->info.reqcluster, sizeof l->cluster);
  l->nblocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  l->nthreads = l->block[0] * l->block[1] * l->block[2];
  l->nwarps = (l->nthreads + LANES - 1) / LANES;
  l->lane_shape = region_lane_shape(l->block);
  if (!l->nblocks || !l->nthreads || l->nthreads > 1024)
    return refuse(fault, VGPU_INVALID_LAUNCH, k->info.name,
                  "empty grid or block, or more than 1024 threads per block");
  l->group_size = l->cluster[0] ? l->cluster[0] * l->cluster[1] * l->cluster[2] : 1;
  if (l->group_size > 16)
    return refuse(fault, VGPU_INVALID_LAUNCH, k->info.name, "clusters have at most 16 blocks");
  for (int i = 0; i < 3 && l->cluster[0]; i++)
    if (!l->cluster[i] || l->grid[i] % l->cluster[i])
      return refuse(fault, VGPU_INVALID_LAUNCH, k->info.name,
                    "the grid is not a multiple of the cluster");
  l->ngroups = l->nblocks / l->group_size;
  if (r->dynamic_shared > MOST_SHARED)
    return refuse(fault, VGPU_INVALID_LAUNCH, k->info.name,
                  "more shared memory than a block can have");
  l->shared_bytes = MAX(k->dynamic_base + r->dynamic_shared, k->shared_static_end);
  l->local_bytes = k->local_static;
  if (k->recursive) l->local_bytes += MIN(MAX(r->stack_limit, 16384u), (uint32_t)MOST_STACK);
  l->local_bytes = (l->local_bytes + 15) & ~15u;
  // The same variable of 32 lanes: not all in one set of the CPU's caches.
  if (l->local_bytes >= 2048 && l->local_bytes % 128 == 0) l->local_bytes += 64;
  l->grid_id = ++grid_ids;
  uint32_t per_sm = vgpu_max_resident_blocks(k, l->nthreads, r->dynamic_shared);
  l->max_resident = MAX(per_sm * VGPU_MULTIPROCESSORS / l->group_size, 1u);
  if (r->cooperative) l->max_resident = (uint32_t)MIN(l->ngroups, 1u << 20);
  l->params = params_take(l, (size_t)k->info.param_bytes + 64);
  if (!l->params)
    return refuse(fault, VGPU_INVALID_LAUNCH, k->info.name, "no memory for its parameters");
  l->arguments = mem_alloc((size_t)k->info.param_bytes + 1);
  if (k->info.param_bytes) memcpy(l->arguments, r->params, k->info.param_bytes);
  if (k->info.param_bytes) memcpy(l->params, l->arguments, k->info.param_bytes);
  // cooperative groups' grid barrier: {size, barrier}, zero at the start; without it a barrier of
  // the grid traps, as on a GPU
  if (r->cooperative) {
    l->workspace = (uint64_t)l->params + ((k->info.param_bytes + 15) & ~15u);
    memset((char *)l->workspace, 0, 16);
  }
  idle_blocks_find(l);
  shuffle_order(l);
  l->batch = most_taken(l);
  l->whole_blocks = l->group_size == 1 && !l->cluster[0] && !config.seeded && l->lane_shape &&
                    l->nthreads % LANES == 0 && !r->cooperative;
  return VGPU_OK;
}

VgpuStatus vgpu_launch(const VgpuLaunch *r, VgpuFault *fault) {
  Launch *l = mem_alloc(sizeof *l);
  pthread_mutex_init(&l->children_lock, NULL);
  VgpuStatus s = set_up(l, r, fault);
  if (s != VGPU_OK || cancelled) {
    params_give(l);
    free(l->arguments);
    vec_free(&l->active);
    free(l);
    return cancelled ? VGPU_CANCELLED : s;
  }
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install_handlers);
  watch_launch(l);
  pthread_mutex_lock(&lock);
  l->next = launches;
  launches = l;
  if (l->ngroups > 1) {
    start_helpers();
    arrivals++;
    wake_two();
  }
  pthread_mutex_unlock(&lock);

  execute(l, false);
  await_executors(l);
  pthread_mutex_lock(&lock);
  while (l->executors || (!l->stop && l->done_groups < l->ngroups)) {
    if (!l->stop && (l->suspended_first || may_begin(l))) {
      pthread_mutex_unlock(&lock);
      execute(l, false);
      pthread_mutex_lock(&lock);
      continue;
    }
    pthread_cond_wait(&state_changed, &lock);
  }
  Launch **p = &launches;
  while (*p != l) p = &(*p)->next;
  *p = l->next;
  watch_end(l);
  pthread_mutex_unlock(&lock);

  for (Group *g = l->suspended_first, *next; g; g = next) {
    next = g->next;
    group_free(g);
  }
  if (l->stop == VGPU_CANCELLED) l->fault.status = VGPU_CANCELLED;
  *fault = l->fault;
  s = device_runtime_finish(l, (VgpuStatus)l->stop, fault);
  params_give(l);
  free(l->arguments);
  vec_free(&l->active);
  free(l);
  return s;
}

Launch *engine_launches(bool take) {
  if (take) pthread_mutex_lock(&lock);
  else pthread_mutex_unlock(&lock);
  return take ? launches : NULL;
}

void vgpu_cancel_all(void) {
  cancelled = true;
  for (Launch *l = launches; l; l = l->next)
    if (!l->stop) l->stop = VGPU_CANCELLED;
}
