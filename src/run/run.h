// run: everything known about a run. receive.c builds it from what arrives through the channel;
// file.c keeps it in a run file (SQLite, docs/run-file.md) and load.c reads it from one, so that a
// report can be printed at the end of the run or any time later. One thread uses a Run. Memory is
// bounded: only the latest launches and freed allocations and a limited number of findings are
// kept.
#ifndef WG_RUN_H
#define WG_RUN_H

#include "base/api_words.h"
#include "base/base.h"
#include "channel/channel.h"
#include "symbol/symbol.h"

// file NULL: not known
typedef struct RunPlace {
  const char *file, *function;
  uint32_t line, column;
} RunPlace;
typedef struct RunFrame {
  const char *function, *file, *object, *folder;
  uint32_t line;
  uint64_t address;
  bool inlined, python;
} RunFrame;
typedef struct RunProcess RunProcess;

typedef struct RunStack {
  uint32_t id;
  RunProcess *process;
  uint64_t *addresses;
  uint32_t naddresses;   // none once the process is released
  const char *python;    // lines "file:line:function"
  SymbolTable *symbols;  // libraries loaded when it was taken
  RunFrame *frames;
  uint32_t nframes;  // see run_stack_frames
  bool resolved, pointer_asked;
  const char *pointer;  // see run_pointer_name
} RunStack;

typedef struct RunModule {
  uint32_t id;
  RunProcess *process;
  const char *name, *what;
  uint64_t hash;
} RunModule;

enum { RUN_PARAMETERS_NAMED = 32 };
typedef struct RunKernel {
  uint32_t id;
  RunProcess *process;
  RunModule *module;
  const char *name, *readable;       // as linked, as written
  bool covered, retested;            // retested: by a second run (ToolRerun)
  const char *reason, *cure, *note;  // why it is not checked
  // machine code that these tools check by patches, with commas between; NULL: woven, or unchecked
  const char *patched_by;
  uint64_t launches, checked;
  uint64_t saved_launches;  // the number in its saved row
  // RUN_PARAMETERS_NAMED names of its parameters in the source; NULL: not known, or not asked for
  const char **parameters;
  // kernel_code.c: its PTX as far as it has arrived, and where the piece under way begins in it
  Str code;
  size_t piece;
  Str frames;  // frame_variables.c
} RunKernel;

// where something was found or may be; PTX alone where there are no places
typedef struct RunSite {
  uint32_t id;
  uint64_t number;  // the process's number of it; UINT64_MAX: made for a finding of the host
  RunModule *module;
  const char *function, *text;
  const char *space;  // "global"
  // the variable it accesses, as linked; or the number plus 1 of the parameter that points to the
  // accessed memory
  const char *object;
  uint32_t parameter;
  uint32_t ptx_line, classes, bytes;
  RunPlace *places;
  uint32_t nplaces;
  bool saved;
} RunSite;

typedef struct RunLaunch {
  uint32_t id, number, kernel;  // kernel: the process's number
  uint32_t grid[3], block[3], cluster[3], shared, flags;
  int device;
  uint64_t stream, time_ns;
  RunStack *stack;
} RunLaunch;

enum { RUN_GIVEN_KEPT = 3 };
typedef struct RunAllocation {
  uint32_t id;
  RunProcess *process;
  uint64_t base, size;
  uint32_t kind;  // SessionMemoryKind
  int device;
  const char *name;     // of a variable
  const char *pointer;  // the program's name for its address, if certain
  const char *type;     // of its elements, as the last kernel declared it: "f32"; NULL: not known
  // Parameters of kernels that held a pointer to it: the number, and where in the parameter;
  // types.c
  struct {
    RunKernel *kernel;
    uint32_t number, offset;
  } given[RUN_GIVEN_KEPT];
  unsigned ngiven;
  RunStack *stack, *free_stack;
  bool freed;
  uint32_t born, died;  // the process's last launch when it was allocated, when it was freed
} RunAllocation;

typedef struct RunFinding {
  uint32_t id;
  RunProcess *process;
  const Kind *kind;
  const char *text;  // the sentence, for findings of the host; NULL otherwise
  ApiId api;         // of its launch, or of the call it is about
  RunKernel *kernel;
  const RunLaunch *launch;  // NULL: not known any more
  uint32_t launch_number;   // 0: not about a launch
  uint32_t last_launch;     // for findings of the host: the last launch before it
  RunSite *site;
  RunSite *origin, *source;  // of kinds with HAS_ORIGIN, HAS_SOURCE; NULL: not known
  bool has_thread, has_address;
  uint32_t block[3], thread[3], lanes;
  uint64_t size, address, value[4], extra[3];
  // the allocation it is about: that of the pointer, or else the one that holds the address or is
  // nearest
  const RunAllocation *allocation;
  const char *parameter;        // the kernel's name for the pointer, if certain
  const RunAllocation *inside;  // the allocation that holds the address, if another; NULL: none
  int64_t offset;               // from the start of `allocation`
  RunStack *stack;              // of the host, if it is not about a launch
  RunStack *other_stack;
  const char *other_title;            // "created"
  struct RunSuppression *suppressed;  // NULL: no
  uint64_t count, saved_count;        // saved_count: the number in its saved row
  bool counted;                       // by the device, exactly
} RunFinding;

typedef VEC(RunFinding *) RunFindings;

typedef struct RunSuppression {  // an entry of a suppression file
  uint32_t id;
  const char *name, *file;
  uint32_t line;
  uint64_t findings, places;  // see run_count_suppressed
} RunSuppression;

typedef struct RunCount {  // one source line of one kernel, or all of a kernel
  const char *kernel, *file;
  uint32_t line;  // file NULL: a line of PTX
  uint64_t total, warp_total, loads, stores, atomics, load_bytes, store_bytes, atomic_bytes;
  uint64_t classes[24];  // by bit number of PtxClass
} RunCount;

// Numbers that a tool has measured, for a line, a kernel or a call; what: the tool's own word for
// them.
enum { RUN_MEASURE_VALUES = 20, RUN_MEASURES_KEPT = 1 << 20 };
typedef struct RunMeasure {
  uint32_t process;  // id
  const char *what, *kernel, *file, *text;
  uint32_t line;  // file NULL: a line of PTX
  uint64_t v[RUN_MEASURE_VALUES];
} RunMeasure;

typedef struct RunNote {
  RunProcess *process;
  Severity severity;
  const char *text;
} RunNote;

enum {
  RUN_LAUNCHES_KEPT = 1 << 16,
  RUN_FREED_KEPT = 1 << 16,
  RUN_FINDINGS_KEPT = 100000,
  RUN_COUNTS_KEPT = 1 << 20
};

struct RunProcess {
  uint32_t id;
  int pid, parent;
  const char *program, *arguments, *device;
  // ended: it said so itself. damaged: it has overwritten the memory it reports through
  bool ended, damaged;
  bool odd_counts;  // counts of places that it never announced
  // by the process's own numbers; live: by base; found: by site
  U64Map strings, stacks, modules, kernels, sites, live, found;
  U64Map open_devices;  // channels whose end it has not announced
  // step.c; lost: events of the process are missing
  struct {
    U64Map launches, inputs, early;
    bool lost;
  } uncommitted;
  SymbolTable *symbols;
  VEC(SymbolTable *) tables;  // that one, and those before it
  VEC(WhereObject) objects;   // in symbols
  RunFindings findings;       // of this process, in the run's list too
  uint64_t lowest, highest;   // of all addresses it ever allocated
  Arena arena;  // stacks, sites and other data of no use once the process has ended; release.c
  uint32_t last_launch;  // the largest number
  RunLaunch *launches;
  uint64_t nlaunches;  // the last ones
  RunAllocation **freed;
  uint64_t nfreed;             // the last ones
  struct RunOutputs *outputs;  // outputs.c; NULL: none
};

typedef struct RunDump {  // --dump-buffers: the contents of a buffer in a file
  uint32_t process, step, launch, graph, allocation, element;
  const char *name, *type;  // of the buffer, of its elements; NULL: not known
  uint64_t bytes;
  const char *from;  // the file, as the program called it
} RunDump;

typedef struct RunFile RunFile;
// The outcome of one of the user's limits for one kernel. passed NULL: the kernel is within the
// limit
typedef struct RunLimit {
  const char *name, *passed;
} RunLimit;

typedef struct Run {
  Arena arena;
  StrMap texts;                          // every string once
  const char *program, *device, *tools;  // tools: "count", "none"
  ApiId api;                             // for messages about the whole run
  VEC(RunProcess *) processes;
  VEC(RunKernel *) kernels;
  RunFindings findings;
  VEC(RunSuppression *) suppressions;
  VEC(RunCount *) counts;
  VEC(RunMeasure *) measures;
  VEC(RunNote) notes;
  VEC(RunLimit) limits;      // that tools have looked at, at the end of the run
  RunFindings explanations;  // of kinds with EXPLAINS_OTHERS
  RunFindings waiting;       // findings that their tool decides about when their process has ended
  StrMap count_keys, finding_keys;
  StrMap proved_sources;    // files that source_proof.c has looked at
  bool leaves_sources_out;  // --no-sources
  StrMap saved_types;       // types.c: name -> id
  U64Map type_bytes;        // id -> size
  bool replays;    // kernels come from a run file (expand): the sources they name prove nothing
  StrMap sources;  // files searched for names of buffers; pointer.c
  // beyond RUN_FINDINGS_KEPT, or without a description
  uint64_t findings_left_out, places_left_out;
  bool full_said, counts_full;
  uint32_t undescribed;                 // places of findings that were only counted by the device
  uint64_t launches, checked_launches;  // kernel launches of all processes
  uint64_t counted_launches;            // those reported together with checked_launches
  uint64_t different_kernels;
  uint64_t library_calls, checked_library_calls;  // of CUDA's mathematical libraries
  uint64_t repeated_launches;  // of machine code: they repeat a checked one, and were not patched
  uint32_t last_id;
  uint32_t still_running, unrecorded;  // processes
  uint64_t lost_events;                // of all processes
  // processes that have overwritten the memory they report through; the first of them
  uint32_t damaged;
  int damaged_pid;
  bool channel_damaged;  // one of them has overwritten memory that all processes share
  int exit_code, main_pid;
  const char *end;  // "exit code 3"
  // for a file whose command was killed before the program ended: the time of its last entry; NULL:
  // it is finished
  const char *unfinished;
  // notes already in the file; something has changed that the next commit must write
  uint32_t saved_notes;
  bool progressed;
  const char *failure;   // why Warpgrind could not do its work; NULL: it could
  SymbolStore *symbols;  // of all processes; NULL: nothing was asked for yet
  StrMap variables;      // names of variables of modules that processes had
  RunFile *file;         // NULL: none is kept
  struct TraceWriter *trace;
  bool trace_stop_said;  // --record; NULL: nothing is recorded
  bool records_inputs;   // --record=inputs: pages before launches, no operations
  // A finding that is new; repeats are only counted. A line for the report. May be NULL.
  void (*on_finding)(struct Run *run, const RunFinding *f, void *user);
  void (*on_note)(struct Run *run, const RunNote *n, void *user);
  // is this buffer one of --buffer? process: its id
  void (*on_choose)(struct Run *run, uint32_t process, uint32_t sequence, const char *name,
                    void *user);
  // returns the file's name from now on
  const char *(*on_dump)(struct Run *run, const RunDump *d, void *user);
  void *user;
  // Which suppression fits; NULL: none. Called once for each place; suppressed findings do not
  // reach on_finding. May be NULL.
  RunSuppression *(*suppress)(struct Run *run, const RunFinding *f, void *user);
  void *suppress_user;
} Run;

// --- kernel_code.c ---
// Keeps the PTX of a kernel in the run file, from that line of its module on.
void run_keep_code(Run *r, RunKernel *k, uint32_t line, const char *text, size_t n);

// --- model.c ---
void run_free(Run *r);
const char *run_text(Run *r, const char *text);           // the run's own copy; NULL stays NULL
const char *run_readable_name(Run *r, const char *name);  // demangled
const char *run_readable_text(Run *r, const char *text);  // … the names in it
void run_add_note(Run *r, RunProcess *p, Severity severity, const char *fmt, ...) PRINTF_LIKE(4, 5);
// repeats included; without what is suppressed
uint64_t run_count_findings(const Run *r, Severity at_least, uint64_t *places);
// all of them; also each suppression's own numbers
uint64_t run_count_suppressed(Run *r, uint64_t *places);
RunSuppression *run_add_suppression(Run *r, const char *name, const char *file, uint32_t line);
// Adds one and saves it; NULL: there are RUN_MEASURES_KEPT already.
RunMeasure *run_add_measure(Run *r, const RunMeasure *m);
RunCount *run_count_row(Run *r, const char *kernel, const char *file, uint32_t line);
const char *run_memory_kind(uint32_t kind);  // "device"
const char *run_class_name(unsigned bit);    // "load"; NULL: no such class

// a sentence: what could not be taken from the program; NULL: everything was
const char *run_incomplete(Run *r);

// --- outputs.c ---
// "f32": what the kernel's parameter, from 1, points to; NULL: not known
const char *run_parameter_type(const char *readable, uint32_t number);

// --- finding.c ---
// the site that device records call so; NULL: not known
RunSite *run_site_numbered(const RunProcess *p, uint64_t number);

// --- receive.c ---
void run_sink(Run *r, ChannelSink *sink);  // what arrives goes into r

// --- stacks.c ---
// symbolized when first asked for
const RunFrame *run_stack_frames(Run *r, RunStack *s, uint32_t *n);

// --- file.c, load.c, schema.c: the run file ---
// Written; and the oldest that is read. 5 and 6 are format 2 of docs/run-file.md (5 has no sources
// and types); 3 and 4 are format 1 (3 has no order of steps).
enum { RUN_SCHEMA_VERSION = 7, RUN_SCHEMA_OLDEST = 3 };
// replaces what was there; large: much will be written
RunFile *run_file_create(const char *path, bool large, Error *err);
void run_file_begin(Run *r);  // program, tools and device are known
// now and then; false: writing has failed, the run has a note about it
bool run_file_commit(Run *r, bool force);
bool run_file_finish(Run *r, Error *err);  // everything that is known only at the end; closes it
bool run_file_failed(const RunFile *f, const char **why);
bool run_load(const char *path, Run *r, Error *err);
struct sqlite3;
struct sqlite3_stmt;
typedef void RunEachRow(void *user, struct sqlite3_stmt *s);
// for every row of an answer
bool run_each_row(struct sqlite3 *db, const char *sql, RunEachRow *row, void *user, Error *err);

// --- output.c ---
bool run_output_check(const char *path, Error *err);  // may -o replace this file?
bool run_output_is_run_file(const char *path);

// --- open.c ---
struct Store;
// the opener of all readers; NULL: err says why
struct Store *run_open(const char *path, bool writable, Error *err);
bool run_is_recorded(const char *path);  // the file has recorded operations
// the end of the run: the -wal was not copied along, or is cut
bool run_lacks_something(const struct Store *s, Error *why);

// --- source_proof.c ---
// by this user; both from the table source_file
bool run_source_is_proved(const char *real, const char *proof);

#endif
