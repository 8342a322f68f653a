// Effects of calls: they may order accesses, or access memory of other threads. Determined before
// any pass changes a function: calls that passes add do not belong to the program.
#include "tools/racecheck/internal.h"

// FuncInfo.tool_bits: the function, or one it calls, orders accesses; … accesses memory of other
// threads
enum { ORDERS = 1, ACCESSES = 2 };

static bool has(const FuncInfo *info, unsigned bit) {
  return info->tool_bits[TOOL_RACECHECK] & bit;
}
static void add(FuncInfo *info, bool orders, bool accesses) {
  info->tool_bits[TOOL_RACECHECK] |= (orders ? ORDERS : 0) | (accesses ? ACCESSES : 0);
}

static bool touches_memory(const PtxInstr *in) {
  return in->space == SPACE_GLOBAL || in->space == SPACE_SHARED || in->space == SPACE_GENERIC;
}

static void survey_function(FuncInfo *info) {
  const PtxFunc *f = info->func;
  add(info, info->may_recurse, false);  // not followed: assumed to do anything
  for (uint32_t i = 0; i < f->nstmts; i++) {
    if (f->stmts[i].kind != STMT_INSTR || f->stmts[i].instr->op == OP_CALL) continue;
    add(info, race_orders(f->stmts[i].instr), touches_memory(f->stmts[i].instr));
  }
}

// A call through a pointer may do anything. Functions without a body here are the device runtime's:
// malloc, free and printf, which order nothing and have no races.
static bool is_through_pointer(const PtxInstr *call) {
  return call->nops > 1 && call->ops[1].kind != OPD_FUNC;
}

bool race_call_orders(const PtxInstr *call) {
  const FuncInfo *callee = program_callee(call);
  return callee ? has(callee, ORDERS) : is_through_pointer(call);
}

bool race_call_accesses(const PtxInstr *call) {
  const FuncInfo *callee = program_callee(call);
  return callee ? has(callee, ACCESSES) : is_through_pointer(call);
}

// Callers inherit what their callees do, until nothing changes.
void race_survey_calls(Program *p) {
  for (uint32_t u = 0; u < p->nunits; u++)
    for (uint32_t i = 0; i < p->units[u]->nfuncs; i++)
      if (!p->units[u]->funcs[i]->is_declaration) survey_function(func_info(p->units[u]->funcs[i]));
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < p->calls.len; i++) {
      FuncInfo *from = p->calls.data[i].from;
      bool orders = race_call_orders(p->calls.data[i].call);
      bool accesses = race_call_accesses(p->calls.data[i].call);
      changed |= (orders && !has(from, ORDERS)) || (accesses && !has(from, ACCESSES));
      add(from, orders, accesses);
    }
  }
}
