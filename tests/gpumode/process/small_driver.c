// A driver of another time: only what is needed to be taken for one.
#include <unistd.h>

int cuInit(unsigned flags) {
#ifdef SLOW
  usleep(50000);
#endif
  return 0;
}
int cuDriverGetVersion(int *version) { return *version = 4000, 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuGetErrorName(int code, const char **name) { return *name = "an error", 0; }
