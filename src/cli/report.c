// warpgrind report: the report of a run file, as it was printed at the end of the run.
#include "cli/cli.h"

#include "report/report.h"

int cli_report(int argc, char **argv) {
  const char *path = NULL, *json = NULL;
  bool verbose = false;
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "--json=", 7) == 0) json = argv[i] + 7;
    else if (strcmp(argv[i], "-v") == 0) verbose = true;
    else if (argv[i][0] == '-' && argv[i][1]) return cli_fail("report: unknown option %s (there are --json=FILE and -v).", argv[i]);
    else if (path) return cli_fail("report: one run file at a time.");
    else path = argv[i];
  }
  if (!path) return cli_fail("usage: warpgrind report [--json=FILE] [-v] FILE");
  Run run = {0};
  Error err = {{0}};
  if (!run_load(path, &run, &err)) return cli_fail("%s", err.text);
  for (uint32_t i = 0; i < run.findings.len; i++) {
    Str text = {0};
    report_finding(&run, run.findings.data[i], &text);
    cli_print_lines(&text, run.findings.data[i]->process->pid, true);
    str_free(&text);
  }
  log_set_pid(run.main_pid);
  for (uint32_t i = 0; i < run.notes.len; i++)
    if (verbose || run.notes.data[i].severity >= SEVERITY_WARNING) log_line("%s", run.notes.data[i].text);
  cli_print_summary(&run, verbose);
  if (!json) return 0;
  return cli_write_json(&run, json, &err) ? 0 : cli_fail("%s", err.text);
}
