// Counts and gathers callers of interrupts on the GPU, in the order of calls and threads.
//
// When the first kernel has ended: interrupt_gather_marks, interrupt_gather_firsts and
// interrupt_gather_order put the threads that have a place in order, and list their blocks. In each
// round: interrupt_gather_count, then interrupt_gather. Each block of these kernels has one part of
// the words or of the places, so that sums over the parts before are few.
#include "interrupt/interrupt_abi.h"
#include "probe/kernel.h"

enum { WARPS = GATHER_THREADS / 32 };

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
DEVICE uint32_t block_of_grid() { return __nvvm_read_ptx_sreg_ctaid_x(); }
DEVICE uint32_t blocks_of_grid() { return __nvvm_read_ptx_sreg_nctaid_x(); }
DEVICE uint32_t add_u32(uint64_t at, uint32_t v) {
  uint32_t before;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(v) : "memory");
  return before;
}
DEVICE void fence() { asm volatile("membar.gl;" ::: "memory"); }

// The sum over the lanes up to this one.
DEVICE uint32_t scan_lanes(uint32_t v) {
  for (uint32_t step = 1; step < 32; step *= 2)
    asm volatile("{ .reg .pred p; .reg .b32 t; shfl.sync.up.b32 t|p, %0, %1, 0, 0xffffffff;"
                 " @p add.u32 %0, %0, t; }"
                 : "+r"(v)
                 : "r"(step));
  return v;
}

// The sum over the threads of the block before this one; *all: over all of them
DEVICE uint32_t scan_block(uint32_t v, uint32_t *sums, uint32_t *all) {
  uint32_t upto = scan_lanes(v), warp = thread_of_block() / 32, lower = 0, sum = 0;
  barrier();  // sums of the last call have been read
  if (thread_of_block() % 32 == 31) sums[warp] = upto;
  barrier();
  for (uint32_t w = 0; w < WARPS; w++) {
    lower += w < warp ? sums[w] : 0;
    sum += sums[w];
  }
  *all = sum;
  return lower + upto - v;
}

// The part of n that this block has: whole pieces of GATHER_THREADS
DEVICE void part_of(uint32_t n, uint32_t *first, uint32_t *end) {
  uint32_t pieces = (n + GATHER_THREADS - 1) / GATHER_THREADS,
           each = (pieces + GATHER_BLOCKS - 1) / GATHER_BLOCKS;
  uint64_t from = (uint64_t)block_of_grid() * each * GATHER_THREADS,
           to = from + (uint64_t)each * GATHER_THREADS;
  *first = from < n ? (uint32_t)from : n;
  *end = to < n ? (uint32_t)to : n;
}

// --- when the first kernel has ended: who has a place ---

// Is it the first word of its block that is not 0?
DEVICE bool begins_block(const GatherJob *j, uint32_t word) {
  uint32_t before = word % j->block_words;
  for (uint32_t i = 1; i <= before; i++)
    if (load4(j->marks + 4ull * (word - i))) return false;
  return true;
}

extern "C" __attribute__((global)) void interrupt_gather_marks(GatherJob j) {
  static __attribute__((shared)) uint32_t sums[WARPS];
  uint32_t first, end, threads = 0, blocks = 0, all;
  part_of(j.words, &first, &end);
  for (uint32_t w = first + thread_of_block(); w < end; w += GATHER_THREADS) {
    uint32_t mark = load4(j.marks + 4ull * w);
    threads += __builtin_popcount(mark);
    blocks += mark && begins_block(&j, w);
  }
  scan_block(threads, sums, &all);
  if (thread_of_block() == 0) store4(j.sums + 4ull * block_of_grid(), all);
  scan_block(blocks, sums, &all);
  if (thread_of_block() == 0) store4(j.sums + 4ull * (GATHER_BLOCKS + block_of_grid()), all);
}

// The sum of the counts of all blocks before this one.
DEVICE uint32_t sum_before(uint64_t row, uint32_t *sums, uint32_t *all) {
  uint32_t me = thread_of_block(), n = me < blocks_of_grid() ? load4(row + 4ull * me) : 0, before;
  scan_block(n, sums, all);
  scan_block(me < block_of_grid() ? n : 0, sums, &before);
  return before;
}

extern "C" __attribute__((global)) void interrupt_gather_firsts(GatherJob j) {
  static __attribute__((shared)) uint32_t sums[WARPS];
  uint32_t first, end, all_threads, all_blocks;
  part_of(j.words, &first, &end);
  uint32_t threads = sum_before(j.sums, sums, &all_threads),
           blocks = sum_before(j.sums + 4 * GATHER_BLOCKS, sums, &all_blocks);
  if (block_of_grid() == 0 && thread_of_block() == 0) {
    store4(j.control + __builtin_offsetof(InterruptControl, ordered), all_threads);
    store4(j.totals + 4ull * j.ncalls, all_blocks);
    store4(j.totals + 4ull * j.ncalls + 4, all_threads);
  }
  for (uint32_t piece = first; piece < end; piece += GATHER_THREADS) {
    uint32_t w = piece + thread_of_block(), mark = w < end ? load4(j.marks + 4ull * w) : 0, all;
    if (!any_of_block(mark)) continue;  // most, where few threads call
    uint32_t at = threads + scan_block(__builtin_popcount(mark), sums, &all);
    threads += all;
    if (mark) store4(j.firsts + 4ull * w, at);
    bool begins = mark && begins_block(&j, w);
    at = blocks + scan_block(begins, sums, &all);
    blocks += all;
    if (begins) store4(j.list + 4ull * at, w / j.block_words);
  }
}

DEVICE uint64_t place_word(const GatherJob *j, uint32_t place, uint32_t offset) {
  return j->places + (uint64_t)(place / 32) * 32 * j->place_bytes + 32ull * offset +
         4 * (place % 32);
}

DEVICE uint32_t ordered(const GatherJob *j) {
  return load4(j->control + __builtin_offsetof(InterruptControl, ordered));
}

// Places that counter c has given.
DEVICE uint32_t taken(const GatherJob *j, uint32_t c) {
  return load4(j->control + __builtin_offsetof(InterruptControl, places) +
               c * sizeof(((InterruptControl *)0)->places[0]));
}

// Each warp looks at whole groups.
extern "C" __attribute__((global)) void interrupt_gather_order(GatherJob j) {
  uint32_t lane = thread_of_block() % 32, warps = blocks_of_grid() * WARPS,
           warp = block_of_grid() * WARPS + thread_of_block() / 32, counter = warp % PLACE_COUNTERS,
           n = taken(&j, counter);
  for (uint64_t group = warp / PLACE_COUNTERS; group * 32 < n; group += warps / PLACE_COUNTERS) {
    uint32_t i = (uint32_t)group * 32 + lane;
    if (i >= n) continue;
    uint32_t p = PLACE_OF(counter, i), thread = load4(place_word(&j, p, PLACE_THREAD)),
             in_block = thread % j.block_threads,
             w = thread / j.block_threads * j.block_words + in_block / 32,
             lower = load4(j.marks + 4ull * w) & ((1u << in_block % 32) - 1),
             at = load4(j.firsts + 4ull * w) + __builtin_popcount(lower);
    store4(place_word(&j, at, PLACE_ORDER), p);
  }
}

// --- in each round: the callers ---

// The call at which the i-th thread with a place is suspended, + 1; 0: it is not at one
DEVICE uint32_t call_of(const GatherJob *j, uint32_t i, uint32_t end, uint32_t *place) {
  if (i >= end) return 0;
  *place = load4(place_word(j, i, PLACE_ORDER));
  uint32_t s = load4(place_word(j, *place, PLACE_STATE));
  return s <= j->ncalls ? s : 0;
}

// Callers in this piece; *before: in lower threads of it.
DEVICE uint32_t count_piece(bool calls, uint32_t *sums, uint32_t *before) {
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

DEVICE uint64_t count_at(const GatherJob *j, uint32_t call, uint32_t block) {
  return j->counts + 4 * ((uint64_t)call * GATHER_BLOCKS + block);
}

// Turns counts into sums over the blocks before. A warp handles one call at a time.
DEVICE void add_counts(const GatherJob *j) {
  uint32_t lane = thread_of_block() % 32, blocks = blocks_of_grid();
  for (uint32_t c = thread_of_block() / 32; c < j->ncalls; c += WARPS) {
    uint32_t sum = 0;
    for (uint32_t b = lane; b - lane < blocks; b += 32) {
      uint32_t n = b < blocks ? get32(count_at(j, c, b)) : 0, upto = scan_lanes(n), last;
      if (b < blocks) store4(count_at(j, c, b), sum + upto - n);
      asm volatile("shfl.sync.idx.b32 %0, %1, 31, 31, 0xffffffff;" : "=r"(last) : "r"(upto));
      sum += last;
    }
    if (lane == 0) store4(j->totals + 4ull * c, sum);
  }
}

// The block that comes last adds what all have counted.
extern "C" __attribute__((global)) void interrupt_gather_count(GatherJob j) {
  static __attribute__((shared)) uint32_t sums[WARPS], done;
  uint32_t first, end, place, before;
  part_of(ordered(&j), &first, &end);
  for (uint32_t c = thread_of_block(); c < j.ncalls; c += GATHER_THREADS)
    store4(count_at(&j, c, block_of_grid()), 0);
  for (uint32_t piece = first; piece < end; piece += GATHER_THREADS) {
    uint32_t call = call_of(&j, piece + thread_of_block(), end, &place);
    if (!any_of_block(call)) continue;
    for (uint32_t c = 0; c < j.ncalls; c++) {
      uint32_t n = count_piece(call == c + 1, sums, &before);
      if (thread_of_block() == 0 && n) {
        uint64_t at = count_at(&j, c, block_of_grid());
        store4(at, load4(at) + n);
      }
    }
  }
  fence();
  barrier();
  uint64_t counter = j.control + __builtin_offsetof(InterruptControl, blocks_done);
  if (thread_of_block() == 0) done = add_u32(counter, 1);
  barrier();
  if (done + 1 != blocks_of_grid()) return;
  fence();
  if (thread_of_block() == 0) set32(counter, 0);
  add_counts(&j);
}

DEVICE void store_part(uint64_t to, uint32_t word, uint32_t bytes) {
  if (bytes == 4 && !(to & 3)) {
    store4(to, word);
    return;
  }
  for (uint32_t i = 0; i < bytes; i++)
    asm volatile("st.global.u8 [%0], %1;" ::"l"(to + i), "r"(word >> (8 * i)) : "memory");
}

DEVICE void copy_arguments(const GatherCall *c, uint64_t from, uint32_t to) {
  for (uint32_t p = 0; p < c->nparams; p++) {
    uint32_t bytes = c->bytes[p];
    uint64_t list = c->lists[p] + (uint64_t)to * bytes;
    for (uint32_t b = 0; b < bytes; b += 4, from += 4 * 32)
      store_part(list + b, load4(from), bytes - b < 4 ? bytes - b : 4);
  }
}

extern "C" __attribute__((global)) void interrupt_gather(GatherJob j) {
  static __attribute__((shared)) uint32_t sums[WARPS];
  uint32_t first, end, place, before;
  part_of(ordered(&j), &first, &end);
  for (uint32_t piece = first; piece < end; piece += GATHER_THREADS) {
    uint32_t call = call_of(&j, piece + thread_of_block(), end, &place);
    if (!any_of_block(call)) continue;
    for (uint32_t c = 0; c < j.ncalls; c++) {
      uint32_t n = count_piece(call == c + 1, sums, &before);
      if (!n) continue;
      uint64_t at = count_at(&j, c, block_of_grid());
      uint32_t to = load4(at) + before;
      barrier();  // all have read it
      if (thread_of_block() == 0) store4(at, to + n - before);
      if (call != c + 1) continue;
      const GatherCall *g = (const GatherCall *)(j.calls + c * sizeof(GatherCall));
      uint64_t args = place_word(&j, place, PLACE_CONTEXT + g->args_at);
      store4(g->numbers + 4ull * to, load4(place_word(&j, place, PLACE_THREAD)));
      copy_arguments(g, args, to);
      if (g->result_bytes) store4(args, g->first_rank + to);
    }
  }
}
