// Modules that are gone when the report is made; the same code again; two different programs with a
// kernel of one name; linked pieces; launches that wait in a queue while others are loaded and
// unloaded.
#include "count_test.h"

static const char caller[] = PTX_HEADER
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
    ".visible .entry linked(.param .u64 p) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [p]; mov.u32 %r1, %tid.x;\n"
    "  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call.uni (out), twice, (in); "
    "ld.param.b32 %r2, [out]; }\n"
    "  red.global.add.u32 [%a], %r2; ret;\n}\n";
static const char callee[] = PTX_HEADER
  ".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
  "  .reg .b32 %r<3>;\n"
  "  ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;\n}\n";

static void link_and_run(CUdeviceptr p) {
  CUlinkState l;
  void *image;
  size_t size;
  CUmodule m;
  OK(cuLinkCreate_v2(0, NULL, NULL, &l));
  OK(cuLinkAddData_v2(l, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL, NULL));
  OK(cuLinkAddData_v2(l, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL, NULL));
  OK(cuLinkComplete(l, &image, &size));
  OK(cuModuleLoadData(&m, image));
  OK(cuLinkDestroy(l));
  OK(cuMemsetD32_v2(p, 0, 1));
  OK(LAUNCH(get(m, "linked"), 2, 64, NULL, &p));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 2 * 2 * 63 * 64 / 2);
  OK(cuModuleUnload(m));
  // 7 of the kernel and 4 of the function, which belongs to this one kernel
  launches++;
  count_kernel((Counted){.kernel = "linked",
                         .instructions = 11 * 128,
                         .warps = 11 * 4,
                         .atomics = 128,
                         .atomic_bytes = 512},
               1);
}

int main(void) {
  start();
  CUdeviceptr p = new_ints(1024);
  unsigned v = 9, n = 64;
  for (int i = 0; i < 20; i++) {
    CUmodule m = load(common_ptx);
    OK(LAUNCH(get(m, "fill"), 2, 32, NULL, &p, &v));
    count_fill(64, 2);
    if (i % 2) OK(cuCtxSynchronize());
    OK(cuModuleUnload(m));                  // waits for it
  }
  CUmodule a = load(common_ptx);
  CUmodule b = load(PTX_HEADER ".visible .entry fill(.param .u64 p) { .reg .b64 %a; ld.param.u64 "
                               "%a, [p]; st.global.u64 [%a], %a; ret; }");
  OK(LAUNCH(get(b, "fill"), 1, 1, NULL, &p));
  launches++;
  count_kernel(
      (Counted){.kernel = "fill", .instructions = 3, .warps = 3, .stores = 1, .store_bytes = 8}, 1);
  OK(LAUNCH(get(a, "add"), 4, 32, NULL, &p, &n, &v));
  count_add(128, 64);
  OK(cuModuleUnload(b));
  link_and_run(p);

  // Nothing of it was launched: no counts, and no launch.
  CUmodule idle = load(common_ptx);
  OK(cuModuleUnload(idle));
  return finish_counted();
}
