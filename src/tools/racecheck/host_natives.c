// racecheck on the virtual device: the C of probe_access.c, compiled for this machine.
#include "tools/racecheck/host.h"
#include "vgpu/vgpu.h"

#include "tools/racecheck/probe_access.c"

// Whether these are the entries of all words of an access at `offset`, of 8 or 16 bytes each.
// Arguments come from registers of the program: only memory that its kernels could reach is
// accessed.
static bool are_entries(uint64_t entries, uint64_t offset, uint32_t what) {
  uint64_t first = offset & ~3ull, words = (what & WG_RACE_ACCESS_BYTES) / 4 + 3;
  return vgpu_kernel_reaches(entries + first * 2, words * 16) &&
         vgpu_kernel_reaches(entries + first * 4, words * 16);
}

static uint64_t checks_race(const uint64_t *a, const VgpuNativeLane *l) {
  uint32_t what = (uint32_t)a[3], layout = (uint32_t)a[7];
  if (!WG_RACE_BLOCK(layout) || !are_entries(a[0], a[1], what)) return 0;
  if (a[11] && !vgpu_kernel_reaches(a[11], sizeof(WgRaceSlot) * WG_RACE_SLOTS)) return 0;
  return wg_race_check(a[0], a[1], a[2], what, a[4], a[5], a[6], layout, (uint32_t)a[8], a[9],
                       a[10], a[11], (uint32_t)a[12]);
}

void race_add_natives(void) { vgpu_native_add("wg_race_check", checks_race, 13, 0); }
