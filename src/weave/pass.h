// A pass's view of a program, and how it adds code. docs/weave.md is the guide, execution_counts.c
// the example.
//
// A pass gets one function at a time as a Body: the instructions of the program in Body.cfg, in
// order and cut into basic blocks. It never sees probes, neither its own nor another pass's: what
// it adds is kept aside, in Codes hung before, after or instead of an instruction, and goes into
// the function when all passes have seen it. At one place the Codes of the passes stand in the
// order of the passes.
//
// Probes must not change what the program does: no shared memory, no barrier, no write to a
// register of the program.
#ifndef WG_WEAVE_PASS_H
#define WG_WEAVE_PASS_H

#include "probe/order_rules.h"
#include "weave/weave.h"
#include "ir/ir.h"

typedef struct Program Program;
typedef struct Body Body;

typedef struct Pass {
  void (*begin)(Program *p);  // before the first function; may be NULL
  // once for each function that is instrumented, before any pass sees it; may be NULL
  void (*prepare)(Program *p, PtxFunc *f);
  void (*weave)(Body *b);               // once for each function that is instrumented
  bool (*end)(Program *p, Error *err);  // after the last; may be NULL
  bool needs_writes;  // the host must know what a kernel writes: WovenKernel.writes
  // How many statements a kernel may have once calls are inlined; 0: calls may stay. The second is
  // for code that is not optimised (nvcc -G), where every function of a header is called.
  uint32_t inlines, inlines_debug;
  bool keeps_calls;  // nothing may be inlined
  // The tool needs no launch of a kernel that its pass added nothing to.
  bool only_checks_code;
  // If this tool runs alone: whether registers are spilled around this call out of line, so that
  // the compiler need not preserve them. May be NULL.
  bool (*spills_around)(const PtxInstr *call);
  // spills around all of them, however many registers that takes: they are hardly ever reached
  bool spills_always;
  // Programs are to allocate each object by itself, without the caches of frameworks.
  bool needs_each_object;
  // Its code uses block numbers in findings only: a launch may renumber its blocks
  // (WgReports.list).
  bool numbers_in_findings;
  bool hears_nvtx;  // programs are to tell what they annotate: pools of memory, ranges of work
  // Translates the user's options for the pass: WeavePlan.tool_options. plan: complete but for
  // those. May be NULL.
  unsigned (*options)(const struct Options *o, const WeavePlan *plan);
} Pass;
extern const Pass pass_none;
const Pass *pass_alone(const Program *p);  // weave.c: the one that runs; NULL: none, or several
#define TOOL(id, name, help) extern const Pass pass_##name;
#include "tools/tools.def"
// A program that links this folder may bring one pass of its own and run it by this bit of
// WeavePlan.tools: the tests do.
extern const Pass pass_test __attribute__((weak));
#define TOOL_BIT_TEST (1u << 31)

// --- second_body.c ---
// choose: true: the second one runs. A pass sets it at the entry
typedef struct SecondBody {
  PtxReg *choose;
  PtxLabel *start;
} SecondBody;
bool second_body_make(Program *p, PtxFunc *f, SecondBody *out);
uint32_t second_body_first(const Body *b);  // its first instruction; UINT32_MAX: there is none

// --- program.c: what is known about the functions of a program (PtxFunc.user while passes run) ---
typedef struct FuncInfo {
  PtxFunc *func;
  struct FuncInfo *target;  // a declaration or an alias: the definition, NULL if it is elsewhere
  uint32_t kernel;      // index of the only kernel it runs for; UINT32_MAX: several, or not known
  bool address_taken;   // called through a pointer; a kernel: launched from the device
  bool may_not_return;  // a call of it can end the thread
  // it reaches a function that may call itself, or is called through a pointer
  bool may_recurse;
  // calls functions of the program, directly or not: they read the launch record from the slot
  bool calls_functions;
  bool wanted;     // gets probes
  PtxVar *record;  // kernels: the added parameter, NULL if it has none
  PtxFunc *twin;
  bool is_twin;                   // twins.c
  unsigned tool_bits[TOOL_MOST];  // by ToolId: what a tool's pass has found out about it
  SecondBody second;
} FuncInfo;
static inline FuncInfo *func_info(const PtxFunc *f) { return f->user; }
// NULL: through a pointer, or not in the program (a probe, a function without a body)
FuncInfo *program_callee(const PtxInstr *call);
bool program_may_not_return(const PtxInstr *call);  // a thread that makes this call may end in it

typedef struct CallEdge {
  FuncInfo *from;
  const PtxInstr *call;
} CallEdge;
struct Program {
  PtxModule **units;
  uint32_t nunits;
  const WeavePlan *plan;
  Woven *out;
  Arena scratch;                    // gone when weave_module returns
  const char *prefix, *reg_prefix;  // no name of the program begins so: "__wg", "%wg_"
  PtxVar **slot;                    // by unit: see launch_record.c
  VEC(CallEdge) calls;
  VEC(PtxFunc *) declarations;  // of kernels that are defined later; launch_record.c
  bool launches_from_device;
  VEC(Site) sites;
  U64Map mnemonics;  // code.c
  PtxModule *probes;
  StrMap *probe_copies;        // probes.c; copies by unit
  struct Count *counts;        // execution_counts.h; NULL: executions are not counted
  void *tool_data[TOOL_MOST];  // by ToolId: what a tool's pass keeps from begin to end
};
bool program_survey(Program *p, Error *err);
// the number of a new Site of this instruction
uint32_t program_site(Program *p, Body *b, const PtxInstr *in);

// --- weave/find_writes.c ---
void writes_find(Program *p);  // fills what WovenKernel says of writes; before passes
// --- numerics.c ---
void numerics_find(Program *p);  // fills the same for approximations and order

// --- launch_record.c: how the launch record reaches the code ---
bool record_add_parameters(Program *p, Error *err);
// Loads a field of WgLaunch into a register. Valid in kernels and in functions.
struct Code;
void record_load(struct Code *c, PtxReg *to, unsigned offset);
bool record_can_point(const Body *b);  // record_address may be used
// a generic address in the kernel's record, for probes
void record_address(struct Code *c, PtxReg *to, unsigned offset);
// the process-wide number of a site of the module
void record_site(struct Code *c, PtxReg *to, uint32_t site);
// Reserves room after WgLaunch, 8-byte aligned. Returns its offset; 0: no room, or not a kernel
// with a record.
uint32_t record_reserve(Body *b, uint32_t bytes);
void record_fill_slot(Body *b);  // at the entry of kernels whose functions need it

// --- facts.c ---
// the number of a kernel's parameter; UINT32_MAX: it is none, or the kernel has no record
uint32_t facts_param(const Body *b, const PtxVar *v);
void facts_keep(Body *b, const WeaveFact *facts, uint32_t n);

// --- twins.c ---
// kernels launched from the device get a second form that keeps its signature
void twins_make(Program *p);

#define ARENA_APPEND(arena, list, n, more, nmore) \
  do { \
    void *grown = arena_alloc((arena), sizeof *(list) * ((n) + (nmore) + 1)); \
    if (n) memcpy(grown, (list), sizeof *(list) * (n)); \
    if (nmore) memcpy((char *)grown + sizeof *(list) * (n), (more), sizeof *(list) * (nmore)); \
    (list) = grown; \
    (n) += (nmore); \
  } while (0)

// --- body.c: one function while passes look at it ---
typedef struct Code {  // instructions to add at one place
  Body *body;
  uint32_t first, last;  // in Body.added, plus 1; 0: none
  PtxReg *guard;
  bool guard_negated;    // of what is emitted from now on
  const PtxInstr *near;  // whose source line it belongs to
} Code;
typedef struct Added {
  PtxStmt stmt;
  uint32_t next;
} Added;
typedef struct LoopCopy {  // loop_copy.c
  uint32_t first, end;     // instructions of the loop
  uint32_t from, to;       // its statements
  PtxReg *safe;
  PtxLabel *start, *leave;
  Code *decide;
  // labels that code out of line returns to, and their copies
  struct {
    PtxLabel *label, *copy;
  } * returns;
  uint32_t nreturns;
} LoopCopy;
// Checks that one tool's pass has planned and another tool's pass emits, around its own code.
typedef struct DeferredChecks {
  // by_regions: several checks may share a test. cuts: by instruction: the other pass has code
  // before it; NULL: nowhere
  void (*emit)(struct DeferredChecks *d, bool by_regions, const bool *cuts);
} DeferredChecks;
enum { BODY_TEMPS = 16 };
struct Body {
  Program *program;
  PtxFunc *func;
  FuncInfo *info;
  IrCfg *cfg;
  uint32_t unit;
  // by instruction; before[ninstrs]: the end of the body
  Code *entry, *cold, **before, **after, **instead;
  Code **before_once;  // by instruction: not in copies of the loop it is in
  PtxLabel **refused;  // by instruction: see body_refused_at
  VEC(LoopCopy) copies;
  VEC(Added) added;
  VEC(PtxReg *) regs;
  VEC(PtxLabel *) labels;
  VEC(PtxVar *) locals;
  PtxReg *temps[TYPE_COUNT][BODY_TEMPS];
  bool *copied;                 // by instruction: see body_copied
  DeferredChecks *deferred;     // NULL: there are none
  struct Counting *counting;    // execution_counts.h; NULL: executions are not counted
  uint32_t cold_from, cold_to;  // after body_close: the statements of body_cold
};
bool body_open(Body *b, Program *p, PtxFunc *f, uint32_t unit, Error *err);
bool body_is_changed(const Body *b);   // before body_close: something was added
bool body_close(Body *b, Error *err);  // puts everything into the function
Code *body_entry(Body *b);  // once for each call of the function, before its first instruction
// out of line, after the function: reached only by branches to labels in it
Code *body_cold(Body *b);
// all lanes that reach the instruction, whatever its guard
Code *body_before(Body *b, uint32_t i);
// the same, left out where the instruction is in a copied loop
Code *body_before_once(Body *b, uint32_t i);
Code *body_after(Body *b, uint32_t i);  // lanes that go on to the next instruction
// A check skips the access by a branch to this label, which begins body_after.
void body_refused_at(Body *b, uint32_t i, PtxLabel *label);
// Adds code for accesses that such a check skips. false: no check skips just this one.
bool body_if_refused(Body *b, uint32_t i, void (*emit)(Code *c, void *user), void *user);
Code *body_instead(Body *b, uint32_t i);  // the instruction goes; what is emitted takes its place
// Before everything that ends the function for a thread: ret, exit, and the end of the body. Guards
// are those of the instruction.
void body_at_exits(Body *b, void (*emit)(Code *c, void *user), void *user);
bool body_end_is_reached(const Body *b);  // threads end there without a ret
// The instruction is repeated elsewhere: what braces around it declare must be visible there.
void body_copied(Body *b, uint32_t i);
PtxReg *body_reg(Body *b, PtxType t);  // a new register, declared in the function
// one of a few that every piece of Code may overwrite
PtxReg *body_temp(Body *b, PtxType t, unsigned k);
PtxLabel *body_label(Body *b);
// memory of the thread; its size is the caller's to set, until body_close
PtxVar *body_area(Body *b, const char *name);
void body_declare(Body *b, PtxVar *area);
// a .param variable for a call; its declaration is the caller's to emit
PtxVar *body_param(Body *b, PtxType t);

// --- weave/cold_calls.c: calls out of line keep no register of the kernel; statements cold to
// cold_end ---
bool spare_registers(Program *p, PtxFunc *f, uint32_t unit, uint32_t cold, uint32_t cold_end,
                     Error *err);
// --- weave/split_registers.c: registers of tools, one for each value ---
bool split_registers(PtxFunc *f, Error *err);
typedef struct Spill Spill;
Spill *spill_begin(Body *b);
void spill_call(Spill *s, uint32_t call);  // a call that returns no value
void spill_end(Spill *s);

// --- constant.c: registers that are written at one place ---
// The only write of r; NULL: there are several, or it is guarded.
const PtxInstr *constant_write(const Body *b, const PtxReg *r);
// a number, or a register that always holds it
bool constant_value(const Body *b, const PtxOperand *o, int64_t *value);
// A size of the block or the grid, or a product of them: not 0, the same in all iterations of a
// loop.
bool constant_is_extent(const Body *b, const PtxOperand *o);

// --- scopes.c ---
// by statement: whether it is removed or moves to the top of the function.
bool *scopes_to_open(Body *b);

// --- loop_copy.c: a second copy of a loop, run in its place where `safe` holds ---
// The loop as one range of instructions and of statements; false: it is not one range.
bool body_loop_range(const Body *b, uint32_t loop, uint32_t *first, uint32_t *end, uint32_t *from,
                     uint32_t *to);
bool body_can_copy(const Body *b, uint32_t loop);
// where to set `safe`: once, when the loop is entered
Code *body_copy_loop(Body *b, uint32_t loop, PtxReg *safe);
const LoopCopy *loop_copy_begins(const Body *b, uint32_t stmt);
const LoopCopy *loop_copy_ends(const Body *b, uint32_t stmt);
void loop_copy_decide(Body *b, const LoopCopy *k);
// makes threads that have left the copy for code out of line return to the copy
void loop_copy_returns(Body *b, LoopCopy *k);
uint32_t loop_copy_size(const Body *b);  // statements to make room for
// gone: by statement, as scopes_to_open says
void loop_copy_install(Body *b, const LoopCopy *k, const bool *gone, PtxStmt **at);

// --- code.c: building instructions ---
static inline PtxOperand opd_reg(PtxReg *r) { return (PtxOperand){.kind = OPD_REG, .reg = r}; }
static inline PtxOperand opd_not(PtxReg *r) {
  return (PtxOperand){.kind = OPD_REG, .reg = r, .negated = true};
}
// The predicate under which an instruction runs, as an operand.
static inline PtxOperand opd_guard(const PtxInstr *in) {
  return in->guard_negated ? opd_not(in->guard) : opd_reg(in->guard);
}
static inline PtxOperand opd_imm(int64_t v) { return (PtxOperand){.kind = OPD_INT, .imm = v}; }
static inline PtxOperand opd_sreg(PtxSreg s, PtxSelector sel) {
  return (PtxOperand){.kind = OPD_SREG, .sreg = s, .selector = sel};
}
static inline PtxOperand opd_var(PtxVar *v) { return (PtxOperand){.kind = OPD_VAR, .var = v}; }
static inline PtxOperand opd_label(PtxLabel *l) {
  return (PtxOperand){.kind = OPD_LABEL, .label = l};
}
PtxOperand opd_at(Code *c, PtxOperand base, int64_t offset);         // [base + offset]
PtxOperand opd_vector(Code *c, const PtxOperand *list, unsigned n);  // {a, b}
// The mnemonic must be a string literal: it is looked up once for each.
PtxInstr *code_emit(Code *c, const char *mnemonic, const PtxOperand *ops, unsigned nops);
#define EMIT(c, mnemonic, ...) \
  code_emit((c), (mnemonic), (const PtxOperand[]){__VA_ARGS__}, \
            sizeof((const PtxOperand[]){__VA_ARGS__}) / sizeof(PtxOperand))
// by the size of the register, which is no predicate
void code_store_local(Code *c, PtxOperand to, PtxReg *r);
void code_load_local(Code *c, PtxReg *r, PtxOperand from);
void code_guard(Code *c, PtxReg *p, bool negated);                 // NULL: none
void code_branch(Code *c, PtxReg *p, bool negated, PtxLabel *to);  // @p bra; leaves no guard
void code_label(Code *c, PtxLabel *l);
void code_label_first(Code *c, PtxLabel *l);  // before what is there already
// a copy of an instruction of the program; its operands are shared
PtxInstr *code_instr(Code *c, const PtxInstr *in);
// Repeats an instruction with one result, which goes to a new register, the one returned. It reads
// `reads` of each register.
PtxReg *code_recompute(Code *c, const PtxInstr *in, PtxReg *(*reads)(void *user, PtxReg *r),
                       void *user);
void code_stmt(Code *c, PtxStmt s);
// Whether the register has this name of include/warpgrind.h, or name__1 for a second one in a
// function.
bool code_is_named(const PtxReg *r, const char *name);

// lanes: the active lanes of the warp; with a guard, those it lets pass. leads: true in the lowest
// of them, false in all others. lower: a register that holds %lanemask_lt; NULL: reads it here.
// Lanes need not stay together afterwards.
void code_elect(Code *c, PtxReg *lanes, PtxReg *leads, PtxReg *lower);
// A call of a function that returns nothing, for the lanes that pass the guard. Parameters are of 4
// or 8 bytes.
void code_call(Code *c, PtxFunc *f, const PtxOperand *args, unsigned nargs);
// A call of a function that returns 4 or 8 bytes.
void code_call_value(Code *c, PtxFunc *f, PtxReg *result, const PtxOperand *args, unsigned nargs);

// --- inline_calls.c ---
// Inlines calls in kernels where possible, but gives no kernel more than `most` statements. Runs
// before any other code sees the module.
void inline_calls(PtxModule *m, uint32_t most);

// --- heap_calls.c: malloc and free of device code ---
bool heap_calls(const PtxInstr *in, const char *name);
// the instruction of the block before (or after) the call that stores to (loads from) the
// variable; IR_NONE: not seen
uint32_t heap_partner(const IrCfg *cfg, uint32_t call, PtxOp op, const PtxVar *v);
// a call of malloc: the store of its argument and the load of its result; false: not found
bool heap_takes(const IrCfg *cfg, uint32_t call, uint32_t *store, uint32_t *load);

// --- copy_function.c ---
// A copy of a function in module `into`, under another name. Module-level variables must not occur
// in it unless it stays in its module; what it calls is kept.
PtxFunc *copy_function(PtxModule *into, const PtxFunc *f, const char *name);

// --- probes.c: device functions written in C (src/probe) ---
extern const char probe_text[];
const PtxFunc *probe_original(Program *p, const char *name);  // as it was compiled
// copied into the unit when first asked for
PtxFunc *probe_function(Program *p, uint32_t unit, const char *name);
void probes_free(Program *p);
// A finding as wg_report takes it: operands are constants or registers, of 8 bytes but for kind and
// size. size: bytes accessed, or a word of the tool's own; value, extra: what the kind carries.
typedef struct CodeReport {
  uint32_t site;  // program_site
  PtxOperand kind, size, address, value, extra;
} CodeReport;
void code_report(Code *c, const CodeReport *r);

// --- inline_probe.c: the code of a probe in the place of its call ---
// zero at first; one for each probe that a body puts in line
typedef struct InlinedRegs {
  const PtxFunc *of;
  PtxReg **regs;
} InlinedRegs;
// The probe calls nothing and has no memory of its own; c has no guard.
void code_inline(Code *c, const char *name, InlinedRegs *regs, PtxReg *result,
                 const PtxOperand *args, unsigned nargs);

// --- weave/early_value.c: values of registers at a later instruction of a basic block ---
enum { EARLY_MOST = 64 };
typedef struct Early {
  Body *body;
  uint32_t first;
  const PtxInstr *in[EARLY_MOST];
  PtxReg *reg[EARLY_MOST];
  unsigned n;
} Early;
Early early_begin(Body *b, uint32_t first);  // `first`: before it the values are wanted
// simple arithmetic or a comparison, of registers and constants: it may be repeated elsewhere
bool early_is_pure(const PtxInstr *in);
bool early_is_unwritten(const Early *e, const PtxReg *r, uint32_t at);  // between the two
bool early_is_known(const Early *e, const PtxReg *r, uint32_t at);      // early_value may be asked
// c: runs before `first`, always with the same Early
PtxReg *early_value(Early *e, Code *c, PtxReg *r, uint32_t at);

// --- access.c ---
unsigned access_type_bits(PtxType t);  // of one element in memory
// ldmatrix, stmatrix: the number of lanes, from lane 0 on, that give addresses of rows.
uint32_t access_matrix_lanes(const PtxInstr *in);
// wmma: rows (or columns) of a tile and what each has
bool access_tile_shape(const PtxInstr *in, uint32_t *lines, uint32_t *elements);
uint32_t access_bytes(const PtxInstr *in);  // of one thread; 0: not known before it runs
// [base + offset] into a register of 8 bytes
void access_address(Code *c, PtxReg *to, const PtxOperand *address);
// of a bulk copy's destination (0) and source (1); cluster: perhaps of another block
PtxSpace access_bulk_space(const PtxInstr *in, unsigned operand, bool *cluster);
// a load, store or atomic, kernel and call parameters excepted
bool access_is_memory(const PtxInstr *in);
const PtxVar *access_variable(const PtxInstr *in);  // the variable it addresses; NULL: none
// a parameter that becomes a local variable: an access of it follows
void access_param_to_local(PtxInstr *in);
WgOrders access_orders(const PtxInstr *in);  // by probe/order_rules.def
unsigned access_order(const PtxInstr *in);   // of an access or a fence: WG_ACCESS_…

#endif
