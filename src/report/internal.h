// Inside report/.
#ifndef WG_REPORT_INTERNAL_H
#define WG_REPORT_INTERNAL_H

#include "base/json.h"
#include "report/report.h"

// --- stack.c: what of a stack is worth showing ---
// Without what nvcc puts between a launch in the source and the call of the runtime, and without
// what starts main.
const RunFrame *report_stack(Run *r, RunStack *s, uint32_t *n);  // s NULL: none
// of the launch, or of the call that was wrong; NULL: none
RunStack *report_host_stack(const RunFinding *f);

// --- text.c ---
// what and where, in one line and without addresses; may have marks
void report_sentence(Run *r, const RunFinding *f, Str *out);
// the address in terms of f->allocation, which is there
void report_where(const RunFinding *f, bool addresses, Str *out);

// it is about a variable in shared, local, constant or parameter memory
bool report_has_object(const RunFinding *f);
void report_object(Run *r, const RunFinding *f, Str *out);  // where in that variable

// --- place.c: places of device code ---
// The place to name where there is room for one: the innermost that is not in a header of the
// toolkit. s has places.
uint32_t report_main_place(const RunSite *s);
// for people: relative to the current folder where it lies below; NULL: "?"
const char *report_path(const char *file);

// --- uninit.c: findings of initcheck ---
// a line: who stored what was read; nothing where that is not known
void report_fp_origin(Run *r, const RunFinding *f, Str *out);
void report_fp_origin_json(Run *r, const RunFinding *f, Str *out);  // ,"origin":{…}
// ": a branch depends on it"; false: it is none
bool report_uninit_finding(const RunFinding *f, Str *out);
// a line: where the value was read; nothing where that is not known
void report_uninit_origin(Run *r, const RunFinding *f, Str *out);
bool report_uninit_json(Run *r, const RunFinding *f, Str *out);  // ,"depends":…,"origin":{…}

// --- race.c: findings of racecheck ---
bool report_race_finding(const RunFinding *f, Str *out);
// lines: the other access, and what is missing
void report_race_other(Run *r, const RunFinding *f, Str *out);
// the one in shared memory; NULL: not known
const char *report_race_variable(Run *r, const RunFinding *f);
// ,"access":…,"missing":…,"other":{…}
bool report_race_json(Run *r, const RunFinding *f, Str *out);

// --- tools/synccheck/probe.c: findings of synccheck ---
const char *report_sync_headline(const RunFinding *f);    // the kind's own words for all others
bool report_sync_finding(const RunFinding *f, Str *out);  // what is wrong; false: it is none
void report_sync_advice(const RunFinding *f, Str *out);   // a line: what that means
// its thread is none of those that stand at its place
bool report_sync_found_by(const RunFinding *f);

// --- names.c ---
// of a variable, or what the program calls its pointer; NULL: not known, or no allocation
const char *report_buffer_name(const RunAllocation *a);

// of the variable an instruction accesses; NULL: it has none of the program's
const char *report_object_name(Run *r, const RunSite *s);

// --- suppress_parse.c: entries of suppression files; docs/suppressions.md ---
// ANY: "...", any number of frames
typedef enum { FRAME_FUNCTION, FRAME_OBJECT, FRAME_SOURCE, FRAME_ANY } FrameKind;
// line 0: any
typedef struct FramePattern {
  FrameKind kind;
  const char *glob;
  uint32_t line;
} FramePattern;
typedef struct SuppressEntry {
  const char *name, *path;
  uint32_t line;                                                 // where it was read
  const char *kind, *kernel, *file, *function, *text, *program;  // NULL: any
  uint32_t first_line, last_line;                                // 0: any
  VEC(FramePattern) stack, allocated;
} SuppressEntry;
struct ReportSuppressions {
  Arena arena;
  VEC(SuppressEntry *) entries;
};
// * and ? stand for anything and one character, \ for itself
bool report_glob(const char *pattern, size_t n, const char *text);
bool report_suppress_parse(ReportSuppressions *s, const char *path, const char *text, Error *err);

#endif
