// Blocks that run only after a tool's quick test has failed: they call probes, after a branch that
// the tool has put into the kernel. They are not compiled, and what they do to registers is not
// looked at, so the rest of the kernel is compiled as if they were not there. A warp that goes
// through one is interpreted until the next head, where its registers are tested as always.
#include "vgpu/region/region.h"

uint32_t region_number(const Region *r, const PtxInstr *in) {
  return in ? (uint32_t)(uintptr_t)u64map_get(&r->number, (uint64_t)in) - 1 : IR_NONE;
}

bool region_is_cold(const Region *r, const Inst *in) {
  uint32_t n = region_number(r, in->src);
  return n != IR_NONE && r->cold[r->cfg->block_of[n]];
}

// A probe is called by its name, or through a register that holds its address.
static bool calls_probe(const PtxInstr *in) {
  if (in->op != OP_CALL || in->nops < 2) return false;
  const PtxOperand *callee = &in->ops[1];
  if (callee->kind == OPD_FUNC) return vgpu_is_probe(callee->func);
  return callee->kind == OPD_REG && !strncmp(callee->reg->name, "%wgp", 4);
}

// Does a predicate of a tool decide where block `from` goes on?
static bool is_asked(const Region *r, uint32_t from) {
  const IrBlock *b = &r->cfg->blocks[from];
  if (b->nsucc < 2 || b->first == b->end) return false;
  const PtxInstr *last = r->cfg->instrs[b->end - 1];
  return last->op == OP_BRA && last->guard && !strncmp(last->guard->name, "%wgp", 4);
}

static bool begins_cold(const Region *r, uint32_t b) {
  const IrBlock *k = &r->cfg->blocks[b];
  bool calls = false;
  for (uint32_t i = k->first; i < k->end && !calls; i++) calls = calls_probe(r->cfg->instrs[i]);
  if (!calls || !k->npred) return false;
  for (uint32_t p = 0; p < k->npred; p++)
    if (!is_asked(r, k->pred[p])) return false;
  return true;
}

static bool follows_cold(const Region *r, uint32_t b) {
  const IrBlock *k = &r->cfg->blocks[b];
  for (uint32_t p = 0; p < k->npred; p++)
    if (!r->cold[k->pred[p]]) return false;
  return k->npred > 0;
}

void region_find_cold(Region *r) {
  if (vgpu_is_probe(r->func)) return;
  for (uint32_t b = 0; b < r->cfg->nblocks; b++) r->cold[b] = begins_cold(r, b);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < r->cfg->nblocks; b++)
      if (!r->cold[b] && follows_cold(r, b)) r->cold[b] = changed = true;
  }
}
