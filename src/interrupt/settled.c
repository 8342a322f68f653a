// A barrier behind which no thread of the block is suspended, and none will be.
//
// A thread that is suspended is missing at the next barrier of its block, and the others notice it
// there. So once all have passed a barrier from which no interrupt can be reached, nobody is
// suspended: later barriers and operations of lanes stay as the compiler made them, and threads end
// without being counted.
//
// This holds where all threads come to that barrier as their n-th one. So each barrier that is not
// behind it comes before it, once.
#include "interrupt/stops.h"

static bool comes_first(const IrCfg *c, uint32_t i, uint32_t before) {
  if (c->block_of[i] == c->block_of[before]) return i < before;
  return ir_dominates(c, c->block_of[i], c->block_of[before]);
}

static bool is_in_loop(const IrCfg *c, uint32_t i) {
  return c->blocks[c->block_of[i]].loop != IR_NONE;
}

static bool is_same_for_all(const IrCfg *c, uint32_t barrier) {
  if (is_in_loop(c, barrier)) return false;
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    if (i == barrier || ptx_op_order(c->instrs[i]->op) != ORDER_BLOCK) continue;
    if (comes_first(c, barrier, i)) continue;
    if (is_in_loop(c, i) || !comes_first(c, i, barrier)) return false;
  }
  return true;
}

static bool is_last_chance(Stops *s, const Stop *barrier) {
  bool *behind = ARENA_ARRAY(&s->arena, bool, s->cfg->ninstrs + 1);
  stops_mark_from(&s->arena, s->cfg, barrier->at, behind);
  for (uint32_t i = 0; i < s->n; i++)
    if ((s->list[i].kind == STOP_CALL || s->list[i].kind == STOP_LOOP) && behind[s->list[i].at])
      return false;
  return true;
}

bool settled_at(const Stops *s, uint32_t i) {
  return s->settled != IR_NONE && i < s->cfg->ninstrs && i != s->settled &&
         comes_first(s->cfg, s->settled, i);
}

void settled_find(Stops *s) {
  s->settled = IR_NONE;
  for (uint32_t i = 0; i < s->n; i++) {
    const Stop *b = &s->list[i];
    if (b->kind != STOP_BARRIER || settled_at(s, b->at)) continue;
    if (is_same_for_all(s->cfg, b->at) && is_last_chance(s, b)) s->settled = b->at;
  }
  uint32_t n = 0;
  s->uses_warps = false;
  for (uint32_t i = 0; i < s->n; i++) {
    if (settled_at(s, s->list[i].at)) continue;
    s->uses_warps |= s->list[i].kind == STOP_WARP;
    s->list[n++] = s->list[i];
  }
  s->n = n;
}
