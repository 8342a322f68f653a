// The same findings as reports of a CUDA launch and of an OpenCL launch: every word of
// base/api_words.def.
#include "report/internal.h"
#include "run/internal.h"
#include "tools/racecheck/abi.h"
#include "tools/synccheck/abi.h"

static RunProcess process = {.id = 1, .pid = 1, .program = "program"};
static RunKernel kernel = {.id = 1,
                           .process = &process,
                           .name = "k",
                           .readable = "k",
                           .launches = 1,
                           .checked = 1,
                           .covered = true};
static RunLaunch launch = {.id = 1, .number = 1, .grid = {2, 1, 1}, .block = {32, 1, 1}};
static RunPlace places[] = {{"a.cu", "k", 7, 1}}, others[] = {{"a.cu", "k", 9, 1}};
static RunSite tile = {.id = 1,
                       .function = "k",
                       .space = "shared",
                       .object = "tile",
                       .bytes = 4,
                       .places = places,
                       .nplaces = 1};
static RunSite stack = {.id = 2,
                        .function = "k",
                        .space = "local",
                        .object = "__local_depot0",
                        .bytes = 4,
                        .places = places,
                        .nplaces = 1};
static RunSite surface = {
    .id = 4, .function = "k", .space = "surface", .bytes = 4, .places = places, .nplaces = 1};
static RunSite other = {
    .id = 3, .function = "k", .space = "shared", .bytes = 4, .places = others, .nplaces = 1};

#define COMMON \
  .process = &process, .kernel = &kernel, .launch = &launch, .launch_number = 1, \
  .has_thread = true, .thread = {5, 0, 0}, .count = 1
static const struct { const char *kind; RunFinding f;
} examples[] = {
    {"oob-write",
     {COMMON, .site = &tile, .lanes = 3, .has_address = true, .address = 132, .size = 4,
      .value = {0}, .extra = {128}}},
    {"oob-read",
     {COMMON, .site = &stack, .has_address = true, .address = 72, .size = 4, .value = {8},
      .extra = {64}, .parameter = "p"}},
    {"oob-write",
     {COMMON, .site = &surface, .size = 4, .value = {64 | 3ull << 32},
      .extra = {64 | 2ull << 32, 0, 1}}},
    {"uninit-use", {COMMON, .site = &surface, .origin = &other, .value = {1}, .extra = {3}}},
    {"uninit-use", {COMMON, .site = &tile, .origin = &other, .value = {2}}},
    {"race-shared",
     {COMMON, .site = &tile, .origin = &other, .has_address = true, .address = 64, .size = 4,
      .value = {1, 6ull << 32},
      .extra = {0, 0,
                WG_RACE_NO_WARP_SYNC | WG_RACE_MINE_WRITE | WG_RACE_OTHER_WRITE |
                    WG_RACE_THREAD_KNOWN}}},
    {"race-same-value",
     {COMMON, .site = &tile, .size = 4,
      .extra = {0, 0, WG_RACE_OTHER_BLOCK | WG_RACE_MINE_WRITE | WG_RACE_OTHER_WRITE}}},
    {"barrier-divergence",
     {COMMON, .site = &tile, .value = {0x2f | 0xffffffd0ull << 32},
      .extra = {0, 0, WG_SYNC_DIVERGED}}},
    {"barrier-divergence",
     {COMMON, .site = &tile, .value = {1 | 2ull << 32},
      .extra = {30 | 3ull << 32, 0, WG_SYNC_MISSING}}},
    {"barrier-misuse", {COMMON, .site = &tile, .extra = {0, 0, WG_SYNC_GRID}}},
    {"barrier-mismatch", {.process = &process, .count = 1}},
    {"api-misuse", {.process = &process, .count = 1}},
};

static void print(Run *r) {
  Str out = {0}, plain = {0};
  printf("--- %s\n", api_words(r->api)->api);
  for (uint32_t i = 0; i < r->findings.len; i++) report_finding(r, r->findings.data[i], &out);
  report_coverage(r, false, &out);
  report_style(out.data, out.len, false, &plain);
  fputs(plain.data, stdout);
  str_free(&out);
  str_free(&plain);
}

// A run of one launch with all examples.
static void make(Run *r, ApiId api) {
  static RunFinding findings[API_COUNT_][ARRAY_LEN(examples)];
  *r = (Run){.tools = "memcheck",
             .device = "cpu",
             .program = "program",
             .launches = 1,
             .counted_launches = 1,
             .checked_launches = 1,
             .different_kernels = 1,
             .api = api};
  vec_push(&r->kernels, &kernel);
  for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
    RunFinding *f = &findings[api][i];
    *f = examples[i].f;
    f->id = (uint32_t)i + 1;
    f->kind = kind_named(examples[i].kind);
    f->api = api;
    vec_push(&r->findings, f);
  }
}

// The same, as it comes out of a run file.
static bool through_file(Run *r, const char *path) {
  Error err = {{0}};
  RunSite *sites[] = {&tile, &stack, &surface, &other};
  if (!(r->file = run_file_create(path, false, &err))) return false;
  run_file_begin(r);
  run_save(r, TABLE_process, "iiitttti", (int64_t)process.id, (int64_t)process.pid, (int64_t)0,
           process.program, NULL, NULL, NULL, (int64_t)0);
  run_save(r, TABLE_launch, "iiiiiiiiiiiiiiiiiiii", (int64_t)1, (int64_t)process.id,
           (int64_t)launch.number, (int64_t)kernel.id, (int64_t)launch.grid[0],
           (int64_t)launch.grid[1], (int64_t)launch.grid[2], (int64_t)launch.block[0],
           (int64_t)launch.block[1], (int64_t)launch.block[2], (int64_t)1, (int64_t)1, (int64_t)1,
           (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0, (int64_t)0);
  for (size_t i = 0; i < ARRAY_LEN(sites); i++) {
    sites[i]->saved = false;
    run_save_site(r, sites[i]);
  }
  if (!run_file_finish(r, &err)) return false;
  run_free(r);
  *r = (Run){0};
  return run_load(path, r, &err);
}

// words [saved]: what was found, or what a run file says was found
int main(int argc, char **argv) {
  (void)argv;
  for (ApiId api = 0; api < API_COUNT_; api++) {
    Run r;
    make(&r, api);
    if (argc > 1 && !through_file(&r, "words.wg")) return 1;
    print(&r);
    run_free(&r);
  }
  return 0;
}
