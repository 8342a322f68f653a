// --fp-rerun: a second run of the program tests every instruction of the kernels in which fast mode
// saw NaN or infinity but not their origin. Its findings join the report; coverage, exit code and
// output are the first run's.
#define _GNU_SOURCE

#include "cli/fp_rerun.h"

#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool cli_fp_rerun_check(const Options *o, Error *err) {
  if (!options_flag(o, OPT_FP_RERUN)) return true;
  if (!strstr(options_text(o, OPT_TOOL), "fpcheck"))
    return error_set(err, "--fp-rerun is for --tool=fpcheck.");
  if (lseek(0, 0, SEEK_CUR) < 0 && errno == ESPIPE && !isatty(0))
    return error_set(err, "--fp-rerun: standard input is a pipe or a socket, which cannot be read "
                          "a second time. Give the program a file (< FILE) or < /dev/null.");
  return true;
}

void cli_fp_rerun_remember(CliRerun *a) {
  *a = (CliRerun){.input = lseek(0, 0, SEEK_CUR), .output = -1};
}

// ^(name|name)$ for --kernel. Names are as linked: letters, digits, _ and $ but for lambdas and the
// like.
static void add_name(Str *list, const char *name) {
  str_add(list, list->len ? "|" : "^(");
  for (; *name; name++) {
    if (strchr("$.^*+?()[]{}|\\", *name)) str_addc(list, '\\');
    str_addc(list, *name);
  }
}

static uint32_t find_kernels(Run *r, Str *list, Str *readable) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    bool seen = false;
    for (uint32_t j = 0; j < i; j++) seen |= !strcmp(r->kernels.data[j]->name, k->name);
    if (seen || !report_unexplained(r, k->name)) continue;
    add_name(list, k->name);
    str_printf(readable, "%s%s", n++ ? ", " : "", k->readable);
  }
  if (n) str_add(list, ")$");
  return n;
}

bool cli_fp_rerun_begin(CliRerun *a, const Options *o, Run *r, RunStats *stats) {
  Str list = {0}, readable = {0};
  bool wanted = options_flag(o, OPT_FP_RERUN) && find_kernels(r, &list, &readable);
  if (wanted && a->input >= 0 && lseek(0, a->input, SEEK_SET) < 0) {
    log_error("--fp-rerun: standard input cannot be read again: %s", strerror(errno));
    wanted = false;
  }
  if (wanted) {
    log_line("--fp-rerun: the program runs a second time, without its standard output; tested at "
             "every instruction: %s",
             readable.data);
    setenv("WARPGRIND_FP_MODE", "full", 1);
    setenv("WARPGRIND_KERNEL", list.data, 1);
    a->launches = stats->launches;
    a->kernels = stats->kernels;
    a->checked = r->checked_launches;
    a->nkernels = r->kernels.len;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    fflush(stdout);
    a->output = null < 0 ? -1 : fcntl(1, F_DUPFD_CLOEXEC, 10);
    if (a->output >= 0) dup2(null, 1);
    if (null >= 0) close(null);
  }
  str_free(&list);
  str_free(&readable);
  return wanted;
}

void cli_fp_rerun_started(CliRerun *a) {
  if (a->output < 0) return;
  dup2(a->output, 1);
  close(a->output);
  a->output = -1;
}

void cli_fp_rerun_end(CliRerun *a, Run *r, RunStats *stats, bool ran) {
  if (!ran) log_error("--fp-rerun: the program could not be started a second time");
  stats->launches = a->launches;
  stats->kernels = a->kernels;
  r->checked_launches = a->checked;
  for (uint32_t i = a->nkernels; i < r->kernels.len; i++) {
    RunKernel *k = r->kernels.data[i];
    k->retested = k->checked;
    k->launches = k->checked = 0;
  }
}
