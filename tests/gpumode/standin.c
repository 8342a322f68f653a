// The virtual device in the role of the real driver: linked with src/driver and src/vgpu into a library that
// WARPGRIND_REAL_DRIVER names, so that the whole of GPU mode runs where there is no GPU. It is a plain device: it checks and
// counts nothing, whatever the options say.
#include "base/options.h"
#include "base/runstats.h"
#include "preload/preload.h"

static RunStats own;

RunStats *runstats(void) { return &own; }
void runstats_count_launch(bool first_time) {}
void runstats_count_cuda_process(void) {}
void runstats_add_uncovered(const char *kernel, const char *reason) {}
void runstats_fail(const char *fmt, ...) {}

// These two replace the real ones at link time (--wrap).
bool __real_options_from_environment(Options *o, Error *err);
bool __wrap_options_from_environment(Options *o, Error *err) {
  bool ok = __real_options_from_environment(o, err);
  o->text[OPT_TOOL] = "none";
  o->text[OPT_OUTPUT] = NULL;
  return ok;
}
bool __wrap_channel_attach(void) { return false; }

// Every entry of its table leads to src/driver; nothing is bound later.
__attribute__((visibility("hidden"))) void *preload_bind(unsigned index) {
  base_check_failed(__FILE__, __LINE__, "the stand-in's table is never changed");
}
