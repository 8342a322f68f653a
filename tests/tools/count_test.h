// Programs whose counts are known. Each prints what `--tool=count` must find in all, one line for
// each kernel:
//   count NAME instructions=… warp_instructions=… loads=… load_bytes=… stores=… store_bytes=…
//   atomics=… atomic_bytes=… launches N
// tests/tools/count.sh compares these lines with the report.
#ifndef COUNT_TEST_H
#define COUNT_TEST_H

#include "../driver/driver_test.h"

typedef struct Counted {
  const char *kernel;
  unsigned long long instructions, warps, loads, load_bytes, stores, store_bytes, atomics,
      atomic_bytes;
} Counted;
static Counted counted[16];
static unsigned ncounted;
static unsigned long long launches;

static inline Counted *counted_kernel(const char *kernel) {
  for (unsigned i = 0; i < ncounted; i++)
    if (!strcmp(counted[i].kernel, kernel)) return &counted[i];
  counted[ncounted].kernel = kernel;
  return &counted[ncounted++];
}

// fill of driver_test.h: 10 instructions, one store of 4 bytes.
static inline void count_fill(unsigned long long threads, unsigned long long warps) {
  Counted *c = counted_kernel("fill");
  c->instructions += 10 * threads;
  c->warps += 10 * warps;
  c->stores += threads;
  c->store_bytes += 4 * threads;
  launches++;
}

// add of driver_test.h with `inside` threads below n, whole warps of them.
static inline void count_add(unsigned long long threads, unsigned long long inside) {
  Counted *c = counted_kernel("add");
  c->instructions += 8 * threads + (threads - inside) + 6 * inside + threads;
  c->warps += (8 * threads + threads + 6 * inside + threads) / 32;
  c->loads += inside;
  c->load_bytes += 4 * inside;
  c->stores += inside;
  c->store_bytes += 4 * inside;
  launches++;
}

// Counts of one launch, for kernels of the test's own.
static inline void count_kernel(Counted one, unsigned long long times) {
  Counted *c = counted_kernel(one.kernel);
  c->instructions += one.instructions * times;
  c->warps += one.warps * times;
  c->loads += one.loads * times;
  c->load_bytes += one.load_bytes * times;
  c->stores += one.stores * times;
  c->store_bytes += one.store_bytes * times;
  c->atomics += one.atomics * times;
  c->atomic_bytes += one.atomic_bytes * times;
}

static inline int finish_counted(void) {
  for (unsigned i = 0; i < ncounted; i++) {
    const Counted *c = &counted[i];
    printf("count %s instructions=%llu warp_instructions=%llu loads=%llu load_bytes=%llu "
           "stores=%llu store_bytes=%llu atomics=%llu atomic_bytes=%llu\n",
           c->kernel, c->instructions, c->warps, c->loads, c->load_bytes, c->stores, c->store_bytes,
           c->atomics, c->atomic_bytes);
  }
  printf("launches %llu\n", launches);
  return finish();
}

#endif
