// Loops that come back to where they were.
//
// Each look at a warp compares the state that decides about its outermost loop (ir/decides.c) with
// the states of the last looks. If one is equal, and the memory that the loop reads cannot have
// changed, the loop will never end: `i = next[i]` in a list that has a circle, `n = (n + 1) / 2`
// until n is 0.
#include "vgpu/core.h"

enum { REMEMBERED = 64 };
struct Past {
  uint64_t loop, states[REMEMBERED];
  uint32_t n, stores;
  bool circles, several;
};

struct Past *past_new(uint32_t nwarps) {
  return mem_alloc((nwarps + 1) * sizeof(struct Past));
}
struct Past *past_of(struct Past *p, uint32_t warp) {
  return p + warp;
}
bool past_goes_round(const struct Past *first, uint32_t warp) {
  return first[warp].circles && first[warp].several;
}

uint32_t watch_number_of(const IrCfg *c, const PtxInstr *in) {
  for (uint32_t i = 0; i < c->ninstrs; i++)
    if (c->instrs[i] == in) return i;
  return IR_NONE;
}

// Made once for each place that warps are preempted at.
typedef struct Deciding {
  bool known, reads;
  uint64_t loop;
  uint32_t n, *slots;
  uint8_t *widths;
} Deciding;

static void find_deciding(Code *code, const PtxInstr *at, Deciding *d) {
  Error err = {{0}};
  IrCfg *c = ir_cfg_build(code->func, &err);
  uint32_t n = c ? watch_number_of(c, at) : IR_NONE,
           loop = n == IR_NONE ? IR_NONE : c->blocks[c->block_of[n]].loop;
  while (loop != IR_NONE && c->loops[loop].parent != IR_NONE) loop = c->loops[loop].parent;
  IrDeciding found;
  d->known = loop != IR_NONE && ir_loop_decides(c, loop, n, &code->arena, &found);
  if (d->known) {
    d->loop = (uint64_t)code + loop + 1;
    d->reads = found.reads;
    d->slots = ARENA_ARRAY(&code->arena, uint32_t, found.n + 1);
    d->widths = ARENA_ARRAY(&code->arena, uint8_t, found.n + 1);
    for (uint32_t i = 0; i < found.n; i++) {
      uint32_t slot = code->slots[found.regs[i]->id];
      if (slot == UINT32_MAX) continue;
      d->slots[d->n] = slot;
      d->widths[d->n++] = (uint8_t)slot_width(found.regs[i]->type);
    }
  }
  ir_cfg_free(c);
}

static const Deciding *deciding_at(Code *code, const Inst *pc) {
  static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&cache);
  uint64_t key = (uint64_t)pc | 1;  // beside what watch.c keeps of the same place
  Deciding *d = u64map_get(&code->deciding, key);
  if (!d) {
    d = ARENA_NEW(&code->arena, Deciding);
    u64map_put(&code->deciding, key, d);
    if (pc->src) find_deciding(code, pc->src, d);
  }
  pthread_mutex_unlock(&cache);
  return d;
}

static uint64_t add_lanes(uint64_t h, const char *slot, unsigned width, uint32_t mask) {
  // predicates: a bit for each lane
  if (!width) return watch_mix(h, *(const uint32_t *)slot & mask);
  FOR_LANES(l, mask)
    for (unsigned k = 0; k < width; k += 2)
      h = watch_mix(h, *(const uint16_t *)(slot + l * width + k));
  return h;
}

// Callers do not move while their callee runs, but each call may pass other values.
static uint64_t add_callers(uint64_t h, const Frame *f) {
  for (f = f->parent; f; f = f->parent) h = watch_add_registers(h, f);
  return h;
}

typedef struct State {
  uint64_t loop, state;
  bool reads;
} State;
static bool find_state(const Warp *w, State *s) {
  *s = (State){0};
  for (uint32_t i = 0; i < w->nfrags; i++) {
    const Fragment *f = &w->frags[i];
    uint64_t h = watch_mix(watch_mix(f->mask, (uint64_t)f->pc), f->state);
    if (f->state == FRAG_READY) {
      const Deciding *d = f->frame->probe ? NULL
                                          : deciding_at((Code *)f->frame->code, watch_at(f->pc));
      if (!d || !d->known) return false;
      for (uint32_t k = 0; k < d->n; k++)
        h = add_lanes(h, f->frame->regs + d->slots[k], d->widths[k], f->mask);
      h = add_callers(h, f->frame);
      s->loop += d->loop;
      s->reads |= d->reads;
    }
    s->state += h;  // fragments in any order
  }
  return s->loop != 0;
}

bool past_circles(struct Past *first, uint32_t warp, const Warp *w) {
  struct Past *p = &first[warp];
  State now;
  for (uint32_t i = 0; i < w->nfrags; i++)
    if (w->frags[i].frame->probe) return p->circles;  // it will be seen in its loop another time
  if (!find_state(w, &now)) {
    *p = (struct Past){0};
    return false;
  }
  if (p->loop != now.loop || (now.reads && p->stores != w->stores))
    *p = (struct Past){.loop = now.loop, .stores = w->stores};
  for (uint32_t i = 0; i < MIN(p->n, (uint32_t)REMEMBERED) && !p->circles; i++)
    p->circles = p->states[i] == now.state;
  p->several |= p->n && p->states[(p->n - 1) % REMEMBERED] != now.state;
  p->states[p->n++ % REMEMBERED] = now.state;
  return p->circles;
}
