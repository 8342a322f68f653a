// initcheck on a GPU: kernels fill memory, and the host is ahead of them. Where it does not know
// that all a kernel with two bodies reads is initialised, a kernel of ours
// (tools/initcheck/all_initialised_kernel.cu) looks at the shadow before it, in its stream, and the
// kernel reads the answer when it begins. Nobody waits for anything.
#include "gpu/gpu.h"

#include "gpu/own_kernel.h"
#include "tools/initcheck/all_initialised_abi.h"

enum {
  ANSWERS = 1 << 16,
  KERNELS = 256,
  MOST_SHADOW = 64 << 20,
  FEWEST_THREADS = 1 << 15,
  FREE_ASKS = 16,
  SHORTEST_NS = 100000
};

// fails: those that the host has heard of; seen: the last of them. since: the first launch, ns
typedef struct Asked {
  const SessionKernel *kernel;
  uint32_t launches, asks, skipped, fails, seen;
  uint64_t since;
} Asked;
struct GpuWhole {
  CUfunction kernel;
  CUdeviceptr answers, told_at;  // uint32_t[ANSWERS]; uint32_t[KERNELS]
  // by entry of `asked`: the number of the last ask that was answered with no
  volatile uint32_t *told;
  unsigned blocks;
  uint32_t number;
  Asked asked[KERNELS];
};
typedef struct GpuWhole GpuWhole;

extern const char probe_all_initialised_kernel_text[];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // numbers, asked

void gpu_whole_open(GpuContext *c) {
  if (!session_wants_shadow() || c->whole) return;
  GpuOwnKernel own = {0};
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream &&
            gpu_own_kernel_load(&own, c, probe_all_initialised_kernel_text, "wg_look_whole",
                                KERNELS * sizeof(uint32_t), ANSWERS * sizeof(uint32_t));
  gpu_context_leave(e);
  if (!ok) return;  // kernels look for themselves then
  GpuWhole *g = mem_alloc(sizeof *g);
  *g = (GpuWhole){.kernel = own.function,
                  .answers = own.device,
                  .told_at = own.host_at,
                  .told = own.host,
                  .blocks = own.processors * 4};
  c->whole = g;
}

// What it has on the device stays: a kernel that has not ended may read it.
void gpu_whole_close(GpuContext *c) {
  free(c->whole);
  c->whole = NULL;
}

// Where the answer is no most of the time, it is asked now and then only. Not where launches come
// so often that they must be short. With the lock held.
static bool is_worth_it(GpuWhole *g, const SessionKernel *k, uint32_t *entry) {
  *entry = (uint32_t)(((uintptr_t)k >> 4) * 0x9e3779b1u) % KERNELS;
  Asked *a = &g->asked[*entry];
  uint32_t told = g->told[*entry];
  uint64_t now = clock_ns();
  if (a->kernel != k) *a = (Asked){.kernel = k, .seen = told, .since = now};
  if (++a->launches > FREE_ASKS && (now - a->since) / a->launches < SHORTEST_NS) return false;
  if (told != a->seen) {
    a->fails++;
    a->seen = told;
  }
  if (a->fails >= 4 && a->fails > a->asks / 2 && ++a->skipped % 16) return false;
  a->asks++;
  return true;
}

// The shadows of what the launch reads and the host does not know to be initialised; false: too
// many.
static bool parts_of(const WovenKernel *code, const void *record, WgWholeWork *w,
                     uint64_t *shadow) {
  for (uint32_t i = 0; i < code->nfacts; i++) {
    uint64_t fact[3];  // base, size, shadow
    if (code->facts[i].kind != FACT_SHADOW || !code->facts[i].is_read) continue;
    memcpy(fact, (const char *)record + code->facts[i].record_offset, sizeof fact);
    bool known = !fact[1];
    for (uint32_t n = 0; n < w->count; n++) known |= w->parts[n].shadow == fact[2];
    if (known) continue;
    if (w->count == WG_WHOLE_PARTS || fact[2] % 16) return false;
    w->parts[w->count++] = (WgWholePart){fact[2], fact[1]};
    *shadow += fact[1] / 4;
  }
  return w->count && *shadow <= MOST_SHADOW;
}

void gpu_whole_ask(GpuLaunch *l, CUstream stream, void *record) {
  const WovenKernel *code = session_kernel_code(l->of->kernel);
  GpuWhole *g = l->context->whole;
  WgWholeWork w = {0};
  uint64_t shadow = 0, threads = 1;
  for (unsigned i = 0; i < 3; i++) threads *= (uint64_t)l->event.grid[i] * l->event.block[i];
  if (!g || !code || !code->whole_at || (!code->has_loops && threads < FEWEST_THREADS) ||
      !parts_of(code, record, &w, &shadow))
    return;
  uint32_t entry;
  pthread_mutex_lock(&lock);
  bool asks = is_worth_it(g, l->of->kernel, &entry);
  w.number = g->number += asks;
  pthread_mutex_unlock(&lock);
  if (!asks) return;
  w.answer = g->answers + w.number % ANSWERS * sizeof(uint32_t);
  w.later = g->answers + (w.number + ANSWERS / 2) % ANSWERS * sizeof(uint32_t);
  w.told = g->told_at + entry * sizeof(uint32_t);
  void *params[] = {&w};
  unsigned blocks = (unsigned)MIN(MAX(shadow / (16 * WG_WHOLE_THREADS * WG_WHOLE_AHEAD), 1),
                                  g->blocks);
  GpuEntered e = gpu_context_enter(l->context);
  bool ok = e.ok && gpu_real.cuLaunchKernel(g->kernel, blocks, 1, 1, WG_WHOLE_THREADS, 1, 1, 0,
                                            stream, params, NULL) == CUDA_SUCCESS;
  gpu_context_leave(e);
  if (ok) memcpy((char *)record + code->whole_at, &w.answer, sizeof w.answer);
}
