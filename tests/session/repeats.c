// Which launches of a machine-code kernel repeat the accesses of a checked one: a later launch with
// the same numbers, and as much of its allocations around its pointers.
#include "fake_device.h"
#include "image/image.h"
#include "tools/tool.h"
#include "unit.h"

const Tool *const tool_table[TOOL_COUNT_] = {0};

static const char *cubin;  // tests/sass/repeats.cu

typedef struct Params {  // of `scales` in tests/sass/repeats.cu
  uint64_t in, out;
  float a;
  int n;
} Params;

static bool param_info(void *user, uint32_t i, size_t *offset, size_t *size) {
  static const size_t places[][2] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
  if (i >= ARRAY_LEN(places)) return false;
  *offset = places[i][0];
  *size = places[i][1];
  return true;
}

typedef struct Kernel {
  SessionKernel *kernel;
  SessionRepeats *repeats;
  SessionRepeat *last;
  uint32_t blocks;
} Kernel;

static SessionRepeatAnswer look(Kernel *k, const Params *p) {
  SessionParams params = {.buffer = p, .buffer_bytes = sizeof *p};
  SessionLaunch launch = {
      .kernel = k->kernel, .grid = {k->blocks, 1, 1}, .block = {128, 1, 1}, .cluster = {1, 1, 1}};
  return session_repeats_look(k->repeats, &(SessionCall){&launch, 1, &params, param_info, NULL},
                              &k->last);
}

static Kernel open_kernel(const char *name) {
  Str file = {0};
  CubinCode c;
  CHECK(file_read(cubin, &file, NULL));
  CHECK(image_cubin_code(file.data, file.len, name, &c));
  SassProgram *p =
      sass_program_open(&(SassKernel){c.code, c.bytes, c.arch, c.param_base, c.param_bytes});
  CHECK(p);
  SessionKernel *kernel = session_kernel(fake_module("repeats.cu", name, 0), name);
  str_free(&file);
  return (Kernel){kernel, session_repeats_new(kernel, p), NULL, 4};
}

static void allocate(uint64_t base, uint64_t size) {
  session_ranges_add(&(HeapRange){.memory = {.base = base, .size = size, .state = WG_MEMORY_LIVE}});
}

enum { A = 0x10000000, B = 0x20000000, C = 0x30000000, D = 0x40000000, BYTES = 4096 };

static void test_key(void) {
  Kernel k = open_kernel("scales");
  Params p = {A, B, 1.5f, 100};
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
  EXPECT(look(&k, &p) == SESSION_REPEAT_WAITS);
  session_repeat_settle(k.repeats, k.last, true);
  EXPECT(look(&k, &p) == SESSION_REPEAT_KNOWN);
  p.a = 2.5f;  // no address depends on it
  EXPECT(look(&k, &p) == SESSION_REPEAT_KNOWN);
  p.in = C;  // an allocation of the same size
  EXPECT(look(&k, &p) == SESSION_REPEAT_KNOWN);
  p.in = D;  // a larger one
  EXPECT(look(&k, &p) == SESSION_REPEAT_KNOWN);
  p.in = A + 512;  // less of it is left
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
  session_repeat_settle(k.repeats, k.last, true);
  p.in = D + 512;
  EXPECT(look(&k, &p) == SESSION_REPEAT_KNOWN);
  p.in = D + 516;  // another alignment
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
  p.in = A;
  p.n = 101;  // it decides what is accessed
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
  p.n = 100;
  k.blocks = 5;
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
}

// A pointer to memory that is not live is a number like any other.
static void test_freed(void) {
  Kernel k = open_kernel("scales");
  Params p = {A, B, 1.5f, 100};
  HeapRange was;
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
  session_repeat_settle(k.repeats, k.last, true);
  EXPECT(session_ranges_free(B, 0, &was));
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
  session_repeat_settle(k.repeats, k.last, false);
  EXPECT(look(&k, &p) == SESSION_REPEAT_CHECK);
  session_ranges_remove(B);
  allocate(B, BYTES);
}

// An access outside of the allocations: launches like it are patched for ever.
static void test_outside(void) {
  Kernel k = open_kernel("scales");
  Params p = {A, B, 1.5f, 2000};
  EXPECT(look(&k, &p) == SESSION_REPEAT_NEW);
  session_repeat_settle(k.repeats, k.last, false);
  EXPECT(look(&k, &p) == SESSION_REPEAT_CHECK);
  p.in = C;
  EXPECT(look(&k, &p) == SESSION_REPEAT_CHECK);
}

static void test_data(void) {
  Kernel k = open_kernel("scatters");
  Params p = {A, B, 0, 0};
  for (int i = 0; i < 10; i++) EXPECT(look(&k, &p) == SESSION_REPEAT_CHECK);
}

static void test_extents(void) {
  Kernel k = open_kernel("scales");
  WgExtent list[4];
  Params p = {C + 8, B, 1, 1};
  SessionParams params = {.buffer = &p, .buffer_bytes = sizeof p};
  SessionLaunch launch = {.kernel = k.kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};
  SessionCall call = {&launch, 1, &params, param_info, NULL};
  EXPECT(session_repeat_extents(&call, list, 4) == 2);
  EXPECT(list[0].base == B && list[0].bytes == BYTES && list[1].base == C);
  p.out = C + 16;
  EXPECT(session_repeat_extents(&call, list, 4) == 1);
  EXPECT(session_repeat_extents(&call, list, 1) == 0);  // too many pointers for the list
}

int main(void) {
  cubin = getenv("CUBIN");
  CHECK(cubin);
  allocate(A, BYTES);
  allocate(B, BYTES);
  allocate(C, BYTES);
  allocate(D, 2 * BYTES);
  SUBJECT(key);
  SUBJECT(freed);
  SUBJECT(outside);
  SUBJECT(data);
  SUBJECT(extents);
}
