// The added parameter is no business of the program: structs with alignment, addresses of
// parameters, buffers of parameters, the interface of CUDA 1, questions about parameters and
// attributes, and no room left.
#include "count_test.h"

static const char ptx[] = PTX_HEADER
    // struct of 24 bytes aligned to 16 behind a char; the kernel takes its address as
    // __grid_constant__ does
    ".visible .entry aligned(.param .u8 c, .param .align 16 .b8 s[24], .param .u64 p) {\n"
    "  .reg .b32 %r<5>; .reg .b64 %a<6>;\n"
    "  ld.param.u64 %a1, [p]; mov.b64 %a2, s; cvta.param.u64 %a3, %a2;\n"
    "  ld.u32 %r1, [%a3+16]; ld.param.u32 %r2, [s+20]; ld.param.u8 %r3, [c];\n"
    "  add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%a1], %r1; ret;\n}\n"
    ".visible .entry nothing() { ret; }\n";

static char large[32768];

// As many parameters as the version of this PTX allows: a newer version has room for one more. As
// many as any has: the kernel runs as it is, and is named.
static void no_room(CUdeviceptr p) {
  static const struct {
    const char *name, *header;
    unsigned bytes;
  } full[] = {{"full", PTX_HEADER, 4096},
              {"fuller", ".version 8.1\n.target sm_75\n.address_size 64\n", 32764}};
  for (int i = 0; i < 2; i++) {
    char text[600];
    unsigned at = full[i].bytes - 8 - 4, last = 77 + (unsigned)i;
    snprintf(text, sizeof text,
             "%s.visible .entry %s(.param .u64 p, .param .align 4 .b8 x[%u]) {\n"
             "  .reg .b32 %%r<2>; .reg .b64 %%a; ld.param.u64 %%a, [p]; ld.param.u32 %%r1, [x+%u]; "
             "st.global.u32 [%%a], %%r1; ret;\n}\n",
             full[i].header, full[i].name, full[i].bytes - 8, at);
    CUmodule f = load(text);
    memcpy(large + at, &last, 4);
    OK(LAUNCH(get(f, full[i].name), 1, 1, NULL, &p, large));
    OK(cuCtxSynchronize());
    EXPECT(read_int(p) == last);
    launches++;
  }
}

int main(void) {
  start();
  CUmodule m = load(common_ptx), own = load(ptx);
  CUdeviceptr p = new_ints(256);
  CUfunction aligned = get(own, "aligned"), nothing = get(own, "nothing"), fill = get(m, "fill");
  struct {
    unsigned a[4], b, c;
  } __attribute__((aligned(16))) s = {{1, 2, 3, 4}, 500, 60};
  unsigned char c = 7;
  OK(LAUNCH(aligned, 1, 1, NULL, &c, &s, &p));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 567);
  launches++;
  Counted one = {.kernel = "aligned",
                 .instructions = 10,
                 .warps = 10,
                 .loads = 1,
                 .load_bytes = 4,
                 .stores = 1,
                 .store_bytes = 4};
  count_kernel(one, 1);

  // One buffer with everything: 1 byte, 16: struct, 40: pointer. Its size is that of the program's
  // parameters.
  unsigned char buffer[48] = {8};
  memcpy(buffer + 16, &s, 24);
  memcpy(buffer + 40, &p, 8);
  size_t size = sizeof buffer;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(aligned, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p) == 568);
  launches++;
  count_kernel(one, 1);
  unsigned char longer[4096];
  // too long for the program's parameters, though there is room for the record
  memset(longer, 0xff, sizeof longer);
  memcpy(longer, buffer, sizeof buffer);
  size = sizeof longer;
  extra[1] = longer;
  RETURNS(cuLaunchKernel(aligned, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  size = sizeof buffer + 8;
  RETURNS(cuLaunchKernel(aligned, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  size = 40;
  RETURNS(cuLaunchKernel(aligned, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
          CUDA_ERROR_INVALID_VALUE);

  // What can be asked.
  size_t offset, bytes;
  OK(cuFuncGetParamInfo(aligned, 2, &offset, &bytes));
  EXPECT(offset == 40 && bytes == 8);
  RETURNS(cuFuncGetParamInfo(aligned, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuFuncGetParamInfo(nothing, 0, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);

  // CUDA 1.
  unsigned v = 3;
  OK(cuFuncSetBlockShape(fill, 32, 1, 1));
  OK(cuParamSetv(fill, 0, &p, 8));
  OK(cuParamSeti(fill, 8, v));
  OK(cuParamSetSize(fill, 12));
  RETURNS(cuParamSeti(fill, 12, 1), CUDA_ERROR_INVALID_VALUE);
  OK(cuLaunchGrid(fill, 2, 1));
  OK(cuCtxSynchronize());
  EXPECT(read_int(p + 4 * 63) == 3);
  count_fill(64, 2);

  OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  launches++;
  count_kernel((Counted){.kernel = "nothing", .instructions = 1, .warps = 1}, 1);

  no_room(p);
  count_kernel(
      (Counted){.kernel = "full", .instructions = 4, .warps = 4, .stores = 1, .store_bytes = 4}, 1);
  printf("uncovered fuller\n");
  return finish_counted();
}
