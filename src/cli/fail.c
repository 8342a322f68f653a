// Prints errors for the person at the keyboard.
#include "cli/cli.h"

static void complain(const char *who, const char *fmt, va_list ap) {
  fprintf(stderr, "%s: ", who);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
}

int cli_fail(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  complain("warpgrind", fmt, ap);
  va_end(ap);
  return EXIT_WARPGRIND;
}

int cli_fail_as(const char *who, int code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  complain(who, fmt, ap);
  va_end(ap);
  return code;
}
