// Special registers, and addresses that depend on the launch or the frame.
#include <time.h>

#include "vgpu/core.h"

static uint64_t wall_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Value for one lane. Clock registers tick once a nanosecond.
static uint64_t value(Warp *w, PtxSreg s, unsigned part, unsigned lane) {
  const Block *b = w->block;
  const Launch *l = w->launch;
  uint32_t cluster[3] = {MAX(l->cluster[0], 1u), MAX(l->cluster[1], 1u), MAX(l->cluster[2], 1u)};
  if (part > 2) return 0;
  switch (s) {
    case SREG_TID: return w->tid[part][lane];
    case SREG_NTID: return l->block[part];
    case SREG_CTAID: return b->ctaid[part];
    case SREG_NCTAID: return l->grid[part];
    case SREG_LANEID: return lane;
    case SREG_WARPID: return w->index;
    case SREG_NWARPID: return 64;
    case SREG_SMID: return b->linear % VGPU_MULTIPROCESSORS;
    case SREG_NSMID: return VGPU_MULTIPROCESSORS;
    case SREG_GRIDID: return l->grid_id;
    case SREG_IS_EXPLICIT_CLUSTER: return l->cluster[0] != 0;
    case SREG_CLUSTERID: return b->ctaid[part] / cluster[part];
    case SREG_NCLUSTERID: return l->grid[part] / cluster[part];
    case SREG_CLUSTER_CTAID: return b->ctaid[part] % cluster[part];
    case SREG_CLUSTER_NCTAID: return cluster[part];
    case SREG_CLUSTER_CTARANK: return b->cluster_rank;
    case SREG_CLUSTER_NCTARANK: return cluster[0] * cluster[1] * cluster[2];
    case SREG_LANEMASK_EQ: return 1u << lane;
    case SREG_LANEMASK_LE: return (2ull << lane) - 1;
    case SREG_LANEMASK_LT: return (1u << lane) - 1;
    case SREG_LANEMASK_GE: return FULL_MASK << lane;
    case SREG_LANEMASK_GT: return (uint32_t)(0xfffffffeull << lane);
    case SREG_CLOCK: return (uint32_t)clock_ns();
    case SREG_CLOCK_HI: return clock_ns() >> 32;
    case SREG_CLOCK64: return clock_ns();
    case SREG_GLOBALTIMER: return wall_ns();
    case SREG_GLOBALTIMER_LO: return (uint32_t)wall_ns();
    case SREG_GLOBALTIMER_HI: return wall_ns() >> 32;
    case SREG_TOTAL_SMEM_SIZE: return l->shared_bytes - SHARED_BASE;
    case SREG_AGGR_SMEM_SIZE: return l->shared_bytes;
    case SREG_DYNAMIC_SMEM_SIZE: return l->request->dynamic_shared;
    case SREG_RESERVED_SMEM_OFFSET_END:
    case SREG_RESERVED_SMEM_OFFSET_CAP: return SHARED_BASE;
    // cooperative groups find the workspace of the grid barrier here: low word, high word
    case SREG_ENVREG1: return (uint32_t)(l->workspace >> 32);
    case SREG_ENVREG2: return (uint32_t)l->workspace;
    default: return 0;
  }
}

static unsigned component(PtxSelector s) {
  return s >= SEL_X && s <= SEL_W ? (unsigned)(s - SEL_X) : 0;
}

static const Inst *exec_read_sreg(Warp *w, const Inst *in) {
  unsigned part = component((PtxSelector)in->flag[0]);
  uint64_t v[LANES];
  bool clock = in->imm >= SREG_CLOCK && in->imm <= SREG_CLOCK64;
  clock |= in->imm >= SREG_GLOBALTIMER && in->imm <= SREG_GLOBALTIMER_HI;
  if (clock) {  // one reading for the warp; a loop on a clock is a wait
    uint64_t t = value(w, (PtxSreg)in->imm, part, 0);
    for (unsigned i = 0; i < LANES; i++) v[i] = t;
    vgpu_poll(w);
  } else if (in->imm != SREG_TID && in->imm != SREG_LANEID &&
             !(in->imm >= SREG_LANEMASK_EQ && in->imm <= SREG_LANEMASK_GT)) {
    uint64_t same = value(w, (PtxSreg)in->imm, part, 0);
    if (in->flag[1] == 4) {
      ELEMENTWISE(w, uint32_t, in->d, i, (uint32_t)same);
      return in + 1;
    }
    for (unsigned i = 0; i < LANES; i++) v[i] = same;
  } else {
    for (unsigned i = 0; i < LANES; i++) v[i] = value(w, (PtxSreg)in->imm, part, i);
  }
  switch (in->flag[1]) {
    case 0: pred_write(w, in->d, w->exec, v[0] ? FULL_MASK : 0); break;
    case 2: ELEMENTWISE(w, uint16_t, in->d, i, v[i]); break;
    case 4: ELEMENTWISE(w, uint32_t, in->d, i, v[i]); break;
    default: ELEMENTWISE(w, uint64_t, in->d, i, v[i]); break;
  }
  return in + 1;
}

// --- where a thread is, in 32 bits: every kernel begins with these ---
#define PLACE(name, VALUE) \
  static const Inst *read_##name(Warp *w, const Inst *in) { \
    unsigned part = component((PtxSelector)in->flag[0]); \
    uint32_t same = VALUE; \
    ELEMENTWISE(w, uint32_t, in->d, i, same); \
    return in + 1; \
  }
PLACE(ntid, w->launch->block[part])
PLACE(ctaid, w->block->ctaid[part])
PLACE(nctaid, w->launch->grid[part])

static const Inst *read_tid(Warp *w, const Inst *in) {
  const uint32_t *t = w->tid[component((PtxSelector)in->flag[0])];
  ELEMENTWISE(w, uint32_t, in->d, i, t[i]);
  return in + 1;
}

ExecFn *sreg_exec(PtxSreg s, PtxSelector part, unsigned width) {
  if (width != 4 || component(part) > 2) return exec_read_sreg;
  switch (s) {
    case SREG_TID: return read_tid;
    case SREG_NTID: return read_ntid;
    case SREG_CTAID: return read_ctaid;
    case SREG_NCTAID: return read_nctaid;
    default: return exec_read_sreg;
  }
}

static void write_address(Warp *w, const Inst *in, uint64_t address) {
  if (in->flag[1] == 4) ELEMENTWISE(w, uint32_t, in->d, i, address);
  else ELEMENTWISE(w, uint64_t, in->d, i, address);
}

const Inst *exec_local_address(Warp *w, const Inst *in) {
  write_address(w, in, w->frame->local_base + in->imm);
  return in + 1;
}

const Inst *exec_param_address(Warp *w, const Inst *in) {
  write_address(w, in, (uint64_t)w->launch->params + in->imm);
  return in + 1;
}

uint64_t vgpu_launch_params(const Warp *w) { return (uint64_t)w->launch->params; }
