// Start and end of the driver in this process, and the table of live handles.
#include "driver/driver.h"

#include "base/runstats.h"

enum { NOT_STARTED, RUNNING, ENDING, FORKED };
static _Atomic int state;
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

// --- handles ---

static pthread_mutex_t handle_lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map handles;  // address -> ObjectKind

void *object_new(ObjectKind kind, size_t size) {
  void *p = mem_alloc(size);
  *(ObjectKind *)p = kind;
  pthread_mutex_lock(&handle_lock);
  u64map_put(&handles, (uintptr_t)p, (void *)(uintptr_t)kind);
  pthread_mutex_unlock(&handle_lock);
  session_created(p);
  return p;
}

ObjectKind object_kind(const void *handle) {
  pthread_mutex_lock(&handle_lock);
  ObjectKind kind = (ObjectKind)(uintptr_t)u64map_get(&handles, (uintptr_t)handle);
  pthread_mutex_unlock(&handle_lock);
  return kind;
}

void *object_get(const void *handle, ObjectKind kind) {
  return handle && object_kind(handle) == kind ? (void *)handle : NULL;
}

void *object_use(const void *handle, ObjectKind kind, const char *gone) {
  void *object = object_get(handle, kind);
  if (!object) session_use(gone, handle);
  return object;
}

void object_forget(void *object) {
  pthread_mutex_lock(&handle_lock);
  u64map_remove(&handles, (uintptr_t)object);
  pthread_mutex_unlock(&handle_lock);
}

void object_delete(void *object) {
  object_forget(object);
  free(object);
}

// --- start and end ---

bool driver_ending(void) { return state >= ENDING; }

// A forked child may not use CUDA, as on a real device: its threads are gone, and threads that do
// not exist any more may hold locks.
static void in_child(void) {
  if (state == RUNNING) state = FORKED;
}

CUresult driver_check(void) {
  int s = state;
  if (s == RUNNING) return CUDA_SUCCESS;
  return s == ENDING ? CUDA_ERROR_DEINITIALIZED : CUDA_ERROR_NOT_INITIALIZED;
}

// The work of cuInit.
static CUresult start_driver(void) {
  if (driver_ending()) return driver_check();
  pthread_mutex_lock(&start_lock);
  if (state == NOT_STARTED) {
    vgpu_configure(&settings()->vgpu);
    session_add_natives();
    runstats_count_cuda_process();
    session_start("cpu");
    pthread_atfork(NULL, NULL, in_child);
    state = RUNNING;
  }
  pthread_mutex_unlock(&start_lock);
  TRY(driver_check());
  return device_count() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

// Runs after the program's own exit handlers: they may still use CUDA.
__attribute__((destructor)) static void end_process(void) {
  int running = RUNNING;
  if (!atomic_compare_exchange_strong(&state, &running, ENDING)) return;
  vgpu_cancel_all();
  queue_stop();
  tools_end();
}

CUresult cuInit(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  return start_driver();
}

CUresult cuDriverGetVersion(int *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_DRIVER_VERSION;
  return CUDA_SUCCESS;
}
