// What becomes of a fatbin's ptxas options and of the program's JIT options
// (src/gpu/modules/options.c).
#include "gpu/modules/modules.h"

static int failures;

static void describe(const GpuJit *j, Str *out) {
  for (unsigned i = 0; i < j->n; i++)
    str_printf(out, "%s%d=%llu", out->len ? " " : "", (int)j->names[i],
               (unsigned long long)(uintptr_t)j->values[i]);
  if (j->contract_off) str_add(out, out->len ? " apart" : "apart");
  if (j->needs_fatbin) str_add(out, out->len ? " fatbin" : "fatbin");
}

static void judge(const char *what, const GpuJit *j, const char *wanted) {
  Str got = {0};
  describe(j, &got);
  bool same = !strcmp(got.data ? got.data : "", wanted);
  printf("%s %s\n", same ? "ok" : "FAIL", what);
  if (!same) {
    printf("    %s\n    wanted: %s\n", got.data ? got.data : "", wanted);
    failures++;
  }
  str_free(&got);
}

static void ptxas(const char *options, const char *wanted) {
  GpuJit j = {0};
  gpu_jit_add_ptxas(&j, options);
  judge(*options ? options : "(none)", &j, wanted);
}

int main(void) {
  ptxas("", "");
  ptxas(" -maxrregcount=32 ", "0=32");
  ptxas("--maxrregcount 40 -O2  ", "0=40 7=2");
  ptxas("-O1  ", "7=1");
  ptxas("-O 0", "7=0 apart");
  ptxas("--opt-level=3", "7=3");
  ptxas(" --generate-line-info ", "13=1");
  ptxas(" --fmad false ", "apart");
  ptxas("--fmad=true", "");
  ptxas("-dlcm=cg  ", "14=1");
  ptxas("-dlcm=cv", "fatbin");
  ptxas("-v  -warn-spills --suppress-stack-size-warning --split-compile=2 --compile-only", "");
  ptxas(" -g --dont-merge-basicblocks --return-at-end ", "fatbin");
  ptxas("--def-store-cache=wt -maxrregcount=64", "0=64 fatbin");
  ptxas("something", "fatbin");

  GpuJit j;
  char log[16];
  CUjit_option names[] = {CU_JIT_MAX_REGISTERS, CU_JIT_ERROR_LOG_BUFFER,
                          CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME,
                          CU_JIT_GENERATE_LINE_INFO};
  void *values[] = {(void *)50, log, (void *)16, NULL, (void *)1};
  gpu_jit_keep(&j, ARRAY_LEN(names), names, values);
  judge("the program's options, not its log", &j, "0=50 13=1");
  gpu_jit_add_ptxas(&j, "-maxrregcount=32 -O0");
  judge("the program's options come first", &j, "0=50 13=1 7=0 apart");

  const char *symbols[] = {"first", "second"};
  void *addresses[] = {(void *)1, (void *)2};
  CUjit_option given[] = {CU_JIT_GLOBAL_SYMBOL_NAMES, CU_JIT_GLOBAL_SYMBOL_ADDRESSES,
                          CU_JIT_GLOBAL_SYMBOL_COUNT};
  void *what[] = {symbols, addresses, (void *)2};
  gpu_jit_keep(&j, 3, given, what);
  symbols[0] = symbols[1] = NULL;
  addresses[0] = addresses[1] = NULL;  // the program may free them
  bool kept = j.n == 3 && j.has_symbols && !strcmp(((char **)j.values[0])[1], "second") &&
              ((void **)j.values[1])[1] == (void *)2;
  printf("%s symbols are copied\n", kept ? "ok" : "FAIL");
  return failures || !kept;
}
