// PTX function -> Code: blocks laid out in the order of ir_cfg, one or more Insts per PTX
// instruction. A block where control flow meets starts with exec_join: that is where fragments of a
// warp wait for each other.
#include "vgpu/core.h"

typedef struct Fixup {
  uint32_t inst, block;
} Fixup;

typedef struct Decoder {
  Binder binder;  // first: bind_* functions get a Binder and find the Decoder around it
  VgpuKernel *kernel;
  Code *code;
  IrCfg *cfg;
  SlotMap slots;
  VEC(Inst) insts;
  VEC(Fixup) fixups;
  uint32_t *block_start;  // block -> index of its first Inst
  U64Map constants[17];   // by width: value -> slot + 1
  VEC(struct {
    uint32_t slot;
    unsigned width;
    bool used;
  })
  scratch;
  VEC(struct {
    uint32_t slot;
    unsigned width;
    uint64_t value;
  })
  fills;
  uint32_t const_next;
  bool has_vectors;  // the function has vector registers
  bool wants_head;   // compiled code may be entered before the next instruction
} Decoder;

static Decoder *decoder(Binder *b) { return (Decoder *)b; }

Inst *bind_emit(Binder *b, ExecFn *fn) {
  Decoder *d = decoder(b);
  vec_push(&d->insts, (Inst){.fn = fn, .src = b->in});
  return &d->insts.data[d->insts.len - 1];
}

void *bind_alloc(Binder *b, size_t size) { return arena_alloc(&decoder(b)->code->arena, size); }

static uint32_t new_slot(Decoder *d, unsigned width) {
  uint32_t slot = d->const_next;
  d->const_next += MAX(width * LANES, 64u);
  return slot;
}

uint32_t bind_constant(Binder *b, uint64_t value, unsigned width) {
  Decoder *d = decoder(b);
  uintptr_t known = (uintptr_t)u64map_get(&d->constants[width], value);
  if (known) return (uint32_t)known - 1;
  uint32_t slot = new_slot(d, width);
  u64map_put(&d->constants[width], value, (void *)(uintptr_t)(slot + 1));
  d->fills.len == d->fills.cap
      ? (void)(d->fills.data = vec_grow(d->fills.data, &d->fills.cap, sizeof *d->fills.data))
      : (void)0;
  d->fills.data[d->fills.len].slot = slot;
  d->fills.data[d->fills.len].width = width;
  d->fills.data[d->fills.len++].value = value;
  return slot;
}

uint32_t bind_scratch(Binder *b, unsigned width) {
  Decoder *d = decoder(b);
  for (uint32_t i = 0; i < d->scratch.len; i++)
    if (!d->scratch.data[i].used && d->scratch.data[i].width == width) {
      d->scratch.data[i].used = true;
      return d->scratch.data[i].slot;
    }
  uint32_t slot = new_slot(d, width);
  d->scratch.len == d->scratch.cap
      ? (void)(d->scratch.data = vec_grow(d->scratch.data, &d->scratch.cap,
                                          sizeof *d->scratch.data))
      : (void)0;
  d->scratch.data[d->scratch.len].slot = slot;
  d->scratch.data[d->scratch.len].width = width;
  d->scratch.data[d->scratch.len++].used = true;
  return slot;
}

uint32_t bind_carry(Binder *b) { return 0; }

static uint32_t register_slot(Decoder *d, const PtxOperand *o) {
  uint32_t slot = d->slots.slot[o->reg->id];
  unsigned part = o->selector >= SEL_X && o->selector <= SEL_W ? (unsigned)(o->selector - SEL_X)
                                                               : 0;
  return o->reg->vector ? slot + part * MAX(slot_width(o->reg->type) * LANES, 16u) : slot;
}

unsigned bind_width(Binder *b, const PtxOperand *o, PtxType t) {
  return o->kind == OPD_REG ? slot_width(o->reg->type) : slot_width(t);
}

// Bits of a floating-point literal as type t. 0f… are 32 bits; 0d… and decimal ones 64.
static uint64_t float_bits(const PtxOperand *o, PtxType t) {
  unsigned size = ptx_type_size(t);
  if (o->is_double && size == 4) {
    double v;
    memcpy(&v, &o->imm, 8);
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
  }
  if (!o->is_double && size == 8) {
    float f;
    uint32_t low = (uint32_t)o->imm;
    memcpy(&f, &low, 4);
    double v = f;
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
  }
  return (uint64_t)o->imm;
}

// Integer literal used where a float is expected (allowed for mov and for immediate operands of bit
// size).
static uint64_t truncate_to(uint64_t v, unsigned width) {
  return width >= 8 ? v : v & ((1ull << width * 8) - 1);
}

uint32_t bind_src(Binder *b, const PtxOperand *o, PtxType t) {
  Decoder *d = decoder(b);
  unsigned width = slot_width(t);
  switch (o->kind) {
    case OPD_REG: return register_slot(d, o);
    case OPD_INT:
      if (width == 0) return bind_constant(b, o->imm ? FULL_MASK : 0, 0);
      return bind_constant(b, truncate_to((uint64_t)o->imm, width), width);
    case OPD_FLOAT: return bind_constant(b, float_bits(o, t), width);
    case OPD_FUNC: {
      return bind_constant(b, (uint64_t)function_symbol(o->func), MAX(width, 4u));
    }
    case OPD_VAR: {
      uint32_t offset;
      if (kernel_shared_offset(d->kernel, o->var, &offset))
        return bind_constant(b, offset + (uint64_t)o->imm, MAX(width, 4u));
      if (bind_kernel_param(b, o->var, &offset) || bind_local_offset(b, o->var, &offset)) {
        // the address differs per launch or frame: computed into a scratch slot right before the
        // instruction
        uint32_t slot = bind_scratch(b, MAX(width, 4u));
        bool is_param = bind_kernel_param(b, o->var, &offset);
        Inst *i = bind_emit(b, is_param ? exec_param_address : exec_local_address);
        i->d = slot;
        i->imm = offset + (uint64_t)o->imm;
        i->flag[1] = (uint8_t)MAX(width, 4u);
        return slot;
      }
      VarSym *s = variable_symbol(o->var);
      if (!s) {
        error_set(b->err, "the address of %s is not known", o->var->name);
        return bind_constant(b, 0, MAX(width, 4u));
      }
      return bind_constant(b, (uint64_t)s->address + (uint64_t)o->imm, MAX(width, 4u));
    }
    case OPD_SREG: {
      uint32_t slot = bind_scratch(b, width);
      Inst *i = bind_emit(b, sreg_exec(o->sreg, o->selector, width));
      i->d = slot;
      i->imm = o->sreg;
      i->flag[0] = (uint8_t)o->selector;
      i->flag[1] = (uint8_t)width;
      return slot;
    }
    default: return bind_scratch(b, width);
  }
}

uint32_t bind_dst(Binder *b, const PtxOperand *o, PtxType t) {
  if (o->kind == OPD_REG) return register_slot(decoder(b), o);
  return bind_scratch(b, slot_width(t));
}

uint32_t bind_pred(Binder *b, const PtxOperand *o, uint32_t *negate) {
  *negate = o->negated ? FULL_MASK : 0;
  return bind_src(b, o, TYPE_PRED);
}

bool bind_local_offset(Binder *b, const PtxVar *v, uint32_t *offset) {
  uintptr_t at = (uintptr_t)u64map_get(&decoder(b)->code->local_offset, (uint64_t)v);
  *offset = (uint32_t)at - 1;
  return at != 0;
}

bool bind_kernel_param(Binder *b, const PtxVar *v, uint32_t *offset) {
  PtxFunc *f = decoder(b)->code->func;
  if (!f->is_entry || v->space != SPACE_PARAM) return false;
  for (uint32_t i = 0; i < f->nparams; i++)
    if (f->params[i] == v) {
      *offset = (uint32_t)v->param_offset;
      return true;
    }
  return false;
}

bool bind_params_hold(Binder *b, uint64_t offset, unsigned bytes) {
  uint64_t have = decoder(b)->code->func->param_bytes;
  return bytes <= have && offset <= have - bytes;
}

bool bind_unsupported(Binder *b, const char *why) {
  Str text = {0};
  ptx_print_instr(b->in, &text);
  error_set(b->err, "%s (%s)", text.data, why);
  str_free(&text);
  return false;
}

static bool place_local(Code *c, const PtxVar *v, uint64_t *at) {
  uint64_t align = MAX(v->align, 1u);
  if (v->size > MOST_LOCAL || align > MOST_LOCAL) return false;
  *at = (*at + align - 1) / align * align;
  u64map_put(&c->local_offset, (uint64_t)v, (void *)(uintptr_t)(*at + 1));
  *at += MAX(v->size, 1u);
  return *at <= MOST_LOCAL;
}

// Assigns local_offset and local_bytes.
static bool place_locals(Code *c) {
  PtxFunc *f = c->func;
  uint64_t at = 0;
  bool ok = true;
  for (uint32_t i = 0; i < f->nlocals; i++)
    if (f->locals[i]->space == SPACE_LOCAL || f->locals[i]->space == SPACE_PARAM)
      ok = ok && place_local(c, f->locals[i], &at);
  if (!f->is_entry) {
    for (uint32_t i = 0; i < f->nparams; i++) ok = ok && place_local(c, f->params[i], &at);
    for (uint32_t i = 0; i < f->nreturns; i++) ok = ok && place_local(c, f->returns[i], &at);
  }
  // .local at module scope: one per thread, kept in each frame that uses it
  for (uint32_t i = 0; i < f->module->nvars; i++)
    if (f->module->vars[i]->space == SPACE_LOCAL)
      ok = ok && place_local(c, f->module->vars[i], &at);
  c->local_bytes = (uint32_t)(at + 15) & ~15u;
  return ok;
}

// --- calls ---
static bool bind_value(Decoder *d, const PtxOperand *o, const PtxVar *formal,
                       struct CallValue *out) {
  if (o->kind == OPD_VAR) {
    out->size = (uint32_t)o->var->size;
    return bind_local_offset(&d->binder, o->var, &out->where);
  }
  PtxType t = formal ? formal->type : o->kind == OPD_REG ? o->reg->type : TYPE_B32;
  out->is_slot = true;
  out->size = slot_width(t);
  out->where = bind_src(&d->binder, o, t);
  return true;
}

static bool decode_call(Decoder *d) {
  const PtxInstr *in = d->binder.in;
  CallSite *cs = bind_alloc(&d->binder, sizeof *cs);
  const PtxOperand *rets = &in->ops[0], *callee = &in->ops[1], *args = &in->ops[2];
  PtxFunc *proto = callee->kind == OPD_FUNC                       ? callee->func
                   : in->nops > 3 && in->ops[3].kind == OPD_LABEL ? in->ops[3].label->prototype
                                                                  : NULL;
  cs->nargs = args->nlist;
  cs->nrets = rets->nlist;
  cs->args = bind_alloc(&d->binder, (cs->nargs + 1) * sizeof *cs->args);
  cs->rets = bind_alloc(&d->binder, (cs->nrets + 1) * sizeof *cs->rets);
  for (uint32_t i = 0; i < cs->nargs; i++)
    if (!bind_value(d, &args->list[i], proto && i < proto->nparams ? proto->params[i] : NULL,
                    &cs->args[i]))
      return error_set(d->binder.err, "argument %u of the call is not a parameter of this function",
                       i);
  for (uint32_t i = 0; i < cs->nrets; i++)
    if (!bind_value(d, &rets->list[i], proto && i < proto->nreturns ? proto->returns[i] : NULL,
                    &cs->rets[i]))
      return error_set(d->binder.err, "result %u of the call is not a parameter of this function",
                       i);
  if (callee->kind != OPD_FUNC) {
    uint32_t slot = bind_src(&d->binder, callee, TYPE_B64);
    Inst *i = bind_emit(&d->binder, exec_call_indirect);
    i->ptr = cs;
    i->a = slot;
    return true;
  }
  cs->callee = function_symbol(callee->func);
  if (!cs->callee->func && !cs->callee->builtin)
    return error_set(d->binder.err, "call of %s, which is defined nowhere in this program",
                     callee->func->name);
  bind_emit(&d->binder, cs->callee->builtin ? cs->callee->builtin : exec_call)->ptr = cs;
  return true;
}

// --- branches ---
static void add_fixup(Decoder *d, uint32_t block) {
  vec_push(&d->fixups, (Fixup){d->insts.len - 1, block});
}

static bool decode_branch(Decoder *d) {
  const PtxInstr *in = d->binder.in;
  if (in->op == OP_BRA) {
    uint32_t target = d->cfg->label_block[in->ops[0].label->id];
    bind_emit(&d->binder, in->guard ? exec_branch : exec_jump);
    add_fixup(d, target);
    return true;
  }
  // brx.idx: the table of targets becomes an array of instruction pointers
  const PtxLabel *list = in->ops[1].label;
  uint32_t slot = bind_src(&d->binder, &in->ops[0], TYPE_U32);
  const Inst **table = bind_alloc(&d->binder, (list->ntargets + 1) * sizeof *table);
  Inst *i = bind_emit(&d->binder, exec_branch_indexed);
  i->a = slot;
  i->b = list->ntargets;
  i->ptr = table;
  return true;
}

static void fix_indexed(Decoder *d) {
  for (uint32_t i = 0; i < d->insts.len; i++) {
    Inst *in = &d->insts.data[i];
    if (in->fn != exec_branch_indexed && in->inner != exec_branch_indexed) continue;
    const PtxLabel *list = in->src->ops[1].label;
    for (uint32_t k = 0; k < list->ntargets; k++)
      ((const Inst **)(uintptr_t)in->ptr)[k] =
          &d->code->insts[d->block_start[d->cfg->label_block[list->targets[k]->id]]];
  }
}

static bool decode_instruction(Decoder *d) {
  const PtxInstr *in = d->binder.in;
  switch (in->op) {
    case OP_BRA:
    case OP_BRX_IDX: return decode_branch(d);
    case OP_CALL: return decode_call(d);
    default: break;
  }
  if (ptx_op_is_arith(in->op)) return vgpu_families.arith(&d->binder);
  switch (ptx_op_family(in->op)) {
    case FAMILY_MEMORY: return vgpu_families.memory(&d->binder);
    case FAMILY_TEXTURE: return vgpu_families.texture(&d->binder);
    case FAMILY_WARP: return vgpu_families.warp(&d->binder);
    case FAMILY_MMA: return vgpu_families.mma(&d->binder);
    case FAMILY_CONTROL: return bind_control(&d->binder);
    default: return bind_unsupported(&d->binder, "not executed by the virtual device");
  }
}

// A vector register (.reg .v4 .f32 v) as an operand means its elements: families see {v.x, v.y,
// v.z, v.w}.
static bool spread_vector(Arena *a, PtxOperand *o) {
  if (o->kind == OPD_REG && o->reg->vector && !o->selector) {
    PtxOperand *list = ARENA_ARRAY(a, PtxOperand, o->reg->vector);
    for (unsigned k = 0; k < o->reg->vector; k++) {
      list[k] = *o;
      list[k].selector = SEL_X + k;
    }
    *o = (PtxOperand){.kind = OPD_VECTOR, .nlist = o->reg->vector, .list = list};
    return true;
  }
  if ((o->kind != OPD_PAIR && o->kind != OPD_ADDR) || !o->nlist) return false;
  PtxOperand *list = ARENA_ARRAY(a, PtxOperand, o->nlist);
  memcpy(list, o->list, o->nlist * sizeof *list);
  bool changed = false;
  for (unsigned k = 0; k < o->nlist; k++) changed |= spread_vector(a, &list[k]);
  if (changed) o->list = list;
  return changed;
}
static PtxInstr *spread_vectors(Decoder *d, PtxInstr *in) {
  if (!d->has_vectors || in->op == OP_CALL) return in;
  PtxInstr *copy = ARENA_NEW(&d->code->arena, PtxInstr);
  *copy = *in;
  copy->ops = ARENA_ARRAY(&d->code->arena, PtxOperand, in->nops + 1u);
  if (in->nops) memcpy(copy->ops, in->ops, in->nops * sizeof *in->ops);
  bool changed = false;
  for (unsigned k = 0; k < in->nops; k++) changed |= spread_vector(&d->code->arena, &copy->ops[k]);
  return changed ? copy : in;
}

static void decode_one(Decoder *d, PtxInstr *in) {
  Error why = {""};
  d->binder.in = in = spread_vectors(d, in);
  d->binder.err = &why;
  for (uint32_t i = 0; i < d->scratch.len; i++) d->scratch.data[i].used = false;
  uint32_t first = d->insts.len, first_fixup = d->fixups.len;
  if (!decode_instruction(d) || why.text[0]) {
    d->insts.len = first;
    d->fixups.len = first_fixup;
    if (!why.text[0])
      bind_unsupported(&d->binder, "this form is not executed by the virtual device");
    d->code->has_unsupported = true;
    bind_emit(&d->binder, exec_unsupported)->ptr = arena_strdup(&d->code->arena, why.text);
  }
  if (!in->guard) return;
  PtxOperand guard = {.kind = OPD_REG, .reg = in->guard};
  uint32_t slot = register_slot(d, &guard);
  for (uint32_t i = first; i < d->insts.len; i++) {
    Inst *x = &d->insts.data[i];
    x->guard = slot;
    x->guard_negated = in->guard_negated;
    if (x->fn == exec_branch) continue;  // its guard is its condition
    x->inner = x->fn;
    x->fn = exec_guarded;
  }
}

static bool ends_flow(const PtxInstr *in) {
  return !in->guard && (in->op == OP_BRA || in->op == OP_RET || in->op == OP_EXIT ||
                        in->op == OP_TRAP || in->op == OP_BRX_IDX);
}

static void emit_head(Decoder *d, const PtxInstr *next) {
  if (!d->wants_head || !region_is_on()) return;
  d->binder.in = next;
  bind_emit(&d->binder, region_enter);
  d->wants_head = false;
}

// Lanes may have come here together from brx.idx, which the interpreter has run.
static bool is_switched_to(const IrCfg *g, const IrBlock *b) {
  if (b->npred != 1) return false;
  const IrBlock *from = &g->blocks[b->pred[0]];
  return from->first < from->end && g->instrs[from->end - 1]->op == OP_BRX_IDX;
}

static void decode_blocks(Decoder *d) {
  IrCfg *g = d->cfg;
  for (uint32_t o = 0; o < g->norder; o++) {
    uint32_t b = g->order[o];
    IrBlock *blk = &g->blocks[b];
    d->block_start[b] = d->insts.len;
    d->binder.in = blk->first < blk->end ? g->instrs[blk->first] : NULL;
    d->wants_head |= o == 0 || is_switched_to(g, blk);
    if (blk->npred > 1 || (b == 0 && blk->npred > 0)) {
      bind_emit(&d->binder, region_is_on() ? region_join : exec_join);
      d->wants_head = o == 0;  // a warp starts after the join
    }
    for (uint32_t i = blk->first; i < blk->end; i++) {
      d->wants_head |= region_head_before(g->instrs[i]);
      emit_head(d, g->instrs[i]);
      decode_one(d, g->instrs[i]);
      d->wants_head = region_head_after(g->instrs[i]);
    }
    const PtxInstr *last = blk->first < blk->end ? g->instrs[blk->end - 1] : NULL;
    if (last && ends_flow(last)) continue;
    // fall through: to the next block in the text, or off the end of the function
    if (blk->nsucc == 0 || b + 1 >= g->nblocks) {
      bind_emit(&d->binder, exec_return);
    } else {
      uint32_t next = blk->succ[blk->nsucc - 1];
      if (o + 1 < g->norder && g->order[o + 1] == next) continue;
      bind_emit(&d->binder, exec_jump);
      add_fixup(d, next);
    }
  }
}

static void fill_constants(Decoder *d) {
  Code *c = d->code;
  c->const_start = d->slots.bytes;
  c->const_bytes = d->const_next - c->const_start;
  c->reg_bytes = (d->const_next + 63) & ~63u;
  c->constants = arena_alloc(&c->arena, c->const_bytes + 64);
  for (uint32_t i = 0; i < d->fills.len; i++) {
    char *at = c->constants + d->fills.data[i].slot - c->const_start;
    unsigned width = d->fills.data[i].width;
    if (width == 0) memcpy(at, &d->fills.data[i].value, 4);
    else
      for (unsigned l = 0; l < LANES; l++)
        memcpy(at + l * width, &d->fills.data[i].value, MIN(width, 8u));
  }
}

Code *code_decode(VgpuKernel *k, FuncSym *f, Error *err) {
  Code *c = mem_alloc(sizeof *c);
  c->kernel = k;
  c->sym = f;
  c->func = f->func;
  if (!place_locals(c)) {
    error_set(err, "%s needs more than %d KB of local memory for each thread", f->func->name,
              MOST_LOCAL >> 10);
    code_free(c);
    return NULL;
  }
  Decoder d = {.kernel = k, .code = c};
  for (uint32_t i = 0; i < f->func->nregs; i++) d.has_vectors |= f->func->regs[i]->vector != 0;
  d.binder.code = c;
  d.cfg = ir_cfg_build(f->func, err);
  if (!d.cfg) {
    code_free(c);
    return NULL;
  }
  slots_assign(d.cfg, &d.slots, &c->arena);
  c->nregs32 = d.slots.nregs32;
  memcpy(c->program, d.slots.program, sizeof c->program);
  c->slots = d.slots.slot;
  d.const_next = d.slots.bytes;
  d.block_start = ARENA_ARRAY(&c->arena, uint32_t, d.cfg->nblocks + 1);
  decode_blocks(&d);
  if (d.cfg->norder == 0) bind_emit(&d.binder, exec_return);
  c->ninsts = d.insts.len;
  c->insts = ARENA_ARRAY(&c->arena, Inst, d.insts.len + 1);
  if (d.insts.len) memcpy(c->insts, d.insts.data, d.insts.len * sizeof(Inst));
  for (uint32_t i = 0; i < d.fixups.len; i++)
    c->insts[d.fixups.data[i].inst].target = &c->insts[d.block_start[d.fixups.data[i].block]];
  if (d.insts.len) memcpy(d.insts.data, c->insts, d.insts.len * sizeof(Inst));
  fix_indexed(&d);
  fill_constants(&d);
  regions_attach(c);
  ir_cfg_free(d.cfg);
  vec_free(&d.insts);
  vec_free(&d.fixups);
  vec_free(&d.scratch);
  vec_free(&d.fills);
  for (unsigned i = 0; i < ARRAY_LEN(d.constants); i++) u64map_free(&d.constants[i]);
  return c;
}

void code_free(Code *c) {
  if (!c) return;
  u64map_free(&c->local_offset);
  u64map_free(&c->deciding);
  regions_detach(c);
  arena_free(&c->arena);
  free(c);
}

bool vgpu_code_is_entry(Binder *b) { return decoder(b)->code->func->is_entry; }
