// Starts checks if tools run and the platform is an installed one
#define _GNU_SOURCE

#include "opencl_layer/checks.h"

#include "base/options.h"

#include <dlfcn.h>

cl_icd_dispatch checks_below;
const OpenclCode *checks_code;

// With our own platform the session sees launches and memory by itself.
static bool is_installed_platform(void) {
  Options o = {0};
  Error err = {0};
  return options_from_environment(&o, &err) && options_is(&o, OPT_OPENCL, "system");
}

void checks_install(cl_icd_dispatch *t) {
  OpenclFindCode *find = (OpenclFindCode *)dlsym(RTLD_DEFAULT, "wg_opencl_code");
  if (!find || !is_installed_platform()) return;
  checks_code = find();
  if (!checks_code) return;
  checks_below = *t;
  checks_code->hide((const void *)checks_install);
  checks_contexts_install(t);
  checks_buffers_install(t);
  checks_kernels_install(t);
  checks_launches_install(t);
}
