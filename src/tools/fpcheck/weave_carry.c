// Local and shared memory that carries values within the kernel. A store to it is no sink, since
// the value is tested where it goes after it is loaded again. That holds only if all values loaded
// from it are known floating-point numbers or are used as integers. Bits that are only copied, say
// from shared to global memory sixteen bytes at a time, would leave without a test.
#include "tools/fpcheck/internal.h"

// raw: by register: holds bits from that memory, of unknown type
typedef struct Carry {
  const FpFlow *flow;
  bool *raw;
  bool changed, found;
} Carry;

static void note_raw(void *ctx, PtxReg **reg, bool is_def) {
  Carry *c = ctx;
  uint32_t id = (*reg)->id;
  if (!is_def || c->flow->type[id].format || (*reg)->type == TYPE_PRED || c->raw[id]) return;
  c->raw[id] = c->changed = true;
}

static void look_for_raw(void *ctx, PtxReg **reg, bool is_def) {
  Carry *c = ctx;
  if (!is_def && c->raw[(*reg)->id]) c->found = true;
}

static bool mentions_raw(const Carry *c, const PtxOperand *o) {
  if (o->kind == OPD_REG && c->raw[o->reg->id]) return true;
  for (unsigned i = 0; i < o->nlist; i++)
    if (mentions_raw(c, &o->list[i])) return true;
  return false;
}

// The instruction may pass raw bits on unchanged, or test some of them.
static bool passes_on(Carry *c, PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  switch (in->op) {
    case OP_LD:
    case OP_LDU: return false;  // its address
    case OP_ST: return mentions_raw(c, &in->ops[1]);
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_LOP3:
    case OP_PRMT:
    case OP_BFE:
    case OP_BFI:
    case OP_SHF:
    case OP_SHL:
    case OP_SHR: break;
    default:
      if (classes & (CLASS_BRANCH | CLASS_RETURN | CLASS_ADDRESS | CLASS_INT | CLASS_HINT))
        return false;
      if (classes & CLASS_CONVERT && in->ntypes == 2 && !fp_type(in->types[1]).format) return false;
      break;
  }
  c->found = false;
  ptx_visit_regs(in, look_for_raw, c);
  return c->found;
}

static bool is_move(const PtxInstr *in) {
  return (in->op == OP_MOV || in->op == OP_SELP) && in->ops[0].kind == OPD_REG;
}

// The instruction reads this memory by other means than a plain load.
static bool is_seen_otherwise(const PtxInstr *in, PtxSpace space) {
  unsigned classes = ptx_op_classes(in);
  if (classes & CLASS_CALL || (classes & CLASS_LOAD && in->space == SPACE_GENERIC)) return true;
  if (space == SPACE_LOCAL) return false;
  return classes & (CLASS_ASYNC | CLASS_TENSOR) || in->op == OP_MAPA ||
         (in->op == OP_ATOM && in->space == SPACE_SHARED);
}

bool fp_carries(const FpFlow *f, const IrCfg *cfg, PtxSpace space) {
  Carry c = {.flow = f, .raw = ARENA_ARRAY(&cfg->func->module->arena, bool, f->nregs + 1)};
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    if (is_seen_otherwise(cfg->instrs[i], space)) return false;
    if (cfg->instrs[i]->op == OP_LD && cfg->instrs[i]->space == space)
      ptx_visit_regs(cfg->instrs[i], note_raw, &c);
  }
  do {
    c.changed = false;
    for (uint32_t i = 0; i < cfg->ninstrs; i++) {
      PtxInstr *in = cfg->instrs[i];
      if (!is_move(in) ||
          (!mentions_raw(&c, &in->ops[1]) && !(in->op == OP_SELP && mentions_raw(&c, &in->ops[2]))))
        continue;
      ptx_visit_regs(in, note_raw, &c);
    }
  } while (c.changed);
  for (uint32_t i = 0; i < cfg->ninstrs; i++)
    if (!is_move(cfg->instrs[i]) && passes_on(&c, cfg->instrs[i])) return false;
  return true;
}
