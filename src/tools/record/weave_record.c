// The code of one record: which lanes write it, and the call of the probe that does.
#include "tools/record/internal.h"

// NEIGHBOURS: 1 << 2 consecutive warps use the same ring
enum { OFF = -1, NEIGHBOURS = 2 };

// Loads a field of the WgTrace; in kernels from the parameter, which costs no memory access.
void recorder_field(Recorder *t, Code *c, PtxReg *to, uint32_t offset) {
  Body *b = t->body;
  if (t->kept) {
    record_load(c, to, t->kept + offset);
    return;
  }
  PtxReg *trace = body_temp(b, TYPE_B64, 2);
  record_load(c, trace, offsetof(WgLaunch, trace));
  EMIT(c, "ld.global.u64", opd_reg(to), opd_at(c, opd_reg(trace), offset));
}

static void choose_ring(Recorder *t, Code *c) {
  Body *b = t->body;
  PtxReg *trace = body_temp(b, TYPE_B64, 0), *off = body_temp(b, TYPE_PRED, 0),
         *mask = body_temp(b, TYPE_B32, 0);
  PtxReg *geometry = body_temp(b, TYPE_B64, 1);
  PtxLabel *end = body_label(b);
  EMIT(c, "mov.b32", opd_reg(t->slot), opd_imm(OFF));
  record_load(c, trace, offsetof(WgLaunch, trace));
  EMIT(c, "setp.eq.u64", opd_reg(off), opd_reg(trace), opd_imm(0));
  code_branch(c, off, false, end);
  recorder_field(t, c, geometry, offsetof(WgTrace, nrings));
  EMIT(c, "cvt.u32.u64", opd_reg(mask), opd_reg(geometry));
  EMIT(c, "sub.u32", opd_reg(mask), opd_reg(mask), opd_imm(1));
  // spreads warps over all rings
  if (t->inlined) EMIT(c, "shr.u32", opd_reg(t->slot), opd_reg(t->warp), opd_imm(NEIGHBOURS));
  else
    EMIT(c, "mov.u32", opd_reg(t->slot),
         opd_sreg(SREG_SMID, SEL_NONE));  // on the virtual device: the worker's own ring
  EMIT(c, "and.b32", opd_reg(t->slot), opd_reg(t->slot), opd_reg(mask));
  code_label(c, end);
}

void recorder_begin(Recorder *t, bool switches) {
  Body *b = t->body;
  Code *c = body_entry(b);
  t->kept = record_reserve(b, WG_TRACE_KEPT + 8);
  if (t->kept) recorder_kernel(b)->trace_at = t->kept;
  t->slot = body_reg(b, TYPE_B32);
  t->warp = body_reg(b, TYPE_B32);
  t->launch = body_reg(b, TYPE_B32);
  PtxReg *launch = body_temp(b, TYPE_B32, 0), *both = body_temp(b, TYPE_B64, 0);
  record_load(c, launch, offsetof(WgLaunch, launch));
  PtxOperand args[] = {opd_reg(launch)};
  if (t->inlined) code_inline(c, "wg_trace_begin", &t->shapes[t->nshapes++], both, args, 1);
  else code_call_value(c, probe_function(b->program, b->unit, "wg_trace_begin"), both, args, 1);
  EMIT(c, "mov.b64", opd_vector(c, (PtxOperand[]){opd_reg(t->warp), opd_reg(t->launch)}, 2),
       opd_reg(both));
  choose_ring(t, c);
  if (switches && t->kept) {
    PtxReg *word = body_temp(b, TYPE_B32, 0), *off = body_temp(b, TYPE_PRED, 0);
    recorder_kernel(b)->switches = true;
    record_load(c, word, t->kept + WG_TRACE_KEPT + 4);
    EMIT(c, "setp.ne.u32", opd_reg(off), opd_reg(word), opd_imm(0));
    code_guard(c, off, false);
    EMIT(c, "mov.b32", opd_reg(t->slot), opd_imm(OFF));
    code_guard(c, NULL, false);
  }
}

// --- loads of memory that the launch does not write ---

static int read_number(Recorder *t, const PtxOperand *address) {
  IrOrigin o = ir_access_origin(t->provenance, address);
  uint32_t param = o.kind == IR_FROM_PARAM ? facts_param(t->body, o.var) : UINT32_MAX;
  if (param == UINT32_MAX) return -1;
  for (unsigned i = 0; i < t->nreads; i++)
    if (t->reads[i].param == param && t->reads[i].param_offset == (uint32_t)o.offset) return (int)i;
  if (t->nreads == RECORDER_READS) return -1;
  t->reads[t->nreads] = (WeaveFact){
      .param = param,
      .param_at = (uint32_t)(o.var->param_offset + (uint64_t)o.offset),
      .param_offset = (uint32_t)o.offset};
  return (int)t->nreads++;
}

int recorder_fact_of(Recorder *t, const PtxOperand *address) {
  const Body *b = t->body;
  if (!t->kept) return -1;
  const WovenKernel *k = &b->program->out->kernels[b->info->kernel];
  return k->writes_known && !k->writes_elsewhere ? read_number(t, address) : -1;
}

bool recorder_may_be_constant(Recorder *t, const PtxOperand *address) {
  return recorder_fact_of(t, address) >= 0;
}

void recorder_unless_constant(Recorder *t, Code *c, const PtxOperand *address, PtxLabel *over) {
  PtxReg *facts = body_temp(t->body, TYPE_B32, 0), *constant = body_temp(t->body, TYPE_PRED, 0);
  record_load(c, facts, t->kept + WG_TRACE_KEPT);
  EMIT(c, "and.b32", opd_reg(facts), opd_reg(facts), opd_imm(1ll << read_number(t, address)));
  EMIT(c, "setp.eq.u32", opd_reg(constant), opd_reg(facts), opd_imm(0));
  code_branch(c, constant, false, over);
}

void recorder_end(Recorder *t) {
  Woven *out = t->body->program->out;
  if (!t->nreads) return;
  WeaveFact *all = ARENA_ARRAY(&out->arena, WeaveFact, t->nreads);
  memcpy(all, t->reads, sizeof *all * t->nreads);
  recorder_kernel(t->body)->reads = all;
  recorder_kernel(t->body)->nreads = t->nreads;
}

void recorder_switch(Recorder *t, Code *c, bool on) {
  if (on) choose_ring(t, c);
  else EMIT(c, "mov.b32", opd_reg(t->slot), opd_imm(OFF));
}

PtxLabel *recorder_guard(Recorder *t, Code *c, const PtxInstr *in) {
  Body *b = t->body;
  PtxLabel *over = body_label(b);
  PtxReg *off = body_temp(b, TYPE_PRED, 0);
  if (in->guard) code_branch(c, in->guard, !in->guard_negated, over);
  EMIT(c, "setp.eq.u32", opd_reg(off), opd_reg(t->slot), opd_imm(OFF));
  code_branch(c, off, false, over);
  return over;
}

void recorder_only_lanes(Recorder *t, Code *c, uint32_t n, PtxLabel *over) {
  PtxReg *lane = body_temp(t->body, TYPE_B32, 0), *idle = body_temp(t->body, TYPE_PRED, 0);
  if (n >= 32) return;
  EMIT(c, "mov.u32", opd_reg(lane), opd_sreg(SREG_LANEID, SEL_NONE));
  EMIT(c, "setp.ge.u32", opd_reg(idle), opd_reg(lane), opd_imm(n));
  code_branch(c, idle, false, over);
}

// Skips operations of threads and on buffers that were not chosen: they go to `over`.
static void choose(Recorder *t, Code *c, const RecorderRecord *r, PtxLabel *over) {
  Body *b = t->body;
  PtxReg *trace = body_temp(b, TYPE_B64, 0), *wants = body_temp(b, TYPE_B32, 0),
         *no = body_temp(b, TYPE_PRED, 0);
  bool has_address = r->shape != RECORDER_OF_SYNC && r->shape != RECORDER_OF_VALUE;
  record_load(c, trace, offsetof(WgLaunch, trace));
  const PtxOperand args[] = {opd_reg(trace), has_address ? opd_reg(t->address) : opd_imm(-1)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_trace_wants"), wants, args, 2);
  EMIT(c, "setp.eq.u32", opd_reg(no), opd_reg(wants), opd_imm(0));
  code_branch(c, no, false, over);
}

static const char *name_of(const RecorderRecord *r) {
  static const char *const names[][3] = {
      [RECORDER_OF_SYNC] = {"wg_trace_sync"},
      [RECORDER_OF_ADDRESS] = {"wg_trace_address"},
      [RECORDER_OF_LOAD] = {"wg_trace_load1", "wg_trace_load2", "wg_trace_load4"},
      [RECORDER_OF_STORE] = {"wg_trace_store1", "wg_trace_store2", "wg_trace_store4"},
      [RECORDER_OF_ATOMIC] = {"wg_trace_atomic1", "wg_trace_atomic2", "wg_trace_atomic4"},
      [RECORDER_OF_VALUE] = {"wg_trace_value1", "wg_trace_value2", "wg_trace_value4"}};
  return names[r->shape][r->planes == 4 ? 2 : r->planes == 2];
}

static InlinedRegs *regs_of(Recorder *t, const char *name) {
  const PtxFunc *f = probe_original(t->body->program, name);
  for (unsigned i = 0; i < t->nshapes; i++)
    if (t->shapes[i].of == f) return &t->shapes[i];
  CHECK(t->nshapes < RECORDER_SHAPES);
  return &t->shapes[t->nshapes++];
}

void recorder_inline(Recorder *t, Code *c, const char *name, PtxReg *result, const PtxOperand *args,
                     unsigned n) {
  code_inline(c, name, regs_of(t, name), result, args, n);
}

void recorder_emit(Recorder *t, Code *c, const RecorderRecord *r) {
  Body *b = t->body;
  PtxLabel *over = b->program->plan->tool_options[TOOL_RECORD] & RECORD_CHOOSES ? body_label(b)
                                                                                : NULL;
  PtxReg *rings = body_temp(b, TYPE_B64, 3), *heads = body_temp(b, TYPE_B64, 4),
         *geometry = body_temp(b, TYPE_B64, 5), *place = body_temp(b, TYPE_B32, 6);
  if (over) choose(t, c, r, over);
  recorder_field(t, c, rings, offsetof(WgTrace, rings));
  recorder_field(t, c, heads, offsetof(WgTrace, heads));
  recorder_field(t, c, geometry, offsetof(WgTrace, nrings));
  record_site(c, place, r->site);
  PtxOperand args[7 + 1 + 2 * RECORDER_PLANES] = {
      opd_reg(rings),   opd_reg(heads),     opd_reg(geometry), opd_reg(t->slot),
      opd_reg(t->warp), opd_reg(t->launch), opd_reg(place)};
  unsigned n = 7;
  if (r->shape != RECORDER_OF_SYNC && r->shape != RECORDER_OF_VALUE)
    args[n++] = opd_reg(t->address);
  for (unsigned i = 0; i < r->planes; i++) args[n++] = opd_reg(t->values[i]);
  for (unsigned i = 0; r->shape == RECORDER_OF_ATOMIC && i < r->planes; i++)
    args[n++] = opd_reg(t->old[i]);
  const char *name = name_of(r);
  if (t->inlined) recorder_inline(t, c, name, NULL, args, n);
  else code_call(c, probe_function(b->program, b->unit, name), args, n);
  if (over) code_label(c, over);
}
