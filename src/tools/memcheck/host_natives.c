// memcheck's exact test on the virtual device: the C of its probes, compiled for this machine.
#include "tools/memcheck/host.h"
#include "vgpu/vgpu.h"

#include "tools/memcheck/probe_heap.c"
#include "tools/memcheck/probe_memory.c"

_Thread_local struct DeviceNativeLane device_native_lane;

static void set_lane(const VgpuNativeLane *l) {
  device_native_lane = (struct DeviceNativeLane){l->is_shared, l->is_global, l->shared,
                                                 l->shared_bytes};
}

// The table is as old as the launch, so what is there now counts, too.
int device_is_nobodys(uint64_t address) { return vgpu_is_nobodys(address); }

// Arguments come from registers of the program: a native touches no memory that the program's
// kernels could not touch.
static bool is_table(uint64_t table) {
  if (!table) return true;
  if (!vgpu_kernel_reaches(table, sizeof(WgMemoryTable))) return false;
  uint64_t count = ((const WgMemoryTable *)(uintptr_t)table)->count;
  return vgpu_kernel_reaches(table, sizeof(WgMemoryTable) + count * sizeof(WgMemoryRange));
}

static bool is_heap(uint32_t heap) {
  return !heap || vgpu_kernel_reaches((uintptr_t)wg_heap_at(heap), sizeof(WgHeap));
}

static uint64_t memcheck(const uint64_t *a, const VgpuNativeLane *l) {
  if (!is_table(a[0]) || !is_heap((uint32_t)a[6])) return 0;
  set_lane(l);
  return wg_memcheck(a[0], a[1], (uint32_t)a[2], (uint32_t)a[3], a[4], a[5], (uint32_t)a[6]);
}
static uint64_t memory_base(const uint64_t *a, const VgpuNativeLane *l) {
  return is_table(a[0]) ? wg_memory_base(a[0], a[1]) : ~0ull;
}
static uint64_t memory_last(const uint64_t *a, const VgpuNativeLane *l) {
  return is_table(a[0]) ? wg_memory_last(a[0], a[1]) : 0;
}

void memcheck_add_natives(void) {
  vgpu_native_add("wg_memcheck", memcheck, 7, 1);
  vgpu_native_add("wg_memory_base", memory_base, 2, 1);
  vgpu_native_add("wg_memory_last", memory_last, 2, 1);
}
