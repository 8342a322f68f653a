// The slow path of a group of tests: finds which of its values are exceptional, and passes them to
// the probes of probe.c.
//
// Most exceptions on this path only propagate; in a program whose data is full of NaN all do. So
// inline code decides what it can, with bits of a word: which values are exceptional at all, and
// that no exception is born from an operand that is NaN, or from an infinite operand and an
// infinite result. For the remaining questions a loop makes one call for each kind of question.
#include "tools/fpcheck/weave_slow.h"

enum { LOOP = 16 };  // questions one loop serves
typedef struct Asks {
  Ask *data;
  uint32_t len, cap;
} Asks;

// --- sites ---
// One site for each kind. Instructions of one source line share them, if they work on the same
// format: a line is what a programmer sees.
static uint32_t sites_of(FpCheck *k, uint32_t instr, unsigned format, char use, unsigned kinds) {
  Body *b = k->body;
  const PtxInstr *in = b->cfg->instrs[instr];
  Str key = {0};
  for (const PtxLoc *l = in->loc; l && l->file; l = l->inlined_at)
    str_printf(&key, "%u:%u ", l->file, l->line);
  if (!key.len) str_printf(&key, "instruction %u ", instr);
  str_printf(&key, "%u%c", format, use);
  uint32_t known = (uint32_t)(uintptr_t)strmap_get(&k->sites, key.data);
  if (!known) {
    known = b->program->sites.len + 1;
    strmap_put(&k->sites, arena_strdup(&b->cfg->arena, key.data), (void *)(uintptr_t)known);
    if (use == 'r' && k->follow) program_site(b->program, b, in);
    for (unsigned rest = kinds; rest; rest &= rest - 1) program_site(b->program, b, in);
  }
  str_free(&key);
  return known - 1;
}

// --- values ---
static uint64_t constant_bits(const PtxOperand *o, FpType t) {
  if (o->kind != OPD_FLOAT) return (uint64_t)o->imm;
  if (t.format == WG_FP_F64 || !o->is_double) return (uint64_t)o->imm;
  double d;
  float f;
  memcpy(&d, &o->imm, sizeof d);
  f = (float)d;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

// One value of an operand. half: which of a pair, 0 the lower
typedef struct Part {
  const PtxOperand *operand;
  FpType type;
  unsigned half;
} Part;
// Its bits, in a temporary of 4 or 8 bytes.
static PtxOperand bits_of(FpCheck *k, Code *c, Part part, bool wide, unsigned temp) {
  const PtxOperand *o = part.operand;
  FpType t = part.type;
  unsigned half = part.half;
  PtxOperand to32 = temp32(k, temp), to64 = temp64(k, temp);
  if (o->kind != OPD_REG) {
    uint64_t bits = constant_bits(o, t);
    if (t.packed)
      bits = t.format == WG_FP_F32 ? bits >> 32 * half & 0xffffffff : bits >> 16 * half & 0xffff;
    if (wide) EMIT(c, "mov.u64", to64, opd_imm((int64_t)bits));
    else EMIT(c, "mov.u32", to32, opd_imm((int64_t)(uint32_t)bits));
    return wide ? to64 : to32;
  }
  if (t.format == WG_FP_F64) {
    EMIT(c, "mov.b64", to64, *o);
    return to64;
  }
  if (t.format == WG_FP_F32 && t.packed) {
    PtxOperand other = temp32(k, 5);
    EMIT(c, "mov.b64",
         opd_vector(c, half ? (PtxOperand[]){other, to32} : (PtxOperand[]){to32, other}, 2), *o);
  } else if (t.format == WG_FP_F32) EMIT(c, "mov.b32", to32, *o);
  else if (t.packed) {
    EMIT(c, "mov.b32", to32, *o);
    if (half) EMIT(c, "shr.u32", to32, to32, opd_imm(16));
    else EMIT(c, "and.b32", to32, to32, opd_imm(0xffff));
  } else to32 = fp_widen16(k, c, *o, temp);
  if (!wide) return to32;
  EMIT(c, "cvt.u64.u32", to64, to32);
  return to64;
}

// --- questions ---
static bool is_wide(const FpOperation *o) {
  bool wide = o->result.format == WG_FP_F64;
  for (unsigned i = 0; i < o->n; i++) wide |= o->types[i].format == WG_FP_F64;
  return wide;
}

// The operands of one half. In cvt.f16x2.f32 each half has an operand of its own.
static unsigned operands_of(const FpOperation *o, unsigned half, const PtxOperand *in[FP_OPERANDS],
                            FpType types[FP_OPERANDS]) {
  memset(types, 0, sizeof *types * FP_OPERANDS);
  for (unsigned i = 0; i < o->n; i++) {
    in[i] = o->operands[i];
    types[i] = o->types[i];
  }
  if (!o->halves_from_two) return o->n;
  in[0] = o->operands[half ? 0 : 1];
  types[1].format = 0;
  return 1;
}

static const PtxInstr *input_of(const FpCheck *k, const FpItem *item, unsigned operand) {
  const PtxInstr *def = fp_def(k->flow, item->operation.operands[operand]);
  return def && item->operation.types[operand].format && fp_is_input(k->body->func, def) ? def
                                                                                         : NULL;
}

// x + x reads one value.
static bool is_repeated(const FpOperation *o, unsigned operand) {
  for (unsigned i = 0; i < operand; i++)
    if (o->operands[i]->kind == OPD_REG && o->operands[i]->reg == o->operands[operand]->reg &&
        o->types[i].format == o->types[operand].format)
      return true;
  return false;
}

static void ask_inputs(FpCheck *k, const FpItem *item, Asks *asks) {
  for (unsigned i = 0; i < item->operation.n; i++) {
    if (!input_of(k, item, i) || is_repeated(&item->operation, i)) continue;
    FpType t = item->operation.types[i];
    uint32_t site = sites_of(k, k->flow->defs->instr[item->operation.operands[i]->reg->id],
                             t.format, 'i', 1);
    for (unsigned half = 0; half <= t.packed; half++)
      vec_push(asks,
               (Ask){.item = item, .kind = ASK_INPUT, .site = site, .half = half, .operand = i});
  }
}

static void ask_item(FpCheck *k, const FpItem *item, Asks *asks) {
  const FpOperation *o = &item->operation;
  FpType t = o->types[0];
  Ask a = {.item = item};
  unsigned halves = 1;
  switch (item->kind) {
    case FP_ITEM_FLOW: return;
    case FP_ITEM_SINK:
      a.kind = ASK_SINK;
      a.site = sites_of(k, item->instr, t.format, 'k', 1);
      break;
    case FP_ITEM_COMPARE:
      a.kind = ASK_COMPARE;
      a.site = sites_of(k, item->instr, t.format, 'c', 1);
      break;
    case FP_ITEM_STORE:
      a.kind = ASK_STORED;
      a.site = sites_of(k, item->instr, t.format, 'm', 1);
      halves += t.packed;
      break;
    case FP_ITEM_RESULT:
      if (o->op == WG_FP_SATURATE) {
        a.kind = ASK_RESULT32;
        a.site = sites_of(k, item->instr, WG_FP_NONE, 's', 1);
        halves = fp_parts(o);
        break;
      }
      a.kind = is_wide(o) ? ASK_RESULT64 : ASK_RESULT32;
      a.site = sites_of(k, item->instr, o->result.format, 'r', k->kinds);
      halves += o->result.packed;
      break;
  }
  for (a.half = 0; a.half < halves; a.half++) vec_push(asks, a);
  if (item->kind != FP_ITEM_SINK) ask_inputs(k, item, asks);
}

// --- bits of the word ---
static bool is_plain(FpType t) {
  return !t.packed && (t.format == WG_FP_F32 || t.format == WG_FP_F64);
}

// A result is no new exception if an operand was a NaN already, or both an operand and the result
// are infinite: emits one predicate for each case. false: a format other than f32 and f64, for
// which a call decides.
static bool find_carried(FpCheck *k, Code *c, const FpItem *item, PtxOperand of_nan,
                         PtxOperand of_infinity) {
  const FpOperation *o = &item->operation;
  bool wide = o->result.format == WG_FP_F64, any = false;
  for (unsigned i = 0; i < o->n; i++)
    if (!is_plain(o->types[i]) || o->types[i].format != o->result.format ||
        (o->operands[i]->kind != OPD_REG && fp_operand_infinite(o->operands[i])))
      return false;
  if (!is_plain(o->result)) return false;
  // Zero times a finite number is zero; zero times NaN or infinity is NaN.
  PtxOperand sum = opd_reg(body_temp(k->body, wide ? TYPE_F64 : TYPE_F32, 0)),
             zero = {.kind = OPD_FLOAT, .is_double = wide}, r = item->result;
  for (unsigned i = 0; i < o->n; i++) {
    PtxOperand v = *o->operands[i];
    if (v.kind != OPD_REG) continue;
    if (wide && any) {
      EMIT(c, "fma.rn.f64", sum, v, zero, sum);
      EMIT(c, "setp.nan.or.f64", of_nan, v, v, of_nan);
    } else if (wide) {
      EMIT(c, "mul.rn.f64", sum, v, zero);
      EMIT(c, "setp.nan.f64", of_nan, v, v);
    } else if (any) {
      EMIT(c, "fma.rn.f32", sum, v, zero, sum);
      EMIT(c, "setp.nan.or.f32", of_nan, v, v, of_nan);
    } else {
      EMIT(c, "mul.rn.f32", sum, v, zero);
      EMIT(c, "setp.nan.f32", of_nan, v, v);
    }
    any = true;
  }
  if (!any) return false;
  if (wide) {
    EMIT(c, "setp.nan.f64", of_infinity, sum, sum);
    EMIT(c, "setp.num.and.f64", of_infinity, r, r, of_infinity);
  } else {
    EMIT(c, "setp.nan.f32", of_infinity, sum, sum);
    EMIT(c, "setp.num.and.f32", of_infinity, r, r, of_infinity);
  }
  return true;
}

static void clear_bit(FpCheck *k, Code *c, PtxReg *when, bool negated, uint32_t bit) {
  code_guard(c, when, negated);
  EMIT(c, "and.b32", opd_reg(k->asked), opd_reg(k->asked), opd_imm((int64_t)(uint32_t)~bit));
  code_guard(c, NULL, false);
}

static void clear_if_zero(FpCheck *k, Code *c, const FpOperation *o, uint32_t bit) {
  PtxOperand zero = {.kind = OPD_FLOAT, .is_double = o->result.format == WG_FP_F64},
             is_zero = temp_pred(k, 1), divisor = *o->operands[o->op == WG_FP_DIV ? 1 : 0];
  if (zero.is_double) EMIT(c, "setp.eq.f64", is_zero, divisor, zero);
  else EMIT(c, "setp.eq.f32", is_zero, divisor, zero);
  clear_bit(k, c, is_zero.reg, false, bit);
}

static void clear_if_nan(FpCheck *k, Code *c, PtxReg *r, uint32_t bit) {
  PtxOperand is_nan = temp_pred(k, 1), bits = temp32(k, 0);
  EMIT(c, "mov.b32", bits, opd_reg(r));
  EMIT(c, "and.b32", bits, bits, opd_imm(0x7fffffff));
  EMIT(c, "setp.gt.u32", is_nan, bits, opd_imm(0x7f800000));
  clear_bit(k, c, is_nan.reg, false, bit);
}

static void set_bit(FpCheck *k, Code *c, const Ask *a, uint32_t bit) {
  const FpItem *item = a->item;
  const FpOperation *o = &item->operation;
  PtxOperand of_nan = temp_pred(k, 1), of_infinity = temp_pred(k, 2);
  bool may_carry = false;
  c->near = k->body->cfg->instrs[item->instr];
  if (item->kind == FP_ITEM_RESULT && a->kind != ASK_INPUT && o->op != WG_FP_SATURATE && !k->follow)
    may_carry = find_carried(k, c, item, of_nan, of_infinity);
  k->open = false;
  if (a->kind == ASK_INPUT)
    fp_test_value(k, c, o->types[a->operand], *o->operands[a->operand], false, FP_ALWAYS);
  else if (a->kind == ASK_COMPARE)
    fp_test_nan(k, c, o->types[0], *o->operands[0], *o->operands[1], FP_ALWAYS);
  else if (item->kind == FP_ITEM_RESULT && o->op == WG_FP_SATURATE)
    fp_test_part(k, c, k->body->cfg->instrs[item->instr], o, a->half, 0);
  else if (item->kind == FP_ITEM_RESULT)
    fp_test_value(k, c, o->result, item->result, k->kinds & WG_FP_SUBNORMAL, FP_ALWAYS);
  else if (item->nan_only && is_plain(o->types[0]))
    fp_test_nan(k, c, o->types[0], *o->operands[0], *o->operands[0], FP_ALWAYS);
  else fp_test_value(k, c, o->types[0], *o->operands[0], false, FP_ALWAYS);
  k->open = false;
  code_guard(c, k->fired, false);
  EMIT(c, "or.b32", opd_reg(k->asked), opd_reg(k->asked), opd_imm((int64_t)bit));
  code_guard(c, NULL, false);
  if (may_carry) {
    clear_bit(k, c, of_nan.reg, false, bit);
    clear_bit(k, c, of_infinity.reg, false, bit);
  }
  for (unsigned i = 0; i < item->nconditions; i++)
    clear_bit(k, c, item->conditions[i].reg, !item->conditions[i].negated, bit);
  if (item->unless_zero && a->kind != ASK_INPUT) clear_if_zero(k, c, o, bit);
  for (unsigned i = 0; i < FP_UNLESS_NAN && item->unless_nan[i]; i++)
    clear_if_nan(k, c, item->unless_nan[i], bit);
}

// --- arguments of a probe: in registers of their own, for the lanes that ask ---
// Everything else is computed for all lanes: a register that only some lanes write would be live
// throughout the loop, and spilled at every call.
typedef struct Turn {
  FpCheck *k;
  Code *c;
  PtxReg *mine;
} Turn;  // mine NULL: all lanes

static PtxOperand argument(FpCheck *k, unsigned i, bool wide) {
  PtxReg **r = wide ? &k->wide_arguments[i] : &k->arguments[i];
  if (!*r) *r = body_reg(k->body, wide ? TYPE_B64 : TYPE_B32);
  return opd_reg(*r);
}

static void tell(const Turn *t, unsigned i, bool wide, PtxOperand value) {
  code_guard(t->c, t->mine, false);
  if (wide) EMIT(t->c, "mov.b64", argument(t->k, i, true), value);
  else EMIT(t->c, "mov.b32", argument(t->k, i, false), value);
  code_guard(t->c, NULL, false);
}

static uint32_t tell_result(const Turn *t, const Ask *a) {
  FpCheck *k = t->k;
  const FpItem *item = a->item;
  const FpOperation *o = &item->operation;
  if (o->op == WG_FP_SATURATE) {
    k->open = false;
    PtxOperand bits = fp_test_part(k, t->c, k->body->cfg->instrs[item->instr], o, a->half, 0);
    k->open = false;
    tell(t, 0, false, bits);
    tell(t, 1, false, bits);
    return WG_FP_WHAT(WG_FP_F32, WG_FP_F32, 0, 0, WG_FP_SATURATE, WG_FP_INF, 0);
  }
  const PtxOperand *in[FP_OPERANDS];
  FpType types[FP_OPERANDS];
  unsigned n = operands_of(o, a->half, in, types);
  bool wide = a->kind == ASK_RESULT64;
  tell(t, 0, wide, bits_of(k, t->c, (Part){&item->result, o->result, a->half}, wide, 0));
  for (unsigned i = 0; i < n; i++)
    if (types[i].format)
      tell(t, i + 1, wide, bits_of(k, t->c, (Part){in[i], types[i], a->half}, wide, 0));
  if (o->op == WG_FP_MATRIX) types[0].format = wide ? 0 : WG_FP_F32;
  return WG_FP_WHAT(o->result.format, types[0].format, types[1].format, types[2].format, o->op,
                    k->kinds, o->ftz) |
         (o->is_exponent ? WG_FP_WHAT_EXPONENT : 0) |
         (k->follow && o->op != WG_FP_MATRIX ? WG_FP_WHAT_FLOW : 0);
}

// An operand that was loaded: the program first sees it at the load.
static uint32_t tell_input(const Turn *turn, const Ask *a) {
  FpCheck *k = turn->k;
  Code *c = turn->c;
  const PtxOperand *o = a->item->operation.operands[a->operand];
  FpType t = a->item->operation.types[a->operand];
  const PtxInstr *def = input_of(k, a->item, a->operand);
  const PtxOperand *m = &def->ops[1];
  tell(turn, 0, true, bits_of(k, c, (Part){o, t, a->half}, true, 0));
  if (def->op != OP_TEX && def->op != OP_SULD && m->kind == OPD_ADDR && m->nlist == 1 &&
      m->list[0].kind == OPD_REG && def->space != SPACE_PARAM &&
      ptx_type_size(m->list[0].reg->type) == 8 && fp_is_fixed(k->flow, &m->list[0])) {
    unsigned element = 0;
    const PtxOperand *d = &def->ops[0];
    for (unsigned i = 0; d->kind == OPD_VECTOR && i < d->nlist; i++)
      if (d->list[i].kind == OPD_REG && d->list[i].reg == o->reg) element = i;
    EMIT(c, "add.u64", temp64(k, 0), m->list[0],
         opd_imm(m->imm + (int64_t)(element * ptx_type_size(o->reg->type))));
    tell(turn, 1, true, temp64(k, 0));
  }
  bool global = def->space == SPACE_GLOBAL || def->space == SPACE_GENERIC;
  return WG_FP_WHAT(t.format, 0, 0, 0, WG_FP_LOAD, 0, 0) | (global ? WG_FP_WHAT_GLOBAL : 0);
}

static void tell_address(const Turn *t, const Ask *a) {
  const FpItem *item = a->item;
  if (item->address.kind != OPD_REG) return;
  t->k->body->program->sites.data[a->site].detail = item->operation.types[0].format;
  EMIT(t->c, "add.u64", temp64(t->k, 0), item->address, opd_imm(item->offset));
  tell(t, 1, true, temp64(t->k, 0));
}

// Returns the word that describes the question.
static uint32_t tell_values(const Turn *turn, const Ask *a) {
  FpCheck *k = turn->k;
  const FpOperation *o = &a->item->operation;
  FpType t = o->types[0];
  Site *site = &k->body->program->sites.data[a->site];
  switch (a->kind) {
    case ASK_RESULT32:
    case ASK_RESULT64: return tell_result(turn, a);
    case ASK_INPUT: return tell_input(turn, a);
    case ASK_COMPARE:
      for (unsigned i = 0; i < 2; i++)
        tell(turn, i, true, bits_of(k, turn->c, (Part){o->operands[i], t, 0}, true, 0));
      return WG_FP_WHAT(0, t.format, t.format, 0, WG_FP_COMPARE, 0, 0);
    case ASK_STORED:
      tell(turn, 0, true, bits_of(k, turn->c, (Part){o->operands[0], t, a->half}, true, 0));
      tell_address(turn, a);
      site->detail = t.format;
      return WG_FP_WHAT(0, t.format, 0, 0, WG_FP_STORED, 0, 0) | (k->follow ? WG_FP_WHAT_FLOW : 0);
    default:
      tell_address(turn, a);
      site->classes |= WG_FP_SITE_SINK;
      if (!(ptx_op_classes(k->body->cfg->instrs[a->item->instr]) &
            (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC)))
        site->space = SPACE_NONE;
      return 0;
  }
}

// --- calls ---
static PtxFunc *probe(const FpCheck *k, const char *name) {
  return probe_function(k->body->program, k->body->unit, name);
}

static FpHead load_head(FpCheck *k, Code *c, uint32_t site) {
  FpHead h = {temp64(k, CHANNEL), temp32(k, LAUNCH), temp32(k, SITE)};
  record_load(c, h.channel.reg, offsetof(WgLaunch, channel));
  record_load(c, h.launch.reg, offsetof(WgLaunch, launch));
  record_site(c, h.site.reg, site);
  return h;
}

// The arguments of each kind of question: how many values, of which size.
static const struct {
  const char *probe;
  unsigned n;
  bool wide;
} kinds[ASKS] = {
    [ASK_RESULT32] = {"wg_fp_result32", 4, false}, [ASK_RESULT64] = {"wg_fp_result64", 4, true},
    [ASK_COMPARE] = {"wg_fp_compare", 2, true},    [ASK_STORED] = {"wg_fp_stored", 2, true},
    [ASK_SINK] = {"wg_fp_sink", 2, true},          [ASK_INPUT] = {"wg_fp_input", 2, true},
};

static void call(FpCheck *k, Code *c, AskKind kind, FpHead h, PtxOperand what) {
  PtxOperand args[10] = {h.channel, h.launch, h.site, what}, hot = opd_imm(0);
  unsigned n = 4;
  bool explains = kind == ASK_RESULT32 || kind == ASK_RESULT64 || kind == ASK_INPUT;
  if (k->hot >= 0 && (explains || kind == ASK_SINK)) {
    hot = temp64(k, 2);
    record_load(c, hot.reg, offsetof(WgLaunch, counters));
    EMIT(c, "add.u64", hot, hot, opd_imm(k->hot * 8));
  }
  if (kind == ASK_SINK) {
    fp_again_mark(k, c);
    PtxOperand turn = temp32(k, 0);
    record_load(c, turn.reg, offsetof(WgLaunch, flags));
    EMIT(c, "shr.u32", turn, turn, opd_imm(WG_LAUNCH_FP_TURN));
    args[3] = argument(k, 1, true);
    args[4] = hot;
    args[5] = turn;
    n = 6;
  } else
    for (unsigned i = 0; i < kinds[kind].n; i++) args[n++] = argument(k, i, kinds[kind].wide);
  if (explains) args[n++] = hot;
  code_call(c, probe(k, k->only_tells ? "wg_fp_first" : kinds[kind].probe), args, n);
}

// A result that several paths reach is tested once.
static void clear_repeated(FpCheck *k, Code *c, const Ask *asks, unsigned i) {
  uint32_t same = 0;
  PtxOperand some = temp32(k, 0), has = temp_pred(k, 1);
  if ((asks[i].item->kind != FP_ITEM_RESULT && asks[i].item->kind != FP_ITEM_SINK) ||
      asks[i].kind == ASK_INPUT)
    return;
  for (unsigned n = 0; n < i; n++)
    if (asks[n].item->instr == asks[i].item->instr && asks[n].item != asks[i].item &&
        asks[n].item->result.reg == asks[i].item->result.reg && asks[n].half == asks[i].half)
      same |= 1u << n;
  if (!same) return;
  EMIT(c, "and.b32", some, opd_reg(k->asked), opd_imm((int64_t)same));
  EMIT(c, "setp.ne.u32", has, some, opd_imm(0));
  clear_bit(k, c, has.reg, false, 1u << i);
}

static void set_bits(FpCheck *k, Code *c, const Ask *asks, unsigned n) {
  EMIT(c, "mov.u32", opd_reg(k->asked), opd_imm(0));
  for (unsigned i = 0; i < n; i++) set_bit(k, c, &asks[i], 1u << i);
  for (unsigned i = 1; i < n; i++) clear_repeated(k, c, asks, i);
}

static void ask_in_loop(FpCheck *k, Code *c, const Ask *asks, unsigned n) {
  PtxLabel *done = body_label(k->body), *loop = body_label(k->body);
  PtxOperand asked = opd_reg(k->asked), what = opd_reg(k->what), lowest = temp32(k, LOWEST),
             none = temp_pred(k, 0), mine = temp_pred(k, 1);
  AskKind kind = asks[0].kind;
  set_bits(k, c, asks, n);
  if (kind == ASK_SINK && !k->only_tells && !k->knows) fp_count_told(k, c, asks, n);
  if (n > 1) code_label(c, loop);
  EMIT(c, "setp.eq.u32", none, asked, opd_imm(0));
  code_branch(c, none.reg, false, done);
  for (unsigned i = 0; i < kinds[kind].n; i++)
    tell(&(Turn){k, c, NULL}, i, kinds[kind].wide, opd_imm(0));
  if (n == 1) {
    uint32_t word = tell_values(&(Turn){k, c, NULL}, &asks[0]);
    call(k, c, kind, load_head(k, c, asks[0].site), opd_imm((int64_t)word));
    code_label(c, done);
    return;
  }
  EMIT(c, "neg.s32", lowest, asked);
  EMIT(c, "and.b32", lowest, lowest, asked);
  EMIT(c, "xor.b32", asked, asked, lowest);
  FpHead h = load_head(k, c, 0);
  EMIT(c, "mov.u32", what, opd_imm(0));
  for (unsigned i = 0; i < n; i++) {
    EMIT(c, "setp.eq.u32", mine, lowest, opd_imm(1 << i));
    uint32_t word = tell_values(&(Turn){k, c, mine.reg}, &asks[i]);
    code_guard(c, mine.reg, false);
    EMIT(c, "mov.u32", what, opd_imm((int64_t)word));
    EMIT(c, "add.u32", h.site, h.site, opd_imm((int64_t)asks[i].site));
    code_guard(c, NULL, false);
  }
  call(k, c, kind, h, what);
  EMIT(c, "bra", opd_label(loop));
  code_label(c, done);
}

// --fp-flow: every operand that may be exceptional, with the result if there is one of the same
// shape.
static void look_at_flow(FpCheck *k, Code *c, const FpItem *item) {
  const FpOperation *o = &item->operation;
  PtxLabel *over = body_label(k->body);
  uint32_t site = sites_of(k, item->instr, o->types[0].format, 'v', 1);
  for (unsigned i = 0; i < item->nconditions; i++)
    code_branch(c, item->conditions[i].reg, !item->conditions[i].negated, over);
  for (unsigned n = 0; n < o->n; n++)
    for (unsigned half = 0; half <= o->types[n].packed; half++) {
      bool has_result = o->result.format && o->result.packed == o->types[n].packed;
      PtxOperand value = bits_of(k, c, (Part){o->operands[n], o->types[n], half}, true, 0),
                 result = opd_imm(0);
      if (has_result) result = bits_of(k, c, (Part){&item->result, o->result, half}, true, 1);
      FpHead h = load_head(k, c, site);
      uint32_t what = WG_FP_WHAT(has_result ? o->result.format : 0, o->types[n].format, 0, 0, o->op,
                                 0, 0);
      const PtxOperand args[] = {h.channel, h.launch, h.site, opd_imm(what), value, result};
      code_call(c, probe(k, "wg_fp_flow"), args, ARRAY_LEN(args));
    }
  code_label(c, over);
}

static void begin(FpCheck *k) {
  k->gathers = false;  // each value is tested by itself
  if (!k->asked) {
    k->asked = body_reg(k->body, TYPE_B32);
    k->what = body_reg(k->body, TYPE_B32);
  }
}

// Whether all lanes that get here have an exception: there is only this value's test.
static bool is_certain(const FpItem *items, uint32_t n) {
  return n == 1 && is_plain(items->operation.types[0]) && !items->nconditions &&
         !items->unless_zero && !items->unless_nan[0];
}

bool fp_look_quietly(FpCheck *k, Code *c, const FpItem *items, uint32_t n, PtxLabel *resume,
                     FpQuiet *q) {
  Asks asks = {0};
  bool gathers = k->gathers;
  for (uint32_t i = 0; i < n; i++) ask_item(k, &items[i], &asks);
  bool can = asks.len && asks.len <= LOOP && fp_counts_quiet(k, asks.data, asks.len);
  *q = (FpQuiet){.asks = ARENA_ARRAY(&k->body->cfg->arena, Ask, asks.len),
                 .n = asks.len,
                 .certain = is_certain(items, n)};
  if (asks.len) memcpy(q->asks, asks.data, asks.len * sizeof *q->asks);
  if (can) {
    begin(k);
    if (!q->certain) set_bits(k, c, q->asks, q->n);
    fp_count_quiet(k, c, q, resume);
  }
  vec_free(&asks);
  k->gathers = gathers;
  return can;
}

void fp_look_closely(FpCheck *k, Code *c, const FpItem *items, uint32_t n) {
  Asks asks = {0}, some = {0};
  bool gathers = k->gathers;
  begin(k);
  for (uint32_t i = 0; i < n; i++) {
    ask_item(k, &items[i], &asks);
    if (items[i].kind == FP_ITEM_FLOW) look_at_flow(k, c, &items[i]);
  }
  for (unsigned kind = 0; kind < ASKS; kind++) {
    some.len = 0;
    for (uint32_t i = 0; i < asks.len; i++)
      if (asks.data[i].kind == kind) vec_push(&some, asks.data[i]);
    for (uint32_t i = 0; i < some.len; i += LOOP)
      ask_in_loop(k, c, some.data + i, MIN(some.len - i, (uint32_t)LOOP));
  }
  vec_free(&asks);
  vec_free(&some);
  k->gathers = gathers;
}
