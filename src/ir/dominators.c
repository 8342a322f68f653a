// dominators: immediate dominators and post-dominators by the semi-NCA algorithm (Georgiadis).
//
// Cooper, Harvey and Kennedy's iteration is simpler, but walks the whole dominator tree once per
// predecessor of a shared exit: quadratic on the "if (bad) goto out" chains that real kernels have.
// Semi-NCA walks with path compression.
//
// Post-dominators are dominators of the reversed graph, whose entry is a virtual exit after every
// block without successors. A loop without exit cannot reach it; its last block in reverse
// post-order gets an edge to the virtual exit.
#include "ir/internal.h"

// Nodes 0..n-1; edges as lists cut at out_at and in_at.
typedef struct Graph {
  uint32_t n, root;
  uint32_t *out_at, *out;  // successors of v: out[out_at[v] .. out_at[v + 1])
  uint32_t *in_at, *in;
} Graph;

typedef struct Dom {
  const Graph *g;
  uint32_t *number;  // node -> depth-first number, IR_NONE: unreachable
  // all below are indexed by depth-first number
  uint32_t *node, *parent, *semi, *label, *ancestor, *idom;
  uint32_t count;
  uint32_t *stack;
} Dom;

static void number_depth_first(Dom *d) {
  const Graph *g = d->g;
  uint32_t *cursor = mem_alloc(sizeof(uint32_t) * (g->n + 1)), top = 0;
  for (uint32_t v = 0; v < g->n; v++) {
    d->number[v] = IR_NONE;
    cursor[v] = g->out_at[v];
  }
  d->stack[top++] = g->root;
  d->number[g->root] = 0;
  d->node[d->count++] = g->root;
  while (top) {
    uint32_t v = d->stack[top - 1];
    if (cursor[v] == g->out_at[v + 1]) {
      top--;
      continue;
    }
    uint32_t w = g->out[cursor[v]++];
    if (d->number[w] != IR_NONE) continue;
    d->number[w] = d->count;
    d->parent[d->count] = d->number[v];
    d->node[d->count++] = w;
    d->stack[top++] = w;
  }
  free(cursor);
}

// The smallest label on the path from v up to the processed part's root, compressing the path.
// `limit` is the lowest number already linked.
static uint32_t eval(Dom *d, uint32_t v, uint32_t limit) {
  if (v < limit) return d->label[v];
  uint32_t top = 0;
  while (d->ancestor[v] >= limit) {
    d->stack[top++] = v;
    v = d->ancestor[v];
  }
  while (top) {
    uint32_t w = d->stack[--top], a = d->ancestor[w];
    if (d->label[a] < d->label[w]) d->label[w] = d->label[a];
    d->ancestor[w] = d->ancestor[a];
    v = w;
  }
  return d->label[v];
}

// Writes the immediate dominator of every node to idom_out; IR_NONE for the root and unreachable
// nodes.
static void compute(const Graph *g, uint32_t *idom_out) {
  uint32_t n = g->n;
  uint32_t *mem = mem_alloc(sizeof(uint32_t) * (8 * (size_t)n + 8));
  Dom d = {.g = g,
           .number = mem,
           .node = mem + n,
           .parent = mem + 2 * n,
           .semi = mem + 3 * n,
           .label = mem + 4 * n,
           .ancestor = mem + 5 * n,
           .idom = mem + 6 * n,
           .stack = mem + 7 * n};
  number_depth_first(&d);
  for (uint32_t i = 0; i < d.count; i++) {
    d.semi[i] = d.label[i] = i;
    d.ancestor[i] = d.idom[i] = d.parent[i];
  }
  for (uint32_t i = d.count; i-- > 1;) {
    uint32_t v = d.node[i];
    for (uint32_t k = g->in_at[v]; k < g->in_at[v + 1]; k++) {
      uint32_t u = d.number[g->in[k]];
      if (u == IR_NONE) continue;
      uint32_t s = eval(&d, u, i + 1);
      if (s < d.semi[i]) d.semi[i] = s;
    }
    d.label[i] = d.semi[i];
  }
  for (uint32_t i = 1; i < d.count; i++) {
    while (d.idom[i] > d.semi[i]) d.idom[i] = d.idom[d.idom[i]];
  }
  for (uint32_t v = 0; v < n; v++)
    idom_out[v] = d.number[v] == IR_NONE || d.number[v] == 0 ? IR_NONE
                                                             : d.node[d.idom[d.number[v]]];
  free(mem);
}

static void fill_csr(uint32_t n, const uint32_t *from, const uint32_t *to, uint32_t nedges,
                     uint32_t *at, uint32_t *list) {
  for (uint32_t i = 0; i < nedges; i++) at[from[i] + 1]++;
  for (uint32_t v = 0; v < n; v++) at[v + 1] += at[v];
  for (uint32_t i = 0; i < nedges; i++) list[at[from[i]]++] = to[i];
  for (uint32_t v = n; v > 0; v--) at[v] = at[v - 1];
  at[0] = 0;
}

static void graph_from_edges(Arena *a, Graph *g, const uint32_t *from, const uint32_t *to,
                             uint32_t nedges) {
  g->out_at = ARENA_ARRAY(a, uint32_t, g->n + 2);
  g->in_at = ARENA_ARRAY(a, uint32_t, g->n + 2);
  g->out = ARENA_ARRAY(a, uint32_t, nedges + 1);
  g->in = ARENA_ARRAY(a, uint32_t, nedges + 1);
  fill_csr(g->n, from, to, nedges, g->out_at, g->out);
  fill_csr(g->n, to, from, nedges, g->in_at, g->in);
}

// Blocks that must be joined to the virtual exit: those without successors, and one block of every
// region that cannot reach such a block.
static uint32_t find_exits(const IrCfg *c, Arena *a, uint32_t *exits) {
  bool *reaches = ARENA_ARRAY(a, bool, c->nblocks);
  uint32_t *stack = ARENA_ARRAY(a, uint32_t, c->nblocks + 1), n = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = c->norder; i-- > 0;) {
      uint32_t b = c->order[i], top = 0;
      if (reaches[b] || (pass == 0 && c->blocks[b].nsucc)) continue;
      exits[n++] = b;
      reaches[b] = true;
      stack[top++] = b;
      while (top) {
        const IrBlock *bl = &c->blocks[stack[--top]];
        for (uint32_t k = 0; k < bl->npred; k++)
          if (!reaches[bl->pred[k]] && c->blocks[bl->pred[k]].rpo != IR_NONE) {
            reaches[bl->pred[k]] = true;
            stack[top++] = bl->pred[k];
          }
      }
    }
  return n;
}

void dominators_compute(IrCfg *c) {
  Arena a = {0};
  uint32_t n = c->nblocks, nedges = 0, most = n;
  for (uint32_t b = 0; b < n; b++) most += c->blocks[b].nsucc;
  uint32_t *from = ARENA_ARRAY(&a, uint32_t, most + 1), *to = ARENA_ARRAY(&a, uint32_t, most + 1);
  uint32_t *idom = ARENA_ARRAY(&a, uint32_t, n + 1);
  for (uint32_t b = 0; b < n; b++) {
    if (c->blocks[b].rpo == IR_NONE) continue;
    for (uint32_t i = 0; i < c->blocks[b].nsucc; i++) {
      from[nedges] = b;
      to[nedges++] = c->blocks[b].succ[i];
    }
  }
  Graph g = {.n = n, .root = 0};
  graph_from_edges(&a, &g, from, to, nedges);
  compute(&g, idom);
  for (uint32_t b = 0; b < n; b++) c->blocks[b].idom = idom[b];

  uint32_t *exits = ARENA_ARRAY(&a, uint32_t, n + 1), nexits = find_exits(c, &a, exits);
  for (uint32_t i = 0; i < nexits; i++) {
    from[nedges] = exits[i];
    to[nedges++] = n;
  }
  Graph r = {.n = n + 1, .root = n};
  graph_from_edges(&a, &r, to, from, nedges);  // reversed
  compute(&r, idom);
  for (uint32_t b = 0; b < n; b++) c->blocks[b].ipdom = idom[b] == n ? IR_NONE : idom[b];
  arena_free(&a);
}

// Both walk up the tree; a dominator comes earlier in any reverse post-order, so the walk stops
// early.
bool ir_dominates(const IrCfg *c, uint32_t a, uint32_t b) {
  if (c->blocks[a].rpo == IR_NONE || c->blocks[b].rpo == IR_NONE) return a == b;
  while (b != IR_NONE && b != a && c->blocks[b].rpo > c->blocks[a].rpo) b = c->blocks[b].idom;
  return a == b;
}

bool ir_postdominates(const IrCfg *c, uint32_t a, uint32_t b) {
  while (b != IR_NONE && b != a) b = c->blocks[b].ipdom;
  return a == b;
}
