// The return addresses of the calling thread. A walk of our own over call frame information, with
// one remembered rule for each return address: libgcc's takes 5.5 microseconds for 18 frames,
// libunwind's archive is not position-independent on x86-64, and neither promises to survive a
// stack it does not understand. docs/where.md has the figures.
#include "where/internal.h"

#include <stdatomic.h>

// A rule packed into 62 bits: the walk's common case. 0: no information for this address.
typedef uint64_t PackedRule;
enum { PACKED_KNOWN = 1 };

static bool pack(const UnwindRule *r, PackedRule *out) {
  // kind 1, cfa 2, fp 2, ra 1, offsets of the CFA 24 and of the saved registers 16 each, in units
  // of 8 bytes
  int64_t cfa = r->cfa_offset / 8, fp = r->fp_offset / 8, ra = r->ra_offset / 8;
  if ((r->cfa_offset | r->fp_offset | r->ra_offset) & 7) return false;
  if (cfa < -(1 << 23) || cfa >= 1 << 23 || fp < INT16_MIN || fp > INT16_MAX || ra < INT16_MIN ||
      ra > INT16_MAX)
    return false;
  *out = PACKED_KNOWN | (uint64_t)r->cfa << 1 | (uint64_t)r->fp << 3 | (uint64_t)r->ra << 5 |
         ((uint64_t)cfa & 0xffffff) << 8 | ((uint64_t)fp & 0xffff) << 32 |
         ((uint64_t)ra & 0xffff) << 48;
  return true;
}

static UnwindRule unpack(PackedRule p) {
  return (UnwindRule){.cfa = p >> 1 & 3,
                      .fp = p >> 3 & 3,
                      .ra = p >> 5 & 1,
                      .cfa_offset = ((int32_t)(uint32_t)(p >> 8 << 8) >> 8) * 8,
                      .fp_offset = (int16_t)(p >> 32) * 8,
                      .ra_offset = (int16_t)(p >> 48) * 8};
}

// Shared by all threads without a lock. The stored key is mixed with the rule, so that a slot which
// two threads wrote at once matches no address. Libraries come and go: `epoch` is part of the key
// and changes when one was unloaded.
enum { CACHE_BITS = 12, EPOCH_EVERY = 64 };
static struct { _Atomic uint64_t key, rule; } cache[1 << CACHE_BITS];
static _Atomic uint64_t epoch;

static void renew_epoch(void) {
  uint64_t unloaded = where_objects_version() & 0xffffffff;
  // return addresses have 48 bits
  atomic_store_explicit(&epoch, unloaded << 48, memory_order_relaxed);
}

static bool find_rule(uint64_t pc, bool returned, UnwindRule *out) {
  uint64_t key = (pc << 1 | returned) ^ atomic_load_explicit(&epoch, memory_order_relaxed);
  uint64_t slot = (key * 0x9e3779b97f4a7c15ull) >> (64 - CACHE_BITS);
  PackedRule packed = atomic_load_explicit(&cache[slot].rule, memory_order_relaxed);
  if ((atomic_load_explicit(&cache[slot].key, memory_order_relaxed) ^ packed) == key) {
    *out = unpack(packed);
    return packed & PACKED_KNOWN;
  }
  UnwindObject object;
  // The instruction before the return address is the call; the one after may belong to another
  // function.
  bool known = where_object_of(pc, &object) && cfi_find_rule(&object, pc - returned, out);
  packed = 0;
  if (known && !pack(out, &packed)) return true;
  atomic_store_explicit(&cache[slot].rule, packed, memory_order_relaxed);
  atomic_store_explicit(&cache[slot].key, key ^ packed, memory_order_relaxed);
  return known;
}

// A walk depends only on its start, the rules, and the stack words that it reads: if these are
// unchanged, it ends the same. A loop that launches a kernel finds its stack unchanged; checking
// that takes a tenth of the time of a walk.
enum { WALKS = 4, WORDS = 2 * WHERE_MAX };
typedef struct Walked {
  uint64_t sp, fp, stack_end, epoch;
  struct {
    uint64_t at, value;
  } words[WORDS];
  uint64_t frames[WHERE_MAX];
  uint32_t nwords, nframes;
  bool used_fp;  // the walk used its initial frame pointer; else that register may hold anything
} Walked;
static _Thread_local Walked walked[WALKS];
static _Thread_local uint32_t next_walk;

// fp_from: where it was saved; 0: nowhere
typedef struct Walk {
  uint64_t pc, sp, fp, fp_from, stack_end;
  Walked *keep;
} Walk;

static void keep_word(const Walk *w, uint64_t at, uint64_t value) {
  if (w->keep->nwords < WORDS) {
    w->keep->words[w->keep->nwords].at = at;
    w->keep->words[w->keep->nwords].value = value;
  }
  w->keep->nwords++;
}

__attribute__((no_sanitize("address"))) static bool read_word(const Walk *w, uint64_t at,
                                                              uint64_t *out) {
  if (at < w->sp || at > w->stack_end - 8 || at & 7) return false;
  *out = *(const uint64_t *)(uintptr_t)at;
  return true;
}

static bool read_kept(const Walk *w, uint64_t at, uint64_t *out) {
  if (!read_word(w, at, out)) return false;
  keep_word(w, at, *out);
  return true;
}

// A saved frame pointer matters only if the walk uses it: code without frame pointers saves an
// ordinary value of its caller.
static void use_fp(const Walk *w) {
  if (w->fp_from) keep_word(w, w->fp_from, w->fp);
  else w->keep->used_fp = true;
}

// Compares in the order of the walk: while words are the same, a walk would read the next one, too.
__attribute__((no_sanitize("address"))) static bool is_as_it_was(const Walked *k, const Walk *w) {
  if (!k->nframes || k->sp != w->sp || (k->used_fp && k->fp != w->fp) ||
      k->stack_end != w->stack_end ||
      k->epoch != atomic_load_explicit(&epoch, memory_order_relaxed))
    return false;
  for (uint32_t i = 0; i < k->nwords; i++)
    if (*(const uint64_t *)(uintptr_t)k->words[i].at != k->words[i].value) return false;
  return true;
}

// Pointer authentication leaves a signature in the upper bits; on processors without it the hint
// does nothing.
static uint64_t strip_signature(uint64_t ra) {
#if defined(__aarch64__)
  register uint64_t x30 __asm__("x30") = ra;
  __asm__("hint #7" : "+r"(x30));
  return x30;
#else
  return ra;
#endif
}

static bool step(Walk *w, bool returned) {
  UnwindRule r;
  // Code without call frame information (a JIT's, most often) is left by its frame pointer, if that
  // looks like one.
  if (!find_rule(w->pc, returned, &r)) r = (UnwindRule){CFA_FP, FP_AT_CFA, RA_AT_CFA, 16, -16, -8};
  if (r.ra == RA_NONE) return false;
  uint64_t cfa, ra, fp = w->fp, from = w->fp_from;
  if (r.cfa != CFA_SP || r.fp == FP_AT_FP) use_fp(w);
  if (r.cfa == CFA_AT_FP) {
    if (!read_kept(w, w->fp + (uint64_t)(int64_t)r.cfa_offset, &cfa)) return false;
  } else cfa = (r.cfa == CFA_SP ? w->sp : w->fp) + (uint64_t)(int64_t)r.cfa_offset;
  if (cfa <= w->sp || cfa > w->stack_end ||
      !read_kept(w, cfa + (uint64_t)(int64_t)r.ra_offset, &ra))
    return false;
  if (r.fp == FP_AT_CFA) from = cfa + (uint64_t)(int64_t)r.fp_offset;
  if (r.fp == FP_AT_FP) from = w->fp + (uint64_t)(int64_t)r.fp_offset;
  if (r.fp != FP_SAME && !read_word(w, from, &fp)) return false;
  *w = (Walk){strip_signature(ra), cfa, fp, from, w->stack_end, w->keep};
  return w->pc != 0;
}

// The address range of this library. Several threads may look it up at once, with the same result.
static struct { _Atomic uint64_t start, end; } ourselves;

static void find_ourselves(void) {
  UnwindObject o = {0};
  where_object_of((uint64_t)(uintptr_t)where_capture, &o);
  ourselves.start = o.start;
  ourselves.end = o.end;
}

// Other libraries of ours (where_hide); unused entries, at the end, are 0.
static struct { _Atomic uint64_t start, end; } hidden[16];

void where_hide(const void *code) {
  UnwindObject o = {0};
  uint64_t at = (uint64_t)(uintptr_t)code, none = 0;
  for (unsigned i = 0; i < ARRAY_LEN(hidden); i++) {
    if (at >= hidden[i].start && at < hidden[i].end) return;
    if (hidden[i].start) continue;
    if (!o.end && !where_object_of(at, &o)) return;
    if (!atomic_compare_exchange_strong(&hidden[i].start, &none, o.start)) return;
    hidden[i].end = o.end;
    return;
  }
}

static bool is_ours(uint64_t pc) {
  if (pc >= ourselves.start && pc < ourselves.end) return true;
  for (unsigned i = 0; i < ARRAY_LEN(hidden) && hidden[i].start; i++)
    if (pc >= hidden[i].start && pc < hidden[i].end) return true;
  return false;
}

__attribute__((noinline)) uint32_t where_capture(uint64_t *frames, uint32_t max) {
  static _Atomic uint32_t captures;
  Walk w;
#if defined(__x86_64__)
  __asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
                   : "=r"(w.pc), "=r"(w.sp), "=r"(w.fp));
#elif defined(__aarch64__)
  __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=r"(w.pc), "=r"(w.sp), "=r"(w.fp));
#endif
  if (atomic_fetch_add_explicit(&captures, 1, memory_order_relaxed) % EPOCH_EVERY == 0)
    renew_epoch();
  if (!ourselves.end) find_ourselves();
  w.fp_from = 0;
  w.stack_end = where_stack_end(w.sp);
  for (unsigned i = 0; i < WALKS; i++)
    if (walked[i].nframes <= max && is_as_it_was(&walked[i], &w)) {
      memcpy(frames, walked[i].frames, walked[i].nframes * sizeof *frames);
      return walked[i].nframes;
    }
  w.keep = &walked[next_walk++ % WALKS];
  *w.keep = (Walked){.sp = w.sp,
                     .fp = w.fp,
                     .stack_end = w.stack_end,
                     .epoch = atomic_load_explicit(&epoch, memory_order_relaxed)};
  uint32_t n = 0;
  enum { STEPS_MAX = 4 * WHERE_MAX };  // for our own frames; also ends a cycle whose stack grows
  for (unsigned i = 0; w.stack_end && n < max && i < STEPS_MAX && step(&w, i > 0); i++)
    if (!is_ours(w.pc)) frames[n++] = w.pc;
  // keeps the walk if it reached the end of the stack and all of its words fit
  if (n < max && n <= WHERE_MAX && w.keep->nwords <= WORDS) {
    memcpy(w.keep->frames, frames, n * sizeof *frames);
    w.keep->nframes = n;
  }
  return n;
}
