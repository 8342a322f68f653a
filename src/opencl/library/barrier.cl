// Barriers. Flags of barriers that order one memory only are kept for the tools: a move into a
// register of this name (1 local, 2 global), which ptxas drops.
#define BARRIER_FOR(memory) \
  __asm__ volatile("{\n\t.reg .b32 wg_barrier_orders;\n\tmov.b32 wg_barrier_orders, " #memory \
                   ";\n\tbar.sync 0;\n\t}" ::: "memory")

static void BUILT_IN group_barrier(cl_mem_fence_flags flags) {
  if (flags & CLK_LOCAL_MEM_FENCE) {
    if (flags & ~CLK_LOCAL_MEM_FENCE) __asm__ volatile("bar.sync 0;" ::: "memory");
    else BARRIER_FOR(1);
  } else if (flags) BARRIER_FOR(2);
  else BARRIER_FOR(0);
}

void BUILT_IN barrier(cl_mem_fence_flags flags) { group_barrier(flags); }
void BUILT_IN work_group_barrier(cl_mem_fence_flags flags) { group_barrier(flags); }
void BUILT_IN work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) {
  group_barrier(flags);
}
