// many KIND COUNT ORDER: allocates COUNT times and frees in that order (lifo, fifo, random); prints
// seconds of both. KIND: device, managed, host, registered, async (stream order), pool (a pool of
// its own).
#include "driver/driver_test.h"

static CUstream stream;
static CUmemoryPool pool;
static char *registered;
enum { BYTES = 256, APART = 4096 };

static CUresult take(const char *kind, unsigned i, CUdeviceptr *p) {
  if (!strcmp(kind, "device")) return cuMemAlloc_v2(p, BYTES);
  if (!strcmp(kind, "managed")) return cuMemAllocManaged(p, BYTES, CU_MEM_ATTACH_GLOBAL);
  if (!strcmp(kind, "host")) return cuMemHostAlloc((void **)p, BYTES, 0);
  if (!strcmp(kind, "async")) return cuMemAllocAsync(p, BYTES, stream);
  if (!strcmp(kind, "pool")) return cuMemAllocFromPoolAsync(p, BYTES, pool, stream);
  *p = (CUdeviceptr)(uintptr_t)(registered + (size_t)i * APART);
  return cuMemHostRegister_v2((void *)(uintptr_t)*p, BYTES, 0);
}

static CUresult give(const char *kind, CUdeviceptr p) {
  if (!strcmp(kind, "device") || !strcmp(kind, "managed")) return cuMemFree_v2(p);
  if (!strcmp(kind, "host")) return cuMemFreeHost((void *)(uintptr_t)p);
  if (!strcmp(kind, "registered")) return cuMemHostUnregister((void *)(uintptr_t)p);
  return cuMemFreeAsync(p, stream);
}

static void order(CUdeviceptr *list, unsigned n, const char *how) {
  uint64_t state = 88172645463325252u;
  for (unsigned i = 0; i < n / 2 && !strcmp(how, "lifo"); i++) {
    CUdeviceptr t = list[i];
    list[i] = list[n - 1 - i];
    list[n - 1 - i] = t;
  }
  for (unsigned i = n - 1; i && !strcmp(how, "random"); i--) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    unsigned k = (unsigned)(state % (i + 1));
    CUdeviceptr t = list[i];
    list[i] = list[k];
    list[k] = t;
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const char *kind = argv[1];
  unsigned n = (unsigned)atoi(argv[2]);
  CUdevice dev;
  CUcontext ctx;
  OK(cuInit(0));
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&ctx, 0, dev));
  OK(cuStreamCreate(&stream, 0));
  CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                          .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
  OK(cuMemPoolCreate(&pool, &props));
  if (!strcmp(kind, "registered")) registered = aligned_alloc(APART, (size_t)n * APART);
  CUdeviceptr *list = calloc(n, sizeof *list);
  double start = seconds();
  for (unsigned i = 0; i < n; i++) OK(take(kind, i, &list[i]));
  double taken = seconds();
  order(list, n, argv[3]);
  double ordered = seconds();
  for (unsigned i = 0; i < n; i++) OK(give(kind, list[i]));
  OK(cuStreamSynchronize(stream));
  double given = seconds();
  fprintf(stderr, "%s %u %s: allocated in %.2f s, freed in %.2f s\n", kind, n, argv[3],
          taken - start, given - ordered);
  return finish();
}
