// Tests whether -o may write a file: if it does not exist, is empty, or is an older run file.
// Anything else may be the user's work.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/internal.h"
#include "store/store.h"

static bool is_run_file(const char *path, uint64_t size) {
  uint8_t header[STORE_HEADER] = {0};
  int fd = size ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  bool ok = !size || (fd >= 0 && read(fd, header, sizeof header) == (ssize_t)sizeof header &&
                      store_is_run_file(header));
  if (fd >= 0) close(fd);
  return ok;
}

bool run_output_check(const char *path, Error *err) {
  struct stat s;
  if (lstat(path, &s) != 0)
    return errno == ENOENT ||
           error_set(err, "cannot write the run file %s: %s.", path, strerror(errno));
  if (S_ISLNK(s.st_mode) && stat(path, &s) != 0)
    return error_set(err, "%s is a link that leads nowhere: it is not replaced by a run file.",
                     path);
  if (!S_ISREG(s.st_mode))
    return error_set(err, "cannot write the run file %s: it is not a file but a %s.", path,
                     S_ISDIR(s.st_mode) ? "folder" : "device, pipe or socket");
  return is_run_file(path, (uint64_t)s.st_size) ||
         error_set(err,
                   "%s exists and is not a run file of Warpgrind: it is not replaced. Remove it, "
                   "or give -o another name.",
                   path);
}

bool run_output_is_run_file(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size &&
         is_run_file(path, (uint64_t)s.st_size);
}
