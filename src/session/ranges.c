// The allocations of the process, as checks need them: which one an address is in, and the same as a table for the device.
#include "session/internal.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static VEC(WgMemoryRange) ranges;          // by base; they do not overlap
static _Atomic uint64_t version = 1;       // of the list

// The first range that ends behind the address.
static uint32_t position(uint64_t address) {
  uint32_t lo = 0, hi = ranges.len;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (ranges.data[mid].base + ranges.data[mid].size <= address) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

// What was freed and is used again now is forgotten; so is a live range nobody told us the end of.
static void remove_overlapping(uint32_t at, uint64_t end) {
  uint32_t last = at;
  while (last < ranges.len && ranges.data[last].base < end) last++;
  if (last == at) return;
  memmove(&ranges.data[at], &ranges.data[last], (ranges.len - last) * sizeof *ranges.data);
  ranges.len -= last - at;
}

void session_ranges_add(uint64_t base, uint64_t size) {
  if (!size) return;
  pthread_rwlock_wrlock(&lock);
  uint32_t at = position(base);
  remove_overlapping(at, base + size);
  vec_push(&ranges, (WgMemoryRange){0});
  memmove(&ranges.data[at + 1], &ranges.data[at], (ranges.len - 1 - at) * sizeof *ranges.data);
  ranges.data[at] = (WgMemoryRange){.base = base, .size = size, .state = WG_MEMORY_LIVE};
  version++;
  pthread_rwlock_unlock(&lock);
}

void session_ranges_free(uint64_t base) {
  pthread_rwlock_wrlock(&lock);
  uint32_t at = position(base);
  if (at < ranges.len && ranges.data[at].base == base) {
    ranges.data[at].state = WG_MEMORY_FREED;
    version++;
  }
  pthread_rwlock_unlock(&lock);
}

// A pointer to the end of an allocation belongs to it, unless another begins there.
bool session_ranges_find(uint64_t address, WgMemoryRange *out) {
  pthread_rwlock_rdlock(&lock);
  uint32_t at = position(address);
  bool inside = at < ranges.len && ranges.data[at].base <= address;
  if (!inside && at && ranges.data[at - 1].base + ranges.data[at - 1].size == address) inside = true, at--;
  if (inside) *out = ranges.data[at];
  pthread_rwlock_unlock(&lock);
  return inside && out->state == WG_MEMORY_LIVE;
}

uint64_t session_ranges_version(void) { return atomic_load_explicit(&version, memory_order_relaxed); }

// Writes the table to `to` if it fits `room`; the number of bytes it takes in any case.
size_t session_ranges_table(void *to, size_t room, uint64_t *its_version) {
  pthread_rwlock_rdlock(&lock);
  size_t size = sizeof(WgMemoryTable) + ranges.len * sizeof *ranges.data;
  if (to && size <= room) {
    WgMemoryTable t = {ranges.len, 0};
    memcpy(to, &t, sizeof t);
    if (ranges.len) memcpy((char *)to + sizeof t, ranges.data, ranges.len * sizeof *ranges.data);
  }
  *its_version = version;
  pthread_rwlock_unlock(&lock);
  return size;
}
