// Launch parameters: the launch record is added behind the program's own ones, as a list and in a
// buffer, at the offset that its alignment asks for.
#include "fake_driver.h"
#include "gpu/modules/modules.h"
#include "tools/tool.h"
#include "unit.h"

extern const Tool tool_memcheck;
const Tool *const tool_table[TOOL_COUNT_] = {[TOOL_MEMCHECK] = &tool_memcheck};

static int handles[8];
static GpuModule module;
static GpuContext *context;

// A kernel of the program whose code with checks takes a record at this offset.
static CUfunction function(int i, const char *name, WovenKernel *code) {
  CUfunction handle = (CUfunction)&handles[i];
  GpuFunction *f = gpu_function_register(&module, handle, false, name);
  code->record_bytes = sizeof(WgLaunch);
  f->code = code;
  atomic_store(&f->target, (CUfunction)((char *)handle + 1));
  return handle;
}

// The launch has pointers to itself: it must stay where it is.
static void begin(GpuLaunch *l, CUfunction f, void **params, void **extra) {
  *l = (GpuLaunch){.event = {.grid = {1, 1, 1}, .block = {32, 1, 1}}};
  gpu_launch_begin(l, f, params, extra, NULL);
}

#define EXTRA(buffer, size) \
  (void *[]) { \
    CU_LAUNCH_PARAM_BUFFER_POINTER, (buffer), CU_LAUNCH_PARAM_BUFFER_SIZE, (size), \
        CU_LAUNCH_PARAM_END \
  }

static void test_extra(void) {
  const void *buffer;
  size_t n, size = 12;
  int bytes;
  EXPECT(gpu_launch_extra(EXTRA(&bytes, &size), &buffer, &n) && buffer == &bytes && n == 12);
  EXPECT(gpu_launch_extra(NULL, &buffer, &n) && !buffer && !n);
  void *unknown[] = {(void *)0x77, &bytes, CU_LAUNCH_PARAM_END};
  EXPECT(!gpu_launch_extra(unknown, &buffer, &n));
  void *no_pointer[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  EXPECT(!gpu_launch_extra(no_pointer, &buffer, &n));
}

static void test_list(void) {
  static WovenKernel code = {.name = "list", .user_params = 2, .user_param_bytes = 12};
  code.record_offset = 16;
  CUfunction f = function(0, "k", &code);
  int a = 1;
  double b = 2;
  void *given[] = {&a, &b};
  GpuLaunch l;
  begin(&l, f, given, NULL);
  EXPECT(l.function == (CUfunction)((char *)f + 1));
  EXPECT(l.params != given && l.params[0] == &a && l.params[1] == &b);
  WgLaunch r;
  memcpy(&r, l.params[2], sizeof r);
  EXPECT(r.launch == l.number && r.launch && r.channel && r.memory);
  EXPECT(given[0] == &a && given[1] == &b);
  gpu_launch_end(&l, CUDA_SUCCESS);
}

// A struct parameter with an alignment of 16 ends at byte 20; the record begins at byte 32.
static void test_aligned_buffer(void) {
  static WovenKernel code = {.name = "k", .user_params = 2, .user_param_bytes = 20};
  code.record_offset = 32;
  CUfunction f = function(1, "k", &code);
  uint8_t bytes[20];
  size_t size = sizeof bytes;
  memset(bytes, 0xab, sizeof bytes);
  GpuLaunch l;
  begin(&l, f, NULL, EXTRA(bytes, &size));
  const void *buffer;
  size_t n;
  EXPECT(!l.params && gpu_launch_extra(l.extra, &buffer, &n));
  EXPECT(n == 32 + sizeof(WgLaunch) && buffer != bytes);
  EXPECT(!memcmp(buffer, bytes, sizeof bytes));
  static const uint8_t zeros[12];
  EXPECT(!memcmp((const char *)buffer + 20, zeros, 12));
  WgLaunch r;
  memcpy(&r, (const char *)buffer + 32, sizeof r);
  EXPECT(r.launch == l.number && r.launch);
  gpu_launch_end(&l, CUDA_SUCCESS);
}

// 4 KB of parameters, the most there may be, and more pointers than a GpuLaunch has room for.
static void test_large(void) {
  static WovenKernel code = {.name = "k", .user_params = 512, .user_param_bytes = 4096};
  code.record_offset = 4096;
  CUfunction f = function(2, "k", &code);
  static uint64_t values[512];
  static void *list[512];
  size_t size = sizeof values, n;
  const void *buffer;
  for (uint64_t i = 0; i < 512; i++) {
    values[i] = i * 3;
    list[i] = &values[i];
  }
  GpuLaunch l;
  begin(&l, f, NULL, EXTRA(values, &size));
  EXPECT(gpu_launch_extra(l.extra, &buffer, &n) && n == 4096 + sizeof(WgLaunch));
  EXPECT(!memcmp(buffer, values, sizeof values));
  gpu_launch_end(&l, CUDA_SUCCESS);
  begin(&l, f, list, NULL);
  EXPECT(!memcmp(l.params, list, sizeof list) && ((WgLaunch *)l.params[512])->launch == l.number);
  gpu_launch_end(&l, CUDA_SUCCESS);
}

// What the driver may refuse goes to the original: the program gets the same answer.
static void test_wrong_size(void) {
  static WovenKernel code = {.name = "k", .user_params = 1, .user_param_bytes = 8};
  code.record_offset = 8;
  CUfunction f = function(3, "k", &code);
  uint64_t value = 0;
  size_t size = 4;
  GpuLaunch l;
  begin(&l, f, NULL, EXTRA(&value, &size));
  EXPECT(l.function == f);
  gpu_launch_end(&l, CUDA_SUCCESS);
  size = 8;
  void *given[] = {&value};
  begin(&l, f, given, EXTRA(&value, &size));  // both at once
  EXPECT(l.function == f && l.params == given);
  gpu_launch_end(&l, CUDA_SUCCESS);
}

// A kernel that --kernel-exclude names gets a record of zeros: check nothing.
static void test_not_checked(void) {
  static WovenKernel code = {.name = "out"};
  CUfunction f = function(4, "out", &code);
  static const WgLaunch zeros;
  GpuLaunch l;
  begin(&l, f, NULL, NULL);
  EXPECT(l.function != f && !memcmp(l.params[0], &zeros, sizeof zeros));
  gpu_launch_end(&l, CUDA_SUCCESS);
}

static uint32_t asked;
static CUresult param_info(CUfunction f, size_t i, size_t *offset, size_t *size) {
  asked++;
  *offset = i * 16;
  *size = 8;
  return i < 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void test_param_info(void) {
  static WovenKernel code = {.name = "k"};
  GpuFunction *f = gpu_function(function(5, "k", &code));
  size_t offset, size;
  gpu_real.cuFuncGetParamInfo = param_info;
  EXPECT(gpu_launch_param(f, 2, &offset, &size) && offset == 32 && size == 8);
  EXPECT(!gpu_launch_param(f, 3, &offset, &size));
  uint32_t before = asked;
  EXPECT(gpu_launch_param(f, 1, &offset, &size) && offset == 16 && asked == before);
}

// The module is unloaded: a launch by the old handle is a finding and does not reach the driver.
// A new function with the same handle is another one.
static void test_unloaded(void) {
  static WovenKernel code = {.name = "k"};
  CUfunction f = function(6, "k", &code);
  SessionKernel *kernel = gpu_function(f)->kernel;
  gpu_functions_gone(&module);
  gpu_functions_forget(&module, NULL);
  EXPECT(gpu_function(f) == NULL);
  fake_events_clear();
  GpuLaunch l;
  begin(&l, f, NULL, NULL);
  EXPECT(l.gone && !l.of && fake_events(EVENT_FINDING) == 1);
  gpu_launch_end(&l, CUDA_ERROR_INVALID_HANDLE);
  GpuModule other = {.session = fake_module("other.cu", "k", 0), .context = context->handle};
  GpuFunction *again = gpu_function_register(&other, f, false, "k");
  EXPECT(!session_use(SESSION_FUNCTION_GONE, f));
  EXPECT(again->kernel != kernel && again->code == NULL);
  again->code = &code;
  atomic_store(&again->target, f);
  begin(&l, f, NULL, NULL);
  EXPECT(!l.gone && l.of == again && l.function == f);
  gpu_launch_end(&l, CUDA_SUCCESS);
}

int main(void) {
  setenv("WARPGRIND_TOOL", "memcheck", 1);
  setenv("WARPGRIND_HOST_STACKS", "no", 1);
  setenv("WARPGRIND_KERNEL_EXCLUDE", "^out$", 1);
  session_start("gpu");
  fake_driver_install();
  fake_context(0);
  context = gpu_context_current();
  module = (GpuModule){.session = fake_module("m.cu", "k", 0), .context = context->handle};
  SUBJECT(extra);
  SUBJECT(list);
  SUBJECT(aligned_buffer);
  SUBJECT(large);
  SUBJECT(wrong_size);
  SUBJECT(not_checked);
  SUBJECT(param_info);
  SUBJECT(unloaded);
}
