// Error: the sentence that says what went wrong.
#include "base/base.h"

bool error_set(Error *e, const char *fmt, ...) {
  if (!e) return false;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(e->text, sizeof e->text, fmt, ap);
  va_end(ap);
  return false;
}
