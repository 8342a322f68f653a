// The second compiled form of a kernel: all warps of a block, in the order in which the engine
// would run them, without going through the interpreter between their turns.
//
// A warp's turn ends before a store for which it lets the others catch up, at a barrier, and when
// the warp ends. Registers that live there wait in a compact form: values that are the same or
// linear over the lanes as scalars. In all other cases (lanes that diverge, an instruction of the
// interpreter, a used-up budget) the code leaves the block to the engine: BlockTurns says how far
// each warp is, and `unload` puts the registers of one warp into its slots.
#include "vgpu/region/region.h"

enum { STOPS_BEFORE_STORE = 1, STOPS_AT_BARRIER = 2 };  // Region.stops
enum { ROUNDS = 16 };  // rounds of turns after which the engine looks at the clock

// --- registers of a warp that waits ---
static size_t place_value(size_t *end, size_t bytes) {
  size_t align = MIN(bytes, (size_t)64), at = (*end + align - 1) & ~(align - 1);
  *end = at + bytes;
  return at;
}

// One variable of the code, between its alloca and the memory of its warp.
static void move_part(Region *r, const char *variable, const char *type, size_t at, bool keep) {
  Name there = region_field(r, "%mine", at);
  Name v = keep ? region_emit(r, "load %s, ptr %s", type, variable)
                : region_emit(r, "load %s, ptr %s, align 8", type, there.text);
  if (keep) region_line(r, "store %s %s, ptr %s, align 8", type, v.text, there.text);
  else region_line(r, "store %s %s, ptr %s", type, v.text, variable);
}

// A mask is a word in memory.
static void move_mask(Region *r, const char *variable, size_t at, bool keep) {
  Name there = region_field(r, "%mine", at);
  if (keep) {
    Name v = region_emit(r, "load <32 x i1>, ptr %s", variable);
    v = region_emit(r, "bitcast <32 x i1> %s to i32", v.text);
    region_line(r, "store i32 %s, ptr %s", v.text, there.text);
  } else {
    Name v = region_emit(r, "load i32, ptr %s", there.text);
    v = region_emit(r, "bitcast i32 %s to <32 x i1>", v.text);
    region_line(r, "store <32 x i1> %s, ptr %s", v.text, variable);
  }
}

void region_move_word(Region *r, const char *variable, size_t *end, bool keep) {
  size_t at = place_value(end, 4);
  Name there = region_field(r, "%mine", at), v;
  v = region_emit(r, "load volatile i32, ptr %s", keep ? variable : there.text);
  region_line(r, "store volatile i32 %s, ptr %s", v.text, keep ? there.text : variable);
}

void region_move_register(Region *r, const PtxReg *reg, size_t *end, bool keep) {
  LaneClass c = (LaneClass)r->lanes[reg->id];
  unsigned bits = region_bits(reg);
  Name base = region_name("%%r%u", reg->id);
  if (c >= LANES_MIXED && bits == 1) {
    move_mask(r, base.text, place_value(end, 4), keep);
    return;
  }
  if (c >= LANES_MIXED) {
    size_t at = place_value(end, LANES * bits / 8);
    move_part(r, base.text, region_int(FORM_VECTOR, bits), at, keep);
    return;
  }
  const char *t = region_int(FORM_SAME, bits);
  move_part(r, base.text, t, place_value(end, 8), keep);
  if (c == LANES_LINEAR)
    move_part(r, region_name("%%r%ux", reg->id).text, t, place_value(end, 8), keep);
  if (c != LANES_SAME && r->columns < LANES)
    move_part(r, region_name("%%r%uy", reg->id).text, t, place_value(end, 8), keep);
}

// Keeps the registers that live at a head, or takes them back.
static void move_registers(Region *r, uint32_t head, bool keep) {
  const uint64_t *live = region_live_at(r, &r->code->insts[head]);
  size_t end = 0;
  for (uint32_t i = 0; i < r->func->nregs; i++)
    if (r->kept[i] && region_is_live(live, r->func->regs[i]))
      region_move_register(r, r->func->regs[i], &end, keep);
  end = (end + 63) & ~(size_t)63;
  r->waiting_bytes = MAX(r->waiting_bytes, end);
}

// --- turns ---
// Variables of the code while it runs, members of BlockTurns while it does not.
static const struct {
  const char *name;
  size_t offset;
} variables[] = {{"turn", offsetof(BlockTurns, turn)},
                 {"alive", offsetof(BlockTurns, alive)},
                 {"waiting", offsetof(BlockTurns, waiting)},
                 {"rounds", offsetof(BlockTurns, rounds)}};

static Name turns_field(Region *r, size_t offset) { return region_field(r, "%turns", offset); }

static Name get(Region *r, const char *variable) {
  return region_emit(r, "load i32, ptr %%v_%s", variable);
}

static void set(Region *r, const char *variable, const char *value) {
  region_line(r, "store i32 %s, ptr %%v_%s", value, variable);
}

static void emit_return(Region *r, TurnsResult result) {
  for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
    Name v = get(r, variables[k].name), at = turns_field(r, variables[k].offset);
    region_line(r, "store i32 %s, ptr %s", v.text, at.text);
  }
  region_line(r, "ret i32 %d", result);
}

static Name own_bit(Region *r) { return region_emit(r, "shl i32 1, %%turn"); }

// All warps that have not ended wait at the barrier: they go on.
static void release_barrier(Region *r, Name waiting) {
  Name at = turns_field(r, offsetof(BlockTurns, release));
  Name fn = region_emit(r, "load ptr, ptr %s", at.text);
  region_line(r, "call void %s(ptr %%turns, i32 %s)", fn.text, waiting.text);
  set(r, "waiting", "0");
}

static void emit_end_of_warp(Region *r) {
  Name bit = own_bit(r), alive = get(r, "alive");
  alive = region_emit(r, "xor i32 %s, %s", alive.text, bit.text);
  set(r, "alive", alive.text);
  if (!r->has_barrier) {
    region_line(r, "br label %%next");
    return;
  }
  Name waiting = get(r, "waiting");
  Name some = region_emit(r, "icmp ne i32 %s, 0", waiting.text);
  Name all = region_emit(r, "icmp eq i32 %s, %s", waiting.text, alive.text);
  Name last = region_emit(r, "and i1 %s, %s", some.text, all.text), done = region_label(r);
  region_line(r, "br i1 %s, label %%%s, label %%next", last.text, done.text);
  region_place(r, done);
  release_barrier(r, waiting);
  region_line(r, "br label %%next");
}

// Combines this warp's operand of bar.red with those of the others.
static void emit_reduce(Region *r, const PtxInstr *in) {
  static const struct {
    BarrierRed red;
    const char *op;
  } steps[] = {{RED_POPC, "add"}, {RED_AND, "and"}, {RED_OR, "or"}};
  LaneValue p = region_operand(r, &in->ops[2], TYPE_PRED, false);
  Name mask = p.form == FORM_SAME ? region_emit(r, "sext i1 %s to i32", p.base.text)
                                  : region_emit(r, "bitcast <32 x i1> %s to i32", p.base.text);
  Name says[] = {region_emit(r, "call i32 @llvm.ctpop.i32(i32 %s)", mask.text),
                 region_emit(r, "icmp eq i32 %s, -1", mask.text),
                 region_emit(r, "icmp ne i32 %s, 0", mask.text)};
  for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
    Name at = turns_field(r, offsetof(BlockTurns, reduced) + 4 * steps[k].red);
    if (k) says[k] = region_emit(r, "zext i1 %s to i32", says[k].text);
    Name before = region_emit(r, "load i32, ptr %s", at.text);
    Name now = region_emit(r, "%s i32 %s, %s", steps[k].op, before.text, says[k].text);
    region_line(r, "store i32 %s, ptr %s", now.text, at.text);
  }
}

// The result of a bar.red whose warps have been released.
static void emit_reduced(Region *r, const PtxInstr *in) {
  BarrierRed red = ptx_has(in, MOD_POPC) ? RED_POPC : ptx_has(in, MOD_AND) ? RED_AND : RED_OR;
  Name at = turns_field(r, offsetof(BlockTurns, result) + 4 * red);
  Name v = region_emit(r, "load i32, ptr %s", at.text);
  if (red != RED_POPC) v = region_emit(r, "icmp ne i32 %s, 0", v.text);
  region_write(r, in->ops[0].reg, region_value(FORM_SAME, red == RED_POPC ? 32 : 1, v));
}

static bool is_reduction(const PtxInstr *in) {
  return in && (in->op == OP_BAR || in->op == OP_BARRIER) && ptx_has(in, MOD_RED);
}

// The code of a warp after the barrier, before the head.
static void emit_behind(Region *r, uint32_t head) {
  const PtxInstr *in = r->code->insts[head - 1].src;
  if (is_reduction(in)) emit_reduced(r, in);
}

static void emit_barrier(Region *r, uint32_t head) {
  if (is_reduction(r->code->insts[head - 1].src)) emit_reduce(r, r->code->insts[head - 1].src);
  Name bit = own_bit(r), waiting = get(r, "waiting");
  waiting = region_emit(r, "or i32 %s, %s", waiting.text, bit.text);
  set(r, "waiting", waiting.text);
  Name alive = get(r, "alive");
  Name all = region_emit(r, "icmp eq i32 %s, %s", waiting.text, alive.text);
  Name done = region_label(r);
  r->stops[head] |= STOPS_AT_BARRIER;
  region_line(r, "br i1 %s, label %%%s, label %%B%u", all.text, done.text, head);
  region_place(r, done);
  release_barrier(r, waiting);
  emit_behind(r, head);
  region_line(r, "br label %%I%u", head);
}

// The operand of bar.sync or bar.red that says its number; NULL: not one of the whole block.
static const PtxOperand *barrier_number(const Region *r, const PtxInstr *in) {
  if (!in || (in->op != OP_BAR && in->op != OP_BARRIER) || in->guard) return NULL;
  bool red = is_reduction(in);
  if ((!red && !ptx_has(in, MOD_SYNC)) || in->nops != (red ? 3 : 1)) return NULL;
  const PtxOperand *number = &in->ops[red];
  if (red && (in->ops[0].kind != OPD_REG || !r->kept[in->ops[0].reg->id] ||
              in->ops[2].kind != OPD_REG || !r->kept[in->ops[2].reg->id]))
    return NULL;
  return number->kind == OPD_INT ? number : NULL;
}

// true: a barrier of the whole block, with the one number that this kernel uses.
static bool is_barrier(const Region *r, uint32_t i) {
  const PtxOperand *number = barrier_number(r, r->code->insts[i].src);
  return number && (uint64_t)number->imm == r->barrier && i + 1 < r->code->ninsts &&
         region_is_entry(r, i + 1);
}

// The number of the first barrier: others are left to the interpreter.
static void find_barrier(Region *r) {
  for (uint32_t i = 0; i < r->code->ninsts && !r->has_barrier; i++) {
    const PtxOperand *number = barrier_number(r, r->code->insts[i].src);
    if (!number || region_is_control(&r->code->insts[i])) continue;
    r->barrier = (uint32_t)number->imm;
    r->has_barrier = r->barrier < NUM_BARRIERS && is_barrier(r, i);
  }
}

bool region_block_stop(Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  if (in->fn == exec_return || in->fn == exec_exit) {
    emit_end_of_warp(r);
    return true;
  }
  if (!r->has_barrier || !is_barrier(r, i)) return false;
  emit_barrier(r, i + 1);
  return true;
}

// The turn ends before a store, if it must; the next one begins after this test. The execute
// function of the store, should it be called, finds that others have had their turn.
void region_block_wait(Region *r, const Inst *store, bool shared) {
  uint32_t head = (uint32_t)(store - r->code->insts) - 1;
  if (store == r->code->insts || !region_is_entry(r, head)) {
    r->failed = true;
    return;
  }
  r->stops[head] |= STOPS_BEFORE_STORE;
  if (shared) {
    Name at = region_field(r, "%w", offsetof(Warp, shared_store_waits)), wait = region_label(r);
    Name waits = region_emit(r, "load i8, ptr %s", at.text);
    Name must = region_emit(r, "icmp ne i8 %s, 0", waits.text);
    region_line(r, "br i1 %s, label %%%s, label %%W%u", must.text, wait.text, head);
    region_place(r, wait);
    region_line(r, "store i8 0, ptr %s", at.text);
    region_line(r, "br label %%S%u", head);
  } else region_line(r, "br i1 %%several, label %%S%u, label %%W%u", head, head);
  str_printf(r->to, "W%u:\n", head);
}

void region_block_leave(Region *r, Name at) {
  Name to = turns_field(r, offsetof(BlockTurns, left));
  region_line(r, "store ptr %s, ptr %s", at.text, to.text);
  emit_return(r, TURNS_LEFT);
}

// --- the text around the code ---
// The next warp in the round that can run; after some rounds the engine is asked.
static void emit_next(Region *r) {
  str_add(r->to, "next:\n");
  Name alive = get(r, "alive"), waiting = get(r, "waiting"), last = get(r, "turn");
  Name others = region_emit(r, "xor i32 %s, -1", waiting.text);
  Name ready = region_emit(r, "and i32 %s, %s", alive.text, others.text);
  Name from = region_emit(r, "add i32 %s, 1", last.text);
  Name wide = region_emit(r, "zext i32 %s to i64", from.text);
  Name later = region_emit(r, "shl i64 -1, %s", wide.text);
  Name all = region_emit(r, "zext i32 %s to i64", ready.text);
  Name left = region_emit(r, "and i64 %s, %s", all.text, later.text);
  Name none = region_emit(r, "icmp eq i64 %s, 0", left.text);
  region_line(r, "br i1 %s, label %%round, label %%pick", none.text);
  str_add(r->to, "pick:\n");
  Name first = region_emit(r, "call i64 @llvm.cttz.i64(i64 %s, i1 true)", left.text);
  first = region_emit(r, "trunc i64 %s to i32", first.text);
  set(r, "turn", first.text);
  region_line(r, "br label %%take");
  str_add(r->to, "round:\n");
  set(r, "turn", "-1");
  Name over = region_emit(r, "icmp eq i32 %s, 0", alive.text);
  region_line(r, "br i1 %s, label %%ended, label %%more", over.text);
  str_printf(r->to, "ended:\n  ret i32 %d\nmore:\n", TURNS_ENDED);
  Name rounds = get(r, "rounds");
  rounds = region_emit(r, "add i32 %s, 1", rounds.text);
  set(r, "rounds", rounds.text);
  Name some = region_emit(r, "icmp ult i32 %s, %d", rounds.text, ROUNDS);
  region_expect(r, some, (Name){"next"}, (Name){"pause"});
  str_add(r->to, "pause:\n");
  emit_return(r, TURNS_PAUSE);
}

// One warp has its turn, from where it waits.
static void emit_take(Region *r) {
  str_add(r->to, "take:\n");
  region_line(r, "%%turn = load i32, ptr %%v_turn");
  region_line(r, "%%turn64 = zext i32 %%turn to i64");
  Name far = region_emit(r, "mul i64 %%turn64, %zu", sizeof(Warp));
  region_line(r, "%%w = getelementptr i8, ptr %%warps, i64 %s", far.text);
  region_line(r, "store volatile ptr %%w, ptr %s",
              turns_field(r, offsetof(BlockTurns, running)).text);
  region_line(r, "%%skip = mul i64 %%turn64, %%waiting_bytes");
  region_line(r, "%%mine = getelementptr i8, ptr %%memory, i64 %%skip");
  Name list = turns_field(r, offsetof(BlockTurns, at));
  region_line(r, "%%at = getelementptr i32, ptr %s, i64 %%turn64", list.text);
  if (r->cfg->nloops) {
    Name budget = region_field(r, "%w", offsetof(Warp, budget));
    region_line(r, "store i32 %d, ptr %s", WARP_BUDGET, budget.text);
  }
  region_line(r, "%%where = load i32, ptr %%at");
  region_line(r, "br label %%go");
}

void region_block_start(Region *r) {
  str_add(r->to, "define i32 @region(ptr %turns) #0 {\nstart:\n");
  region_declare(r);
  static const struct {
    const char *name, *base, *type;
    size_t offset;
  } fields[] = {
      {"warps", "%turns", "ptr", offsetof(BlockTurns, warps)},
      {"insts", "%turns", "ptr", offsetof(BlockTurns, insts)},
      {"window", "%turns", "i64", offsetof(BlockTurns, window)},
      {"memory", "%turns", "ptr", offsetof(BlockTurns, memory)},
      {"waiting_bytes", "%turns", "i64", offsetof(BlockTurns, waiting_bytes)},
      {"several32", "%turns", "i32", offsetof(BlockTurns, several)},
      {"launch", "%warps", "ptr", offsetof(Warp, launch)},
      {"block", "%warps", "ptr", offsetof(Warp, block)},
      {"shared", "%warps", "i64", offsetof(Warp, shared)},
      {"arguments", "%launch", "ptr", offsetof(Launch, arguments)},
      {"shared_end32", "%block", "i32", offsetof(Block, shared_end)},
  };
  for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
    Name at = region_field(r, fields[k].base, fields[k].offset);
    region_line(r, "%%%s = load %s, ptr %s, !invariant.load !0", fields[k].name, fields[k].type,
                at.text);
  }
  region_line(r, "%%shared_end = zext i32 %%shared_end32 to i64");
  region_line(r, "%%several = icmp ne i32 %%several32, 0");
  find_barrier(r);
  for (size_t k = 0; k < ARRAY_LEN(variables); k++) {
    region_line(r, "%%v_%s = alloca i32", variables[k].name);
    Name at = turns_field(r, variables[k].offset), v = region_emit(r, "load i32, ptr %s", at.text);
    set(r, variables[k].name, v.text);
  }
  region_line(r, "br label %%next");
  emit_next(r);
  emit_take(r);
  // a warp that has not begun is left as it is
  str_add(r->to, "refuse:\n");
  region_block_leave(r, (Name){"%insts"});
}

// The places where a turn ends, where the next one begins, and where the engine takes over.
static void emit_stop(Region *r, uint32_t head, bool barrier) {
  uint32_t number = barrier ? head | TURNS_BARRIER : head;
  str_printf(r->to, "%c%u:\n", barrier ? 'B' : 'S', head);
  move_registers(r, head, true);
  region_line(r, "store i32 %u, ptr %%at", number);
  region_line(r, "br label %%next");
  str_printf(r->to, "C%u:\n", number);
  move_registers(r, head, false);
  if (barrier) emit_behind(r, head);
  region_line(r, "br label %%%c%u", barrier ? 'I' : 'W', head);
}

static void emit_unload(Region *r, uint32_t head) {
  str_printf(r->to, "U%u:\n", head);
  move_registers(r, head, false);
  if (r->stops[head] & STOPS_AT_BARRIER) emit_behind(r, head);
  region_line(r, "br label %%%s", region_exit(r, &r->code->insts[head]).text);
}

void region_block_end(Region *r) {
  Str cases = {0};
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t number = k ? i | TURNS_BARRIER : i;
      if (!(r->stops[i] & (k ? STOPS_AT_BARRIER : STOPS_BEFORE_STORE))) continue;
      emit_stop(r, i, k);
      str_printf(&cases, "    i32 %u, label %%C%u\n", number, number);
      str_printf(&cases, "    i32 %u, label %%U%u\n", number | TURNS_UNLOAD, i);
    }
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (r->stops[i]) emit_unload(r, i);
  region_apart_end(r, &cases);
  str_printf(r->to, "go:\n  switch i32 %%where, label %%E0 [\n%s  ]\n",
             cases.len ? cases.data : "");
  str_free(&cases);
}

// Calls of functions would leave each block: that gains nothing.
bool region_block_is_worth(const Region *r) {
  uint32_t warm = 0;
  for (uint32_t i = 0; i < r->code->ninsts; i++) {
    const Inst *in = &r->code->insts[i];
    if (region_is_cold(r, in)) continue;
    warm++;
    if (in->src && in->src->op == OP_CALL && !region_is_control(in)) return false;
  }
  return warm <= 2500 && r->code->ninsts && region_is_entry(r, 0);
}
