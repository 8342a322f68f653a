#ifndef WG_RUN_INTERNAL_H
#define WG_RUN_INTERNAL_H

#include "run/run.h"

// --- finding.c ---
void run_host_finding(Run *r, RunProcess *p, const EventFinding *e, RunPlace *places,
                      uint32_t nplaces);
void run_device_finding(Run *r, RunProcess *p, const WgFinding *f);
void run_site_counted(Run *r, RunProcess *p, uint32_t site, uint64_t count);
// the process has ended: nothing more will explain its findings
void run_settle_findings(Run *r, const RunProcess *p);

// --- release.c ---
// Call when the process has ended and its findings are settled. Saves the rows that are complete
// only then, keeps everything its findings refer to, and frees the rest.
void run_release_process(Run *r, RunProcess *p);
void run_free_process(RunProcess *p);

// --- step.c ---
void run_save_step(Run *r, RunProcess *p, const EventStep *e);
// all its records were handed to the trace writer; launch 0: those of all launches were
void run_launch_drained(Run *r, RunProcess *p, uint32_t launch);
void run_commit_steps(Run *r);  // after trace_save: commits the steps that are complete now
// events of the process are missing: it may have made calls that we do not know of
void run_uncommit_steps(Run *r, RunProcess *p);
void run_free_uncommitted(RunProcess *p);
void run_save_step_after(Run *r, const RunProcess *p, const EventStepAfter *e);
void run_save_interrupt(Run *r, const RunProcess *p, const EventInterrupt *e);
void run_save_interrupt_caller(Run *r, const RunProcess *p, const EventInterruptCaller *e);
const char *run_kernel_name(Run *r, const char *name);
void run_save_benign_race(Run *r, const RunProcess *p, const EventBenignRace *e);
void run_save_launch_time(Run *r, RunProcess *p, const EventLaunchTime *e);
void run_save_parameter(Run *r, RunProcess *p, const EventParameter *e);

// --- model.c ---
SymbolStore *run_symbols(Run *r);

// --- pointer.c ---
struct Source;
// where the kernel is written; NULL: not there, or younger than the program
const struct Source *run_kernel_source(Run *r, const RunKernel *k);
// "float* ns::make<float>(unsigned long)" -> "make"
bool run_base_name(const char *function, char *out, size_t size);
// the program's name for the buffer allocated there; NULL: not certain
const char *run_pointer_name(Run *r, RunStack *stack);
// the parameter's name in the source; NULL: not certain
const char *run_launch_parameter_name(Run *r, RunKernel *k, uint32_t index);
// the name of the kernel's parameter that points to the accessed memory; NULL: not certain
const char *run_parameter_name(Run *r, const RunFinding *f);
void run_free_sources(Run *r);

// --- source_proof.c ---
// keeps a proof that this recording has it as a source
void run_prove_source(Run *r, const char *file);
// source_text.c: keeps its text too, once. false: it cannot be read
bool run_keep_source(Run *r, const char *file, const char *real, char hash[17]);
void run_prove_code_sources(Run *r);        // code_sources.c: all sources that kept code names
struct sqlite3 *run_file_database(Run *r);  // file.c; NULL: no file is kept

// --- kernel_code.c ---
void run_take_code(Run *r, RunProcess *p, const EventKernelCode *e);
// Variables in shared and local memory: name, place, size and type.
void run_save_variables(Run *r, RunKernel *k);  // kernel_variables.c
// a compressed row's bytes
void run_pack(const void *data, size_t n, Str *out);  // source_text.c

// --- types.c ---
// Types of a kernel's parameters and of a buffer's elements. Call when the process has ended.
void run_save_kernel_types(Run *r, RunKernel *k);
void run_save_buffer_type(Run *r, RunAllocation *a);
// a pointer to the allocation is in the kernel's parameter
void run_note_given(RunAllocation *a, RunKernel *k, uint32_t number, uint32_t offset);
// 0: not known. `name`: as a declaration has it
int64_t run_type_id(Run *r, SymbolTable *symbols, const char *name);
uint64_t run_type_bytes(const Run *r, int64_t id);

// --- variable_places.c ---
struct TraceReader;
// fills in addresses that recorded accesses on a GPU reveal
void run_place_variables(struct sqlite3 *db, struct TraceReader *t);

// --- launch_uses.c ---
void run_save_uses(Run *r);  // which buffers each recorded launch read and wrote

// --- outputs.c ---
void run_outputs(Run *r, RunProcess *p, const EventOutputs *e);
void run_hashes(Run *r, RunProcess *p, const EventHashes *e);
void run_hashes_missing(Run *r, RunProcess *p, const EventNoHashes *e);
void run_disturbed(Run *r, RunProcess *p, const EventDisturbed *e);
void run_dumped(Run *r, RunProcess *p, const EventDumped *e);
void run_outputs_announce(Run *r);            // before a commit: rows for what is not hashed yet
void run_outputs_end(Run *r, RunProcess *p);  // the process has ended
void run_outputs_free(RunProcess *p);

// --- file.c: one row each; nothing where no file is kept ---
typedef enum RunTable {
#define COLUMN(name, type)
#define TABLE(name, columns) TABLE_##name,
#define VIEW(name, select)
#include "run/schema.def"
  TABLE_COUNT
} RunTable;
// The columns in order: i int64_t, t const char *, x int64_t that is not known (NULL), - NULL
// without an argument, b const void * and size_t.
void run_save(Run *r, RunTable table, const char *kinds, ...);
// all recorded operations of the step are in the file
void run_commit_step(Run *r, int64_t id, int64_t recorded);
void run_uncommit_process(Run *r, int64_t process);
void run_save_stack(Run *r, RunStack *s);  // its frames, resolved or not
void run_save_site(Run *r, RunSite *s);
void run_save_allocation(Run *r, const RunAllocation *a);

// --- finish.c ---
void run_save_kernel(Run *r, const RunKernel *k);
void run_save_measure(Run *r, const RunMeasure *m);
void run_save_finding(Run *r, const RunFinding *f);
void run_save_progress(Run *r);    // with each commit
void run_file_trace_ends(Run *r);  // file.c: saves the last recorded operations
bool run_file_close(RunFile *f, Error *err);

// --- reserve.c: room on the disk for the end of the file ---
int run_reserve_take(const char *path, bool large);  // -1: none
void run_reserve_give(int *fd);

// --- schema.c ---
extern const char *const run_views[];  // statements that make them
extern const unsigned run_nviews;
extern const char *const run_indexes[];
extern const unsigned run_nindexes;
void run_create_statement(RunTable t, Str *out);
void run_insert_statement(RunTable t, Str *out);
unsigned run_column_count(RunTable t);

#endif
