// Messages of Warpgrind: on standard error or in --log-file, each line with the process id.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int log_fd = 2;
static int log_pid;
static LogLevel log_level = LOG_NORMAL;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static StrMap seen;

// Written under log_lock, except by log_open and log_close, which run alone.
static char *log_path;   // NULL: standard error
static int first_error;  // errno of the first write that failed; not a closed pipe
static bool falls_back;
static LogFailure *on_failure;

static int open_file(const char *path) {
  return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

void log_open(const char *path, LogLevel level) {
  log_level = level;
  if (!path) return;
  int fd = open_file(path);
  if (fd < 0) {
    first_error = errno;
    log_error("cannot open the log file %s: %s; writing to standard error", path, strerror(errno));
    return;
  }
  log_fd = fd;
  log_path = mem_strdup(path);
}

int log_failure(void) { return first_error; }
void log_fall_back(void) { falls_back = true; }
void log_on_failure(LogFailure *f) { on_failure = f; }

int log_close(void) {
  if (log_path && close(log_fd) != 0 && !first_error) first_error = errno;
  if (log_path) log_fd = 2;
  free(log_path);
  log_path = NULL;
  return first_error;
}

void log_set_pid(int pid) { log_pid = pid; }

// The program may have closed the descriptor of the log file; its name stays valid.
static int write_log(const char *text, size_t n) {
  int error = file_write_all(log_fd, text, n);
  if (error != EBADF || !log_path) return error;
  int fd = open_file(log_path);
  if (fd < 0) return errno;
  log_fd = fd;
  return file_write_all(log_fd, text, n);
}

static void handle_failure(int error, const char *text, size_t n) {
  if (!first_error && error != EPIPE) first_error = error;
  if (!log_path) return;
  if (on_failure) on_failure(log_path, error);
  if (!falls_back) return;
  char why[4096];
  int length = snprintf(
      why, sizeof why,
      "warpgrind: cannot write the log file %s: %s. The rest of the report follows here.\n",
      log_path, strerror(error));
  close(log_fd);
  free(log_path);
  log_path = NULL;
  log_fd = 2;
  file_write_all(log_fd, why, MIN((size_t)length, sizeof why - 1));
  file_write_all(log_fd, text, n);
}

static void write_all(const char *text, size_t n) {
  pthread_mutex_lock(&log_lock);
  int error = write_log(text, n);
  if (error) handle_failure(error, text, n);
  pthread_mutex_unlock(&log_lock);
}

void log_plain(const char *text) { write_all(text, strlen(text)); }

// Each line of the text gets the prefix; one write per message keeps messages of several threads
// apart.
static void emit(const char *fmt, va_list ap) {
  char text[4096], out[8192];
  vsnprintf(text, sizeof text, fmt, ap);
  size_t n = 0;
  for (char *line = text, *next; line && n < sizeof out - 64; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    int wrote = snprintf(out + n, sizeof out - n, "==%d== %s\n", log_pid ? log_pid : (int)getpid(),
                         line);
    n = MIN(n + (size_t)wrote, sizeof out - 1);
    if (next && !*next) break;
  }
  write_all(out, n);
}

#define EMIT_FORMATTED() \
  do { \
    va_list ap; \
    va_start(ap, fmt); \
    emit(fmt, ap); \
    va_end(ap); \
  } while (0)

void log_line(const char *fmt, ...) {
  if (log_level >= LOG_NORMAL) EMIT_FORMATTED();
}

void log_error(const char *fmt, ...) { EMIT_FORMATTED(); }

void log_verbose(const char *fmt, ...) {
  if (log_level >= LOG_VERBOSE) EMIT_FORMATTED();
}

void log_once(const char *key, const char *fmt, ...) {
  pthread_mutex_lock(&log_lock);
  bool first = !strmap_get(&seen, key);
  if (first) strmap_put(&seen, mem_strdup(key), (void *)1);
  pthread_mutex_unlock(&log_lock);
  if (first && log_level >= LOG_NORMAL) EMIT_FORMATTED();
}
