#include "cli/cli.h"

#include <signal.h>
#include <sys/wait.h>

static void print_end(const CliOutcome *o) {
  if (WIFSIGNALED(o->status))
    log_line("%s: ended by signal %d (%s)", o->argv[0], WTERMSIG(o->status), strsignal(WTERMSIG(o->status)));
  else
    log_line("%s: exit code %d", o->argv[0], WEXITSTATUS(o->status));
}

static void print_uncovered(const RunStats *s) {
  uint32_t count = s->uncovered_count, kept = MIN(count, RUNSTATS_UNCOVERED);
  for (uint32_t i = 0; i < kept; i++) log_line("not run: %s: %s", s->uncovered[i].kernel, s->uncovered[i].reason);
  if (count > kept) log_line("not run: %u more kernels", count - kept);
}

void cli_print_summary(const CliOutcome *o) {
  const RunStats *s = o->stats;
  log_line(" ");
  print_end(o);
  log_line("device: %s; kernel launches: %llu, different kernels: %llu", o->device, (unsigned long long)s->launches,
           (unsigned long long)s->kernels);
  print_uncovered(s);
  if (s->failed == 2)                          // the whole text was printed where it happened
    log_error("Warpgrind could not do its work: %.*s", (int)strcspn(s->failure, "\n"), s->failure);
  log_line("ERROR SUMMARY: 0 errors from 0 places");
  log_line("NOTHING WAS CHECKED");
}

static void add_json_string(Str *s, const char *text) {
  str_addc(s, '"');
  for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
    if (*p == '"' || *p == '\\') str_printf(s, "\\%c", *p);
    else if (*p < 0x20) str_printf(s, "\\u%04x", *p);
    else str_addc(s, (char)*p);
  }
  str_addc(s, '"');
}

bool cli_write_json(const CliOutcome *o, const char *path, Error *err) {
  const RunStats *stats = o->stats;
  Str s = {0};
  str_add(&s, "{\"version\":1,\"program\":");
  add_json_string(&s, o->argv[0]);
  str_printf(&s, ",\"device\":\"%s\",\"tools\":[],\"coverage\":{\"launches\":%llu,\"kernels\":%llu,\"uncovered\":[", o->device,
             (unsigned long long)stats->launches, (unsigned long long)stats->kernels);
  for (uint32_t i = 0; i < MIN(stats->uncovered_count, RUNSTATS_UNCOVERED); i++) {
    str_add(&s, i ? ",{\"kernel\":" : "{\"kernel\":");
    add_json_string(&s, stats->uncovered[i].kernel);
    str_add(&s, ",\"reason\":");
    add_json_string(&s, stats->uncovered[i].reason);
    str_addc(&s, '}');
  }
  str_printf(&s, "]},\"findings\":[],\"exit_code\":%d}\n", o->exit_code);
  bool ok = file_write(path, s.data, s.len, err);
  str_free(&s);
  return ok;
}
