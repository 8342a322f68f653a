// racecheck: declarations that the pass's files share. docs/racecheck.md says what is kept of each
// access and what is a race.
#ifndef WG_RACECHECK_INTERNAL_H
#define WG_RACECHECK_INTERNAL_H

#include "weave/pass.h"
#include "tools/racecheck/abi.h"
#include "tools/racecheck/kernel.h"

// How the entries of an address are found.
typedef enum {
  RACE_NOWHERE,         // memory no other thread writes: constants, parameters, the thread's own
  RACE_PARAM,           // the allocation a kernel parameter points into: in the launch record
  RACE_LOOKUP,          // the allocation found last, else the table of all
  RACE_SHARED_MEMORY,   // the block's
  RACE_CLUSTER_MEMORY,  // … or another's of its cluster
} RacePlaceKind;
// A range of bytes, whose length is in a register: tools/racecheck/weave_async.c
typedef enum {
  RACE_RANGE_NONE,
  RACE_RANGE_KEEP,    // its entry is kept
  RACE_RANGE_LOOK,    // it is only compared with the entries
  RACE_RANGE_MATRIX,  // … the range is given by a descriptor
  RACE_RANGE_GLOBAL,  // its entry is kept, in global memory
} RaceRange;
typedef struct RaceAccess {
  uint32_t instr;
  uint32_t source;  // the instruction that makes the access, if checked at another one; 0: the same
  RaceRange range;
  const PtxOperand *address;
  // bytes of a range; without a range: only so many of `bytes` are read. NULL: all
  const PtxOperand *size;
  const PtxOperand *ignored;  // a predicate: nothing is read; NULL: none
  uint32_t bytes, flags;      // WG_RACE_WRITE …
  // a store: the thread has read the bytes just before, and that read is not checked; or the thread
  // stores another value later. So no other thread writes the same value
  bool reads_too;
  bool gone;       // another access covers it, or it cannot race
  bool unread;     // a write to shared memory that no thread reads in the same barrier interval
  bool same;       // tools/racecheck/weave_repeated.c: its address is still in its register
  uint32_t lanes;  // matrices: this many lanes access a line of `bytes` each; 0: every lane
  // … the distance between two lines of a tile: `apart` elements of `apart_bits` bits; apart NULL:
  // apart_bits bits; both 0: each lane has an address of its own
  const PtxOperand *apart;
  uint32_t apart_bits;
  bool is_shared_space;  // the instruction has .shared; else the address is global or generic
  RacePlaceKind place;
  uint32_t fact_at;   // PARAM: base, size, entries in the record
  uint32_t group_at;  // SHARED_MEMORY: the word of its RaceGroup in the record; 0: none
  uint32_t site;      // of the kernel's
  // a bit of RaceCheck.once: it was checked since the loop was entered; 0: it is checked every time
  uint32_t once;
} RaceAccess;

typedef struct RaceCheck {  // one kernel
  Body *body;
  IrProvenance *provenance;
  VEC(RaceAccess) accesses;
  VEC(WeaveFact) facts;
  VEC(RaceGroup) shared_groups;
  uint32_t first_site;  // of the module's
  uint32_t record;      // offset of the WgRaceRecord
  uint32_t same_from;   // tools/racecheck/weave_repeated.c
  bool uses_shared, looks_up, stores_anywhere, calls, writes_strong;
  // a call of a function that accesses memory and is not followed; NULL: none
  const PtxInstr *unseen;
  // some access is performed later than it is issued; some in global memory
  bool has_async, has_global_async;
  PtxReg *row[4], *row_half;  // tools/racecheck/weave_row.c; NULL: not needed yet
  PtxReg *groups[2];          // of cp.async, of bulk copies: clocks of the last commits
  // bounds: whether WgRaceSlot.released is kept
  bool has_clock, bounds, has_syncs, has_clusters, waits, lets, tells_host;
  PtxReg *phase;  // number of the phase of the cluster's barrier, from 1
  // blocks of the cluster, less 1, at their position in WG_RACE_ACCESS; 0: no cluster, or its
  // blocks are not consecutive in x
  PtxReg *cluster;
  PtxReg *me, *first, *shared_at, *fences, *knows;
  // The thread's entry for shared memory, if some barriers order only one memory
  // (wg_barrier_orders); NULL: `me` serves for both
  PtxReg *me_shared;
  bool splits_memories;
  PtxReg *once;
  PtxReg *cache_base, *cache_size, *cache_entries;
  // For code that becomes machine code: accesses of a block that need a full check wait for its
  // end. waiting: a bit for each; nwaiting: how many since the last check; waiting_at: their data.
  bool defers;
  PtxReg *waiting;
  uint32_t nwaiting;
  PtxVar *waiting_at;
} RaceCheck;

// --- tools/racecheck/weave.c ---
RaceKernel *race_kernel_of(const Body *b);
// --- tools/racecheck/weave_plan.c ---
void race_plan(RaceCheck *k);
bool race_is_strong(const PtxInstr *in);
bool race_orders(const PtxInstr *in);  // it may order accesses, of this thread or of others
// --- tools/racecheck/weave_calls.c: effects of the program's functions, before passes change them
// ---
void race_survey_calls(Program *p);
// after the call, nothing is known about the order of accesses
bool race_call_orders(const PtxInstr *call);
bool race_call_accesses(const PtxInstr *call);  // it may access memory of other threads
// --- tools/racecheck/weave_intervals.c ---
typedef struct RaceIntervals RaceIntervals;
// marks accesses to shared memory that cannot race as gone. NULL: nothing is known
RaceIntervals *race_intervals(RaceCheck *k);
void race_find_unread(RaceCheck *k, RaceIntervals *v);  // among the accesses that are left
void race_find_groups(RaceCheck *k, RaceIntervals *v);
// --- tools/racecheck/weave_rehearsal.c ---
const RaceRehearsal *race_take_apart(RaceCheck *k);  // NULL: one block cannot stand for all
void race_group_rest(RaceCheck *k, const RaceRehearsal *r);
// --- tools/racecheck/weave_repeated.c ---
void race_join_same(RaceCheck *k);       // marks redundant accesses as gone
bool race_is_order(const PtxInstr *in);  // may order accesses before it and after it
bool race_writes_sum(const RaceCheck *k, const RaceAccess *a);
bool race_writes_register(PtxInstr *in, const PtxReg *reg);
bool race_same_address(const RaceAccess *a, const RaceAccess *b);  // by one register each
// --- tools/racecheck/weave_masked_reads.c ---
void race_move_masked_reads(RaceCheck *k);  // to the guarded stores that use their values
// --- tools/racecheck/weave_loop_invariant.c ---
void race_find_once(RaceCheck *k);  // accesses that need one check per execution of a loop
// --- tools/racecheck/weave_disjoint.c ---
// the facts of pointers, and the groups, where each thread may only access bytes of its own
void race_find_private(RaceCheck *k);
// --- tools/racecheck/weave_access.c ---
void race_access(RaceCheck *k, const RaceAccess *a);
void race_look(RaceCheck *k, Code *c);                                  // at waiting accesses
void race_load(const RaceCheck *k, Code *c, PtxReg *to, size_t field);  // of the WgRaceRecord
#define RACE_LOAD(k, c, to, field) race_load((k), (c), (to), offsetof(WgRaceRecord, field))
// --- tools/racecheck/weave_async.c ---
bool race_is_async(const PtxInstr *in);
bool race_stores_later(const PtxInstr *in);  // st.async, red.async
void race_plan_async(RaceCheck *k, uint32_t i);
void race_join_products(RaceCheck *k);  // of wgmma
void race_range(RaceCheck *k, const RaceAccess *a);
// --- tools/racecheck/weave_annotations.c ---
bool race_says(const RaceCheck *k, uint32_t i);  // declares races on some bytes as intended
void race_said(RaceCheck *k, uint32_t i);
// Which memory a barrier of the block orders: RACE_ORDERS_…
enum { RACE_ORDERS_SHARED = 1, RACE_ORDERS_GLOBAL = 2, RACE_ORDERS_ALL = 3 };
unsigned race_barrier_memory(const RaceCheck *k, uint32_t i);
// --- tools/racecheck/weave_order.c ---
bool race_is_matrix(const PtxInstr *in);           // lanes of a warp access a matrix together
void race_order_before(RaceCheck *k, uint32_t i);  // orders the earlier accesses of all lanes
void race_order(RaceCheck *k, uint32_t i);         // barriers, fences, signals to other threads
// a copy that completes on this mbarrier
void race_completes(RaceCheck *k, Code *c, const PtxOperand *barrier);
// A strong access in a kernel with clocks: releases before it, acquires after it.
void race_tells(RaceCheck *k, const RaceAccess *a);

#endif
