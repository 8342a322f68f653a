#include "base/base.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int log_fd = 2;
static int log_pid;
static LogLevel log_level = LOG_NORMAL;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static StrMap seen;

void log_open(const char *path, LogLevel level) {
  log_level = level;
  if (!path) return;
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) log_error("cannot open the log file %s; writing to standard error", path);
  else log_fd = fd;
}

void log_set_pid(int pid) { log_pid = pid; }

static void write_all(const char *text, size_t n) {
  pthread_mutex_lock(&log_lock);
  for (size_t done = 0; done < n;) {
    ssize_t w = write(log_fd, text + done, n - done);
    if (w <= 0) break;
    done += (size_t)w;
  }
  pthread_mutex_unlock(&log_lock);
}

void log_plain(const char *text) { write_all(text, strlen(text)); }

// Each line of the text gets the prefix; one write per message keeps messages of several threads apart.
static void emit(const char *fmt, va_list ap) {
  char text[4096], out[8192];
  vsnprintf(text, sizeof text, fmt, ap);
  size_t n = 0;
  for (char *line = text, *next; line && n < sizeof out - 64; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    int wrote = snprintf(out + n, sizeof out - n, "==%d== %s\n", log_pid ? log_pid : (int)getpid(), line);
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
