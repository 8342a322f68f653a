// record: declarations that its pass's files share. docs/recording.md says what is recorded,
// probe/trace_abi.h in which form.
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
  bool inlined;           // for a GPU: probes are put in line
  uint32_t kept;          // kernels: offset of the WgTrace's bytes in the record; 0: none
  PtxReg *slot;           // the ring's number; -1: nothing is recorded
  PtxReg *warp, *launch;  // words of a head
  // of the current operation, kept until after it
  PtxReg *address, *values[RECORDER_PLANES], *old[RECORDER_PLANES], *other[2];
  PtxReg *made, *piece;  // tools/record/weave_wide.c; NULL: not needed yet
  // tools/record/weave_bulk.c, tools/record/weave_tensor.c: of the current copy
  PtxReg *from, *to, *left, *rank;
  PtxReg *map, *base, *inside, *rest;  // tools/record/weave_tensor.c
  WeaveFact maps[RECORDER_MAPS];
  unsigned nmaps;
  InlinedRegs shapes[RECORDER_SHAPES];
  unsigned nshapes;
  WeaveFact reads[RECORDER_READS];
  unsigned nreads;
  RecorderGroup *group;  // the current one; NULL: each operation has a record of its own
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
bool recorder_is_benign_race(const PtxInstr *in);  // the number of bytes given to wg_benign_race
void recorder_benign_race(Recorder *t, uint32_t i);
void recorder_note_order(Recorder *t);  // after everything else

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
// at the entry; switches: the function begins or ends recording itself
void recorder_begin(Recorder *t, bool switches);
void recorder_emit(Recorder *t, Code *c, const RecorderRecord *r);
// a label: lanes that do not record branch to it
PtxLabel *recorder_guard(Recorder *t, Code *c, const PtxInstr *in);
// only the first n lanes; others branch to `over`
void recorder_only_lanes(Recorder *t, Code *c, uint32_t n, PtxLabel *over);
// In kernels: branches to `over` if values loaded from this address need not be recorded.
void recorder_unless_constant(Recorder *t, Code *c, const PtxOperand *address, PtxLabel *over);
// whether the host knows at each launch if such values must be recorded
bool recorder_may_be_constant(Recorder *t, const PtxOperand *address);
// index in t->reads; -1: the host does not know
int recorder_fact_of(Recorder *t, const PtxOperand *address);
void recorder_field(Recorder *t, Code *c, PtxReg *to, uint32_t offset);  // of the WgTrace
void recorder_inline(Recorder *t, Code *c, const char *name, PtxReg *result, const PtxOperand *args,
                     unsigned n);
void recorder_end(Recorder *t);
void recorder_switch(Recorder *t, Code *c, bool on);

// --- tools/record/weave_value.c: from operands to words ---
// a register of the Recorder, made at first use
PtxReg *recorder_word(Recorder *t, PtxReg **place);
// words of its value; 0: too many, or not known
unsigned recorder_planes(const PtxInstr *in);
// false: it is not in registers or constants
bool recorder_value(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *value,
                    PtxReg **words);
// The address as it is recorded: with its memory space.
void recorder_address(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *address,
                      PtxSpace space);
// adds the memory space
void recorder_tag_space(Recorder *t, Code *c, const PtxOperand *address, PtxSpace space);

// --- tools/record/weave_wide.c: pieces of 16 bytes. false: it cannot be recorded this way ---
// a register of the Recorder, made at first use
PtxReg *recorder_reg(Recorder *t, PtxReg **place, PtxType type);
// loads the contents of memory there into the words of a record
void recorder_read_memory(Recorder *t, Code *c, PtxReg *at, PtxSpace space, unsigned bytes);
// at: address of the piece; address: the operand that it belongs to; NULL: none
typedef struct RecorderPiece {
  const PtxInstr *in;
  const PtxOperand *address;  // NULL: none of its operands
  PtxReg *at;
  unsigned classes;
  PtxSpace space;
  unsigned bytes;
} RecorderPiece;
void recorder_piece(Recorder *t, Code *c, const RecorderPiece *p);
bool recorder_tile(Recorder *t, uint32_t i, const PtxInstr *in);
bool recorder_matrix(Recorder *t, uint32_t i, const PtxInstr *in);
bool recorder_small_copy(Recorder *t, uint32_t i, const PtxInstr *in);

// --- tools/record/weave_bulk.c ---
// false: it cannot be recorded
bool recorder_bulk_copy(Recorder *t, uint32_t i, const PtxInstr *in);
// Emits code for each block of the cluster in the mask; t->to: the address in its shared memory.
void recorder_each_rank(Recorder *t, Code *c, const PtxOperand *mask, const PtxOperand *address,
                        void (*emit)(void *user), void *user);
// --- tools/record/weave_tensor.c ---
// false: it cannot be recorded
bool recorder_tensor_copy(Recorder *t, uint32_t i, const PtxInstr *in);
void recorder_tensor_end(Recorder *t);

// --- tools/record/weave_mbarrier.c ---
// false: it has no mbarrier operand
bool recorder_mbarrier(Recorder *t, uint32_t i, const PtxInstr *in);
// the copy that was just recorded completes at this mbarrier
void recorder_completes_at(Recorder *t, Code *c, const PtxInstr *in, const PtxOperand *barrier);

#endif
