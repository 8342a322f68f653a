// Finds in the code what a kernel may write: for --hash and --dump-buffers, which look at buffers
// after a launch. Sees the program's own instructions, before any pass adds to them.
//
// A store whose address comes from a parameter writes to the allocation which that parameter points
// into. One whose address comes from anywhere else (a pointer loaded from memory, a called
// function) may write to whatever the kernel can reach.
#include "weave/store_reach.h"

typedef struct Reached {
  VEC(ReachRoot) roots;
  bool unknown;
} Reached;
typedef struct Writes {
  Program *program;
  WovenKernel *out;
  VEC(WeaveWrite) list;
  VEC(Reached) reached;  // by index in list
  const IrDefs *defs;
  PtxFunc *func;
  U64Map known;
  ReachNodes nodes;
  VEC(WeaveWrittenVariable) variables;
  bool elsewhere;
} Writes;

static bool is_float(PtxType t) { return ptx_type_kind(t) == KIND_FLOAT; }

// For a store of untyped bits, the type of the source register tells more.
static PtxType stored_type(const PtxInstr *in) {
  PtxType t = in->ntypes ? in->types[0] : TYPE_B8;
  unsigned value = in->op == OP_ATOM ? 2 : 1;
  if (is_float(t) || in->nops <= value) return t;
  const PtxOperand *o = &in->ops[value];
  if (o->kind == OPD_VECTOR && o->nlist) o = &o->list[0];
  if (o->kind == OPD_REG && is_float(o->reg->type) &&
      ptx_type_size(o->reg->type) == ptx_type_size(t))
    return o->reg->type;
  return t;
}

// Joins the types of two stores through one pointer. If they differ: the smaller element, with
// unknown meaning; of two equally large ones the float.
static PtxType join(PtxType a, PtxType b) {
  static const PtxType bits[] = {[1] = TYPE_B8, [2] = TYPE_B16, [4] = TYPE_B32, [8] = TYPE_B64};
  if (a == b) return a;
  unsigned n = MIN(ptx_type_size(a), ptx_type_size(b));
  if (ptx_type_size(a) == ptx_type_size(b) && is_float(a) != is_float(b))
    return is_float(a) ? a : b;
  return n < ARRAY_LEN(bits) && bits[n] ? bits[n] : TYPE_B8;
}

static uint32_t add_pointer(Writes *w, const PtxVar *v, int64_t offset, PtxType t) {
  for (uint32_t i = 0; i < w->list.len; i++) {
    WeaveWrite *x = &w->list.data[i];
    if (x->pointer.param != v->id || x->pointer.param_offset != (uint32_t)offset) continue;
    x->type = join(x->type, t);
    x->pointer.bytes = ptx_type_size(x->type);
    return i;
  }
  vec_push(&w->reached, (Reached){.unknown = false});
  vec_push(&w->list,
           (WeaveWrite){.pointer = {.param = v->id,
                                    .param_at = (uint32_t)(v->param_offset + (uint64_t)offset),
                                    .param_offset = (uint32_t)offset,
                                    .bytes = ptx_type_size(t)},
                        .type = t});
  return w->list.len - 1;
}

static void add_reach(Writes *w, uint32_t i, const PtxInstr *in, const PtxOperand *address) {
  ReachRoot root;
  ReachOf of = {w->defs, w->func, &w->known, &w->nodes};
  if (reach_add(&of, address, in->op == OP_WMMA_STORE ? 0 : access_bytes(in), &root))
    vec_push(&w->reached.data[i].roots, root);
  else w->reached.data[i].unknown = true;
}

static void add_variable(Writes *w, const char *name, PtxType t) {
  for (uint32_t i = 0; i < w->variables.len; i++) {
    WeaveWrittenVariable *v = &w->variables.data[i];
    if (strcmp(v->name, name)) continue;
    v->type = join(v->type, t);
    return;
  }
  vec_push(&w->variables, (WeaveWrittenVariable){arena_strdup(&w->program->out->arena, name), t});
}

static bool writes_memory(const PtxInstr *in) {
  if (in->op == OP_DISCARD) return false;
  return (ptx_op_classes(in) & (CLASS_STORE | CLASS_ATOMIC)) &&
         !(ptx_op_classes(in) & (CLASS_SURFACE | CLASS_SYNC)) &&
         (in->space == SPACE_GLOBAL || in->space == SPACE_GENERIC || in->space == SPACE_NONE);
}

static int address_operand(const PtxInstr *in) {
  switch (in->op) {
    case OP_ST:
    case OP_RED:
    case OP_WMMA_STORE: return 0;
    case OP_ATOM: return 1;
    default: return -1;
  }
}

static void look_at_store(Writes *w, const IrProvenance *p, const PtxInstr *in) {
  int at = address_operand(in);
  IrOrigin o = at >= 0 && at < in->nops ? ir_access_origin(p, &in->ops[at])
                                        : (IrOrigin){.kind = IR_FROM_UNKNOWN};
  if (o.kind == IR_FROM_PARAM)
    add_reach(w, add_pointer(w, o.var, o.offset, stored_type(in)), in, &in->ops[at]);
  else if (o.kind != IR_FROM_VAR) w->elsewhere = true;
  else if (o.var->space == SPACE_GLOBAL) add_variable(w, o.var->name, stored_type(in));
}

// --- functions: only whether they write, not where ---

static bool function_writes(PtxFunc *f) {
  Error err;
  IrCfg *cfg = ir_cfg_build(f, &err);
  if (!cfg) return true;
  IrProvenance *p = ir_provenance_build(cfg);
  bool found = false;
  for (uint32_t i = 0; i < cfg->ninstrs && !found; i++) {
    const PtxInstr *in = cfg->instrs[i];
    if (!writes_memory(in)) continue;
    int at = address_operand(in);
    IrOrigin o = at >= 0 && at < in->nops ? ir_access_origin(p, &in->ops[at])
                                          : (IrOrigin){.kind = IR_FROM_UNKNOWN};
    found = o.kind != IR_FROM_VAR || o.var->space == SPACE_GLOBAL;
  }
  ir_provenance_free(p);
  ir_cfg_free(cfg);
  return found;
}

// Functions of the device runtime that write no memory reachable from a parameter. Others without a
// body may launch kernels.
static bool writes_nothing(const char *name) {
  static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

// Whether the function or one that it calls writes. 1: no, 2: yes.
static int call_writes(Writes *w, U64Map *seen, const PtxInstr *call) {
  if (call->ops[1].kind != OPD_FUNC) return 2;
  FuncInfo *info = program_callee(call);
  if (!info) return writes_nothing(call->ops[1].func->name) ? 1 : 2;
  void *known = u64map_get(seen, (uintptr_t)info);
  if (known) return (int)(uintptr_t)known;
  u64map_put(seen, (uintptr_t)info, (void *)(uintptr_t)1);
  int answer = function_writes(info->func) ? 2 : 1;
  for (uint32_t i = 0; i < info->func->nstmts && answer == 1; i++)
    if (info->func->stmts[i].kind == STMT_INSTR && info->func->stmts[i].instr->op == OP_CALL)
      answer = call_writes(w, seen, info->func->stmts[i].instr);
  u64map_put(seen, (uintptr_t)info, (void *)(uintptr_t)answer);
  return answer;
}

static void look_at_kernel(Program *program, PtxFunc *f, U64Map *seen) {
  Writes w = {.program = program, .out = &program->out->kernels[func_info(f)->kernel]};
  Error err;
  IrCfg *cfg = ir_cfg_build(f, &err);
  if (cfg) {
    IrProvenance *p = ir_provenance_build(cfg);
    IrDefs *defs = ir_defs_build(cfg);
    w.defs = defs;
    w.func = f;
    for (uint32_t i = 0; i < cfg->ninstrs; i++) {
      const PtxInstr *in = cfg->instrs[i];
      if (writes_memory(in)) look_at_store(&w, p, in);
      if (in->op == OP_CALL && call_writes(&w, seen, in) == 2) w.elsewhere = true;
    }
    ir_defs_free(defs);
    ir_provenance_free(p);
    ir_cfg_free(cfg);
  } else {
    w.elsewhere = true;
  }
  Arena *a = &program->out->arena;
  WeaveWrite *list = ARENA_ARRAY(a, WeaveWrite, w.list.len + 1);
  WeaveWrittenVariable *names = ARENA_ARRAY(a, WeaveWrittenVariable, w.variables.len + 1);
  if (w.list.len) memcpy(list, w.list.data, w.list.len * sizeof *list);
  if (w.variables.len) memcpy(names, w.variables.data, w.variables.len * sizeof *names);
  for (uint32_t i = 0; i < w.list.len; i++) {
    Reached *x = &w.reached.data[i];
    if (!x->unknown) ARENA_APPEND(a, list[i].reach, list[i].nreach, x->roots.data, x->roots.len);
    vec_free(&x->roots);
  }
  ReachNode *nodes = ARENA_ARRAY(a, ReachNode, w.nodes.list.len + 1);
  if (w.nodes.list.len) memcpy(nodes, w.nodes.list.data, w.nodes.list.len * sizeof *nodes);
  w.out->reach_nodes = nodes;
  w.out->nreach_nodes = w.nodes.list.len;
  vec_free(&w.reached);
  vec_free(&w.nodes.list);
  u64map_free(&w.known);
  w.out->writes = list;
  w.out->nwrites = w.list.len;
  w.out->written_variables = names;
  w.out->nwritten_variables = w.variables.len;
  w.out->writes_elsewhere = w.elsewhere;
  w.out->writes_known = true;
  vec_free(&w.list);
  vec_free(&w.variables);
}

void writes_find(Program *p) {
  U64Map seen = {0};
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++)
      if (p->units[u]->funcs[i]->is_entry && !p->units[u]->funcs[i]->is_declaration)
        look_at_kernel(p, p->units[u]->funcs[i], &seen);
  u64map_free(&seen);
}
