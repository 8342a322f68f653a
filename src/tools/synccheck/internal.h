// synccheck: declarations that its files share. docs/synccheck.md says what is checked,
// docs/hangs.md what the watchdog needs.
#ifndef WG_SYNCCHECK_INTERNAL_H
#define WG_SYNCCHECK_INTERNAL_H

#include "weave/pass.h"
#include "tools/synccheck/kinds.h"
#include "tools/synccheck/abi.h"

enum { SYNC_WATCHES = 1 };  // WeavePlan.tool_options: warps write where they are, for the watchdog
static inline bool synccheck_watches(const Body *b) {
  return b->program->plan->tool_options[TOOL_SYNCCHECK] & SYNC_WATCHES;
}

// The basic blocks that all threads of a thread block reach together, except threads that left
// early.
typedef struct Together {
  bool *varying;                // by register: threads of a block may hold different values
  bool *apart;                  // by IrBlock: not all threads come, or not equally often
  bool *apart_strict;           // … those that left early count as missing, too
  bool *has_barrier, *reaches;  // by IrBlock: it has a barrier of the block; it has or reaches one
  bool *has_meeting, *meets;    // the same for instructions that lanes of a warp execute together
  bool *quiet;  // by IrBlock: from there on a thread only computes and writes results of its own
  bool *only_ends;  // by IrBlock: nothing but the end of the thread
} Together;

typedef struct Sync {
  Body *body;
  Together t;
  IrUniform *warp;  // NULL: a function
  bool is_kernel;
  bool needs_slot;  // the warp writes to its place in the table
  bool counts;      // there are barriers that not all threads may come to
  bool unsure;      // … or not all lanes of a warp
  bool leaves_early;
  bool shuffles;
  PtxReg *watch, *launch, *channel;      // of the record; loaded at the entry where needed
  PtxReg *barriers, *last_site, *early;  // executed so far, the last one's site; it has left early
  // the mbarrier it arrived at last, -1: none since its last wait; the parity of the phase then
  PtxReg *arrived_at, *arrived_in;
  bool group_calls;      // there are functions that all threads call with the same arguments
  PtxReg *copy_site;     // of the last copy of the block that was not waited for, plus 1; 0: none
  PtxReg *slot, *leads;  // watchdog: the warp's place; the lane that writes there
  struct SharedLoop {
    uint32_t loop, preheader, site;
    PtxReg *visits, *expects;
  } shared[4];
  uint32_t nshared;
} Sync;

// --- tools/synccheck/weave_uniform_barriers.c ---
// a barrier that all threads of the block must execute: it has no thread count
bool synccheck_is_block_barrier(const PtxInstr *in);
bool synccheck_calls_program(const PtxInstr *in);  // it may reach a barrier
void synccheck_together(const IrCfg *c, bool is_kernel, Together *t);
// Threads that take this edge end before barriers of the block that others reach;
// synccheck_leaves_warp: before instructions that others of the warp execute together.
bool synccheck_leaves_early(const Sync *s, uint32_t from, uint32_t to);
// … they may execute the same code as others after barriers, but only write results
bool synccheck_leaves_quietly(const Sync *s, uint32_t from, uint32_t to);
bool synccheck_leaves_warp(const Sync *s, uint32_t from, uint32_t to);

// --- tools/synccheck/weave.c: calls of probes; callers provide the arguments after launch and site
// ---
// a new site, its number goes into the register
PtxOperand synccheck_site(Sync *s, Code *c, const PtxInstr *in, PtxReg *number);
// Code that lanes reach before instruction i if not all 32 lanes of the warp are active; it must
// end with a branch to `back`.
Code *synccheck_where_few(Sync *s, uint32_t i, PtxLabel **back);
void synccheck_call(Sync *s, Code *c, const char *probe, const PtxOperand *more, unsigned n);
#define SYNC_CALL(s, c, probe, ...) \
  synccheck_call((s), (c), (probe), (const PtxOperand[]){__VA_ARGS__}, \
                 sizeof((const PtxOperand[]){__VA_ARGS__}) / sizeof(PtxOperand))

// --- tools/synccheck/weave_warp.c, tools/synccheck/weave_loops.c, tools/synccheck/weave_mbarrier.c
// ---
bool synccheck_is_warp_meeting(const PtxInstr *in);  // it has a mask of lanes
bool synccheck_plan_warp(Sync *s);                   // whether it needs the warp's place
void synccheck_weave_warp(Sync *s);
void synccheck_plan_loops(Sync *s);
void synccheck_weave_loops(Sync *s);
void synccheck_leave_loops(Sync *s, Code *c);
void synccheck_weave_mbarriers(Sync *s);
void synccheck_weave_cluster(Sync *s);  // tools/synccheck/weave_cluster.c
// --- tools/synccheck/weave_group_calls.c ---
bool synccheck_plan_group_calls(Sync *s);
void synccheck_weave_group_calls(Sync *s);
void synccheck_leave_copies(Sync *s, Code *c);

// --- weave_watchdog.c: the watchdog ---
void watch_enter(Sync *s, Code *c);  // at the start of kernels with barriers that may be missed
void watch_barrier(Sync *s, uint32_t i);
void watch_weave_loops(Sync *s);

#endif
