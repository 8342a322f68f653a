// Stream capture: work submitted to a capturing stream becomes nodes of a graph. Streams join a
// capture by waiting for an event recorded in it, and must be joined again the same way before it
// ends.
#include "driver/driver.h"

static uint64_t next_id = 1;   // queue_lock
static VEC(Capture *) active;  // queue_lock
static __thread CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult capture_forbids_unsafe_call(void) {
  if (!active.len || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&queue_lock);
  for (uint32_t i = 0; i < active.len; i++) {
    Capture *c = active.data[i];
    bool mine = pthread_equal(c->thread, pthread_self()) &&
                c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    bool theirs = c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                  thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!mine && !theirs) continue;
    c->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  pthread_mutex_unlock(&queue_lock);
  return result;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  TRY(driver_check());
  if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  CUstreamCaptureMode before = thread_mode;
  thread_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

CUresult capture_refuse(Stream *s) {
  s->capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static CUresult check(const Capture *c) {
  return c->status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? CUDA_SUCCESS
                                                      : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

static CUgraphNodeType node_type(const Work *w) {
  switch (w->kind) {
    case WORK_KERNEL: return CU_GRAPH_NODE_TYPE_KERNEL;
    case WORK_COPY: return CU_GRAPH_NODE_TYPE_MEMCPY;
    case WORK_SET: return CU_GRAPH_NODE_TYPE_MEMSET;
    case WORK_LIBRARY:
    case WORK_HOST: return CU_GRAPH_NODE_TYPE_HOST;
    case WORK_RECORD: return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case WORK_WAIT: return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case WORK_MEMOPS: return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case WORK_ALLOC: return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case WORK_FREE: return CU_GRAPH_NODE_TYPE_MEM_FREE;
    case WORK_CONDITIONAL: return CU_GRAPH_NODE_TYPE_CONDITIONAL;
    case WORK_CHILD:
    case WORK_GRAPH: return CU_GRAPH_NODE_TYPE_GRAPH;
    default: return CU_GRAPH_NODE_TYPE_EMPTY;
  }
}

static void set_deps(Stream *s, Node *only) {
  s->capture_deps.len = 0;
  if (only) vec_push(&s->capture_deps, only);
}

CUresult capture_add(Stream *s, Work *w) {
  Capture *c = s->capture;
  CUresult result = check(c);
  if (!result && w->kind == WORK_CALLBACK) result = capture_refuse(s);
  if (result) {
    work_free(w);
    return result;
  }
  Node *n = graph_add(c->graph, node_type(w), s->capture_deps.data, s->capture_deps.len);
  n->work = *w;
  set_deps(s, n);
  return CUDA_SUCCESS;
}

// A graph launched into a capture becomes a child graph node.
CUresult capture_add_child(Stream *s, const Graph *child) {
  TRY(check(s->capture));
  Node *n = graph_add(s->capture->graph, CU_GRAPH_NODE_TYPE_GRAPH, s->capture_deps.data,
                      s->capture_deps.len);
  n->work = (Work){.kind = WORK_CHILD, .ctx = s->ctx};
  Graph *copy = graph_clone(child);
  copy->owner = n;
  vec_push(&n->bodies, copy);
  set_deps(s, n);
  return CUDA_SUCCESS;
}

CUresult capture_record_event(Stream *s, Event *e) {
  TRY(check(s->capture));
  e->capture = s->capture;
  e->capture_id = s->capture->id;
  e->capture_deps.len = 0;
  for (uint32_t i = 0; i < s->capture_deps.len; i++)
    vec_push(&e->capture_deps, s->capture_deps.data[i]);
  return CUDA_SUCCESS;
}

// The event's capture, if it still goes on: captures end while events live.
Capture *capture_of_event(Event *e) {
  for (uint32_t i = 0; e->capture && i < active.len; i++)
    if (active.data[i] == e->capture && active.data[i]->id == e->capture_id) return e->capture;
  e->capture = NULL;
  return NULL;
}

static void join(Capture *c, Stream *s) {
  s->capture = c;
  stream_retain(s);
  vec_push(&c->members, s);
}

CUresult capture_wait_event(Stream *s, Event *e) {
  Capture *c = capture_of_event(e);
  if (!c) {  // work outside the capture
    if (!s->capture || !e->stream) return CUDA_SUCCESS;
    s->capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  TRY(check(c));
  if (s->legacy) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  if (s->capture && s->capture != c) {
    s->capture->status = c->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (!s->capture) join(c, s);
  for (uint32_t i = 0; i < e->capture_deps.len; i++) {
    Node *n = e->capture_deps.data[i];
    bool known = false;
    for (uint32_t k = 0; k < s->capture_deps.len; k++) known |= s->capture_deps.data[k] == n;
    if (!known) vec_push(&s->capture_deps, n);
  }
  return CUDA_SUCCESS;
}

// --- begin ---

static CUresult begin(CUstream handle, CUstreamCaptureMode mode, Graph *into,
                      const CUgraphNode *deps, size_t ndeps) {
  Stream *s;
  TRY(stream_get(handle, &s));
  if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED || (ndeps && !deps))
    return CUDA_ERROR_INVALID_VALUE;
  if (s->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  for (size_t i = 0; i < ndeps; i++) {
    Node *n = object_get(deps[i], OBJECT_NODE);
    if (!n || n->graph != into) return CUDA_ERROR_INVALID_VALUE;
  }
  Graph *graph = into ? into : graph_new();
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&queue_lock);
  if (s->capture) {
    result = CUDA_ERROR_ILLEGAL_STATE;
  } else {
    Capture *c = mem_alloc(sizeof *c);
    *c = (Capture){.graph = graph,
                   .origin = s,
                   .mode = mode,
                   .thread = pthread_self(),
                   .status = CU_STREAM_CAPTURE_STATUS_ACTIVE,
                   .id = next_id++,
                   .own_graph = !into};
    join(c, s);
    set_deps(s, NULL);
    for (size_t i = 0; i < ndeps; i++) vec_push(&s->capture_deps, (Node *)deps[i]);
    vec_push(&active, c);
  }
  pthread_mutex_unlock(&queue_lock);
  if (result && !into) graph_free(graph);
  return result;
}

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
  return begin(s, mode, NULL, NULL, 0);
}
CUresult cuStreamBeginCapture(CUstream s) {
  return begin(s, CU_STREAM_CAPTURE_MODE_GLOBAL, NULL, NULL, 0);
}

CUresult cuStreamBeginCaptureToGraph(CUstream s, CUgraph handle, const CUgraphNode *deps,
                                     const CUgraphEdgeData *edges, size_t n,
                                     CUstreamCaptureMode mode) {
  TRY(driver_check());
  Graph *g = object_get(handle, OBJECT_GRAPH);
  if (!g) return CUDA_ERROR_INVALID_VALUE;
  return begin(s, mode, g, deps, n);
}

// --- end ---

// Every stream that joined must have been joined by the origin: its last nodes lead to the
// origin's.
static bool all_joined(const Capture *c) {
  for (uint32_t i = 1; i < c->members.len; i++) {
    Stream *s = c->members.data[i];
    for (uint32_t k = 0; k < s->capture_deps.len; k++) {
      bool reached = false;
      for (uint32_t o = 0; o < c->origin->capture_deps.len; o++)
        reached |= graph_reaches(s->capture_deps.data[k], c->origin->capture_deps.data[o]);
      if (!reached) return false;
    }
  }
  return true;
}

static void leave(Capture *c) {
  for (uint32_t i = 0; i < c->members.len; i++) {
    Stream *s = c->members.data[i];
    s->capture = NULL;
    set_deps(s, NULL);
    stream_release(s);
  }
  vec_free(&c->members);
  for (uint32_t i = 0; i < active.len; i++)
    if (active.data[i] == c) {
      active.data[i] = active.data[--active.len];
      break;
    }
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *out) {
  Stream *s;
  TRY(stream_get(handle, &s));
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&queue_lock);
  Capture *c = s->capture;
  if (!out && c && c->own_graph) {  // a capture into the caller's own graph needs no answer
    pthread_mutex_unlock(&queue_lock);
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (out) *out = NULL;
  if (!c) {
    result = CUDA_ERROR_ILLEGAL_STATE;
  } else if (c->origin != s) {
    c->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    pthread_mutex_unlock(&queue_lock);
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  } else if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
             !pthread_equal(c->thread, pthread_self())) {
    pthread_mutex_unlock(&queue_lock);
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  } else {
    result = check(c);
    if (!result && !all_joined(c)) result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    leave(c);
  }
  pthread_mutex_unlock(&queue_lock);
  if (!c) return result;
  if (!result && out) *out = (CUgraph)c->graph;
  if (result && c->own_graph) graph_free(c->graph);
  free(c);
  return result;
}

// --- questions ---

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  return cuStreamGetCaptureInfo_v3(handle, status, NULL, NULL, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id,
                                   CUgraph *graph, const CUgraphNode **deps,
                                   const CUgraphEdgeData **edges, size_t *ndeps) {
  Stream *s;
  TRY(stream_get(handle, &s));
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&queue_lock);
  Capture *c = s->capture;
  *status = c ? c->status : CU_STREAM_CAPTURE_STATUS_NONE;
  if (s->legacy)
    for (uint32_t i = 0; i < s->ctx->streams.len; i++) {
      Stream *other = s->ctx->streams.data[i];
      if (other->capture && !(other->flags & CU_STREAM_NON_BLOCKING))
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
  if (*status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    if (id) *id = c->id;
    if (graph) *graph = (CUgraph)c->graph;
    if (deps) *deps = (const CUgraphNode *)s->capture_deps.data;
    if (edges) *edges = NULL;
    if (ndeps) *ndeps = s->capture_deps.len;
  }
  pthread_mutex_unlock(&queue_lock);
  return result;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, uint64_t *id,
                                   CUgraph *graph, const CUgraphNode **deps, size_t *n) {
  return cuStreamGetCaptureInfo_v3(s, status, id, graph, deps, NULL, n);
}

CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, uint64_t *id) {
  return cuStreamGetCaptureInfo_v3(s, status, id, NULL, NULL, NULL, NULL);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *deps,
                                              const CUgraphEdgeData *edges, size_t n,
                                              unsigned flags) {
  Stream *s;
  TRY(stream_get(handle, &s));
  if (flags > 1 || (n && !deps)) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_SUCCESS;
  pthread_mutex_lock(&queue_lock);
  if (!s->capture) result = CUDA_ERROR_ILLEGAL_STATE;
  else result = check(s->capture);
  for (size_t i = 0; i < n && !result; i++) {
    Node *node = object_get(deps[i], OBJECT_NODE);
    if (!node || node->graph != s->capture->graph) result = CUDA_ERROR_INVALID_VALUE;
  }
  if (!result) {
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) set_deps(s, NULL);
    for (size_t i = 0; i < n; i++) vec_push(&s->capture_deps, (Node *)deps[i]);
  }
  pthread_mutex_unlock(&queue_lock);
  return result;
}

CUresult cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *deps, size_t n,
                                           unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(s, deps, NULL, n, flags);
}
