// Heuristics: there is only one algorithm for all requests. Also the functions for the library's
// log and caches, which have no effect on the CPU.
#include <stdio.h>

#include "libraries/cublasLt/internal.h"

enum { ALGORITHM = 1 };
typedef struct Algorithm {
  uint64_t word[8];
} Algorithm;
typedef struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Heuristic;

static const Heuristic the_one = {.algorithm = {{ALGORITHM}}, .waves = 1};

EXPORT Status cublasLtMatmulAlgoGetHeuristic(void *handle, const Attributes *d, const Attributes *a,
                                             const Attributes *b, const Attributes *c,
                                             const Attributes *out, const Attributes *preference,
                                             int most, Heuristic *results, int *found) {
  if (!handle) return NOT_INITIALIZED;
  if (!results || !found || most < 1) return INVALID_VALUE;
  results[0] = the_one;
  *found = 1;
  return SUCCESS;
}
EXPORT Status cublasLtMatmulAlgoCheck(void *handle, const Attributes *d, const Attributes *a,
                                      const Attributes *b, const Attributes *c,
                                      const Attributes *out, const void *algorithm,
                                      Heuristic *result) {
  if (!handle) return NOT_INITIALIZED;
  if (result) *result = the_one;
  return SUCCESS;
}
EXPORT Status cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c,
                                       int d, int most, int *ids, int *found) {
  if (!handle) return NOT_INITIALIZED;
  if (!ids || most < 1) return INVALID_VALUE;
  ids[0] = ALGORITHM;
  if (found) *found = 1;
  return SUCCESS;
}
EXPORT Status cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c,
                                     int d, int id, Algorithm *out) {
  if (!handle) return NOT_INITIALIZED;
  if (!out || id != ALGORITHM) return INVALID_VALUE;
  *out = the_one.algorithm;
  return SUCCESS;
}

EXPORT const char *cublasLtGetStatusName(Status s) { return blas_status_name(s); }
EXPORT const char *cublasLtGetStatusString(Status s) { return blas_status_words(s); }
EXPORT Status cublasLtGetProperty(int type, int *value) {
  if (!value || type < 0 || type > 2) return INVALID_VALUE;
  *value = type ? 0 : library_major;
  return SUCCESS;
}
EXPORT Status cublasLtHeuristicsCacheGetCapacity(size_t *capacity) {
  if (!capacity) return INVALID_VALUE;
  *capacity = 0;
  return SUCCESS;
}
EXPORT Status cublasLtHeuristicsCacheSetCapacity(size_t capacity) { return SUCCESS; }
EXPORT unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask) { return 0; }
EXPORT Status cublasLtLoggerSetCallback(void (*f)(int, const char *, const char *)) {
  return SUCCESS;
}
EXPORT Status cublasLtLoggerSetFile(FILE *file) { return SUCCESS; }
EXPORT Status cublasLtLoggerOpenFile(const char *path) { return path ? SUCCESS : INVALID_VALUE; }
EXPORT Status cublasLtLoggerSetLevel(int level) { return SUCCESS; }
EXPORT Status cublasLtLoggerSetMask(int mask) { return SUCCESS; }
EXPORT Status cublasLtLoggerForceDisable(void) { return SUCCESS; }
