// Decides how each address of a function is checked, by its provenance.
#include "tools/memcheck/internal.h"

// Added by an earlier pass, which knows its addresses.
static bool is_added(const PtxInstr *in) {
  if (in->space != SPACE_GLOBAL) return false;
  for (unsigned i = 0; i < in->nops; i++) {
    const PtxOperand *o = &in->ops[i];
    if (o->kind == OPD_ADDR && o->nlist && o->list[0].kind == OPD_REG)
      return !strncmp(o->list[0].reg->name, EARLY_REG_PREFIX, strlen(EARLY_REG_PREFIX));
  }
  return false;
}

// The instructions this tool checks. docs/memcheck.md lists the others.
static bool is_checked(const PtxInstr *in) {
  if (is_added(in)) return false;
  switch (ptx_op_memory(in->op)) {
    case MEMORY_SCALAR:
    case MEMORY_COPY:
    case MEMORY_BULK:
    case MEMORY_MATRIX:
    case MEMORY_TILE: return true;
    default: return false;
  }
}

static uint32_t access_of(const PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  return classes & CLASS_ATOMIC  ? WG_ACCESS_ATOMIC
         : classes & CLASS_STORE ? WG_ACCESS_WRITE
                                 : WG_ACCESS_READ;
}

// object + scale * index + offset with a 32-bit index; whole multiples of the alignment, if the
// object begins at one.
static bool is_indexed(const Check *c) {
  enum { MOST_SCALE = 1 << 20 };
  const IrAddress *a = &c->address;
  if (!a->taken_apart || c->size || a->offset % c->align) return false;
  if (!a->index) return true;
  if (a->index_bytes != 4 || a->scale <= 0 || a->scale > MOST_SCALE || a->scale % c->align)
    return false;
  return a->offset / a->scale > -MOST_SCALE && a->offset / a->scale < MOST_SCALE;
}

static void plan_parameter(Memcheck *m, Check *c) {
  uint32_t param = facts_param(m->body, c->address.origin.var);
  if (param == UINT32_MAX) return;
  c->kind = CHECK_RANGE;
  if (is_indexed(c)) {
    c->kind = CHECK_INDEX;
    c->limit = -1;
    c->index = (PtxReg *)c->address.index;
    c->test_align = false;
  } else
    c->test_align = !ir_is_aligned(m->alignment, &m->body->cfg->instrs[c->instr]->ops[c->operand],
                                   c->align, true);
}

// A variable of known size.
static void plan_variable(Memcheck *m, Check *c) {
  const IrAddress *a = &c->address;
  const PtxVar *v = a->origin.var;
  int64_t size = (int64_t)v->size;
  bool starts_aligned = v->align % c->align == 0;
  c->var = v;
  if (a->taken_apart && !a->index && !c->size) {
    bool inside = a->offset >= 0 && a->offset + c->bytes <= size;
    if (!inside || (starts_aligned && a->offset % c->align)) c->kind = CHECK_ALWAYS_BAD;
    else if (starts_aligned) c->kind = CHECK_NOTHING;
    else c->kind = CHECK_VARIABLE;
    return;
  }
  if (is_indexed(c) && starts_aligned && c->bytes <= size) {
    c->kind = CHECK_INDEX;
    c->limit = 0;  // tools/memcheck/weave_group.c sets it
    c->index = (PtxReg *)a->index;
    c->test_align = false;
    return;
  }
  c->kind = c->bytes <= size ? CHECK_VARIABLE : CHECK_ALWAYS_BAD;
}

static bool is_dynamic_shared(const PtxVar *v) {
  return v->space == SPACE_SHARED && !v->size && v->linkage == LINK_EXTERN;
}

static bool is_always_inside(Memcheck *m, const Check *c) {
  if ((c->kind != CHECK_INDEX && c->kind != CHECK_VARIABLE) || c->frame || c->test_align ||
      c->size || c->lanes)
    return false;
  if (!m->ranges) m->ranges = ir_ranges_build(m->body->cfg, m->defs);
  return ir_stays_inside(m->ranges, c->instr, c->operand, c->var, c->bytes);
}

// --- one array of a frame ---

static const PtxInstr *def_of(const Memcheck *m, const PtxOperand *o) {
  return o->kind == OPD_REG ? ir_single_def(m->defs, o->reg) : NULL;
}
static bool moves(const PtxInstr *in) {
  return in && (in->op == OP_MOV || in->op == OP_CVTA) && in->nops == 2;
}

static bool is_frame(const Memcheck *m, const PtxOperand *o, const PtxVar *frame) {
  while (moves(def_of(m, o))) o = &def_of(m, o)->ops[1];
  return o->kind == OPD_VAR && o->var == frame && !o->imm;
}

// Code that is not optimised computes the address of a variable of the frame first, as the frame's
// plus a number, and adds to that.
static bool begins_at(const Memcheck *m, const PtxOperand *o, const PtxVar *frame, int64_t *at) {
  enum { DEEPEST = 24 };
  for (int depth = 0; depth < DEEPEST; depth++) {
    const PtxInstr *in = def_of(m, o);
    if (!in) return false;
    if (moves(in)) o = &in->ops[1];
    else if (in->op != OP_ADD || in->nops != 3) return false;
    else if (is_frame(m, &in->ops[1], frame)) {
      *at = in->ops[2].imm;
      return in->ops[2].kind == OPD_INT;
    } else
      o = in->ops[1].kind == OPD_REG && ir_is_object(m->provenance->reg[in->ops[1].reg->id])
              ? &in->ops[1]
              : &in->ops[2];
  }
  return false;
}

static void find_part(const Memcheck *m, Check *c) {
  const PtxVar *frame = c->address.origin.var;
  int64_t at;
  if (frame->space != SPACE_LOCAL ||
      !begins_at(m, &m->body->cfg->instrs[c->instr]->ops[c->operand].list[0], frame, &at))
    return;
  const PtxVar *part = ptx_frame_part(m->body->func->module, frame, (uint64_t)at);
  if (!part) return;
  c->frame = frame;
  c->frame_at = at;
  c->address.origin.var = part;
  if (c->address.taken_apart) c->address.offset -= at;
}

static void plan_object(Memcheck *m, Check *c) {
  find_part(m, c);
  const PtxVar *v = c->address.origin.var;
  if (v->size && v->linkage != LINK_EXTERN && v->linkage != LINK_COMMON) {
    plan_variable(m, c);
    if (is_always_inside(m, c)) c->kind = CHECK_NOTHING;
  } else if (is_dynamic_shared(v)) {
    c->kind = CHECK_DYNAMIC;
    c->var = v;
  }
}

// For addresses of unknown objects.
static CheckKind by_space(const PtxInstr *in, PtxSpace space) {
  switch (space) {
    case SPACE_GLOBAL:
    case SPACE_GENERIC: return CHECK_LOOKUP;
    // another block's memory
    case SPACE_SHARED: return ptx_has(in, MOD_SHARED_CLUSTER) ? CHECK_NOTHING : CHECK_WINDOW;
    default: return CHECK_NOTHING;
  }
}

void memcheck_plan_address(Memcheck *m, Check c) {
  const PtxInstr *in = m->body->cfg->instrs[c.instr];
  const PtxOperand *operand = &in->ops[c.operand];
  c.address = ir_address(m->defs, m->provenance, c.instr, operand);
  c.kind = by_space(in, c.space);
  c.test_align = c.align > 1 && !ir_is_aligned(m->alignment, operand, c.align, false);
  if (c.address.origin.kind == IR_FROM_PARAM &&
      (c.space == SPACE_GLOBAL || c.space == SPACE_GENERIC))
    plan_parameter(m, &c);
  else if (c.address.origin.kind == IR_FROM_VAR) plan_object(m, &c);
  if (c.kind == CHECK_NOTHING) return;
  if (m->check_of[c.instr] == UINT32_MAX) m->check_of[c.instr] = m->nchecks;
  c.leader = m->nchecks;
  m->checks[m->nchecks++] = c;
}

// Parameters are named, as a rule; one whose address was computed is an object like others.
static bool is_computed_param(const PtxInstr *in, unsigned operand) {
  return in->space == SPACE_PARAM && in->op == OP_LD && in->ops[operand].list[0].kind == OPD_REG;
}

static void plan_access(Memcheck *m, uint32_t instr) {
  const PtxInstr *in = m->body->cfg->instrs[instr];
  if (memcheck_plan_wide(m, instr)) return;
  uint32_t bytes = access_bytes(in);
  if (!bytes) return;
  for (unsigned k = 0; k < in->nops; k++) {
    if (in->ops[k].kind != OPD_ADDR || (in->space == SPACE_PARAM && !is_computed_param(in, k)))
      continue;
    memcheck_plan_address(m, (Check){.instr = instr,
                                     .operand = k,
                                     .space = in->space,
                                     .access = access_of(in),
                                     .bytes = bytes,
                                     .align = bytes});
  }
}

void memcheck_plan(Memcheck *m) {
  const IrCfg *cfg = m->body->cfg;
  Arena *a = &m->body->program->scratch;
  m->checks = ARENA_ARRAY(a, Check, 2 * (size_t)cfg->ninstrs + 1);
  m->check_of = ARENA_ARRAY(a, uint32_t, cfg->ninstrs + 1);
  memset(m->check_of, 0xff, sizeof *m->check_of * (cfg->ninstrs + 1));
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    if (is_checked(cfg->instrs[i]) && cfg->blocks[cfg->block_of[i]].rpo != IR_NONE)
      plan_access(m, i);
}
