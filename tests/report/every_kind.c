// An example of every kind of finding, with everything that its line of kinds.def says it carries.
//   every_kind        reports them all, as device code and the session do
//   every_kind list   prints the table: number, name, 1 if a finding of it has an origin, a source
// A kind without an example is an error: exit code 5.
#define _GNU_SOURCE
#include "fake.h"

#include "session/internal.h"
#include "tools/fpcheck/abi.h"
#include "tools/fpcheck/kinds.h"
#include "tools/initcheck/abi.h"
#include "tools/initcheck/kinds.h"
#include "tools/kinds.h"
#include "tools/memcheck/kinds.h"
#include "tools/racecheck/abi.h"
#include "tools/racecheck/kinds.h"
#include "tools/synccheck/abi.h"
#include "tools/synccheck/kinds.h"

// Two allocations, a variable, and memory that was freed.
enum { A = 0x10000, B = 0x20000, TABLE = 0x30000, FREED = 0x40000, HEAP = 0x7000000 };

// How extra[0] of a record names the site of the origin, and that of the source.
typedef enum { NONE, SITE, SITE_AND_SOURCE, WRITER } Names;

typedef struct Example {
  const char *kind;
  // a finding of the device: size, address, value and extra; names: extra[0] is made by it
  WgFinding record;
  Names names;
  // a finding of the host, where it has a text
  SessionFinding host;
} Example;

#define F32(op) WG_FP_WHAT(WG_FP_F32, WG_FP_F32, WG_FP_F32, WG_FP_NONE, op, WG_FP_ALL, 0)
#define RACE_FLAGS (WG_RACE_MINE_WRITE | WG_RACE_OTHER_WRITE | WG_RACE_THREAD_KNOWN)
#define RACE(name, at, flags) \
  { \
    name, {.size = 4, .address = at, .value = {1, 5ull << 32, 7, 8}, .extra = {0, 0, flags}}, \
        SITE, { \
      0 \
    } \
  }
#define DEVICE(name, ...) {name, {__VA_ARGS__}, NONE, {0}}
#define HOST(name, sentence, ...) {name, {0}, NONE, {.kind = name, .text = sentence, __VA_ARGS__}}

static const SitePlace failed[] = {{"fake.cu", "helper", 77, 1}, {"fake.cu", "outer", 78, 1}};

static const Example examples[] = {
    DEVICE("oob-read", .size = 4, .address = A + 4096 + 4, .value = {A}, .extra = {4096}),
    DEVICE("oob-write", .size = 8, .address = A + 4096 - 4, .value = {A}, .extra = {4096}),
    DEVICE("oob-atomic", .size = 4, .address = B + 16, .value = {A}, .extra = {4096}),
    DEVICE("use-after-free", .size = 4, .address = FREED + 16, .value = {FREED}, .extra = {512}),
    DEVICE("misaligned", .size = 4, .address = TABLE + 2, .value = {TABLE}, .extra = {1024}),
    DEVICE("invalid-free", .size = 0),
    HOST("invalid-free", "cudaFree: 0x20010 is no start of an allocation", .has_address = true,
         .address = B + 16, .related = B),
    DEVICE("heap-exhausted", .size = 64),
    {"uninit-use", {.address = A + 256, .value = {WG_INIT_BRANCH}}, SITE_AND_SOURCE, {0}},
    {"uninit-use", {.address = HEAP, .value = {WG_INIT_ADDRESS}}, SITE_AND_SOURCE, {0}},
    {"uninit-use", {.value = {WG_INIT_WARP}}, SITE, {0}},
    {"uninit-store",
     {.size = 4, .value = {B + 64}},
     SITE_AND_SOURCE,
     {0}},  // explains the next one
    HOST("uninit-use", "cudaMemcpy copies values that were never written", .has_address = true,
         .address = B + 64, .size = 4),
    HOST("uninit-copy", "cudaMemcpy copies memory that was never written", .has_address = true,
         .address = A, .size = 12),
    HOST("uninit-input", "A kernel of machine code gets 64 bytes that nobody has written",
         .has_address = true, .address = A),
    RACE("race-global", A + 128, RACE_FLAGS | WG_RACE_OTHER_BLOCK | WG_RACE_VALUES),
    RACE("race-shared", 64,
         WG_RACE_NO_BARRIER | WG_RACE_MINE_WRITE | WG_RACE_BLOCK_KNOWN | WG_RACE_IN_SHARED),
    RACE("race-host", A + 132, WG_RACE_OTHER_LAUNCH | WG_RACE_OTHER_WRITE),
    HOST("race-host", "cudaMemcpy reads what a kernel of another stream writes",
         .has_address = true, .address = A + 8, .size = 4),
    RACE("race-same-value", A + 136,
         RACE_FLAGS | WG_RACE_NO_WARP_SYNC | WG_RACE_SAME_VALUE | WG_RACE_VALUES),
    RACE("race-no-acquire", A + 140, RACE_FLAGS | WG_RACE_NO_ACQUIRE),
    DEVICE("oob-index", .value = {7}),
    DEVICE("no-access", .size = 4, .address = A + 16, .value = {A}, .extra = {4096}),
    DEVICE("barrier-divergence", .size = WG_SYNC_DIVERGED, .value = {0xffull | 0xff00ull << 32}),
    {"barrier-mismatch", {.size = WG_SYNC_ELSEWHERE, .value = {0xf | 0xcull << 32}}, SITE, {0}},
    DEVICE("barrier-misuse", .size = WG_SYNC_ARRIVALS, .address = A + 512, .value = {3},
           .extra = {2}),
    DEVICE("fp-nan", .size = F32(WG_FP_DIV), .value = {0x7fc00000}),
    DEVICE("fp-inf", .size = F32(WG_FP_MUL), .value = {0x7f800000 | 0x7f000000ull << 32},
           .extra = {0x41200000}),
    DEVICE("fp-div0", .size = F32(WG_FP_DIV), .value = {0x7f800000 | 0x3f800000ull << 32}),
    DEVICE("fp-subnormal", .size = F32(WG_FP_MUL), .value = {0x10 | 0x00800000ull << 32},
           .extra = {0x38000000}),
    {"fp-input",
     {.size = WG_FP_WHAT(WG_FP_F32, 0, 0, 0, WG_FP_LOAD, WG_FP_ALL, 0),
      .address = A + 32,
      .value = {0x7fc00000}},
     WRITER,
     {0}},
    DEVICE("fp-compare",
           .size = WG_FP_WHAT(0, WG_FP_F32, WG_FP_F32, 0, WG_FP_COMPARE, WG_FP_ALL, 0),
           .value = {0x7fc00000}, .extra = {0x3f800000}),
    DEVICE("fp-reached", .size = F32(WG_FP_SINK), .value = {0x7fc00000}),
    DEVICE("fp-flow", .size = WG_FP_WHAT(0, WG_FP_F32, 0, 0, WG_FP_STORED, WG_FP_ALL, 0),
           .value = {0x7fc00000}),
    HOST("fp-output", "cudaMemcpy copies NaN to the host", .has_address = true, .address = A + 32,
         .size = 4),
    HOST("leak", "1 allocation of 4096 bytes", .size = 4096),
    HOST("api-misuse", "cudaMemcpy: 8192 bytes to an allocation of 4096", .other_title = "created"),
    HOST("api-advice", "cudaMemcpyAsync from pageable memory waits"),
    HOST("unchecked-error", "cudaMalloc returned cudaErrorMemoryAllocation"),
    HOST("hang", "The launch makes no progress\n  32 threads wait at a barrier"),
    HOST("launch-failure", "the launch ended with CUDA_ERROR_ILLEGAL_ADDRESS", .places = failed,
         .nplaces = 2, .has_thread = true, .block = {3, 2, 1}, .thread = {6, 5, 4},
         .has_address = true, .address = TABLE - 16, .size = 8),
    HOST("assert", "Assertion `n > 0` failed", .has_thread = true, .thread = {1, 0, 0}),
    HOST("stack-overflow", "a thread needs more than 1024 bytes of stack"),
};
enum {
  EXAMPLES = ARRAY_LEN(examples),
  SITES = 3 * EXAMPLES
};  // of example i: 3 i its place, then its origin, then its source

static bool is_complete(void) {
  bool complete = true;
  for (const Kind *k = NULL; (k = kind_after(k));) {
    bool found = false;
    for (unsigned i = 0; i < EXAMPLES; i++) found |= strcmp(examples[i].kind, k->name) == 0;
    if (!found) fprintf(stderr, "every_kind.c: no example of %s\n", k->name);
    complete &= found;
  }
  return complete;
}

static void list(void) {
  for (const Kind *k = NULL; (k = kind_after(k));)
    printf("%u %s %d %d\n", k->number, k->name, (k->parts & HAS_ORIGIN) != 0,
           (k->parts & HAS_SOURCE) != 0);
}

static void report_one(const WgLaunch *l, uint32_t i, SessionKernel *kernel) {
  const Example *e = &examples[i];
  if (e->host.text) {
    SessionFinding f = e->host;
    bool about_launch = !strcmp(f.kind, "hang") || f.has_thread;
    f.kernel = about_launch || !strcmp(f.kind, "fp-output") ? kernel : NULL;
    f.launch = about_launch ? l->launch : 0;
    f.other_stack = f.other_title ? session_stack() : 0;
    session_finding(&f);
    return;
  }
  WgFinding f = e->record;
  uint32_t origin = l->site_base + 3 * i + 1, source = origin + 1;
  if (e->names == SITE) f.extra[0] = origin;
  if (e->names == SITE_AND_SOURCE) f.extra[0] = origin | (uint64_t)(source + 1) << 32;
  if (e->names == WRITER) f.extra[0] = WG_FP_WRITER(l->launch, origin, WG_FP_WRITER_WORD);
  f.kind = kind_named(e->kind)->number;
  fake_record(l, 3 * i, &f, i % 32);
}

int main(int argc, char **argv) {
  if (!is_complete()) return 5;
  if (argc > 1 && !strcmp(argv[1], "list")) {
    list();
    return 0;
  }
  Error err;
  WgLaunch record;
  SessionModule *module = fake_module("k", SITES, 0);
  SessionKernel *kernel = session_kernel(module, "k");
  SessionDevice *device = session_device_open(&fake_ops, NULL, 0, &err);
  session_alloc(A, 4096, SESSION_DEVICE, 0, NULL);
  session_alloc(B, 4096, SESSION_DEVICE, 0, NULL);
  session_alloc(TABLE, 1024, SESSION_VARIABLE, 0, "table");
  session_alloc(FREED, 512, SESSION_DEVICE, 0, NULL);
  session_free(FREED);
  if (!device || !session_device_record(device, kernel, fake_launch(kernel), NULL, &record))
    return 3;
  for (uint32_t i = 0; i < EXAMPLES; i++) report_one(&record, i, kernel);
  session_device_close(device, true);
  session_end();
  return 0;
}
