// The kernel behind --hash: one launch hashes up to WG_HASH_BUFFERS buffers, in stream order, and
// writes the results to memory of the host.
#include "probe/hash_abi.h"
#include "probe/kernel.h"

typedef struct Sums { uint64_t ordered, unordered; } Sums;

DEVICE void add_pair(Sums *s, uint64_t low, uint64_t high, uint64_t index, uint32_t element) {
  s->ordered += wg_hash_ordered(low, index) + wg_hash_ordered(high, index + 1);
  s->unordered += element == 16 ? wg_hash_pair(low, high)
                                : wg_hash_elements(low, element) + wg_hash_elements(high, element);
}

// Adds 16 bytes that extend past the end of the buffer, or that are not aligned.
DEVICE void add_slowly(Sums *s, const WgHashBuffer *b, uint64_t offset) {
  uint64_t left = b->bytes - offset;
  uint32_t n = left < 16 ? (uint32_t)left : 16, first = n < 8 ? n : 8, second = n - first;
  uint64_t low = load_bytes(b->base + offset, first),
           high = load_bytes(b->base + offset + 8, second), index = offset / 8;
  if (n == 16) {
    add_pair(s, low, high, index, b->element);
    return;
  }
  s->ordered += wg_hash_ordered(low, index);
  if (second) s->ordered += wg_hash_ordered(high, index + 1);
  uint32_t whole = n / b->element * b->element;
  for (uint32_t i = 0; i < whole; i += b->element)
    s->unordered += wg_hash_element(load_bytes(b->base + offset + i, b->element));
  for (uint32_t i = whole; i < n; i++)
    s->unordered += wg_hash_element(load_bytes(b->base + offset + i, 1));
}

DEVICE void add_tile(Sums *s, const WgHashBuffer *b, uint64_t tile) {
  uint64_t start = tile * WG_HASH_TILE, end = start + WG_HASH_TILE;
  bool whole = end <= b->bytes && !(b->base & 15);
  if (end > b->bytes) end = b->bytes;
  uint64_t at = start + thread_of_block() * 16ull;
  if (whole) {
    enum { TURNS = WG_HASH_TILE / WG_HASH_THREADS / 16, AHEAD = 4 };
    for (int turn = 0; turn < TURNS; turn += AHEAD) {
      uint64_t w[2 * AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; i++)
        load16(b->base + at + (uint64_t)i * WG_HASH_THREADS * 16, &w[2 * i], &w[2 * i + 1]);
#pragma unroll
      for (int i = 0; i < AHEAD; i++)
        add_pair(s, w[2 * i], w[2 * i + 1], (at + (uint64_t)i * WG_HASH_THREADS * 16) / 8,
                 b->element);
      at += (uint64_t)AHEAD * WG_HASH_THREADS * 16;
    }
    return;
  }
  for (; at < end; at += WG_HASH_THREADS * 16ull) {
    if (!(b->base & 15) && at + 16 <= b->bytes) {
      uint64_t low, high;
      load16(b->base + at, &low, &high);
      add_pair(s, low, high, at / 8, b->element);
    } else {
      add_slowly(s, b, at);
    }
  }
}

DEVICE void add_to(uint64_t at, uint64_t v) {
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
}

DEVICE void flush(const WgHashWork *w, uint32_t buffer, Sums *s) {
  uint64_t ordered = add_lanes(s->ordered), unordered = add_lanes(s->unordered),
           at = w->scratch + buffer * 16ull;
  if (!(thread_of_block() & 31)) {
    add_to(at, ordered);
    add_to(at + 8, unordered);
  }
  s->ordered = s->unordered = 0;
}

// Replaces a tile's entry in the table: subtracts what the tile added before, adds and stores what
// it adds now.
DEVICE void replace_entry(const WgHashWork *w, uint32_t buffer, uint64_t tile, Sums *s) {
  const WgHashBuffer *b = &w->buffers[buffer];
  uint64_t entry = b->table + sizeof(WgHashTable) + tile * 16, at = w->scratch + buffer * 16ull;
  if (thread_of_block() < 2) {
    uint64_t word = thread_of_block() * 8ull, old = load8(entry + word);
    store8(entry + word, 0);
    if (!b->fresh) add_to(at + word, 0 - old);
  }
  uint64_t ordered = add_lanes(s->ordered), unordered = add_lanes(s->unordered);
  barrier();
  if (!(thread_of_block() & 31)) {
    add_to(entry, ordered);
    add_to(entry + 8, unordered);
    add_to(at, ordered);
    add_to(at + 8, unordered);
  }
  s->ordered = s->unordered = 0;
}

// Runs in the last block to arrive: gives the sums of all blocks to the host, and clears the
// scratch for the next launch.
DEVICE void finish(const WgHashWork *w) {
  uint32_t t = thread_of_block();
  if (t < w->count * 2) {
    uint64_t sum, from = w->scratch + t * 8ull;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(sum) : "l"(from) : "memory");
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(from), "l"(0ull) : "memory");
    const WgHashBuffer *b = &w->buffers[t / 2];
    if (b->table) {
      uint64_t total = 0, at = b->table + (t & 1) * 8;
      if (!b->fresh)
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(total) : "l"(at) : "memory");
      sum += total;
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(sum) : "memory");
    }
    sum += b->bytes;
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(w->result + t * 8ull), "l"(sum)
                 : "memory");
  }
  asm volatile(
      "bar.sync 0;" ::
          : "memory");  // the release below covers what the other threads have written before it
  if (t) return;
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(w->scratch +
                                                           __builtin_offsetof(WgHashScratch, done)),
               "r"(0)
               : "memory");
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(
                   w->result + __builtin_offsetof(WgHashResult, sequence)),
               "l"(w->sequence)
               : "memory");
}

extern "C" __attribute__((global)) __attribute__((launch_bounds(WG_HASH_THREADS))) void
wg_hash_buffers(const WgHashWork w) {
  Sums s = {0, 0};
  uint64_t tile = __nvvm_read_ptx_sreg_ctaid_x(), step = __nvvm_read_ptx_sreg_nctaid_x();
  uint32_t buffer = 0;
  for (; tile < w.buffers[w.count - 1].tiles; tile += step) {
    if (tile >= w.buffers[buffer].tiles) {
      flush(&w, buffer, &s);
      while (tile >= w.buffers[buffer].tiles) buffer++;
    }
    uint64_t its = w.buffers[buffer].first + tile - (buffer ? w.buffers[buffer - 1].tiles : 0);
    add_tile(&s, &w.buffers[buffer], its);
    if (w.buffers[buffer].table) replace_entry(&w, buffer, its, &s);
  }
  flush(&w, buffer, &s);
  asm volatile("bar.sync 0;" ::: "memory");
  uint32_t before = 0, last;
  if (!thread_of_block())
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(w.scratch + __builtin_offsetof(WgHashScratch, done))
                 : "memory");
  uint32_t is_last = !thread_of_block() && before + 1 == step;
  asm volatile(
      "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; bar.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
      : "=r"(last)
      : "r"(is_last)
      : "memory");
  if (last) finish(&w);
}
