// "Record this launch in full": warpgrind expand, run by the server for the page. The run file and
// the program are the server's own; the page gives a number only.
#include "view/server.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID_MOST = 4000 };

// Returns whether it succeeded; *said: its output.
static bool run_expand(const char *path, const char *launch, const char *out, Str *said) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  pid_t child = fork();
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);  // the server has blocked those that end it
    dup2(ends[1], STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", "warpgrind", "expand", path, launch, "-o", out, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  char piece[512];
  for (ssize_t n; child > 0 && (n = read(ends[0], piece, sizeof piece)) > 0;)
    if (said->len < SAID_MOST) str_addn(said, piece, (size_t)n);
  close(ends[0]);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 99) && access(out, R_OK) == 0;
}

char *view_expand(const char *path, uint64_t launch, ViewAnswer *a) {
  Str option = {0}, out = {0}, said = {0};
  size_t n = strlen(path);
  if (n > 3 && !strcmp(path + n - 3, ".wg")) n -= 3;
  str_printf(&option, "--launch=%llu", (unsigned long long)launch);
  str_printf(&out, "%.*s-launch%llu.wg", (int)n, path, (unsigned long long)launch);
  bool ok = access(out.data, R_OK) == 0 || run_expand(path, option.data, out.data, &said);
  *a = (ViewAnswer){.status = 200, .type = "application/json"};
  if (ok) {
    str_add(&a->body, "{");
    json_text(&a->body, "file", out.data);
    str_add(&a->body, "}");
  } else view_fail(a, 500, said.len ? said.data : "warpgrind expand could not be started");
  str_free(&option);
  str_free(&said);
  if (ok) return out.data;
  str_free(&out);
  return NULL;
}
