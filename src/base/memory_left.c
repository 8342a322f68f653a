// How much memory this process may still use: what the system has left, and what the limits of its
// control groups leave (containers, batch systems), of version 1 and version 2. A limit of any
// parent counts too.
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory_left.h"

// The names each cgroup version uses. controller: in /proc/self/cgroup; "" for version 2.
typedef struct Version {
  const char *fstype, *controller, *limit, *used, *cache;
} Version;
static const Version versions[] = {
    {"cgroup2", "", "memory.max", "memory.current", "inactive_file"},
    {"cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
};

// Version 1 shows a number near 2^63 where there is no limit.
static const uint64_t NO_LIMIT = 1ull << 62;

typedef struct Mount {
  char root[PATH_MAX], point[PATH_MAX];
} Mount;

// The number after `before` in the first line that begins with it; UINT64_MAX: no such line.
static uint64_t number_in(const char *path, const char *before) {
  char line[256];
  unsigned long long n = 0;
  bool found = false;
  FILE *f = fopen(path, "re");
  while (f && !found && fgets(line, sizeof line, f))
    found = strncmp(line, before, strlen(before)) == 0 &&
            sscanf(line + strlen(before), " %llu", &n) == 1;
  if (f) fclose(f);
  return found ? n : UINT64_MAX;
}

static bool has_word(const char *list, const char *word) {
  size_t n = strlen(word);
  for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
    if (strcspn(p, ",\n") == n && strncmp(p, word, n) == 0) return true;
  return !n && (!*list || *list == '\n');
}

// Finds the path of our group in the hierarchy of that version.
static bool find_group(const char *system, const Version *v, char path[PATH_MAX]) {
  char name[PATH_MAX], line[PATH_MAX + 256], controllers[256];
  bool found = false;
  snprintf(name, sizeof name, "%s/proc/self/cgroup", system);
  FILE *f = fopen(name, "re");
  while (f && !found && fgets(line, sizeof line, f)) {
    char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    if (!second || second - first > (ptrdiff_t)sizeof controllers) continue;
    snprintf(controllers, sizeof controllers, "%.*s", (int)(second - first - 1), first + 1);
    found = has_word(controllers, v->controller);
    snprintf(path, PATH_MAX, "%.*s", (int)strcspn(second + 1, "\n"), second + 1);
  }
  if (f) fclose(f);
  return found;
}

// Finds where that hierarchy is mounted, and which part of it. A line: id parent device ROOT POINT
// options … - TYPE source OPTIONS
static bool find_mount(const char *system, const Version *v, Mount *out) {
  char name[PATH_MAX], line[3 * PATH_MAX], type[64], options[1024];
  bool found = false;
  snprintf(name, sizeof name, "%s/proc/self/mountinfo", system);
  FILE *f = fopen(name, "re");
  while (f && !found && fgets(line, sizeof line, f)) {
    const char *dash = strstr(line, " - ");
    if (!dash || sscanf(dash, " - %63s %*s %1023s", type, options) != 2 || strcmp(type, v->fstype))
      continue;
    found = (!*v->controller || has_word(options, v->controller)) &&
            sscanf(line, "%*s %*s %*s %4095s %4095s", out->root, out->point) == 2;
  }
  if (f) fclose(f);
  return found;
}

static uint64_t left_in(const char *folder, const Version *v) {
  char name[2 * PATH_MAX];
  uint64_t n[3];
  const char *const files[] = {v->limit, v->used, "memory.stat"}, *const before[] = {"", "",
                                                                                     v->cache};
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%s/%s", folder, files[i]);
    n[i] = number_in(name, before[i]);
  }
  if (n[0] >= NO_LIMIT || n[1] == UINT64_MAX) return UINT64_MAX;
  // the kernel frees its file cache when memory is short
  uint64_t used = n[2] == UINT64_MAX ? n[1] : n[1] - MIN(n[1], n[2]);
  return n[0] > used ? n[0] - used : 0;
}

// Our group and its parents, as far as they can be seen from here.
static uint64_t left_in_groups(const char *system, const Version *v) {
  char group[PATH_MAX], folder[2 * PATH_MAX];
  Mount m = {"/", "/sys/fs/cgroup"};
  bool mounted = find_mount(system, v, &m);
  if (!mounted && *v->controller)
    snprintf(m.point, sizeof m.point, "/sys/fs/cgroup/%s", v->controller);
  if (!find_group(system, v, group) || strncmp(group, "/..", 3) == 0) strcpy(group, "/");
  size_t root = strcmp(m.root, "/") ? strlen(m.root) : 0, least = strlen(system) + strlen(m.point);
  bool below = strncmp(group, m.root, root) == 0 && (!group[root] || group[root] == '/');
  snprintf(folder, sizeof folder, "%s%s%s", system, m.point, below ? group + root : "");
  uint64_t left = UINT64_MAX;
  for (size_t n = strlen(folder); n >= least; n--) {
    if (folder[n] && folder[n] != '/') continue;
    folder[n] = 0;
    left = MIN(left, left_in(folder, v));
  }
  return left;
}

uint64_t memory_left(const char *system) {
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s/proc/meminfo", system);
  uint64_t kilobytes = number_in(name, "MemAvailable:");
  uint64_t left = kilobytes == UINT64_MAX
                      ? (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE)
                      : kilobytes << 10;
  for (size_t i = 0; i < ARRAY_LEN(versions); i++)
    left = MIN(left, left_in_groups(system, &versions[i]));
  return left;
}
