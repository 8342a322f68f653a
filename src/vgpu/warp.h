// The inside of the virtual device: decoded instructions, warps, fragments, blocks, and the
// interface of an instruction family.
//
// Registers of a warp are structure-of-arrays: a slot is 32 lanes of one register, so that an
// execute function is a loop over 32 elements the compiler vectorizes. A predicate slot is one
// 32-bit mask. Slots are assigned by liveness: a lane that does not execute must keep its old
// value, so execute functions write only lanes of w->exec.
//
// Constants are slots too (filled once per register file, never written): every source operand is a
// slot.
#ifndef WG_VGPU_WARP_H
#define WG_VGPU_WARP_H

#include <stdatomic.h>

#include "ir/ir.h"
#include "vgpu/vgpu.h"

#define LANES 32
#define FULL_MASK 0xffffffffu

typedef struct Warp Warp;
typedef struct Block Block;
typedef struct Inst Inst;
typedef struct Code Code;
typedef struct Frame Frame;
typedef struct Launch Launch;

// Runs one decoded instruction for the lanes in w->exec; returns the next instruction, or NULL to
// leave the warp (fault, barrier, preemption: the function has then said where to go on; see
// "stopping" below).
typedef const Inst *ExecFn(Warp *w, const Inst *in);

struct Inst {
  ExecFn *fn;
  ExecFn *inner;        // guarded instructions: fn tests the guard and calls inner
  uint32_t d, a, b, c;  // slots: byte offsets into the frame's registers (use REG or PRED)
  union {
    uint64_t imm;
    const Inst *target;
    const void *ptr;
  };
  uint32_t guard;  // predicate slot, if fn is the guard test
  uint8_t guard_negated;
  uint8_t flag[3];  // the family's own
  uint32_t *slots;  // further slots, the family's own (arena of the code)
  const PtxInstr *src;
};

#define REG(w, T, slot) ((T *)((w)->regs + (slot)))
#define PRED(w, slot) (*(uint32_t *)((w)->regs + (slot)))
static inline void pred_write(Warp *w, uint32_t slot, uint32_t exec, uint32_t value);  // below

// --- decode.c: functions that a family's bind function may call ---
//
// The decoder calls bind once for each PTX instruction of a function. It appends one or more Insts
// with bind_emit and returns true; or returns false after error_set(b->err, …) when this form is
// not executed: then the instruction becomes an Inst that ends the run with that message if it is
// ever reached.
typedef struct Binder {
  const PtxInstr *in;
  Error *err;
  Code *code;
} Binder;
// Call bind_src, bind_dst … for all operands BEFORE bind_emit: they may emit Insts themselves, and
// a later bind_emit moves earlier Insts.
Inst *bind_emit(Binder *b, ExecFn *fn);    // zeroed, src set; the guard is added by the decoder
void *bind_alloc(Binder *b, size_t size);  // lives as long as the code
// Slot of a source operand as type t. Immediates are converted to t and become constant slots;
// addresses of variables and functions too; special registers that are fixed for a thread as well.
// The slot's elements have bind_width() bytes.
uint32_t bind_src(Binder *b, const PtxOperand *o, PtxType t);
// Slot of a destination register; OPD_SINK gets a scratch slot wide enough for t.
uint32_t bind_dst(Binder *b, const PtxOperand *o, PtxType t);
// Bytes per lane of the slot an operand has: 2 (also 8-bit registers), 4, 8, 16; predicates 0. For
// OPD_INT etc. the size of t, at least 2.
unsigned bind_width(Binder *b, const PtxOperand *o, PtxType t);
// A predicate source: slot, and through *negate 0 or FULL_MASK to xor with.
uint32_t bind_pred(Binder *b, const PtxOperand *o, uint32_t *negate);
// a private slot, valid until the next PTX instruction
uint32_t bind_scratch(Binder *b, unsigned bytes_per_lane);
// every lane holds value
uint32_t bind_constant(Binder *b, uint64_t value, unsigned bytes_per_lane);
uint32_t bind_carry(Binder *b);  // the predicate slot of the condition code CC.CF
// A variable of the running frame (locals, .param of device functions and of calls): byte offset
// from the frame's local_base in each lane's local memory. False: the variable is not there
// (global, shared, kernel parameter …).
bool bind_local_offset(Binder *b, const PtxVar *v, uint32_t *offset);
// A kernel parameter of the entry being decoded: byte offset in launch->params. False: not one.
bool vgpu_code_is_entry(Binder *b);  // is the function being decoded a kernel?
bool bind_kernel_param(Binder *b, const PtxVar *v, uint32_t *offset);
// do the kernel's parameters have these bytes?
bool bind_params_hold(Binder *b, uint64_t offset, unsigned bytes);
// sets "… is not executed by the virtual device" and returns false
bool bind_unsupported(Binder *b, const char *why);

typedef bool BindFn(Binder *b);
// x86-64 builds compile exec/*.c once per instruction set level; VGPU_NAME keeps the copies apart.
#ifdef VGPU_ISA
#define VGPU_PASTE2(a, b) a##_##b
#define VGPU_PASTE(a, b) VGPU_PASTE2(a, b)
#define VGPU_NAME(name) VGPU_PASTE(name, VGPU_ISA)
#else
#define VGPU_NAME(name) name
#endif
// One bind function per execute family of ops.def: vgpu_bind_arith (exec_arith*.c …),
// vgpu_bind_memory, vgpu_bind_texture, vgpu_bind_warp, vgpu_bind_mma. Control flow is control.c's.
// A family may be spread over several files.

// --- warps ---
//
// A fragment is a group of lanes of one warp at the same instruction in the same frame. Diverged
// lanes are several fragments; the one deepest in calls, then lowest in code, runs first, so that
// they meet again (see control.c).
typedef enum { FRAG_READY, FRAG_BARRIER, FRAG_WARP_SYNC } FragState;
typedef struct Fragment {
  uint32_t mask;
  FragState state;
  const Inst *pc;
  Frame *frame;
  uint32_t barrier;  // FRAG_BARRIER: which
  uint32_t needed;   // FRAG_WARP_SYNC: lanes that must come
  uint32_t result;   // bar.red: result, valid when `resumed`
  bool resumed;      // the wait is over: the instruction runs again and finds this set
} Fragment;

struct Frame {  // one activation of a function by some lanes of a warp
  Frame *parent;
  const Code *code;
  char *regs;
  const Inst *return_pc;
  uint32_t depth, lanes;    // lanes still inside
  uint32_t local_base;      // start of its locals in each lane's local memory
  bool probe;               // a function of Warpgrind's own
  bool has_dynamic;         // alloca was used: dynamic[] counts
  uint32_t dynamic[LANES];  // bytes of each lane's alloca memory, right after the locals
  Frame *next_free;
};

struct Warp {
  char *regs;       // registers of the running frame
  uint32_t exec;    // lanes executing this instruction (the guard applied)
  uint32_t active;  // lanes of the running fragment
  uint32_t live;    // lanes that exist and have not exited
  uint32_t index;   // warp in block
  Block *block;
  Launch *launch;
  const char *arguments;  // the kernel's parameters for ld.param, where no kernel can write
  Frame *frame;           // of the running fragment
  char *shared;  // shared memory of the block: valid offsets are [SHARED_BASE, block->shared_end)
  char *local;   // local memory: lane i has local_bytes at local + i*local_bytes
  uint32_t local_bytes;
  int32_t unspent;   // of the budget, when it gave way of itself
  int32_t budget;    // counts down at backward branches and polls; below 0 the warp is preempted
  uint32_t current;  // running fragment
  uint32_t nfrags;
  Fragment frags[LANES];
  const Inst *mem_pc;  // set before touching user memory: where a segmentation fault happened
  uint32_t tid[3][LANES];
  Frame base_frame;         // of the kernel itself
  Frame *free_frames;       // of called functions, kept for the next call
  bool rotate, fair;        // see control.c
  uint32_t stores_to_wait;  // see vgpu_must_wait_before_store
  bool shared_store_waits;  // see vgpu_must_wait_before_shared_store
  uint32_t expired;         // budgets used up since lanes last took turns
  uint32_t cluster_phase[LANES];
  uint32_t polls;  // volatile/acquire loads, cas, nanosleep, try_wait: tells spinning from working
  uint32_t atomics;  // atomics whose result was wanted: a loop of them may be a wait, too
  uint32_t stores;   // to global and shared memory
  // watch.c: when it was looked at the last time
  uint64_t seen_state, seen_deciding, turns;
  uint32_t seen_stores;
  bool only_polls;  // whenever it ran since then
  bool same;        // what decides about its loop did not change between the last two times
};

// Shared addresses start here, as on a compute capability 9.0 device (1 KB is reserved): 0 is never
// a variable.
#define SHARED_BASE 1024u
// Generic addresses. Everything else is a host address. Shared memory of block rank r of the
// cluster: base + (r+1)<<24 + offset; the same without the base is its shared::cluster address. No
// rank at all means the own block.
#define GENERIC_SHARED 0x7e00000000000000ull
#define GENERIC_LOCAL 0x7f00000000000000ull
#define GENERIC_WINDOW_MASK 0xff00000000000000ull
#define SHARED_RANK_SHIFT 24

#define NUM_BARRIERS 16
// arrived: mask per warp
typedef struct Barrier {
  uint32_t expected, and_, or_, popc;
  uint32_t *arrived;
} Barrier;

typedef struct Cluster Cluster;
struct Block {
  Launch *launch;
  uint32_t ctaid[3];
  uint64_t linear;
  Warp *warps;
  uint32_t nwarps, nthreads;
  char *shared;
  uint32_t shared_end;  // one past the last valid shared offset
  Barrier barriers[NUM_BARRIERS];
  uint32_t active_barriers;  // bit i: some thread has reached barrier i
  Cluster *cluster;
  uint32_t cluster_rank;
  void *mem;  // everything above in one piece
  uint32_t alive_threads;
  uint32_t releases, seen_releases;  // of barriers; seen: watch.c
};

struct Cluster {  // blocks of a cluster run on one worker at a time
  Block **blocks;
  uint32_t nblocks;
  uint32_t dims[3];
  uint32_t id[3];
  uint32_t arrived, generation, alive;  // barrier.cluster, in threads
};

// --- memory.c: user memory. Kernels may touch the window and registered host memory, nothing else.
// ---
extern uint64_t vgpu_window_base;  // 0 until the first allocation
static inline bool vgpu_window_holds(uint64_t address, uint64_t size) {
  return size <= VGPU_WINDOW_BYTES && address - vgpu_window_base <= VGPU_WINDOW_BYTES - size;
}
bool vgpu_host_reachable(uint64_t address, uint64_t size);  // registered host memory
// Host pointer for a generic address as seen by one lane (global, shared, local, parameters); NULL:
// illegal address.
char *vgpu_generic_pointer(Warp *w, unsigned lane, uint64_t address, uint64_t size);
// address of the kernel's parameter buffer (in the window)
uint64_t vgpu_launch_params(const Warp *w);

// --- control.c, sreg.c: execute functions that families use ---
ExecFn exec_nop;  // hints, and waits for completed work
// For d = special register imm, component flag[0] (PtxSelector), flag[1] bytes per lane: the best
// function for this register, component and width.
ExecFn *sreg_exec(PtxSreg s, PtxSelector part, unsigned width);
ExecFn exec_param_address;  // d = address of byte imm of the kernel's parameters
ExecFn exec_local_address;  // d = local address imm of the running frame, flag[1] bytes per lane

// Shared memory of block `rank` of this warp's cluster (rank 0 without clusters); NULL: no such
// block.
char *vgpu_cluster_shared(Warp *w, uint32_t rank, uint32_t *end);
// of a byte of shared memory of the cluster, in the block that has it
uint32_t vgpu_shared_offset(Warp *w, const char *p);

// --- stopping: all return NULL, to be returned by the execute function ---
//
// The program did something that ends the launch. lane: which lane (for block/thread in the
// message).
const Inst *vgpu_fault(Warp *w, const Inst *in, VgpuStatus s, unsigned lane, uint64_t address,
                       const char *fmt, ...) PRINTF_LIKE(6, 7);
// Are all lanes of `needed` (that still live) here? If not, the fragment waits and runs `in` again
// when they are. Use: if (!vgpu_warp_converged(w, in, needed)) return NULL;
bool vgpu_warp_converged(Warp *w, const Inst *in, uint32_t needed);
// Lets other warps and fragments run before going on at `next`.
const Inst *vgpu_yield(Warp *w, const Inst *next);
// Lets other warps run, but no other lanes of this one, which could reach a barrier before these
// lanes have stored.
const Inst *vgpu_give_way(Warp *w, const Inst *next);
// Called for loads that may be a poll (volatile, acquire, relaxed, cas, try_wait): makes spinning
// warps give way sooner.
static inline void vgpu_poll(Warp *w) {
  w->polls++;
  w->budget -= 200;
}

// Warps of a GPU run side by side, so programs that (wrongly) let several warps of a block update
// the same element load it in all of them before one stores, again and again (PolyBench's MVT and
// GESUMMV). Here a warp runs for long at a time; so before each of its first global stores (two
// counts each: give way, then go on) it lets the others of its block catch up.
static inline bool vgpu_must_wait_before_store(Warp *w) {
  w->stores++;
  // it may be writing a finding that must arrive before another warp ends the launch
  if (w->frame->probe) return false;
  return w->stores_to_wait && (--w->stores_to_wait & 1);
}
// The same for shared memory, before the first store after a barrier: programs that read a
// neighbour's element and write their own without a barrier between (HeCBench's sosfil).
static inline bool vgpu_must_wait_before_shared_store(Warp *w) {
  bool wait = w->shared_store_waits;
  w->stores++;
  w->shared_store_waits = false;
  return wait;
}

static inline void pred_write(Warp *w, uint32_t slot, uint32_t exec, uint32_t value) {
  uint32_t *p = &PRED(w, slot);
  *p = (*p & ~exec) | (value & exec);
}

// --- lanes: loops over the executing lanes ---
//
// FOR_LANES(i, mask): set bits only (for work that must not be done for other lanes: memory,
// faults).
#define FOR_LANES(i, mask) \
  for (uint32_t i##_rest = (mask), i = 0; i##_rest && (i = (uint32_t)__builtin_ctz(i##_rest), 1); \
       i##_rest &= i##_rest - 1)
// Elementwise: computes EXPR(i) for all 32 lanes, stores for w->exec. Reading lanes that do not
// execute must be harmless. d may be the same slot as a source (same width): element i depends on
// elements i only.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // some expressions cannot be vectorized
#define LANES_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES_APART _Pragma("GCC ivdep")
#endif
#define ELEMENTWISE(w, TD, dslot, i, EXPR) \
  do { \
    TD *d_ = REG(w, TD, dslot); \
    uint32_t m_ = (w)->exec; \
    if (m_ == FULL_MASK) { \
      LANES_APART for (int i = 0; i < LANES; i++) d_[i] = (TD)(EXPR); \
    } else { \
      TD t_[LANES]; \
      for (int i = 0; i < LANES; i++) t_[i] = (TD)(EXPR); \
      for (int i = 0; i < LANES; i++) d_[i] = (m_ >> i & 1) ? t_[i] : d_[i]; \
    } \
  } while (0)
// A mask of the lanes for which COND(i) holds (all 32 computed).
#define LANE_MASK(i, COND) \
  ({ \
    uint32_t r_ = 0; \
    for (int i = 0; i < LANES; i++) r_ |= (uint32_t) !!(COND) << i; \
    r_; \
  })

#endif
