// Whether a kernel with checks in it still does what the original could (src/gpu/modules/fit.c),
// with a driver that says what we like.
#include "gpu/modules/modules.h"

GpuReal gpu_real;
GpuContext *gpu_context_current(void) { return NULL; }
static WovenKernel made;
const WovenKernel *weave_kernel(const Woven *r, const char *name) { return &made; }

typedef struct Figures { int threads, shared, regs; } Figures;
static Figures original, ours;
static CUresult get_function(CUfunction *out, CUmodule m, const char *name) {
  *out = (CUfunction)m;
  return CUDA_SUCCESS;
}
static CUresult get_attribute(int *out, CUfunction_attribute a, CUfunction f) {
  const Figures *x = f == (CUfunction)1 ? &original : &ours;
  *out = a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? x->threads
         : a == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? x->shared
                                                      : x->regs;
  return CUDA_SUCCESS;
}

static int failures;

// says: "fits", "limit N", or part of the reason it cannot.
static void expect(const char *what, const char *head, const char *body, Figures before,
                   Figures after, const char *says) {
  char text[1024], got[2100] = "";
  Error err = {{0}};
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) %s {\n.reg .b32 "
           "%%r; .reg .b64 %%a; ld.param.u64 %%a, [p];\n%s ret;\n}\n",
           head, body);
  PtxModule *unit = ptx_parse(text, strlen(text), "k.ptx", &err);
  bool again = false, fits = false;
  const char *name = "k";
  GpuPiece p = {.kernels = &name, .nkernels = 1, .loaded = {.module = (CUmodule)2}};
  GpuModule m = {.module = (CUmodule)1};
  original = before;
  ours = after;
  // here the code is the program's own
  GpuMade made = {.units = &unit, .n = 1, .result = {.may_wait = unit && gpu_may_wait(&unit, 1)}};
  if (unit) fits = gpu_fit(&m, &p, &made, &again, &err);
  if (fits) snprintf(got, sizeof got, "fits");
  else if (again) snprintf(got, sizeof got, "limit %u", unit->funcs[0]->maxnreg);
  else snprintf(got, sizeof got, "%s", err.text);
  Str printed = {0};
  if (unit) ptx_print(unit, &printed);
  char directive[40];
  snprintf(directive, sizeof directive, ".maxnreg %u\n", unit ? unit->funcs[0]->maxnreg : 0);
  bool ok = strstr(got, says) && (!again || (printed.data && strstr(printed.data, directive)));
  printf("%s %s\n", ok ? "ok" : "FAIL", what);
  if (!ok) {
    printf("    %s\n    wanted: %s\n%s\n", got, says, printed.data ? printed.data : err.text);
    failures++;
  }
  str_free(&printed);
  if (unit) ptx_free(unit);
}

// What the compiler is allowed from the start: as much as the original has, and a few that nobody
// misses; more where there are loops, unless blocks may wait for each other.
static void expect_limit(const char *what, const char *body, int regs, bool loops, unsigned limit,
                         bool program_waits) {
  char text[512];
  Error err = {{0}};
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p) {\n.reg .b32 "
           "%%r; .reg .b64 %%a; ld.param.u64 %%a, [p];\n%s ret;\n}\n",
           body);
  PtxModule *unit = ptx_parse(text, strlen(text), "k.ptx", &err);
  const char *name = "k";
  GpuPiece p = {.kernels = &name, .nkernels = 1};
  GpuModule m = {.module = (CUmodule)1};
  original = (Figures){1024, 0, regs};
  made.has_loops = loops;
  GpuMade ptx = {.units = &unit, .n = 1, .result = {.may_wait = program_waits}};
  if (unit) gpu_fit_registers(&m, &p, &ptx);
  unsigned got = unit ? unit->funcs[0]->maxnreg : 0;
  printf("%s %s\n", got == limit ? "ok" : "FAIL", what);
  if (got != limit) {
    printf("    %u, wanted %u %s\n", got, limit, err.text);
    failures++;
  }
  if (unit) ptx_free(unit);
}

int main(void) {
  gpu_real.cuModuleGetFunction = get_function;
  gpu_real.cuFuncGetAttribute = get_attribute;
  const char *plain = "st.global.u32 [%a], 1;", *waits = "ld.volatile.global.u32 %r, [%a];",
             *shared = "ld.volatile.shared.u32 %r, [0];",
             *cas = "atom.global.cas.b32 %r, [%a], 0, 1;",
             *acquires = "ld.acquire.gpu.global.u32 %r, [%a];";
  expect("nothing changed", "", plain, (Figures){1024, 0, 32}, (Figures){1024, 0, 32}, "fits");
  expect("more registers, as many threads", "", plain, (Figures){1024, 0, 32},
         (Figures){1024, 0, 60}, "fits");
  expect("too many registers for the threads", "", plain, (Figures){1024, 0, 40},
         (Figures){768, 0, 77}, "limit 64");
  expect("for 768 threads", "", plain, (Figures){768, 0, 77}, (Figures){640, 0, 100}, "limit 80");
  expect("a limit that is there already is tightened", ".maxnreg 72", plain, (Figures){1024, 0, 40},
         (Figures){896, 0, 72}, "limit 64");
  expect("a limit that did not help", ".maxnreg 64", plain, (Figures){1024, 0, 40},
         (Figures){768, 0, 77}, "77 registers instead of 40");
  expect("more shared memory", "", plain, (Figures){1024, 16, 40}, (Figures){1024, 32, 40},
         "32 bytes of shared memory instead of 16");
  expect("waits for other blocks", "", waits, (Figures){1024, 0, 40}, (Figures){1024, 0, 60},
         "limit 40");
  expect("waits, and few registers", "", waits, (Figures){1024, 0, 12}, (Figures){1024, 0, 32},
         "fits");
  expect("acquires", "", acquires, (Figures){1024, 0, 33}, (Figures){1024, 0, 48}, "limit 40");
  expect("compares and swaps", "", cas, (Figures){1024, 0, 40}, (Figures){1024, 0, 60}, "limit 40");
  expect("waits within the block", "", shared, (Figures){1024, 0, 40}, (Figures){1024, 0, 60},
         "fits");
  expect_limit("few registers", "", 22, false, 32, false);
  expect_limit("few registers and loops", "", 22, true, 48, false);
  expect_limit("loops that wait for other blocks", "ld.volatile.global.u32 %r, [%a];", 22, true, 32,
               true);
  expect_limit("checks in loops that look at memory others write",
               "ld.volatile.global.u32 %r, [%a];", 22, true, 48, false);
  expect_limit("many registers", "", 61, true, 64, false);
  made.registers = 64;  // as record's pass asks for
  expect_limit("records", "ld.volatile.global.u32 %r, [%a];", 22, true, 64, false);
  expect_limit("records of a program that waits for other blocks",
               "ld.volatile.global.u32 %r, [%a];", 22, true, 32, true);
  return failures != 0;
}
