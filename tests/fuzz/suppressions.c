// Fuzz target: suppression files. What is read must fit, or not fit, a finding; what is refused
// must say where.
// seeds: tests/fuzz/seeds/suppressions/*
#include "report/internal.h"
#include "tools/memcheck/kinds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static RunProcess process = {.pid = 1, .program = "/bin/program"};
  static RunKernel kernel = {
      .process = &process, .name = "_Z1kPi", .readable = "void k<int>(int*)"};
  static RunPlace places[] = {{"inner.h", "get", 3, 1}, {"folder/outer.cu", "k", 30, 1}};
  static RunSite site = {.function = "_Z1kPi", .places = places, .nplaces = 2};
  static RunFrame frames[] = {
      {.function = "launch", .file = "a.cu", .line = 7, .object = "program"},
      {.function = "step(int)", .object = "lib.so"},
      {.function = "main"}};
  static RunStack stack = {.frames = frames, .nframes = 3, .resolved = true};
  static RunLaunch launch = {.number = 1, .stack = &stack};
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = 0;
  ReportSuppressions *s = mem_alloc(sizeof *s);
  Error err = {{0}};
  if (report_suppress_parse(s, "file", text, &err)) {
    Run run = {.tools = "count", .device = "cpu", .program = "p"};
    RunFinding f = {.process = &process,
                    .kind = kind_numbered(KIND_OOB_WRITE),
                    .kernel = &kernel,
                    .site = &site,
                    .launch = &launch,
                    .launch_number = 1,
                    .count = 1};
    Str entry = {0}, summary = {0};
    vec_push(&run.findings, &f);
    report_suppressions_use(s, &run);
    report_suppressed(&run, true, &summary);
    CHECK(s->entries.len == run.suppressions.len && !f.suppressed + !!f.suppressed == 1);
    // The entry made for a finding fits it.
    report_suppression_entry(&run, &f, &entry);
    ReportSuppressions *own = mem_alloc(sizeof *own);
    f.suppressed = NULL;
    CHECK(report_suppress_parse(own, "own", entry.data, &err));
    report_suppressions_use(own, &run);
    CHECK(f.suppressed);
    report_suppressions_free(own);
    str_free(&entry);
    str_free(&summary);
    run_free(&run);
  } else CHECK(strncmp(err.text, "file:", 5) == 0);
  report_suppressions_free(s);
  free(text);
  return 0;
}
