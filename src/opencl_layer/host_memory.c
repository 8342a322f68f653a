// Finds host memory that the program changes or unmaps while a write that does not block may still
// read it.
//
// A sample of the memory is kept when the command is queued, and compared as soon as its event is
// complete: at the end of a call of OpenCL, before the program can learn of that. Callbacks, native
// kernels and shared virtual memory tell the host in other ways, so a program that uses one of them
// is no longer watched.
#define _GNU_SOURCE

#include "opencl_layer/host_memory.h"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SAMPLES = 64, SAMPLE_BYTES = 64 };

typedef struct Watched {
  cl_event event;
  const char *host;
  size_t size;
  const char *name;  // of the function
  const void *caller;
  char bytes[SAMPLES][SAMPLE_BYTES];
} Watched;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const cl_icd_dispatch *platform;
static VEC(Watched *) pending;
static _Atomic uint32_t npending;
static _Atomic bool given_up;
static uint64_t found;

bool host_memory_watched(cl_bool blocking, const void *host, size_t size) {
  return !blocking && host && size && !given_up && layer_records();
}

// Reads SAMPLES parts, from the first byte to the last. false: some of the memory is not mapped
static bool take_sample(const Watched *w, char bytes[SAMPLES][SAMPLE_BYTES]) {
  struct iovec from[SAMPLES], to[SAMPLES];
  size_t length = MIN(w->size, (size_t)SAMPLE_BYTES), total = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    size_t at = (w->size - length) / (SAMPLES - 1) * i;
    if (i == SAMPLES - 1) at = w->size - length;
    from[i] = (struct iovec){(char *)w->host + at, length};
    to[i] = (struct iovec){bytes[i], length};
    total += length;
  }
  return process_vm_readv(getpid(), to, SAMPLES, from, SAMPLES, 0) == (ssize_t)total;
}

void host_memory_watch(const cl_icd_dispatch *next, cl_event event, const void *host, size_t size,
                       const LayerCall *call) {
  Watched *w = mem_alloc(sizeof *w);
  w->event = event;
  w->host = host;
  w->size = size;
  w->name = call->name;
  w->caller = call->caller;
  if (!take_sample(w, w->bytes)) {
    free(w);
    return;
  }
  next->clRetainEvent(event);
  pthread_mutex_lock(&lock);
  platform = next;
  vec_push(&pending, w);
  npending = pending.len;
  pthread_mutex_unlock(&lock);
}

static void compare(const Watched *w) {
  static char now[SAMPLES][SAMPLE_BYTES];  // under the lock
  memset(now, 0, sizeof now);
  bool mapped = take_sample(w, now);
  if (mapped && !memcmp(now, w->bytes, sizeof now)) return;
  found++;
  layer_note_call("host memory", w->host, w->size, w->name, w->caller,
                  mapped ? "was changed before the command was complete"
                         : "was unmapped before the command was complete");
}

static void drop(Watched *w) {
  platform->clReleaseEvent(w->event);
  free(w);
}

static void look_at_pending(void) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < pending.len; i++) {
    Watched *w = pending.data[i];
    cl_int status = CL_COMPLETE;
    cl_int error = platform->clGetEventInfo(w->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof status, &status, NULL);
    if (error == CL_SUCCESS && status > CL_COMPLETE) {
      pending.data[kept++] = w;
      continue;
    }
    if (error == CL_SUCCESS && status == CL_COMPLETE) compare(w);
    drop(w);
  }
  pending.len = kept;
  npending = kept;
}

void host_memory_call_ends(void) {
  if (__builtin_expect(!npending, 1)) return;
  pthread_mutex_lock(&lock);
  if (!given_up) look_at_pending();
  pthread_mutex_unlock(&lock);
}

void host_memory_give_up(void) {
  given_up = true;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < pending.len; i++) drop(pending.data[i]);
  pending.len = 0;
  npending = 0;
  pthread_mutex_unlock(&lock);
}

uint64_t host_memory_found(void) { return found; }
