// Chooses the device that runs the program's kernels. A child process asks the real driver, so that
// the driver's threads and open devices end with it.
#define _GNU_SOURCE

#include "cli/cli.h"

#include "gpu/find.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Answer {
  char problem[512];  // "": the driver answers and has a device
  char device[128];   // of device 0
  int version, devices, major, minor;
  double load_ms, init_ms;
} Answer;

static Str why;  // for cli_say_device

static double now_ms(void) { return (double)clock_ns() / 1e6; }

// --- in the child process ---

static const char *driver_text(void *driver, const char *function, int code) {
  int (*get)(int, const char **) = (int (*)(int, const char **))dlsym(driver, function);
  const char *text = NULL;
  return get && get(code, &text) == 0 && text ? text : "unknown error";
}

static void failed(Answer *a, void *driver, const char *function, int code) {
  snprintf(a->problem, sizeof a->problem, "%s returned error %d, %s (%s)", function, code,
           driver_text(driver, "cuGetErrorName", code),
           driver_text(driver, "cuGetErrorString", code));
}

static void ask_device(void *driver, Answer *a) {
  int (*get_name)(char *, int, int) = (int (*)(char *, int, int))dlsym(driver, "cuDeviceGetName");
  int (*get_attribute)(int *, int, int) = (int (*)(int *, int, int))dlsym(driver,
                                                                          "cuDeviceGetAttribute");
  enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
  if (get_name) get_name(a->device, sizeof a->device, 0);
  if (get_attribute) {
    get_attribute(&a->major, CAPABILITY_MAJOR, 0);
    get_attribute(&a->minor, CAPABILITY_MINOR, 0);
  }
}

// Opens the driver as the program's processes do. DEEPBIND: this command may itself run under
// another Warpgrind.
#ifdef WARPGRIND_SANITIZER_RUNTIME
enum { HOW = RTLD_NOW | RTLD_LOCAL };
#else
enum { HOW = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND };
#endif

static void ask(const char *path, Answer *a) {
  double start = now_ms();
  void *driver = dlopen(path, HOW);
  a->load_ms = now_ms() - start;
  if (!driver) {
    snprintf(a->problem, sizeof a->problem, "it could not be loaded: %s", dlerror());
    return;
  }
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
  int (*count)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
  int (*version)(int *) = (int (*)(int *))dlsym(driver, "cuDriverGetVersion");
  if (!init || !count || !version) {
    snprintf(a->problem, sizeof a->problem,
             "it is not a CUDA driver: cuInit, cuDeviceGetCount or cuDriverGetVersion is missing");
    return;
  }
  version(&a->version);
  start = now_ms();
  int code = init(0);
  a->init_ms = now_ms() - start;
  if (code) return failed(a, driver, "cuInit", code);
  if ((code = count(&a->devices))) return failed(a, driver, "cuDeviceGetCount", code);
  if (!a->devices) snprintf(a->problem, sizeof a->problem, "it sees no device");
  else ask_device(driver, a);
}

// --- in the command ---

// Reads the whole answer, or says how the process ended.
static void receive(int fd, pid_t pid, Answer *a) {
  enum { PATIENCE_S = 60 };
  size_t got = 0;
  double end = now_ms() + PATIENCE_S * 1e3;
  Answer complete;
  while (got < sizeof complete) {
    struct pollfd p = {fd, POLLIN, 0};
    int left = (int)(end - now_ms());
    int ready = left > 0 ? poll(&p, 1, left) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      kill(pid, SIGKILL);
      snprintf(a->problem, sizeof a->problem, "it did not answer within %d seconds", PATIENCE_S);
      break;
    }
    ssize_t n = read(fd, (char *)&complete + got, sizeof complete - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += (size_t)n;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (got == sizeof complete) *a = complete;
  else if (!a->problem[0] && WIFSIGNALED(status))
    snprintf(a->problem, sizeof a->problem,
             "the process that asked the driver was ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else if (!a->problem[0])
    snprintf(a->problem, sizeof a->problem,
             "the process that asked the driver ended without an answer");
}

static bool ask_apart(const char *path, Answer *a, Error *err) {
  int ends[2];
  memset(a, 0, sizeof *a);
  if (pipe2(ends, O_CLOEXEC) != 0) return error_set(err, "cannot make a pipe: %s", strerror(errno));
  fflush(NULL);
  pid_t pid = fork();
  if (pid < 0) {
    close(ends[0]);
    close(ends[1]);
    return error_set(err, "cannot start a process: %s", strerror(errno));
  }
  if (pid == 0) {
    close(ends[0]);
    ask(path, a);
    for (size_t sent = 0; sent < sizeof *a;) {
      ssize_t n = write(ends[1], (char *)a + sent, sizeof *a - sent);
      if (n < 0 && errno != EINTR) break;
      if (n > 0) sent += (size_t)n;
    }
    _exit(0);
  }
  close(ends[1]);
  receive(ends[0], pid, a);
  close(ends[0]);
  return true;
}

// --- cache: an answer that took long, valid until the machine or the driver changes ---
enum { QUICK_MS = 10 };

static bool answer_name(const char *path, Str *name) {
  Str key = {0}, boot = {0};
  struct stat st;
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  bool ok = stat(path, &st) == 0 && file_read("/proc/sys/kernel/random/boot_id", &boot, NULL) &&
            file_cache_folder(name);
  if (ok) {
    str_printf(&key, WARPGRIND_VERSION "\n%s\n%lld.%lld %lld %u\n%s\n%s", path,
               (long long)st.st_mtim.tv_sec, (long long)st.st_mtim.tv_nsec, (long long)st.st_ino,
               (unsigned)geteuid(), boot.data, visible ? visible : "all");
    str_printf(name, "/device-%016llx", (unsigned long long)base_hash(key.data, key.len));
  }
  str_free(&key);
  str_free(&boot);
  return ok;
}

static bool recall(const char *name, Answer *a) {
  Str text = {0};
  bool ok = file_read(name, &text, NULL) && text.len == sizeof *a;
  if (ok) memcpy(a, text.data, sizeof *a);
  str_free(&text);
  return ok && !a->problem[0] && a->devices > 0 && memchr(a->device, 0, sizeof a->device);
}

// Failure is silent: the next run asks again.
static void keep(const char *name, const Answer *a) {
  Str file = {0};
  str_printf(&file, "%s.%d", name, (int)getpid());
  file_make_folders(file.data, (size_t)(strrchr(file.data, '/') - file.data));
  if (file_write(file.data, a, sizeof *a, NULL)) rename(file.data, name);
  str_free(&file);
}

static bool driver_answers(const char *path, Answer *a, Error *err) {
  Str name = {0};
  double start = now_ms();
  bool named = answer_name(path, &name), kept = named && recall(name.data, a);
  if (!kept) {
    if (!ask_apart(path, a, err)) return false;
    if (!a->problem[0] && named && a->load_ms + a->init_ms > QUICK_MS) keep(name.data, a);
  }
  if (!a->problem[0]) {
    str_printf(
        &why,
        "real driver: %s, CUDA %d.%d, %d device%s, device 0 is %s, compute capability %d.%d\n",
        path, a->version / 1000, a->version % 1000 / 10, a->devices, a->devices == 1 ? "" : "s",
        a->device, a->major, a->minor);
    if (kept)
      str_printf(&why,
                 "the driver was asked in an earlier run (%s): then it took %.1f ms to load and "
                 "%.1f ms for cuInit",
                 name.data, a->load_ms, a->init_ms);
    else
      str_printf(&why, "asking it took %.1f ms: loading %.1f ms, cuInit %.1f ms", now_ms() - start,
                 a->load_ms, a->init_ms);
  }
  str_free(&name);
  return a->problem[0]
             ? error_set(err, "the NVIDIA driver %s does not work here: %s.", path, a->problem)
             : true;
}

bool cli_choose_device(Options *o, Error *err) {
  if (options_is(o, OPT_DEVICE, "cpu")) return options_set(o, OPT_DEVICE, "cpu", err);
  Str path = {0};
  Answer answer;
  Error problem = {0};
  bool works = gpu_find_driver(&path, &problem) && driver_answers(path.data, &answer, &problem);
  // saves the program's processes the search
  if (works) setenv(GPU_DRIVER_VARIABLE, path.data, 1);
  str_free(&path);
  if (works) return options_set(o, OPT_DEVICE, "gpu", err);
  if (options_is(o, OPT_DEVICE, "gpu")) return error_set(err, "--device=gpu: %s", problem.text);
  str_printf(&why, "--device=auto: the virtual device, since %s", problem.text);
  return options_set(o, OPT_DEVICE, "cpu", err);
}

void cli_say_device(void) {
  for (char *line = why.data, *next; line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    log_verbose("%s", line);
  }
  str_free(&why);
}
