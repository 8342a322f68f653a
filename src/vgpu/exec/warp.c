// Warp collectives: shfl, vote, match, redux, elect, activemask; with .sync and in the old form
// without.
//
// The member mask is a register: lanes may pass different masks (groups of a warp), so each lane's
// result is computed over its own mask. vgpu_warp_converged sees to it that all named lanes are
// here.
#include "vgpu/warp.h"

// Waits until every lane named by a lane's mask is here. in->imm: mask slot + 1, or 0 for the old
// form (all active lanes).
static bool gather_members(Warp *w, const Inst *in, uint32_t *mask) {
  if (!in->imm) {
    for (int i = 0; i < LANES; i++) mask[i] = w->exec;
    return true;
  }
  const uint32_t *m = REG(w, uint32_t, in->imm - 1);
  uint32_t needed = 0;
  FOR_LANES(i, w->exec) needed |= m[i];
  if (!vgpu_warp_converged(w, in, needed)) return false;
  memcpy(mask, m, LANES * sizeof *mask);
  return true;
}

static bool bind_mask(Binder *b, const PtxOperand *o, uint64_t *imm) {
  *imm = (uint64_t)bind_src(b, o, TYPE_B32) + 1;
  return true;
}

// --- shfl{.sync}.mode.b32 d|p, a, b, c{, mask} ---
enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };

static const Inst *exec_shfl(Warp *w, const Inst *in) {
  uint32_t mask[LANES], result[LANES], inside = 0;
  if (!gather_members(w, in, mask)) return NULL;
  const uint32_t *a = REG(w, uint32_t, in->a), *b = REG(w, uint32_t, in->b),
                 *c = REG(w, uint32_t, in->c);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint32_t bval = b[lane] & 31, cval = c[lane] & 31, segment = c[lane] >> 8 & 31;
    uint32_t max_lane = (lane & segment) | (cval & ~segment), min_lane = lane & segment;
    uint32_t j;
    bool ok;
    switch (in->flag[0]) {
      case SHFL_UP:
        j = lane - bval;
        ok = (int32_t)j >= (int32_t)max_lane;
        break;
      case SHFL_DOWN:
        j = lane + bval;
        ok = j <= max_lane;
        break;
      case SHFL_BFLY:
        j = lane ^ bval;
        ok = j <= max_lane;
        break;
      default:
        j = min_lane | (bval & ~segment);
        ok = j <= max_lane;
        break;
    }
    if (!ok) j = lane;
    // a lane that has ended gives 0, as on an H200; the manual says that the value is undefined
    result[lane] = w->live >> (j & 31) & 1 ? a[j & 31] : 0;
    inside |= (uint32_t)ok << lane;
  }
  ELEMENTWISE(w, uint32_t, in->d, i, result[i]);
  if (in->slots) pred_write(w, in->slots[0], w->exec, inside);
  return in + 1;
}

// The destination may be "d", "d|p" or "_|p".
static void bind_pair(Binder *b, const PtxOperand *o, PtxType t, uint32_t *d, uint32_t **p) {
  *p = NULL;
  if (o->kind != OPD_PAIR) {
    *d = bind_dst(b, o, t);
    return;
  }
  *d = bind_dst(b, &o->list[0], t);
  if (o->list[1].kind == OPD_SINK) return;
  *p = bind_alloc(b, sizeof **p);
  **p = bind_dst(b, &o->list[1], TYPE_PRED);
}

static bool bind_shfl(Binder *b) {
  const PtxInstr *in = b->in;
  bool sync = ptx_has(in, MOD_SYNC);
  uint32_t d, *p, a = bind_src(b, &in->ops[1], TYPE_B32), s = bind_src(b, &in->ops[2], TYPE_B32),
                  c = bind_src(b, &in->ops[3], TYPE_B32);
  uint64_t mask = 0;
  if (sync) bind_mask(b, &in->ops[4], &mask);
  bind_pair(b, &in->ops[0], TYPE_B32, &d, &p);
  Inst *i = bind_emit(b, exec_shfl);
  i->d = d;
  i->a = a;
  i->b = s;
  i->c = c;
  i->imm = mask;
  i->slots = p;
  i->flag[0] = ptx_has(in, MOD_UP)     ? SHFL_UP
               : ptx_has(in, MOD_DOWN) ? SHFL_DOWN
               : ptx_has(in, MOD_BFLY) ? SHFL_BFLY
                                       : SHFL_IDX;
  return true;
}

// --- vote ---
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static const Inst *exec_vote(Warp *w, const Inst *in) {
  uint32_t mask[LANES];
  if (!gather_members(w, in, mask)) return NULL;
  uint32_t p = PRED(w, in->a) ^ (in->flag[1] ? FULL_MASK : 0), result = 0, here = w->exec;
  if (in->flag[0] == VOTE_BALLOT) {
    ELEMENTWISE(w, uint32_t, in->d, i, p & mask[i] & here);
    return in + 1;
  }
  FOR_LANES(i, w->exec) {
    uint32_t m = mask[i] & here, yes = p & m;
    bool v = in->flag[0] == VOTE_ALL   ? yes == m
             : in->flag[0] == VOTE_ANY ? yes != 0
                                       : yes == 0 || yes == m;
    result |= (uint32_t)v << i;
  }
  pred_write(w, in->d, w->exec, result);
  return in + 1;
}

static bool bind_vote(Binder *b) {
  const PtxInstr *in = b->in;
  bool ballot = ptx_has(in, MOD_BALLOT);
  uint32_t negate, a = bind_pred(b, &in->ops[1], &negate);
  uint64_t mask = 0;
  if (ptx_has(in, MOD_SYNC)) bind_mask(b, &in->ops[2], &mask);
  uint32_t d = bind_dst(b, &in->ops[0], ballot ? TYPE_B32 : TYPE_PRED);
  Inst *i = bind_emit(b, exec_vote);
  i->d = d;
  i->a = a;
  i->imm = mask;
  i->flag[0] = ballot                 ? VOTE_BALLOT
               : ptx_has(in, MOD_ALL) ? VOTE_ALL
               : ptx_has(in, MOD_ANY) ? VOTE_ANY
                                      : VOTE_UNI;
  i->flag[1] = negate != 0;
  return true;
}

// --- match.any d, a, mask;  match.all d|p, a, mask ---
static const Inst *exec_match(Warp *w, const Inst *in) {
  uint32_t mask[LANES], result[LANES] = {0}, all = 0;
  if (!gather_members(w, in, mask)) return NULL;
  bool wide = in->flag[1] == 8;
  const uint32_t *a4 = REG(w, uint32_t, in->a);
  const uint64_t *a8 = REG(w, uint64_t, in->a);
  FOR_LANES(i, w->exec) {
    uint32_t same = 0, m = mask[i] & w->exec;
    FOR_LANES(j, m) same |= (uint32_t)(wide ? a8[i] == a8[j] : a4[i] == a4[j]) << j;
    if (in->flag[0]) {  // match.all
      bool yes = same == m;
      all |= (uint32_t)yes << i;
      result[i] = yes ? m : 0;
    } else result[i] = same;
  }
  ELEMENTWISE(w, uint32_t, in->d, i, result[i]);
  if (in->slots) pred_write(w, in->slots[0], w->exec, all);
  return in + 1;
}

static bool bind_match(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = in->types[0];
  uint32_t d, *p, a = bind_src(b, &in->ops[1], t);
  uint64_t mask;
  bind_mask(b, &in->ops[2], &mask);
  bind_pair(b, &in->ops[0], TYPE_B32, &d, &p);
  Inst *i = bind_emit(b, exec_match);
  i->d = d;
  i->a = a;
  i->imm = mask;
  i->slots = p;
  i->flag[0] = ptx_has(in, MOD_ALL);
  i->flag[1] = (uint8_t)ptx_type_size(t);
  return true;
}

// --- redux.sync ---
enum { RX_ADD, RX_MIN, RX_MAX, RX_AND, RX_OR, RX_XOR };

static uint32_t float_extreme(uint32_t x, uint32_t y, bool max, bool absolute, bool nan) {
  uint32_t ax = x & 0x7fffffff, ay = y & 0x7fffffff;
  if (ax > 0x7f800000 || ay > 0x7f800000) {
    if (nan || (ax > 0x7f800000 && ay > 0x7f800000)) return 0x7fffffff;
    return ax > 0x7f800000 ? (absolute ? ay : y) : (absolute ? ax : x);
  }
  if (absolute) {
    x = ax;
    y = ay;
  }
  // order floats as integers: -0 below +0
  int32_t ox = (int32_t)(x ^ (uint32_t)((int32_t)x >> 31) >> 1),
          oy = (int32_t)(y ^ (uint32_t)((int32_t)y >> 31) >> 1);
  return (max ? ox > oy : ox < oy) ? x : y;
}

static uint32_t reduce_step(const Inst *in, uint32_t x, uint32_t y) {
  bool is_signed = in->flag[1] == 1, is_float = in->flag[1] == 2;
  switch (in->flag[0]) {
    case RX_ADD: return x + y;
    case RX_AND: return x & y;
    case RX_OR: return x | y;
    case RX_XOR: return x ^ y;
    default: break;
  }
  bool max = in->flag[0] == RX_MAX;
  if (is_float) return float_extreme(x, y, max, in->flag[2] & 1, in->flag[2] & 2);
  bool greater = is_signed ? (int32_t)x > (int32_t)y : x > y;
  return greater == max ? x : y;
}

static const Inst *exec_redux(Warp *w, const Inst *in) {
  uint32_t mask[LANES], result[LANES] = {0};
  if (!gather_members(w, in, mask)) return NULL;
  const uint32_t *a = REG(w, uint32_t, in->a);
  FOR_LANES(i, w->exec) {
    uint32_t m = mask[i] & w->exec;
    if (!m) continue;
    uint32_t r = a[__builtin_ctz(m)];
    if (in->flag[1] == 2 && !(m & (m - 1))) r = float_extreme(r, r, true, in->flag[2] & 1, true);
    FOR_LANES(j, m & (m - 1)) r = reduce_step(in, r, a[j]);
    result[i] = r;
  }
  ELEMENTWISE(w, uint32_t, in->d, i, result[i]);
  return in + 1;
}

static bool bind_redux(Binder *b) {
  const PtxInstr *in = b->in;
  PtxType t = in->types[0];
  uint32_t d = bind_dst(b, &in->ops[0], t), a = bind_src(b, &in->ops[1], t);
  uint64_t mask;
  bind_mask(b, &in->ops[2], &mask);
  Inst *i = bind_emit(b, exec_redux);
  i->d = d;
  i->a = a;
  i->imm = mask;
  i->flag[0] = ptx_has(in, MOD_ADD)   ? RX_ADD
               : ptx_has(in, MOD_MIN) ? RX_MIN
               : ptx_has(in, MOD_MAX) ? RX_MAX
               : ptx_has(in, MOD_AND) ? RX_AND
               : ptx_has(in, MOD_OR)  ? RX_OR
                                      : RX_XOR;
  i->flag[1] = ptx_type_kind(t) == KIND_FLOAT ? 2 : ptx_type_kind(t) == KIND_SIGNED;
  i->flag[2] = (uint8_t)(ptx_has(in, MOD_ABS) | ptx_has(in, MOD_NAN) << 1);
  return true;
}

// --- elect.sync d|p, mask: the lowest lane of the mask ---
static const Inst *exec_elect(Warp *w, const Inst *in) {
  uint32_t mask[LANES], chosen = 0;
  if (!gather_members(w, in, mask)) return NULL;
  FOR_LANES(i, w->exec) {
    uint32_t m = mask[i] & w->exec;
    mask[i] = m ? (uint32_t)__builtin_ctz(m) : 0;
    chosen |= (uint32_t)(m && mask[i] == i) << i;
  }
  ELEMENTWISE(w, uint32_t, in->d, i, mask[i]);
  if (in->slots) pred_write(w, in->slots[0], w->exec, chosen);
  return in + 1;
}

static bool bind_elect(Binder *b) {
  uint32_t d, *p;
  uint64_t mask;
  bind_mask(b, &b->in->ops[1], &mask);
  bind_pair(b, &b->in->ops[0], TYPE_B32, &d, &p);
  Inst *i = bind_emit(b, exec_elect);
  i->d = d;
  i->imm = mask;
  i->slots = p;
  return true;
}

static const Inst *exec_activemask(Warp *w, const Inst *in) {
  uint32_t here = w->exec;  // lanes whose guard is false do not count
  ELEMENTWISE(w, uint32_t, in->d, i, here);
  return in + 1;
}

bool VGPU_NAME(vgpu_bind_warp)(Binder *b) {
  switch (b->in->op) {
    case OP_SHFL: return bind_shfl(b);
    case OP_VOTE: return bind_vote(b);
    case OP_MATCH: return bind_match(b);
    case OP_REDUX: return bind_redux(b);
    case OP_ELECT: return bind_elect(b);
    case OP_ACTIVEMASK: {
      uint32_t d = bind_dst(b, &b->in->ops[0], TYPE_B32);
      bind_emit(b, exec_activemask)->d = d;
      return true;
    }
    default: return bind_unsupported(b, "not executed by the virtual device");
  }
}
