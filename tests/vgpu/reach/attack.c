// Runs each kernel of attacks.ptx in a context of its own. None may change memory of the host, or
// leave a lock held; each ends as on a GPU. attack FILE [NAME]: only the kernel of that name; size0
// … size2: code that needs too much memory; checked: a tool runs.
#include "driver/driver_test.h"
#include "vgpu/tensormap.h"

typedef enum { HOST, GAP, ZERO, OUT, SMALL } Target;      // what the parameter p is: see target_of
typedef struct Attack {
  const char *kernel;
  Target target;
  CUresult result;
  unsigned threads, blocks;
} Attack;
enum { WORDS = 64, DONE = 1 };
static uint64_t canary[WORDS] = {1};
static const char *only;
static bool
    checked;  // by a tool, which may keep an access from being made: results are its business

static const Attack attacks[] = {
    {"store", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"store", GAP, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"store", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"store_generic", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"store_volatile", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"load", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"load_const", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"atomic_add", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"atomic_cas", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"atomic_exch", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"reduce", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"atomic_128", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"atomic_128", GAP, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"atomic_128", OUT, CUDA_SUCCESS},
    {"cas_128", GAP, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"cas_128", OUT, CUDA_SUCCESS},
    {"heap_freed", HOST, CUDA_SUCCESS},
    {"heap_header", HOST, CUDA_SUCCESS},
    {"heap_works", ZERO, CUDA_SUCCESS},
    {"heap_free", HOST, CUDA_ERROR_LAUNCH_FAILED},
    {"heap_free", GAP, CUDA_ERROR_LAUNCH_FAILED},
    {"heap_free", SMALL, CUDA_ERROR_LAUNCH_FAILED},
    {"heap_free", ZERO, CUDA_SUCCESS},
    {"heap_free_inside", ZERO, CUDA_ERROR_LAUNCH_FAILED},
    {"heap_free_twice", ZERO, CUDA_ERROR_LAUNCH_FAILED},
    {"heap_works", ZERO, CUDA_SUCCESS},
    {"print_format", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"print_format", GAP, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"print_string", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"print_string", GAP, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"print_arguments", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"print_wide", ZERO, CUDA_SUCCESS},
    {"assert_string", HOST, CUDA_ERROR_ASSERT},
    {"shared_high", ZERO, CUDA_SUCCESS},
    {"shared_high", ZERO, CUDA_SUCCESS, 32},
    {"shared_wrap", ZERO, CUDA_SUCCESS},
    {"shared_wrap", ZERO, CUDA_SUCCESS, 32},
    {"shared_end", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"shared_red", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS, 32},
    {"shared_far", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"shared_rank", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"local_far", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"local_generic", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"take_all", ZERO, CUDA_ERROR_HARDWARE_STACK_ERROR},
    {"param_far", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"param_negative", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"param_written", HOST, CUDA_SUCCESS},
    {"bulk_to", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"bulk_far", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"bulk_reduce", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"async_from", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"mbarrier", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"matrix_store", HOST, CUDA_ERROR_ILLEGAL_ADDRESS, 32},
    {"matrix_load", HOST, CUDA_ERROR_ILLEGAL_ADDRESS, 32},
    {"matrix_load", GAP, CUDA_ERROR_ILLEGAL_ADDRESS, 32},
    {"map_copy", HOST, CUDA_ERROR_ILLEGAL_ADDRESS, 32},
    {"map_replace", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"tensor_store", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"multicast", ZERO, CUDA_SUCCESS, 1, 2},
    {"texture", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"texture", GAP, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"texture", SMALL, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"surface", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"surface", SMALL, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"call_through", HOST, CUDA_ERROR_INVALID_PC},
    {"call_through", ZERO, CUDA_ERROR_INVALID_PC},
    {"branch_table", ZERO, CUDA_ERROR_LAUNCH_FAILED},
    {"own_names", HOST, CUDA_SUCCESS},
    {"child_forged", HOST, CUDA_SUCCESS},
    {"child_forged", OUT, CUDA_SUCCESS},
    {"child_forged", GAP, CUDA_SUCCESS},
    {"child_twice", HOST, CUDA_SUCCESS},
    {"child_huge", ZERO, CUDA_SUCCESS},
    {"child_endless", HOST, CUDA_SUCCESS},
    {"child_copy", HOST, CUDA_SUCCESS},
    {"child_set", OUT, CUDA_SUCCESS},
    {"child_set_gap", ZERO, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"child_malloc", HOST, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"child_free", HOST, CUDA_SUCCESS},
    {"child_free", SMALL, CUDA_SUCCESS},
};

static char *read_text(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = calloc(1, 1 << 20);
  if (!f || !fread(text, 1, (1 << 20) - 1, f)) exit(2);
  fclose(f);
  return text;
}

static CUdeviceptr target_of(Target t, CUdeviceptr out) {
  switch (t) {
  case HOST: return (uintptr_t)&canary[16];
  case GAP: return out + (1ull << 40);
  case OUT: return out;
  case SMALL: return 12345;
  default: return 0;
  }
}

static void check_canary(const char *after) {
  for (unsigned i = 0; i < WORDS; i++)
    if (canary[i] != 0x1111111111111111u * (i % 15 + 1)) {
      printf("%s changed word %u of the host's memory to 0x%llx\n", after, i,
             (unsigned long long)canary[i]);
      failures++;
      canary[i] = 0x1111111111111111u * (i % 15 + 1);
    }
}

typedef struct Opened { CUcontext ctx; CUmodule module; CUdeviceptr out; } Opened;

static Opened open_module(const char *ptx) {
  Opened o = {0};
  CUdevice dev;
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&o.ctx, 0, dev));
  OK(cuModuleLoadData(&o.module, ptx));
  OK(cuMemAlloc_v2(&o.out, 1024));
  OK(cuMemsetD8_v2(o.out, 0, 1024));
  return o;
}

static CUresult run(const Opened *o, const char *kernel, CUdeviceptr p, unsigned blocks,
                    unsigned threads) {
  CUfunction f;
  CUdeviceptr out = o->out;
  void *params[] = {&p, &out};
  OK(cuModuleGetFunction(&f, o->module, kernel));
  CUresult r = cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
  return r ? r : cuCtxSynchronize();
}

static void attack(const char *ptx, const Attack *a) {
  if (only && strcmp(only, a->kernel)) return;
  Opened o = open_module(ptx);
  CUdeviceptr p = target_of(a->target, o.out);
  if (!strcmp(a->kernel, "multicast")) OK(cuMemsetD8_v2(o.out, 1, 64));
  CUresult r = run(&o, a->kernel, p, a->blocks ? a->blocks : 1, a->threads ? a->threads : 1);
  if (r != a->result && !checked) {
    printf("%s (%d) ended with %s, not %s\n", a->kernel, a->target, name_of(r), name_of(a->result));
    failures++;
  }
  uint64_t words[16] = {0};
  if (!r && !checked && strcmp(a->kernel, "heap_free")) {
    OK(cuMemcpyDtoH_v2(words, o.out, sizeof words));
    bool is_128 = strstr(a->kernel, "_128");
    uint64_t want = !strcmp(a->kernel, "multicast") ? 0x0101010101010101u : is_128 ? 4 : DONE;
    if (words[is_128] != want) {
      printf("%s (%d) left 0x%llx\n", a->kernel, a->target, (unsigned long long)words[0]);
      failures++;
    }
    if (!strcmp(a->kernel, "multicast") && words[8] != 0x0101010100000000u) {
      printf("multicast reached 0x%llx\n", (unsigned long long)words[8]);
      failures++;
    }
  }
  check_canary(a->kernel);
  cuCtxDestroy_v2(o.ctx);
}

// Memory of the device is freed and then written to: the allocator hands out none but the device's.
static void attack_free_lists(const char *ptx) {
  if (only && strcmp(only, "free_lists")) return;
  static const size_t sizes[] = {1, 512, 4096, 100000, 1 << 20};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    Opened o = open_module(ptx);
    CUdeviceptr a, b, host = (uintptr_t)&canary[16];
    OK(cuMemAlloc_v2(&a, sizes[s]));
    OK(cuMemAlloc_v2(&b, sizes[s]));
    OK(cuMemFree_v2(a));
    // heap_header's stores would be elsewhere: `load` copies the first word of p to out, so out is
    // the freed memory here
    Opened freed = o;
    freed.out = a;
    OK(cuMemcpyHtoD_v2(o.out, &host, 8));
    CUresult r = run(&freed, "load", o.out, 1, 1);
    if (r && r != CUDA_ERROR_ILLEGAL_ADDRESS) {
      printf("use after free ended with %s\n", name_of(r));
      failures++;
    }
    for (unsigned i = 0; !r && i < 3; i++) {
      CUdeviceptr c;
      OK(cuMemAlloc_v2(&c, sizes[s]));
      if (c - host < sizeof canary) {
        printf("cuMemAlloc of %zu bytes returned an address of the host\n", sizes[s]);
        failures++;
      } else OK(cuMemsetD8_v2(c, 0x77, sizes[s]));
    }
    check_canary("use after free");
    cuCtxDestroy_v2(o.ctx);
  }
}

// Tensor maps are bytes that a kernel can write: nothing in them is trusted.
static TensorMap sound_map(CUdeviceptr address) {
  return (TensorMap){.magic = TENSOR_MAP_MAGIC,
                     .mode = TENSOR_MAP_TILED,
                     .rank = 1,
                     .type = 2,
                     .element = 4,
                     .address = address,
                     .dims = {63},
                     .element_strides = {1},
                     .box = {64}};
}

static void attack_map(const char *ptx, const char *what, TensorMap (*forge)(CUdeviceptr out),
                       CUresult result) {
  static const char *const kernels[] = {"tensor_store", "tensor_load"};
  for (unsigned k = 0; k < 2; k++) {
    if (only && strcmp(only, kernels[k])) continue;
    Opened o = open_module(ptx);
    TensorMap m = forge(o.out);
    OK(cuMemcpyHtoD_v2(o.out + 512, &m, sizeof m));
    CUresult r = run(&o, kernels[k], o.out + 512, 1, 1);
    if (r != result && !checked) {
      printf("%s with %s ended with %s, not %s\n", kernels[k], what, name_of(r), name_of(result));
      failures++;
    }
    check_canary(what);
    cuCtxDestroy_v2(o.ctx);
  }
}

#define FORGE(name, change) \
  static TensorMap name(CUdeviceptr out) { \
    TensorMap m = sound_map(out); \
    change; \
    return m; \
  }
FORGE(forge_nothing, (void)0)
FORGE(forge_host, m.address = (uintptr_t)&canary[16])
FORGE(forge_gap, m.address = out + (1ull << 40))
FORGE(forge_stride, m.element_strides[0] = 0)
FORGE(forge_box, m.box[0] = 0)
FORGE(forge_large_box, m.box[0] = 65535)
FORGE(forge_element, m.element = 255)
FORGE(forge_element_16, m.element = 16)
FORGE(forge_swizzle, (m.swizzle = 3, m.box[0] = 4))
FORGE(forge_long, (m.dims[0] = 0xffffffff, m.address = out - 0x3fffff00))

static void attack_maps(const char *ptx) {
  attack_map(ptx, "a sound map", forge_nothing, CUDA_SUCCESS);
  attack_map(ptx, "an address of the host", forge_host, CUDA_ERROR_ILLEGAL_ADDRESS);
  attack_map(ptx, "an address that is not allocated", forge_gap, CUDA_ERROR_ILLEGAL_ADDRESS);
  attack_map(ptx, "stride 0", forge_stride, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  attack_map(ptx, "an empty box", forge_box, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  attack_map(ptx, "a large box", forge_large_box, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  attack_map(ptx, "elements of 255 bytes", forge_element, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  attack_map(ptx, "elements of 16 bytes", forge_element_16, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  attack_map(ptx, "a swizzle of less than a line", forge_swizzle, CUDA_SUCCESS);
  attack_map(ptx, "an address before the device's memory", forge_long, CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Code that asks for more memory than any device has is refused: warpgrind ends the run.
static void attack_size(unsigned i) {
  static const char *const bodies[] = {
      ".shared .align 16 .b8 x[4294967280]; .reg .b32 %r; mov.u32 %r, x; st.shared.u32 [%r], 1;",
      ".local .align 16 .b8 x[4294967280]; .reg .b32 %r; mov.u32 %r, x; st.local.u32 [%r], 1;",
      ".local .align 16 .b8 x[4294967288]; .local .align 16 .b8 y[64]; .reg .b32 %r; mov.u32 %r, "
      "y; st.local.u32 [%r], 1;",
  };
  char text[600];
  snprintf(text, sizeof text,
           PTX_HEADER ".visible .entry k(.param .u64 p, .param .u64 out) { %s ret; }\n", bodies[i]);
  Opened o = open_module(text);
  run(&o, "k", 0, 1, 1);
}

int main(int argc, char **argv) {
  checked = argc > 2 && !strcmp(argv[2], "checked");
  only = argc > 2 && !checked ? argv[2] : NULL;
  for (unsigned i = 0; i < WORDS; i++) canary[i] = 0x1111111111111111u * (i % 15 + 1);
  const char *ptx = read_text(argv[1]);
  OK(cuInit(0));
  if (only && !strncmp(only, "size", 4)) attack_size((unsigned)(only[4] - '0') % 3);
  for (unsigned i = 0; i < sizeof attacks / sizeof *attacks; i++) attack(ptx, &attacks[i]);
  attack_free_lists(ptx);
  attack_maps(ptx);
  return finish();
}
