// The LLVM text of a whole function: its entrances, its instructions in the order of the decoded
// code, and its exits.
#include "vgpu/region/region.h"

enum { MOST_INSTS = 6000, MOST_TEXT = 24 << 20 };

// --- what is known before the first line ---
typedef struct Backwards {
  uint64_t *set;
  bool guarded, defs;
} Backwards;

static void live_through(void *ctx, PtxReg **reg, bool is_def) {
  Backwards *b = ctx;
  uint64_t bit = 1ull << ((*reg)->id & 63), *word = &b->set[(*reg)->id / 64];
  if (b->defs && is_def && !b->guarded) *word &= ~bit;
  if (!b->defs && !is_def) *word |= bit;
}

static void find_live(Region *r, Arena *a) {
  uint32_t words = r->live->words;
  r->before = ARENA_ARRAY(a, uint64_t *, r->cfg->ninstrs + 1);
  uint64_t *set = mem_alloc((words + 1) * sizeof *set);
  for (uint32_t b = 0; b < r->cfg->nblocks; b++) {
    memcpy(set, r->live->live_out[b], words * sizeof *set);
    for (uint32_t i = r->cfg->blocks[b].end; i-- > r->cfg->blocks[b].first;) {
      PtxInstr *in = r->cfg->instrs[i];
      Backwards w = {.set = set, .guarded = in->guard != NULL, .defs = true};
      ptx_visit_regs(in, live_through, &w);
      w.defs = false;
      ptx_visit_regs(in, live_through, &w);
      r->before[i] = ARENA_ARRAY(a, uint64_t, words + 1);
      memcpy(r->before[i], set, words * sizeof *set);
    }
  }
  free(set);
}

typedef struct Writer {
  Region *r;
  const PtxInstr *in;
} Writer;

static void mark_written(void *ctx, PtxReg **reg, bool is_def) {
  Writer *w = ctx;
  uint32_t id = (*reg)->id;
  if (!is_def) return;
  bool number = w->in->op == OP_MOV && !w->in->guard && w->in->nops == 2 &&
                w->in->ops[1].kind == OPD_INT;
  w->r->constant[id] = number && !w->r->written[id] ? w->in : NULL;
  w->r->written[id] = true;
}

static void find_registers(Region *r, Arena *a) {
  uint32_t n = r->func->nregs;
  r->kept = ARENA_ARRAY(a, bool, n + 1);
  r->written = ARENA_ARRAY(a, bool, n + 1);
  r->lazy_nan = ARENA_ARRAY(a, bool, n + 1);
  r->lanes = ARENA_ARRAY(a, uint8_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const PtxReg *reg = r->func->regs[i];
    PtxKind k = ptx_type_kind(reg->type);
    r->kept[i] = r->code->slots[i] != UINT32_MAX && !reg->vector && k != KIND_OPAQUE &&
                 slot_width(reg->type) <= 8;
  }
  r->constant = ARENA_ARRAY(a, const PtxInstr *, n + 1);
  for (uint32_t i = 0; i < r->cfg->ninstrs; i++) {
    Writer w = {r, r->cfg->instrs[i]};
    ptx_visit_regs(r->cfg->instrs[i], mark_written, &w);
  }
}

// Does an Inst begin or continue the PTX instruction of `src`?
static bool is_part(const Inst *in, const PtxInstr *src) {
  return in->src == src && !region_is_control(in) && in->fn != exec_return;
}

static bool find_groups(Region *r, Arena *a) {
  uint32_t n = r->code->ninsts;
  r->shape = ARENA_ARRAY(a, uint8_t, n + 1);
  r->group_end = ARENA_ARRAY(a, uint32_t, n + 1);
  r->exits = ARENA_ARRAY(a, bool, n + 1);
  r->label = ARENA_ARRAY(a, bool, n + 1);
  for (uint32_t i = 0; i < n;) {
    const Inst *first = &r->code->insts[i];
    if (region_is_control(first)) {
      i++;
      continue;
    }
    uint32_t end = i + 1;
    if (first->fn != exec_return)
      while (end < n && is_part(&r->code->insts[end], first->src)) end++;
    if (first->src && region_number(r, first->src) == IR_NONE) return false;
    r->shape[i] = (uint8_t)region_shape(r, first, end - i);
    // an instruction that is not there has no registers to look at
    r->group_end[i] = first->src ? end : 0;
    i = end;
  }
  return true;
}

// Registers that live before an Inst.
const uint64_t *region_live_at(const Region *r, const Inst *in) {
  uint32_t n = region_number(r, in->src);
  if (n == IR_NONE) return NULL;
  bool falls_through = (in->fn == exec_jump && in->src->op != OP_BRA) ||
                       (in->fn == exec_return && in->src->op != OP_RET);
  return falls_through ? r->live->live_out[r->cfg->block_of[n]] : r->before[n];
}

bool region_is_live(const uint64_t *set, const PtxReg *reg) {
  return set && set[reg->id / 64] >> (reg->id & 63) & 1;
}

// --- entering ---
void region_declare(Region *r) {
  region_line(r, "%%unused = alloca i32");
  for (uint32_t i = 0; i < r->func->nregs; i++) {
    if (!r->kept[i]) continue;
    unsigned bits = region_bits(r->func->regs[i]);
    LaneClass c = (LaneClass)r->lanes[i];
    region_line(r, "%%r%u = alloca %s", i,
                region_int(c >= LANES_MIXED ? FORM_VECTOR : FORM_SAME, bits));
    if (c != LANES_LINEAR && c != LANES_ROWS) continue;
    if (c == LANES_LINEAR) region_line(r, "%%r%ux = alloca %s", i, region_int(FORM_SAME, bits));
    if (r->columns < LANES) region_line(r, "%%r%uy = alloca %s", i, region_int(FORM_SAME, bits));
  }
  for (uint32_t i = 0; i < MOST_PREFETCHED && !r->block; i++) {
    region_line(r, "%%address%u = alloca i64", i);
    region_line(r, "store i64 0, ptr %%address%u", i);
  }
  region_masked_declare(r);
}

static Name lane_of(Region *r, Name v, unsigned bits, unsigned lane) {
  return region_emit(r, "extractelement %s %s, i32 %u", region_int(FORM_VECTOR, bits), v.text,
                     lane);
}

// Takes a register from its slot. The result says whether its lanes are as the code assumes.
static Name enter_register(Region *r, const PtxReg *reg) {
  LaneClass c = (LaneClass)r->lanes[reg->id];
  unsigned bits = region_bits(reg);
  if (c >= LANES_MIXED) {
    region_reload(r, reg);
    return (Name){"true"};
  }
  Name at = region_slot(r, r->code->slots[reg->id]);
  if (bits == 1) {
    Name mask = region_emit(r, "load i32, ptr %s, align 4", at.text);
    Name up = region_emit(r, "add i32 %s, 1", mask.text);  // 0 and -1 become 1 and 0
    Name good = region_emit(r, "icmp ule i32 %s, 1", up.text);
    Name v = region_emit(r, "trunc i32 %s to i1", mask.text);
    region_write(r, reg, region_value(FORM_SAME, 1, v));
    return good;
  }
  const char *t = region_int(FORM_SAME, bits), *vt = region_int(FORM_VECTOR, bits);
  Name v = region_emit(r, "load %s, ptr %s, align 64", vt, at.text);
  LaneValue x = region_value(c == LANES_SAME ? FORM_SAME : FORM_LINEAR, bits,
                             lane_of(r, v, bits, 0));
  if (c == LANES_LINEAR) {
    Name next = lane_of(r, v, bits, 1);
    x.x = region_emit(r, "sub %s %s, %s", t, next.text, x.base.text);
  }
  if (c != LANES_SAME && r->columns < LANES) {
    Name next = lane_of(r, v, bits, r->columns);
    x.y = region_emit(r, "sub %s %s, %s", t, next.text, x.base.text);
  }
  region_write(r, reg, x);
  Name all = region_vector(r, &x);
  Name differ = region_emit(r, "icmp ne %s %s, %s", vt, v.text, all.text);
  Name mask = region_emit(r, "bitcast <32 x i1> %s to i32", differ.text);
  return region_emit(r, "icmp eq i32 %s, 0", mask.text);
}

static void emit_entry(Region *r, uint32_t head) {
  const uint64_t *live = region_live_at(r, &r->code->insts[head]);
  str_printf(r->to, "E%u:\n", head);
  Name good = {"true"};
  for (uint32_t i = 0; i < r->func->nregs; i++) {
    if (!r->kept[i] || !region_is_live(live, r->func->regs[i])) continue;
    Name one = enter_register(r, r->func->regs[i]);
    if (strcmp(one.text, "true")) good = region_emit(r, "and i1 %s, %s", good.text, one.text);
  }
  region_line(r, "br i1 %s, label %%I%u, label %%refuse", good.text, head);
}

bool region_is_entry(const Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  if (r->inside[i] || r->closed[i]) return false;
  return region_is_head(in) && !region_is_cold(r, in) && region_live_at(r, in);
}

static void emit_start(Region *r) {
  str_add(r->to, "define ptr @region(ptr %w, ptr %in, ptr %env) #0 {\nstart:\n");
  region_declare(r);
  static const struct {
    const char *name, *base, *type;
    size_t offset;
  } fields[] = {
      {"regs", "%w", "ptr", offsetof(Warp, regs)},
      {"launch", "%w", "ptr", offsetof(Warp, launch)},
      {"block", "%w", "ptr", offsetof(Warp, block)},
      {"shared", "%w", "i64", offsetof(Warp, shared)},
      {"arguments", "%launch", "ptr", offsetof(Launch, arguments)},
      {"shared_end32", "%block", "i32", offsetof(Block, shared_end)},
      {"window", "%env", "i64", offsetof(RegionEnv, window)},
      {"index", "%in", "i32", offsetof(Inst, d)},
  };
  for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
    Name at = region_field(r, fields[k].base, fields[k].offset);
    region_line(r, "%%%s = load %s, ptr %s", fields[k].name, fields[k].type, at.text);
  }
  region_line(r, "%%shared_end = zext i32 %%shared_end32 to i64");
  region_line(r, "%%index64 = zext i32 %%index to i64");
  region_line(r, "%%back = mul i64 %%index64, -%zu", sizeof(Inst));
  region_line(r, "%%insts = getelementptr i8, ptr %%in, i64 %%back");
  str_add(r->to, "  switch i32 %index, label %refuse [\n");
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (region_is_entry(r, i)) str_printf(r->to, "    i32 %u, label %%E%u\n", i, i);
  str_printf(r->to, "  ]\nrefuse:\n  %%after = getelementptr i8, ptr %%in, i64 %zu\n",
             sizeof(Inst));
  str_add(r->to, "  ret ptr %after\n");
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (region_is_entry(r, i)) emit_entry(r, i);
}

// --- leaving ---
static void emit_exit(Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  const uint64_t *live = region_live_at(r, in);
  str_printf(r->to, "X%u:\n", i);
  for (uint32_t k = 0; k < r->func->nregs; k++)
    if (r->kept[k] && r->written[k] && region_is_live(live, r->func->regs[k]))
      region_spill(r, r->func->regs[k]);
  Name at = region_inst(r, in);
  if (r->block) region_block_leave(r, at);
  else region_line(r, "ret ptr %s", at.text);
}

// --- instructions ---
// Goes to `to`; a way back takes from the budget, and leaves where it is used up.
static void emit_go(Region *r, uint32_t from, uint32_t to) {
  if (to <= from) {
    Name at = region_field(r, "%w", offsetof(Warp, budget));
    Name left = region_emit(r, "load i32, ptr %s", at.text);
    Name good = region_emit(r, "icmp sgt i32 %s, 0", left.text);
    Name on = region_label(r), out = region_exit(r, &r->code->insts[from]);
    region_expect(r, good, on, out);
    region_place(r, on);
    Name less = region_emit(r, "add i32 %s, -1", left.text);
    region_line(r, "store i32 %s, ptr %s", less.text, at.text);
  }
  region_line(r, "br label %%I%u", to);
}

static uint32_t target_of(const Region *r, const Inst *in) {
  return (uint32_t)(in->target - r->code->insts);
}

static void emit_branch(Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  const PtxInstr *src = in->src;
  LaneValue p = region_read(r, src->guard, false);
  Name taken = region_label(r), mask = {""}, out = {""};
  bool masked = p.form != FORM_SAME && region_masked_can(r, i);
  if (p.form == FORM_SAME) {
    if (src->guard_negated) p.base = region_emit(r, "xor i1 %s, true", p.base.text);
    region_line(r, "br i1 %s, label %%%s, label %%I%u", p.base.text, taken.text, i + 1);
  } else {
    mask = region_emit(r, "bitcast <32 x i1> %s to i32", p.base.text);
    out = masked ? region_label(r) : region_exit(r, in);
    int all = src->guard_negated ? 0 : -1;
    region_line(r, "switch i32 %s, label %%%s [ i32 %d, label %%%s i32 %d, label %%I%u ], !prof !2",
                mask.text, out.text, all, taken.text, -1 - all, i + 1);
  }
  region_place(r, taken);
  emit_go(r, i, target_of(r, in));
  if (!masked) return;
  region_place(r, out);
  region_masked_enter(r, i, mask);
}

// brx.idx by a register of the compiled code that is the same for all lanes.
static bool is_switch(const Region *r, const Inst *in) {
  if (in->fn != exec_branch_indexed) return false;
  const PtxOperand *o = &in->src->ops[0];
  return o->kind == OPD_REG && r->kept[o->reg->id] && !o->selector && region_bits(o->reg) == 32 &&
         r->lanes[o->reg->id] == LANES_SAME;
}

static uint32_t switch_target(const Region *r, const Inst *in, uint32_t k) {
  return (uint32_t)(((const Inst *const *)in->ptr)[k] - r->code->insts);
}

// An index past the table is the interpreter's.
static void emit_switch(Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  LaneValue index = region_read(r, in->src->ops[0].reg, false);
  Name way[256];
  uint32_t n = MIN(in->b, (uint32_t)ARRAY_LEN(way));
  region_line(r, "switch i32 %s, label %%%s [", index.base.text, region_exit(r, in).text);
  for (uint32_t k = 0; k < n; k++) {
    way[k] = region_label(r);
    region_line(r, "  i32 %u, label %%%s", k, way[k].text);
  }
  region_line(r, "]");
  for (uint32_t k = 0; k < n; k++) {
    region_place(r, way[k]);
    emit_go(r, i, switch_target(r, in, k));
  }
}

static void emit_body(Region *r, uint32_t i) {
  const Inst *first = &r->code->insts[i];
  Shape s = (Shape)r->shape[i];
  switch (s) {
    case SHAPE_UNKNOWN: region_call(r, first, r->group_end[i] - i); break;
    case SHAPE_PARAM:
    case SHAPE_LOAD:
    case SHAPE_STORE:
    case SHAPE_LOCAL: region_access(r, first, s); break;
    case SHAPE_SHUFFLE:
    case SHAPE_VOTE: region_warp(r, first->src, s); break;
    case SHAPE_PACK: region_pack(r, first->src); break;
    case SHAPE_UNPACK: region_unpack(r, first->src); break;
    case SHAPE_SREG: {
      const PtxReg *g = first->src->guard;
      if (g && r->lanes[g->id] != LANES_SAME) region_call(r, first, r->group_end[i] - i);
      else region_sreg(r, first->src);
      break;
    }
    default: region_op(r, first, s); break;
  }
}

// A guard that is the same for all lanes is a branch.
void region_instruction(Region *r, uint32_t i) {
  const PtxInstr *in = r->code->insts[i].src;
  bool branch = in->guard && r->kept[in->guard->id] && r->lanes[in->guard->id] == LANES_SAME;
  if (!branch) {
    emit_body(r, i);
    return;
  }
  LaneValue p = region_read(r, in->guard, false);
  Name does = region_label(r), done = region_label(r);
  region_line(r, "br i1 %s, label %%%s, label %%%s", p.base.text,
              in->guard_negated ? done.text : does.text, in->guard_negated ? does.text : done.text);
  region_place(r, does);
  emit_body(r, i);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
}

// One Inst, or all of a PTX instruction. False: the block has ended.
static bool emit_at(Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  if (region_is_cold(r, in)) {
    region_line(r, "br label %%%s", region_exit(r, in).text);
    return false;
  }
  if (region_is_head(in) || in->fn == exec_join) return true;
  if (in->fn == exec_jump) emit_go(r, i, target_of(r, in));
  else if (in->fn == exec_branch) {
    if (r->kept[in->src->guard->id]) emit_branch(r, i);
    else region_line(r, "br label %%%s", region_exit(r, in).text);
  } else if (is_switch(r, in)) emit_switch(r, i);
  else if (r->shape[i] == SHAPE_STOP) {
    if (!r->block || !region_block_stop(r, i))
      region_line(r, "br label %%%s", region_exit(r, in).text);
  } else {
    region_instruction(r, i);
    return true;
  }
  return false;
}

static void emit_code(Region *r) {
  uint32_t n = r->code->ninsts;
  bool *label = r->label;
  for (uint32_t i = 0; i < n; i++) {
    const Inst *in = &r->code->insts[i];
    if (region_is_entry(r, i) || r->waits[i]) label[i] = true;
    if (r->inside[i] || r->predicated_end[i]) continue;
    if (in->fn == exec_jump || in->fn == exec_branch) label[target_of(r, in)] = true;
    if (in->fn == exec_branch) label[i + 1] = true;
    if (is_switch(r, in))
      for (uint32_t k = 0; k < in->b; k++) label[switch_target(r, in, k)] = true;
  }
  bool open = false;
  for (uint32_t i = 0; i < n && !r->failed && r->to->len < MOST_TEXT;) {
    if (label[i]) {
      if (open) region_line(r, "br label %%I%u", i);
      str_printf(r->to, "I%u:\n", i);
      r->ngroups = 0;
      open = true;
    }
    uint32_t next = region_after(r, i);
    if (r->predicated_end[i]) next = open ? region_predicated(r, i) : r->predicated_end[i];
    else if (open) open = emit_at(r, i);
    i = next;
  }
  if (open) region_line(r, "unreachable");
  if (label[n]) str_printf(r->to, "I%u:\n  unreachable\n", n);
  r->ngroups = 0;
  region_masked_code(r);
  if (r->block) region_block_end(r);
  for (uint32_t i = 0; i < n && !r->failed; i++)
    if (r->exits[i]) emit_exit(r, i);
}

static void emit_end(Region *r) {
  str_add(r->to, "}\n");
  region_declare_calls(r);
  str_add(r->to, "!0 = !{}\n"
                 "!1 = !{!\"branch_weights\", i32 2000, i32 1}\n"
                 "!2 = !{!\"branch_weights\", i32 1, i32 1000, i32 1000}\n");
  str_add(r->to, "attributes #0 = { nounwind \"prefer-vector-width\"=\"512\" "
                 "\"min-legal-vector-width\"=\"512\" }\n");
}

static uint32_t count_warm(const Region *r) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->code->ninsts; i++) n += !region_is_cold(r, &r->code->insts[i]);
  return n;
}

static void emit_text(Region *r, Str *rest) {
  region_classify(r);
  region_find_predicated(r);
  region_masked_find(r);
  if (r->block) {
    region_block_start(r);
    emit_entry(r, 0);
  } else {
    region_list_rest(r, rest);
    emit_start(r);
  }
  emit_code(r);
  emit_end(r);
}

static bool write_text(Region *r, Str *rest) {
  Error err = {""};
  Arena arena = {0};
  for (uint32_t i = 0; i < r->func->nregs; i++)
    if (r->func->regs[i]->vector) return false;
  r->cfg = ir_cfg_build(r->func, &err);
  if (!r->cfg) return false;
  r->live = ir_liveness_build(r->cfg);
  for (uint32_t i = 0; i < r->cfg->ninstrs; i++)
    u64map_put(&r->number, (uint64_t)r->cfg->instrs[i], (void *)(uintptr_t)(i + 1));
  r->divergent = ARENA_ARRAY(&arena, bool, r->cfg->nblocks + 1);
  r->cold = ARENA_ARRAY(&arena, bool, r->cfg->nblocks + 1);
  r->stops = ARENA_ARRAY(&arena, uint8_t, r->code->ninsts + 1);
  r->waits = ARENA_ARRAY(&arena, uint8_t, r->code->ninsts + 1);
  r->predicated_end = ARENA_ARRAY(&arena, uint32_t, r->code->ninsts + 1);
  r->inside = ARENA_ARRAY(&arena, bool, r->code->ninsts + 1);
  r->apart = ARENA_ARRAY(&arena, bool, r->code->ninsts + 1);
  r->closed = ARENA_ARRAY(&arena, bool, r->code->ninsts + 1);
  r->crosses = ARENA_ARRAY(&arena, bool, r->func->nregs + 1);
  region_find_cold(r);
  find_registers(r, &arena);
  find_live(r, &arena);
  r->failed = count_warm(r) > MOST_INSTS || !find_groups(r, &arena) ||
              (r->block && !region_block_is_worth(r));
  if (!r->failed) emit_text(r, rest);
  ir_liveness_free(r->live);
  ir_cfg_free(r->cfg);
  u64map_free(&r->number);
  arena_free(&arena);
  return !r->failed && r->to->len < MOST_TEXT;
}

bool region_text(const Code *code, uint32_t columns, Str *out, Str *rest) {
  Region r = {.code = code, .func = code->func, .columns = columns, .to = out};
  return write_text(&r, rest);
}

bool region_block_text(const Code *code, uint32_t columns, Str *out, size_t *waiting_bytes) {
  Region r = {.code = code, .func = code->func, .columns = columns, .to = out, .block = true};
  bool ok = write_text(&r, NULL);
  *waiting_bytes = r.waiting_bytes;
  return ok;
}
