// With --workers=1 work of all streams runs in the order in which it was submitted; what waits for
// later work does not stop it for ever.
// options: --workers=1
// prints: all checks passed
#include "driver_test.h"

static CUfunction add, fill, spin;

static void wait_a_little(void *unused) { (void)unused; sleep_ms(60); }

// The first stream is slow; without turns the second is done before it.
static void in_order(CUstream a, CUstream b, CUdeviceptr p) {
  OK(cuMemsetD32_v2(p, 1, 4));
  OK(cuLaunchHostFunc(a, wait_a_little, NULL));
  OK(LAUNCH(add, 1, 1, a, &p, &(unsigned){1}, &(unsigned){10}));
  OK(LAUNCH(fill, 1, 1, b, &p, &(unsigned){5}));
  OK(cuStreamSynchronize(b));
  OK(cuStreamSynchronize(a));
  EXPECT(read_int(p) == 5);
}

// A copy that this thread would do at once waits for its turn, too.
static void copies(CUstream a, CUstream b, CUdeviceptr p) {
  unsigned seen = 0;
  OK(cuMemsetD32_v2(p, 1, 4));
  OK(cuLaunchHostFunc(a, wait_a_little, NULL));
  OK(LAUNCH(add, 1, 1, a, &p, &(unsigned){1}, &(unsigned){10}));
  OK(cuMemcpyDtoHAsync_v2(&seen, p, 4, b));
  OK(cuStreamSynchronize(b));
  EXPECT(seen == 11);
}

// spin waits for what the other stream writes later; what stands behind it in its own stream must
// not hold the other up either.
static void waits_for_later_work(CUstream a, CUstream b, CUdeviceptr flag, CUdeviceptr out) {
  OK(cuMemsetD32_v2(flag, 0, 4));
  double before = seconds();
  OK(LAUNCH(spin, 1, 1, a, &flag, &out));
  OK(LAUNCH(add, 1, 1, a, &out, &(unsigned){1}, &(unsigned){100}));
  OK(LAUNCH(add, 1, 1, b, &flag, &(unsigned){1}, &(unsigned){5}));
  OK(cuStreamSynchronize(a));
  OK(cuStreamSynchronize(b));
  EXPECT(read_int(out) == 106);
  EXPECT(seconds() - before < 60);
}

int main(void) {
  start();
  CUmodule m = load(common_ptx);
  add = get(m, "add");
  fill = get(m, "fill");
  spin = get(m, "spin");
  CUstream a, b;
  OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
  CUdeviceptr p = new_ints(4), q = new_ints(4);
  in_order(a, b, p);
  copies(a, b, p);
  waits_for_later_work(a, b, p, q);
  return finish();
}
