// Strings that grow.
#include "base/base.h"

static void reserve(Str *s, size_t more) {
  if (s->len + more + 1 <= s->cap) return;
  s->cap = MAX(s->cap * 2, s->len + more + 64);
  s->data = mem_realloc(s->data, s->cap);
}

void str_addn(Str *s, const char *text, size_t n) {
  reserve(s, n);
  memcpy(s->data + s->len, text, n);
  s->len += n;
  s->data[s->len] = 0;
}

void str_add(Str *s, const char *text) { str_addn(s, text, strlen(text)); }

void str_addc(Str *s, char c) { str_addn(s, &c, 1); }

void str_printf(Str *s, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  if (n >= 0) {  // else vsnprintf failed
    reserve(s, (size_t)n);
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, again);
    s->len += (size_t)n;
  }
  va_end(again);
  va_end(ap);
}

void str_free(Str *s) {
  free(s->data);
  *s = (Str){0};
}

bool text_ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}
