// Inside report/.
#ifndef WG_REPORT_INTERNAL_H
#define WG_REPORT_INTERNAL_H

#include "base/json.h"
#include "report/report.h"

// --- stack.c: the part of a host stack that reports show ---
// Leaves out the functions that nvcc adds between a launch in the source and the call of the
// runtime, and the functions that call main.
const RunFrame *report_stack(Run *r, RunStack *s, uint32_t *n);  // s NULL: none
// of the launch, or of the call that was wrong; NULL: none
RunStack *report_host_stack(const RunFinding *f);

// --- frameworks.c ---
// "PyTorch": the frame is inside of a framework; NULL: it is not
const char *report_framework(const RunFrame *f);
// "aten::log", "aten::mul in SqrtBackward0": what these frames of a framework carry out. false: not
// known
bool report_operator(const RunFrame *frames, uint32_t n, Str *out);

// --- text.c ---
// what and where, in one line and without addresses; may have marks
void report_sentence(Run *r, const RunFinding *f, Str *out);

// it is about a variable in shared, local, constant or parameter memory
bool report_has_object(const RunFinding *f);

// --- names.c ---
// of a variable, or what the program calls its pointer; NULL: not known, or no allocation
const char *report_buffer_name(const RunAllocation *a);

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
