// Declarations that the slow path's files share: the tests, and temporaries for them.
#ifndef WG_FPCHECK_WEAVE_SLOW_H
#define WG_FPCHECK_WEAVE_SLOW_H

#include "tools/fpcheck/internal.h"

// in this order: the writer of an input is looked up before a store may overwrite the entry
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
  unsigned operand;  // ASK_INPUT: the number of the item's operand
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
// numbers of temporaries; the ones below are scratch
enum { LOWEST = 4, CHANNEL = 5, LAUNCH = 6, SITE = 7 };

// --- tools/fpcheck/weave_known_sinks.c: sinks whose exceptions need no call ---
// k->asked has a bit for each question of a lane. Counts the known ones and clears their bits
void fp_count_told(FpCheck *k, Code *c, const Ask *asks, unsigned n);
// A site is quiet if all it has to report in this launch has been reported. certain: all lanes have
// the only question.
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
bool fp_counts_quiet(FpCheck *k, const Ask *asks, unsigned n);  // fp_count_quiet is possible
// lanes whose sites are all quiet are counted and go to `resume`; the other lanes continue after
// this code
void fp_count_quiet(FpCheck *k, Code *c, FpQuiet *q, PtxLabel *resume);
// after fp_count_quiet; q->known true: all sites were reported before
void fp_ask_known(FpCheck *k, Code *c, FpQuiet *q);
// after fp_ask_known, in launches that are not tested everywhere: if all sites are known, makes
// them quiet and counts these lanes, too
void fp_count_known(FpCheck *k, Code *c, const FpQuiet *q);

#endif
