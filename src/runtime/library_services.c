// The table through which the mathematical libraries use the virtual device.
#include "driver/driver.h"
#include "runtime/internal.h"

static int enter(void) { return (int)rt_enter(); }
static int submit(const LibraryCall *c) { return (int)library_call_submit(c); }

static void unsupported(const char *function, const char *why) {
  log_once(function, "%s is not supported on the virtual device: %s", function, why);
}

static void refused(const char *call, const char *why) {
  session_hide_frames(__builtin_return_address(0));
  session_library_refused(call, why);
}

__attribute__((visibility("default")))
const LibraryServices warpgrind_library_services = {.version = LIBRARY_SERVICES_VERSION,
                                                    .enter = enter,
                                                    .submit = submit,
                                                    .more_operands = library_call_more_operands,
                                                    .wrong_data = library_call_wrong_data,
                                                    .unsupported = unsupported,
                                                    .refused = refused,
                                                    .is_capturing = library_call_is_capturing};
