// order: the reverse post-order by which the virtual device schedules.
//
// Any reverse post-order puts a loop's header before the loop and before everything reached from
// it. Emitting each loop whole at its header's place, inner loops likewise, therefore keeps every
// forward edge forward and makes loops contiguous. Lanes that leave a loop early then wait after
// it until the last lane has left.
#include "ir/internal.h"

// Blocks that lead straight to an end of the function. If there is a choice they come late, so that
// lanes which are about to end do not run between lanes that continue together.
static void mark_ending(const IrCfg *c, bool *ending, uint32_t *queue) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < c->nblocks; b++)
    if (c->blocks[b].nsucc == 0) {
      ending[b] = true;
      queue[n++] = b;
    }
  for (uint32_t i = 0; i < n; i++) {
    const IrBlock *bl = &c->blocks[queue[i]];
    for (uint32_t k = 0; k < bl->npred; k++) {
      uint32_t p = bl->pred[k];
      if (ending[p] || c->blocks[p].nsucc != 1) continue;
      ending[p] = true;
      queue[n++] = p;
    }
  }
}

// Depth-first; what is visited first comes last. Ending successors first, then branch targets, then
// the fall-through, so that code without branches keeps its order.
void order_depth_first(IrCfg *c) {
  Arena a = {0};
  uint32_t n = c->nblocks, top = 0, left = n;
  bool *ending = ARENA_ARRAY(&a, bool, n), *seen = ARENA_ARRAY(&a, bool, n);
  uint32_t *stack = ARENA_ARRAY(&a, uint32_t, n + 1), *cursor = ARENA_ARRAY(&a, uint32_t, n);
  uint32_t *done = ARENA_ARRAY(&a, uint32_t, n + 1);
  mark_ending(c, ending, stack);
  c->order = ARENA_ARRAY(&c->arena, uint32_t, n);
  stack[top++] = 0;
  seen[0] = true;
  while (top) {
    uint32_t b = stack[top - 1];
    const IrBlock *bl = &c->blocks[b];
    if (cursor[b] == 2 * bl->nsucc) {
      done[--left] = b;
      top--;
      continue;
    }
    uint32_t k = cursor[b]++, s = bl->succ[k % bl->nsucc];
    bool first_round = k < bl->nsucc;
    if (seen[s] || (first_round && !ending[s])) continue;
    seen[s] = true;
    stack[top++] = s;
  }
  c->norder = n - left;
  for (uint32_t i = 0; i < c->norder; i++) {
    c->order[i] = done[left + i];
    c->blocks[c->order[i]].rpo = i;
  }
  arena_free(&a);
}

// Every loop, and the function as a whole, has a list of its own blocks and of the loops directly
// inside, in order.
void order_by_loops(IrCfg *c) {
  if (c->nloops == 0) return;
  Arena a = {0};
  uint32_t none = c->nloops, nitems = c->norder + c->nloops;
  uint32_t *head = ARENA_ARRAY(&a, uint32_t, none + 1), *tail = ARENA_ARRAY(&a, uint32_t, none + 1);
  uint32_t *next = ARENA_ARRAY(&a, uint32_t, nitems), *stack = ARENA_ARRAY(&a, uint32_t, none + 2);
  for (uint32_t l = 0; l <= none; l++) head[l] = tail[l] = IR_NONE;
  // Item i < norder is the block order[i]; item norder + l is loop l.
  for (uint32_t i = 0; i < c->norder; i++) {
    const IrBlock *bl = &c->blocks[c->order[i]];
    for (uint32_t l = bl->loop, item = i;; item = c->norder + l, l = c->loops[l].parent) {
      uint32_t list = l == IR_NONE ? none : l;
      next[item] = IR_NONE;
      if (tail[list] == IR_NONE) head[list] = item;
      else next[tail[list]] = item;
      tail[list] = item;
      if (l == IR_NONE || c->loops[l].header != c->order[i]) break;
    }
  }
  uint32_t *order = ARENA_ARRAY(&a, uint32_t, c->norder), n = 0, top = 0;
  stack[top++] = head[none];
  while (top) {
    uint32_t item = stack[top - 1];
    if (item == IR_NONE) {
      top--;
      continue;
    }
    stack[top - 1] = next[item];
    if (item < c->norder) order[n++] = c->order[item];
    else stack[top++] = head[item - c->norder];
  }
  CHECK(n == c->norder);
  memcpy(c->order, order, sizeof(uint32_t) * n);
  for (uint32_t i = 0; i < n; i++) c->blocks[order[i]].rpo = i;
  arena_free(&a);
}
