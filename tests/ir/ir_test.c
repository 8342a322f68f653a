// Analyses of src/ir against hand-written functions and, on random graphs, against definitions
// computed the slow way.
#include <time.h>

#include "ir/ir.h"

static int failures;
static const char *current;

static void check(bool ok, const char *what, int line) {
  if (ok) return;
  printf("FAIL %s: line %d: %s\n", current, line, what);
  failures++;
}
#define EXPECT(cond) check((cond), #cond, __LINE__)

typedef struct Built { PtxModule *m; IrCfg *c; } Built;

static Built build(const char *body, Error *err) {
  Str text = {0};
  str_printf(&text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 "
             "q)\n{\n.reg .pred %%p<4>;\n"
             ".reg .b32 %%r<20>;\n.reg .f32 %%f<20>;\n.reg .b64 %%q;\n%s}\n",
             body);
  Built b = {.m = ptx_parse(text.data, text.len, "test", err)};
  str_free(&text);
  if (b.m && ptx_verify(b.m, err)) b.c = ir_cfg_build(b.m->funcs[0], err);
  if (b.c && !ir_verify(b.c, err)) {
    ir_cfg_free(b.c);
    b.c = NULL;
  }
  return b;
}

static void destroy(Built *b) {
  ir_cfg_free(b->c);
  if (b->m) ptx_free(b->m);
}

static uint32_t reg_id(const IrCfg *c, const char *name) {
  for (uint32_t r = 0; r < c->func->nregs; r++)
    if (!strcmp(c->func->regs[r]->name, name)) return r;
  return IR_NONE;
}

static bool live(uint64_t *const *rows, const IrCfg *c, uint32_t block, const char *name) {
  uint32_t r = reg_id(c, name);
  return rows[block][r / 64] >> (r % 64) & 1;
}

// --- hand-written ---

static void test_if_else(void) {
  Error err = {""};
  Built b = build("setp.eq.s32 %p1, %r1, 0;\n@%p1 bra Else;\nadd.s32 %r2, %r1, 1;\nbra.uni "
                  "Join;\nElse:\nadd.s32 %r2, %r1, 2;\nJoin:\n"
                  "@%p2 mov.u32 %r3, 7;\nadd.s32 %r4, %r2, %r3;\nret;\n",
                  &err);
  EXPECT(b.c);
  if (b.c) {
    EXPECT(b.c->nblocks == 4 && b.c->norder == 4 && b.c->nloops == 0);
    EXPECT(b.c->blocks[0].nsucc == 2 && b.c->blocks[0].succ[0] == 2 && b.c->blocks[0].succ[1] == 1);
    EXPECT(b.c->blocks[3].npred == 2);
    EXPECT(b.c->blocks[3].idom == 0 && b.c->blocks[1].ipdom == 3 && b.c->blocks[0].ipdom == 3 &&
           b.c->blocks[3].ipdom == IR_NONE);
    EXPECT(b.c->order[0] == 0 && b.c->order[1] == 1 && b.c->order[2] == 2 && b.c->order[3] == 3);
    EXPECT(ir_dominates(b.c, 0, 3) && !ir_dominates(b.c, 1, 3) && ir_postdominates(b.c, 3, 1) &&
           !ir_postdominates(b.c, 1, 0));
    IrLiveness *l = ir_liveness_build(b.c);
    EXPECT(live(l->live_in, b.c, 0, "%r1") && !live(l->live_in, b.c, 0, "%r2"));
    EXPECT(live(l->live_out, b.c, 1, "%r2") && live(l->live_in, b.c, 3, "%r2"));
    EXPECT(live(l->live_in, b.c, 3, "%r3") &&
           live(l->live_in, b.c, 0, "%r3"));  // a guarded write does not kill
    EXPECT(!live(l->live_in, b.c, 3, "%r4"));
    ir_liveness_free(l);
  }
  destroy(&b);
}

// Lanes leave the inner loop from its middle; what follows the loop must come after all of it, the
// trap last.
static void test_loops(void) {
  Error err = {""};
  Built b = build("Outer:\nmov.u32 %r1, 0;\nInner:\n@%p1 bra Even;\n@%p2 bra After;\nbra.uni "
                  "Latch;\nEven:\n@%p3 bra Bad;\nLatch:\nadd.s32 %r1, %r1, 1;\n"
                  "@%p1 bra Inner;\nAfter:\n@%p2 bra Outer;\nret;\nBad:\ntrap;\n",
                  &err);
  EXPECT(b.c);
  if (b.c) {
    EXPECT(b.c->nloops == 2);
    uint32_t inner = b.c->loops[0].depth == 2 ? 0 : 1;
    EXPECT(b.c->loops[inner].parent == 1 - inner && b.c->loops[inner].depth == 2 &&
           b.c->loops[1 - inner].depth == 1);
    EXPECT(b.c->loops[inner].nblocks == 5 && b.c->blocks[b.c->loops[inner].header].first == 1);
    uint32_t bad = IR_NONE;
    for (uint32_t i = 0; i < b.c->nblocks; i++)
      if (b.c->instrs[b.c->blocks[i].first]->op == OP_TRAP) bad = i;
    EXPECT(bad != IR_NONE && b.c->blocks[bad].rpo > b.c->blocks[b.c->loops[1 - inner].header].rpo +
                                                        b.c->loops[1 - inner].nblocks - 1);
  }
  destroy(&b);
}

static void test_table(void) {
  Error err = {""};
  Built b = build("brx.idx %r1, Table;\nTable: .branchtargets A, B, A, C;\nA:\nmov.u32 %r2, "
                  "1;\nB:\nmov.u32 %r2, 2;\nC:\nret;\nmov.u32 %r3, 1;\nret;\n",
                  &err);
  EXPECT(b.c);
  if (b.c) {
    EXPECT(b.c->blocks[0].nsucc == 3 && b.c->blocks[0].succ[0] == 1 &&
           b.c->blocks[0].succ[1] == 2 && b.c->blocks[0].succ[2] == 3);
    EXPECT(b.c->blocks[4].rpo == IR_NONE && b.c->norder == 4);       // after ret, nobody gets there
  }
  destroy(&b);
}

static void test_endless(void) {
  Error err = {""};
  Built b = build("@%p1 bra Stop;\nSpin:\nadd.s32 %r1, %r1, 1;\nSpin2:\nbra.uni Spin;\nStop:\n@%p2 "
                  "ret;\n@%p3 exit;\n",
                  &err);
  EXPECT(b.c);
  if (b.c) {
    EXPECT(b.c->blocks[1].end - b.c->blocks[1].first == 2);  // nothing names Spin2
    EXPECT(b.c->blocks[1].ipdom == IR_NONE && b.c->blocks[0].ipdom == IR_NONE);
    EXPECT(b.c->blocks[2].nsucc == 1 && b.c->blocks[3].nsucc == 0);  // runs off the end
  }
  destroy(&b);
  b = build("bra End;\nEnd:\n", &err);
  EXPECT(b.c && b.c->nblocks == 2 && b.c->blocks[1].first == b.c->blocks[1].end);
  destroy(&b);
  b = build("", &err);
  EXPECT(b.c && b.c->nblocks == 1 && b.c->norder == 1);
  destroy(&b);
}

static void test_verify_finds(void) {
  Error err = {""};
  Built b = build("@%p1 bra A;\nmov.u32 %r1, 1;\nA:\nmov.u32 %r2, 2;\nret;\n", &err);
  EXPECT(b.c);
  if (b.c) {
    b.c->blocks[0].succ[0] = 1;
    EXPECT(!ir_verify(b.c, &err) && err.text[0]);
    b.c->blocks[0].succ[0] = 2;
    PtxReg stranger = {.name = "%stranger", .type = TYPE_B32, .id = 3};
    b.c->instrs[1]->ops[0].reg = &stranger;
    EXPECT(!ir_verify(b.c, &err) && strstr(err.text, "%stranger"));
  }
  destroy(&b);
}

static void test_contract(void) {
  Error err = {""};
  Built b = build("mul.f32 %f1, %f2, %f3;\nsub.f32 %f4, %f5, %f1;\nst.global.f32 [%q], %f4;\n"
                  "mul.f32 %f6, %f7, %f8;\nadd.f32 %f9, %f6, %f2;\nst.global.f32 [%q], "
                  "%f9;\nst.global.f32 [%q], %f6;\n"
                  "add.f32 %f10, %f2, %f3;\nst.global.f32 [%q], %f10;\nret;\n",
                  &err);
  EXPECT(b.c);
  Str out = {0};
  EXPECT(b.m && ir_contract(b.m, &err));
  ptx_print(b.m, &out);
  EXPECT(strstr(out.data, "fma.rn.f32 %f4, "));
  EXPECT(!strstr(out.data, "%f1, %f2, %f3"));                        // the product is gone
  EXPECT(strstr(out.data, "mul.rn.f32 %f6, %f7, %f8;"));             // stored too: kept apart
  EXPECT(strstr(out.data, "add.f32 %f9, %f6, %f2;"));
  EXPECT(strstr(out.data, "add.f32 %f10, %f2, %f3;"));               // no product near it
  Str again = {0};
  EXPECT(ir_contract(b.m, &err));
  ptx_print(b.m, &again);
  EXPECT(!strcmp(out.data, again.data));                             // nothing left to do
  str_free(&out);
  str_free(&again);
  destroy(&b);
}

// --- random graphs ---

static uint64_t seed = 88172645463325252ull;
static uint32_t roll(uint32_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (uint32_t)(seed >> 33) % n;
}

enum { MOST = 24 };

static void reach(const IrCfg *c, uint32_t from, uint32_t without, bool backwards, bool *seen) {
  if (from == without || seen[from]) return;
  seen[from] = true;
  const IrBlock *b = &c->blocks[from];
  for (uint32_t i = 0; i < (backwards ? b->npred : b->nsucc); i++)
    reach(c, backwards ? b->pred[i] : b->succ[i], without, backwards, seen);
}

static void compare_dominators(const IrCfg *c) {
  bool all[MOST + 1] = {0};
  reach(c, 0, IR_NONE, false, all);
  for (uint32_t b = 0; b < c->nblocks; b++) EXPECT(all[b] == (c->blocks[b].rpo != IR_NONE));
  for (uint32_t d = 0; d < c->nblocks; d++) {
    bool seen[MOST + 1] = {0};
    if (!all[d]) continue;
    reach(c, 0, d, false, seen);
    for (uint32_t b = 0; b < c->nblocks; b++)
      if (all[b]) EXPECT(ir_dominates(c, d, b) == !seen[b]);
  }
  bool reaches_exit[MOST + 1] = {0};
  for (uint32_t b = 0; b < c->nblocks; b++)
    if (all[b] && !c->blocks[b].nsucc) reach(c, b, IR_NONE, true, reaches_exit);
  for (uint32_t b = 0; b < c->nblocks; b++)
    if (all[b] && !reaches_exit[b])
      return;  // with endless loops the answer depends on where they are cut
  for (uint32_t d = 0; d < c->nblocks; d++) {
    bool seen[MOST + 1] = {0};
    if (!all[d]) continue;
    for (uint32_t b = 0; b < c->nblocks; b++)
      if (all[b] && !c->blocks[b].nsucc) reach(c, b, d, true, seen);
    for (uint32_t b = 0; b < c->nblocks; b++)
      if (all[b]) EXPECT(ir_postdominates(c, d, b) == !seen[b]);
  }
}

// Edges go forward, or back to a dominator; then all cycles are loops and every such edge stays
// inside its loop.
static void compare_loops(const IrCfg *c) {
  for (uint32_t b = 0; b < c->nblocks; b++) {
    if (c->blocks[b].rpo == IR_NONE) continue;
    for (uint32_t i = 0; i < c->blocks[b].nsucc; i++) {
      uint32_t s = c->blocks[b].succ[i];
      if (!ir_dominates(c, s, b)) continue;
      bool inside = false;
      for (uint32_t l = c->blocks[b].loop; l != IR_NONE; l = c->loops[l].parent)
        inside |= c->loops[l].header == s;
      EXPECT(inside);
    }
  }
  for (uint32_t l = 0; l < c->nloops; l++)
    for (uint32_t k = 0; k < c->loops[l].nblocks; k++) {
      bool seen[MOST + 1] = {0};
      uint32_t b = c->loops[l].blocks[k];
      EXPECT(ir_dominates(c, c->loops[l].header, b));
      reach(c, b, IR_NONE, false, seen);
      EXPECT(seen[c->loops[l].header]);
    }
}

typedef struct Sets { uint64_t use, def; } Sets;
static Sets scan;
static bool scan_guarded;
static void scan_use(void *ctx, PtxReg **reg, bool is_def) {
  if (!is_def && !(scan.def >> (*reg)->id & 1)) scan.use |= 1ull << (*reg)->id;
}
static void scan_def(void *ctx, PtxReg **reg, bool is_def) {
  if (is_def && !scan_guarded) scan.def |= 1ull << (*reg)->id;
}

static void compare_liveness(const IrCfg *c) {
  uint64_t in[MOST + 1] = {0}, out[MOST + 1] = {0};
  Sets sets[MOST + 1];
  for (uint32_t b = 0; b < c->nblocks; b++) {
    scan = (Sets){0, 0};
    for (uint32_t i = c->blocks[b].first; i < c->blocks[b].end; i++) {
      scan_guarded = c->instrs[i]->guard;
      ptx_visit_regs(c->instrs[i], scan_use, NULL);
      ptx_visit_regs(c->instrs[i], scan_def, NULL);
    }
    sets[b] = scan;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < c->nblocks; b++) {
      uint64_t o = 0;
      for (uint32_t i = 0; i < c->blocks[b].nsucc; i++) o |= in[c->blocks[b].succ[i]];
      uint64_t n = sets[b].use | (o & ~sets[b].def);
      changed |= n != in[b] || o != out[b];
      in[b] = n;
      out[b] = o;
    }
  }
  IrLiveness *l = ir_liveness_build(c);
  EXPECT(l->words == 1);
  for (uint32_t b = 0; b < c->nblocks; b++)
    EXPECT(l->live_in[b][0] == in[b] && l->live_out[b][0] == out[b]);
  ir_liveness_free(l);
}

static void test_random(void) {
  for (int round = 0; round < 4000 && failures < 5; round++) {
    Str body = {0};
    uint32_t n = 1 + roll(MOST - 1);
    for (uint32_t b = 0; b < n; b++) {
      str_printf(&body, "L%u:\n", b);
      for (uint32_t i = roll(4) + 1; i > 0; i--)
        str_printf(&body, "%sadd.s32 %%r%u, %%r%u, %%r%u;\n", roll(4) ? "" : "@%p1 ", roll(10),
                   roll(10), roll(10));
      uint32_t kind = roll(10), near = b + 1 + roll(3), to = roll(3) ? roll(n) : MIN(near, n - 1);
      if (kind < 5) str_printf(&body, "@%%p%u bra L%u;\n", roll(4), to);
      else if (kind < 7) str_printf(&body, "bra L%u;\n", to);
      else if (kind < 8) str_printf(&body, "%s\n", roll(2) ? "ret;" : "@%p2 exit;");
    }
    Error err = {""};
    Built b = build(body.data, &err);
    if (!b.c) printf("%s\n%s\n", err.text, body.data);
    EXPECT(b.c);
    if (b.c && b.c->nblocks <= MOST) {
      int before = failures;
      compare_dominators(b.c);
      compare_loops(b.c);
      compare_liveness(b.c);
      if (failures != before) printf("    seed round %d:\n%s\n", round, body.data);
    }
    destroy(&b);
    str_free(&body);
  }
}

// --- uniformity, against a small warp that runs the lanes at the lowest place first ---

enum { LANES = 8 };

typedef struct Warp {
  const IrCfg *c;
  const IrUniform *u;
  uint32_t reg[LANES][64];
  uint32_t block[LANES];                              // IR_NONE: exited
} Warp;

static uint32_t lane_value(const Warp *w, int lane, const PtxOperand *o) {
  if (o->kind == OPD_INT) return (uint32_t)o->imm;
  if (o->kind == OPD_SREG)
    return o->sreg == SREG_CTAID                         ? 5
           : o->sreg == SREG_TID && o->selector == SEL_X ? 32 + (uint32_t)lane
                                                         : 2;
  return w->reg[lane][o->reg->id];
}

static void execute(Warp *w, int lane, const PtxInstr *in) {
  uint32_t a = in->nops > 1 ? lane_value(w, lane, &in->ops[1]) : 0,
           b = in->nops > 2 ? lane_value(w, lane, &in->ops[2]) : 0, d = a;
  if (in->op == OP_ADD) d = a + b;
  if (in->op == OP_SHL) d = a << b;
  if (in->op == OP_SETP) d = (int32_t)a < (int32_t)b;
  w->reg[lane][in->ops[0].reg->id] = d;
}

static bool is_finished(const Warp *w, int lane) {
  if (w->block[lane] == IR_NONE) return true;
  const IrBlock *b = &w->c->blocks[w->block[lane]];
  return !b->nsucc && b->end == b->first + 1 && !w->c->instrs[b->first]->guard;
}

static void check_register(const Warp *w, const bool *active, const PtxReg *r) {
  int first = -1;
  for (int lane = 0; lane < LANES; lane++) {
    if (!active[lane]) continue;
    if (first < 0) first = lane;
    uint32_t want = w->reg[first][r->id];
    if (w->u->reg_class[r->id] == IR_AFFINE)
      want += (uint32_t)(lane - first) * (uint32_t)w->u->stride[r->id];
    if (w->u->reg_class[r->id] != IR_VARYING) EXPECT(w->reg[lane][r->id] == want);
  }
}

static void run_block(Warp *w, uint32_t block, const bool *active) {
  const IrBlock *b = &w->c->blocks[block];
  uint32_t next[LANES];
  for (int lane = 0; lane < LANES; lane++) {
    next[lane] = block + 1 < w->c->nblocks ? block + 1 : IR_NONE;
    if (!w->u->block_divergent[block] && !is_finished(w, lane)) EXPECT(active[lane]);
  }
  for (uint32_t i = b->first; i < b->end; i++) {
    const PtxInstr *in = w->c->instrs[i];
    if (in->guard) check_register(w, active, in->guard);
    for (int k = 1; k < in->nops; k++)
      if (in->ops[k].kind == OPD_REG) check_register(w, active, in->ops[k].reg);
    for (int lane = 0; lane < LANES; lane++) {
      if (!active[lane] || (in->guard && !w->reg[lane][in->guard->id])) continue;
      if (in->op == OP_BRA) next[lane] = w->c->label_block[in->ops[0].label->id];
      else if (in->op == OP_RET || in->op == OP_EXIT) next[lane] = IR_NONE;
      else execute(w, lane, in);
    }
  }
  for (int lane = 0; lane < LANES; lane++)
    if (active[lane]) w->block[lane] = next[lane];
}

static void run_warp(const IrCfg *c, const IrUniform *u) {
  Warp w = {.c = c, .u = u};
  for (int step = 0; step < 300; step++) {
    uint32_t lowest = IR_NONE;
    for (int lane = 0; lane < LANES; lane++)
      if (w.block[lane] != IR_NONE) lowest = MIN(lowest, c->blocks[w.block[lane]].rpo);
    if (lowest == IR_NONE) return;
    bool active[LANES];
    for (int lane = 0; lane < LANES; lane++) active[lane] = w.block[lane] == c->order[lowest];
    run_block(&w, c->order[lowest], active);
  }
}

static uint32_t known_uniform, known_affine;

static void test_uniform_random(void) {
  for (int round = 0; round < 8000 && failures < 5; round++) {
    Str body = {0};
    uint32_t n = 2 + roll(10);
    for (int r = 0; r < 8; r++)
      str_printf(&body, "mov.u32 %%r%d, %s;\n", r,
                 (const char *[]){"%ctaid.x", "%tid.x", "7", "%tid.y"}[roll(4)]);
    for (int r = 0; r < 4; r++)
      str_printf(&body, "setp.lt.s32 %%p%d, %%r%u, %u;\n", r, roll(8), 30 + roll(8));
    for (uint32_t b = 0; b < n; b++) {
      str_printf(&body, "L%u:\n", b);
      for (uint32_t i = roll(4) + 1; i > 0; i--) {
        const char *guard = roll(6) ? "" : roll(2) ? "@%p0 " : "@%p1 ";
        uint32_t d = roll(8), x = roll(8), kind = roll(8);
        if (kind < 5) str_printf(&body, "%sadd.s32 %%r%u, %%r%u, %%r%u;\n", guard, d, x, roll(8));
        else if (kind < 6) str_printf(&body, "%sshl.b32 %%r%u, %%r%u, 2;\n", guard, d, x);
        else if (kind < 7)
          str_printf(&body, "%smov.u32 %%r%u, %s;\n", guard, d, roll(2) ? "%tid.x" : "3");
        else str_printf(&body, "setp.lt.s32 %%p%u, %%r%u, %u;\n", roll(4), x, 30 + roll(20));
      }
      uint32_t kind = roll(10), near = b + 1 + roll(3), to = roll(2) ? roll(n) : MIN(near, n - 1);
      if (kind < 6) str_printf(&body, "@%%p%u bra L%u;\n", roll(4), to);
      else if (kind < 7) str_printf(&body, "bra L%u;\n", to);
      else if (kind < 8) str_printf(&body, "%s\n", roll(2) ? "ret;" : "@%p2 exit;");
    }
    str_add(&body, "ret;\n");
    Error err = {""};
    Built b = build(body.data, &err);
    EXPECT(b.c);
    if (b.c) {
      int before = failures;
      IrUniform *u = ir_uniform_build(b.c, &(IrUniformFacts){.lanes_are_consecutive = true});
      run_warp(b.c, u);
      for (uint32_t r = 0; r < b.c->func->nregs; r++) {
        known_uniform += u->reg_class[r] == IR_UNIFORM;
        known_affine += u->reg_class[r] == IR_AFFINE;
      }
      ir_uniform_free(u);
      if (failures != before) printf("    round %d:\n%s\n", round, body.data);
    }
    destroy(&b);
    str_free(&body);
  }
  EXPECT(known_uniform > 5000 && known_affine > 1000);               // otherwise it proves nothing
}

static IrClass class_of(const IrCfg *c, const IrUniform *u, const char *name) {
  return u->reg_class[reg_id(c, name)];
}

static void test_uniform(void) {
  Error err = {""};
  Built b = build("mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 "
                  "%r4, %r1, %r2, %r3;\nsetp.ge.s32 %p1, %r4, 100;\n"
                  "@%p1 bra End;\nmov.u32 %r5, 0;\nLoop:\nadd.s32 %r5, %r5, 1;\nadd.s32 %r6, %r4, "
                  "%r5;\nshl.b32 %r7, %r6, 2;\nsetp.lt.s32 %p2, %r5, %r2;\n@%p2 bra Loop;\n"
                  "setp.lt.s32 %p3, %r7, %r5;\n@%p3 bra Skip;\nmov.u32 %r8, 1;\nSkip:\nmov.u32 "
                  "%r9, %r2;\nEnd:\nret;\n",
                  &err);
  EXPECT(b.c);
  if (b.c) {
    IrUniform *u = ir_uniform_build(b.c, &(IrUniformFacts){.lanes_are_consecutive = true});
    EXPECT(class_of(b.c, u, "%r1") == IR_UNIFORM && class_of(b.c, u, "%r3") == IR_AFFINE &&
           class_of(b.c, u, "%r4") == IR_AFFINE);
    EXPECT(class_of(b.c, u, "%r5") == IR_UNIFORM &&
           class_of(b.c, u, "%p2") == IR_UNIFORM);  // lanes at End are finished
    EXPECT(class_of(b.c, u, "%r7") == IR_AFFINE && u->stride[reg_id(b.c, "%r7")] == 4);
    EXPECT(class_of(b.c, u, "%p1") == IR_VARYING && class_of(b.c, u, "%p3") == IR_VARYING);
    EXPECT(class_of(b.c, u, "%r8") == IR_VARYING && class_of(b.c, u, "%r9") == IR_UNIFORM);
    ir_uniform_free(u);
    u = ir_uniform_build(b.c, &(IrUniformFacts){.lanes_are_consecutive = false});
    EXPECT(class_of(b.c, u, "%r3") == IR_VARYING && class_of(b.c, u, "%r5") == IR_UNIFORM);
    ir_uniform_free(u);
  }
  destroy(&b);
  // A loop that lanes leave at different times: what it counts differs afterwards.
  b = build("mov.u32 %r1, 0;\nmov.u32 %r3, %tid.x;\nLoop:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, "
            "%r1, %r3;\n@%p1 bra Loop;\nadd.s32 %r2, %r1, 1;\nmov.u32 %r4, 3;\nret;\n",
            &err);
  EXPECT(b.c);
  if (b.c) {
    IrUniform *u = ir_uniform_build(b.c, &(IrUniformFacts){.lanes_are_consecutive = true});
    EXPECT(class_of(b.c, u, "%r1") == IR_VARYING && class_of(b.c, u, "%r2") == IR_VARYING &&
           class_of(b.c, u, "%r4") == IR_UNIFORM);
    EXPECT(u->block_divergent[1] && !u->block_divergent[0] && !u->block_divergent[2]);
    ir_uniform_free(u);
  }
  destroy(&b);
}

// --- size: nothing may be quadratic ---

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);       // others may use the machine too
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_size(void) {
  Str body = {0};
  enum { N = 25000 };
  str_add(&body, "mov.u32 %r0, %tid.x;\n");
  for (int i = 0; i < N; i++)
    str_printf(&body,
               "setp.eq.s32 %%p1, %%r%d, %d;\n@%%p1 bra Out;\nadd.s32 %%r%d, %%r%d, 1;\nmul.f32 "
               "%%f1, %%f2, %%f3;\n",
               i % 20, i, (i + 1) % 20, i % 20);
  str_add(&body, "Out:\nmov.u32 %r1, 1;\nret;\n");
  Error err = {""};
  Built b = build(body.data, &err);
  EXPECT(b.c);
  double t = seconds();
  if (b.c) {
    for (int i = 0; i < 3; i++) {
      IrCfg *c = ir_cfg_build(b.m->funcs[0], &err);
      ir_liveness_free(ir_liveness_build(c));
      ir_uniform_free(ir_uniform_build(c, &(IrUniformFacts){.lanes_are_consecutive = true}));
      ir_cfg_free(c);
    }
    EXPECT(ir_contract(b.m, &err));
    t = seconds() - t;
    EXPECT(t < 5);  // 0.1 s on an ordinary machine; quadratic would be minutes
  }
  destroy(&b);
  str_free(&body);
}

// One address after the other through a store; `want` lists what each was computed from, as the
// dump writes it.
static void expect_origins(const char *body, const char *want, int line) {
  Str text = {0};
  str_printf(&text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 g[4];\n.visible .entry "
             "k(.param .u64 a, .param .u64 n, "
             ".param .align 8 .b8 s[16])\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<9>;\n.reg .b64 "
             "%%d<20>;\n.shared .u32 t[4];\n"
             "ld.param.u64 %%d1, [a];\ncvta.to.global.u64 %%d2, %%d1;\nld.param.u64 %%d3, "
             "[n];\nld.param.u64 %%d4, [s+8];\n%sret;\n}\n",
             body);
  Error err = {""};
  PtxModule *m = ptx_parse(text.data, text.len, "test", &err);
  IrCfg *c = m && ptx_verify(m, &err) ? ir_cfg_build(m->funcs[0], &err) : NULL;
  Str got = {0};
  str_add(&got, "");
  if (c) {
    IrProvenance *p = ir_provenance_build(c);
    for (uint32_t i = 0; i < c->ninstrs; i++) {
      if (c->instrs[i]->op != OP_ST) continue;
      IrOrigin o = ir_access_origin(p, &c->instrs[i]->ops[0]);
      if (o.kind == IR_FROM_PARAM) str_printf(&got, "%s+%d ", o.var->name, (int)o.offset);
      else str_printf(&got, "%s ", o.kind == IR_FROM_VAR ? o.var->name : "?");
    }
    ir_provenance_free(p);
  }
  if (strcmp(got.data, want)) printf("got '%s' %s\n", got.data, err.text);
  check(!strcmp(got.data, want), want, line);
  str_free(&got);
  str_free(&text);
  ir_cfg_free(c);
  if (m) ptx_free(m);
}
#define ORIGINS(body, want) expect_origins(body, want, __LINE__)

static void test_provenance(void) {
  ORIGINS("st.global.u32 [%d2], 1;\nst.u32 [%d4+4], 1;\nst.global.u32 [g+4], 1;\nst.shared.u32 "
          "[t], 1;\n",
          "a+0 s+8 g t ");
  // indices of every make keep the object; a size parameter added to a pointer is an index
  ORIGINS("mul.wide.s32 %d5, %r1, 4;\nadd.s64 %d6, %d2, %d5;\nst.global.u32 [%d6], 1;\nmad.lo.s64 "
          "%d7, %d5, %d3, %d6;\nst.global.u32 [%d7], 1;\n"
          "add.s64 %d8, %d3, %d2;\nst.global.u32 [%d8], 1;\nsub.s64 %d9, %d8, %d5;\nst.global.u32 "
          "[%d9], 1;\n",
          "a+0 a+0 a+0 a+0 ");
  // loops join; null is no second object; two objects are
  ORIGINS("mov.u64 %d5, %d2;\nL:\nst.global.u32 [%d5], 1;\nadd.s64 %d5, %d5, 4;\n@%p1 bra L;\n",
          "a+0 ");
  ORIGINS("selp.b64 %d5, %d2, 0, %p1;\nst.global.u32 [%d5], 1;\nselp.b64 %d6, %d2, %d4, "
          "%p1;\nst.global.u32 [%d6], 1;\n",
          "a+0 ? ");
  // from memory, by masking, from a difference of pointers, from a half
  ORIGINS("ld.global.u64 %d5, [%d2];\nst.u32 [%d5], 1;\nand.b64 %d6, %d2, -128;\nst.global.u32 "
          "[%d6], 1;\nadd.s64 %d7, %d2, %d5;\nst.global.u32 [%d7], 1;\n"
          "mov.b64 %d8, {%r1, %r2};\nst.u32 [%d8], 1;\n",
          "? ? ? ? ");
  ORIGINS(
      "mov.u32 %r1, t;\nshl.b32 %r2, %r3, 2;\nadd.s32 %r4, %r1, %r2;\nst.shared.u32 [%r4], 1;\n",
      "t ");
}

// The addresses of all stores, as the dump writes them, in the module of expect_origins.
static void expect_addresses(const char *body, const char *want, int line) {
  Str text = {0}, dump = {0}, got = {0};
  str_printf(&text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 "
             "a)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<9>;\n"
             ".reg .b64 %%d<20>;\n.shared .u32 t[4];\nld.param.u64 %%d1, [a];\ncvta.to.global.u64 "
             "%%d2, %%d1;\n%sret;\n}\n",
             body);
  Error err = {""};
  PtxModule *m = ptx_parse(text.data, text.len, "test", &err);
  IrCfg *c = m && ptx_verify(m, &err) ? ir_cfg_build(m->funcs[0], &err) : NULL;
  str_add(&dump, "");
  str_add(&got, "");
  if (c) ir_dump_provenance(c, &dump);
  for (char *l = strtok(dump.data, "\n"); l; l = strtok(NULL, "\n")) {
    char *end = strstr(l, "  st.");
    if (end) str_printf(&got, "%.*s|", (int)(end - l - 4), l + 4);
  }
  if (strcmp(got.data, want)) printf("got '%s' %s\n", got.data, err.text);
  check(!strcmp(got.data, want), want, line);
  str_free(&got);
  str_free(&dump);
  str_free(&text);
  ir_cfg_free(c);
  if (m) ptx_free(m);
}
#define ADDRESSES(body, want) expect_addresses(body, want, __LINE__)

static void test_addresses(void) {
  ADDRESSES("mul.wide.s32 %d5, %r1, 4;\nadd.s64 %d6, %d2, %d5;\nst.global.u32 [%d6+8], 1;\n",
            "a@0 + 4 * %r1.s32 + 8|");
  ADDRESSES("cvt.u64.u32 %d5, %r1;\nshl.b64 %d6, %d5, 3;\nadd.s64 %d7, %d6, %d2;\nadd.s64 %d8, "
            "%d7, -16;\nst.global.u32 [%d8], 1;\n",
            "a@0 + 8 * %r1.u32 + -16|");
  ADDRESSES("mad.lo.s64 %d5, %d9, 12, %d2;\nst.global.u32 [%d5], 1;\nst.shared.u32 [t+4], 1;\n",
            "a@0 + 12 * %d9|t + 4|");
  // an index that has moved on since is not the index; one that moves on afterwards is
  ADDRESSES("mov.u32 %r1, 0;\nL:\nmul.wide.s32 %d5, %r1, 4;\nadd.s64 %d6, %d2, %d5;\nadd.s32 %r1, "
            "%r1, 1;\nst.global.u32 [%d6], 1;\n@%p1 bra L;\n",
            "a@0 + ?|");
  ADDRESSES("mov.u32 %r1, 0;\nL:\nmul.wide.s32 %d5, %r1, 4;\nadd.s64 %d6, %d2, %d5;\nst.global.u32 "
            "[%d6], 1;\nadd.s32 %r1, %r1, 1;\n@%p1 bra L;\n",
            "a@0 + 4 * %r1.s32|");
  // two indices, a pointer that moves, a guarded write
  ADDRESSES("add.s64 %d5, %d2, %d9;\nadd.s64 %d6, %d5, %d10;\nst.global.u32 [%d6], 1;\n", "? + ?|");
  ADDRESSES("mov.u64 %d5, %d2;\nL:\nst.global.u32 [%d5], 1;\nadd.s64 %d5, %d5, 4;\n@%p1 bra L;\n",
            "a@0 + ?|");
  ADDRESSES("mul.wide.s32 %d5, %r1, 4;\n@%p1 mul.wide.s32 %d5, %r2, 4;\nadd.s64 %d6, %d2, "
            "%d5;\nst.global.u32 [%d6], 1;\n",
            "a@0 + 1 * %d5|");
}

// The plan of the only loop, as the dump writes it.
static void expect_plan(const char *body, const char *want, int line) {
  Str text = {0}, dump = {0};
  str_printf(&text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred "
             "%%p<4>;\n.reg .b32 %%r<9>;\n"
             ".reg .b64 %%d<20>;\nmov.u32 %%r7, 0;\n%sret;\n}\n",
             body);
  Error err = {""};
  PtxModule *m = ptx_parse(text.data, text.len, "test", &err);
  IrCfg *c = m && ptx_verify(m, &err) ? ir_cfg_build(m->funcs[0], &err) : NULL;
  str_add(&dump, "");
  if (c) ir_dump_loop_plans(c, &dump);
  if (strcmp(dump.data, want)) printf("got '%s' %s\n", dump.data, err.text);
  check(!strcmp(dump.data, want), want, line);
  str_free(&dump);
  str_free(&text);
  ir_cfg_free(c);
  if (m) ptx_free(m);
}
#define PLAN(body, want) expect_plan(body, want, __LINE__)

static void test_linear(void) {
  // a pointer that moves in several steps by a register, a counter that runs to zero
  PLAN("L:\nst.u32 [%d1], 1;\nadd.s64 %d2, %d1, %d5;\nst.u32 [%d2+4], 1;\nadd.s64 %d1, %d2, "
       "%d5;\nadd.s32 %r1, %r1, -1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L;\n",
       "  L0: goes on while .ne 0: -1 + 1 * %r1.s32, step -1\n    fits s32: -1 + 1 * %r1.s32, step "
       "-1\n"
       "    0 + 1 * %d1, step 0 + 2 * %d5  st.u32 [%d1], 1;\n    4 + 1 * %d1 + 1 * %d5, step 0 + 2 "
       "* %d5  st.u32 [%d2+4], 1;\n");
  // an index that is widened; the test is turned around
  PLAN("L:\nmul.wide.u32 %d2, %r1, 8;\nadd.s64 %d3, %d1, %d2;\nst.u32 [%d3], 1;\nadd.s32 %r1, %r1, "
       "2;\nsetp.ge.u32 %p1, %r1, %r2;\n@!%p1 bra L;\n",
       "  L0: goes on while .lt 0: 2 + 1 * %r1.u32 + -1 * %r2.u32, step 2\n    fits u32: 0 + 1 * "
       "%r1.u32, step 2\n    fits u32: 2 + 1 * %r1.u32, step 2\n"
       "    0 + 1 * %d1 + 8 * %r1.u32, step 16  st.u32 [%d3], 1;\n");
  // two paths that agree, two that do not, a guarded write
  PLAN("L:\n@%p2 bra M;\nadd.s32 %r3, %r3, 1;\nM:\nst.u32 [%d1], 1;\ncvt.s64.s32 %d3, %r3;\nst.u32 "
       "[%d3], 1;\nadd.s64 %d1, %d1, 4;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 9;\n@%p1 bra "
       "L;\n",
       "  L0: goes on while .lt 0: -8 + 1 * %r1.s32, step 1\n    fits s32: 1 + 1 * %r1.s32, step "
       "1\n    0 + 1 * %d1, step 4  st.u32 [%d1], 1;\n");
  PLAN("L:\nst.u32 [%d1], 1;\n@%p2 add.s64 %d1, %d1, 4;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, "
       "%r1, 9;\n@%p1 bra L;\n",
       "  L0: goes on while .lt 0: -8 + 1 * %r1.s32, step 1\n    fits s32: 1 + 1 * %r1.s32, step "
       "1\n");
  // a way back of two branches, as LLVM writes it
  PLAN("L:\nst.u32 [%d1], 1;\nadd.s64 %d1, %d1, 4;\nadd.s32 %r1, %r1, 1;\nsetp.eq.s32 %p1, %r1, "
       "9;\n@%p1 bra M;\nbra L;\nM:\n",
       "  L0: goes on while .ne 0: -8 + 1 * %r1.s32, step 1\n    fits s32: 1 + 1 * %r1.s32, step "
       "1\n    0 + 1 * %d1, step 4  st.u32 [%d1], 1;\n");
  // pointers that move by what the index moves by, times a number
#define BY_REGISTER(before) \
  "ld.u32 %r2, [%d9];\n" before \
  "L:\nst.u32 [%d1], 1;\nadd.s64 %d1, %d1, %d2;\nadd.s32 %r1, %r1, %r2;\n" \
  "setp.lt.s32 %p1, %r1, 9;\n@%p1 bra L;\n"
#define MOVES_BY(step) \
  "  L0: goes on while .lt 0: -9 + 1 * %r1.s32 + 1 * %r2.s32, step 0 + 1 * %r2.s32\n" \
  "    fits s32: 0 + 1 * %r1.s32 + 1 * %r2.s32, step 0 + 1 * %r2.s32\n" \
  "    0 + 1 * %d1, step 0 + " step "  st.u32 [%d1], 1;\n"
  PLAN(BY_REGISTER("mul.wide.s32 %d2, %r2, 4;\n"), MOVES_BY("4 * %r2.s32"));
  PLAN(BY_REGISTER("cvt.s64.s32 %d3, %r2;\nshl.b64 %d2, %d3, 3;\n"), MOVES_BY("8 * %r2.s32"));
  PLAN(BY_REGISTER("mul.wide.u32 %d2, %r2, 4;\n"), MOVES_BY("4 * %r2.u32"));
  // not where the product may be another one
  PLAN(BY_REGISTER("mul.lo.s64 %d2, %d5, 4;\n"), MOVES_BY("1 * %d2"));
  PLAN(BY_REGISTER("@%p2 mul.wide.s32 %d2, %r2, 4;\n"), MOVES_BY("1 * %d2"));
  PLAN(BY_REGISTER("mul.wide.s32 %d2, %r2, 4;\nadd.s32 %r2, %r2, 1;\n"), MOVES_BY("1 * %d2"));
  // nothing counts
  PLAN("L:\nld.u32 %r1, [%d1];\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L;\n", "  L0: not counted\n");
  PLAN("L:\nshl.b32 %r1, %r1, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L;\n", "  L0: not counted\n");
}

// Is the address of the last store a multiple of 4, if the pointers among the parameters are?
static void expect_aligned(const char *body, bool want, int line) {
  Str text = {0};
  str_printf(&text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, "
             ".param .u64 n)\n{\n.reg .b32 %%r<9>;\n.reg .b64 %%d<20>;\nld.param.u64 %%d1, "
             "[a];\nld.param.u64 %%d2, [n];\ncvt.u32.u64 %%r1, %%d2;\n%sst.u32 [%%d3], "
             "1;\nret;\n}\n",
             body);
  Error err = {""};
  PtxModule *m = ptx_parse(text.data, text.len, "test", &err);
  IrCfg *c = m && ptx_verify(m, &err) ? ir_cfg_build(m->funcs[0], &err) : NULL;
  check(c, err.text, line);
  if (c) {
    IrAlignment *a = ir_alignment_build(c);
    bool got = ir_is_aligned(a, &c->instrs[c->ninstrs - 2]->ops[0], 4, true);
    check(got == want, body, line);
    ir_alignment_free(a);
  }
  ir_cfg_free(c);
  str_free(&text);
  if (m) ptx_free(m);
}

static void test_alignment(void) {
  expect_aligned("add.s64 %d3, %d1, 8;\n", true, __LINE__);
  expect_aligned("add.s64 %d3, %d1, %d2;\n", false, __LINE__);
  // a number among the parameters looks like a pointer: a product or a shift of it does not
  expect_aligned("mul.wide.s32 %d4, %r1, 4;\nadd.s64 %d3, %d1, %d4;\n", true, __LINE__);
  expect_aligned("shl.b64 %d4, %d2, 2;\nadd.s64 %d3, %d1, %d4;\n", true, __LINE__);
  expect_aligned("mul.wide.s32 %d4, %r1, 6;\nadd.s64 %d3, %d1, %d4;\n", false, __LINE__);
  expect_aligned("shl.b64 %d4, %d2, 2;\nshr.u64 %d4, %d4, 1;\nadd.s64 %d3, %d1, %d4;\n", false,
                 __LINE__);
  expect_aligned("mul.lo.s64 %d4, %d2, %d1;\nadd.s64 %d3, %d1, %d4;\n", false, __LINE__);
}

int main(void) {
  static const struct { const char *name; void (*run)(void);
  } tests[] = {
      {"if-else", test_if_else},
      {"loops", test_loops},
      {"branch-table", test_table},
      {"endless", test_endless},
      {"verifier", test_verify_finds},
      {"contract", test_contract},
      {"random-graphs", test_random},
      {"uniform", test_uniform},
      {"uniform-random", test_uniform_random},
      {"provenance", test_provenance},
      {"addresses", test_addresses},
      {"linear", test_linear},
      {"alignment", test_alignment},
      {"size", test_size},
  };
  int bad = 0;
  for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
    failures = 0;
    current = tests[i].name;
    tests[i].run();
    if (!failures) printf("ok %s\n", current);
    bad += failures != 0;
  }
  return bad != 0;
}
