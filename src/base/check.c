// Assertions that stay on in release builds (CHECK).
#include "base/base.h"

_Noreturn void base_check_failed(const char *file, int line, const char *what) {
  log_error(
      "internal error at %s:%d: %s does not hold. This is a bug in Warpgrind; please report it.",
      file, line, what);
  abort();
}
