// memcheck: fetches from textures over linear memory, and surfaces.
#include "probe/device.h"
#include "probe/ranges.h"
#include "tools/memcheck/abi.h"
#include "tools/memcheck/kinds.h"

DEVICE const WgImage *image_of(uint64_t table, uint64_t key) {
  if (!table) return 0;
  const WgMemoryTable *t = (const WgMemoryTable *)table;
  const WgImage *images = (const WgImage *)((const WgMemoryRange *)(t + 1) + t->count);
  uint32_t low = 0, high = t->images;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (images[middle].key < key) low = middle + 1;
    else high = middle;
  }
  return low < t->images && images[low].key == key ? &images[low] : 0;
}

void wg_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
               uint64_t address, uint64_t value, uint64_t extra);
void wg_report_wide(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
                    uint64_t address, uint64_t v0, uint64_t v1, uint64_t v2, uint64_t v3,
                    uint64_t e0, uint64_t e2);

// Reports a bad fetch of element `index`. Returns the number of elements of this texture, for the
// next fetch to compare with: 0 if each fetch must be looked up, the largest number if the texture
// is not known.
uint32_t wg_memcheck_texture(uint64_t table, uint64_t handle, uint32_t index, uint64_t channel,
                             uint32_t launch, uint32_t site);
__attribute__((noinline)) uint32_t wg_memcheck_texture(uint64_t table, uint64_t handle,
                                                       uint32_t index, uint64_t channel,
                                                       uint32_t launch, uint32_t site) {
  const WgImage *t = image_of(table, WG_IMAGE_KEY(handle, 0));
  if (!t) return ~0u;
  uint64_t address = t->base + (uint64_t)((int64_t)(int32_t)index * t->bytes);
  int freed = is_freed(table, t->base);
  if (freed || index >= t->width)
    wg_report(channel, launch, site,
              freed && index < t->width ? KIND_USE_AFTER_FREE : KIND_OOB_READ, t->bytes, address,
              t->base, (uint64_t)t->width * t->bytes);
  return freed ? 0 : t->width;
}

// The extent of a surface in one word, as WG_IMAGE_… say. The largest number if the texture is not
// known.
uint64_t wg_surface_extent(uint64_t table, uint64_t handle);
__attribute__((noinline)) uint64_t wg_surface_extent(uint64_t table, uint64_t handle) {
  const WgImage *s = image_of(table, WG_IMAGE_KEY(handle, 1));
  return s ? s->width | (uint64_t)s->height << WG_IMAGE_HEIGHT |
                 (uint64_t)s->slices << WG_IMAGE_SLICES
           : ~0ull;
}

// 1: the access is bad, and reported. what: WG_ACCESS_…, and its bytes in the next bits.
uint32_t wg_memcheck_surface(uint64_t table, uint64_t handle, uint32_t x, uint32_t y, uint32_t z,
                             uint32_t what, uint64_t channel, uint32_t launch, uint32_t site);
__attribute__((noinline)) uint32_t wg_memcheck_surface(uint64_t table, uint64_t handle, uint32_t x,
                                                       uint32_t y, uint32_t z, uint32_t what,
                                                       uint64_t channel, uint32_t launch,
                                                       uint32_t site) {
  const WgImage *s = image_of(table, WG_IMAGE_KEY(handle, 1));
  uint32_t bytes = what >> WG_WHAT_SPACE;
  if (!s || (x < s->width && s->width - x >= bytes && y < s->height && z < s->slices)) return 0;
  wg_report_wide(channel, launch, site, KIND_OOB_READ + (what & 3), bytes, 0, x | (uint64_t)y << 32,
                 z, 0, 0, s->width | (uint64_t)s->height << 32, s->slices);
  return 1;
}
