// cuLink*: PTX from several sources becomes one image. The "cubin" we hand back is a container of
// our own that only cuModuleLoadData and cuLibraryLoadData understand: the PTX units one after the
// other.
#include "driver/driver.h"

typedef struct LinkState {
  ObjectKind kind;
  VEC(CodeImage) inputs;
  Str output;
  unsigned noptions;
  CUjit_option *options;
  void **values;  // the caller's: log sizes are written back at the end
} LinkState;

static const char link_magic[16] = "WarpgrindLinked";

// Layout: magic, u64 total size, then for each unit u64 length and the text with its NUL.
bool link_is_linked(const void *data) { return !strncmp(data, link_magic, sizeof link_magic); }

void link_open(const void *data, CodeImage *out) {
  const char *p = (const char *)data + sizeof link_magic, *end;
  uint64_t total, len;
  memcpy(&total, p, 8);
  end = (const char *)data + total;
  for (p += 8; p + 8 <= end; p += len + 1) {
    memcpy(&len, p, 8);
    p += 8;
    vec_push(&out->units, (PtxText){arena_strndup(&out->arena, p, len), len, "linked PTX", ""});
  }
}

CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *out) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  LinkState *l = object_new(OBJECT_LINK, sizeof *l);
  l->noptions = n;
  l->values = values;
  l->options = mem_alloc(sizeof *options * MAX(n, 1));
  if (n) memcpy(l->options, options, sizeof *options * n);
  *out = (CUlinkState)l;
  return CUDA_SUCCESS;
}

static CUresult link_get(CUlinkState handle, LinkState **out) {
  TRY(driver_check());
  *out = object_get(handle, OBJECT_LINK);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult fail(LinkState *l, CUresult result, const Error *err) {
  log_error("%s", err->text);
  jit_write_logs(l->noptions, l->options, l->values, "", err->text);
  return result;
}

static CUresult add(LinkState *l, CUjitInputType type, const void *data, size_t size) {
  Error err = {{0}};
  if (type == CU_JIT_INPUT_NVVM) {
    error_set(&err, "cuLinkAddData: NVVM input is not supported by the virtual device; pass PTX");
    return fail(l, CUDA_ERROR_NOT_SUPPORTED, &err);
  }
  CodeImage code;
  CUresult result = code_open(data, size, &code, &err);
  if (result) return fail(l, type == CU_JIT_INPUT_PTX ? CUDA_ERROR_INVALID_PTX : result, &err);
  vec_push(&l->inputs, code);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned n, CUjit_option *options, void **values) {
  LinkState *l;
  TRY(link_get(handle, &l));
  if (!data || !size) return CUDA_ERROR_INVALID_VALUE;
  return add(l, type, data, size);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char *path, unsigned n,
                          CUjit_option *options, void **values) {
  LinkState *l;
  TRY(link_get(handle, &l));
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  Str text = {0};
  Error err = {{0}};
  if (!file_read(path, &text, &err)) return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult result = add(l, type, text.data, text.len);
  str_free(&text);
  return result;
}

// Errors in the PTX and unresolved symbols are found here, as a linker would: the result is loaded
// once to see.
CUresult cuLinkComplete(CUlinkState handle, void **cubin, size_t *size) {
  LinkState *l;
  TRY(link_get(handle, &l));
  if (!cubin || !l->inputs.len) return CUDA_ERROR_INVALID_VALUE;
  str_free(&l->output);
  uint64_t total = 0;
  str_addn(&l->output, link_magic, sizeof link_magic);
  str_addn(&l->output, (char *)&total, 8);
  for (uint32_t i = 0; i < l->inputs.len; i++)
    for (uint32_t k = 0; k < l->inputs.data[i].units.len; k++) {
      const PtxText *t = &l->inputs.data[i].units.data[k];
      uint64_t len = t->len;
      str_addn(&l->output, (char *)&len, 8);
      str_addn(&l->output, t->text, len);
      str_addc(&l->output, 0);
    }
  total = l->output.len;
  memcpy(l->output.data + sizeof link_magic, &total, 8);
  CodeImage all = {0};
  Error err = {{0}};
  link_open(l->output.data, &all);
  CUresult result = module_check(&all, &err);
  code_close(&all);
  if (result) return fail(l, result, &err);
  jit_write_logs(l->noptions, l->options, l->values, "", "");
  *cubin = l->output.data;
  if (size) *size = l->output.len;
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState handle) {
  LinkState *l;
  TRY(link_get(handle, &l));
  for (uint32_t i = 0; i < l->inputs.len; i++) code_close(&l->inputs.data[i]);
  vec_free(&l->inputs);
  str_free(&l->output);
  free(l->options);
  object_delete(l);
  return CUDA_SUCCESS;
}
