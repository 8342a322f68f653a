// Checks everything the command prints: output that could not be written ends it with exit code
// 125. Standard output is replaced by a stream of our own, because stdio forgets why a write
// failed.
#define _GNU_SOURCE

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static int output_error;  // errno of the first write to standard output that failed

static ssize_t write_output(void *unused, const char *text, size_t n) {
  if (!output_error) output_error = file_write_all(STDOUT_FILENO, text, n);
  return output_error ? 0 : (ssize_t)n;
}

// Occupies the numbers of closed standard streams: a later file with such a number would receive
// what is printed. They are opened for the wrong direction, so using them stays an error.
static void reserve_descriptors(void) {
  for (int fd; (fd = open("/dev/null", O_CLOEXEC | O_RDONLY)) >= 0;) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return;
  }
}

void cli_output_begin(void) {
  reserve_descriptors();
  log_fall_back();
  FILE *checked = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_output});
  if (!checked) return;
  setvbuf(checked, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, 1 << 16);
  stdout = checked;
}

bool cli_output_lost(void) {
  fflush(stdout);
  return output_error && output_error != EPIPE;
}

// A closed pipe is no error, as with other tools.
static bool reader_has_gone(int fd) {
  struct pollfd p = {.fd = fd};
  return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

static int lost_output(void) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", STDOUT_FILENO);
  ssize_t n = readlink(link, name, sizeof name - 1);
  name[n < 0 ? 0 : n] = 0;
  bool named = name[0] == '/' && output_error != EBADF;
  return cli_fail("cannot write standard output%s%s%s: %s.", named ? " (" : "", named ? name : "",
                  named ? ")" : "", strerror(output_error));
}

int cli_output_end(int code) {
  bool lost = cli_output_lost();
  int log_error = log_close();
  if (!output_error && close(STDOUT_FILENO) != 0) {  // some file systems report full disks here
    output_error = errno;
    lost = true;
  }
  if (lost) code = lost_output();
  if (log_error || (ferror(stderr) && !reader_has_gone(STDERR_FILENO))) code = EXIT_WARPGRIND;
  return code;
}
