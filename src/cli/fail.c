// What went wrong, for the person at the keyboard.
#include "cli/cli.h"

static int complain(const char *who, const char *fmt, va_list ap, int code) {
  fprintf(stderr, "%s: ", who);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  return code;
}

int cli_fail(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int code = complain("warpgrind", fmt, ap, EXIT_WARPGRIND);
  va_end(ap);
  return code;
}

int cli_fail_as(const char *who, int code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  complain(who, fmt, ap, code);
  va_end(ap);
  return code;
}
