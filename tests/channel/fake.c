// One behaviour for each name in argv[1]; channel.sh says what the report must hold.
#define _GNU_SOURCE
#include "fake.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "channel/channel.h"
#include "tools/fpcheck/abi.h"
#include "tools/fpcheck/kinds.h"
#include "tools/memcheck/kinds.h"
#include "tools/racecheck/kinds.h"
#include "tools/synccheck/kinds.h"

static SessionModule *module;
static SessionKernel *kernel;
static SessionDevice *device;
static _Thread_local WgLaunch record;

static void open_all(uint32_t sites) {
  Error err;
  module = fake_module("k", sites, 0);
  kernel = session_kernel(module, "k");
  device = session_device_open(&fake_ops, NULL, 0, &err);
  if (!device) { fprintf(stderr, "no device: %s\n", err.text); exit(3); }
}

static uint32_t launch(void) {
  uint32_t n = fake_launch(kernel);
  if (!session_device_record(device, kernel, n, NULL, &record)) exit(4);
  return n;
}

static void host_finding(const char *kind, const char *text) {
  session_finding(&(SessionFinding){.kind = kind, .text = text});
}

static void launches(int n) { for (int i = 0; i < n; i++) launch(); }
static void end(void) {
  session_device_close(device, true);
  session_end();
}

// --- behaviours ---

static int number;

static void do_launches(void) {
  open_all(1);
  launches(number);
  end();
}

static void do_finding(void) {
  open_all(3);
  session_alloc(0x10000, 4096, SESSION_DEVICE, 0, NULL);
  launch();
  for (int i = 0; i < number; i++) fake_report(&record, 1, KIND_OOB_WRITE, 0x10000 + 4096 + 8, 5);
  end();
}

// Floating point: what was computed, as src/probe packs it.
static void set_numbers(uint32_t kind) {
  static const struct { uint32_t kind, op, r, a, b;
  } rows[] = {{KIND_FP_NAN, WG_FP_DIV, 0x7fc00000, 0, 0},
              {KIND_FP_INF, WG_FP_MUL, 0x7f800000, 0x7f000000, 0x41200000},
              {KIND_FP_DIV0, WG_FP_DIV, 0x7f800000, 0x3f800000, 0},
              {KIND_FP_SUBNORMAL, WG_FP_MUL, 0x00000010, 0x00800000, 0x38000000},
              {KIND_FP_INPUT, WG_FP_LOAD, 0x7fc00000, 0, 0},
              {KIND_FP_COMPARE, WG_FP_COMPARE, 0x7fc00000, 0, 0x3f800000},
              {KIND_FP_REACHED, WG_FP_SINK, 0x7fc00000, 0, 0}};
  fake_size = 4;
  fake_value = fake_extra = 0;
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    if (rows[i].kind != kind) continue;
    fake_size = WG_FP_WHAT(WG_FP_F32, WG_FP_F32, WG_FP_F32, WG_FP_NONE, rows[i].op, WG_FP_ALL, 0);
    fake_value = rows[i].r | (uint64_t)rows[i].a << 32;
    fake_extra = rows[i].b;
  }
}

// One finding of every kind, at a place of its own.
// A finding of each kind, at the site of its number, and one at the last site.
static void do_kinds(void) {
  enum { LAST = 127 };
  open_all(LAST + 1);
  session_alloc(0x10000, 4096, SESSION_DEVICE, 0, NULL);
  session_alloc(0x20000, 1024, SESSION_VARIABLE, 0, "table");
  session_alloc(0x30000, 512, SESSION_DEVICE, 0, NULL);
  session_free(0x30000);
  launch();
  for (const Kind *k = NULL; (k = kind_after(k));) {
    uint32_t kind = k->number;
    CHECK(kind < LAST);
    uint64_t address = kind == KIND_USE_AFTER_FREE ? 0x30010
                       : kind == KIND_MISALIGNED   ? 0x20002
                                                   : 0x10000 + 4096 + 4 * kind;
    set_numbers(kind);
    fake_report(&record, kind, kind, address, kind % 32);
  }
  set_numbers(0);
  fake_report(&record, LAST, KIND_OOB_READ, 0x7000000, 0);
  host_finding("api-misuse", "cudaMemcpy: 8192 bytes to an allocation of 4096");
  session_finding(&(SessionFinding){
      .kind = "launch-failure",
      .text = "the launch ended with CUDA_ERROR_ILLEGAL_ADDRESS",
      .kernel = kernel,
      .launch = 1,
      .places = (SitePlace[]){{"fake.cu", "helper", 77, 1}, {"fake.cu", "outer", 78, 1}},
      .nplaces = 2,
      .has_thread = true,
      .block = {3, 2, 1},
      .thread = {6, 5, 4},
      .has_address = true,
      .address = 0x20000 - 16,
      .size = 8});
  session_kernel_uncovered(session_kernel(module, "other"), "there is no PTX for it",
                           "nvcc -gencode arch=compute_90,code=compute_90");
  fake_launch(session_kernel(module, "other"));
  end();
}

// Texts that formats and terminals must not take at their word, and what a finding of the host may
// have besides.
static void do_odd(void) {
  open_all(1);
  session_alloc(0x10000, 4096, SESSION_DEVICE, 0, NULL);
  session_alloc(0x20000, 4096, SESSION_DEVICE, 0, NULL);
  launch();
  host_finding("api-misuse", "odd \001\033[31m <tag a='b'> & \"quotes\" \\ \xff \xed\xa0\x80 "
                             "\xef\xbf\xbf \xc3\xa9\n  second line ]]> end");
  session_finding(&(SessionFinding){.kind = "invalid-free",
                                    .text = "cudaFree: 0x20010 is no start of an allocation",
                                    .has_address = true,
                                    .address = 0x20010,
                                    .size = 8ull << 32,
                                    .related = 0x10000});
  end();
}

// What a kernel did wrong is read when its memory has been freed and used again.
static void do_late(void) {
  open_all(2);
  session_alloc(0x10000, 4096, SESSION_DEVICE, 0, NULL);
  session_alloc(0x20000, 512, SESSION_DEVICE, 0, NULL);
  session_free(0x20000);
  launch();
  session_free(0x10000);
  session_alloc(0x10000, 8192, SESSION_DEVICE, 0, NULL);
  fake_report(&record, 0, KIND_OOB_WRITE, 0x11008, 0);
  fake_report(&record, 1, KIND_USE_AFTER_FREE, 0x20004, 0);
  end();
}

static void do_kill(void) {
  open_all(2);
  launches(10);
  fake_report(&record, 0, KIND_RACE_SHARED, 64, 1);
  fake_report(&record, 0, KIND_RACE_SHARED, 64, 1);
  host_finding("api-misuse", "before the end");
  if (number) kill(getpid(), number);
  _exit(7);
}

// Killed while four threads write, when they have written some thousands.
static _Atomic uint32_t written;
static void *write_for_ever(void *p) {
  for (;;) {
    launch();
    written++;
  }
  return p;
}
static void do_kill_busy(void) {
  open_all(1);
  host_finding("api-misuse", "before the end");
  pthread_t t;
  for (int i = 0; i < 4; i++) pthread_create(&t, NULL, write_for_ever, NULL);
  while (written < 5000) usleep(1000);
  kill(getpid(), SIGKILL);
}

static void do_fork(void) {
  open_all(1);
  launch();
  for (int i = 0; i < number; i++) {
    pid_t child = fork();
    if (child == 0) {
      char text[64];
      snprintf(text, sizeof text, "child %d", i);
      fake_launch(kernel);
      host_finding("api-misuse", text);
      session_end();
      _exit(0);
    }
    if (i % 4 == 3) waitpid(child, NULL, 0);
  }
  while (wait(NULL) > 0) continue;
  end();
}

static void do_exec(void) {
  open_all(1);
  host_finding("api-misuse", "before exec");
  execl("/proc/self/exe", "fake", "after_exec", "0", NULL);
}
static void do_after_exec(void) {
  host_finding("api-misuse", "after exec");
  session_end();
}

static void do_close_fds(void) {
  for (int fd = 3; fd < 1024; fd++) close(fd);
  open_all(1);
  for (int fd = 0; fd < 1024; fd++) close(fd);
  launches(3);
  fake_report(&record, 0, KIND_OOB_READ, 4, 1);
  host_finding("api-misuse", "without descriptors");
  end();
}

// The slot of a thread that never finished does not hold up the others.
static void do_hole(void) {
  open_all(8);
  launch();
  fake_report(&record, 0, KIND_OOB_READ, 4, 1);
  WgChannel *c = (WgChannel *)(uintptr_t)((const WgReports *)(uintptr_t)record.channel)->channel;
  __atomic_fetch_add(&c->head, 1, __ATOMIC_RELAXED);
  fake_report(&record, 1, KIND_OOB_READ, 4, 1);
  fake_report(&record, 2, KIND_OOB_READ, 4, 1);
  kill(getpid(), SIGKILL);
}

// More findings at different places than the ring has slots.
static void do_many_places(void) {
  open_all((uint32_t)number);
  launch();
  for (int i = 0; i < number; i++)
    for (int k = 0; k < 3; k++) fake_report(&record, (uint32_t)i, KIND_FP_NAN, 0, 1);
  end();
}

static void do_lost_counts(void) {
  Error err;
  module = fake_module("k", 1, 4);
  kernel = session_kernel(module, "k");
  device = session_device_open(&fake_ops, NULL, 0, &err);
  launch();
  fake_readable = number == 0;
  if (number == 2) _exit(0);
  end();
}

// A program whose own memory is in disorder: random bytes into everything it shares with the
// command.
static void do_scribble(void) {
  open_all(4);
  launches(100);
  fake_report(&record, 0, KIND_OOB_READ, 4, 1);
  srand((unsigned)number);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  while (fgets(line, sizeof line, maps)) {
    unsigned long start, stop;
    if (!strstr(line, "memfd:warpgrind-channel") || !strstr(line, " rw-s") ||
        sscanf(line, "%lx-%lx", &start, &stop) != 2)
      continue;
    for (int i = 0; i < 20000; i++) {
      uint64_t *at = (uint64_t *)start + (uint64_t)rand() % ((i & 1 ? 4096 : stop - start) / 8);
      *at = i % 3 ? (uint64_t)rand() << (rand() % 48) : (uint64_t)(rand() % 256);
    }
  }
  usleep(50000);
  _exit(0);
}

// Waits for ever with something found.
static void do_hang(void) {
  open_all(1);
  launch();
  fake_report(&record, 0, KIND_BARRIER_DIVERGENCE, 0, 1);
  pause();
}

// The memory cannot be made smaller.
static void do_truncate(void) {
  open_all(1);
  int fd = open(getenv("WARPGRIND_CHANNEL"), O_RDWR);
  if (fd < 0 || ftruncate(fd, 0) == 0) _exit(9);
  host_finding("api-misuse", "still there");
  end();
}

// Goes on, and finishes, although the command is killed.
static void do_orphan(void) {
  if (fork()) {
    usleep(200000);
    kill(getppid(), SIGKILL);
    pause();
  }
  open_all(1);
  host_finding("api-misuse", "before");
  while (kill((pid_t)strtol(getenv("WARPGRIND_CHANNEL") + 6, NULL, 10), 0) == 0) usleep(10000);
  for (int i = 0; i < 100000; i++) session_alloc((uint64_t)i * 64, 64, SESSION_DEVICE, 0, "x");
  host_finding("api-misuse", "after");
  end();
  FILE *f = fopen("orphan.done", "w");
  fclose(f);
}

// How long a launch takes, in nanoseconds: the best of some rounds, since others may use the
// machine too.
static void do_time(void) {
  open_all(1);
  struct timespec a, b;
  double best = 1e9;
  for (int round = 0; round < 50; round++) {
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < number; i++) fake_launch(kernel);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / number;
    if (ns < best) best = ns;
  }
  printf("%.0f\n", best);
  end();
}

// Every launch knows whether it is selected.
static void do_select(void) {
  open_all(1);
  SessionKernel *other = session_kernel(module, "other");
  for (int i = 0; i < 6; i++) {
    bool first = session_launch_selected(kernel),
         second = session_launch_selected(other);  // in this order
    printf("%d%d ", first, second);
  }
  printf("\n");
  session_end();
}

// More processes at once than there are lanes; they all stay until the last one has been told about
// or given up.
static void do_crowd(void) {
  int gate[2], told[2];
  if (pipe(gate) || pipe(told)) exit(5);
  for (int i = 0; i < number; i++) {
    if (fork()) continue;
    char byte;
    close(gate[1]);
    host_finding("api-misuse", "one of many");
    if (write(told[1], "", 1) < 0 || read(gate[0], &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  char byte;
  for (int i = 0; i < number; i++)
    if (read(told[0], &byte, 1) != 1) exit(5);
  close(gate[1]);
  while (wait(NULL) > 0) continue;
}

// More contexts at once than there are channels for findings; then many one after the other.
static void do_devices(void) {
  SessionDevice *d[64];
  Error err;
  int failed = 0;
  open_all(1);
  for (int i = 0; i < number; i++)
    failed += !(d[i] = session_device_open(&fake_ops, NULL, i + 1, &err));
  for (int i = 0; i < number; i++)
    if (d[i]) session_device_close(d[i], true);
  printf("%d\n", failed);
  for (int i = 0; i < 100; i++) {
    SessionDevice *x = session_device_open(&fake_ops, NULL, 1, &err);
    if (!x) printf("no channel the %dth time: %s\n", i, err.text);
    else session_device_close(x, true);
  }
  end();
}

// In the child of a fork that happens while other threads write.
static void do_fork_busy(void) {
  open_all(1);
  pthread_t t;
  for (int i = 0; i < 2; i++) pthread_create(&t, NULL, write_for_ever, NULL);
  for (int i = 0; i < 50; i++) {
    pid_t child = fork();
    if (child == 0) {
      fake_launch(kernel);
      session_end();
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  host_finding("api-misuse", "all children ended");
  _exit(0);
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*run)(void);
  } behaviours[] = {
      {"launches", do_launches},
      {"finding", do_finding},
      {"kinds", do_kinds},
      {"odd", do_odd},
      {"late", do_late},
      {"kill", do_kill},
      {"kill_busy", do_kill_busy},
      {"fork", do_fork},
      {"exec", do_exec},
      {"after_exec", do_after_exec},
      {"close_fds", do_close_fds},
      {"hole", do_hole},
      {"many_places", do_many_places},
      {"lost_counts", do_lost_counts},
      {"scribble", do_scribble},
      {"truncate", do_truncate},
      {"hang", do_hang},
      {"orphan", do_orphan},
      {"time", do_time},
      {"select", do_select},
      {"fork_busy", do_fork_busy},
      {"crowd", do_crowd},
      {"devices", do_devices},
  };
  if (argc < 2) return 2;
  number = argc > 2 ? atoi(argv[2]) : 0;
  session_start("cpu");
  for (size_t i = 0; i < ARRAY_LEN(behaviours); i++)
    if (strcmp(behaviours[i].name, argv[1]) == 0) {
      behaviours[i].run();
      return argc > 3 ? atoi(argv[3]) : 0;
    }
  return 2;
}
