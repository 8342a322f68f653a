// A CUDA program of many processes: processes SEED DEPTH SCRIBBLE. From its seed each decides
// whether it has a bug, forks, calls exec, is killed or leaves with _exit. Prints a line BUG for
// each store past the end of an allocation, after the launch. SCRIBBLE 1: some write garbage over
// the memory that they share with the command.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/abi.h"

static const char ptx[] =
  ".version 7.0\n.target sm_75\n.address_size 64\n"
  ".visible .entry store(.param .u64 p, .param .u32 at) {\n"
  "  .reg .b64 %d<4>; .reg .b32 %r<3>;\n"
  "  ld.param.u64 %d1, [p];\n  ld.param.u32 %r1, [at];\n"
  "  cvta.to.global.u64 %d1, %d1;\n  mul.wide.u32 %d2, %r1, 4;\n  add.s64 %d3, %d1, %d2;\n"
  "  st.global.u32 [%d3], %r1;\n  ret;\n}\n";

static uint64_t state;
static uint64_t next(void) {               // splitmix64
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}
static unsigned below(unsigned n) { return (unsigned)(next() % n); }

static void must(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d\n", what, code);
  _exit(3);
}

static void launch(int bug) {
  CUcontext context;
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr p;
  unsigned at = bug ? 64 : 1;
  must(cuInit(0), "cuInit");
  must(cuCtxCreate_v2(&context, 0, 0), "cuCtxCreate");
  must(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
  must(cuModuleGetFunction(&kernel, module, "store"), "cuModuleGetFunction");
  must(cuMemAlloc_v2(&p, 256), "cuMemAlloc");
  void *params[] = {&p, &at};
  must(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), "cuLaunchKernel");
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  if (bug) must(write(1, "BUG\n", 4) != 4, "write");
}

// Garbage over some bytes of every mapping that is shared with the command.
static void scribble(void) {
  FILE *f = fopen("/proc/self/maps", "r");
  char line[512];
  while (f && fgets(line, sizeof line, f)) {
    unsigned long start, end;
    char mode[5];
    if (!strstr(line, "warpgrind-") || sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 ||
        mode[1] != 'w')
      continue;
    size_t size = end - start, reach = below(2) ? size : 4096;
    for (unsigned n = below(200); n; n--) {
      uint64_t value = below(4) ? next() : (uint64_t)0 - below(3);
      memcpy((char *)start + (next() % (reach < size ? reach : size) & ~(size_t)7), &value,
             sizeof value);
    }
  }
  if (f) fclose(f);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  state = strtoull(argv[1], NULL, 10);
  unsigned depth = (unsigned)atoi(argv[2]), children = depth ? below(6) : 0;
  int scribbles = atoi(argv[3]);
  char number[32], deeper[16];
  snprintf(deeper, sizeof deeper, "%u", depth ? depth - 1 : 0);
  unsigned computes = below(4), execs = depth && below(3) == 0;
  if (computes) launch(below(3) == 0);
  for (unsigned i = 0; i < children; i++) {
    snprintf(number, sizeof number, "%llu", (unsigned long long)(next() >> 1));
    pid_t pid = fork();
    if (pid == 0) {
      execl("/proc/self/exe", argv[0], number, deeper, argv[3], NULL);
      _exit(4);
    }
    if (pid > 0 && below(2)) waitpid(pid, NULL, 0);
  }
  if (scribbles && computes && below(2)) scribble();
  if (execs) {
    snprintf(number, sizeof number, "%llu", (unsigned long long)(next() >> 1));
    execl("/proc/self/exe", argv[0], number, deeper, argv[3], NULL);
  }
  while (wait(NULL) > 0) {}
  switch (below(6)) {
  case 0: _exit(0);
  case 1:
    if (depth < 3) kill(getpid(), SIGKILL);
    return 0;
  default: return 0;
  }
}
