// Finds complete launches: they have ended, and all of their records are in the database. The same
// for steps and their contents.
//
// When a launch has ended, what is left of it lies in open pieces of rings and among the rests.
// Each trace_save is a round that closes such pieces. A ring that is at work is left out and closed
// in a later round; when every ring has been through a round since the launch ended, and all jobs
// of the launch are saved, it is complete. Jobs that are dropped (the disk's limit, damage) stay
// counted as unsaved, so that their launch never is.
#include "trace/write/writer.h"

enum { LAUNCH_MASK = (1 << WG_TRACE_LAUNCH_BITS) - 1 };  // what records hold of a launch's number

static uint64_t key_of(uint32_t process, uint32_t number) {
  return (uint64_t)process << 32 | number;
}

static void count(U64Map *m, uint64_t key, int change) {
  uintptr_t n = (uintptr_t)u64map_get(m, key) + (uintptr_t)(intptr_t)change;
  if (n) u64map_put(m, key, (void *)n);
  else u64map_remove(m, key);
}

void writer_job_submitted(TraceWriter *w, const Job *j) {
  if (j->contents) count(&w->unsaved_contents, key_of(j->contents->process, j->contents->step), 1);
  else count(&w->unsaved_chunks, key_of(j->process, j->launch), 1);
}

void writer_chunk_saved(TraceWriter *w, uint32_t process, uint32_t launch) {
  count(&w->unsaved_chunks, key_of(process, launch), -1);
}
void writer_contents_saved(TraceWriter *w, uint32_t process, uint32_t step) {
  count(&w->unsaved_contents, key_of(process, step), -1);
}

void writer_complete_free(TraceWriter *w) {
  u64map_free(&w->unsaved_chunks);
  u64map_free(&w->unsaved_contents);
  u64map_free(&w->ended_launches);
  vec_free(&w->ended);
  vec_free(&w->complete);
}

static void add_ended(TraceWriter *w, Ended e) {
  pthread_mutex_lock(&w->lock);
  if (!w->has_stopped) vec_push(&w->ended, e);
  if (!w->has_stopped && !e.inputs)
    count(&w->ended_launches, key_of(e.process, e.number & LAUNCH_MASK), 1);
  pthread_mutex_unlock(&w->lock);
}

void trace_launch_ended(TraceWriter *w, uint32_t process, uint32_t launch) {
  add_ended(w, (Ended){.process = process, .number = launch});
}

void trace_contents_ended(TraceWriter *w, uint32_t process, uint32_t step) {
  add_ended(w, (Ended){.process = process, .number = step, .inputs = true, .closed = true});
}

static bool has_ended(const TraceWriter *w, uint32_t process, uint32_t launch) {
  return u64map_get(&w->ended_launches, key_of(process, launch)) != NULL;
}

void writer_close_ended(TraceWriter *w) {
  bool any = false;
  pthread_mutex_lock(&w->lock);
  w->round++;
  for (uint32_t i = 0; i < w->ended.len; i++) {
    Ended *e = &w->ended.data[i];
    if (!e->round) e->round = w->round;
    any |= !e->closed;
  }
  pthread_mutex_unlock(&w->lock);
  if (!any) return;
  writer_close_pieces(w, has_ended, w->round);
  pthread_mutex_lock(&w->lock);
  uint64_t least = w->round;
  for (uint32_t i = 0; i < w->ring_list.len; i++)
    least = MIN(least, w->ring_list.data[i]->closed_round);
  for (uint32_t i = 0; i < w->ended.len; i++) {
    Ended *e = &w->ended.data[i];
    if (e->closed || e->round > least) continue;
    writer_submit_rest_of(w, e->process, e->number & LAUNCH_MASK);
    e->closed = true;
  }
  pthread_mutex_unlock(&w->lock);
}

static bool has_unsaved(const TraceWriter *w, const Ended *e) {
  if (e->inputs) return u64map_get(&w->unsaved_contents, key_of(e->process, e->number)) != NULL;
  return u64map_get(&w->unsaved_chunks, key_of(e->process, e->number & LAUNCH_MASK)) != NULL;
}

void writer_find_complete(TraceWriter *w) {
  uint32_t kept = 0;
  pthread_mutex_lock(&w->lock);
  for (uint32_t i = 0; i < w->ended.len; i++) {
    Ended e = w->ended.data[i];
    if (!e.closed || has_unsaved(w, &e)) {
      w->ended.data[kept++] = e;
      continue;
    }
    if (!e.inputs) count(&w->ended_launches, key_of(e.process, e.number & LAUNCH_MASK), -1);
    vec_push(&w->complete, ((TraceComplete){e.process, e.number, e.inputs}));
  }
  w->ended.len = kept;
  pthread_mutex_unlock(&w->lock);
}

bool trace_take_complete(TraceWriter *w, TraceComplete *out) {
  if (!w->complete.len) return false;
  *out = w->complete.data[--w->complete.len];
  return true;
}
