// --record: what tensor maps describe. Their 128 bytes have no documented layout, so what the
// driver was asked to encode is remembered for each, with the bytes that it made as the key.
#include "tools/record/host.h"

#include "cuda/abi.h"

typedef struct KnownMap {
  uint8_t
      map[sizeof(CUtensorMap)];  // its bytes: CUtensorMap wants more alignment than mem_alloc gives
  WgTraceTensor what;
  struct KnownMap *next;
} KnownMap;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map known;  // hash -> list of KnownMap

static uint64_t key_of(const void *map) { return base_hash(map, sizeof(CUtensorMap)); }

static KnownMap *find(const void *map) {
  KnownMap *k = u64map_get(&known, key_of(map));
  while (k && memcmp(k->map, map, sizeof k->map)) k = k->next;
  return k;
}

static void keep(const void *map, const WgTraceTensor *what) {
  pthread_mutex_lock(&lock);
  KnownMap *k = find(map);
  if (!k) {
    k = mem_alloc(sizeof *k);
    memcpy(k->map, map, sizeof k->map);
    k->next = u64map_get(&known, key_of(map));
    u64map_put(&known, key_of(map), k);
  }
  k->what = *what;
  pthread_mutex_unlock(&lock);
}

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

// Layouts that a recording does not follow stay unknown.
void record_tensor_map(const void *map, const SessionTensor *s) {
  static const uint8_t element[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (!record_options.operations || (unsigned)s->type >= ARRAY_LEN(element) ||
      s->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      (unsigned)s->swizzle > CU_TENSOR_MAP_SWIZZLE_128B || s->rank < 1 || s->rank > 5)
    return;
  WgTraceTensor t = {.address = (uintptr_t)s->address,
                     .dims = {1, 1, 1, 1, 1},
                     .box = {1, 1, 1, 1, 1},
                     .steps = {1, 1, 1, 1, 1},
                     .element = element[s->type],
                     .swizzle_mask = (1u << s->swizzle) - 1};
  uint64_t bytes = t.element;
  for (uint32_t i = 0; i < s->rank; i++) {
    if (s->dims[i] > UINT32_MAX || !s->element_strides[i]) return;
    t.dims[i] = (uint32_t)s->dims[i];
    t.steps[i] = s->element_strides[i];
    t.box[i] = (s->box[i] + t.steps[i] - 1) / t.steps[i];
    if (i) t.strides[i - 1] = s->strides[i - 1];
    bytes *= t.box[i];
  }
  if (t.steps[0] != 1 || t.box[0] * t.element % WG_TRACE_PIECE || bytes > 1u << 24) return;
  t.pieces = (uint32_t)(bytes / WG_TRACE_PIECE);
  if (s->nan_fill) set_fill(&t, s->type);
  keep(map, &t);
}

void record_tensor_map_moved(const void *before, const void *map, uint64_t address) {
  pthread_mutex_lock(&lock);
  const KnownMap *k = find(before);
  WgTraceTensor t = k ? k->what : (WgTraceTensor){0};
  pthread_mutex_unlock(&lock);
  t.address = address;
  if (t.pieces) keep(map, &t);
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
    pthread_mutex_lock(&lock);
    const KnownMap *m = map ? find(map) : NULL;
    WgTraceTensor t = m ? m->what : (WgTraceTensor){0};
    pthread_mutex_unlock(&lock);
    all &= m != NULL;
    memcpy((char *)record + k->maps[i].record_offset, &t, sizeof t);
  }
  return all;
}
