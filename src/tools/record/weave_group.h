// Groups of loads and stores (tools/record/abi.h): what trace.c, trace_group*.c and
// tools/record/weave_fold.c share.
#ifndef WG_INSTRUMENT_TRACE_GROUP_H
#define WG_INSTRUMENT_TRACE_GROUP_H

#include "tools/record/internal.h"

enum { TRACE_GROUP_FACTS = 4 };

typedef struct TraceGroupOp {
  uint32_t instr;
  bool is_load;
  unsigned unit, planes;  // planes 0: its value is not recorded
  int fact;  // loads: of t->reads, whose values this launch may not need; -1: they are needed
  int64_t distance;
  PtxReg *values[TRACE_PLANES];
} TraceGroupOp;
typedef struct TraceGroupUnit {
  uint64_t root;
  int64_t constant;  // the address is what `root` stands for, plus that
  PtxSpace space;
  PtxReg *address;  // of its first operation, kept
} TraceGroupUnit;
struct TraceGroup {
  uint32_t nops, nunits, nplanes;
  uint32_t first_site;
  TraceGroupOp ops[WG_TRACE_GROUP_OPS];
  TraceGroupUnit units[WG_TRACE_GROUP_UNITS];
};

// --- tools/record/weave_group.c: which ---
void trace_groups_begin(Tracing *t);
void trace_groups_end(Tracing *t);
// the instruction becomes one of the group at hand; false: it does not, or there is no room: it
// must be closed first
bool trace_group_take(Tracing *t, uint32_t i);
// what the instruction does to addresses; after trace_group_take
void trace_group_follow(Tracing *t, uint32_t i);
void trace_group_block(Tracing *t);  // a new block begins
void trace_group_put(Tracing *t);    // the code of the group at hand, of at least one operation
bool trace_group_may_hold(const Tracing *t, const PtxInstr *in);

// --- tools/record/weave_group_code.c: the code of one record ---
typedef struct TraceGroupInput {
  PtxReg *address[WG_TRACE_GROUP_UNITS];  // in the first turn
  PtxReg *step[WG_TRACE_GROUP_UNITS];     // 8 bytes; with turns
  PtxReg *turns;                          // NULL: once. The same in all lanes
  bool values;                            // some may be recorded
} TraceGroupInput;
void trace_group_record(Tracing *t, Code *c, const TraceGroup *g, const TraceGroupInput *in);

// --- tools/record/weave_fold.c: groups of a loop that has nothing else to record ---
bool trace_fold_can(Tracing *t, const TraceGroup *g);
void trace_fold_put(Tracing *t, Code *c, TraceGroup *g);
uint32_t trace_group_mask(const TraceGroup *g);  // facts: those whose values the launch must record
#endif
