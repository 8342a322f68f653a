// loops: natural loops (a back edge goes to a block that dominates its source) and their nesting.
//
// A cycle that can be entered at two places has no such block and is not a loop here; the graph is
// then irreducible.
#include "ir/internal.h"

typedef struct Finder {
  IrCfg *c;
  uint32_t *outermost;  // loop -> a loop around it found so far (with path compression)
  // interval of each block in the dominator tree: constant-time dominance
  uint32_t *depth_in, *depth_out;
} Finder;

// Numbers the dominator tree so that a dominates b exactly if in[a] <= in[b] && out[b] <= out[a].
static void number_tree(Finder *f, Arena *a) {
  IrCfg *c = f->c;
  uint32_t n = c->nblocks, clock = 0, top = 0;
  uint32_t *child = ARENA_ARRAY(a, uint32_t, n + 1), *sibling = ARENA_ARRAY(a, uint32_t, n + 1);
  uint32_t *stack = ARENA_ARRAY(a, uint32_t, n + 1);
  f->depth_in = ARENA_ARRAY(a, uint32_t, n + 1);
  f->depth_out = ARENA_ARRAY(a, uint32_t, n + 1);
  for (uint32_t b = 0; b < n; b++) child[b] = sibling[b] = IR_NONE;
  for (uint32_t i = c->norder; i-- > 1;) {
    uint32_t b = c->order[i], up = c->blocks[b].idom;
    sibling[b] = child[up];
    child[up] = b;
  }
  stack[top++] = 0;
  f->depth_in[0] = clock++;
  while (top) {
    uint32_t b = stack[top - 1], kid = child[b];
    if (kid == IR_NONE) {
      f->depth_out[b] = clock++;
      top--;
      continue;
    }
    child[b] = sibling[kid];
    f->depth_in[kid] = clock++;
    stack[top++] = kid;
  }
}

static bool dominates(const Finder *f, uint32_t a, uint32_t b) {
  return f->depth_in[a] <= f->depth_in[b] && f->depth_out[b] <= f->depth_out[a];
}

static uint32_t outermost_loop(Finder *f, uint32_t loop) {
  uint32_t top = loop;
  while (f->outermost[top] != top) top = f->outermost[top];
  while (f->outermost[loop] != top) {
    uint32_t next = f->outermost[loop];
    f->outermost[loop] = top;
    loop = next;
  }
  return top;
}

// Walks backwards from the latches to the header. Blocks of loops found before (they are inside)
// are skipped over.
static void collect_loop(Finder *f, uint32_t loop, uint32_t header, uint32_t *stack) {
  IrCfg *c = f->c;
  uint32_t top = 0;
  const IrBlock *h = &c->blocks[header];
  for (uint32_t i = 0; i < h->npred; i++)
    if (c->blocks[h->pred[i]].rpo != IR_NONE && dominates(f, header, h->pred[i]))
      stack[top++] = h->pred[i];
  while (top) {
    uint32_t b = stack[--top];
    if (c->blocks[b].loop == IR_NONE) {
      c->blocks[b].loop = loop;
      if (b == header) continue;
    } else {
      uint32_t inner = outermost_loop(f, c->blocks[b].loop);
      if (inner == loop) continue;
      c->loops[inner].parent = loop;
      f->outermost[inner] = loop;
      b = c->loops[inner].header;
      if (b == header) continue;
    }
    for (uint32_t i = 0; i < c->blocks[b].npred; i++)
      if (c->blocks[c->blocks[b].pred[i]].rpo != IR_NONE) stack[top++] = c->blocks[b].pred[i];
  }
  if (c->blocks[header].loop == IR_NONE) c->blocks[header].loop = loop;
}

void loops_find(IrCfg *c) {
  Arena a = {0};
  Finder f = {.c = c};
  number_tree(&f, &a);
  uint32_t nedges = 1;
  for (uint32_t b = 0; b < c->nblocks; b++) nedges += c->blocks[b].npred;
  uint32_t *stack = ARENA_ARRAY(&a, uint32_t, nedges + c->nblocks);
  c->loops = ARENA_ARRAY(&c->arena, IrLoop, c->norder);
  f.outermost = ARENA_ARRAY(&a, uint32_t, c->norder);
  // inner headers come later in the order, so they are found first
  for (uint32_t i = c->norder; i-- > 0;) {
    uint32_t b = c->order[i];
    bool is_header = false;
    for (uint32_t k = 0; k < c->blocks[b].npred && !is_header; k++)
      is_header = c->blocks[c->blocks[b].pred[k]].rpo != IR_NONE &&
                  dominates(&f, b, c->blocks[b].pred[k]);
    if (!is_header) continue;
    uint32_t loop = c->nloops++;
    c->loops[loop] = (IrLoop){.header = b, .parent = IR_NONE};
    f.outermost[loop] = loop;
    collect_loop(&f, loop, b, stack);
  }
  // Outer loops have higher numbers: walk down for the depth.
  for (uint32_t l = c->nloops; l-- > 0;)
    c->loops[l].depth = c->loops[l].parent == IR_NONE ? 1 : c->loops[c->loops[l].parent].depth + 1;
  for (int pass = 0; pass < 2; pass++) {  // count, then list
    for (uint32_t i = 0; i < c->norder; i++)
      for (uint32_t l = c->blocks[c->order[i]].loop; l != IR_NONE; l = c->loops[l].parent) {
        if (pass) c->loops[l].blocks[c->loops[l].nblocks] = c->order[i];
        c->loops[l].nblocks++;
      }
    for (uint32_t l = 0; pass == 0 && l < c->nloops; l++) {
      c->loops[l].blocks = ARENA_ARRAY(&c->arena, uint32_t, c->loops[l].nblocks);
      c->loops[l].nblocks = 0;
    }
  }
  arena_free(&a);
}

bool ir_in_loop(const IrCfg *c, uint32_t block, uint32_t loop) {
  for (uint32_t l = c->blocks[block].loop; l != IR_NONE; l = c->loops[l].parent)
    if (l == loop) return true;
  return false;
}
