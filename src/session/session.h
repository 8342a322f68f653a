// session: the half of Warpgrind that lives inside the program, on either device. The driver
// (src/driver: virtual device, src/gpu: real one) tells it what the program does; it gives numbers
// to modules, kernels, launches and sites, knows which tools run, and writes all of it into the
// channel to the `warpgrind` command (src/channel), which keeps the run file and prints the report.
// No function waits for a kernel or makes the program fail: without a command, nothing is sent. All
// functions are thread-safe.
#ifndef WG_SESSION_H
#define WG_SESSION_H

#include "base/api_words.h"
#include "base/base.h"
#include "cuda/library_call.h"
#include "sass/sass.h"
#include "weave/weave.h"

// --- start.c ---
// when the library is loaded: finds the command while nothing prevents it
void session_attach(void);
void session_start(const char *device);  // "cpu" or "gpu"; once, when the library is loaded
unsigned session_tools(void);            // TOOL_BIT()s; 0: --tool=none
const WeavePlan *session_plan(void);     // never NULL; plan->tools may be 0
// a run file or a launch log is kept or a tool runs: launches are events
bool session_wants_launches(void);
bool session_only_counts_launches(void);  // no tool or option needs more than the count
bool session_wants_copies(void);          // a tool or an option needs copies
bool session_wants_memory(void);          // a tool runs that follows allocations and copies

// --- events.c: what happens in the program, for the tools that run (tools/tool.h) ---
unsigned session_running(void);   // their TOOL_BIT()s: session_tools(), and more
bool session_has_findings(void);  // --tool names one that does more than count
// Events that are costly to prepare: a driver asks first whether a tool wants them.
enum {
  SESSION_WANTS_COPIES = 1,           // copies and sets
  SESSION_WANTS_LAUNCHES_TAKEN = 2,   // launches with their parameters
  SESSION_WANTS_LAUNCH_TIMES = 4,     // times of launches, where they must be measured
  SESSION_WANTS_INPUTS = 8,           // memory before launches, and code
  SESSION_WANTS_GRAPH_NODES = 16,     // each node of a graph that is launched, and what orders them
  SESSION_WANTS_VARIABLES = 32,       // what variables hold when they are loaded
  SESSION_WANTS_POOLS = 64,           // memory that the program deals out itself
  SESSION_WANTS_ORDER = 128,          // what orders launches and copies
  SESSION_WANTS_EVERY_HASH = 256,     // --hash skips no launch: beside this tool, hashes are cheap
  SESSION_WANTS_CONTENTS = 512,       // what device memory holds
  SESSION_WANTS_TABLE = 1024,         // the table of allocations, for kernels
  SESSION_WANTS_GRAPH_ORDER = 2048,   // which nodes of a graph that is launched are unordered
  SESSION_WANTS_COPY_TAGS = 4096,     // SessionCopy.on and .tag
  SESSION_WANTS_BENIGN_RACES = 8192,  // SESSION_BENIGN_RACE, when all work so far has ended
  SESSION_WANTS_IMAGES = 1 << 14,     // the table of texture and surface objects, for kernels
  SESSION_WANTS_QUARANTINE = 1 << 15,   // freed device memory that is not given back yet
  SESSION_WANTS_GAPS = 1 << 16,         // small allocations that lie apart
  SESSION_WANTS_RANGES = 1 << 17,       // where allocations are, for the tool itself
  SESSION_WANTS_INDEX_TESTS = 1 << 18,  // tests of array indices, where we compile the kernels
  SESSION_WANTS_COPY_TIMES = 1 << 19,   // times of copies and sets, where they must be measured
  SESSION_WANTS_STALLS = 1 << 21,       // why warps wait, by samples, where CUPTI can do that
  SESSION_WANTS_CUPTI = 1 << 20,        // times by CUPTI, if usable, since no kernel is woven
};
bool session_wants(unsigned what);  // a running tool wants one of these
typedef enum {                      // calls of the program to functions of warpgrind.h
  SESSION_RECORD_BEGIN,             // wg_record_begin: from the next launch on
  SESSION_RECORD_END,
  SESSION_BENIGN_RACE,
  SESSION_INITIALISED,  // wg_mark_initialized: these bytes count as written
  SESSION_UNINITIALISED
} SessionAnnotation;
void session_annotated(SessionAnnotation what, uint64_t address, uint64_t bytes);
void session_add_natives(void);  // device-side functions of tools that the virtual device runs as C

// --- code.c: modules and kernels. They stay known after they are unloaded: findings refer to them.
// ---
typedef struct SessionModule SessionModule;
typedef struct SessionKernel SessionKernel;
// what: "fatbin, compute_90"
SessionModule *session_module(const char *name, uint64_t content_hash, const char *what);
// Takes the result over; gives its sites process-wide numbers. Once for each instrumented piece of
// a module.
void session_module_instrumented(SessionModule *m, Woven *r);
void session_module_unloaded(SessionModule *m);
// The calling thread serves calls of this API from now on: kernels that it loads are that API's.
void session_thread_api(ApiId id);
// --- measure.c: a measure for the report and the run file, as RunMeasure of run/run.h ---
typedef struct SessionMeasure {
  const char *what, *text, *kernel;  // kernel NULL: none
  uint64_t stack;                    // session_calls_stack() of an earlier time
  const uint64_t *values;
  uint32_t n;
} SessionMeasure;
void session_measure(const SessionMeasure *m);
uint64_t session_calls_stack(void);  // of the calling thread; 0: not asked for
// --- facts.c: what the API knows of the arguments of this thread's next launches, by parameter;
// size 0: nothing. The caller keeps the list ---
typedef struct SessionArgument {
  uint64_t base, size;
  bool no_reads, no_writes;
} SessionArgument;
void session_arguments(const SessionArgument *list, uint32_t n);
ApiId session_api(void);
// returns the same kernel for the same name
SessionKernel *session_kernel(SessionModule *m, const char *name);
ApiId session_kernel_api(const SessionKernel *k);                // of the call that loaded it
const WovenKernel *session_kernel_code(const SessionKernel *k);  // NULL: not instrumented
// Records why this kernel runs without checks; cure: what the user can do ("nvcc -gencode …"), or
// NULL. Only the first call counts.
void session_kernel_uncovered(SessionKernel *k, const char *reason, const char *cure);
// a remark for the coverage report, such as: the PTX is older than the machine code
void session_kernel_note(SessionKernel *k, const char *text);

// --- launch.c ---
// What may run beside a node of a graph that is launched. number: of nodes that were described
// before (session_device_refresh, session_graph_copy) and that do not precede this node. alone: no
// node of the graph runs beside it.
enum { SESSION_BESIDE = 7 };
typedef struct SessionBeside {
  uint32_t n, number[SESSION_BESIDE];
  bool alone;
} SessionBeside;

typedef struct SessionLaunch {
  SessionKernel *kernel;
  uint32_t grid[3], block[3], cluster[3], shared;
  const void *stream;
  int device;
  bool overlaps;                // it may begin before the stream's previous launch has ended
  bool cooperative, captured;   // captured: a graph node, launched later and perhaps often
  const SessionBeside *beside;  // of a node whose graph is launched now; NULL: not known
} SessionLaunch;
// returns the launch's number; takes the host stack if the options ask for it
uint32_t session_launch(const SessionLaunch *l);
// session_launch in two steps, for callers that have no time before the launch. No event may name
// the launch before the second step.
uint32_t session_launch_count(const SessionLaunch *l);
void session_launch_tell(const SessionLaunch *l, uint32_t number);
uint64_t session_launch_stack(void);  // the host stack of this thread's last session_launch_tell
// a captured launch, counted when it was captured, runs once more
void session_launch_again(SessionKernel *k, bool checked);
// takes back the count of a captured launch: the launch that runs in its place counts itself
void session_launch_only_captured(SessionKernel *k, bool checked);
// one execution of a captured launch, as the calling thread's last launch
uint32_t session_launch_in_graph(const SessionLaunch *l);
// counts a launch as checked: the kernel has nothing to check, and the original code runs
void session_launch_unchanged(SessionKernel *k);
// --launch-skip, --launch-count: should this one be checked?
bool session_launch_selected(SessionKernel *k);
void session_graph_launch(const void *graph, const void *stream);

// --- events.c: the driver refused a launch ---
typedef enum {
  SESSION_ASK_DEVICE,
  SESSION_ASK_KERNEL,
  SESSION_ASK_REQUIRED_BLOCK,
  SESSION_ASK_RESIDENT
} SessionQuestion;
// DEVICE, KERNEL: an attribute by the driver's number. REQUIRED_BLOCK: x, y or z that the kernel
// was compiled for, 0: any. RESIDENT: blocks of this launch that a multiprocessor holds. All
// answers are about the program's own kernel; false: not known.
typedef bool SessionAsk(void *user, SessionQuestion what, int attribute, int *value);
typedef struct SessionRefusal {
  const SessionLaunch *launch;
  int result;      // the driver's error
  bool unchanged;  // the program's own code was launched: the error is about what the program did
  SessionAsk *ask;
  void *user;
} SessionRefusal;
void session_launch_refused(const SessionRefusal *r);

// --- events.c: the device ended a launch at an instruction ---
typedef enum {
  SESSION_FAULT_ADDRESS,
  SESSION_FAULT_MISALIGNED,
  SESSION_FAULT_TRAP
} SessionFaultReason;
typedef struct SessionFault {
  SessionFaultReason what;
  bool load, store, atomic, surface, sync;  // what the instruction does
} SessionFault;
const char *session_fault_kind(const SessionFault *f);  // NULL: no tool has a kind for it

// --- memory.c ---
typedef enum {
  SESSION_DEVICE,
  SESSION_PINNED,
  SESSION_MANAGED,
  SESSION_POOL,
  SESSION_VARIABLE,
  SESSION_ARRAY,
  SESSION_VIRTUAL,
  SESSION_REGISTERED,
  SESSION_GRAPH,
  SESSION_IMPORTED
} SessionMemoryKind;
// name: a variable's, or NULL
void session_alloc(uint64_t base, uint64_t size, SessionMemoryKind kind, int device,
                   const char *name);
void session_free(uint64_t base);  // when the program makes the call, before the driver frees
void session_free_inside(uint64_t base, uint64_t size);  // frees all objects in this range
void session_revive(uint64_t base);  // allocated again by its graph, or not freed after all
// an allocation of one of these kinds starts here, or allocations are not followed
bool session_frees(uint64_t base, unsigned kinds);
#define SESSION_BIT(kind) (1u << SESSION_##kind)

// --- events.c: frees that are wrong ---
// `call` ("cuMemFree (cudaFree)") was or will be refused for this pointer, or could take it after
// all. kinds: SESSION_BIT()s that the call takes
void session_invalid_free(const char *call, uint64_t pointer, unsigned kinds);
// For drivers that would crash on a second free. true: the pointer was freed before, and a tool has
// reported that.
bool session_second_free(const char *call, uint64_t pointer, unsigned kinds);
// The same for objects that have a handle and no address: arrays, physical memory, pools.
void session_handle(const void *handle);  // it was created
void session_handle_gone(const void *handle);
void session_invalid_handle(const char *call, const void *handle);

// --- pools.c: memory that the program deals out itself. Pieces of no known pool are ignored. ---
// returns the pool's number; 0: it is not in one allocation, or no tool asks
uint64_t session_pool_begin(uint64_t base, uint64_t size);
void session_pool_piece(uint64_t id, uint64_t base, uint64_t size);
void session_pool_piece_resized(uint64_t base, uint64_t size);
void session_pool_piece_freed(uint64_t base);
void session_pool_reset(uint64_t id);  // all pieces are freed
void session_pool_end(uint64_t id);    // the allocation is one object again

// --- events.c: freed device memory that is not given back yet, for SESSION_WANTS_QUARANTINE ---
// kind, owner, extra: for the driver's own use
typedef struct SessionHeld {
  uint64_t base, size;
  int device, kind;
  const void *owner;
  void *extra;
} SessionHeld;
// gives the memory back to its pool or device; called without a lock
typedef void SessionRelease(const SessionHeld *h);
void session_quarantine_open(int device, uint64_t device_memory);  // before that nothing is held
// false: not held. Other blocks may be released to make room
bool session_quarantine_hold(const SessionHeld *h, SessionRelease *release);
// Releases all blocks of the device, or of one owner, before an allocation fails or when the owner
// goes. release NULL: the memory is gone already. true: some blocks were held.
bool session_quarantine_release(int device, const void *owner, SessionRelease *release);
uint64_t session_quarantine_bytes(int device);

// --- finding.c: findings made on the host ---
typedef struct SessionFinding {
  const char *kind;  // a name of a kinds.def: "launch-failure"
  const char *text;  // the sentence
  SessionKernel *kernel;
  uint32_t launch;  // NULL, 0: not about a launch
  const SitePlace *places;
  uint32_t nplaces;
  bool has_thread;
  uint32_t block[3], thread[3];
  bool has_address;
  uint64_t address, size;
  // an address in the allocation that it is about; 0: the allocation at or near `address`
  uint64_t related;
  uint64_t stack;  // session_stack() of an earlier time; 0: the current stack
  bool no_stack;   // the current stack does not count either
  // a second stack: "created", "freed before"; 0: none
  const char *other_title;
  uint64_t other_stack;
} SessionFinding;
void session_finding(const SessionFinding *f);  // nothing with --tool=none
typedef struct SessionAssertion {               // a failed assertion of device code
  const char *text, *file;                      // file NULL: not known
  uint32_t line;
  const uint32_t *block, *thread;
} SessionAssertion;
// false: no tool runs that reports it
bool session_assertion(SessionKernel *k, uint32_t launch, const SessionAssertion *a);

// --- hang.c: launches that make no progress ---
typedef enum {
  SESSION_RUNS,
  SESSION_WAITS_BARRIER,
  SESSION_WAITS_WARP,
  SESSION_WAITS_MEMORY,
  SESSION_WAITS_CLUSTER
} SessionWait;
typedef struct SessionStanding {  // threads of one warp that stand together
  const void *key;                // the same for the same place
  const SitePlace *places;
  uint32_t nplaces;
  const char *function;
  uint32_t ptx_line;  // where there are no places
  // thread: the first of them; gone: lanes of the warp that have ended
  uint32_t block[3], thread[3], warp, lanes, gone;
  bool in_loop;
  uint64_t turns;  // turns 0: not known
  SessionWait wait;
  uint32_t barrier, expected, arrived;  // BARRIER; expected 0: not known
  uint32_t needed;                      // WARP: lanes
  uint64_t address;
  bool shared;  // MEMORY; 0: not known
  // of a loop: nothing changes in it; its state repeats; none of its exit conditions can change;
  // its step is 0
  bool unchanged, circles, fixed, no_step;
} SessionStanding;
typedef struct SessionHang {
  ApiId api;  // of the launch
  SessionKernel *kernel;
  uint32_t launch;
  const SessionStanding *list;
  uint32_t n;   // 0: not known where it stands
  uint64_t ns;  // without progress
  uint64_t blocks, blocks_ended;
  bool blocks_known;
  const uint32_t *block;    // threads of a block; NULL: not known
  bool asked, deadlock;     // asked: the user interrupts. deadlock: the device found out
  const char *why_unknown;  // n is 0: "it is not instrumented"
} SessionHang;
bool session_hang(const SessionHang *h);  // true: end it (--hang-action=stop)
uint64_t session_hang_ns(void);           // --hang-timeout; 0: off
// These enclose a wait of the program for a device that runs by itself (watchdog.c). session_waited
// gets the result of session_waits.
bool session_waits(const char *call);
void session_waited(bool began);
#define SESSION_WAITING(call, expression) \
  ({ \
    bool began_ = session_waits(call); \
    __typeof__(expression) waited_ = (expression); \
    session_waited(began_); \
    waited_; \
  })
// On Ctrl-C, `where` says on a thread of ours where launches stand; then the signal has its usual
// effect. Works once, and only if the program leaves SIGINT alone.
void session_on_interrupt(void (*where)(void));

// --- device.c: one for each context ---
typedef struct SessionDevice SessionDevice;
typedef enum { READ_FAILED, READ_NO_ROOM, READ_TAKEN } SessionReadLater;
typedef struct SessionOwnKernel {
  size_t host_bytes, device_bytes;  // memory to allocate with the kernel
  void *function;
  void *host;           // memory of the host …
  uint64_t host_at;     // … and where the device sees it
  uint64_t device;      // zeroed device memory
  unsigned processors;  // multiprocessors of the device
} SessionOwnKernel;
typedef struct SessionDeviceOps {  // how to reach the device without touching the program's streams
  bool (*map_host)(void *user, void *p, size_t size, uint64_t *device_address);
  void (*unmap_host)(void *user, void *p);
  uint64_t (*alloc)(void *user, size_t size);  // zeroed; 0: no memory
  void (*free)(void *user, uint64_t p);
  // after all launches have ended; false: not readable any more
  bool (*read)(void *user, void *to, uint64_t from, size_t size);
  // NULL: device memory is the process's own
  bool (*write)(void *user, uint64_t to, const void *from, size_t size);
  // waits a while for all launches; false: some go on. NULL: session_device_done reports each end
  bool (*settle)(void *user);
  // The device's memory is the process's own: the functions below are not called.
  bool direct;
  // In the order of the stream; stream NULL: as soon as possible.
  bool (*fill)(void *user, const void *stream, uint64_t to, uint8_t value, size_t size);
  bool (*move)(void *user, const void *stream, uint64_t to, uint64_t from, size_t size);
  void (*give_back)(void *user, uint64_t p);  // frees it now, even if that means to wait
  // Reads device memory in the order of the stream, and does not wait. If READ_TAKEN: then() gets
  // the bytes once, later, on any thread, or NULL if they cannot be read.
  SessionReadLater (*read_later)(void *user, const void *stream, uint64_t from, size_t size,
                                 void (*then)(void *arg, const void *bytes), void *arg);
  // A kernel of ours for the program's streams. Loading waits for kernels that run: load it when
  // the device is opened.
  bool (*load_kernel)(void *user, const char *ptx, const char *name, SessionOwnKernel *k);
  bool (*launch_kernel)(void *user, const void *stream, const SessionOwnKernel *k, unsigned blocks,
                        unsigned threads, void **params);
} SessionDeviceOps;
// NULL: findings cannot be reported
SessionDevice *session_device_open(const SessionDeviceOps *ops, void *user, int ordinal,
                                   Error *err);
// The program's parameters as it gave them, without ours: pointers to each, or all in one buffer.
typedef struct SessionParams {
  void **pointers;
  const void *buffer;
  size_t buffer_bytes;
} SessionParams;
// Fills record_bytes of the kernel's added parameter.
bool session_device_record(SessionDevice *d, SessionKernel *k, uint32_t launch,
                           const SessionParams *params, void *record);
// Brings the record of a captured launch up to date before it runs (again): allocations may have
// changed since the capture. session_device_record has filled the record. shape NULL: the launch
// may run more than once with this record. Returns its number for SessionBeside of other nodes; 0:
// none
uint32_t session_device_refresh(SessionDevice *d, SessionKernel *k, const SessionParams *params,
                                const SessionLaunch *shape, void *record);
// the program has graphs that own memory; the driver does not report when they hold it
bool session_graph_memory(void);
uint64_t session_memory_version(void);  // changes with every allocation and free
// a launch that begins now uses the current table of allocations
void session_device_uses_table(SessionDevice *d);
// a launch is checked better if it waits until others have ended
bool session_device_crowded(SessionDevice *d);
// the launch with this record has ended, or will never run
void session_device_done(SessionDevice *d, const void *record);
// where launches do not report their end: marks all launches so far …
uint64_t session_device_mark(SessionDevice *d);
void session_device_settled(SessionDevice *d, uint64_t mark);  // … and says that they have ended
// these launches have nothing left to write; n 0: all launches so far. d NULL: does nothing
void session_launches_ended(SessionDevice *d, const uint64_t *launches, uint32_t n);
// reads the module's counters; before it is unloaded
void session_device_collect(SessionDevice *d, SessionModule *m);
// collects everything; alive false: device memory is gone
void session_device_close(SessionDevice *d, bool alive);

// --- launch_log.c: --launch-log ---
bool session_logs_launches(void);
// false: there is no parameter i
typedef bool SessionParamInfo(void *user, uint32_t i, size_t *offset, size_t *size);
void session_log_launch(const SessionLaunch *l, uint32_t number, const SessionParams *params,
                        SessionParamInfo *info, void *user);
// the second half of the launch's line
void session_log_text(Str *s, const SessionLaunch *l, const SessionParams *params,
                      SessionParamInfo *info, void *user);
// part of a graph; number 0: not known
void session_log_again(uint32_t number, int device, const void *stream, const char *text);

// --- events.c: launches, variables, copies ---
typedef struct SessionCall {  // a launch and its parameters
  const SessionLaunch *launch;
  uint32_t number;
  const SessionParams *params;
  SessionParamInfo *info;
  void *user;
} SessionCall;
// --- closed.c: kernels that are machine code only ---
bool session_patches_closed(void);         // a running tool can check them by patches …
bool session_reads_closed(void);           // … or by reading what they store (SassStores)
bool session_repeats_closed(void);         // patches are left out where a launch repeats another
const char *session_closed_library(void);  // --closed-library; NULL: not given
typedef struct SessionClosedKernel {
  bool patched;              // from now on
  const SassStores *stores;  // what it stores; NULL: not known. Lives as long as the process
} SessionClosedKernel;
// false: no tool can check the kernel. why: set if some tool cannot
bool session_closed_kernel(SessionKernel *k, const SessionClosedKernel *what, Error *why);
// --closed-every and the options that select other launches: should this one be checked?
bool session_closed_selected(SessionKernel *k);
struct WgClosed;
void session_closed_checked(SessionKernel *k);  // counts one of its launches as checked
// A pointer in a launch's parameters, or what one of its tensor maps describes.
typedef struct SessionClosedPointer {
  uint32_t param;                // its offset in the parameters, in bytes
  uint64_t address, base, size;  // the target of the pointer, and its allocation
  bool steady;                   // the host cannot write there by itself
  // the number format of a tensor map; SASS_OTHER: this is a pointer, or the map describes no
  // floating-point numbers
  SassFormat tensor;
  bool is_map;
} SessionClosedPointer;
typedef struct SessionClosedLaunch {
  SessionKernel *kernel;
  uint32_t number;
  const void *stream;
  const SassStores *stores;
  VEC(SessionClosedPointer) pointers;
  uint8_t last[16];   // its last parameter, as much of it as fits
  size_t last_bytes;  // the whole of it
} SessionClosedLaunch;
// These enclose a launch, for tools that read memory before and after it in its stream. NULL: no
// tool does. launched: the driver has taken the launch.
SessionClosedLaunch *session_closed_begins(SessionDevice *d, const SessionCall *call,
                                           const SassStores *stores);
void session_closed_ends(SessionDevice *d, SessionClosedLaunch *l, bool launched);  // frees it
// l: NULL if no tool reads memory around the launch. code: address of the kernel's first
// instruction. false: nothing can be reported
bool session_closed_record(SessionDevice *d, const SessionCall *call, const SessionClosedLaunch *l,
                           uint64_t code, struct WgClosed *out);
unsigned session_closed_settles(const SessionClosedLaunch *l);  // for its SessionRun.settled
// --- repeats.c: launches of machine code that repeat the accesses of a checked one ---
typedef struct SessionRepeats SessionRepeats;  // of a kernel in a context
typedef struct SessionRepeat SessionRepeat;    // a checked launch of it; never freed
// takes the program over
SessionRepeats *session_repeats_new(SessionKernel *kernel, SassProgram *program);
typedef enum SessionRepeatAnswer {
  SESSION_REPEAT_CHECK,  // patch it
  SESSION_REPEAT_NEW,    // patch it and watch it: session_repeat_settle must follow
  SESSION_REPEAT_WAITS,  // it repeats a launch that is still watched
  SESSION_REPEAT_KNOWN   // it repeats a launch whose accesses were all inside: no patches
} SessionRepeatAnswer;
SessionRepeatAnswer session_repeats_look(SessionRepeats *r, const SessionCall *call,
                                         SessionRepeat **which);
// inside: all accesses of the watched launch were inside of allocations that its parameters point
// into, and nothing was found
void session_repeat_settle(SessionRepeats *r, SessionRepeat *which, bool inside);
void **session_repeat_watch(SessionRepeat *which);  // for whoever watches it
struct WgExtent;
// The allocations that the launch's parameters point into, by address, each once. 0: there are
// none, or too many
uint32_t session_repeat_extents(const SessionCall *call, struct WgExtent *out, uint32_t most);
void session_repeat_count(void);  // counts a launch that was not patched for this reason
// The next allocation begins where a freed one was, and its memory was not touched since.
void session_contents_kept(uint64_t base);
void session_launch_unseen(void);  // a launch was made that no tool looked at in this way
void session_launch_taken(const SessionCall *c);  // after session_device_record
// When work of the device ran, by clock_ns(); 0: not known. source: who measured it
typedef struct SessionTimes {
  uint64_t queued, submitted, begin, end;
  const char *source;
} SessionTimes;
void session_launch_ran(uint32_t launch, const SessionTimes *t);
void session_copy_ran(uint64_t timed_as, const SessionTimes *t);  // SessionCopy.timed_as
void session_graph_launched(const void *stream);
// A kernel node of a graph ran; it was launched with its graph only.
typedef struct SessionNode {
  const char *kernel;
  int device;
  uint64_t blocks;
  uint32_t threads, shared;  // of a block
  SessionTimes times;
} SessionNode;
void session_node_ran(const SessionNode *n);
// How often samples found warps of the kernel waiting for this reason; several calls add up. file
// NULL: the line is not known
typedef struct SessionStall {
  const char *kernel, *reason, *file;
  uint32_t line;
  uint64_t samples;
} SessionStall;
void session_stalled(const SessionStall *s);
typedef struct SessionVariable {  // a variable of a loaded module, and its contents
  uint64_t base;
  const void *bytes;
  size_t size;
  int device;
} SessionVariable;
void session_variable_loaded(const SessionVariable *v);
// A handler of an interrupt has returned: arrays of count callers, arguments and results, on the
// host. results_at: device address to which the host wrote the results; 0: it wrote none
struct wg_caller;
typedef struct SessionInterrupt {
  const char *name;
  uint32_t launch, nparams, result_bytes;
  const void *stream;
  int device;
  size_t count;
  const uint32_t *param_bytes;
  const char *param_shown;  // how a value is shown: s, u, f, p, as in warpgrind_interrupts.h
  char result_shown;
  const struct wg_caller *callers;
  const void *const *params, *results;
  uint64_t results_at;
} SessionInterrupt;
bool session_wants_interrupts(void);
void session_interrupt_served(const SessionInterrupt *i);
struct SessionCopy;
// Returns the number for SessionCopy.step, when the program makes the call, after
// session_copy_check. 0: no tool wants one.
uint32_t session_copy_number(const struct SessionCopy *c);
void session_copy_taken(const struct SessionCopy *c);     // the driver has taken the copy
void session_copy_contents(const struct SessionCopy *c);  // its source holds what it copies
bool session_copy_on_host(const struct SessionCopy *c);   // for SessionCopy.on_host

// --- events.c: copies and sets, in the words of both drivers ---
typedef enum {
  SESSION_PLACE_HOST,
  SESSION_PLACE_DEVICE,
  SESSION_PLACE_UNIFIED,
  SESSION_PLACE_ARRAY
} SessionPlaceKind;
typedef struct SessionPlace {
  SessionPlaceKind kind;  // as the call names it; UNIFIED: the address tells
  uint64_t address;       // ARRAY: the handle
  size_t x, y, z;         // bytes, rows and slices to skip
  size_t pitch, rows;  // bytes from row to row, rows from slice to slice; 0: as many as are copied
} SessionPlace;
typedef struct SessionCopy {
  const char *call;  // the program's: "cuMemcpyDtoH_v2"
  SessionPlace to, from;
  bool is_set;                  // a memset: `from` does not count
  size_t width, height, depth;  // bytes, rows, slices
  const void *stream;
  bool async, captured;
  int device;
  uint64_t stack;  // session_copy_stack() of the call; 0: the current stack is the call's
  uint32_t step;   // session_copy_number()
  uint32_t value, value_bytes;  // a memset's; 0 bytes: not known
  SessionDevice *on;            // its stream's; NULL: not known
  uint64_t tag;                 // session_copy_tag()
  bool on_host;                 // a tool reads its source on the host; set before the check
  uint64_t timed_as;            // of session_copy_ran; 0: it is not timed
} SessionCopy;
// when the program makes the call, before the driver does
void session_copy_check(const SessionCopy *c);
// the driver called a value invalid; session_copy_check came before, on the same thread
void session_copy_refused(const SessionCopy *c);
// stacks leave out frames of the library that this code is in
void session_hide_frames(const void *code);
uint64_t session_copy_stack(void);  // the host stack, for SessionCopy.stack; 0: not wanted

// --- copy_words.c: from the driver's structures; call, stream, async, captured and device stay as
// they are ---
struct CUDA_MEMCPY2D;
struct CUDA_MEMCPY3D;
struct CUDA_MEMSET_NODE_PARAMS;
void session_copy_of_set(const struct CUDA_MEMSET_NODE_PARAMS *p, SessionCopy *out);
void session_copy_of_rectangle(const struct CUDA_MEMCPY2D *p, SessionCopy *out);
void session_copy_of_box(const struct CUDA_MEMCPY3D *p, SessionCopy *out);

// --- array.c: the shapes of CUDA arrays, by handle ---
typedef struct SessionArray {
  // rows and slices: at least 1; slices: layers and faces count
  size_t element, row_bytes, rows, slices;
  uint64_t memory;  // the address that session_alloc got
} SessionArray;
void session_array(uint64_t handle, const SessionArray *a);
void session_array_gone(uint64_t handle);
bool session_array_find(uint64_t handle, SessionArray *out);

// --- written_buffers.c: buffers that a launch or a graph may have written, for --hash and
// --dump-buffers ---
typedef struct SessionBuffer {
  uint64_t base, size;
  uint64_t from, to;    // the part that may have changed since it was last read; all of it: 0, size
  uint64_t allocation;  // number of the allocation; 0: not all of its writers are known
  uint32_t element;     // bytes of an element: 1, 2, 4, 8 or 16
  uint32_t parameter;   // number plus 1 of the parameter that points to it; 0: not known
  PtxType type;         // of what is stored; TYPE_NONE: not known
  _Atomic bool disturbed;  // another stream may be writing to it at the same time
  // may_wait: only the device writes to it, so it need not be hashed at once. waits: it is not
  // hashed yet (gpu/contents/hash_deferred.c)
  bool may_wait, waits;
} SessionBuffer;
typedef struct SessionPointer {
  uint64_t address;
  uint32_t parameter;
} SessionPointer;
typedef struct SessionOutputs {
  uint32_t step, launch, graph;  // number of the kernel launch or of the graph launch, other is 0
  uint32_t kernels;
  int device;
  uint64_t epoch;    // session_outputs_epoch() when it was closed
  bool guessed;      // the code does not say what it writes: all that parameters point to
  bool told;         // session_outputs_tell
  bool kernel_fits;  // --dump-buffers asks for one of its kernels
  _Atomic int refs;
  VEC(SessionBuffer) buffers;
  VEC(SessionBuffer) dumped;     // the buffers that --dump-buffers wants
  VEC(SessionPointer) pointers;  // pointers in parameters, for --dump-buffers
} SessionOutputs;
typedef bool SessionIsThere(uint64_t base, uint64_t size);  // this memory is still allocated
bool session_wants_outputs(void);
SessionOutputs *session_outputs_begin(uint32_t launch, int device);  // launch 0: of a graph
void session_outputs_add(SessionOutputs *o, SessionKernel *k, const SessionParams *params,
                         SessionParamInfo *info, void *user);
// Call it when the driver is about to take the launch. NULL: no buffers to read. stream NULL: the
// legacy default stream
SessionOutputs *session_outputs_close(SessionOutputs *o, const void *stream);
void session_outputs_tell(SessionOutputs *o);  // after session_launch_tell, before its hashes
// The launch has ended, and its memory is the process's own.
void session_outputs_ready(const SessionOutputs *o, SessionIsThere *is_there);
void session_outputs_keep(SessionOutputs *o);  // adds a reference, to be freed as well
// --- hash_buffers.c ---
// Hashes made on a device: ordered and unordered, of buffers first to first + n - 1.
void session_hashes(const SessionOutputs *o, const uint64_t (*sums)[2], uint32_t first, uint32_t n);
void session_hashes_missing(const SessionOutputs *o, const char *why);
// the buffer was overwritten before it was hashed
void session_hash_left_out(const SessionOutputs *o, uint32_t buffer);
uint32_t session_hash_every(void);  // hash every n-th overwritten result; 0: as many as cost little
bool session_outputs_may_wait(void);   // hashes may come later: all work is ordered so far
uint64_t session_outputs_epoch(void);  // changes when something may have written anywhere
// the next read of the buffer must include these bytes
void session_outputs_changed(uint64_t address, uint64_t n);
// the buffer is read now, after the stream's work so far
void session_outputs_read(SessionOutputs *o, uint32_t buffer, const void *stream);
void session_outputs_free(SessionOutputs *o);  // NULL: nothing
void session_outputs_unseen(void);             // something may have written anywhere
// --- dump_buffers.c ---
// the contents of o->dumped[i]
void session_dump(const SessionOutputs *o, uint32_t i, const void *bytes);
void session_dump_missing(const SessionOutputs *o, const char *why);  // they cannot be read

// --- events.c: memory before a launch, and code, for tools that record the launch for a replay ---
enum { SESSION_PAGE = 1 << 16 };  // unit of memory; pages count from the start of their allocation
typedef struct SessionSpan {
  uint64_t from, to;
} SessionSpan;  // to 0: nothing
// The bytes [from, to) of an allocation may have changed; allocation: as in SessionBuffer. forget:
// known contents of pages in this span are no longer valid
typedef struct SessionPart {
  uint64_t base, size, from, to, allocation;
  SessionSpan forget;
} SessionPart;
typedef struct SessionInputs {
  // since: the launch whose inputs were kept whole; 0: this launch
  uint32_t step, launch, since;
  const void *stream;
  int device;
  bool disturbed;  // another stream may be writing there
  VEC(SessionPart) parts;
} SessionInputs;
// Call it when the driver is about to take a launch, after session_launch and before
// session_launch_taken. NULL: nothing is to be kept.
SessionInputs *session_inputs(const SessionCall *c);
void session_inputs_tell(const SessionInputs *in);  // after session_launch_tell. NULL: nothing
// The launch begins now, and its memory is the process's own.
void session_inputs_ready(const SessionInputs *in, SessionIsThere *is_there);
// If device memory is not memory of the process: passes a changed page; says that the step's last
// page was handed over.
void session_inputs_page(uint32_t step, uint64_t address, const void *bytes, size_t n);
void session_inputs_all_kept(uint32_t step);
void session_inputs_free(SessionInputs *in);      // NULL: nothing
void session_unknown_writes(const void *stream);  // work in the stream may write anywhere
typedef struct SessionCode {
  const char *name, *options, *text;
  size_t len;
} SessionCode;
bool session_code_wanted(const SessionModule *m);  // once for each module
void session_code(const SessionModule *m, const SessionCode *units, uint32_t n);

// --- branches.c: steps of a graph, by their place in a topological order ---
typedef struct SessionBranches SessionBranches;
typedef struct SessionNumberList {
  uint32_t *data, len, cap;
} SessionNumberList;
// the numbers of one step and of the steps inside of it; first == end: none
typedef struct SessionNumbers {
  SessionNumberList *list;
  uint32_t first, end;
} SessionNumbers;
SessionBranches *session_branches_new(uint32_t n);  // NULL: no tool wants it
// all edges to a step come before those that leave it
void session_branches_edge(SessionBranches *b, uint32_t from, uint32_t to);
void session_branches_done(SessionBranches *b);  // all edges are there
SessionBranches *session_branches_share(SessionBranches *b);
void session_branches_free(SessionBranches *b);
// number of its steps, but no fewer than `least`; NULL has `least`
uint32_t session_branches_size(const SessionBranches *b, uint32_t least);
// there is no path between these steps
bool session_branches_part(const SessionBranches *b, uint32_t i, uint32_t k);
// numbers: by step
void session_branches_beside(const SessionBranches *b, uint32_t step, const SessionBeside *outer,
                             const SessionNumbers *numbers, SessionBeside *out);

// finds the numbers of the nearest steps that it depends on and that have numbers
uint32_t session_branches_behind(const SessionBranches *b, uint32_t step,
                                 const SessionNumbers *numbers, SessionNumberList *out);

// --- events.c: nodes of a graph that is launched, one after the other. Events between two calls of
// session_graph_node belong to the first; child graphs are nested. ---
void session_graph_begin(const SessionBranches *b, uint32_t nodes, const void *stream);
void session_graph_node(uint32_t place);
void session_graph_end(void);

// --- events.c: order of launches and copies, for tools that look for races ---
// Identifies the calling thread's last session_copy_check for the tools; the driver hands it on in
// SessionCopy.tag. 0: no tool wants it
uint64_t session_copy_tag(void);
// The driver has taken the copy. Only where device memory is the process's own; session_copy_runs
// follows in any case.
void session_copy_begins(uint64_t tag);
void session_host_waited(void);  // the program has waited for something
// Reports a copy or set node of a graph that is launched now in c->stream; returns its tag. number:
// for SessionBeside of other nodes; 0: it has none.
uint64_t session_graph_copy(SessionDevice *d, const SessionCopy *c, const SessionBeside *beside,
                            uint32_t *number);
// The driver has taken the graph. Not called if device memory is memory of the process.
void session_graph_copy_ran(SessionDevice *d, const SessionCopy *c);
// The graph does not order these two nodes.
void session_graph_copies_unordered(const SessionCopy *a, const SessionCopy *b);
// true: the only tool that runs knows from this record that there is nothing to check, so the
// program's own code may run.
bool session_launch_settled(SessionKernel *k, const void *record);
bool session_launch_may_settle(const WovenKernel *code);  // NULL: any kernel

// --- order.c: what orders launches. stream NULL: the legacy default stream ---
void session_order_stream(const void *stream, bool non_blocking);  // the program made it
void session_order_record(const void *event, const void *stream);
void session_order_wait(const void *stream, const void *event);
void session_order_waits_for_something(const void *stream);  // for a value in memory, a semaphore …
// The host knows that the stream's work is done.
void session_order_host_saw(const void *stream);
void session_order_host_saw_event(const void *event);
void session_order_host_saw_all(void);
// the calling thread's last session_launch; NULL: legacy
void session_launched_on(const void *stream);

// --- events.c: what device memory holds, for SESSION_WANTS_CONTENTS. New device memory holds
// undefined values; memory that the host can write to counts as initialised. ---
typedef enum {
  MEMORY_NEW,       // base, size, memory: after session_alloc. device NULL: counts as initialised
  MEMORY_MAPPED,    // base, size: a part of `physical`, which may be mapped more than once
  MEMORY_REUSED,    // base: a graph hands it out again
  MEMORY_SHARED,    // base, an address in the allocation: others may write to it from now on
  MEMORY_GONE,      // base: no work uses it any more, and it has not been reused yet
  PHYSICAL_SHARED,  // physical: with another process
  PHYSICAL_GONE,    // physical: the address may be reused from now on
} SessionMemoryEventKind;
typedef struct SessionMemoryEvent {
  SessionMemoryEventKind kind;
  SessionDevice *device;
  const void *stream;  // in whose order it happens; NULL: now
  uint64_t base, size;
  SessionMemoryKind memory;
  const void *physical;  // identity of physical memory
  uint64_t offset, physical_size;
} SessionMemoryEvent;
void session_memory_event(const SessionMemoryEvent *e);
// These report work in the order of its stream. d NULL: device memory is the process's own, and the
// work is done; else the driver has taken it.
void session_unchecked_writes(SessionDevice *d, const void *stream);  // perhaps to any memory
void session_copy_runs(SessionDevice *d, const SessionCopy *c);
typedef struct SessionRun {  // one execution of a launch
  SessionKernel *kernel;     // NULL: not known
  const SessionLaunch *shape;
  const SessionParams *params;
  void *record;     // its launch record, which may still be changed; NULL: it is not checked
  uint32_t shared;  // bytes of shared memory of a block, variables included
  // Device memory for this execution alone, with any contents; 0: there is none.
  uint64_t (*scratch)(struct SessionRun *r, size_t bytes);
  void *user;                     // of the driver
  unsigned settled;               // TOOL_BIT()s of tools that need no session_launch_ends
  uint64_t tool_data[TOOL_MOST];  // of the tools, from its begin to its end
} SessionRun;
// before the driver takes the launch, or, with d NULL, when it begins
void session_launch_begins(SessionDevice *d, const void *stream, SessionRun *r);
void session_launch_ends(SessionDevice *d, const void *stream, SessionRun *r);
bool session_run_settled(const SessionRun *r);  // session_launch_ends is not needed
// true: the tools that follow writes see all writes of the kernel when it runs in a graph.
bool session_sees_graph_writes(SessionKernel *k);
bool session_is_initialised(uint64_t address, uint64_t n);  // wg_is_initialized of the host

// --- events.c: device memory of the tools ---
// An allocation of the program failed: can a tool give device memory back?
bool session_may_release_memory(void);
bool session_release_memory(SessionDevice *d);  // while no launch runs; false: there was none
// The part of the free memory that the program can allocate; the tools' shadow of it takes the
// rest.
size_t session_free_for_program(size_t free_bytes);

// --- done_copy.c: tools that look at what a copy brought to the host ---
bool session_copy_wanted(const SessionCopy *c);
// a wanted copy has been done, and the host's memory is still as the copy left it
void session_copy_done(const SessionCopy *c);

// --- events.c: calls of CUDA's mathematical libraries, on the virtual device ---
// The program makes the call. on: the device of the call's stream; NULL: not known
void session_library_asked(LibraryCall *c, SessionDevice *on);
// A running call has found the addresses of these operands in device memory; it touches them next.
void session_library_found(const LibraryCall *c, const Operand *o, uint32_t n);
void session_library_begins(const LibraryCall *c, const Operand *o, uint32_t n);  // it runs now
// It has read wrong data, such as an index outside of its matrix.
void session_library_wrong(const LibraryCall *c, const char *why);
void session_library_ran(const LibraryCall *c);
void session_library_done(const LibraryCall *c);                  // it never runs again
void session_library_refused(const char *call, const char *why);  // because of its arguments

// --- tensor_maps.c: what a tensor map was made of ---
typedef struct SessionTensor {
  int type;  // CUtensorMapDataType
  uint32_t rank;
  const void *address;
  const uint64_t *dims, *strides;
  const uint32_t *box, *element_strides;
  int interleave, swizzle;
  bool nan_fill;
} SessionTensor;
void session_tensor_map(const void *map, const SessionTensor *t);
// the map describes another address now
void session_tensor_map_moved(const void *before, const void *map, uint64_t address);
enum { SESSION_TENSOR_RANK = 5 };
typedef struct SessionTensorMap {  // a SessionTensor as it is remembered
  int type;
  uint32_t rank;
  uint64_t address, dims[SESSION_TENSOR_RANK], strides[SESSION_TENSOR_RANK - 1];
  uint32_t box[SESSION_TENSOR_RANK], steps[SESSION_TENSOR_RANK];
  int interleave, swizzle;
  bool nan_fill;
} SessionTensorMap;
bool session_has_tensor_maps(void);  // the program has encoded at least one
// false: this is no tensor map, or no call of this process made it
bool session_tensor_map_find(const void *map, SessionTensorMap *out);
SassFormat session_tensor_format(const SessionTensorMap *m);  // SASS_OTHER: not floating-point
uint32_t session_tensor_element(const SessionTensorMap *m);   // bytes; 0: not known
uint64_t session_tensor_bytes(const SessionTensorMap *m);     // from address on; 0: not known
typedef void SessionEachTensor(void *user, const SessionTensorMap *m);
// calls `each` for every known map among the parameters of a launch
void session_tensor_maps_of(const SessionCall *call, SessionEachTensor *each, void *user);

// --- events.c: pitches and textures ---
// after session_alloc: bytes from row to row of the allocation
void session_pitch(uint64_t base, uint64_t pitch);
struct CUDA_RESOURCE_DESC;
// when the program makes the call, before the driver does
void session_texture_check(const char *call, const struct CUDA_RESOURCE_DESC *d);
// --- images.c: texture and surface objects, for SESSION_WANTS_IMAGES ---
void session_texture_created(uint64_t handle, const struct CUDA_RESOURCE_DESC *d);
void session_texture_destroyed(uint64_t handle);
struct CUDA_ARRAY3D_DESCRIPTOR;
void session_surface_created(uint64_t handle, const struct CUDA_ARRAY3D_DESCRIPTOR *d);
void session_surface_destroyed(uint64_t handle);

// --- events.c: parts of the program's work that it names (NVTX) ---
typedef struct SessionRange {
  const char *name;
  uint64_t begin_ns, end_ns;  // clock_ns()
  uint32_t depth;             // number of this thread's ranges around it
  bool of_thread;             // false: of the whole process
} SessionRange;
void session_range_ended(const SessionRange *r);
bool session_hears_ranges(void);  // start.c; may be called before the session starts

// --- events.c: waits ---
void session_synchronised(const void *stream);  // the program waits for this stream now …
void session_synchronised_all(void);            // … for all of them
// A call of the host that waited has ended. stream NULL: it waited for all or for an event, or for
// the legacy default stream
typedef struct SessionHostWait {
  const char *call;
  const void *stream;
  bool all;
  uint64_t began;  // by clock_ns(); 0: now
} SessionHostWait;
void session_wait_ended(const SessionHostWait *w);

// --- events.c: streams, events, modules … that are used after they were destroyed. `what` is one
// of these phrases. ---
#define SESSION_STREAM_GONE "a stream that was destroyed before"
#define SESSION_EVENT_GONE "an event that was destroyed before"
#define SESSION_GRAPH_GONE "a graph that was destroyed before"
#define SESSION_EXEC_GONE "an executable graph that was destroyed before"
#define SESSION_CONTEXT_GONE "a context that was destroyed before"
#define SESSION_MODULE_GONE "a module that was unloaded before"
#define SESSION_LIBRARY_GONE "a library that was unloaded before"
#define SESSION_FUNCTION_GONE "a function whose module was unloaded before"
// before the driver destroys the object: the handle may be reused at once
void session_destroyed(const char *what, const void *handle);
void session_created(const void *handle);  // of any kind; also if destroying it has failed
// true: it was destroyed before, and a tool has reported the use
bool session_use(const char *what, const void *handle);

// --- events.c: errors that a call had no way to return ---
// raised on this thread; text: the message if the program never asks for the error
void session_error_raised(const char *text);
void session_errors_seen(void);  // this thread has asked

// --- end.c ---
void session_end(void);  // the process ends in order: tells the command that nothing is missing
#endif
