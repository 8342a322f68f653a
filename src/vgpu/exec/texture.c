// tex and tld4: operands to requests, lane by lane; results to registers.
#include "vgpu/exec/texture.h"

#include "vgpu/exec/half.h"

typedef struct TexDesc {
  TexGeometry geometry;
  bool simple;  // nothing but coordinates, 32-bit results: see exec_tex_simple
  bool gather, integer, has_lod, integer_lod, has_gradient;
  uint8_t channel;  // of tld4
  uint32_t handle;  // 64-bit slot
  uint32_t layer, at[3], lod, dx[3], dy[3];
  uint32_t offset[3];
  bool has_offset;
  PtxType type;          // of the result
  uint8_t count, width;  // result registers
  uint32_t result[4];    // UINT32_MAX: "_"
  uint32_t resident;     // predicate slot + 1
} TexDesc;

static void write_result(Warp *w, const TexDesc *d, unsigned lane, const uint32_t v[4]) {
  for (unsigned e = 0; e < d->count; e++) {
    if (d->result[e] == UINT32_MAX) continue;
    switch (d->type) {
      case TYPE_F16X2:
        REG(w, uint32_t, d->result[e])
        [lane] = half_from_float(half_float_from_bits(v[2 * e])) |
                 (uint32_t)half_from_float(half_float_from_bits(v[2 * e + 1])) << 16;
        break;
      case TYPE_F16:
        REG(w, uint16_t, d->result[e])[lane] = half_from_float(half_float_from_bits(v[e]));
        break;
      default: REG(w, uint32_t, d->result[e])[lane] = v[e]; break;
    }
  }
}

static const Inst *exec_tex(Warp *w, const Inst *in) {
  const TexDesc *d = in->ptr;
  const uint64_t *handle = REG(w, uint64_t, d->handle);
  const VgpuTexture *t = NULL;
  uint64_t known = 0;
  unsigned dims = geometry_dims(d->geometry);
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    if (!t || handle[l] != known) {
      known = handle[l];
      t = vgpu_texture_get(texture_handle(known));
      if (!t)
        return vgpu_fault(
            w, in, VGPU_ILLEGAL_ADDRESS, l, known,
            "0x%llx is no texture (never created, destroyed, or a reference bound to nothing)",
            (unsigned long long)known);
    }
    TexRequest q = {
        .geometry = d->geometry, .integer = d->integer, .has_gradient = d->has_gradient};
    for (unsigned i = 0; i < dims; i++) {
      if (d->integer) q.index[i] = REG(w, int32_t, d->at[i])[l];
      else q.at[i] = REG(w, float, d->at[i])[l];
      if (d->has_offset) q.offset[i] = REG(w, int32_t, d->offset[i])[l];
      if (d->has_gradient) {
        q.dx[i] = REG(w, float, d->dx[i])[l];
        q.dy[i] = REG(w, float, d->dy[i])[l];
      }
    }
    if (geometry_has_layers(d->geometry)) q.layer = REG(w, int32_t, d->layer)[l];
    if (d->has_lod)
      q.lod = d->integer_lod ? (float)REG(w, int32_t, d->lod)[l] : REG(w, float, d->lod)[l];
    uint32_t v[4];
    if (d->gather) VGPU_NAME(texture_gather)(t, &q, d->channel, v);
    else VGPU_NAME(texture_sample)(t, &q, v);
    write_result(w, d, l, v);
  }
  if (d->resident) pred_write(w, d->resident - 1, w->exec, FULL_MASK);
  return in + 1;
}

static const Inst *exec_tex_simple(Warp *w, const Inst *in) {
  const TexDesc *d = in->ptr;
  const uint64_t *handle = REG(w, uint64_t, d->handle);
  unsigned first = (unsigned)__builtin_ctz(w->exec);
  FOR_LANES(l, w->exec)
    if (handle[l] != handle[first]) return exec_tex(w, in);
  w->mem_pc = in;
  const VgpuTexture *t = vgpu_texture_get(texture_handle(handle[first]));
  if (!t) return exec_tex(w, in);
  uint32_t out[4][LANES];
  if (d->integer) {
    if (!VGPU_NAME(texture_fetch_warp)(t, REG(w, int32_t, d->at[0]), w->exec, out))
      return exec_tex(w, in);
  } else {
    const float *x[3];
    unsigned dims = geometry_dims(d->geometry);
    for (unsigned i = 0; i < dims; i++) x[i] = REG(w, float, d->at[i]);
    if (!VGPU_NAME(texture_sample_warp)(t, dims, x, w->exec, out)) return exec_tex(w, in);
  }
  for (unsigned e = 0; e < d->count; e++)
    if (d->result[e] != UINT32_MAX) ELEMENTWISE(w, uint32_t, d->result[e], l, out[e][l]);
  if (d->resident) pred_write(w, d->resident - 1, w->exec, FULL_MASK);
  return in + 1;
}

TexGeometry VGPU_NAME(texture_geometry)(const PtxInstr *in) {
  static const struct {
    PtxMod mod;
    TexGeometry g;
  } names[] = {{MOD_1D, GEOM_1D},      {MOD_2D, GEOM_2D},   {MOD_3D, GEOM_3D},
               {MOD_A1D, GEOM_A1D},    {MOD_A2D, GEOM_A2D}, {MOD_CUBE, GEOM_CUBE},
               {MOD_ACUBE, GEOM_ACUBE}};
  for (unsigned i = 0; i < ARRAY_LEN(names); i++)
    if (ptx_has(in, names[i].mod)) return names[i].g;
  return GEOM_NONE;
}

// Element i of a vector operand, or the operand itself.
static const PtxOperand *element(const PtxOperand *o, unsigned i) {
  if (o->kind != OPD_VECTOR) return i == 0 ? o : NULL;
  return i < o->nlist ? &o->list[i] : NULL;
}

static bool bind_vector(Binder *b, const PtxOperand *o, unsigned first, unsigned n, PtxType t,
                        uint32_t *slots) {
  for (unsigned i = 0; i < n; i++) {
    const PtxOperand *e = element(o, first + i);
    if (!e) return bind_unsupported(b, "too few coordinates");
    slots[i] = bind_src(b, e, t);
  }
  return true;
}

static bool bind_result(Binder *b, const PtxOperand *o, TexDesc *d) {
  if (o->kind == OPD_PAIR) {
    if (o->list[1].kind != OPD_SINK) d->resident = bind_dst(b, &o->list[1], TYPE_PRED) + 1;
    o = &o->list[0];
  }
  d->count = o->kind == OPD_VECTOR ? o->nlist : 1;
  if (d->count > 4 || (d->type == TYPE_F16X2 && d->count > 2))
    return bind_unsupported(b, "vector of this length");
  for (unsigned e = 0; e < d->count; e++) {
    const PtxOperand *r = element(o, e);
    d->result[e] = r->kind == OPD_SINK ? UINT32_MAX : bind_dst(b, r, d->type);
    unsigned width = r->kind == OPD_SINK ? 0 : bind_width(b, r, d->type);
    if (width && width != (d->type == TYPE_F16 ? 2 : 4))
      return bind_unsupported(b, "result registers of this size");
  }
  return true;
}

static bool is_float_scalar(const PtxOperand *o) {
  return o->kind == OPD_FLOAT || (o->kind == OPD_REG && ptx_type_kind(o->reg->type) == KIND_FLOAT);
}

static bool bind_tex(Binder *b) {
  const PtxInstr *in = b->in;
  TexDesc *d = bind_alloc(b, sizeof *d);
  d->geometry = VGPU_NAME(texture_geometry)(in);
  if (d->geometry == GEOM_NONE) return bind_unsupported(b, "multisampled textures");
  if (in->ntypes < 2 || in->nops < 2 || in->ops[1].nlist < 2)
    return bind_unsupported(b, "texture operands");
  if (in->ops[1].nlist > 2) return bind_unsupported(b, "samplers apart from their texture");
  d->type = in->types[0];
  d->gather = in->op == OP_TLD4;
  d->channel = ptx_has(in, MOD_G) ? 1 : ptx_has(in, MOD_B) ? 2 : ptx_has(in, MOD_A) ? 3 : 0;
  d->integer = in->types[1] != TYPE_F32;
  if (!bind_result(b, &in->ops[0], d)) return false;
  const PtxOperand *at = &in->ops[1].list[1];
  d->handle = bind_src(b, &in->ops[1].list[0], TYPE_B64);
  unsigned first = geometry_has_layers(d->geometry) ? 1 : 0, dims = geometry_dims(d->geometry),
           o = 2;
  if (first && !bind_vector(b, at, 0, 1, TYPE_S32, &d->layer)) return false;
  if (!bind_vector(b, at, first, dims, d->integer ? TYPE_S32 : TYPE_F32, d->at)) return false;
  if (ptx_has(in, MOD_LEVEL) && o < in->nops) {
    d->has_lod = true;
    d->integer_lod = d->integer;
    d->lod = bind_src(b, &in->ops[o++], d->integer ? TYPE_S32 : TYPE_F32);
  }
  if (ptx_has(in, MOD_GRAD) && o + 1 < in->nops) {
    d->has_gradient = true;
    if (!bind_vector(b, &in->ops[o], 0, dims, TYPE_F32, d->dx) ||
        !bind_vector(b, &in->ops[o + 1], 0, dims, TYPE_F32, d->dy))
      return false;
    o += 2;
  }
  if (o < in->nops && !is_float_scalar(&in->ops[o])) {
    d->has_offset = true;
    if (!bind_vector(b, &in->ops[o++], 0, dims, TYPE_S32, d->offset)) return false;
  }
  if (o < in->nops) return bind_unsupported(b, "depth comparison");
  d->simple = d->geometry <= GEOM_3D && !d->gather && !d->has_lod && !d->has_gradient &&
              !d->has_offset && d->type != TYPE_F16 && d->type != TYPE_F16X2 &&
              (!d->integer || d->geometry == GEOM_1D);
  bind_emit(b, d->simple ? exec_tex_simple : exec_tex)->ptr = d;
  return true;
}

bool VGPU_NAME(vgpu_bind_texture)(Binder *b) {
  switch (b->in->op) {
    case OP_TEX:
    case OP_TLD4: return bind_tex(b);
    case OP_SULD:
    case OP_SUST:
    case OP_SURED: return VGPU_NAME(bind_surface)(b);
    case OP_TXQ:
    case OP_SUQ:
    case OP_ISTYPEP: return VGPU_NAME(bind_texture_query)(b);
    default: return bind_unsupported(b, "not executed by the virtual device");
  }
}
