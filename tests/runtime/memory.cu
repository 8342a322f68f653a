// Allocation of every kind, copies in every shape, sets, and what pointers say about themselves.
// prints: all checks passed
#include "check.h"

static char big[1 << 16], back[1 << 16];

static void linear() {
  char *d = (char *)1, *e;
  OK(cudaMalloc(&d, 0));
  EXPECT(d == NULL);
  OK(cudaFree(NULL));
  OK(cudaMalloc(&d, sizeof big));
  OK(cudaMalloc(&e, sizeof big));
  EXPECT(((size_t)d & 255) == 0);
  for (size_t i = 0; i < sizeof big; i++) big[i] = (char)(i * 7);
  OK(cudaMemcpy(d, big, sizeof big, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(e, d, sizeof big, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(back, e, sizeof big, cudaMemcpyDeviceToHost));
  EXPECT(!memcmp(big, back, sizeof big));
  OK(cudaMemset(e, 0x5a, 1000));
  OK(cudaMemcpy(back, e, sizeof big, cudaMemcpyDefault));
  EXPECT(back[0] == 0x5a && back[999] == 0x5a && back[1000] == big[1000]);
  OK(cudaMemcpy(back, big, 100, cudaMemcpyDefault));
  EXPECT(!memcmp(big, back, 100));
  OK(cudaMemcpy(back, big, 10, cudaMemcpyHostToHost));
  OK(cudaMemcpy(d, big, 0, cudaMemcpyHostToDevice));
  RETURNS(cudaMemcpy(NULL, big, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  size_t total = 0, left = 0, after = 0;
  OK(cudaMemGetInfo(&left, &total));
  EXPECT(left > 0 && left <= total);
  OK(cudaFree(d));
  OK(cudaFree(e));
  OK(cudaMemGetInfo(&after, &total));
  EXPECT(after >= left);
  RETURNS(cudaFree(d), cudaErrorInvalidValue);
  void *huge;
  RETURNS(cudaMalloc(&huge, (size_t)1 << 60), cudaErrorMemoryAllocation);
  cudaGetLastError();
}

static void rectangles() {
  char *d;
  size_t pitch;
  OK(cudaMallocPitch(&d, &pitch, 100, 10));
  EXPECT(pitch >= 100 && pitch % 32 == 0);
  OK(cudaMemset2D(d, pitch, 1, 100, 10));
  OK(cudaMemcpy2D(d, pitch, big, 64, 50, 10, cudaMemcpyHostToDevice));
  memset(back, 0, sizeof back);
  OK(cudaMemcpy2D(back, 200, d, pitch, 100, 10, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 10; y++)
    EXPECT(!memcmp(back + y * 200, big + y * 64, 50) && back[y * 200 + 50] == 1 &&
           back[y * 200 + 100] == 0);
  RETURNS(cudaMemcpy2D(back, 10, d, pitch, 100, 10, cudaMemcpyDeviceToHost),
          cudaErrorInvalidPitchValue);
  OK(cudaFree(d));

  cudaExtent extent = make_cudaExtent(40, 5, 3);
  cudaPitchedPtr p;
  OK(cudaMalloc3D(&p, extent));
  EXPECT(p.xsize == 40 && p.ysize == 5 && p.pitch >= 40);
  OK(cudaMemset3D(p, 9, extent));
  cudaMemcpy3DParms c = {0};
  c.srcPtr = make_cudaPitchedPtr(big, 40, 40, 5);
  c.dstPtr = p;
  c.extent = make_cudaExtent(40, 5, 2);
  c.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&c));
  memset(back, 0, sizeof back);
  c = cudaMemcpy3DParms();
  c.srcPtr = p;
  c.dstPtr = make_cudaPitchedPtr(back, 40, 40, 5);
  c.extent = extent;
  c.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&c));
  EXPECT(!memcmp(back, big, 400) && back[400] == 9 && back[599] == 9);
  OK(cudaFree(p.ptr));
}

static void arrays() {
  cudaChannelFormatDesc desc = cudaCreateChannelDesc<float2>(), d2;
  cudaArray_t a, b;
  OK(cudaMallocArray(&a, &desc, 16, 8));
  OK(cudaMallocArray(&b, &desc, 16, 8));
  cudaExtent extent;
  unsigned flags;
  OK(cudaArrayGetInfo(&d2, &extent, &flags, a));
  EXPECT(d2.x == 32 && d2.y == 32 && d2.z == 0 && d2.f == cudaChannelFormatKindFloat &&
         extent.width == 16 && extent.height == 8 && extent.depth == 0);
  OK(cudaMemcpy2DToArray(a, 0, 0, big, 128, 128, 8, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 128, 8, cudaMemcpyDeviceToDevice));
  memset(back, 0, sizeof back);
  OK(cudaMemcpy2DFromArray(back, 128, b, 64, 2, 64, 3, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 3; y++) EXPECT(!memcmp(back + y * 128, big + (y + 2) * 128 + 64, 64));
  OK(cudaFreeArray(a));
  OK(cudaFreeArray(b));

  cudaChannelFormatDesc byte4 = cudaCreateChannelDesc<uchar4>();
  OK(cudaMalloc3DArray(&a, &byte4, make_cudaExtent(8, 4, 2)));
  cudaMemcpy3DParms c = {0};
  c.srcPtr = make_cudaPitchedPtr(big, 32, 8, 4);
  c.dstArray = a;
  c.extent = make_cudaExtent(8, 4, 2);              // in elements, because of the array
  c.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&c));
  c = cudaMemcpy3DParms();
  c.srcArray = a;
  c.srcPos = make_cudaPos(2, 1, 1);
  c.dstPtr = make_cudaPitchedPtr(back, 16, 4, 2);
  c.extent = make_cudaExtent(4, 2, 1);
  c.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&c));
  for (int y = 0; y < 2; y++) EXPECT(!memcmp(back + y * 16, big + 128 + (y + 1) * 32 + 8, 16));
  OK(cudaFreeArray(a));
  cudaChannelFormatDesc nonsense = {7, 0, 0, 0, cudaChannelFormatKindFloat};
  RETURNS(cudaMallocArray(&a, &nonsense, 4, 4), cudaErrorInvalidChannelDescriptor);
}

static void host_and_managed() {
  int *pinned, *mapped, *managed, *device;
  OK(cudaMallocHost(&pinned, 4096));
  OK(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped));
  OK(cudaHostGetDevicePointer(&device, mapped, 0));
  OK(cudaMallocManaged(&managed, 4096));
  managed[3] = 33;
  pinned[3] = 44;
  cudaPointerAttributes at;
  OK(cudaPointerGetAttributes(&at, pinned));
  EXPECT(at.type == cudaMemoryTypeHost && at.hostPointer == pinned);
  OK(cudaPointerGetAttributes(&at, managed));
  EXPECT(at.type == cudaMemoryTypeManaged && at.devicePointer == managed &&
         at.hostPointer == managed);
  OK(cudaPointerGetAttributes(&at, big));
  EXPECT(at.type == cudaMemoryTypeUnregistered && at.devicePointer == NULL);
  OK(cudaHostRegister(big, 4096, cudaHostRegisterDefault));
  OK(cudaPointerGetAttributes(&at, big));
  EXPECT(at.type == cudaMemoryTypeHost);
  RETURNS(cudaHostRegister(big, 4096, cudaHostRegisterDefault),
          cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaHostUnregister(big));
  RETURNS(cudaHostUnregister(big), cudaErrorHostMemoryNotRegistered);
  unsigned flags;
  OK(cudaHostGetFlags(&flags, mapped));
  EXPECT(flags & cudaHostAllocMapped);
#if CUDART_VERSION >= 13000
  cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, where));
  OK(cudaMemPrefetchAsync(managed, 4096, where, 0, 0));
#else
  OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, 0));
  OK(cudaMemPrefetchAsync(managed, 4096, 0, 0));
#endif
  int preferred = -5;
  OK(cudaMemRangeGetAttribute(&preferred, sizeof preferred, cudaMemRangeAttributePreferredLocation,
                              managed, 4096));
  EXPECT(preferred == 0);
  OK(cudaDeviceSynchronize());
  EXPECT(managed[3] == 33);
  OK(cudaFree(managed));
  OK(cudaFreeHost(pinned));
  OK(cudaFreeHost(mapped));
  OK(cudaFreeHost(NULL));
}

static void pools() {
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  char *p, *q;
  OK(cudaMallocAsync(&p, 5000, s));
  OK(cudaMemsetAsync(p, 3, 5000, s));
  OK(cudaMemcpyAsync(back, p, 5000, cudaMemcpyDeviceToHost, s));
  OK(cudaFreeAsync(p, s));
  OK(cudaStreamSynchronize(s));
  EXPECT(back[0] == 3 && back[4999] == 3);
  cudaMemPool_t pool, given;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  OK(cudaDeviceGetMemPool(&given, 0));
  EXPECT(pool == given);
  unsigned long long threshold = 1 << 20, got = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  EXPECT(got == threshold);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  OK(cudaMemPoolCreate(&given, &props));
  OK(cudaMallocFromPoolAsync((void **)&q, 100, given, s));
  OK(cudaFreeAsync(q, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemPoolTrimTo(given, 0));
  OK(cudaMemPoolDestroy(given));
  OK(cudaStreamDestroy(s));
}

int main() {
  linear();
  rectangles();
  arrays();
  host_and_managed();
  pools();
  return finish();
}
