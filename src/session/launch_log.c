// --launch-log: writes a line to the file before each launch goes to the driver. If the machine
// dies, the last line names the launch.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/options.h"
#include "base/runstats.h"
#include "session/internal.h"

bool session_logs_launches(void) { return session_options()->launch_log != NULL; }

// The program may have a demangler; we bring none into it.
static char *readable(const char *name) {
  typedef char *Demangle(const char *, char *, size_t *, int *);
  int status = 1;
  Demangle *demangle = (Demangle *)(uintptr_t)dlsym(RTLD_DEFAULT, "__cxa_demangle");
  char *text = demangle && !strncmp(name, "_Z", 2) ? demangle(name, NULL, NULL, &status) : NULL;
  return text ? text : mem_strdup(name);
}

static void add_value(Str *s, const uint8_t *bytes, size_t size) {
  enum { SHOWN = 32 };
  if (size == 1 || size == 2 || size == 4 || size == 8) {
    uint64_t value = 0;
    memcpy(&value, bytes, size);
    str_printf(s, "0x%llx", (unsigned long long)value);
  } else {
    for (size_t i = 0; i < MIN(size, (size_t)SHOWN); i++) str_printf(s, "%02x", bytes[i]);
    if (size > SHOWN) str_printf(s, "… (%zu bytes)", size);
  }
  WgMemoryRange r;
  uint64_t pointer;
  if (size != sizeof pointer) return;
  memcpy(&pointer, bytes, size);
  if (pointer && session_ranges_find(pointer, &r))
    str_printf(s, " (byte %llu of %llu)", (unsigned long long)(pointer - r.base),
               (unsigned long long)r.size);
}

static void add_params(Str *s, const SessionParams *p, SessionParamInfo *info, void *user) {
  size_t offset, size;
  for (uint32_t i = 0; info && info(user, i, &offset, &size); i++) {
    const uint8_t *at = NULL;
    if (p->pointers) at = p->pointers[i];
    else if (p->buffer && offset + size <= p->buffer_bytes)
      at = (const uint8_t *)p->buffer + offset;
    str_add(s, i ? ", " : " ");
    if (at) add_value(s, at, size);
    else str_add(s, "?");
  }
}

void session_log_text(Str *s, const SessionLaunch *l, const SessionParams *params,
                      SessionParamInfo *info, void *user) {
  char *name = l->kernel ? readable(l->kernel->name) : mem_strdup("a kernel that is not known");
  str_printf(s, "%s grid %u %u %u block %u %u %u", name, l->grid[0], l->grid[1], l->grid[2],
             l->block[0], l->block[1], l->block[2]);
  if ((uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2] > 1)
    str_printf(s, " cluster %u %u %u", l->cluster[0], l->cluster[1], l->cluster[2]);
  str_printf(s, " shared %u", l->shared);
  if (l->cooperative) str_add(s, " cooperative");
  str_add(s, " parameters");
  add_params(s, params, info, user);
  free(name);
}

// Opens the file for each line: a descriptor that we kept open might be another file by now.
static void write_line(const Str *line) {
  static _Atomic bool failed;
  Str name = {0};
  Error err = {{0}};
  if (options_expand_name(session_options()->launch_log, 0, &name, &err)) {
    int fd = open(name.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int error = fd >= 0 ? file_write_all(fd, line->data, line->len) : errno;
    if (fd >= 0 && close(fd) != 0 && !error) error = errno;
    if (error && !atomic_exchange(&failed, true)) {
      log_error("--launch-log: %s cannot be written: %s", name.data, strerror(error));
      runstats_fail("--launch-log: %s cannot be written: %s.", name.data, strerror(error));
    }
  }
  str_free(&name);
}

static void log_line_of(const char *what, uint32_t number, int device, const void *stream,
                        const char *text) {
  Str line = {0};
  str_printf(&line, "process %d %s", (int)getpid(), what);
  if (number) str_printf(&line, " %u", number);
  str_printf(&line, " device %d stream 0x%llx: %s\n", device, (unsigned long long)(uintptr_t)stream,
             text);
  write_line(&line);
  str_free(&line);
}

void session_log_launch(const SessionLaunch *l, uint32_t number, const SessionParams *params,
                        SessionParamInfo *info, void *user) {
  if (!session_logs_launches()) return;
  Str text = {0};
  session_log_text(&text, l, params, info, user);
  log_line_of(l->captured ? "captures launch" : "launch", number, l->device, l->stream, text.data);
  str_free(&text);
}

void session_log_again(uint32_t number, int device, const void *stream, const char *text) {
  if (session_logs_launches()) log_line_of("graph runs launch", number, device, stream, text);
}
