// cuLink*: a program links PTX to machine code and loads that. We remember which PTX went into it,
// so that its kernels are covered. Other inputs (machine code, libraries, NVVM) are opaque: then
// the result is machine code without PTX.
#include "gpu/modules/modules.h"

typedef struct Link {
  CUlinkState state;
  Arena arena;
  VEC(ImageEntry) units;
  bool opaque;  // something that is not PTX
  GpuJit jit;
} Link;

enum { HEAD = 64 };
typedef struct Result {
  GpuHash cubin;
  size_t size;
  char head[HEAD];
  Arena arena;
  ImageEntry *units;
  uint32_t nunits;
  uint64_t bytes;
} Result;

enum { MOST_BYTES = 256 << 20 };  // of PTX remembered; the oldest results go first
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map links;
static VEC(Result *) results;
static uint64_t total;

static void begin(CUlinkState state, unsigned n, CUjit_option *options, void **values) {
  Link *l = mem_alloc(sizeof *l);
  l->state = state;
  gpu_jit_keep(&l->jit, n, options, values);
  pthread_mutex_lock(&lock);
  u64map_put(&links, (uintptr_t)state, l);
  pthread_mutex_unlock(&lock);
}

static void add(CUlinkState state, CUjitInputType type, const void *data, size_t size,
                const char *name) {
  pthread_mutex_lock(&lock);
  Link *l = u64map_get(&links, (uintptr_t)state);
  Image image;
  if (l && (type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY) &&
      image_open(data, size, &image, NULL)) {
    ImageEntryList chosen = {0};
    if (!image_choose_ptx(&image, gpu_device_sm(), 0, &chosen, NULL)) l->opaque = true;
    for (uint32_t i = 0; i < chosen.len; i++) {
      ImageEntry e = chosen.data[i];
      void *raw = arena_alloc(&l->arena, e.raw_size + 1);
      memcpy(raw, e.raw, e.raw_size);
      e.raw = raw;
      e.options = arena_strdup(&l->arena, e.options);
      e.source = arena_strdup(&l->arena, e.source[0] ? e.source : name ? name : "");
      vec_push(&l->units, e);
    }
    vec_free(&chosen);
    image_close(&image);
  } else if (l) {
    l->opaque = true;
  }
  pthread_mutex_unlock(&lock);
}

static void forget_oldest(void) {
  while (total > MOST_BYTES && results.len > 1) {
    total -= results.data[0]->bytes;
    arena_free(&results.data[0]->arena);
    free(results.data[0]);
    memmove(results.data, results.data + 1, --results.len * sizeof *results.data);
  }
}

// Remembers the machine code by its content: the program may copy it, write it to a file and load
// it from there.
static void complete(CUlinkState state, const void *cubin, size_t size) {
  pthread_mutex_lock(&lock);
  Link *l = u64map_get(&links, (uintptr_t)state);
  if (l && !l->opaque && l->units.len && !l->jit.has_symbols) {
    Result *r = mem_alloc(sizeof *r);
    r->cubin = gpu_hash(cubin, size, (GpuHash){0, 0});
    r->size = size;
    memcpy(r->head, cubin, MIN(size, (size_t)HEAD));
    r->units = ARENA_ARRAY(&r->arena, ImageEntry, l->units.len);
    for (; r->nunits < l->units.len; r->nunits++) {
      ImageEntry e = l->units.data[r->nunits];
      void *raw = arena_alloc(&r->arena, e.raw_size + 1);
      memcpy(raw, e.raw, e.raw_size);
      e.raw = raw;
      e.source = arena_strdup(&r->arena, e.source);
      // The options of the whole link, as an entry's options: what the pieces are compiled with.
      Str options = {0};
      str_add(&options, e.options);
      for (unsigned i = 0; i < l->jit.n; i++) {
        if (l->jit.names[i] == CU_JIT_MAX_REGISTERS)
          str_printf(&options, " -maxrregcount=%u", (unsigned)(uintptr_t)l->jit.values[i]);
        if (l->jit.names[i] == CU_JIT_OPTIMIZATION_LEVEL)
          str_printf(&options, " -O%u", (unsigned)(uintptr_t)l->jit.values[i]);
        if (l->jit.names[i] == CU_JIT_GENERATE_LINE_INFO && l->jit.values[i])
          str_add(&options, " -lineinfo");
      }
      e.options = arena_strdup(&r->arena, options.data ? options.data : "");
      str_free(&options);
      r->units[r->nunits] = e;
      r->bytes += e.raw_size;
    }
    total += r->bytes;
    vec_push(&results, r);
    forget_oldest();
  }
  pthread_mutex_unlock(&lock);
}

bool gpu_linked_code(const void *cubin, size_t size, GpuCode *out) {
  bool found = false;
  pthread_mutex_lock(&lock);
  GpuHash hash = {0, 0};
  size_t hashed = 0;
  for (uint32_t i = results.len; i-- > 0 && !found;) {
    const Result *r = results.data[i];
    if ((size && r->size > size) || r->size < HEAD || memcmp(r->head, cubin, HEAD)) continue;
    if (hashed != r->size) {
      hash = gpu_hash(cubin, r->size, (GpuHash){0, 0});
      hashed = r->size;
    }
    if (hash.low != r->cubin.low || hash.high != r->cubin.high) continue;
    found = true;
    out->units = ARENA_ARRAY(&out->arena, ImageEntry, r->nunits);
    out->relocatable = true;
    for (; out->nunits < r->nunits; out->nunits++) {
      ImageEntry e = r->units[out->nunits];
      void *raw = arena_alloc(&out->arena, e.raw_size + 1);
      memcpy(raw, e.raw, e.raw_size);
      e.raw = raw;
      e.source = arena_strdup(&out->arena, e.source);
      e.options = arena_strdup(&out->arena, e.options);
      out->hash = gpu_hash(raw, e.raw_size, out->hash);
      out->hash = gpu_hash_text(e.options, out->hash);
      out->units[out->nunits] = e;
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

// --- the wrappers ---

CUresult gpu_cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *out) {
  GPU_TRY(gpu_real.cuLinkCreate_v2(n, options, values, out));
  begin(*out, n, options, values);
  return CUDA_SUCCESS;
}
CUresult gpu_cuLinkCreate(unsigned n, CUjit_option *options, void **values, CUlinkState *out) {
  GPU_TRY(gpu_real.cuLinkCreate(n, options, values, out));
  begin(*out, n, options, values);
  return CUDA_SUCCESS;
}
CUresult gpu_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                              const char *name, unsigned n, CUjit_option *options, void **values) {
  GPU_TRY(gpu_real.cuLinkAddData_v2(state, type, data, size, name, n, options, values));
  add(state, type, data, size, name);
  return CUDA_SUCCESS;
}
CUresult gpu_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                           const char *name, unsigned n, CUjit_option *options, void **values) {
  GPU_TRY(gpu_real.cuLinkAddData(state, type, data, size, name, n, options, values));
  add(state, type, data, size, name);
  return CUDA_SUCCESS;
}

static void add_file(CUlinkState state, CUjitInputType type, const char *path) {
  Str file = {0};
  if (!file_read(path, &file, NULL)) type = CU_JIT_INPUT_OBJECT;
  add(state, type, file.data, file.len, path);
  str_free(&file);
}
CUresult gpu_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                              CUjit_option *options, void **values) {
  GPU_TRY(gpu_real.cuLinkAddFile_v2(state, type, path, n, options, values));
  add_file(state, type, path);
  return CUDA_SUCCESS;
}
CUresult gpu_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                           CUjit_option *options, void **values) {
  GPU_TRY(gpu_real.cuLinkAddFile(state, type, path, n, options, values));
  add_file(state, type, path);
  return CUDA_SUCCESS;
}

CUresult gpu_cuLinkComplete(CUlinkState state, void **cubin, size_t *size) {
  size_t bytes = 0;
  GPU_TRY(gpu_real.cuLinkComplete(state, cubin, &bytes));
  if (size) *size = bytes;
  complete(state, *cubin, bytes);
  return CUDA_SUCCESS;
}

CUresult gpu_cuLinkDestroy(CUlinkState state) {
  GPU_TRY(gpu_real.cuLinkDestroy(state));
  pthread_mutex_lock(&lock);
  Link *l = u64map_remove(&links, (uintptr_t)state);
  pthread_mutex_unlock(&lock);
  if (!l) return CUDA_SUCCESS;
  arena_free(&l->arena);
  vec_free(&l->units);
  free(l->jit.copies);
  free(l);
  return CUDA_SUCCESS;
}
