// Calculations on the device that the run used: a process of the command's own (cli/calculate.c),
// under Warpgrind, which stays until the server ends.
#define _GNU_SOURCE
#include "view/calc.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/view.h"

enum { START_MS = 30000, ANSWER_MS = 10000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  pid_t pid;
  int fd;
  bool failed;
  char kind[8], name[128];
} child = {.fd = -1};

static bool read_line(char *out, size_t size, int ms) {
  size_t n = 0;
  while (n + 1 < size) {
    struct pollfd p = {.fd = child.fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0 || read(child.fd, out + n, 1) != 1) return false;
    if (out[n] == '\n') break;
    n++;
  }
  out[n] = 0;
  return true;
}

static void stop(void) {
  if (child.pid > 0) {
    kill(child.pid, SIGTERM);
    waitpid(child.pid, NULL, 0);
  }
  if (child.fd >= 0) close(child.fd);
  child.pid = 0;
  child.fd = -1;
}

static void become(const char *kind, int fd) {
  char self[4096], device[32];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (n <= 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
      !freopen("/dev/null", "w", stderr))
    _exit(1);
  self[n] = 0;
  snprintf(device, sizeof device, "--device=%s", kind);
  execl(self, "warpgrind", device, "--tool=none", "--host-stacks=no", "--hang-timeout=0", "-q",
        "--", self, VIEW_CALCULATE, (char *)NULL);
  _exit(1);
}

static bool start(const char *kind) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  pid_t pid = fork();
  if (!pid) become(kind, pair[1]);
  close(pair[1]);
  child.pid = pid;
  child.fd = pair[0];
  snprintf(child.kind, sizeof child.kind, "%s", kind);
  if (pid > 0 && read_line(child.name, sizeof child.name, START_MS) && child.name[0]) return true;
  stop();
  return false;
}

static bool ask(const char *ptx, const uint64_t a[3], uint64_t *bits) {
  char line[4096], *end;
  int n = snprintf(line, sizeof line, "%llx %llx %llx %s\n", (unsigned long long)a[0],
                   (unsigned long long)a[1], (unsigned long long)a[2], ptx);
  if (n < 0 || n >= (int)sizeof line || send(child.fd, line, (size_t)n, MSG_NOSIGNAL) != n ||
      !read_line(line, sizeof line, ANSWER_MS)) {
    stop();
    return false;
  }
  *bits = strtoull(line, &end, 16);
  return end != line && !*end;
}

bool calc_on_device(const char *kind, const char *ptx, const uint64_t arguments[3], uint64_t *bits,
                    char *name, size_t size) {
  pthread_mutex_lock(&lock);
  if (child.fd < 0 && !child.failed) {
    bool gpu = !strcmp(kind, "gpu");
    // without a GPU the virtual device computes in its place
    child.failed = !start(gpu ? "gpu" : "cpu") && !(gpu && start("cpu"));
  }
  bool ok = child.fd >= 0 && ask(ptx, arguments, bits);
  if (ok)
    snprintf(name, size, "%s%s", child.name,
             strcmp(child.kind, kind) ? ": the GPU that the run used is not here" : "");
  pthread_mutex_unlock(&lock);
  return ok;
}
