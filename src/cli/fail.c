// What went wrong, for the person at the keyboard.
#include "cli/cli.h"

int cli_fail(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fputs("warpgrind: ", stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  return EXIT_WARPGRIND;
}
