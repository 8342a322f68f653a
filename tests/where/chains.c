// Known call chains through the library under test. Prints nothing; `save` writes objects and
// return addresses for the symbolizer. Functions and the lines that matter are named by markers
// that the script looks up in this file.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

uint32_t test_capture(uint64_t *frames, uint32_t max);
void test_save(const char *path, const char *label, const uint64_t *frames, uint32_t n);
double test_time(unsigned rounds);
uint64_t test_version(void);

static const char *out;
#define KEEP __asm__ volatile("" ::: "memory")           // no tail call

__attribute__((noinline)) void save(const char *label) {
  uint64_t frames[48];
  uint32_t n = test_capture(frames, 48);                 // label: save
  test_save(out, label, frames, n);
  KEEP;
}

// Plain calls.
__attribute__((noinline)) static void third(void) { save("plain"); KEEP; }     // label: third
__attribute__((noinline)) static void second(void) { third(); KEEP; }          // label: second
__attribute__((noinline)) static void first(void) { second(); KEEP; }          // label: first

// Inlined calls.
// label-next: inner
static inline __attribute__((always_inline)) void inner(void) { save("inline"); KEEP; }
// label-next: middle
static inline __attribute__((always_inline)) void middle(void) { inner(); KEEP; }
// label-next: outer
__attribute__((noinline)) static void outer(void) { middle(); KEEP; }

// A function whose stack is realigned and of unknown size: the frame pointer leads.
__attribute__((noinline)) static void realigned(unsigned n) {
  volatile char big[n];
  _Alignas(64) volatile char wide[64];
  big[0] = wide[0] = (char)n;
  save("realigned");                                     // label: realigned
  KEEP;
}

__attribute__((noinline)) static void large(void) {  // a frame that does not fit a remembered rule
  volatile char big[3 << 20];
  big[0] = big[sizeof big - 1] = 1;
  save("large");                                         // label: large
  KEEP;
}

__attribute__((noinline)) static uint32_t deep(unsigned n, uint64_t *frames) {
  uint32_t r = n ? deep(n - 1, frames) : test_capture(frames, 48);
  KEEP;
  return r;
}

static void *in_thread(void *arg) { save("thread"); KEEP; return arg; }        // label: in_thread

// Another stack, that of a coroutine.
static ucontext_t back;
static void coroutine(void) { save("coroutine"); KEEP; }                       // label: coroutine

#define NEED(x) do { if (!(x)) { printf("FAIL %s\n", #x); exit(1); } } while (0)

// Code without call frame information, as a JIT writes it. With a frame pointer the walk goes
// through it; with nonsense in the frame pointer it ends there, and does not crash.
typedef uint32_t Callback(uint64_t *frames, uint32_t max);
static void jit(bool sane) {
#if defined(__x86_64__)
  static const uint8_t with[] = {0x55, 0x48, 0x89, 0xe5, 0xff,
                                 0xd2, 0x5d, 0xc3};  // push rbp; mov rbp,rsp; call rdx; pop; ret
  static const uint8_t without[] = {
      0x55, 0x48, 0xc7, 0xc5, 0x10, 0,
      0,    0,    0xff, 0xd2, 0x5d, 0xc3};  // push rbp; mov rbp,16; call rdx; …
#else
  static const uint32_t with[] = {
      0xa9bf7bfd, 0x910003fd, 0xd63f0040, 0xa8c17bfd,
      0xd65f03c0};  // stp x29,x30,[sp,-16]!; mov x29,sp; blr x2; ldp; ret
  static const uint32_t without[] = {0xa9bf7bfd, 0xd280021d, 0xd63f0040, 0xa8c17bfd,
                                     0xd65f03c0};  // …; mov x29,16; …
#endif
  uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, sane ? (const void *)with : (const void *)without,
         sane ? sizeof with : sizeof without);
  mprotect(code, 4096, PROT_READ | PROT_EXEC);
  __builtin___clear_cache((char *)code, (char *)code + 64);
  uint64_t frames[48];
  uint32_t n = ((uint32_t(*)(uint64_t *, uint32_t, Callback *))(uintptr_t)code)(frames, 48,
                                                                                test_capture);
  if (sane) {
    test_save(out, "jit", frames + 1, n - 1);            // without the nameless frame
    NEED(n >= 3 && frames[0] - (uint64_t)(uintptr_t)code < 64);
  } else NEED(n == 1 && frames[0] - (uint64_t)(uintptr_t)code < 64);
}

int main(int argc, char **argv) {
  NEED(argc == 3);
  out = argv[1];
  first();                                               // label: main
  outer();
  realigned((unsigned)argc * 100);
  large();
  pthread_t thread;
  NEED(pthread_create(&thread, NULL, in_thread, NULL) == 0);
  pthread_join(thread, NULL);

  ucontext_t here;
  getcontext(&here);
  here.uc_stack.ss_sp = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                             0);
  here.uc_stack.ss_size = 1 << 16;
  here.uc_link = &back;
  makecontext(&here, coroutine, 0);
  swapcontext(&back, &here);

  jit(true);
  jit(false);

  // A library that is loaded, called and unloaded, and another at its place.
  uint64_t before = test_version();
  for (int i = 0; i < 3; i++) {
    void *library = dlopen(argv[2], RTLD_NOW);
    NEED(library && test_version() != before);
    void (*through)(void (*)(const char *), const char *) = (void (*)(
        void (*)(const char *), const char *))(uintptr_t)dlsym(library, "through_library");
    NEED(through);
    through(save, "library");
    uint64_t now = test_version();
    dlclose(library);
    NEED(test_version() != now);
  }

  uint64_t frames[49];
  frames[48] = 4711;
  NEED(deep(60, frames) == 48 && frames[48] == 4711);    // bounded
  NEED(test_capture(frames, 2) == 2 && test_capture(frames, 0) == 0);
  return 0;
}
