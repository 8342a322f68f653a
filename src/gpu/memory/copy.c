// Copies and sets: checked before the driver is called, reported to the session once it has
// accepted them. Without a tool that wants them: forwarded.
#include "gpu/gpu.h"

// --- before and after the real call ---

static void name_stream(SessionCopy *c, const char *call, CUstream stream) {
  c->call = call;
  c->stream = stream;
  c->async = strstr(call, "Async") != NULL;
}

// A copy of nothing is not looked at, as the driver does not.
static bool is_empty(const SessionCopy *c) { return !c->width || !c->height || !c->depth; }

// Memory that is not in our table may still be device memory: of another process or another API.
static bool host_may_read(const SessionCopy *c) {
  unsigned type;
  if (c->is_set || c->from.kind == SESSION_PLACE_HOST) return true;
  return gpu_real.cuPointerGetAttribute &&
         gpu_real.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, c->from.address) !=
             CUDA_SUCCESS;
}

// False: its stream was destroyed, and it is not to be made.
static bool begin(SessionCopy *c, bool alone) {
  if (is_empty(c)) return true;
  CUstream stream = (CUstream)(uintptr_t)c->stream;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (session_use(SESSION_STREAM_GONE, stream)) return false;
  GpuContext *context = gpu_context_of_stream(stream);
  c->device = context ? context->device : 0;
  if (gpu_real.cuStreamIsCapturing && gpu_real.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS)
    c->captured = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  bool follows = !c->captured && session_wants(SESSION_WANTS_COPY_TAGS) && context &&
                 !atomic_load(&context->faulted);
  c->on = follows ? gpu_context_use(context) : NULL;
  c->on_host = alone && session_copy_on_host(c) && host_may_read(c);
  session_copy_check(c);
  c->tag = session_copy_tag();
  if (c->on) gpu_context_used(context);
  gpu_hash_before_copy(c);
  if (!c->captured) c->step = session_copy_number(c);
  return true;
}

// begin_time and end_time enclose the call. Copies of a batch are not timed.
static void *begin_time(const SessionCopy *c) {
  if (!session_wants(SESSION_WANTS_COPY_TIMES) || is_empty(c) || c->captured) return NULL;
  CUstream stream = (CUstream)(uintptr_t)c->stream;
  return gpu_times_begin(gpu_context_of_stream(stream), stream);
}

static void end_time(SessionCopy *c, void *began, CUresult result) {
  static _Atomic uint64_t last;
  if (!began) return;
  CUstream stream = (CUstream)(uintptr_t)c->stream;
  if (result == CUDA_SUCCESS) c->timed_as = ++last;
  uint64_t bytes = c->width * c->height * c->depth;
  GpuTimed what = {.number = c->timed_as, .is_copy = true, .bytes = bytes};
  gpu_times_end(gpu_context_of_stream(stream), stream, began, what);
}

static CUresult end(const SessionCopy *c, CUresult result) {
  if (result == CUDA_SUCCESS && !is_empty(c)) {
    gpu_copy_enqueued(c);
    session_copy_taken(c);
    session_copy_contents(c);
  }
  if (result == CUDA_ERROR_INVALID_VALUE && !is_empty(c)) session_copy_refused(c);
  return gpu_checked(result);
}

// --- one copy: copies.def ---

static SessionCopy box(const CUDA_MEMCPY3D *p) {
  SessionCopy c = {0};
  if (p) session_copy_of_box(p, &c);
  return c;
}

static SessionCopy rectangle(const CUDA_MEMCPY2D *p) {
  SessionCopy c = {0};
  if (p) session_copy_of_rectangle(p, &c);
  return c;
}

#define UNIFIED(p) \
  { .kind = SESSION_PLACE_UNIFIED, .address = (p) }
#define DEVICE(p) \
  { .kind = SESSION_PLACE_DEVICE, .address = (p) }
#define HOST(p) \
  { .kind = SESSION_PLACE_HOST, .address = (uintptr_t)(p) }
#define ARRAY(a, offset) \
  { .kind = SESSION_PLACE_ARRAY, .address = (uintptr_t)(a), .x = (offset) }
#define FLAT(dst, src, bytes) \
  (SessionCopy) { .to = dst, .from = src, .width = (bytes), .height = 1, .depth = 1 }
#define SET(dst, row, bytes, rows) \
  (SessionCopy) { \
    .to = {.kind = SESSION_PLACE_DEVICE, .address = (dst), .pitch = (row)}, .is_set = true, \
    .width = (bytes), .height = (rows), .depth = 1, .value = v, .value_bytes = sizeof v \
  }
#define RECTANGLE(p) rectangle(p)
#define BOX(p) \
  box((const CUDA_MEMCPY3D \
           *)(p))  // the peer structure has contexts where the plain one has reserved words
_Static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER), "the same layout");

#define PER_THREAD_STREAM(s) ((s) ? (s) : CU_STREAM_PER_THREAD)
#define AS_IT_IS(s) (s)
#define ONE(name, params, args, stream, ...) \
  CUresult gpu_##name params { \
    if (!session_wants_copies()) return gpu_checked(SESSION_WAITING(#name, gpu_real.name args)); \
    SessionCopy copy = __VA_ARGS__; \
    name_stream(&copy, #name, stream); \
    if (!begin(&copy, true)) return CUDA_ERROR_INVALID_HANDLE; \
    void *timed = begin_time(&copy); \
    CUresult result = SESSION_WAITING(#name, gpu_real.name args); \
    end_time(&copy, timed, result); \
    return end(&copy, result); \
  }
#define COPY(name, twin, params, args, stream, ...) \
  ONE(name, params, args, AS_IT_IS((CUstream)(stream)), __VA_ARGS__) \
  ONE(name##twin, params, args, PER_THREAD_STREAM((CUstream)(stream)), __VA_ARGS__)
#include "gpu/memory/copies.def"

// --- batches: a list of copies in one call ---

static bool batch_begin(SessionCopy *copies, size_t n, const char *call, CUstream stream) {
  for (size_t i = 0; i < n; i++) {
    name_stream(&copies[i], call, stream);
    if (!begin(&copies[i], false)) return false;
  }
  return true;
}

static CUresult batch_end(SessionCopy *copies, size_t n, CUresult result) {
  for (size_t i = 0; i < n; i++) end(&copies[i], result);
  free(copies);
  return result;
}

static SessionCopy *flat_batch(const CUdeviceptr *d, const CUdeviceptr *s, const size_t *sizes,
                               size_t n) {
  SessionCopy *copies = mem_alloc(n * sizeof *copies);
  for (size_t i = 0; i < n; i++) copies[i] = FLAT(UNIFIED(d[i]), UNIFIED(s[i]), sizes[i]);
  return copies;
}

static size_t array_element(CUarray a) {
  SessionArray known;
  return session_array_find((uintptr_t)a, &known) ? known.element : 0;
}

// Extents and offsets are in elements of the array, or in bytes if there is no array.
static bool operand(const CUmemcpy3DOperand *o, const CUextent3D *extent, size_t element,
                    SessionPlace *out) {
  if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    *out = (SessionPlace){.kind = SESSION_PLACE_ARRAY,
                          .address = (uintptr_t)o->op.array.array,
                          .x = o->op.array.offset.x * element,
                          .y = o->op.array.offset.y,
                          .z = o->op.array.offset.z};
    return true;
  }
  if (o->type != CU_MEMCPY_OPERAND_TYPE_POINTER) return false;
  *out = (SessionPlace){.kind = SESSION_PLACE_UNIFIED,
                        .address = o->op.ptr.ptr,
                        .pitch = (o->op.ptr.rowLength ? o->op.ptr.rowLength : extent->width) *
                                 element,
                        .rows = o->op.ptr.layerHeight ? o->op.ptr.layerHeight : extent->height};
  return true;
}

// A copy that cannot be described stays empty and is not reported.
static SessionCopy *box_batch(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t n) {
  SessionCopy *copies = mem_alloc(n * sizeof *copies);
  for (size_t i = 0; i < n; i++) {
    const CUDA_MEMCPY3D_BATCH_OP *op = &ops[i];
    size_t element = 1;
    if (op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
      element = array_element(op->src.op.array.array);
    else if (op->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
      element = array_element(op->dst.op.array.array);
    SessionCopy c = {.width = op->extent.width * element,
                     .height = op->extent.height,
                     .depth = op->extent.depth};
    if (operand(&op->src, &op->extent, element, &c.from) &&
        operand(&op->dst, &op->extent, element, &c.to))
      copies[i] = c;
  }
  return copies;
}

#define BATCH(name, params, args, ok, n, stream, list) \
  CUresult gpu_##name params { \
    if (!session_wants_copies() || !(ok)) return gpu_checked(gpu_real.name args); \
    SessionCopy *copies = list; \
    bool alive = batch_begin(copies, n, #name, stream); \
    return batch_end(copies, n, alive ? gpu_real.name args : CUDA_ERROR_INVALID_HANDLE); \
  }
#define FLAT_BATCH(name, params, args, STREAM) \
  BATCH(name, params, args, d &&s &&sizes &&n, n, STREAM(q), flat_batch(d, s, sizes, n))
#define BOX_BATCH(name, params, args, STREAM) \
  BATCH(name, params, args, ops &&n, n, STREAM(q), box_batch(ops, n))
#define FLAT_PARAMS_V2 \
  (CUdeviceptr * d, CUdeviceptr * s, size_t * sizes, size_t n, CUmemcpyAttributes * attrs, \
   size_t * index, size_t nattrs, CUstream q)
#define FLAT_PARAMS \
  (CUdeviceptr * d, CUdeviceptr * s, size_t * sizes, size_t n, CUmemcpyAttributes * attrs, \
   size_t * index, size_t nattrs, size_t * fail, CUstream q)
FLAT_BATCH(cuMemcpyBatchAsync_v2, FLAT_PARAMS_V2, (d, s, sizes, n, attrs, index, nattrs, q),
           AS_IT_IS)
FLAT_BATCH(cuMemcpyBatchAsync_v2_ptsz, FLAT_PARAMS_V2, (d, s, sizes, n, attrs, index, nattrs, q),
           PER_THREAD_STREAM)
FLAT_BATCH(cuMemcpyBatchAsync, FLAT_PARAMS, (d, s, sizes, n, attrs, index, nattrs, fail, q),
           AS_IT_IS)
FLAT_BATCH(cuMemcpyBatchAsync_ptsz, FLAT_PARAMS, (d, s, sizes, n, attrs, index, nattrs, fail, q),
           PER_THREAD_STREAM)
#define BOX_PARAMS_V2 (size_t n, CUDA_MEMCPY3D_BATCH_OP * ops, unsigned long long flags, CUstream q)
#define BOX_PARAMS \
  (size_t n, CUDA_MEMCPY3D_BATCH_OP * ops, size_t * fail, unsigned long long flags, CUstream q)
BOX_BATCH(cuMemcpy3DBatchAsync_v2, BOX_PARAMS_V2, (n, ops, flags, q), AS_IT_IS)
BOX_BATCH(cuMemcpy3DBatchAsync_v2_ptsz, BOX_PARAMS_V2, (n, ops, flags, q), PER_THREAD_STREAM)
BOX_BATCH(cuMemcpy3DBatchAsync, BOX_PARAMS, (n, ops, fail, flags, q), AS_IT_IS)
BOX_BATCH(cuMemcpy3DBatchAsync_ptsz, BOX_PARAMS, (n, ops, fail, flags, q), PER_THREAD_STREAM)

// --- nodes of graphs: checked when they are made or changed ---

static void begin_node(const char *call, SessionCopy *c, CUcontext ctx) {
  GpuContext *context = ctx ? gpu_context_of(ctx) : gpu_context_current();
  c->call = call;
  c->device = context ? context->device : 0;
  c->captured = true;
  if (!is_empty(c)) session_copy_check(c);
}

static CUresult end_node(const SessionCopy *c, CUresult result) {
  if (result == CUDA_ERROR_INVALID_VALUE && !is_empty(c)) session_copy_refused(c);
  return gpu_checked(result);
}

static bool set_copy(GpuGraphSteps *steps, CUgraphNode node, const void *params) {
  return gpu_graph_steps_set_copy(steps, node, params);
}
static bool set_set(GpuGraphSteps *steps, CUgraphNode node, const void *params) {
  return gpu_graph_steps_set_set(steps, node, params);
}

// before, done: what happens before the call, and after it has succeeded.
#define NODE(name, words, of, ctx, before, done, params, args) \
  CUresult gpu_##name params { \
    before; \
    bool looks = session_wants_memory() && p; \
    SessionCopy copy = {0}; \
    if (looks) { \
      of(p, &copy); \
      begin_node(words, &copy, ctx); \
    } \
    CUresult result = gpu_real.name args; \
    if (result == CUDA_SUCCESS && p) done; \
    return looks ? end_node(&copy, result) : gpu_checked(result); \
  }
#define COPY_NODE(name, ctx, before, done, params, args) \
  NODE(name, "memcpy node", session_copy_of_box, ctx, before, done, params, args)
#define SET_NODE(name, ctx, before, done, params, args) \
  NODE(name, "memset node", session_copy_of_set, ctx, before, done, params, args)
COPY_NODE(cuGraphAddMemcpyNode, ctx, (void)0, (void)0,
          (CUgraphNode * out, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_MEMCPY3D *p,
           CUcontext ctx),
          (out, g, after, n, p, ctx))
COPY_NODE(cuGraphMemcpyNodeSetParams, NULL, gpu_graph_overrule(NULL, node), (void)0,
          (CUgraphNode node, const CUDA_MEMCPY3D *p), (node, p))
COPY_NODE(cuGraphExecMemcpyNodeSetParams, ctx, gpu_graph_overrule(exec, node),
          gpu_graph_exec_changed(exec, node, set_copy, p),
          (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p, CUcontext ctx),
          (exec, node, p, ctx))
SET_NODE(cuGraphAddMemsetNode, ctx, (void)0, (void)0,
         (CUgraphNode * out, CUgraph g, const CUgraphNode *after, size_t n,
          const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx),
         (out, g, after, n, p, ctx))
SET_NODE(cuGraphMemsetNodeSetParams, NULL, gpu_graph_overrule(NULL, node), (void)0,
         (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p), (node, p))
SET_NODE(cuGraphExecMemsetNodeSetParams, ctx, gpu_graph_overrule(exec, node),
         gpu_graph_exec_changed(exec, node, set_set, p),
         (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx),
         (exec, node, p, ctx))
