// Prepares a kernel: the functions that it can reach, the addresses of their shared and local
// variables, their decoded code.
#include "vgpu/core.h"

enum { MOST_SHARED = 16 << 20 };  // bytes of static shared memory that are laid out at all

typedef struct Reach {
  VgpuKernel *k;
  VEC(FuncSym *) funcs;
  U64Map seen;
  bool indirect, too_much_shared;
} Reach;

static void reach(Reach *r, FuncSym *f) {
  if (!f->func || f->builtin || u64map_get(&r->seen, (uint64_t)f)) return;
  u64map_put(&r->seen, (uint64_t)f, f);
  vec_push(&r->funcs, f);
}

static void place_shared(Reach *r, const PtxVar *v) {
  VgpuKernel *k = r->k;
  if (v->space != SPACE_SHARED || u64map_get(&k->shared_offset, (uint64_t)v)) return;
  uint64_t align = MAX(v->align, 1u), at = (k->shared_static_end + align - 1) / align * align;
  r->too_much_shared |= align > MOST_SHARED || v->size > MOST_SHARED || at + v->size > MOST_SHARED;
  if (r->too_much_shared) return;
  if (v->size == 0) {  // extern unsized: dynamic shared memory, all share one start
    k->dynamic_base = MAX(k->dynamic_base, v->align);
    u64map_put(&k->shared_offset, (uint64_t)v, (void *)(uintptr_t)UINT32_MAX);
    return;
  }
  u64map_put(&k->shared_offset, (uint64_t)v, (void *)(uintptr_t)(at + 1));
  k->shared_static_end = (uint32_t)(at + v->size);
}

static void scan_operand(Reach *r, const PtxOperand *o) {
  if (o->kind == OPD_FUNC && o->func->user) reach(r, function_symbol(o->func));
  if (o->kind == OPD_VAR && o->var) place_shared(r, o->var);
  for (unsigned i = 0; i < o->nlist; i++) scan_operand(r, &o->list[i]);
}

static void scan_function(Reach *r, FuncSym *s) {
  PtxFunc *f = s->func;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind != STMT_INSTR) continue;
    PtxInstr *in = f->stmts[i].instr;
    if (in->op == OP_CALL && in->nops > 1 && in->ops[1].kind == OPD_REG) r->indirect = true;
    // the frame has no fixed size: the stack limit decides
    if (in->op == OP_ALLOCA) r->indirect = true;
    for (unsigned o = 0; o < in->nops; o++) scan_operand(r, &in->ops[o]);
  }
}

// Longest chain of frames from f; 0 marks "being visited", so a cycle is recursion.
static uint32_t deepest(VgpuKernel *k, FuncSym *f, U64Map *depth) {
  void *known = u64map_get(depth, (uint64_t)f);
  if (known == (void *)1) {
    k->recursive = true;
    return 0;
  }
  if (known) return (uint32_t)((uintptr_t)known - 2);
  u64map_put(depth, (uint64_t)f, (void *)1);
  Code *c = u64map_get(&k->codes, (uint64_t)f);
  uint32_t below = 0;
  for (uint32_t i = 0; c && i < f->func->nstmts; i++) {
    if (f->func->stmts[i].kind != STMT_INSTR) continue;
    PtxInstr *in = f->func->stmts[i].instr;
    if (in->op != OP_CALL || in->ops[1].kind != OPD_FUNC || !in->ops[1].func->user) continue;
    FuncSym *callee = function_symbol(in->ops[1].func);
    if (callee->func && !callee->builtin) below = MAX(below, deepest(k, callee, depth));
  }
  uint32_t total = MIN((c ? c->local_bytes : 0) + below, 1u << 30);
  u64map_put(depth, (uint64_t)f, (void *)(uintptr_t)(total + 2));
  return total;
}

static bool prepare(VgpuKernel *k, Error *err) {
  Reach r = {.k = k};
  k->shared_static_end = SHARED_BASE;
  k->dynamic_base = 16;
  reach(&r, k->sym);
  for (uint32_t i = 0; i < r.funcs.len; i++) {
    scan_function(&r, r.funcs.data[i]);
    if (r.indirect)
      for (uint32_t f = 0; f < k->module->funcs.len; f++)
        if (k->module->funcs.data[f]->address_taken) reach(&r, k->module->funcs.data[f]);
  }
  // dynamic shared memory starts after the static variables
  uint32_t align = k->dynamic_base;
  k->dynamic_base = (k->shared_static_end + align - 1) / align * align;
  bool ok = !r.too_much_shared ||
            error_set(err, "its shared variables need more than %d MB", MOST_SHARED >> 20);
  for (uint32_t i = 0; ok && i < r.funcs.len; i++) {
    Code *c = code_decode(k, r.funcs.data[i], err);
    if (c) u64map_put(&k->codes, (uint64_t)r.funcs.data[i], c);
    else ok = false;
  }
  if (ok) {
    k->code = u64map_get(&k->codes, (uint64_t)k->sym);
    U64Map depth = {0};
    k->local_static = deepest(k, k->sym, &depth);
    u64map_free(&depth);
    if (k->local_static > MOST_LOCAL) {
      k->code = NULL;
      ok = error_set(err, "it needs more than %d KB of local memory for each thread",
                     MOST_LOCAL >> 10);
    }
  }
  if (ok) {
    k->recursive |= r.indirect;
    k->info.static_shared = (k->shared_static_end - SHARED_BASE + 15) & ~15u;  // as a GPU counts it
    k->info.local_bytes = k->local_static;
    k->info.registers = MIN(255u, (MAX(k->code->nregs32 / 2, 8u) + 16 + 7) / 8 * 8);
    uint32_t bound = k->sym->func->maxnreg
                         ? k->sym->func->maxnreg
                         : 65536u / MAX((k->info.max_threads + 31) / 32 * 32, 32u);
    k->info.registers = MIN(k->info.registers, MAX(bound / 8 * 8, 16u));
  }
  vec_free(&r.funcs);
  u64map_free(&r.seen);
  return ok;
}

bool kernel_shared_offset(const VgpuKernel *k, const PtxVar *v, uint32_t *offset) {
  uintptr_t at = (uintptr_t)u64map_get(&k->shared_offset, (uint64_t)v);
  *offset = at == UINT32_MAX ? k->dynamic_base : (uint32_t)at - 1;
  return at != 0;
}

bool kernel_prepare(VgpuKernel *k, Error *err) {
  pthread_mutex_lock(&k->module->lock);
  if (!k->ready) {
    prepare(k, &k->error);
    k->ready = true;
  }
  pthread_mutex_unlock(&k->module->lock);
  if (!k->code && err) *err = k->error;
  return k->code != NULL;
}
