// Copies pages of memory that have changed, before a launch and in its stream. The host takes them
// from there.
#include "probe/hash_abi.h"
#include "probe/changed_pages_abi.h"
#include "probe/kernel.h"

// 16 bytes of a page of n; zeros after its end.
DEVICE void load_part(uint64_t page, uint32_t offset, uint32_t n, uint64_t *low, uint64_t *high) {
  if (!((page + offset) & 15) && offset + 16 <= n) {
    load16(page + offset, low, high);
    return;
  }
  uint32_t left = n - offset;
  *low = load_bytes(page + offset, left < 8 ? left : 8);
  *high = left > 8 ? load_bytes(page + offset + 8, left < 16 ? left - 8 : 8) : 0;
}

static __attribute__((shared)) uint64_t sums[WG_PAGES_THREADS / 32];
static __attribute__((shared)) uint64_t place;           // of a ring; ~0: the page is not kept
#define STAGED (1ull << 63)                // … of the one in device memory

// Each thread reads 16 bytes of every STEP. In a whole page it issues AHEAD loads before it uses
// them.
enum { AHEAD = 4, STEP = WG_PAGES_THREADS * 16 };
DEVICE void load_ahead(uint64_t from, uint64_t *v) {
#pragma unroll
  for (int i = 0; i < AHEAD; i++) load16(from + i * STEP, &v[2 * i], &v[2 * i + 1]);
}

// The hash of a page; every thread gets it.
DEVICE uint64_t hash_of(uint64_t page, uint32_t n) {
  uint64_t sum = 0;
  uint32_t at = thread_of_block() * 16;
  if (n == WG_PAGE_BYTES && !(page & 15))
    for (; at < WG_PAGE_BYTES; at += AHEAD * STEP) {
      uint64_t v[2 * AHEAD];
      load_ahead(page + at, v);
#pragma unroll
      for (int i = 0; i < AHEAD; i++)
        sum += wg_hash_ordered(v[2 * i], (at + i * STEP) / 8) +
               wg_hash_ordered(v[2 * i + 1], (at + i * STEP) / 8 + 1);
    }
  for (; at < n; at += STEP) {
    uint64_t low, high;
    load_part(page, at, n, &low, &high);
    sum += wg_hash_ordered(low, at / 8);
    if (at + 8 < n) sum += wg_hash_ordered(high, at / 8 + 1);
  }
  sum = add_lanes(sum);
  if (!(thread_of_block() & 31)) sums[thread_of_block() / 32] = sum;
  barrier();
  sum = n;
  for (int i = 0; i < WG_PAGES_THREADS / 32; i++) sum += sums[i];
  return sum ? sum : 1;
}

DEVICE uint64_t tail_of(uint64_t ring) {
  uint64_t tail;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(tail) : "l"(ring) : "memory");
  return tail;
}

// A place in device memory, if one is free; else ~0.
DEVICE uint64_t take_staged(const WgPagesWork *w) {
  uint64_t position, before, tail;
  if (!w->staged) return ~0ull;
  tail = tail_of(w->stage);
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
               : "=l"(position)
               : "l"(w->head + 8)
               : "memory");
  while (position - tail < w->staged) {
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(w->head + 8), "l"(position), "l"(position + 1)
                 : "memory");
    if (before == position) return position | STAGED;
    position = before;
  }
  return ~0ull;
}

// Waits until a place is free. Called by one thread.
DEVICE uint64_t take_place(const WgPagesWork *w) {
  uint64_t position = take_staged(w);
  if (position != ~0ull) return position;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], 1;"
               : "=l"(position)
               : "l"(w->head)
               : "memory");
  for (;;) {
    if (position - tail_of(w->ring) < w->slots) return position;
    asm volatile("nanosleep.u32 500;" ::: "memory");
  }
}

DEVICE void keep(const WgPagesWork *w, uint64_t page, uint32_t n) {
  uint64_t slot = w->ring + sizeof(WgPagesRing) + (place & (w->slots - 1)) * sizeof(WgPagesSlot),
           data = slot + __builtin_offsetof(WgPagesSlot, data), position = place & ~STAGED;
  if (place & STAGED) {
    slot = w->stage + sizeof(WgPagesStage) + (position & (w->staged - 1)) * sizeof(WgPagesHead);
    data = w->pages + (position & (w->staged - 1)) * WG_PAGE_BYTES;
  }
  uint32_t at = thread_of_block() * 16;
  if (n == WG_PAGE_BYTES && !(page & 15))
    for (; at < WG_PAGE_BYTES; at += AHEAD * STEP) {
      uint64_t v[2 * AHEAD];
      load_ahead(page + at, v);
#pragma unroll
      for (int i = 0; i < AHEAD; i++) store16(data + at + i * STEP, v[2 * i], v[2 * i + 1]);
    }
  for (; at < n; at += STEP) {
    uint64_t low, high;
    load_part(page, at, n, &low, &high);
    store16(data + at, low, high);
  }
  if (!thread_of_block()) {
    store8(slot + __builtin_offsetof(WgPagesHead, address), page);
    store8(slot + __builtin_offsetof(WgPagesHead, bytes), n);
    store8(slot + __builtin_offsetof(WgPagesHead, step), w->step);
  }
  asm volatile("fence.acq_rel.sys;" ::: "memory");       // each thread's own stores
  barrier();
  if (!thread_of_block())
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(slot), "l"(position + 1) : "memory");
}

extern "C" __attribute__((global)) __attribute__((launch_bounds(WG_PAGES_THREADS))) void
wg_copy_changed_pages(const WgPagesWork w) {
  uint64_t step = __nvvm_read_ptx_sreg_nctaid_x();
  uint32_t part = 0;
  for (uint64_t i = __nvvm_read_ptx_sreg_ctaid_x(); i < w.parts[w.count - 1].pages; i += step) {
    while (i >= w.parts[part].pages) part++;
    const WgPagesPart *p = &w.parts[part];
    uint64_t number = p->first + i - (part ? w.parts[part - 1].pages : 0),
             offset = number * WG_PAGE_BYTES, page = p->base + offset, left = p->bytes - offset;
    uint32_t n = left < WG_PAGE_BYTES ? (uint32_t)left : WG_PAGE_BYTES;
    uint64_t hash = hash_of(page, n);
    if (!thread_of_block()) {
      bool same = load8(p->table + number * 8) == hash;
      if (!same) store8(p->table + number * 8, hash);
      place = same ? ~0ull : take_place(&w);
    }
    barrier();
    if (place != ~0ull) keep(&w, page, n);
    barrier();                             // before sums and place are used again
  }
}
