// How much memory is free, and how much records may wait in unless somebody says so: half of it.
#include <stdio.h>
#include <unistd.h>

#include "trace/writer.h"

static const uint64_t MOST = 64ull << 30, LEAST = 256ull << 20;

// UINT64_MAX: the file is not there, or has no number
static uint64_t number_in(const char *path, const char *before) {
  char line[256];
  unsigned long long n = 0;
  bool found = false;
  FILE *f = fopen(path, "re");
  while (f && !found && fgets(line, sizeof line, f))
    found = strncmp(line, before, strlen(before)) == 0 && sscanf(line + strlen(before), " %llu", &n) == 1;
  if (f) fclose(f);
  return found ? n : UINT64_MAX;
}

static uint64_t free_memory(void) {
  uint64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
  uint64_t free_bytes = kilobytes == UINT64_MAX ? (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE) : kilobytes << 10;
  uint64_t limit = number_in("/sys/fs/cgroup/memory.max", ""), used = number_in("/sys/fs/cgroup/memory.current", "");       // of a container
  if (limit != UINT64_MAX && used != UINT64_MAX) free_bytes = MIN(free_bytes, limit > used ? limit - used : 0);
  return free_bytes;
}

uint64_t writer_default_memory(void) { return MAX(MIN(free_memory() / 2, MOST), LEAST); }
