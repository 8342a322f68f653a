// Parts of chunks that a question will need, unpacked by several threads at once: reading them from the file is one thread's work, unpacking takes longer. Nothing fails here: what
// cannot be read is asked for again by whoever needs it, and said then.
#include <stdatomic.h>
#include <unistd.h>

#include "trace/reader.h"

enum { THREADS_MOST = 8, AT_ONCE = 256, BYTES_AT_ONCE = 2 << 20 };        // parts that wait in memory: so many, or so large
typedef struct AheadJob { Want want; uint8_t *data; size_t n; CacheEntry *entry; bool fresh, ok; } AheadJob;
struct Ahead {
  pthread_t threads[THREADS_MOST];
  unsigned nthreads;
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  AheadJob jobs[AT_ONCE]; uint32_t filled; size_t bytes;
  _Atomic uint32_t njobs, next;            // njobs: 0 while jobs are being collected, so that one who comes late finds nothing
  uint32_t busy;                           // threads at work
  uint64_t round;
  bool end;
};

static void unpack(Ahead *a, ColumnCoder *coder) {
  for (uint32_t i; (i = atomic_fetch_add(&a->next, 1)) < a->njobs;) {
    AheadJob *j = &a->jobs[i];
    if (j->fresh) j->ok = reader_decode(coder, &j->want, j->data, j->n, j->entry);
    else j->ok = true;
    TraceBlock *b = j->ok ? j->entry->block : NULL;
    if (b && j->want.what) j->ok = block_find_values(coder, b, j->want.directory, j->want.what);
    else if (b && j->want.values) j->ok = block_read_values(coder, b);
  }
}

static void *work(void *p) {
  Ahead *a = p;
  ColumnCoder *coder = column_coder_new();
  uint64_t seen = 0;
  pthread_mutex_lock(&a->lock);
  for (;;) {
    while (a->round == seen && !a->end) pthread_cond_wait(&a->work, &a->lock);
    if (a->end) break;
    seen = a->round;
    a->busy++;
    pthread_mutex_unlock(&a->lock);
    unpack(a, coder);
    pthread_mutex_lock(&a->lock);
    if (!--a->busy) pthread_cond_signal(&a->done);
  }
  pthread_mutex_unlock(&a->lock);
  column_coder_free(coder);
  return NULL;
}

static Ahead *start(void) {
  Ahead *a = mem_alloc(sizeof *a);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned wanted = (unsigned)MIN(MAX(cores, 1), THREADS_MOST) - 1;     // the one that asks works, too
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->work, NULL);
  pthread_cond_init(&a->done, NULL);
  while (a->nthreads < wanted && thread_start(&a->threads[a->nthreads], work, a) == 0) a->nthreads++;
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

static void run(TraceReader *t) {
  Ahead *a = t->ahead;
  pthread_mutex_lock(&a->lock);
  atomic_store(&a->next, 0);
  atomic_store(&a->njobs, a->filled);
  a->round++;
  pthread_cond_broadcast(&a->work);
  pthread_mutex_unlock(&a->lock);
  unpack(a, t->coder);
  pthread_mutex_lock(&a->lock);
  while (a->busy) pthread_cond_wait(&a->done, &a->lock);
  atomic_store(&a->njobs, 0);
  pthread_mutex_unlock(&a->lock);
  for (uint32_t i = 0; i < a->filled; i++) {
    AheadJob *j = &a->jobs[i];
    if (j->fresh) reader_keep(t, &j->want, j->entry, j->ok);
    free(j->data);
  }
  a->filled = 0, a->bytes = 0;
}

void reader_ahead(TraceReader *t, const Want *list, uint32_t n) {
  if (n < 2) return;
  if (!t->ahead) t->ahead = start();
  Ahead *a = t->ahead;
  if (!a->nthreads) return;
  for (uint32_t i = 0; i < n; i++) {
    AheadJob j = {.want = list[i]};
    j.entry = reader_kept(t, &j.want);
    if (j.entry && (!j.entry->block || (!j.want.what && (!j.want.values || j.entry->block->words)))) continue;
    if (j.entry && j.entry->block->nplaces != j.want.directory->nplaces) continue;
    if (j.entry) j.entry->block->places = j.want.directory->places;
    if (!j.entry) {
      j.fresh = true;
      j.data = reader_part(t, &j.want, &j.n);
      if (!j.data) continue;
      j.entry = mem_alloc(sizeof *j.entry);
    }
    a->jobs[a->filled++] = j;
    a->bytes += j.n;
    if (a->filled == AT_ONCE || a->bytes > BYTES_AT_ONCE) run(t);
  }
  if (a->filled) run(t);
}
