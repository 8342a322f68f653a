#include "base/hash_option.h"

bool hash_option_parse(const char *text, HashOption *out, Error *err) {
  static const struct {
    const char *word;
    HashOption value;
  } words[] = {{"no", {false, 0}}, {"some", {true, 0}}, {"yes", {true, 0}}, {"every", {true, 1}}};
  *out = (HashOption){0};
  if (!text) return true;
  for (size_t i = 0; i < ARRAY_LEN(words); i++)
    if (!strcmp(text, words[i].word)) {
      *out = words[i].value;
      return true;
    }
  char *end;
  unsigned long n = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || !n || n > 1 << 20)
    return error_set(err, "--hash=%s: expected some, every or a number N, for every N-th launch.",
                     text);
  *out = (HashOption){true, (uint32_t)n};
  return true;
}
