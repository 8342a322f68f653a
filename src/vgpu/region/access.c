// Loads and stores of a compiled function. An address that is linear over the lanes needs one look
// for each row of lanes; everything unusual goes to the execute function of the instruction.
#include "vgpu/region/region.h"

// The host address of an access, and whether it may be made directly.
typedef struct Place {
  Region *r;
  const Inst *in;
  const MemDesc *d;
  bool shared;
  LaneValue address;  // 64 bits; of shared memory 32
  Name row[4];        // host address of the first lane of each row
  Name good;
  unsigned rows, lane_bytes;
} Place;

static Name and_all(Region *r, Name a, Name b) {
  return region_emit(r, "and i1 %s, %s", a.text, b.text);
}

// Are `bytes` bytes from `at` on accessible? Gives their host address.
static Name host_address(Place *p, Name at, uint64_t bytes, Name *host) {
  Region *r = p->r;
  if (!p->shared) {
    Name off = region_emit(r, "sub i64 %s, %%window", at.text);
    *host = at;
    return region_emit(r, "icmp ule i64 %s, %llu", off.text,
                       (unsigned long long)(VGPU_WINDOW_BYTES - bytes));
  }
  Name wide = region_emit(r, "zext i32 %s to i64", at.text);
  Name low = region_emit(r, "icmp uge i32 %s, %u", at.text, SHARED_BASE);
  Name end = region_emit(r, "add i64 %s, %llu", wide.text, (unsigned long long)bytes);
  Name high = region_emit(r, "icmp ule i64 %s, %%shared_end", end.text);
  *host = region_emit(r, "add i64 %s, %%shared", wide.text);
  return and_all(r, low, high);
}

static Name is_aligned(Place *p, Name n) {
  if (p->lane_bytes == 1) return (Name){"true"};
  const char *t = region_int(FORM_SAME, p->address.bits);
  Name low = region_emit(p->r, "and %s %s, %u", t, n.text, p->lane_bytes - 1);
  return region_emit(p->r, "icmp eq %s %s, 0", t, low.text);
}

static const PtxOperand *base_of(const PtxInstr *in) {
  const PtxOperand *o = &in->ops[in->op == OP_LD ? 1 : 0];
  return o->nlist ? &o->list[0] : o;
}

static LaneValue read_address(Place *p, int64_t offset) {
  Region *r = p->r;
  const PtxOperand *base = base_of(p->in->src);
  unsigned bits = p->d->address_width * 8;
  LaneValue v;
  if (base->kind == OPD_REG) v = region_read(r, base->reg, false);
  else {
    Name at = region_slot(r, p->in->a);
    v = region_value(FORM_SAME, bits,
                     region_emit(r, "load %s, ptr %s", region_int(FORM_SAME, bits), at.text));
  }
  if (v.form == FORM_VECTOR) return v;
  v.base = region_emit(r, "add %s %s, %lld", region_int(FORM_SAME, bits), v.base.text,
                       (long long)offset);
  if (p->shared && bits == 64) {
    v.base = region_emit(r, "trunc i64 %s to i32", v.base.text);
    if (v.form == FORM_LINEAR) {
      if (strcmp(v.x.text, "0")) v.x = region_emit(r, "trunc i64 %s to i32", v.x.text);
      v.y = region_emit(r, "trunc i64 %s to i32", v.y.text);
    }
    v.bits = 32;
  }
  return v;
}

// All lanes of a row at one place.
static bool in_rows(const Place *p) {
  return p->address.form == FORM_LINEAR && !strcmp(p->address.x.text, "0");
}

// Rows of lanes side by side, rows of lanes at one place each, or all lanes at one place. span: how
// many bytes beyond the first access others reach.
static void look_at_all(Place *p, uint64_t span) {
  Region *r = p->r;
  bool same = p->address.form == FORM_SAME, one = same || in_rows(p);
  const char *t = region_int(FORM_SAME, p->address.bits);
  p->rows = same ? 1 : region_rows(r);
  p->good = is_aligned(p, p->address.base);
  if (!one) {
    Name side = region_emit(r, "icmp eq %s %s, %u", t, p->address.x.text, p->lane_bytes);
    p->good = and_all(r, p->good, side);
  }
  if (p->rows > 1) p->good = and_all(r, p->good, is_aligned(p, p->address.y));
  uint64_t bytes = (uint64_t)p->lane_bytes * (one ? 1 : r->columns) + span;
  for (unsigned k = 0; k < p->rows; k++) {
    Name at = p->address.base;
    if (k) {
      Name off = region_emit(r, "mul %s %s, %u", t, p->address.y.text, k);
      at = region_emit(r, "add %s %s, %s", t, at.text, off.text);
    }
    p->good = and_all(r, p->good, host_address(p, at, bytes, &p->row[k]));
  }
}

// --- loads that are tested together ---
static int64_t offset_of(const MemDesc *d) { return (int64_t)d->offset; }

typedef struct Definition {
  const PtxReg *reg;
  bool found;
} Definition;

static void find_definition(void *ctx, PtxReg **reg, bool is_def) {
  Definition *d = ctx;
  d->found |= is_def && *reg == d->reg;
}

// Could the load be one of the group, as far as can be seen from its address?
static bool is_alike(const Region *r, const AccessGroup *g, uint32_t i) {
  const PtxInstr *in = r->code->insts[i].src;
  if (r->shape[i] != SHAPE_LOAD || in->guard) return false;
  const MemDesc *d = mem_desc(&r->code->insts[i]);
  const PtxOperand *base = base_of(in);
  return base->kind == OPD_REG && base->reg == g->base && (d->space == SPACE_SHARED) == g->shared &&
         d->size * d->count == g->lane_bytes &&
         (offset_of(d) - g->low) % (int64_t)g->lane_bytes == 0;
}

// Finds the loads after the first one of a group.
static void find_group(const Region *r, AccessGroup *g, uint32_t first) {
  const int64_t most = 1 << 16;
  for (uint32_t i = first; i < r->code->ninsts; i = g->end) {
    if (i != first && (r->label[i] || !r->group_end[i])) return;
    if (is_alike(r, g, i)) {
      int64_t at = offset_of(mem_desc(&r->code->insts[i]));
      if (MAX(g->high, at) - MIN(g->low, at) > most) return;
      g->low = MIN(g->low, at);
      g->high = MAX(g->high, at);
    }
    g->end = r->group_end[i];
    Definition d = {.reg = g->base};
    ptx_visit_regs((PtxInstr *)r->code->insts[i].src, find_definition, &d);
    if (d.found) return;
  }
}

// The group of a load; NULL: it has none.
static AccessGroup *group_of(Place *p) {
  Region *r = p->r;
  uint32_t i = (uint32_t)(p->in - r->code->insts);
  if (p->in->src->op != OP_LD || p->in->src->guard || r->masked || r->shape[i] != SHAPE_LOAD)
    return NULL;
  for (unsigned k = 0; k < r->ngroups; k++) {
    AccessGroup *g = &r->groups[k];
    if (i < g->end && is_alike(r, g, i) && offset_of(p->d) >= g->low && offset_of(p->d) <= g->high)
      return g;
  }
  const PtxOperand *base = base_of(p->in->src);
  if (base->kind != OPD_REG || r->ngroups == ARRAY_LEN(r->groups)) return NULL;
  AccessGroup *g = &r->groups[r->ngroups];
  *g = (AccessGroup){.base = base->reg,
                     .shared = p->shared,
                     .lane_bytes = p->lane_bytes,
                     .low = offset_of(p->d),
                     .high = offset_of(p->d)};
  find_group(r, g, i);
  if (g->low == g->high) return NULL;
  Place all = *p;
  all.address = read_address(&all, g->low);
  look_at_all(&all, (uint64_t)(g->high - g->low));
  g->good = all.good;
  memcpy(g->row, all.row, sizeof g->row);
  r->ngroups++;
  return g;
}

static void look_at(Place *p) {
  AccessGroup *g = group_of(p);
  if (!g) {
    look_at_all(p, 0);
    return;
  }
  p->rows = p->address.form == FORM_SAME ? 1 : region_rows(p->r);
  p->good = g->good;
  for (unsigned k = 0; k < p->rows; k++)
    p->row[k] = region_emit(p->r, "add i64 %s, %lld", g->row[k].text,
                            (long long)(offset_of(p->d) - g->low));
}

void region_set_access(Region *r, const Inst *in) {
  if (r->block) {
    Name index = region_field(r, "%turns", offsetof(BlockTurns, access));
    region_line(r, "store volatile i32 %zu, ptr %s", (size_t)(in - r->code->insts), index.text);
    return;
  }
  Name pc = region_inst(r, in), at = region_field(r, "%w", offsetof(Warp, mem_pc));
  region_line(r, "store volatile ptr %s, ptr %s", pc.text, at.text);
}

// --- calls of execute functions ---
static void spill_use(void *ctx, PtxReg **reg, bool is_def) {
  if (!is_def) region_spill(ctx, *reg);
}
static void spill_all(void *ctx, PtxReg **reg, bool is_def) { region_spill(ctx, *reg); }
static void reload_def(void *ctx, PtxReg **reg, bool is_def) {
  if (is_def) region_reload(ctx, *reg);
}

static void call_insts(Region *r, const Inst *first, uint32_t n) {
  bool always = ptx_op_is_arith(first->src->op);
  if (r->block && !always) {  // the execute function sets Warp.mem_pc itself
    Name index = region_field(r, "%turns", offsetof(BlockTurns, access));
    region_line(r, "store volatile i32 0, ptr %s", index.text);
  }
  for (uint32_t k = 0; k < n; k++) {
    Name in = region_inst(r, first + k);
    Name fn = region_emit(r, "load ptr, ptr %s", in.text);
    Name next = region_emit(r, "call ptr %s(ptr %%w, ptr %s)", fn.text, in.text);
    if (always) continue;
    Name expected = region_inst(r, first + k + 1);
    Name on = region_label(r), out = region_label(r);
    Name good = region_emit(r, "icmp eq ptr %s, %s", next.text, expected.text);
    region_expect(r, good, on, out);
    region_place(r, out);
    if (r->block) region_line(r, "ret i32 %d", TURNS_FAULT);
    else region_line(r, "ret ptr %s", next.text);
    region_place(r, on);
  }
}

static void set_lanes(Region *r, const char *lanes) {
  static const size_t fields[] = {offsetof(Warp, exec), offsetof(Warp, active)};
  for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
    Name at = region_field(r, "%w", fields[k]);
    region_line(r, "store i32 %s, ptr %s", lanes, at.text);
  }
}

void region_call(Region *r, const Inst *first, uint32_t n) {
  PtxInstr *in = (PtxInstr *)first->src;
  // lanes whose guard is false keep what the destination held
  ptx_visit_regs(in, in->guard || r->masked ? spill_all : spill_use, r);
  if (r->masked) set_lanes(r, r->lanes_now.text);
  call_insts(r, first, n);
  if (r->masked) set_lanes(r, "-1");
  ptx_visit_regs(in, reload_def, r);
}

// --- loads ---
static const PtxOperand *values_of(const PtxInstr *in) {
  const PtxOperand *o = &in->ops[in->op == OP_LD ? 0 : 1];
  return o->kind == OPD_VECTOR ? o->list : o;
}

// From the size in memory to that of the register.
static Name fit(Place *p, Form f, Name v, unsigned to) {
  unsigned from = p->d->size * 8;
  if (from == to) return v;
  const char *how = p->d->sign_extend ? "sext" : "zext";
  return region_emit(p->r, "%s %s %s to %s", how, region_int(f, from), v.text, region_int(f, to));
}

// Element e of each lane of `rows` vectors of columns * count elements, as one vector of 32.
static Name gather_rows(Place *p, const Name *rows, unsigned e) {
  Region *r = p->r;
  unsigned bits = p->d->size * 8, n = r->columns * p->d->count;
  Name part[4];
  for (unsigned k = 0; k < p->rows; k++) {
    part[k] = rows[k];
    if (p->d->count == 1) continue;
    Str list = {0};
    for (uint32_t l = 0; l < r->columns; l++)
      str_printf(&list, "%si32 %u", l ? ", " : "", l * p->d->count + e);
    part[k] = region_emit(r, "shufflevector <%u x i%u> %s, <%u x i%u> poison, <%u x i32> <%s>", n,
                          bits, rows[k].text, n, bits, r->columns, list.data);
    str_free(&list);
  }
  unsigned lanes = r->columns;
  for (unsigned rows_left = p->rows; rows_left > 1; rows_left /= 2, lanes *= 2)
    for (unsigned k = 0; k < rows_left / 2; k++) {
      Str list = {0};
      for (uint32_t l = 0; l < lanes * 2; l++) str_printf(&list, "%si32 %u", l ? ", " : "", l);
      part[k] = region_emit(r, "shufflevector <%u x i%u> %s, <%u x i%u> %s, <%u x i32> <%s>", lanes,
                            bits, part[2 * k].text, lanes, bits, part[2 * k + 1].text, lanes * 2,
                            list.data);
      str_free(&list);
    }
  return part[0];
}

static void write_rows(Place *p, const Name *row) {
  const PtxOperand *to = values_of(p->in->src);
  for (unsigned e = 0; e < p->d->count; e++) {
    unsigned bits = region_bits(to[e].reg);
    Name v = fit(p, FORM_VECTOR, gather_rows(p, row, e), bits);
    region_write(p->r, to[e].reg, region_value(FORM_VECTOR, bits, v));
  }
}

static void load_rows(Place *p) {
  Region *r = p->r;
  Name row[4];
  for (unsigned k = 0; k < p->rows; k++) {
    Name at = region_emit(r, "inttoptr i64 %s to ptr", p->row[k].text);
    row[k] = region_emit(r, "load volatile <%u x i%u>, ptr %s, align %u", r->columns * p->d->count,
                         p->d->size * 8, at.text, p->d->size);
  }
  write_rows(p, row);
}

// The byte or half word that each lane reads, out of the words that the rows lie in.
static void load_words(Place *p, Name low) {
  Region *r = p->r;
  Name row[4];
  unsigned n = r->columns;
  Name shift = region_emit(r, "shl i32 %s, 3", low.text);
  Name all = region_emit(r, "insertelement <%u x i32> poison, i32 %s, i32 0", n, shift.text);
  all = region_emit(r, "shufflevector <%u x i32> %s, <%u x i32> poison, <%u x i32> zeroinitializer",
                    n, all.text, n, n);
  for (unsigned k = 0; k < p->rows; k++) {
    Name at = region_emit(r, "inttoptr i64 %s to ptr", p->row[k].text);
    Name words = region_emit(r, "load volatile <%u x i32>, ptr %s, align 4", n, at.text);
    words = region_emit(r, "lshr <%u x i32> %s, %s", n, words.text, all.text);
    row[k] = region_emit(r, "trunc <%u x i32> %s to <%u x i%u>", n, words.text, n, p->d->size * 8);
  }
  write_rows(p, row);
}

static bool calls_memory(const Region *r, uint32_t i) {
  const PtxInstr *in = r->code->insts[i].src;
  if (r->shape[i] == SHAPE_UNKNOWN) return !ptx_op_is_arith(in->op);
  if (r->shape[i] != SHAPE_LOAD && r->shape[i] != SHAPE_STORE) return false;
  const PtxOperand *base = base_of(in);
  return base->kind == OPD_REG && r->lanes[base->reg->id] > LANES_LINEAR;
}

static uint32_t loop_of(const Place *p) {
  return p->r->cfg->blocks[p->r->cfg->block_of[region_number(p->r, p->in->src)]].loop;
}

typedef enum { LOOP_LONG, LOOP_SHORT, LOOP_FULL } LoopKind;

// A loop without calls of execute functions is so short that the CPU runs ahead by itself. With
// more than a few loads, each test would cost more than it gains.
static LoopKind kind_of(const Region *r, uint32_t loop) {
  enum { FEW_LOADS = 2 };
  uint32_t loads = 0;
  for (uint32_t i = 0; i < r->code->ninsts; i++) {
    uint32_t n = r->group_end[i] ? region_number(r, r->code->insts[i].src) : IR_NONE;
    if (n == IR_NONE || !ir_in_loop(r->cfg, r->cfg->block_of[n], loop)) continue;
    if (calls_memory(r, i)) return LOOP_LONG;
    loads += r->shape[i] == SHAPE_LOAD;
  }
  return loads > FEW_LOADS ? LOOP_FULL : LOOP_SHORT;
}

static void prefetch_rows(Place *p, Name step) {
  enum { AHEAD = 8, LINE = 64 };
  Region *r = p->r;
  step = region_emit(r, "mul i64 %s, %d", step.text, AHEAD);
  for (unsigned k = 0; k < p->rows; k++) {
    Name ahead = region_emit(r, "add i64 %s, %s", p->row[k].text, step.text);
    ahead = region_emit(r, "inttoptr i64 %s to ptr", ahead.text);
    for (unsigned line = 0; line < r->columns * p->lane_bytes; line += LINE) {
      Name there = region_field(r, ahead.text, line);
      region_line(r, "call void @llvm.prefetch.p0(ptr %s, i32 0, i32 3, i32 1)", there.text);
    }
  }
}

// Prefetches the memory that this load needs some warps or turns of its loop later, if its address
// keeps its stride. The CPU's own prefetchers do not see strides of more than a page. In a short
// loop only long strides are worth it, where no cache keeps the memory in between: a sum with a
// stride of 512 KB takes half as long.
static void prefetch(Place *p) {
  enum { LONG_STEP = 32768 };
  Region *r = p->r;
  uint32_t loop = loop_of(p);
  LoopKind kind = loop == IR_NONE ? LOOP_LONG : kind_of(r, loop);
  if (p->shared || (!r->block && loop == IR_NONE) || r->nprefetched == MOST_PREFETCHED ||
      kind == LOOP_FULL)
    return;
  Name at = region_name("%%address%u", r->nprefetched);
  if (r->block)
    at = region_field(r, "%turns", offsetof(BlockTurns, last) + 8 * (size_t)r->nprefetched);
  r->nprefetched++;
  Name last = region_emit(r, "load i64, ptr %s", at.text);
  region_line(r, "store i64 %s, ptr %s", p->address.base.text, at.text);
  Name step = region_emit(r, "sub i64 %s, %s", p->address.base.text, last.text);
  if (kind == LOOP_LONG) {
    prefetch_rows(p, step);
    return;
  }
  Name from = region_emit(r, "add i64 %s, %d", step.text, LONG_STEP);
  Name is_long = region_emit(r, "icmp ugt i64 %s, %d", from.text, 2 * LONG_STEP);
  Name yes = region_label(r), no = region_label(r);
  region_line(r, "br i1 %s, label %%%s, label %%%s", is_long.text, yes.text, no.text);
  region_place(r, yes);
  prefetch_rows(p, step);
  region_line(r, "br label %%%s", no.text);
  region_place(r, no);
}

// One element for each row.
static void load_broadcast(Place *p) {
  Region *r = p->r;
  const PtxOperand *to = values_of(p->in->src);
  unsigned size = p->d->size * 8;
  Str list = {0};
  for (uint32_t l = 0; l < LANES; l++) str_printf(&list, "%si32 %u", l ? ", " : "", l / r->columns);
  Name v[4];
  for (unsigned e = 0; e < p->d->count; e++) {
    v[e] = (Name){"poison"};
    for (unsigned k = 0; k < p->rows; k++) {
      Name at = region_emit(r, "inttoptr i64 %s to ptr", p->row[k].text);
      at = region_field(r, at.text, (size_t)e * p->d->size);
      Name one = region_emit(r, "load volatile i%u, ptr %s, align %u", size, at.text, p->d->size);
      v[e] = region_emit(r, "insertelement <4 x i%u> %s, i%u %s, i32 %u", size, v[e].text, size,
                         one.text, k);
    }
  }
  for (unsigned e = 0; e < p->d->count; e++) {
    unsigned bits = region_bits(to[e].reg);
    Name all = region_emit(r, "shufflevector <4 x i%u> %s, <4 x i%u> poison, <32 x i32> <%s>", size,
                           v[e].text, size, list.data);
    all = fit(p, FORM_VECTOR, all, bits);
    region_write(r, to[e].reg, region_value(FORM_VECTOR, bits, all));
  }
  str_free(&list);
}

static void load_same(Place *p) {
  Region *r = p->r;
  const PtxOperand *to = values_of(p->in->src);
  Name v[4], at = region_emit(r, "inttoptr i64 %s to ptr", p->row[0].text);
  for (unsigned e = 0; e < p->d->count; e++) {
    Name element = region_field(r, at.text, (size_t)e * p->d->size);
    v[e] = region_emit(r, "load volatile i%u, ptr %s, align %u", p->d->size * 8, element.text,
                       p->d->size);
  }
  for (unsigned e = 0; e < p->d->count; e++) {
    unsigned bits = region_bits(to[e].reg);
    region_write(r, to[e].reg, region_value(FORM_SAME, bits, fit(p, FORM_SAME, v[e], bits)));
  }
}

// Lanes that read a byte or half word each, of words side by side: a part of a pixel or a number.
static void load_parts(Place *p, Name done) {
  enum { WORD = 4 };
  Region *r = p->r;
  if (p->d->size >= WORD || p->d->count != 1) return;
  const char *t = region_int(FORM_SAME, p->address.bits);
  Place words = *p;
  words.lane_bytes = WORD;
  words.address.base = region_emit(r, "and %s %s, -4", t, p->address.base.text);
  look_at_all(&words, 0);
  words.good = and_all(r, words.good, is_aligned(p, p->address.base));
  Name low = region_emit(r, "and %s %s, 3", t, p->address.base.text);
  if (p->address.bits == 64) low = region_emit(r, "trunc i64 %s to i32", low.text);
  Name on = region_label(r), other = region_label(r);
  region_line(r, "br i1 %s, label %%%s, label %%%s", words.good.text, on.text, other.text);
  region_place(r, on);
  prefetch(&words);
  load_words(&words, low);
  region_line(r, "br label %%%s", done.text);
  region_place(r, other);
}

static void load(Place *p) {
  Region *r = p->r;
  region_set_access(r, p->in);
  if (p->address.form == FORM_VECTOR) {
    if (region_can_gather(p->in)) region_gather(r, p->in, (Name){""});
    else region_call(r, p->in, 1);
    return;
  }
  look_at(p);
  Name on = region_label(r), done = region_label(r);
  bool same = p->address.form == FORM_SAME;
  // The same address may be different memory for each lane (local memory): left to the interpreter.
  Name other = same ? region_exit(r, p->in) : region_label(r);
  region_expect(r, p->good, on, other);
  region_place(r, on);
  if (same) {
    load_same(p);
    return;
  }
  if (in_rows(p)) load_broadcast(p);
  else {
    prefetch(p);
    load_rows(p);
  }
  region_line(r, "br label %%%s", done.text);
  region_place(r, other);
  load_parts(p, done);
  region_call(r, p->in, 1);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
}

// --- stores ---
// Leaves a store that must let other warps go first to the interpreter, which comes back to the
// head before the store (vgpu_must_wait_before_store: an odd number says that they have gone).
static void leave_to_wait(Place *p) {
  Region *r = p->r;
  if (!p->shared && vgpu_is_probe(r->func)) return;
  if (r->block) {
    region_block_wait(r, p->in, p->shared);
    return;
  }
  Name at = region_field(
      r, "%w", p->shared ? offsetof(Warp, shared_store_waits) : offsetof(Warp, stores_to_wait));
  const char *t = p->shared ? "i8" : "i32";
  Name left = region_emit(r, "load %s, ptr %s", t, at.text);
  Name must = region_emit(r, "icmp ne %s %s, 0", t, left.text);
  if (!p->shared) {
    Name odd = region_emit(r, "trunc i32 %s to i1", left.text);
    must = region_emit(r, "select i1 %s, i1 false, i1 %s", odd.text, must.text);
  }
  Name on = region_label(r), out = region_exit(r, p->in);
  region_line(r, "br i1 %s, label %%%s, label %%%s", must.text, out.text, on.text);
  region_place(r, on);
}

void region_count_store(Region *r, bool shared) {
  if (r->block) return;  // watch.c looks only at warps that the engine runs
  Name at = region_field(r, "%w", offsetof(Warp, stores));
  Name n = region_emit(r, "load i32, ptr %s", at.text);
  n = region_emit(r, "add i32 %s, 1", n.text);
  region_line(r, "store i32 %s, ptr %s", n.text, at.text);
  if (shared || vgpu_is_probe(r->func)) return;
  at = region_field(r, "%w", offsetof(Warp, stores_to_wait));
  Name left = region_emit(r, "load i32, ptr %s", at.text);
  Name even = region_emit(r, "and i32 %s, -2", left.text);
  region_line(r, "store i32 %s, ptr %s", even.text, at.text);
}

// Element e of what each lane stores.
static Name stored(Place *p, unsigned e) {
  Region *r = p->r;
  unsigned bits = p->d->size * 8;
  LaneValue v = region_operand(r, &values_of(p->in->src)[e], region_type(p->in->src), false);
  Name all = region_vector(r, &v);
  if (v.bits == bits) return all;
  return region_emit(r, "trunc %s %s to %s", region_int(FORM_VECTOR, v.bits), all.text,
                     region_int(FORM_VECTOR, bits));
}

// The elements of all lanes, one vector after the other, as two vectors of *half elements each.
static void join_elements(Place *p, Name two[2], unsigned *half) {
  Region *r = p->r;
  unsigned bits = p->d->size * 8, n = p->d->count;
  *half = LANES;
  for (unsigned e = 0; e < MIN(n, 2u); e++) two[e] = stored(p, e);
  if (n == 1) two[1] = (Name){"poison"};
  if (n < 4) return;
  Name high[2] = {stored(p, 2), stored(p, 3)};
  Str list = {0};
  for (uint32_t l = 0; l < 2 * LANES; l++) str_printf(&list, "%si32 %u", l ? ", " : "", l);
  Name pairs[2][2] = {{two[0], two[1]}, {high[0], high[1]}};
  for (unsigned k = 0; k < 2; k++)
    two[k] = region_emit(r, "shufflevector <32 x i%u> %s, <32 x i%u> %s, <64 x i32> <%s>", bits,
                         pairs[k][0].text, bits, pairs[k][1].text, list.data);
  str_free(&list);
  *half = 2 * LANES;
}

static void store_rows(Place *p) {
  Region *r = p->r;
  unsigned bits = p->d->size * 8, half, n = p->d->count;
  Name two[2];
  join_elements(p, two, &half);
  for (unsigned k = 0; k < p->rows; k++) {
    Str list = {0};
    for (uint32_t l = 0; l < r->columns * n; l++)
      str_printf(&list, "%si32 %u", l ? ", " : "", l % n * LANES + k * r->columns + l / n);
    Name row = region_emit(r, "shufflevector <%u x i%u> %s, <%u x i%u> %s, <%u x i32> <%s>", half,
                           bits, two[0].text, half, bits, two[1].text, r->columns * n, list.data);
    str_free(&list);
    Name at = region_emit(r, "inttoptr i64 %s to ptr", p->row[k].text);
    region_line(r, "store volatile <%u x i%u> %s, ptr %s, align %u", r->columns * n, bits, row.text,
                at.text, p->d->size);
  }
}

static void store(Place *p) {
  Region *r = p->r;
  // lanes that write the same place do so in their order
  if (p->address.form != FORM_LINEAR || in_rows(p) || p->d->count == 3) {
    bool scatters = p->address.form == FORM_VECTOR && region_can_gather(p->in);
    if (scatters) region_scatter(r, p->in, (Name){""});
    else region_call(r, p->in, 1);
    return;
  }
  look_at(p);
  Name on = region_label(r), done = region_label(r), other = region_label(r);
  region_expect(r, p->good, on, other);
  region_place(r, on);
  region_set_access(r, p->in);
  region_count_store(r, p->shared);
  store_rows(p);
  region_line(r, "br label %%%s", done.text);
  region_place(r, other);
  region_call(r, p->in, 1);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
}

// --- parameters of the kernel: the same for all lanes ---
static void load_parameters(Region *r, const Inst *in) {
  Place p = {.r = r, .in = in, .d = mem_desc(in)};
  const PtxOperand *to = values_of(in->src);
  for (unsigned e = 0; e < p.d->count; e++) {
    Name at = region_field(r, "%arguments", (size_t)in->imm + (size_t)e * p.d->size);
    Name v = region_emit(r, "load i%u, ptr %s, align 1, !invariant.load !0", p.d->size * 8,
                         at.text);
    unsigned bits = region_bits(to[e].reg);
    region_write(r, to[e].reg, region_value(FORM_SAME, bits, fit(&p, FORM_SAME, v, bits)));
  }
}

// The lanes that take part, of a masked block or an instruction with a guard: <32 x i1>, "": all.
static Name taking_part(Region *r, const PtxInstr *in) {
  bool guarded = in->guard && r->lanes[in->guard->id] != LANES_SAME;
  if (!guarded) return r->masked ? r->mask : (Name){""};
  LaneValue g = region_read(r, in->guard, false);
  Name lanes = region_vector(r, &g);
  if (in->guard_negated) {
    Name ones = region_emit(r, "bitcast i32 -1 to <32 x i1>");
    lanes = region_emit(r, "xor <32 x i1> %s, %s", lanes.text, ones.text);
  }
  return r->masked ? region_emit(r, "and <32 x i1> %s, %s", lanes.text, r->mask.text) : lanes;
}

// An access of some lanes alone. If a store must wait, the caller has emitted that.
static void access_lanes(Region *r, const Inst *in) {
  if (!region_can_gather(in)) region_call(r, in, 1);
  else if (in->src->op == OP_LD) region_gather(r, in, taking_part(r, in->src));
  else region_scatter(r, in, taking_part(r, in->src));
}

// In masked code a load of one place for all lanes is made once.
static bool load_once(Region *r, const Inst *in) {
  const PtxOperand *base = base_of(in->src);
  Place p = {.r = r, .in = in, .d = mem_desc(in)};
  p.shared = p.d->space == SPACE_SHARED;
  p.lane_bytes = p.d->size * p.d->count;
  if (in->src->guard || base->kind != OPD_REG || r->lanes[base->reg->id] != LANES_SAME)
    return false;
  p.address = read_address(&p, (int64_t)p.d->offset);
  look_at_all(&p, 0);
  Name on = region_label(r), other = region_label(r), done = region_label(r);
  region_expect(r, p.good, on, other);
  region_place(r, on);
  region_set_access(r, in);
  load_same(&p);
  region_line(r, "br label %%%s", done.text);
  region_place(r, other);
  region_call(r, in, 1);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
  return true;
}

void region_access_masked(Region *r, const Inst *in) {
  if (in->src->op == OP_LD && load_once(r, in)) return;
  access_lanes(r, in);
}

void region_access(Region *r, const Inst *in, Shape s) {
  if (s == SHAPE_LOCAL) {
    access_lanes(r, in);
    return;
  }
  // lanes that do not take part
  if (in->fn == exec_guarded && r->lanes[in->src->guard->id] != LANES_SAME) {
    Place p = {.r = r, .in = in, .d = mem_desc(in), .shared = mem_desc(in)->space == SPACE_SHARED};
    if (s == SHAPE_STORE) leave_to_wait(&p);
    access_lanes(r, in);
    return;
  }
  if (s == SHAPE_PARAM) {
    load_parameters(r, in);
    return;
  }
  Place p = {.r = r, .in = in, .d = mem_desc(in)};
  p.shared = p.d->space == SPACE_SHARED;
  p.lane_bytes = p.d->size * p.d->count;
  if (s == SHAPE_STORE) leave_to_wait(&p);
  p.address = read_address(&p, p.d->offset);
  if (s == SHAPE_LOAD) load(&p);
  else store(&p);
}

// --- special registers ---
static Name load_u32(Region *r, const char *base, size_t offset) {
  Name at = region_field(r, base, offset);
  return region_emit(r, "load i32, ptr %s, !invariant.load !0", at.text);
}

void region_sreg(Region *r, const PtxInstr *in) {
  const PtxOperand *o = &in->ops[1];
  const PtxReg *d = in->ops[0].reg;
  unsigned part = o->selector >= SEL_X && o->selector <= SEL_Z ? (unsigned)(o->selector - SEL_X)
                                                               : 0;
  LaneValue v = region_value(FORM_SAME, 32, (Name){"0"});
  switch (o->sreg) {
    case SREG_TID:
      v.base = load_u32(r, "%w", offsetof(Warp, tid) + part * sizeof(uint32_t[LANES]));
      if (part == 0) v.x = (Name){"1"};
      if (part == 1 && r->columns < LANES) v.y = (Name){"1"};
      if (part == 0 || (part == 1 && r->columns < LANES)) v.form = FORM_LINEAR;
      break;
    case SREG_LANEID:
      v.form = FORM_LINEAR;
      v.x = (Name){"1"};
      if (r->columns < LANES) v.y = region_name("%u", r->columns);
      break;
    case SREG_NTID: v.base = load_u32(r, "%launch", offsetof(Launch, block) + 4 * part); break;
    case SREG_NCTAID: v.base = load_u32(r, "%launch", offsetof(Launch, grid) + 4 * part); break;
    default: v.base = load_u32(r, "%block", offsetof(Block, ctaid) + 4 * part); break;
  }
  if (region_bits(d) == 64) {
    v.base = region_emit(r, "zext i32 %s to i64", v.base.text);
    v.bits = 64;
  }
  region_write(r, d, v);
}
