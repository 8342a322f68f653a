// racecheck: what the files of the pass share. docs/racecheck.md says what is kept of each access
// and what is a race.
#ifndef WG_RACECHECK_INTERNAL_H
#define WG_RACECHECK_INTERNAL_H

#include "weave/pass.h"
#include "tools/racecheck/abi.h"
#include "tools/racecheck/kernel.h"

// Where the entries of an address are found.
typedef enum {
  RACE_NOWHERE,         // memory no other thread writes: constants, parameters, the thread's own
  RACE_PARAM,           // the allocation a kernel parameter points into: in the launch record
  RACE_LOOKUP,          // the allocation found last, else the table of all
  RACE_SHARED_MEMORY,   // the block's
  RACE_CLUSTER_MEMORY,  // … or another's of its cluster
} RacePlaceKind;
// Several bytes, as many as a register says: tools/racecheck/weave_async.c
typedef enum {
  RACE_RANGE_NONE,
  RACE_RANGE_KEEP,    // its entry is kept
  RACE_RANGE_LOOK,    // it is only compared with the entries
  RACE_RANGE_MATRIX,  // … where a descriptor says
  RACE_RANGE_GLOBAL,  // its entry is kept, in global memory
} RaceRange;
typedef struct RaceAccess {
  uint32_t instr;
  uint32_t source;  // the instruction that makes it, if it is looked at elsewhere; 0: that one
  RaceRange range;
  const PtxOperand *address;
  // bytes of a range; without a range: of `bytes` only so many are read. NULL: all
  const PtxOperand *size;
  const PtxOperand *ignored;  // a predicate: nothing is read; NULL: none
  uint32_t bytes, flags;      // WG_RACE_WRITE …
  // a store: the thread has read it just before, which is not looked at, or stores something else
  // later: no other thread writes the same
  bool reads_too;
  bool gone;       // another access says the same, or it cannot race
  bool unread;     // a write to shared memory: no thread reads there between the same two barriers
  bool same;       // tools/racecheck/weave_repeated.c: its address is still in its register
  uint32_t lanes;  // matrices: so many lanes of a warp access a line of `bytes` each; 0: every lane
  // … the distance between two lines of a tile: `apart` elements of `apart_bits` bits; where apart
  // is NULL, apart_bits bits; where both are 0, each lane has an address of its own
  const PtxOperand *apart;
  uint32_t apart_bits;
  bool is_shared_space;  // the instruction says .shared; else the address is global or generic
  RacePlaceKind place;
  uint32_t fact_at;   // PARAM: base, size, entries in the record
  uint32_t group_at;  // SHARED_MEMORY: the word of its RaceGroup in the record; 0: none
  uint32_t site;      // of the kernel's
  // a bit of RaceCheck.once: it was looked at since the loop was entered; 0: it is looked at every
  // time
  uint32_t once;
} RaceAccess;

typedef struct RaceCheck {  // one kernel
  Body *body;
  IrProvenance *provenance;
  VEC(RaceAccess) accesses;
  VEC(WeaveFact) facts;
  VEC(RaceGroup) shared_groups;
  uint32_t first_site;  // of the module's
  uint32_t record;      // where the WgRaceRecord is
  uint32_t same_from;   // tools/racecheck/weave_repeated.c
  bool uses_shared, looks_up, stores_anywhere, calls, writes_strong;
  // a call of something that accesses memory and is not looked into; NULL: none
  const PtxInstr *unseen;
  // something is done later than where it stands; in global memory
  bool has_async, has_global_async;
  PtxReg *row[4], *row_half;  // tools/racecheck/weave_row.c; NULL: not needed yet
  PtxReg *groups[2];          // of cp.async, of bulk copies: clocks of the last commits
  // bounds: WgRaceSlot.released
  bool has_clock, bounds, has_syncs, has_clusters, waits, lets, tells_host;
  PtxReg *phase;  // of the barrier of the cluster, from 1 on
  // blocks of the cluster, less 1, where WG_RACE_ACCESS has them; 0: none, or they are not side by
  // side in x
  PtxReg *cluster;
  PtxReg *me, *first, *shared_at, *fences, *knows;
  // The thread as entries of shared memory have it, where barriers order one memory only
  // (wg_barrier_orders); NULL: as `me`
  PtxReg *me_shared;
  bool splits_memories;
  PtxReg *once;
  PtxReg *cache_base, *cache_size, *cache_entries;
  // Where machine code is made: accesses of a block that need a closer look wait for its end. A bit
  // for each; how many there are since the last look; what they left.
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
bool race_orders(const PtxInstr *in);  // it can order accesses, of this thread or of others
// --- tools/racecheck/weave_calls.c: what the functions of the program do, before passes change
// them ---
void race_survey_calls(Program *p);
// after it nothing is known about the order of accesses
bool race_call_orders(const PtxInstr *call);
bool race_call_accesses(const PtxInstr *call);  // it may access memory of other threads
// --- tools/racecheck/weave_intervals.c ---
typedef struct RaceIntervals RaceIntervals;
// accesses to shared memory that cannot race are gone. NULL: nothing is known
RaceIntervals *race_intervals(RaceCheck *k);
void race_find_unread(RaceCheck *k, RaceIntervals *v);  // with those that are left
void race_find_groups(RaceCheck *k, RaceIntervals *v);
// --- tools/racecheck/weave_rehearsal.c ---
const RaceRehearsal *race_take_apart(RaceCheck *k);  // NULL: one block cannot stand for all
void race_group_rest(RaceCheck *k, const RaceRehearsal *r);
// --- tools/racecheck/weave_repeated.c ---
void race_join_same(RaceCheck *k);       // accesses that need not be looked at are gone
bool race_is_order(const PtxInstr *in);  // behind it accesses may be ordered
bool race_writes_sum(const RaceCheck *k, const RaceAccess *a);
bool race_writes_register(PtxInstr *in, const PtxReg *reg);
bool race_same_address(const RaceAccess *a, const RaceAccess *b);  // of one register each
// --- tools/racecheck/weave_masked_reads.c ---
void race_move_masked_reads(RaceCheck *k);  // to the guarded stores that use them
// --- tools/racecheck/weave_loop_invariant.c ---
void race_find_once(RaceCheck *k);  // accesses that are looked at once in a loop
// --- tools/racecheck/weave_disjoint.c ---
// facts of pointers, and groups, whose threads may each have bytes of their own
void race_find_private(RaceCheck *k);
// --- tools/racecheck/weave_access.c ---
void race_access(RaceCheck *k, const RaceAccess *a);
void race_look(RaceCheck *k, Code *c);                                  // at what waits
void race_load(const RaceCheck *k, Code *c, PtxReg *to, size_t field);  // of the WgRaceRecord
#define RACE_LOAD(k, c, to, field) race_load((k), (c), (to), offsetof(WgRaceRecord, field))
// --- tools/racecheck/weave_async.c ---
bool race_is_async(const PtxInstr *in);
bool race_stores_later(const PtxInstr *in);  // st.async, red.async
void race_plan_async(RaceCheck *k, uint32_t i);
void race_join_products(RaceCheck *k);  // of wgmma
void race_range(RaceCheck *k, const RaceAccess *a);
// --- tools/racecheck/weave_annotations.c ---
bool race_says(const RaceCheck *k, uint32_t i);  // that races on some bytes are meant
void race_said(RaceCheck *k, uint32_t i);
// Which memory a barrier of the block orders: RACE_ORDERS_…
enum { RACE_ORDERS_SHARED = 1, RACE_ORDERS_GLOBAL = 2, RACE_ORDERS_ALL = 3 };
unsigned race_barrier_memory(const RaceCheck *k, uint32_t i);
// --- tools/racecheck/weave_order.c ---
bool race_is_matrix(const PtxInstr *in);           // lanes of a warp access a matrix together
void race_order_before(RaceCheck *k, uint32_t i);  // what they all have done before
void race_order(RaceCheck *k, uint32_t i);  // barriers, fences, what tells another thread something
// a copy that completes on this mbarrier
void race_completes(RaceCheck *k, Code *c, const PtxOperand *barrier);
// A strong access in a kernel with clocks: before it tells, after it takes.
void race_tells(RaceCheck *k, const RaceAccess *a);

#endif
