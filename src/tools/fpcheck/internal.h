// fpcheck: declarations that its files share. docs/fpcheck.md says what is looked for and why.
#ifndef WG_FPCHECK_INTERNAL_H
#define WG_FPCHECK_INTERNAL_H

#include "weave/pass.h"
#include "tools/fpcheck/abi.h"
#include "tools/fpcheck/kernel.h"

// Bits of WeavePlan.tool_options beside those of --fp-kinds (WG_FP_NAN …; none of them: all kinds).
// TESTS_ALL: test every instruction; FOLLOWS: --fp-flow
enum { FP_TESTS_ALL = 1 << 8, FP_FOLLOWS = 1 << 9 };
unsigned fp_options(const struct Options *o, const WeavePlan *plan);  // weave_options.c

// A value as an instruction sees it. Packed pairs are two values of one register.
// format: WgFpFormat; NONE: not floating point
typedef struct FpType {
  uint8_t format, packed;
} FpType;

typedef struct FpCheck FpCheck;
enum { FP_OPERANDS = 3, FP_UNLESS_NAN = 2 };
typedef struct FpOperation {
  WgFpOp op;
  FpType result;
  FpType types[FP_OPERANDS];
  PtxOperand *operands[FP_OPERANDS];
  unsigned n;
  unsigned kinds;  // of WG_FP_NAN …: exceptions that can be born here
  bool ftz;
  bool is_exponent;      // fp_is_exponent
  bool halves_from_two;  // cvt.f16x2.f32 d, a, b: a makes the upper half, b the lower
} FpOperation;

// --- tools/fpcheck/weave_opcodes.c: what an instruction does to floating-point values ---
FpType fp_type(PtxType t);
// Instructions a NaN, an infinity or a subnormal can be born in. false: not one of them.
bool fp_operation(const PtxInstr *in, FpOperation *out);
// mma and wmma on floating point
bool fp_is_matrix(const PtxInstr *in, FpType *result, FpType *a, FpType *b, FpType *c);
bool fp_operand_infinite(const PtxOperand *o);  // the constant +inf or -inf

// --- tools/fpcheck/weave_register_uses.c: by register: the instructions that name it, n of them
// from instr[start] on ---
typedef struct FpIndex {
  uint32_t *start, *n, *instr;
} FpIndex;
void fp_index_build(IrCfg *cfg, uint32_t nregs, FpIndex *reads, FpIndex *writes);
// by one of these instructions
bool fp_is_named(const FpIndex *x, const PtxReg *r, uint32_t from, uint32_t end);

// --- tools/fpcheck/weave_register_facts.c: facts about the registers of a function ---
typedef struct FpFlow {
  IrDefs *defs;
  FpIndex reads, writes;
  uint32_t nregs;  // registers of the program; ours come after them
  FpType *type;    // by register: what it holds, by dataflow; NONE: no floating point, or not known
  uint32_t *uses, *select_uses;  // by register: how often read, how often as a value of selp
  bool *made;  // by register: it may hold a result that an instruction of this function computed
  bool local_carries, shared_carries;  // fp_carries
  bool local_made, shared_made;        // … and some values stored there were made here
  bool makes, decides;  // some instruction computes; some compares. Else nothing can be found
  int *depth;           // by instruction: nested { } around it
} FpFlow;
FpFlow *fp_flow_build(Body *b);
void fp_flow_free(FpFlow *f);
// the only instruction that writes this register, or NULL
const PtxInstr *fp_def(const FpFlow *f, const PtxOperand *o);
// a constant, or a register written by one instruction only
bool fp_is_fixed(const FpFlow *f, const PtxOperand *o);
// brings a value in from outside the kernel
bool fp_is_input(const PtxFunc *f, const PtxInstr *in);
bool fp_is_own_difference(const PtxInstr *in);
// isnan, isinf, isfinite: asks, does not decide
bool fp_is_test(const FpFlow *f, const PtxInstr *in);

// --- tools/fpcheck/weave_library.c: values that library functions return in place of a result ---
bool fp_is_infinity(const FpFlow *f, const PtxOperand *o);  // the constant, of any format
// by its bits
bool fp_is_constant(const FpFlow *f, const PtxOperand *o, uint64_t single, uint64_t wide);
bool fp_is_largest(const FpFlow *f, const PtxOperand *o);
bool fp_is_library_nan(const FpFlow *f, const PtxOperand *o);
// one of the library's own functions: its result is tested at the call
bool fp_is_library(const PtxFunc *f);
// the upper word of a f64, as a f32: the library compares it to ask for a number's magnitude
bool fp_is_of_word(const FpFlow *f, const PtxOperand *o);
// as fp_operation, but knows the patterns of the library's functions
bool fp_result_of(const FpCheck *k, uint32_t i, FpOperation *out);
// arguments for which NaN is returned if they are NaN themselves
void fp_asked_for_nan(const FpFlow *f, const PtxReg *predicate, PtxReg *found[FP_UNLESS_NAN]);
// operand k of a selection; out: an operation that stands for it as if it were computed
bool fp_is_answer(const Body *b, const FpFlow *f, const PtxInstr *in, unsigned k, FpOperation *out);

// --- tools/fpcheck/weave_library_steps.c: intermediate values that these functions throw away ---
bool fp_is_step(const FpCheck *k, uint32_t i);
bool fp_is_exponent(const FpCheck *k, const PtxInstr *in);  // -inf is no exception there

// --- tools/fpcheck/weave_library_poles.c: infinity that they make from bits, or put into a
// register before they compare ---
bool fp_is_pole(const FpFlow *f, const PtxInstr *in, FpOperation *out);
// a constant in this block, which ends in a branch
bool fp_is_pole_in(const FpCheck *k, uint32_t block, const PtxInstr *in, FpOperation *out);
bool fp_is_logb_answer(const FpFlow *f, const PtxInstr *in, unsigned k, PtxOperand **x);

// --- tools/fpcheck/weave_computed_from.c ---
typedef bool FpIsIt(const FpFlow *f, const PtxReg *r, const void *wanted);
// The property to search for. whole: a result, true if all registers were visited.
typedef struct FpSearch {
  FpIsIt *is_it;
  const void *wanted;
  bool through_predicates, whole;
} FpSearch;
// Whether r was computed from a register with the property.
bool fp_made_of(const FpFlow *f, const IrCfg *cfg, const PtxReg *r, FpSearch *search);

// --- tools/fpcheck/weave_nan_markers.c: a NaN of the program's own, with the library's bits ---
// the NaN that is chosen by this predicate
bool fp_is_marker_if(const FpFlow *f, const IrCfg *cfg, const PtxReg *predicate);
bool fp_is_marker_in(const FpFlow *f, const IrCfg *cfg, uint32_t block);  // written in this block

// --- tools/fpcheck/weave_carry.c: local and shared memory that only holds values for a while ---
bool fp_carries(const FpFlow *f, const IrCfg *cfg, PtxSpace space);

// --- tools/fpcheck/weave_emit.c: tests, in groups ---
typedef enum {
  FP_ITEM_RESULT,
  FP_ITEM_COMPARE,
  FP_ITEM_SINK,
  FP_ITEM_FLOW,
  FP_ITEM_STORE
} FpItemKind;
enum { FP_CONDITIONS = 7 };
typedef struct FpCondition {
  PtxReg *reg;
  bool negated;
} FpCondition;
#define FP_ALWAYS ((FpCondition){NULL, false})
typedef struct FpItem {  // one instruction whose values are looked at in the slow path
  FpItemKind kind;
  uint32_t instr;
  FpOperation operation;
  PtxOperand result;
  bool nan_only;     // infinity may get here: only NaN counts
  bool unless_zero;  // a division that is discarded if its divisor is zero: nothing is born then
  // also not reported if one of these is NaN: f32, or its bits; NULL: no more
  PtxReg *unless_nan[FP_UNLESS_NAN];
  bool implied;  // redundant: another item of the group is exceptional whenever this one is
  // the register with the store's address; kind OPD_NONE: not known, or not global memory
  PtxOperand address;
  int64_t offset;
  FpCondition conditions[FP_CONDITIONS];
  unsigned nconditions;  // all must hold
} FpItem;

// Values of a group that are merged before they are tested: one comparison then tells whether any
// of them is exceptional.
typedef enum {
  FP_GATHER_F32,
  FP_GATHER_SUBNORMAL,
  FP_GATHER_F64,
  FP_GATHER_PAIRS,
  FP_GATHER_NAN32,
  FP_GATHER_NAN64,
  FP_GATHERS
} FpGather;

struct FpCheck {  // one function
  Body *body;
  FpFlow *flow;
  unsigned kinds;
  bool follow;          // --fp-flow
  uint32_t first, end;  // the range of instructions to test
  PtxReg *fired;        // some test of the group at hand was positive
  // slow path: the questions still open, a bit each; the word of the current question
  PtxReg *asked, *what;
  PtxReg *arguments[4], *wide_arguments[4];  // … and its values
  // fast mode: this thread has reached a sink; it is running again through the full body. NULL:
  // threads cannot run again
  PtxReg *seen, *repeats;
  PtxLabel *again;  // decides whether the thread runs again
  // fast mode, by instruction: this thread may already have done something that others see. NULL:
  // threads do not start over
  bool *done_before;
  PtxLabel *full;   // where a thread that starts over continues
  bool asks_first;  // some slow path cannot start over: the body is also chosen at the beginning
  bool only_tells;  // the current slow path is for a launch's first exception: threads start over
  bool knows;       // known exceptions have been counted before the current slow path
  // some slow path returns to code with work left: `seen` is tested at the thread's end
  bool asks_at_end;
  uint32_t next;  // the instruction after the current group
  uint32_t late;  // the instruction before which the body is chosen; 0: at the very beginning
  bool open;      // the group has a test already, whose outcome is in `fired`
  bool gathers;   // tests may be merged: call fp_close_tests before reading `fired`
  PtxReg *gathered[FP_GATHERS];
  unsigned has_gathered;  // a bit for each that holds something
  VEC(FpItem) items;      // of the group at hand
  VEC(PtxReg *) kept;     // registers its slow path will read
  uint32_t loop_tests;    // most values that one branch of such a loop serves
  IrLiveness *live;       // when it is needed
  struct FpLoops *loops;  // NULL: slow paths return to where they came from
  struct FpClone *clone;  // the code goes into a second body; NULL: into the function itself
  // fast mode: the counter that says when to test the kernel everywhere; -1: none
  int64_t hot;
  unsigned remembered;  // stores whose slow paths remember what they store without a call
  StrMap sites;         // the instructions of a source line share sites
};

// Adds a test of a value to the group: is it NaN, infinite or (if asked for) subnormal? For lanes
// the guard, if any, lets pass.
// guard: without a register it is always tested
void fp_test_value(FpCheck *k, Code *c, FpType t, PtxOperand value, bool subnormal,
                   FpCondition guard);
void fp_test_nan(FpCheck *k, Code *c, FpType t, PtxOperand a, PtxOperand b, FpCondition guard);
// of a saturating conversion; false: its limit is not known
bool fp_test_overflow(FpCheck *k, Code *c, const PtxInstr *in, const FpOperation *o);
void fp_close_tests(FpCheck *k, Code *c);  // adds the merged tests to `fired`
void fp_add_item(FpCheck *k, FpItem item);
// the group must be tested before this instruction: it branches away, or overwrites registers that
// the tests read
bool fp_must_close_before(const FpCheck *k, uint32_t i);
PtxOperand fp_widen16(FpCheck *k, Code *c, PtxOperand v, unsigned temp);
unsigned fp_parts(const FpOperation *o);  // how many values a saturating conversion takes
// its bits, in a temporary
PtxOperand fp_test_part(FpCheck *k, Code *c, const PtxInstr *in, const FpOperation *o,
                        unsigned part, unsigned temp);
// branch to the slow path of all items; in_place: the slow path is emitted here
void fp_close_group(FpCheck *k, Code *c, bool in_place);
// d, a, b, c
void fp_check_matrix(FpCheck *k, uint32_t i, FpType types[4], const PtxOperand operands[4]);

// --- tools/fpcheck/weave_slow.c: the slow path of a group ---
typedef struct FpHead {
  PtxOperand channel, launch, site;
} FpHead;
void fp_look_closely(FpCheck *k, Code *c, const FpItem *items, uint32_t n);

// --- tools/fpcheck/weave_defer.c: results that matter only if a selection takes them, or if a
// store under a predicate stores them ---
enum { FP_RESULTS = 48 };  // of one store: they stay in registers until the store
typedef struct FpDeferred {
  uint32_t *owner;      // by instruction: who decides about it, plus 1; 0: it matters by itself
  uint32_t *store;      // by guarded store: the one of its group that decides, plus 1; else 0
  uint8_t *selections;  // by deciding instruction: the selections it decides about
  uint32_t *results;    // … the results it decides about
  bool *shuffles;       // … some of these are values of other lanes
} FpDeferred;
// root: number of the deciding instruction, plus 1. paths: the conditions under which instructions
// are reached
typedef struct FpItems {
  FpItem *data;
  uint32_t len, cap, visits, root;
  VEC(FpItem) paths;
} FpItems;
const FpDeferred *fp_deferred_build(FpCheck *k);
bool fp_is_pack(const PtxInstr *in);  // mov d, {a, b}
// values that the selection may have taken, with their conditions
void fp_deferred_items(FpCheck *k, const FpDeferred *f, uint32_t selection, FpItems *out);
// values the operand was computed from, if the same instruction decides about them
void fp_deferred_gather(FpCheck *k, const FpDeferred *f, const PtxOperand *o, const FpItem *so_far,
                        FpItems *out);
// no instruction between the two writes it
bool fp_lasts(const FpFlow *f, const PtxOperand *o, uint32_t from, uint32_t until);

// --- tools/fpcheck/weave_guarded_store.c: results that only a store under a predicate reads ---
bool fp_is_guarded_store(const FpCheck *k, uint32_t i);
bool fp_check_guarded_store(FpCheck *k, const FpDeferred *f, uint32_t i);

// --- tools/fpcheck/weave_one_exit.c: results that are read on only one way out of their block ---
bool fp_is_live(FpCheck *k, uint32_t block, const PtxReg *r);  // at the block's beginning
bool fp_is_late(FpCheck *k, const FpDeferred *f, uint32_t block, uint32_t i, FpCondition *way);

// --- tools/fpcheck/weave_guarded_quotient.c: quotients that are taken unless the divisor is zero
// ---
bool fp_asks_for_zero(const FpCheck *k, uint32_t i, const FpOperation *o);

// --- tools/fpcheck/weave_clone.c: a second body of the function, after the first; the places where
// code is woven ---
Code *fp_before(FpCheck *k, uint32_t i);
Code *fp_after(FpCheck *k, uint32_t i);
bool fp_can_clone(const FpCheck *k);
void fp_clone_begin(FpCheck *k);  // from now on code is woven into the second body
void fp_clone_end(FpCheck *k);
PtxLabel *fp_clone_label(const FpCheck *k);

// --- tools/fpcheck/weave.c ---
// loads the two words of the kernel's counter; lanes without a counter get 0
void fp_load_counter(FpCheck *k, Code *c, const char *load, PtxReg *has, PtxReg *hot,
                     PtxReg *known);
// flags: of the launch; hot, known: the counter's words; yes: the answer
typedef struct FpCounter {
  PtxReg *flags, *hot, *known, *yes;
} FpCounter;
void fp_ask_counter(FpCheck *k, Code *c, FpCounter n, bool sampled);

// --- tools/fpcheck/weave_loops.c: loops whose tests branch to slow paths outside ---
void fp_loops_find(FpCheck *k);
// where the slow path of a test at this instruction continues
PtxLabel *fp_loop_resume(FpCheck *k, uint32_t instr, PtxLabel *resume);
void fp_loops_copy(FpCheck *k);  // call when the first body is complete
void fp_loops_ask_registers(const FpCheck *k, WovenKernel *kernel);

// --- tools/fpcheck/weave_rerun.c: threads that came to a sink run again through the full body ---
bool fp_can_run_again(FpCheck *k);
void fp_again_mark(FpCheck *k, Code *c);
void fp_again_never(FpCheck *k, Code *c);  // the full body runs, but not as a repetition
bool fp_again_at_once(const FpCheck *k);   // nothing but the end follows the current group
void fp_again_weave(FpCheck *k, PtxLabel *full);

// --- tools/fpcheck/weave_restart.c: threads that came to a sink start over in the full body ---
void fp_over_find(FpCheck *k);
// the open group must be closed before this instruction, so that its threads can start over
bool fp_over_closes_before(const FpCheck *k, uint32_t i);
bool fp_over_can(const FpCheck *k);                         // at the current group
void fp_over_weave(FpCheck *k, Code *c, PtxLabel *resume);  // its slow path

// --- tools/fpcheck/weave_stores.c: instructions that store exceptions ---
bool fp_store_address(const PtxInstr *in, PtxOperand *address, int64_t *offset);
bool fp_check_stores(FpCheck *k, uint32_t i);  // full mode

// --- tools/fpcheck/weave_flow_ends.c: --fp-flow ---
bool fp_check_flow(FpCheck *k, uint32_t i);

// --- tools/fpcheck/weave_full.c, tools/fpcheck/weave_fast.c ---
// operands that the instruction overwrites are copied before it
void fp_save_overwritten(FpCheck *k, uint32_t i, FpOperation *o);
void fp_weave_full(FpCheck *k);
void fp_weave_fast(FpCheck *k);

#endif
