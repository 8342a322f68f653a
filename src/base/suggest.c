#include "base/suggest.h"

enum { LONGEST = 48, SHORTEST_PREFIX = 3 };

// Optimal string alignment: insertions, deletions, replacements and swaps of two neighbours.
static unsigned edit_distance(const char *a, size_t na, const char *b, size_t nb) {
  unsigned row[3][LONGEST + 1];
  for (size_t k = 0; k <= nb; k++) row[0][k] = (unsigned)k;
  for (size_t i = 1; i <= na; i++) {
    unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
    now[0] = (unsigned)i;
    for (size_t k = 1; k <= nb; k++) {
      unsigned replaced = before[k - 1] + (a[i - 1] != b[k - 1]);
      now[k] = MIN(replaced, MIN(before[k], now[k - 1]) + 1);
      bool swapped = i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
      if (swapped) now[k] = MIN(now[k], two_before[k - 2] + 1);
    }
  }
  return row[na % 3][nb];
}

// A short word may differ by one letter, a long one by three.
Suggestion suggest_begin(const char *word, size_t length) {
  unsigned accepted = length < 3 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3;
  return (Suggestion){.word = word, .length = length, .distance = accepted + 1};
}

// Without a close candidate, suggests a longer word that begins with the misspelt one.
void suggest_consider(Suggestion *s, const char *candidate) {
  size_t n = strlen(candidate);
  if (n > LONGEST || s->length > LONGEST) return;
  unsigned distance = edit_distance(s->word, s->length, candidate, n);
  if (distance < s->distance) {
    s->best = candidate;
    s->distance = distance;
  } else if (!s->best && s->length >= SHORTEST_PREFIX && !strncmp(candidate, s->word, s->length)) {
    s->best = candidate;
  }
}
