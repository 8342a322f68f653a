// memcheck: what the files of the pass share. docs/memcheck.md says how accesses are checked and why so.
#ifndef WG_INSTRUMENT_MEMCHECK_H
#define WG_INSTRUMENT_MEMCHECK_H

#include "instrument/pass.h"

// How one address of one instruction is checked. Everything but LOOKUP is two or three instructions; what fails there goes
// to the exact test out of line.
typedef enum CheckKind {
  CHECK_NOTHING,             // always inside, or not checked by this tool
  CHECK_INDEX,               // 32-bit index < limit: a constant, or a word of the launch record
  CHECK_RANGE,               // address - base <= last, both in the launch record
  CHECK_VARIABLE,            // the same for a variable: address - its address <= constant
  CHECK_LOOKUP,              // found in the table of all allocations, or in the range found last
} CheckKind;

typedef struct Check {
  CheckKind kind;
  uint32_t instr; unsigned operand;
  PtxSpace space;            // of the address: global, shared, local, const; generic: not known
  uint32_t bytes;
  IrAddress address;
  PtxReg *index;             // INDEX; NULL: index 0
  int64_t limit;             // INDEX: constant limit, -1: in the record; VARIABLE: the last offset that is inside
  uint32_t limit_at;         // INDEX: where in the record
  uint32_t range_at;         // RANGE and INDEX of a parameter: base and last in the record; 0: none
  const PtxVar *var;
  bool hoisted;              // tested before the loop it is in; see memcheck_loops.c
} Check;

typedef struct Memcheck {    // one function
  Body *body;
  IrProvenance *provenance;
  IrDefs *defs;
  Check *checks; uint32_t nchecks;
  uint32_t *check_of;        // by instruction: first check, UINT32_MAX none
  VEC(InstrumentFact) facts;
  PtxReg *cache_base, *cache_last;         // LOOKUP: the range found last
} Memcheck;

// --- memcheck_plan.c ---
void memcheck_plan(Memcheck *m);           // fills checks
// --- memcheck_loops.c ---
void memcheck_hoist(Memcheck *m);          // sets hoisted where a loop's checks are done before it
// --- memcheck_emit.c ---
void memcheck_emit(Memcheck *m, const Check *c);

#endif
