// --record: describes the tensor maps of a launch in its launch record, where the kernel finds
// them.
#include "tools/record/host.h"

#include "cuda/abi.h"

// Elements outside of the tensor read as zeros, or as NaN.
static void set_fill(WgTraceTensor *t, int type) {
  static const uint32_t none[][2] = {
      [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = {0x7fff7fff, 0x7fff7fff},
      [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = {0x7fffffff, 0x7fffffff},
      [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = {0xffffffff, 0x7fffffff},
      [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = {0x7fff7fff, 0x7fff7fff},
      [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = {0x7fffffff, 0x7fffffff},
      [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = {0x7fffffff, 0x7fffffff},
      [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = {0x7fffffff, 0x7fffffff}};
  if ((unsigned)type < ARRAY_LEN(none)) memcpy(t->fill, none[type], sizeof t->fill);
}

// false: a layout that a recording does not follow
static bool describe(const SessionTensorMap *s, WgTraceTensor *out) {
  uint32_t element = session_tensor_element(s);
  if (!element || s->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      (unsigned)s->swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
    return false;
  WgTraceTensor t = {.address = s->address,
                     .dims = {1, 1, 1, 1, 1},
                     .box = {1, 1, 1, 1, 1},
                     .steps = {1, 1, 1, 1, 1},
                     .element = element,
                     .swizzle_mask = (1u << s->swizzle) - 1};
  uint64_t bytes = element;
  for (uint32_t i = 0; i < s->rank; i++) {
    if (s->dims[i] > UINT32_MAX || !s->steps[i]) return false;
    t.dims[i] = (uint32_t)s->dims[i];
    t.steps[i] = s->steps[i];
    t.box[i] = (s->box[i] + t.steps[i] - 1) / t.steps[i];
    if (i) t.strides[i - 1] = s->strides[i - 1];
    bytes *= t.box[i];
  }
  if (t.steps[0] != 1 || t.box[0] * t.element % WG_TRACE_PIECE || bytes > 1u << 24) return false;
  t.pieces = (uint32_t)(bytes / WG_TRACE_PIECE);
  if (s->nan_fill) set_fill(&t, s->type);
  *out = t;
  return true;
}

static const void *bytes_of(const WeaveFact *f, const SessionParams *p) {
  if (p->pointers)
    return p->pointers[f->param] ? (const char *)p->pointers[f->param] + f->param_offset : NULL;
  return p->buffer && (size_t)f->param_at + sizeof(CUtensorMap) <= p->buffer_bytes
             ? (const char *)p->buffer + f->param_at
             : NULL;
}

bool record_describe_maps(const RecordKernel *k, const SessionParams *params, void *record) {
  bool all = true;
  for (uint32_t i = 0; i < k->nmaps; i++) {
    const void *map = bytes_of(&k->maps[i], params);
    SessionTensorMap m;
    WgTraceTensor t = {0};
    all &= map && session_tensor_map_find(map, &m) && describe(&m, &t);
    memcpy((char *)record + k->maps[i].record_offset, &t, sizeof t);
  }
  return all;
}
