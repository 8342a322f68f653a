// Graphs as structure: nodes, edges, order, copies.
#include "driver/driver.h"

static _Atomic uint64_t next_id = 1;

Graph *graph_new(void) { return object_new(OBJECT_GRAPH, sizeof(Graph)); }

static void node_free(Node *n) {
  work_free(&n->work);
  for (uint32_t i = 0; i < n->bodies.len; i++) graph_free(n->bodies.data[i]);
  vec_free(&n->bodies);
  vec_free(&n->deps);
  vec_free(&n->edges);
  free(n->param_pointers);
  object_delete(n);
}

void graph_free(Graph *g) {
  for (uint32_t i = 0; i < g->nodes.len; i++) node_free(g->nodes.data[i]);
  vec_free(&g->nodes);
  user_refs_release(g);
  vec_free(&g->users);
  vec_free(&g->handles);
  vec_free(&g->handle_defaults);
  vec_free(&g->handle_assign);
  object_delete(g);
}

Node *graph_add(Graph *g, CUgraphNodeType type, Node *const *deps, size_t ndeps) {
  Node *n = object_new(OBJECT_NODE, sizeof *n);
  n->graph = g;
  n->type = type;
  n->id = next_id++;
  for (size_t i = 0; i < ndeps; i++) {
    vec_push(&n->deps, deps[i]);
    vec_push(&n->edges, (CUgraphEdgeData){0});
  }
  vec_push(&g->nodes, n);
  return n;
}

CUresult graph_add_handles(Graph *g, CUgraphNodeType type, const CUgraphNode *deps,
                           const CUgraphEdgeData *edges, size_t ndeps, Node **out) {
  if (ndeps && !deps) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < ndeps; i++) {
    Node *d = object_get(deps[i], OBJECT_NODE);
    if (!d || d->graph != g) return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < i; k++)
      if (deps[k] == deps[i]) return CUDA_ERROR_INVALID_VALUE;
  }
  *out = graph_add(g, type, (Node *const *)deps, ndeps);
  for (size_t i = 0; edges && i < ndeps; i++) (*out)->edges.data[i] = edges[i];
  return CUDA_SUCCESS;
}

static uint32_t index_of(const Graph *g, const Node *n) {
  for (uint32_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i] == n) return i;
  return UINT32_MAX;
}

// Handle creation order, as far as dependencies allow: nodes are appended when all their
// dependencies are placed.
CUresult graph_order(const Graph *g, Node ***order) {
  uint32_t n = g->nodes.len, placed = 0;
  Node **out = mem_alloc(sizeof *out * MAX(n, 1));
  U64Map index = {0};
  for (uint32_t i = 0; i < n; i++)
    u64map_put(&index, (uintptr_t)g->nodes.data[i], (void *)(uintptr_t)(i + 1));
  uint32_t *missing = mem_alloc(sizeof *missing * MAX(n, 1));
  VEC(uint32_t) *users = mem_alloc(sizeof *users * MAX(n, 1));
  for (uint32_t i = 0; i < n; i++) {
    const Node *node = g->nodes.data[i];
    missing[i] = node->deps.len;
    for (uint32_t k = 0; k < node->deps.len; k++) {
      uint32_t d = (uint32_t)(uintptr_t)u64map_get(&index, (uintptr_t)node->deps.data[k]) - 1;
      vec_push(&users[d], i);
    }
  }
  for (uint32_t i = 0; i < n; i++)
    if (!missing[i]) out[placed++] = g->nodes.data[i];
  for (uint32_t done = 0; done < placed; done++) {
    uint32_t i = (uint32_t)(uintptr_t)u64map_get(&index, (uintptr_t)out[done]) - 1;
    for (uint32_t k = 0; k < users[i].len; k++)
      if (!--missing[users[i].data[k]]) out[placed++] = g->nodes.data[users[i].data[k]];
  }
  for (uint32_t i = 0; i < n; i++) vec_free(&users[i]);
  free(users);
  free(missing);
  u64map_free(&index);
  if (placed != n) {
    free(out);
    *order = NULL;
    return CUDA_ERROR_INVALID_VALUE;
  }
  *order = out;
  return CUDA_SUCCESS;
}

bool graph_reaches(const Node *from, const Node *to) {
  U64Map seen = {0};
  VEC(const Node *) todo = {0};
  vec_push(&todo, to);
  bool found = false;
  while (todo.len && !found) {
    const Node *n = todo.data[--todo.len];
    if (n == from) found = true;
    if (u64map_get(&seen, (uintptr_t)n)) continue;
    u64map_put(&seen, (uintptr_t)n, (void *)1);
    for (uint32_t i = 0; i < n->deps.len; i++) vec_push(&todo, n->deps.data[i]);
  }
  vec_free(&todo);
  u64map_free(&seen);
  return found;
}

Graph *graph_clone(const Graph *g) {
  Graph *copy = graph_new();
  U64Map twin = {0};
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    Node *c = graph_add(copy, n->type, NULL, 0);
    c->clone_of = n->id;
    work_copy(&c->work, &n->work);
    for (uint32_t k = 0; k < n->bodies.len; k++) {
      Graph *body = graph_clone(n->bodies.data[k]);
      body->owner = c;
      vec_push(&c->bodies, body);
    }
    u64map_put(&twin, (uintptr_t)n, c);
  }
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    const Node *n = g->nodes.data[i];
    for (uint32_t k = 0; k < n->deps.len; k++) {
      vec_push(&copy->nodes.data[i]->deps, u64map_get(&twin, (uintptr_t)n->deps.data[k]));
      vec_push(&copy->nodes.data[i]->edges, n->edges.data[k]);
    }
  }
  u64map_free(&twin);
  for (uint32_t i = 0; i < g->handles.len; i++) {
    vec_push(&copy->handles, g->handles.data[i]);
    vec_push(&copy->handle_defaults, g->handle_defaults.data[i]);
    vec_push(&copy->handle_assign, g->handle_assign.data[i]);
  }
  user_refs_retain(copy, g);
  return copy;
}

void graph_remove_node(Node *n) {
  Graph *g = n->graph;
  uint32_t at = index_of(g, n);
  memmove(&g->nodes.data[at], &g->nodes.data[at + 1],
          (g->nodes.len - 1 - at) * sizeof *g->nodes.data);
  g->nodes.len--;
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    Node *o = g->nodes.data[i];
    for (uint32_t k = o->deps.len; k-- > 0;)
      if (o->deps.data[k] == n) {
        o->deps.data[k] = o->deps.data[--o->deps.len];
        o->edges.data[k] = o->edges.data[--o->edges.len];
      }
  }
  node_free(n);
}

// --- entry points ---

CUresult graph_get(CUgraph handle, Graph **out) {
  TRY(driver_check());
  *out = object_use(handle, OBJECT_GRAPH, SESSION_GRAPH_GONE);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult node_get(CUgraphNode handle, Node **out) {
  TRY(driver_check());
  *out = object_get(handle, OBJECT_NODE);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphCreate(CUgraph *out, unsigned flags) {
  TRY(driver_check());
  if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUgraph)graph_new();
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
  Graph *g;
  TRY(graph_get(handle, &g));
  if (g->owner) return CUDA_ERROR_INVALID_VALUE;
  session_destroyed(SESSION_GRAPH_GONE, handle);
  graph_free(g);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph *out, CUgraph handle) {
  Graph *g;
  TRY(graph_get(handle, &g));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUgraph)graph_clone(g);
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  Node *n;
  TRY(node_get(handle, &n));
  if (n->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || n->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
    return CUDA_ERROR_NOT_SUPPORTED;
  graph_remove_node(n);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph clone) {
  Graph *g;
  Node *n;
  TRY(node_get(original, &n));
  TRY(graph_get(clone, &g));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < g->nodes.len; i++)
    if (g->nodes.data[i]->clone_of == n->id) {
      *out = (CUgraphNode)g->nodes.data[i];
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type) {
  Node *n;
  TRY(node_get(handle, &n));
  if (!type) return CUDA_ERROR_INVALID_VALUE;
  *type = n->type;
  return CUDA_SUCCESS;
}

// Lists: a NULL array asks for the count; a larger array is filled with NULL after the end.
typedef struct Filler {
  void *out[2];
  CUgraphEdgeData *edges;
  size_t room, count;
} Filler;

static void put(Filler *f, void *a, void *b, CUgraphEdgeData edge) {
  if (f->out[0] && f->count < f->room) {
    ((void **)f->out[0])[f->count] = a;
    if (f->out[1]) ((void **)f->out[1])[f->count] = b;
    if (f->edges) f->edges[f->count] = edge;
  }
  f->count++;
}

static CUresult fill_end(Filler *f, size_t *n) {
  size_t total = f->count;
  if (f->out[0])
    while (f->count < f->room) put(f, NULL, NULL, (CUgraphEdgeData){0});
  *n = f->out[0] ? MIN(total, f->room) : total;
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *n) {
  Graph *g;
  TRY(graph_get(handle, &g));
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  Filler f = {.out = {nodes}, .room = *n};
  for (uint32_t i = 0; i < g->nodes.len; i++) put(&f, g->nodes.data[i], NULL, (CUgraphEdgeData){0});
  return fill_end(&f, n);
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *n) {
  Graph *g;
  TRY(graph_get(handle, &g));
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  Filler f = {.out = {nodes}, .room = *n};
  for (uint32_t i = 0; i < g->nodes.len; i++)
    if (!g->nodes.data[i]->deps.len) put(&f, g->nodes.data[i], NULL, (CUgraphEdgeData){0});
  return fill_end(&f, n);
}

CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *edges, size_t *n) {
  Graph *g;
  TRY(graph_get(handle, &g));
  if (!n || (from && !to) || (to && !from)) return CUDA_ERROR_INVALID_VALUE;
  Filler f = {.out = {from, to}, .edges = edges, .room = *n};
  for (uint32_t i = 0; i < g->nodes.len; i++) {
    Node *node = g->nodes.data[i];
    for (uint32_t k = 0; k < node->deps.len; k++)
      put(&f, node->deps.data[k], node, node->edges.data[k]);
  }
  return fill_end(&f, n);
}
CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n) {
  return cuGraphGetEdges_v2(g, from, to, NULL, n);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *deps,
                                       CUgraphEdgeData *edges, size_t *n) {
  Node *node;
  TRY(node_get(handle, &node));
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  Filler f = {.out = {deps}, .edges = edges, .room = *n};
  for (uint32_t k = 0; k < node->deps.len; k++)
    put(&f, node->deps.data[k], NULL, node->edges.data[k]);
  return fill_end(&f, n);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode h, CUgraphNode *deps, size_t *n) {
  return cuGraphNodeGetDependencies_v2(h, deps, NULL, n);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *users,
                                         CUgraphEdgeData *edges, size_t *n) {
  Node *node;
  TRY(node_get(handle, &node));
  if (!n) return CUDA_ERROR_INVALID_VALUE;
  Filler f = {.out = {users}, .edges = edges, .room = *n};
  for (uint32_t i = 0; i < node->graph->nodes.len; i++) {
    Node *o = node->graph->nodes.data[i];
    for (uint32_t k = 0; k < o->deps.len; k++)
      if (o->deps.data[k] == node) put(&f, o, NULL, o->edges.data[k]);
  }
  return fill_end(&f, n);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode h, CUgraphNode *users, size_t *n) {
  return cuGraphNodeGetDependentNodes_v2(h, users, NULL, n);
}

CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edges, size_t n) {
  Graph *g;
  Node *a, *b;
  TRY(graph_get(handle, &g));
  if (n && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    TRY(node_get(from[i], &a));
    TRY(node_get(to[i], &b));
    if (a->graph != g || b->graph != g || a == b) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t k = 0; k < b->deps.len; k++)
      if (b->deps.data[k] == a) return CUDA_ERROR_INVALID_VALUE;
    vec_push(&b->deps, a);
    vec_push(&b->edges, edges ? edges[i] : (CUgraphEdgeData){0});
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                size_t n) {
  return cuGraphAddDependencies_v2(g, from, to, NULL, n);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode *from,
                                      const CUgraphNode *to, const CUgraphEdgeData *edges,
                                      size_t n) {
  Graph *g;
  Node *a, *b;
  TRY(graph_get(handle, &g));
  if (n && (!from || !to)) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < n; i++) {
    TRY(node_get(from[i], &a));
    TRY(node_get(to[i], &b));
    uint32_t k = 0;
    while (k < b->deps.len && b->deps.data[k] != a) k++;
    if (a->graph != g || b->graph != g || k == b->deps.len) return CUDA_ERROR_INVALID_VALUE;
    b->deps.data[k] = b->deps.data[--b->deps.len];
    b->edges.data[k] = b->edges.data[--b->edges.len];
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t n) {
  return cuGraphRemoveDependencies_v2(g, from, to, NULL, n);
}
