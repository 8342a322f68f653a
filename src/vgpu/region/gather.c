// Loads and stores of a compiled function at addresses that each lane computes: all addresses are
// tested together, then each lane's element is loaded or stored. Anything unusual (a lane outside
// of the window, misaligned, host memory) goes to the execute function.
#include "vgpu/region/lanes.h"

typedef struct Many {
  Lanes l;  // of 64 bits
  Region *r;
  const Inst *in;
  const MemDesc *d;
  Name mask;  // <32 x i1>: the lanes that take part; "": all
  Name host;  // <32 x i64>
  Name good;  // i1
  unsigned bytes;
} Many;

static const PtxOperand *values_of(const PtxInstr *in) {
  const PtxOperand *o = &in->ops[in->op == OP_LD ? 0 : 1];
  return o->kind == OPD_VECTOR ? o->list : o;
}

static const PtxOperand *base_of(const PtxInstr *in) {
  const PtxOperand *o = &in->ops[in->op == OP_LD ? 1 : 0];
  return o->nlist ? &o->list[0] : o;
}

bool region_can_gather(const Inst *in) {
  const MemDesc *d = mem_desc(in);
  bool whole = d->size == 4 || d->size == 8 || d->count == 1;
  return base_of(in->src)->kind == OPD_REG && whole && d->count <= 4 && d->count != 3;
}

static Name none_of(Many *m, Name bad) {
  Region *r = m->r;
  if (m->mask.text[0]) bad = region_emit(r, "and <32 x i1> %s, %s", bad.text, m->mask.text);
  Name bits = region_emit(r, "bitcast <32 x i1> %s to i32", bad.text);
  return region_emit(r, "icmp eq i32 %s, 0", bits.text);
}

// Offsets in shared or local memory have 32 bits; `from` to `end` is accessible.
static void look_at_offsets(Many *m, Name address, const char *home, Name end, uint32_t from) {
  Region *r = m->r;
  Lanes *l = &m->l;
  Name x = lanes_with(l, "and", address, UINT32_MAX);
  Name low = lanes_compare_with(l, "ult", x, from);
  Name last = lanes_with(l, "add", x, m->bytes);
  LaneValue limit = region_value(FORM_SAME, 64, end);
  Name high = lanes_compare(l, "ugt", last, region_vector(r, &limit));
  Name bad = region_emit(r, "or <32 x i1> %s, %s", low.text, high.text);
  if (m->bytes > 1) {
    Name odd = lanes_compare_with(l, "ne", lanes_with(l, "and", x, m->bytes - 1), 0);
    bad = region_emit(r, "or <32 x i1> %s, %s", bad.text, odd.text);
  }
  LaneValue start = region_value(FORM_SAME, 64, region_name("%s", home));
  m->host = lanes_int(l, "add", x, region_vector(r, &start));
  m->good = none_of(m, bad);
}

static void look_at_window(Many *m, Name address) {
  Region *r = m->r;
  Lanes *l = &m->l;
  LaneValue window = region_value(FORM_SAME, 64, (Name){"%window"});
  Name off = lanes_int(l, "sub", address, region_vector(r, &window));
  Name out = lanes_with(l, "and", off, ~(VGPU_WINDOW_BYTES - 1) | (m->bytes - 1));
  m->host = address;
  m->good = none_of(m, lanes_compare_with(l, "ne", out, 0));
}

// A lane's local memory lies after the one's before it.
static void look_at_local(Many *m, Name address) {
  Region *r = m->r;
  Name at = region_field(r, "%w", offsetof(Warp, local_bytes));
  Name bytes = region_emit(r, "load i32, ptr %s", at.text);
  bytes = region_emit(r, "zext i32 %s to i64", bytes.text);
  at = region_field(r, "%w", offsetof(Warp, local));
  Name home = region_emit(r, "load i64, ptr %s", at.text);
  look_at_offsets(m, address, home.text, bytes, 0);
  LaneValue lanes = {.form = FORM_LINEAR, .bits = 64, .base = {"0"}, .x = bytes, .y = {"0"}};
  if (r->columns < LANES) lanes.y = region_emit(r, "mul i64 %s, %u", bytes.text, r->columns);
  m->host = lanes_int(&m->l, "add", m->host, region_vector(r, &lanes));
}

static void look_at(Many *m) {
  Region *r = m->r;
  LaneValue v = region_read(r, base_of(m->in->src)->reg, false);
  Name address = region_vector(r, &v);
  address = lanes_resize(&m->l, address, v.bits, 64, false);
  if (m->d->offset) address = lanes_with(&m->l, "add", address, m->d->offset);
  if (m->d->space == SPACE_SHARED) {
    look_at_offsets(m, address, "%shared", (Name){"%shared_end"}, SHARED_BASE);
  } else if (m->d->space == SPACE_LOCAL) look_at_local(m, address);
  else look_at_window(m, address);
}

static Many begin(Region *r, const Inst *in, Name mask) {
  Many m = {.r = r, .in = in, .d = mem_desc(in), .mask = mask};
  m.l = (Lanes){.r = r,
                .f = FORM_VECTOR,
                .bits = 64,
                .i = region_int(FORM_VECTOR, 64),
                .fl = region_float(FORM_VECTOR, 64),
                .b = region_int(FORM_VECTOR, 1)};
  m.bytes = m.d->size * m.d->count;
  look_at(&m);
  return m;
}

// The element e of each lane. Lanes that do not take part read the warp's own description.
static Name fetch(Many *m, unsigned e) {
  Region *r = m->r;
  Lanes *l = &m->l;
  unsigned bits = MAX(m->d->size * 8u, 32u);
  Name at = m->host, shift = {""};
  if (e) at = lanes_with(l, "add", at, (uint64_t)e * m->d->size);
  if (m->d->size < 4) {  // a part of an aligned word
    shift = lanes_with(l, "shl", lanes_with(l, "and", at, 3), 3);
    at = lanes_with(l, "and", at, ~3ull);
  }
  if (m->mask.text[0]) {
    LaneValue own = region_value(FORM_SAME, 64, region_emit(r, "ptrtoint ptr %%w to i64"));
    at = lanes_choose(l, m->mask, at, region_vector(r, &own));
  }
  Name p = region_emit(r, "inttoptr <32 x i64> %s to <32 x ptr>", at.text);
  Name all = region_emit(r, "bitcast i32 -1 to <32 x i1>");
  Name v = region_emit(r,
                       "call <32 x i%u> @llvm.masked.gather.v32i%u.v32p0(<32 x ptr> %s, i32 %u, "
                       "<32 x i1> %s, <32 x i%u> poison)",
                       bits, bits, p.text, bits / 8, all.text, bits);
  if (m->d->size >= 4) return v;
  Lanes w = lanes_of(l, 32);
  return lanes_int(&w, "lshr", v, lanes_resize(l, shift, 64, 32, false));
}

static void write_fetched(Many *m, const PtxReg *to, Name v) {
  Region *r = m->r;
  unsigned memory = m->d->size * 8, now = MAX(memory, 32u), bits = region_bits(to);
  v = lanes_resize(&m->l, v, now, memory, false);
  v = lanes_resize(&m->l, v, memory, bits, m->d->sign_extend);
  if (m->mask.text[0]) {
    LaneValue old = region_read(r, to, true);
    Lanes w = lanes_of(&m->l, bits);
    v = lanes_choose(&w, m->mask, v, region_vector(r, &old));
  }
  region_write(r, to, region_value(FORM_VECTOR, bits, v));
}

void region_gather(Region *r, const Inst *in, Name mask) {
  Many m = begin(r, in, mask);
  const PtxOperand *to = values_of(in->src);
  Name on = region_label(r), other = region_label(r), done = region_label(r), v[4];
  region_expect(r, m.good, on, other);
  region_place(r, on);
  region_set_access(r, in);
  for (unsigned e = 0; e < m.d->count; e++) v[e] = fetch(&m, e);
  for (unsigned e = 0; e < m.d->count; e++) write_fetched(&m, to[e].reg, v[e]);
  region_line(r, "br label %%%s", done.text);
  region_place(r, other);
  region_call(r, in, 1);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
}

// CPUs scatter words only: bytes and half words are stored one by one. Lanes that do not take part
// write to a variable that nobody reads.
static void put_one_by_one(Many *m, Name all) {
  Region *r = m->r;
  unsigned bits = m->d->size * 8;
  Name at = m->host;
  if (m->mask.text[0]) {
    LaneValue unused = region_value(FORM_SAME, 64, region_emit(r, "ptrtoint ptr %%unused to i64"));
    at = lanes_choose(&m->l, m->mask, at, region_vector(r, &unused));
  }
  for (unsigned lane = 0; lane < LANES; lane++) {
    Name a = region_emit(r, "extractelement <32 x i64> %s, i32 %u", at.text, lane);
    Name v = region_emit(r, "extractelement <32 x i%u> %s, i32 %u", bits, all.text, lane);
    Name p = region_emit(r, "inttoptr i64 %s to ptr", a.text);
    region_line(r, "store i%u %s, ptr %s, align %u", bits, v.text, p.text, m->d->size);
  }
}

static void put(Many *m, unsigned e) {
  Region *r = m->r;
  unsigned bits = m->d->size * 8;
  LaneValue v = region_operand(r, &values_of(m->in->src)[e], region_type(m->in->src), false);
  Name all = lanes_resize(&m->l, region_vector(r, &v), v.bits, bits, false);
  if (m->d->size < 4) {
    put_one_by_one(m, all);
    return;
  }
  Name at = e ? lanes_with(&m->l, "add", m->host, (uint64_t)e * m->d->size) : m->host;
  Name p = region_emit(r, "inttoptr <32 x i64> %s to <32 x ptr>", at.text);
  Name mask = m->mask.text[0] ? m->mask : region_emit(r, "bitcast i32 -1 to <32 x i1>");
  region_line(r,
              "call void @llvm.masked.scatter.v32i%u.v32p0(<32 x i%u> %s, <32 x ptr> %s, i32 %u, "
              "<32 x i1> %s)",
              bits, bits, all.text, p.text, m->d->size, mask.text);
}

// One address for all lanes: a lane's local memory lies after the one's before it.
static void put_local(Region *r, const Inst *in, LaneValue address) {
  const MemDesc *d = mem_desc(in);
  unsigned bits = d->size * 8;
  Name at = region_emit(r, "%s %s %s to i64", address.bits == 64 ? "bitcast" : "zext",
                        region_int(FORM_SAME, address.bits), address.base.text);
  at = region_emit(r, "add i64 %s, %lld", at.text, (long long)d->offset);
  at = region_emit(r, "and i64 %s, %lld", at.text, (long long)UINT32_MAX);
  Name field = region_field(r, "%w", offsetof(Warp, local_bytes));
  Name bytes = region_emit(r, "load i32, ptr %s, !invariant.load !0", field.text);
  bytes = region_emit(r, "zext i32 %s to i64", bytes.text);
  Name end = region_emit(r, "add i64 %s, %u", at.text, d->size);
  Name inside = region_emit(r, "icmp ule i64 %s, %s", end.text, bytes.text);
  Name odd = region_emit(r, "and i64 %s, %u", at.text, d->size - 1);
  Name even = region_emit(r, "icmp eq i64 %s, 0", odd.text);
  Name good = region_emit(r, "and i1 %s, %s", inside.text, even.text);
  Name on = region_label(r), other = region_label(r), done = region_label(r);
  region_expect(r, good, on, other);
  region_place(r, on);
  field = region_field(r, "%w", offsetof(Warp, local));
  Name home = region_emit(r, "load ptr, ptr %s, !invariant.load !0", field.text);
  LaneValue v = region_operand(r, values_of(in->src), region_type(in->src), false);
  Name all = region_vector(r, &v);
  if (v.bits > bits)
    all = region_emit(r, "trunc %s %s to <32 x i%u>", region_int(FORM_VECTOR, v.bits), all.text,
                      bits);
  Name p = region_emit(r, "getelementptr i8, ptr %s, i64 %s", home.text, at.text);
  for (unsigned lane = 0; lane < LANES; lane++) {
    if (lane) p = region_emit(r, "getelementptr i8, ptr %s, i64 %s", p.text, bytes.text);
    Name one = region_emit(r, "extractelement <32 x i%u> %s, i32 %u", bits, all.text, lane);
    region_line(r, "store i%u %s, ptr %s, align %u", bits, one.text, p.text, d->size);
  }
  region_line(r, "br label %%%s", done.text);
  region_place(r, other);
  region_call(r, in, 1);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
}

// Lanes that write the same place do so in their order.
void region_scatter(Region *r, const Inst *in, Name mask) {
  if (mem_desc(in)->space == SPACE_LOCAL && mem_desc(in)->count == 1 && !mask.text[0]) {
    LaneValue address = region_read(r, base_of(in->src)->reg, false);
    if (address.form == FORM_SAME) {
      put_local(r, in, address);
      return;
    }
  }
  Many m = begin(r, in, mask);
  Name on = region_label(r), other = region_label(r), done = region_label(r);
  region_expect(r, m.good, on, other);
  region_place(r, on);
  region_set_access(r, in);
  if (m.d->space != SPACE_LOCAL) region_count_store(r, m.d->space == SPACE_SHARED);
  for (unsigned e = 0; e < m.d->count; e++) put(&m, e);
  region_line(r, "br label %%%s", done.text);
  region_place(r, other);
  region_call(r, in, 1);
  region_line(r, "br label %%%s", done.text);
  region_place(r, done);
}
