// Modules: from an image to PTX to code on the virtual device.
#include "driver/driver.h"

#include "base/runstats.h"
#include "image/image.h"
#include "ir/ir.h"

// --- the PTX of an image ---

enum { SM = 90 };

CUresult code_open(const void *data, size_t size, CodeImage *out, Error *err) {
  *out = (CodeImage){0};
  if (link_is_linked(data)) {
    out->is_text = true;
    link_open(data, out);
    return CUDA_SUCCESS;
  }
  Image image;
  if (!image_open(data, size, &image, err)) return CUDA_ERROR_INVALID_IMAGE;
  out->is_text = image.kind == IMAGE_PTX;
  CUresult result = CUDA_SUCCESS;
  ImageEntryList chosen = {0};
  if (!image_choose_ptx(&image, SM, IMAGE_ANY_ARCH | IMAGE_PREFER_PLAIN | IMAGE_USE_DEBUG_PTX,
                        &chosen, err))
    result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  for (uint32_t i = 0; i < chosen.len && !result; i++) {
    const ImageEntry *e = &chosen.data[i];
    const char *text;
    size_t len;
    if (!image_entry_text(e, &out->arena, &text, &len, err)) result = CUDA_ERROR_INVALID_IMAGE;
    else
      vec_push(&out->units, (PtxText){arena_strndup(&out->arena, text, len), len,
                                      e->source[0] ? arena_strdup(&out->arena, e->source) : "PTX",
                                      arena_strdup(&out->arena, e->options)});
  }
  vec_free(&chosen);
  image_close(&image);
  if (result) code_close(out);
  return result;
}

void code_close(CodeImage *code) {
  arena_free(&code->arena);
  vec_free(&code->units);  // is_text stays, for the report
}

// --- loading ---

static PtxModule *parse(const PtxText *unit, Error *err) {
  PtxModule *m = ptx_parse(unit->text, unit->len, unit->name, err);
  if (!m) return NULL;
  if (ptx_verify(m, err) && ir_contract_for(m, 90, NULL, err)) return m;
  ptx_free(m);
  return NULL;
}

// Additions of instrumentation to a module: variables, and kernels for launches from the device.
static bool is_added(const char *name) {
  return !strncmp(name, INTERRUPT_PREFIX, strlen(INTERRUPT_PREFIX)) ||
         (session_tools() && !strncmp(name, "__wg", 4));
}

// Whether a variable is the program's own: no tool added it, and no other module of its library
// defines it.
static bool is_own(const Module *m, const VgpuGlobal *g) {
  return g->size && !(g->managed && m->shares_managed) && !is_added(g->name);
}

VgpuKernel *module_kernel_at(Module *m, uint32_t i) {
  VgpuKernel *k;
  for (uint32_t at = 0; (k = vgpu_module_kernel_at(m->vgpu, at)); at++)
    if (!is_added(vgpu_kernel_info(k)->name) && i-- == 0) return k;
  return NULL;
}

static void register_globals(Module *m) {
  VgpuGlobal g;
  for (uint32_t i = 0; vgpu_module_global_at(m->vgpu, i, &g); i++)
    if (is_own(m, &g)) {
      alloc_add(&(Alloc){.base = (uintptr_t)g.address,
                         .size = g.size,
                         .kind = ALLOC_GLOBAL,
                         .ctx = m->ctx,
                         .device = m->ctx->device,
                         .flags = g.managed,
                         .name = g.name});
      session_variable_loaded(&(SessionVariable){.base = (uintptr_t)g.address,
                                                 .bytes = (const void *)(uintptr_t)g.address,
                                                 .size = g.size,
                                                 .device = m->ctx->device->ordinal});
    }
}

static void unregister_globals(Module *m) {
  VgpuGlobal g;
  Alloc gone;
  for (uint32_t i = 0; vgpu_module_global_at(m->vgpu, i, &g); i++)
    if (is_own(m, &g)) alloc_remove((uintptr_t)g.address, &gone);
}

// A library's module belongs to the first context that uses it.
void module_bind(Module *m, Context *ctx) {
  m->ctx = ctx;
  register_globals(m);
  pthread_mutex_lock(&context_lock);
  vec_push(&ctx->modules, m);
  pthread_mutex_unlock(&context_lock);
}

typedef VEC(PtxModule *) Units;

static void free_units(Units *units) {
  for (uint32_t i = 0; i < units->len; i++) ptx_free(units->data[i]);
  vec_free(units);
}

static bool parse_all(const CodeImage *code, Units *out, Error *err) {
  for (uint32_t i = 0; i < code->units.len; i++) {
    PtxModule *u = parse(&code->units.data[i], err);
    if (!u) {
      free_units(out);
      return false;
    }
    vec_push(out, u);
  }
  return true;
}

// Parses the code and rewrites kernels that call interrupts, so that they can be suspended.
static bool parse_program(const CodeImage *code, Units *out, Interrupts *interrupts, Error *err) {
  interrupt_free(interrupts);
  if (!parse_all(code, out, err)) return false;
  if (interrupt_pass(out->data, out->len, interrupts, err)) return true;
  free_units(out);
  return false;
}

static SessionModule *new_session_module(const CodeImage *code, const Units *units) {
  uint64_t hash = 0;
  char what[64];
  for (uint32_t i = 0; i < code->units.len; i++)
    hash = hash * 31 + base_hash(code->units.data[i].text, code->units.data[i].len);
  snprintf(what, sizeof what, "%s, compute_%u", code->is_text ? "PTX text" : "fatbin",
           units->len ? units->data[0]->sm : 0);
  return session_module(code->units.len ? code->units.data[0].name : "PTX", hash, what);
}

// Puts the run's tools into the program. If that fails, the program runs without them, and the
// report says so.
static CUresult instrument(const CodeImage *code, Module *m, Units *units, bool known, Error *err) {
  SessionModule *s = m->session;
  Woven result;
  Error why = {{0}};
  if (!session_tools() && !session_plan()->find_writes) return CUDA_SUCCESS;
  if (weave_module(units->data, units->len, session_plan(), &result, &why)) {
    if (known) weave_free(&result);  // the same as the first time
    else session_module_instrumented(s, &result);
    return CUDA_SUCCESS;
  }
  free_units(units);
  if (!parse_program(code, units, &m->interrupts, err)) return CUDA_ERROR_INVALID_PTX;
  for (uint32_t u = 0; u < units->len; u++)
    for (uint32_t i = 0; i < units->data[u]->nfuncs; i++)
      if (units->data[u]->funcs[i]->is_entry)
        session_kernel_uncovered(session_kernel(s, units->data[u]->funcs[i]->name), why.text, NULL);
  return CUDA_SUCCESS;
}

static void tell_code(const CodeImage *code, const SessionModule *s) {
  if (!session_code_wanted(s)) return;
  SessionCode *units = mem_alloc(sizeof *units * (code->units.len + 1));
  for (uint32_t i = 0; i < code->units.len; i++) {
    const PtxText *u = &code->units.data[i];
    units[i] = (SessionCode){u->name, u->options, u->text, u->len};
  }
  session_code(s, units, code->units.len);
  free(units);
}

static CUresult load_code(Module *m, const CodeImage *code, SessionModule *known, Error *err) {
  Units units = {0};
  if (!parse_program(code, &units, &m->interrupts, err)) return CUDA_ERROR_INVALID_PTX;
  m->session = known ? known : new_session_module(code, &units);
  TRY(instrument(code, m, &units, known != NULL, err));
  tell_code(code, m->session);
  m->vgpu = vgpu_module_load(units.data, units.len, err);
  vec_free(&units);
  return m->vgpu ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

CUresult module_load(Context *ctx, const CodeImage *code, SessionModule *known, Module **out,
                     Error *err) {
  Module *m = object_new(OBJECT_MODULE, sizeof *m);
  CUresult result = load_code(m, code, known, err);
  if (result) {
    interrupt_free(&m->interrupts);
    object_delete(m);
    return result;
  }
  if (ctx) module_bind(m, ctx);
  *out = m;
  return CUDA_SUCCESS;
}

CUresult module_check(const CodeImage *code, Error *err) {
  Units units = {0};
  if (!parse_all(code, &units, err)) return CUDA_ERROR_INVALID_PTX;
  VgpuModule *vgpu = vgpu_module_load(units.data, units.len, err);
  vec_free(&units);
  if (!vgpu) return CUDA_ERROR_INVALID_PTX;
  vgpu_module_unload(vgpu);
  return CUDA_SUCCESS;
}

void module_unload(Module *m) {
  if (m->ctx) {
    context_wait(m->ctx);
    tools_collect(m);
    unregister_globals(m);
    pthread_mutex_lock(&context_lock);
    for (uint32_t i = 0; i < m->ctx->modules.len; i++)
      if (m->ctx->modules.data[i] == m) {
        m->ctx->modules.data[i] = m->ctx->modules.data[--m->ctx->modules.len];
        break;
      }
    pthread_mutex_unlock(&context_lock);
  }
  for (uint32_t i = 0; i < m->all_functions.len; i++) {
    free(m->all_functions.data[i]->legacy_params);
    object_delete(m->all_functions.data[i]);
  }
  for (uint32_t i = 0; i < m->texrefs.len; i++) texref_free(m->texrefs.data[i]);
  vec_free(&m->all_functions);
  vec_free(&m->texrefs);
  strmap_free(&m->functions);
  vgpu_module_unload(m->vgpu);
  interrupt_free(&m->interrupts);
  if (!m->of_library) session_module_unloaded(m->session);
  object_delete(m);
}

static Function *function_of(Module *m, VgpuKernel *k) {
  const VgpuKernelInfo *info = vgpu_kernel_info(k);
  Function *f = strmap_get(&m->functions, info->name);
  if (f) return f;
  f = object_new(OBJECT_FUNCTION, sizeof *f);
  f->module = m;
  f->vgpu = k;
  f->info = info;
  f->session = session_kernel(m->session, info->name);
  f->nparams = info->nparams;
  f->param_bytes = info->param_bytes;
  const WovenKernel *code = session_kernel_code(f->session);
  if (code && code->record_bytes) {
    f->nparams = code->user_params;
    f->param_bytes = code->user_param_bytes;
  }
  f->interrupts = interrupt_kernel(&m->interrupts, info->name);
  if (f->interrupts && !f->interrupts->refused) {
    f->nparams = f->interrupts->user_params;
    f->param_bytes = f->interrupts->user_param_bytes;
  }
  f->settings = (FunctionSettings){
      .max_dynamic_shared = (int)(49152 - MIN(info->static_shared, 49152)), .carveout = -1};
  strmap_put(&m->functions, info->name, f);
  vec_push(&m->all_functions, f);
  return f;
}

CUresult module_function(Module *m, const char *name, Function **out) {
  VgpuKernel *k = vgpu_module_kernel(m->vgpu, name);
  if (!k) return CUDA_ERROR_NOT_FOUND;
  pthread_mutex_lock(&context_lock);
  *out = function_of(m, k);
  pthread_mutex_unlock(&context_lock);
  return CUDA_SUCCESS;
}

// --- options and messages of the just-in-time compiler ---

static void write_log(char *buffer, void **size_slot, const char *text) {
  size_t size = size_slot ? (size_t)(uintptr_t)*size_slot : 0;
  if (!buffer || !size) return;
  snprintf(buffer, size, "%s", text);
  *size_slot = (void *)(uintptr_t)MIN(strlen(text), size - 1);
}

void jit_write_logs(unsigned n, const CUjit_option *options, void **values, const char *info,
                    const char *error) {
  char *info_buffer = NULL, *error_buffer = NULL;
  void **info_size = NULL, **error_size = NULL;
  for (unsigned i = 0; options && values && i < n; i++) switch ((int)options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: info_buffer = values[i]; break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: info_size = &values[i]; break;
      case CU_JIT_ERROR_LOG_BUFFER: error_buffer = values[i]; break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: error_size = &values[i]; break;
      case CU_JIT_WALL_TIME: values[i] = NULL; break;
    }
  write_log(info_buffer, info_size, info);
  write_log(error_buffer, error_size, error);
}

// The program goes on with an error code. If the code was compiled into the program, the run did
// not do its work; PTX text that the program hands us at run time may be wrong on purpose, and a
// device would refuse it too.
void module_report_failure(const CodeImage *code, const Error *err) {
  log_error("%s", err->text);
  if (!code->is_text) runstats_fail("%s", err->text);
}

static CUresult load(CUmodule *out, const void *data, size_t size, unsigned n,
                     CUjit_option *options, void **values) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out || !data) return CUDA_ERROR_INVALID_VALUE;
  CodeImage code;
  Error err = {{0}};
  Module *m = NULL;
  CUresult result = code_open(data, size, &code, &err);
  if (!result) {
    result = module_load(ctx, &code, NULL, &m, &err);
    code_close(&code);
  }
  if (result) module_report_failure(&code, &err);
  jit_write_logs(n, options, values, "", result ? err.text : "");
  if (!result) *out = (CUmodule)m;
  return result;
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                            void **values) {
  return load(out, image, 0, n, options, values);
}
CUresult cuModuleLoadData(CUmodule *out, const void *image) {
  return load(out, image, 0, 0, NULL, NULL);
}
CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
  return load(out, image, 0, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *out, const char *path) {
  Context *ctx;
  TRY(context_current(&ctx));
  if (!out || !path) return CUDA_ERROR_INVALID_VALUE;
  Str text = {0};
  Error err = {{0}};
  if (!file_read(path, &text, &err)) return CUDA_ERROR_FILE_NOT_FOUND;
  CUresult result = load(out, text.data, text.len, 0, NULL, NULL);
  str_free(&text);
  return result;
}

static CUresult module_get(CUmodule handle, Module **out) {
  Context *ctx;
  TRY(context_current(&ctx));
  *out = object_use(handle, OBJECT_MODULE, SESSION_MODULE_GONE);
  return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void module_functions_gone(const Module *m) {
  for (uint32_t i = 0; i < m->all_functions.len; i++)
    session_destroyed(SESSION_FUNCTION_GONE, m->all_functions.data[i]);
}

CUresult cuModuleUnload(CUmodule handle) {
  Module *m;
  TRY(module_get(handle, &m));
  if (m->library) return CUDA_ERROR_NOT_PERMITTED;  // goes with its library
  session_destroyed(SESSION_MODULE_GONE, handle);
  module_functions_gone(m);
  module_unload(m);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
  Module *m;
  Function *f;
  TRY(module_get(handle, &m));
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  TRY(module_function(m, name, &f));
  *out = (CUfunction)f;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule handle) {
  Module *m;
  TRY(module_get(handle, &m));
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = 0;
  while (module_kernel_at(m, *count)) ++*count;
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule handle) {
  Module *m;
  TRY(module_get(handle, &m));
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&context_lock);
  VgpuKernel *k;
  for (unsigned i = 0; i < n && (k = module_kernel_at(m, i)); i++)
    out[i] = (CUfunction)function_of(m, k);
  pthread_mutex_unlock(&context_lock);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *size, CUmodule handle, const char *name) {
  Module *m;
  VgpuGlobal g;
  TRY(module_get(handle, &m));
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  if (!vgpu_module_global(m->vgpu, name, &g)) return CUDA_ERROR_NOT_FOUND;
  if (out) *out = (CUdeviceptr)(uintptr_t)g.address;
  if (size) *size = g.size;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
  TRY(driver_check());
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  const char *wish = getenv("CUDA_MODULE_LOADING");
  *mode = wish && !strcmp(wish, "EAGER") ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}
