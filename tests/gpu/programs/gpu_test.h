// What the programs of this folder share. Every program checks its own results and prints the same
// text in every run.
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
#define EXPECT(cond) \
  do { \
    if (!(cond)) { \
      printf("line %d: %s does not hold\n", __LINE__, #cond); \
      wrong++; \
    } \
  } while (0)

#ifdef __cuda_cuda_h__                     // cuda.h came first: the driver API
#define CU(call) \
  do { \
    CUresult r_ = (call); \
    if (r_ != CUDA_SUCCESS) { \
      printf("line %d: %s gave %d\n", __LINE__, #call, (int)r_); \
      exit(3); \
    } \
  } while (0)
#endif
#ifdef __CUDACC__
#define OK(call) \
  do { \
    cudaError_t r_ = (call); \
    if (r_ != cudaSuccess) { \
      printf("line %d: %s gave %s\n", __LINE__, #call, cudaGetErrorName(r_)); \
      exit(3); \
    } \
  } while (0)
#endif

// A number for the bytes of a result: bit-identical runs print the same one.
static inline uint64_t digest(const void *data, size_t bytes) {
  const unsigned char *p = (const unsigned char *)data;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}
static inline void show(const char *what, const void *data, size_t bytes) {
  printf("%s %016llx\n", what, (unsigned long long)digest(data, bytes));
}
static inline int finish(void) {
  if (wrong) printf("%d checks failed\n", wrong);
  else printf("all checks passed\n");
  fflush(stdout);
  return wrong != 0;
}
#endif
