// The library under test, made from src/where as the preloaded library is: hidden, with a few doors
// for the tests.
#include <time.h>

#include "where/python.h"

#define DOOR __attribute__((visibility("default")))

DOOR uint32_t test_capture(uint64_t *frames, uint32_t max) {
  uint32_t n = where_capture(frames, max);
  __asm__ volatile("" ::: "memory");  // not a tail call: this frame is ours and must be left out
  return n;
}

static void print_object(void *user, const WhereObject *o) {
  FILE *f = user;
  fprintf(f, "object %llx %llx %llx ", (unsigned long long)o->start, (unsigned long long)o->end,
          (unsigned long long)o->bias);
  for (uint32_t i = 0; i < o->build_id_len; i++) fprintf(f, "%02x", o->build_id[i]);
  fprintf(f, "%s %s\n", o->build_id_len ? "" : "-", o->path);
}

// Writes what the symbolizer needs: the objects and these frames.
DOOR void test_save(const char *path, const char *label, const uint64_t *frames, uint32_t n) {
  FILE *f = fopen(path, "a");
  fprintf(f, "stack %s\n", label);
  where_objects(print_object, f);
  for (uint32_t i = 0; i < n; i++) fprintf(f, "frame %llx\n", (unsigned long long)frames[i]);
  fclose(f);
}

DOOR double test_time(unsigned rounds) {                 // nanoseconds for one capture
  uint64_t frames[WHERE_MAX];
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (unsigned i = 0; i < rounds; i++) where_capture(frames, WHERE_MAX);
  clock_gettime(CLOCK_MONOTONIC, &b);
  return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / rounds;
}

DOOR double test_python_time(unsigned rounds, int keep) {
  struct timespec a, b;
  Str s = {0};
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (unsigned i = 0; i < rounds; i++) { s.len = 0; where_python(&s); }
  clock_gettime(CLOCK_MONOTONIC, &b);
  str_free(&s);
  return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / rounds;
}

DOOR const char *test_python(void) {
  static _Thread_local Str s;  // threads that have released the lock come at the same time
  s.len = 0;
  if (where_python(&s) == 0) return "no python frames";
  return s.data;
}

// From now on by CPython's public functions only.
DOOR void test_python_public(void) {
  Str s = {0};
  where_python(&s);                                      // looks for the functions
  str_free(&s);
  where_py.version = 0;
}

DOOR uint64_t test_version(void) { return where_objects_version(); }
