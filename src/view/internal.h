// Inside view/. A request goes to a function of an endpoint (endpoints.def), which uses a desk: the
// run file, open for one query at a time.
#ifndef WG_VIEW_INTERNAL_H
#define WG_VIEW_INTERNAL_H

#include "base/json.h"
#include "run/run.h"
#include "store/store.h"
#include "trace/trace.h"
#include "view/view.h"

// --- request.c: the question and its parameters, checked ---
enum { VIEW_PARAMETERS = 16, VIEW_VALUE_MAX = 512, VIEW_VALUES_MAX = 8192 };
typedef struct ViewRequest {
  const char *path;  // "/api/thread"
  struct {
    const char *name, *value;
  } parameters[VIEW_PARAMETERS];
  unsigned nparameters;
  Error error;  // the first thing that is wrong with a parameter; "" means none
} ViewRequest;
const char *view_text(const ViewRequest *q, const char *name);  // NULL: not given
bool view_given(const ViewRequest *q, const char *name);
// must be given; at most `most`
uint64_t view_number(ViewRequest *q, const char *name, uint64_t most);
uint64_t view_number_or(ViewRequest *q, const char *name, uint64_t otherwise, uint64_t most);
uint64_t view_address(ViewRequest *q, const char *name);  // 0x…

typedef struct ViewAnswer {
  unsigned status;
  const char *type;
  Str body;
} ViewAnswer;
void view_fail(ViewAnswer *a, unsigned status, const char *text);  // {"error":text}

// --- desk.c: the file, open ---
typedef struct ViewAllocation {
  uint32_t id, process;
  uint64_t base, size;
  char *name, *kind;
  bool freed;
  bool own;  // the compiler's or Warpgrind's, not the program's: texts of printf, saved states
} ViewAllocation;
typedef struct ViewDesk {
  Store *store;
  sqlite3 *db;  // the store's
  const char *path;
  TraceReader *trace;  // NULL: no_trace says why
  Error no_trace;
  bool live;                        // it is being written
  bool without_facts;               // answers only about operations; see static.c
  VEC(ViewAllocation) allocations;  // by process, base, id
  uint64_t largest;                 // allocation
  U64Map sites;                     // JSON of each that was asked for
  // by id of the launch; desk.c reads them once: the tables have no index
  U64Map step_of_launch, findings_of_launch;
  bool launches_read;
  // by id of the allocation: JSON of its elements' type, the parameter it was passed as; types.c
  U64Map types, given;
  U64Map allocation_of_id;  // index plus 1
  bool types_read;
  const ViewSources *sources;  // which may be shown; NULL: only those with a proof
  VEC(char *) files;           // of the sites' places; see source.c
  bool files_read;
  // the last answer
  struct {
    uint32_t launch, step, process;
    bool known;
  } process_of;
  Run *run;  // loaded when a finding's text is asked for
  char *run_error;
} ViewDesk;
ViewDesk *view_desk_open(const char *path, Error *err);
void view_desk_begin(ViewDesk *d);  // a question: its time limit starts now
// on standard error: the end of the run, where the file lacks it
void view_say_what_is_missing(const ViewDesk *d);
void view_desk_close(ViewDesk *d);
bool view_is_being_written(ViewDesk *d);  // by a program that still runs
const ViewAllocation *view_allocation(const ViewDesk *d, uint32_t id);
uint64_t view_step_of_launch(ViewDesk *d, uint32_t launch);  // id; 0: none
uint64_t view_findings_of_launch(ViewDesk *d, uint32_t launch);
// The allocation that contained an address when the event with id `before` happened: ids grow with
// time.
const ViewAllocation *view_allocation_at(const ViewDesk *d, uint32_t process, uint64_t address,
                                         uint64_t before);

// Rows of a statement: for (ViewRows r = view_rows(d, sql, kinds, …); view_next(&r);). kinds: i
// int64_t, t const char *
typedef struct ViewRows {
  ViewDesk *desk;
  sqlite3_stmt *statement;
  bool failed;
  Error error;
} ViewRows;
ViewRows view_rows(ViewDesk *d, const char *sql, const char *kinds, ...);
bool view_next(ViewRows *r);  // false: the end, or failed; the statement is finished
uint64_t view_column(ViewRows *r, int i);
const char *view_column_text(ViewRows *r, int i);  // NULL: none
// after the end; false: the answer says what went wrong
bool view_rows_ok(ViewRows *r, ViewAnswer *a);
void view_rows_end(ViewRows *r);  // before it
// the first column of the first row; 0: none
uint64_t view_one(ViewDesk *d, const char *sql, const char *kinds, ...);

// the kind of a step as the page calls it: a variable's initial value is a copy in the file
#define STEP_KIND "CASE WHEN call LIKE 'initial value%' THEN 'initial value' ELSE kind END"

// --- facts.c: describes the launches, sites and allocations of operations, each once ---
typedef struct ViewFacts {
  U64Map sites, launches, allocations, steps;
} ViewFacts;
void view_facts_op(ViewDesk *d, ViewFacts *f, const TraceOp *op, uint32_t allocation);
// ,"sites":{…},"launches":{…},"allocations":{…}
void view_facts_write(ViewDesk *d, ViewFacts *f, Str *out);
void view_facts_free(ViewFacts *f);
void view_launch_json(ViewDesk *d, uint32_t id, Str *out);
void view_allocation_json(ViewDesk *d, const ViewAllocation *a, Str *out);
// [[function, file, line, inlined], …]
void view_stack_json(ViewDesk *d, uint64_t stack, Str *out);

// --- types.c: the program's names for the types of elements ---
// The type of parameter number `index` (from 0) of "bsmerge(int*, int const*, int, int)", without
// the pointer. false: not known.
bool view_parameter_type(const char *readable, unsigned index, char *out, size_t size);
// "ld.global.v4.f32 …": "f32", 4
void view_instruction_type(const char *text, char *type, size_t size, unsigned *vector);
// The type of a buffer's elements: "type":"float", "type_id" of the types, "why": the source of
// this fact, "dims". NULL: not known.
const char *view_buffer_type(ViewDesk *d, uint32_t allocation);
// the name of the parameter that first passed the buffer to a kernel; NULL: not known
const char *view_buffer_given(ViewDesk *d, uint32_t allocation);

// --- code.c ---
// A text that a row has compressed: columns of its length and its bytes. false: damaged
bool view_unpack(ViewRows *r, int bytes, int data, Str *out);

// --- source.c ---
int view_file_number(ViewDesk *d, const char *file);       // -1: not one of the places'
const char *view_file_name(ViewDesk *d, uint32_t number);  // NULL: there is no such number
// view_source_read: the text of a source that may be shown, and its path; false: err says why it
// may not.
bool view_load_run(ViewDesk *d);  // d->run; false: d->run_error says why not
bool view_source_read(ViewDesk *d, const char *file, Str *text, Str *real, Error *err);

// --- answer.c, endpoints.def ---
#define ENDPOINT(name, parameters, what) \
  void view_answer_##name(ViewDesk *d, ViewRequest *q, ViewAnswer *a);
#include "view/endpoints.def"
#undef ENDPOINT
bool view_is_endpoint(const char *path);
void view_answer(ViewDesk *d, ViewRequest *q, ViewAnswer *a);

// --- page.c: the files of the page ---
typedef struct ViewFile {
  const char *path, *type;
  const uint8_t *data;
  size_t size;
} ViewFile;
const ViewFile *view_page_file(const char *path);  // NULL: no such file
bool view_page_is_there(void);                     // false: this command was built without the page

#endif
