// A CUDA program whose processes start, end and treat their surroundings in every way that costs
// reports: argv[1] says how. Every bug is one store past the end of an allocation, so that the
// report must name exactly one error for each.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/abi.h"

extern char **environ;

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 p, .param .u32 at) {\n"
    "  .reg .b64 %d<4>; .reg .b32 %r<3>;\n"
    "  ld.param.u64 %d1, [p];\n  ld.param.u32 %r1, [at];\n"
    "  cvta.to.global.u64 %d1, %d1;\n  mul.wide.u32 %d2, %r1, 4;\n  add.s64 %d3, %d1, %d2;\n"
    "  st.global.u32 [%d3], %r1;\n  ret;\n}\n";

static void must(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d\n", what, code);
  exit(3);
}

// One launch; with a bug it stores past the end.
static CUcontext context;
static void compute(int bug) {
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr p;
  unsigned at = bug ? 64 : 1;
  if (!context) {
    must(cuInit(0), "cuInit");
    must(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
  }
  must(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
  must(cuModuleGetFunction(&kernel, module, "store"), "cuModuleGetFunction");
  must(cuMemAlloc_v2(&p, 256), "cuMemAlloc");
  void *params[] = {&p, &at};
  must(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), "cuLaunchKernel");
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  must(cuMemFree_v2(p), "cuMemFree");
}

static void end_context(void) { must(cuCtxDestroy_v2(context), "cuCtxDestroy"); }

// --- ways to start a process that runs `argv` ---

static void run_self(char **argv) {
  execv("/proc/self/exe", argv);
  execv(getenv("BEHAVE"), argv);  // where there is no /proc
  fprintf(stderr, "exec: %s\n", strerror(errno));
  _exit(4);
}

static pid_t start_by_fork(char **argv) {
  pid_t pid = fork();
  if (pid == 0) run_self(argv);
  return pid;
}

static pid_t start_by_vfork(char **argv) {
  pid_t pid = vfork();
  if (pid == 0) {
    execv("/proc/self/exe", argv);
    _exit(4);
  }
  return pid;
}

static pid_t start_by_spawn(char **argv) {
  pid_t pid;
  return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) == 0 ? pid : -1;
}

static pid_t start_by_clone3(char **argv) {
  struct clone_args args = {.exit_signal = SIGCHLD};
  pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) run_self(argv);
  return pid;
}

static const struct {
  const char *name;
  pid_t (*start)(char **argv);
} starts[] = {{"fork", start_by_fork},
              {"vfork", start_by_vfork},
              {"spawn", start_by_spawn},
              {"clone3", start_by_clone3}};

// --- many processes ---

static void wait_for_one(void) {
  int status;
  if (wait(&status) < 0) must(errno, "wait");
  if (!WIFEXITED(status) || WEXITSTATUS(status)) must(status, "a child");
}

// spawn N EVERY JOBS HOW: N children, JOBS at a time; every EVERY-th has a bug.
static void many(int n, int every, int jobs, const char *how) {
  int running = 0;
  for (int i = 0; i < n; i++) {
    char bug[2] = {every && i % every == 0 ? '1' : '0', 0};
    char *argv[] = {"behave", "child", bug, NULL};
    pid_t pid = -1;
    for (size_t k = 0; k < sizeof starts / sizeof starts[0]; k++)
      if (!strcmp(starts[k].name, how)) pid = starts[k].start(argv);
    if (pid < 0) must(errno, how);
    if (++running == jobs) {
      wait_for_one();
      running--;
    }
    if (getenv("BEHAVE_PROGRESS") && (i + 1) % 1000 == 0) {
      printf("%d\n", i + 1);
      fflush(stdout);
    }
  }
  while (running--) wait_for_one();
}

// N processes at once, all with a context: each ends when all have reported. number: the contexts
// of each.
static void together(int n, int contexts) {
  int gate[2], told[2];
  char byte;
  if (pipe(gate) || pipe(told)) must(errno, "pipe");
  for (int i = 0; i < n; i++) {
    if (fork()) continue;
    close(gate[1]);
    for (int k = 0; k < contexts; k++) {
      context = NULL;
      compute(1);
    }
    if (write(told[1], "", 1) != 1 || read(gate[0], &byte, 1) < 0) _exit(5);
    exit(0);
  }
  for (int i = 0; i < n; i++)
    if (read(told[0], &byte, 1) != 1) must(errno, "read");
  close(gate[1]);
  for (int i = 0; i < n; i++) wait_for_one();
}

// A chain of programs in one process, each with a bug.
static void execs(int left) {
  char number[16];
  compute(1);
  if (left <= 1) return;
  snprintf(number, sizeof number, "%d", left - 1);
  run_self((char *[]){"behave", "execs", number, NULL});
}

// --- what a program may do to its surroundings ---

static void drop_privileges(void) {
  if (setgroups(0, NULL) || setgid(65534) || setuid(65534)) must(errno, "setuid");
}

static void close_all(void) {
  if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0) return;
  for (int fd = 3; fd < 65536; fd++) close(fd);
}

static void no_files(void) {
  close_all();
  struct rlimit none = {3, 3};
  if (setrlimit(RLIMIT_NOFILE, &none)) must(errno, "setrlimit");
}

static void change_root(void) {
  char folder[] = "/tmp/behave.XXXXXX";
  if (!mkdtemp(folder) || chroot(folder) || chdir("/")) must(errno, "chroot");
}

// No /proc any more, and no /tmp.
static void mount_namespace(void) {
  if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
      mount("none", "/proc", "tmpfs", 0, NULL))
    must(errno, "unshare");
}

static void network_namespace(void) {
  if (unshare(CLONE_NEWNET)) must(errno, "unshare");
}

// The first process of a new pid namespace; its parent waits for it.
static void pid_namespace(void) {
  if (unshare(CLONE_NEWPID)) must(errno, "unshare");
  if (fork() == 0) return;
  wait_for_one();
  exit(0);
}

static void container(void) {
  network_namespace();
  pid_namespace();
  mount_namespace();
}

static void daemonize(void) {
  int done[2];
  char byte;
  if (pipe(done)) must(errno, "pipe");
  if (fork()) {
    close(done[1]);
    exit(read(done[0], &byte, 1) < 0);  // until the daemon has ended
  }
  setsid();
  if (fork()) _exit(0);
  if (chdir("/")) must(errno, "chdir");
}

// A child that no handler of pthread_atfork hears of.
static void raw_child(void) {
  compute(0);
  struct clone_args args = {.exit_signal = SIGCHLD};
  pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) exit(0);  // runs the destructors
  wait_for_one();
}

static const struct {
  const char *name;
  void (*change)(void);
} changes[] = {{"drop", drop_privileges},  {"close", close_all},
               {"nofile", no_files},       {"chroot", change_root},
               {"mount", mount_namespace}, {"network", network_namespace},
               {"pid", pid_namespace},     {"container", container},
               {"daemon", daemonize},      {"raw", raw_child}};

// change NAME before|after|exec: then one bug; after: a launch comes first; exec: in another
// program.
static void change(const char *name, const char *when) {
  if (!strcmp(when, "after")) compute(0);
  for (const char *p = name; *p; p += strcspn(p, "+"), p += *p == '+')
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
      if (strlen(changes[i].name) == strcspn(p, "+") &&
          !strncmp(changes[i].name, p, strcspn(p, "+")))
        changes[i].change();
  if (!strcmp(when, "exec")) run_self((char *[]){"behave", "child", "1", NULL});
  compute(1);
}

// --- ends ---

static void finish(const char *how) {
  compute(1);
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "exit")) _exit(0);
}

// --- damage to the memory that is shared with the command ---

static unsigned next_random(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static void scribble_over(unsigned long start, unsigned long stop, unsigned *state) {
  unsigned long words = (stop - start) / 8, first_page = words < 8192 ? words : 8192;
  int n = next_random(state) % 2 ? 4000 : 1 + (int)(next_random(state) % 20);
  for (int i = 0; i < n; i++) {
    unsigned long at = ((unsigned long)next_random(state) << 16 ^ next_random(state)) %
                       (i & 1 ? first_page : words);
    unsigned long value = i % 3 ? (unsigned long)next_random(state) << next_random(state) % 40
                                : next_random(state) % 256;
    ((volatile unsigned long *)start)[at] = i % 7 ? value : ~0ul;
  }
}

static void scribble_once(const char *whose, unsigned *seed) {
  char line[512];
  unsigned long start, stop;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (strstr(line, whose) && strstr(line, " rw-s") &&
        sscanf(line, "%lx-%lx", &start, &stop) == 2 && next_random(seed) % 4)
      scribble_over(start, stop, seed);
  if (maps) fclose(maps);
}

static void *scribble_on(void *p) {
  unsigned seed = *(unsigned *)p;
  for (int i = 0; i < 100; i++) {
    scribble_once("memfd:warpgrind-channel", &seed);
    usleep(1000);
  }
  _exit(0);
}

// Random words into what is writable and shared with the command, as a wild pointer might: between
// launches, or by a thread during them.
static void scribble(unsigned seed) {
  const char *whose = seed % 3 ? seed % 3 == 1 ? "memfd:warpgrind-channel" : "memfd:warpgrind-stats"
                               : "memfd:warpgrind-";
  pthread_t thread;
  compute(1);
  if (seed % 2) {
    if (pthread_create(&thread, NULL, scribble_on, &seed)) exit(5);
    for (;;) compute(1);
  }
  for (int round = 0; round < 2; round++) {
    scribble_once(whose, &seed);
    usleep(30000);
  }
  _exit(0);
}

// Every memory file of the command that this process can open is made smaller, or longer.
static void truncate_files(void) {
  static const char *const variables[] = {"WARPGRIND_STATS", "WARPGRIND_CHANNEL"};
  compute(1);
  for (int i = 0; i < 2; i++) {
    const char *path = getenv(variables[i]);
    int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0) must(errno, "open");
    if (ftruncate(fd, 0) == 0 || ftruncate(fd, 1ll << 50) == 0)
      printf("%s was truncated\n", variables[i]);
  }
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "", *text = argc > 2 ? argv[2] : "";
  int number = argc > 2 ? atoi(argv[2]) : 0, second = argc > 3 ? atoi(argv[3]) : 0;
  if (!strcmp(what, "child"))
    compute(number);
  else if (!strcmp(what, "many"))
    many(number, second, argc > 4 ? atoi(argv[4]) : 1, argc > 5 ? argv[5] : "fork");
  else if (!strcmp(what, "together"))
    together(number, second ? second : 1);
  else if (!strcmp(what, "execs"))
    execs(number);
  else if (!strcmp(what, "change"))
    change(text, argc > 3 ? argv[3] : "before");
  else if (!strcmp(what, "finish"))
    finish(text);
  else if (!strcmp(what, "scribble"))
    scribble((unsigned)number);
  else if (!strcmp(what, "truncate"))
    truncate_files();
  else
    return 2;
  if (context && getenv("BEHAVE_DESTROYS")) end_context();
  return 0;
}
