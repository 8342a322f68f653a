// Samples requests on a GPU: calls the device code of probe.c for all of the first requests of a
// multiprocessor, then at random for fewer and fewer (`levels`). The samples count for all.
// The virtual device measures every request.
//
// Accesses of blocks that run together share a decision: a load and a read of the clock for each of
// many short blocks would cost more than the blocks.
//
// Lanes that execute together must decide alike, without an exchange between them: a warp reads the
// clock once for all its lanes, and also a word of memory at one address. The word holds the odds.
// It is loaded through the cache of the multiprocessor, which sees the stores of its own warps. The
// choice is random, because every n-th request of a loop may differ from the others.
#include "tools/profile/internal.h"

enum { WORDS_AT_ONCE = 8 };  // a sector of 32 bytes that has no counters

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

// The first of the blocks that run whenever this one runs, in the same iteration of the same loop.
static uint32_t first_together(const IrCfg *cfg, uint32_t block) {
  for (;;) {
    uint32_t before = cfg->blocks[block].idom;
    if (before == IR_NONE || cfg->blocks[before].ipdom != block ||
        cfg->blocks[before].loop != cfg->blocks[block].loop ||
        cfg->blocks[before].first == cfg->blocks[before].end)
      return block;
    block = before;
  }
}

SampleGroup *sample_group(Profiling *w, uint32_t block) {
  Body *b = w->body;
  if (!w->groups) w->groups = ARENA_ARRAY(&b->cfg->arena, SampleGroup *, b->cfg->nblocks);
  uint32_t first = first_together(b->cfg, block);
  SampleGroup *g = w->groups[first];
  if (!g) {
    g = w->groups[first] = ARENA_NEW(&b->cfg->arena, SampleGroup);
    *g = (SampleGroup){body_reg(b, TYPE_PRED), body_reg(b, TYPE_B32), sample_word(w), false};
    w->look = g->look;
    w->odds = g->odds;
    sample_decide(w, block_end(w, first), g->word);
  }
  return g;
}

// The odds are minus a power of two: the leading zeros of that power tell how many requests a
// sample counts for.
PtxOperand sample_request(Profiling *w, Code *c, uint32_t bytes) {
  if (!sample_wanted(w)) return opd_imm(bytes);
  PtxReg *all = body_temp(w->body, TYPE_PRED, 2), *request = body_temp(w->body, TYPE_B32, 3);
  EMIT(c, "setp.eq.u32", opd_reg(all), opd_reg(w->odds), opd_imm(0));
  EMIT(c, "neg.s32", opd_reg(request), opd_reg(w->odds));
  EMIT(c, "clz.b32", opd_reg(request), opd_reg(request));
  EMIT(c, "mad.lo.u32", opd_reg(request), opd_reg(request), opd_imm(1 << REQUEST_SHIFT),
       opd_imm(bytes + (1 << REQUEST_SHIFT)));
  EMIT(c, "selp.b32", opd_reg(request), opd_imm(bytes), opd_reg(request), opd_reg(all));
  return opd_reg(request);
}

// After so many requests, one in 1 << shift is measured.
static const struct { uint32_t after, shift; } levels[] = {{256, 5}, {4096, 6}, {32768, 8}};

// Stores new odds once there were enough requests.
static void lower_odds(Profiling *w, Code *c, uint32_t word, PtxReg *n, size_t level) {
  PtxReg *enough = body_temp(w->body, TYPE_PRED, 2), *odds = body_temp(w->body, TYPE_B32, 3);
  EMIT(c, "setp.ge.u64", opd_reg(enough), opd_reg(n), opd_imm(levels[level].after));
  EMIT(c, "mov.u32", opd_reg(odds), opd_imm((int32_t)SAMPLE_ODDS(levels[level].shift)));
  code_guard(c, enough, false);
  EMIT(c, "st.global.u32", opd_at(c, opd_reg(w->counting->counters), word * 4ll), opd_reg(odds));
  code_guard(c, NULL, false);
}

void sample_count(Profiling *w, Code *c, uint32_t word, uint32_t slot) {
  Body *b = w->body;
  PtxReg *asks = body_temp(b, TYPE_PRED, 2), *n = body_temp(b, TYPE_B64, 2);
  code_guard(c, NULL, false);
  EMIT(c, "setp.lt.u32", opd_reg(asks), opd_reg(w->odds),
       opd_imm((int32_t)SAMPLE_ODDS(levels[ARRAY_LEN(levels) - 1].shift)));
  EMIT(c, "mov.u64", opd_reg(n), opd_imm(0));
  code_guard(c, asks, false);
  EMIT(c, "ld.volatile.global.u64", opd_reg(n),
       opd_at(c, opd_reg(w->counting->counters), (slot + SLOT_REQUESTS) * 8ll));
  code_guard(c, NULL, false);
  for (size_t i = 0; i < ARRAY_LEN(levels); i++) lower_odds(w, c, word, n, i);
}
