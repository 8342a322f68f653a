// Runs the compiler: a process of the system, not one of the program that is checked.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// The environment as it was before `warpgrind` put its library into it.
static char **plain_environment(void) {
  VEC(char *) list = {0};
  for (char **e = environ; *e; e++) {
    bool ours = !strncmp(*e, "WARPGRIND_", 10) || !strncmp(*e, "LD_PRELOAD=", 11) ||
                !strncmp(*e, "LD_LIBRARY_PATH=", 16);
    if (!ours) vec_push(&list, *e);
  }
  const char *libraries = getenv("WARPGRIND_SAVED_LD_LIBRARY_PATH");
  if (libraries && *libraries) {
    Str s = {0};
    str_printf(&s, "LD_LIBRARY_PATH=%s", libraries);
    vec_push(&list, s.data);
  }
  vec_push(&list, NULL);
  return list.data;
}

static void read_all(int fd, Str *out) {
  char part[4096];
  for (ssize_t n; (n = read(fd, part, sizeof part)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) str_addn(out, part, (size_t)n);
}

int ocl_run(const char *const *arguments, Str *log) {
  int ends[2], status;
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC)) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  char **env = plain_environment();
  int failed = posix_spawn(&pid, arguments[0], &actions, NULL, (char *const *)arguments, env);
  posix_spawn_file_actions_destroy(&actions);
  free(env);
  close(ends[1]);
  if (!failed) read_all(ends[0], log);
  close(ends[0]);
  if (failed) return -1;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool ocl_find_program(const char *name, char *out) {
  const char *path = getenv("PATH");
  if (strchr(name, '/')) return realpath(name, out) && access(out, X_OK) == 0;
  for (const char *p = path ? path : "/usr/bin"; *p;) {
    size_t n = strcspn(p, ":");
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%.*s/%s", (int)n, p, name);
    // ccache and the like stand in front of compilers: the real one is needed
    if (access(file, X_OK) == 0 && !strstr(file, "ccache") && realpath(file, out)) return true;
    p += n + (p[n] == ':');
  }
  return false;
}
