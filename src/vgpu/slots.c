// Registers -> slots by linear scan over the decoded order. An interval is everything from the
// first to the last position where the register is live, so a slot is shared only by registers that
// are never live together.
#include "vgpu/core.h"

unsigned slot_width(PtxType t) {
  if (ptx_type_kind(t) == KIND_PRED) return 0;
  unsigned n = ptx_type_size(t);
  return n <= 2 ? 2 : n <= 4 ? 4 : n <= 8 ? 8 : 16;
}

typedef struct Interval {
  uint32_t reg, start, end;
} Interval;
typedef struct Scan {
  uint32_t position;
  Interval *iv;
  bool share;
} Scan;

static void touch(Interval *iv, uint32_t at) {
  if (at < iv->start) iv->start = at;
  if (at > iv->end) iv->end = at;
}

static void visit(void *ctx, PtxReg **reg, bool is_def) {
  Scan *s = ctx;
  // Positions are even; a source that may not share its slot with the destination lives one step
  // longer.
  touch(&s->iv[(*reg)->id], is_def ? s->position + 1 : s->share ? s->position : s->position + 1);
}

// Operations whose execute function reads element i of every source before it writes element i of
// its only result.
static bool may_share(const PtxInstr *in) {
  switch (in->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_MAD:
    case OP_FMA:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHL:
    case OP_SHR:
    case OP_MIN:
    case OP_MAX:
    case OP_NEG:
    case OP_ABS:
    case OP_NOT:
    case OP_SELP:
    case OP_DIV:
    case OP_RCP:
    case OP_SQRT: return in->nops && in->ops[0].kind == OPD_REG;
    default: return false;
  }
}

static int by_start(const void *a, const void *b) {
  const Interval *x = a, *y = b;
  return x->start != y->start ? (x->start < y->start ? -1 : 1)
                              : (x->reg < y->reg ? -1 : x->reg > y->reg);
}

static void live_across(const uint64_t *set, uint32_t words, Interval *iv, uint32_t at) {
  for (uint32_t w = 0; w < words; w++)
    for (uint64_t bits = set[w]; bits; bits &= bits - 1)
      touch(&iv[w * 64 + (uint32_t)__builtin_ctzll(bits)], at);
}

static unsigned class_of(const PtxReg *r) {
  unsigned w = slot_width(r->type);
  return w == 0 ? 0 : w == 2 ? 1 : w == 4 ? 2 : w == 8 ? 3 : 4;
}
static const uint32_t class_bytes[5] = {16, 2 * LANES, 4 * LANES, 8 * LANES, 16 * LANES};

// Puts the registers that instrumentation added behind the others; both stay in order. *n: how many
// are used at all.
static uint32_t move_probes(const PtxFunc *f, Interval *iv, uint32_t *n) {
  uint32_t kept = 0, probes = 0;
  while (*n < f->nregs && iv[*n].start != UINT32_MAX) ++*n;
  Interval *aside = mem_alloc((*n + 1) * sizeof *aside);
  for (uint32_t k = 0; k < *n; k++) {
    if (!strncmp(f->regs[iv[k].reg]->name, "%wgp", 4)) aside[probes++] = iv[k];
    else iv[kept++] = iv[k];
  }
  memcpy(iv + kept, aside, probes * sizeof *aside);
  free(aside);
  return kept;
}

void slots_assign(const IrCfg *cfg, SlotMap *out, Arena *arena) {
  PtxFunc *f = cfg->func;
  IrLiveness *live = ir_liveness_build(cfg);
  Interval *iv = mem_alloc((f->nregs + 1) * sizeof *iv);
  for (uint32_t i = 0; i < f->nregs; i++) iv[i] = (Interval){i, UINT32_MAX, 0};
  Scan s = {.iv = iv};
  for (uint32_t o = 0; o < cfg->norder; o++) {
    uint32_t b = cfg->order[o];
    live_across(live->live_in[b], live->words, iv, s.position);
    s.position += 2;
    for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++, s.position += 2) {
      s.share = may_share(cfg->instrs[i]);
      ptx_visit_regs(cfg->instrs[i], visit, &s);
    }
    live_across(live->live_out[b], live->words, iv, s.position);
    s.position += 2;
  }
  ir_liveness_free(live);

  out->slot = ARENA_ARRAY(arena, uint32_t, f->nregs + 1);
  for (uint32_t i = 0; i < f->nregs; i++) out->slot[i] = UINT32_MAX;
  qsort(iv, f->nregs, sizeof *iv, by_start);
  // per class: free slots, and the active intervals' (end, slot) as a binary heap by end
  typedef struct {
    uint32_t end, slot;
  } Active;
  VEC(Active) active[5] = {{0}};
  VEC(uint32_t) free_slots[5] = {{0}};
  // Predicates are placed apart from the others, so that vector slots start on cache lines. Slot 0
  // is the carry flag.
  uint32_t pred_bytes = 16, bytes = 0, now32 = 0;
  // Registers of probes come last and share no slot with the program's: what the program is told it
  // needs stays the same.
  uint32_t n = 0, first_probe = move_probes(f, iv, &n), program32 = 0;
  for (uint32_t k = 0; k < n; k++) {
    const PtxReg *r = f->regs[iv[k].reg];
    unsigned c = class_of(r);
    if (k == first_probe) {
      program32 = now32;
      for (unsigned i = 0; i < 5; i++) active[i].len = free_slots[i].len = 0;
    }
    // vector registers (.reg .v4) take consecutive slots and are not recycled
    if (r->vector) {
      out->slot[iv[k].reg] = bytes;
      bytes += class_bytes[c] * r->vector;
      now32 += r->vector;
      continue;
    }
    while (active[c].len && active[c].data[0].end < iv[k].start) {
      vec_push(&free_slots[c], active[c].data[0].slot);
      Active last = active[c].data[--active[c].len];
      uint32_t i = 0, n = active[c].len;
      for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n) break;
        if (child + 1 < n && active[c].data[child + 1].end < active[c].data[child].end) child++;
        if (active[c].data[child].end >= last.end) break;
        active[c].data[i] = active[c].data[child];
        i = child;
      }
      if (n) active[c].data[i] = last;
    }
    uint32_t slot;
    if (free_slots[c].len) slot = free_slots[c].data[--free_slots[c].len];
    else if (c == 0) slot = pred_bytes, pred_bytes += class_bytes[c];
    else slot = bytes, bytes += class_bytes[c], now32 += c < 3 ? 1 : c == 3 ? 2 : 4;
    out->slot[iv[k].reg] = slot;
    vec_push(&active[c], (Active){iv[k].end, slot});
    for (uint32_t i = active[c].len - 1; i > 0;) {
      uint32_t parent = (i - 1) / 2;
      if (active[c].data[parent].end <= active[c].data[i].end) break;
      Active t = active[c].data[parent];
      active[c].data[parent] = active[c].data[i];
      active[c].data[i] = t;
      i = parent;
    }
  }
  for (unsigned c = 0; c < 5; c++) {
    vec_free(&active[c]);
    vec_free(&free_slots[c]);
  }
  free(iv);
  pred_bytes = (pred_bytes + 63) & ~63u;
  for (uint32_t i = 0; i < f->nregs; i++)
    if (out->slot[i] != UINT32_MAX && class_of(f->regs[i]) != 0) out->slot[i] += pred_bytes;
  out->bytes = pred_bytes + bytes;
  out->nregs32 = first_probe < n ? program32 : now32;
}
