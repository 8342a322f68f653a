// Whether this process runs on a GPU or on the virtual device.
#include "preload/preload.h"

bool preload_on_gpu(void) {
  const char *device = getenv("WARPGRIND_DEVICE");
  return device && !strcmp(device, "gpu");
}
