// gpu: the real driver, with wrappers for the functions that Warpgrind needs to see. Everything
// else goes straight to it.
//
// The program's handles are the real driver's: a module or library is loaded from the image the
// program gave, untouched, and the program gets that handle. Its kernels are re-emitted through our
// pipeline when they are first launched or asked about, and put in their place at every call that
// takes a kernel (launches, attributes, occupancy, graph nodes). So only kernels that are used are
// compiled, and where that is not possible the original is simply left in place and named as
// uncovered. Module variables must exist once: kernels that share a variable are compiled together,
// and the program is given the address of the variable in that piece.
//
// cuGetExportTable passes through untouched. Our own calls run in relaxed capture mode
// (gpu_quiet_begin/end) and never allocate, load or synchronise on the program's streams.
#ifndef WG_GPU_H
#define WG_GPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "cuda/abi.h"
#include "interrupt/interrupt.h"
#include "session/session.h"

// A handle that is known to be destroyed is a finding, and goes no further: the driver may crash on
// it.
#define GPU_ALIVE(WHAT, handle) \
  do { \
    if (session_use(SESSION_##WHAT##_GONE, handle)) return CUDA_ERROR_INVALID_HANDLE; \
  } while (0)
#define GPU_TRY(call) \
  do { \
    CUresult try_ = (call); \
    if (try_ != CUDA_SUCCESS) return try_; \
  } while (0)

// --- start.c: the real driver's functions, by name; NULL: this driver does not have it ---
typedef struct GpuReal {
#define API(base, suffix, since, types) CUresult(*base##suffix) types;
#define SAME(base, suffix, since, target, params, args) CUresult(*base##suffix) params;
#define PER_THREAD(base, suffix, kind, since, params, args) CUresult(*base##suffix##kind) params;
#define NONE(base, suffix, kind, since) void *base##suffix##kind;
#include "cuda/api.def"
} GpuReal;
extern GpuReal gpu_real;

typedef struct GpuIpcHandle {
  char bytes[64];
} GpuIpcHandle;  // passed by value
// --- wrappers.def: our functions in front of the real ones ---
#define WRAP(name) __typeof__(*((GpuReal *)0)->name) gpu_##name;
#define WRAP_NONE(name, types) CUresult gpu_##name types;
#include "gpu/wrappers.def"

// --- start.c ---
// Opens the real driver (find.h says which) and fills gpu_real and the table, which has the order
// of cuda/api.def: the real function, our wrapper of it, or, where this driver has no such
// function, what was there before. false: err says what to do; nothing was changed. Once for each
// process, before any other function of this folder.
bool gpu_start(void **table, Error *err);

// --- procaddr.c ---
// gpu_real is filled in; wrap false: only real functions
void gpu_wrappers_install(void **table, bool wrap);

// --- quiet.c: our own driver calls on a thread of the program ---
typedef struct GpuQuiet {
  CUstreamCaptureMode mode;
  bool changed;
} GpuQuiet;
GpuQuiet gpu_quiet_begin(void);
void gpu_quiet_end(GpuQuiet q);

// --- context.c: what we keep for each context ---
typedef struct GpuContext {
  CUcontext handle;
  CUdevice device;
  unsigned sm;      // 90
  CUstream stream;  // our own, non-blocking; NULL: no tool runs
  CUevent event;  // for all of the context's work; NULL: no tool runs, or the driver cannot do that
  // NULL: no tool runs, it could not be made, or the context is going. See gpu_context_use
  _Atomic(SessionDevice *) session;
  _Atomic int users;
  bool settled;                // all its work had ended when it was destroyed
  _Atomic bool faulted;        // a kernel failed: device memory cannot be read any more
  _Atomic size_t stack_asked;  // stack.c: stack size that the program has set; 0: it is in force
  struct GpuStalls *stalls;    // stalls.c; NULL: none
  struct GpuHashes *hashes;    // hash_buffers.c; NULL: none
  struct GpuPages *pages;      // changed_pages.c; NULL: none
  struct GpuTimes *times;      // times.c; NULL: none
  struct GpuBlocks *blocks;    // tensor_blocks.c; NULL: none
  struct GpuClosedRecords *closed;     // closed.c; NULL: none
  SessionKernel *_Atomic last_kernel;  // the last one launched here; NULL: none, or a graph
  _Atomic uint32_t last_launch;        // its number
} GpuContext;
// stack.c: before a kernel with checks and recursive functions runs
void gpu_stack_deepen(GpuContext *c);
GpuContext *gpu_context_current(void);  // of the calling thread; NULL: none is current
GpuContext *gpu_context_of_stream(CUstream s);
GpuContext *gpu_context_of(CUcontext handle);
// The session's device, or NULL; when it is not NULL, gpu_context_used must follow.
SessionDevice *gpu_context_use(GpuContext *c);
void gpu_context_used(GpuContext *c);
// Waits for the context's work, two seconds at most: kernels may wait for the host. true: all has
// ended, without a fault.
bool gpu_context_settle(GpuContext *c);
typedef struct GpuEntered {
  GpuQuiet quiet;
  bool pushed, ok;
} GpuEntered;
// makes the context current for calls of our own; ok false: that is not possible
GpuEntered gpu_context_enter(GpuContext *c);
void gpu_context_leave(GpuEntered e);
void gpu_context_collect(GpuContext *c, SessionModule *m);  // before the module's code is unloaded

// --- modules/module.c, library.c, function.c ---
typedef struct GpuClosed GpuClosed;
typedef struct GpuModule GpuModule;  // one image the program loaded, as CUmodule or CUlibrary
typedef struct GpuParams {
  uint32_t n;
  struct {
    size_t offset, size;
  } list[];
} GpuParams;
typedef struct GpuFunction {
  CUfunction handle;  // what the program holds: CUfunction, or a CUkernel cast to it
  bool is_kernel;     // a CUkernel
  GpuModule *module;
  const char *name;
  SessionKernel *kernel;
  // the function that runs in its place; NULL: not decided yet; equal to handle: the original
  _Atomic(CUfunction) target;
  const WovenKernel *code;  // set with target; NULL: no added parameter
  // set with target or early: it uses no variable that is in our code, so that launches may run the
  // original instead
  bool is_free;
  bool unchanged;  // set with target, which is the handle: the kernel has nothing to check
  _Atomic(const WovenKernel *) early;  // facts known before it is woven; NULL: none
  _Atomic(const GpuParams *) params;   // as the driver reports them; NULL: not asked yet
  struct GpuDuration *duration;        // kernel_durations.c
  bool machine_code;                   // set with target: the original runs (closed.c)
  _Atomic(struct GpuClosed *) closed;  // closed.c, by context; NULL: it was not launched yet
  const InterruptKernel *interrupts;   // set with target; NULL: it calls none
  CUfunction resume;                   // the kernel that resumes after its interrupts
  bool is_resume;                      // it is such a kernel: its handle is our code
  _Atomic bool suspends;               // its last launch that was served has suspended threads
} GpuFunction;
GpuFunction *gpu_function(CUfunction handle);  // NULL: not from a module we have seen
// decides at the first call: instruments and compiles, or keeps the original
CUfunction gpu_function_target(GpuFunction *f);
// the kernel's facts while it is undecided, if launches may not need our code; NULL: decide now
const WovenKernel *gpu_function_early(GpuFunction *f);
GpuFunction *gpu_function_of_target(CUfunction target);  // back, for graph node queries
void gpu_functions_gone(GpuModule *m);           // the program unloads it: tells the session
void gpu_modules_forget_context(CUcontext ctx);  // the context and its modules are gone

// --- launch.c: from the program's launch to the driver's ---
typedef struct GpuLaunch {
  SessionLaunch event;  // filled in by the caller, but for kernel and device
  CUfunction function;  // these three are for the driver
  void **params, **extra;
  GpuFunction *of;                   // NULL: a kernel we know nothing of
  GpuContext *context;               // NULL if no tool asks
  bool gone;                         // must not be made: it is refused, or a handle was destroyed
  CUresult refused;                  // the error that the program gets then; 0: an invalid handle
  const CUlaunchConfig *config;      // as the program gave it; NULL: it did not
  struct GpuInterrupts *interrupts;  // NULL: the kernel calls none
  bool told;
  struct GpuClosed *closed;           // gpu_closed_end must follow; NULL: not
  bool closed_record;                 // the patches have its record
  SessionRepeat *watch;               // closed/repeats.c: it may be a model of others; NULL: not
  void *watched_by;                   // … what is kept until it has ended
  SessionClosedLaunch *closed_looks;  // tools read memory before and after it; NULL: none
  uint32_t number;                    // the session's number, once `told`
  bool untold;                        // session_launch_tell follows when the driver has taken it
  SessionRun run;                     // run_events.c
  SessionOutputs *outputs;            // buffers to read after it; NULL: none
  SessionInputs *inputs;              // memory that was captured before it; NULL: none
  struct GpuDuration *duration;
  uint32_t duration_number;
  bool duration_measured;  // of gpu_duration_begin, for outputs
  void *timed;             // of gpu_times_begin
  void *list[5];
  size_t size;  // the rest is room for the added parameter
  void *heap, *record_heap;
  _Alignas(16) uint8_t record[128], room[512];
} GpuLaunch;
#define GPU_GONE(l) ((l)->refused ? (l)->refused : CUDA_ERROR_INVALID_HANDLE)
typedef struct GpuInterrupts GpuInterrupts;
// ctx NULL: the stream's
void gpu_launch_begin(GpuLaunch *l, CUfunction handle, void **params, void **extra, CUcontext ctx);
CUresult gpu_launch_end(GpuLaunch *l, CUresult result);  // returns the result
// a SessionParamInfo
bool gpu_launch_param(void *gpu_function, uint32_t i, size_t *offset, size_t *size);
// The record that was added to the parameters, which may be changed before the launch; NULL: none
WgLaunch *gpu_launch_record(const GpuLaunch *l);
// reads the buffer and its size from a list for `extra`; false: it is no such list
bool gpu_launch_extra(void **extra, const void **buffer, size_t *size);

// --- graph/graph.c ---
typedef struct GpuGraphSteps GpuGraphSteps;
extern CUresult (*gpu_real_cuGraphNodeGetParams)(CUgraphNode, CUgraphNodeParams *);
CUresult gpu_cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams *p);
typedef void GpuEachNode(void *user, CUgraphNode node, CUgraphNodeType type, bool inside);
// calls `each` for all nodes, also those of child graphs; inside: the graph is a child graph
void gpu_graph_each_node(CUgraph g, bool inside, GpuEachNode *each, void *user);
// The program has changed an executable graph: `change` updates its steps, if it has some. If it
// returns false or is NULL, the steps are dropped.
typedef bool GpuStepsChange(GpuGraphSteps *steps, CUgraphNode node, const void *params);
void gpu_graph_exec_changed(CUgraphExec exec, CUgraphNode node, GpuStepsChange *change,
                            const void *params);

// --- graph/steps.c ---
// NULL: the graph has no machine-code kernels that a tool checks (*why is empty), or they stay
// unchecked for the reason *why
GpuGraphSteps *gpu_graph_steps(CUgraph g, Error *why);
void gpu_graph_steps_free(GpuGraphSteps *g);
bool gpu_graph_steps_fit(const GpuGraphSteps *g, CUstream stream);
CUresult gpu_graph_steps_run(GpuGraphSteps *g, CUstream stream);
void gpu_graph_steps_uncount(GpuGraphSteps *g);  // its captured launches never ran
// The program has changed a node of the executable graph. false: the steps are no longer right
bool gpu_graph_steps_set_kernel(GpuGraphSteps *g, CUgraphNode node,
                                const CUDA_KERNEL_NODE_PARAMS *p);
bool gpu_graph_steps_set_copy(GpuGraphSteps *g, CUgraphNode node, const CUDA_MEMCPY3D *p);
bool gpu_graph_steps_set_set(GpuGraphSteps *g, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p);
bool gpu_graph_steps_set_child(GpuGraphSteps *g, CUgraphNode node, CUgraph child);
bool gpu_graph_steps_enable(GpuGraphSteps *g, CUgraphNode node, bool enabled);

// --- graph/facts.c ---
// own: the program has changed it in the executable graph; of: kernels only; place: in `branches`
typedef struct GpuGraphNode {
  CUgraphNode node;
  GpuFunction *of;
  bool own;
  CUgraphNodeType type;
  uint32_t place;
} GpuGraphNode;
typedef struct GpuGraphLooks GpuGraphLooks;
// One launch of an executable graph. branches: of all nodes of the graph; NULL: not known. first:
// it was not launched before
typedef struct GpuGraphRun {
  CUgraphExec exec;
  CUstream stream;
  SessionDevice *device;
  const GpuGraphNode *nodes;
  uint32_t n;
  const SessionBranches *branches;
  bool first;
} GpuGraphRun;
// The result is for gpu_graph_look.
GpuGraphLooks *gpu_graph_refresh(const GpuGraphRun *run);
void gpu_graph_overrule(CUgraphExec exec, CUgraphNode node);

// --- graph/branches.c ---
struct GpuGraphLooks {  // copies and sets of a graph that tools check after it
  uint32_t n;
  SessionCopy copies[];
};
// Finds the branches of a graph and sorts the list topologically: each node comes after those it
// depends on. NULL: no tool wants it, or the driver does not tell
SessionBranches *gpu_branches(CUgraph g, GpuGraphNode *list, uint32_t n);
bool gpu_graph_copy(const GpuGraphNode *n, CUstream stream, SessionCopy *c);
// numbers: by place. NULL: there is nothing to look at.
GpuGraphLooks *gpu_graph_looks(const GpuGraphRun *run, const SessionNumbers *numbers);
void gpu_graph_look(CUstream stream, GpuGraphLooks *looks);  // after the graph; frees them

// --- memory/array.c ---
void gpu_array_made(CUarray a, size_t width, size_t height, size_t depth, CUarray_format format,
                    unsigned channels);

// --- memory/copied.c ---
void gpu_copy_enqueued(const SessionCopy *c);  // the driver has taken it; c->captured: into a graph

// --- memory/owned.c: the context of each allocation, and freed memory that is kept for a while ---
void gpu_owned_add(GpuContext *c, uint64_t base, uint64_t size, SessionMemoryKind kind);
void gpu_owned_remove(uint64_t base);
void gpu_owned_freed(uint64_t base);               // the driver has freed it
void gpu_owned_gone(CUcontext ctx, bool primary);  // the context is gone with all its memory
bool gpu_is_held(uint64_t base);                   // freed by the program, and in quarantine
// for cuMemFree. true: the memory is in quarantine, or kept as a framework's block
bool gpu_hold(uint64_t base);
typedef CUresult GpuRecord(CUevent, CUstream);
bool gpu_hold_in_order(uint64_t base, CUstream stream, GpuRecord *record);  // cuMemFreeAsync
// empties the current device's quarantine before an allocation fails. true: it may work now
bool gpu_quarantine_drain(void);
void gpu_quarantine_leave(GpuContext *c);  // before it is destroyed
bool gpu_may_capture(void);  // false: no capture ever began, so no stream need be queried
bool gpu_is_capturing(CUstream stream);
// PyTorch without its cache is capturing: memory from cuMemAlloc now belongs to the graph
bool gpu_captures_reserve(void);
void gpu_owned_reserve(uint64_t base);
typedef enum { GPU_FREE_NOW, GPU_FREE_LATER, GPU_FREE_NEVER, GPU_FREED_BEFORE } GpuFree;
// Tells cuMemFree how to treat memory that a graph may use. NOW: free it; else nothing is left to
// do
GpuFree gpu_free_in_capture(uint64_t base);
// --- memory/tensor_blocks.c: PyTorch and JAX without their caches ---
bool gpu_frameworks_uncached(void);
// true: *out is a block for the allocation, or *result says why there is none
bool gpu_block_alloc(CUdeviceptr *out, size_t size, CUresult *result);
// The program frees it. false: it is no block, and cuMemFree must wait for the work of the context
bool gpu_block_freed(GpuContext *c, uint64_t base);
// A freed block may be used again. false: it is no block, and the driver must free it
bool gpu_block_keep(GpuContext *c, uint64_t base);
bool gpu_block_is_idle(uint64_t base);                // free, and not used again yet
void gpu_block_forget(GpuContext *c, uint64_t base);  // the driver frees it
void gpu_blocks_gone(GpuContext *c);
bool gpu_blocks_trim(void);  // true: the driver got blocks of the current context back
size_t gpu_blocks_cached(const GpuContext *c);  // bytes that are free

#define GPU_RETRY(call) \
  ({ \
    CUresult retried_ = (call); \
    if (retried_ == CUDA_ERROR_OUT_OF_MEMORY && gpu_quarantine_drain()) retried_ = (call); \
    if (retried_ == CUDA_ERROR_OUT_OF_MEMORY && gpu_blocks_trim()) retried_ = (call); \
    if (retried_ == CUDA_ERROR_OUT_OF_MEMORY && gpu_release_tool_memory()) retried_ = (call); \
    retried_; \
  })

// --- memory/done_copies.c: copies that tools look at when they have been done ---
void gpu_copy_taken(const SessionCopy *c);  // the driver has taken it
void gpu_copies_gone(GpuContext *c);        // before the context goes
void gpu_copies_waited(void);               // the program has waited for something

// --- memory/events.c ---
bool gpu_memory_fill(void *user, const void *stream, uint64_t to, uint8_t value, size_t size);
bool gpu_memory_move(void *user, const void *stream, uint64_t to, uint64_t from, size_t size);
void gpu_memory_give_back(void *user, uint64_t p);
void gpu_memory_new(GpuContext *c, uint64_t base, uint64_t size, SessionMemoryKind kind);
// an allocation of the program failed: the tools free what they can. false: nothing was freed
bool gpu_release_tool_memory(void);
// --- memory/read_later.c ---
SessionReadLater gpu_read_later(void *user, const void *stream, uint64_t from, size_t bytes,
                                void (*then)(void *arg, const void *bytes), void *arg);
void gpu_reads_close(GpuContext *c);
// --- run_events.c ---
// the launch's record is filled
void gpu_run_begins(GpuLaunch *l, SessionDevice *d, const SessionParams *given, void *record);
void gpu_run_ends(GpuLaunch *l);  // the driver has taken it
// something without checks writes to memory in this stream
void gpu_unchecked_writes(GpuContext *c, CUstream stream);
void gpu_runs_close(GpuContext *c);

// --- times/times.c: when launches and copies ran (session_launch_ran, session_copy_ran) ---
typedef struct GpuTimed {
  uint64_t number;  // 0: it was not made
  bool is_copy;
  uint64_t bytes;  // of a copy
  uint64_t blocks;
  uint32_t threads;  // … of a launch
} GpuTimed;
void gpu_times_open(GpuContext *c);
void gpu_times_close(GpuContext *c);
void *gpu_times_begin(GpuContext *c, CUstream stream);  // NULL: it is not timed
void gpu_times_end(GpuContext *c, CUstream stream, void *began, GpuTimed what);
// --- contents/changed_pages.c: memory before launches (session_inputs) ---
void gpu_code_tell(GpuFunction *f);  // the PTX of its module, once (code.c)
void gpu_pages_open(GpuContext *c);
void gpu_pages_close(GpuContext *c);
// before the launch, in its stream
void gpu_pages_keep(GpuContext *c, CUstream stream, const SessionInputs *in);
// --- contents/hash_buffers.c, graph_written_buffers.c: --hash ---
void gpu_outputs_open(GpuContext *c);
// The driver has taken the launch; o NULL: nothing. Frees it. duration, number: of
// gpu_duration_begin; NULL: it is not known, and nothing waits
typedef struct GpuDuration GpuDuration;
void gpu_outputs_look(GpuContext *c, CUstream stream, SessionOutputs *o, GpuDuration *duration,
                      uint32_t number);
// hashes the buffers that wait, or those that do not
void gpu_outputs_hash(GpuContext *c, CUstream stream, SessionOutputs *o, bool waiting);
uint32_t gpu_outputs_contexts(void);  // how many contexts have hashed so far
// --- contents/hash_deferred.c: launches whose outputs are not hashed yet ---
// before a launch that writes these; NULL: nothing, or an unknown set
void gpu_hash_before_launch(SessionOutputs *o);
void gpu_hash_before_copy(const SessionCopy *c);  // before it is made
void gpu_hash_before_unknown(void);               // before a write of unknown extent
void gpu_hash_before_free(uint64_t base, uint64_t size);
void gpu_hash_all_deferred(GpuContext *only);  // hashes all that wait; NULL: of all contexts
// false: none of its buffers waits
bool gpu_hash_defer(GpuContext *c, CUstream stream, SessionOutputs *o, GpuDuration *duration,
                    uint32_t number);
// --- contents/kernel_durations.c: how long launches of a kernel take ---
// sampled: gpu_duration_end must follow
GpuDuration *gpu_duration_begin(GpuFunction *f, CUfunction target, GpuContext *c, CUstream stream,
                                uint32_t *number, bool *sampled);
void gpu_duration_end(GpuDuration *p, GpuContext *c, CUstream stream);
uint64_t gpu_duration_ns(GpuDuration *p, GpuContext *c);  // the last that was measured
void gpu_outputs_close(GpuContext *c);
// --- contents/dump_buffers.c: --dump-buffers; the caller frees o ---
void gpu_dump_look(GpuContext *c, CUstream stream, SessionOutputs *o);
void gpu_dump_close(GpuContext *c);
void gpu_graph_outputs_made(CUgraphExec exec, CUgraph g);  // also: it was updated
void gpu_graph_outputs_changed(CUgraphExec exec, CUgraphNode node,
                               const CUDA_KERNEL_NODE_PARAMS *given);
void gpu_graph_outputs_gone(CUgraphExec exec);
SessionOutputs *gpu_graph_outputs(CUgraphExec exec, CUstream stream);  // of one launch

// --- fault.c ---
// result: of any call; the error of a failed kernel becomes a finding, once for each context
void gpu_fault(CUresult result);
void gpu_fault_in(GpuContext *c, CUresult result);
static inline CUresult gpu_checked(CUresult result) {
  if (__builtin_expect(result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY, 0))
    gpu_fault(result);
  return result;
}

#endif
