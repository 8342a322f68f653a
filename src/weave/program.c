#define _GNU_SOURCE  // memmem
// Collects facts about the functions of a program before passes run: who calls whom, whose address
// is taken, for which kernel a function runs.
#include "weave/pass.h"

enum { NO_KERNEL = UINT32_MAX - 1, SEVERAL = UINT32_MAX };

static void take_address(PtxOperand *o) {
  if (o->kind == OPD_FUNC) func_info(o->func)->address_taken = true;
  for (unsigned i = 0; i < o->nlist; i++) take_address(&o->list[i]);
}

static FuncInfo *definition(FuncInfo *i) { return i->target ? i->target : i; }

FuncInfo *program_callee(const PtxInstr *call) {
  if (call->nops < 2 || call->ops[1].kind != OPD_FUNC || !func_info(call->ops[1].func)) return NULL;
  FuncInfo *i = definition(func_info(call->ops[1].func));
  return i->func->is_declaration ? NULL : i;
}

// Functions of the device runtime that return. Others without a body here may do anything.
static bool is_known_to_return(const char *name) {
  static const char *const names[] = {"vprintf", "malloc", "free"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (!strcmp(name, names[i])) return true;
  return false;
}

bool program_may_not_return(const PtxInstr *call) {
  if (call->ops[1].kind != OPD_FUNC) return true;
  const FuncInfo *i = definition(func_info(call->ops[1].func));
  if (i->func->is_declaration) return !is_known_to_return(i->func->name);
  return i->may_not_return;
}

// One walk over a function: addresses it takes, and whether it can end the thread by itself.
static void survey_function(Program *p, FuncInfo *info) {
  PtxFunc *f = info->func;
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind == STMT_LABEL && f->stmts[i].label->kind == LABEL_CALLTARGETS) {
      const PtxLabel *l = f->stmts[i].label;
      for (uint32_t t = 0; t < l->ncall_targets; t++)
        func_info(l->call_targets[t])->address_taken = true;
    }
    if (f->stmts[i].kind != STMT_INSTR) continue;
    PtxInstr *in = f->stmts[i].instr;
    switch (in->op) {
      case OP_EXIT:
      case OP_TRAP: info->may_not_return = true; break;
      case OP_CALL:
        for (unsigned o = 2; o < in->nops; o++) take_address(&in->ops[o]);
        if (in->ops[1].kind != OPD_FUNC)
          info->may_not_return = info->calls_functions = info->may_recurse = true;
        vec_push(&p->calls, (CallEdge){info, in});
        break;
      case OP_MOV:
      case OP_ST:
      case OP_CVTA:
        for (unsigned o = 0; o < in->nops; o++) take_address(&in->ops[o]);
        break;
      default: break;
    }
  }
}

static void survey_variables(PtxVar **vars, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t r = 0; r < vars[i]->nrelocs; r++)
      if (vars[i]->relocs[r].func) func_info(vars[i]->relocs[r].func)->address_taken = true;
}

static void link_functions(Program *p) {
  StrMap definitions = {0};
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      PtxFunc *f = p->units[u]->funcs[i];
      FuncInfo *info = ARENA_NEW(&p->scratch, FuncInfo);
      *info = (FuncInfo){.func = f, .kernel = NO_KERNEL};
      f->user = info;
      if (!f->is_declaration && (f->linkage == LINK_VISIBLE || f->linkage == LINK_WEAK) &&
          !strmap_get(&definitions, f->name))
        strmap_put(&definitions, f->name, info);
    }
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      PtxFunc *f = p->units[u]->funcs[i],
              *own = f->alias_of ? ptx_find_func(p->units[u], f->alias_of) : NULL;
      if (!f->is_declaration) continue;
      func_info(f)->target = own && !own->is_declaration
                                 ? func_info(own)
                                 : strmap_get(&definitions, f->alias_of ? f->alias_of : f->name);
    }
  strmap_free(&definitions);
}

// Code that takes a declaration's address takes the definition's.
static void settle_addresses(Program *p) {
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      FuncInfo *info = func_info(p->units[u]->funcs[i]);
      if (!info->address_taken) continue;
      definition(info)->address_taken = true;
      if (info->func->is_entry) p->launches_from_device = true;
    }
}

// Removes functions that call none of the remaining ones; those that stay are on a cycle of calls,
// or reach one.
static void find_cycles(Program *p) {
  U64Map left = {0};
  for (uint32_t i = 0; i < p->calls.len; i++)
    if (program_callee(p->calls.data[i].call))
      u64map_put(&left, (uintptr_t)p->calls.data[i].from, p->calls.data[i].from);
  for (bool changed = true; changed && left.len;) {
    U64Map still = {0};
    for (uint32_t i = 0; i < p->calls.len; i++) {
      FuncInfo *from = p->calls.data[i].from, *to = program_callee(p->calls.data[i].call);
      if (to && u64map_get(&left, (uintptr_t)from) && u64map_get(&left, (uintptr_t)to))
        u64map_put(&still, (uintptr_t)from, from);
    }
    changed = still.len != left.len;
    u64map_free(&left);
    left = still;
  }
  uint32_t it = 0;
  uint64_t key;
  void *info;
  while (u64map_next(&left, &it, &key, &info)) ((FuncInfo *)info)->may_recurse = true;
  u64map_free(&left);
}

// Facts that callers inherit from callees, until nothing changes.
static void propagate_up(Program *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < p->calls.len; i++) {
      FuncInfo *from = p->calls.data[i].from, *to = program_callee(p->calls.data[i].call);
      bool ends = program_may_not_return(p->calls.data[i].call);
      if (ends && !from->may_not_return) from->may_not_return = changed = true;
      if (to && !from->calls_functions) from->calls_functions = changed = true;
      if (to && to->may_recurse && !from->may_recurse) from->may_recurse = changed = true;
    }
  }
}

static void propagate_down(Program *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < p->calls.len; i++) {
      FuncInfo *from = p->calls.data[i].from, *to = program_callee(p->calls.data[i].call);
      if (!to || to->kernel == SEVERAL || from->kernel == NO_KERNEL || to->kernel == from->kernel)
        continue;
      to->kernel = to->kernel == NO_KERNEL ? from->kernel : SEVERAL;
      changed = true;
    }
  }
}

static bool wants(const Program *p, const char *kernel) {
  return !p->plan->wants_kernel || p->plan->wants_kernel(kernel, p->plan->user);
}

static void list_kernels(Program *p) {
  Woven *out = p->out;
  uint32_t n = 0;
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++)
      n += p->units[u]->funcs[i]->is_entry && !p->units[u]->funcs[i]->is_declaration;
  out->kernels = ARENA_ARRAY(&out->arena, WovenKernel, n + 1);
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      PtxFunc *f = p->units[u]->funcs[i];
      if (!f->is_entry || f->is_declaration) continue;
      func_info(f)->kernel = out->nkernels;
      func_info(f)->wanted = p->plan->tools && wants(p, f->name);
      WovenKernel *k = &out->kernels[out->nkernels++];
      *k = (WovenKernel){.name = arena_strdup(&out->arena, f->name),
                         .instrumented = true,
                         .user_params = f->nparams,
                         .user_param_bytes = f->param_bytes};
      if (!p->plan->tools || func_info(f)->wanted) continue;
      k->instrumented = false;
      k->reason = "not selected";
    }
}

// A function is woven if a woven kernel may reach it.
static void choose_functions(Program *p) {
  bool pointers = false;
  for (uint32_t i = 0; i < p->out->nkernels; i++) pointers |= p->out->kernels[i].instrumented;
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      FuncInfo *info = func_info(p->units[u]->funcs[i]);
      if (info->func->is_entry || info->func->is_declaration) continue;
      if (info->address_taken) {
        info->kernel = SEVERAL;
        info->wanted = pointers;
      }
      // another unit's copy may run in its place
      if (p->nunits > 1 && info->func->linkage == LINK_WEAK) info->kernel = SEVERAL;
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < p->calls.len; i++) {
      FuncInfo *from = p->calls.data[i].from, *to = program_callee(p->calls.data[i].call);
      if (to && from->wanted && !to->wanted) to->wanted = changed = true;
    }
  }
}

// A prefix that occurs nowhere in the text of any unit, so that names beginning with it are free.
static const char *free_prefix(Program *p, const char *stem) {
  for (unsigned n = 0;; n++) {
    const char *prefix = n ? arena_printf(&p->scratch, "%s%u_", stem, n)
                           : arena_printf(&p->scratch, "%s_", stem);
    bool taken = false;
    for (uint32_t u = 0; u < p->nunits && !taken; u++)
      taken = memmem(p->units[u]->text, p->units[u]->text_len, prefix, strlen(prefix));
    if (!taken) return prefix;
  }
}

bool program_survey(Program *p, Error *err) {
  link_functions(p);
  list_kernels(p);
  if (!p->plan->tools) return true;
  p->prefix = free_prefix(p, "__wg");
  p->reg_prefix = free_prefix(p, "%wgp");
  p->out->probe_prefix = arena_printf(&p->out->arena, "%swg_", p->prefix);
  for (uint32_t u = 0; u < p->nunits; u++) {
    PtxModule *m = p->units[u];
    if (m->address_size != 64)
      return error_set(err, "%s: compiled for 32-bit addresses: it cannot be instrumented",
                       m->name);
    survey_variables(m->vars, m->nvars);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
      survey_variables(m->funcs[i]->locals, m->funcs[i]->nlocals);
      survey_function(p, func_info(m->funcs[i]));
    }
  }
  settle_addresses(p);
  find_cycles(p);
  propagate_up(p);
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++) {
      const FuncInfo *info = func_info(p->units[u]->funcs[i]);
      if (info->func->is_entry && !info->func->is_declaration)
        p->out->kernels[info->kernel].may_recurse = info->may_recurse;
    }
  choose_functions(p);
  propagate_down(p);
  twins_make(p);
  return true;
}

uint32_t program_site(Program *p, Body *b, const PtxInstr *in) {
  Arena *a = &p->out->arena;
  Str text = {0};
  ptx_show_instr(in, &text);
  Site s = {
      .kernel = b->info->kernel == NO_KERNEL ? SEVERAL : b->info->kernel,
      .function = arena_strdup(a, b->func->name),
      .text = arena_strdup(a, text.data),
      .ptx_line = in->ptx_line,
      .classes = ptx_op_classes(in),
      .space = in->space,
      .bytes = access_bytes(in),
  };
  s.nplaces = weave_places(a, b->func->module, in->loc, &s.places);
  str_free(&text);
  vec_push(&p->sites, s);
  return p->sites.len - 1;
}
