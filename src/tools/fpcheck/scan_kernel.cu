// How many NaN and infinite numbers are in these buffers? Runs before and after a launch of machine
// code, in its stream. After it, an increase is reported to the host.
#include <stddef.h>

#include "probe/kernel.h"
#pragma clang force_cuda_host_device begin
#include "tools/fpcheck/abi.h"
#pragma clang force_cuda_host_device end
#include "tools/fpcheck/scan_abi.h"

DEVICE uint32_t add32(uint64_t at, uint32_t v) {
  uint32_t old;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
  return old;
}
DEVICE void most64(uint64_t at, uint64_t v) {
  asm volatile("red.global.max.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory");
}
DEVICE uint32_t add32_of_host(uint64_t at, uint32_t v) {
  uint32_t old;
  asm volatile("atom.global.sys.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory");
  return old;
}

// --- numbers ---

typedef struct Found {
  uint32_t nan, inf;
  uint64_t last;
} Found;

// Adding the lowest bit of an exponent of all ones carries into the sign.
DEVICE bool is_suspect(uint64_t w, uint32_t format) {
  switch (format) {
    case WG_FP_F16:
      return ((w & 0x7c007c007c007c00ull) + 0x0400040004000400ull) & 0x8000800080008000ull;
    case WG_FP_BF16:
      return ((w & 0x7f807f807f807f80ull) + 0x0080008000800080ull) & 0x8000800080008000ull;
    case WG_FP_F32:
      return ((w & 0x7f8000007f800000ull) + 0x0080000000800000ull) & 0x8000000080000000ull;
    default: return ((w & 0x7ff0000000000000ull) + 0x0010000000000000ull) & 0x8000000000000000ull;
  }
}

// 0: ordinary, 1: infinite, 2: NaN
DEVICE uint32_t class_of(uint64_t v, uint32_t format) {
  uint64_t exponent = format == WG_FP_F16    ? 0x7c00
                      : format == WG_FP_BF16 ? 0x7f80
                      : format == WG_FP_F32  ? 0x7f800000
                                             : 0x7ff0000000000000ull,
           below = exponent & -exponent;
  if ((v & exponent) != exponent) return 0;
  return v & (below - 1) ? 2 : 1;
}

DEVICE uint32_t bytes_of(uint32_t format) {
  return format == WG_FP_F32 ? 4 : format == WG_FP_F64 ? 8 : 2;
}

// Notes the writer, for kernels that read the exception and for copies to the host. If a writer is
// already noted and the buffer held some before, that writer is the more likely cause.
DEVICE void note_writer(const WgFpScan *s, const WgFpPart *p, uint64_t address, bool clean_before) {
  if (!s->memory || !s->behind) return;
  uint32_t hash = wg_fp_hash(address >> WG_FP_PAGE_SHIFT), site = s->site + p->format;
  uint64_t entry = WG_FP_WRITER(s->launch, site, WG_FP_KEPT(hash));
  uint64_t page = s->memory + offsetof(WgFpMemory, pages) + WG_FP_PAGE_ENTRY(hash) * 8ull;
  if (!clean_before && get64(page)) return;
  set64(page, entry);
  set64(s->memory + offsetof(WgFpMemory, words) + WG_FP_WORD_ENTRY(hash, address) * 8ull, entry);
}

DEVICE void count(const WgFpScan *s, const WgFpPart *p, uint64_t w, uint64_t address, Found *f,
                  bool clean_before) {
  uint32_t size = bytes_of(p->format);
  for (uint32_t i = 0; i < 8; i += size) {
    uint64_t v = w >> (8 * i);
    if (size < 8) v &= (1ull << (8 * size)) - 1;
    uint32_t class_ = class_of(v, p->format);
    if (!class_ || address + i + size > p->address + p->bytes) continue;
    f->nan += class_ == 2;
    f->inf += class_ == 1;
    uint64_t from_end = p->address + p->bytes - (address + i);
    if (from_end > f->last) f->last = from_end;
    note_writer(s, p, address + i, clean_before);
  }
}

// --- one part ---

DEVICE void add_up(const WgFpScan *s, uint32_t part, const Found *f) {
  uint64_t nan = add_lanes(f->nan), inf = add_lanes(f->inf);
  uint64_t at = s->sum + offsetof(WgFpSum, parts) + part * sizeof(((WgFpSum *)0)->parts[0]);
  if (f->last) most64(at + 8, f->last);
  if (thread_of_block() % 32) return;
  if (nan) add32(at, (uint32_t)nan);
  if (inf) add32(at + 4, (uint32_t)inf);
}

// Some of these 16-byte pieces has an exception. They are loaded again here, so that there is only
// one copy of the counting code: the driver compiles it when the program starts.
DEVICE void count_pieces(const WgFpScan *s, const WgFpPart *p, uint64_t first, uint64_t threads,
                         Found *f, bool clean_before) {
  uint64_t last = p->bytes / 16;
#pragma unroll 1
  for (uint32_t n = 0; n < 2 * WG_FP_SCAN_AHEAD; n++) {
    uint64_t i = first + n / 2 * threads, at = p->address + i * 16 + n % 2 * 8;
    if (i < last) count(s, p, load8(at), at, f, clean_before);
  }
}

template <uint32_t FORMAT>
DEVICE void scan(const WgFpScan *s, const WgFpPart *p, uint64_t thread, uint64_t threads, Found *f,
                 bool clean_before) {
  uint64_t last = p->bytes / 16;
  for (uint64_t i = thread; i < last; i += WG_FP_SCAN_AHEAD * threads) {
    uint64_t low[WG_FP_SCAN_AHEAD], high[WG_FP_SCAN_AHEAD];
    bool any = false;
#pragma unroll
    for (int n = 0; n < WG_FP_SCAN_AHEAD; n++) {
      low[n] = high[n] = 0;
      if (i + n * threads < last) load16(p->address + (i + n * threads) * 16, &low[n], &high[n]);
    }
#pragma unroll
    for (int n = 0; n < WG_FP_SCAN_AHEAD; n++)
      any |= is_suspect(low[n], FORMAT) || is_suspect(high[n], FORMAT);
    if (any) count_pieces(s, p, i, threads, f, clean_before);
  }
}

// The bytes after the last whole 16.
DEVICE void scan_end(const WgFpScan *s, const WgFpPart *p, Found *f, bool clean_before) {
#pragma unroll 1
  for (uint64_t at = p->address + p->bytes / 16 * 16; at < p->address + p->bytes; at += 8) {
    uint64_t left = p->address + p->bytes - at;
    count(s, p, load_bytes(at, left < 8 ? (uint32_t)left : 8), at, f, clean_before);
  }
}

DEVICE void scan_part(const WgFpScan *s, uint32_t part, uint64_t thread, uint64_t threads) {
  const WgFpPart *p = &s->parts[part];
  Found f = {0, 0, 0};
  bool clean_before = !get64(s->held + p->buffer * sizeof(WgFpHeld));
  switch (p->format) {
    case WG_FP_F16: scan<WG_FP_F16>(s, p, thread, threads, &f, clean_before); break;
    case WG_FP_BF16: scan<WG_FP_BF16>(s, p, thread, threads, &f, clean_before); break;
    case WG_FP_F32: scan<WG_FP_F32>(s, p, thread, threads, &f, clean_before); break;
    default: scan<WG_FP_F64>(s, p, thread, threads, &f, clean_before); break;
  }
  if (!thread) scan_end(s, p, &f, clean_before);
  add_up(s, part, &f);
}

// --- the last block ---

DEVICE void tell(const WgFpScan *s, const WgFpPart *p, const WgFpHeld *now, const WgFpHeld *before,
                 uint64_t last, uint32_t inputs) {
  uint32_t number = add32_of_host(s->events + offsetof(WgFpEvents, written), 1);
  uint64_t e = s->events + offsetof(WgFpEvents, list) +
               number % WG_FP_SCAN_EVENTS * (uint64_t)sizeof(WgFpEvent);
  if (get32(e + offsetof(WgFpEvent, sequence))) {
    add32_of_host(s->events + offsetof(WgFpEvents, lost), 1);
    return;
  }
  set32(e + offsetof(WgFpEvent, launch), s->launch);
  set32(e + offsetof(WgFpEvent, buffer), p->buffer);
  set32(e + offsetof(WgFpEvent, inputs), inputs);
  set32(e + offsetof(WgFpEvent, nan), now->nan);
  set32(e + offsetof(WgFpEvent, inf), now->inf);
  set32(e + offsetof(WgFpEvent, nan_before), before->nan);
  set32(e + offsetof(WgFpEvent, inf_before), before->inf);
  set64(e + offsetof(WgFpEvent, first), p->address + p->bytes - last);
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  set32(e + offsetof(WgFpEvent, sequence), number + 1);
}

// The exceptions in the buffers that the launch may have read, including those that it wrote.
DEVICE uint32_t inputs_held(const WgFpScan *s) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < s->ninputs; i++) {
    uint64_t at = s->held + (s->inputs[i] & ~WG_FP_GUESSED) * sizeof(WgFpHeld);
    uint32_t mine = (get32(at) ? WG_FP_INPUT_NAN : 0) | (get32(at + 4) ? WG_FP_INPUT_INF : 0);
    bits |= s->inputs[i] & WG_FP_GUESSED ? mine * WG_FP_INPUT_GUESSED : mine;
  }
  return bits;
}

DEVICE void finish(const WgFpScan *s) {
  uint32_t inputs = s->behind ? inputs_held(s) : 0;
  for (uint32_t i = 0; i < s->nparts; i++) {
    const WgFpPart *p = &s->parts[i];
    uint64_t sum = s->sum + offsetof(WgFpSum, parts) + i * sizeof(((WgFpSum *)0)->parts[0]),
             held = s->held + p->buffer * sizeof(WgFpHeld);
    WgFpHeld now = {get32(sum), get32(sum + 4)}, before = {get32(held), get32(held + 4)};
    uint64_t last = get64(sum + 8);
    if (s->behind && (now.nan > before.nan || now.inf > before.inf)) {
      tell(s, p, &now, &before, last, inputs);
      if (s->stored) add32_of_host(s->stored, 1);
      if (s->memory) add32(s->memory + offsetof(WgFpMemory, changes), 1);
    }
    set32(held, now.nan);
    set32(held + 4, now.inf);
    set64(sum, 0);
    set64(sum + 8, 0);
  }
  set32(s->sum, 0);
}

extern "C" __attribute__((global)) __attribute__((launch_bounds(WG_FP_SCAN_THREADS))) void
wg_fp_scan(const WgFpScan s) {
  uint32_t blocks = __nvvm_read_ptx_sreg_nctaid_x();
  uint64_t thread = (uint64_t)__nvvm_read_ptx_sreg_ctaid_x() * WG_FP_SCAN_THREADS +
                    thread_of_block(),
           threads = (uint64_t)blocks * WG_FP_SCAN_THREADS;
  for (uint32_t i = 0; i < s.nparts; i++) scan_part(&s, i, thread, threads);
  asm volatile("membar.gl;" ::: "memory");
  barrier();
  if (thread_of_block() == 0 && add32(s.sum, 1) == blocks - 1) {
    asm volatile("membar.gl;" ::: "memory");
    finish(&s);
  }
}
