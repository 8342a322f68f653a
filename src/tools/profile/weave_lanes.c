// Counts sectors and lines of requests whose lanes are a fixed distance apart, for any set of
// active lanes.
//
// Addresses grow (or fall) from lane to lane, so a lane begins a new sector if the active lane
// before it is in another one. If the code determines the distance, that lane's address need not be
// exchanged. In loops each lane adds the sectors it begins to registers of its own, and their sum
// goes to memory when the loop is left. Elsewhere the warp counts at once, and adds to memory only
// the difference to a full, aligned warp. There is no branch and no call: the compiler may still
// issue loads together.
#include "tools/profile/internal.h"

enum { MOST_BACKS = 6, SECTOR = 32, LINE = 128 };

struct LanesHere {
  PtxReg *lanes, *leads;  // lanes of the block; the lowest of them in a measured launch
  PtxReg *distance;       // to the active lane before this one
  PtxReg *before;         // number of that lane; in the lowest lane: its own
  PtxReg *backs[MOST_BACKS];
  int64_t strides[MOST_BACKS];
  uint32_t nbacks;
};

// The place of the test for a full warp: the beginning of the block, or code out of line.
static Code *block_begin(const Profiling *w, uint32_t block) {
  Code *c = w->here_at ? w->here_at : body_before(w->body, w->body->cfg->blocks[block].first);
  code_guard(c, NULL, false);
  return c;
}

// Computes the active lanes of the block, once for all its accesses.
static LanesHere *lanes_here(Profiling *w, uint32_t block) {
  if (w->here) return w->here;
  Body *b = w->body;
  LanesHere *h = w->here = ARENA_NEW(&b->cfg->arena, LanesHere);
  Code *c = block_begin(w, block);
  PtxReg *below = body_reg(b, TYPE_B32);
  h->lanes = w->counting->lanes && !w->here_at ? w->counting->lanes[block] : NULL;
  h->leads = body_reg(b, TYPE_PRED);
  h->distance = body_reg(b, TYPE_B32);
  h->before = body_reg(b, TYPE_B32);
  if (!h->lanes) {
    h->lanes = body_reg(b, TYPE_B32);
    EMIT(c, "activemask.b32", opd_reg(h->lanes));
  }
  EMIT(c, "and.b32", opd_reg(below), opd_reg(h->lanes), opd_reg(w->counting->lower));
  EMIT(c, "setp.eq.u32", opd_reg(h->leads), opd_reg(below), opd_imm(0));
  EMIT(c, "bfind.u32", opd_reg(h->before), opd_reg(below));
  EMIT(c, "sub.s32", opd_reg(h->distance), opd_reg(w->lane), opd_reg(h->before));
  EMIT(c, "selp.b32", opd_reg(h->before), opd_reg(w->lane), opd_reg(h->before), opd_reg(h->leads));
  return h;
}

// The distance to the address of the active lane before; if there is none, a distance beyond one
// line.
static PtxReg *lanes_back(Profiling *w, uint32_t block, int64_t stride) {
  LanesHere *h = lanes_here(w, block);
  for (uint32_t i = 0; i < h->nbacks; i++)
    if (h->strides[i] == stride) return h->backs[i];
  Body *b = w->body;
  Code *c = block_begin(w, block);
  PtxReg *back = body_reg(b, TYPE_B32);
  EMIT(c, "mul.lo.s32", opd_reg(back), opd_reg(h->distance), opd_imm(stride));
  EMIT(c, "selp.b32", opd_reg(back), opd_imm(LINE), opd_reg(back), opd_reg(h->leads));
  if (h->nbacks < MOST_BACKS) {
    h->strides[h->nbacks] = stride;
    h->backs[h->nbacks++] = back;
  }
  return back;
}

// The lower half of the address; its constant offset only counts modulo a line.
static PtxReg *low_address(Profiling *w, Code *c, const PtxOperand *address) {
  Body *b = w->body;
  PtxReg *low = body_temp(b, TYPE_B32, 3), *wide = body_temp(b, TYPE_B64, 3);
  const PtxOperand *base = &address->list[0];
  int64_t offset = 0;
  if (base->kind == OPD_REG && ptx_type_size(base->reg->type) == 8) {
    EMIT(c, "cvt.u32.u64", opd_reg(low), *base);
    offset = address->imm & (LINE - 1);
  } else {
    access_address(c, wide, address);
    EMIT(c, "cvt.u32.u64", opd_reg(low), opd_reg(wide));
  }
  if (offset) EMIT(c, "add.s32", opd_reg(low), opd_reg(low), opd_imm(offset));
  return low;
}

// The bits in which the addresses of this lane and of the one before differ: 32 or more if it
// begins a sector, 128 or more if it begins a line. In the lowest lane of WIDE accesses: 0.
static void differing_bits(Profiling *w, Code *c, LaneSite *k) {
  Body *b = w->body;
  const ProfileSite *s = &w->profile->sites.data[k->site];
  PtxReg *low = low_address(w, c, &k->address), *before = body_temp(b, TYPE_B32, 2);
  bool waits = (!k->known[0] && !k->kept[0]) || (!k->known[1] && !k->kept[1]);
  k->bits = waits ? body_reg(b, TYPE_B32) : body_temp(b, TYPE_B32, 4);
  if (s->mode == SITE_WIDE) {
    LanesHere *h = lanes_here(w, k->block);
    EMIT(c, "shfl.sync.idx.b32", opd_reg(before), opd_reg(low), opd_reg(h->before), opd_imm(31),
         opd_reg(h->lanes));
  } else {
    EMIT(c, "sub.s32", opd_reg(before), opd_reg(low), opd_reg(lanes_back(w, k->block, s->stride)));
  }
  EMIT(c, "xor.b32", opd_reg(k->bits), opd_reg(low), opd_reg(before));
}

static PtxReg *begins(Profiling *w, Code *c, const LaneSite *k, bool lines) {
  PtxReg *p = body_temp(w->body, TYPE_PRED, 2);
  PtxOperand bits = opd_reg(k->bits), least = opd_imm(lines ? LINE : SECTOR);
  if (w->profile->sites.data[k->site].mode == SITE_WIDE)
    EMIT(c, "setp.ge.or.u32", opd_reg(p), bits, least, opd_reg(lanes_here(w, k->block)->leads));
  else EMIT(c, "setp.ge.u32", opd_reg(p), bits, least);
  return p;
}

bool lanes_want(const Profiling *w, const LaneSite *k) {
  const ProfileSite *s = &w->profile->sites.data[k->site];
  return s->mode == SITE_WIDE || abs(s->stride) >= LINE ||
         count_loops_has_room(w->counting, k->block, 2);
}

void lanes_at_access(Profiling *w, LaneSite *k, uint32_t i) {
  ProfileSite *s = &w->profile->sites.data[k->site];
  int64_t stride = s->mode == SITE_WIDE ? 0 : s->stride < 0 ? -(int64_t)s->stride : s->stride;
  Counting *counting = w->counting;
  lanes_here(w, k->block);
  for (unsigned lines = 0; lines < 2; lines++) {
    // lanes that far apart each have one of their own
    k->known[lines] = stride >= (lines ? LINE : SECTOR);
    s->from[lines] = k->known[lines] || s->mode == SITE_WIDE ? FROM_THREADS : FROM_REQUESTS;
    if (k->known[lines]) continue;
    k->kept[lines] = count_loops_lanes_register(
        counting, k->block, s->slot + (lines ? SLOT_EXTRA_LINES : SLOT_EXTRA_UNITS));
    if (k->kept[lines]) s->from[lines] = FROM_NOTHING;
  }
  if (k->known[0] && k->known[1]) return;
  if (s->mode != SITE_WIDE) lanes_back(w, k->block, s->stride);
  Code *c = body_before(w->body, i);
  code_guard(c, NULL, false);
  differing_bits(w, c, k);
  for (unsigned lines = 0; lines < 2; lines++) {
    if (!k->kept[lines]) continue;
    PtxReg *p = begins(w, c, k, lines);
    code_guard(c, p, false);
    EMIT(c, "add.u32", opd_reg(k->kept[lines]), opd_reg(k->kept[lines]), opd_imm(1));
    code_guard(c, NULL, false);
  }
}

// Outside of loops, at the end of the block: adds only the difference to a full, aligned warp.
static void add_difference(Profiling *w, Code *c, const LaneSite *k, bool lines) {
  Body *b = w->body;
  const ProfileSite *s = &w->profile->sites.data[k->site];
  const LanesHere *h = lanes_here(w, k->block);
  PtxReg *p = begins(w, c, k, lines), *n = body_temp(b, TYPE_B32, 2),
         *usual = body_temp(b, TYPE_B32, 3), *wide = body_temp(b, TYPE_B64, 3);
  uint32_t counter = s->slot + (lines ? SLOT_EXTRA_LINES : SLOT_EXTRA_UNITS);
  EMIT(c, "vote.sync.ballot.b32", opd_reg(n), opd_reg(p), opd_reg(h->lanes));
  EMIT(c, "popc.b32", opd_reg(n), opd_reg(n));
  if (s->from[lines] == FROM_THREADS) EMIT(c, "popc.b32", opd_reg(usual), opd_reg(h->lanes));
  else EMIT(c, "mov.u32", opd_reg(usual), opd_imm(lines ? s->lines : s->units));
  EMIT(c, "sub.s32", opd_reg(n), opd_reg(n), opd_reg(usual));
  EMIT(c, "setp.ne.and.s32", opd_reg(p), opd_reg(n), opd_imm(0), opd_reg(h->leads));
  EMIT(c, "cvt.s64.s32", opd_reg(wide), opd_reg(n));
  code_guard(c, p, false);
  EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(w->counting->counters), counter * 8ll),
       opd_reg(wide));
  code_guard(c, NULL, false);
}

void lanes_out_of_line(Profiling *w, Code *cold, LaneSite *k) {
  // The values it computes are valid in this branch only.
  w->here = NULL;
  w->here_at = cold;
  differing_bits(w, cold, k);
  lanes_at_end(w, cold, k);
  w->here_at = NULL;
  w->here = NULL;
}

void lanes_at_end(Profiling *w, Code *c, const LaneSite *k) {
  for (unsigned lines = 0; lines < 2; lines++)
    if (!k->known[lines] && !k->kept[lines]) add_difference(w, c, k, lines);
}
