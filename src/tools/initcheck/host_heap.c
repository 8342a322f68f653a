// The shadow of memory from malloc in device code: a WgInitHeap for each device, made when a kernel
// of a module that calls malloc is first launched. Kernels find it through the table of
// allocations. The host does not know its blocks.
#include "tools/initcheck/host.h"

// address 0: there was no memory for it
typedef struct Heap {
  SessionDevice *device;
  uint64_t address;
  struct Heap *next;
} Heap;
static Heap *heaps;
// lost: a kernel in a graph writes to heaps without marks, each time the graph is launched
static _Atomic bool any, lost;

bool shadow_has_heap(void) { return any && !lost; }

void shadow_heap_lose(void) {
  shadow_lock();
  lost = true;
  for (Heap *h = heaps; h; h = h->next) session_device_set_heap(h->device, 0);
  shadow_unlock();
}

static Heap *heap_of(const SessionDevice *d) {
  for (Heap *h = heaps; h; h = h->next)
    if (h->device == d) return h;
  return NULL;
}

// Device code writes the base of a page when it takes it; the host fills in the rest.
static bool fill(const SessionDeviceOps *ops, void *user, uint64_t at) {
  static WgMemoryRange pages[WG_INIT_HEAP_PAGES];  // guarded by the lock of the table
  for (uint32_t i = 0; i < WG_INIT_HEAP_PAGES; i++)
    pages[i] = (WgMemoryRange){.size = WG_INIT_HEAP_PAGE,
                               .state = WG_MEMORY_LIVE,
                               .tools.shadow = at + offsetof(WgInitHeap, shadow) +
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

static uint64_t make(SessionDevice *d) {
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
  session_device_set_heap(d, h->address);
  return h->address;
}

void shadow_heap_make(SessionDevice *d) {
  bool failed = false;
  shadow_lock_to_change();
  if (!lost && !heap_of(d)) failed = !make(d);
  shadow_unlock();
  if (failed)
    session_note(SEVERITY_WARNING, "initcheck: there is no memory for the shadow of the device's "
                                   "heap: memory of malloc in kernels counts as initialised");
}

void shadow_heap_forget(SessionDevice *d, const void *stream) {
  for (Heap *h = heaps; h; h = h->next) {
    if (!h->address || (d && h->device != d)) continue;
    const Shadow all = {.address = h->address + offsetof(WgInitHeap, shadow),
                        .device = h->device,
                        .size = (uint64_t)WG_INIT_HEAP_PAGES * WG_INIT_HEAP_PAGE};
    shadow_set(&all, stream, 0, all.size, SHADOW_GOOD);
  }
}

void shadow_heap_closing(ToolDevice *d) {
  shadow_lock_to_change();
  for (Heap **at = &heaps; *at;) {
    Heap *h = *at;
    if (h->device != d->device) {
      at = &h->next;
      continue;
    }
    *at = h->next;
    ((InitDevice *)d->state)->heap = h->address;
    free(h);
  }
  shadow_unlock();
}
