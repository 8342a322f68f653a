// initcheck: declarations that the pass's files share. docs/initcheck.md says what is followed and
// what is reported.
//
// Every register that may hold data read from memory has a shadow register: its set bits mark data
// from memory that was never written. Shadows are computed next to the program's instructions; a
// set bit is reported where it decides something.
#ifndef WG_INITCHECK_INTERNAL_H
#define WG_INITCHECK_INTERNAL_H

#include "weave/pass.h"
#include "tools/initcheck/abi.h"
#include "tools/initcheck/kernel.h"
#include "tools/initcheck/kinds.h"
#include "tools/initcheck/follow_abi.h"

// How the shadow of an address is found.
typedef enum {
  PLACE_NONE,    // memory that counts as initialised: constants, parameters, textures
  PLACE_PARAM,   // the allocation a kernel parameter points into: in the launch record
  PLACE_LOOKUP,  // the allocation found last, else the table of all
  PLACE_SHARED,  // the block's part of WgLaunch.shared_shadow
  PLACE_LOCAL,   // a variable of the thread: in our own variable next to it
} InitPlaceKind;
typedef struct InitPlace {
  InitPlaceKind kind;
  uint32_t fact_at;   // PARAM: base, size, shadow in the record
  const PtxVar *var;  // LOCAL
  bool is_whole;      // of a store: all memory there is good, and storing a good value keeps it so
} InitPlace;

typedef struct InitProgram {  // Program.tool_data
  bool follows_shared;        // shared memory is followed
  bool uses_heap;             // the module calls malloc
  const char *unfollowed;     // an instruction of a function that is not followed
} InitProgram;
static inline InitProgram *init_program(const Program *p) { return p->tool_data[TOOL_INITCHECK]; }
enum { INIT_ONE_BY_ONE = 1 };                         // WeavePlan.tool_options: no regions
enum { INIT_MOST_GROUPS = 16, INIT_NO_GROUP = 255 };  // accesses of a region

typedef struct InitCheck {  // one function
  Body *body;
  IrProvenance *provenance;
  IrDefs *defs;
  InitPlace *place;       // by instruction
  InitPlace *source;      // … of cp.async: the memory it copies from
  PtxReg **shadow;        // by PtxReg.id; NULL: never holds anything bad
  PtxVar **local_shadow;  // by PtxVar.id of a .local variable; NULL: not followed
  bool shared_followed;
  VEC(WeaveFact) facts;
  bool reads_unknown;  // some read is not from the memory of a fact
  bool reads_own;  // … some is of followed memory of the thread or block: followed in both bodies
  uint32_t second;  // first instruction of the second body: it runs if all it reads is initialised
  PtxReg *cache_base, *cache_size, *cache_shadow;
  // of this block; bytes 0: not followed. shared_limit: shared_bytes in 32 bits
  PtxReg *shared_at, *shared_bytes, *shared_limit;
  // of the last bad read. derived: not 0 if it found a value computed from unwritten memory
  PtxReg *origin_address, *origin_site, *origin_derived;
  bool by_regions;  // tools/initcheck/weave_region.c
  // tools/initcheck/weave_clean_threads.c
  PtxReg *group_at[INIT_MOST_GROUPS], *group_in[INIT_MOST_GROUPS];
  // tools/initcheck/weave_settled_shared.c: a bit for each of the next barriers, set if the block
  // asks after it; NULL: it never asks
  PtxReg *asks;
  // … this thread has read something bad: only then are shadows of registers valid, in its memory
  PtxReg *dirty;
} InitCheck;

// --- tools/initcheck/weave_plan.c ---
void init_plan(InitCheck *k);                        // places, shadows
const PtxOperand *init_address(const PtxInstr *in);  // the memory operand; NULL: it has none
const PtxOperand *init_source(const PtxInstr *in);   // the address cp.async copies from
bool init_is_decision(const PtxInstr *in);  // whether it executes matters beyond its destination
bool init_shares_shared(const PtxFunc *f);  // blocks write each other's shared memory
bool init_strays(const InitCheck *k);       // it stores through a pointer of unknown origin
// an instruction that writes memory in a way that is not followed; NULL: none
const char *init_unfollowed(const PtxFunc *f);
static inline PtxReg *init_shadow(const InitCheck *k, const PtxReg *r) { return k->shadow[r->id]; }
// whether init_access has something to do
static inline bool init_is_followed(const InitCheck *k, uint32_t i) {
  uint32_t bytes = access_bytes(k->body->cfg->instrs[i]);
  return k->place[i].kind != PLACE_NONE && bytes && bytes <= 32;
}
// --- tools/initcheck/weave_rules.c: which rule of rules.def an instruction follows ---
typedef enum InitRule {
#define RULE(id, values) RULE_##id,
#include "tools/initcheck/rules.def"
#undef RULE
} InitRule;
InitRule init_rule(const PtxInstr *in);  // by the instruction alone
unsigned init_rule_values(InitRule rule);
enum { INIT_MOST_REGS = 64 };
// How the shadows of an instruction's results are computed.
typedef struct InitResult {
  InitCheck *k;
  const PtxInstr *in;
  InitRule rule;                                        // chosen with the shadows of its operands
  PtxReg *uses[INIT_MOST_REGS], *defs[INIT_MOST_REGS];  // registers with shadows; not the guard
  unsigned nuses, ndefs;
  PtxReg *spoiled_by;  // the guard: if it is bad, so are the results; NULL: they are not
} InitResult;
// false: it has no results with shadows, or they come from memory
bool init_result(InitCheck *k, const PtxInstr *in, InitResult *r);
bool init_can_follow(const InitCheck *k, const PtxInstr *in);  // steps can describe it
bool init_is_exchange(const PtxInstr *in);  // its result depends on other lanes' operands
// … and shadows are exchanged, too; lanes: those that take part
bool init_exchanges(const InitCheck *k, const PtxInstr *in, PtxOperand *lanes);
// for several values in one register: the bits of each; 0: one value
unsigned init_part_bits(const PtxInstr *in);
// of lop3; if one register is several operands, only the first counts
uint8_t init_table(const PtxInstr *in);
typedef struct InitComparison {
  bool order, swapped, is_signed;
} InitComparison;
// of integers. order false: for equality; true: a < b or >=. swapped: b < a or >=
InitComparison init_comparison(const PtxInstr *in);
// of integers: `from` bits of the operand, extended by their sign or by zeros, then cut to `to`
// bits
typedef struct InitConversion {
  unsigned from, to;
  bool is_signed;
} InitConversion;
InitConversion init_conversion(const PtxInstr *in);
// --- tools/initcheck/weave_region.c: one test after several accesses ---
bool init_can_use_regions(const InitCheck *k);
// weaves all of the function. cuts: by instruction: there is code before it now
void init_emit_regions(InitCheck *k, bool *cuts);
// --- tools/initcheck/weave_settled_shared.c: stops following shared memory once it is all good ---
// the thread's number in the block, and the number of threads
void init_find_thread(Code *c, PtxReg *thread, PtxReg *threads, PtxReg *word);
bool init_can_settle(const InitCheck *k);
void init_prepare_settle(InitCheck *k, Code *c);
void init_settle(InitCheck *k, uint32_t i, bool *cuts);  // after a barrier
// --- tools/initcheck/weave_steps.c: how shadows are computed from each other, as data for a call.
// See tools/initcheck/follow_abi.h ---
typedef struct InitValue InitValue;
typedef struct InitSteps {
  InitCheck *k;
  VEC(WgStep) steps;  // of all lists
  uint16_t *number;
  uint32_t nshadows;  // by register: the number of its shadow, 0: it has none yet
  // by register: it is dead at the end of its block. Numbers of such registers are reused; in the
  // end they follow all others
  bool *is_local;
  VEC(uint16_t) unused;
  uint32_t nlocal;
  // of the list being written. A value may take several numbers: a place takes three
  VEC(InitValue *) values;
  uint32_t nvalues;
  bool looks_up;
  uint32_t first;
  // numbers of shadows that are live after a list; by list: the step that ends it, and where its
  // numbers begin in `alive`
  VEC(uint16_t) alive;
  VEC(uint32_t) ends, alive_at;
  bool knows_alive;
  uint32_t last_alive;            // of the list being written
  PtxVar *area, *shadows, *list;  // values; shadows; steps
  VEC(PtxInstr *) counts;         // instructions to patch with the final number of shadows
} InitSteps;
// a variable of the module, before everything else; bytes 0: set later
PtxVar *init_new_variable(PtxModule *m, const char *name, uint32_t bytes);
InitSteps init_steps(InitCheck *k);
void init_steps_finish(InitSteps *s);
uint16_t init_shadow_number(InitSteps *s, const PtxReg *r);
void init_shadow_release(InitSteps *s, const PtxReg *r);  // it is dead
void init_steps_begin(InitSteps *s, bool looks_up);
void init_steps_uses(InitSteps *s, uint32_t i);  // bad bits that decide something in an instruction
void init_steps_access(InitSteps *s, uint32_t i);
void init_steps_transfer(InitSteps *s, uint32_t i);
void init_steps_clear(InitSteps *s, const PtxReg *r);
// registers that are live after the list: if none of them is bad, the thread is clean again
void init_steps_keep(InitSteps *s, const uint64_t *live);
void init_steps_call(InitSteps *s, Code *c);  // emits the call, for the active lanes
// --- tools/initcheck/weave_registers.c ---
void init_transfer(InitCheck *k, uint32_t i);  // the shadows of an instruction's results
// The or of shadows, as a 32-bit register that is zero if nothing is bad; NULL: none has a shadow.
PtxReg *init_any(InitCheck *k, Code *c, PtxReg *const *shadows, unsigned n);
void init_clear(Code *c, PtxReg *shadow);  // marks all of it good
// --- tools/initcheck/weave_memory.c ---
void init_access(InitCheck *k, uint32_t i);  // loads, stores, atomics
// the registers of an operand, at most 8; NULL: something else
void init_elements(const PtxOperand *o, PtxReg **out, unsigned *n);
const PtxOperand *init_stored(const PtxInstr *in);
// the value is loaded, some of its bits are replaced, and it is stored again: a bit field
bool init_sets_bits(const InitCheck *k, const PtxInstr *store);
// the value came from memory and was only moved
bool init_is_copy(const InitCheck *k, const PtxReg *r, unsigned depth);
// of a variable of the thread
void init_local_address(Code *c, PtxReg *to, const PtxVar *v, bool generic);
// The code for one access of a thread that has read nothing bad so far; used by init_clean_test and
// init_clean_mark. Bits of `all` are cleared if something is bad
void init_test_access(InitCheck *k, Code *c, uint32_t i, PtxReg *all, bool is_weak);
void init_mark_access(InitCheck *k, Code *c, uint32_t i, bool is_weak);
// --- tools/initcheck/weave_clean_threads.c: the accesses of a region, for threads that have read
// nothing bad so far ---
// accesses with one base register: the first of them, the widest, the range of their offsets.
// is_mixed: their sizes differ
typedef struct InitGroup {
  unsigned leader, widest;
  int64_t low, high;
  bool is_mixed, is_found, is_readable;
} InitGroup;
typedef struct InitClean {
  InitCheck *k;
  const uint32_t *accesses;
  unsigned n;
  InitGroup groups[INIT_MOST_GROUPS];
  unsigned ngroups;
  uint8_t group[INIT_MOST_GROUPS];  // by access
} InitClean;
InitClean init_clean(InitCheck *k, const uint32_t *accesses, unsigned n, bool can_follow);
bool init_clean_is_short(const InitClean *z);  // short enough to be inline
// bad = dirty || something that is read may be bad. init_clean_mark: marks stored memory as good
void init_clean_test(InitClean *z, Code *c, PtxReg *bad, PtxReg *dirty);
void init_clean_mark(InitClean *z, Code *c);
// --- tools/initcheck/weave_shadow.c: the shadow of the bytes of one access: 1, 2, 4, 8, 16 or 32
// bytes, aligned to their size ---
// is_weak: as for ordinary memory, the shadow may come from a cache. off: the access's offset in
// the object; shadow: where the object's shadow begins. The functions overwrite temporaries 3 to 7
// of 32 bits
typedef struct InitShadow {
  Body *body;
  PtxReg *off, *shadow;
  uint32_t bytes;
  bool is_private, is_weak;
} InitShadow;
// bit i of `bad`: byte i is bad. good: branches there if none is; NULL: does not branch
void init_read_shadow(const InitShadow *s, Code *c, PtxReg *bad, PtxLabel *good);
// clears bits of `all` if something is bad
void init_test_shadow(const InitShadow *s, Code *c, PtxReg *inside, PtxReg *all);
// Loads the shadow of whole words, at `offset` from s->shadow.
// high: of 32 bytes only
void init_load_shadow(const InitShadow *s, Code *c, int64_t offset, PtxReg *w, PtxReg *high);
void init_mark_good_at(const InitShadow *s, Code *c, PtxReg *in, int64_t offset);
void init_mark_good(const InitShadow *s, Code *c);  // with a guard only if it covers whole words
// to: not 0 if a byte was computed from unwritten memory
void init_read_derived(const InitShadow *s, Code *c, PtxReg *to);
// derived: the bad bytes that count as computed and not as never written; NULL: all of them
void init_write_shadow(const InitShadow *s, Code *c, PtxReg *bad, PtxReg *derived);
// The same in two steps: first compute the new state (init_…_state), then write it
// (init_store_state). If lanes of a warp store to the same address, they take the second step
// together, so that the final shadow belongs to the final value. Between the steps temporaries 3
// and 5 of 32 bits, 3 of 64 bits and predicate 1 are in use.
// cp.async of 4 to 16 bytes: takes the state of memory into one word, and puts it to another place.
// bytes: only so many are copied, the others become good; NULL: all
void init_take_state(const InitShadow *s, Code *c, PtxReg *state, const PtxOperand *bytes);
void init_put_state(const InitShadow *s, Code *c, PtxReg *state);
void init_good_state(const InitShadow *s, Code *c);
void init_bad_state(const InitShadow *s, Code *c, PtxReg *bad, PtxReg *derived);
void init_store_state(const InitShadow *s, Code *c);
// --- tools/initcheck/weave_heap.c ---
bool init_takes_memory(const PtxFunc *f);  // calls malloc
void init_heap(InitCheck *k, uint32_t i);  // … there
// the origin of a bad value, for a report. Overwrites temporary 5 of 64 bits and 7 of 32
void init_origin(InitCheck *k, Code *c, PtxReg *to);
// --- tools/initcheck/weave_annotations.c ---
void init_said(InitCheck *k, uint32_t i);
bool init_says(const InitCheck *k, uint32_t i);
bool init_says_anything(const PtxFunc *f);
bool init_unmarks(const PtxFunc *f);  // somewhere declares memory as never written
// --- tools/initcheck/weave_use.c ---
typedef void InitUse(void *user, PtxReg *r, unsigned what);  // WG_INIT_BRANCH …
// calls f for each register that decides something
void init_each_use(const PtxInstr *in, InitUse *f, void *user);
void init_uses(InitCheck *k, uint32_t i);  // reports bad bits that decide something

#endif
