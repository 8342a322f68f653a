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

// Puts the registers that instrumentation added after the others; both stay in order. *n: how many
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

// From where to where each register is live, in positions of the function.
static Interval *find_intervals(const IrCfg *cfg) {
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
  return iv;
}

// Slots of one width: those that are free, and those in use as a binary heap by the end of their
// interval.
typedef struct Active {
  uint32_t end, slot;
} Active;
typedef struct SlotClass {
  VEC(Active) active;
  VEC(uint32_t) unused;
} SlotClass;

static void release_until(SlotClass *c, uint32_t start) {
  while (c->active.len && c->active.data[0].end < start) {
    vec_push(&c->unused, c->active.data[0].slot);
    Active last = c->active.data[--c->active.len];
    uint32_t i = 0, n = c->active.len;
    for (;;) {
      uint32_t child = 2 * i + 1;
      if (child >= n) break;
      if (child + 1 < n && c->active.data[child + 1].end < c->active.data[child].end) child++;
      if (c->active.data[child].end >= last.end) break;
      c->active.data[i] = c->active.data[child];
      i = child;
    }
    if (n) c->active.data[i] = last;
  }
}

static void occupy(SlotClass *c, uint32_t end, uint32_t slot) {
  vec_push(&c->active, (Active){end, slot});
  for (uint32_t i = c->active.len - 1; i > 0;) {
    uint32_t parent = (i - 1) / 2;
    if (c->active.data[parent].end <= c->active.data[i].end) break;
    Active t = c->active.data[parent];
    c->active.data[parent] = c->active.data[i];
    c->active.data[i] = t;
    i = parent;
  }
}

void slots_assign(const IrCfg *cfg, SlotMap *out, Arena *arena) {
  PtxFunc *f = cfg->func;
  Interval *iv = find_intervals(cfg);
  out->slot = ARENA_ARRAY(arena, uint32_t, f->nregs + 1);
  for (uint32_t i = 0; i < f->nregs; i++) out->slot[i] = UINT32_MAX;
  qsort(iv, f->nregs, sizeof *iv, by_start);
  SlotClass classes[5] = {0};
  // Predicates are placed apart from the others, so that vector slots start on cache lines. Slot 0
  // is the carry flag.
  uint32_t pred_bytes = 16, bytes = 0, now32 = 0;
  // Registers of probes come last and share no slot with the program's: the number of registers
  // that the program sees stays the same.
  uint32_t n = 0, first_probe = move_probes(f, iv, &n), program32 = 0, program_preds = 0,
           program_bytes = 0;
  for (uint32_t k = 0; k < n; k++) {
    const PtxReg *r = f->regs[iv[k].reg];
    unsigned width = class_of(r);
    SlotClass *c = &classes[width];
    if (k == first_probe) {
      program32 = now32;
      program_preds = pred_bytes;
      program_bytes = bytes;
      for (unsigned i = 0; i < 5; i++) classes[i].active.len = classes[i].unused.len = 0;
    }
    // vector registers (.reg .v4) take consecutive slots and are not recycled
    if (r->vector) {
      out->slot[iv[k].reg] = bytes;
      bytes += class_bytes[width] * r->vector;
      now32 += r->vector;
      continue;
    }
    release_until(c, iv[k].start);
    uint32_t slot;
    if (c->unused.len) slot = c->unused.data[--c->unused.len];
    else if (width == 0) {
      slot = pred_bytes;
      pred_bytes += class_bytes[width];
    } else {
      slot = bytes;
      bytes += class_bytes[width];
      now32 += width < 3 ? 1 : width == 3 ? 2 : 4;
    }
    out->slot[iv[k].reg] = slot;
    occupy(c, iv[k].end, slot);
  }
  for (unsigned c = 0; c < 5; c++) {
    vec_free(&classes[c].active);
    vec_free(&classes[c].unused);
  }
  free(iv);
  if (first_probe == n) {
    program32 = now32;
    program_preds = pred_bytes;
    program_bytes = bytes;
  }
  pred_bytes = (pred_bytes + 63) & ~63u;
  for (uint32_t i = 0; i < f->nregs; i++)
    if (out->slot[i] != UINT32_MAX && class_of(f->regs[i]) != 0) out->slot[i] += pred_bytes;
  out->bytes = pred_bytes + bytes;
  out->nregs32 = program32;
  out->program[0] = (RegRange){0, program_preds};
  out->program[1] = (RegRange){pred_bytes, pred_bytes + program_bytes};
}
