// Sets, moves and counts bytes of shadow memory.
//
// If device memory is memory of the process, this is exact to the byte. Elsewhere a stream can only
// set and copy whole bytes of shadow, each of which stands for a word of 4: a word that is written
// in part counts as written, and memory that is copied to an address with another remainder modulo
// 4 counts as initialised. This misses bugs now and then, and never reports false ones.
#include "tools/initcheck/host.h"

// With room for a vector access that begins at the last byte.
size_t shadow_bytes(uint64_t size) { return ((size + 3) / 4 + 15) & ~(size_t)15; }

static uint8_t mask_of(unsigned from, unsigned to) {
  return (uint8_t)((0xfu << from) & (0xfu >> (4 - to)));
}

// Kernels of other streams may change the other bytes of the word at the same time. If both bits of
// a byte are set, it counts as good. So a reader between the two steps never sees a good byte as
// bad.
static void put_word(uint8_t *word, uint8_t mask, uint8_t good, uint8_t derived) {
  uint8_t all = (uint8_t)(mask | mask << 4),
          on = (uint8_t)((mask & good) | ((mask & derived) << 4));
  if (on) __atomic_fetch_or(word, on, __ATOMIC_RELAXED);
  if (on != all) __atomic_fetch_and(word, (uint8_t) ~(all & ~on), __ATOMIC_RELAXED);
}

// --- in memory of the process ---

static void set_here(uint8_t *bits, uint64_t at, uint64_t n, ShadowState state) {
  uint8_t value = state == SHADOW_GOOD ? WG_SHADOW_GOOD : 0;
  unsigned head = at % 4;
  if (head) {
    unsigned to = (unsigned)MIN(head + n, 4u);
    put_word(&bits[at / 4], mask_of(head, to), value, 0);
    at += to - head;
    n -= to - head;
  }
  if (n / 4) memset(&bits[at / 4], value, n / 4);
  if (n % 4) put_word(&bits[(at + n) / 4], mask_of(0, n % 4), value, 0);
}

static void move_words(uint8_t *to, uint64_t to_at, const uint8_t *from, uint64_t from_at,
                       uint64_t n) {
  unsigned head = to_at % 4 ? (unsigned)MIN(4 - to_at % 4, n) : 0, tail = (n - head) % 4;
  // read before anything moves: the ranges may overlap
  uint8_t first = from[from_at / 4], last = from[(from_at + n - 1) / 4];
  if (n > head + tail)
    memmove(&to[(to_at + head) / 4], &from[(from_at + head) / 4], (n - head - tail) / 4);
  if (head) put_word(&to[to_at / 4], mask_of(to_at % 4, to_at % 4 + head), first & 0xf, first >> 4);
  if (tail) put_word(&to[(to_at + n) / 4], mask_of(0, tail), last & 0xf, last >> 4);
}

static void move_bytes(uint8_t *to, uint64_t to_at, const uint8_t *from, uint64_t from_at,
                       uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    uint8_t word = from[(from_at + i) / 4] >> ((from_at + i) % 4);
    unsigned bit = (to_at + i) % 4;
    put_word(&to[(to_at + i) / 4], (uint8_t)(1u << bit), (uint8_t)((word & 1) << bit),
             (uint8_t)(((word >> 4) & 1) << bit));
  }
}

static void move_here(uint8_t *to, uint64_t to_at, const uint8_t *from, uint64_t from_at,
                      uint64_t n) {
  if (to_at % 4 == from_at % 4) move_words(to, to_at, from, from_at, n);
  else move_bytes(to, to_at, from, from_at, n);
}

// --- on a device ---

static void *here(uint64_t address) { return (void *)(uintptr_t)address; }

void shadow_set(const Shadow *s, const void *stream, uint64_t offset, uint64_t n,
                ShadowState state) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(s->device, &user);
  if (!n) return;
  if (ops->direct) {
    set_here(here(s->address), offset, n, state);
    return;
  }
  // A word that becomes unwritten only in part keeps its state; a word written in part counts as
  // written.
  uint64_t first = state == SHADOW_GOOD || offset % 4 == 0 ? offset / 4 : offset / 4 + 1;
  uint64_t end = state == SHADOW_GOOD || offset + n >= s->size ? (offset + n + 3) / 4
                                                               : (offset + n) / 4;
  if (end > first)
    ops->fill(user, stream, s->address + first, state == SHADOW_GOOD ? WG_SHADOW_GOOD : 0,
              end - first);
}

void shadow_move(const Shadow *to, uint64_t to_offset, const Shadow *from, uint64_t from_offset,
                 uint64_t n, const void *stream) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(to->device, &user);
  if (!n) return;
  if (ops->direct) {
    move_here(here(to->address), to_offset, here(from->address), from_offset, n);
    return;
  }
  unsigned head = to_offset % 4 ? 4 - to_offset % 4 : 0;
  if (to_offset % 4 != from_offset % 4 || to->device != from->device || n < head + 4) {
    shadow_set(to, stream, to_offset, n, SHADOW_GOOD);
    return;
  }
  uint64_t words = (n - head) / 4;
  if (!ops->move(user, stream, to->address + (to_offset + head) / 4,
                 from->address + (from_offset + head) / 4, words))
    shadow_set(to, stream, to_offset + head, words * 4, SHADOW_GOOD);
  shadow_set(to, stream, to_offset, head, SHADOW_GOOD);
  shadow_set(to, stream, to_offset + head + words * 4, n - head - words * 4, SHADOW_GOOD);
}

// --- counting ---

static void count_byte(uint8_t word, unsigned bit, uint64_t offset, ShadowTally *t) {
  if (word >> bit & 1) return;
  if (word >> (4 + bit) & 1) {
    if (!t->derived++) t->first_derived = offset;
  } else if (!t->never++) {
    t->first_never = offset;
  }
}

void shadow_tally(const uint8_t *bits, uint64_t offset, uint64_t n, ShadowTally *t) {
  uint64_t end = offset + n;
  while (offset < end) {
    uint64_t word;
    if (offset % 32 == 0 && end - offset >= 32) {  // 8 bytes of shadow at once
      memcpy(&word, &bits[offset / 4], 8);
      if (word == 0x0f0f0f0f0f0f0f0full) {
        offset += 32;
        continue;
      }
    }
    if (offset % 4 == 0 && bits[offset / 4] == WG_SHADOW_GOOD) {
      offset = MIN(offset + 4, end);
      continue;
    }
    count_byte(bits[offset / 4], offset % 4, offset, t);
    offset++;
  }
}

uint64_t shadow_first_bad(const uint8_t *bits, uint64_t n) {
  uint64_t words = n / 4, i = 0, eight;
  for (; i + 8 <= words; i += 8) {
    memcpy(&eight, &bits[i], 8);
    if (eight != 0x0f0f0f0f0f0f0f0full) break;
  }
  for (; i < words; i++)
    if (bits[i] != WG_SHADOW_GOOD) return i * 4;
  uint8_t rest = n % 4 ? mask_of(0, n % 4) : 0;
  return rest && (bits[words] & rest) != rest ? words * 4 : n;
}

bool shadow_read_tally(const Shadow *s, uint64_t offset, uint64_t n, ShadowTally *t) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(s->device, &user);
  if (ops->direct) {
    shadow_tally(here(s->address), offset, n, t);
    return true;
  }
  enum { AT_ONCE = 1 << 20 };
  uint8_t *room = mem_alloc(AT_ONCE);
  bool ok = true;
  for (uint64_t at = offset / 32 * 32, end = offset + n; at < end && ok; at += 4ull * AT_ONCE) {
    uint64_t stop = MIN(end, at + 4ull * AT_ONCE), begin = MAX(at, offset);
    ok = ops->read(user, room, s->address + at / 4, (stop - at + 3) / 4);
    ShadowTally part = {0};
    if (ok) shadow_tally(room, begin - at, stop - begin, &part);
    if (part.derived && !t->derived) t->first_derived = at + part.first_derived;
    if (part.never && !t->never) t->first_never = at + part.first_never;
    t->derived += part.derived;
    t->never += part.never;
  }
  free(room);
  return ok;
}
