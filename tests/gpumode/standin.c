// The virtual device in the role of the real driver: linked with src/driver and src/vgpu into a
// library that WARPGRIND_REAL_DRIVER names, so that the whole of GPU mode runs where there is no
// GPU. It is a plain device: it checks and counts nothing, whatever the options say.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <time.h>

#include "base/options.h"
#include "base/runstats.h"
#include "preload/preload.h"
#include "ptx/ptx.h"

static RunStats own;

RunStats *runstats(void) { return &own; }
void runstats_count_launch(bool first_time) {}
void runstats_uncount_launch(void) {}
void runstats_count_library_call(bool checked) {}
void runstats_count_cuda_process(void) {}
void runstats_add_uncovered(const char *kernel, const char *reason) {}
void runstats_fail(const char *fmt, ...) {}
void runstats_log_failed(const char *path, int error) {}

// These replace the real ones at link time (--wrap).
bool __real_options_from_environment(Options *o, Error *err);
bool __wrap_options_from_environment(Options *o, Error *err) {
  bool ok = __real_options_from_environment(o, err);
  o->text[OPT_TOOL] = "none";
  o->text[OPT_HANG_TIMEOUT] =
      "10";  // long after what is inserted has found it; then as if a person had ended the program
  o->text[OPT_OUTPUT] = NULL;
  o->text[OPT_LAUNCH_LOG] = NULL;
  o->text[OPT_DUMP_BUFFERS] = NULL;
  return ok;
}
bool __wrap_channel_attach(void) { return false; }

// Does the kernel have the launch record among its parameters?
static bool has_checks(const char *text, size_t len, const char *kernel) {
  char head[200];
  snprintf(head, sizeof head, ".entry %s(", kernel);
  const char *at = memmem(text, len, head, strlen(head)),
             *end = at ? memchr(at, '{', (size_t)(text + len - at)) : NULL;
  return end && memmem(at, (size_t)(end - at), "_record", 7);
}

// A driver that dislikes our code, or takes its time: PTX without a certain comment, which is lost
// when it is printed again.
PtxModule *__real_ptx_parse(const char *text, size_t len, const char *name, Error *err);
PtxModule *__wrap_ptx_parse(const char *text, size_t len, const char *name, Error *err) {
  const char *refuses = getenv("STANDIN_REFUSES"), *slow = getenv("STANDIN_SLOW_MS");
  bool ours = !memmem(text, len, "// original", 11);
  if (ours && slow)
    nanosleep(&(struct timespec){atoi(slow) / 1000, atoi(slow) % 1000 * 1000000L}, NULL);
  if (ours && refuses && memmem(text, len, refuses, strlen(refuses))) {
    error_set(err, "ptxas fatal   : refused by the stand-in\nptxas fatal   : and again");
    return NULL;
  }
  const char *kernel = getenv("STANDIN_REFUSES_KERNEL"), *times = getenv("STANDIN_REFUSES_TIMES");
  static atomic_int refused;
  if (kernel && (!times || refused < atoi(times)) && has_checks(text, len, kernel)) {
    error_set(err,
              "ptxas error   : Entry function '%s' with max regcount of %d calls function "
              "'__wg_wg_report' with regcount of 70",
              kernel, times ? 32 - ++refused : 32);
    return NULL;
  }
  return __real_ptx_parse(text, len, name, err);
}

// Every entry of its table leads to src/driver; nothing is bound later.
__attribute__((visibility("hidden"))) void *preload_bind(unsigned index) {
  base_check_failed(__FILE__, __LINE__, "the stand-in's table is never changed");
}
