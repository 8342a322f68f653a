// Launches that do not end.
//
// A warp makes no progress if it waits at a barrier or for lanes of its own; if its registers are
// the same as in the previous sample, thousands of iterations ago; if it turns in a loop that has
// come back to where it was (watch_past.c); or if all it did since is to poll memory, storing
// nothing. Everything else is progress, however long it takes. When no warp of a launch has made
// any for the time the user gave, every group that has been begun says where its warps stand, and
// notifies the caller of the launch.
#include <errno.h>
#include <time.h>

#include "vgpu/core.h"

static const uint64_t LOOK_NS = 20000000, ANSWERS_NS = 2000000000;

typedef struct Looking {
  VEC(VgpuStanding) list;
  uint32_t groups;
  uint64_t since_ns;
  bool asked, done;
} Looking;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // of all Lookings
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;

void watch_launch(Launch *l) { l->moved_ns = clock_ns(); }

void watch_ran(Warp *w, uint32_t turns) {
  uint64_t for_polls = 200ull * w->polls;  // see vgpu_poll
  w->turns += MAX(turns > for_polls ? turns - for_polls : 0, (uint64_t)w->polls);
  if (!w->polls) w->only_polls = false;
}

// --- does it move? ---

// The registers of the program. Those of probes change where the program does not: count's do.
uint64_t watch_add_registers(uint64_t h, const Frame *f) {
  for (unsigned r = 0; r < 2; r++)
    for (uint32_t at = f->code->program[r].from; at + 8 <= f->code->program[r].to; at += 8)
      h = watch_mix(h, *(const uint64_t *)(f->regs + at));
  return h;
}

static uint64_t state_of(const Warp *w) {
  uint64_t h = w->live;
  for (uint32_t i = 0; i < w->nfrags; i++) {
    const Fragment *f = &w->frags[i];
    uint64_t own = watch_mix(watch_mix(f->mask, (uint64_t)f->pc), f->state);
    h += watch_add_registers(own, f->frame);  // fragments in any order
  }
  return h;
}

// Registers that decide whether the loop goes on, where they alone do; made once for each place
// that warps are preempted at.
typedef struct Deciding {
  uint32_t loop, n, slots[4];
  uint8_t widths[4];
  bool endless;
} Deciding;

// Work may come from elsewhere to a loop that polls, though it has no way out.
static bool polls_memory(const IrCfg *c, uint32_t loop) {
  for (uint32_t i = 0; i < c->loops[loop].nblocks; i++)
    for (uint32_t k = c->blocks[c->loops[loop].blocks[i]].first;
         k < c->blocks[c->loops[loop].blocks[i]].end; k++)
      if (ptx_has(c->instrs[k], MOD_VOLATILE) || ptx_has(c->instrs[k], MOD_RELAXED) ||
          ptx_has(c->instrs[k], MOD_ACQUIRE))
        return true;
  return false;
}

// The innermost enclosing loop without exits, or whose exits depend on nothing that changes in the
// loop: whatever its registers count, it never ends.
static uint32_t endless_loop(const IrCfg *c, uint32_t loop, IrLoopEnd *e) {
  for (; loop != IR_NONE; loop = c->loops[loop].parent) {
    ir_loop_end(c, loop, e);
    if (e->kind == IR_END_FIXED && !polls_memory(c, loop)) return loop;
  }
  return IR_NONE;
}

static const Deciding *deciding_at(Code *code, const Inst *pc) {
  Deciding *d = u64map_get(&code->deciding, (uint64_t)pc);
  if (d) return d;
  d = ARENA_NEW(&code->arena, Deciding);
  u64map_put(&code->deciding, (uint64_t)pc, d);
  Error err = {{0}};
  IrCfg *c = pc->src ? ir_cfg_build(code->func, &err) : NULL;
  uint32_t n = c ? watch_number_of(c, pc->src) : IR_NONE,
           loop = n == IR_NONE ? IR_NONE : c->blocks[c->block_of[n]].loop;
  IrLoopEnd e;
  uint32_t endless = loop == IR_NONE ? IR_NONE : endless_loop(c, loop, &e);
  d->endless = endless != IR_NONE;
  d->loop = d->endless ? endless : loop;
  if (loop != IR_NONE && !d->endless) ir_loop_end(c, loop, &e);
  if (loop != IR_NONE && !d->endless && e.kind == IR_END_STEPS && e.all_watched)
    for (uint32_t i = 0; i < e.nwatched; i++) {
      unsigned width = slot_width(e.watched[i]->type);
      uint32_t slot = code->slots[e.watched[i]->id];
      if (slot == UINT32_MAX || !width) continue;
      d->slots[d->n] = slot;
      d->widths[d->n++] = (uint8_t)width;
    }
  ir_cfg_free(c);
  return d;
}

// A hash of the registers that decide about the loop of the fragment's lanes; 0: not known.
static uint64_t deciding_of(const Fragment *f) {
  const Frame *frame = f->frame;
  const Inst *pc = watch_at(f->pc);
  // they stand in their loop, where they have called a probe
  for (; frame->parent && frame->probe; frame = frame->parent) pc = frame->return_pc - 1;
  static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&cache);
  const Deciding *d = deciding_at((Code *)frame->code, pc);
  pthread_mutex_unlock(&cache);
  uint64_t h = watch_mix((uint64_t)frame->code + d->loop, f->mask);
  for (uint32_t i = 0; i < d->n; i++) {
    const char *slot = frame->regs + d->slots[i];
    FOR_LANES(l, f->mask)
      h = watch_mix(h, d->widths[i] == 8   ? ((const uint64_t *)slot)[l]
                       : d->widths[i] == 4 ? ((const uint32_t *)slot)[l]
                                           : ((const uint16_t *)slot)[l]);
  }
  return d->n || d->endless ? h | 1 : 0;
}

// The same for all fragments of the warp.
static uint64_t deciding_state(const Warp *w) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < w->nfrags; i++) {
    const Fragment *f = &w->frags[i];
    uint64_t own = f->state == FRAG_READY ? deciding_of(f)
                                          : watch_mix((uint64_t)f->pc, f->mask) | 1;
    if (!own) return 0;
    all += own;  // fragments in any order
  }
  return all | 1;
}

static bool is_blocked(const Warp *w) {
  for (uint32_t i = 0; i < w->nfrags; i++)
    if (w->frags[i].state == FRAG_READY) return false;
  return true;
}

static bool moves(Block *b, struct Past *past) {
  bool any = b->releases != b->seen_releases;
  b->seen_releases = b->releases;
  for (uint32_t i = 0; i < b->nwarps; i++) {
    Warp *w = &b->warps[i];
    if (!w->nfrags) continue;
    uint64_t state = state_of(w), deciding = deciding_state(w);
    bool circles = past_circles(past, i, w),
         still = circles || state == w->seen_state || (deciding && deciding == w->seen_deciding) ||
                 is_blocked(w) || (w->only_polls && w->stores == w->seen_stores);
    if (!still) w->turns = 0;
    any |= !still;
    w->same = circles || state == w->seen_state || (deciding && deciding == w->seen_deciding);
    w->seen_state = state;
    w->seen_deciding = deciding;
    w->seen_stores = w->stores;
    w->only_polls = true;
  }
  return any;
}

// --- where does it stand? ---

static const Frame *program_frame(const Fragment *f, const PtxInstr **at) {
  const Frame *frame = f->frame;
  *at = watch_at(f->pc)->src;
  // Probes are called; where the program stands is where it called them.
  while (frame->parent && frame->probe) {
    *at = (frame->return_pc - 1)->src;
    frame = frame->parent;
  }
  return frame;
}

static const Inst *decoded(const Code *code, const PtxInstr *in) {
  for (uint32_t i = 0; i < code->ninsts; i++)
    if (code->insts[i].src == in && watch_at(&code->insts[i]) == &code->insts[i])
      return &code->insts[i];
  return NULL;
}

static void find_variable(const PtxOperand *o, int64_t offset, VgpuStanding *s) {
  const VarSym *v = o->var->space == SPACE_GLOBAL ? variable_symbol(o->var) : NULL;
  if (v) s->address = (uint64_t)v->address + (uint64_t)(o->imm + offset);
}

// The address of a load or atomic that has been executed in this frame.
static void find_address(const Frame *frame, const PtxInstr *load, unsigned lane, VgpuStanding *s) {
  const Inst *in = decoded(frame->code, load);
  for (unsigned k = 0; in && k < load->nops; k++) {
    const PtxOperand *o = &load->ops[k];
    if (o->kind != OPD_ADDR || !o->nlist) continue;
    if (o->list[0].kind == OPD_VAR) find_variable(&o->list[0], o->imm, s);
    if (o->list[0].kind != OPD_REG) continue;
    unsigned width = slot_width(o->list[0].reg->type);
    const char *slot = frame->regs + in->a;
    s->address = (uint64_t)o->imm +
                 (width == 8 ? ((const uint64_t *)slot)[lane] : ((const uint32_t *)slot)[lane]);
    s->shared = load->space == SPACE_SHARED || (s->address & GENERIC_WINDOW_MASK) == GENERIC_SHARED;
    return;
  }
}

static const char *register_named(const PtxOperand *o) {
  return o && o->kind == OPD_REG ? o->reg->name : NULL;
}

static void look_at_loop(const Frame *frame, const PtxInstr *at, unsigned lane, VgpuStanding *s) {
  Error err = {{0}};
  IrCfg *c = ir_cfg_build(frame->code->func, &err);
  uint32_t n = c ? watch_number_of(c, at) : IR_NONE,
           loop = n == IR_NONE ? IR_NONE : c->blocks[c->block_of[n]].loop;
  if (loop != IR_NONE) {
    IrLoopEnd e;
    uint32_t endless = endless_loop(c, loop, &e);
    if (endless != IR_NONE) loop = endless;
    else ir_loop_end(c, loop, &e);
    for (uint32_t up; e.kind == IR_END_BOUNDED && (up = c->loops[loop].parent) != IR_NONE;)
      ir_loop_end(c, loop = up, &e);
    s->in_loop = true;
    s->at = c->instrs[e.branch];
    s->fixed = e.kind == IR_END_FIXED;
    if (e.kind == IR_END_STEPS && s->unchanged) {
      s->index = e.index->name;
      s->step = register_named(e.step);
    }
    if (e.load != IR_NONE) {
      s->wait = VGPU_WAITS_MEMORY;
      find_address(frame, c->instrs[e.load], lane, s);
    }
  }
  ir_cfg_free(c);
}

static void describe(Launch *l, Block *b, Warp *w, const Fragment *f, bool circles,
                     VgpuStanding *s) {
  unsigned lane = (unsigned)__builtin_ctz(f->mask);
  uint32_t lanes = MIN(l->nthreads - w->index * LANES, (uint32_t)LANES);
  *s = (VgpuStanding){.warp = w->index,
                      .lanes = f->mask,
                      .turns = w->turns,
                      .gone = (lanes == LANES ? FULL_MASK : (1u << lanes) - 1) & ~w->live};
  memcpy(s->block, b->ctaid, sizeof s->block);
  for (int i = 0; i < 3; i++) s->thread[i] = w->tid[i][lane];
  const Frame *frame = program_frame(f, &s->at);
  s->func = frame->code->func;
  s->module = s->func->module;
  if (f->state == FRAG_BARRIER) {
    const Barrier *bar = &b->barriers[f->barrier];
    s->wait = VGPU_WAITS_BARRIER;
    s->barrier = f->barrier;
    s->expected = bar->expected ? bar->expected : b->alive_threads;
    for (uint32_t i = 0; i < b->nwarps; i++)
      s->arrived += (uint32_t)__builtin_popcount(bar->arrived[i]);
  } else if (f->state == FRAG_WARP_SYNC) {
    s->wait = VGPU_WAITS_WARP;
    s->needed = f->needed;
  } else if (s->at && s->at->op == OP_BARRIER_CLUSTER) {
    s->wait = VGPU_WAITS_CLUSTER;
  } else {
    s->unchanged = w->same;
    s->circles = circles;
    if (s->at) look_at_loop(frame, s->at, lane, s);
  }
}

static void look(Launch *l, Block *blocks, uint32_t nblocks, struct Past *past, Looking *k) {
  for (uint32_t n = 0; n < nblocks; n++)
    for (uint32_t i = 0; i < blocks[n].nwarps; i++) {
      Warp *w = &blocks[n].warps[i];
      for (uint32_t f = 0; f < w->nfrags; f++) {
        VgpuStanding s;
        describe(l, &blocks[n], w, &w->frags[f], past && past_goes_round(past, n * l->nwarps + i),
                 &s);
        vec_push(&k->list, s);
      }
    }
  k->groups++;
}

static bool tell(Launch *l, Looking *k, uint64_t ns, bool deadlock) {
  uint64_t idle = l->nblocks - l->ngroups * l->group_size;  // they count as ended
  VgpuHang h = {.list = k->list.data,
                .n = k->list.len,
                .ns = ns,
                .blocks = l->nblocks,
                .asked = k->asked,
                .deadlock = deadlock,
                .blocks_ended = idle + l->done_groups * l->group_size,
                .blocks_begun = idle + MIN(l->next_group, l->ngroups) * l->group_size};
  return l->request->hang(l->request->hang_user, &h);
}

static void ask(Launch *l, bool asked) {  // with the lock
  if (!l->looking) l->looking = mem_alloc(sizeof *l->looking);
  if (l->look && !l->looking->done) return;
  l->looking->list.len = 0;
  l->looking->groups = 0;
  l->looking->done = false;
  l->looking->asked = asked;
  l->looking->since_ns = clock_ns();
  l->look++;
}

bool watch_group(Launch *l, Block *blocks, uint32_t nblocks, Watched *watched, uint64_t now,
                 uint64_t hang_ns) {
  if (!l->request->hang) return false;
  bool asked = l->look && watched->looked != l->look;
  if (now - watched->at_ns < LOOK_NS && !l->look) return false;
  if (now - watched->at_ns >= LOOK_NS) {
    watched->at_ns = now;
    bool moved = false;
    if (!watched->past) watched->past = past_new(nblocks * l->nwarps);
    for (uint32_t i = 0; i < nblocks; i++)
      moved |= moves(&blocks[i], past_of(watched->past, i * l->nwarps));
    if (moved) l->moved_ns = now;
  }
  uint64_t since = l->moved_ns;
  bool stop = false;
  pthread_mutex_lock(&lock);
  if (hang_ns && !l->hang_said && now > since && now - since > hang_ns) {
    l->hang_said = asked = true;
    ask(l, false);
  }
  Looking *k = l->looking;
  if (asked && k && !k->done && watched->looked != l->look) {
    look(l, blocks, nblocks, watched->past, k);
    watched->looked = l->look;
  }
  if (k && !k->done && (k->groups >= launch_resident(l) || now > k->since_ns + ANSWERS_NS)) {
    k->done = true;
    if (k->list.len) stop = tell(l, k, now > since ? now - since : 0, false);
    pthread_cond_broadcast(&answered);
  }
  pthread_mutex_unlock(&lock);
  return stop;
}

void watch_forget(Watched *watched) {
  free(watched->past);
  *watched = (Watched){0};
}

bool watch_waits_for_others(const Launch *l, const Watched *watched) {
  return l->look && watched->looked == l->look && l->looking && !l->looking->done;
}

void watch_deadlock(Launch *l, Block *blocks, uint32_t nblocks) {
  if (!l->request->hang) return;
  Looking k = {0};
  pthread_mutex_lock(&lock);
  look(l, blocks, nblocks, NULL, &k);
  if (!l->hang_said) tell(l, &k, 0, true);
  l->hang_said = true;
  pthread_mutex_unlock(&lock);
  vec_free(&k.list);
}

void watch_end(Launch *l) {
  pthread_mutex_lock(&lock);
  if (l->looking) vec_free(&l->looking->list);
  free(l->looking);
  l->looking = NULL;
  pthread_cond_broadcast(&answered);
  pthread_mutex_unlock(&lock);
}

bool vgpu_where(unsigned wait_ms) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += wait_ms / 1000;
  bool any = false;
  Launch *all = engine_launches(true);
  pthread_mutex_lock(&lock);
  for (Launch *l = all; l; l = l->next)
    if (l->request->hang && !l->stop) {
      ask(l, true);
      any = true;
    }
  engine_launches(false);
  for (bool waiting = any; waiting;) {
    if (pthread_cond_timedwait(&answered, &lock, &until) == ETIMEDOUT) break;
    pthread_mutex_unlock(&lock);
    all = engine_launches(true);
    pthread_mutex_lock(&lock);
    waiting = false;
    for (Launch *l = all; l; l = l->next) waiting |= l->looking && !l->looking->done && !l->stop;
    engine_launches(false);
  }
  pthread_mutex_unlock(&lock);
  return any;
}
