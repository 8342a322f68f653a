// Queues: a stream's work runs in order, on a pool thread or on a host thread that waits for it.
//
// Every wait in the driver is "until stream S has completed number N": events are such positions,
// and so are the implicit dependencies of the legacy stream, taken when work is submitted.
// Dependencies point to work that was submitted before, so there are no cycles, and every stream
// with work has a thread that will take it: nothing can starve.
#include "driver/driver.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

struct QueueItem {
  QueueItem *next;
  uint64_t seq;
  uint32_t ndeps;
  QueueDep *deps;
  Turn turn;
  Work work;
};

// a program that is further ahead of its stream waits, as on a device (1024 there)
enum { MAX_PENDING = 8192 };

typedef struct Waiter Waiter;
struct Waiter {
  Stream *stream;
  uint64_t seq;
  pthread_cond_t wake;
  Waiter *next;
};

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready_cond = PTHREAD_COND_INITIALIZER;
static Stream *ready_head, *ready_tail;  // streams with work that no thread executes yet
static int nready, nidle, nbusy;
static Waiter *waiters;
static __thread Stream *running;  // the stream whose work this thread executes

void stream_retain(Stream *s) { s->refs++; }

void stream_leave_context(Stream *s) {
  Context *ctx = s->ctx;
  for (uint32_t i = 0; i < ctx->streams.len; i++)
    if (ctx->streams.data[i] == s) {
      ctx->streams.data[i] = ctx->streams.data[--ctx->streams.len];
      return;
    }
}

void stream_release(Stream *s) {
  if (--s->refs) return;
  stream_leave_context(s);
  vec_free(&s->capture_deps);
  free(s);
}

static bool dep_done(const QueueDep *d) { return d->stream->completed >= d->seq; }

// Sleeps until s has completed seq. queue_lock held.
static void sleep_until(Stream *s, uint64_t seq) {
  Waiter w = {.stream = s, .seq = seq, .next = waiters};
  pthread_cond_init(&w.wake, NULL);
  waiters = &w;
  while (s->completed < seq && !driver_ending()) pthread_cond_wait(&w.wake, &queue_lock);
  Waiter **p = &waiters;
  while (*p != &w) p = &(*p)->next;
  *p = w.next;
  pthread_cond_destroy(&w.wake);
}

static void complete(Stream *s, uint64_t seq) {
  s->completed = seq;
  for (Waiter *w = waiters; w; w = w->next)
    if (w->stream == s && w->seq <= seq) pthread_cond_signal(&w->wake);
}

static void free_item(QueueItem *item) {
  for (uint32_t i = 0; i < item->ndeps; i++) stream_release(item->deps[i].stream);
  free(item->deps);
  free(item);
}

static void run_unlocked(Stream *s, Work *w, uint64_t seq) {
  pthread_mutex_unlock(&queue_lock);
  Stream *before = running;
  running = s;
  work_run(w, seq);
  running = before;
  work_free(w);
  pthread_mutex_lock(&queue_lock);
}

static void schedule(Stream *s);

// Executes the queue until it has completed `last` or is empty. queue_lock held; the stream is not
// busy.
static void execute(Stream *s, uint64_t last) {
  s->busy = true;
  nbusy++;
  stream_retain(s);
  while (s->head && s->completed < last && !driver_ending()) {
    QueueItem *item = s->head;
    for (uint32_t i = 0; i < item->ndeps; i++) {
      QueueDep *d = &item->deps[i];
      if (!dep_done(d)) sleep_until(d->stream, d->seq);
    }
    turn_wait(&item->turn);
    run_unlocked(s, &item->work, item->seq);
    turn_end(&item->turn);
    s->head = item->next;
    if (!s->head) s->tail = NULL;
    complete(s, item->seq);
    free_item(item);
  }
  nbusy--;
  s->busy = false;
  if (s->head) schedule(s);
  else if (s->destroyed) stream_leave_context(s);
  stream_release(s);
}

static void *pool_thread(void *unused) {
  pthread_mutex_lock(&queue_lock);
  for (;;) {
    while (!ready_head || driver_ending()) {
      nidle++;
      pthread_cond_wait(&ready_cond, &queue_lock);
      nidle--;
    }
    Stream *s = ready_head;
    ready_head = s->next_ready;
    if (!ready_head) ready_tail = NULL;
    nready--;
    s->listed = false;
    if (!s->busy && s->head) execute(s, UINT64_MAX);
    stream_release(s);
  }
  return NULL;
}

static void start_thread(void) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);  // faults are the thread's own
  sigdelset(&all, SIGBUS);
  sigdelset(&all, SIGFPE);
  sigdelset(&all, SIGILL);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  int failed = pthread_create(&thread, thread_attributes(), pool_thread, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) log_once("queue thread", "cannot start a thread for a stream: %s", strerror(failed));
  else pthread_detach(thread);
}

// Finds a thread for a stream with work. queue_lock held.
static void schedule(Stream *s) {
  if (s->busy || s->listed) return;
  s->listed = true;
  s->next_ready = NULL;
  stream_retain(s);
  if (ready_tail) ready_tail->next_ready = s;
  else ready_head = s;
  ready_tail = s;
  nready++;
  if (nready > nidle) start_thread();
  else pthread_cond_signal(&ready_cond);
}

static void add_dep(QueueDeps *list, Stream *s, uint64_t seq) {
  if (s->completed >= seq) return;
  stream_retain(s);
  vec_push(list, (QueueDep){s, seq});
}

// The legacy stream waits for every blocking stream of its context, and they for it.
static CUresult add_implicit_deps(Stream *s, QueueDeps *list) {
  if (s->flags & CU_STREAM_NON_BLOCKING) return CUDA_SUCCESS;
  Context *ctx = s->ctx;
  if (!s->legacy) {
    if (ctx->legacy) add_dep(list, ctx->legacy, ctx->legacy->submitted);
    return CUDA_SUCCESS;
  }
  for (uint32_t i = 0; i < ctx->streams.len; i++) {
    Stream *other = ctx->streams.data[i];
    if (other == s || other->flags & CU_STREAM_NON_BLOCKING) continue;
    if (other->capture) {
      other->capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    add_dep(list, other, other->submitted);
  }
  return CUDA_SUCCESS;
}

CUresult queue_submit_after(Stream *s, Work *w, const QueueDep *deps, uint32_t ndeps, uint64_t *seq,
                            int flags) {
  w->ctx = s->ctx;
  pthread_mutex_lock(&queue_lock);
  if (s->capture) {
    CUresult result = flags & SUBMIT_WAIT ? capture_refuse(s) : capture_add(s, w);
    if (flags & SUBMIT_WAIT) work_free(w);
    pthread_mutex_unlock(&queue_lock);
    return result;
  }
  QueueDeps list = {0};
  CUresult result = add_implicit_deps(s, &list);
  if (result) {
    for (uint32_t i = 0; i < list.len; i++) stream_release(list.data[i].stream);
    vec_free(&list);
    pthread_mutex_unlock(&queue_lock);
    work_free(w);
    return result;
  }
  for (uint32_t i = 0; i < ndeps; i++) add_dep(&list, deps[i].stream, deps[i].seq);
  uint64_t number = ++s->submitted;
  if (seq) *seq = number;
  if (flags & SUBMIT_INLINE && !s->head && !s->busy && !list.len) {
    s->busy = true;
    nbusy++;
    Turn turn = {0};
    if (!s->of_handler) turn_join(&turn);
    turn_wait(&turn);
    run_unlocked(s, w, number);
    turn_end(&turn);
    complete(s, number);
    nbusy--;
    s->busy = false;
    if (s->head) schedule(s);
    pthread_mutex_unlock(&queue_lock);
    return CUDA_SUCCESS;
  }
  QueueItem *item = mem_alloc(sizeof *item);
  item->seq = number;
  item->deps = list.data;
  item->ndeps = list.len;
  item->work = *w;
  if (!s->of_handler) turn_join(&item->turn);
  if (s->tail) s->tail->next = item;
  else s->head = item;
  s->tail = item;
  schedule(s);
  bool full = number - s->completed > MAX_PENDING;
  pthread_mutex_unlock(&queue_lock);
  if (flags & SUBMIT_WAIT) queue_wait(s, number);
  else if (full) queue_wait(s, number - MAX_PENDING / 2);
  return CUDA_SUCCESS;
}

CUresult queue_submit(Stream *s, Work *w, int flags) {
  return queue_submit_after(s, w, NULL, 0, NULL, flags);
}

void queue_wait(Stream *s, uint64_t seq) {
  if (s == running) return;  // a callback must not wait for its own stream
  pthread_mutex_lock(&queue_lock);
  stream_retain(s);
  while (s->completed < seq && !driver_ending()) {
    if (!s->busy && s->head) execute(s, seq);
    else sleep_until(s, seq);
  }
  stream_release(s);
  pthread_mutex_unlock(&queue_lock);
}

void queue_wait_all(QueueDeps *all) {
  for (uint32_t i = 0; i < all->len; i++) queue_wait(all->data[i].stream, all->data[i].seq);
  pthread_mutex_lock(&queue_lock);
  for (uint32_t i = 0; i < all->len; i++) stream_release(all->data[i].stream);
  pthread_mutex_unlock(&queue_lock);
  vec_free(all);
}

bool queue_done(Stream *s, uint64_t seq) {
  pthread_mutex_lock(&queue_lock);
  bool done = s->completed >= seq;
  pthread_mutex_unlock(&queue_lock);
  return done;
}

// The process ends: launches were cancelled; give threads that execute something a moment to
// notice.
void queue_stop(void) {
  struct timespec pause = {0, 1000000};
  for (int i = 0; i < 2000; i++) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_nsec += 1000000;
    if (now.tv_nsec >= 1000000000) {
      now.tv_sec++;
      now.tv_nsec -= 1000000000;
    }
    if (!pthread_mutex_timedlock(&queue_lock, &now)) {
      for (Waiter *w = waiters; w; w = w->next) pthread_cond_signal(&w->wake);
      int left = nbusy - (running ? 1 : 0);
      pthread_mutex_unlock(&queue_lock);
      if (left <= 0) return;
    }
    nanosleep(&pause, NULL);
  }
}
