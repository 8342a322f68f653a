// Functions that NVIDIA's Sanitizer API calls before instructions of machine code. Compiled to
// machine code of their own when Warpgrind is built: the driver loads no PTX for patches.
//
// Calling a patch costs far more than the patch itself, as long as that calls nothing.
#include "probe/closed_access.h"

#include "all_patches.h"

// As the API's headers have them.
enum { FLAG_READ = 1, FLAG_WRITE = 2, FLAG_PREFETCH = 8, BULK_BLOCK = 16 };

enum {
#define TOOL(id, name, help) TOOL_BIT_##name,
#include "tools/tools.def"
};

// Each access of the kernel pays for every register that is live across this test.
DEVICE int is_in_window(const WgClosed *c, uint64_t address) {
  for (const WgWindow *w = c->windows; w->base; w++)
    if (address - w->base <= w->last) return 1;
  return 0;
}

// A watched launch (src/session/repeats.c) may not be taken for a model of others if it makes such
// an access, or one that is misaligned.
DEVICE void note_outside(const WgClosed *c, uint64_t address, uint32_t bytes) {
  const WgExtent *e = (const WgExtent *)c->extents;
  int inside = 0;
  for (; e->base && e->base <= address; e++)
    if (address + bytes <= e->base + e->bytes) inside = !((uint32_t)address & (bytes - 1));
  if (!inside) *(volatile uint32_t *)c->outside = 1;
}

// Out of line: an access that is good must not pay for what a bad one needs.
__attribute__((noinline)) static void look(const WgClosed *c, uint64_t pc, uint64_t address,
                                           uint32_t bytes, uint32_t what) {
  ClosedAccess a = {address, pc, bytes, what};
#define PATCH(tool) \
  if (c->tools >> TOOL_BIT_##tool & 1) tool##_patch(c, &a);
#include "all_patches.def"
#undef PATCH
  if (c->outside) note_outside(c, address, bytes);
}

__attribute__((noinline)) static void look_by_flags(const WgClosed *c, uint64_t pc,
                                                    uint64_t address, uint32_t bytes,
                                                    uint32_t flags) {
  if (!(flags & FLAG_PREFETCH))
    look(c, pc, address, bytes,
         !(flags & FLAG_WRITE)  ? WG_ACCESS_READ
         : !(flags & FLAG_READ) ? WG_ACCESS_WRITE
                                : WG_ACCESS_ATOMIC);
}

// A launch that no tool checks has no record.
int wg_closed_global(const WgClosed *c, uint64_t pc, uint64_t address, uint32_t bytes,
                     uint32_t flags, const void *value);
__attribute__((noinline)) int wg_closed_global(const WgClosed *c, uint64_t pc, uint64_t address,
                                               uint32_t bytes, uint32_t flags, const void *value) {
  (void)value;
  if (c && ((uint32_t)address & (bytes - 1) || !is_in_window(c, address)))
    look_by_flags(c, pc, address, bytes, flags);
  return 0;
}

// Has the patch's own arguments and is not static, so that all arguments stay where they are:
// moving one takes registers.
void wg_closed_look_at_copy(const WgClosed *c, uint64_t pc, uint64_t from, uint32_t to,
                            uint32_t bytes);
__attribute__((noinline)) void wg_closed_look_at_copy(const WgClosed *c, uint64_t pc, uint64_t from,
                                                      uint32_t to, uint32_t bytes) {
  (void)to;
  look(c, pc, from, bytes, WG_ACCESS_READ);
}

// cp.async: reads `bytes` bytes of global memory. 0: none, it writes zeros.
int wg_closed_copy_async(const WgClosed *c, uint64_t pc, uint64_t from, uint32_t to,
                         uint32_t bytes);
__attribute__((noinline)) int wg_closed_copy_async(const WgClosed *c, uint64_t pc, uint64_t from,
                                                   uint32_t to, uint32_t bytes) {
  if (c && from && !is_in_window(c, from)) wg_closed_look_at_copy(c, pc, from, to, bytes);
  return 0;
}

// cp.async.bulk between global and shared memory, without a tensor map. All active threads of a
// warp pass the same values.
int wg_closed_bulk_read(const WgClosed *c, uint64_t pc, uint64_t from, uint32_t to,
                        uint32_t barrier, uint32_t blocks, uint32_t multicast);
__attribute__((noinline)) int wg_closed_bulk_read(const WgClosed *c, uint64_t pc, uint64_t from,
                                                  uint32_t to, uint32_t barrier, uint32_t blocks,
                                                  uint32_t multicast) {
  (void)to;
  (void)barrier;
  (void)multicast;
  blocks &= 0xffff;  // above them: the multicast mask
  if (c && blocks) look(c, pc, from, blocks * BULK_BLOCK, WG_ACCESS_READ);
  return 0;
}

int wg_closed_bulk_write(const WgClosed *c, uint64_t pc, uint64_t to, uint32_t from,
                         uint32_t blocks);
__attribute__((noinline)) int wg_closed_bulk_write(const WgClosed *c, uint64_t pc, uint64_t to,
                                                   uint32_t from, uint32_t blocks) {
  (void)from;
  if (c && blocks) look(c, pc, to, blocks * BULK_BLOCK, WG_ACCESS_WRITE);
  return 0;
}

int wg_closed_bulk_reduce(const WgClosed *c, uint64_t pc, uint64_t to, uint32_t from,
                          uint32_t blocks);
__attribute__((noinline)) int wg_closed_bulk_reduce(const WgClosed *c, uint64_t pc, uint64_t to,
                                                    uint32_t from, uint32_t blocks) {
  (void)from;
  if (c && blocks) look(c, pc, to, blocks * BULK_BLOCK, WG_ACCESS_ATOMIC);
  return 0;
}
