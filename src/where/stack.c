// Finds which memory around the stack pointer may be read. A walk must never leave it: not on a
// coroutine's stack, not on one a language runtime made, not where call frame information is wrong.
// The system's own list of mappings tells. Each thread remembers a few stacks, so that coroutines
// that take turns are cheap, too.
#include "where/internal.h"

#include <fcntl.h>
#include <unistd.h>

enum { REMEMBERED = 4 };
typedef struct Range {
  uint64_t start, end;
} Range;
static _Thread_local Range ranges[REMEMBERED];
static _Thread_local unsigned next_range;

// Lines are "START-END perms …"; only the two numbers are looked at.
static bool find_mapping(uint64_t address, Range *out) {
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[4096];
  uint64_t number = 0, start = 0;
  enum { IN_START, IN_END, IN_REST } state = IN_START;
  bool found = false;
  ssize_t n;
  while (!found && (n = read(fd, buffer, sizeof buffer)) > 0)
    for (ssize_t i = 0; i < n && !found; i++) {
      char c = buffer[i];
      if (c == '\n') {
        state = IN_START;
        number = 0;
      } else if (state == IN_REST) continue;
      else if (c == '-') {
        start = number;
        number = 0;
        state = IN_END;
      } else if (c == ' ') {
        found = address >= start && address < number;
        *out = (Range){start, number};
        state = IN_REST;
      } else number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
  close(fd);
  return found;
}

uint64_t where_stack_end(uint64_t sp) {
  for (unsigned i = 0; i < REMEMBERED; i++)
    if (sp >= ranges[i].start && sp < ranges[i].end) return ranges[i].end;
  Range r;
  if (!find_mapping(sp, &r)) return 0;
  ranges[next_range++ % REMEMBERED] = r;
  return r.end;
}
