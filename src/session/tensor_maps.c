// What tensor maps describe. Their 128 bytes have no documented layout, so what the driver was
// asked to encode is remembered, with the bytes that it made as the key.
#include "cuda/abi.h"
#include "session/internal.h"

_Static_assert(WG_TENSOR_MAP_BYTES == sizeof(CUtensorMap), "as in the driver's header");

typedef struct Known {
  uint64_t address;
  SassFormat format;
} Known;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map maps;  // hash of the bytes -> Known

static uint64_t key_of(const void *map) { return base_hash(map, WG_TENSOR_MAP_BYTES); }

static void keep(const void *map, Known what) {
  Known *k = mem_alloc(sizeof *k);
  *k = what;
  pthread_mutex_lock(&lock);
  free(u64map_remove(&maps, key_of(map)));
  u64map_put(&maps, key_of(map), k);
  pthread_mutex_unlock(&lock);
}

void session_tensor_map_keep(const void *map, const SessionTensor *t) {
  static const uint8_t formats[] = {[CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = SASS_F16,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = SASS_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = SASS_F64,
                                    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = SASS_BF16,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = SASS_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = SASS_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = SASS_F32};
  bool known = (unsigned)t->type < ARRAY_LEN(formats);
  keep(map, (Known){(uintptr_t)t->address, known ? formats[t->type] : SASS_OTHER});
}

void session_tensor_map_keep_moved(const void *before, const void *map, uint64_t address) {
  Known k;
  if (session_tensor_map_find(before, &k.address, &k.format)) keep(map, (Known){address, k.format});
}

bool session_tensor_map_find(const void *map, uint64_t *address, SassFormat *format) {
  pthread_mutex_lock(&lock);
  const Known *k = maps.len ? u64map_get(&maps, key_of(map)) : NULL;
  if (k) *address = k->address, *format = k->format;
  pthread_mutex_unlock(&lock);
  return k != NULL;
}
