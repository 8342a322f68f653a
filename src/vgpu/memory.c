// The device's address window: one reserved range of this process. Free ranges are kept sorted and
// merged. Invariant: a page of the window is accessible exactly while it belongs to an allocation,
// so a kernel that leaves its allocations far enough meets PROT_NONE and the launch ends with an
// illegal address (engine.c catches the signal). As on a GPU pages are 2 MB and small allocations
// share them: what an overrun by a few bytes does is the same on both. Invariant: all bookkeeping
// lies outside of the window, so that no kernel can change it.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vgpu/core.h"

uint64_t vgpu_window_base;

typedef struct Range {
  uint64_t start, size;
} Range;
static VEC(Range) free_ranges;
static SortedMap host_ranges;  // start -> Range; they do not overlap
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t host_lock = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic uint64_t host_version = 1;  // changes with the ranges
enum { PAGE = 65536 };                     // also the size of pages on some AArch64 kernels

// WARPGRIND_ADDRESSES=LOW-HIGH: a replay of a launch (--record=inputs) needs these addresses in the
// window, with some room before them for others.
static void *map_around_addresses(void) {
  const char *text = getenv("WARPGRIND_ADDRESSES");
  char *end = NULL;
  uint64_t low = text ? strtoull(text, &end, 0) : 0,
           high = end && *end == '-' ? strtoull(end + 1, NULL, 0) : 0,
           all = VGPU_WINDOW_BYTES + PAGE;
  const uint64_t room = 1ull << 36, unit = 1ull << 30;
  if (!low || high <= low || high - low > VGPU_WINDOW_BYTES - 2 * room) return MAP_FAILED;
  const uint64_t starts[] = {low - room, high + unit - all, low - all / 2};
  for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
    uint64_t at = starts[i] / unit * unit;
    if (at > low || at > starts[i] || at + VGPU_WINDOW_BYTES < high) continue;
    void *p = mmap((void *)at, all, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == (void *)at) return p;
    if (p != MAP_FAILED) munmap(p, all);
  }
  return MAP_FAILED;
}

static bool reserve_window(void) {
  if (vgpu_window_base) return true;
  void *p = map_around_addresses();
  if (p == MAP_FAILED)
    p = mmap(NULL, VGPU_WINDOW_BYTES + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0);
  if (p == MAP_FAILED) {
    log_error(
        "cannot reserve %llu GB of address space for the virtual device (is there a ulimit -v?)",
        VGPU_WINDOW_BYTES >> 30);
    return false;
  }
  vgpu_window_base = ((uint64_t)p + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  vec_push(&free_ranges, (Range){vgpu_window_base, VGPU_WINDOW_BYTES});
  return true;
}

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// Index of the first free range that does not start before `start`.
static uint32_t first_range_from(uint64_t start) {
  uint32_t low = 0, high = free_ranges.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (free_ranges.data[middle].start < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

static void insert_range(uint32_t at, Range r) {
  vec_push(&free_ranges, r);
  Range *list = free_ranges.data;
  memmove(&list[at + 1], &list[at], (free_ranges.len - 1 - at) * sizeof *list);
  list[at] = r;
}

static void remove_range(uint32_t at) {
  Range *list = free_ranges.data;
  memmove(&list[at], &list[at + 1], (--free_ranges.len - at) * sizeof *list);
}

// Cuts [at, at + size) out of free range i. Empty ranges are not kept.
static void cut_range(uint32_t i, uint64_t at, uint64_t size) {
  Range r = free_ranges.data[i], after = {at + size, r.start + r.size - at - size};
  if (at > r.start) free_ranges.data[i].size = at - r.start;
  else if (after.size) free_ranges.data[i] = after;
  else remove_range(i);
  if (at > r.start && after.size) insert_range(i + 1, after);
}

// First fit. The last page of every range is left out as a gap between neighbours.
static void *take_range(uint64_t size, uint64_t align) {
  if (size > VGPU_WINDOW_BYTES || align > VGPU_WINDOW_BYTES) return NULL;
  size = round_up(size, PAGE) + PAGE;
  if (align < PAGE) align = PAGE;
  for (uint32_t i = 0; i < free_ranges.len; i++) {
    Range r = free_ranges.data[i];
    uint64_t at = round_up(r.start, align);
    if (at + size > r.start + r.size) continue;
    cut_range(i, at, size);
    return (void *)at;
  }
  return NULL;
}

// These addresses and no others.
static bool take_range_at(uint64_t at, uint64_t size) {
  if (size > VGPU_WINDOW_BYTES || at > UINT64_MAX - VGPU_WINDOW_BYTES - 2 * PAGE) return false;
  size = round_up(size, PAGE) + PAGE;
  for (uint32_t i = 0; i < free_ranges.len; i++) {
    Range r = free_ranges.data[i];
    if (at < r.start || at + size > r.start + r.size) continue;
    cut_range(i, at, size);
    return true;
  }
  return false;
}

static void give_range(uint64_t start, uint64_t size) {
  size = round_up(size, PAGE) + PAGE;
  uint32_t i = first_range_from(start);
  Range *list = free_ranges.data;
  bool joins_previous = i && list[i - 1].start + list[i - 1].size == start;
  bool joins_next = i < free_ranges.len && start + size == list[i].start;
  if (joins_previous && joins_next) {
    list[i - 1].size += size + list[i].size;
    remove_range(i);
  } else if (joins_previous) {
    list[i - 1].size += size;
  } else if (joins_next) {
    list[i].start = start;
    list[i].size += size;
  } else {
    insert_range(i, (Range){start, size});
  }
}

void *vgpu_vm_reserve(size_t size, size_t align) {
  pthread_mutex_lock(&lock);
  void *p = reserve_window() ? take_range(size ? size : 1, align) : NULL;
  pthread_mutex_unlock(&lock);
  return p;
}

bool vgpu_vm_reserve_at(void *p, size_t size) {
  pthread_mutex_lock(&lock);
  bool ok = (uint64_t)p % PAGE == 0 && reserve_window() &&
            take_range_at((uint64_t)p, size ? size : 1);
  pthread_mutex_unlock(&lock);
  return ok;
}

void vgpu_vm_release(void *p, size_t size) {
  uint64_t bytes = round_up(size ? size : 1, PAGE);
  mmap(p, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  pthread_mutex_lock(&lock);
  give_range((uint64_t)p, size ? size : 1);
  pthread_mutex_unlock(&lock);
}

enum { GPU_PAGE = 2 << 20, SMALL = 1 << 20, SMALLEST = 512 };

static void *map_pages(size_t size, size_t align) {
  if (size > VGPU_WINDOW_BYTES) return NULL;
  size = round_up(size, GPU_PAGE);
  void *p = vgpu_vm_reserve(size, MAX(align, (size_t)GPU_PAGE));
  if (p && mprotect(p, size, PROT_READ | PROT_WRITE) != 0) {
    vgpu_vm_release(p, size);
    p = NULL;
  }
  return p;
}

// --- allocations below 1 MB: powers of two from pages of their own, never given back ---
// Those of the program and of tools have other pages than ours: there, a kernel may touch nothing
// but allocations of the program.
typedef enum { OURS, PROGRAMS, TOOLS, OWNERS } Owner;
static VEC(char *) free_pieces[OWNERS][32];              // by size class; taken last in, first out
static char *fresh[OWNERS][32], *fresh_end[OWNERS][32];  // of the newest page of each size
static U64Map foreign_pages;                             // not ours, by number
static U64Map piece_pages;                               // number -> size class of the pieces on it

static void note_pages(Owner owner, const void *p, size_t size, bool are) {
  if (!p || owner == OURS) return;
  pthread_mutex_lock(&lock);
  for (uint64_t page = (uint64_t)p / GPU_PAGE, end = ((uint64_t)p + size - 1) / GPU_PAGE;
       page <= end; page++) {
    if (are) u64map_put(&foreign_pages, page, &foreign_pages);
    else u64map_remove(&foreign_pages, page);
  }
  pthread_mutex_unlock(&lock);
}

bool vgpu_is_nobodys(uint64_t address) {
  pthread_mutex_lock(&lock);
  bool is_foreign = u64map_get(&foreign_pages, address / GPU_PAGE) != NULL;
  pthread_mutex_unlock(&lock);
  return is_foreign && !vgpu_is_allocated(address);
}

// Huge pages save most of the page faults of a large buffer, which is usually used as a whole.
// Tables of tools are touched here and there only.
static void *own_pages(Owner owner, size_t size, size_t align) {
  void *p = map_pages(size, align);
  if (p && owner == PROGRAMS && size >= 2 * GPU_PAGE) madvise(p, size, MADV_HUGEPAGE);
  note_pages(owner, p, size, true);
  return p;
}

static unsigned piece_class(size_t size) {
  unsigned c = 9;
  while (((size_t)1 << c) < size) c++;
  return c;
}

static void *take_piece(Owner owner, size_t size) {
  unsigned c = piece_class(size);
  size_t bytes = (size_t)1 << c;
  pthread_mutex_lock(&lock);
  char *p;
  bool used = free_pieces[owner][c].len != 0;
  if (used) p = free_pieces[owner][c].data[--free_pieces[owner][c].len];
  else {
    if (fresh[owner][c] == fresh_end[owner][c]) {
      pthread_mutex_unlock(&lock);
      char *page = own_pages(owner, GPU_PAGE, 0);
      if (!page) return NULL;
      pthread_mutex_lock(&lock);
      u64map_put(&piece_pages, (uint64_t)page / GPU_PAGE, (void *)(uintptr_t)c);
      fresh[owner][c] = page;  // two threads at once: the rest of one page is lost, nothing worse
      fresh_end[owner][c] = page + GPU_PAGE;
    }
    p = fresh[owner][c];
    fresh[owner][c] += bytes;
  }
  pthread_mutex_unlock(&lock);
  if (used) memset(p, 0, bytes);
  return p;
}

static void *take(Owner owner, size_t size, size_t align) {
  if (!size) size = 1;
  if (size >= SMALL || align >= SMALL) return own_pages(owner, size, align);
  return take_piece(owner, MAX(size, align));  // a piece is aligned to its size
}

static void give(Owner owner, void *p, size_t size) {
  if (!p) return;
  if (!size) size = 1;
  pthread_mutex_lock(&lock);
  uintptr_t c = (uintptr_t)u64map_get(&piece_pages, (uint64_t)p / GPU_PAGE);
  if (c) vec_push(&free_pieces[owner][c], (char *)p);
  pthread_mutex_unlock(&lock);
  if (c) return;
  note_pages(owner, p, size, false);
  vgpu_vm_release(p, round_up(size, GPU_PAGE));
}

void *vgpu_mem_alloc(size_t size, size_t align) { return take(OURS, size, align); }
void vgpu_mem_free(void *p, size_t size) { give(OURS, p, size); }
void *vgpu_program_alloc(size_t size, size_t align) { return take(PROGRAMS, size, align); }
void vgpu_program_free(void *p, size_t size) { give(PROGRAMS, p, size); }
void *vgpu_tool_alloc(size_t size, size_t align) { return take(TOOLS, size, align); }
void vgpu_tool_free(void *p, size_t size) { give(TOOLS, p, size); }

bool vgpu_in_window(const void *p) { return vgpu_window_base && vgpu_window_holds((uint64_t)p, 1); }

void vgpu_host_register(void *p, size_t size) {
  pthread_rwlock_wrlock(&host_lock);
  host_version++;
  Range *r = mem_alloc(sizeof *r);
  *r = (Range){(uint64_t)p, size};
  free(sorted_remove(&host_ranges, (uint64_t)p));
  sorted_put(&host_ranges, (uint64_t)p, r);
  pthread_rwlock_unlock(&host_lock);
}

void vgpu_host_unregister(void *p) {
  pthread_rwlock_wrlock(&host_lock);
  host_version++;
  free(sorted_remove(&host_ranges, (uint64_t)p));
  pthread_rwlock_unlock(&host_lock);
}

// The range found last is tried first, without a lock: it is there as long as nothing has changed.
bool vgpu_host_reachable(uint64_t address, uint64_t size) {
  static _Thread_local struct {
    Range range;
    uint64_t version;
  } last[2];
  static _Thread_local unsigned turn;
  uint64_t version = atomic_load_explicit(&host_version, memory_order_acquire);
  for (unsigned i = 0; i < 2; i++)
    if (last[i].version == version && address - last[i].range.start < last[i].range.size &&
        size <= last[i].range.size - (address - last[i].range.start))
      return true;
  pthread_rwlock_rdlock(&host_lock);
  const Range *r = sorted_below(&host_ranges, address, NULL);
  bool found = r && address - r->start <= r->size && size <= r->size - (address - r->start);
  if (found) {
    turn ^= 1;
    last[turn].range = *r;
    last[turn].version = host_version;
  }
  pthread_rwlock_unlock(&host_lock);
  return found;
}

bool vgpu_kernel_reaches(uint64_t address, uint64_t bytes) {
  return (vgpu_window_base && vgpu_window_holds(address, bytes)) ||
         vgpu_host_reachable(address, bytes);
}

char *vgpu_cluster_shared(Warp *w, uint32_t rank, uint32_t *end) {
  Block *b = w->block;
  if (rank != b->cluster_rank) {
    if (!b->cluster || rank >= b->cluster->nblocks) return NULL;
    b = b->cluster->blocks[rank];
  }
  *end = b->shared_end;
  return b->shared;
}

uint32_t vgpu_shared_offset(Warp *w, const char *p) {
  uint32_t nblocks = w->block->cluster ? w->block->cluster->nblocks : 1, end;
  for (uint32_t r = 0; r < nblocks; r++) {
    const char *shared = vgpu_cluster_shared(w, r, &end);
    if (shared && p >= shared && p < shared + end) return (uint32_t)(p - shared);
  }
  CHECK(!"the byte lies in shared memory of the cluster");
  return 0;
}

char *vgpu_generic_pointer(Warp *w, unsigned lane, uint64_t address, uint64_t size) {
  if (vgpu_window_holds(address, size)) return (char *)address;
  uint64_t window = address & GENERIC_WINDOW_MASK, offset = address & ~GENERIC_WINDOW_MASK;
  if (window == GENERIC_LOCAL)
    return offset + size <= w->local_bytes ? w->local + (uint64_t)lane * w->local_bytes + offset
                                           : NULL;
  if (window == GENERIC_SHARED) {
    uint32_t end, rank = (uint32_t)(offset >> SHARED_RANK_SHIFT);
    char *shared = vgpu_cluster_shared(w, rank ? rank - 1 : w->block->cluster_rank, &end);
    offset &= (1u << SHARED_RANK_SHIFT) - 1;
    return shared && offset >= SHARED_BASE && offset + size <= end ? shared + offset : NULL;
  }
  return vgpu_host_reachable(address, size) ? (char *)address : NULL;
}
