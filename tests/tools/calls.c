// Calls: direct, through a pointer, recursive, of a function that two kernels share; a kernel that
// several streams run at a time.
#include "count_test.h"

static const char ptx[] = PTX_HEADER
    ".func (.param .b32 r) plus(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 "
    "%r2, %r1, 7; st.param.b32 [r], %r2; ret; }\n"
    ".func (.param .b32 r) times(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; "
    "mul.lo.u32 %r1, %r1, 2; add.u32 %r2, %r1, 0; st.param.b32 [r], %r2; ret; }\n"
    ".global .align 8 .u64 table[2] = {plus, times};\n"
    // odd threads call times, even ones plus, through the table
    ".visible .entry indirect(.param .u64 p) {\n"
    "  .reg .b32 %r<6>; .reg .b64 %a<8>;\n"
    "  ld.param.u64 %a1, [p]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; mul.wide.u32 %a2, %r2, 8; "
    "mov.u64 %a3, table; add.u64 %a4, %a3, %a2;\n"
    "  ld.global.u64 %a5, [%a4];\n"
    "  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; P: .callprototype (.param .b32 "
    "_) _ (.param .b32 _); call (out), %a5, (in), P; ld.param.b32 %r3, [out]; }\n"
    "  mul.wide.u32 %a6, %r1, 4; add.u64 %a7, %a1, %a6; st.global.u32 [%a7], %r3; ret;\n}\n"
    // sum(n) = n ? n + sum(n - 1) : 0
    ".func (.param .b32 r) sum(.param .b32 n) {\n"
    "  .reg .pred %q; .reg .b32 %r<5>;\n"
    "  ld.param.b32 %r1, [n]; mov.u32 %r4, 0; setp.eq.u32 %q, %r1, 0; @%q bra END;\n"
    "  sub.u32 %r2, %r1, 1;\n"
    "  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r2; call (out), sum, (in); "
    "ld.param.b32 %r3, [out]; }\n"
    "  add.u32 %r4, %r3, %r1;\n"
    "END: st.param.b32 [r], %r4; ret;\n}\n"
    ".visible .entry recursive(.param .u64 p, .param .u32 n) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [p]; ld.param.u32 %r1, [n];\n"
    "  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), sum, (in); "
    "ld.param.b32 %r2, [out]; }\n"
    "  atom.global.add.u32 %r1, [%a], %r2; ret;\n}\n"
    ".func (.param .b32 r) both(.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r1, [x]; "
    "st.param.b32 [r], %r1; ret; }\n"
    ".visible .entry one(.param .u64 p) { .reg .b32 %r<2>; .reg .b64 %a; ld.param.u64 %a, [p]; "
    "mov.u32 %r1, 1;\n"
    "  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), both, (in); "
    "ld.param.b32 %r1, [out]; } st.global.u32 [%a], %r1; ret; }\n"
    ".visible .entry two(.param .u64 p) { .reg .b32 %r<2>; .reg .b64 %a; ld.param.u64 %a, [p]; "
    "mov.u32 %r1, 2;\n"
    "  { .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), both, (in); "
    "ld.param.b32 %r1, [out]; } st.global.u32 [%a], %r1; ret; }\n";

int main(void) {
  start();
  CUmodule m = load(ptx);
  CUdeviceptr p = new_ints(256);
  OK(LAUNCH(get(m, "indirect"), 1, 64, NULL, &p));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p + 4 * 10) == 17 && read_int(p + 4 * 11) == 22);
  launches++;
  // Warps of the callees: each is entered once by half a warp.
  count_kernel((Counted){.kernel = "indirect",
                         .instructions = 14 * 64,
                         .warps = 14 * 2,
                         .loads = 64,
                         .load_bytes = 512,
                         .stores = 64,
                         .store_bytes = 256},
               1);
  count_kernel((Counted){.kernel = "plus", .instructions = 4 * 32, .warps = 4 * 2}, 1);
  count_kernel((Counted){.kernel = "times", .instructions = 5 * 32, .warps = 5 * 2}, 1);

  unsigned n = 20;
  OK(cuMemsetD32_v2(p, 0, 1));
  OK(LAUNCH(get(m, "recursive"), 2, 32, NULL, &p, &n));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 64 * 210);
  launches++;
  // sum: 10 instructions at each of n levels and 6 at the last, the branch taken there included
  count_kernel((Counted){.kernel = "recursive",
                         .instructions = 64 * (7 + 10 * n + 6),
                         .warps = 2 * (7 + (3 + 1 + 5 + 2) * n + 6),
                         .atomics = 64,
                         .atomic_bytes = 256},
               1);

  OK(LAUNCH(get(m, "one"), 1, 32, NULL, &p));
  OK(LAUNCH(get(m, "two"), 3, 32, NULL, &p));
  launches += 2;
  count_kernel(
      (Counted){
          .kernel = "one", .instructions = 7 * 32, .warps = 7, .stores = 32, .store_bytes = 128},
      1);
  count_kernel(
      (Counted){
          .kernel = "two", .instructions = 7 * 96, .warps = 21, .stores = 96, .store_bytes = 384},
      1);
  count_kernel((Counted){.kernel = "both", .instructions = 3 * 128, .warps = 12}, 1);

  // Many at a time, so that launches with functions meet in the module's table of records.
  CUstream s[8];
  for (int i = 0; i < 8; i++) OK(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
  for (int i = 0; i < 400; i++) {
    OK(LAUNCH(get(m, "one"), 1, 32, s[i % 8], &p));
    launches++;
    count_kernel(
        (Counted){
            .kernel = "one", .instructions = 7 * 32, .warps = 7, .stores = 32, .store_bytes = 128},
        1);
    count_kernel((Counted){.kernel = "both", .instructions = 3 * 32, .warps = 3}, 1);
  }
  OK(cuCtxSynchronize());
  return finish_counted();
}
