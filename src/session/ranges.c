// The allocations of the process, for checks: finds the allocation that contains an address, and
// writes all of them as a table for the device. The last FREED_KEPT freed ones stay until their
// memory is used again.
//
// They lie in leaves of some hundred, in order of their addresses: a program with a hundred
// thousand allocations pays for the leaf it changes and not for all. A table on the device is
// brought up to date by copying the leaves that changed.
#include "session/internal.h"

#ifdef WARPGRIND_STRESS
enum { LEAF = 4, FREED_KEPT = 1 << 14 };
#else
enum { LEAF = 256, FREED_KEPT = 1 << 14 };
#endif

typedef struct Leaf {
  uint64_t id, version;
  uint32_t n;
  HeapRange ranges[LEAF];
} Leaf;
typedef struct Spot {
  uint32_t leaf, at;
} Spot;  // leaf == leaves.len: after all of them

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static VEC(Leaf *) leaves;  // by base, no range overlaps another, no leaf is empty
static uint32_t total;
static uint64_t last_leaf, last_order;
static _Atomic uint64_t version = 1;                        // of everything
static struct { uint64_t base, order; } freed[FREED_KEPT];  // a ring
static uint64_t nfreed;

static uint64_t end_of(const HeapRange *r) { return r->memory.base + r->memory.size; }

// The first range that ends after the address.
static Spot spot_of(uint64_t address) {
  uint32_t low = 0, high = leaves.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const Leaf *l = leaves.data[middle];
    if (end_of(&l->ranges[l->n - 1]) <= address) low = middle + 1;
    else high = middle;
  }
  Spot s = {low, 0};
  if (low == leaves.len) return s;
  const Leaf *l = leaves.data[low];
  for (low = 0, high = l->n; low < high;) {
    uint32_t middle = low + (high - low) / 2;
    if (end_of(&l->ranges[middle]) <= address) low = middle + 1;
    else high = middle;
  }
  s.at = low;
  return s;
}

static HeapRange *range_at(Spot s) {
  return s.leaf < leaves.len ? &leaves.data[s.leaf]->ranges[s.at] : NULL;
}

static HeapRange *range_before(Spot s) {
  if (s.at) return &leaves.data[s.leaf]->ranges[s.at - 1];
  if (!s.leaf) return NULL;
  Leaf *l = leaves.data[s.leaf - 1];
  return &l->ranges[l->n - 1];
}

// --- changes, with the lock held ---

static void changed(Leaf *l) { l->version = ++version; }

static void insert_leaf(uint32_t at, Leaf *l) {
  l->id = ++last_leaf;
  vec_push(&leaves, l);
  memmove(&leaves.data[at + 1], &leaves.data[at], (leaves.len - 1 - at) * sizeof *leaves.data);
  leaves.data[at] = l;
}

static void remove_at(Spot s) {
  Leaf *l = leaves.data[s.leaf];
  memmove(&l->ranges[s.at], &l->ranges[s.at + 1], (l->n - 1 - s.at) * sizeof *l->ranges);
  l->n--;
  total--;
  changed(l);
  if (l->n) return;
  memmove(&leaves.data[s.leaf], &leaves.data[s.leaf + 1],
          (leaves.len - 1 - s.leaf) * sizeof *leaves.data);
  leaves.len--;
  free(l);
}

// Makes room for a range at the spot; returns the leaf and place where it goes.
static Spot room_at(Spot s) {
  if (!leaves.len) insert_leaf(0, mem_alloc(sizeof(Leaf)));
  if (s.leaf == leaves.len) {
    s.leaf--;
    s.at = leaves.data[s.leaf]->n;
  }
  Leaf *l = leaves.data[s.leaf];
  if (l->n < LEAF) return s;
  Leaf *second = mem_alloc(sizeof *second);
  // growing addresses leave full leaves behind
  uint32_t kept = s.at == LEAF ? LEAF - 1 : LEAF / 2;
  second->n = LEAF - kept;
  memcpy(second->ranges, &l->ranges[kept], second->n * sizeof *l->ranges);
  l->n = kept;
  changed(l);
  insert_leaf(s.leaf + 1, second);
  changed(second);
  return s.at <= kept ? s : (Spot){s.leaf + 1, s.at - kept};
}

// Forgets freed ranges that are reused now, and live ranges whose free was never reported.
static void remove_overlapping(uint64_t base, uint64_t end) {
  for (;;) {
    Spot s = spot_of(base);
    const HeapRange *r = range_at(s);
    if (!r || r->memory.base >= end) return;
    remove_at(s);
  }
}

void session_ranges_add(const HeapRange *new) {
  if (!new->memory.size) return;
  pthread_rwlock_wrlock(&lock);
  remove_overlapping(new->memory.base, end_of(new));
  Spot s = room_at(spot_of(new->memory.base));
  Leaf *l = leaves.data[s.leaf];
  memmove(&l->ranges[s.at + 1], &l->ranges[s.at], (l->n - s.at) * sizeof *l->ranges);
  l->ranges[s.at] = *new;
  l->ranges[s.at].memory.state = WG_MEMORY_LIVE;
  l->ranges[s.at].order = ++last_order;
  l->n++;
  total++;
  changed(l);
  pthread_rwlock_unlock(&lock);
}

static Spot spot_of_base(uint64_t base) {
  Spot s = spot_of(base);
  const HeapRange *r = range_at(s);
  return r && r->memory.base == base ? s : (Spot){leaves.len, 0};
}

// Remembers a freed range and drops the one that was kept longest.
static void keep_freed(const HeapRange *r) {
  uint64_t slot = nfreed++ % FREED_KEPT, base = freed[slot].base, order = freed[slot].order;
  freed[slot].base = r->memory.base;
  freed[slot].order = r->order;
  if (nfreed <= FREED_KEPT) return;
  Spot s = spot_of_base(base);
  const HeapRange *old = range_at(s);
  if (old && old->order == order && old->memory.state == WG_MEMORY_FREED) remove_at(s);
}

bool session_ranges_free(uint64_t base, uint64_t stack, HeapRange *was) {
  pthread_rwlock_wrlock(&lock);
  Spot s = spot_of_base(base);
  HeapRange *r = range_at(s);
  bool live = r && r->memory.state == WG_MEMORY_LIVE;
  if (live) {
    *was = *r;
    r->memory.state = WG_MEMORY_FREED;
    r->memory.tools = (WgMemoryWords){0};
    r->free_stack = stack;
    changed(leaves.data[s.leaf]);
    keep_freed(r);
  }
  pthread_rwlock_unlock(&lock);
  return live;
}

void session_ranges_remove(uint64_t base) {
  pthread_rwlock_wrlock(&lock);
  Spot s = spot_of_base(base);
  if (range_at(s)) remove_at(s);
  pthread_rwlock_unlock(&lock);
}

bool session_ranges_revive(uint64_t base, HeapRange *out) {
  pthread_rwlock_wrlock(&lock);
  Spot s = spot_of_base(base);
  HeapRange *r = range_at(s);
  bool was_freed = r && r->memory.state == WG_MEMORY_FREED;
  if (was_freed) {
    r->memory.state = WG_MEMORY_LIVE;
    r->order = ++last_order;
    *out = *r;
    changed(leaves.data[s.leaf]);
  }
  pthread_rwlock_unlock(&lock);
  return was_freed;
}

bool session_ranges_set_address(uint64_t base, size_t offset, uint64_t value) {
  pthread_rwlock_wrlock(&lock);
  Spot s = spot_of_base(base);
  HeapRange *r = range_at(s);
  if (r) {
    *(uint64_t *)((char *)&r->memory + offset) = value;
    changed(leaves.data[s.leaf]);
  }
  pthread_rwlock_unlock(&lock);
  return r != NULL;
}

// --- questions ---

bool session_ranges_look(uint64_t address, HeapRange *out) {
  pthread_rwlock_rdlock(&lock);
  const HeapRange *r = range_at(spot_of(address));
  bool inside = r && r->memory.base <= address;
  if (inside) *out = *r;
  pthread_rwlock_unlock(&lock);
  return inside;
}

// Programs use adjacent mapped or registered ranges as one piece of memory.
static bool continues(const HeapRange *a, const HeapRange *b) {
  return a->kind == b->kind && (a->kind == SESSION_VIRTUAL || a->kind == SESSION_REGISTERED) &&
         end_of(a) == b->memory.base && a->memory.state == WG_MEMORY_LIVE &&
         b->memory.state == WG_MEMORY_LIVE;
}

static Spot next_spot(Spot s) {
  return s.at + 1 < leaves.data[s.leaf]->n ? (Spot){s.leaf, s.at + 1} : (Spot){s.leaf + 1, 0};
}

static WgMemoryRange whole(Spot first) {
  WgMemoryRange w = range_at(first)->memory;
  const HeapRange *r = range_at(first), *other;
  for (Spot p = first; (other = range_before(p)) && continues(other, r); r = other) {
    p = spot_of(other->memory.base);
    w.base = other->memory.base;
    w.size += other->memory.size;
    w.tools = (WgMemoryWords){0};
  }
  r = range_at(first);
  for (Spot p = next_spot(first); (other = range_at(p)) && continues(r, other);
       p = next_spot(p), r = other) {
    w.size += other->memory.size;
    w.tools = (WgMemoryWords){0};
  }
  return w;
}

// A pointer to the end of an allocation belongs to it, unless another begins there.
bool session_ranges_find(uint64_t address, WgMemoryRange *out) {
  pthread_rwlock_rdlock(&lock);
  Spot s = spot_of(address);
  const HeapRange *r = range_at(s), *before = range_before(s);
  bool inside = r && r->memory.base <= address;
  if (!inside && before && end_of(before) == address) {
    inside = true;
    s = spot_of(before->memory.base);
  }
  if (inside) *out = whole(s);
  pthread_rwlock_unlock(&lock);
  return inside && out->state == WG_MEMORY_LIVE;
}

void session_ranges_each(void (*each)(void *user, const HeapRange *r), void *user) {
  pthread_rwlock_rdlock(&lock);
  for (uint32_t i = 0; i < leaves.len; i++)
    for (uint32_t k = 0; k < leaves.data[i]->n; k++) each(user, &leaves.data[i]->ranges[k]);
  pthread_rwlock_unlock(&lock);
}

uint64_t session_ranges_version(void) {
  return atomic_load_explicit(&version, memory_order_relaxed);
}

// --- the table ---

void session_ranges_outdated(void) { version++; }

size_t session_ranges_table_bytes(void) {
  pthread_rwlock_rdlock(&lock);
  size_t size = sizeof(WgMemoryTable) + total * sizeof(WgMemoryRange) + session_images_bytes();
  pthread_rwlock_unlock(&lock);
  return size;
}

static void write_leaf(const Leaf *l, WgMemoryRange *to) {
  for (uint32_t i = 0; i < l->n; i++) to[i] = l->ranges[i].memory;
}

bool session_ranges_write(TableImage *image, void *to, size_t room, uint64_t *its_version) {
  pthread_rwlock_rdlock(&lock);
  size_t bytes = sizeof(WgMemoryTable) + total * sizeof(WgMemoryRange);
  uint64_t now_version = version;
  uint32_t at = 0, nimages;
  bool fits = bytes <= room && session_images_write((char *)to + bytes, room - bytes, &nimages);
  WgMemoryRange *ranges = (WgMemoryRange *)((WgMemoryTable *)to + 1);
  for (uint32_t i = 0; fits && i < leaves.len; i++) {
    const Leaf *l = leaves.data[i];
    TablePart now = {l->id, l->version, at};
    if (i == image->parts.len) vec_push(&image->parts, (TablePart){0});
    TablePart *before = &image->parts.data[i];
    if (before->leaf != now.leaf || before->version != now.version || before->at != now.at) {
      write_leaf(l, ranges + at);
      *before = now;
    }
    at += l->n;
  }
  if (fits) {
    memcpy(to, &(WgMemoryTable){total, nimages, 0}, sizeof(WgMemoryTable));
    image->parts.len = leaves.len;
    *its_version = now_version;
  }
  pthread_rwlock_unlock(&lock);
  return fits;
}
