// What malloc of device code hands out: a WgInitHeap for each device, made when the first kernel of
// a module that calls malloc is launched. Kernels find it by the table of allocations. The host
// knows nothing of the blocks in it.
#include "session/shadow.h"

// address 0: there is no memory for it
typedef struct Heap {
  SessionDevice *device;
  uint64_t address;
  struct Heap *next;
} Heap;
static Heap *heaps;
// lost: something that runs again and again writes to heaps where that is not marked
static _Atomic bool any, lost;

bool shadow_has_heap(void) { return any && !lost; }

bool session_shadow_heap_lost(void) { return lost; }

void shadow_heap_lose(void) {
  lost = true;
  session_ranges_outdated();
}

static Heap *heap_of(const SessionDevice *d) {
  for (Heap *h = heaps; h; h = h->next)
    if (h->device == d) return h;
  return NULL;
}

// Pages are known by their base, which device code writes; everything else of them stays.
static bool fill(const SessionDeviceOps *ops, void *user, uint64_t at) {
  static WgMemoryRange pages[WG_HEAP_PAGES];  // with the lock held
  for (uint32_t i = 0; i < WG_HEAP_PAGES; i++)
    pages[i] = (WgMemoryRange){.size = WG_INIT_HEAP_PAGE,
                               .state = WG_MEMORY_LIVE,
                               .shadow = at + offsetof(WgInitHeap, shadow) +
                                         (uint64_t)i * (WG_INIT_HEAP_PAGE / 4)};
  WgInitHeap *h = (WgInitHeap *)(uintptr_t)at;
  if (!ops->direct)
    return ops->fill(user, NULL, at + offsetof(WgInitHeap, shadow), WG_SHADOW_GOOD,
                     sizeof h->shadow) &&
           ops->write(user, at, pages, sizeof pages);
  memset(h->shadow, WG_SHADOW_GOOD, sizeof h->shadow);
  memcpy(h->pages, pages, sizeof pages);
  return true;
}

static void make(SessionDevice *d) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  Heap *h = mem_alloc(sizeof *h);
  *h = (Heap){d, ops->alloc(user, sizeof(WgInitHeap)), heaps};
  if (h->address && !fill(ops, user, h->address)) {
    ops->free(user, h->address);
    h->address = 0;
  }
  heaps = h;
  any |= h->address != 0;
  session_ranges_outdated();  // the table names it
}

uint64_t session_shadow_heap(SessionDevice *d, bool wanted) {
  if (!session_wants_shadow() || lost || (!any && !wanted)) return 0;
  shadow_lock_to_change();
  bool makes = wanted && !heap_of(d);
  if (makes) make(d);
  uint64_t address = heap_of(d) ? heap_of(d)->address : 0;
  shadow_unlock();
  if (makes && !address)
    session_note(SEVERITY_WARNING, "initcheck: there is no memory for the shadow of the device's "
                                   "heap: memory of malloc in kernels counts as initialised");
  return address;
}

void shadow_heap_forget(SessionDevice *d, const void *stream) {
  for (Heap *h = heaps; h; h = h->next) {
    if (!h->address || (d && h->device != d)) continue;
    const Shadow all = {.address = h->address + offsetof(WgInitHeap, shadow),
                        .device = h->device,
                        .size = (uint64_t)WG_HEAP_PAGES * WG_INIT_HEAP_PAGE};
    shadow_set(&all, stream, 0, all.size, SHADOW_GOOD);
  }
}

void session_shadow_heap_unseen(SessionDevice *d, const void *stream) {
  shadow_lock();
  shadow_heap_forget(d, stream);
  shadow_unlock();
}

void session_shadow_heap_close(SessionDevice *d, bool alive) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  shadow_lock_to_change();
  for (Heap **at = &heaps; *at;) {
    Heap *h = *at;
    if (h->device != d) {
      at = &h->next;
      continue;
    }
    *at = h->next;
    if (alive && h->address) ops->free(user, h->address);
    free(h);
  }
  shadow_unlock();
}
