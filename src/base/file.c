// Reads and writes whole files; finds the folders for caches and state.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_read(const char *path, Str *out, Error *e) {
  FILE *f = fopen(path, "rb");
  if (!f) return error_set(e, "cannot open %s: %s", path, strerror(errno));
  char buf[65536];
  size_t n;
  while ((n = fread(buf, 1, sizeof buf, f)) > 0) str_addn(out, buf, n);
  bool ok = !ferror(f);
  fclose(f);
  if (!out->data) str_add(out, "");
  return ok ? true : error_set(e, "cannot read %s: %s", path, strerror(errno));
}

bool file_write(const char *path, const void *data, size_t n, Error *e) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return error_set(e, "cannot create %s: %s", path, strerror(errno));
  int error = file_write_all(fd, data, n);
  if (close(fd) != 0 && !error) error = errno;
  return !error || error_set(e, "cannot write %s: %s", path, strerror(error));
}

int file_write_all(int fd, const void *data, size_t n) {
  for (size_t done = 0; done < n;) {
    ssize_t w = write(fd, (const char *)data + done, n - done);
    if (w > 0) done += (size_t)w;
    else if (w < 0 && errno == EAGAIN) poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
    else if (w < 0 && errno != EINTR) return errno;
    else if (w == 0) return EIO;
  }
  return 0;
}

bool file_read_all(int fd, void *to, size_t n) {
  for (char *p = to; n;) {
    ssize_t got = read(fd, p, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    p += got;
    n -= (size_t)got;
  }
  return true;
}

static bool find_folder(const char *own_variable, const char *xdg_variable, const char *below_home,
                        Str *out) {
  const char *own = getenv(own_variable), *xdg = getenv(xdg_variable), *home = getenv("HOME");
  size_t before = out->len;
  if (own) str_add(out, own);
  else if (xdg && *xdg) str_printf(out, "%s/warpgrind", xdg);
  else if (home && *home) str_printf(out, "%s/%s/warpgrind", home, below_home);
  return out->len != before;
}

bool file_make_folders(const char *path, size_t n) {
  char part[4096];
  if (n >= sizeof part) {
    errno = ENAMETOOLONG;
    return false;
  }
  for (size_t i = 1; i <= n; i++) {
    if (i < n && path[i] != '/') continue;
    memcpy(part, path, i);
    part[i] = 0;
    if (mkdir(part, 0700) != 0 && errno != EEXIST) return false;
  }
  return true;
}

bool file_cache_folder(Str *out) {
  return find_folder("WARPGRIND_CACHE_DIR", "XDG_CACHE_HOME", ".cache", out);
}

bool file_state_folder(Str *out) {
  return find_folder("WARPGRIND_STATE_DIR", "XDG_STATE_HOME", ".local/state", out);
}
