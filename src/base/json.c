// Pieces of JSON.
#include "base/json.h"

// File names and symbols can be any bytes.
unsigned json_utf8_length(const char *text) {
  const unsigned char *p = (const unsigned char *)text;
  unsigned n = *p < 0x80                           ? 1
               : (*p & 0xe0) == 0xc0 && *p >= 0xc2 ? 2
               : (*p & 0xf0) == 0xe0               ? 3
               : (*p & 0xf8) == 0xf0 && *p <= 0xf4 ? 4
                                                   : 0;
  for (unsigned i = 1; i < n; i++)
    if ((p[i] & 0xc0) != 0x80) return 0;
  // Rejects overlong forms, surrogates and numbers above U+10FFFF.
  if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) || (*p == 0xf0 && p[1] < 0x90) ||
      (*p == 0xf4 && p[1] >= 0x90))
    return 0;
  return n;
}

void json_string(Str *s, const char *text) {
  str_addc(s, '"');
  for (const char *p = text; *p;) {
    unsigned n = json_utf8_length(p);
    if (*p == '"' || *p == '\\') str_printf(s, "\\%c", *p);
    else if ((unsigned char)*p < 0x20 || *p == 0x7f) str_printf(s, "\\u%04x", (unsigned char)*p);
    else if (n) str_addn(s, p, n);
    else str_add(s, "\\ufffd");
    p += n ? n : 1;
  }
  str_addc(s, '"');
}

void json_key(Str *s, const char *key) {
  if (s->len && s->data[s->len - 1] != '{' && s->data[s->len - 1] != '[') str_addc(s, ',');
  str_printf(s, "\"%s\":", key);
}

void json_text(Str *s, const char *key, const char *value) {
  if (!value) return;
  json_key(s, key);
  json_string(s, value);
}

void json_number(Str *s, const char *key, uint64_t value) {
  json_key(s, key);
  str_printf(s, "%llu", (unsigned long long)value);
}

void json_address(Str *s, const char *key, uint64_t value) {
  json_key(s, key);
  str_printf(s, "\"0x%llx\"", (unsigned long long)value);
}

void json_three(Str *s, const char *key, const uint32_t *v) {
  json_key(s, key);
  str_printf(s, "[%u,%u,%u]", v[0], v[1], v[2]);
}

void json_open(Str *s, const char *key, char bracket) {
  if (key) json_key(s, key);
  else if (s->len && s->data[s->len - 1] != '{' && s->data[s->len - 1] != '[') str_addc(s, ',');
  str_addc(s, bracket);
}
