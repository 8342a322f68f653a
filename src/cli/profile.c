// warpgrind profile: a run with the tool of that name; or two run files of such runs side by side;
// or the GPU measured.
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <unistd.h>

#include "gpu/find.h"
#include "tools/report.h"

static bool has(const CliArguments *a, const char *option) {
  for (uint32_t i = 0; i < a->run_options.len; i++)
    if (!strncmp(a->run_options.data[i], option, strlen(option))) return true;
  return false;
}

// A second run of the program reads its standard input again.
static bool can_run_twice(void) { return lseek(0, 0, SEEK_CUR) >= 0 || isatty(0); }

static const ToolReport *measuring_tool(void) {
  unsigned i = 0;
  while (tool_report_at(i) && !tool_report_at(i)->compare_results) i++;
  return tool_report_at(i);
}

static int compare(const CliArguments *a) {
  Error err = {{0}};
  if (a->words.len != 2) return cli_misuse(a->subcommand, "--diff needs two run files");
  int code = measuring_tool()->compare_results(a->words.data[0], a->words.data[1], &err);
  return code < 0 ? cli_fail("%s", err.text) : code;
}

static int calibrate(const CliArguments *a) {
  Error err = {{0}};
  if (a->words.len) return cli_misuse(a->subcommand, "--calibrate needs no program");
  Str driver = {0};
  bool ok = gpu_find_driver(&driver, &err) && measuring_tool()->calibrate(driver.data, &err) == 0;
  str_free(&driver);
  return ok ? 0 : cli_fail("%s", err.text);
}

int cli_profile(const CliArguments *a) {
  VEC(char *) args = {0};
  if (cli_value(a, CLI_PROFILE_CALIBRATE)) return calibrate(a);
  if (cli_value(a, CLI_PROFILE_DIFF)) return compare(a);
  if (!a->words.len) return cli_misuse(a->subcommand, "program is missing");
  vec_push(&args, "warpgrind");
  if (!has(a, "--tool=")) vec_push(&args, "--tool=profile");
  Str again = {0};
  str_printf(&again, "--%s", measuring_tool()->rerun->option);
  if (!cli_value(a, CLI_PROFILE_ONCE) && can_run_twice()) vec_push(&args, again.data);
  for (uint32_t i = 0; i < a->run_options.len; i++) vec_push(&args, a->run_options.data[i]);
  vec_push(&args, "--");
  for (uint32_t i = 0; i < a->words.len; i++) vec_push(&args, (char *)a->words.data[i]);
  vec_push(&args, NULL);
  execv("/proc/self/exe", args.data);
  return cli_fail("cannot start: %s", strerror(errno));
}
