// Commands with their times for the session of the same process: they appear in the run file, and
// in the timeline of `warpgrind profile`. The session's functions are found by their names: a
// program that was started without it has only FILE.
#define _GNU_SOURCE

#include "opencl_layer/times.h"

#include "base/options.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static OpenclStack *stack;
static OpenclTell *tell;

// With our platform `profile` sees the commands itself, as launches and copies.
static bool are_told_already(void) {
  static Options o;
  Error err = {0};
  const char *tools;
  if (!options_from_environment(&o, &err)) return false;
  tools = options_text(&o, OPT_TOOL);
  return !options_is(&o, OPT_OPENCL, "system") && tools && strstr(tools, "profile");
}

static void find_session(void) {
  if (are_told_already()) return;
  stack = (OpenclStack *)dlsym(RTLD_DEFAULT, "wg_opencl_stack");
  tell = (OpenclTell *)dlsym(RTLD_DEFAULT, "wg_opencl_command");
}

static bool contains(const char *name, const char *part) { return strstr(name, part) != NULL; }

static uint64_t kind_of(const LayerCommand *c) {
  const char *n = c->name;
  if (c->kernel) return OPENCL_KERNEL;
  if (contains(n, "Write") || contains(n, "Unmap")) return OPENCL_TO_DEVICE;
  if (contains(n, "Read") || contains(n, "Map")) return OPENCL_TO_HOST;
  if (contains(n, "Fill")) return OPENCL_FILL;
  return contains(n, "Copy") || contains(n, "Mem") ? OPENCL_ON_DEVICE : OPENCL_MARKER;
}

void layer_run_begin(const LayerCommand *c, OpenclCommand *out) {
  pthread_once(&once, find_session);
  *out = (OpenclCommand){.call = c->name,
                         .kind = kind_of(c),
                         .bytes = c->size,
                         .thread = (uint64_t)gettid(),
                         .begin_ns = c->begin_ns,
                         .end_ns = c->end_ns};
  // a rectangle of a buffer; regions of images are left out: their pixel size is not queried
  bool of_buffer = c->region && contains(c->name, "Rect");
  if (of_buffer) out->bytes = (uint64_t)c->region[0] * c->region[1] * c->region[2];
  for (cl_uint i = 0; c->local && i < c->dimensions && i < 3; i++) {
    out->items = (i ? out->items : 1) * c->local[i];
    out->groups = (i ? out->groups : 1) * ((c->global[i] + c->local[i] - 1) / MAX(c->local[i], 1u));
  }
  if (stack) out->stack = stack();
}

void layer_run_tell(const OpenclCommand *c) {
  if (tell) tell(c);
}
