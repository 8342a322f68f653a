// Control flow of a warp: divergence, reconvergence, calls.
//
// Lanes of a warp that stand at different places are fragments. Of the ready fragments the one with
// the deepest call stack runs first; of several, the one at the lowest place in the code. Blocks
// are laid out so that a fragment waits at a place that the others will reach (Collange's
// MinSP-MinPC). Fragments at the same instruction of the same frame merge, at exec_join, at returns
// and when they are picked. A fragment that spins without end is preempted (budget) and the next
// one runs in turn for a while (`fair`), so lanes that wait for lanes of their own warp make
// progress.
#include "vgpu/core.h"

// The place where a stored fragment continues: past the join that it would execute first, so that
// equal places are equal pointers.
static const Inst *settle(const Inst *pc) { return is_join(pc) ? pc + 1 : pc; }

static void save(Warp *w, const Inst *pc) {
  Fragment *f = &w->frags[w->current];
  f->pc = pc;
  f->mask = w->active;
}

static const Inst *load(Warp *w, uint32_t i) {
  Fragment *f = &w->frags[i];
  w->current = i;
  w->active = w->exec = f->mask;
  w->frame = f->frame;
  w->regs = f->frame->regs;
  return f->pc;
}

static void remove_fragment(Warp *w, uint32_t i) {
  uint32_t last = --w->nfrags;
  if (i != last) w->frags[i] = w->frags[last];
  if (w->current == last) w->current = i;
}

static void merge_ready(Warp *w, uint32_t i) {
  for (uint32_t j = 0; j < w->nfrags; j++) {
    Fragment *f = &w->frags[i], *g = &w->frags[j];
    if (i == j || g->state != FRAG_READY || f->pc != g->pc || f->frame != g->frame ||
        f->resumed != g->resumed)
      continue;
    if (f->resumed && f->result != g->result) continue;
    f->mask |= g->mask;
    uint32_t last = w->nfrags - 1;
    remove_fragment(w, j);
    if (i == last) i = j;
    j = UINT32_MAX;  // indices moved: look again
  }
  w->current = i;
}

static bool runs_before(const Fragment *a, const Fragment *b) {
  if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
  return a->pc < b->pc;
}

static uint32_t best_ready(const Warp *w) {
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < w->nfrags; i++)
    if (w->frags[i].state == FRAG_READY &&
        (best == UINT32_MAX || runs_before(&w->frags[i], &w->frags[best])))
      best = i;
  return best;
}

// The running fragment goes on at pc; merge, and let the one that should run first run.
static const Inst *reschedule(Warp *w, const Inst *pc) {
  save(w, pc);
  merge_ready(w, w->current);
  if (w->fair) return load(w, w->current);
  uint32_t i = best_ready(w);
  merge_ready(w, i);
  return load(w, w->current);
}

bool warp_pick(Warp *w) {
  uint32_t i = UINT32_MAX;
  if (w->nfrags == 1) {  // nothing to choose or to merge
    w->rotate = w->fair = false;
    if (w->frags[0].state != FRAG_READY) return false;
    load(w, 0);
    return true;
  }
  if (w->rotate) {  // the last fragment used up its budget: the next ready one in turn
    for (uint32_t k = 1; k <= w->nfrags; k++) {
      uint32_t c = (w->current + k) % w->nfrags;
      if (w->frags[c].state == FRAG_READY) {
        i = c;
        break;
      }
    }
    w->fair = true;
  } else {
    i = best_ready(w);
    w->fair = false;
  }
  w->rotate = false;
  if (i == UINT32_MAX) return false;
  merge_ready(w, i);
  if (w->nfrags == 1) w->fair = false;
  load(w, w->current);
  return true;
}

static const Inst *preempt(Warp *w, const Inst *next) {
  save(w, settle(next));
  // Rotate when it looks like waiting for other lanes; plain long loops keep their lanes together
  // for longer.
  if (w->nfrags > 1 && (w->polls || ++w->expired >= 16)) {
    w->rotate = true;
    w->expired = 0;
  }
  return NULL;
}

const Inst *vgpu_yield(Warp *w, const Inst *next) {
  w->unspent += MAX(w->budget, 0);
  w->budget = -1;
  return preempt(w, next);
}

const Inst *vgpu_give_way(Warp *w, const Inst *next) {
  w->unspent += MAX(w->budget, 0);
  w->budget = -1;
  if (next > w->frame->code->insts && next[-1].fn == region_enter) next--;
  save(w, settle(next));
  return NULL;
}

static inline const Inst *go(Warp *w, const Inst *from, const Inst *to) {
  if (to <= from && --w->budget < 0) return preempt(w, to);
  return to;
}

const Inst *exec_nop(Warp *w, const Inst *in) { return in + 1; }

const Inst *exec_join(Warp *w, const Inst *in) {
  if (__builtin_expect(w->nfrags == 1, 1)) return in + 1;
  return reschedule(w, in + 1);
}

const Inst *exec_jump(Warp *w, const Inst *in) { return go(w, in, in->target); }

// Splits off lanes of the running fragment as a new one at pc.
static void split(Warp *w, uint32_t lanes, const Inst *pc) {
  CHECK(w->nfrags < LANES);
  w->frags[w->nfrags++] = (Fragment){
      .mask = lanes, .state = FRAG_READY, .pc = settle(pc), .frame = w->frame};
  w->active &= ~lanes;
  w->exec &= ~lanes;
  w->frags[w->current].mask = w->active;
}

void warp_split_lanes(Warp *w, const Inst *pc, uint32_t lanes) { split(w, lanes, pc); }

const Inst *exec_branch(Warp *w, const Inst *in) {
  uint32_t p = PRED(w, in->guard);
  uint32_t taken = (in->guard_negated ? ~p : p) & w->active;
  if (taken == 0) return in + 1;
  if (taken == w->active) return go(w, in, in->target);
  split(w, taken, in->target);
  if (in->target <= in && --w->budget < 0) return preempt(w, in + 1);
  return reschedule(w, settle(in + 1));
}

const Inst *exec_branch_indexed(Warp *w, const Inst *in) {
  const Inst *const *table = in->ptr;
  const uint32_t *index = REG(w, uint32_t, in->a);
  uint32_t skipped = w->active & ~w->exec;
  if (skipped) split(w, skipped, in + 1);
  const Inst *mine = NULL;
  uint32_t rest = w->active;
  while (rest) {
    uint32_t first = (uint32_t)__builtin_ctz(rest), same = 0;
    FOR_LANES(i, rest)
      if (index[i] == index[first]) same |= 1u << i;
    if (index[first] >= in->b)
      return vgpu_fault(w, in, VGPU_TRAP, first, 0, "branch index %u is past the %u targets",
                        index[first], in->b);
    const Inst *to = table[index[first]];
    rest &= ~same;
    if (rest == 0) mine = to;
    else split(w, same, to);
  }
  if (w->nfrags == 1) return go(w, in, mine);
  if (mine <= in && --w->budget < 0) return preempt(w, mine);
  return reschedule(w, settle(mine));
}

const Inst *exec_guarded(Warp *w, const Inst *in) {
  uint32_t p = PRED(w, in->guard);
  uint32_t exec = (in->guard_negated ? ~p : p) & w->active;
  if (!exec) return in + 1;
  w->exec = exec;
  const Inst *next = in->inner(w, in);
  w->exec = w->active;
  return next;
}

const Inst *exec_unsupported(Warp *w, const Inst *in) {
  return vgpu_fault(w, in, VGPU_UNSUPPORTED, (unsigned)__builtin_ctz(w->exec), 0,
                    "the virtual device cannot execute: %s", (const char *)in->ptr);
}

const Inst *exec_trap(Warp *w, const Inst *in) {
  return vgpu_fault(w, in, VGPU_TRAP, (unsigned)__builtin_ctz(w->exec), 0,
                    "the kernel executed a trap");
}

const Inst *exec_yield_hint(Warp *w, const Inst *in) {
  // it sleeps, but has looked at nothing: that is no wait for others (watch.c)
  if (!w->polls) w->only_polls = false;
  w->polls++;
  return vgpu_yield(w, in + 1);
}

// --- calls ---
static Frame *new_frame(Warp *w, const Code *code) {
  Frame **list = &w->free_frames;
  while (*list && (*list)->code != code) list = &(*list)->next_free;
  Frame *f = *list;
  if (f) *list = f->next_free;
  else {
    f = mem_alloc(sizeof *f);
    f->regs = aligned_alloc(64, code->reg_bytes + REG_MARGIN);
    CHECK(f->regs);
    memset(f->regs, 0, code->reg_bytes + REG_MARGIN);
    memcpy(f->regs + code->const_start, code->constants, code->const_bytes);
    f->code = code;
    f->probe = vgpu_is_probe(code->func);
  }
  return f;
}

static void drop_frame(Warp *w, Frame *f) {
  f->next_free = w->free_frames;
  w->free_frames = f;
}

void warp_free_frames(Warp *w) {
  for (Frame *f = w->free_frames, *next; f; f = next) {
    next = f->next_free;
    free(f->regs);
    free(f);
  }
  w->free_frames = NULL;
}

// --- the end of lanes ---
static void exit_lanes(Warp *w, uint32_t mask) {
  w->live &= ~mask;
  for (Frame *f = w->frame, *up; f; f = up) {
    up = f->parent;
    f->lanes &= ~mask;
    if (!f->lanes && up) drop_frame(w, f);
  }
  uint32_t n = mask == FULL_MASK ? LANES : (uint32_t)__builtin_popcount(mask);
  w->block->alive_threads -= n;
  if (w->block->cluster) w->block->cluster->alive -= n;
}

static const Inst *leave(Warp *w) {  // the running fragment has no lanes left
  remove_fragment(w, w->current);
  w->current = 0;
  return NULL;
}

const Inst *exec_exit(Warp *w, const Inst *in) {
  uint32_t gone = w->exec;
  exit_lanes(w, gone);
  w->active &= ~gone;
  w->frags[w->current].mask = w->active;
  const Inst *next = in + 1;
  if (!w->active) next = leave(w);
  // warp-level waits for these lanes are over
  for (uint32_t i = 0; i < w->nfrags; i++) {
    Fragment *f = &w->frags[i];
    if (f->state == FRAG_WARP_SYNC && !(f->needed & w->live & ~f->mask)) f->state = FRAG_READY;
  }
  if (w->block->active_barriers) barrier_lanes_exited(w->block);
  return next;
}

static char *lane_local(Warp *w, unsigned lane, const Frame *f) {
  return w->local + (uint64_t)lane * w->local_bytes + f->local_base;
}

static const Inst *enter(Warp *w, const Inst *in, const CallSite *cs, const Code *callee,
                         uint32_t lanes) {
  Frame *caller = w->frame;
  uint32_t base = caller->local_base + caller->code->local_bytes, dynamic = 0;
  if (caller->has_dynamic)
    FOR_LANES(l, lanes) dynamic = MAX(dynamic, caller->dynamic[l]);
  base += (dynamic + 15) & ~15u;
  if ((uint64_t)base + callee->local_bytes > w->local_bytes || caller->depth > 4096)
    return vgpu_fault(w, in, VGPU_STACK_OVERFLOW, (unsigned)__builtin_ctz(lanes), 0,
                      "the call of %s needs more than the %u bytes of stack each thread has",
                      callee->func->name, w->local_bytes);
  if (cs->nargs != callee->func->nparams)
    return vgpu_fault(w, in, VGPU_TRAP, (unsigned)__builtin_ctz(lanes), 0,
                      "%s takes %u parameters and is called with %u", callee->func->name,
                      callee->func->nparams, cs->nargs);
  Frame *f = new_frame(w, callee);
  f->parent = caller;
  f->return_pc = in + 1;
  f->depth = caller->depth + 1;
  f->lanes = lanes;
  f->local_base = base;
  f->has_dynamic = false;
  for (uint32_t i = 0; i < cs->nargs; i++) {
    const struct CallValue *v = &cs->args[i];
    const PtxVar *p = callee->func->params[i];
    uint32_t to = (uint32_t)(uintptr_t)u64map_get(&callee->local_offset, (uint64_t)p) - 1;
    uint32_t n = MIN(v->size, (uint32_t)p->size);
    FOR_LANES(l, lanes) {
      const char *from = v->is_slot ? caller->regs + v->where + l * v->size
                                    : lane_local(w, l, caller) + v->where;
      memcpy(lane_local(w, l, f) + to, from, n);
    }
  }
  if (lanes != w->active) split(w, w->active & ~lanes, in + 1);
  w->frags[w->current].frame = f;
  w->frags[w->current].pc = callee->insts;
  w->frags[w->current].mask = lanes;
  return load(w, w->current);
}

const Inst *exec_call(Warp *w, const Inst *in) {
  const CallSite *cs = in->ptr;
  const Code *callee = u64map_get(&w->frame->code->kernel->codes, (uint64_t)cs->callee);
  CHECK(callee);
  return enter(w, in, cs, callee, w->exec);
}

// A function of the module that is run as C here, not as code of the kernel.
static ExecFn *find_builtin(const VgpuModule *m, uint64_t address) {
  for (uint32_t i = 0; i < m->funcs.len; i++)
    if ((uint64_t)m->funcs.data[i] == address) return m->funcs.data[i]->builtin;
  return NULL;
}

// Lanes may call different functions: one group after the other. Lanes not served now come back to
// this instruction.
const Inst *exec_call_indirect(Warp *w, const Inst *in) {
  const uint64_t *target = REG(w, uint64_t, in->a);
  unsigned first = (unsigned)__builtin_ctz(w->exec);
  uint32_t same = 0;
  FOR_LANES(i, w->exec)
    if (target[i] == target[first]) same |= 1u << i;
  VgpuKernel *k = w->frame->code->kernel;
  Code *callee = u64map_get(&k->codes, target[first]);
  ExecFn *builtin = callee ? NULL : find_builtin(k->module, target[first]);
  if (builtin) {
    uint32_t later = w->exec & ~same;
    if (later) split(w, later, in);
    const Inst *next = builtin(w, in);
    return later && next == in + 1 ? reschedule(w, settle(next)) : next;
  }
  if (!callee)
    return vgpu_fault(w, in, VGPU_INVALID_PC, first, target[first],
                      "call through a pointer that is no function of this module (0x%llx)",
                      (unsigned long long)target[first]);
  uint32_t others = w->exec & ~same, skipped = w->active & ~w->exec;
  if (others) split(w, others, in);
  if (skipped) split(w, skipped, in + 1);
  return enter(w, in, in->ptr, callee, same);
}

const Inst *exec_return(Warp *w, const Inst *in) {
  Frame *f = w->frame;
  if (!f->parent) return exec_exit(w, in);
  uint32_t lanes = w->exec;
  const Inst *back = f->return_pc;
  const CallSite *cs = (back - 1)->ptr;
  Frame *caller = f->parent;
  for (uint32_t i = 0; i < MIN(cs->nrets, f->code->func->nreturns); i++) {
    const struct CallValue *v = &cs->rets[i];
    const PtxVar *r = f->code->func->returns[i];
    uint32_t from = (uint32_t)(uintptr_t)u64map_get(&f->code->local_offset, (uint64_t)r) - 1;
    FOR_LANES(l, lanes) {
      char *to = v->is_slot ? caller->regs + v->where + l * v->size
                            : lane_local(w, l, caller) + v->where;
      memcpy(to, lane_local(w, l, f) + from, MIN(v->size, (uint32_t)r->size));
    }
  }
  if (lanes != w->active) split(w, w->active & ~lanes, in + 1);
  f->lanes &= ~lanes;
  Fragment *frag = &w->frags[w->current];
  frag->frame = caller;
  frag->pc = settle(back);
  frag->mask = lanes;
  if (!f->lanes) drop_frame(w, f);
  const Inst *pc = load(w, w->current);
  return w->nfrags == 1 ? pc : reschedule(w, pc);
}

void warp_start(Warp *w, const Code *code, char *regs) {
  Frame *f = &w->base_frame;  // `dynamic` counts only with has_dynamic: not cleared for each block
  f->parent = NULL;
  f->code = code;
  f->regs = regs;
  f->return_pc = NULL;
  f->depth = f->local_base = 0;
  f->lanes = w->live;
  f->probe = f->has_dynamic = false;
  f->next_free = NULL;
  w->frags[0] = (Fragment){
      .mask = w->live, .state = FRAG_READY, .pc = settle(code->insts), .frame = f};
  w->nfrags = w->live ? 1 : 0;
  w->current = 0;
  w->rotate = w->fair = false;
  w->polls = w->expired = 0;
  w->budget = 0;
  if (w->nfrags) load(w, 0);
}

bool vgpu_warp_converged(Warp *w, const Inst *in, uint32_t needed) {
  Fragment *f = &w->frags[w->current];
  needed &= w->live;
  if (!(needed & ~w->exec) || f->resumed) {
    f->resumed = false;
    return true;
  }
  f->pc = in;
  f->mask = w->active;
  f->needed = needed;
  f->state = FRAG_WARP_SYNC;
  // others of the same instruction that already wait here join; together they may be complete
  for (uint32_t j = 0; j < w->nfrags; j++) {
    Fragment *g = &w->frags[j];
    if (j == w->current || g->state != FRAG_WARP_SYNC || g->pc != in || g->frame != f->frame)
      continue;
    f = &w->frags[w->current];
    f->mask |= g->mask;
    f->needed |= g->needed;
    remove_fragment(w, j);
    j = UINT32_MAX;
  }
  f = &w->frags[w->current];
  if (!(f->needed & w->live & ~f->mask)) f->state = FRAG_READY;
  return false;
}
