// alloca, stacksave, stackrestore: memory after the locals of the running frame, with an amount of
// its own for each lane.
#include "vgpu/exec/memory.h"
#include "vgpu/core.h"

static uint32_t frame_end(const Frame *f) { return f->local_base + f->code->local_bytes; }

static void use_dynamic(Frame *f) {
  if (f->has_dynamic) return;
  f->has_dynamic = true;
  memset(f->dynamic, 0, sizeof f->dynamic);
}

static void put_address(Warp *w, const Inst *in, unsigned lane, uint32_t value) {
  if (in->flag[0] == 8) REG(w, uint64_t, in->d)[lane] = value;
  else REG(w, uint32_t, in->d)[lane] = value;
}

static const Inst *exec_alloca(Warp *w, const Inst *in) {
  Frame *f = w->frame;
  use_dynamic(f);
  FOR_LANES(l, w->exec) {
    uint64_t size = in->flag[1] == 8 ? REG(w, uint64_t, in->a)[l] : REG(w, uint32_t, in->a)[l];
    uint64_t align = in->imm,
             at = (frame_end(f) + (uint64_t)f->dynamic[l] + align - 1) / align * align;
    if (size > w->local_bytes || at + size > w->local_bytes)
      return vgpu_fault(
          w, in, VGPU_STACK_OVERFLOW, l, 0,
          "alloca of %llu bytes needs more than the %u bytes of stack each thread has",
          (unsigned long long)size, w->local_bytes);
    put_address(w, in, l, (uint32_t)at);
    f->dynamic[l] = (uint32_t)(at + size - frame_end(f));
  }
  return in + 1;
}

static const Inst *exec_stacksave(Warp *w, const Inst *in) {
  Frame *f = w->frame;
  use_dynamic(f);
  FOR_LANES(l, w->exec) put_address(w, in, l, frame_end(f) + f->dynamic[l]);
  return in + 1;
}

static const Inst *exec_stackrestore(Warp *w, const Inst *in) {
  Frame *f = w->frame;
  use_dynamic(f);
  FOR_LANES(l, w->exec) {
    uint64_t at = in->flag[1] == 8 ? REG(w, uint64_t, in->a)[l] : REG(w, uint32_t, in->a)[l];
    if (at < frame_end(f) || at > w->local_bytes)
      return vgpu_fault(w, in, VGPU_TRAP, l, at,
                        "stackrestore of 0x%llx, which stacksave did not give in this function",
                        (unsigned long long)at);
    f->dynamic[l] = (uint32_t)(at - frame_end(f));
  }
  return in + 1;
}

bool VGPU_NAME(bind_stack)(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = in->ntypes ? in->types[0] : TYPE_U64;
  uint32_t d = 0, a = 0;
  unsigned dw = 0, aw = 0;
  if (in->op != OP_STACKRESTORE) {
    d = bind_dst(b, &in->ops[0], t);
    dw = bind_width(b, &in->ops[0], t);
  }
  if (in->op != OP_STACKSAVE) {
    const PtxOperand *o = &in->ops[in->op == OP_ALLOCA ? 1 : 0];
    a = bind_src(b, o, t);
    aw = bind_width(b, o, t);
  }
  Inst *i = bind_emit(b, in->op == OP_ALLOCA      ? exec_alloca
                         : in->op == OP_STACKSAVE ? exec_stacksave
                                                  : exec_stackrestore);
  i->d = d;
  i->a = a;
  i->imm = in->op == OP_ALLOCA && in->nops > 2 && in->ops[2].imm > 0 ? (uint64_t)in->ops[2].imm : 8;
  i->flag[0] = (uint8_t)dw;
  i->flag[1] = (uint8_t)aw;
  return true;
}
