// The library's half of the compiler: starts it at its first use, sends text, receives code, and
// puts the code into memory that is executable and not writable.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/jit.h"
#include "jit/protocol.h"

enum { ANSWER_SECONDS = 120, MOST_FAILURES = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int channel = -1;
static pid_t owner;  // the process that started the compiler: a child of it does not use it
static int failures;

// --- path and target of the compiler ---
static bool helper_path(char *path, size_t size) {
  const char *told = getenv("WARPGRIND_JIT_HELPER");
  if (told && *told) return snprintf(path, size, "%s", told) < (int)size;
  Dl_info self;
  if (!dladdr((void *)jit_compile, &self) || !self.dli_fname) return false;
  const char *end = strrchr(self.dli_fname, '/');
  int n = end ? (int)(end - self.dli_fname) : 0;
  return n && snprintf(path, size, "%.*s/warpgrind-jit", n, self.dli_fname) < (int)size;
}

#if defined(__x86_64__)
static const char *cpu_level(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2"))
    return NULL;
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? "x86-64-v4" : "x86-64-v3";
}
#elif defined(__aarch64__)
static const char *cpu_level(void) { return "aarch64"; }
#else
static const char *cpu_level(void) { return NULL; }
#endif

// Names the compiler and the CPU: cached code of another compiler or CPU is not used.
static bool maker_name(char *maker, size_t size) {
  char path[4096];
  struct stat st;
  if (!cpu_level() || !helper_path(path, sizeof path) || stat(path, &st)) return false;
  snprintf(maker, size, "%s %s %lld %lld.%09ld", WARPGRIND_VERSION, cpu_level(),
           (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
  return true;
}

bool jit_possible(Error *why) {
  char path[4096];
  if (!cpu_level()) return error_set(why, "this CPU has no AVX2 and FMA");
  if (!helper_path(path, sizeof path))
    return error_set(why, "the library does not know its folder");
  if (access(path, X_OK)) return error_set(why, "%s: %s", path, strerror(errno));
  return true;
}

// --- the process ---
// Runs in the child: the compiler inherits none of the program's descriptors, signals and
// environment.
static void become_helper(const char *path, int fd) {
  sigset_t none;
  int null = open("/dev/null", O_RDWR);
  if (dup2(fd, 3) != 3 || null < 0) _exit(127);
  for (int k = 0; k < 3; k++) dup2(null, k);
  if (fcntl(3, F_SETFD, 0)) _exit(127);
  if (syscall(SYS_close_range, 4u, ~0u, 0u))
    for (int k = 4; k < 4096; k++) close(k);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  char *const argv[] = {(char *)(uintptr_t)path, NULL}, *const env[] = {NULL};
  execve(path, argv, env);
  _exit(127);
}

// The program must not see the compiler as a child of its own: it would be in the way of a
// wait() for all children. So a child that sends no signal starts it and ends.
static bool start(Error *err) {
  char path[4096];
  int pair[2];
  if (!helper_path(path, sizeof path)) return error_set(err, "no path to the compiler");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
    return error_set(err, "no socket for the compiler: %s", strerror(errno));
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  long child = syscall(SYS_clone, 0, 0, 0, 0, 0);
  if (child == 0) {
    long helper = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (helper == 0) become_helper(path, pair[1]);
    syscall(SYS_exit_group, helper < 0);
  }
  int saved = errno;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  close(pair[1]);
  if (child > 0) {
    int status;
    while (waitpid((pid_t)child, &status, __WALL) < 0 && errno == EINTR) {}
    channel = pair[0];
    owner = getpid();
    return true;
  }
  close(pair[0]);
  return error_set(err, "the compiler cannot be started: %s", strerror(saved));
}

static void stop(void) {
  if (channel >= 0) close(channel);
  channel = -1;
}

static bool wait_for(short events, uint64_t until, Error *err) {
  for (;;) {
    uint64_t now = clock_ns();
    if (now >= until) return error_set(err, "the compiler does not answer");
    struct pollfd p = {.fd = channel, .events = events};
    int n = poll(&p, 1, (int)((until - now) / 1000000) + 1);
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return error_set(err, "poll: %s", strerror(errno));
  }
}

static bool transfer(void *data, size_t n, bool sending, uint64_t until, Error *err) {
  for (char *at = data; n;) {
    if (!wait_for(sending ? POLLOUT : POLLIN, until, err)) return false;
    ssize_t k = sending ? send(channel, at, n, MSG_NOSIGNAL | MSG_DONTWAIT)
                        : recv(channel, at, n, MSG_DONTWAIT);
    if (k < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (k <= 0) return error_set(err, "the compiler has ended");
    at += k;
    n -= (size_t)k;
  }
  return true;
}

// bytes: as in the cache, entry offset and code.
static bool ask(const Str *text, Str *bytes, Error *err) {
  uint64_t until = clock_ns() + ANSWER_SECONDS * 1000000000ull;
  JitRequest q = {JIT_MAGIC, (uint32_t)text->len};
  JitAnswer a;
  if (!transfer(&q, sizeof q, true, until, err) ||
      !transfer(text->data, text->len, true, until, err) ||
      !transfer(&a, sizeof a, false, until, err))
    return false;
  if (a.magic != JIT_MAGIC || a.bytes > JIT_MOST_CODE || (!a.failed && a.entry >= a.bytes))
    return error_set(err, "the compiler's answer is none");
  char *data = mem_alloc(a.bytes + 1);
  bool ok = transfer(data, a.bytes, false, until, err);
  if (ok && !a.failed) {
    str_addn(bytes, (char *)&a.entry, sizeof a.entry);
    str_addn(bytes, data, a.bytes);
  }
  if (ok && a.failed) error_set(err, "%.1500s", data);
  free(data);
  return ok && !a.failed;
}

static bool ask_helper(const Str *text, Str *bytes, Error *err) {
  pthread_mutex_lock(&lock);
  if (channel >= 0 && owner != getpid()) stop();
  bool ok = failures < MOST_FAILURES || error_set(err, "the compiler has failed too often");
  ok = ok && (channel >= 0 || start(err)) && ask(text, bytes, err);
  if (!ok) {
    failures++;
    stop();
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

// --- code in memory ---
static bool install(const Str *bytes, JitCode *out, Error *err) {
  uint32_t entry;
  memcpy(&entry, bytes->data, sizeof entry);
  size_t n = bytes->len - sizeof entry;
  void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return error_set(err, "no memory for code: %s", strerror(errno));
  memcpy(p, bytes->data + sizeof entry, n);
  if (mprotect(p, n, PROT_READ | PROT_EXEC)) {
    munmap(p, n);
    return error_set(err, "code cannot be made executable: %s", strerror(errno));
  }
  __builtin___clear_cache((char *)p, (char *)p + n);
  *out = (JitCode){(char *)p + entry, p, n};
  return true;
}

void jit_free(JitCode *code) {
  if (code->memory) munmap(code->memory, code->bytes);
  *code = (JitCode){0};
}

bool jit_compile(const Str *text, bool only_kept, JitCode *out, Error *err) {
  char maker[256];
  if (!jit_possible(err)) return false;
  if (!maker_name(maker, sizeof maker)) return error_set(err, "the compiler is not there");
  if (text->len > JIT_MOST_TEXT) return error_set(err, "the function is too long");
  JitKey key = jit_key(text, maker);
  Str bytes = {0};
  bool ok = jit_cache_get(key, &bytes);
  if (!ok && only_kept) return error_set(err, "it was not compiled before");
  if (!ok) {
    ok = ask_helper(text, &bytes, err);
    if (ok) jit_cache_put(key, &bytes);
  }
  ok = ok && install(&bytes, out, err);
  str_free(&bytes);
  return ok;
}
