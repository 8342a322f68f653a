// The places where a thread keeps values, and the known values at one point of the code. Private to
// sass/.
#ifndef WG_SASS_PLACES_H
#define WG_SASS_PLACES_H

#include "sass/values.h"

// Registers, uniform registers, predicates, uniform predicates, words of the stack frame in local
// memory.
enum {
  REGISTERS = 0,
  UNIFORM_REGISTERS = REGISTERS + 256,
  PREDICATES = UNIFORM_REGISTERS + 64,
  UNIFORM_PREDICATES = PREDICATES + 8,
  LOCAL_WORDS = UNIFORM_PREDICATES + 8,
  MOST_LOCAL_WORDS = 512
};
static inline unsigned place_of_register(unsigned number, bool uniform) {
  return (uniform ? UNIFORM_REGISTERS : REGISTERS) + number;
}
static inline unsigned place_of_predicate(unsigned number, bool uniform) {
  return (uniform ? UNIFORM_PREDICATES : PREDICATES) + number;
}

// A place that was written under a guard, and is read under the same guard or a stronger one.
typedef struct Guarded {
  Condition condition;  // 0: none
  Value then;           // what it holds where the condition is true
} Guarded;

typedef struct Place {
  Value value;
  Guarded guarded;
} Place;

// Implications between conditions: `list` has two rows for each condition, one for its opposite.
enum { MOST_IMPLIED = 6 };
typedef struct Implied {
  Condition (*list)[MOST_IMPLIED];
} Implied;
void implied_clear(Implied *i, Condition of);
void implied_add(Implied *i, Condition of, Condition follows);
bool implies(const Implied *i, Condition one, Condition other);

// The values of n places, read under a condition (0: always).
Value place_read(const Place *p, Condition under, const Implied *implied);
// Written under a condition; held: the predicate's value. A place keeps its old value where the
// condition is false.
void place_write(Place *p, Value v, Condition under, Value held);
// The condition is about to be decided anew: what is known by the old outcome is forgotten.
void places_forget(Place *list, unsigned n, Condition c, const Implied *implied);
// Adds what is known at the end of another path. widen: ranges that grow become all numbers. false:
// nothing is new
bool places_merge(Place *to, const Place *from, unsigned n, bool widen);

#endif
