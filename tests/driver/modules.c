// Modules and libraries: load, find, link, unload; kernels named by CUkernel handles.
// prints: all checks passed
#include "driver_test.h"

static const char caller_ptx[] = PTX_HEADER
    ".extern .func (.param .b32 r) triple(.param .b32 x);\n"
    ".extern .global .align 4 .u32 shared_word;\n"
    ".visible .entry use_triple(.param .u64 p) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %a;\n"
    "  ld.param.u64 %a, [p]; ld.global.u32 %r1, [%a];\n"
    "  { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), triple, (x); "
    "ld.param.b32 %r2, [y]; }\n"
    "  ld.global.u32 %r3, [shared_word]; add.u32 %r2, %r2, %r3; st.global.u32 [%a], %r2; ret;\n}\n";
static const char callee_ptx[] = PTX_HEADER
  ".visible .global .align 4 .u32 shared_word = 100;\n"
  ".visible .func (.param .b32 r) triple(.param .b32 x) {\n"
  "  .reg .b32 %r<3>;\n"
  "  ld.param.b32 %r1, [x]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret;\n}\n";

static void modules(void) {
  CUmodule m = load(common_ptx), other;
  CUfunction f = NULL, all[8];
  CUdeviceptr p;
  size_t size;
  unsigned n;
  RETURNS(cuModuleGetFunction(&f, m, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
  OK(cuModuleGetFunctionCount(&n, m));
  EXPECT(n == 5);
  OK(cuModuleEnumerateFunctions(all, 5, m));
  const char *name;
  OK(cuFuncGetName(&name, all[0]));
  EXPECT(!strcmp(name, "add"));
  OK(cuModuleGetGlobal_v2(&p, &size, m, "counter"));
  EXPECT(size == 4 && read_int(p) == 7);
  OK(cuModuleGetGlobal_v2(&p, &size, m, "factor"));
  EXPECT(size == 4 && read_int(p) == 3);
  RETURNS(cuModuleGetGlobal_v2(&p, &size, m, "nothing"), CUDA_ERROR_NOT_FOUND);
  f = get(m, "add");
  size_t offset;
  OK(cuFuncGetParamInfo(f, 2, &offset, &size));
  EXPECT(offset == 12 && size == 4);
  RETURNS(cuFuncGetParamInfo(f, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  int threads;
  OK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
  EXPECT(threads == 1024);
  OK(cuFuncGetModule(&other, f));
  EXPECT(other == m);
  // After unloading neither the module nor its functions are valid.
  OK(cuModuleUnload(m));
  RETURNS(cuModuleGetFunction(&f, m, "add"), CUDA_ERROR_INVALID_HANDLE);
  RETURNS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
  // Unloading waits for what was launched.
  m = load(common_ptx);
  CUdeviceptr buffer = new_ints(1024);
  for (int i = 0; i < 20; i++)
    OK(LAUNCH(get(m, "add"), 8, 128, NULL, &buffer, &(unsigned){1024}, &(unsigned){1}));
  OK(cuModuleUnload(m));
  EXPECT(read_int(buffer + 4092) == 20);
  OK(cuMemFree_v2(buffer));
}

static void bad_images(void) {
  CUmodule m;
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)sizeof log};
  RETURNS(cuModuleLoadDataEx(&m, PTX_HEADER ".visible .entry f() { add.u32 %nothing, 1, 2; }\n", 2,
                             options, values),
          CUDA_ERROR_INVALID_PTX);
  EXPECT(strstr(log, "%nothing"));
  RETURNS(cuModuleLoad(&m, "/nonexistent/module.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  RETURNS(cuModuleLoadData(&m, NULL), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuModuleLoadData(&m, caller_ptx), CUDA_ERROR_INVALID_PTX);      // an unresolved function
}

static void files(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/module-%d.ptx", getenv("TEST_DIR") ? getenv("TEST_DIR") : ".",
           (int)getpid());
  FILE *f = fopen(path, "w");
  EXPECT(f && fputs(common_ptx, f) >= 0 && fclose(f) == 0);
  CUmodule m;
  CUlibrary lib;
  OK(cuModuleLoad(&m, path));
  OK(cuModuleUnload(m));
  OK(cuLibraryLoadFromFile(&lib, path, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryUnload(lib));
  unlink(path);
}

static void linking(void) {
  CUlinkState l;
  void *cubin;
  size_t size;
  CUmodule m;
  OK(cuLinkCreate_v2(0, NULL, NULL, &l));
  OK(cuLinkAddData_v2(l, CU_JIT_INPUT_PTX, (void *)caller_ptx, sizeof caller_ptx, "caller", 0, NULL,
                      NULL));
  RETURNS(cuLinkComplete(l, &cubin, &size), CUDA_ERROR_INVALID_PTX);
  OK(cuLinkAddData_v2(l, CU_JIT_INPUT_PTX, (void *)callee_ptx, sizeof callee_ptx, "callee", 0, NULL,
                      NULL));
  OK(cuLinkComplete(l, &cubin, &size));
  OK(cuModuleLoadData(&m, cubin));
  OK(cuLinkDestroy(l));
  CUdeviceptr p = new_ints(1);
  OK(cuMemsetD32_v2(p, 5, 1));
  OK(LAUNCH(get(m, "use_triple"), 1, 1, NULL, &p));
  EXPECT(read_int(p) == 115);
  OK(cuModuleUnload(m));
  OK(cuMemFree_v2(p));
}

static void libraries(void) {
  CUlibrary lib, back;
  CUkernel k, all[8];
  CUfunction f;
  CUmodule m;
  CUdeviceptr p = new_ints(64), counter;
  unsigned n;
  const char *name;
  OK(cuLibraryLoadData(&lib, common_ptx, NULL, NULL, 0, NULL, NULL, 0));
  RETURNS(cuLibraryGetKernel(&k, lib, "nothing"), CUDA_ERROR_NOT_FOUND);
  OK(cuLibraryGetKernel(&k, lib, "add"));
  OK(cuLibraryGetKernelCount(&n, lib));
  EXPECT(n == 5);
  OK(cuLibraryEnumerateKernels(all, 5, lib));
  EXPECT(all[0] == k);
  OK(cuKernelGetName(&name, k));
  EXPECT(!strcmp(name, "add"));
  OK(cuKernelGetLibrary(&back, k));
  EXPECT(back == lib);
  // A CUkernel is accepted where a CUfunction is.
  OK(LAUNCH((CUfunction)k, 1, 64, NULL, &p, &(unsigned){64}, &(unsigned){3}));
  OK(cuKernelGetFunction(&f, k));
  EXPECT((void *)f != (void *)k);
  OK(LAUNCH(f, 1, 64, NULL, &p, &(unsigned){64}, &(unsigned){4}));
  EXPECT(read_int(p + 252) == 7);
  int value;
  OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, k, 0));
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
  EXPECT(value == 100000);
  OK(cuLibraryGetGlobal(&counter, NULL, lib, "counter"));
  EXPECT(read_int(counter) == 7);
  RETURNS(cuLibraryGetManaged(&counter, NULL, lib, "counter"), CUDA_ERROR_NOT_FOUND);
  OK(cuLibraryGetModule(&m, lib));
  OK(cuModuleGetFunction(&f, m, "fill"));
  RETURNS(cuModuleUnload(m), CUDA_ERROR_NOT_PERMITTED);
  OK(cuLibraryUnload(lib));
  RETURNS(LAUNCH((CUfunction)k, 1, 64, NULL, &p, &(unsigned){64}, &(unsigned){3}),
          CUDA_ERROR_INVALID_HANDLE);
  OK(cuMemFree_v2(p));
}

int main(void) {
  start();
  modules();
  bad_images();
  files();
  linking();
  libraries();
  return finish();
}
