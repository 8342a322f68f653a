// Launches of kernels with interrupts return at once. A service thread calls the handlers. Other
// driver calls of the program wait until the handlers have ended: no work follows a suspended
// kernel in its stream, so that a handler may use every stream and synchronise as it likes.
//
// Most launches suspend no thread. The call that waits finds that out itself, and no other thread
// takes part. The next launch of the stream does not wait if it has interrupts as well: the device
// tells it whether it may begin (InterruptLaunch.gate). If not, the service launches it again when
// its turn has come.
#include "gpu/interrupts/interrupts.h"

#include <stdatomic.h>
#include <time.h>

typedef struct GpuPending {
  GpuLaunch launch;
  CUlaunchConfig config;      // what the program gave, kept
  struct GpuPending *parent;  // whose handler launched it; NULL: the program
  struct GpuPending *next;
  struct GpuPending *follows;  // an earlier launch that was not served yet; NULL: it is by now
  uint64_t number;             // launches are numbered in the order in which they were made
  unsigned users;              // the list, its service, and those that wait
  unsigned looking;            // threads that ask the driver about it: it is not freed meanwhile
  bool is_taken;               // a service thread has it
  bool served;                 // a thread has begun to end it, and no other may
  bool is_wanted;              // it has suspended threads, and a thread waits for it
  bool ended;                  // its first kernel has ended without an error
  bool done;
  bool failed;  // it, or one that it follows
  CUresult result;
} Pending;

enum { LONGEST_LINE = 128 };                              // launches in the list; more of them wait
static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;  // taken before lock
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;  // threads of the program wait for it
static pthread_cond_t work;     // service threads wait for it
static pthread_once_t once = PTHREAD_ONCE_INIT;
static Pending *list;
static uint64_t last_number;
static _Atomic unsigned listed;
static unsigned services;               // service threads
static _Thread_local Pending *serving;  // its handlers run on this thread

void (*gpu_hold_calls)(void);

static void make_condition(void) {
  pthread_condattr_t attr;
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&changed, &attr);
  pthread_cond_init(&work, &attr);
  pthread_condattr_destroy(&attr);
}

static void release(Pending *p) {
  p->users--;
  if (p->users) return;
  free(p->config.attrs);
  free(p);
}

// Locked on entry and on return.
static void end_pending(Pending *p, GpuServing how) {
  Pending *follows = p->follows;
  p->served = true;
  while (p->looking) pthread_cond_wait(&changed, &lock);
  if (follows && follows->failed) how = SERVE_DROPPED;
  pthread_mutex_unlock(&lock);
  Pending *outer = serving;
  if (how == SERVE_ALL) serving = p;
  CUresult result = gpu_interrupts_serve(&p->launch, how);
  serving = outer;
  pthread_mutex_lock(&lock);
  p->result = result;
  p->failed = result != CUDA_SUCCESS || how == SERVE_DROPPED;
  p->follows = NULL;
  if (follows) release(follows);
  p->done = true;
  pthread_cond_broadcast(&changed);
}

// Calls `ask` without the lock, which is held on entry and on return.
static bool look(Pending *p, bool (*ask)(const GpuLaunch *l)) {
  p->looking++;
  pthread_mutex_unlock(&lock);
  bool answer = ask(&p->launch);
  pthread_mutex_lock(&lock);
  p->looking--;
  pthread_cond_broadcast(&changed);
  if (p->is_wanted) pthread_cond_broadcast(&work);
  return answer;
}

// --- the service ---

static void wait_for_change(unsigned microseconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += microseconds * 1000l;
  if (until.tv_nsec >= 1000000000l) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000l;
  }
  pthread_cond_timedwait(&work, &lock, &until);
}

static bool is_next(const Pending *p) {
  return !p->served && !p->is_taken && (!p->follows || p->follows->done);
}

static Pending *next_to_serve(void) {
  for (Pending *p = list; p; p = p->next)
    if (is_next(p)) return p;
  return NULL;
}

// A program that waits for the launch is faster; the service looks from time to time.
static void *service(void *user) {
  enum { SHORT = 100, LONG = 2000 };
  pthread_mutex_lock(&lock);
  for (;;) {
    Pending *p = next_to_serve();
    if (!p) {
      if (list) wait_for_change(LONG);
      else pthread_cond_wait(&work, &lock);
      continue;
    }
    p->users++;
    p->is_taken = true;
    for (unsigned pause = SHORT; !p->served; pause = MIN(pause * 2, LONG)) {
      if (!p->is_wanted || p->looking) wait_for_change(pause);
      while (!p->served && gpu_interrupts_wants_room(&p->launch) &&
             look(p, gpu_interrupts_make_room))
        continue;
      if (p->served || p->looking) continue;
      bool ended = p->is_wanted || look(p, gpu_interrupts_has_ended);
      if (ended && !p->served) end_pending(p, SERVE_ALL);
    }
    release(p);
  }
  return NULL;
}

// Starts a service thread, if there are fewer than launches that are served or could be.
static void start_services(void) {
  unsigned needed = 0;
  pthread_t thread;
  for (const Pending *p = list; p; p = p->next) needed += !p->done && (p->is_taken || is_next(p));
  if (services >= needed || thread_start(&thread, service, NULL) != 0) return;
  pthread_detach(thread);
  services++;
}

static void keep_config(Pending *p) {
  if (!p->launch.config) return;
  p->config = *p->launch.config;
  size_t bytes = p->config.numAttrs * sizeof *p->config.attrs;
  CUlaunchAttribute *attrs = mem_alloc(MAX(bytes, 1));
  if (bytes) memcpy(attrs, p->launch.config->attrs, bytes);
  p->config.attrs = attrs;
  p->launch.config = &p->config;
}

void gpu_interrupts_add(const GpuLaunch *l, bool in_line, Pending *follows) {
  pthread_once(&once, make_condition);
  if (gpu_hold_calls) gpu_hold_calls();
  Pending *p = mem_alloc(sizeof *p);
  *p = (Pending){.launch = *l, .parent = serving, .follows = follows, .users = 1};
  keep_config(p);
  pthread_mutex_lock(&lock);
  Pending **end = &list;
  bool is_first = !list;
  while (*end) end = &(*end)->next;
  *end = p;
  p->number = ++last_number;
  atomic_fetch_add(&listed, 1);
  start_services();
  // a thread that waits for a launch looks itself, and launches after the first have time
  if (is_first) pthread_cond_broadcast(&work);
  pthread_mutex_unlock(&lock);
  if (in_line) pthread_mutex_unlock(&line);
}

// --- calls that wait for launches ---

static bool is_default(uint64_t stream) {
  return !stream || stream == (uint64_t)(uintptr_t)CU_STREAM_LEGACY;
}

static bool comes_before(const Pending *p, const uint64_t *stream) {
  uint64_t own = (uint64_t)(uintptr_t)p->launch.event.stream;
  return p->parent == serving &&
         (!stream || own == *stream || is_default(own) || is_default(*stream));
}

// false: another thread has removed it
static bool remove_from_list(const Pending *p) {
  Pending **at = &list;
  while (*at && *at != p) at = &(*at)->next;
  if (!*at) return false;
  *at = p->next;
  atomic_fetch_sub(&listed, 1);
  return true;
}

// Waits for the first kernel of the launch. All launches that its stream has had by now end with
// it.
static bool suspended_nobody(Pending *p) {
  uint64_t known = last_number;
  if (p->ended) return gpu_interrupts_told_nothing(&p->launch);
  bool nobody = look(p, gpu_interrupts_suspended_nobody);
  for (Pending *q = nobody ? list : NULL; q; q = q->next)
    q->ended |= !q->served && q->number <= known &&
                gpu_interrupts_same_stream(&p->launch, &q->launch);
  return nobody;
}

// Locked on entry and on return.
static void wait_for(Pending *p) {
  p->users++;
  if (!p->served) {
    bool nobody = suspended_nobody(p);
    if (!p->served && nobody) end_pending(p, SERVE_NOBODY);
    else if (!p->served) {
      p->is_wanted = true;
      pthread_cond_broadcast(&work);
    }
  }
  while (!p->done) pthread_cond_wait(&changed, &lock);
}

static CUresult wait_for_all(const uint64_t *stream) {
  CUresult result = CUDA_SUCCESS;
  if (!atomic_load(&listed)) return result;
  pthread_mutex_lock(&lock);
  for (Pending *p = list; p;) {
    if (!comes_before(p, stream)) {
      p = p->next;
      continue;
    }
    wait_for(p);
    if (result == CUDA_SUCCESS) result = p->result;
    p->result = CUDA_SUCCESS;  // told once
    if (remove_from_list(p)) p->users--;
    release(p);
    p = list;
  }
  pthread_mutex_unlock(&lock);
  return gpu_checked(result);
}

CUresult gpu_interrupts_wait(void) { return wait_for_all(NULL); }
CUresult gpu_interrupts_wait_in(uint64_t stream) { return wait_for_all(&stream); }
bool gpu_interrupts_pending(void) { return atomic_load(&listed) != 0; }

// --- launches that do not wait ---

// Finds the last launch that precedes new work in the stream; NULL: none. false: the work must
// wait, since some of those launches are in other streams, or there are too many
static bool find_last(uint64_t stream, Pending **last) {
  unsigned n = 0;
  *last = NULL;
  for (Pending *p = list; p; p = p->next) {
    if (!comes_before(p, &stream)) continue;
    if ((uint64_t)(uintptr_t)p->launch.event.stream != stream) return false;
    *last = p;
    n++;
  }
  return n < LONGEST_LINE;
}

static bool follow(uint64_t stream, GpuFollowing *f) {
  Pending *last;
  if (!find_last(stream, &last)) return false;
  if (!last) return true;
  if (f->waits || last->served || !gpu_interrupts_follow(&last->launch, f)) return false;
  for (Pending *p = last; p && !p->served; p = p->follows) gpu_interrupts_share(&p->launch, f);
  f->pending = last;
  last->users++;
  return true;
}

CUresult gpu_interrupts_line_up(uint64_t stream, GpuFollowing *f) {
  for (;;) {
    if (f) {
      pthread_mutex_lock(&line);
      pthread_mutex_lock(&lock);
      bool follows = follow(stream, f);
      pthread_mutex_unlock(&lock);
      if (follows) return CUDA_SUCCESS;
      pthread_mutex_unlock(&line);
    }
    CUresult result = wait_for_all(&stream);
    if (result != CUDA_SUCCESS || !f) return result;
  }
}

void gpu_interrupts_give_up(Pending *follows) {
  if (follows) {
    pthread_mutex_lock(&lock);
    release(follows);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_unlock(&line);
}
