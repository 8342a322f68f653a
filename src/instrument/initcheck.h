// initcheck: what the files of the pass share. docs/initcheck.md says what is followed and what is reported.
//
// Every register that may hold something read from memory has a shadow register: its set bits are the bits that come from memory
// nobody wrote. Shadows are computed beside the program's instructions; a set bit is reported where it decides something.
#ifndef WG_INSTRUMENT_INITCHECK_H
#define WG_INSTRUMENT_INITCHECK_H

#include "instrument/pass.h"

// Where the shadow of an address is found.
typedef enum {
  PLACE_NONE,                // memory that counts as initialised: constants, parameters, textures
  PLACE_PARAM,               // the allocation a kernel parameter points into: in the launch record
  PLACE_LOOKUP,              // the allocation found last, else the table of all
  PLACE_SHARED,              // the block's part of WgLaunch.shared_shadow
  PLACE_LOCAL,               // a variable of the thread: a variable of ours beside it
} InitPlaceKind;
typedef struct InitPlace {
  InitPlaceKind kind;
  uint32_t fact_at;          // PARAM: base, size, shadow in the record
  const PtxVar *var;         // LOCAL
} InitPlace;

// How the shadow of a result follows from the shadows of the operands.
typedef enum {
  RULE_VALID,                // the result counts as initialised, whatever went in
  RULE_ALL,                  // one bad bit makes all of the result bad
  RULE_SUM,                  // a bad bit spoils itself and everything above it
  RULE_COPY, RULE_AND, RULE_OR, RULE_XOR, RULE_SHIFT, RULE_CONVERT, RULE_SELECT,
  RULE_SAME,                 // the instruction itself, done with the shadows: permutations of bits
  RULE_SHUFFLE, RULE_VOTE, RULE_REDUCE,
} InitRule;

typedef struct InitCheck {   // one function
  Body *body;
  IrProvenance *provenance;
  IrDefs *defs;
  InitPlace *place;          // by instruction
  PtxReg **shadow;           // by PtxReg.id; NULL: never holds anything bad
  PtxVar **local_shadow;     // by PtxVar.id of a .local variable; NULL: not followed
  bool shared_followed;
  VEC(InstrumentFact) facts;
  bool reads_unknown;                       // something is read elsewhere than where the facts lead
  uint32_t second;                          // first instruction of the body that runs where all that is read is initialised
  PtxReg *cache_base, *cache_size, *cache_shadow;
  PtxReg *shared_at, *shared_bytes;         // of this block; bytes 0: not followed
  PtxReg *origin_address, *origin_site;     // of the last bad read
} InitCheck;

// --- initcheck_plan.c ---
void init_plan(InitCheck *k);                               // places, shadows
const PtxOperand *init_address(const PtxInstr *in);          // the memory operand; NULL: it has none
InitRule init_rule(const PtxInstr *in);
bool init_is_decision(const PtxInstr *in);                  // whether it runs matters beyond its destination
bool init_shares_shared(const PtxFunc *f);                  // shared memory of other blocks is written
bool init_strays(const InitCheck *k);                        // it stores through a pointer of unknown origin
const char *init_unfollowed(const PtxFunc *f);              // an instruction that writes memory in ways not followed; NULL: none
static inline PtxReg *init_shadow(const InitCheck *k, const PtxReg *r) { return k->shadow[r->id]; }
// --- initcheck_registers.c ---
void init_transfer(InitCheck *k, uint32_t i);               // the shadows of an instruction's results
// The or of shadows, as a 32-bit register that is zero if nothing is bad; NULL: nothing can be.
PtxReg *init_any(InitCheck *k, Code *c, PtxReg *const *shadows, unsigned n);
void init_clear(Code *c, PtxReg *shadow);                    // nothing of it is bad
// --- initcheck_memory.c ---
void init_access(InitCheck *k, uint32_t i);                 // loads, stores, atomics
// --- initcheck_said.c ---
void init_said(InitCheck *k, uint32_t i);
bool init_says(const InitCheck *k, uint32_t i);
bool init_unmarks(const PtxFunc *f);                        // says somewhere that memory counts as never written
// --- initcheck_use.c ---
void init_uses(InitCheck *k, uint32_t i);                   // reports what an instruction decides by bad bits

#endif
