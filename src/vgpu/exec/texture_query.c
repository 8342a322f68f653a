// txq, suq, istypep: properties of a texture or surface.
#include "vgpu/exec/texture.h"

typedef struct QueryDesc {
  uint32_t handle, lod;
  bool has_lod;
  PtxMod what;
  PtxType kind;
} QueryDesc;

static const PtxMod queries[] = {MOD_WIDTH,         MOD_HEIGHT,
                                 MOD_DEPTH,         MOD_CHANNEL_DATA_TYPE,
                                 MOD_CHANNEL_ORDER, MOD_NORMALIZED_COORDS,
                                 MOD_ARRAY_SIZE,    MOD_NUM_MIPMAP_LEVELS,
                                 MOD_NUM_SAMPLES,   MOD_MEMORY_LAYOUT,
                                 MOD_FILTER_MODE,   MOD_FORCE_UNNORMALIZED,
                                 MOD_ADDR_MODE_0,   MOD_ADDR_MODE_1,
                                 MOD_ADDR_MODE_2};

// Enumerations of the manual: channel types and orders have OpenCL's numbers.
static uint32_t channel_type(const VgpuTexture *t, VgpuTexel x) {
  switch (x) {
    case TEXEL_S8: return t->normalized_float ? 0x10d0 : 0x10d7;
    case TEXEL_S16: return t->normalized_float ? 0x10d1 : 0x10d8;
    case TEXEL_S32: return 0x10d9;
    case TEXEL_U8: return t->normalized_float ? 0x10d2 : 0x10da;
    case TEXEL_U16: return t->normalized_float ? 0x10d3 : 0x10db;
    case TEXEL_U32: return 0x10dc;
    case TEXEL_F16: return 0x10dd;
    default: return 0x10de;
  }
}

static uint32_t address_mode(VgpuAddressMode m) {
  return m == TEX_WRAP ? 0 : m == TEX_MIRROR ? 1 : m == TEX_CLAMP ? 3 : 4;
}

static uint32_t answer(const VgpuTexture *t, const VgpuArray *a, PtxMod what) {
  switch (what) {
    case MOD_WIDTH: return a->width;
    case MOD_HEIGHT: return a->height;
    case MOD_DEPTH: return a->depth;
    case MOD_CHANNEL_DATA_TYPE: return channel_type(t, a->texel);
    case MOD_CHANNEL_ORDER: return a->channels == 1 ? 0x10b0 : a->channels == 2 ? 0x10b2 : 0x10b5;
    case MOD_NORMALIZED_COORDS: return t->normalized_coords;
    case MOD_ARRAY_SIZE: return a->cubemap ? a->layers / 6 : a->layers;
    case MOD_NUM_MIPMAP_LEVELS: return t->source == TEX_MIPMAP ? t->nlevels : 1;
    case MOD_NUM_SAMPLES: return 1;
    case MOD_FILTER_MODE: return t->linear_filter;
    case MOD_FORCE_UNNORMALIZED: return 0;
    case MOD_ADDR_MODE_0: return address_mode(t->address[0]);
    case MOD_ADDR_MODE_1: return address_mode(t->address[1]);
    case MOD_ADDR_MODE_2: return address_mode(t->address[2]);
    default: return 0;
  }
}

static const Inst *exec_query(Warp *w, const Inst *in) {
  const QueryDesc *d = in->ptr;
  w->mem_pc = in;
  FOR_LANES(l, w->exec) {
    uint64_t value = REG(w, uint64_t, d->handle)[l];
    const VgpuTexture *t = vgpu_texture_get(texture_handle(value));
    if (!t)
      return vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, l, value, "0x%llx is no texture or surface",
                        (unsigned long long)value);
    const VgpuArray *a = &t->array;
    if (t->source == TEX_MIPMAP && t->nlevels)
      a = &t->levels[MIN(d->has_lod ? REG(w, uint32_t, d->lod)[l] : 0, t->nlevels - 1)];
    REG(w, uint32_t, in->d)[l] = answer(t, a, d->what);
  }
  return in + 1;
}

static const Inst *exec_istypep(Warp *w, const Inst *in) {
  const QueryDesc *d = in->ptr;
  w->mem_pc = in;
  uint32_t yes = 0;
  FOR_LANES(l, w->exec) {
    const VgpuTexture *t = vgpu_texture_get(texture_handle(REG(w, uint64_t, d->handle)[l]));
    bool is = t &&
              (d->kind == TYPE_SURFREF ? t->is_surface : d->kind == TYPE_TEXREF && !t->is_surface);
    yes |= (uint32_t)is << l;
  }
  pred_write(w, in->d, w->exec, yes);
  return in + 1;
}

bool VGPU_NAME(bind_texture_query)(Binder *b) {
  const PtxInstr *in = b->in;
  QueryDesc *d = bind_alloc(b, sizeof *d);
  const PtxOperand *o = in->ops[1].kind == OPD_ADDR ? &in->ops[1].list[0] : &in->ops[1];
  d->handle = bind_src(b, o, TYPE_B64);
  if (in->op == OP_ISTYPEP) {
    d->kind = in->types[0];
    uint32_t p = bind_dst(b, &in->ops[0], TYPE_PRED);
    Inst *i = bind_emit(b, exec_istypep);
    i->d = p;
    i->ptr = d;
    return true;
  }
  for (unsigned i = 0; i < ARRAY_LEN(queries); i++)
    if (ptx_has(in, queries[i])) d->what = queries[i];
  if (d->what == MOD_NONE) return bind_unsupported(b, "query");
  if (in->nops > 2) {
    d->has_lod = true;
    d->lod = bind_src(b, &in->ops[2], TYPE_U32);
  }
  uint32_t dst = bind_dst(b, &in->ops[0], TYPE_B32);
  Inst *i = bind_emit(b, exec_query);
  i->d = dst;
  i->ptr = d;
  return true;
}
