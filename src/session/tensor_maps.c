// What tensor maps describe. The layout of their 128 bytes is not documented: we remember the
// arguments of the call that encoded them, with these bytes as the key.
#include "cuda/abi.h"
#include "session/internal.h"

_Static_assert(WG_TENSOR_MAP_BYTES == sizeof(CUtensorMap), "as in the driver's header");

enum { MOST_KNOWN = 1 << 20 };  // then all are forgotten: some programs encode one for each launch
typedef struct Known {
  uint8_t map[WG_TENSOR_MAP_BYTES];
  SessionTensorMap what;
} Known;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map maps;  // hash of the bytes -> Known
static _Atomic bool any;

static uint64_t key_of(const void *map) { return base_hash(map, WG_TENSOR_MAP_BYTES); }

static void forget_all(void) {
  uint32_t it = 0;
  uint64_t key;
  void *value;
  while (u64map_next(&maps, &it, &key, &value)) free(value);
  u64map_free(&maps);
}

static void keep(const void *map, const SessionTensorMap *what) {
  Known *k = mem_alloc(sizeof *k);
  memcpy(k->map, map, sizeof k->map);
  k->what = *what;
  pthread_mutex_lock(&lock);
  if (maps.len >= MOST_KNOWN) forget_all();
  free(u64map_remove(&maps, key_of(map)));
  u64map_put(&maps, key_of(map), k);
  any = true;
  pthread_mutex_unlock(&lock);
}

void session_tensor_map(const void *map, const SessionTensor *t) {
  SessionTensorMap m = {.type = t->type,
                        .rank = t->rank,
                        .address = (uintptr_t)t->address,
                        .interleave = t->interleave,
                        .swizzle = t->swizzle,
                        .nan_fill = t->nan_fill};
  if (!session_running() || t->rank < 1 || t->rank > SESSION_TENSOR_RANK) return;
  for (uint32_t i = 0; i < t->rank; i++) {
    m.dims[i] = t->dims[i];
    m.box[i] = t->box[i];
    m.steps[i] = t->element_strides[i];
    if (i) m.strides[i - 1] = t->strides[i - 1];
  }
  keep(map, &m);
}

void session_tensor_map_moved(const void *before, const void *map, uint64_t address) {
  SessionTensorMap m;
  if (!session_tensor_map_find(before, &m)) return;
  m.address = address;
  keep(map, &m);
}

bool session_has_tensor_maps(void) { return any; }

bool session_tensor_map_find(const void *map, SessionTensorMap *out) {
  if (!any) return false;
  pthread_mutex_lock(&lock);
  const Known *k = u64map_get(&maps, key_of(map));
  if (k && memcmp(k->map, map, sizeof k->map)) k = NULL;
  if (k) *out = k->what;
  pthread_mutex_unlock(&lock);
  return k != NULL;
}

SassFormat session_tensor_format(const SessionTensorMap *m) {
  static const uint8_t formats[] = {[CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = SASS_F16,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = SASS_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = SASS_F64,
                                    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = SASS_BF16,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = SASS_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = SASS_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = SASS_F32};
  return (unsigned)m->type < ARRAY_LEN(formats) ? formats[m->type] : SASS_OTHER;
}

uint32_t session_tensor_element(const SessionTensorMap *m) {
  static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return (unsigned)m->type < ARRAY_LEN(bytes) ? bytes[m->type] : 0;
}

uint64_t session_tensor_bytes(const SessionTensorMap *m) {
  uint64_t element = session_tensor_element(m), bytes, more;
  if (!element || m->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      __builtin_mul_overflow(m->dims[0], element, &bytes))
    return 0;
  for (uint32_t i = 1; i < m->rank; i++)
    if (!m->dims[i] || __builtin_mul_overflow(m->dims[i] - 1, m->strides[i - 1], &more) ||
        __builtin_add_overflow(bytes, more, &bytes))
      return 0;
  return bytes;
}

// --- those of a launch ---

typedef struct Search {
  SessionEachTensor *each;
  void *user;
} Search;

static void search_param(void *user, const uint8_t *at, size_t offset, size_t size) {
  const Search *s = user;
  SessionTensorMap m;
  for (size_t i = -offset % WG_TENSOR_MAP_ALIGNMENT; i + WG_TENSOR_MAP_BYTES <= size;
       i += WG_TENSOR_MAP_ALIGNMENT)
    if (session_tensor_map_find(at + i, &m)) s->each(s->user, &m);
}

void session_tensor_maps_of(const SessionCall *call, SessionEachTensor *each, void *user) {
  if (any) session_each_param(call, search_param, &(Search){each, user});
}
