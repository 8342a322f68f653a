// Several threads with several streams each do everything at once; every stream counts what it did.
// prints: all checks passed
// timeout: 120
#include "driver_test.h"

enum { THREADS = 4, STREAMS = 3, ROUNDS = 150 };

static CUcontext ctx;
static CUfunction add;
static CUevent events[THREADS][STREAMS];
static _Atomic int host_calls;

static void called(void *n) {
  host_calls++;
  ++*(int *)n;
}

static CUgraphExec make_graph(CUdeviceptr p) {
  CUstream s;
  CUgraph g;
  CUgraphExec x;
  unsigned n = 1, three = 3;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(LAUNCH(add, 1, 1, s, &p, &n, &three));
  OK(cuStreamEndCapture(s, &g));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuGraphDestroy(g));
  OK(cuStreamDestroy_v2(s));
  return x;
}

static void *worker(void *arg) {
  unsigned me = (unsigned)(uintptr_t)arg, seed = me * 7919 + 1, n = 1;
  CUstream s[STREAMS];
  CUdeviceptr p[STREAMS];
  CUgraphExec x[STREAMS];
  unsigned expected[STREAMS] = {0};
  int calls[STREAMS] = {0}, expected_calls[STREAMS] = {0};
  OK(cuCtxSetCurrent(ctx));
  for (int i = 0; i < STREAMS; i++) {
    OK(cuStreamCreate(&s[i], i ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    p[i] = new_ints(1);
    x[i] = make_graph(p[i]);
  }
  OK(cuCtxSynchronize());
  for (int round = 0; round < ROUNDS; round++) {
    unsigned i = (unsigned)rand_r(&seed) % STREAMS, what = (unsigned)rand_r(&seed) % 9;
    unsigned amount = (unsigned)rand_r(&seed) % 100;
    CUdeviceptr tmp;
    switch (what) {
    case 0:
    case 1:
      OK(LAUNCH(add, 1, 1, s[i], &p[i], &n, &amount));
      expected[i] += amount;
      break;
    case 2:
      OK(cuGraphLaunch(x[i], s[i]));
      expected[i] += 3;
      break;
    case 3:
      OK(cuLaunchHostFunc(s[i], called, &calls[i]));
      expected_calls[i]++;
      break;
    case 4: OK(cuEventRecord(events[me][i], s[i])); break;
    case 5:
      OK(cuStreamWaitEvent(
          s[i], events[(unsigned)rand_r(&seed) % THREADS][(unsigned)rand_r(&seed) % STREAMS], 0));
      break;
    case 6:
      OK(cuMemAllocAsync(&tmp, 256, s[i]));
      OK(cuMemcpyDtoDAsync_v2(tmp, p[i], 4, s[i]));
      OK(LAUNCH(add, 1, 1, s[i], &tmp, &n, &amount));
      OK(cuMemcpyDtoDAsync_v2(p[i], tmp, 4, s[i]));
      OK(cuMemFreeAsync(tmp, s[i]));
      expected[i] += amount;
      break;
    case 7:
      OK(cuStreamSynchronize(s[i]));
      EXPECT(calls[i] == expected_calls[i]);
      break;
    case 8:  // a new stream goes on where the old one stops
      OK(cuEventRecord(events[me][i], s[i]));
      OK(cuStreamDestroy_v2(s[i]));
      OK(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
      OK(cuStreamWaitEvent(s[i], events[me][i], 0));
      break;
    }
  }
  for (int i = 0; i < STREAMS; i++) {
    OK(cuStreamSynchronize(s[i]));
    unsigned got = 0;
    OK(cuMemcpyDtoHAsync_v2(&got, p[i], 4, s[i]));
    EXPECT(got == expected[i]);
    EXPECT(calls[i] == expected_calls[i]);
    OK(cuStreamDestroy_v2(s[i]));
    OK(cuGraphExecDestroy(x[i]));
    OK(cuMemFree_v2(p[i]));
  }
  return NULL;
}

int main(void) {
  ctx = start();
  add = get(load(common_ptx), "add");
  for (int i = 0; i < THREADS; i++)
    for (int k = 0; k < STREAMS; k++) OK(cuEventCreate(&events[i][k], CU_EVENT_DISABLE_TIMING));
  for (int round = 0; round < 3; round++) {
    pthread_t t[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
  }
  OK(cuCtxSynchronize());
  return finish();
}
