// racecheck: declarations for the code of one access. Shared by tools/racecheck/weave_access.c and
// tools/racecheck/weave_inline.c.
#ifndef WG_RACECHECK_WEAVE_EMIT_H
#define WG_RACECHECK_WEAVE_EMIT_H

#include "tools/racecheck/internal.h"

typedef struct Emit {
  RaceCheck *k;
  const RaceAccess *a;
  PtxInstr *in;
  PtxReg *at, *off;
  // shared_slow: for a generic address of shared memory; remote_slow: for one of another block
  PtxLabel *slow, *back, *shared_slow, *remote_slow;
  PtxReg *entries;  // of another block of the cluster; NULL: of its own block
  bool has_row;     // stmatrix: `row` holds the words that go to this lane's address
  PtxOperand row[4];
} Emit;

static inline PtxReg *wide(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_B64, n); }
static inline PtxReg *word(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_B32, n); }
static inline PtxReg *pred(Emit *e, unsigned n) { return body_temp(e->k->body, TYPE_PRED, n); }

// --- tools/racecheck/weave_inline.c ---
void race_without_call(Emit *e, Code *c, bool shared);  // the code of the call follows it
void race_find_entries(Emit *e, Code *c, PtxReg *to, bool shared);
// --- tools/racecheck/weave_row.c ---
void race_plan_row(Emit *e);
void race_gather_row(Emit *e, Code *c);  // before any lane goes back
// --- tools/racecheck/weave_value.c ---
// The value that a store is about to write: its first 8 bytes in `to`, the rest in `high`. false:
// it is not known. c NULL: emits nothing and only says whether it is known.
bool race_written(Emit *e, Code *c, PtxReg *to, PtxReg *high, bool *constant);
// … one of its words of 4 bytes
void race_written_word(Emit *e, Code *c, PtxReg *to, unsigned word);
// Loads the memory that is about to be overwritten.
void race_load_content(Emit *e, Code *c, PtxReg *to, PtxReg *high, bool shared);

#endif
