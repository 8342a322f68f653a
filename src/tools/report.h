// A tool's part in the command, in addition to its table of kinds (tools/kinds.h): it reads its
// findings as they arrive and adds its own lines to reports. Each function may be NULL; those that
// get a finding are called only for findings of the tool's own kinds. A tool with such a part
// defines `const ToolReport tool_report_<name>` in src/tools/<name>/report.c.
#ifndef WG_TOOLS_REPORT_H
#define WG_TOOLS_REPORT_H

#include "run/run.h"

struct Options;

// An option of a tool requests a second run of the program, for a closer look at some kernels.
typedef struct ToolRerun {
  const char *option;  // "fp-rerun"
  const char *manner;  // what happens to those kernels: "tested at every instruction"
  bool (*asked)(const struct Options *o);
  bool (*wants)(const Run *r, const char *kernel);  // whether the kernel needs a closer look
  void (*prepare)(void);                            // sets the environment of the second run
} ToolRerun;

// `warpgrind diff` compares the tool's findings in two runs, if its option is given or both files
// are reports. src/tools/<tool>/diff.def describes the option.
typedef struct ToolDiff {
  const char *option;  // "fp"
  const char *things;  // what is compared: "floating-point exceptions"
  // for the help of diff
  const char *summary, *files;
  // Prints the differences. 0: none, 1: some, -1: err says why they cannot be compared. Each file
  // is a run file or a JSON report.
  int (*compare)(const char *path_a, const char *path_b, Error *err);
} ToolDiff;

typedef struct ToolReport {
  // --- the run of a program, whether or not --tool names the tool ---
  // The options request something other than a check: no tool runs unless --tool is given.
  bool (*replaces_checks)(const struct Options *o);
  bool (*check_options)(struct Options *o, Error *err);  // whether they agree; may change others
  uint64_t (*ring_bytes)(
      const struct Options *o);  // of rings that kernels write to; 0: it has none
  // before the channel is started
  bool (*start)(const struct Options *o, ChannelReader *reader, Run *r, Error *err);
  void (*look)(Run *r);  // called now and then, on the thread that receives
  // The program asks whether the tool wants a buffer; name: in the program's source, NULL: none.
  bool (*chooses_buffer)(const struct Options *o, const char *name);
  void (*finished)(const Run *r, const struct Options *o);  // the run file is complete
  void (*end)(Run *r);

  // --- findings as they arrive ---
  // Sets the fields that the tool packs into the device's record in its own way: origin, source,
  // size, has_address. false: the address is not one of global memory.
  bool (*receive)(const RunProcess *p, const WgFinding *record, RunFinding *f);
  // A site that sends no records, only counts: the kind of its finding; NULL: it is no such site.
  const Kind *(*counted)(const RunSite *s);
  // Decides about findings of a process that has ended (WAITS_FOR_END): clears reported[i] of those
  // that are not reported.
  void (*settle)(Run *r, RunFinding *const *f, bool *reported, uint32_t n);

  // --- the report of one finding; texts may have marks (report/report.h) ---
  const char *(*title)(const RunFinding *f);  // NULL: the kind's
  // the text after the title: ": 1 / 0 = inf (f32)"; false: the report prints size and memory of
  // the access there
  bool (*detail)(const RunFinding *f, Str *out);
  // f->thread has found it, and is not one of the threads at its place
  bool (*found_by)(const RunFinding *f);
  void (*describe)(Run *r, const RunFinding *f, Str *out);  // lines of its own
  // "byte 3, row 0, … of a surface": where it is, if that is not an address; false: it has one
  bool (*where)(const RunFinding *f, Str *out);
  // " is in tile, …": follows an address in no allocation; false: nothing is known about it
  bool (*locate)(Run *r, const RunFinding *f, Str *out);
  void (*json)(Run *r, const RunFinding *f, Str *out);  // keys of its own

  // --- the report of the run ---
  bool library_calls;  // it looks at calls of CUDA's mathematical libraries
  bool patches;        // … at machine code by patches (Tool.patches)
  void (*results)(Run *r, bool all, Str *out);  // its measurements
  void (*json_results)(Run *r, Str *out);       // … as keys of the whole report
  // Whether the measurements exceed a limit of the user: then the exit code is that of an error.
  // Adds lines that say so.
  bool (*over_limits)(Run *r, const struct Options *o, Str *out);
  void (*verdicts)(Run *r, Str *out);  // conclusions from its findings
  const ToolRerun *rerun;

  // Measures the GPU of this machine through its driver library, and saves the result. -1: err
  int (*calibrate)(const char *driver, Error *err);

  // --- two runs ---
  // Prints the differences between its results. 0: none, 1: some, -1: err says why not
  int (*compare_results)(const char *path_a, const char *path_b, Error *err);
  const ToolDiff *diff;
} ToolReport;

const ToolReport *tool_report(const Kind *k);  // never NULL
bool tool_sees_library_calls(const char *name, size_t len);
bool tool_patches(const char *name, size_t len);
const ToolReport *tool_report_at(unsigned number);           // from 0 on; NULL: there are no more
bool tool_report_named(unsigned number, const char *tools);  // it is in this list, as for --tool
const ToolRerun *tool_rerun(const struct Options *o);        // requested by the options; NULL: none

#endif
