// What a kernel without PTX stores, read in the machine code of its module.
#include "gpu/closed.h"
#include "gpu/modules.h"

// Unpacked for each kernel: only those that are launched are read, once.
static bool read_entry(const ImageEntry *e, const char *kernel, Arena *stores, SassStores *out) {
  Arena arena = {0};
  const void *data;
  size_t size;
  CubinCode c;
  bool ok = image_entry_data(e, &arena, &data, &size, NULL) &&
            image_cubin_code(data, size, kernel, &c) &&
            sass_stores(&(SassKernel){c.code, c.bytes, c.arch, c.param_base, c.param_bytes}, stores,
                        out);
  arena_free(&arena);
  return ok;
}

const SassStores *gpu_closed_stores(const GpuFunction *f) {
  const GpuModule *m = f->module;
  if (!m || !session_reads_closed()) return NULL;
  SassStores *s = mem_alloc(sizeof *s);
  Arena arena = {0};  // stays: launches on other threads may read it at any time
  for (uint32_t i = 0; i < m->code.nmachine; i++)
    if (read_entry(&m->code.machine[i], f->name, &arena, s)) return s;
  arena_free(&arena);
  free(s);
  return NULL;
}
