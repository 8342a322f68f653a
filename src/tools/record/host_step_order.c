// --record: which steps a step comes after. Streams have vector clocks (session/order.c); nodes of
// a graph have its edges.
//
// A step for which nothing is sent comes after all steps with smaller numbers: docs/run-file.md,
// "Order of steps".
#include "tools/record/host.h"

enum { AT_ONCE = CHANNEL_LIST_MAX / 8 };

typedef struct GraphSteps {
  const SessionBranches *branches;  // NULL: one long path
  uint32_t at;
  SessionNumbers *nodes;
  SessionNumberList steps;  // of all nodes visited so far
  // steps that the current node comes after; none: it depends on nothing in this graph
  SessionNumberList after;
  U64Map followed;  // steps that others come after
  const void *stream;
  struct GraphSteps *outer;
} GraphSteps;
static _Thread_local GraphSteps *graph;  // that the calling thread launches; the innermost one

static void send(uint32_t step, const uint32_t *list, uint32_t n, bool joins) {
  uint64_t words[AT_ONCE];
  for (uint32_t i = 0; i < n; i += AT_ONCE) {
    uint32_t some = MIN(n - i, (uint32_t)AT_ONCE);
    for (uint32_t k = 0; k < some; k++) words[k] = list[i + k];
    session_send(EVENT_STEP_AFTER, &(EventStepAfter){step, joins, words, some});
  }
}

static bool node_ordered(uint32_t step) {
  GraphSteps *g = graph, *inner = graph;
  vec_push(&graph->steps, step);
  while (!g->after.len && g->outer) g = g->outer;
  for (; inner->outer; inner = inner->outer) continue;
  for (uint32_t i = 0; i < g->after.len; i++) u64map_put(&inner->followed, g->after.data[i], g);
  if (g->after.len) send(step, g->after.data, g->after.len, false);
  return g->after.len != 0;
}

void record_order_step(uint32_t step, const void *stream, StepHow how) {
  uint32_t after[STEP_STREAMS], n, beside;
  how.in_graph = graph != NULL;
  if (how.in_graph) how.overlaps = how.host_knows = false;
  bool all = session_order_note(graph ? graph->stream : stream, step, how, after, &n, &beside);
  if (graph && node_ordered(step)) return;
  if (!all && !n) after[n++] = 0;  // it comes after no step
  if (!all) send(step, after, n, false);
  if (beside) send(step, &beside, 1, true);
}

void record_graph_begin(const SessionBranches *b, uint32_t n, const void *stream) {
  if (!record_options.operations) return;
  GraphSteps *g = mem_alloc(sizeof *g);
  g->branches = b;
  g->nodes = mem_alloc(sizeof *g->nodes * MAX(n, 1u));
  g->stream = stream;
  g->outer = graph;
  graph = g;
}

static void close_node(GraphSteps *g) { g->nodes[g->at].end = g->steps.len; }

static void follow_last(GraphSteps *g) {
  const SessionNumbers *last = &g->nodes[g->at];
  // a node without steps: the next node comes after the same steps as this one
  if (last->first == last->end) return;
  g->after.len = 0;
  for (uint32_t i = last->first; i < last->end; i++) vec_push(&g->after, g->steps.data[i]);
}

void record_graph_node(uint32_t place) {
  GraphSteps *g = graph;
  if (!g) return;
  close_node(g);
  if (!g->branches) follow_last(g);
  g->at = place;
  g->nodes[place] = (SessionNumbers){&g->steps, g->steps.len, g->steps.len};
  if (!g->branches) return;
  g->after.len = 0;
  session_branches_behind(g->branches, place, g->nodes, &g->after);
}

// Steps after the graph come after every step of it without a successor.
static void join(GraphSteps *g) {
  if (!g->steps.len) return;
  uint32_t last = g->steps.data[g->steps.len - 1], n = 0;
  for (uint32_t i = 0; i < g->steps.len - 1; i++)
    if (!u64map_get(&g->followed, g->steps.data[i])) g->steps.data[n++] = g->steps.data[i];
  if (n) send(last, g->steps.data, n, true);
  session_order_graph(g->stream, last);
}

void record_graph_end(void) {
  GraphSteps *g = graph;
  if (!g) return;
  close_node(g);
  graph = g->outer;
  for (uint32_t i = 0; g->outer && i < g->steps.len; i++)
    vec_push(&g->outer->steps, g->steps.data[i]);
  if (!g->outer) join(g);
  free(g->nodes);
  vec_free(&g->steps);
  vec_free(&g->after);
  u64map_free(&g->followed);
  free(g);
}
