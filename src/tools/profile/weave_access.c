// Counts the requests of one access. What the code tells is not computed again: a request of a full
// warp whose lanes are a fixed distance apart costs a test of its alignment; all others call the
// device code of probe.c, out of line.
#include "tools/profile/internal.h"

static const char *probe_of(const ProfileSite *s, bool generic) {
  if (generic) return "wg_profile_generic";
  if (s->space == SITE_SHARED) return "wg_profile_shared";
  if (s->space == SITE_CONSTANT) return "wg_profile_constant";
  return s->what == SITE_ATOMIC ? "wg_profile_atomic" : "wg_profile_global";
}

typedef struct Access {
  const PtxInstr *in;
  const PtxOperand *address;
  uint32_t block, i;
  ProfileSite *site;
  bool generic, needs_rows;
} Access;

// Calls the device code for the lanes that pass the guard of `c`.
static void look_while_running(Profiling *w, Code *c, const Access *a) {
  Body *b = w->body;
  PtxReg *slot = body_temp(b, TYPE_B64, 2), *address = body_temp(b, TYPE_B64, 3);
  PtxReg *guard = c->guard;
  bool negated = c->guard_negated;
  code_guard(c, NULL, false);
  EMIT(c, "add.u64", opd_reg(slot), opd_reg(w->counting->counters), opd_imm(a->site->slot * 8ll));
  access_address(c, address, a->address);
  code_guard(c, guard, negated);
  code_call(c, probe_function(b->program, b->unit, probe_of(a->site, a->generic)),
            (PtxOperand[]){opd_reg(slot), opd_reg(address), opd_imm(a->site->bytes)}, 3);
  code_guard(c, NULL, false);
}

static PtxReg *partial_of(Profiling *w, uint32_t block) {
  if (w->partial[block]) return w->partial[block];
  Code *c = body_before(w->body, w->body->cfg->blocks[block].first);
  PtxReg *lanes = body_temp(w->body, TYPE_B32, 2);
  w->partial[block] = body_reg(w->body, TYPE_PRED);
  code_guard(c, NULL, false);
  EMIT(c, "activemask.b32", opd_reg(lanes));
  EMIT(c, "setp.ne.or.u32", opd_reg(w->partial[block]), opd_reg(lanes), opd_imm(-1),
       opd_reg(w->odd_shape));
  return w->partial[block];
}

// The lower half of the lowest address of a full warp.
static PtxReg *lowest_address(Profiling *w, Code *c, const Access *a) {
  Body *b = w->body;
  PtxReg *low = body_temp(b, TYPE_B32, 2), *wide = body_temp(b, TYPE_B64, 3);
  const PtxOperand *base = &a->address->list[0];
  int64_t stride = a->site->stride, offset = a->address->imm + (stride < 0 ? 31 * stride : 0);
  if (base->kind == OPD_REG && ptx_type_size(base->reg->type) == 8)
    EMIT(c, "cvt.u32.u64", opd_reg(low), *base);
  else {
    access_address(c, wide, a->address);
    offset -= a->address->imm;
    EMIT(c, "cvt.u32.u64", opd_reg(low), opd_reg(wide));
  }
  EMIT(c, "mad.lo.s32", opd_reg(low), opd_reg(w->lane), opd_imm(-stride), opd_reg(low));
  if (offset) EMIT(c, "add.s32", opd_reg(low), opd_reg(low), opd_imm((int32_t)offset));
  return low;
}

// What is more than in an aligned request: ((low & (unit - 1)) + reach) / unit, 0 or 1.
static void add_extra(Profiling *w, Code *c, const Access *a, PtxReg *low, bool lines) {
  Body *b = w->body;
  uint32_t unit = lines ? 128 : 32, stride = (uint32_t)abs(a->site->stride);
  uint32_t counter = a->site->slot + (lines ? SLOT_EXTRA_LINES : SLOT_EXTRA_UNITS);
  if (stride >= unit) return;
  PtxReg *extra = body_temp(b, TYPE_B32, 3), *wide = body_temp(b, TYPE_B64, 3),
         *kept = count_loops_short_register(w->counting, a->block, counter);
  EMIT(c, "and.b32", opd_reg(extra), opd_reg(low), opd_imm(unit - 1));
  EMIT(c, "add.u32", opd_reg(extra), opd_reg(extra), opd_imm(31 * stride & (unit - 1)));
  EMIT(c, "shr.u32", opd_reg(extra), opd_reg(extra), opd_imm(lines ? 7 : 5));
  if (!kept) EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(extra));
  code_guard(c, w->leads, false);
  if (kept) EMIT(c, "add.u32", opd_reg(kept), opd_reg(kept), opd_reg(extra));
  else
    EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(w->counting->counters), counter * 8ll),
         opd_reg(wide));
  code_guard(c, NULL, false);
}

// Which offsets occur, once for each thread that comes here: `kept` is still 0.
static void add_offset(Profiling *w, Code *c, const Access *a, PtxReg *low) {
  PtxReg *bit = body_temp(w->body, TYPE_B32, 3), *wide = body_temp(w->body, TYPE_B64, 3);
  EMIT(c, "bfe.u32", opd_reg(bit), opd_reg(low), opd_imm(2), opd_imm(5));
  EMIT(c, "mov.u64", opd_reg(wide), opd_imm(1));
  EMIT(c, "shl.b64", opd_reg(wide), opd_reg(wide), opd_reg(bit));
  code_guard(c, w->leads, false);
  EMIT(c, "red.global.or.b64",
       opd_at(c, opd_reg(w->counting->counters), (a->site->slot + SLOT_OFFSETS) * 8ll),
       opd_reg(wide));
  code_guard(c, NULL, false);
}

// Requests of a power of two bytes that begin at a multiple of it, or of 128, are aligned.
static uint32_t alignment_mask(uint32_t stride) {
  uint32_t span = 32;
  while (span < 128 && span < 32 * stride) span *= 2;
  return span - 1;
}

static void count_affine(Profiling *w, const Access *a) {
  Body *b = w->body;
  PtxReg *partial = partial_of(w, a->block), *bad = body_temp(b, TYPE_PRED, 2);
  Code *c = body_before(b, a->i), *cold = body_cold(b);
  PtxLabel *out = body_label(b), *back = body_label(b), *slow = body_label(b);
  bool tests = a->site->space == SITE_GLOBAL && abs(a->site->stride) < 128;
  code_guard(c, NULL, false);
  PtxReg *low = tests ? lowest_address(w, c, a) : NULL;
  if (tests) {
    PtxReg *rest = body_temp(b, TYPE_B32, 3);
    EMIT(c, "and.b32", opd_reg(rest), opd_reg(low),
         opd_imm(alignment_mask((uint32_t)abs(a->site->stride))));
    EMIT(c, "setp.ne.or.u32", opd_reg(bad), opd_reg(rest), opd_imm(0), opd_reg(partial));
    code_branch(c, bad, false, out);
  } else {
    code_branch(c, partial, false, slow);
  }
  code_label(c, back);
  cold->near = a->in;
  if (tests) {
    code_label(cold, out);
    code_branch(cold, partial, false, slow);
    add_extra(w, cold, a, low, false);
    add_extra(w, cold, a, low, true);
    if (w->body->cfg->blocks[a->block].loop == IR_NONE) add_offset(w, cold, a, low);
    EMIT(cold, "bra", opd_label(back));
  }
  code_label(cold, slow);
  look_while_running(w, cold, a);
  EMIT(cold, "bra", opd_label(back));
}

// All lanes have one address in blocks of a certain shape; in others it is looked at.
static void count_same(Profiling *w, const Access *a) {
  if (!a->needs_rows) return;
  Code *c = body_before(w->body, a->i), *cold = body_cold(w->body);
  PtxLabel *slow = body_label(w->body), *back = body_label(w->body);
  code_guard(c, NULL, false);
  code_branch(c, w->odd_shape, false, slow);
  code_label(c, back);
  cold->near = a->in;
  code_label(cold, slow);
  look_while_running(w, cold, a);
  EMIT(cold, "bra", opd_label(back));
}

static bool describe(const PtxInstr *in, unsigned operand, ProfileSite *s) {
  unsigned classes = ptx_op_classes(in), memory = ptx_op_memory(in->op);
  s->bytes = access_bytes(in);
  s->what = classes & CLASS_ATOMIC ? SITE_ATOMIC : classes & CLASS_STORE ? SITE_STORE : SITE_LOAD;
  PtxSpace space = in->space;
  if (memory == MEMORY_COPY) {  // to shared memory, from global
    space = operand ? SPACE_GLOBAL : SPACE_SHARED;
    s->what = operand ? SITE_LOAD : SITE_STORE;
  } else if (memory == MEMORY_MATRIX) {
    s->bytes = 16;  // a row of a matrix
    space = SPACE_SHARED;
  } else if (memory != MEMORY_SCALAR) {
    return false;
  }
  if (in->op != OP_LD && in->op != OP_ST && in->op != OP_ATOM && in->op != OP_RED &&
      memory == MEMORY_SCALAR)
    return false;
  switch (space) {
    case SPACE_GLOBAL:
    case SPACE_GENERIC: s->space = SITE_GLOBAL; break;
    case SPACE_SHARED: s->space = SITE_SHARED; break;
    case SPACE_CONST: s->space = SITE_CONSTANT; break;
    default: return false;
  }
  return s->bytes > 0;
}

// Fewer threads may come back from a call than have come to the block.
static bool behind_a_call(const Profiling *w, uint32_t block, uint32_t i) {
  for (uint32_t k = w->body->cfg->blocks[block].first; k < i; k++)
    if (w->body->cfg->instrs[k]->op == OP_CALL) return true;
  return false;
}

static void weave_operand(Profiling *w, uint32_t block, uint32_t i, unsigned operand) {
  Body *b = w->body;
  PtxInstr *in = b->cfg->instrs[i];
  ProfileSite s = {.kernel = w->counting->kernel, .ptx_line = in->ptx_line};
  if (!describe(in, operand, &s)) return;
  Access a = {.in = in, .address = &in->ops[operand], .block = block, .i = i};
  a.generic = in->space == SPACE_GENERIC && ptx_op_memory(in->op) == MEMORY_SCALAR;
  s.place = count_place(w->counting->count, in);
  s.text = arena_strdup(&b->program->out->arena, ptx_op_name(in->op));
  s.slot = count_reserve(w->counting->count, SLOT_WORDS * (a.generic ? 2 : 1));
  s.block = w->counting->entry[block];
  s.outside = COUNT_NONE;
  bool plain = !in->guard && !a.generic && b->func->is_entry && !behind_a_call(w, block, i) &&
               ptx_op_memory(in->op) != MEMORY_MATRIX;
  if (plain) pattern_find(w, a.address, &s, &a.needs_rows);
  if (plain && s.what != SITE_ATOMIC && s.space == SITE_GLOBAL && !ptx_has(in, MOD_VOLATILE))
    s.outside = pattern_outside(w, block, a.address);
  vec_push(&w->profile->sites, s);
  a.site = &w->profile->sites.data[w->profile->sites.len - 1];
  if (s.mode == SITE_KNOWN) count_affine(w, &a);
  else if (s.mode == SITE_SAME) count_same(w, &a);
  else {
    Code *c = body_before(b, i);
    code_guard(c, in->guard, in->guard_negated);
    look_while_running(w, c, &a);
  }
  if (!a.generic) return;
  s.space = SITE_SHARED;  // what of it turns out to be shared memory
  s.slot += SLOT_WORDS;
  vec_push(&w->profile->sites, s);
}

void weave_access(Profiling *w, uint32_t block, uint32_t i) {
  const PtxInstr *in = w->body->cfg->instrs[i];
  if (!access_is_memory(in)) return;
  unsigned memory = ptx_op_memory(in->op), operands = memory == MEMORY_COPY ? 2 : 1, seen = 0;
  for (unsigned k = 0; k < in->nops && seen < operands; k++)
    if (in->ops[k].kind == OPD_ADDR) {
      weave_operand(w, block, i, k);
      seen++;
    }
}
