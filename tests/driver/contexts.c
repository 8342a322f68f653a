// Several contexts and devices: each has its own modules, memory and errors; the stack of contexts
// belongs to the thread.
// options: --devices=2
// prints: all checks passed
#include "driver_test.h"

static void devices(void) {
  int n, major, minor, sms, can;
  char name[64], bus[32];
  CUuuid a, b;
  CUdevice found;
  size_t bytes;
  OK(cuDeviceGetCount(&n));
  EXPECT(n == 2);
  OK(cuDeviceGetName(name, sizeof name, 1));
  EXPECT(!strcmp(name, "Warpgrind Virtual GPU"));
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
  OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT(major == 9 && minor == 0 && sms == 132);
  RETURNS(cuDeviceGetAttribute(&sms, (CUdevice_attribute)999, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT(bytes > 1 << 20);
  OK(cuDeviceGetUuid_v2(&a, 0));
  OK(cuDeviceGetUuid_v2(&b, 1));
  EXPECT(memcmp(&a, &b, sizeof a) != 0);
  OK(cuDeviceGetPCIBusId(bus, sizeof bus, 1));
  OK(cuDeviceGetByPCIBusId(&found, bus));
  EXPECT(found == 1);
  OK(cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(can == 1);
  OK(cuDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  CUdevice d;
  RETURNS(cuDeviceGet(&d, 2), CUDA_ERROR_INVALID_DEVICE);
}

// Atomics between devices are native, those between a device and the host are not.
static void atomics(void) {
  CUatomicOperation operations[3] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS,
                                     CU_ATOMIC_OPERATION_FLOAT_MIN};
  unsigned got[3] = {9, 9, 9};
  OK(cuDeviceGetHostAtomicCapabilities(got, operations, 3, 0));
  EXPECT(!got[0] && !got[1] && !got[2]);
  OK(cuDeviceGetP2PAtomicCapabilities(got, operations, 3, 0, 1));
  EXPECT(got[0] & CU_ATOMIC_CAPABILITY_REDUCTION && got[0] & CU_ATOMIC_CAPABILITY_SCALAR_64);
  EXPECT(got[1] & CU_ATOMIC_CAPABILITY_SCALAR_128 && !(got[1] & CU_ATOMIC_CAPABILITY_REDUCTION));
  EXPECT(!got[2]);
  RETURNS(cuDeviceGetP2PAtomicCapabilities(got, operations, 3, 0, 0), CUDA_ERROR_INVALID_DEVICE);
  RETURNS(cuDeviceGetP2PAtomicCapabilities(got, operations, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuDeviceGetHostAtomicCapabilities(NULL, operations, 3, 0), CUDA_ERROR_INVALID_VALUE);
  RETURNS(cuDeviceGetHostAtomicCapabilities(got, operations, 3, 2), CUDA_ERROR_INVALID_DEVICE);
  operations[2] = CU_ATOMIC_OPERATION_MAX;
  got[0] = 9;
  RETURNS(cuDeviceGetHostAtomicCapabilities(got, operations, 3, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT(got[0] == 9);
}

static void stack(void) {
  CUcontext a, b, top;
  CUdevice dev;
  OK(cuCtxGetCurrent(&top));
  EXPECT(top == NULL);
  RETURNS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxCreate_v2(&a, 0, 0));
  OK(cuCtxCreate_v4(&b, NULL, CU_CTX_SCHED_YIELD, 1));
  OK(cuCtxGetCurrent(&top));
  EXPECT(top == b);
  OK(cuCtxGetDevice(&dev));
  EXPECT(dev == 1);
  unsigned flags;
  OK(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_YIELD);
  OK(cuCtxPopCurrent_v2(&top));
  EXPECT(top == b);
  OK(cuCtxGetDevice(&dev));
  EXPECT(dev == 0);
  OK(cuCtxDestroy_v2(b));
  RETURNS(cuCtxPushCurrent_v2(b), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxDestroy_v2(a));
  OK(cuCtxGetCurrent(&top));
  EXPECT(top == NULL);
}

// The same PTX in two contexts: two variables. Memory of one can be copied to the other.
static void separate_modules(void) {
  CUcontext ctx[2];
  CUmodule m[2];
  CUdeviceptr counter[2], p[2];
  for (int i = 0; i < 2; i++) {
    OK(cuCtxCreate_v2(&ctx[i], 0, i));
    m[i] = load(common_ptx);
    OK(cuModuleGetGlobal_v2(&counter[i], NULL, m[i], "counter"));
    p[i] = new_ints(4);
  }
  EXPECT(counter[0] != counter[1]);
  OK(cuCtxSetCurrent(ctx[0]));
  for (int k = 0; k < 3; k++)
    OK(cuLaunchKernel(get(m[0], "bump"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  OK(cuCtxSynchronize());
  EXPECT(read_int(counter[0]) == 10);
  OK(cuMemsetD32_v2(p[0], 42, 4));
  OK(cuMemcpyPeer(p[1], ctx[1], p[0], ctx[0], 16));
  OK(cuCtxEnablePeerAccess(ctx[1], 0));
  RETURNS(cuCtxEnablePeerAccess(ctx[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  OK(cuCtxDisablePeerAccess(ctx[1]));
  RETURNS(cuCtxDisablePeerAccess(ctx[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  OK(cuCtxSetCurrent(ctx[1]));
  EXPECT(read_int(counter[1]) == 7);
  EXPECT(read_int(p[1] + 12) == 42);
  // A kernel of one context cannot be launched into another's stream.
  CUstream s;
  OK(cuStreamCreate(&s, 0));
  RETURNS(cuLaunchKernel(get(m[0], "bump"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL),
          CUDA_ERROR_INVALID_HANDLE);
  // An error stays in its context.
  OK(cuLaunchKernel(get(m[1], "bad"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
  RETURNS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
  RETURNS(cuMemAlloc_v2(&p[1], 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  OK(cuCtxSetCurrent(ctx[0]));
  EXPECT(read_int(counter[0]) == 10);
  OK(cuCtxDestroy_v2(ctx[1]));
  OK(cuCtxDestroy_v2(ctx[0]));
}

// A managed variable of a library is one variable for all contexts and the host; an ordinary one
// exists in each.
static void managed_variable(void) {
  static const char ptx[] = PTX_HEADER
      ".visible .global .attribute(.managed) .align 4 .u32 shared_word = 5;\n"
      ".visible .global .align 4 .u32 own_word = 5;\n"
      ".visible .entry step() {\n"
      "  .reg .b32 %r<3>;\n"
      "  ld.global.u32 %r1, [shared_word]; add.u32 %r1, %r1, 1; st.global.u32 [shared_word], %r1;\n"
      "  ld.global.u32 %r2, [own_word]; add.u32 %r2, %r2, 1; st.global.u32 [own_word], %r2; "
      "ret;\n}\n";
  CUlibrary lib;
  CUkernel k;
  CUdeviceptr word, own;
  CUcontext ctx[2];
  OK(cuLibraryLoadData(&lib, ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&k, lib, "step"));
  for (int i = 0; i < 2; i++) {
    OK(cuCtxCreate_v2(&ctx[i], 0, i));
    OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuLibraryGetGlobal(&own, NULL, lib, "own_word"));
    EXPECT(read_int(own) == 6);
  }
  OK(cuLibraryGetManaged(&word, NULL, lib, "shared_word"));
  EXPECT(*(volatile unsigned *)(uintptr_t)word == 7);
  OK(cuLibraryUnload(lib));
  for (int i = 0; i < 2; i++) OK(cuCtxDestroy_v2(ctx[1 - i]));
}

static void primary(void) {
  CUcontext a, b, current;
  unsigned flags;
  int active;
  size_t before, after, total;
  OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
  EXPECT(!active);
  OK(cuDevicePrimaryCtxRetain(&a, 1));
  OK(cuDevicePrimaryCtxRetain(&b, 1));
  EXPECT(a == b);
  RETURNS(cuCtxDestroy_v2(a), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxSetCurrent(a));
  OK(cuMemGetInfo_v2(&before, &total));
  CUdeviceptr p;
  OK(cuMemAlloc_v2(&p, 1 << 20));
  OK(cuMemGetInfo_v2(&after, &total));
  EXPECT(before - after == 1 << 20);
  OK(cuDevicePrimaryCtxRelease_v2(1));
  OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
  EXPECT(active);
  OK(cuDevicePrimaryCtxReset_v2(
      1));  // frees everything; the handle is of no use until it is retained again
  OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
  EXPECT(!active);
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == a);
  RETURNS(cuMemAlloc_v2(&p, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  OK(cuDevicePrimaryCtxRetain(&a, 1));
  OK(cuMemGetInfo_v2(&after, &total));
  EXPECT(before == after);
  size_t stack;
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4000));
  OK(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
  EXPECT(stack >= 4000);
  OK(cuDevicePrimaryCtxRelease_v2(1));
}

int main(void) {
  RETURNS(cuDeviceGetCount(&(int){0}), CUDA_ERROR_NOT_INITIALIZED);
  OK(cuInit(0));
  devices();
  atomics();
  stack();
  separate_modules();
  managed_variable();
  primary();
  return finish();
}
