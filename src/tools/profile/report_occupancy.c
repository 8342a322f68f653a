// Occupancy by the rules of the CUDA toolkit: the smallest of four limits.
#include "tools/profile/report_occupancy.h"

// multiprocessors in a group that shares clusters (GPC): at least this many on devices with
// clusters
enum { GROUP = 16 };
enum { REGISTERS = 65536, REGISTER_UNIT = 256, MOST_REGISTERS = 255, PARTITIONS = 4, WARP = 32 };

static const struct Arch {
  unsigned arch;
  uint32_t warps, blocks, shared, reserved, unit;
} archs[] = {
#define ARCH(...) {__VA_ARGS__},
#include "tools/profile/occupancy.def"
#undef ARCH
};

static const struct Arch *find(unsigned arch) {
  for (unsigned i = 0; i < sizeof archs / sizeof archs[0]; i++)
    if (archs[i].arch == arch) return &archs[i];
  return 0;
}

int occupancy_knows(unsigned arch) { return find(arch) != 0; }

static uint32_t round_up(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }

static uint32_t by_registers(const OccupancyAsk *a, uint32_t warps) {
  uint32_t of_warp = round_up(a->registers * WARP, REGISTER_UNIT);
  if (!of_warp) return UINT32_MAX;
  if (a->registers > MOST_REGISTERS || of_warp * round_up(warps, PARTITIONS) > REGISTERS) return 0;
  return REGISTERS / PARTITIONS / of_warp * PARTITIONS / warps;
}

static uint32_t by_shared(const OccupancyAsk *a, const struct Arch *h) {
  uint32_t of_block = round_up(a->shared + h->reserved, h->unit);
  return of_block ? h->shared / of_block : UINT32_MAX;
}

Occupancy occupancy_of(const OccupancyAsk *a) {
  const struct Arch *h = find(a->arch);
  uint32_t warps = (a->threads + WARP - 1) / WARP;
  if (!h || !warps) return (Occupancy){0};
  const uint32_t limits[] = {[LIMIT_WARPS] = h->warps / warps,
                             [LIMIT_BLOCKS] = h->blocks,
                             [LIMIT_REGISTERS] = by_registers(a, warps),
                             [LIMIT_SHARED] = by_shared(a, h)};
  Occupancy o = {.blocks = limits[0], .most = h->warps, .limit = LIMIT_WARPS};
  for (unsigned i = 1; i < sizeof limits / sizeof limits[0]; i++)
    if (limits[i] < o.blocks) {
      o.blocks = limits[i];
      o.limit = (OccupancyLimit)i;
    }
  o.warps = o.blocks * warps;
  // All blocks of a cluster are in one group of multiprocessors: the rest of a group stays empty.
  uint32_t in_group = o.blocks * GROUP, left = a->cluster > 1 ? in_group % a->cluster : 0;
  if (left) {
    o.warps = (in_group - left) * warps / GROUP;
    o.limit = LIMIT_CLUSTER;
  }
  return o;
}

const char *occupancy_limit_name(OccupancyLimit l) {
  static const char *const names[] = {"block size", "blocks", "registers", "shared memory",
                                      "the size of clusters"};
  return names[l];
}
