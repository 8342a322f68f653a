// initcheck on a GPU: the host runs ahead of the kernels and does not know what they have written.
// If a kernel with two bodies reads memory that the host does not know to be initialised, our own
// kernel (all_initialised_kernel.cu) scans the shadow before it, in the same stream. The program's
// kernel reads the answer when it begins; the host never waits.
#include "tools/initcheck/all_initialised_abi.h"
#include "tools/initcheck/host.h"

enum {
  ANSWERS = 1 << 16,
  KERNELS = 256,
  MOST_SHADOW = 64 << 20,
  FEWEST_THREADS = 1 << 15,
  FREE_ASKS = 16,
  SHORTEST_NS = 100000
};

// fails: answers of "no" that the host has seen; `seen`: the last of these. since: the time of the
// first launch, ns
typedef struct Asked {
  const SessionKernel *kernel;
  uint32_t launches, asks, skipped, fails, seen;
  uint64_t since;
} Asked;
typedef struct AllInitialised {
  // device: uint32_t answers[ANSWERS]. host: uint32_t[KERNELS], by entry of `asked`: the number of
  // the last question whose answer was "no"
  SessionOwnKernel kernel;
  unsigned blocks;
  uint32_t number;
  Asked asked[KERNELS];
} AllInitialised;

extern const char probe_all_initialised_kernel_text[];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // number, asked

// If our kernel cannot be loaded, the program's kernels test the shadow themselves.
void all_initialised_open(ToolDevice *d) {
  SessionOwnKernel k = {.host_bytes = KERNELS * sizeof(uint32_t),
                        .device_bytes = ANSWERS * sizeof(uint32_t)};
  if (d->ops->direct ||
      !d->ops->load_kernel(d->user, probe_all_initialised_kernel_text, "wg_look_whole", &k))
    return;
  AllInitialised *a = mem_alloc(sizeof *a);
  *a = (AllInitialised){.kernel = k, .blocks = k.processors * 4};
  ((InitDevice *)d->state)->all_initialised = a;
}

// Its memory on the device stays: a kernel that has not ended may read it.
void all_initialised_close(ToolDevice *d) { free(((InitDevice *)d->state)->all_initialised); }

// If the answer is mostly "no", asks for only one launch in 16. If launches follow each other so
// fast that they must be short, asks for none. With the lock held.
static bool is_worth_it(AllInitialised *g, const SessionKernel *k, uint32_t *entry) {
  *entry = (uint32_t)(((uintptr_t)k >> 4) * 0x9e3779b1u) % KERNELS;
  Asked *a = &g->asked[*entry];
  uint32_t told = ((volatile uint32_t *)g->kernel.host)[*entry];
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

// Collects the shadows of memory that the launch reads and the host does not know to be
// initialised; false: too many.
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

void all_initialised_ask(ToolDevice *d, const void *stream, SessionRun *r) {
  const WovenKernel *code = session_kernel_code(r->kernel);
  uint32_t at = code ? init_kernel(code)->all_initialised_at : 0;
  AllInitialised *g = ((InitDevice *)d->state)->all_initialised;
  WgWholeWork w = {0};
  uint64_t shadow = 0, threads = 1;
  for (unsigned i = 0; i < 3; i++) threads *= (uint64_t)r->shape->grid[i] * r->shape->block[i];
  if (!g || !at || (!code->has_loops && threads < FEWEST_THREADS) ||
      !parts_of(code, r->record, &w, &shadow))
    return;
  uint32_t entry;
  pthread_mutex_lock(&lock);
  bool asks = is_worth_it(g, r->kernel, &entry);
  w.number = g->number += asks;
  pthread_mutex_unlock(&lock);
  if (!asks) return;
  w.answer = g->kernel.device + w.number % ANSWERS * sizeof(uint32_t);
  w.later = g->kernel.device + (w.number + ANSWERS / 2) % ANSWERS * sizeof(uint32_t);
  w.told = g->kernel.host_at + entry * sizeof(uint32_t);
  void *params[] = {&w};
  unsigned blocks = (unsigned)MIN(MAX(shadow / (16 * WG_WHOLE_THREADS * WG_WHOLE_AHEAD), 1),
                                  g->blocks);
  if (d->ops->launch_kernel(d->user, stream, &g->kernel, blocks, WG_WHOLE_THREADS, params))
    memcpy((char *)r->record + at, &w.answer, sizeof w.answer);
}
