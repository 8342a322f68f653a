// A driver of another time: only what is needed to be taken for one.
#include <unistd.h>

int cuInit(unsigned flags) {
#ifdef SLOW
  usleep(50000);
#endif
  return 0;
}
int cuDriverGetVersion(int *version) {
  *version = 4000;
  return 0;
}
int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
int cuGetErrorName(int code, const char **name) {
  *name = "an error";
  return 0;
}
