// What nvcc's start-up code does, by hand: registers a fat binary that holds plain PTX, a kernel
// and a variable, and uses them. Built against libcudart.so.12 and libcudart.so.13 (-DVERSION=…),
// or with a stand-in for a static runtime (-DSTATIC).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int cudaError_t;
typedef struct { unsigned x, y, z; } dim3;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, int);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaRuntimeGetVersion(int *);
const char *cudaGetErrorName(cudaError_t);
#if VERSION == 12
cudaError_t cudaGetDeviceProperties_v2(void *, int);
cudaError_t cudaMemAdvise(const void *, size_t, int, int);
#else
cudaError_t cudaGetDeviceProperties(void *, int);
typedef struct { int type, id; } Location;
cudaError_t cudaMemAdvise(const void *, size_t, int, Location);
#endif
cudaError_t cudaFutureFunction(void);

#ifdef STATIC
// Functions of a static runtime as they look to us: right names, wrong code. Each must be
// redirected, also the short ones.
#define FAKE(name) \
  __attribute__((noinline)) int fake_##name(void) __asm__(#name); \
  int fake_##name(void) { return 999; }
FAKE(cudaMalloc)
FAKE(cudaFree) FAKE(cudaMemcpy) FAKE(cudaMemcpyToSymbol) FAKE(cudaDeviceSynchronize)
    FAKE(cudaGetLastError) FAKE(cudaRuntimeGetVersion) FAKE(cudaFutureFunction)
        FAKE(cudaLaunchKernel) FAKE(cudaMemAdvise) FAKE(cudaGetDeviceCount) FAKE(cudaMemset)
            FAKE(cudaSetDevice) FAKE(cudaGetDevice) FAKE(cudaStreamCreate) FAKE(cudaStreamDestroy)
                FAKE(cudaEventCreate) FAKE(__cudaPopCallConfiguration)
                    FAKE(__cudaPushCallConfiguration) FAKE(__cudaRegisterFatBinaryEnd)
                        FAKE(__cudaRegisterManagedVar) FAKE(__cudaRegisterFatBinary)
                            FAKE(__cudaRegisterFunction) FAKE(__cudaRegisterVar)
                                FAKE(__cudaUnregisterFatBinary)
#if VERSION == 12
                                    FAKE(cudaGetDeviceProperties_v2)
#else
                                    FAKE(cudaGetDeviceProperties)
#endif
                                        __attribute__((noinline)) const
    char *cudaGetErrorName(cudaError_t e) { return "not redirected"; }
#endif
// The program's own function with such a name must be left alone.
__attribute__((noinline)) int cudaHelperOfTheProgram(int x) { return x + 1; }

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 bias = 5;\n"
    ".visible .global .align 4 .attribute(.managed) .u32 count = 3;\n"
    ".visible .entry run(.param .u64 out, .param .u32 v) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<8>;\n"
    "  ld.param.u64 %rd1, [out];\n  ld.param.u32 %r1, [v];\n  mov.u32 %r2, %tid.x;\n"
    "  ld.global.u32 %r3, [bias];\n  mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "  mul.wide.u32 %rd2, %r2, 4;\n  add.u64 %rd3, %rd1, %rd2;\n  st.global.u32 [%rd3], %r4;\n"
    "  ld.global.u32 %r5, [count];\n  add.u32 %r5, %r5, 1;\n  st.global.u32 [count], %r5;\n  "
    "ret;\n}\n";

static struct {
  struct { uint32_t magic; uint16_t version, header; uint64_t size; } head;
  struct {
    uint16_t kind, version;
    uint32_t header;
    uint64_t size;
    uint32_t compressed, options;
    uint16_t minor, major;
    uint32_t arch, name, name_size;
    uint64_t flags, zero, unpacked;
  } entry;
  char text[(sizeof ptx + 7) / 8 * 8];
} __attribute__((packed, aligned(8))) fatbin;
static struct {
  uint32_t magic, version;
  const void *data;
  void *extra;
} wrapper = {0x466243B1, 1, &fatbin, NULL};

static int bias;                              // the host's shadow of the device variable
static int *count;                            // the pointer a __managed__ variable is read through
static void **handle;

static void run(int *out, int v) {            // a host stub
  dim3 grid, block;
  size_t shared;
  void *stream, *args[] = {&out, &v};
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == 0)
    cudaLaunchKernel((const void *)run, grid, block, args, shared, stream);
}

__attribute__((constructor)) static void register_all(void) {
  fatbin.head.magic = 0xBA55ED50;
  fatbin.head.version = 1;
  fatbin.head.header = 16;
  fatbin.head.size = sizeof fatbin.entry + sizeof fatbin.text;
  fatbin.entry.kind = 1;
  fatbin.entry.version = 0x101;
  fatbin.entry.header = 64;
  fatbin.entry.size = sizeof fatbin.text;
  fatbin.entry.major = 7;
  fatbin.entry.arch = 70;
  fatbin.entry.flags = 0x11;
  memcpy(fatbin.text, ptx, sizeof ptx);
  handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, (const char *)run, (char *)"run", "run", -1, NULL, NULL, NULL,
                         NULL, NULL);
  __cudaRegisterVar(handle, (char *)&bias, (char *)"bias", "bias", 0, 4, 0, 0);
  __cudaRegisterManagedVar(handle, (void **)&count, (char *)"count", "count", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
}

static int failures;
#define EXPECT(cond) \
  do { \
    if (!(cond)) { \
      printf("line %d: %s does not hold\n", __LINE__, #cond); \
      failures++; \
    } \
  } while (0)

int main(void) {
  int *d, h[32], value = 1000, version = 0;
  EXPECT(cudaMalloc((void **)&d, sizeof h) == 0);
  EXPECT(count && *count == 3);
  if (__cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, NULL) == 0) run(d, 2);
  EXPECT(cudaMemcpy(h, d, sizeof h, 2) == 0);
  EXPECT(h[0] == 5 && h[31] == 67);
  EXPECT(cudaMemcpyToSymbol(&bias, &value, 4, 0, 1) == 0);
  if (__cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, NULL) == 0) run(d, 1);
  EXPECT(cudaDeviceSynchronize() == 0);
  EXPECT(cudaMemcpy(h, d, sizeof h, 2) == 0);
  EXPECT(h[0] == 1000 && h[31] == 1031);
  EXPECT(*count == 5);
  EXPECT(cudaRuntimeGetVersion(&version) == 0 && version / 1000 == VERSION);
  EXPECT(cudaGetLastError() == 0);
  EXPECT(!strcmp(cudaGetErrorName(700), "cudaErrorIllegalAddress"));
  EXPECT(cudaHelperOfTheProgram(4) == 5);

  // The two versions of the properties differ in size and in what stands at the same offset.
  unsigned char p[1200];
  memset(p, 0xee, sizeof p);
#if VERSION == 12
  EXPECT(cudaGetDeviceProperties_v2(p, 0) == 0);
  EXPECT(p[1031] == 0 && p[1032] == 0xee);
  EXPECT(*(int *)(p + 308) == 32 &&
         *(int *)(p + 360) == 9);  // warpSize; major, behind clockRate and totalConstMem
  EXPECT(cudaMemAdvise(count, 4, 3, 0) == 0);
#else
  EXPECT(cudaGetDeviceProperties(p, 0) == 0);
  EXPECT(p[1007] == 0 && p[1008] == 0xee);
  EXPECT(*(int *)(p + 308) == 32);
  EXPECT(cudaMemAdvise(count, 4, 3, (Location){1, 0}) == 0);
#endif
#ifdef STATIC
  EXPECT(cudaFutureFunction() == 801);  // not known to us, but of the runtime: never left to run
#endif
  EXPECT(cudaFree(d) == 0);
  __cudaUnregisterFatBinary(handle);
  printf(failures ? "%d checks failed\n" : "all checks passed\n", failures);
  return failures != 0;
}
