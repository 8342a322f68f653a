// suggest: what a misspelt word was meant to be.
#ifndef WG_BASE_SUGGEST_H
#define WG_BASE_SUGGEST_H

#include "base/base.h"

// best is the closest of the candidates considered so far; NULL: none is close.
typedef struct Suggestion {
  const char *word, *best;
  size_t length;
  unsigned distance;  // of best, or the largest that is accepted
} Suggestion;

Suggestion suggest_begin(const char *word, size_t length);
void suggest_consider(Suggestion *s, const char *candidate);

#endif
