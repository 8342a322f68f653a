// What a tool does inside the command, beside its table of kinds (tools/kinds.h): it reads its
// findings as they arrive and adds its own lines to reports. Each function may be NULL; those that
// get a finding are called for findings of the tool's own kinds only. A tool that has something to
// do there defines `const ToolReport tool_report_<name>` in src/tools/<name>/report.c.
#ifndef WG_TOOLS_REPORT_H
#define WG_TOOLS_REPORT_H

#include "run/run.h"

struct Options;

// An option of a tool asks for a second run of the program, for a closer look at some kernels.
typedef struct ToolRerun {
  const char *option;  // "fp-rerun"
  const char *manner;  // what happens to those kernels: "tested at every instruction"
  bool (*asked)(const struct Options *o);
  bool (*wants)(const Run *r, const char *kernel);  // a closer look at it
  void (*prepare)(void);                            // the environment of the second run
} ToolRerun;

// `warpgrind diff` compares what the tool found in two runs, where its option is given, or both
// files are reports. src/tools/<tool>/diff.def describes the option.
typedef struct ToolDiff {
  const char *option;  // "fp"
  const char *things;  // what is compared: "floating-point exceptions"
  // what the help of diff says of it
  const char *summary, *files;
  // Prints what differs: 0: nothing, 1: something, -1: err says why they cannot be compared. Each
  // file is a run file or a JSON report.
  int (*compare)(const char *path_a, const char *path_b, Error *err);
} ToolDiff;

typedef struct ToolReport {
  // --- the run of a program, whether or not --tool names the tool ---
  // The options ask for something else than a check: no tool runs unless --tool is given.
  bool (*replaces_checks)(const struct Options *o);
  bool (*check_options)(struct Options *o, Error *err);  // they agree. May change others
  uint64_t (*ring_bytes)(
      const struct Options *o);  // of rings that kernels write to; 0: it has none
  // before the channel is started
  bool (*start)(const struct Options *o, ChannelReader *reader, Run *r, Error *err);
  void (*look)(Run *r);  // now and then, on the thread that receives
  // The program asks whether the tool wants the buffer that its source calls so; NULL: it has no
  // name.
  bool (*chooses_buffer)(const struct Options *o, const char *name);
  void (*finished)(const Run *r, const struct Options *o);  // the run file is complete
  void (*end)(Run *r);

  // --- findings as they arrive ---
  // Sets what the tool packs into the device's record in its own way: origin, source, size,
  // has_address. false: the address is not one of global memory.
  bool (*receive)(const RunProcess *p, const WgFinding *record, RunFinding *f);
  // A site that sends no records, only counts: the kind of its finding; NULL: it is no such site.
  const Kind *(*counted)(const RunSite *s);
  // Decides about findings of a process that has ended (WAITS_FOR_END): clears reported[i] of
  // those that are none.
  void (*settle)(Run *r, RunFinding *const *f, bool *reported, uint32_t n);

  // --- the report of one finding; texts may have marks (report/report.h) ---
  const char *(*title)(const RunFinding *f);  // NULL: the kind's
  // the text after the title: ": 1 / 0 = inf (f32)"; false: the report prints size and memory of
  // the access there
  bool (*detail)(const RunFinding *f, Str *out);
  // f->thread has found it and is not one of those that stand at its place
  bool (*found_by)(const RunFinding *f);
  void (*describe)(Run *r, const RunFinding *f, Str *out);  // lines of its own
  // "byte 3, row 0, … of a surface": where it is, if that is not an address; false: it has one
  bool (*where)(const RunFinding *f, Str *out);
  // " is in tile, …", behind an address in no allocation; false: nothing is known of it
  bool (*locate)(Run *r, const RunFinding *f, Str *out);
  void (*json)(Run *r, const RunFinding *f, Str *out);  // keys of its own

  // --- the report of the run ---
  bool library_calls;  // it looks at calls of CUDA's mathematical libraries
  void (*results)(Run *r, bool all, Str *out);  // what it measured
  void (*json_results)(Run *r, Str *out);       // … as keys of the whole report
  // A limit that the user has set for what it measured is passed: the exit code is that of an
  // error. Adds lines that say so.
  bool (*over_limits)(Run *r, const struct Options *o, Str *out);
  void (*verdicts)(Run *r, Str *out);  // what its findings amount to
  const ToolRerun *rerun;

  // Measures the GPU at hand, through the library of its driver, and keeps that for later. -1: err
  int (*calibrate)(const char *driver, Error *err);

  // --- two runs ---
  // Prints in what its results differ: 0: nothing, 1: something, -1: err says why not
  int (*compare_results)(const char *path_a, const char *path_b, Error *err);
  const ToolDiff *diff;
} ToolReport;

const ToolReport *tool_report(const Kind *k);  // never NULL
bool tool_sees_library_calls(const char *name, size_t len);
const ToolReport *tool_report_at(unsigned number);           // from 0 on; NULL: there are no more
bool tool_report_named(unsigned number, const char *tools);  // it is in this list, as of --tool
const ToolRerun *tool_rerun(const struct Options *o);        // that the options ask for; NULL: none

#endif
