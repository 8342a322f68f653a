// A walk through a kernel's code that follows the known values of registers. Private to sass/.
#ifndef WG_SASS_WALK_H
#define WG_SASS_WALK_H

#include "sass/paths.h"
#include "sass/places.h"

enum { STACK_POINTER = 1, NO_PLACE = 0xffff };

struct SassProgram {
  SassKernel kernel;
  SassInstruction *code;
  SassEffect *effects;
  uint32_t n;
  SassPaths paths;
  bool has_paths;
  bool moves_stack;  // the stack pointer changes after the first block
  unsigned places;   // that it uses: fewer than there are, without local memory
};

typedef struct Walk {
  const SassProgram *program;
  const SassKey *key;
  Place *at;  // of each block, where it begins: as many places as the program uses
  Implied implied;
  uint8_t *turns;  // how often what is known there changed
  bool *reached, *depends, *go_taken, *go_next, *by_data, *waiting;
  uint32_t *list, waits;  // blocks to go through
  bool **changes;  // of the first block of a loop that data repeat: what the loop writes; else NULL
  bool wild;       // local memory was accessed in a way that is not followed
  // of the block that is gone through
  Place *now;
  bool dependent, check, failed;
  Error *why;
} Walk;

// The first word of local memory that an instruction accesses, as a place; NO_PLACE: not known.
unsigned walk_local_word(const SassInstruction *i);
// Launches cannot repeat each other; the first reason is kept.
void walk_fail(Walk *w, const SassInstruction *i, const char *what);

// --- registers.c: at one instruction. Reading under a guard sees what was written under it ---
extern const SassPredicate walk_no_guard;
Value walk_predicate(const Walk *w, SassPredicate p, SassPredicate guard);
Value walk_place(const Walk *w, unsigned place, SassPredicate guard);
Value walk_register(const Walk *w, uint32_t number, bool uniform, SassPredicate guard);
Value walk_word(const SassWord *word);
// half 1: the upper register of a pair
Value walk_source(Walk *w, SassSource s, unsigned half, SassPredicate guard);
Value walk_bank_word(const Walk *w, uint32_t offset);
Value walk_constant(Walk *w, unsigned bank, uint32_t offset);
ValueInputs walk_inputs(Walk *w, const SassInstruction *i, const SassEffect *e);
void walk_write_place(Walk *w, unsigned place, SassPredicate guard, Value v);
void walk_write_register(Walk *w, uint32_t number, bool uniform, SassPredicate guard, Value v);
void walk_write_predicate(Walk *w, unsigned number, bool uniform, SassPredicate guard, Value v);
// in: NULL where results do not follow from operands alone
void walk_results(Walk *w, const SassInstruction *i, const SassEffect *e, const ValueInputs *in,
                  const ValueResults *r);

// --- steps.c ---
void walk_step(Walk *w, const SassInstruction *i, const SassEffect *e);
// The condition of a branch or an exit.
Value walk_condition(Walk *w, const SassInstruction *i, const SassEffect *e);

#endif
