// Reserves disk space for the end of the run file. When the disk is full, this space is freed: it
// is enough to put everything committed into one file, with a sentence that says why it ends. The
// reserve is a file without a name, so that nothing is left of it if the command is killed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "run/internal.h"

enum { SHARE = 8 };  // at most this fraction of the free memory
static const uint64_t SMALL = 8ull << 20, LARGE = 48ull << 20;

int run_reserve_take(const char *path, bool large) {
  const char *slash = strrchr(path, '/');
  Str folder = {0};
  str_addn(&folder, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
  struct statvfs fs;
  int fd = open(folder.data, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  uint64_t bytes = fd >= 0 && fstatvfs(fd, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize / SHARE
                                                     : 0;
  bytes = MIN(bytes, large ? LARGE : SMALL);
  str_free(&folder);
  // Only if blocks can be reserved at once: posix_fallocate would write them.
  if (bytes && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

void run_reserve_give(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}
