// shfl and vote of a compiled function. All 32 lanes stand here, so nobody is waited for and the
// mask of members decides nothing but whose votes count. Only a vote without members is made by
// some lanes alone.
#include "vgpu/region/region.h"

// A number that is known now.
static bool is_known(const Region *r, const PtxOperand *o, uint32_t *value) {
  if (o->kind == OPD_REG && !o->selector && r->constant[o->reg->id])
    o = &r->constant[o->reg->id]->ops[1];
  *value = (uint32_t)o->imm;
  return o->kind == OPD_INT && !o->negated;
}

static bool is_word(const Region *r, const PtxOperand *o, unsigned bits) {
  return o->kind == OPD_REG && r->kept[o->reg->id] && !o->selector && region_bits(o->reg) == bits;
}

// d, or d|p: both registers of the compiled code, or nothing.
static bool results_fit(const Region *r, const PtxOperand *o) {
  if (o->kind != OPD_PAIR) return is_word(r, o, 32);
  return o->nlist == 2 && is_word(r, &o->list[0], 32) &&
         (o->list[1].kind == OPD_SINK || is_word(r, &o->list[1], 1));
}

static bool all_vote(const Region *r, const PtxInstr *in) {
  uint32_t mask = FULL_MASK;
  return !ptx_has(in, MOD_SYNC) || (is_known(r, &in->ops[2], &mask) && mask == FULL_MASK);
}

Shape region_warp_shape(const Region *r, const PtxInstr *in) {
  uint32_t value;
  if (in->op == OP_SHFL && results_fit(r, &in->ops[0]) && is_word(r, &in->ops[1], 32) &&
      is_known(r, &in->ops[2], &value) && is_known(r, &in->ops[3], &value))
    return SHAPE_SHUFFLE;
  if (in->op == OP_VOTE && all_vote(r, in) && is_word(r, &in->ops[1], 1) &&
      is_word(r, &in->ops[0], ptx_has(in, MOD_BALLOT) ? 32 : 1))
    return SHAPE_VOTE;
  return SHAPE_UNKNOWN;
}

// The lane from which `lane` takes its value (exec/warp.c: exec_shfl); *inside: there is one.
static uint32_t source_lane(const PtxInstr *in, uint32_t lane, uint32_t b, uint32_t c,
                            bool *inside) {
  uint32_t by = b & 31, segment = c >> 8 & 31, from;
  uint32_t most = (lane & segment) | (c & 31 & ~segment);
  if (ptx_has(in, MOD_UP)) {
    from = lane - by;
    *inside = (int32_t)from >= (int32_t)most;
  } else {
    from = ptx_has(in, MOD_DOWN)   ? lane + by
           : ptx_has(in, MOD_BFLY) ? lane ^ by
                                   : (lane & segment) | (by & ~segment);
    *inside = from <= most;
  }
  return *inside ? from & 31 : lane;
}

static void shuffle(Region *r, const PtxInstr *in) {
  uint32_t b, c, insides = 0;
  is_known(r, &in->ops[2], &b);
  is_known(r, &in->ops[3], &c);
  LaneValue a = region_read(r, in->ops[1].reg, false);
  Name all = region_vector(r, &a);
  Str list = {0};
  for (uint32_t lane = 0; lane < LANES; lane++) {
    bool inside;
    str_printf(&list, "%si32 %u", lane ? ", " : "", source_lane(in, lane, b, c, &inside));
    insides |= (uint32_t)inside << lane;
  }
  Name v = region_emit(r, "shufflevector <32 x i32> %s, <32 x i32> poison, <32 x i32> <%s>",
                       all.text, list.data);
  str_free(&list);
  const PtxOperand *to = &in->ops[0];
  region_write(r, to->kind == OPD_PAIR ? to->list[0].reg : to->reg,
               region_value(FORM_VECTOR, 32, v));
  if (to->kind != OPD_PAIR || to->list[1].kind == OPD_SINK) return;
  Name p = region_emit(r, "bitcast i32 %d to <32 x i1>", (int32_t)insides);
  region_write(r, to->list[1].reg, region_value(FORM_VECTOR, 1, p));
}

static void vote(Region *r, const PtxInstr *in) {
  LaneValue p = region_operand(r, &in->ops[1], TYPE_PRED, false);
  Name votes = p.form == FORM_SAME ? region_emit(r, "sext i1 %s to i32", p.base.text)
                                   : region_emit(r, "bitcast <32 x i1> %s to i32", p.base.text);
  const PtxReg *to = in->ops[0].reg;
  const char *voters = r->masked ? r->lanes_now.text : "-1";
  if (r->masked) votes = region_emit(r, "and i32 %s, %s", votes.text, voters);
  if (ptx_has(in, MOD_BALLOT)) {
    region_write(r, to, region_value(FORM_SAME, 32, votes));
    return;
  }
  Name none = region_emit(r, "icmp eq i32 %s, 0", votes.text), result;
  Name all = region_emit(r, "icmp eq i32 %s, %s", votes.text, voters);
  if (ptx_has(in, MOD_ALL)) result = all;
  else if (ptx_has(in, MOD_ANY)) result = region_emit(r, "xor i1 %s, true", none.text);
  else result = region_emit(r, "or i1 %s, %s", none.text, all.text);
  region_write(r, to, region_value(FORM_SAME, 1, result));
}

void region_warp(Region *r, const PtxInstr *in, Shape s) {
  if (s == SHAPE_SHUFFLE) shuffle(r, in);
  else vote(r, in);
}
