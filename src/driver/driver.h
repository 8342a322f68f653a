// driver: the cu* functions of libcuda.so.1, served by the virtual device. cuda/abi.h is what
// others see; this header is shared by the files of this folder.
//
// Each request of the program becomes Work. Work goes to a stream's queue (queue.c), into a graph
// while the stream is being captured (capture.c), or into a graph by hand (graph_node.c); the same
// work_run executes it in all three cases.
//
// Locks, in the order in which they are taken. A Graph or Library has none: as in CUDA, one thread
// at a time edits it. Memory and handle tables have short locks of their own. queue_lock guards
// streams, events and captures. No lock is held while work runs.
#ifndef WG_DRIVER_H
#define WG_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "cuda/abi.h"
#include "cuda/library_call.h"
#include "interrupt/interrupt.h"
#include "session/session.h"
#include "vgpu/vgpu.h"

#define TRY(call) \
  do { \
    CUresult try_ = (call); \
    if (try_ != CUDA_SUCCESS) return try_; \
  } while (0)

typedef struct Context Context;
typedef struct Module Module;
typedef struct Library Library;
typedef struct Function Function;
typedef struct Kernel Kernel;
typedef struct Stream Stream;
typedef struct Event Event;
typedef struct Array Array;
typedef struct Mipmap Mipmap;
typedef struct Pool Pool;
typedef struct Graph Graph;
typedef struct Node Node;
typedef struct Exec Exec;
typedef struct Plan Plan;
typedef struct Capture Capture;
typedef struct TexRef TexRef;
typedef struct KernelWork KernelWork;
typedef struct LibraryWork LibraryWork;

// --- state.c: start, end, fork, and which handles are alive ---
typedef enum ObjectKind {
  OBJECT_CONTEXT = 1,
  OBJECT_MODULE,
  OBJECT_FUNCTION,
  OBJECT_LIBRARY,
  OBJECT_KERNEL,
  OBJECT_STREAM,
  OBJECT_EVENT,
  OBJECT_ARRAY,
  OBJECT_MIPMAP,
  OBJECT_POOL,
  OBJECT_GRAPH,
  OBJECT_NODE,
  OBJECT_EXEC,
  OBJECT_LINK,
  OBJECT_TEXREF,
  OBJECT_SURFREF,
  OBJECT_USER,
  OBJECT_PHYSICAL
} ObjectKind;
void *object_new(ObjectKind kind, size_t size);  // zeroed; the first member must be an ObjectKind
// NULL: no such handle; never touches what it points at
void *object_get(const void *handle, ObjectKind kind);
// the same for a handle the program gave; gone: a phrase of session.h
void *object_use(const void *handle, ObjectKind kind, const char *gone);
ObjectKind object_kind(const void *handle);  // 0: no such handle
void object_forget(void *object);            // the handle is no longer valid; memory stays
void object_delete(void *object);            // forget and free
CUresult driver_check(void);                 // success, not initialised, or shutting down
bool driver_ending(void);

// --- settings.c: the options of the run ---
typedef struct Settings {
  int devices;
  VgpuConfig vgpu;
  const char *log_path;
} Settings;
const Settings *settings(void);  // read once, at the first call

// --- device.c ---
typedef struct Device {
  int ordinal, pci_bus;
  size_t memory;  // bytes
  _Atomic size_t used;
  Context *primary;
  unsigned primary_flags;
  int primary_refs;
  Pool *default_pool, *pool;  // pool: what cuMemAllocAsync uses
  Pool *host_pool, *managed_pool;
  _Atomic uint64_t graph_used, graph_used_high;
} Device;
Device *device_get(CUdevice ordinal);  // NULL: no such device
int device_count(void);
int device_attribute(const Device *dev, int number, bool *known);
extern pthread_mutex_t device_lock;  // primary contexts and pools

// --- context.c ---
typedef struct ToolMemory {
  void *p;
  size_t size;
} ToolMemory;
struct Context {
  ObjectKind kind;
  Device *device;
  bool primary, active;  // a primary context stays, inactive, after its last release
  unsigned flags, api_version;
  uint64_t id;
  _Atomic int error;  // CUresult of the launch that poisoned it
  size_t limits[CU_LIMIT_MAX];
  CUfunc_cache cache_config;
  CUsharedconfig shared_config;
  Stream *legacy;
  VEC(Stream *) streams;  // all, legacy and per-thread ones included; queue_lock
  VEC(Module *) modules;  // context_lock
  VEC(Context *) peers;
  SessionDevice *session;       // tools.c: made when an instrumented kernel is first launched
  VEC(ToolMemory) tool_memory;  // what the session allocated in it
};
extern pthread_mutex_t context_lock;  // modules and libraries
// the calling thread's, usable; sticky errors are returned
CUresult context_current(Context **out);
CUresult context_of_thread(Context **out);              // the same without sticky errors
CUresult context_get(CUcontext handle, Context **out);  // NULL: the current one
void context_poison(Context *ctx, CUresult error);      // the first error stays
CUresult context_wait(Context *ctx);                    // all its streams
void context_end_thread(void);

// --- print.c: device printf ---
void print_collect(void *unused, const char *text, size_t n);
void print_flush(void);  // at synchronisation points

// --- cpu.c: kernels on the virtual device ---
CUresult cpu_launch(const VgpuLaunch *launch, const KernelWork *k);

// --- module.c, library.c, function.c ---
typedef struct PtxText {
  const char *text;
  size_t len;
  const char *name, *options;
} PtxText;
// the PTX of one image, unpacked
typedef struct CodeImage {
  Arena arena;
  VEC(PtxText) units;
  bool is_text;
} CodeImage;
CUresult code_open(const void *data, size_t size, CodeImage *out, Error *err);  // size 0: not known
void code_close(CodeImage *code);
struct Module {
  ObjectKind kind;
  Context *ctx;  // NULL: a library's, not yet bound
  VgpuModule *vgpu;
  SessionModule *session;
  Library *library;
  bool of_library;      // stays true when `library` becomes NULL
  bool shares_managed;  // its managed variables are another module's
  StrMap functions;     // name -> Function
  VEC(Function *) all_functions;
  VEC(TexRef *) texrefs;
  Interrupts interrupts;  // of its kernels that call interrupts
};
// known: the session's module of the same code, if it was loaded before; else NULL
CUresult module_load(Context *ctx, const CodeImage *code, SessionModule *known, Module **out,
                     Error *err);
CUresult module_check(const CodeImage *code, Error *err);  // could it be loaded?
void module_unload(Module *m);                             // waits for its context
void module_functions_gone(const Module *m);  // the program unloads it: tells the session
void module_bind(Module *m, Context *ctx);
void module_report_failure(const CodeImage *code, const Error *err);
VgpuKernel *module_kernel_at(Module *m, uint32_t i);  // the program's own; NULL: no more
CUresult module_function(Module *m, const char *name, Function **out);
void jit_write_logs(unsigned n, const CUjit_option *options, void **values, const char *info,
                    const char *error);

struct Library {
  ObjectKind kind;
  CodeImage code;
  VEC(Module *) modules;  // one per context that used it; an unbound one fits any
  StrMap kernels;         // name -> Kernel
  VEC(Kernel *) all_kernels;
  SessionModule *session;  // of its first module; all its modules have the same code
};
typedef struct FunctionSettings {  // what cuFuncSetAttribute and friends change
  int max_dynamic_shared, carveout, nonportable_cluster, cluster_policy, cluster[3];
  CUfunc_cache cache;
} FunctionSettings;
struct Kernel {
  ObjectKind kind;
  Library *library;
  const char *name;
  FunctionSettings settings;
};
struct Function {
  ObjectKind kind;
  Module *module;
  VgpuKernel *vgpu;
  const VgpuKernelInfo *info;
  SessionKernel *session;
  uint32_t nparams, param_bytes;  // the program's own; info has the parameter a tool added, too
  FunctionSettings settings;
  Kernel *kernel;                     // settings of a library's kernel are the kernel's
  const InterruptKernel *interrupts;  // NULL: it calls none
  // cuFuncSetBlockShape, cuParamSet*
  unsigned legacy_block[3], legacy_shared, legacy_size;
  unsigned char *legacy_params;
};
// --- link.c: what cuLinkComplete returns ---
bool link_is_linked(const void *data);
void link_open(const void *data, CodeImage *out);

CUresult library_module(Library *lib, Context *ctx, Module **out);
CUresult function_get(CUfunction handle, Context *ctx, Function **out);  // accepts a CUkernel too
FunctionSettings *function_settings(Function *f);
CUresult function_attribute(int *out, CUfunction_attribute which, Function *f);
void library_forget_context(Context *ctx);

// --- memory.c: every range the program got from us, by address ---
typedef enum AllocKind {
  ALLOC_DEVICE,
  ALLOC_HOST,
  ALLOC_REGISTERED,
  ALLOC_MANAGED,
  ALLOC_POOL,
  ALLOC_GRAPH,
  ALLOC_MAPPED,
  ALLOC_GLOBAL,
  ALLOC_ARRAY
} AllocKind;
typedef struct Alloc {
  uintptr_t base;
  size_t size;
  AllocKind kind;
  Context *ctx;
  Device *device;
  unsigned flags;  // of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
  uint64_t id;
  Pool *pool;
  const char *name;  // of a variable (lives with its module), of memory of our own; or NULL
  bool freeing;      // cuMemFreeAsync was called: the program has no right to it any more
  bool sync_memops, read_mostly;
  CUmemLocation preferred, last_prefetch;
  bool has_preferred, has_prefetch;
  uint64_t accessed_by;  // bit per device; bit 63: host
} Alloc;
void alloc_add(const Alloc *a);                  // copies; gives it an id
bool alloc_find(uintptr_t address, Alloc *out);  // the range that contains it
bool alloc_remove(uintptr_t base, Alloc *out);   // must be the start of a range
bool alloc_change(uintptr_t address, void (*change)(Alloc *a, const void *user), const void *user);
// the program frees the range now; alloc_remove follows when its stream reaches the free
void alloc_free_later(uintptr_t base);
void alloc_free_all(Context *ctx);  // context destroyed
// allocates on the pool's device, or without a pool on the context's; uses like's size, kind, ctx,
// flags, pool and name
CUresult memory_new_like(const Alloc *like, CUdeviceptr *out);
CUresult memory_new(Context *ctx, size_t size, AllocKind kind, unsigned flags, Pool *pool,
                    CUdeviceptr *out);
void *memory_take(Device *dev, size_t size, size_t align);  // the bare memory; NULL: there is none
// offers freed memory to the tools, which may keep it for a while; false: none does
bool memory_hold(uintptr_t base, size_t size, Device *dev, const void *owner);
// frees the memory, later if a tool keeps it; owner: a context or pool
void memory_give_back(uintptr_t base, size_t size, Device *dev, const void *owner);
// Reports to the session why `call` cannot free the pointer, and returns the error.
CUresult memory_refuse_free(const char *call, CUdeviceptr p, unsigned kinds, CUresult error);
#define MEMORY_FREED_PLAINLY \
  (SESSION_BIT(DEVICE) | SESSION_BIT(MANAGED) | SESSION_BIT(POOL) | SESSION_BIT(GRAPH))
bool memory_is_pageable(const void *p);  // host memory we know nothing about

// --- copy.c ---
typedef struct CopyWork {
  char *dst;
  const char *src;
  size_t dst_row, dst_slice, src_row, src_slice;  // bytes from row to row, slice to slice
  size_t width, height, depth;                    // bytes, rows, slices; all 0 or all not
  CUDA_MEMCPY3D desc;                             // as asked, for graph nodes
  uint64_t stack;                                 // of the call, for SessionCopy
  uint32_t step;                                  // session_copy_number; 0: a node of a graph
  uint64_t tag;                                   // session_copy_tag
  void *staged;  // pageable source, copied at call time; freed with the work
} CopyWork;
CUresult copy_prepare(const CUDA_MEMCPY3D *desc, CopyWork *out);
void copy_run(const CopyWork *c);

// width in elements
typedef struct SetWork {
  char *dst;
  size_t pitch, width, height;
  uint32_t value, element, step;
  uint64_t tag;
} SetWork;
CUresult set_prepare(const CUDA_MEMSET_NODE_PARAMS *p, SetWork *out);
// --- copy_api.c: for nodes that the program makes by hand; reports them to the session ---
CUresult copy_prepare_node(const Context *ctx, const CUDA_MEMCPY3D *desc, CopyWork *out);
CUresult set_prepare_node(const Context *ctx, const CUDA_MEMSET_NODE_PARAMS *p, SetWork *out);
void set_run(const SetWork *s);

// --- launch.c ---
struct KernelWork {
  Function *function;
  CUfunction handle;  // as the program named it: a CUfunction or a CUkernel
  unsigned grid[3], block[3], cluster[3], shared;
  bool cooperative, overlaps;  // overlaps: programmatic stream serialization
  int priority;
  CUaccessPolicyWindow window;
  unsigned char *params;         // owned; info->param_bytes, a tool's record included
  uint32_t launch;               // the session's number
  bool captured, checked;        // captured: runs as part of a graph
  uint32_t record_at;            // where in params the record of a checked one is
  uint32_t execution;            // number of this run of a captured launch; 0: same as launch
  SessionInputs *inputs;         // owned: inputs to capture at its start; NULL: none
  CUdeviceptr interrupt_memory;  // owned: of a kernel that calls interrupts; 0: it does not
  Stream *interrupt_stream;
};
typedef struct LaunchRequest {
  CUfunction function;
  unsigned grid[3], block[3], cluster[3], shared;
  bool cooperative, overlaps;  // overlaps: programmatic stream serialization
  int priority;
  void **params, **extra;
} LaunchRequest;
CUresult launch_prepare(Context *ctx, const LaunchRequest *r, KernelWork *out);
CUresult launch_run(Context *ctx, const KernelWork *k);
CUresult launch_run_once(Context *ctx, const KernelWork *k);  // without serving its interrupts

// --- interrupts.c: kernels that call functions of the CPU ---
CUresult interrupts_check(const Function *f, bool captured);          // can it be launched?
CUresult interrupts_prepare(Context *ctx, Stream *s, KernelWork *k);  // memory, the parameter
CUresult interrupts_serve(Context *ctx, const KernelWork *k);  // after it ran, until all have ended
void interrupts_done(KernelWork *k);
Stream *interrupts_stream(void);  // a handler runs on this thread: its stream; NULL: none does

// --- tools.c: events for the session, and its access to the virtual device ---
// gives the launch a number and fills its record
void tools_launch(Context *ctx, const void *stream, bool captured, KernelWork *k);
SessionLaunch tools_describe(const Context *ctx, const void *stream, bool captured,
                             const KernelWork *k);
// NULL: no buffers to read
SessionOutputs *tools_outputs(const Context *ctx, const void *stream, const KernelWork *k);
SessionOutputs *tools_graph_outputs(const Context *ctx, const void *stream, const Plan *p);
// Captures the inputs of a kernel node of a graph that is launched (session_inputs). once: the node
// runs once, in the order of the graph.
void tools_launch_inputs(Context *ctx, const void *stream, KernelWork *k, bool once);
uint32_t tools_launch_number(const KernelWork *k);  // of this execution
// Brings the memory facts in the record up to date when the kernel's graph is launched. once: the
// kernel is in no loop. Returns its number for SessionBeside of other nodes; 0: none
uint32_t tools_launch_captured(Context *ctx, KernelWork *k, const void *stream, bool once,
                               const SessionBeside *beside);
void tools_run_captured(const Context *ctx, const KernelWork *k);  // counts the run
void tools_refused(Context *ctx, const void *stream, const LaunchRequest *r, CUresult result);
void tools_done(Context *ctx, const KernelWork *k);  // it has run, or never will
// The context's session device; NULL: none. tools_device_end must follow in either case.
SessionDevice *tools_device_begin(Context *ctx);
void tools_device_end(void);
void tools_fault(const KernelWork *k, const VgpuFault *fault);
void tools_collect(Module *m);           // before it is unloaded; none of its launches runs
void tools_close_context(Context *ctx);  // no work of it runs
void tools_end(void);                    // process exit, nothing runs any more

// --- events.c: session events of memory, copies and launches ---
void events_alloc(const Alloc *a);
void events_map(uintptr_t base, size_t size, const void *physical, size_t offset,
                size_t physical_size, bool tracked);
void events_copied(const CopyWork *c);
void events_set(const SetWork *w);
void events_written(const void *p, size_t pitch, size_t bytes, size_t rows);
typedef struct LaunchRun {
  SessionRun run;
  SessionLaunch shape;
  unsigned char *params;
  void *scratch;
  size_t scratch_bytes;
} LaunchRun;
// the parameters to run with
const void *events_launch_begin(Context *ctx, const KernelWork *k, LaunchRun *l);
void events_launch_end(LaunchRun *l);

// --- library_call.c: calls of CUDA's mathematical libraries ---
CUresult library_call_submit(const LibraryCall *call);
CUresult library_call_run(const LibraryWork *w);
bool library_call_more_operands(const Operand *o, uint32_t n);  // LibraryServices.more_operands
void library_call_wrong_data(const char *why);                  // LibraryServices.wrong_data
bool library_call_is_capturing(const void *stream);
void library_call_retain(LibraryWork *w);
void library_call_release(LibraryWork *w);

// --- work.c ---
typedef enum WorkKind {
  WORK_EMPTY,
  WORK_KERNEL,
  WORK_COPY,
  WORK_SET,
  WORK_HOST,
  WORK_LIBRARY,
  WORK_CALLBACK,
  WORK_RECORD,
  WORK_WAIT,
  WORK_MEMOPS,
  WORK_ALLOC,
  WORK_FREE,
  WORK_GRAPH,
  WORK_CHILD,
  WORK_CONDITIONAL
} WorkKind;
typedef struct Work {
  WorkKind kind;
  Context *ctx;
  SessionOutputs *outputs;  // a kernel or graph: buffers to read after it; NULL: none
  union {
    KernelWork kernel;
    CopyWork copy;
    SetWork set;
    struct {
      CUhostFn fn;
      void *user;
    } host;
    struct {
      CUstreamCallback fn;
      void *user;
      CUstream stream;
    } callback;
    LibraryWork *library;  // counted reference
    Event *event;          // WORK_RECORD, WORK_WAIT: counted reference
    struct {
      CUstreamBatchMemOpParams *ops;
      unsigned count, flags;
    } memops;  // ops owned
    // counted reference
    struct {
      struct GraphMemory *memory;
      size_t bytes;
      CUmemPoolProps props;
    } alloc;
    CUdeviceptr free;
    Plan *plan;  // WORK_GRAPH: counted reference
    struct {
      CUgraphConditionalHandle handle;
      CUgraphConditionalNodeType type;
      unsigned size;
    } conditional;
  };
} Work;
CUresult work_run(const Work *w, uint64_t seq);  // the error, if any, has poisoned the context
void work_copy(Work *to, const Work *from);      // deep
void work_free(Work *w);
// tools.c: like tools_launch_captured
uint32_t tools_copy_captured(Context *ctx, Work *w, const void *stream,
                             const SessionBeside *beside);
SessionCopy events_node(const Work *w, const void *stream);  // events.c: a copy or set of a graph
// events.c: gives a copy or set of a graph that is launched now its number
void events_node_step(Work *w, const void *stream);

// --- queue.c ---
typedef struct QueueDep {
  Stream *stream;
  uint64_t seq;
} QueueDep;  // counted reference
typedef VEC(QueueDep) QueueDeps;
typedef struct QueueItem QueueItem;
struct Stream {
  ObjectKind kind;
  Context *ctx;
  unsigned flags;
  int priority;
  uint64_t id;
  bool legacy, per_thread;
  bool of_handler;  // work for a handler of interrupts: it takes no turn
  // queue_lock:
  int refs;
  bool destroyed, busy, listed;  // busy: some thread executes its head
  QueueItem *head, *tail;
  uint64_t submitted, completed;
  Stream *next_ready;
  Capture *capture;
  VEC(Node *) capture_deps;
  CUlaunchAttributeValue attributes[CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING + 1];
};
extern pthread_mutex_t queue_lock;
// wait for the end; may run on this thread if the stream is idle
enum { SUBMIT_WAIT = 1, SUBMIT_INLINE = 2 };
// Takes over the work, also on failure. Runs, queues or captures it.
CUresult queue_submit(Stream *s, Work *w, int flags);
CUresult queue_submit_after(Stream *s, Work *w, const QueueDep *deps, uint32_t ndeps, uint64_t *seq,
                            int flags);
void queue_wait(Stream *s, uint64_t seq);  // until everything up to seq has ended
void queue_wait_all(QueueDeps *all);       // of several streams; gives the references back
bool queue_done(Stream *s, uint64_t seq);
void queue_stop(void);                 // process exit
void stream_retain(Stream *s);         // queue_lock held
void stream_release(Stream *s);        // queue_lock held
void stream_leave_context(Stream *s);  // queue_lock held; its context no longer waits for it

// --- turns.c: the order of work with --workers=1; queue_lock held ---
typedef struct Turn Turn;
struct Turn {
  Turn *before, *after;
  bool joined, passed_over;
};
void turn_join(Turn *t);  // submitted now
void turn_wait(Turn *t);  // until each earlier turn has ended or was passed over
void turn_end(Turn *t);

// --- stream.c ---
Stream *stream_create(Context *ctx, unsigned flags, int priority);
// 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD included
CUresult stream_get(CUstream handle, Stream **out);
extern __thread bool stream_zero_is_per_thread;  // set by the _ptds and _ptsz entry points
void stream_discard_all(Context *ctx);           // context destroyed; its queues are empty

// --- event.c ---
struct Event {
  ObjectKind kind;
  Context *ctx;
  unsigned flags;
  // queue_lock:
  int refs;
  Stream *stream;
  uint64_t seq;              // last record; stream NULL: never recorded
  _Atomic uint64_t time_ns;  // when it was reached
  Capture *capture;          // recorded in a capture that is going on
  uint64_t capture_id;
  VEC(Node *) capture_deps;
};
// queue_lock held: the event now stands for that position
void event_move(Event *e, Stream *s, uint64_t seq);
CUresult event_get(CUevent handle, Event **out);
void event_retain(Event *e);
void event_release(Event *e);

// --- memop.c: cuStreamWaitValue and friends ---
CUresult memops_run(const CUstreamBatchMemOpParams *ops, unsigned count);

// --- pool.c ---
struct Pool {
  ObjectKind kind;
  Device *device;
  CUmemPoolProps props;
  bool is_default, destroyed;
  uint64_t settings[3], threshold;                    // reuse flags; release threshold
  uint64_t used, used_high, reserved, reserved_high;  // pool_lock
  SortedMap cached;  // size -> PoolBlocks: freed blocks that are kept
};
void pool_give_back(const Alloc *a);      // an ALLOC_POOL range that was removed
CUresult memory_free_now(CUdeviceptr p);  // at the end of what was queued before

// --- graph_memory.c: memory of allocation nodes; lives as long as a node or plan names it ---
typedef struct GraphMemory GraphMemory;
CUresult graph_memory_new(Context *ctx, size_t bytes, GraphMemory **out);
CUdeviceptr graph_memory_address(const GraphMemory *m);
void graph_memory_retain(GraphMemory *m);
void graph_memory_release(GraphMemory *m);
void graph_memory_set_live(GraphMemory *m);  // its node ran
bool graph_memory_freed(CUdeviceptr p);  // by a free node or the program; false: not such memory

// --- array.c ---
struct Array {
  ObjectKind kind;
  Context *ctx;
  CUDA_ARRAY3D_DESCRIPTOR desc;
  VgpuArray vgpu;
  size_t bytes;
  bool is_level;  // belongs to a mipmap
};
struct Mipmap {
  ObjectKind kind;
  Context *ctx;
  CUDA_ARRAY3D_DESCRIPTOR desc;
  VEC(Array *) levels;
  VgpuArray *vgpu_levels;
};
// channels: 0 unless the format fixes them
bool array_texel(CUarray_format format, VgpuTexel *texel, unsigned *channels, bool *normalized);
unsigned array_texel_bytes(VgpuTexel t);
void array_forget_context(Context *ctx);

// --- texture.c ---
CUresult texture_describe(const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *d,
                          const CUDA_RESOURCE_VIEW_DESC *v, VgpuTexture *t);

// --- texref.c ---
void texref_bind(Module *m);  // before a launch: texture references get their handles
void texref_free(TexRef *t);

// --- capture.c ---
struct Capture {
  Graph *graph;
  Stream *origin;
  CUstreamCaptureMode mode;
  pthread_t thread;
  CUstreamCaptureStatus status;
  uint64_t id;
  bool own_graph;
  VEC(Stream *) members;  // origin and joined streams: counted references
};
// queue_lock held. Adds the work as a node after the stream's dependencies; takes it over.
CUresult capture_add(Stream *s, Work *w);
// an error if a capture on this thread (or a global one) forbids unsafe calls
CUresult capture_forbids_unsafe_call(void);
// queue_lock held; NULL: its last record was not in a capture that goes on
Capture *capture_of_event(Event *e);
CUresult capture_record_event(Stream *s, Event *e);         // queue_lock held
CUresult capture_wait_event(Stream *s, Event *e);           // queue_lock held
CUresult capture_add_child(Stream *s, const Graph *child);  // queue_lock held
// this stream is being captured: the call invalidates the capture
CUresult capture_refuse(Stream *s);

// --- graph.c, graph_node.c ---
struct Node {
  ObjectKind kind;
  Graph *graph;
  CUgraphNodeType type;
  Work work;
  uint64_t id;        // unique in the process; a clone has its own
  uint64_t clone_of;  // id of the node it was cloned from
  VEC(Node *) deps;
  VEC(CUgraphEdgeData) edges;  // edges[i] belongs to deps[i]
  VEC(Graph *) bodies;         // child graph, or the bodies of a conditional node
  void **param_pointers;       // what cuGraphKernelNodeGetParams handed out
};
CUresult node_get(CUgraphNode handle, Node **out);
CUresult graph_get(CUgraph handle, Graph **out);
// before: attributes to keep, or NULL
CUresult node_make_work(const CUgraphNodeParams *p, const Work *before, Work *out);
typedef struct UserRef {
  struct UserObject *object;
  unsigned count;
} UserRef;
struct Graph {
  ObjectKind kind;
  VEC(Node *) nodes;
  Node *owner;  // the child or conditional node it belongs to
  VEC(UserRef) users;
  VEC(CUgraphConditionalHandle) handles;
  VEC(uint32_t) handle_defaults;
  VEC(bool) handle_assign;
};
Graph *graph_new(void);
void graph_free(Graph *g);
Graph *graph_clone(const Graph *g);
Node *graph_add(Graph *g, CUgraphNodeType type, Node *const *deps, size_t ndeps);
CUresult graph_add_handles(Graph *g, CUgraphNodeType type, const CUgraphNode *deps,
                           const CUgraphEdgeData *edges, size_t ndeps, Node **out);
// dependencies first; NULL and INVALID_VALUE: a cycle. Caller frees
CUresult graph_order(const Graph *g, Node ***order);
bool graph_reaches(const Node *from, const Node *to);  // to depends on from (or is it)
void graph_remove_node(Node *n);
void user_refs_retain(Graph *to, const Graph *from);
void user_refs_release(Graph *g);

// --- graph_exec.c ---
typedef struct PlanStep {
  uint64_t node;
  CUgraphNodeType type;
  bool disabled;
  Work work;
  Plan **bodies;
  uint32_t nbodies;
} PlanStep;
struct Plan {  // immutable once a launch holds it
  _Atomic int refs;
  VEC(PlanStep) steps;
  SessionBranches *branches;  // of the steps; NULL if no tool asks
  VEC(CUgraphConditionalHandle) handles;
  VEC(uint32_t) handle_defaults;
};
struct Exec {
  ObjectKind kind;
  Context *ctx;
  Plan *plan;
  uint64_t flags;
  Graph *keep;
};
CUresult plan_run(Plan *p, uint64_t seq);
void plan_release(Plan *p);
void plan_retain(Plan *p);

#endif
