// memcheck: declarations that the pass's files share. docs/memcheck.md says how accesses are
// checked and why so.
#ifndef WG_MEMCHECK_INTERNAL_H
#define WG_MEMCHECK_INTERNAL_H

#include "weave/pass.h"
#include "tools/memcheck/abi.h"
#include "tools/memcheck/kinds.h"

// WeavePlan.tool_options: a bad access ends the launch; every access is tested by itself
enum { MEMCHECK_STOPS = 1, MEMCHECK_ONE_BY_ONE = 2 };
static inline bool memcheck_stops(const Body *b) {
  return b->program->plan->tool_options[TOOL_MEMCHECK] & MEMCHECK_STOPS;
}

// How one address of one instruction is checked. Everything but LOOKUP is two or three
// instructions; what fails there goes to the exact test out of line.
typedef enum CheckKind {
  CHECK_NOTHING,     // always inside, or not checked by this tool
  CHECK_ALWAYS_BAD,  // always outside or misaligned: the exact test says which
  CHECK_INDEX,       // 32-bit index < limit: a constant, or a word of the launch record
  CHECK_RANGE,       // address - base <= last, both in the launch record
  CHECK_VARIABLE,    // the same for a variable: address - its address <= constant
  CHECK_DYNAMIC,     // the same for dynamic shared memory: its size is a special register
  // an address of shared memory of unknown origin: inside of the block's shared memory
  CHECK_WINDOW,
  CHECK_LOOKUP,  // found in the table of all allocations, or in the range found last
} CheckKind;

typedef struct Check {
  CheckKind kind;
  uint32_t instr;
  unsigned operand;
  PtxSpace space;   // of the address: global, shared, local, const, param; generic: not known
  uint32_t access;  // WG_ACCESS_…
  uint32_t bytes;   // 0: in `size`
  // bytes accessed, when they are known at run time only; may be 0, except with `lanes`
  const PtxOperand *size;
  // … and the block in which they become so, if that is before the access; UINT32_MAX: only there
  uint32_t size_at;
  uint32_t align;   // the address must be a multiple of it
  bool test_align;  // it is not known to be one before the program runs
  IrAddress address;
  PtxReg *index;  // INDEX; NULL: index 0
  int32_t bias;   // INDEX: what is added to the index before it is compared
  // INDEX: constant limit, -1: in the record; VARIABLE: the last offset that is inside
  int64_t limit;
  uint32_t limit_at;  // INDEX: where in the record
  // RANGE and INDEX of a parameter: base and last for an access of `bytes`; 0: none
  uint32_t range_at;
  uint32_t group_range_at;  // RANGE: the same for all of its group
  const PtxVar *var;
  // var is one of several in it, and where; NULL: it is by itself
  const PtxVar *frame;
  int64_t frame_at;
  // of an instruction that all lanes of a warp execute together (ldmatrix, wmma): how many of them
  // give an address; 0: any other instruction
  uint32_t lanes;
  uint32_t cache;  // LOOKUP: which of Memcheck.caches
  bool inserts;    // a load for a store of a part of what it loads
  bool hoisted;    // tested before the loop it is in; see tools/memcheck/weave_loops.c
  // Addresses that differ by constants, tested once: see tools/memcheck/weave_group.c
  uint32_t leader;     // number of the check that tests for all of the group; its own: none does
  bool leads;          // others rely on it
  bool leads_hoisted;  // … and all of them are hoisted
  int64_t low, high;   // leader: bytes of the group, from its own base register or index on
  PtxReg *bad;         // leader: the result
  // in place of the operand's own, where the test stands before what computes that; NULL: the
  // operand's
  const PtxOperand *base;
} Check;

enum { MEMCHECK_CACHES = 4, MEMCHECK_EXTENTS = 8 };
// (stride * factor + more) / 8
typedef struct Extent {
  const PtxReg *stride;
  uint32_t factor, more;
  const PtxOperand *size;
  uint32_t size_at;
} Extent;
// Tests of indices that have one branch, before instruction `at`; see
// tools/memcheck/weave_indices.c
enum { INDEX_TESTS_MOST = 32 };
typedef struct IndexTests {
  uint32_t at, list[INDEX_TESTS_MOST];
  unsigned n;
  bool hoisted;  // left out of copies of the loop they are in
} IndexTests;

typedef struct Memcheck {   // one function
  DeferredChecks deferred;  // for initcheck; first, so that one is the other
  Body *body;
  IrProvenance *provenance;
  IrDefs *defs;
  IrAlignment *alignment;
  IrRanges *ranges;  // NULL: not computed yet
  Check *checks;
  uint32_t nchecks;
  uint32_t *check_of;   // by instruction: first check, UINT32_MAX none
  bool *hoisted_tests;  // by instruction: a test of an index that a copy of its loop does without
  VEC(IndexTests) index_tests;
  bool *cuts;  // by instruction: no region of accesses goes on here
  VEC(WeaveFact) facts;
  // of tiles: computed where the distance of their lines is
  Extent extents[MEMCHECK_EXTENTS];
  unsigned nextents;
  struct {
    PtxReg *base, *last;
  } caches[MEMCHECK_CACHES];  // LOOKUP: ranges found last
} Memcheck;

// --- tools/memcheck/weave_plan.c ---
void memcheck_plan(Memcheck *m);  // fills checks
void memcheck_plan_address(Memcheck *m, Check c);
// --- tools/memcheck/weave_wide.c: copies and matrices ---
bool memcheck_plan_wide(Memcheck *m, uint32_t instr);  // false: it is neither
// a copy that is left out: its bytes still count at its mbarrier
void memcheck_complete(Memcheck *m, Code *code, const PtxInstr *in);
void memcheck_emit_together(Memcheck *m, Check *c);  // for checks with lanes
// --- tools/memcheck/weave_group.c ---
// one test for several addresses; and room in the launch record for what the tests need
void memcheck_group(Memcheck *m);
// --- tools/memcheck/weave_loops.c ---
void memcheck_hoist(Memcheck *m);  // sets hoisted where a loop's checks are done before it
// --- tools/memcheck/weave_quick_test.c ---
// the address in a register of 8 bytes
PtxReg *memcheck_address(Memcheck *m, Code *code, const Check *c, unsigned temp);
// where the object begins and what it has; 0: not known
void memcheck_object(Code *code, const Check *c, PtxReg *base, PtxReg *size);
// set where the quick test fails and the access would be made
PtxReg *memcheck_test(Memcheck *m, Code *code, const Check *c);
// what is bad is so only where the instruction is executed
void memcheck_guarded(Code *code, const PtxInstr *in, PtxReg *bad);
// not 0: one of the addresses is misaligned
void memcheck_gather_low_bits(Memcheck *m, Code *code, const Check *c, PtxReg *bits);
// --- tools/memcheck/weave_region.c ---
// all checks. cuts: DeferredChecks
void memcheck_emit_regions(Memcheck *m);
// --- tools/memcheck/weave_heap.c ---
void memcheck_heap(Memcheck *m);  // what malloc and free of device code do
// --- tools/memcheck/weave_texture.c, tools/memcheck/weave_surface.c ---
void memcheck_textures(Memcheck *m);
void memcheck_surfaces(Memcheck *m);
// --- tools/memcheck/weave_unaligned.c ---
// Behind the report of a bad access: a misaligned one may be performed, and goes on at `after`.
void memcheck_load_bytes(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address,
                         PtxLabel *after);
// --- tools/memcheck/weave_inserts.c ---
bool memcheck_inserts(const Memcheck *m, const Check *c);
// --- tools/memcheck/weave_indices.c ---
// fills index_tests and cuts: those that are given (NULL: none), and more
void memcheck_find_index_tests(Memcheck *m, const bool *cuts);
void memcheck_emit_index_tests(Memcheck *m, const IndexTests *t);
// For a branch that serves checks of accesses, too. Is all known there? any: set where one fails;
// any_is_set: something has set it already
bool memcheck_can_test_at(const Memcheck *m, const IndexTests *t, uint32_t at);
void memcheck_add_index_tests(Memcheck *m, const IndexTests *t, Early *e, Code *c, PtxReg *any,
                              bool any_is_set);
void memcheck_report_index_tests(Memcheck *m, const IndexTests *t, Early *e, Code *c);
bool memcheck_is_index_test(const PtxInstr *in);
// --- tools/memcheck/weave_index_loops.c: before the loop; sets hoisted_tests ---
void memcheck_hoist_index_tests(Memcheck *m, uint32_t loop, Code *c, PtxReg *safe);
// --- tools/memcheck/weave_emit.c ---
void memcheck_emit(Memcheck *m, Check *c);
uint32_t memcheck_site(Memcheck *m, const Check *c);  // a new one
// kind = the verdict: 0, or the kind of finding
void memcheck_emit_exact(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address);
// the access in one word: WG_WHAT_… of abi.h
uint32_t memcheck_what(const Memcheck *m, const Check *c);
// Ends the launch if memcheck_stops, for threads with `bad`; NULL: for all.
void memcheck_stop(Code *code, PtxReg *bad);
void memcheck_report(Memcheck *m, Code *code, const Check *c, PtxReg *kind, PtxReg *address);
void memcheck_zero(Code *code, PtxInstr *in);  // what a load that is not made gives

#endif
