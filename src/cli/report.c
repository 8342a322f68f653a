// warpgrind report: the report of a run file, as it was printed at the end of the run.
#include "cli/cli.h"

#include "report/report.h"

// Options with the same meaning as for a run.
static const struct {
  CliOptionId given;
  OptionId option;
} run_options[] = {
    {CLI_REPORT_JSON, OPT_JSON},
    {CLI_REPORT_SARIF, OPT_SARIF},
    {CLI_REPORT_JUNIT, OPT_JUNIT},
    {CLI_REPORT_SUPPRESSIONS, OPT_SUPPRESSIONS},
    {CLI_REPORT_GEN_SUPPRESSIONS, OPT_GEN_SUPPRESSIONS},
    {CLI_REPORT_COLOR, OPT_COLOR},
    {CLI_REPORT_QUIET, OPT_QUIET},
    {CLI_REPORT_VERBOSE, OPT_VERBOSE},
};

static bool set_options(const CliArguments *a, Options *o, Error *err) {
  for (uint32_t i = 0; i < a->given.len; i++)
    for (size_t k = 0; k < ARRAY_LEN(run_options); k++)
      if (a->given.data[i].id == run_options[k].given &&
          !options_set(o, run_options[k].option, a->given.data[i].value, err))
        return false;
  return true;
}

// Prints only the suppression entries to standard output, ready for a file.
static int print_entries(Run *r) {
  for (uint32_t i = 0; i < r->findings.len; i++) {
    if (r->findings.data[i]->suppressed) continue;
    Str text = {0};
    report_suppression_entry(r, r->findings.data[i], &text);
    fputs(text.data, stdout);
    str_free(&text);
  }
  return 0;
}

static void print_report(Run *r, bool verbose) {
  for (uint32_t i = 0; i < r->findings.len; i++) {
    if (r->findings.data[i]->suppressed) continue;
    Str text = {0};
    report_finding(r, r->findings.data[i], &text);
    cli_print_lines(&text, r->findings.data[i]->process->pid, true);
    str_free(&text);
  }
  log_set_pid(r->main_pid);
  for (uint32_t i = 0; i < r->notes.len; i++)
    if (verbose || r->notes.data[i].severity >= SEVERITY_WARNING)
      log_line("%s", r->notes.data[i].text);
  cli_print_summary(r, verbose);
}

int cli_report(const CliArguments *a) {
  Options o = {0};
  const char *path = a->words.data[0];
  Run run = {0};
  Error err = {{0}};
  ReportSuppressions *suppressions = NULL;
  if (!set_options(a, &o, &err)) return cli_misuse(a->subcommand, "%s", err.text);
  if (options_given(&o, OPT_SUPPRESSIONS) &&
      !(suppressions = report_suppressions_read(options_text(&o, OPT_SUPPRESSIONS), &err)))
    return cli_fail("%s", err.text);
  if (!run_load(path, &run, &err)) return cli_fail("%s", err.text);
  if (suppressions) report_suppressions_use(suppressions, &run);
  options_open_log(&o, 0, NULL);
  cli_set_color(options_text(&o, OPT_COLOR), false);
  if (options_flag(&o, OPT_GEN_SUPPRESSIONS)) return print_entries(&run);
  print_report(&run, options_flag(&o, OPT_VERBOSE));
  if (run_is_recorded(path)) cli_name_viewer(path);
  for (unsigned i = 0; i < cli_nformats; i++) {
    const char *to = o.text[cli_formats[i].option];
    if (to && !cli_write_report(&run, &cli_formats[i], to, &err)) return cli_fail("%s", err.text);
  }
  return 0;
}
