// The summary at the end of a run and of `warpgrind report`, and reports in other formats.
#include "cli/cli.h"

#include "report/report.h"

#include <unistd.h>

const CliFormat cli_formats[] = {
    {OPT_JSON, report_json}, {OPT_SARIF, report_sarif}, {OPT_JUNIT, report_junit}};
const unsigned cli_nformats = ARRAY_LEN(cli_formats);

static bool colour;

void cli_set_color(const char *when, bool to_file) {
  const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
  bool fits = isatty(2) && !(off && *off) && !(term && strcmp(term, "dumb") == 0);
  colour = !to_file && (strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && fits));
}

void cli_print_lines(const Str *text, int pid, bool always) {
  if (pid) log_set_pid(pid);
  for (const char *line = text->data; line && *line;) {
    size_t n = strcspn(line, "\n");
    Str styled = {0};
    report_style(line, n, colour, &styled);
    if (always) log_error("%s", styled.data ? styled.data : "");
    else log_line("%s", styled.data ? styled.data : "");
    str_free(&styled);
    line += n + (line[n] == '\n');
  }
}

static void print(Str *text, bool always) {
  cli_print_lines(text, 0, always);
  str_free(text);
}

void cli_print_summary(Run *r, bool verbose) {
  Str counts = {0}, others = {0}, repeats = {0}, coverage = {0}, last = {0};
  log_set_pid(r->main_pid);
  report_results(r, true, verbose, &counts);
  print(&counts, true);  // the user asked for them
  report_results(r, false, verbose, &others);
  print(&others, false);
  log_line(" ");
  if (r->end) log_line("%s: %s", r->program, r->end);
  report_repeats(r, &repeats);
  print(&repeats, false);
  report_coverage(r, verbose, &coverage);
  print(&coverage, false);
  if (r->failure)  // the whole text was printed where it happened
    log_error("Warpgrind could not do its work: %.*s", (int)strcspn(r->failure, "\n"), r->failure);
  report_summary(r, verbose, &last);
  print(&last, false);
}

void cli_name_viewer(const char *path) { log_line("to look at it: warpgrind view %s", path); }

bool cli_write_report(Run *r, const CliFormat *f, const char *path, Error *err) {
  Str s = {0};
  if (!cli_may_overwrite(path, NULL, err)) return false;
  f->write(r, &s);
  bool ok = file_write(path, s.data, s.len, err);
  str_free(&s);
  return ok;
}
