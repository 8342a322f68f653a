// The threads that make chunks of raw records and compress contents.
#define _GNU_SOURCE
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/write/writer.h"

enum { CONTENTS_PIECE = 1 << 16, NICE = 19, PRESSED_NS = 20000000, PAUSE_NS = 2000000 };

void writer_submit(TraceWriter *w, Job *job) {
  if (w->last_job) w->last_job->next = job;
  else w->first_job = job;
  w->last_job = job;
  writer_job_submitted(w, job);
  pthread_cond_signal(&w->work);
}

static size_t raw_memory(const RawPiece *p) {
  size_t n = 0;
  for (; p; p = p->next) n += p->cap;
  return n;
}

void writer_job_free(TraceWriter *w, Job *job) {
  writer_pieces_free(job->pieces);
  if (job->contents && job->contents->slab) writer_slab_leave(w, job->contents->slab);
  else if (job->contents) free(job->contents->data);
  free(job->contents);
  free(job);
}

// of one thread
typedef struct Compressor {
  ZSTD_CCtx *zstd;
  uint8_t *to;
  size_t cap;
} Compressor;

// Compresses the bytes into memory of their own: they leave the slab.
static void compress_contents(Compressor *z, ContentsOut *c) {
  size_t got = z->zstd ? ZSTD_compressCCtx(z->zstd, z->to, z->cap, c->data, c->n, 1) : SIZE_MAX;
  bool shorter = z->zstd && !ZSTD_isError(got) && got < c->n;
  const uint8_t *from = shorter ? z->to : c->data;
  c->len = shorter ? got : c->n;
  c->data = memcpy(mem_realloc(NULL, c->len), from, c->len);
}

// While the rings are too full, and there is memory for their contents, no thread compresses. A low
// priority would not be enough: compression still takes memory bandwidth, and some systems ignore
// priorities.
static bool is_pressed(const TraceWriter *w) {
  return atomic_load_explicit(&w->in_memory, memory_order_relaxed) < w->memory_limit / 4 * 3 &&
         !w->ending && !w->has_stopped &&
         clock_ns() - atomic_load_explicit(&w->pressed_ns, memory_order_relaxed) < PRESSED_NS;
}

static void give_way(void *writer) {
  while (is_pressed(writer)) nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
}

// The result of a job, made without the lock.
typedef struct Encoded {
  ChunkOut *chunk;  // NULL: contents, or nothing
  Bytes memory;     // was taken for a chunk; given back if there is none
  Bytes large;      // was too large for the chunk, and is free again
} Encoded;

static Encoded encode(TraceWriter *w, Job *j, ChunkScratch *scratch, Compressor *z, Bytes memory) {
  Encoded e = {.memory = memory};
  if (!w->has_stopped) {
    if (j->contents) compress_contents(z, j->contents);
    else e.chunk = chunk_encode(scratch, j->id, j->process, j->launch, j->pieces, memory);
  }
  if (e.chunk && e.chunk->damaged) {
    w->damaged = true;
    writer_stop(w, "process %u has changed records while they were read: nothing more is recorded",
                j->process);
    e.memory = e.chunk->bytes;
    chunk_out_free(e.chunk);
    e.chunk = NULL;
  }
  // a chunk that waits to be saved must not hold memory for a larger one
  if (e.chunk && e.chunk->bytes.cap / 2 > e.chunk->bytes.len) {
    e.large = e.chunk->bytes;
    e.chunk->bytes = (Bytes){0};
    bytes_add(&e.chunk->bytes, e.large.data, e.large.len);
  }
  return e;
}

// Hands the result to the thread that saves. With the lock held.
static void hand_over(TraceWriter *w, Job *j, const Encoded *e, size_t before) {
  w->in_memory -= MIN(before, w->in_memory);
  writer_buffer_give(w, e->large.data, e->large.cap);
  if (e->chunk) {
    w->in_memory += e->chunk->bytes.cap;
    e->chunk->next = w->done;
    w->done = e->chunk;
  } else if (!j->contents) {
    writer_buffer_give(w, e->memory.data, e->memory.cap);
  } else if (j->contents->len) {
    writer_slab_left(w, j->contents->slab);
    j->contents->slab = NULL;
    w->in_memory += j->contents->len;
    j->contents->next = w->contents_done;
    w->contents_done = j->contents;
    j->contents = NULL;
  }
  w->busy--;
  for (RawPiece *p = j->pieces; p; p = p->next)
    if (p->segment) writer_segment_give(w, p->data);
  pthread_cond_broadcast(&w->room);
}

// Called and returns with the lock held.
static void do_job(TraceWriter *w, Job *j, ChunkScratch *scratch, Compressor *z) {
  w->first_job = j->next;
  if (!w->first_job) w->last_job = NULL;
  w->busy++;
  Bytes memory = j->contents ? (Bytes){0} : writer_buffer_take(w);
  pthread_mutex_unlock(&w->lock);
  size_t before = j->contents ? j->contents->n : raw_memory(j->pieces);
  Encoded e = encode(w, j, scratch, z, memory);
  pthread_mutex_lock(&w->lock);
  hand_over(w, j, &e, before);
  pthread_mutex_unlock(&w->lock);
  writer_job_free(w, j);
  pthread_mutex_lock(&w->lock);
}

void *writer_work(void *writer) {
  TraceWriter *w = writer;
  ChunkScratch *scratch = chunk_scratch_new((ChunkPause){give_way, w});
  Compressor z = {.zstd = ZSTD_createCCtx(), .cap = ZSTD_compressBound(CONTENTS_PIECE)};
  z.to = mem_alloc(z.cap);
  pthread_setname_np(pthread_self(), "wg-encode");
  // on Linux for this thread only: threads that empty rings come first, since a kernel waits for
  // them
  setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
  pthread_mutex_lock(&w->lock);
  while (!w->ending) {
    Job *j = w->first_job;
    bool pressed = is_pressed(w);
    // a thread that empties a ring should not wait for the system
    if ((pressed || !j) && writer_segments_wanted(w, pressed)) writer_segments_more(w);
    else if (!j) pthread_cond_wait(&w->work, &w->lock);
    else if (pressed) {
      pthread_mutex_unlock(&w->lock);
      nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
      pthread_mutex_lock(&w->lock);
    } else do_job(w, j, scratch, &z);
  }
  pthread_mutex_unlock(&w->lock);
  ZSTD_freeCCtx(z.zstd);
  free(z.to);
  chunk_scratch_free(scratch);
  return NULL;
}

void trace_contents_set(TraceWriter *w, uint32_t process, uint32_t step, uint64_t address,
                        const void *bytes, size_t n) {
  if (w->has_stopped) return;
  const uint8_t *from = bytes;
  // Cut at multiples of the piece size, so that later questions read as few pieces as possible.
  while (n) {
    writer_wait_for_room(w, NULL);
    if (w->has_stopped) return;
    size_t k = MIN(n, CONTENTS_PIECE - (size_t)(address % CONTENTS_PIECE));
    Job *j = mem_alloc(sizeof *j);
    ContentsOut *c = mem_alloc(sizeof *c);
    *c = (ContentsOut){.process = process, .step = step, .address = address, .n = k};
    c->data = writer_slab_room(w, k, &c->slab);
    memcpy(c->data, from, k);
    j->contents = c;
    pthread_mutex_lock(&w->lock);
    w->in_memory += k;
    writer_submit(w, j);
    pthread_mutex_unlock(&w->lock);
    address += k;
    from += k;
    n -= k;
  }
}
