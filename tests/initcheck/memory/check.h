#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call) \
  do { \
    int r_ = (int)(call); \
    if (r_) { \
      printf("line %d: %d\n", __LINE__, r_); \
      exit(1); \
    } \
  } while (0)
