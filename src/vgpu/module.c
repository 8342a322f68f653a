// Linking: several PTX modules become one; names with .visible or .weak are shared, others belong
// to their unit. PtxVar.user and PtxFunc.user point at the VarSym and FuncSym they resolve to.
#include "vgpu/core.h"

FuncSym *function_symbol(const PtxFunc *f) { return f->user; }
VarSym *variable_symbol(const PtxVar *v) { return v->user; }

static bool in_memory(const PtxVar *v) {
  return (v->space == SPACE_GLOBAL || v->space == SPACE_CONST || v->space == SPACE_TEX) &&
         v->linkage != LINK_EXTERN;
}

static bool is_shared_name(PtxLinkage l) {
  return l == LINK_VISIBLE || l == LINK_WEAK || l == LINK_COMMON;
}

// Pass 1: every definition gets a symbol. A weak definition gives way to the one that came first.
static bool define_all(VgpuModule *m, Error *err) {
  for (uint32_t u = 0; u < m->nunits; u++) {
    PtxModule *unit = m->units[u];
    for (uint32_t i = 0; i < unit->nvars; i++) {
      PtxVar *v = unit->vars[i];
      if (!in_memory(v)) continue;
      VarSym *known = is_shared_name(v->linkage) ? strmap_get(&m->variables, v->name) : NULL;
      if (known && v->linkage == LINK_VISIBLE && known->var->linkage == LINK_VISIBLE)
        return error_set(err, "variable %s is defined in both %s and %s", v->name,
                         known->var->func ? "?" : unit->name, unit->name);
      if (known) {
        v->user = known;
        continue;
      }
      VarSym *s = ARENA_NEW(&m->arena, VarSym);
      s->var = v;
      v->user = s;
      vec_push(&m->vars, s);
      if (is_shared_name(v->linkage)) strmap_put(&m->variables, v->name, s);
    }
    for (uint32_t i = 0; i < unit->nfuncs; i++) {
      PtxFunc *f = unit->funcs[i];
      if (f->is_declaration) continue;
      FuncSym *known = f->linkage == LINK_VISIBLE || f->linkage == LINK_WEAK
                           ? strmap_get(&m->functions, f->name)
                           : NULL;
      if (known && f->linkage == LINK_VISIBLE && known->func->linkage == LINK_VISIBLE)
        return error_set(err, "function %s is defined twice (second time in %s)", f->name,
                         unit->name);
      if (known) {
        f->user = known;
        continue;
      }
      FuncSym *s = ARENA_NEW(&m->arena, FuncSym);
      s->name = f->name;
      s->func = f;
      s->module = m;
      // the device runtime is ours
      if (!strncmp(f->name, "__cudaCDP2", 10)) s->builtin = builtin_find(f->name);
      else if (!f->is_entry) s->builtin = builtin_native(f->name);
      f->user = s;
      vec_push(&m->funcs, s);
      if (f->linkage == LINK_VISIBLE || f->linkage == LINK_WEAK || f->is_entry)
        strmap_put(&m->functions, f->name, s);
    }
  }
  return true;
}

// Pass 2: .extern names and declarations find their definition, here or among the builtins.
static bool resolve_all(VgpuModule *m, Error *err) {
  for (uint32_t u = 0; u < m->nunits; u++) {
    PtxModule *unit = m->units[u];
    for (uint32_t i = 0; i < unit->nvars; i++) {
      PtxVar *v = unit->vars[i];
      if (v->linkage != LINK_EXTERN || v->space == SPACE_SHARED) continue;
      v->user = strmap_get(&m->variables, v->name);
      if (!v->user)
        return error_set(err, "variable %s is declared .extern in %s and defined nowhere", v->name,
                         unit->name);
    }
    for (uint32_t i = 0; i < unit->nfuncs; i++) {
      PtxFunc *f = unit->funcs[i];
      if (!f->is_declaration) continue;
      f->user = strmap_get(&m->functions, f->alias_of ? f->alias_of : f->name);
      if (f->user) continue;
      FuncSym *s = ARENA_NEW(&m->arena, FuncSym);
      s->name = f->name;
      s->module = m;
      s->builtin = builtin_find(f->name);  // unresolved otherwise: an error if it is ever called
      f->user = s;
      strmap_put(&m->functions, f->name, s);
    }
  }
  return true;
}

static uint64_t generic_address(const PtxReloc *r) {
  if (r->func) return (uint64_t)function_symbol(r->func) + (uint64_t)r->addend;
  VarSym *s = variable_symbol(r->var);
  return s ? (uint64_t)s->address + (uint64_t)r->addend : 0;
}

static bool lay_out_memory(VgpuModule *m, Error *err) {
  size_t size = 0;
  for (uint32_t i = 0; i < m->vars.len; i++) {
    PtxVar *v = m->vars.data[i]->var;
    size_t align = MAX(v->align, 16u);
    size = (size + align - 1) / align * align;
    m->vars.data[i]->address = (char *)size;
    size += MAX(v->size, 1u) + 16;  // a little room, so that neighbours differ
  }
  m->memory_bytes = MAX(size, 1u);
  m->memory = vgpu_program_alloc(m->memory_bytes, 0);
  if (!m->memory) return error_set(err, "no memory for the %zu bytes of module variables", size);
  for (uint32_t i = 0; i < m->vars.len; i++) {
    VarSym *s = m->vars.data[i];
    s->address = m->memory + (size_t)s->address;
    if (s->var->init) memcpy(s->address, s->var->init, s->var->size);
  }
  for (uint32_t i = 0; i < m->vars.len; i++) {
    VarSym *s = m->vars.data[i];
    for (uint32_t r = 0; r < s->var->nrelocs; r++) {
      const PtxReloc *rel = &s->var->relocs[r];
      uint64_t value = generic_address(rel);
      if (rel->mask) value = (value & rel->mask) >> __builtin_ctzll(rel->mask);
      if (rel->func) function_symbol(rel->func)->address_taken = true;
      if (rel->offset + rel->size <= s->var->size)
        memcpy(s->address + rel->offset, &value, rel->size);
    }
  }
  return true;
}

static void note_address(PtxOperand *o) {
  if (o->kind == OPD_FUNC && o->func->user) function_symbol(o->func)->address_taken = true;
  for (unsigned i = 0; i < o->nlist; i++) note_address(&o->list[i]);
}

static void find_address_taken(VgpuModule *m) {
  for (uint32_t i = 0; i < m->funcs.len; i++) {
    PtxFunc *f = m->funcs.data[i]->func;
    for (uint32_t s = 0; s < f->nstmts; s++) {
      if (f->stmts[s].kind != STMT_INSTR) continue;
      PtxInstr *in = f->stmts[s].instr;
      if (in->op == OP_CALL) continue;
      for (unsigned o = 0; o < in->nops; o++) note_address(&in->ops[o]);
    }
  }
}

// Parameters beyond the limit could not be copied into the launch's buffer. A GPU has 32764 bytes;
// tools add some.
static bool check_parameters(VgpuModule *m, Error *err) {
  enum { MOST = 64 << 10 };
  for (uint32_t i = 0; i < m->funcs.len; i++) {
    const PtxFunc *f = m->funcs.data[i]->func;
    for (uint32_t p = 0; f->is_entry && p < f->nparams; p++) {
      uint64_t at = f->params[p]->param_offset, size = f->params[p]->size;
      if (at > MOST || size > MOST || at + size > f->param_bytes || f->param_bytes > MOST)
        return error_set(err, "kernel %s has more than %d bytes of parameters", f->name, MOST);
    }
  }
  return true;
}

static void add_kernels(VgpuModule *m) {
  for (uint32_t i = 0; i < m->funcs.len; i++) {
    FuncSym *s = m->funcs.data[i];
    PtxFunc *f = s->func;
    if (!f->is_entry) continue;
    VgpuKernel *k = ARENA_NEW(&m->arena, VgpuKernel);
    k->module = m;
    k->sym = s;
    VgpuParam *params = ARENA_ARRAY(&m->arena, VgpuParam, f->nparams + 1);
    for (uint32_t p = 0; p < f->nparams; p++)
      params[p] = (VgpuParam){(uint32_t)f->params[p]->param_offset, (uint32_t)f->params[p]->size};
    uint32_t threads = 1024;
    if (f->maxntid.given) threads = f->maxntid.x * MAX(f->maxntid.y, 1u) * MAX(f->maxntid.z, 1u);
    if (f->reqntid.given) threads = f->reqntid.x * MAX(f->reqntid.y, 1u) * MAX(f->reqntid.z, 1u);
    k->info = (VgpuKernelInfo){
        .name = f->name,
        .params = params,
        .nparams = f->nparams,
        .param_bytes = f->param_bytes,
        .max_threads = threads,
        .sm = f->module->sm,
        .ptx_version = f->module->version_major * 10 + f->module->version_minor,
    };
    if (f->reqntid.given)
      memcpy(k->info.reqntid,
             (uint32_t[]){f->reqntid.x, MAX(f->reqntid.y, 1u), MAX(f->reqntid.z, 1u)}, 12);
    if (f->reqnctapercluster.given) {
      PtxDim3 c = f->reqnctapercluster;
      memcpy(k->info.reqcluster, (uint32_t[]){c.x, MAX(c.y, 1u), MAX(c.z, 1u)}, 12);
    }
    k->info.cluster_required = f->explicitcluster || f->reqnctapercluster.given;
    vec_push(&m->kernels, k);
  }
}

VgpuModule *vgpu_module_load(PtxModule **units, uint32_t nunits, Error *err) {
  VgpuModule *m = mem_alloc(sizeof *m);
  m->units = mem_alloc((nunits + 1) * sizeof *units);
  if (nunits) memcpy(m->units, units, nunits * sizeof *units);
  m->nunits = nunits;
  pthread_mutex_init(&m->lock, NULL);
  for (uint32_t u = 0; u < nunits; u++)
    if (units[u]->address_size == 32) {
      error_set(err, "%s is compiled for 32-bit addresses, which no current device supports",
                units[u]->name);
      vgpu_module_unload(m);
      return NULL;
    }
  if (!define_all(m, err) || !check_parameters(m, err) || !resolve_all(m, err) ||
      !lay_out_memory(m, err)) {
    vgpu_module_unload(m);
    return NULL;
  }
  find_address_taken(m);
  add_kernels(m);
  return m;
}

void vgpu_module_unload(VgpuModule *m) {
  for (uint32_t i = 0; i < m->kernels.len; i++) {
    VgpuKernel *k = m->kernels.data[i];
    engine_free_groups(k);
    uint32_t it = 0;
    uint64_t key;
    void *code;
    while (u64map_next(&k->codes, &it, &key, &code)) code_free(code);
    u64map_free(&k->codes);
    u64map_free(&k->shared_offset);
  }
  vgpu_program_free(m->memory, m->memory_bytes);
  for (uint32_t u = 0; u < m->nunits; u++) ptx_free(m->units[u]);
  free(m->units);
  vec_free(&m->kernels);
  vec_free(&m->vars);
  vec_free(&m->funcs);
  strmap_free(&m->functions);
  strmap_free(&m->variables);
  arena_free(&m->arena);
  free(m);
}

VgpuKernel *vgpu_module_kernel(VgpuModule *m, const char *name) {
  for (uint32_t i = 0; i < m->kernels.len; i++)
    if (!strcmp(m->kernels.data[i]->info.name, name)) return m->kernels.data[i];
  return NULL;
}

VgpuKernel *vgpu_module_kernel_at(VgpuModule *m, uint32_t i) {
  return i < m->kernels.len ? m->kernels.data[i] : NULL;
}

static void fill_global(const VarSym *s, VgpuGlobal *out) {
  *out = (VgpuGlobal){s->var->name, s->address, s->var->size, s->var->managed,
                      s->var->space == SPACE_CONST};
}

bool vgpu_module_global_at(VgpuModule *m, uint32_t i, VgpuGlobal *out) {
  if (i >= m->vars.len) return false;
  fill_global(m->vars.data[i], out);
  return true;
}

bool vgpu_module_global(VgpuModule *m, const char *name, VgpuGlobal *out) {
  VarSym *s = strmap_get(&m->variables, name);
  for (uint32_t i = 0; !s && i < m->vars.len; i++)
    if (!strcmp(m->vars.data[i]->var->name, name)) s = m->vars.data[i];
  if (s) fill_global(s, out);
  return s != NULL;
}

// Both modules come from the same PTX, so their variables stand in the same order.
void vgpu_module_share_managed(VgpuModule *m, VgpuModule *first) {
  for (uint32_t i = 0; i < m->vars.len && i < first->vars.len; i++)
    if (m->vars.data[i]->var->managed) m->vars.data[i]->address = first->vars.data[i]->address;
}

const VgpuKernelInfo *vgpu_kernel_info(const VgpuKernel *k) {
  // the figures about shared and local memory come from the code
  kernel_prepare((VgpuKernel *)k, NULL);
  return &k->info;
}
