// --record=inputs: finds the pages that have changed since they were kept, by their hashes. Used if
// device memory is the process's own (the virtual device), and for bytes that copies from the host
// write.
#include "tools/record/host.h"

#include "probe/hash_abi.h"

typedef struct Kept {
  uint64_t allocation, size;
  uint64_t *hashes;  // of each page when it was last kept; 0: not known
} Kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map kept_at;  // base -> Kept

// Eight independent sums: no multiplication waits for the one before it.
static uint64_t hash_of(const uint8_t *p, size_t n) {
  enum { LANES = 8 };
  uint64_t sums[LANES], all = n;
  size_t i = 0;
  for (int k = 0; k < LANES; k++) sums[k] = WG_HASH_STEP * (uint64_t)(k + 1);
  for (; i + LANES * 8 <= n; i += LANES * 8) {
    uint64_t words[LANES];
    memcpy(words, p + i, sizeof words);
    for (int k = 0; k < LANES; k++) {
      uint64_t x = (sums[k] ^ words[k]) * WG_HASH_OFFSET;
      sums[k] = x << 31 | x >> 33;
    }
  }
  for (int k = 0; k < LANES; k++) all += wg_hash_ordered(sums[k], (uint64_t)k);
  for (; i < n; i += 8) {
    uint64_t word = 0;
    memcpy(&word, p + i, MIN(n - i, (size_t)8));
    all += wg_hash_ordered(word, i);
  }
  return all ? all : 1;
}

static uint64_t pages_of(uint64_t bytes) { return (bytes + SESSION_PAGE - 1) / SESSION_PAGE; }

static void forget(Kept *k, SessionSpan s) {
  for (uint64_t i = s.from / SESSION_PAGE; i < pages_of(s.to); i++) k->hashes[i] = 0;
}

static Kept *kept_of(const SessionPart *part) {
  Kept *k = u64map_get(&kept_at, part->base);
  if (!k) u64map_put(&kept_at, part->base, k = mem_alloc(sizeof *k));
  if (k->allocation != part->allocation || k->size != part->size) {
    free(k->hashes);
    *k = (Kept){part->allocation, part->size, mem_alloc(pages_of(part->size) * 8)};
  }
  forget(k, part->forget);
  return k;
}

// Keeps a page if it has changed, or the part of it that the allocation has.
static void keep_page(uint32_t step, const SessionPart *part, Kept *k, uint64_t at,
                      const uint8_t *bytes) {
  size_t n = MIN(part->size - at, (uint64_t)SESSION_PAGE);
  uint64_t hash = hash_of(bytes, n);
  if (k->hashes[at / SESSION_PAGE] == hash) return;
  k->hashes[at / SESSION_PAGE] = hash;
  channel_contents(step, part->base + at, bytes, n);
}

// --- where device memory is the process's own ---

static void keep_part(uint32_t step, const SessionPart *part) {
  pthread_mutex_lock(&kept_lock);
  Kept *k = kept_of(part);
  for (uint64_t at = part->from / SESSION_PAGE * SESSION_PAGE; at < part->to; at += SESSION_PAGE)
    keep_page(step, part, k, at, (const uint8_t *)(uintptr_t)part->base + at);
  pthread_mutex_unlock(&kept_lock);
}

void record_inputs_ready(const SessionInputs *in, SessionIsThere *is_there) {
  for (uint32_t i = 0; i < in->parts.len; i++)
    if (is_there(in->parts.data[i].base, in->parts.data[i].size))
      keep_part(in->step, &in->parts.data[i]);
  channel_contents_end(in->step);
}

// --- bytes written by copies ---

// A part of a page is always kept; the hash of that page is not known then.
static void keep_bytes(uint32_t step, const SessionPart *part, Kept *k, const uint8_t *bytes) {
  for (uint64_t at = part->from, next; at < part->to; at = next) {
    uint64_t page = at / SESSION_PAGE;
    next = MIN((page + 1) * SESSION_PAGE, part->to);
    if (at % SESSION_PAGE == 0 && next == MIN((page + 1) * SESSION_PAGE, part->size)) {
      keep_page(step, part, k, at, bytes + (at - part->from));
    } else {
      k->hashes[page] = 0;
      channel_contents(step, part->base + at, bytes + (at - part->from), next - at);
    }
  }
}

void record_keep_copied(const SessionCopy *c, const SessionPart *part) {
  pthread_mutex_lock(&kept_lock);
  Kept *k = kept_of(part);
  if (c->is_set) forget(k, (SessionSpan){part->from, part->to});  // the step itself has the value
  else if (c->height * c->depth == 1)
    keep_bytes(c->step, part, k, (const uint8_t *)(uintptr_t)(c->from.address + c->from.x));
  else {
    forget(k, (SessionSpan){part->from, part->to});
    record_copied_rows(c);
  }
  channel_contents_end(c->step);
  pthread_mutex_unlock(&kept_lock);
}
