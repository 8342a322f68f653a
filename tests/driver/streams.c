// Order: within a stream, between streams through events, with the legacy stream, and with the
// host.
// prints: all checks passed
#include "driver_test.h"

static CUfunction add, fill, spin;
static unsigned *flag;                          // pinned: the host lets kernels go on
static CUdeviceptr flag_dev;

static void hold(CUstream s, CUdeviceptr out) {
  *(volatile unsigned *)flag = 0;
  OK(LAUNCH(spin, 1, 1, s, &flag_dev, &out));
}
static void let_go(void) { __atomic_store_n(flag, 5, __ATOMIC_SEQ_CST); }

static void events_order_streams(void) {
  CUstream a, b;
  CUevent e, before;
  CUdeviceptr p = new_ints(4), q = new_ints(4);
  OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&e, 0));
  OK(cuEventCreate(&before, 0));
  OK(cuEventQuery(e));                          // never recorded: complete
  OK(cuEventRecord(before, a));
  hold(a, p);                                   // p[0] = 6 once the host allows it
  OK(cuEventRecord(e, a));
  OK(cuStreamWaitEvent(b, e, 0));
  OK(cuMemcpyDtoDAsync_v2(q, p, 4, b));         // must see 6
  OK(LAUNCH(add, 1, 1, b, &q, &(unsigned){1}, &(unsigned){10}));
  RETURNS(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
  RETURNS(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
  RETURNS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
  float ms;
  OK(cuEventSynchronize(before));
  RETURNS(cuEventElapsedTime_v2(&ms, before, e), CUDA_ERROR_NOT_READY);
  sleep_ms(20);
  let_go();
  OK(cuStreamSynchronize(b));
  OK(cuEventQuery(e));
  OK(cuEventElapsedTime_v2(&ms, before, e));
  EXPECT(ms >= 19 && ms < 60000);
  EXPECT(read_int(q) == 16);
  OK(cuEventDestroy_v2(e));
  OK(cuEventDestroy_v2(before));
  RETURNS(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
  OK(cuStreamDestroy_v2(a));
  OK(cuStreamDestroy_v2(b));
  RETURNS(cuStreamQuery(a), CUDA_ERROR_INVALID_HANDLE);
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(q));
}

// Blocking streams and the legacy stream wait for each other; a non-blocking one does not take
// part.
static void legacy_stream(void) {
  CUstream blocking, free_one;
  CUdeviceptr p = new_ints(4), q = new_ints(4), r = new_ints(4);
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  OK(cuStreamCreate(&free_one, CU_STREAM_NON_BLOCKING));
  hold(blocking, p);
  OK(LAUNCH(add, 1, 1, NULL, &p, &(unsigned){1}, &(unsigned){100}));      // after the spin: 6 + 100
  OK(cuMemcpyDtoDAsync_v2(q, p, 4, blocking));                            // after the legacy launch
  OK(LAUNCH(fill, 1, 1, free_one, &r, &(unsigned){9}));
  OK(cuStreamSynchronize(free_one));  // does not wait for the spin
  unsigned nine = 0;
  OK(cuMemcpyDtoHAsync_v2(&nine, r, 4, free_one));
  EXPECT(nine == 9);
  RETURNS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
  RETURNS(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  let_go();
  OK(cuCtxSynchronize());
  EXPECT(read_int(q) == 106);
  OK(cuStreamDestroy_v2(blocking));
  OK(cuStreamDestroy_v2(free_one));
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(q));
  OK(cuMemFree_v2(r));
}

static int order[8], norder;
static void note(void *n) { order[norder++] = (int)(intptr_t)n; }
static void note_status(CUstream s, CUresult status, void *n) {
  order[norder++] = status ? -1 : (int)(intptr_t)n;
}

static void host_functions(void) {
  CUstream s;
  CUdeviceptr p = new_ints(1);
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  hold(s, p);
  OK(cuLaunchHostFunc(s, note, (void *)1));
  OK(cuStreamAddCallback(s, note_status, (void *)2, 0));
  OK(cuLaunchHostFunc(s, note, (void *)3));
  sleep_ms(5);
  EXPECT(norder == 0);
  let_go();
  OK(cuStreamSynchronize(s));
  EXPECT(norder == 3 && order[0] == 1 && order[1] == 2 && order[2] == 3);
  OK(cuStreamDestroy_v2(s));
  OK(cuMemFree_v2(p));
}

static void memory_operations(void) {
  CUstream s, t;
  CUdeviceptr p = new_ints(4);
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
  OK(cuStreamWaitValue32_v2(s, p, 3, CU_STREAM_WAIT_VALUE_GEQ));
  OK(cuStreamWriteValue32_v2(s, p + 4, 77, 0));
  RETURNS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  OK(cuStreamWriteValue32_v2(t, p, 4, 0));
  OK(cuStreamSynchronize(s));
  EXPECT(read_int(p + 4) == 77);
  OK(cuStreamWriteValue64_v2(t, p + 8, 0x1122334455667788, 0));
  OK(cuStreamSynchronize(t));
  EXPECT(read_int(p + 8) == 0x55667788 && read_int(p + 12) == 0x11223344);
  RETURNS(cuStreamWaitValue32_v2(s, 64, 0, 0), CUDA_ERROR_INVALID_VALUE);
  OK(cuStreamDestroy_v2(s));
  OK(cuStreamDestroy_v2(t));
  OK(cuMemFree_v2(p));
}

// Destroying a stream does not drop its work, and its events stay good.
static void destroy_with_work(void) {
  CUstream s;
  CUevent e;
  CUdeviceptr p = new_ints(1), out = new_ints(1);
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
  hold(s, out);
  OK(LAUNCH(add, 1, 1, s, &p, &(unsigned){1}, &(unsigned){8}));
  OK(cuEventRecord(e, s));
  OK(cuStreamDestroy_v2(s));
  let_go();
  OK(cuEventSynchronize(e));
  EXPECT(read_int(p) == 8);
  OK(cuEventDestroy_v2(e));
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(out));
}

static void properties(void) {
  CUstream s;
  CUcontext ctx, current;
  int priority, least, greatest;
  unsigned flags;
  unsigned long long id, other;
  CUdevice dev;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest < 0);
  OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, greatest));
  OK(cuStreamGetPriority(s, &priority));
  OK(cuStreamGetFlags(s, &flags));
  OK(cuStreamGetId(s, &id));
  OK(cuStreamGetId(NULL, &other));
  OK(cuStreamGetCtx(s, &ctx));
  OK(cuStreamGetDevice(s, &dev));
  OK(cuCtxGetCurrent(&current));
  EXPECT(priority == greatest && flags == CU_STREAM_NON_BLOCKING && id != other && ctx == current &&
         dev == 0);
  RETURNS(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
  OK(cuStreamDestroy_v2(s));
}

// Many streams at once: a chain through all of them by events.
static void chain(void) {
  enum { N = 40 };
  CUstream s[N];
  CUevent e[N];
  CUdeviceptr p = new_ints(1), out = new_ints(1);
  for (int i = 0; i < N; i++) {
    OK(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e[i], CU_EVENT_DISABLE_TIMING));
  }
  hold(s[0], out);
  for (int i = 0; i < N; i++) {
    if (i) OK(cuStreamWaitEvent(s[i], e[i - 1], 0));
    OK(LAUNCH(add, 1, 1, s[i], &p, &(unsigned){1}, &(unsigned){1}));
    OK(cuEventRecord(e[i], s[i]));
  }
  RETURNS(cuStreamQuery(s[N - 1]), CUDA_ERROR_NOT_READY);
  let_go();
  OK(cuStreamSynchronize(s[N - 1]));
  EXPECT(read_int(p) == N);
  for (int i = 0; i < N; i++) {
    OK(cuStreamDestroy_v2(s[i]));
    OK(cuEventDestroy_v2(e[i]));
  }
  OK(cuMemFree_v2(p));
  OK(cuMemFree_v2(out));
}

int main(void) {
  start();
  CUmodule m = load(common_ptx);
  add = get(m, "add");
  fill = get(m, "fill");
  spin = get(m, "spin");
  OK(cuMemHostAlloc((void **)&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
  OK(cuMemHostGetDevicePointer_v2(&flag_dev, flag, 0));
  events_order_streams();
  legacy_stream();
  host_functions();
  memory_operations();
  destroy_with_work();
  properties();
  chain();
  OK(cuMemFreeHost(flag));
  return finish();
}
