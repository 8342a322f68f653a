// Which requests the device code of probe.c is called for, on a GPU: all of the first SAMPLE_AFTER
// of a multiprocessor, then some by chance, which count for all. The virtual device calls it for
// every request.
//
// Lanes that execute together must decide alike, and must not have to ask each other: a warp reads
// the clock once for all its lanes, and so it does a word of memory at one address. The word holds
// the odds. It is loaded through the cache of the multiprocessor, which sees the stores of its own
// warps. Chance, because every n-th request of a loop may be another one than the rest.
#include "tools/profile/internal.h"

enum { WORDS_AT_ONCE = 8 };  // a sector of 32 bytes, in which there are no counters

bool sample_wanted(const Profiling *w) {
  return w->body->program->plan->tool_options[TOOL_PROFILE] & SAMPLES;
}

uint32_t sample_word(Profiling *w) {
  if (!w->sample_left) {
    w->sample_words = 2 * count_reserve(w->counting->count, WORDS_AT_ONCE / 2);
    w->sample_left = WORDS_AT_ONCE;
  }
  return w->sample_words + WORDS_AT_ONCE - w->sample_left--;
}

void sample_decide(Profiling *w, Code *c, uint32_t word) {
  Body *b = w->body;
  PtxReg *random = body_temp(b, TYPE_B32, 2);
  code_guard(c, NULL, false);
  EMIT(c, "mov.u32", opd_reg(w->odds), opd_imm(-1));
  code_guard(c, w->measured, false);
  EMIT(c, "ld.global.u32", opd_reg(w->odds), opd_at(c, opd_reg(w->counting->counters), word * 4ll));
  code_guard(c, NULL, false);
  EMIT(c, "mov.u32", opd_reg(random), opd_sreg(SREG_CLOCK, SEL_NONE));
  EMIT(c, "mul.lo.u32", opd_reg(random), opd_reg(random), opd_imm((int32_t)SAMPLE_HASH));
  EMIT(c, "setp.ge.u32", opd_reg(w->look), opd_reg(random), opd_reg(w->odds));
}

PtxOperand sample_request(Profiling *w, Code *c, uint32_t bytes) {
  if (!sample_wanted(w)) return opd_imm(bytes);
  PtxReg *all = body_temp(w->body, TYPE_PRED, 2), *request = body_temp(w->body, TYPE_B32, 3);
  EMIT(c, "setp.eq.u32", opd_reg(all), opd_reg(w->odds), opd_imm(0));
  EMIT(c, "selp.b32", opd_reg(request), opd_imm(bytes),
       opd_imm(bytes | SAMPLE_SHIFT << REQUEST_SHIFT), opd_reg(all));
  return opd_reg(request);
}

void sample_count(Profiling *w, Code *c, uint32_t word, uint32_t slot) {
  Body *b = w->body;
  PtxReg *ends = body_temp(b, TYPE_PRED, 2), *n = body_temp(b, TYPE_B64, 2),
         *odds = body_temp(b, TYPE_B32, 3), *counters = w->counting->counters;
  code_guard(c, NULL, false);
  EMIT(c, "setp.eq.u32", opd_reg(ends), opd_reg(w->odds), opd_imm(0));
  EMIT(c, "mov.u64", opd_reg(n), opd_imm(0));
  code_guard(c, ends, false);
  EMIT(c, "ld.volatile.global.u64", opd_reg(n),
       opd_at(c, opd_reg(counters), (slot + SLOT_REQUESTS) * 8ll));
  code_guard(c, NULL, false);
  EMIT(c, "setp.ge.u64", opd_reg(ends), opd_reg(n), opd_imm(SAMPLE_AFTER));
  EMIT(c, "mov.u32", opd_reg(odds), opd_imm((int32_t)SAMPLE_ODDS));
  code_guard(c, ends, false);
  EMIT(c, "st.global.u32", opd_at(c, opd_reg(counters), word * 4ll), opd_reg(odds));
  code_guard(c, NULL, false);
}
