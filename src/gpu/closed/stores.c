// Finds what a kernel without PTX stores, in the machine code of its module.
#include "gpu/closed/closed.h"
#include "gpu/modules/modules.h"

// For developers: WARPGRIND_CLOSED_CODE names a folder for the machine code, a file for each kernel
// that is launched, as `nvdisasm --binary` reads it. A name is cut where files cannot be so long.
static void keep_code(const char *kernel, const SassKernel *c) {
  const char *folder = getenv("WARPGRIND_CLOSED_CODE");
  if (!folder || !*folder) return;
  Str path = {0};
  Error err = {""};
  GpuHash name = gpu_hash_text(kernel, (GpuHash){0, 0});
  str_printf(&path, "%s/%.100s.%08x.sm_%u.param_%u.%u", folder, kernel, (uint32_t)name.low, c->sm,
             c->param_base, c->param_bytes);
  if (!file_write(path.data, c->code, c->bytes, &err)) log_verbose("%s", err.text);
  str_free(&path);
}

// Unpacked for each kernel: only those that are launched are read.
bool gpu_closed_code(const GpuFunction *f, GpuClosedCode *out) {
  const GpuModule *m = f->module;
  size_t size;
  CubinCode c;
  for (uint32_t i = 0; m && i < m->code.nmachine; i++) {
    *out = (GpuClosedCode){.entry = i};
    if (image_entry_data(&m->code.machine[i], &out->arena, &out->image, &size, NULL) &&
        image_cubin_code(out->image, size, f->name, &c)) {
      out->kernel = (SassKernel){c.code, c.bytes, c.arch, c.param_base, c.param_bytes};
      return true;
    }
    arena_free(&out->arena);
  }
  return false;
}

const SassStores *gpu_closed_stores(const GpuFunction *f) {
  GpuClosedCode code;
  if (!session_reads_closed() || !gpu_closed_code(f, &code)) return NULL;
  keep_code(f->name, &code.kernel);
  SassStores *s = mem_alloc(sizeof *s);
  Arena arena = {0};  // stays: launches on other threads may read it at any time
  bool ok = sass_stores(&code.kernel, &arena, s);
  arena_free(&code.arena);
  if (ok) return s;
  arena_free(&arena);
  free(s);
  return NULL;
}
