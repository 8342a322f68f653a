// The options of the run, read once from the environment.
#include "driver/driver.h"

#include "base/options.h"
#include "base/runstats.h"

static Settings values;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_allocated(uint64_t address) {
  Alloc a;
  return alloc_find((uintptr_t)address, &a);
}

static void read_environment(void) {
  Options options = {0};
  Error err = {{0}};
  log_on_failure(runstats_log_failed);
  if (!options_from_environment(&options, &err)) log_error("%s", err.text);
  if (!options_open_log(&options, 0, &err)) log_error("%s", err.text);
  Str name = {0};
  const char *pattern = options_text(&options, OPT_LOG_FILE);
  if (pattern && options_expand_name(pattern, 0, &name, &err)) values.log_path = name.data;
  uint64_t devices = options_number(&options, OPT_DEVICES);
  values.devices = (int)MIN(MAX(devices, 1), 64);
  values.vgpu.workers = (int)options_number(&options, OPT_WORKERS);
  const char *jit = options_text(&options, OPT_JIT);
  values.vgpu.jit = !strcmp(jit, "off")      ? VGPU_JIT_OFF
                    : !strcmp(jit, "always") ? VGPU_JIT_ALWAYS
                                             : VGPU_JIT_AUTO;
  values.vgpu.is_allocated = is_allocated;
  values.vgpu.hang_ns = session_hang_ns();
  values.vgpu.seeded = options_given(&options, OPT_SEED);
  if (values.vgpu.seeded) values.vgpu.seed = options_number(&options, OPT_SEED);
}

const Settings *settings(void) {
  pthread_once(&once, read_environment);
  return &values;
}
