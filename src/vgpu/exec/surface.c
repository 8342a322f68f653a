// suld, sust, sured: an array read and written by index. The x coordinate of .b forms counts bytes,
// of .p forms texels.
#include "vgpu/exec/texture.h"

#include "vgpu/exec/half.h"

typedef enum { OUT_TRAP, OUT_CLAMP, OUT_ZERO } OutOfRange;
typedef enum { RED_ADD, RED_MIN, RED_MAX, RED_AND, RED_OR } Reduction;

typedef struct SurfaceDesc {
  TexGeometry geometry;
  OutOfRange mode;
  bool formatted;  // .p
  Reduction reduction;
  PtxType type;
  uint8_t size, count, width[4];  // bytes of an element, elements, register widths
  uint32_t value[4];
  uint32_t handle, layer, at[3];
} SurfaceDesc;

// The bytes that a lane addresses; NULL with *fault unset: outside, to be read as zero or dropped.
static char *locate(Warp *w, const Inst *in, const VgpuArray *a, unsigned lane, unsigned bytes,
                    bool *fault) {
  const SurfaceDesc *d = in->ptr;
  unsigned texel = texture_channel_bytes(a) * a->channels, dims = geometry_dims(d->geometry);
  bool cube = d->geometry == GEOM_CUBE || d->geometry == GEOM_ACUBE;
  int64_t c[3] = {0}, limit[3] = {(int64_t)a->width * (d->formatted ? 1 : texel),
                                  MAX(a->height, 1u), MAX(a->depth, 1u)};
  if (cube) limit[2] = 6;
  int64_t step = d->formatted ? 1 : bytes;
  bool outside = false;
  for (unsigned i = 0; i < dims; i++) {
    c[i] = REG(w, int32_t, d->at[i])[lane];
    int64_t last = i == 0 ? limit[0] - step : limit[i] - 1;
    if (c[i] >= 0 && c[i] <= last) continue;
    outside = true;
    if (d->mode == OUT_CLAMP) c[i] = c[i] < 0 ? 0 : last;
  }
  int64_t slice = c[2];
  if (geometry_has_layers(d->geometry)) {
    int64_t layer = REG(w, int32_t, d->layer)[lane], layers = MAX(a->layers, 1u);
    if (cube) layers /= 6;
    if (layer < 0 || layer >= layers) {
      outside = true;
      if (d->mode == OUT_CLAMP) layer = layer < 0 ? 0 : layers - 1;
    }
    slice = cube ? layer * 6 + c[2] : layer;
  }
  *fault = false;
  if (outside && d->mode == OUT_ZERO) return NULL;
  if (outside && d->mode == OUT_TRAP) {
    *fault = true;
    vgpu_fault(w, in, VGPU_TRAP, lane, 0,
               "surface coordinate (%lld, %lld, %lld) is outside the surface", (long long)c[0],
               (long long)c[1], (long long)c[2]);
    return NULL;
  }
  if (!d->formatted && c[0] % bytes) {
    *fault = true;
    vgpu_fault(w, in, VGPU_MISALIGNED, lane, (uint64_t)c[0],
               "surface coordinate x = %lld is no multiple of the %u bytes accessed",
               (long long)c[0], bytes);
    return NULL;
  }
  int64_t at = slice * (int64_t)a->slice_bytes + c[1] * (int64_t)a->row_bytes +
               c[0] * (d->formatted ? texel : 1);
  uint64_t n = d->formatted ? texel : bytes, have = texture_array_bytes(a);
  if (at >= 0 && n <= have && (uint64_t)at <= have - n) return (char *)a->data + at;
  *fault = true;  // the instruction's geometry is not the surface's
  vgpu_fault(w, in, VGPU_TRAP, lane, 0,
             "surface coordinate (%lld, %lld, %lld) is outside the surface", (long long)c[0],
             (long long)c[1], (long long)c[2]);
  return NULL;
}

static const VgpuArray *surface_of(Warp *w, const Inst *in, const SurfaceDesc *d, unsigned lane) {
  uint64_t value = REG(w, uint64_t, d->handle)[lane];
  const VgpuTexture *t = vgpu_texture_get(texture_handle(value));
  if (!t) {
    vgpu_fault(w, in, VGPU_ILLEGAL_ADDRESS, lane, value,
               "0x%llx is no surface (never created, destroyed, or a reference bound to nothing)",
               (unsigned long long)value);
    return NULL;
  }
  return t->source == TEX_MIPMAP ? &t->levels[0] : &t->array;
}

static uint64_t get_register(Warp *w, const SurfaceDesc *d, unsigned e, unsigned lane) {
  const char *r = w->regs + d->value[e] + (size_t)lane * d->width[e];
  return d->width[e] == 2   ? *(const uint16_t *)r
         : d->width[e] == 4 ? *(const uint32_t *)r
                            : *(const uint64_t *)r;
}

static void set_register(Warp *w, const SurfaceDesc *d, unsigned e, unsigned lane, uint64_t v) {
  char *r = w->regs + d->value[e] + (size_t)lane * d->width[e];
  if (d->width[e] == 2) *(uint16_t *)r = (uint16_t)v;
  else if (d->width[e] == 4) *(uint32_t *)r = (uint32_t)v;
  else *(uint64_t *)r = v;
}

// Visits every executing lane: PTR is its bytes, or NULL where the access is outside and to be
// ignored.
#define FOR_SURFACE_LANES(BYTES, BODY) \
  do { \
    const SurfaceDesc *d = in->ptr; \
    w->mem_pc = in; \
    FOR_LANES(l, w->exec) { \
      const VgpuArray *a = surface_of(w, in, d, l); \
      if (!a) return NULL; \
      bool fault; \
      char *p = locate(w, in, a, l, (BYTES), &fault); \
      if (fault) return NULL; \
      BODY \
    } \
  } while (0)

static const Inst *exec_suld(Warp *w, const Inst *in) {
  FOR_SURFACE_LANES(d->size * d->count, {
    for (unsigned e = 0; e < d->count; e++) {
      uint64_t v = 0;
      if (p) memcpy(&v, p + e * d->size, d->size);
      if (d->value[e] != UINT32_MAX) set_register(w, d, e, l, v);
    }
  })
    ;
  return in + 1;
}

static const Inst *exec_sust(Warp *w, const Inst *in) {
  FOR_SURFACE_LANES(d->size * d->count, {
    if (!p) continue;
    for (unsigned e = 0; e < d->count; e++) {
      uint64_t v = get_register(w, d, e, l);
      memcpy(p + e * d->size, &v, d->size);
    }
  })
    ;
  return in + 1;
}

// sust.p: 32-bit values become the surface's own format; out of its range they saturate.
static void store_channel(VgpuTexel texel, char *p, uint32_t bits, PtxType t) {
  int64_t v = t == TYPE_S32 ? (int64_t)(int32_t)bits : (int64_t)bits;
#define SATURATE(T, lo, hi) \
  do { \
    T x_ = (T)(v < (lo) ? (lo) : v > (hi) ? (hi) : v); \
    memcpy(p, &x_, sizeof x_); \
  } while (0)
  switch (texel) {
    case TEXEL_U8: SATURATE(uint8_t, 0, UINT8_MAX); break;
    case TEXEL_S8: SATURATE(int8_t, INT8_MIN, INT8_MAX); break;
    case TEXEL_U16: SATURATE(uint16_t, 0, UINT16_MAX); break;
    case TEXEL_S16: SATURATE(int16_t, INT16_MIN, INT16_MAX); break;
    case TEXEL_F16: {
      uint16_t h = half_from_float(half_float_from_bits(bits));
      memcpy(p, &h, 2);
      break;
    }
    default: memcpy(p, &bits, 4); break;
  }
}

static const Inst *exec_sust_formatted(Warp *w, const Inst *in) {
  FOR_SURFACE_LANES(1, {
    if (!p) continue;
    for (unsigned e = 0; e < MIN(d->count, a->channels); e++)
      store_channel(a->texel, p + e * texture_channel_bytes(a), (uint32_t)get_register(w, d, e, l),
                    d->type);
  })
    ;
  return in + 1;
}

static uint64_t reduce(const SurfaceDesc *d, uint64_t x, uint64_t y) {
  bool less;
  switch (d->reduction) {
    case RED_ADD: return x + y;
    case RED_AND: return x & y;
    case RED_OR: return x | y;
    default: break;
  }
  switch (d->type) {
    case TYPE_S32: less = (int32_t)x < (int32_t)y; break;
    case TYPE_S64: less = (int64_t)x < (int64_t)y; break;
    default: less = d->size == 4 ? (uint32_t)x < (uint32_t)y : x < y; break;
  }
  return less == (d->reduction == RED_MIN) ? x : y;
}

#define ATOMIC_REDUCE(T) \
  do { \
    T old_ = __atomic_load_n((T *)p, __ATOMIC_RELAXED); \
    while (!__atomic_compare_exchange_n((T *)p, &old_, (T)reduce(d, old_, v), false, \
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {} \
  } while (0)

static const Inst *exec_sured(Warp *w, const Inst *in) {
  FOR_SURFACE_LANES(d->size, {
    if (!p) continue;
    uint64_t v = get_register(w, d, 0, l);
    if (d->size == 8) ATOMIC_REDUCE(uint64_t);
    else ATOMIC_REDUCE(uint32_t);
  })
    ;
  return in + 1;
}

bool VGPU_NAME(bind_surface)(Binder *b) {
  const PtxInstr *in = b->in;
  SurfaceDesc *d = bind_alloc(b, sizeof *d);
  bool load = in->op == OP_SULD;
  const PtxOperand *address = &in->ops[load ? 1 : 0], *value = &in->ops[load ? 0 : 1];
  d->geometry = VGPU_NAME(texture_geometry)(in);
  if (d->geometry == GEOM_NONE || address->nlist < 2 || !in->ntypes)
    return bind_unsupported(b, "surface operands");
  d->mode = ptx_has(in, MOD_CLAMP) ? OUT_CLAMP : ptx_has(in, MOD_ZERO) ? OUT_ZERO : OUT_TRAP;
  d->formatted = ptx_has(in, MOD_P);
  d->type = in->types[0];
  d->size = (uint8_t)ptx_type_size(d->type);
  if (load && d->formatted) return bind_unsupported(b, "formatted surface loads");
  d->count = value->kind == OPD_VECTOR ? value->nlist : 1;
  if (d->count > 4 || d->size > 8) return bind_unsupported(b, "vector of this length");
  for (unsigned e = 0; e < d->count; e++) {
    const PtxOperand *o = value->kind == OPD_VECTOR ? &value->list[e] : value;
    d->width[e] = (uint8_t)bind_width(b, o, d->type);
    d->value[e] = o->kind == OPD_SINK ? UINT32_MAX
                  : load              ? bind_dst(b, o, d->type)
                                      : bind_src(b, o, d->type);
    if (o->kind != OPD_SINK && d->width[e] < d->size)
      return bind_unsupported(b, "register narrower than the access");
  }
  d->handle = bind_src(b, &address->list[0], TYPE_B64);
  const PtxOperand *at = &address->list[1];
  unsigned layered = geometry_has_layers(d->geometry), dims = geometry_dims(d->geometry);
  if (at->kind == OPD_VECTOR ? at->nlist < layered + dims : layered + dims > 1)
    return bind_unsupported(b, "too few coordinates");
  for (unsigned i = 0; i < layered + dims; i++) {
    uint32_t slot = bind_src(b, at->kind == OPD_VECTOR ? &at->list[i] : at, TYPE_S32);
    if (layered && i == 0) d->layer = slot;
    else d->at[i - layered] = slot;
  }
  if (in->op == OP_SURED) {
    if (d->count != 1 || d->size < 4) return bind_unsupported(b, "reduction of this size");
    d->reduction = ptx_has(in, MOD_ADD)   ? RED_ADD
                   : ptx_has(in, MOD_MIN) ? RED_MIN
                   : ptx_has(in, MOD_MAX) ? RED_MAX
                   : ptx_has(in, MOD_AND) ? RED_AND
                                          : RED_OR;
  }
  bind_emit(b, load                 ? exec_suld
               : in->op == OP_SURED ? exec_sured
               : d->formatted       ? exec_sust_formatted
                                    : exec_sust)
      ->ptr = d;
  return true;
}
