// GPU mode: the first call of any driver function loads the real driver. Most processes of a run
// (shells, build tools) never make one. The library's initialisation would be too early: not even
// libc is initialised then.
#include "preload/preload.h"

#include <pthread.h>
#include <unistd.h>

#include "base/options.h"
#include "base/runstats.h"
#include "cuda/abi.h"
#include "gpu/gpu.h"
#include "gpu/interrupts/interrupts.h"
#include "session/session.h"

// One for each entry of the table, PRELOAD_STUB_BYTES apart (entry.S): calls preload_bind and goes
// on with what it returns.
extern const char preload_stubs[] __attribute__((visibility("hidden")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local bool loading;  // a constructor of the driver calls one of our functions
static bool loaded;
static int loaded_in;  // the process; a forked child has nothing to end

static CUresult not_there(void) { return CUDA_ERROR_NOT_SUPPORTED; }
static CUresult no_driver(void) { return CUDA_ERROR_NO_DEVICE; }
static CUresult too_early(void) { return CUDA_ERROR_NOT_INITIALIZED; }

// --- launches with interrupts: calls wait until they are served (gpu/interrupts/pending.c) ---

static void **held;  // the functions behind entries that wait first; NULL: no entry waits
static _Thread_local CUresult failure;
static CUresult failed_before(void) { return failure; }

// Functions that neither enqueue work nor wait. Launches wait by themselves, as late as they can.
static bool never_waits(const char *name) {
  static const char *const begins[] = {
      "cuGet",       "cuInit",      "cuDriver",        "cuDeviceGet",    "cuCtxGet",
      "cuCtxSet",    "cuCtxPush",   "cuCtxPop",        "cuLaunchKernel", "cuFuncGet",
      "cuKernelGet", "cuModuleGet", "cuLibraryGet",    "cuOccupancy",    "cuPointerGet",
      "cuStreamGet", "cuStreamIs",  "cuThreadExchange"};
  for (unsigned i = 0; i < ARRAY_LEN(begins); i++)
    if (!strncmp(name, begins[i], strlen(begins[i]))) return true;
  return false;
}

static void hold(void) {
  void **targets = mem_alloc(preload_count * sizeof *targets);
  for (unsigned i = 0; i < preload_count; i++) targets[i] = preload_table[i];
  __atomic_store_n(&held, targets, __ATOMIC_RELEASE);
  for (unsigned i = 0; i < preload_count; i++)
    if (!never_waits(preload_names[i]))
      __atomic_store_n(&preload_table[i], (void *)(preload_stubs + (size_t)i * PRELOAD_STUB_BYTES),
                       __ATOMIC_RELEASE);
}

static void hold_calls(void) {
  static pthread_once_t held_once = PTHREAD_ONCE_INIT;
  pthread_once(&held_once, hold);
}

static void *wait_first(void *target) {
  failure = gpu_interrupts_wait();
  return failure == CUDA_SUCCESS ? target : (void *)failed_before;
}

static void load(void) {
  Options options = {0};
  Error err = {0};
  loading = true;
  log_on_failure(runstats_log_failed);
  if (!options_from_environment(&options, &err) || !options_open_log(&options, 0, &err))
    log_error("%s", err.text);
  session_start("gpu");
  gpu_hold_calls = hold_calls;
  loaded = gpu_start(preload_table, &err);
  loading = false;
  loaded_in = getpid();
  if (loaded) runstats_count_cuda_process();
  else {
    log_error("%s CUDA calls of the program will return CUDA_ERROR_NO_DEVICE.", err.text);
    runstats_fail("%s", err.text);
  }
}

__attribute__((visibility("hidden"))) void *preload_bind(unsigned index) {
  if (loading) return (void *)too_early;
  pthread_once(&once, load);
  if (!loaded) return (void *)no_driver;
  void **targets = __atomic_load_n(&held, __ATOMIC_ACQUIRE);
  if (targets && targets[index] != preload_stubs + (size_t)index * PRELOAD_STUB_BYTES)
    return wait_first(targets[index]);
  void *stub = (void *)(preload_stubs + (size_t)index * PRELOAD_STUB_BYTES);
  if (preload_table[index] != stub) return preload_table[index];
  log_once(preload_names[index],
           "%s: this driver has no such function; it returns CUDA_ERROR_NOT_SUPPORTED",
           preload_names[index]);
  return (void *)not_there;
}

void preload_bind_later(void) {
  for (unsigned i = 0; i < preload_count; i++)
    preload_table[i] = (void *)(preload_stubs + (size_t)i * PRELOAD_STUB_BYTES);
}

__attribute__((destructor)) static void end(void) {
  if (!loaded || loaded_in != getpid()) return;
  gpu_interrupts_wait();
  gpu_interrupt_memory_end();
  session_end();
}
