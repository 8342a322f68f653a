// Facts about requests that follow from the code alone: how many sectors or wavefronts a full warp
// takes, which accesses could be combined, and which access the same address in each iteration of a
// loop.
#include "tools/profile/internal.h"

enum { WARP = 32, SECTOR = 32, LINE = 128, BANK_BYTES = 128, WIDEST = 16 };

static LaneValue address_value(const LaneValue *values, const PtxOperand *address) {
  const PtxOperand *base = &address->list[0];
  if (base->kind == OPD_REG) return values[base->reg->id];
  bool fixed = base->kind == OPD_INT || (base->kind == OPD_VAR && base->var->space != SPACE_LOCAL);
  return (LaneValue){fixed ? LANES_SAME : LANES_ANY, 0, 0};
}

// How many different units of `unit` bytes the lanes touch, from an aligned start. Steps of at most
// one unit skip none.
static uint32_t units_of(uint64_t stride, uint32_t unit) {
  return stride >= unit ? WARP : (uint32_t)((WARP - 1) * stride / unit) + 1;
}

// Wavefronts of a full warp in shared memory, in rows of `length` lanes; 0: they depend on the
// start address.
static uint32_t wavefronts_of(LaneValue v, uint32_t bytes, uint32_t length) {
  uint32_t width = MAX(bytes, 4u), lanes = BANK_BYTES / width, found = 0;
  for (uint32_t start = 0; start < BANK_BYTES; start += bytes) {
    uint32_t sum = 0;
    for (uint32_t phase = 0; phase < WARP; phase += lanes) {
      uint32_t most = 0, nseen = 0, in_bank[WARP] = {0};
      int64_t seen[WARP];
      for (uint32_t lane = phase; lane < phase + lanes; lane++) {
        int64_t at = lane % length * v.stride + lane / length * v.row;
        int64_t granule = ((int64_t)start + (1 << 24) * (int64_t)width + at) / width;
        uint32_t k = 0;
        while (k < nseen && seen[k] != granule) k++;
        if (k < nseen) continue;
        seen[nseen++] = granule;
        uint32_t n = ++in_bank[(uint64_t)granule % lanes];
        most = MAX(most, n);
      }
      sum += most;
    }
    if (found && found != sum) return 0;
    found = sum;
  }
  return found;
}

static bool is_fixed(LaneValue v) { return v.class == LANES_SAME || v.class == LANES_STEP; }

static SiteNeeds find_shared(const Profiling *w, const PtxOperand *address, ProfileSite *site) {
  LaneValue v = address_value(w->rows, address), t = address_value(w->tiles, address);
  if (!is_fixed(v)) return NEEDS_NOTHING;
  uint32_t n = wavefronts_of(v, site->bytes, WARP);
  if (!n) return NEEDS_NOTHING;
  site->lines = WARP / (BANK_BYTES / MAX(site->bytes, 4u));
  site->units = n;
  // one phase, and no conflicts: this also holds with fewer lanes
  site->mode = n == 1 && site->lines == 1 && v.class == LANES_SAME ? SITE_SAME : SITE_KNOWN;
  if (address_value(w->any, address).class == LANES_SAME) return NEEDS_NOTHING;
  bool tiles = is_fixed(t) && wavefronts_of(t, site->bytes, WARP / 2) == n;
  return tiles ? NEEDS_ROWS_OR_TILES : NEEDS_ROWS;
}

SiteNeeds pattern_find(const Profiling *w, const PtxOperand *address, ProfileSite *site) {
  LaneValue v = address_value(w->rows, address);
  uint64_t stride = (uint64_t)(v.stride < 0 ? -v.stride : v.stride);
  site->mode = SITE_LOOKED_AT;
  site->stride = (int32_t)v.stride;
  if (!site->bytes || (site->bytes & (site->bytes - 1)) || site->bytes > WIDEST)
    return NEEDS_NOTHING;
  if (site->space == SITE_SHARED) return find_shared(w, address, site);
  bool moves = site->space == SITE_GLOBAL && site->what != SITE_ATOMIC;
  if (v.class == LANES_SAME) {
    site->mode = SITE_SAME;
    site->units = 1;
    site->lines = 1;
  } else if (moves && v.class == LANES_STEP && stride >= site->bytes) {
    site->mode = SITE_KNOWN;
    site->units = units_of(stride, SECTOR);
    site->lines = units_of(stride, LINE);
  } else if (moves && v.class == LANES_WIDE && address->list[0].kind == OPD_REG) {
    site->mode = SITE_WIDE;
    site->units = site->lines = WARP;
  }
  return address_value(w->any, address).class == v.class ? NEEDS_NOTHING : NEEDS_ROWS;
}

// --- accesses that could be one ---

static bool is_vector(const PtxInstr *in) {
  return ptx_has(in, MOD_V2) || ptx_has(in, MOD_V4) || ptx_has(in, MOD_V8);
}

static const PtxOperand *address_of(const PtxInstr *in) {
  for (unsigned i = 0; i < in->nops; i++)
    if (in->ops[i].kind == OPD_ADDR) return &in->ops[i];
  return NULL;
}

// Whether the second access is `n` elements after the first in memory, and no code between them
// prevents merging the two.
static bool follows(const Profiling *w, const ProfileSite *a, const ProfileSite *b,
                    const uint32_t instrs[2], uint32_t n) {
  const PtxInstr *x = w->body->cfg->instrs[instrs[0]], *y = w->body->cfg->instrs[instrs[1]];
  const PtxOperand *p = address_of(x), *q = address_of(y);
  if (a->block != b->block || a->space != b->space || a->what != b->what || a->bytes != b->bytes ||
      !p || !q || p->list[0].kind != OPD_REG || q->list[0].kind != OPD_REG || is_vector(y))
    return false;
  return p->list[0].reg == q->list[0].reg && q->imm == p->imm + (int64_t)n * a->bytes;
}

void pattern_vectors(const Profiling *w, uint32_t first_site, const uint32_t *instrs) {
  Profile *t = w->profile;
  for (uint32_t i = first_site; i < t->sites.len; i++) {
    ProfileSite *s = &t->sites.data[i];
    const PtxInstr *in = w->body->cfg->instrs[instrs[i - first_site]];
    if (s->space != SITE_GLOBAL || s->what == SITE_ATOMIC || s->mode != SITE_KNOWN ||
        is_vector(in) || s->bytes > 8)
      continue;
    uint32_t n = 1, most = WIDEST / s->bytes;
    for (uint32_t k = first_site; k < t->sites.len && n < most; k++) {
      uint32_t pair[2] = {instrs[i - first_site], instrs[k - first_site]};
      if (!follows(w, s, &t->sites.data[k], pair, n)) continue;
      n++;
      k = first_site - 1;  // an earlier instruction may access the next element
    }
    while (n & (n - 1)) n--;
    const PtxOperand *a = address_of(in);
    // a wide access must begin at a multiple of its size in every lane
    if (n > 1 && s->stride % (int32_t)(n * s->bytes) == 0 && a->imm % (n * s->bytes) == 0)
      s->vector = n;
  }
}

// --- the same address in each iteration of a loop ---

static void writes_register(void *ctx, PtxReg **reg, bool is_def) {
  const PtxReg **wanted = ctx;
  if (is_def && *reg == *wanted) *wanted = NULL;
}

uint32_t pattern_outside(const Profiling *w, uint32_t block, const PtxOperand *address) {
  const IrCfg *cfg = w->body->cfg;
  uint32_t loop = cfg->blocks[block].loop;
  if (loop == IR_NONE || address->list[0].kind != OPD_REG) return COUNT_NONE;
  const IrLoop *l = &cfg->loops[loop];
  const PtxReg *reg = address->list[0].reg;
  for (uint32_t k = 0; k < l->nblocks && reg; k++) {
    const IrBlock *b = &cfg->blocks[l->blocks[k]];
    for (uint32_t i = b->first; i < b->end && reg; i++) {
      if (cfg->instrs[i]->op == OP_BAR || cfg->instrs[i]->op == OP_BARRIER) return COUNT_NONE;
      ptx_visit_regs(cfg->instrs[i], writes_register, &reg);
    }
  }
  if (!reg) return COUNT_NONE;
  uint32_t outside = COUNT_NONE;
  const IrBlock *header = &cfg->blocks[l->header];
  for (uint32_t i = 0; i < header->npred; i++) {
    bool inside = false;
    for (uint32_t k = 0; k < l->nblocks; k++) inside |= l->blocks[k] == header->pred[i];
    if (inside) continue;
    if (outside != COUNT_NONE) return COUNT_NONE;
    outside = w->counting->entry[header->pred[i]];
  }
  return outside;
}
