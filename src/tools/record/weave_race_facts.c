// record: facts that are recorded only to find races in a recording.
#include "tools/record/internal.h"

// --- wg_benign_race of include/warpgrind.h: moves of an address and of a number of bytes ---

static bool is_move_to(const PtxInstr *in, const char *name) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[0].kind == OPD_REG &&
         code_is_named(in->ops[0].reg, name);
}

bool recorder_is_benign_race(const PtxInstr *in) { return is_move_to(in, "wg_benign_race_n"); }

// Records a value of 16 bytes: the address, as an operation would record it, and the number of
// bytes.
void recorder_benign_race(Recorder *t, uint32_t i) {
  PtxInstr *in = t->body->cfg->instrs[i];
  const PtxInstr *before = i ? t->body->cfg->instrs[i - 1] : in;
  if (!is_move_to(before, "wg_benign_race_p")) return;
  Code *c = body_after(t->body, i);
  uint32_t site = recorder_site(t, in, NULL, CLASS_MOVE, SPACE_NONE, 16);
  PtxLabel *over = recorder_guard(t, c, in);
  PtxOperand at = opd_at(c, before->ops[0], 0);
  recorder_address(t, c, in, &at, SPACE_GENERIC);
  for (unsigned k = 0; k < 4; k += 2)
    EMIT(c, "mov.b64",
         opd_vector(c,
                    (PtxOperand[]){opd_reg(recorder_word(t, &t->values[k])),
                                   opd_reg(recorder_word(t, &t->values[k + 1]))},
                    2),
         k ? in->ops[0] : opd_reg(t->address));
  recorder_emit(t, c, &(RecorderRecord){RECORDER_OF_VALUE, site, 4});
  code_label(c, over);
}

// --- lanes and launches that wait for others ---

// Lanes that exchange values (shuffles, votes, matrices) wait for each other, which has no record.
// A function that does so has a site after all others: the search for races needs to know.
static void note_exchange(Recorder *t) {
  const IrCfg *cfg = t->body->cfg;
  for (uint32_t i = 0; i < cfg->ninstrs; i++) {
    const PtxInstr *in = cfg->instrs[i];
    unsigned classes = ptx_op_classes(in);
    bool exchanges = (classes & (CLASS_WARP | CLASS_TENSOR) && !(classes & CLASS_SYNC) &&
                      in->op != OP_ACTIVEMASK) ||
                     in->op == OP_LDMATRIX || in->op == OP_STMATRIX;
    if (!exchanges || cfg->blocks[cfg->block_of[i]].rpo == IR_NONE) continue;
    recorder_site(t, in, NULL, CLASS_WARP, SPACE_NONE, 0);
    return;
  }
}

// Finds out whether a launch of this kernel waits for the one before it, and whether the host may
// see its writes before it ends.
static void note_launches(const Body *b) {
  if (b->info->kernel >= b->program->out->nkernels) return;
  WovenKernel *k = &b->program->out->kernels[b->info->kernel];
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    k->waits_for_launch |= in->op == OP_GRIDDEPCONTROL && ptx_has(in, MOD_WAIT);
    k->tells_host |= ptx_has(in, MOD_SYS);
  }
}

void recorder_note_order(Recorder *t) {
  note_exchange(t);
  note_launches(t->body);
}
