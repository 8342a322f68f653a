// record's pass: makes kernels write a record for each memory operation of a warp, for each barrier
// and fence, and for each value given to wg_record.
//
// Stores are recorded before they execute, loads and atomics after, when their value is known.
// Loads of textures and surfaces have no record. Stores to surfaces have none either; the kernel
// says so (RecordKernel.unseen).
#include "tools/options.h"
#include "tools/record/weave_group.h"

RecordKernel *recorder_kernel(const Body *b) {
  Woven *out = b->program->out;
  if (b->info->kernel >= out->nkernels) return NULL;
  void **data = &out->kernels[b->info->kernel].tool_data[TOOL_RECORD];
  if (!*data) *data = ARENA_ARRAY(&out->arena, RecordKernel, 1);
  return *data;
}

uint32_t recorder_site(Recorder *t, const PtxInstr *in, const PtxOperand *address, unsigned classes,
                       PtxSpace space, uint32_t bytes) {
  Body *b = t->body;
  uint32_t n = program_site(b->program, b, in);
  Site *s = &b->program->sites.data[n];
  s->classes = classes;
  s->space = space;
  s->bytes = bytes;
  if (!address) return n;
  IrOrigin o = ir_access_origin(t->provenance, address);
  if (o.kind == IR_FROM_VAR) s->object = arena_strdup(&b->program->out->arena, o.var->name);
  uint32_t param = o.kind == IR_FROM_PARAM && !o.offset ? facts_param(b, o.var) : UINT32_MAX;
  if (param != UINT32_MAX) s->parameter = param + 1;
  return n;
}

typedef struct Written {
  const PtxReg *reg;
  bool found;
} Written;
static void look_for(void *ctx, PtxReg **reg, bool is_def) {
  Written *w = ctx;
  w->found |= is_def && *reg == w->reg;
}
// Does the instruction overwrite the register that holds its address?
static bool overwrites_base(PtxInstr *in, const PtxOperand *address) {
  Written w = {address->list[0].kind == OPD_REG ? address->list[0].reg : NULL, false};
  if (w.reg) ptx_visit_regs(in, look_for, &w);
  return w.found;
}

static void address_only(Recorder *t, uint32_t i, const PtxInstr *in, const PtxOperand *address,
                         unsigned classes, PtxSpace space) {
  Code *c = body_before(t->body, i);
  uint32_t site = recorder_site(t, in, address, classes, space, access_bytes(in));
  PtxLabel *over = recorder_guard(t, c, in);
  recorder_address(t, c, in, address, space);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_ADDRESS, site, 0});
  code_label(c, over);
}

// The source of a cp.async of which nothing may be read: its size is 0, or a predicate says so.
static void copy_source(Recorder *t, uint32_t i, const PtxInstr *in) {
  const PtxOperand *more = in->nops > 3 ? &in->ops[3] : NULL, *from = &in->ops[1];
  bool is_reg = more && more->kind == OPD_REG;
  if (more && more->kind == OPD_INT && !more->imm) return;
  Code *c = body_before(t->body, i);
  uint32_t site = recorder_site(t, in, from, CLASS_LOAD, SPACE_GLOBAL, access_bytes(in));
  PtxLabel *over = recorder_guard(t, c, in);
  if (is_reg && more->reg->type == TYPE_PRED) code_branch(c, more->reg, more->negated, over);
  else if (is_reg && ptx_type_size(more->reg->type) == 4) {
    PtxReg *none = body_temp(t->body, TYPE_PRED, 0);
    EMIT(c, "setp.eq.u32", opd_reg(none), *more, opd_imm(0));
    code_branch(c, none, false, over);
  }
  recorder_address(t, c, in, from, SPACE_GLOBAL);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_ADDRESS, site, 0});
  code_label(c, over);
}

static bool has_address(const PtxInstr *in, unsigned operand) {
  return operand < in->nops && in->ops[operand].kind == OPD_ADDR && in->ops[operand].nlist == 1;
}

static bool never_written(const PtxInstr *in) { return in->op == OP_LDU || ptx_has(in, MOD_NC); }

static void load(Recorder *t, uint32_t i, PtxInstr *in) {
  const PtxOperand *address = &in->ops[1];
  unsigned planes = recorder_planes(in);
  PtxReg *words[RECORDER_PLANES];
  if (!planes || never_written(in) || !recorder_value(t, NULL, in, &in->ops[0], words)) {
    address_only(t, i, in, address, CLASS_LOAD, in->space);
    return;
  }
  uint32_t site = recorder_site(t, in, address, CLASS_LOAD, in->space, access_bytes(in));
  bool early = overwrites_base(in, address);
  if (early) {
    Code *before = body_before(t->body, i);
    code_guard(before, in->guard, in->guard_negated);
    recorder_address(t, before, in, address, in->space);
    code_guard(before, NULL, false);
  }
  Code *c = body_after(t->body, i);
  PtxLabel *over = recorder_guard(t, c, in);
  if (!early) recorder_address(t, c, in, address, in->space);
  bool constant = (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC) &&
                  recorder_may_be_constant(t, address);
  PtxLabel *unless = constant ? body_label(t->body) : NULL;
  if (constant) recorder_unless_constant(t, c, address, unless);
  recorder_value(t, c, in, &in->ops[0], t->values);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_LOAD, site, planes});
  if (constant) {
    EMIT(c, "bra", opd_label(over));
    code_label(c, unless);
    recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_ADDRESS, site, 0});
  }
  code_label(c, over);
}

typedef struct RefusedStore {
  Recorder *recorder;
  const PtxInstr *in;
  unsigned classes;
} RefusedStore;
// The address and, as far as there is room, the value, in the words of a value: memory was not
// written, so that a record with an address would say too much.
static void refused_store(Code *c, void *user) {
  const RefusedStore *s = user;
  Recorder *t = s->recorder;
  const PtxInstr *in = s->in;
  unsigned planes = recorder_planes(in);
  uint32_t site = recorder_site(t, in, &in->ops[0], s->classes, in->space, access_bytes(in));
  PtxLabel *over = recorder_guard(t, c, in);
  recorder_address(t, c, in, &in->ops[0], in->space);
  if (planes <= 2) recorder_value(t, c, in, &in->ops[1], t->values);
  for (unsigned k = 0; k < RECORDER_PLANES; k++) recorder_word(t, &t->values[k]);
  for (unsigned k = 0; k < 2; k++) {
    bool known = planes <= 2 && k < planes;
    EMIT(c, "mov.b32", opd_reg(t->values[2 + k]), known ? opd_reg(t->values[k]) : opd_imm(0));
  }
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){opd_reg(t->values[0]), opd_reg(t->values[1])}, 2),
       opd_reg(t->address));
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_VALUE, site, RECORDER_PLANES});
  code_label(c, over);
}

// Stores, and atomics that return nothing.
static void store(Recorder *t, uint32_t i, const PtxInstr *in, unsigned classes) {
  const PtxOperand *address = &in->ops[0];
  unsigned planes = recorder_planes(in);
  PtxReg *words[RECORDER_PLANES];
  if (!planes || !recorder_value(t, NULL, in, &in->ops[1], words)) {
    address_only(t, i, in, address, classes, in->space);
    return;
  }
  Code *c = body_before(t->body, i);
  uint32_t site = recorder_site(t, in, address, classes, in->space, access_bytes(in));
  PtxLabel *over = recorder_guard(t, c, in);
  recorder_address(t, c, in, address, in->space);
  recorder_value(t, c, in, &in->ops[1], t->values);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_STORE, site, planes});
  if (ptx_op_classes(in) & CLASS_ASYNC && has_address(in, 2))
    recorder_completes_at(t, c, in, &in->ops[2]);
  code_label(c, over);
  // On a GPU this code would be in line, and cost every store registers.
  RefusedStore refused = {t, in, classes};
  if (!t->inlined) body_if_refused(t->body, i, refused_store, &refused);
}

// Computes what memory holds after a cas: the new value if the old one was the expected one, else
// the old one.
static void cas_result(Recorder *t, Code *c, const PtxInstr *in, unsigned planes) {
  PtxReg *same = body_temp(t->body, TYPE_PRED, 0), *high = body_temp(t->body, TYPE_PRED, 1);
  PtxReg *expected[RECORDER_PLANES] = {t->other[0], t->other[1]};
  EMIT(c, "setp.eq.u32", opd_reg(same), opd_reg(t->old[0]), opd_reg(expected[0]));
  if (planes == 2) {
    EMIT(c, "setp.eq.and.u32", opd_reg(high), opd_reg(t->old[1]), opd_reg(expected[1]),
         opd_reg(same));
    same = high;
  }
  for (unsigned k = 0; k < planes; k++)
    EMIT(c, "selp.b32", opd_reg(t->values[k]), opd_reg(t->values[k]), opd_reg(t->old[k]),
         opd_reg(same));
}

static void atomic(Recorder *t, uint32_t i, const PtxInstr *in) {
  const PtxOperand *address = &in->ops[1];
  bool cas = ptx_has(in, MOD_CAS);
  unsigned planes = recorder_planes(in);
  const PtxOperand *value = &in->ops[cas ? 3 : 2];
  PtxReg *words[RECORDER_PLANES];
  bool known = planes && recorder_value(t, NULL, in, &in->ops[0], words) &&
               recorder_value(t, NULL, in, value, words) &&
               (!cas || (planes <= 2 && recorder_value(t, NULL, in, &in->ops[2], words)));
  if (!known) {
    address_only(t, i, in, address, CLASS_ATOMIC, in->space);
    return;
  }
  uint32_t site = recorder_site(t, in, address, CLASS_ATOMIC, in->space, access_bytes(in));
  Code *before = body_before(t->body, i), *c;
  PtxLabel *unsaved = recorder_guard(t, before, in);
  recorder_address(t, before, in, address, in->space);
  recorder_value(t, before, in, value, t->values);
  if (cas) recorder_value(t, before, in, &in->ops[2], t->other);
  code_label(before, unsaved);
  c = body_after(t->body, i);
  PtxLabel *over = recorder_guard(t, c, in);
  recorder_value(t, c, in, &in->ops[0], t->old);
  if (cas) cas_result(t, c, in, planes);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_ATOMIC, site, planes});
  code_label(c, over);
}

// ldmatrix, stmatrix of shapes that recorder_matrix does not know: only the addresses of rows.
static void matrix(Recorder *t, uint32_t i, const PtxInstr *in, unsigned classes) {
  const PtxOperand *address = &in->ops[in->op == OP_LDMATRIX ? 1 : 0];
  Code *c = body_before(t->body, i);
  uint32_t site = recorder_site(t, in, address, classes, SPACE_SHARED, 16);
  PtxLabel *over = recorder_guard(t, c, in);
  recorder_only_lanes(t, c, access_matrix_lanes(in), over);
  recorder_address(t, c, in, address, SPACE_SHARED);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_ADDRESS, site, 0});
  code_label(c, over);
}

static void sync(Recorder *t, uint32_t i, const PtxInstr *in) {
  if (recorder_mbarrier(t, i, in)) return;
  Code *c = body_before(t->body, i);
  uint32_t site = recorder_site(t, in, NULL, CLASS_SYNC, SPACE_NONE, 0);
  PtxLabel *over = recorder_guard(t, c, in);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_SYNC, site, 0});
  code_label(c, over);
}

// --- include/warpgrind.h: moves into registers that are known by their names ---

static bool is_moved(const PtxInstr *in) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[0].kind == OPD_REG &&
         (!strncmp(in->ops[0].reg->name, "wg_record", 9) ||
          !strncmp(in->ops[0].reg->name, "wg_watch_", 9));
}
static bool begins(const PtxInstr *in) { return code_is_named(in->ops[0].reg, "wg_record_begin"); }
static bool is_switch(const PtxInstr *in) {
  return begins(in) || code_is_named(in->ops[0].reg, "wg_record_end");
}

static void said(Recorder *t, uint32_t i, PtxInstr *in) {
  if (recorder_is_benign_race(in)) recorder_benign_race(t, i);
  if (!is_moved(in)) return;
  Code *c = body_after(t->body, i);
  if (is_switch(in)) {
    recorder_switch(t, c, begins(in));
    return;
  }
  unsigned bytes = ptx_type_size(in->ops[0].reg->type);
  if (bytes != 4 && bytes != 8) return;
  uint32_t site = recorder_site(t, in, NULL, CLASS_MOVE, SPACE_NONE, bytes);
  PtxLabel *over = recorder_guard(t, c, in);
  PtxReg *low = recorder_word(t, &t->values[0]);
  if (bytes == 4) EMIT(c, "mov.b32", opd_reg(low), in->ops[0]);
  else
    EMIT(c, "mov.b64",
         opd_vector(c, (PtxOperand[]){opd_reg(low), opd_reg(recorder_word(t, &t->values[1]))}, 2),
         in->ops[0]);
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_VALUE, site, bytes / 4});
  code_label(c, over);
}

// --- the pass ---

static void unseen(Recorder *t, const PtxInstr *in) {
  const Body *b = t->body;
  // an unseen load leaves no gap in what memory holds
  if (!(ptx_op_classes(in) & (CLASS_STORE | CLASS_ATOMIC))) return;
  RecordKernel *k = recorder_kernel(b);
  if (k && !k->unseen) k->unseen = arena_strdup(&b->program->out->arena, ptx_op_name(in->op));
}

static void scalar(Recorder *t, uint32_t i, PtxInstr *in, unsigned classes) {
  bool returns = ptx_op_defs(in->op);
  if (!has_address(in, returns)) return;
  if (!returns) store(t, i, in, classes & CLASS_ATOMIC ? CLASS_ATOMIC : CLASS_STORE);
  else if (!(classes & CLASS_ATOMIC)) load(t, i, in);
  else if (in->ops[0].kind == OPD_SINK)
    address_only(t, i, in, &in->ops[1], CLASS_ATOMIC, in->space);
  else atomic(t, i, in);
}

// The build fails if the switch lacks a way to address memory.
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
static void access(Recorder *t, uint32_t i, PtxInstr *in, unsigned classes) {
  bool seen = true;
  switch (ptx_op_memory(in->op)) {
    case MEMORY_SCALAR: scalar(t, i, in, classes); break;
    case MEMORY_REMOTE:
      if (has_address(in, 0)) store(t, i, in, classes & CLASS_ATOMIC ? CLASS_ATOMIC : CLASS_STORE);
      break;
    case MEMORY_TILE: seen = recorder_tile(t, i, in); break;
    case MEMORY_COPY:
      if (recorder_small_copy(t, i, in)) break;
      copy_source(t, i, in);
      address_only(t, i, in, &in->ops[0], CLASS_STORE, SPACE_SHARED);
      break;
    case MEMORY_BULK: seen = recorder_bulk_copy(t, i, in); break;
    case MEMORY_TENSOR: seen = recorder_tensor_copy(t, i, in); break;
    case MEMORY_MATRIX:
      if (!recorder_matrix(t, i, in)) matrix(t, i, in, classes & (CLASS_LOAD | CLASS_STORE));
      break;
    case MEMORY_NONE:
    case MEMORY_MBARRIER:  // weave_mbarrier.c
    case MEMORY_FILL:
    case MEMORY_MULTIMEM:
    case MEMORY_DESCRIPTOR:
    case MEMORY_TEXTURE:
    case MEMORY_SURFACE:
    case MEMORY_OTHER: seen = classes & CLASS_SYNC; break;
  }
  if (!seen) unseen(t, in);
}
#pragma GCC diagnostic pop

static void look_at(Recorder *t, uint32_t i) {
  PtxInstr *in = t->body->cfg->instrs[i];
  unsigned classes = ptx_op_classes(in);
  if (in->op == OP_MOV) said(t, i, in);
  if (classes & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC)) {
    if (in->space == SPACE_PARAM || in->space == SPACE_CONST) return;
    access(t, i, in, classes);
  }
  if (classes & (CLASS_SYNC | CLASS_MEMFENCE)) sync(t, i, in);
}

static bool switches(const Body *b) {
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++)
    if (is_moved(b->cfg->instrs[i]) && is_switch(b->cfg->instrs[i])) return true;
  return false;
}

// Does it have a record, or begin or end recording?
bool recorder_is_recorded(const PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  if (in->op == OP_MOV) return is_moved(in) || recorder_is_benign_race(in);
  if (in->space == SPACE_PARAM || in->space == SPACE_CONST) return false;
  return classes & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC | CLASS_SYNC | CLASS_MEMFENCE);
}

static void close_group(Recorder *t) {
  RecorderGroup *g = t->group;
  if (!g || !g->nops) return;
  if (g->nops > 1 || recorder_fold_can(t, g)) recorder_group_put(t);
  else look_at(t, g->ops[0].instr);
  *g = (RecorderGroup){0};
}

// Goes through the instructions: groups share a record, others have their own.
static void look_in_order(Recorder *t) {
  const IrCfg *cfg = t->body->cfg;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const IrBlock *b = &cfg->blocks[cfg->block_of[i]];
    if (i == b->first) {
      close_group(t);
      recorder_group_block(t);
    }
    if (b->rpo == IR_NONE) continue;
    if (recorder_group_may_hold(t, cfg->instrs[i])) {
      if (!recorder_group_take(t, i)) {  // the group is full
        close_group(t);
        if (!recorder_group_take(t, i)) look_at(t, i);
      }
    } else {
      if (recorder_is_recorded(cfg->instrs[i]) || ptx_op_classes(cfg->instrs[i]) & CLASS_CALL)
        close_group(t);
      look_at(t, i);
    }
    recorder_group_follow(t, i);
  }
  close_group(t);
}

// Records leave over the bus, which is slower than any number of threads, so a kernel may have more
// registers. 64 is the most with which a block may have 1024 threads.
enum { REGISTERS = 64 };

static void weave(Body *b) {
  if (!b->cfg->ninstrs) return;
  if (b->func->is_entry && b->info->kernel < b->program->out->nkernels)
    b->program->out->kernels[b->info->kernel].registers = REGISTERS;
  Recorder t = {.body = b, .inlined = b->program->plan->spare_registers};
  t.provenance = ir_provenance_build(b->cfg);
  recorder_begin(&t, switches(b));
  if (t.inlined && !(b->program->plan->tool_options[TOOL_RECORD] & RECORD_CHOOSES)) {
    recorder_groups_begin(&t);
    look_in_order(&t);
    recorder_groups_end(&t);
  } else {
    for (uint32_t i = 0; i < b->cfg->ninstrs; i++)
      if (b->cfg->blocks[b->cfg->block_of[i]].rpo != IR_NONE) look_at(&t, i);
  }
  recorder_note_order(&t);
  recorder_tensor_end(&t);
  recorder_end(&t);
  ir_provenance_free(t.provenance);
}

static unsigned options(const Options *o, const WeavePlan *plan) {
  return options_given(o, OPT_THREADS) || options_given(o, OPT_BUFFER) ? RECORD_CHOOSES : 0;
}

const Pass pass_record = {.options = options, .weave = weave, .needs_writes = true};
