// Probes that run often have a second form in C, which is executed in place of their PTX.
#include "vgpu/core.h"

enum { MOST_NATIVES = 24, MOST_ARGS = 13 };
// address: with `warp`, how many arguments are the same for all lanes
static struct {
  const char *name;
  VgpuNative *fn;
  VgpuWarpNative *warp;
  unsigned nargs, address;
} natives[MOST_NATIVES];
static unsigned nnatives;

void vgpu_native_add(const char *name, VgpuNative *fn, unsigned nargs, unsigned address) {
  CHECK(nnatives < MOST_NATIVES && nargs <= MOST_ARGS && address < nargs);
  natives[nnatives].name = name;
  natives[nnatives].fn = fn;
  natives[nnatives].nargs = nargs;
  natives[nnatives++].address = address;
}

void vgpu_native_add_warp(const char *name, VgpuWarpNative *fn, unsigned common, unsigned nargs) {
  CHECK(nnatives < MOST_NATIVES && nargs <= VGPU_NATIVE_ARGS && common <= nargs);
  natives[nnatives].name = name;
  natives[nnatives].warp = fn;
  natives[nnatives].nargs = nargs;
  natives[nnatives++].address = common;
}

static VgpuNativeLane lane_of(const Warp *w, uint64_t address) {
  uint64_t window = address & GENERIC_WINDOW_MASK, offset = address & ~GENERIC_WINDOW_MASK;
  bool own = offset >> SHARED_RANK_SHIFT == w->block->cluster_rank + 1;
  return (VgpuNativeLane){.is_shared = window == GENERIC_SHARED && own,
                          .is_global = window != GENERIC_SHARED && window != GENERIC_LOCAL &&
                                       !(address - vgpu_launch_params(w) < 4096),
                          .shared = offset & ((1u << SHARED_RANK_SHIFT) - 1),
                          .shared_bytes = w->block->shared_end - SHARED_BASE};
}

static const Inst *run_warp(Warp *w, const Inst *in, unsigned n) {
  const CallSite *cs = in->ptr;
  uint64_t args[VGPU_NATIVE_ARGS][LANES];
  unsigned first = (unsigned)__builtin_ctz(w->exec), common = natives[n].address;
  for (unsigned i = 0; i < common; i++) args[i][0] = builtin_arg(w, cs, first, i);
  for (unsigned i = common; i < natives[n].nargs; i++)
    FOR_LANES(lane, w->exec) args[i][lane] = builtin_arg(w, cs, lane, i);
  natives[n].warp(w->exec, (const uint64_t(*)[LANES])args);
  return in + 1;
}

static const Inst *run(Warp *w, const Inst *in, unsigned n) {
  if (!w->exec) return in + 1;
  if (natives[n].warp) return run_warp(w, in, n);
  FOR_LANES(lane, w->exec) {
    uint64_t args[MOST_ARGS];
    for (unsigned i = 0; i < natives[n].nargs; i++) args[i] = builtin_arg(w, in->ptr, lane, i);
    VgpuNativeLane where = lane_of(w, args[natives[n].address]);
    builtin_result(w, in->ptr, lane, natives[n].fn(args, &where));
  }
  return in + 1;
}

#define RUN_NATIVE(n) \
  static const Inst *run_##n(Warp *w, const Inst *in) { return run(w, in, n); }
RUN_NATIVE(0)
RUN_NATIVE(1)
RUN_NATIVE(2)
RUN_NATIVE(3)
RUN_NATIVE(4)
RUN_NATIVE(5)
RUN_NATIVE(6)
RUN_NATIVE(7)
RUN_NATIVE(8)
RUN_NATIVE(9)
RUN_NATIVE(10)
RUN_NATIVE(11)
RUN_NATIVE(12)
RUN_NATIVE(13)
RUN_NATIVE(14)
RUN_NATIVE(15)
RUN_NATIVE(16)
RUN_NATIVE(17)
RUN_NATIVE(18)
RUN_NATIVE(19)
RUN_NATIVE(20)
RUN_NATIVE(21)
RUN_NATIVE(22)
RUN_NATIVE(23)

ExecFn *builtin_native(const char *name) {
  static ExecFn *const runs[MOST_NATIVES] = {run_0,  run_1,  run_2,  run_3,  run_4,  run_5,
                                             run_6,  run_7,  run_8,  run_9,  run_10, run_11,
                                             run_12, run_13, run_14, run_15, run_16, run_17,
                                             run_18, run_19, run_20, run_21, run_22, run_23};
  size_t length = strlen(name);
  for (unsigned i = 0; i < nnatives; i++) {
    size_t n = strlen(natives[i].name);
    if (length > n && !strncmp(name, "__wg", 4) && name[length - n - 1] == '_' &&
        !strcmp(name + length - n, natives[i].name))
      return runs[i];
  }
  return NULL;
}
