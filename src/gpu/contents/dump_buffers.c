// --dump-buffers on a GPU: after the launch, in its stream, buffers are copied to host memory; a
// thread of Warpgrind delivers them when the copies are done.
#include "gpu/gpu.h"

#include <time.h>

enum { PATIENCE_MS = 10000 };
#define MOST (4ull << 30)  // pending bytes; a program that is further ahead waits

typedef struct Job {
  GpuContext *context;
  SessionOutputs *outputs;
  void **copies;
  CUevent done;
  uint64_t bytes;
  struct Job *next;
} Job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static Job *first, *last;
static uint64_t under_way;
static uint32_t working;  // jobs that the thread has taken
static bool started;

static void pause_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

// In the job's context.
static void release(Job *j) {
  for (uint32_t i = 0; j->copies && i < j->outputs->dumped.len; i++)
    if (j->copies[i]) gpu_real.cuMemFreeHost(j->copies[i]);
  if (j->done) gpu_real.cuEventDestroy_v2(j->done);
  free(j->copies);
  session_outputs_free(j->outputs);
  free(j);
}

static void finish(Job *j, CUresult result) {
  if (result != CUDA_SUCCESS) session_dump_missing(j->outputs, "a kernel had failed");
  for (uint32_t i = 0; result == CUDA_SUCCESS && i < j->outputs->dumped.len; i++)
    session_dump(j->outputs, i, j->copies[i]);
  pthread_mutex_lock(&lock);
  under_way -= j->bytes;
  pthread_mutex_unlock(&lock);
  GpuEntered e = gpu_context_enter(j->context);
  if (e.ok) release(j);
  gpu_context_leave(e);
}

static CUresult state_of(Job *j) {
  GpuEntered e = gpu_context_enter(j->context);
  CUresult result = e.ok ? gpu_real.cuEventQuery(j->done) : CUDA_ERROR_INVALID_CONTEXT;
  gpu_context_leave(e);
  return result;
}

// Takes the first job whose copies are done. With the lock held.
static Job *take_done(CUresult *result, const GpuContext *only) {
  for (Job **at = &first, *before = NULL; *at; before = *at, at = &(*at)->next) {
    Job *j = *at;
    if (only && j->context != only) continue;
    *result = state_of(j);
    if (*result == CUDA_ERROR_NOT_READY) continue;
    *at = j->next;
    if (last == j) last = before;
    return j;
  }
  return NULL;
}

static void *work(void *unused) {
  for (;;) {
    CUresult result;
    pthread_mutex_lock(&lock);
    while (!first) pthread_cond_wait(&more, &lock);
    Job *j = take_done(&result, NULL);
    if (j) working++;
    pthread_mutex_unlock(&lock);
    if (j) finish(j, result);
    else pause_ms(1);
    pthread_mutex_lock(&lock);
    if (j) working--;
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static bool make_room(uint64_t bytes) {
  for (int waited = 0; waited < PATIENCE_MS; waited++) {
    pthread_mutex_lock(&lock);
    bool room = !under_way || under_way + bytes <= MOST;
    if (room) under_way += bytes;
    pthread_mutex_unlock(&lock);
    if (room) return true;
    pause_ms(1);
  }
  return false;
}

static bool copy_all(Job *j, CUstream stream) {
  const SessionOutputs *o = j->outputs;
  j->copies = mem_alloc(sizeof *j->copies * (o->dumped.len + 1));
  for (uint32_t i = 0; i < o->dumped.len; i++) {
    const SessionBuffer *b = &o->dumped.data[i];
    if (gpu_real.cuMemHostAlloc(&j->copies[i], b->size, 0) != CUDA_SUCCESS) return false;
    if (gpu_real.cuMemcpyAsync((CUdeviceptr)(uintptr_t)j->copies[i], b->base, b->size, stream) !=
        CUDA_SUCCESS)
      return false;
  }
  return gpu_real.cuEventCreate(&j->done, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
         gpu_real.cuEventRecord(j->done, stream) == CUDA_SUCCESS;
}

void gpu_dump_look(GpuContext *c, CUstream stream, SessionOutputs *o) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < o->dumped.len; i++) bytes += o->dumped.data[i].size;
  if (!o->dumped.len) return;
  if (!make_room(bytes)) {
    session_dump_missing(o, "too much was waiting to be written");
    return;
  }
  Job *j = mem_alloc(sizeof *j);
  *j = (Job){.context = c, .outputs = o, .bytes = bytes};
  session_outputs_keep(o);
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && copy_all(j, stream);
  // copies may be under way into what is freed now
  if (!ok && e.ok && j->copies) gpu_real.cuStreamSynchronize(stream);
  if (!ok) {
    session_dump_missing(o, "there is no memory for a copy of it");
    release(j);
  }
  gpu_context_leave(e);
  pthread_mutex_lock(&lock);
  pthread_t thread;
  if (!ok) under_way -= bytes;
  else if (last) last = last->next = j;
  else first = last = j;
  if (ok && !started && pthread_create(&thread, NULL, work, NULL) == 0) {
    started = true;
    pthread_detach(thread);
  }
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
}

// All its work has ended, or never will.
void gpu_dump_close(GpuContext *c) {
  CUresult result;
  for (int waited = 0; waited < PATIENCE_MS; waited++) {
    pthread_mutex_lock(&lock);
    Job *j = take_done(&result, c);
    bool busy = working != 0;
    pthread_mutex_unlock(&lock);
    if (j) finish(j, result);
    else if (!busy) return;
    else pause_ms(1);
  }
}
