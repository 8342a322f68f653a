// warpgrind debug ./app: records the program, sums up what was found, and opens the page.
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MORE_ARGUMENTS = 16 };

static bool names(const CliArguments *a, const char *option) {
  for (uint32_t i = 0; i < a->run_options.len; i++)
    if (!strncmp(a->run_options.data[i], option, strlen(option))) return true;
  return false;
}

// app.wg in this folder, unless --output names another file.
static const char *output_of(const CliArguments *a, Str *name) {
  static const char option[] = "--output=";
  for (uint32_t i = 0; i < a->run_options.len; i++)
    if (!strncmp(a->run_options.data[i], option, strlen(option)))
      return a->run_options.data[i] + strlen(option);
  const char *program = a->words.data[0], *slash = strrchr(program, '/');
  str_printf(name, "%s.wg", slash ? slash + 1 : program);
  return name->data;
}

// Runs this command itself; its exit code.
static int run_self(char **argv) {
  pid_t pid = fork();
  if (pid == 0) {
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}

int cli_debug(const CliArguments *a) {
  Str name = {0}, output = {0};
  const char *path = output_of(a, &name);
  char **argv = mem_alloc(sizeof *argv * (a->run_options.len + a->words.len + MORE_ARGUMENTS));
  uint32_t n = 0;
  argv[n++] = "warpgrind";
  if (!names(a, "--record")) argv[n++] = "--record";
  str_printf(&output, "--output=%s", path);
  if (!names(a, "--output=")) argv[n++] = output.data;
  for (uint32_t i = 0; i < a->run_options.len; i++) argv[n++] = a->run_options.data[i];
  argv[n++] = "--";
  for (uint32_t i = 0; i < a->words.len; i++) argv[n++] = a->words.data[i];
  argv[n] = NULL;
  int code = run_self(argv);
  if (code == 125 && access(path, R_OK) != 0) return code;
  n = 1;
  argv[n++] = "view";
  if (cli_value(a, CLI_DEBUG_NO_BROWSER)) argv[n++] = "--no-browser";
  argv[n++] = (char *)(uintptr_t)path;
  argv[n] = NULL;
  execv("/proc/self/exe", argv);
  return cli_fail("warpgrind view cannot be started: %s.", strerror(errno));
}
