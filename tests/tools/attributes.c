// What a program can ask about its kernels is the same with a tool and without: registers, threads,
// memory, occupancy. The script compares what it prints.
#include "../driver/driver_test.h"

static const char deep_ptx[] = PTX_HEADER
    ".visible .entry many(.param .u64 p, .param .u32 n) {\n"
    "  .reg .pred %q; .reg .f32 %f<40>; .reg .b32 %r<8>; .reg .b64 %a<4>; .shared .align 4 .b8 "
    "s[1024]; .local .align 8 .b8 l[64];\n"
    "  ld.param.u64 %a1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;\n"
    "  ld.global.f32 %f1, [%a1]; ld.global.f32 %f2, [%a1+4]; ld.global.f32 %f3, [%a1+8]; "
    "ld.global.f32 %f4, [%a1+12]; ld.global.f32 %f5, [%a1+16];\n"
    "  ld.global.f32 %f6, [%a1+20]; ld.global.f32 %f7, [%a1+24]; ld.global.f32 %f8, [%a1+28]; "
    "ld.global.f32 %f9, [%a1+32]; ld.global.f32 %f10, [%a1+36];\n"
    "LOOP: fma.rn.f32 %f1, %f2, %f3, %f1; fma.rn.f32 %f4, %f5, %f6, %f4; fma.rn.f32 %f7, %f8, %f9, "
    "%f7; fma.rn.f32 %f10, %f1, %f4, %f10;\n"
    "  add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, %r1; @%q bra LOOP;\n"
    "  add.f32 %f11, %f1, %f4; add.f32 %f12, %f7, %f10; add.f32 %f13, %f11, %f12; st.global.f32 "
    "[%a1], %f13; ret;\n}\n"
    // a kernel that device code may launch
    ".visible .entry taken(.param .u32 x) { ret; }\n"
    ".visible .entry taker(.param .u64 p) { .reg .b64 %a<3>; ld.param.u64 %a1, [p]; mov.u64 %a2, "
    "taken; st.global.u64 [%a1], %a2; ret; }\n"
    ".visible .entry bounded() .maxntid 256, 1, 1 .minnctapersm 2 { ret; }\n";

static void describe(CUmodule m, const char *name) {
  CUfunction f = get(m, name);
  static const CUfunction_attribute which[] = {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                               CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                               CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
                                               CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                                               CU_FUNC_ATTRIBUTE_NUM_REGS,
                                               CU_FUNC_ATTRIBUTE_PTX_VERSION,
                                               CU_FUNC_ATTRIBUTE_BINARY_VERSION,
                                               CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES};
  CUdeviceptr p = new_ints(16);
  unsigned n = 1;
  if (!strcmp(name, "many")) OK(LAUNCH(f, 1, 1, NULL, &p, &n));   // attributes of code that has run
  OK(cuCtxSynchronize());
  printf("%s:", name);
  for (unsigned i = 0; i < sizeof which / sizeof *which; i++) {
    int v = -1;
    OK(cuFuncGetAttribute(&v, which[i], f));
    printf(" %d", v);
  }
  int blocks, grid, block;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 128, 0));
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
  printf(" blocks %d, potential %d of %d; parameters", blocks, grid, block);
  size_t offset, size;
  for (size_t i = 0; cuFuncGetParamInfo(f, i, &offset, &size) == CUDA_SUCCESS; i++)
    printf(" %zu+%zu", offset, size);
  puts("");
}

int main(void) {
  start();
  CUmodule m = load(deep_ptx), common = load(common_ptx);
  describe(m, "many");
  describe(m, "bounded");
  describe(common, "add");
  describe(common, "bump");
  describe(m, "taken");
  describe(m, "taker");
  unsigned count = 0, own = 0;
  OK(cuModuleGetFunctionCount(&count, common));
  OK(cuModuleGetFunctionCount(&own, m));
  CUfunction all[16];
  OK(cuModuleEnumerateFunctions(all, own, m));
  for (unsigned i = 0; i < own; i++) {
    const char *name;
    OK(cuFuncGetName(&name, all[i]));
    printf("function %s\n", name);
  }
  size_t free_bytes, total;
  OK(cuMemGetInfo_v2(&free_bytes, &total));
  printf("%u functions, %zu of %zu bytes free\n", count, free_bytes, total);
  return finish();
}
