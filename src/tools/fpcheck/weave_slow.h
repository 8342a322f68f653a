// What the slow path's files share: questions, and the temporaries they are asked with.
#ifndef WG_FPCHECK_WEAVE_SLOW_H
#define WG_FPCHECK_WEAVE_SLOW_H

#include "tools/fpcheck/internal.h"

// in this order: who stored what came in is asked before it is written over
typedef enum {
  ASK_RESULT32,
  ASK_RESULT64,
  ASK_COMPARE,
  ASK_SINK,
  ASK_INPUT,
  ASK_STORED,
  ASKS
} AskKind;
typedef struct Ask {
  const FpItem *item;
  AskKind kind;
  uint32_t site;
  unsigned half;     // of a packed pair, or of a saturating conversion
  unsigned operand;  // ASK_INPUT: which of the item
} Ask;

static inline PtxOperand temp32(const FpCheck *k, unsigned i) {
  return opd_reg(body_temp(k->body, TYPE_B32, i));
}
static inline PtxOperand temp64(const FpCheck *k, unsigned i) {
  return opd_reg(body_temp(k->body, TYPE_B64, i));
}
static inline PtxOperand temp_pred(const FpCheck *k, unsigned i) {
  return opd_reg(body_temp(k->body, TYPE_PRED, i));
}
// which temporaries; those before are for computing
enum { LOWEST = 4, CHANNEL = 5, LAUNCH = 6, SITE = 7 };

// --- tools/fpcheck/weave_known_sinks.c: sinks whose exceptions need no call. k->asked has a bit
// for each question that a lane has --- what it has counted is asked no more
void fp_count_told(FpCheck *k, Code *c, const Ask *asks, unsigned n);
// Sites are quiet if nothing is left to be said of them in this launch. certain: all lanes have the
// only question.
typedef struct FpQuiet {
  Ask *asks;
  unsigned n;
  bool certain;
  PtxLabel *counts;
  PtxReg *known;
} FpQuiet;
// tools/fpcheck/weave_slow.c; false: no code for that
bool fp_look_quietly(FpCheck *k, Code *c, const FpItem *items, uint32_t n, PtxLabel *resume,
                     FpQuiet *q);
bool fp_counts_quiet(FpCheck *k, const Ask *asks, unsigned n);  // whether the following can
// lanes all of whose sites are quiet are counted and go on there, others behind it
void fp_count_quiet(FpCheck *k, Code *c, FpQuiet *q, PtxLabel *resume);
// after that; true: all of them were reported before
void fp_ask_known(FpCheck *k, Code *c, FpQuiet *q);
// behind that, in launches that are not tested everywhere: if so they become quiet, and the lanes
// go on there, too
void fp_count_known(FpCheck *k, Code *c, const FpQuiet *q);

#endif
