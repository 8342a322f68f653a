// The verifier: every instruction matches a form of the table; operands, types, labels and calls
// agree. The rules are those ptxas applies; where the manual and ptxas differ, ptxas is right.
#include "ptx/forms.h"
#include "ptx/parse.h"

typedef struct Verifier {
  const PtxModule *m;
  const PtxFunc *func;
  Error *err;
  char why[256];
} Verifier;

static bool fail(Verifier *v, const PtxInstr *in, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool fail(Verifier *v, const PtxInstr *in, const char *fmt, ...) {
  char text[700];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return ptx_error_at(v->err, v->m, in->ptx_line, in->ptx_column, "%s", text);
}

// --- modifiers ---
static bool match_modifiers(const Form *f, const PtxInstr *in) {
  bool filled[MAX_GROUPS] = {false};
  for (unsigned i = 0; i < in->nmods; i++) {
    bool is_type = ptx_mod_type(in->mods[i]) != TYPE_NONE, placed = false;
    for (unsigned g = 0; g < f->ngroups; g++) {
      if (filled[g] || f->groups[g].is_type != is_type) continue;
      if (form_set_has(f->groups[g].set, in->mods[i])) {
        filled[g] = placed = true;
        break;
      }
      if (is_type && !f->groups[g].optional) break;  // types come in order
    }
    if (!placed) return false;
  }
  for (unsigned g = 0; g < f->ngroups; g++)
    if (!filled[g] && !f->groups[g].optional) return false;
  return true;
}

// The form that has most of the instruction's modifiers, for the message when none has all of them.
static const Form *nearest_form(const PtxInstr *in, uint32_t first, uint32_t end) {
  const Form *best = form_get(first);
  unsigned most = 0;
  for (uint32_t i = first; i < end; i++) {
    const Form *f = form_get(i);
    unsigned have = 0;
    for (unsigned m = 0; m < in->nmods; m++)
      for (unsigned g = 0; g < f->ngroups; g++)
        if (form_set_has(f->groups[g].set, in->mods[m])) {
          have++;
          break;
        }
    if (have > most) {
      most = have;
      best = f;
    }
  }
  return best;
}

// --- operand types ---
static bool is_plain_int(PtxType t) { return t >= TYPE_U8 && t <= TYPE_S64; }

// May a register of type `reg` hold a value of type `t`? `relaxed`: loads, stores and conversions
// take wider ones.
static bool register_fits(PtxType reg, PtxType t, bool relaxed) {
  if (reg == t) return true;
  if (reg == TYPE_PRED || t == TYPE_PRED) return false;
  unsigned rs = ptx_type_size(reg), ts = ptx_type_size(t);
  if (rs != ts && !(relaxed && rs > ts)) return false;
  if (ptx_type_kind(reg) == KIND_BITS || ptx_type_kind(t) == KIND_BITS) return true;
  return is_plain_int(reg) && is_plain_int(t);
}

static bool takes_wider(PtxOp op) {
  switch (op) {
    case OP_LD:
    case OP_LDU:
    case OP_ST:
    case OP_CVT:
    case OP_SULD:
    case OP_SUST:
    case OP_ST_ASYNC:
    case OP_CVT_PACK:
    case OP_TEX:
    case OP_TLD4: return true;
    default: return false;
  }
}

static const char *kind_words(char kind) {
  switch (kind) {
    case 'd': return "a register to write";
    case 'D': return "a register or vector to write";
    case 'P': return "a register or a pair of registers to write";
    case 'r': return "a register";
    case 'i': return "an integer constant";
    case 'p': return "a predicate";
    case 'v': return "a register, constant or vector";
    case 'm': return "an address";
    case 'l': return "a label";
    default: return "a register or constant";
  }
}

static bool check_value(Verifier *v, const PtxOperand *o, PtxType t, bool relaxed,
                        const char **why) {
  if (o->negated && (o->kind != OPD_REG || o->reg->type != TYPE_PRED)) {
    *why = "only a predicate can be negated";
    return false;
  }
  switch (o->kind) {
    case OPD_REG:
      if (t && !(o->reg->vector && !o->selector) && !register_fits(o->reg->type, t, relaxed)) {
        snprintf(v->why, sizeof v->why, "'%s' is .%s where .%s is expected", o->reg->name,
                 ptx_type_name(o->reg->type), ptx_type_name(t));
        *why = v->why;
        return false;
      }
      return true;
    case OPD_INT:
      if (t && ptx_type_kind(t) == KIND_FLOAT && t <= TYPE_F64)
        *why = "an integer constant where a floating-point value is expected";
      else return true;
      return false;
    case OPD_FLOAT:
      if (t && (is_plain_int(t) || t == TYPE_PRED))
        *why = "a floating-point constant where an integer is expected";
      else return true;
      return false;
    default: return true;
  }
}

static bool check_elements(Verifier *v, const PtxOperand *o, PtxType t, bool relaxed, bool is_def,
                           const char **why) {
  for (unsigned i = 0; i < o->nlist; i++) {
    const PtxOperand *e = &o->list[i];
    if (e->kind == OPD_SINK) continue;
    if (is_def && e->kind != OPD_REG) {
      *why = "only registers can be written";
      return false;
    }
    if (!check_value(v, e, t, relaxed, why)) return false;
  }
  return true;
}

static bool match_operand(Verifier *v, const PtxInstr *in, const FormOperand *want,
                          const PtxOperand *o, const char **why) {
  PtxType t = TYPE_NONE;
  switch (want->want) {
    case WANT_MODIFIER: t = want->index < in->ntypes ? in->types[want->index] : TYPE_NONE; break;
    case WANT_FIXED: t = want->type; break;
    case WANT_WIDE:
      t = in->types[0] == TYPE_U16 || in->types[0] == TYPE_S16 ? TYPE_B32 : TYPE_B64;
      break;
    case WANT_ANY: break;
  }
  bool relaxed = takes_wider(in->op);
  *why = kind_words(want->kind);
  switch (want->kind) {
    case 'd':
    case 'D':
    case 'P':
      if (o->negated) return false;
      if (o->kind == OPD_SINK) return !ptx_op_is_arith(in->op) || want->kind != 'd';
      if (want->kind == 'P' && o->kind == OPD_PAIR && o->list[0].kind == OPD_VECTOR)
        return ptx_op_family(in->op) == FAMILY_TEXTURE;
      if (want->kind == 'P' && o->kind == OPD_PAIR)
        return check_elements(v, o, t, relaxed, true, why);
      if ((want->kind == 'D' || (want->kind == 'P' && ptx_op_family(in->op) == FAMILY_TEXTURE)) &&
          o->kind == OPD_VECTOR)
        return check_elements(v, o, in->op == OP_MOV ? TYPE_NONE : t, relaxed, true, why);
      return o->kind == OPD_REG && check_value(v, o, t, relaxed, why);
    case 'r': return o->kind == OPD_REG && check_value(v, o, t, relaxed, why);
    case 'i': return o->kind == OPD_INT;
    case 'p':
      return o->kind == OPD_INT ||
             (o->kind == OPD_REG && check_value(v, o, t ? t : TYPE_PRED, relaxed, why));
    case 'v':
      if (o->kind == OPD_VECTOR) return check_elements(v, o, t, relaxed, false, why);
      return (o->kind == OPD_REG || o->kind == OPD_INT || o->kind == OPD_FLOAT) &&
             check_value(v, o, t, relaxed, why);
    case 'm': return o->kind == OPD_ADDR;
    case 'l': return o->kind == OPD_LABEL;
    case 'x':
      if (o->kind == OPD_VECTOR) return check_elements(v, o, TYPE_NONE, true, false, why);
      if (o->negated && in->op != OP_VMAD) return check_value(v, o, TYPE_NONE, true, why);
      return o->kind != OPD_NONE;
    default:
      if (o->negated && t != TYPE_PRED) return false;
      if (o->kind == OPD_SREG && in->op == OP_CVT) return true;
      if (o->kind == OPD_SREG) *why = "a special register can only be read by mov and cvt";
      return (o->kind == OPD_REG || o->kind == OPD_INT || o->kind == OPD_FLOAT) &&
             check_value(v, o, t, relaxed, why);
  }
}

static bool match_operands(Verifier *v, const Form *f, const PtxInstr *in, char *why,
                           size_t why_size) {
  unsigned required = 0;
  for (unsigned i = 0; i < f->noperands; i++) required += !f->operands[i].optional;
  if (in->nops < required || in->nops > f->noperands) {
    snprintf(why, why_size,
             required == f->noperands ? "it takes %u operands, not %u"
                                      : "it takes at least %u operands, not %u",
             required, in->nops);
    if (in->nops > f->noperands)
      snprintf(why, why_size, "it takes at most %u operands, not %u", f->noperands, in->nops);
    return false;
  }
  for (unsigned i = 0; i < in->nops; i++) {
    const char *reason = "";
    if (match_operand(v, in, &f->operands[i], &in->ops[i], &reason)) continue;
    snprintf(why, why_size, "operand %u: %s%s", i + 1,
             reason == kind_words(f->operands[i].kind) ? "expected " : "", reason);
    return false;
  }
  return true;
}

// --- rules beyond the table ---
static unsigned vector_length(const PtxInstr *in) {
  return ptx_has(in, MOD_V2) ? 2 : ptx_has(in, MOD_V4) ? 4 : ptx_has(in, MOD_V8) ? 8 : 0;
}

// Loads and stores: .v4 goes with a vector of four, no .vN with a scalar.
static bool check_vector_length(Verifier *v, const PtxInstr *in) {
  if (in->op != OP_LD && in->op != OP_ST && in->op != OP_LDU && in->op != OP_SULD &&
      in->op != OP_SUST)
    return true;
  unsigned want = vector_length(in);
  const PtxOperand *o = &in->ops[in->op == OP_ST || in->op == OP_SUST ? 1 : 0];
  unsigned have = o->kind == OPD_VECTOR                ? o->nlist
                  : o->kind == OPD_REG && !o->selector ? o->reg->vector
                                                       : 0;
  if (have == want || (have == 1 && !want) || (o->kind == OPD_SINK)) return true;
  return fail(v, in, "'%s' needs %u values, not %u", ptx_op_name(in->op), want ? want : 1,
              have ? have : 1);
}

// mov.b64 d, {a, b} and mov.b64 {a, b}, d: the parts fill the whole.
static bool check_pack(Verifier *v, const PtxInstr *in) {
  if (in->op != OP_MOV || in->nops != 2 || !in->ntypes) return true;
  if (in->ops[1].kind == OPD_SREG &&
      ptx_sreg_is_vector(in->ops[1].sreg) != (in->ops[1].selector || vector_length(in)))
    return fail(v, in, "'%s' %s", ptx_sreg_name(in->ops[1].sreg),
                ptx_sreg_is_vector(in->ops[1].sreg) ? "is a vector: write .x, .y or .z after it"
                                                    : "is not a vector");
  if (vector_length(in)) return true;
  for (int i = 0; i < 2; i++) {
    const PtxOperand *o = &in->ops[i];
    if (o->kind == OPD_REG && !(o->reg->vector && !o->selector) &&
        !register_fits(o->reg->type, in->types[0], false))
      return fail(v, in, "'%s' is .%s where .%s is expected", o->reg->name,
                  ptx_type_name(o->reg->type), ptx_type_name(in->types[0]));
    if (o->kind == OPD_INT && ptx_type_kind(in->types[0]) == KIND_FLOAT)
      return fail(v, in, "an integer constant where a floating-point value is expected");
    if (o->kind == OPD_FLOAT && is_plain_int(in->types[0]))
      return fail(v, in, "a floating-point constant where an integer is expected");
    if (o->kind == OPD_LABEL) return fail(v, in, "the address of a label cannot be taken");
    if (o->kind != OPD_VECTOR) continue;
    const PtxOperand *other = &in->ops[!i];
    if (other->kind == OPD_VECTOR ||
        (other->kind == OPD_REG && other->reg->vector && !other->selector))
      continue;
    unsigned bytes = 0;
    for (unsigned k = 0; k < o->nlist; k++)
      if (o->list[k].kind == OPD_REG) bytes += ptx_type_size(o->list[k].reg->type);
      else bytes += ptx_type_size(in->types[0]) / (o->nlist ? o->nlist : 1);
    if (bytes != ptx_type_size(in->types[0]))
      return fail(v, in, "the parts are %u bytes, .%s has %u", bytes, ptx_type_name(in->types[0]),
                  ptx_type_size(in->types[0]));
  }
  return true;
}

static bool check_cvt_rounding(Verifier *v, const PtxInstr *in) {
  if (in->op != OP_CVT || in->ntypes != 2) return true;
  PtxKind to = ptx_type_kind(in->types[0]), from = ptx_type_kind(in->types[1]);
  static const PtxMod roundings[] = {MOD_RN,  MOD_RZ,  MOD_RM,  MOD_RP,  MOD_RNI,
                                     MOD_RZI, MOD_RMI, MOD_RPI, MOD_RNA, MOD_RS};
  bool rounded = false, to_float = false;
  for (size_t i = 0; i < ARRAY_LEN(roundings); i++) rounded |= ptx_has(in, roundings[i]);
  for (size_t i = 0; i < 4; i++) to_float |= ptx_has(in, roundings[i]);
  if (to != KIND_FLOAT && from == KIND_FLOAT && !rounded)
    return fail(v, in, "cvt from .%s to .%s needs a rounding modifier", ptx_type_name(in->types[1]),
                ptx_type_name(in->types[0]));
  const PtxType t = in->types[0], f = in->types[1];
  if ((t == TYPE_F16 || t == TYPE_F32 || t == TYPE_F64) &&
      (f == TYPE_F16 || f == TYPE_F32 || f == TYPE_F64)) {
    bool narrows = ptx_type_size(t) < ptx_type_size(f);
    if (narrows && !to_float)
      return fail(v, in, "cvt from .%s to .%s needs a rounding modifier such as .rn",
                  ptx_type_name(f), ptx_type_name(t));
    if (!narrows && to_float)
      return fail(v, in, "cvt from .%s to .%s is exact and takes no rounding modifier",
                  ptx_type_name(f), ptx_type_name(t));
  }
  if (to == KIND_FLOAT && from != KIND_FLOAT && !rounded)
    return fail(v, in, "cvt from .%s to .%s needs a rounding modifier", ptx_type_name(in->types[1]),
                ptx_type_name(in->types[0]));
  return true;
}

static bool check_call(Verifier *v, const PtxInstr *in) {
  const PtxFunc *callee = in->ops[1].kind == OPD_FUNC ? in->ops[1].func : NULL;
  if (in->nops > 3) {
    const PtxLabel *l = in->ops[3].label;
    if (l->kind == LABEL_CALLPROTOTYPE) callee = l->prototype;
    else if (l->kind == LABEL_CALLTARGETS) callee = l->ncall_targets ? l->call_targets[0] : NULL;
    else return fail(v, in, "'%s' is neither a call prototype nor a list of call targets", l->name);
  } else if (!callee) {
    return fail(v, in, "an indirect call needs a prototype or a list of targets");
  }
  if (!callee) return true;
  if (in->ops[0].nlist != callee->nreturns)
    return fail(v, in, "'%s' returns %u values, the call takes %u", callee->name, callee->nreturns,
                in->ops[0].nlist);
  if (in->ops[2].nlist != callee->nparams)
    return fail(v, in, "'%s' has %u parameters, the call gives %u", callee->name, callee->nparams,
                in->ops[2].nlist);
  return true;
}

static bool check_labels(Verifier *v, const PtxInstr *in) {
  if (in->op == OP_BRA && in->ops[0].label->kind != LABEL_CODE)
    return fail(v, in, "'%s' is not a place in the code", in->ops[0].label->name);
  if (in->op == OP_BRX_IDX && in->ops[1].label->kind != LABEL_BRANCHTARGETS)
    return fail(v, in, "'%s' is not a list of branch targets", in->ops[1].label->name);
  return true;
}

static bool verify_instr(Verifier *v, PtxInstr *in) {
  if (in->guard && in->guard->type != TYPE_PRED)
    return fail(v, in, "the guard '%s' is not a predicate", in->guard->name);
  uint32_t first, end;
  form_range(in->op, &first, &end);
  char why[300] = "";
  in->form = 0;
  for (uint32_t i = first; i < end && !in->form; i++) {
    const Form *f = form_get(i);
    if (match_modifiers(f, in) && match_operands(v, f, in, why, sizeof why)) in->form = (uint16_t)i;
  }
  if (!in->form) {
    Str text = {0};
    str_add(&text, ptx_op_name(in->op));
    for (unsigned i = 0; i < in->nmods; i++) str_add(&text, ptx_mod_name(in->mods[i]));
    Str near = {0};
    form_describe(nearest_form(in, first, end), &near);
    if (*why) fail(v, in, "%s: %s", text.data, why);
    else fail(v, in, "there is no '%s'; the nearest form is %s", text.data, near.data);
    str_free(&near);
    str_free(&text);
    return false;
  }
  if (in->op == OP_CALL) return check_call(v, in);
  return check_vector_length(v, in) && check_pack(v, in) && check_cvt_rounding(v, in) &&
         check_labels(v, in);
}

static bool verify_all(PtxModule *m, bool only_new, Error *err) {
  for (uint32_t i = 0; i < m->nfuncs; i++) {
    Verifier v = {m, m->funcs[i], err, ""};
    for (uint32_t k = 0; k < m->funcs[i]->nstmts; k++) {
      const PtxStmt *s = &m->funcs[i]->stmts[k];
      if (s->kind == STMT_INSTR && !(only_new && s->instr->form) && !verify_instr(&v, s->instr))
        return false;
    }
  }
  return true;
}

bool ptx_verify(PtxModule *m, Error *err) { return verify_all(m, false, err); }
bool ptx_verify_new(PtxModule *m, Error *err) { return verify_all(m, true, err); }
