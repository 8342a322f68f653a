#include "run/frame_variables.h"

// The field up to the next tab or the end of the line; what is too long is cut off.
static const char *field(const char *p, char *out, size_t size) {
  size_t n = strcspn(p, "\t\n");
  snprintf(out, size, "%.*s", (int)n, p);
  return p + n + (p[n] == '\t');
}

bool frame_variable_next(const char **p, FrameVariable *out) {
  char offset[24], bytes[24];
  if (!**p) return false;
  *out = (FrameVariable){0};
  const char *q = field(*p, out->frame, sizeof out->frame);
  q = field(q, offset, sizeof offset);
  q = field(q, bytes, sizeof bytes);
  q = field(q, out->name, sizeof out->name);
  q = field(q, out->type, sizeof out->type);
  q = field(q, out->dims, sizeof out->dims);
  out->offset = strtoull(offset, NULL, 10) & UINT32_MAX;
  out->bytes = strtoull(bytes, NULL, 10) & UINT32_MAX;
  q += strcspn(q, "\n");
  *p = q + (*q == '\n');
  return true;
}
