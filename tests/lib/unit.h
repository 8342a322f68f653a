// Unit tests in C: one result line for each subject, as tests/run reads them.
#ifndef WG_TESTS_UNIT_H
#define WG_TESTS_UNIT_H

#include <stdio.h>

static int unit_failures;

// A condition that must hold; a subject goes on after a failure.
#define EXPECT(condition) \
  do { \
    if (!(condition)) { \
      unit_failures++; \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
    } \
  } while (0)

// Runs the function test_<name> and prints its result.
#define SUBJECT(name) \
  do { \
    int before_ = unit_failures; \
    test_##name(); \
    printf("%s " #name "\n", unit_failures == before_ ? "ok" : "FAIL"); \
    fflush(stdout); \
  } while (0)

#endif
