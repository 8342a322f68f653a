// Programs for the tests of the module path: each function is one, named on the command line. They
// are plain driver programs; what Warpgrind did with their kernels is seen in the run file.
#include "../driver/driver_test.h"
#include "../image/build.h"

// read, write share a variable; alone shares nothing; wide needs much shared memory; text points at
// a string.
static const char kernels_ptx[] =
    "// original\n.version 7.8\n.target sm_80\n.address_size 64\n"
    ".global .align 4 .u32 word = 5;\n"
    ".global .align 4 .u32 unused = 6;\n"
    ".visible .const .align 4 .u32 factor = 10;\n"
    ".extern .shared .align 4 .b8 room[];\n"
    ".global .align 1 .b8 $str[3] = {72, 105, 0};\n"
    ".func (.param .b32 r) scaled(.param .b32 x) {\n"
    "  .reg .b32 %r<4>;\n"
    "  ld.param.b32 %r1, [x]; ld.const.u32 %r2, [factor]; mul.lo.u32 %r3, %r1, %r2; st.param.b32 "
    "[r], %r3; ret;\n}\n"
    ".visible .entry read(.param .u64 p) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [p]; ld.global.u32 %r1, [word];\n"
    "  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), scaled, (x); "
    "ld.param.b32 %r2, [y]; }\n"
    "  st.global.u32 [%a], %r2; ret;\n}\n"
    ".visible .entry write(.param .u32 v) {\n"
    "  .reg .b32 %r; ld.param.u32 %r, [v]; st.global.u32 [word], %r; ret;\n}\n"
    ".visible .entry alone(.param .u64 p) {\n"
    "  .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 77; ret;\n}\n"
    ".visible .entry wide(.param .u64 p) {\n"
    "  .reg .b32 %r; .reg .b64 %a; ld.param.u64 %a, [p]; st.shared.u32 [room+65532], 9; "
    "ld.shared.u32 %r, [room+65532]; st.global.u32 [%a], %r; ret;\n}\n"
    ".visible .entry text(.param .u64 p) {\n"
    "  .reg .b32 %r; .reg .b64 %a, %s; ld.param.u64 %a, [p]; mov.u64 %s, $str; ld.global.u8 %r, "
    "[%s+1]; st.global.u32 [%a], %r; ret;\n}\n";

static CUdeviceptr out;
static CUcontext context;

static int result(CUfunction f, unsigned shared) {
  void *params[] = {&out};
  OK(cuMemsetD32_v2(out, 0, 1));
  OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, shared, NULL, params, NULL));
  return read_int(out);
}

static void write_word(CUfunction f, unsigned v) {
  void *params[] = {&v};
  OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
}

static CUfunction kernel_of(CUlibrary lib, const char *name) {
  CUkernel k = NULL;
  OK(cuLibraryGetKernel(&k, lib, name));
  return (CUfunction)k;
}

// --- variables exist once ---

static void variables(void) {
  CUmodule m = load(kernels_ptx);
  CUdeviceptr word, again;
  size_t size;
  OK(cuModuleGetGlobal_v2(&word, &size, m, "word"));  // before any kernel was launched
  EXPECT(size == 4 && read_int(word) == 5);
  OK(cuMemsetD32_v2(word, 7, 1));
  EXPECT(result(get(m, "read"), 0) == 70);
  write_word(get(m, "write"), 8);
  EXPECT(read_int(word) == 8 && result(get(m, "read"), 0) == 80);
  OK(cuModuleGetGlobal_v2(&again, NULL, m, "word"));
  EXPECT(again == word);
  OK(cuModuleGetGlobal_v2(&word, &size, m, "factor"));
  OK(cuMemsetD32_v2(word, 100, 1));
  EXPECT(result(get(m, "read"), 0) == 800);
  OK(cuModuleGetGlobal_v2(&word, &size, m, "unused"));
  EXPECT(read_int(word) == 6);
  EXPECT(result(get(m, "alone"), 0) == 77);
  EXPECT(result(get(m, "text"), 0) == 'i');
  OK(cuModuleUnload(m));
}

static void libraries(void) {
  CUlibrary lib;
  CUfunction f, of_module;
  CUmodule m;
  CUdeviceptr word, again;
  unsigned n;
  OK(cuLibraryLoadData(&lib, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
  EXPECT(result(kernel_of(lib, "read"), 0) == 50);
  write_word(kernel_of(lib, "write"), 6);
  OK(cuLibraryGetGlobal(&word, NULL, lib, "word"));
  EXPECT(read_int(word) == 6);
  OK(cuKernelGetFunction(&f, (CUkernel)kernel_of(lib, "read")));
  EXPECT(result(f, 0) == 60);
  OK(cuLibraryGetModule(&m, lib));
  OK(cuModuleGetFunction(&of_module, m, "read"));
  EXPECT(result(of_module, 0) == 60);
  OK(cuModuleGetGlobal_v2(&again, NULL, m, "word"));
  EXPECT(again == word);
  CUkernel all[8];
  OK(cuLibraryGetKernelCount(&n, lib));
  EXPECT(n == 5);
  OK(cuLibraryEnumerateKernels(all, n, lib));
  for (unsigned i = 0; i < n; i++) {
    const char *name;
    OK(cuKernelGetName(&name, all[i]));
    if (!strcmp(name, "alone")) EXPECT(result((CUfunction)all[i], 0) == 77);
  }
  OK(cuLibraryUnload(lib));
}

static void managed(void) {
  static const char ptx[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global "
                            ".attribute(.managed) .align 4 .u32 total = 3;\n"
                            ".visible .entry count() { .reg .b32 %r; ld.global.u32 %r, [total]; "
                            "add.u32 %r, %r, 1; st.global.u32 [total], %r; ret; }\n";
  CUlibrary lib;
  CUdeviceptr total;
  OK(cuLibraryLoadData(&lib, ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetManaged(&total, NULL, lib, "total"));
  volatile int *host = (volatile int *)(uintptr_t)total;
  EXPECT(*host == 3);
  *host = 10;
  OK(cuLaunchKernel(kernel_of(lib, "count"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cuCtxSynchronize());
  EXPECT(*host == 11);
  OK(cuLibraryUnload(lib));
}

// --- what the program sets holds for the code that runs ---

static void attributes(void) {
  CUmodule m = load(kernels_ptx);
  CUlibrary lib;
  CUfunction wide = get(m, "wide");
  int value;
  OK(cuFuncSetAttribute(wide, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                        65536));  // before it is compiled
  EXPECT(result(wide, 65536) == 9);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, wide));
  EXPECT(value == 65536);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, wide));
  EXPECT(value == 1024);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, wide, 128, 65536));
  EXPECT(value >= 1);
  size_t offset, size;
  OK(cuFuncGetParamInfo(wide, 0, &offset, &size));
  EXPECT(offset == 0 && size == 8);
  RETURNS(cuFuncGetParamInfo(wide, 1, &offset, &size),
          CUDA_ERROR_INVALID_VALUE);  // ours stays out of sight
  OK(cuLibraryLoadData(&lib, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
  CUfunction k = kernel_of(lib, "wide");
  OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, (CUkernel)k,
                          0));  // compiles it
  EXPECT(value == 0);
  OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, (CUkernel)k, 0));
  EXPECT(result(k, 65536) == 9);
  OK(cuLibraryUnload(lib));
  OK(cuModuleUnload(m));
}

// --- images ---

static void run_image(const void *image, const char *what) {
  CUmodule m;
  CUresult r = cuModuleLoadData(&m, image);
  if (r != CUDA_SUCCESS) {
    printf("%s: %s\n", what, name_of(r));
    failures++;
  } else {
    EXPECT(result(get(m, "read"), 0) == 50);
    OK(cuModuleUnload(m));
  }
}

static void images(void) {
  static const char *const options[] = {" -maxrregcount=32 ",
                                        "-O1  ",
                                        " --generate-line-info ",
                                        " -g --dont-merge-basicblocks --return-at-end ",
                                        "--fmad=false",
                                        "-dlcm=cg  --def-store-cache=wt",
                                        "-O 0 -v --split-compile 2"};
  for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
    Str fatbin = build_fatbin(&(TestEntry){TEST_PTX, 80, 0, i % 2 ? IMAGE_ZSTD : IMAGE_RAW,
                                           kernels_ptx, 0, options[i], "kernels.cu", 0},
                              1);
    run_image(fatbin.data, options[i]);
    str_free(&fatbin);
  }
  // The nearest PTX is taken; what is for a later device alone is not, and the kernel is named.
  Str both = build_fatbin(
      (TestEntry[]){{TEST_PTX, 70, 0, IMAGE_RAW, ".version 7.8\n.target sm_70\n.address_size 64\n",
                     0, NULL, NULL, 0},
                    {TEST_PTX, 80, 0, IMAGE_LZ4, kernels_ptx, 0, NULL, NULL, 0}},
      2);
  run_image(both.data, "two entries");
  str_free(&both);
}

static void foreign(void) {
  static const char newer[] =
      ".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry of_tomorrow(.param .u64 p) "
      "{\n"
      "  .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 5; ret;\n}\n";
  Str fatbin = build_fatbin(
      &(TestEntry){TEST_PTX, 100, 0, IMAGE_RAW, newer, 0, NULL, "tomorrow.cu", 0}, 1);
  CUmodule m;
  OK(cuModuleLoadData(&m, fatbin.data));
  EXPECT(result(get(m, "of_tomorrow"), 0) == 5);
  str_free(&fatbin);
}

static const char caller[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) triple(.param "
    ".b32 x);\n"
    ".extern .global .align 4 .u32 base;\n.visible .entry use_triple(.param .u64 p) {\n  .reg .b32 "
    "%r<4>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [p];\n  { .param .b32 x; .param .b32 y; st.param.b32 [x], 4; call.uni (y), "
    "triple, (x); ld.param.b32 %r2, [y]; }\n"
    "  ld.global.u32 %r3, [base]; add.u32 %r2, %r2, %r3; st.global.u32 [%a], %r2; ret;\n}\n";
static const char callee[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 base = 100;\n"
    ".visible .func (.param .b32 r) triple(.param .b32 x) {\n  .reg .b32 %r<3>;\n  ld.param.b32 "
    "%r1, [x]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret;\n}\n"
    ".visible .entry use_base(.param .u64 p) {\n  .reg .b32 %r<2>; .reg .b64 %a;\n  ld.param.u64 "
    "%a, [p]; ld.global.u32 %r1, [base]; st.global.u32 [%a], %r1; ret;\n}\n";

static void linked(void) {
  CUlinkState link;
  void *cubin, *copy;
  size_t size;
  CUmodule m;
  CUdeviceptr base;
  OK(cuLinkCreate_v2(0, NULL, NULL, &link));
  OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, NULL,
                      NULL));
  OK(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, NULL,
                      NULL));
  OK(cuLinkComplete(link, &cubin, &size));
  copy = memcpy(malloc(size), cubin, size);
  OK(cuLinkDestroy(link));
  OK(cuModuleLoadData(&m, copy));
  free(copy);
  OK(cuModuleGetGlobal_v2(&base, NULL, m, "base"));
  OK(cuMemsetD32_v2(base, 200, 1));
  EXPECT(result(get(m, "use_triple"), 0) == 212);
}

// What cudart passes for a program built with -rdc=true: the linked machine code, and the PTX of
// each object.
static CUlibrary load_relocatable(void) {
  Str cubin = build_cubin(90, NULL);
  Str whole = build_fatbin(
      &(TestEntry){TEST_ELF, 90, 0, IMAGE_RAW, cubin.data, cubin.len, NULL, NULL, 0}, 1);
  Str first = build_fatbin(
      &(TestEntry){TEST_PTX, 80, 0, IMAGE_ZSTD, caller, 0, "--compile-only  ", "caller.cu", 0}, 1);
  Str second = build_fatbin(
      &(TestEntry){TEST_PTX, 80, 0, IMAGE_ZSTD, callee, 0, "--compile-only  ", "callee.cu", 0}, 1);
  const void *objects[] = {first.data, second.data, NULL};
  struct {
    uint32_t magic, version;
    const void *data, *extra;
  } wrapper = {0x466243B1, 2, whole.data, objects};
  CUlibrary lib;
  OK(cuLibraryLoadData(&lib, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
  return lib;
}

static void relocatable(void) {
  CUlibrary lib = load_relocatable();
  CUdeviceptr base;
  EXPECT(result(kernel_of(lib, "use_triple"), 0) == 112);
  OK(cuLibraryGetGlobal(&base, NULL, lib, "base"));
  OK(cuMemsetD32_v2(base, 300, 1));
  EXPECT(result(kernel_of(lib, "use_triple"), 0) == 312);
  OK(cuLibraryUnload(lib));
}

// One of two kernels may be refused with checks in it: both compute what they should, with one
// variable.
static void two_relocatable(void) {
  CUlibrary lib = load_relocatable();
  CUdeviceptr base;
  EXPECT(result(kernel_of(lib, "use_base"), 0) == 100);
  OK(cuLibraryGetGlobal(&base, NULL, lib, "base"));
  OK(cuMemsetD32_v2(base, 300, 1));
  EXPECT(result(kernel_of(lib, "use_triple"), 0) == 312);
  EXPECT(result(kernel_of(lib, "use_base"), 0) == 300);
  OK(cuLibraryUnload(lib));
}

// With CUDA_MODULE_LOADING=EAGER what the program asks for is ready before it is launched.
static void eager(void) {
  get(load(kernels_ptx), "alone");
}

// --- many at a time, again and again ---

static void *use_all(void *arg) {
  CUmodule m = arg;
  OK(cuCtxSetCurrent(context));
  static const char *const names[] = {"alone", "text", "read"};
  for (int i = 0; i < 3; i++) {
    CUfunction f;
    CUdeviceptr p = new_ints(1);
    void *params[] = {&p};
    OK(cuModuleGetFunction(&f, m, names[i]));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, params, NULL));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    int v = read_int(p);
    EXPECT(v == 77 || v == 'i' || v == 50);
  }
  return NULL;
}

static void threads(void) {
  for (int round = 0; round < 5; round++) {
    CUmodule m = load(kernels_ptx);
    pthread_t t[8];
    for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, use_all, m);
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
    OK(cuModuleUnload(m));
  }
}

static void again(void) {
  for (int i = 0; i < 50; i++) {
    CUmodule m = load(kernels_ptx);
    EXPECT(result(get(m, i % 2 ? "alone" : "read"), 0) == (i % 2 ? 77 : 50));
    write_word(get(m, "write"), 1);
    OK(cuModuleUnload(m));
  }
}

static void contexts(void) {
  CUcontext second;
  CUlibrary lib;
  OK(cuLibraryLoadData(&lib, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
  CUmodule here = load(kernels_ptx);
  write_word(get(here, "write"), 1);
  write_word(kernel_of(lib, "write"), 2);
  OK(cuCtxCreate_v2(&second, 0, 0));
  CUmodule there = load(kernels_ptx);
  CUdeviceptr old = out;
  out = new_ints(1);
  EXPECT(result(get(there, "read"), 0) == 50);
  EXPECT(result(kernel_of(lib, "read"), 0) ==
         50);  // a library has a copy of its variables in each context
  write_word(get(there, "write"), 3);
  OK(cuCtxDestroy_v2(second));
  out = old;
  EXPECT(result(get(here, "read"), 0) == 10);
  EXPECT(result(kernel_of(lib, "read"), 0) == 20);
  OK(cuCtxCreate_v2(&second, 0, 0));  // perhaps the same handles again
  out = new_ints(1);
  there = load(kernels_ptx);
  EXPECT(result(get(there, "read"), 0) == 50);
  OK(cuCtxDestroy_v2(second));
  OK(cuLibraryUnload(lib));
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*run)(void);
  } programs[] = {
      {"variables", variables},     {"libraries", libraries},
      {"managed", managed},         {"attributes", attributes},
      {"images", images},           {"foreign", foreign},
      {"linked", linked},           {"eager", eager},
      {"relocatable", relocatable}, {"two_relocatable", two_relocatable},
      {"threads", threads},         {"again", again},
      {"contexts", contexts},
  };
  OK(cuInit(0));
  OK(cuCtxCreate_v2(&context, 0, 0));
  out = new_ints(1);
  for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
    if (argc < 2 || !strcmp(argv[1], programs[i].name)) programs[i].run();
  return finish();
}
