// Finds host memory that the program changes or unmaps while a write that does not block may still
// read it.
//
// A sample of the memory is kept when the command is queued, and compared as soon as its event is
// complete: at the end of a call of OpenCL, before the program can learn of that. Callbacks, native
// kernels and shared virtual memory tell the host in other ways, so a program that uses one of them
// is no longer watched. Memory that other commands may change is not watched either.
#define _GNU_SOURCE

#include "opencl_layer/host_memory.h"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SAMPLES = 64, SAMPLE_BYTES = 64, MOST = 1024 };

// A command that is not complete.
typedef struct Pending {
  cl_event event;
  HostRegion region;
  bool is_write;     // otherwise a read, which will change the memory
  const char *name;  // of the function
  const void *caller;
  char bytes[SAMPLES][SAMPLE_BYTES];  // of a write
} Pending;
typedef struct Range {
  const char *first;
  size_t size;
} Range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const cl_icd_dispatch *platform;
static VEC(Pending *) pending;
static VEC(Range) shared;
static _Atomic uint32_t npending;
static _Atomic bool given_up;
static uint64_t found;

static bool overlap(Range a, Range b) {
  return a.first < b.first + b.size && b.first < a.first + a.size;
}

static Range range_of(const HostRegion *r) { return (Range){r->first, host_region_span(r)}; }

// Reads SAMPLES parts, from the first byte to the last. false: some of the memory is not mapped
static bool take_sample(const HostRegion *r, char bytes[SAMPLES][SAMPLE_BYTES]) {
  struct iovec from[SAMPLES], to[SAMPLES];
  size_t all = host_region_bytes(r), most = MIN(all, (size_t)SAMPLE_BYTES), total = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    size_t length = most;
    size_t byte = i == SAMPLES - 1 ? all - most : (all - most) / (SAMPLES - 1) * i;
    const char *at = host_region_at(r, byte, &length);
    from[i] = (struct iovec){(char *)at, length};
    to[i] = (struct iovec){bytes[i], length};
    total += length;
  }
  return process_vm_readv(getpid(), to, SAMPLES, from, SAMPLES, 0) == (ssize_t)total;
}

static void drop(Pending *p) {
  platform->clReleaseEvent(p->event);
  free(p);
}

// With the lock: what a read is about to change is not watched any longer.
static void drop_writes(Range gone) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < pending.len; i++) {
    Pending *p = pending.data[i];
    if (p->is_write && overlap(range_of(&p->region), gone)) drop(p);
    else pending.data[kept++] = p;
  }
  pending.len = kept;
  npending = kept;
}

// With the lock: a read that is not complete or a kernel may change it.
static bool changes_by_itself(Range r) {
  for (uint32_t i = 0; i < shared.len; i++)
    if (overlap(shared.data[i], r)) return true;
  for (uint32_t i = 0; i < pending.len; i++)
    if (!pending.data[i]->is_write && overlap(range_of(&pending.data[i]->region), r)) return true;
  return false;
}

static void compare(const Pending *p) {
  static char now[SAMPLES][SAMPLE_BYTES];  // under the lock
  memset(now, 0, sizeof now);
  bool mapped = take_sample(&p->region, now);
  if (mapped && !memcmp(now, p->bytes, sizeof now)) return;
  found++;
  layer_note_call("host memory", p->region.first, host_region_span(&p->region), p->name, p->caller,
                  mapped ? "was changed before the command was complete"
                         : "was unmapped before the command was complete");
}

static void look_at_pending(void) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < pending.len; i++) {
    Pending *p = pending.data[i];
    cl_int status = CL_COMPLETE;
    cl_int error = platform->clGetEventInfo(p->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof status, &status, NULL);
    if (error == CL_SUCCESS && status > CL_COMPLETE) {
      pending.data[kept++] = p;
      continue;
    }
    if (error == CL_SUCCESS && status == CL_COMPLETE && p->is_write) compare(p);
    drop(p);
  }
  pending.len = kept;
  npending = kept;
}

bool host_memory_is_watched(void) { return !given_up && layer_records(); }

bool host_memory_begins(const cl_icd_dispatch *next, const HostTransfer *t, HostRegion *out) {
  if (!t->is_write && !t->is_read) return false;
  if (!host_memory_is_watched() || (t->blocks && (t->is_write || !npending))) return false;
  if (!host_region_of(next, t, out)) return false;
  if (t->is_read && npending) {
    pthread_mutex_lock(&lock);
    drop_writes(range_of(out));
    pthread_mutex_unlock(&lock);
  }
  return !t->blocks;
}

void host_memory_queued(const cl_icd_dispatch *next, cl_event event, const HostRegion *r,
                        bool is_write, const LayerCall *call) {
  Pending *p = mem_alloc(sizeof *p);
  p->event = event;
  p->region = *r;
  p->is_write = is_write;
  p->name = call->name;
  p->caller = call->caller;
  pthread_mutex_lock(&lock);
  platform = next;
  bool watched = !given_up && pending.len < MOST;
  if (watched && p->is_write)
    watched = !changes_by_itself(range_of(&p->region)) && take_sample(&p->region, p->bytes);
  if (watched) {
    next->clRetainEvent(event);
    vec_push(&pending, p);
    npending = pending.len;
  }
  // a read that is not known could change the source of a write
  bool lost = !watched && !is_write;
  pthread_mutex_unlock(&lock);
  if (!watched) free(p);
  if (lost) host_memory_give_up();
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

void host_memory_shared(const void *first, size_t size) {
  if (!first || given_up) return;
  pthread_mutex_lock(&lock);
  bool known = false;
  for (uint32_t i = 0; i < shared.len; i++)
    known |= shared.data[i].first == first && shared.data[i].size >= size;
  bool room = known || shared.len < MOST;
  if (!known && room) vec_push(&shared, ((Range){first, size}));
  pthread_mutex_unlock(&lock);
  if (!room) host_memory_give_up();
}

void host_memory_object_made(const cl_icd_dispatch *next, const void *object, cl_mem_flags flags,
                             const void *host) {
  size_t size = 0;
  if (!object || !(flags & CL_MEM_USE_HOST_PTR)) return;
  next->clGetMemObjectInfo((cl_mem)object, CL_MEM_SIZE, sizeof size, &size, NULL);
  host_memory_shared(host, size);
}

uint64_t host_memory_found(void) { return found; }
