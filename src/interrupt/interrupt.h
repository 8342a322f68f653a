// interrupt: GPU interrupts. Device code calls functions of the CPU
// (include/warpgrind_interrupts.h).
//
// pass.c turns each kernel that calls interrupts into two: the kernel itself, whose calls now save
// the thread's live registers and end it, and a second kernel that restores them and goes on after
// the call. rounds.c runs the two: it launches the first, gathers the callers, calls the handlers,
// launches the second, until no thread is suspended any more. The pass runs before tools add their
// checks, and its output is ordinary PTX: both devices run the same code.
// docs/interrupts.md has the picture.
#ifndef WG_INTERRUPT_H
#define WG_INTERRUPT_H

#include "base/base.h"
#include "interrupt/interrupt_abi.h"
#include "ptx/ptx.h"
#include "weave/weave.h"

// --- pass.c ---
enum { INTERRUPT_PARAMS = 16, INTERRUPT_WORDS = 16, INTERRUPT_RESULT_WORDS = 4 };
typedef struct InterruptCall {  // one call in a kernel; its number is its place in the list
  const char *name;             // of the interrupt
  const char *file, *text;      // the place; file NULL: it is not known
  uint32_t line;
  uint32_t nparams, param_bytes[INTERRUPT_PARAMS], result_bytes;
  char param_shown[INTERRUPT_PARAMS], result_shown;  // as s, u, f, p; 0: as bytes
  uint32_t args_at;  // the arguments in a thread's context: words, one after the other
} InterruptCall;
typedef struct InterruptKernel {
  const char *name, *resume;  // resume: the second kernel, which resumes threads
  const char *refused;        // why it cannot be suspended, with the place; NULL: it can
  uint32_t param_at;          // of the added InterruptLaunch
  uint32_t user_params, user_param_bytes;
  struct {
    uint32_t offset, bytes;
  } * params;              // of the program
  uint32_t context_bytes;  // of one thread: live registers and arguments
  uint32_t place_bytes;    // of one place: InterruptPlace and the context
  bool is_listed;          // the second kernel can be entered by some blocks only
  uint32_t local_bytes;    // of one thread: its local variables, which lie in memory of the launch
  uint32_t stack_bytes;    // the part of local_bytes for functions that were not inlined
  bool saves_blocks;       // threads of a block need each other: see blocks.c
  bool uses_clusters;      // … and those of a cluster: see clusters.c
  uint32_t block_bytes;    // of one block: shared memory that is saved; without dynamic
  InterruptCall *calls;    // those of one interrupt side by side
  uint32_t ncalls;         // of interrupts; barriers have numbers after these
  uint32_t nstops;         // with barriers and warp operations
} InterruptKernel;
typedef struct Interrupts {
  bool in_line;  // in: launches follow each other before the host knows how the first has ended
  bool listed;   // in: only some blocks enter second kernels, where that can be
  Arena arena;
  InterruptKernel *kernels;
  uint32_t n;
} Interrupts;
#define INTERRUPT_PREFIX "__wgint"  // begins the names that the pass adds
#define INTERRUPT_REG_PREFIX EARLY_REG_PREFIX
bool interrupt_occurs(const char *text, size_t len);  // false: no unit needs the pass
// Changes the units in place; all of *out but in_line and listed is overwritten. false: err says
// why; the units must not be used any more.
bool interrupt_pass(PtxModule **units, uint32_t n, Interrupts *out, Error *err);
const InterruptKernel *interrupt_kernel(const Interrupts *i, const char *name);  // NULL: none
void interrupt_free(Interrupts *i);

// --- handlers.c ---
struct wg_interrupt;
typedef void InterruptHandlerFunction(struct wg_interrupt *call, void *user);
typedef struct InterruptHandler {
  const char *name, *file;  // file, line: where it was defined
  uint32_t line;
  InterruptHandlerFunction *function;
  void *user;
  bool typed;  // what follows is known
  uint32_t result_bytes, nparams, param_bytes[INTERRUPT_PARAMS];
} InterruptHandler;
void interrupt_add_handler(const InterruptHandler *h);
bool interrupt_find_handler(const char *name, InterruptHandler *out);
bool interrupt_has_handlers(void);
// Can each call of the kernel be served? false: err names the call that cannot.
bool interrupt_check_handlers(const InterruptKernel *k, Error *err);

// --- refusals.c: why a launch is refused, with the place of a call. All return false ---
struct InterruptSizes;
bool interrupt_refuse_graph(const InterruptKernel *k, Error *err);
bool interrupt_refuse_memory(const InterruptKernel *k, const struct InterruptSizes *s, Error *err);
bool interrupt_refuse_threads(const InterruptKernel *k, double threads, Error *err);

// --- rounds.c ---
typedef struct InterruptShape {
  uint32_t grid[3], block[3], shared;  // shared: dynamic
  bool cooperative;
} InterruptShape;
// The bytes of what a launch needs: `fixed` in any case, `places` if all its threads are suspended,
// `saved` if all its blocks are.
typedef struct InterruptSizes {
  size_t threads, blocks, block_words, words, saved_stride, place_bytes, place_groups;
  size_t control, marks, stopped, clusters, workspace, firsts, list, slots, locals;
  size_t fixed, places, saved, all;
  uint32_t grid[3];
} InterruptSizes;
// The bytes that a launch needs for each suspended thread, each thread, and each block with
// suspended threads; dynamic shared memory comes on top, and little for the grid:
// docs/interrupts.md.
typedef struct InterruptMemory {
  uint32_t caller, thread, stopped;
} InterruptMemory;
InterruptMemory interrupt_memory(const InterruptKernel *k);
bool interrupt_sizes(const InterruptKernel *k, const InterruptShape *shape, InterruptSizes *s,
                     Error *err);
// fixed, places, saved: where that memory is, with room for all
InterruptLaunch interrupt_place(const InterruptSizes *s, uint64_t fixed, uint64_t places,
                                uint64_t saved);
void interrupt_follow_nobody(InterruptLaunch *l);  // it begins in any case; the default
size_t interrupt_zeroed(const InterruptSizes *s);  // the first bytes of `fixed` must be 0

typedef struct InterruptRun {
  const InterruptKernel *kernel;
  const char *shown;  // the kernel's name
  uint64_t number;    // of the launch; no other has it
  uint32_t grid[3], block[3];
  InterruptLaunch launch;                    // the kernel's parameter
  size_t words, block_words, block_threads;  // of marks; threads of a block
  bool ended;                                // a handler has ended the kernel: states are left
  // Of this round, by call. counts: its callers. first_rank: the rank of its first caller among
  // those of its interrupt. numbers: where the callers' numbers go on the device. lists: where the
  // values of each parameter go (INTERRUPT_PARAMS for each call)
  const uint32_t *counts;
  uint32_t *first_rank;
  const uint64_t *numbers, *lists;
  const uint64_t *results;  // by call: where the results of its interrupt are
} InterruptRun;
// A finding that a handler reports, with the place of a caller.
typedef struct InterruptFinding {
  const char *text, *file;
  uint32_t line, block[3], thread[3];
} InterruptFinding;
// One call of a handler: who called, with which arguments, and what it returned; all on the host.
// results_at: where the host wrote the results on the device; 0: it did not
typedef struct InterruptServed {
  const char *name;
  size_t count;
  uint32_t nparams, result_bytes;
  const uint32_t *param_bytes;
  const char *param_shown;
  char result_shown;
  const struct wg_caller *callers;
  const void *params[INTERRUPT_PARAMS], *results;
  uint64_t results_at;
} InterruptServed;
// What the device must do; each driver has its own.
typedef struct InterruptDevice {
  bool (*read)(void *user, void *to, uint64_t from, size_t bytes);
  bool (*write)(void *user, uint64_t to, const void *from, size_t bytes);
  uint64_t (*alloc)(void *user, size_t bytes);  // 0: there is no memory
  void (*free)(void *user, uint64_t p);
  void *(*host_alloc)(void *user, size_t bytes);  // for read and write; NULL: there is none
  void (*host_free)(void *user, void *p);
  // Waits for the kernel, and counts the callers of each call: 0 where nobody is suspended.
  bool (*count)(void *user, const InterruptRun *run, uint32_t *counts);
  // Fills lists and numbers, in the order of calls and threads, and tells each caller its rank.
  bool (*gather)(void *user, const InterruptRun *run);
  // Writes where the results are and that no thread is suspended, and launches the second kernel.
  bool (*resume)(void *user, const InterruptRun *run);
  bool (*report)(void *user, const InterruptFinding *f);  // false: it was not reported
  void *(*enter)(void *user);                             // before a handler runs: gives its stream
  void (*leave)(void *user);                              // after it: waits for the handler's work
  uint64_t limit_ns;  // a handler that takes longer is named; 0: none is
  void (*served)(void *user, const InterruptServed *s);  // NULL: no tool wants it
  void *user;
} InterruptDevice;
InterruptRun interrupt_run(const InterruptKernel *k, const InterruptShape *shape,
                           const InterruptLaunch *l);
// The first kernel was launched: serves rounds until no thread is suspended. false: err.
bool interrupt_serve(const InterruptDevice *d, InterruptRun *run, Error *err);

// The data that the host writes to InterruptLaunch.control, *at bytes after its beginning, before
// the kernel is entered again. Owned by the caller.
void *interrupt_control(const InterruptRun *run, size_t *at, size_t *bytes);

// --- gather.c: count and gather where memory of the device is memory of the process ---
void interrupt_count_here(const InterruptRun *run, uint32_t *counts);
void interrupt_gather_here(const InterruptRun *run);

#endif
