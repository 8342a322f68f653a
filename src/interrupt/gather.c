// Counts and gathers callers on the CPU, where it reaches the device's memory. On a GPU, the
// kernels of gather_kernel.cu do it.
#include "interrupt/interrupt.h"

static void *at(uint64_t address) { return (void *)(uintptr_t)address; }

static uint32_t *place_word(const InterruptRun *run, uint32_t place, uint32_t offset) {
  uint64_t group = run->launch.places + (uint64_t)(place / 32) * 32 * run->kernel->place_bytes;
  return at(group + 32ull * offset + 4 * (place % 32));
}

// Orders the threads that have a place by their numbers, when the first kernel has ended.
static void order_places(const InterruptRun *run, InterruptControl *c) {
  const uint32_t *marks = at(run->launch.marks);
  uint32_t *firsts = at(run->launch.firsts), n = 0;
  for (size_t w = 0; w < run->words; w++) {
    if (!marks[w]) continue;
    firsts[w] = n;
    n += (uint32_t)__builtin_popcount(marks[w]);
  }
  for (uint32_t counter = 0; counter < PLACE_COUNTERS; counter++)
    for (uint32_t i = 0; i < c->places[counter].taken; i++) {
      uint32_t p = PLACE_OF(counter, i), thread = *place_word(run, p, PLACE_THREAD);
      size_t in_block = thread % run->block_threads,
             w = thread / run->block_threads * run->block_words + in_block / 32;
      uint32_t lower = marks[w] & ((1u << in_block % 32) - 1);
      *place_word(run, firsts[w] + (uint32_t)__builtin_popcount(lower), PLACE_ORDER) = p;
    }
  c->ordered = n;
}

// The call at which the i-th thread with a place is suspended; ncalls: it is not at one
static uint32_t call_of(const InterruptRun *run, uint32_t i, uint32_t *place) {
  *place = *place_word(run, i, PLACE_ORDER);
  uint32_t state = *place_word(run, *place, PLACE_STATE);
  return state ? MIN(state - 1, run->kernel->ncalls) : run->kernel->ncalls;
}

void interrupt_count_here(const InterruptRun *run, uint32_t *counts) {
  InterruptControl *c = at(run->launch.control);
  uint32_t place;
  if (!c->ordered) order_places(run, c);
  for (uint32_t i = 0; i < c->ordered; i++) {
    uint32_t call = call_of(run, i, &place);
    if (call < run->kernel->ncalls) counts[call]++;
  }
}

static void copy_arguments(const InterruptRun *run, uint32_t call, uint32_t place, uint32_t to) {
  const InterruptCall *c = &run->kernel->calls[call];
  uint32_t word = PLACE_CONTEXT + c->args_at;
  for (uint32_t p = 0; p < c->nparams; p++) {
    char *list = (char *)at(run->lists[call * INTERRUPT_PARAMS + p]) +
                 (size_t)to * c->param_bytes[p];
    for (uint32_t b = 0; b < c->param_bytes[p]; b += 4, word += 4)
      memcpy(list + b, place_word(run, place, word), MIN(c->param_bytes[p] - b, 4u));
  }
}

void interrupt_gather_here(const InterruptRun *run) {
  const InterruptControl *control = at(run->launch.control);
  uint32_t n = run->kernel->ncalls, *filled = mem_alloc(sizeof *filled * MAX(n, 1)), place;
  for (uint32_t i = 0; i < control->ordered; i++) {
    uint32_t call = call_of(run, i, &place);
    if (call == n) continue;
    const InterruptCall *c = &run->kernel->calls[call];
    uint32_t to = filled[call]++;
    ((uint32_t *)at(run->numbers[call]))[to] = *place_word(run, place, PLACE_THREAD);
    copy_arguments(run, call, place, to);
    if (c->result_bytes)
      *place_word(run, place, PLACE_CONTEXT + c->args_at) = run->first_rank[call] + to;
  }
  free(filled);
}
