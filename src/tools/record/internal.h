// trace (--record): what the files of the pass share. docs/recording.md says what is recorded,
// tools/record/abi.h how.
#ifndef WG_INSTRUMENT_TRACE_H
#define WG_INSTRUMENT_TRACE_H

#include "weave/pass.h"
#include "tools/record/abi.h"

enum {
  TRACE_PLANES = 4,
  TRACE_SHAPES = 16,
  TRACE_READS = 32,
  TRACE_MAPS = 16,
  TRACE_GROUP_REGS = 64
};

typedef struct TraceGroup TraceGroup;  // tools/record/weave_group.h

typedef struct Tracing {  // one function
  Body *body;
  IrProvenance *provenance;
  bool inlined;           // machine code is made of it: probes are put in line
  uint32_t kept;          // kernels: where the bytes of the WgTrace are in the record; 0: nowhere
  PtxReg *slot;           // the ring's number; -1: nothing is recorded
  PtxReg *warp, *launch;  // words of a head
  // of the operation at hand, kept over it
  PtxReg *address, *values[TRACE_PLANES], *old[TRACE_PLANES], *other[2];
  PtxReg *made, *piece;  // tools/record/weave_wide.c; NULL: not needed so far
  // tools/record/weave_bulk.c, tools/record/probe_tensor.c: of the copy at hand
  PtxReg *from, *to, *left, *rank;
  PtxReg *map, *base, *inside, *rest;  // tools/record/probe_tensor.c
  WeaveFact maps[TRACE_MAPS];
  unsigned nmaps;
  InlinedRegs shapes[TRACE_SHAPES];
  unsigned nshapes;
  WeaveFact reads[TRACE_READS];
  unsigned nreads;
  TraceGroup *group;  // the one at hand; NULL: each operation has a record of its own
  struct TraceValues *known;
  PtxReg *group_words[TRACE_GROUP_REGS], *group_wides[TRACE_GROUP_REGS],
      *group_preds[TRACE_GROUP_REGS];
} Tracing;

// --- trace.c ---
uint32_t trace_site(Tracing *t, const PtxInstr *in, const PtxOperand *address, unsigned classes,
                    PtxSpace space, uint32_t bytes);
bool trace_is_recorded(const PtxInstr *in);

// --- tools/record/weave_race_facts.c ---
bool trace_is_meant(const PtxInstr *in);  // wg_benign_race says how many bytes
void trace_meant(Tracing *t, uint32_t i);
void trace_note_order(Tracing *t);  // behind everything else

// --- tools/record/weave_record.c: one record ---
typedef enum {
  TRACE_OF_SYNC,
  TRACE_OF_ADDRESS,
  TRACE_OF_LOAD,
  TRACE_OF_STORE,
  TRACE_OF_ATOMIC,
  TRACE_OF_VALUE
} TraceShape;
typedef struct TraceRecord {
  TraceShape shape;
  uint32_t site;
  unsigned planes;
} TraceRecord;  // address and values are in the Tracing
// at the entry; switches: it begins and ends recording itself
void trace_begin(Tracing *t, bool switches);
void trace_record(Tracing *t, Code *c, const TraceRecord *r);
// those that do not record go to it
PtxLabel *trace_guard(Tracing *t, Code *c, const PtxInstr *in);
// the first n; others go to `over`
void trace_only_lanes(Tracing *t, Code *c, uint32_t n, PtxLabel *over);
// Goes to `over` where the values that are loaded from this address need not be recorded; nothing
// where they must be. A kernel's.
void trace_unless_constant(Tracing *t, Code *c, const PtxOperand *address, PtxLabel *over);
// the host can tell at each launch
bool trace_may_be_constant(Tracing *t, const PtxOperand *address);
// its number in t->reads; -1: the host cannot
int trace_fact_of(Tracing *t, const PtxOperand *address);
void trace_field(Tracing *t, Code *c, PtxReg *to, uint32_t offset);  // of the WgTrace
void trace_inline(Tracing *t, Code *c, const char *name, PtxReg *result, const PtxOperand *args,
                  unsigned n);
void trace_end(Tracing *t);
void trace_switch(Tracing *t, Code *c, bool on);

// --- tools/record/weave_value.c: from operands to words ---
PtxReg *trace_word(Tracing *t, PtxReg **place);  // one of the Tracing's, made when first asked for
// words of its value; 0: more than there is room for, or not known
unsigned trace_planes(const PtxInstr *in);
// false: it is not in registers or constants
bool trace_value(Tracing *t, Code *c, const PtxInstr *in, const PtxOperand *value, PtxReg **words);
// The address, as recorded: with the memory it is in.
void trace_address(Tracing *t, Code *c, const PtxInstr *in, const PtxOperand *address,
                   PtxSpace space);
void trace_tag(Tracing *t, Code *c, const PtxOperand *address, PtxSpace space);  // makes it one

// --- tools/record/weave_wide.c: pieces of 16 bytes. false: it cannot be recorded so ---
// one of the Tracing's, made when first asked for
PtxReg *trace_reg(Tracing *t, PtxReg **place, PtxType type);
// what lies there, into the words of a record
void trace_look(Tracing *t, Code *c, PtxReg *at, PtxSpace space, unsigned bytes);
// `at`: where the piece lies; address: whose it is; NULL: none of the instruction's
void trace_put(Tracing *t, Code *c, const PtxInstr *in, const PtxOperand *address, PtxReg *at,
               unsigned classes, PtxSpace space, unsigned bytes);
bool trace_tile(Tracing *t, uint32_t i, const PtxInstr *in);
bool trace_matrix(Tracing *t, uint32_t i, const PtxInstr *in);
bool trace_small_copy(Tracing *t, uint32_t i, const PtxInstr *in);

// --- tools/record/weave_bulk.c ---
bool trace_bulk_copy(Tracing *t, uint32_t i, const PtxInstr *in);  // false: it cannot be recorded
// Code for each block of a cluster that the mask has: t->to is where the address is in its shared
// memory.
void trace_each_rank(Tracing *t, Code *c, const PtxOperand *mask, const PtxOperand *address,
                     void (*emit)(void *user), void *user);
// --- tools/record/probe_tensor.c ---
bool trace_tensor_copy(Tracing *t, uint32_t i, const PtxInstr *in);  // false: it cannot be recorded
void trace_tensor_end(Tracing *t);

// --- tools/record/weave_mbarrier.c ---
bool trace_mbarrier(Tracing *t, uint32_t i, const PtxInstr *in);  // false: it names none
// what was recorded just before is done when this one is told of it
void trace_told(Tracing *t, Code *c, const PtxInstr *in, const PtxOperand *barrier);

#endif
