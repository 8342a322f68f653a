// Our PTX becomes code: the driver compiles and loads it.
//
// One unit is loaded as text, just as the driver would load the program's own PTX, so that the
// machine code is the same. (What goes through cuLink* is compiled as relocatable code, with other
// calls and registers.) The driver keeps compiled PTX in its own cache. Several units are an -rdc
// program, which was linked before too: those go through cuLink*, and we keep the result.
#include "gpu/modules/modules.h"

// --- the image for the driver: the text, or a fatbin around it with the ptxas options ---

static void put(Str *s, uint64_t value, size_t bytes) { str_addn(s, (const char *)&value, bytes); }
static void pad(Str *s) {
  while (s->len % 8) str_addc(s, 0);
}

static void put_fatbin(Str *out, const char *text, size_t len, const ImageEntry *like) {
  enum {
    HEADER = 16,
    ENTRY = 64,
    PTX = 1,
    FLAG_64BIT = 1,
    FLAG_DEBUG = 2,
    FLAG_LINUX = 0x10,
    FLAG_A = 0x100000,
    FLAG_F = 0x200000
  };
  unsigned major = 0, minor = 0;
  const char *version = strstr(text, ".version");
  if (version) sscanf(version, ".version %u.%u", &major, &minor);
  size_t options_len = strlen(like->options), head = (ENTRY + 8 + options_len + 1 + 7) / 8 * 8,
         padded = (len + 1 + 7) / 8 * 8;
  put(out, 0xBA55ED50u, 4);
  put(out, 1, 2);
  put(out, HEADER, 2);
  put(out, head + padded, 8);
  put(out, PTX, 2);
  put(out, 0x0101, 2);
  put(out, head, 4);
  put(out, padded, 8);
  put(out, 0, 4);
  put(out, ENTRY, 4);
  put(out, minor, 2);
  put(out, major, 2);
  put(out, like->arch, 4);
  put(out, 0, 8);
  put(out,
      FLAG_64BIT | FLAG_LINUX | (like->debug ? FLAG_DEBUG : 0) |
          (like->suffix == 'a'   ? FLAG_A
           : like->suffix == 'f' ? FLAG_F
                                 : 0),
      8);
  put(out, 0, 8);
  put(out, 0, 8);
  put(out, ENTRY + 8, 4);
  put(out, options_len, 4);
  str_addn(out, like->options, options_len + 1);
  pad(out);
  str_addn(out, text, len + 1);
  pad(out);
}

void gpu_pack_text(const Str *text, const GpuCode *code, const GpuJit *jit, Str *out) {
  out->len = 0;
  if (jit->needs_fatbin) put_fatbin(out, text->data, text->len, &code->units[0]);
  else str_addn(out, text->data, text->len + 1);
}

// --- loading ---

// The compiler's messages are several lines: the first ones, in one.
bool gpu_driver_error(Error *err, CUresult result, const char *log) {
  const char *name = "an unknown error";
  char line[400];
  size_t n = 0;
  if (gpu_real.cuGetErrorName) gpu_real.cuGetErrorName(result, &name);
  for (; log && *log && n + 4 < sizeof line; log++) {
    if (*log != '\n') line[n++] = *log;
    else if (n && log[1] && log[1] != '\n') {
      line[n++] = ';';
      line[n++] = ' ';
    }
  }
  line[n] = 0;
  return n ? error_set(err, "the driver's compiler refuses it: %s", line)
           : error_set(err, "the driver cannot load it: %s", name ? name : "an unknown error");
}

static void keep_log(Str *to, const char *log) {
  if (!to || !log) return;
  to->len = 0;
  str_add(to, log);
}

bool gpu_load_blob(const void *blob, const GpuLoad *how, GpuLoaded *out, Error *err) {
  *out = (GpuLoaded){.jit = *how->jit};
  out->jit.log = NULL;
  gpu_jit_add_log(&out->jit);
  GpuJit *j = &out->jit;
  gpu_watch_begin(how->name);
  CUresult result = how->as_library ? gpu_real.cuLibraryLoadData(&out->library, blob, j->names,
                                                                 j->values, j->n, NULL, NULL, 0)
                                    : gpu_real.cuModuleLoadDataEx(&out->module, blob, j->n,
                                                                  j->names, j->values);
  gpu_watch_end();
  if (result == CUDA_SUCCESS) return true;
  gpu_driver_error(err, result, j->log);
  keep_log(how->log, j->log);
  out->library = NULL;
  out->module = NULL;
  gpu_unload(out);
  return false;
}

// One unit of those that are linked; the last may be the probes, which no file of the program has.
static CUresult add_unit(CUlinkState state, const GpuTexts *t, uint32_t i, const GpuCode *code,
                         const GpuJit *jit) {
  const ImageEntry *like = i < code->nunits ? &code->units[i] : NULL;
  const Str *text = &t->units.data[i];
  Str packed = {0};
  bool fatbin = jit->needs_fatbin && like;
  if (fatbin) put_fatbin(&packed, text->data, text->len, like);
  else str_addn(&packed, text->data, text->len + 1);
  const char *name = !like ? "probes" : like->source[0] ? like->source : "PTX";
  CUjitInputType type = fatbin ? CU_JIT_INPUT_FATBINARY : CU_JIT_INPUT_PTX;
  CUjit_option limit = CU_JIT_MAX_REGISTERS;
  unsigned registers = i < t->registers.len ? t->registers.data[i] : 0;
  void *value = (void *)(uintptr_t)registers;
  CUresult result = gpu_real.cuLinkAddData_v2(state, type, packed.data, packed.len, name,
                                              registers ? 1 : 0, &limit, &value);
  if (registers && result == CUDA_ERROR_INVALID_VALUE)  // no such option for one unit
    result = gpu_real.cuLinkAddData_v2(state, type, packed.data, packed.len, name, 0, NULL, NULL);
  str_free(&packed);
  return result;
}

// Several units: linked to machine code, which is kept for the next time.
static bool link_texts(const GpuTexts *t, const GpuCode *code, const GpuJit *jit, Str *cubin,
                       Error *err) {
  GpuJit j = *jit;
  CUlinkState state;
  gpu_jit_add_log(&j);
  CUresult result = gpu_real.cuLinkCreate_v2(j.n, j.names, j.values, &state);
  if (result == CUDA_SUCCESS) {
    for (uint32_t i = 0; i < t->units.len && result == CUDA_SUCCESS; i++)
      result = add_unit(state, t, i, code, jit);
    void *data = NULL;
    size_t size = 0;
    if (result == CUDA_SUCCESS) result = gpu_real.cuLinkComplete(state, &data, &size);
    if (result == CUDA_SUCCESS) str_addn(cubin, data, size);
    else {
      gpu_driver_error(err, result, j.log);
      keep_log(t->log, j.log);
    }
    gpu_real.cuLinkDestroy(state);
  } else {
    gpu_driver_error(err, result, NULL);
  }
  gpu_jit_free(&j);
  return result == CUDA_SUCCESS;
}

static GpuHash texts_key(const GpuTexts *t, const GpuJit *jit) {
  GpuHash key = gpu_jit_hash(jit, gpu_cache_seed());
  for (uint32_t i = 0; i < t->units.len; i++)
    key = gpu_hash(t->units.data[i].data, t->units.data[i].len, key);
  if (t->registers.len)
    key = gpu_hash(t->registers.data, t->registers.len * sizeof *t->registers.data, key);
  return key;
}

static bool load_linked(const GpuTexts *t, const GpuCode *code, const GpuLoad *how, GpuLoaded *out,
                        Error *err) {
  const GpuJit *jit = how->jit;
  uint32_t sm = gpu_device_sm();
  GpuHash key = t->has_key ? t->key : gpu_hash(&sm, sizeof sm, texts_key(t, jit));
  GpuJit none = {.copies = jit->copies};
  GpuLoad load = {.jit = &none, .as_library = how->as_library, .name = how->name};
  Str cubin = {0};
  if (!jit->has_symbols && gpu_cache_get(key, "cubin", &cubin)) {
    if (gpu_load_blob(cubin.data, &load, out, err)) {
      str_free(&cubin);
      return true;
    }
    gpu_cache_drop(key, "cubin");
    cubin.len = 0;
  }
  gpu_watch_begin(how->name);
  bool ok = link_texts(t, code, jit, &cubin, err);
  gpu_watch_end();
  ok = ok && gpu_load_blob(cubin.data, &load, out, err);
  if (ok && !jit->has_symbols) gpu_cache_put(key, "cubin", cubin.data, cubin.len);
  str_free(&cubin);
  return ok;
}

bool gpu_load_texts(const GpuTexts *t, const GpuCode *code, const GpuLoad *how, GpuLoaded *out,
                    Error *err) {
  if (code->nunits > 1 || code->relocatable) return load_linked(t, code, how, out, err);
  Str packed = {0};
  GpuLoad logged = *how;
  logged.log = t->log;
  gpu_pack_text(&t->units.data[0], code, how->jit, &packed);
  bool ok = gpu_load_blob(packed.data, &logged, out, err);
  str_free(&packed);
  return ok;
}

void gpu_unload(GpuLoaded *l) {
  if (l->module) gpu_real.cuModuleUnload(l->module);
  if (l->library) gpu_real.cuLibraryUnload(l->library);
  gpu_jit_free(&l->jit);
  l->module = NULL;
  l->library = NULL;
}
