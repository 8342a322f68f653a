// What the runtime's test programs share: each check prints a line when it fails; the last line
// says whether all held.
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <string.h>

static int failures;

#define EXPECT(cond) \
  do { \
    if (!(cond)) { \
      printf("line %d: %s does not hold\n", __LINE__, #cond); \
      failures++; \
    } \
  } while (0)

#define RETURNS(call, error) \
  do { \
    cudaError_t got_ = (call); \
    if (got_ != (error)) { \
      printf("line %d: %s returned %s, not %s\n", __LINE__, #call, cudaGetErrorName(got_), \
             cudaGetErrorName(error)); \
      failures++; \
    } \
  } while (0)
#define OK(call) RETURNS(call, cudaSuccess)

static int finish(void) {
  if (failures) printf("%d checks failed\n", failures);
  else printf("all checks passed\n");
  return failures != 0;
}

#endif
