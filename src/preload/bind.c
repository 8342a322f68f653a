// GPU mode: the real driver is loaded at the first call of any of its functions. Most processes of
// a run (shells, build tools) never make one, and when this library is initialised it is too early:
// not even libc has been.
#include "preload/preload.h"

#include <pthread.h>
#include <unistd.h>

#include "base/options.h"
#include "base/runstats.h"
#include "cuda/abi.h"
#include "gpu/gpu.h"
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

static void load(void) {
  Options options = {0};
  Error err = {0};
  loading = true;
  log_on_failure(runstats_log_failed);
  if (!options_from_environment(&options, &err) || !options_open_log(&options, 0, &err))
    log_error("%s", err.text);
  session_start("gpu");
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
  if (loaded && loaded_in == getpid()) session_end();
}
