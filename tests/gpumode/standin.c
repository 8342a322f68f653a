// The virtual device in the role of the real driver: linked with src/driver and src/vgpu into a library that
// WARPGRIND_REAL_DRIVER names, so that the whole of GPU mode runs where there is no GPU. It is a plain device: it checks and
// counts nothing, whatever the options say.
#include "base/runstats.h"
#include "preload/preload.h"

static RunStats own;

RunStats *runstats(void) { return &own; }
void runstats_count_launch(bool first_time) {}
void runstats_count_cuda_process(void) {}
void runstats_add_uncovered(const char *kernel, const char *reason) {}
void runstats_fail(const char *fmt, ...) {}

// Every entry of its table leads to src/driver; nothing is bound later.
__attribute__((visibility("hidden"))) void *preload_bind(unsigned index) {
  base_check_failed(__FILE__, __LINE__, "the stand-in's table is never changed");
}
