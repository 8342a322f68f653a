// warpgrind report: the report of a run file, as it was printed at the end of the run.
#include "cli/cli.h"

#include "report/report.h"

static const OptionId taken[] = {
    OPT_JSON,  OPT_SARIF, OPT_JUNIT,  OPT_SUPPRESSIONS, OPT_GEN_SUPPRESSIONS,
    OPT_COLOR, OPT_QUIET, OPT_VERBOSE};

static bool is_option(const char *arg, const OptionInfo *info, const char **value) {
  size_t n = strlen(info->name);
  bool is_long = strncmp(arg, "--", 2) == 0 && strncmp(arg + 2, info->name, n) == 0;
  *value = is_long && arg[2 + n] == '=' ? arg + n + 3 : NULL;
  if (info->kind == OPTION_FLAG)
    return (is_long && !arg[2 + n]) || (info->letter && arg[1] == info->letter && !arg[2]);
  return *value != NULL;
}

// false: what is wrong is in err.
static bool parse(int argc, char **argv, Options *o, const char **path, Error *err) {
  for (int i = 1; i < argc; i++) {
    bool known = false;
    for (size_t k = 0; k < ARRAY_LEN(taken) && !known; k++) {
      const char *value;
      if (!is_option(argv[i], &options_table[taken[k]], &value)) continue;
      if (!options_set(o, taken[k], value ? value : "yes", err)) return false;
      known = true;
    }
    if (known) continue;
    if (argv[i][0] == '-' && argv[i][1])
      return error_set(err, "report: unknown option %s (warpgrind --help shows which there are).",
                       argv[i]);
    if (*path) return error_set(err, "report: one run file at a time.");
    *path = argv[i];
  }
  return *path ||
         error_set(err, "report: no run file was given. usage: warpgrind report [options] FILE");
}

// Ready for a file: nothing but the entries, on standard output.
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

int cli_report(int argc, char **argv) {
  Options o = {0};
  const char *path = NULL;
  Run run = {0};
  Error err = {{0}};
  ReportSuppressions *suppressions = NULL;
  if (!parse(argc, argv, &o, &path, &err)) return cli_fail("%s", err.text);
  if (options_given(&o, OPT_SUPPRESSIONS) &&
      !(suppressions = report_suppressions_read(options_text(&o, OPT_SUPPRESSIONS), &err)))
    return cli_fail("%s", err.text);
  if (!run_load(path, &run, &err)) return cli_fail("%s", err.text);
  if (suppressions) report_suppressions_use(suppressions, &run);
  options_open_log(&o, 0, NULL);
  cli_set_color(options_text(&o, OPT_COLOR), false);
  if (options_flag(&o, OPT_GEN_SUPPRESSIONS)) return print_entries(&run);
  print_report(&run, options_flag(&o, OPT_VERBOSE));
  for (unsigned i = 0; i < cli_nformats; i++) {
    const char *to = o.text[cli_formats[i].option];
    if (to && !cli_write_report(&run, &cli_formats[i], to, &err)) return cli_fail("%s", err.text);
  }
  return 0;
}
