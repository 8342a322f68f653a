// Host and device take turns through pinned and managed memory while one kernel runs.
// prints: all checks passed
#include "driver_test.h"

// for i in 1 .. n: wait until turn[0] == i, then turn[1] = i * 10
static const char ptx[] = PTX_HEADER
  ".visible .entry pong(.param .u64 turn, .param .u32 n) {\n"
  "  .reg .pred %q; .reg .b32 %r<6>; .reg .b64 %a;\n"
  "  ld.param.u64 %a, [turn]; ld.param.u32 %r1, [n]; mov.u32 %r2, 1;\n"
  "NEXT: ld.volatile.global.u32 %r3, [%a]; setp.ne.u32 %q, %r3, %r2; @%q bra NEXT;\n"
  "  mul.lo.u32 %r4, %r2, 10; st.volatile.global.u32 [%a+4], %r4;\n"
  "  add.u32 %r2, %r2, 1; setp.le.u32 %q, %r2, %r1; @%q bra NEXT; ret;\n}\n";

static void play(CUfunction pong, volatile unsigned *turn, CUstream s) {
  unsigned n = 50;
  turn[0] = turn[1] = 0;
  OK(LAUNCH(pong, 1, 1, s, &turn, &n));
  double limit = seconds() + 30;
  for (unsigned i = 1; i <= n; i++) {
    __atomic_store_n(&turn[0], i, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&turn[1], __ATOMIC_SEQ_CST) != i * 10 && seconds() < limit) sleep_ms(0);
  }
  OK(cuStreamSynchronize(s));
  EXPECT(turn[1] == n * 10);
}

int main(void) {
  start();
  CUfunction pong = get(load(ptx), "pong");
  CUstream s;
  void *pinned;
  CUdeviceptr managed;
  OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
  OK(cuMemAllocHost_v2(&pinned, 8));
  OK(cuMemAllocManaged(&managed, 8, CU_MEM_ATTACH_GLOBAL));
  play(pong, pinned, s);
  play(pong, pinned, NULL);
  play(pong, (volatile unsigned *)(uintptr_t)managed, s);
  unsigned *registered = malloc(4096);
  OK(cuMemHostRegister_v2(registered, 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
  play(pong, registered, s);
  OK(cuMemHostUnregister(registered));
  RETURNS(cuMemHostUnregister(registered), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  free(registered);
  OK(cuMemFree_v2(managed));
  OK(cuMemFreeHost(pinned));
  return finish();
}
