// The places of one kernel at which a thread can be suspended, and what is saved there. Shared by
// the files of the pass.
#ifndef WG_INTERRUPT_STOPS_H
#define WG_INTERRUPT_STOPS_H

#include "interrupt/interrupt.h"
#include "weave/pass.h"

typedef enum {
  STOP_CALL,     // of an interrupt: every thread that comes here is suspended
  STOP_BARRIER,  // bar.sync 0: if threads of the block are suspended
  STOP_WARP,     // an operation of several lanes: if one of them is suspended
  STOP_LOOP,     // the branch back of a loop that waits for memory: if any thread is suspended
  STOP_CLUSTER   // barrier.cluster.wait: if threads of the cluster are suspended
} StopKind;

typedef struct Stop {
  StopKind kind;
  uint32_t at;      // the instruction
  uint32_t number;  // 1, 2 …: what PLACE_STATE has
  // Registers that are saved: of 8 bytes, then of 4 and less, then predicates
  PtxReg **saved;
  uint32_t nwide, nnarrow, npreds;
  // Registers that are computed again: instructions, in order
  uint32_t *again;
  uint32_t nagain;
  uint32_t bytes;  // of the columns of its registers
  // STOP_CALL
  InterruptCall call;
  PtxReg *args[INTERRUPT_WORDS], *results[INTERRUPT_RESULT_WORDS], *served;
} Stop;

// How threads leave a block of which one is suspended, so that its shared memory is saved when all
// have left. All but COUNTED cost nothing where no thread is suspended.
typedef enum {
  LEAVING_COUNTED,   // each thread counts itself in shared memory, those that end, too
  LEAVING_TOGETHER,  // if one is suspended, all will be: those count themselves
  LEAVING_WAITS      // no barrier is left: a suspended thread waits at one until the others ended
} Leaving;

typedef struct Stops {
  Arena arena;
  PtxFunc *func;
  IrCfg *cfg;
  Stop *list;
  uint32_t n, ncalls;
  uint32_t nwide;      // columns of 8 bytes in a context; those of 4 are after them
  PtxReg *locals;      // holds the address of the thread's local variables; NULL: it has none
  bool uses_blocks;    // shared memory, barriers or operations of several lanes
  bool uses_warps;     // … operations of several lanes
  bool uses_async;     // asynchronous copies, which are waited for
  bool uses_bulk;      // … and those of bulk groups
  bool uses_clusters;  // barriers of a cluster
  bool *counted;       // by instruction, where it ends the thread: see settled.c
  Leaving leaving;
} Stops;

// Registers that every piece of code may overwrite.
static inline PtxReg *word(Code *c, unsigned k) { return body_temp(c->body, TYPE_B32, k); }
static inline PtxReg *wide(Code *c, unsigned k) { return body_temp(c->body, TYPE_B64, k); }
static inline PtxReg *pred(Code *c, unsigned k) { return body_temp(c->body, TYPE_PRED, k); }

// Passes that rewrite the same function one after another need names that differ.
typedef struct PassNames {
  const char *prefix, *reg_prefix;
} PassNames;
static inline PassNames names_use(Program *p, PassNames own) {
  PassNames before = {p->prefix, p->reg_prefix};
  p->prefix = own.prefix;
  p->reg_prefix = own.reg_prefix;
  return before;
}

// --- stops.c ---
bool stops_is_block_barrier(const PtxInstr *in);  // of all threads of the block
bool stops_is_call(const PtxInstr *in);           // of an interrupt
bool stops_has_calls(const PtxFunc *f);
bool stops_is_overflow(const PtxInstr *in);  // see MERGE_OVERFLOW
// false: err says what cannot be saved, and where. locals: as in Stops
bool stops_find(Stops *s, PtxFunc *f, PtxReg *locals, Error *err);
void stops_free(Stops *s);
void stops_mark_from(Arena *a, const IrCfg *c, uint32_t at, bool *marks);
// "file:line", or the line of PTX
const char *stops_place(Arena *a, const PtxFunc *f, const PtxInstr *in);
bool stops_refuse(Error *err, const PtxFunc *f, const PtxInstr *in, const char *what);

// --- settled.c ---
// Drops stops at which no thread can be missing; fills counted and leaving.
void settled_find(Stops *s);

// --- live.c: fills saved and again ---
bool stops_find_live(Stops *s, Error *err);
// Bits by PtxReg.id; behind: the instruction itself is not executed again
void stops_live_at(const IrCfg *c, const IrLiveness *live, uint32_t at, bool behind,
                   uint64_t *bits);

// --- trace.c ---
// The variable that a register points to, in code that is not optimised; NULL: it is not known
const PtxVar *trace_variable(const IrCfg *c, const IrDefs *defs, const PtxReg *r);

// --- describe.c ---
// Reads the program's description of the interrupt. v: the variable that the marker points to.
bool stops_describe(const PtxFunc *f, Arena *a, const PtxVar *v, InterruptCall *out);

// --- memory.c: variables of the kernel become memory that can be kept ---
// Bytes of the local variables, which move to memory of the launch; 0: there are none.
uint32_t locals_bytes(const PtxFunc *f);
void locals_move(PtxFunc *f, PtxReg *base);
// moves them to base + offset, which is local memory as well
void locals_move_by(PtxFunc *f, PtxReg *base, uint32_t offset);
// Joins the shared variables into one, `into`, and returns their bytes. *dynamic: the variable
// whose size the launch gives, NULL: none
uint32_t shared_join(PtxFunc *f, PtxVar *into, PtxVar **dynamic);

// The workspace of a cooperative launch stays the same when it is entered again.
void workspace_keep(PtxFunc *f, PtxVar *launch);

// --- mbarriers.c: those that only threads of the block arrive at become words of shared memory ---
bool mbarriers_replace(PtxFunc *f, Program *p, Error *err);

// --- named_barriers.c: so do barriers of a part of the block ---
bool named_barriers_replace(PtxFunc *f, Program *p, Error *err);

// --- pass.c ---
PtxVar *stops_new_shared(PtxFunc *f, const char *name, uint32_t bytes);
bool stops_address_taken(const PtxModule *m, const PtxFunc *f);
PtxReg *stops_new_register(PtxFunc *f, PtxType type, const char *name);  // nothing uses it yet

// --- merge.c: functions that call interrupts and cannot be inlined ---
#define MERGE_OVERFLOW INTERRUPT_REG_PREFIX "overflow"  // writes to it become emit_overflow
typedef enum { MERGE_DONE, MERGE_IMPOSSIBLE, MERGE_FAILED } MergeResult;  // FAILED: err
MergeResult merge_functions(PtxFunc *kernel, Program *p, uint32_t *stack_bytes, Error *err);

// --- listed.c: the second kernel, if only the blocks of InterruptLaunch.list enter it ---
// .b32 registers in place of %ctaid and %nctaid; NULL: it is not used
typedef struct Listed {
  PtxReg *at[3], *size[3];
} Listed;
bool listed_can_be(const PtxFunc *f);
void listed_replace(PtxFunc *f, Listed *out);

// --- emit.c ---
typedef struct Emitter {
  Body *body;
  const Stops *stops;
  PtxVar *launch;        // the added parameter
  PtxVar *block;         // shared memory: the program's own, then words; NULL: !uses_blocks
  uint32_t words_at;     // where in it the words are
  PtxVar *dynamic;       // the program's dynamic shared memory; NULL: none
  PtxReg *locals;        // as in Stops; of this function
  bool resumes;          // this is the second kernel
  PtxLabel **restored;   // by stop: where a thread goes on
  bool waits_at_entry;   // for the words of the block to be cleared
  bool aligned;          // warps reach barriers as a whole
  PtxReg *per_block;     // .b32: threads of a block; set at the entry. NULL: no barrier is left
  PtxReg *thread;        // .b64: its number
  PtxReg *place;         // .b32; the second kernel sets it at the entry
  uint32_t place_bytes;  // of one
  bool waits_for_room;   // there may be less room than for all threads
  const Listed *listed;  // the second kernel, if only some blocks enter it; NULL: all do
  PtxReg *number;        // .b32: of the block, set at the entry; NULL: special registers tell
  PtxLabel *leave;       // LEAVING_WAITS: where suspended threads wait; NULL: none does
} Emitter;
// Words in shared memory by which threads of a block know of each other.
// WORD_LEFT: threads that have left, and ONE_SUSPENDED for each that is suspended.
// WORD_SAVER: one of them saves the block. WORD_WARPS: the suspended lanes of each warp
enum { WORD_LEFT = 0, WORD_SAVER = 4, WORD_WARPS = 8, WORDS_BYTES = 8 + 32 * 4 + 8 };
enum { ONE_SUSPENDED = 1 << 16 };
void emit_thread_in_block(Code *c, PtxReg *to);    // .b32
void emit_block_threads(Code *c, PtxReg *to);      // .b32: how many a block has
void emit_block(Emitter *e, Code *c, PtxReg *to);  // .b64: of the block in the grid
void emit_listed(Emitter *e, Code *c);             // which block this is; before all else
void emit_wait_for_room(Emitter *e, Code *c, PtxReg *taken, bool slots);  // for a place or a slot
void emit_cluster(Code *c, PtxReg *to);      // .b32: of the cluster in the grid
void emit_this_thread(Emitter *e, Code *c);  // sets e->thread
void emit_overflow(Emitter *e, Code *c);     // the stack of the thread is full
void emit_suspend(Emitter *e, Code *c, const Stop *s);
void emit_dispatch(Emitter *e, Code *c);  // the entry of the second kernel

#define LAUNCH(field) ((unsigned)offsetof(InterruptLaunch, field))
static inline void load_launch(Emitter *e, Code *c, PtxReg *to, unsigned offset) {
  EMIT(c, "ld.param.u64", opd_reg(to), opd_at(c, opd_var(e->launch), offset));
}

// --- gate.c ---
void gate_emit(Emitter *e);  // the first kernel asks whether it may begin
// Tells the next launch and the host of news, or goes to `said` if the host does not ask.
void gate_tell(Emitter *e, Code *c, unsigned news, PtxLabel *said);

// --- clusters.c: all but the first do nothing where the kernel has no barrier of a cluster ---
// The first half of a barrier; IR_NONE: it is not in the same block, or others wait in between
uint32_t clusters_arrive_of(const IrCfg *c, uint32_t wait);
void cluster_check(Emitter *e, const Stop *s);
void cluster_mark(Emitter *e, Code *c);             // a thread is about to be suspended
void cluster_wait_for_others(Emitter *e, Code *c);  // the last thread of a stopped block
void cluster_enter_again(Emitter *e, Code *c);      // the second kernel, when memory is back

// --- blocks.c ---
void block_enter(Emitter *e, Code *c);  // at the entry of both kernels
void block_check(Emitter *e, const Stop *s);
void block_leave(Emitter *e, Code *c, bool suspended);  // ends the thread
void block_at_exits(Emitter *e);
void block_wait(Emitter *e);  // LEAVING_WAITS: the code at e->leave

#endif
