// Unpacks parts of chunks that a query will need, on several threads, while the querying thread
// reads the next ones from the file. Errors are not reported here: a part that cannot be read is
// read again when it is needed, and the error is reported then.
#include <unistd.h>

#include "trace/reader.h"

// parts that wait in memory: so many, or so large
enum { THREADS_MOST = 8, AT_ONCE = 256, BYTES_AT_ONCE = 16 << 20 };
typedef struct AheadJob {
  Want want;
  uint8_t *data;
  size_t n;
  CacheEntry *entry;
  bool fresh, ok;
} AheadJob;
struct Ahead {
  pthread_t threads[THREADS_MOST];
  unsigned nthreads;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  AheadJob jobs[AT_ONCE];
  uint32_t filled, next;   // next: the first not begun
  uint32_t waiting, busy;  // threads
  size_t bytes;            // of all jobs
  bool end;
};

static void unpack(AheadJob *j, ColumnCoder *coder) {
  j->ok = !j->fresh || reader_decode(coder, &j->want, j->data, j->n, j->entry);
  free(j->data);
  TraceBlock *b = j->ok ? j->entry->block : NULL;
  if (b && j->want.what) j->ok = block_find_values(coder, b, j->want.directory, j->want.what);
  else if (b && j->want.values) j->ok = block_read_values(coder, b);
}

// Does the next job; called with the lock, which it releases meanwhile.
static void one_job(Ahead *a, ColumnCoder *coder) {
  AheadJob *j = &a->jobs[a->next++];
  a->busy++;
  pthread_mutex_unlock(&a->lock);
  unpack(j, coder);
  pthread_mutex_lock(&a->lock);
  if (!--a->busy && a->next == a->filled) pthread_cond_signal(&a->done);
}

static void *work(void *p) {
  Ahead *a = p;
  ColumnCoder *coder = column_coder_new();
  pthread_mutex_lock(&a->lock);
  while (!a->end) {
    if (a->next < a->filled) {
      one_job(a, coder);
      continue;
    }
    a->waiting++;
    pthread_cond_wait(&a->work, &a->lock);
    a->waiting--;
  }
  pthread_mutex_unlock(&a->lock);
  column_coder_free(coder);
  return NULL;
}

static Ahead *start(void) {
  Ahead *a = mem_alloc(sizeof *a);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned wanted = (unsigned)MIN(MAX(cores, 1), THREADS_MOST) - 1;  // the one that asks works, too
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->work, NULL);
  pthread_cond_init(&a->done, NULL);
  while (a->nthreads < wanted && thread_start(&a->threads[a->nthreads], work, a) == 0)
    a->nthreads++;
  return a;
}

void ahead_free(Ahead *a) {
  if (!a) return;
  pthread_mutex_lock(&a->lock);
  a->end = true;
  pthread_cond_broadcast(&a->work);
  pthread_mutex_unlock(&a->lock);
  for (unsigned i = 0; i < a->nthreads; i++) pthread_join(a->threads[i], NULL);
  pthread_mutex_destroy(&a->lock);
  pthread_cond_destroy(&a->work);
  pthread_cond_destroy(&a->done);
  free(a);
}

static void add(Ahead *a, AheadJob j) {
  pthread_mutex_lock(&a->lock);
  a->jobs[a->filled++] = j;
  if (a->waiting) pthread_cond_signal(&a->work);
  pthread_mutex_unlock(&a->lock);
  a->bytes += j.n;
}

static void finish(TraceReader *t) {
  Ahead *a = t->ahead;
  pthread_mutex_lock(&a->lock);
  while (a->next < a->filled) one_job(a, t->coder);
  while (a->busy) pthread_cond_wait(&a->done, &a->lock);
  uint32_t n = a->filled;
  a->filled = a->next = 0;
  a->bytes = 0;
  pthread_mutex_unlock(&a->lock);
  for (uint32_t i = 0; i < n; i++)
    if (a->jobs[i].fresh) reader_keep(t, &a->jobs[i].want, a->jobs[i].entry, a->jobs[i].ok);
}

// The job that decodes values of this cached block: only one thread may do that. Shared memory of
// several warps is often in one block.
static const AheadJob *under_way(const Ahead *a, const CacheEntry *e) {
  for (uint32_t i = 0; i < a->filled; i++)
    if (a->jobs[i].entry == e) return &a->jobs[i];
  return NULL;
}

void reader_ahead(TraceReader *t, const Want *list, uint32_t n) {
  if (n < 2) return;
  if (!t->ahead) t->ahead = start();
  Ahead *a = t->ahead;
  if (!a->nthreads) return;
  for (uint32_t i = 0; i < n; i++) {
    AheadJob j = {.want = list[i]};
    j.entry = reader_kept(t, &j.want);
    if (j.entry && (!j.entry->block || (!j.want.what && (!j.want.values || j.entry->block->words))))
      continue;
    if (j.entry && j.entry->block->nplaces != j.want.directory->nplaces) continue;
    const AheadJob *other = j.entry ? under_way(a, j.entry) : NULL;
    if (other && other->want.what == j.want.what) continue;
    if (other) finish(t);
    if (j.entry) j.entry->block->places = j.want.directory->places;
    if (!j.entry) {
      j.fresh = true;
      j.data = reader_part(t, &j.want, &j.n);
      if (!j.data) continue;
      j.entry = mem_alloc(sizeof *j.entry);
    }
    add(a, j);
    if (a->filled == AT_ONCE || a->bytes > BYTES_AT_ONCE) finish(t);
  }
  finish(t);
}
