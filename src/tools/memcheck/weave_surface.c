// Surfaces: a coordinate outside of a surface ends the launch if the instruction has .trap, which
// is the default. Such an access is reported and left out. Registers hold the size of the surface
// that the thread accessed last.
#include "tools/memcheck/internal.h"

typedef struct Last {
  PtxReg *handle, *width, *height, *slices;
} Last;
typedef struct Place {
  PtxOperand x, y, z;
} Place;

static const PtxOperand *address_of(const PtxInstr *in) {
  return &in->ops[in->op == OP_SULD ? 1 : 0];
}

static unsigned dimensions(const PtxInstr *in) {
  return ptx_has(in, MOD_3D) ? 3 : ptx_has(in, MOD_2D) || ptx_has(in, MOD_A2D) ? 2 : 1;
}
static unsigned layered(const PtxInstr *in) { return ptx_has(in, MOD_A1D) || ptx_has(in, MOD_A2D); }

static bool is_checked(const PtxInstr *in) {
  if ((in->op != OP_SULD && in->op != OP_SUST && in->op != OP_SURED) || ptx_has(in, MOD_P) ||
      ptx_has(in, MOD_CLAMP) || ptx_has(in, MOD_ZERO))
    return false;
  const PtxOperand *a = address_of(in);
  if (a->kind != OPD_ADDR || a->nlist != 2 || a->list[0].kind != OPD_REG ||
      ptx_type_size(a->list[0].reg->type) != 8 || !access_bytes(in))
    return false;
  return layered(in) + dimensions(in) == 1 ||
         (a->list[1].kind == OPD_VECTOR && a->list[1].nlist >= layered(in) + dimensions(in));
}

static Place place_of(const PtxInstr *in) {
  const PtxOperand *at = &address_of(in)->list[1], *c = at->kind == OPD_VECTOR ? at->list : at;
  unsigned first = layered(in), n = dimensions(in);
  return (Place){c[first], n > 1 ? c[first + 1] : opd_imm(0),
                 n > 2   ? c[first + 2]
                 : first ? c[0]
                         : opd_imm(0)};
}

static uint32_t access_kind(const PtxInstr *in) {
  return in->op == OP_SULD   ? WG_ACCESS_READ
         : in->op == OP_SUST ? WG_ACCESS_WRITE
                             : WG_ACCESS_ATOMIC;
}

static void unpack(Code *c, PtxReg *to, PtxReg *extent, unsigned shift, int64_t mask) {
  PtxReg *word = body_temp(c->body, TYPE_B64, 1);
  EMIT(c, "shr.u64", opd_reg(word), opd_reg(extent), opd_imm(shift));
  EMIT(c, "and.b64", opd_reg(word), opd_reg(word), opd_imm(mask));
  EMIT(c, "cvt.u32.u64", opd_reg(to), opd_reg(word));
}

static void emit_slow(Memcheck *m, uint32_t i, Last last, PtxLabel *slow, PtxLabel *back,
                      PtxLabel *after) {
  Body *b = m->body;
  PtxInstr *in = b->cfg->instrs[i];
  Place at = place_of(in);
  Code *c = body_cold(b);
  c->near = in;
  code_label(c, slow);
  uint32_t number = program_site(b->program, b, in);
  PtxReg *table = body_temp(b, TYPE_B64, 3), *channel = body_temp(b, TYPE_B64, 5),
         *launch = body_temp(b, TYPE_B32, 7), *site = body_temp(b, TYPE_B32, 6),
         *handle = body_temp(b, TYPE_B64, 0);
  PtxReg *x = body_temp(b, TYPE_B32, 3), *y = body_temp(b, TYPE_B32, 4),
         *z = body_temp(b, TYPE_B32, 5), *kind = body_temp(b, TYPE_B32, 2),
         *extent = body_temp(b, TYPE_B64, 2);
  PtxReg *good = body_temp(b, TYPE_PRED, 1);
  EMIT(c, "mov.b64", opd_reg(handle), address_of(in)->list[0]);
  EMIT(c, "mov.b32", opd_reg(x), at.x);
  EMIT(c, "mov.b32", opd_reg(y), at.y);
  EMIT(c, "mov.b32", opd_reg(z), at.z);
  record_load(c, table, offsetof(WgLaunch, memory));
  record_load(c, channel, offsetof(WgLaunch, channel));
  record_load(c, launch, offsetof(WgLaunch, launch));
  record_site(c, site, number);
  const PtxOperand args[] = {
      opd_reg(table),   opd_reg(handle),
      opd_reg(x),       opd_reg(y),
      opd_reg(z),       opd_imm(access_kind(in) | access_bytes(in) << WG_WHAT_SPACE),
      opd_reg(channel), opd_reg(launch),
      opd_reg(site)};
  code_call_value(c, probe_function(b->program, b->unit, "wg_memcheck_surface"), kind, args, 9);
  code_call_value(c, probe_function(b->program, b->unit, "wg_surface_extent"), extent, args, 2);
  EMIT(c, "mov.b64", opd_reg(last.handle), opd_reg(handle));
  unpack(c, last.width, extent, 0, WG_IMAGE_WIDEST - 1);
  unpack(c, last.height, extent, WG_IMAGE_HEIGHT, WG_IMAGE_MOST - 1);
  unpack(c, last.slices, extent, WG_IMAGE_SLICES, WG_IMAGE_MOST - 1);
  EMIT(c, "setp.eq.u32", opd_reg(good), opd_reg(kind), opd_imm(0));
  PtxLabel *bad = body_label(b);
  code_branch(c, good, true, bad);
  EMIT(c, "bra", opd_label(back));
  code_label(c, bad);
  memcheck_stop(c, NULL);
  memcheck_zero(c, in);
  EMIT(c, "bra", opd_label(after));
}

static void check(Memcheck *m, uint32_t i, Last last) {
  Body *b = m->body;
  const PtxInstr *in = b->cfg->instrs[i];
  Place at = place_of(in);
  Code *c = body_before(b, i);
  PtxReg *bad = body_temp(b, TYPE_PRED, 0), *most = body_temp(b, TYPE_B32, 0);
  PtxLabel *slow = body_label(b), *back = body_label(b), *after = body_label(b);
  EMIT(c, "setp.ne.b64", opd_reg(bad), opd_reg(last.handle), address_of(in)->list[0]);
  EMIT(c, "sub.u32", opd_reg(most), opd_reg(last.width), opd_imm(access_bytes(in)));
  EMIT(c, "setp.gt.or.u32", opd_reg(bad), at.x, opd_reg(most), opd_reg(bad));
  if (dimensions(in) > 1)
    EMIT(c, "setp.ge.or.u32", opd_reg(bad), at.y, opd_reg(last.height), opd_reg(bad));
  if (dimensions(in) > 2 || layered(in))
    EMIT(c, "setp.ge.or.u32", opd_reg(bad), at.z, opd_reg(last.slices), opd_reg(bad));
  memcheck_guarded(c, in, bad);
  code_branch(c, bad, false, slow);
  code_label(c, back);
  code_label_first(body_after(b, i), after);
  emit_slow(m, i, last, slow, back, after);
}

void memcheck_surfaces(Memcheck *m) {
  Body *b = m->body;
  Last last = {0};
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    if (b->cfg->blocks[b->cfg->block_of[i]].rpo == IR_NONE || !is_checked(b->cfg->instrs[i]))
      continue;
    if (!last.handle) {
      last = (Last){body_reg(b, TYPE_B64), body_reg(b, TYPE_B32), body_reg(b, TYPE_B32),
                    body_reg(b, TYPE_B32)};
      Code *c = body_entry(b);
      EMIT(c, "mov.b64", opd_reg(last.handle), opd_imm(0));
      PtxReg *const words[] = {last.width, last.height, last.slices};
      for (unsigned k = 0; k < ARRAY_LEN(words); k++)
        EMIT(c, "mov.b32", opd_reg(words[k]), opd_imm(0));
    }
    check(m, i, last);
  }
}
