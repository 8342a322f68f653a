// Groups of loads and stores (probe/trace_abi.h): declarations that weave.c, weave_group*.c and
// tools/record/weave_fold.c share.
#ifndef WG_RECORD_WEAVE_GROUP_H
#define WG_RECORD_WEAVE_GROUP_H

#include "tools/record/internal.h"

enum { RECORDER_GROUP_FACTS = 4 };

typedef struct RecorderGroupOp {
  uint32_t instr;
  bool is_load;
  unsigned unit, planes;  // planes 0: its value is not recorded
  int fact;  // loads: index in t->reads, if its values may be left out; -1: they are always
             // recorded
  int64_t distance;
  PtxReg *values[RECORDER_PLANES];
} RecorderGroupOp;
typedef struct RecorderGroupUnit {
  uint64_t root;
  int64_t constant;  // the address is `root` plus this
  PtxSpace space;
  PtxReg *address;  // of its first operation
} RecorderGroupUnit;
struct RecorderGroup {
  uint32_t nops, nunits, nplanes;
  uint32_t first_site;
  RecorderGroupOp ops[WG_TRACE_GROUP_OPS];
  RecorderGroupUnit units[WG_TRACE_GROUP_UNITS];
};

// --- tools/record/weave_group.c: which operations ---
void recorder_groups_begin(Recorder *t);
void recorder_groups_end(Recorder *t);
// adds the instruction to the current group; false: it does not fit, and the group must be closed
// first
bool recorder_group_take(Recorder *t, uint32_t i);
// follows what the instruction does to addresses; after recorder_group_take
void recorder_group_follow(Recorder *t, uint32_t i);
void recorder_group_block(Recorder *t);  // a new block begins
// the code of the current group, which has at least one operation
void recorder_group_put(Recorder *t);
bool recorder_group_may_hold(const Recorder *t, const PtxInstr *in);

// --- tools/record/weave_group_code.c: the code of one record ---
typedef struct RecorderGroupInput {
  PtxReg *address[WG_TRACE_GROUP_UNITS];  // in the first turn
  PtxReg *step[WG_TRACE_GROUP_UNITS];     // 8 bytes; with turns
  PtxReg *turns;                          // NULL: once. The same in all lanes
  bool values;                            // some may be recorded
} RecorderGroupInput;
void recorder_group_emit(Recorder *t, Code *c, const RecorderGroup *g,
                         const RecorderGroupInput *in);

// --- tools/record/weave_fold.c: groups of a loop that has nothing else to record ---
bool recorder_fold_can(Recorder *t, const RecorderGroup *g);
void recorder_fold_put(Recorder *t, Code *c, RecorderGroup *g);
// facts: those whose values the launch must record
uint32_t recorder_group_mask(const RecorderGroup *g);
#endif
