// Core of the virtual device: modules, decoded code, launches. Families see warp.h only.
#ifndef WG_VGPU_CORE_H
#define WG_VGPU_CORE_H

#include <pthread.h>

#include "vgpu/warp.h"

// --- module.c ---
// one function after linking; its address is the device's function pointer
typedef struct FuncSym FuncSym;
struct FuncSym {
  const char *name;
  PtxFunc *func;    // the definition; NULL: builtin or unresolved
  ExecFn *builtin;  // vprintf, malloc …
  VgpuModule *module;
  bool address_taken;
};
// global and const variables after linking
typedef struct RegRange {
  uint32_t from, to;
} RegRange;
typedef struct VarSym {
  PtxVar *var;
  char *address;
} VarSym;

struct VgpuModule {
  PtxModule **units;
  uint32_t nunits;
  Arena arena;
  StrMap functions;  // visible name -> FuncSym
  StrMap variables;  // visible name -> VarSym
  VEC(VgpuKernel *) kernels;
  VEC(VarSym *) vars;
  VEC(FuncSym *) funcs;
  char *memory;
  size_t memory_bytes;   // all its variables
  pthread_mutex_t lock;  // decoding
};
// The meaning of a name inside one unit. Both follow .extern to the definition; NULL: unresolved.
FuncSym *function_symbol(const PtxFunc *f);
VarSym *variable_symbol(const PtxVar *v);

struct VgpuKernel {
  VgpuModule *module;
  FuncSym *sym;
  VgpuKernelInfo info;
  bool ready;                                // decoded
  Error error;                               // why not
  Code *code;                                // of the entry
  U64Map codes;                              // FuncSym* -> Code*, decoded for this kernel
  U64Map shared_offset;                      // PtxVar* -> offset + 1; UINT32_MAX: dynamic_base
  uint32_t shared_static_end, dynamic_base;  // offsets
  uint32_t local_static;                     // bytes of local memory per thread without recursion
  bool recursive;                            // recursion or indirect calls: needs the stack limit
  struct Group *spare_groups;                // kept for the next launch; engine's
};
bool kernel_prepare(VgpuKernel *k, Error *err);  // decodes once; thread-safe
bool kernel_shared_offset(const VgpuKernel *k, const PtxVar *v, uint32_t *offset);

// --- decode.c ---
// Bytes after the registers that an instruction may touch if it takes a register for a wider one:
// never the host's memory.
enum { REG_MARGIN = 16 * LANES * 4 };
enum { MOST_LOCAL = 1 << 20 };  // bytes of local memory of a thread; a GPU has 512 KB
struct Code {
  Arena arena;
  VgpuKernel *kernel;
  FuncSym *sym;
  PtxFunc *func;
  Inst *insts;
  uint32_t ninsts;
  uint32_t reg_bytes;  // registers of one frame; REG_MARGIN bytes after them may be touched
  uint32_t const_start, const_bytes;  // constant slots in it, filled from `constants`
  char *constants;
  uint32_t local_bytes;     // frame in local memory
  bool has_unsupported;     // some instruction cannot be executed
  U64Map local_offset;      // PtxVar* -> offset + 1
  uint32_t nregs32;         // estimate of machine registers
  RegRange program[2];      // bytes of registers of the program; others belong to probes
  const uint32_t *slots;    // PtxReg.id -> slot; UINT32_MAX: never used
  U64Map deciding;          // watch.c
  struct Regions *regions;  // compiled forms; NULL: there are none
};
Code *code_decode(VgpuKernel *k, FuncSym *f, Error *err);
void code_free(Code *c);

// --- families.c: the bind functions, chosen for this CPU ---
typedef struct Families {
  BindFn *arith, *memory, *texture, *warp, *mma;
} Families;
extern Families vgpu_families;

// --- slots.c: registers -> slots, by liveness ---
// slot[PtxReg.id], UINT32_MAX: never used
typedef struct SlotMap {
  uint32_t *slot;
  uint32_t bytes, nregs32;
  RegRange program[2];  // predicates, and the others
} SlotMap;
void slots_assign(const IrCfg *cfg, SlotMap *out, Arena *a);
unsigned slot_width(PtxType t);  // bytes per lane of a register of this type; 0: predicate

// --- control.c ---
ExecFn exec_jump, exec_branch, exec_branch_indexed, exec_join, exec_return, exec_exit, exec_call,
    exec_call_indirect, exec_trap, exec_guarded, exec_unsupported, exec_yield_hint;
typedef struct CallSite {
  FuncSym *callee;  // direct
  uint32_t nargs, nrets;
  // each argument and result: a local-memory variable of the caller, or a register slot
  struct CallValue {
    bool is_slot;
    uint32_t where;
    uint32_t size;
  } * args, *rets;
} CallSite;
// Splits lanes off the running fragment, as a new one that goes on at `pc`.
void warp_split_lanes(Warp *w, const Inst *pc, uint32_t lanes);
bool warp_pick(Warp *w);  // chooses a ready fragment and loads it; false: none
void warp_start(Warp *w, const Code *code, char *regs);
void warp_free_frames(Warp *w);

// --- barrier.c ---
void barrier_lanes_exited(Block *b);  // fewer threads are expected now
// nothing can run: let one warp-level wait go on; false: a deadlock
bool block_release_stuck(Block *b);
// kind: 0 sync 1 arrive 2 red
typedef enum { RED_NONE, RED_POPC, RED_AND, RED_OR } BarrierRed;
typedef struct BarrierDesc {
  uint8_t kind;
  uint8_t red;
  bool has_count, negate;
} BarrierDesc;
// bar.*, barrier.*, nanosleep, exit … : all of CONTROL that is not a jump or call
bool bind_control(Binder *b);

// --- builtin.c ---
typedef struct Builtin {
  const char *name;
  ExecFn *fn;
} Builtin;
ExecFn *builtin_native(const char *name);  // native.c; NULL: none
ExecFn *builtin_find(const char *name);  // vprintf, malloc, free, __assertfail …; NULL: not ours
// Reads argument i of a lane in the running builtin call. cs: the caller's CallSite.
uint64_t builtin_arg(Warp *w, const CallSite *cs, unsigned lane, unsigned i);
void builtin_result(Warp *w, const CallSite *cs, unsigned lane, uint64_t value);

// --- device_runtime.c ---
typedef struct ChildWork ChildWork;  // a kernel, copy or set that a kernel asked for
extern const Builtin device_runtime_builtins[];
// runs what the grid's kernels launched, after the grid's own blocks
VgpuStatus device_runtime_finish(Launch *l, VgpuStatus s, VgpuFault *fault);

// --- region/region.c: compiled code behind the interpreter ---
typedef struct Regions Regions;
void region_configure(VgpuJit mode);
bool region_is_on(void);
// How the lanes of a warp lie in columns and rows of blocks of this shape; 0: no known way.
uint8_t region_lane_shape(const uint32_t block[3]);
void regions_attach(Code *code);  // when it is decoded
void regions_detach(Code *code);
ExecFn region_join, region_enter;  // heads: where compiled code may be entered
// Turns of the warps of one block in compiled code (region/block.c).
#define TURNS_UNLOAD 0x80000000u
#define TURNS_BARRIER 0x40000000u
#define TURNS_APART 0x20000000u
typedef enum { TURNS_ENDED, TURNS_LEFT, TURNS_FAULT, TURNS_PAUSE } TurnsResult;
typedef struct BlockTurns BlockTurns;
struct BlockTurns {
  Warp *warps;
  const Inst *insts;
  uint64_t window;
  Warp *volatile running;  // whose turn it is: for faults
  char *memory;            // registers of warps that wait: waiting_bytes for each
  uint64_t waiting_bytes;
  void (*release)(BlockTurns *t, uint32_t warps);          // these have passed the barrier
  void (*split)(Warp *w, const Inst *at, uint32_t lanes);  // warp_split_lanes
  uint32_t several;         // warps: they wait for each other before stores
  uint32_t access;          // index of the Inst that accesses memory; 0: Warp.mem_pc says it
  uint32_t turn;            // the warp that had the last turn; UINT32_MAX: a round begins
  uint32_t rounds;          // since the last pause
  uint32_t alive, waiting;  // masks of warps: not ended, at the barrier
  // bar.red, by BarrierRed. reduced: of the warps that have come. result: of those that the last
  // barrier released
  uint32_t reduced[4], result[4];
  const Inst *left;  // TURNS_LEFT: where warp `turn` goes on
  // by warp: the head where it waits, with TURNS_BARRIER after a barrier; the store, with
  // TURNS_APART, before which some of its lanes wait; 0: it has not begun. With TURNS_UNLOAD its
  // turn only puts its registers into their slots
  uint32_t at[LANES];
  uint64_t last[32];  // by load: the address of the last one, to prefetch
};
typedef TurnsResult TurnsFn(BlockTurns *t);
TurnsFn *region_turns(const Code *code, unsigned shape, uint64_t *waiting_bytes);  // NULL: none

// true: a head after this instruction is worth its time, since the interpreter may have to run it.
bool region_head_after(const PtxInstr *in);
// true: before this store a warp lets others catch up (vgpu_give_way); it goes on at the head.
bool region_head_before(const PtxInstr *in);
static inline bool vgpu_is_probe(const PtxFunc *f) {
  return !strncmp(f->name, "__wg", 4) && strstr(f->name, "wg_");
}

// --- turns.c: blocks that compiled code runs as a whole ---
// Runs a block that has begun. LEFT: the engine goes on with the turn of warp `first`, with what is
// left of its budget.
TurnsResult turns_run(Launch *l, Block *b, TurnsFn *fn, BlockTurns *t, uint32_t *first);
void turns_prepare(Launch *l, Block *b, BlockTurns *t);  // for the blocks of one batch
void turns_begin(Block *b);  // a block begins, after one that turns_run has ended

// --- heap.c ---
uint64_t heap_alloc(size_t n);
bool heap_free(uint64_t p);

// --- idle_blocks.c: blocks of a large grid that do nothing do not run ---
// blocks that run, in linear order; before: how many come before them
typedef struct BlockRun {
  uint64_t first, count, before;
} BlockRun;
void idle_blocks_find(Launch *l);  // fills `active` and takes the others out of `ngroups`
// linear index of the n-th block that runs
uint64_t idle_blocks_index(const Launch *l, uint64_t n);

// --- watch.c ---
// the watchdog's data of one group; past: of its warps
typedef struct Watched {
  uint64_t at_ns;
  uint32_t looked;
  struct Past *past;
} Watched;
void watch_launch(Launch *l);             // the launch begins
void watch_ran(Warp *w, uint32_t turns);  // a warp has had its turn
// A group has run for a while. true: the launch is to be ended.
bool watch_group(Launch *l, Block *blocks, uint32_t nblocks, Watched *watched, uint64_t now,
                 uint64_t hang_ns);
void watch_forget(Watched *watched);  // the group begins anew, or ends
// this group has said where it stands, others have not
bool watch_waits_for_others(const Launch *l, const Watched *watched);
void watch_deadlock(Launch *l, Block *blocks, uint32_t nblocks);
void watch_end(Launch *l);
uint64_t watch_add_registers(uint64_t h, const Frame *f);
static inline uint64_t watch_mix(uint64_t h, uint64_t v) {
  return (h ^ v) * 0x9E3779B97F4A7C15ull ^ h >> 29;
}
// a join is no instruction of the program
static inline bool is_join(const Inst *pc) { return pc->fn == exec_join || pc->fn == region_join; }
static inline const Inst *watch_at(const Inst *pc) {
  return is_join(pc) || pc->fn == region_enter ? pc + 1 : pc;
}
uint32_t watch_number_of(const IrCfg *c, const PtxInstr *in);  // IR_NONE: not of this function

// --- watch_past.c: loops that come back to where they were ---
struct Past *past_new(uint32_t nwarps);
struct Past *past_of(struct Past *p, uint32_t warp);
bool past_circles(struct Past *first, uint32_t warp, const Warp *w);  // looks at it now
// true: at the last look, the warp was in a circle of more than one turn
bool past_goes_round(const struct Past *first, uint32_t warp);

// --- engine.c ---
// backward branches before a warp gives way; see vgpu_must_wait_before_store
enum { WARP_BUDGET = 20000, STORES_TO_WAIT = 20000 };
bool vgpu_is_allocated(uint64_t address);  // VgpuConfig.is_allocated
Launch *engine_launches(bool lock);        // true: takes the lock; false: gives it back
void engine_free_groups(VgpuKernel *k);
// false: `work` touched memory that is not accessible, at *bad
bool engine_try(void (*work)(void *user), void *user, uint64_t *bad);
void vgpu_print(Launch *l, const char *text, size_t n);
typedef struct CacheLine {
  char bytes[128];  // two lines: processors load them in pairs
} CacheLine;
struct Launch {
  VgpuKernel *kernel;
  const VgpuLaunch *request;
  uint32_t grid[3], block[3], cluster[3];
  uint64_t nblocks, ngroups;  // a group is a cluster, or one block; ngroups: of those that run
  VEC(BlockRun) active;       // none: all blocks run
  uint32_t group_size, nthreads, nwarps;
  uint8_t lane_shape;  // region_lane_shape
  // compiled code may run whole blocks; how many it left to the engine
  _Atomic bool whole_blocks;
  _Atomic uint32_t blocks_left;
  uint32_t shared_bytes;  // one past the last shared offset
  uint32_t local_bytes;
  char *params;
  size_t params_bytes;  // in the window; bytes 0: a pooled buffer
  char *arguments;      // the same bytes outside of the window
  uint64_t grid_id;
  uint64_t workspace;  // cooperative groups' grid barrier
  // Fields that all executors write often have cache lines of their own, since they read the other
  // fields all the time.
  CacheLine before_next;
  _Atomic uint64_t next_group;
  CacheLine before_done;
  _Atomic uint64_t done_groups, blocks_whole;  // blocks_whole: that compiled code ran as a whole
  CacheLine after_done;
  uint64_t batch;                     // groups that a worker takes at once, at most
  _Atomic int stop;                   // VgpuStatus that ends the launch, 0: go on
  uint32_t max_resident;              // groups that may be resident at a time
  uint64_t shuffle_mul, shuffle_add;  // --seed: block order
  bool shuffled;
  // under the engine's lock
  struct Group *suspended_first, *suspended_last;
  _Atomic uint32_t executors;  // helpers at work on it
  VgpuFault fault;
  Launch *next;
  // watch.c
  _Atomic uint64_t moved_ns;  // when something happened last
  _Atomic uint32_t look;      // groups report their position: 1, 2 …; 0: no request
  struct Looking *looking;
  bool hang_said;
  // what its kernels launched
  pthread_mutex_t children_lock;
  ChildWork *children, **children_end, *tail, **tail_end;
  VEC(ChildWork *) child_works;
  U64Map child_buffers;      // parameter buffer -> ChildWork
  VEC(char *) child_chunks;  // parameter buffers, in the window
  size_t child_next;
};
// Groups that were taken and have not ended.
static inline uint64_t launch_resident(const Launch *l) {
  uint64_t done = l->done_groups;
  return MIN(l->next_group, l->ngroups) - done;
}

#endif
