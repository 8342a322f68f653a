// record: what the files of its pass share. docs/recording.md says what is recorded,
// probe/trace_abi.h how.
#ifndef WG_TOOLS_RECORD_INTERNAL_H
#define WG_TOOLS_RECORD_INTERNAL_H

#include "weave/pass.h"
#include "probe/trace_abi.h"
#include "tools/record/kernel.h"

enum {
  RECORDER_PLANES = 4,
  RECORDER_SHAPES = 16,
  RECORDER_READS = 32,
  RECORDER_MAPS = 16,
  RECORDER_GROUP_REGS = 64
};

typedef struct RecorderGroup RecorderGroup;  // tools/record/weave_group.h

typedef struct Recorder {  // one function
  Body *body;
  IrProvenance *provenance;
  bool inlined;           // machine code is made of it: probes are put in line
  uint32_t kept;          // kernels: where the bytes of the WgTrace are in the record; 0: nowhere
  PtxReg *slot;           // the ring's number; -1: nothing is recorded
  PtxReg *warp, *launch;  // words of a head
  // of the operation at hand, kept over it
  PtxReg *address, *values[RECORDER_PLANES], *old[RECORDER_PLANES], *other[2];
  PtxReg *made, *piece;  // tools/record/weave_wide.c; NULL: not needed so far
  // tools/record/weave_bulk.c, tools/record/probe_tensor.c: of the copy at hand
  PtxReg *from, *to, *left, *rank;
  PtxReg *map, *base, *inside, *rest;  // tools/record/probe_tensor.c
  WeaveFact maps[RECORDER_MAPS];
  unsigned nmaps;
  InlinedRegs shapes[RECORDER_SHAPES];
  unsigned nshapes;
  WeaveFact reads[RECORDER_READS];
  unsigned nreads;
  RecorderGroup *group;  // the one at hand; NULL: each operation has a record of its own
  struct RecorderValues *known;
  PtxReg *group_words[RECORDER_GROUP_REGS], *group_wides[RECORDER_GROUP_REGS],
      *group_preds[RECORDER_GROUP_REGS];
} Recorder;

// --- tools/record/weave.c ---
// of the only kernel that the function runs for; NULL: several, or not known
RecordKernel *recorder_kernel(const Body *b);
uint32_t recorder_site(Recorder *t, const PtxInstr *in, const PtxOperand *address, unsigned classes,
                       PtxSpace space, uint32_t bytes);
bool recorder_is_recorded(const PtxInstr *in);

// --- tools/record/weave_race_facts.c ---
bool recorder_is_benign_race(const PtxInstr *in);  // wg_benign_race says how many bytes
void recorder_benign_race(Recorder *t, uint32_t i);
void recorder_note_order(Recorder *t);  // behind everything else

// --- tools/record/weave_record.c: one record ---
typedef enum {
  RECORDER_OF_SYNC,
  RECORDER_OF_ADDRESS,
  RECORDER_OF_LOAD,
  RECORDER_OF_STORE,
  RECORDER_OF_ATOMIC,
  RECORDER_OF_VALUE
} RecorderShape;
typedef struct RecorderRecord {
  RecorderShape shape;
  uint32_t site;
  unsigned planes;
} RecorderRecord;  // address and values are in the Recorder
// at the entry; switches: it begins and ends recording itself
void recorder_begin(Recorder *t, bool switches);
void recorder_emit(Recorder *t, Code *c, const RecorderRecord *r);
// those that do not record go to it
PtxLabel *recorder_guard(Recorder *t, Code *c, const PtxInstr *in);
// the first n; others go to `over`
void recorder_only_lanes(Recorder *t, Code *c, uint32_t n, PtxLabel *over);
// Goes to `over` where the values that are loaded from this address need not be recorded; nothing
// where they must be. A kernel's.
void recorder_unless_constant(Recorder *t, Code *c, const PtxOperand *address, PtxLabel *over);
// the host can tell at each launch
bool recorder_may_be_constant(Recorder *t, const PtxOperand *address);
// its number in t->reads; -1: the host cannot
int recorder_fact_of(Recorder *t, const PtxOperand *address);
void recorder_field(Recorder *t, Code *c, PtxReg *to, uint32_t offset);  // of the WgTrace
void recorder_inline(Recorder *t, Code *c, const char *name, PtxReg *result, const PtxOperand *args,
                     unsigned n);
void recorder_end(Recorder *t);
void recorder_switch(Recorder *t, Code *c, bool on);

// --- tools/record/weave_value.c: from operands to words ---
PtxReg *recorder_word(Recorder *t,
                      PtxReg **place);  // one of the Recorder's, made when first asked for
// words of its value; 0: more than there is room for, or not known
unsigned recorder_planes(const PtxInstr *in);
// false: it is not in registers or constants
bool recorder_value(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *value,
                    PtxReg **words);
// The address, as recorded: with the memory it is in.
void recorder_address(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *address,
                      PtxSpace space);
void recorder_tag_space(Recorder *t, Code *c, const PtxOperand *address,
                        PtxSpace space);  // makes it one

// --- tools/record/weave_wide.c: pieces of 16 bytes. false: it cannot be recorded so ---
// one of the Recorder's, made when first asked for
PtxReg *recorder_reg(Recorder *t, PtxReg **place, PtxType type);
// what lies there, into the words of a record
void recorder_read_memory(Recorder *t, Code *c, PtxReg *at, PtxSpace space, unsigned bytes);
// `at`: where the piece lies; address: whose it is; NULL: none of the instruction's
void recorder_piece(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *address, PtxReg *at,
                    unsigned classes, PtxSpace space, unsigned bytes);
bool recorder_tile(Recorder *t, uint32_t i, const PtxInstr *in);
bool recorder_matrix(Recorder *t, uint32_t i, const PtxInstr *in);
bool recorder_small_copy(Recorder *t, uint32_t i, const PtxInstr *in);

// --- tools/record/weave_bulk.c ---
bool recorder_bulk_copy(Recorder *t, uint32_t i,
                        const PtxInstr *in);  // false: it cannot be recorded
// Code for each block of a cluster that the mask has: t->to is where the address is in its shared
// memory.
void recorder_each_rank(Recorder *t, Code *c, const PtxOperand *mask, const PtxOperand *address,
                        void (*emit)(void *user), void *user);
// --- tools/record/probe_tensor.c ---
bool recorder_tensor_copy(Recorder *t, uint32_t i,
                          const PtxInstr *in);  // false: it cannot be recorded
void recorder_tensor_end(Recorder *t);

// --- tools/record/weave_mbarrier.c ---
bool recorder_mbarrier(Recorder *t, uint32_t i, const PtxInstr *in);  // false: it names none
// what was recorded just before is done when this one is told of it
void recorder_completes_at(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *barrier);

#endif
