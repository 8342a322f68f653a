// The kernels of cases.ptx, counted: every total equals its formula.
#include "host.h"

static char *text;

// --- rows, added up over lines of one kernel ---
typedef struct Wanted {
  const char *kernel;
  uint32_t line;
  CountRow sum;
} Wanted;  // line 0: all of them
static void add_row(void *user, const CountRow *row) {
  Wanted *w = user;
  if (strcmp(row->kernel, w->kernel) || (w->line && row->line != w->line)) return;
  w->sum.total += row->total;
  w->sum.warp_total += row->warp_total;
  for (unsigned c = 0; c < ARRAY_LEN(row->instructions); c++)
    w->sum.instructions[c] += row->instructions[c];
  w->sum.loads += row->loads;
  w->sum.stores += row->stores;
  w->sum.atomics += row->atomics;
  w->sum.load_bytes += row->load_bytes;
  w->sum.store_bytes += row->store_bytes;
  w->sum.atomic_bytes += row->atomic_bytes;
  if (!row->file || strcmp(row->file, "cases.cu")) failures++;
}
static CountRow rows(const Loaded *l, const char *kernel, uint32_t line) {
  Wanted w = {.kernel = kernel, .line = line};
  count_rows(&l->code, l->counters, add_row, &w);
  return w.sum;
}
static uint64_t class_total(const CountRow *r, PtxClass c) {
  return r->instructions[__builtin_ctz(c)];
}

static void *zeroed(size_t n) { return vgpu_mem_alloc(n, 16); }

static void test_saxpy(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  uint64_t n = 1000, threads = 8 * 128, warps = 8 * 4;
  float *x = zeroed(4096), *y = zeroed(4096);
  for (unsigned i = 0; i < n; i++) {
    x[i] = (float)i;
    y[i] = 1;
  }
  struct { void *x, *y; float a; uint32_t n; } p = {x, y, 2, (uint32_t)n};
  launch_counted(&l, "saxpy", 8, 128, &p, sizeof p);
  EXPECT("result", y[999] == 1999, 1);
  CountRow r = rows(&l, "saxpy", 0), body = rows(&l, "saxpy", 11);
  EXPECT("total", r.total, 9 * threads + (threads - n) + 7 * n + threads);
  EXPECT("warps", r.warp_total,
         10 * warps + 7 * warps + warps);  // the last warp has 8 lanes in the body
  EXPECT("body", body.total, 7 * n);
  EXPECT("loads", r.loads, 2 * n);
  EXPECT("load bytes", r.load_bytes, 8 * n);
  EXPECT("stores", r.stores, n);
  EXPECT("store bytes", r.store_bytes, 4 * n);
  EXPECT("float", class_total(&r, CLASS_FLOAT), n);
  EXPECT("branches", class_total(&r, CLASS_BRANCH), threads - n + threads);
  EXPECT("loads of any space", class_total(&r, CLASS_LOAD), 2 * n + 4 * threads);
  // twice is twice
  launch_counted(&l, "saxpy", 8, 128, &p, sizeof p);
  EXPECT("second launch", rows(&l, "saxpy", 0).total, 2 * r.total);
  // a launch without counters counts nothing and does the same
  launch(&l, "saxpy", 8, 128, &p, sizeof p, (WgLaunch){.counters = 0});
  EXPECT("not counted", rows(&l, "saxpy", 0).total, 2 * r.total);
  EXPECT("result", y[999] == 1999 + 2 * 1998, 1);
  unload(&l);
}

static void test_matmul(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  uint64_t m = 48, threads = m * m, warps = m * 2;  // blocks of 48: a warp and a half
  float *a = zeroed(m * m * 4), *b = zeroed(m * m * 4), *c = zeroed(m * m * 4);
  a[0] = 2;
  b[0] = 3;
  struct { void *a, *b, *c; uint32_t m; } p = {a, b, c, (uint32_t)m};
  launch_counted(&l, "matmul", (uint32_t)m, (uint32_t)m, &p, 28);
  EXPECT("result", c[5] == (float)m * 6, 1);
  CountRow r = rows(&l, "matmul", 0);
  EXPECT("total", r.total, threads * (12 + 5 * m + (m - 1) + 2));
  EXPECT("warps", r.warp_total, warps * (12 + 6 * m + 2));
  EXPECT("taken branches", rows(&l, "matmul", 22).total, threads * (m + m - 1));
  EXPECT("load bytes", r.load_bytes, threads * m * 8);
  EXPECT("fma", class_total(&r, CLASS_FLOAT), threads * m);
  unload(&l);
}

static void test_reduce(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  uint32_t *out = zeroed(4);
  uint64_t blocks = 5, threads = blocks * 64;
  launch_counted(&l, "reduce", (uint32_t)blocks, 64, &out, 8);
  EXPECT("result", *out, blocks * 64 * 63 / 2);
  uint64_t adders = 32 + 16 + 8 + 4 + 2 + 1;
  CountRow r = rows(&l, "reduce", 0), waiting = rows(&l, "reduce", 31),
           adding = rows(&l, "reduce", 32);
  EXPECT("barriers", class_total(&r, CLASS_SYNC), 6 * threads);
  EXPECT("waiting", waiting.total, 2 * 6 * threads + blocks * (6 * 64 - adders));
  EXPECT("adding", adding.total, 5 * blocks * adders);
  EXPECT("adding warps", adding.warp_total,
         5 * blocks * 6);  // only the first warp of a block has work
  EXPECT("rounds", rows(&l, "reduce", 33).total, threads * (6 * 3 + 5));
  EXPECT("exits", rows(&l, "reduce", 34).total, threads + blocks * 63);
  EXPECT("last", rows(&l, "reduce", 35).total, 3 * blocks);
  EXPECT("atomics", r.atomics, blocks);
  EXPECT("atomic bytes", r.atomic_bytes, 4 * blocks);
  EXPECT("shared loads", r.load_bytes, 4 * (blocks * (2 * adders) + blocks));
  EXPECT("total", r.total,
         8 * threads + waiting.total + adding.total + threads * 23 + threads + blocks * 63 +
             3 * blocks);
  unload(&l);
}

static void test_guards(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  void *p = zeroed(64);
  launch_counted(&l, "guards", 1, 40, &p, 8);
  const uint64_t want[] = {4 * 40, 10, 30, 10, 40, 5, 5, 2 * 35};
  for (uint32_t i = 0; i < ARRAY_LEN(want); i++) {
    char what[32];
    snprintf(what, sizeof what, "line %u", 40 + i);
    EXPECT(what, rows(&l, "guards", 40 + i).total, want[i]);
  }
  CountRow r = rows(&l, "guards", 0);
  EXPECT("load bytes", r.load_bytes, 10 * 16);
  EXPECT("store bytes", r.store_bytes, 30 * 8);
  EXPECT("atomic bytes", r.atomic_bytes, 5 * 4);
  EXPECT("warps issue a guarded instruction whoever it is for", rows(&l, "guards", 45).warp_total,
         2);
  unload(&l);
}

static void test_recursion(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  uint32_t *out = zeroed(4);
  launch_counted(&l, "recursion", 3, 33, &out, 8);
  EXPECT("result", *out, 55);
  uint64_t threads = 99, leaves = 55, inner = 54;                        // fib(10) = 55
  EXPECT("entered", rows(&l, "recursion", 50).total, threads * (2 * (leaves + inner) + inner));
  EXPECT("leaves", rows(&l, "recursion", 51).total, threads * 2 * leaves);
  EXPECT("inner", rows(&l, "recursion", 52).total, threads * 11 * inner);
  EXPECT("kernel", rows(&l, "recursion", 53).total, threads * 6);
  CountRow r = rows(&l, "recursion", 0);
  EXPECT("calls", class_total(&r, CLASS_CALL), threads * (1 + 2 * inner));
  unload(&l);
}

static void test_indirect(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  uint32_t *out = zeroed(4);
  launch_counted(&l, "indirect", 2, 50, &out, 8);
  EXPECT("result", *out, 50);
  EXPECT("before", rows(&l, "indirect", 63).total, 100 * 8);
  EXPECT("after", rows(&l, "indirect", 64).total, 50 * 3);
  // functions that several kernels may reach through a pointer stand by their own name
  EXPECT("stay", rows(&l, "stay", 0).total, 50 * 2);
  EXPECT("gone", rows(&l, "gone", 0).total, 50);
  EXPECT("leave", rows(&l, "leave", 0).total, 50);
  unload(&l);
}

static void test_traps(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  uint64_t out = 0;
  EXPECT("status",
         launch(&l, "traps", 1, 32, &out, 8, (WgLaunch){.counters = (uint64_t)l.counters}),
         VGPU_TRAP);
  EXPECT("before", rows(&l, "traps", 70).total, 32);
  EXPECT("rounds", rows(&l, "traps", 71).total, 32 * 20);
  EXPECT("trap and branches", rows(&l, "traps", 72).total, 32 + 32 * 9);
  unload(&l);
}

static void test_parameters(void) {
  Loaded l;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  uint32_t *out = zeroed(4);
  struct { uint32_t s[6]; uint8_t tail, pad[7]; void *out; } p = {{0, 0, 0, 0, 0, 40}, 2, {0}, out};
  const WovenKernel *k = weave_kernel(&l.code, "struct_param");
  EXPECT("parameters", k->user_params, 3);
  EXPECT("bytes", k->user_param_bytes, 40);
  EXPECT("offset", k->record_offset, 40);
  EXPECT("saxpy's offset", weave_kernel(&l.code, "saxpy")->record_offset, 24);
  launch_counted(&l, "struct_param", 1, 1, &p, sizeof p);
  EXPECT("result", *out, 42);
  EXPECT("total", rows(&l, "struct_param", 0).total, 8);
  unload(&l);
}

static bool only_saxpy(const char *name, void *user) { return !strcmp(name, "saxpy"); }

// Nothing to add: nothing changes. Kernels that are not wanted keep their parameters.
static void test_plan(void) {
  Error err;
  PtxModule *m = ptx_parse(text, strlen(text), "cases", &err);
  Str before = {0}, after = {0};
  ptx_print(m, &before);
  WeavePlan plan = {.tools = 0};
  Woven r;
  EXPECT("none", weave_module(&m, 1, &plan, &r, &err), true);
  ptx_print(m, &after);
  EXPECT("the same text", strcmp(before.data, after.data), 0);
  EXPECT("kernels", r.nkernels, 8);
  EXPECT("no record", r.kernels[0].record_bytes, 0);
  weave_free(&r);
  plan = (WeavePlan){.tools = TOOL_BIT(COUNT), .wants_kernel = only_saxpy};
  EXPECT("one", ptx_verify(m, &err) && weave_module(&m, 1, &plan, &r, &err), true);
  EXPECT("wanted", weave_kernel(&r, "saxpy")->instrumented, true);
  EXPECT("not wanted", weave_kernel(&r, "matmul")->instrumented, false);
  EXPECT("a reason", weave_kernel(&r, "matmul")->reason != NULL, true);
  EXPECT("its parameters", ptx_find_func(m, "matmul")->nparams, 4);
  weave_free(&r);
  ptx_free(m);
  str_free(&before);
  str_free(&after);
}

// A function counts for the kernels and launches that are counted, whoever else calls it.
static bool only_a(const char *name, void *user) { return !strcmp(name, "a"); }
static void test_selection(void) {
  char *text = ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"cases.cu\"\n"
               ".func f() { .loc 1 1 0\n ret; }\n.visible .entry a() { .loc 1 2 0\n call f; ret; "
               "}\n.visible .entry b() { .loc 1 3 0\n call f; ret; }\n";
  Loaded l;
  wants_kernel = only_a;
  load(&l, &text, 1, TOOL_BIT(COUNT));
  wants_kernel = NULL;
  launch_counted(&l, "a", 1, 7, NULL, 0);
  EXPECT("b has no record", weave_kernel(&l.code, "b")->record_bytes, 0);
  for (int i = 0; i < 600; i++)
    launch(&l, "b", 1, 5, NULL, 0, (WgLaunch){0});  // every row of the table of launches, twice
  for (int i = 0; i < 600; i++)
    launch(&l, "a", 1, 5, NULL, 0, (WgLaunch){0});  // launches that are not selected
  EXPECT("f", rows(&l, "f", 1).total, 7);           // two kernels call it
  EXPECT("a", rows(&l, "a", 2).total, 14);
  launch_counted(&l, "a", 1, 1, NULL, 0);
  EXPECT("f again", rows(&l, "f", 1).total, 8);
  unload(&l);
}

// Two units of one program: a function of one counts for the kernel of the other.
static void test_units(void) {
  char *units[] = {".version 8.0\n.target sm_80\n.address_size 64\n.extern .func far();\n.visible "
                   ".entry k() { call far; call far; ret; }\n",
                   ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func far() { .reg "
                   ".b32 %r; mov.u32 %r, 1; ret; }\n"};
  Loaded l;
  load(&l, units, 2, TOOL_BIT(COUNT));
  launch_counted(&l, "k", 1, 10, NULL, 0);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < l.code.ncounters; i++) sum += l.counters[i];
  EXPECT("k: 10 threads, 1 warp; far: 20 threads, 2 warps", sum, 11 + 22);
  unload(&l);
}

int main(int argc, char **argv) {
  Str file = {0};
  Error err;
  if (argc < 2 || !file_read(argv[1], &file, &err)) die("read", err.text);
  text = file.data;
  static const struct { const char *name; void (*run)(void);
  } tests[] = {
      {"saxpy", test_saxpy},         {"matmul", test_matmul},         {"reduce", test_reduce},
      {"guards", test_guards},       {"recursion", test_recursion},   {"indirect", test_indirect},
      {"traps", test_traps},         {"parameters", test_parameters}, {"plan", test_plan},
      {"selection", test_selection}, {"units", test_units},
  };
  for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
    int before = failures;
    tests[i].run();
    printf("%s %s\n", failures == before ? "ok" : "FAIL", tests[i].name);
  }
  return failures != 0;
}
