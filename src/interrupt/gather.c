// Callers counted and gathered by the CPU, where it reaches the device's memory. On a GPU kernels
// do it: gather_kernel.cu.
#include "interrupt/interrupt.h"

static void *at(uint64_t address) { return (void *)(uintptr_t)address; }

void interrupt_count_here(const InterruptRun *run, uint32_t *counts) {
  const uint32_t *states = at(run->launch.states);
  for (size_t t = 0; t < run->threads; t++)
    if (states[t] && states[t] <= run->kernel->ncalls) counts[states[t] - 1]++;
}

static void copy_arguments(const InterruptRun *run, uint32_t call, size_t thread, uint32_t place) {
  const InterruptCall *c = &run->kernel->calls[call];
  uint32_t word = 0;
  for (uint32_t p = 0; p < c->nparams; p++) {
    char *to = (char *)at(run->lists[call * INTERRUPT_PARAMS + p]) +
               (size_t)place * c->param_bytes[p];
    for (uint32_t b = 0; b < c->param_bytes[p]; b += 4, word++)
      memcpy(to + b,
             (const char *)at(run->launch.contexts) +
                 ((size_t)c->args_at + 4 * word) * run->launch.threads + 4 * thread,
             MIN(c->param_bytes[p] - b, 4u));
  }
}

void interrupt_gather_here(const InterruptRun *run) {
  const uint32_t *states = at(run->launch.states);
  uint32_t *ranks = at(run->launch.ranks),
           *filled = mem_alloc(sizeof *filled * MAX(run->kernel->ncalls, 1));
  for (size_t t = 0; t < run->threads; t++) {
    uint32_t call = states[t] - 1;
    if (!states[t] || states[t] > run->kernel->ncalls) continue;
    uint32_t place = filled[call]++;
    ((uint32_t *)at(run->numbers[call]))[place] = (uint32_t)t;
    if (run->kernel->has_results) ranks[t] = run->first_rank[call] + place;
    copy_arguments(run, call, t, place);
  }
  free(filled);
}
