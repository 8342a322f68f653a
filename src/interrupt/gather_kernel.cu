// Callers of interrupts counted and gathered on the GPU, in the order of calls and threads: each
// block looks at one chunk of states. interrupt_gather_count, then interrupt_gather_scan (one
// block), then interrupt_gather.
#include "interrupt/interrupt_abi.h"
#include "probe/kernel.h"

enum { WARPS = GATHER_CHUNK / 32 };

DEVICE uint32_t ballot(bool p) {
  uint32_t lanes;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(lanes)
               : "r"((uint32_t)p)
               : "memory");
  return lanes;
}
DEVICE bool any_of_block(bool p) {
  uint32_t any;
  asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, 0, p;"
               " selp.u32 %0, 1, 0, q; }"
               : "=r"(any)
               : "r"((uint32_t)p)
               : "memory");
  return any;
}
DEVICE uint32_t lanes_below() {
  uint32_t lanes;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lanes));
  return lanes;
}
DEVICE uint32_t chunk_of_block() { return __nvvm_read_ptx_sreg_ctaid_x(); }

// 0: not a caller
DEVICE uint32_t state_of(const GatherJob *j, uint32_t thread) {
  uint32_t s = thread < j->threads ? load4(j->states + 4ull * thread) : 0;
  return s <= j->ncalls ? s : 0;
}

// Callers of the call in this chunk; *before: in lower threads of it.
DEVICE uint32_t count_in_chunk(bool calls, uint32_t *sums, uint32_t *before) {
  uint32_t lanes = ballot(calls), warp = thread_of_block() / 32, all = 0, lower = 0;
  barrier();  // sums of the last call have been read
  if (thread_of_block() % 32 == 0) sums[warp] = __builtin_popcount(lanes);
  barrier();
  for (uint32_t w = 0; w < WARPS; w++) {
    lower += w < warp ? sums[w] : 0;
    all += sums[w];
  }
  *before = lower + __builtin_popcount(lanes & lanes_below());
  return all;
}

extern "C" __attribute__((global)) void interrupt_gather_count(GatherJob j) {
  static __attribute__((shared)) uint32_t sums[WARPS];
  uint32_t chunk = chunk_of_block(), before,
           state = state_of(&j, chunk * GATHER_CHUNK + thread_of_block());
  if (!any_of_block(state)) {  // most chunks, where few threads call
    for (uint32_t c = thread_of_block(); c < j.ncalls; c += GATHER_CHUNK)
      store4(j.counts + 4 * ((uint64_t)c * j.chunks + chunk), 0);
    return;
  }
  for (uint32_t c = 0; c < j.ncalls; c++) {
    uint32_t n = count_in_chunk(state == c + 1, sums, &before);
    if (thread_of_block() == 0) store4(j.counts + 4 * ((uint64_t)c * j.chunks + chunk), n);
  }
}

// One block: counts become the callers in chunks before.
extern "C" __attribute__((global)) void interrupt_gather_scan(GatherJob j) {
  static __attribute__((shared)) uint32_t sums[GATHER_CHUNK];
  uint32_t me = thread_of_block(), each = (j.chunks + GATHER_CHUNK - 1) / GATHER_CHUNK;
  for (uint32_t c = 0; c < j.ncalls; c++) {
    uint64_t row = j.counts + 4 * (uint64_t)c * j.chunks;
    uint32_t first = me * each, end = first + each, sum = 0;
    if (end > j.chunks) end = j.chunks;
    for (uint32_t k = first; k < end; k++) sum += load4(row + 4ull * k);
    barrier();
    sums[me] = sum;
    barrier();
    for (uint32_t step = 1; step < GATHER_CHUNK; step *= 2) {
      uint32_t lower = me >= step ? sums[me - step] : 0;
      barrier();
      sums[me] += lower;
      barrier();
    }
    uint32_t at = sums[me] - sum;
    for (uint32_t k = first; k < end; k++) {
      uint32_t n = load4(row + 4ull * k);
      store4(row + 4ull * k, at);
      at += n;
    }
    if (me == 0) store4(j.totals + 4ull * c, sums[GATHER_CHUNK - 1]);
  }
}

DEVICE void store_part(uint64_t to, uint32_t word, uint32_t bytes) {
  if (bytes == 4 && !(to & 3)) {
    store4(to, word);
    return;
  }
  for (uint32_t i = 0; i < bytes; i++)
    asm volatile("st.global.u8 [%0], %1;" ::"l"(to + i), "r"(word >> (8 * i)) : "memory");
}

DEVICE void copy_arguments(const GatherJob *j, uint64_t call, uint32_t thread, uint32_t place) {
  const GatherCall *c = (const GatherCall *)call;
  uint64_t from = j->contexts + (uint64_t)c->args_at * j->stride + 4ull * thread;
  for (uint32_t p = 0; p < c->nparams; p++) {
    uint32_t bytes = c->bytes[p];
    uint64_t to = c->lists[p] + (uint64_t)place * bytes;
    for (uint32_t b = 0; b < bytes; b += 4, from += 4 * j->stride)
      store_part(to + b, load4(from), bytes - b < 4 ? bytes - b : 4);
  }
}

extern "C" __attribute__((global)) void interrupt_gather(GatherJob j) {
  static __attribute__((shared)) uint32_t sums[WARPS];
  uint32_t chunk = chunk_of_block(), before, thread = chunk * GATHER_CHUNK + thread_of_block(),
           state = state_of(&j, thread);
  if (!any_of_block(state)) return;
  for (uint32_t c = 0; c < j.ncalls; c++) {
    count_in_chunk(state == c + 1, sums, &before);
    if (state != c + 1) continue;
    uint64_t call = j.calls + c * sizeof(GatherCall);
    const GatherCall *g = (const GatherCall *)call;
    uint32_t place = load4(j.counts + 4 * ((uint64_t)c * j.chunks + chunk)) + before;
    store4(g->numbers + 4ull * place, thread);
    if (j.ranks) store4(j.ranks + 4ull * thread, g->first_rank + place);
    copy_arguments(&j, call, thread, place);
  }
}
