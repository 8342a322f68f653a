// The value that a store is about to write, and the value in memory. For a cp.async the source
// address stands for the value: two copies of the same bytes write the same value.
#include "tools/racecheck/weave_emit.h"

// The elements of a store: one, or those of a vector.
typedef struct Elements {
  const PtxOperand *list;
  unsigned n, bytes;  // bytes: of each
} Elements;

static bool is_constant(const PtxOperand *o) { return o->kind == OPD_INT || o->kind == OPD_FLOAT; }

static bool is_readable(const PtxOperand *o) {
  if (is_constant(o)) return true;
  return o->kind == OPD_REG && !o->reg->vector && o->reg->type != TYPE_PRED &&
         o->selector == SEL_NONE && ptx_type_size(o->reg->type) >= 2 &&
         ptx_type_size(o->reg->type) <= 8;
}

static bool find_elements(const Emit *e, Elements *out) {
  const PtxInstr *in = e->in;
  uint32_t bytes = e->a->bytes;
  if (!(e->a->flags & WG_RACE_WRITE)) return false;
  if (e->has_row) {
    *out = (Elements){e->row, ARRAY_LEN(e->row), bytes / ARRAY_LEN(e->row)};
    return true;
  }
  if (in->op != OP_ST || in->nops != 2) return false;
  if (bytes > 8 && bytes != WG_RACE_MOST_STORED) return false;
  const PtxOperand *o = &in->ops[1];
  *out = o->kind == OPD_VECTOR ? (Elements){o->list, o->nlist, bytes / o->nlist}
                               : (Elements){o, 1, bytes};
  if (out->bytes > 8) return false;
  for (unsigned i = 0; i < out->n; i++)
    if (!is_readable(&out->list[i])) return false;
  return true;
}

// to = the lowest `bytes` of the element, with zeros above them.
static void load_element(Emit *e, Code *c, PtxReg *to, const PtxOperand *o, unsigned bytes) {
  uint64_t mask = bytes < 8 ? (1ull << 8 * bytes) - 1 : ~0ull;
  if (is_constant(o)) {
    EMIT(c, "mov.b64", opd_reg(to), opd_imm((int64_t)((uint64_t)o->imm & mask)));
    return;
  }
  unsigned size = ptx_type_size(o->reg->type);
  if (size == 8) EMIT(c, "mov.b64", opd_reg(to), *o);
  else if (size == 4) {
    PtxReg *w = word(e, 2);
    EMIT(c, "mov.b32", opd_reg(w), *o);
    EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(w));
  } else {
    PtxReg *half = body_temp(e->k->body, TYPE_B16, 0);
    EMIT(c, "mov.b16", opd_reg(half), *o);
    EMIT(c, "cvt.u64.u16", opd_reg(to), opd_reg(half));
  }
  if (bytes < size) EMIT(c, "and.b64", opd_reg(to), opd_reg(to), opd_imm((int64_t)mask));
}

// to = n elements from `first` on, the first one lowest.
static void join_elements(Emit *e, Code *c, PtxReg *to, const Elements *all, unsigned first,
                          unsigned n) {
  PtxReg *more = wide(e, 7);
  load_element(e, c, to, &all->list[first], all->bytes);
  for (unsigned i = 1; i < n; i++) {
    load_element(e, c, more, &all->list[first + i], all->bytes);
    EMIT(c, "shl.b64", opd_reg(more), opd_reg(more), opd_imm(8 * all->bytes * i));
    EMIT(c, "or.b64", opd_reg(to), opd_reg(to), opd_reg(more));
  }
}

static bool is_copy(const Emit *e) {
  return e->in->op == OP_CP_ASYNC && e->a->flags & WG_RACE_WRITE;
}

// high: the number of bytes to copy, if the instruction has it.
static void copied_from(Emit *e, Code *c, PtxReg *to, PtxReg *high) {
  const PtxOperand *more = e->in->nops > 3 ? &e->in->ops[3] : NULL;
  bool is_reg = more && more->kind == OPD_REG;
  access_address(c, to, &e->in->ops[1]);
  if (is_reg && more->reg->type == TYPE_PRED)
    EMIT(c, "selp.b64", opd_reg(high), opd_imm(0), opd_imm(1), *more);
  else if (is_reg && ptx_type_size(more->reg->type) == 4) load_element(e, c, high, more, 4);
  else EMIT(c, "mov.b64", opd_reg(high), opd_imm(1));
}

void race_written_word(Emit *e, Code *c, PtxReg *to, unsigned word) {
  Elements all = {0};
  if (is_copy(e)) {
    copied_from(e, c, to, wide(e, 7));
    if (word > 1) EMIT(c, "mov.b64", opd_reg(to), opd_reg(wide(e, 7)));
    if (word % 2) EMIT(c, "shr.u64", opd_reg(to), opd_reg(to), opd_imm(32));
    else EMIT(c, "and.b64", opd_reg(to), opd_reg(to), opd_imm(0xffffffff));
    return;
  }
  CHECK(find_elements(e, &all));
  if (all.bytes == 8) {
    load_element(e, c, to, &all.list[word / 2], 8);
    if (word % 2) EMIT(c, "shr.u64", opd_reg(to), opd_reg(to), opd_imm(32));
    else EMIT(c, "and.b64", opd_reg(to), opd_reg(to), opd_imm(0xffffffff));
  } else if (all.bytes == 4) load_element(e, c, to, &all.list[word], 4);
  else
    join_elements(e, c, to, &all, word * 4 / all.bytes,
                  MIN(4 / all.bytes, all.n - word * 4 / all.bytes));
}

bool race_written(Emit *e, Code *c, PtxReg *to, PtxReg *high, bool *constant) {
  Elements all = {0};
  *constant = false;
  if (is_copy(e)) {
    if (c) copied_from(e, c, to, high);
    return true;
  }
  if (!find_elements(e, &all)) return false;
  *constant = true;
  for (unsigned i = 0; i < all.n; i++) *constant &= is_constant(&all.list[i]);
  unsigned low = e->a->bytes > 8 ? all.n / 2 : all.n;
  if (c) join_elements(e, c, to, &all, 0, low);
  if (c && low < all.n) join_elements(e, c, high, &all, low, all.n - low);
  return true;
}

void race_load_content(Emit *e, Code *c, PtxReg *to, PtxReg *high, bool shared) {
  PtxReg *w = word(e, 2), *at = shared ? e->off : e->at;
  if (is_copy(e)) {  // an address cannot be compared with it
    EMIT(c, "mov.b64", opd_reg(to), opd_imm(0));
    EMIT(c, "mov.b64", opd_reg(high), opd_imm(0));
    return;
  }
  switch (e->a->bytes) {
    case 1:
      shared ? EMIT(c, "ld.volatile.shared.u8", opd_reg(w), opd_at(c, opd_reg(at), 0))
             : EMIT(c, "ld.volatile.global.u8", opd_reg(w), opd_at(c, opd_reg(at), 0));
      break;
    case 2:
      shared ? EMIT(c, "ld.volatile.shared.u16", opd_reg(w), opd_at(c, opd_reg(at), 0))
             : EMIT(c, "ld.volatile.global.u16", opd_reg(w), opd_at(c, opd_reg(at), 0));
      break;
    case 4:
      shared ? EMIT(c, "ld.volatile.shared.u32", opd_reg(w), opd_at(c, opd_reg(at), 0))
             : EMIT(c, "ld.volatile.global.u32", opd_reg(w), opd_at(c, opd_reg(at), 0));
      break;
    default:
      for (unsigned i = 0; i < e->a->bytes / 8; i++) {
        PtxOperand d = opd_reg(i ? high : to);
        shared ? EMIT(c, "ld.volatile.shared.u64", d, opd_at(c, opd_reg(at), 8 * i))
               : EMIT(c, "ld.volatile.global.u64", d, opd_at(c, opd_reg(at), 8 * i));
      }
      return;
  }
  EMIT(c, "cvt.u64.u32", opd_reg(to), opd_reg(w));
}
