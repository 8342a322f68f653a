// dump: uniformity as readable text, for `warpgrind ptx --dump=uniform`. (The other analyses are printed by src/cli.)
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

// One line an instruction: how often it need be executed for a warp, going by what it writes.
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
