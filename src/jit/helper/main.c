// Reads LLVM text from the socket on descriptor 3, answers with machine code, until the other side
// closes it. Called with a file name it compiles that file and writes the code to standard output.
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "jit/helper/helper.h"
#include "jit/protocol.h"

// Registers of a warp are vectors of 32 lanes, so the width of the CPU's own vectors decides the
// level. The name of the host's CPU would not do: a virtual machine may lack features it implies.
#if defined(__x86_64__)
static const char *cpu_level(void) {
  __builtin_cpu_init();
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? "x86-64-v4" : "x86-64-v3";
}
#else
static const char *cpu_level(void) { return "generic"; }
#endif

static LLVMTargetMachineRef target;

static const char *make_target(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInitializeNativeAsmParser();
  char *triple = LLVMGetDefaultTargetTriple(), *why = NULL;
  LLVMTargetRef t;
  if (LLVMGetTargetFromTriple(triple, &t, &why)) return why;
  target = LLVMCreateTargetMachine(t, triple, cpu_level(), "", LLVMCodeGenLevelLess, LLVMRelocPIC,
                                   LLVMCodeModelSmall);
  LLVMDisposeMessage(triple);
  return target ? NULL : "LLVM has no compiler for this machine";
}

static const char *optimise(LLVMModuleRef m) {
  LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
  LLVMErrorRef e = LLVMRunPasses(m,
                                 "function(sroa,early-cse<memssa>,simplifycfg,instcombine,"
                                 "loop-mssa(licm),early-cse,simplifycfg,adce)",
                                 target, o);
  LLVMDisposePassBuilderOptions(o);
  if (!e) return NULL;
  char *text = LLVMGetErrorMessage(e);
  char *kept = strdup(text);
  LLVMDisposeErrorMessage(text);
  return kept;
}

// NULL: *out is the code; else a sentence.
static const char *compile(char *text, size_t n, Blob *out) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, n, "region");
  LLVMModuleRef m = NULL;
  char *why = NULL;
  if (LLVMParseIRInContext(context, buffer, &m, &why)) return why ? why : "no LLVM text";
  char *triple = LLVMGetTargetMachineTriple(target);
  LLVMSetTarget(m, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(target);
  LLVMSetModuleDataLayout(m, layout);
  LLVMDisposeTargetData(layout);
  if (LLVMVerifyModule(m, LLVMReturnStatusAction, &why)) return why;
  const char *bad = optimise(m);
  if (bad) return bad;
  LLVMMemoryBufferRef object = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(target, m, LLVMObjectFile, &why, &object)) return why;
  bad = flatten_object((const unsigned char *)LLVMGetBufferStart(object), LLVMGetBufferSize(object),
                       JIT_FUNCTION, out);
  LLVMDisposeMemoryBuffer(object);
  LLVMDisposeModule(m);
  LLVMContextDispose(context);
  return bad;
}

static bool transfer(int fd, void *data, size_t n, bool reading) {
  for (char *at = data; n;) {
    ssize_t k = reading ? read(fd, at, n) : write(fd, at, n);
    if (k <= 0) return false;
    at += k;
    n -= (size_t)k;
  }
  return true;
}

static bool serve(int fd, const char *no_target) {
  JitRequest r;
  if (!transfer(fd, &r, sizeof r, true) || r.magic != JIT_MAGIC || r.text_bytes > JIT_MOST_TEXT)
    return false;
  char *text = malloc(r.text_bytes + 1);
  if (!text || !transfer(fd, text, r.text_bytes, true)) return false;
  text[r.text_bytes] = 0;
  Blob blob = {0};
  const char *why = no_target ? no_target : compile(text, r.text_bytes, &blob);
  free(text);
  JitAnswer a = {JIT_MAGIC, why != NULL, (uint32_t)(why ? strlen(why) : blob.size),
                 (uint32_t)blob.entry};
  bool ok = transfer(fd, &a, sizeof a, false) &&
            transfer(fd, why ? (void *)(uintptr_t)why : blob.bytes, a.bytes, false);
  free(blob.bytes);
  return ok;
}

static int compile_file(const char *name, const char *no_target) {
  FILE *f = fopen(name, "r");
  if (!f) return perror(name), 1;
  char *text = NULL;
  size_t n = 0, cap = 0, k;
  do {
    if (n + 65536 > cap) text = realloc(text, cap = (n + 65536) * 2);
    k = fread(text + n, 1, 65536, f);
    n += k;
  } while (k);
  text[n] = 0;
  Blob blob = {0};
  const char *why = no_target ? no_target : compile(text, n, &blob);
  if (why) return fprintf(stderr, "%s: %s\n", name, why), 1;
  return fwrite(blob.bytes, 1, blob.size, stdout) != blob.size;
}

// Ends the compiler with its program, which may end while a kernel is being compiled: that can take
// a minute, and the answer is of no use then.
static void *end_with_program(void *unused) {
  (void)unused;
  struct pollfd p = {.fd = 3, .events = POLLRDHUP};
  while (poll(&p, 1, -1) < 1) {}
  _exit(0);
}

int main(int argc, char **argv) {
  // a compiler that needs too much memory fails instead of filling the machine
  setrlimit(RLIMIT_AS, &(struct rlimit){8ull << 30, 8ull << 30});
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#if LLVM_VERSION_MAJOR < 15
  static const char *const modern[] = {"warpgrind-jit", "-opaque-pointers"};
  LLVMParseCommandLineOptions(2, modern, NULL);
#endif
  const char *no_target = make_target();
  if (argc > 1) return compile_file(argv[1], no_target);
  pthread_t watcher;
  pthread_create(&watcher, NULL, end_with_program, NULL);
  while (serve(3, no_target)) {}
  return 0;
}
