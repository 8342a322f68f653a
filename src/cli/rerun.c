// A second run of the program, in which a tool looks closer at kernels that have findings without
// an explanation. Its findings join the report; coverage, exit code and output are the first run's.
#define _GNU_SOURCE

#include "cli/rerun.h"

#include "tools/report.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool cli_rerun_check(const Options *o, Error *err) {
  const ToolRerun *tool = tool_rerun(o);
  if (tool && lseek(0, 0, SEEK_CUR) < 0 && errno == ESPIPE && !isatty(0))
    return error_set(err,
                     "--%s: standard input is a pipe or a socket, which cannot be read "
                     "a second time. Give the program a file (< FILE) or < /dev/null.",
                     tool->option);
  return true;
}

void cli_rerun_remember(CliRerun *a, const Options *o) {
  *a = (CliRerun){.tool = tool_rerun(o), .input = lseek(0, 0, SEEK_CUR), .output = -1};
}

// ^(name|name)$ for --kernel. Linked names have only letters, digits, _ and $, except lambdas and
// the like.
static void add_name(Str *list, const char *name) {
  str_add(list, list->len ? "|" : "^(");
  for (; *name; name++) {
    if (strchr("$.^*+?()[]{}|\\", *name)) str_addc(list, '\\');
    str_addc(list, *name);
  }
}

static uint32_t find_kernels(const ToolRerun *tool, Run *r, Str *list, Str *readable) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    const RunKernel *k = r->kernels.data[i];
    bool seen = false;
    for (uint32_t j = 0; j < i; j++) seen |= !strcmp(r->kernels.data[j]->name, k->name);
    if (seen || !tool->wants(r, k->name)) continue;
    add_name(list, k->name);
    str_printf(readable, "%s%s", n++ ? ", " : "", k->readable);
  }
  if (n) str_add(list, ")$");
  return n;
}

bool cli_rerun_begin(CliRerun *a, Run *r, RunStats *stats) {
  Str list = {0}, readable = {0};
  bool wanted = a->tool && find_kernels(a->tool, r, &list, &readable);
  if (wanted && a->input >= 0 && lseek(0, a->input, SEEK_SET) < 0) {
    log_error("--%s: standard input cannot be read again: %s", a->tool->option, strerror(errno));
    wanted = false;
  }
  if (wanted) {
    log_line("--%s: the program runs a second time, without its standard output; %s: %s",
             a->tool->option, a->tool->manner, readable.data);
    a->tool->prepare();
    setenv("WARPGRIND_KERNEL", list.data, 1);
    a->launches = stats->launches;
    a->kernels = stats->kernels;
    a->library_calls = stats->library_calls;
    a->checked_library_calls = stats->checked_library_calls;
    a->repeated = stats->repeated_launches;
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

void cli_rerun_started(CliRerun *a) {
  if (a->output < 0) return;
  dup2(a->output, 1);
  close(a->output);
  a->output = -1;
}

void cli_rerun_end(CliRerun *a, Run *r, RunStats *stats, bool ran) {
  if (!ran) log_error("--%s: the program could not be started a second time", a->tool->option);
  stats->launches = a->launches;
  stats->kernels = a->kernels;
  stats->library_calls = a->library_calls;
  stats->checked_library_calls = a->checked_library_calls;
  stats->repeated_launches = a->repeated;
  r->checked_launches = a->checked;
  for (uint32_t i = a->nkernels; i < r->kernels.len; i++) {
    RunKernel *k = r->kernels.data[i];
    k->retested = k->checked;
    k->launches = k->checked = 0;
  }
}
