// Addresses of one basic block that differ by constants only are tested together, at the first of
// them: either the whole block runs or nothing of it, so the test fails only if one of the accesses
// is bad, and then the exact tests tell which.
#include "tools/memcheck/internal.h"

enum { MOST_OPEN = 32, MOST_SPAN = 1 << 28 };

static const PtxInstr *instr_of(const Memcheck *m, const Check *c) {
  return m->body->cfg->instrs[c->instr];
}
static const PtxOperand *operand_of(const Memcheck *m, const Check *c) {
  return &instr_of(m, c)->ops[c->operand];
}

// The base of a group's addresses: the index, or the register in the operand.
static const PtxReg *anchor_of(const Memcheck *m, const Check *c) {
  if (c->kind == CHECK_INDEX) return c->index;
  const PtxOperand *base = &operand_of(m, c)->list[0];
  return base->kind == OPD_REG ? base->reg : NULL;
}

// A span that would wrap is cut off: no object is near it, and the quick test fails either way.
static void set_span(const Memcheck *m, Check *c) {
  c->low = c->kind == CHECK_INDEX ? c->address.offset : operand_of(m, c)->imm;
  c->low = MIN(c->low, INT64_MAX - (int64_t)c->bytes);
  c->high = c->low + c->bytes;
}

static bool same_origin(IrOrigin a, IrOrigin b) {
  return a.kind == b.kind && a.var == b.var && a.offset == b.offset;
}

static bool may_join(const Memcheck *m, const Check *leader, const Check *c) {
  if (leader->kind != c->kind || leader->space != c->space || leader->var != c->var ||
      anchor_of(m, leader) != anchor_of(m, c))
    return false;
  if (!same_origin(leader->address.origin, c->address.origin)) return false;
  if (c->kind == CHECK_INDEX && (leader->address.scale != c->address.scale ||
                                 leader->address.index_signed != c->address.index_signed))
    return false;
  if (c->kind != CHECK_INDEX && !anchor_of(m, c)) return false;
  int64_t span;
  if (__builtin_sub_overflow(MAX(leader->high, c->high), MIN(leader->low, c->low), &span))
    return false;
  return span <= (c->var && c->var->size ? (int64_t)c->var->size : MOST_SPAN);
}

static bool can_group(const Memcheck *m, const Check *c) {
  return c->kind != CHECK_ALWAYS_BAD && !c->size && !c->lanes && !instr_of(m, c)->guard;
}

// --- one block after the other ---

typedef struct Open {
  Memcheck *m;
  uint32_t leaders[MOST_OPEN];
  uint32_t n;
} Open;

static void close_written(void *ctx, PtxReg **reg, bool is_def) {
  Open *o = ctx;
  if (!is_def) return;
  for (uint32_t i = 0; i < o->n;) {
    if (anchor_of(o->m, &o->m->checks[o->leaders[i]]) == *reg) o->leaders[i] = o->leaders[--o->n];
    else i++;
  }
}

static void place(Open *o, uint32_t number) {
  Memcheck *m = o->m;
  Check *c = &m->checks[number];
  for (uint32_t i = 0; i < o->n; i++) {
    Check *leader = &m->checks[o->leaders[i]];
    if (!may_join(m, leader, c)) continue;
    c->leader = o->leaders[i];
    leader->leads = true;
    leader->low = MIN(leader->low, c->low);
    leader->high = MAX(leader->high, c->high);
    return;
  }
  if (o->n == MOST_OPEN) o->leaders[0] = o->leaders[--o->n];
  o->leaders[o->n++] = number;
}

static void group_blocks(Memcheck *m) {
  const IrCfg *cfg = m->body->cfg;
  Open o = {.m = m};
  uint32_t block = UINT32_MAX, next = 0;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    if (cfg->block_of[i] != block) {
      o.n = 0;
      block = cfg->block_of[i];
    }
    for (; next < m->nchecks && m->checks[next].instr == i; next++)
      if (can_group(m, &m->checks[next])) place(&o, next);
    if (o.n) ptx_visit_regs(cfg->instrs[i], close_written, &o);
  }
}

// --- what the host is asked for ---

static const WeaveFact *same_fact(const Memcheck *m, const WeaveFact *f) {
  for (uint32_t i = 0; i < m->facts.len; i++) {
    const WeaveFact *o = &m->facts.data[i];
    if (o->kind == f->kind && o->param == f->param && o->param_offset == f->param_offset &&
        o->bytes == f->bytes && o->align == f->align &&
        (f->kind == FACT_RANGE ||
         (o->offset == f->offset && o->scale == f->scale && o->index_signed == f->index_signed)))
      return o;
  }
  return NULL;
}

// Room in the launch record for what the host knows about a pointer parameter; 0: there is no more
// room.
static uint32_t fact(Memcheck *m, WeaveFact f) {
  const WeaveFact *known = same_fact(m, &f);
  if (known) return known->record_offset;
  f.record_offset = record_reserve(m->body, f.kind == FACT_RANGE ? 16 : 8);
  if (f.record_offset) vec_push(&m->facts, f);
  return f.record_offset;
}

static WeaveFact fact_of(const Memcheck *m, const Check *c, WeaveFactKind kind, uint32_t bytes) {
  const IrOrigin *o = &c->address.origin;
  const PtxFunc *f = m->body->func;
  uint32_t param = 0;
  while (f->params[param] != o->var) param++;
  return (WeaveFact){.kind = kind,
                     .param = param,
                     .param_offset = (uint32_t)o->offset,
                     .param_at = (uint32_t)(o->var->param_offset + (uint64_t)o->offset),
                     .bytes = bytes,
                     .align = c->test_align ? 1 : c->align};
}

// The alignment that the pointer must have for all of a group.
static uint32_t group_align(const Memcheck *m, uint32_t leader) {
  uint32_t align = 1;
  for (uint32_t i = leader; i < m->nchecks; i++)
    if (m->checks[i].leader == leader && !m->checks[i].test_align)
      align = MAX(align, m->checks[i].align);
  return align;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// The offset that is added to the index in 32 bits. Index 0xffffffff plus 1 is 0 there, and 2^32 in
// the 64-bit address of an index without a sign: such an index gets no positive bias.
static int32_t bias_of(const Memcheck *m, const Check *c, int64_t scale) {
  if (!c->index) return 0;
  int64_t bias = floor_div(c->low, scale);
  const PtxOperand *base = &operand_of(m, c)->list[0];
  bool wraps = base->kind == OPD_REG && ptx_type_size(base->reg->type) == 4;  // so does the address
  return (int32_t)(c->address.index_signed || wraps ? bias : MIN(bias, 0));
}

// index + bias < limit, where the object has offset + scale * (index + bias) … for all of the
// group.
static bool settle_index(Memcheck *m, uint32_t number) {
  enum { LEAST_ROOM = 1 << 20 };  // what a bias may add to an index without wrapping into the limit
  Check *c = &m->checks[number];
  int64_t scale = c->index ? c->address.scale : 1, bytes = c->high - c->low;
  c->bias = bias_of(m, c, scale);
  int64_t offset = c->low - (int64_t)c->bias * scale;
  if (c->var) {
    int64_t room = (int64_t)c->var->size - bytes - offset;
    c->limit = room < 0
                   ? 0
                   : MIN(room / scale + 1,
                         (c->address.index_signed ? INT32_MAX : (int64_t)UINT32_MAX) - LEAST_ROOM);
    return true;
  }
  WeaveFact f = fact_of(m, c, FACT_INDEX_LIMIT, (uint32_t)bytes);
  f.offset = offset;
  f.scale = (uint32_t)scale;
  f.index_signed = c->address.index_signed;
  f.align = group_align(m, number);
  c->limit_at = fact(m, f);
  return c->limit_at != 0;
}

static bool settle_range(Memcheck *m, uint32_t number) {
  Check *c = &m->checks[number];
  WeaveFact f = fact_of(m, c, FACT_RANGE, (uint32_t)(c->high - c->low));
  f.align = group_align(m, number);
  c->group_range_at = fact(m, f);
  return c->group_range_at != 0;
}

// Each for itself, by ranges that have room already.
static void dissolve(Memcheck *m, uint32_t leader) {
  for (uint32_t i = m->nchecks; i-- > leader;) {
    Check *c = &m->checks[i];
    if (c->leader != leader) continue;
    if (c->kind == CHECK_INDEX) c->test_align = c->align > 1;
    c->kind = CHECK_RANGE;
    c->leader = i;
    c->leads = false;
    c->group_range_at = c->range_at;
    set_span(m, c);
  }
}

// The kind of access through each pointer (read or write), for arguments that allow only one of the
// two.
static void note_accesses(Memcheck *m) {
  for (uint32_t i = 0; i < m->nchecks; i++) {
    Check *c = &m->checks[i];
    if (!c->range_at) continue;
    c->inserts = memcheck_inserts(m, c);
    if (c->inserts) continue;
    WeaveFact like = fact_of(m, c, FACT_RANGE, c->bytes);
    uint32_t does = c->access == WG_ACCESS_READ    ? FACT_READS
                    : c->access == WG_ACCESS_WRITE ? FACT_WRITES
                                                   : FACT_READS | FACT_WRITES;
    for (uint32_t k = 0; k < m->facts.len; k++)
      if (m->facts.data[k].param == like.param &&
          m->facts.data[k].param_offset == like.param_offset)
        m->facts.data[k].accesses |= does;
  }
}

static bool is_of_parameter(const Check *c) {
  return c->kind == CHECK_RANGE || (c->kind == CHECK_INDEX && !c->var);
}

void memcheck_group(Memcheck *m) {
  for (uint32_t i = 0; i < m->nchecks; i++) {
    Check *c = &m->checks[i];
    if (is_of_parameter(c)) {
      c->range_at = fact(m, fact_of(m, c, FACT_RANGE, c->bytes));
      if (!c->range_at) {
        c->kind = CHECK_LOOKUP;
        c->test_align = c->align > 1;
      }
    }
    set_span(m, c);
  }
  group_blocks(m);
  for (uint32_t i = 0; i < m->nchecks; i++) {
    Check *c = &m->checks[i];
    if (c->leader != i) continue;
    if (c->kind == CHECK_INDEX && !settle_index(m, i)) dissolve(m, i);
    else if (c->kind == CHECK_RANGE && !settle_range(m, i)) dissolve(m, i);
    else if (c->kind == CHECK_VARIABLE) c->limit = (int64_t)c->var->size - (c->high - c->low);
  }
  note_accesses(m);
}
