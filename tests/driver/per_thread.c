// Per-thread default streams: stream 0 of the _ptsz entry points, and CU_STREAM_PER_THREAD.
// prints: all checks passed
#include "driver_test.h"

static CUcontext ctx;
static CUfunction add, spin;
static unsigned *flag;
static CUdeviceptr flag_dev, a, b;

// This thread's stream is busy until the host lets it go; the other thread's is not.
static void *waits(void *unused) {
  OK(cuCtxSetCurrent(ctx));
  OK(cuLaunchKernel_ptsz(spin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&flag_dev, &a}, NULL));
  RETURNS(cuStreamQuery_ptsz(NULL), CUDA_ERROR_NOT_READY);
  RETURNS(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  OK(cuStreamSynchronize_ptsz(NULL));
  return NULL;
}

static void *works(void *unused) {
  OK(cuCtxSetCurrent(ctx));
  for (int i = 0; i < 10; i++)
    OK(LAUNCH(add, 1, 1, CU_STREAM_PER_THREAD, &b, &(unsigned){1}, &(unsigned){2}));
  OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  unsigned v = 0;
  OK(cuMemcpyDtoH_v2_ptds(&v, b, 4));
  EXPECT(v == 20);
  __atomic_store_n(flag, 5, __ATOMIC_SEQ_CST);
  return NULL;
}

static void *identity(void *id) {
  OK(cuCtxSetCurrent(ctx));
  OK(cuStreamGetId(CU_STREAM_PER_THREAD, id));
  unsigned long long again, zero;
  OK(cuStreamGetId_ptsz(NULL, &again));
  OK(cuStreamGetId(NULL, &zero));
  EXPECT(again == *(unsigned long long *)id && zero != again);
  return NULL;
}

int main(void) {
  ctx = start();
  CUmodule m = load(common_ptx);
  add = get(m, "add");
  spin = get(m, "spin");
  a = new_ints(1);
  b = new_ints(1);
  OK(cuCtxSynchronize());
  OK(cuMemHostAlloc((void **)&flag, 4, 0));
  flag_dev = (CUdeviceptr)(uintptr_t)flag;
  *flag = 0;
  pthread_t t[2];
  pthread_create(&t[0], NULL, waits, NULL);
  sleep_ms(20);
  pthread_create(&t[1], NULL, works, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  EXPECT(read_int(a) == 6);
  unsigned long long ids[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, identity, &ids[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  EXPECT(ids[0] != ids[1]);
  // The legacy stream waits for per-thread streams.
  OK(LAUNCH(add, 1, 1, CU_STREAM_PER_THREAD, &b, &(unsigned){1}, &(unsigned){100}));
  OK(LAUNCH(add, 1, 1, NULL, &b, &(unsigned){1}, &(unsigned){1}));
  EXPECT(read_int(b) == 121);
  return finish();
}
