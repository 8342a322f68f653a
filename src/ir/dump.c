// dump: uniformity and addresses as readable text, for `warpgrind ptx --dump=uniform,provenance`.
// (The other analyses are printed by src/cli.)
#include "ir/ir.h"

static const char *class_of(const IrUniform *u, const PtxInstr *in) {
  static const char *const names[] = {"once", "affine", "each"};
  uint8_t class = IR_UNIFORM;
  const PtxOperand *d = in->nops ? &in->ops[0] : NULL;
  if (!d || (d->kind != OPD_REG && d->kind != OPD_VECTOR && d->kind != OPD_PAIR)) return "";
  for (unsigned i = 0; i < (d->kind == OPD_REG ? 1u : d->nlist); i++) {
    const PtxOperand *r = d->kind == OPD_REG ? d : &d->list[i];
    if (r->kind == OPD_REG) class = MAX(class, u->reg_class[r->reg->id]);
  }
  return names[class];
}

// One line per instruction: its class, the highest among the registers it writes.
void ir_dump_uniform(const IrCfg *c, const IrUniform *u, Str *out) {
  for (uint32_t b = 0; b < c->nblocks; b++) {
    str_printf(out, "  B%u:%s\n", b, u->block_divergent[b] ? " divergent" : "");
    for (uint32_t i = c->blocks[b].first; i < c->blocks[b].end; i++) {
      str_printf(out, "    %-6s  ", class_of(u, c->instrs[i]));
      ptx_print_instr(c->instrs[i], out);
      str_addc(out, '\n');
    }
  }
}

static void print_address(const IrAddress *a, Str *out) {
  if (a->origin.kind == IR_FROM_PARAM)
    str_printf(out, "%s@%lld", a->origin.var->name, (long long)a->origin.offset);
  else str_add(out, a->origin.kind == IR_FROM_VAR ? a->origin.var->name : "?");
  if (!a->taken_apart) {
    str_add(out, " + ?");
    return;
  }
  if (a->index)
    str_printf(out, " + %lld * %s%s", (long long)a->scale, a->index->name,
               a->index_bytes == 4 ? a->index_signed ? ".s32" : ".u32" : "");
  if (a->offset) str_printf(out, " + %lld", (long long)a->offset);
}

// One line an address: object, index, offset; then the instruction.
void ir_dump_provenance(const IrCfg *c, Str *out) {
  IrProvenance *p = ir_provenance_build(c);
  IrDefs *d = ir_defs_build(c);
  for (uint32_t i = 0; i < c->ninstrs; i++) {
    const PtxInstr *in = c->instrs[i];
    if (!(ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC)) ||
        in->space == SPACE_PARAM)
      continue;
    for (unsigned k = 0; k < in->nops; k++) {
      if (in->ops[k].kind != OPD_ADDR) continue;
      IrAddress a = ir_address(d, p, i, &in->ops[k]);
      str_add(out, "    ");
      print_address(&a, out);
      str_add(out, "  ");
      ptx_print_instr(in, out);
      str_addc(out, '\n');
    }
  }
  ir_defs_free(d);
  ir_provenance_free(p);
}

static void print_linear(IrLinear l, Str *out) {
  static const char *const widened[] = {"", ".s32", ".u32"};
  if (!l.known) {
    str_add(out, "?");
    return;
  }
  str_printf(out, "%lld", (long long)l.constant);
  for (unsigned i = 0; i < l.n; i++)
    str_printf(out, " + %lld * %s%s", (long long)l.terms[i].factor, l.terms[i].reg->name,
               widened[l.terms[i].widened]);
}

// For each innermost loop how often it runs, and its addresses: in the first iteration, and the
// step.
void ir_dump_loop_plans(const IrCfg *c, Str *out) {
  IrDefs *defs = ir_defs_build(c);
  for (uint32_t l = 0; l < c->nloops; l++) {
    IrLoopPlan p;
    if (!ir_loop_plan_shared(c, defs, l, &p)) {
      str_printf(out, "  L%u: not counted\n", l);
      continue;
    }
    str_printf(out, "  L%u: goes on while %s 0: ", l, ptx_mod_name(p.goes_on));
    print_linear(p.distance, out);
    str_add(out, ", step ");
    print_linear(p.distance_moves, out);
    str_addc(out, '\n');
    for (uint32_t i = 0; i < p.nwidened; i++) {
      str_printf(out, "    fits %s: ", p.widened[i].is_signed ? "s32" : "u32");
      print_linear(p.widened[i].first, out);
      str_add(out, ", step ");
      print_linear(p.widened[i].step, out);
      str_addc(out, '\n');
    }
    for (uint32_t i = 0; i < p.naccesses; i++) {
      str_add(out, "    ");
      print_linear(p.accesses[i].first, out);
      str_add(out, ", step ");
      print_linear(p.accesses[i].step, out);
      str_add(out, "  ");
      ptx_print_instr(c->instrs[p.accesses[i].instr], out);
      str_addc(out, '\n');
    }
    ir_loop_plan_free(&p);
  }
  ir_defs_free(defs);
}
