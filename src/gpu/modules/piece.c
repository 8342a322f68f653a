// Decides for each piece of a module, once: our code or the original. A decision is final, since
// variables must exist once.
#include "gpu/closed/closed.h"

#include <time.h>

// --- devices ---

static unsigned sm_of_device(CUdevice d) {
  int major = 0, minor = 0;
  gpu_real.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
  gpu_real.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
  return (unsigned)(major * 10 + minor);
}

static unsigned lowest_sm;
static bool devices_differ;
static void look_at_devices(void) {
  int n = 0;
  gpu_real.cuDeviceGetCount(&n);
  for (int i = 0; i < n; i++) {
    CUdevice d;
    if (gpu_real.cuDeviceGet(&d, i) != CUDA_SUCCESS) continue;
    unsigned sm = sm_of_device(d);
    devices_differ |= lowest_sm && sm != lowest_sm;
    lowest_sm = lowest_sm ? MIN(lowest_sm, sm) : sm;
  }
}

// A library's code runs on every device: where they differ, we take what fits all of them.
static unsigned library_sm(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, look_at_devices);
  return lowest_sm;
}

unsigned gpu_device_sm(void) {
  GpuContext *c = gpu_context_current();
  return c ? c->sm : library_sm();
}

GpuPushed gpu_push_context(CUcontext ctx) {
  CUcontext now = NULL;
  if (!ctx || gpu_real.cuCtxGetCurrent(&now) != CUDA_SUCCESS || now == ctx)
    return (GpuPushed){false};
  return (GpuPushed){gpu_real.cuCtxPushCurrent_v2(ctx) == CUDA_SUCCESS};
}
void gpu_pop_context(GpuPushed p) {
  CUcontext old;
  if (p.pushed) gpu_real.cuCtxPopCurrent_v2(&old);
}

// --- a module ---

static void made_free(GpuMade *made);

static GpuHash index_key(const GpuModule *m) {
  return gpu_jit_hash(&m->jit, gpu_hash(&m->code.hash, sizeof m->code.hash, gpu_cache_seed()));
}

static GpuHash piece_key(const GpuModule *m, uint32_t piece) {
  uint32_t facts[2] = {m->sm, piece};
  return gpu_hash(facts, sizeof facts, index_key(m));
}

GpuModule *gpu_module_new(bool is_library, const GpuImage *image) {
  GpuModule *m = mem_alloc(sizeof *m);
  pthread_mutex_init(&m->lock, NULL);
  m->sm = library_sm();
  if (!is_library) m->sm = gpu_device_sm();
  gpu_code_open(&m->code, image->image, image->size, image->path, m->sm);
  gpu_jit_keep(&m->jit, image->n, image->options, image->values);
  for (uint32_t i = 0; i < m->code.nunits; i++)
    gpu_jit_add_ptxas(&m->jit, m->code.units[i].options);
  m->shared = gpu_shared(&m->code, piece_key(m, UINT32_MAX));
  m->session = gpu_shared_session(m->shared);
  return m;
}

// Function records stay, and so does the bare module they point to: graphs and other threads may
// still hold them.
void gpu_module_delete(GpuModule *m) {
  gpu_repeats_module_gone(m);
  gpu_variables_gone(m);
  session_module_unloaded(m->session);
  for (uint32_t i = 0; i < m->npieces; i++) {
    GpuPiece *p = &m->pieces[i];
    if (atomic_load(&p->state) == PIECE_OURS) gpu_unload(&p->loaded);
    if (p->made) made_free(p->made);
    interrupt_free(&p->interrupts);
    pthread_mutex_destroy(&p->lock);
    free((void *)p->reason);
    free(p->kernels);
    free(p->vars);
  }
  free(m->pieces);
  m->pieces = NULL;
  m->npieces = 0;
  m->indexed = true;  // with no names
  strmap_free(&m->piece_of);
  gpu_split_free(m->split);
  m->split = NULL;
  arena_free(&m->text_arena);
  gpu_code_close(&m->code);
  m->code = (GpuCode){.name = "", .what = "", .reason = "it was unloaded"};
  free(m->jit.copies);
  vec_free(&m->functions);
  vec_free(&m->context_modules);
}

// --- which piece a name is in ---

static void make_pieces(GpuModule *m, uint32_t n) {
  m->pieces = mem_alloc(sizeof *m->pieces * MAX(n, 1));
  m->npieces = n;
  for (uint32_t i = 0; i < n; i++) {
    pthread_mutex_init(&m->pieces[i].lock, NULL);
    m->pieces[i].index = i;
  }
}

static void add_name(GpuModule *m, const char *name, bool is_kernel, uint32_t piece) {
  GpuPiece *p = &m->pieces[piece];
  const char *copy = arena_strdup(&m->code.arena, name);
  strmap_put(&m->piece_of, copy, p);
  const char ***list = is_kernel ? &p->kernels : &p->vars;
  uint32_t *n = is_kernel ? &p->nkernels : &p->nvars;
  *list = mem_realloc(*list, sizeof **list * (*n + 1));
  (*list)[(*n)++] = copy;
}

static bool is_linked(const GpuModule *m) { return m->code.nunits > 1 || m->code.relocatable; }

static bool make_split(GpuModule *m, Error *err) {
  const char *text;
  size_t len;
  if (m->split) return true;
  if (!gpu_code_text(&m->code, 0, &m->text_arena, &text, &len, err)) return false;
  m->split = gpu_split(text, len);
  uint32_t line = gpu_split_failed(m->split);
  return !line || error_set(err, "%s: line %u of its PTX is not understood", m->code.name, line);
}

// The index as a file: u32 pieces, u32 names, then for each u32 piece, u8 is_kernel, the name and
// its zero.
static bool read_index(GpuModule *m) {
  Str file = {0};
  if (!gpu_cache_get(index_key(m), "index", &file)) return false;
  uint32_t head[2] = {0, 0}, seen = 0;
  const char *p = file.data + sizeof head, *end = file.data + file.len;
  bool ok = file.len >= sizeof head && !*end;
  if (ok) memcpy(head, file.data, sizeof head);
  // check all before anything is kept
  for (ok = ok && head[0] <= head[1]; ok && seen < head[1]; seen++) {
    uint32_t piece;
    ok = end - p > 5;
    if (!ok) break;
    memcpy(&piece, p, 4);
    ok = piece < head[0];
    p += 5 + strlen(p + 5) + 1;
    ok = ok && p <= end;
  }
  if (ok) {
    make_pieces(m, head[0]);
    p = file.data + sizeof head;
    for (uint32_t i = 0; i < head[1]; i++, p += 5 + strlen(p + 5) + 1) {
      uint32_t piece;
      memcpy(&piece, p, 4);
      add_name(m, p + 5, p[4], piece);
    }
  }
  str_free(&file);
  return ok;
}

static void write_index(const GpuModule *m, const GpuSplit *s) {
  Str file = {0};
  uint32_t head[2] = {gpu_split_count(s), 0}, it = 0, piece;
  const char *name;
  bool is_kernel;
  str_addn(&file, (char *)head, sizeof head);
  while (gpu_split_next(s, &it, &name, &is_kernel, &piece)) {
    if (piece == UINT32_MAX) continue;
    head[1]++;
    str_addn(&file, (char *)&piece, 4);
    str_addc(&file, is_kernel);
    str_addn(&file, name, strlen(name) + 1);
  }
  memcpy(file.data, head, sizeof head);
  gpu_cache_put(index_key(m), "index", file.data, file.len);
  str_free(&file);
}

static void add_split_names(GpuModule *m, const GpuSplit *s, bool one_piece) {
  uint32_t it = 0, piece;
  const char *name;
  bool is_kernel;
  while (gpu_split_next(s, &it, &name, &is_kernel, &piece))
    if ((one_piece || piece != UINT32_MAX) && !strmap_get(&m->piece_of, name))
      add_name(m, name, is_kernel, one_piece ? 0 : piece);
}

static void index_linked(GpuModule *m, Error *err) {
  make_pieces(m, 1);
  for (uint32_t i = 0; i < m->code.nunits; i++) {
    Arena a = {0};
    const char *text;
    size_t len;
    if (gpu_code_text(&m->code, i, &a, &text, &len, err)) {
      GpuSplit *s = gpu_split(text, len);
      uint32_t line = gpu_split_failed(s);
      if (line) error_set(err, "%s: line %u of its PTX is not understood", m->code.name, line);
      add_split_names(m, s, true);
      gpu_split_free(s);
    }
    arena_free(&a);
  }
}

static void make_index(GpuModule *m) {
  Error err = {{0}};
  m->indexed = true;
  if (!m->code.nunits) return;
  if (is_linked(m)) {
    index_linked(m, &err);
  } else if (session_tools() || !read_index(m)) {
    if (make_split(m, &err)) {
      make_pieces(m, gpu_split_count(m->split));
      add_split_names(m, m->split, false);
      if (!session_tools()) write_index(m, m->split);
    }
  }
  if (!err.text[0]) return;
  strmap_free(&m->piece_of);  // all or nothing: a variable must not be missed
  m->code.reason = arena_strdup(&m->code.arena, err.text);
}

GpuPiece *gpu_piece_of(GpuModule *m, const char *name) {
  pthread_mutex_lock(&m->lock);
  if (!m->indexed) make_index(m);
  GpuPiece *p = strmap_get(&m->piece_of, name);
  pthread_mutex_unlock(&m->lock);
  return p;
}

// --- the decision ---

// Asks for a kernel, so that we hear of the compiler's refusal now: the driver may put off
// compiling until a kernel is first needed in a context.
static bool is_usable(const GpuPiece *p, const GpuLoaded *l, const char *name, Error *err) {
  CUfunction f;
  CUkernel k;
  CUresult result = CUDA_SUCCESS;
  bool known = false;
  for (uint32_t i = 0; i < p->nkernels; i++) known |= !strcmp(p->kernels[i], name);
  if (!known) name = p->nkernels ? p->kernels[0] : NULL;  // a variable was asked for
  if (!name) return true;
  gpu_watch_begin(name);
  if (l->module) result = gpu_real.cuModuleGetFunction(&f, l->module, name);
  else if ((result = gpu_real.cuLibraryGetKernel(&k, l->library, name)) == CUDA_SUCCESS &&
           gpu_context_current())
    result = gpu_real.cuKernelGetFunction(&f, k);
  gpu_watch_end();
  if (result == CUDA_SUCCESS) return true;
  return gpu_driver_error(err, result, l->jit.log);
}

static bool load_usable(GpuModule *m, GpuPiece *p, const GpuTexts *t, const char *name,
                        Error *err) {
  GpuLoad how = {.jit = &m->jit, .as_library = m->library != NULL, .name = name};
  if (!gpu_load_texts(t, &m->code, &how, &p->loaded, err)) return false;
  if (is_usable(p, &p->loaded, name, err)) return true;
  gpu_unload(&p->loaded);
  return false;
}

static bool load_from_cache(GpuModule *m, GpuPiece *p, const char *name) {
  Str blob = {0};
  Error err;
  const char *kind = is_linked(m) ? "cubin" : "ptx";
  if (session_tools() || session_plan()->find_writes || m->jit.has_symbols ||
      !gpu_cache_get(piece_key(m, p->index), kind, &blob))
    return false;
  const GpuJit none = {.n = 0};
  GpuLoad how = {
      .jit = is_linked(m) ? &none : &m->jit, .as_library = m->library != NULL, .name = name};
  bool ok = gpu_load_blob(blob.data, &how, &p->loaded, &err);
  if (ok && !is_usable(p, &p->loaded, name, &err)) {
    gpu_unload(&p->loaded);
    ok = false;
  }
  if (!ok) gpu_cache_drop(piece_key(m, p->index), kind);
  str_free(&blob);
  return ok;
}

// The PTX of a piece, in memory of `made`.
static bool piece_texts(GpuModule *m, const GpuPiece *p, GpuMade *made, const char **texts,
                        size_t *lens, Error *err) {
  bool ok = true;
  if (is_linked(m)) {
    for (uint32_t i = 0; ok && i < m->code.nunits; i++)
      ok = gpu_code_text(&m->code, i, &made->arena, &texts[i], &lens[i], err);
    return ok;
  }
  pthread_mutex_lock(&m->lock);
  ok = make_split(m, err);
  if (ok) gpu_split_text(m->split, p->index, &made->text);
  pthread_mutex_unlock(&m->lock);
  texts[0] = made->text.data;
  lens[0] = made->text.len;
  return ok;
}

static void keep_in_cache(const GpuModule *m, const GpuPiece *p, const GpuTexts *t) {
  Str packed = {0};
  if (session_tools() || is_linked(m) || m->jit.has_symbols) return;
  gpu_pack_text(&t->units.data[0], &m->code, &m->jit, &packed);
  gpu_cache_put(piece_key(m, p->index), "ptx", packed.data, packed.len);
  str_free(&packed);
}

// Prints one text for each unit. Linked code with checks has its probes in a unit of their own,
// with limits on registers.
static void print_units(const GpuModule *m, const GpuMade *made, const unsigned *registers,
                        GpuTexts *t) {
  if (is_linked(m) && made->result.probe_prefix)
    gpu_probe_unit_print(made->units, made->n, made->result.probe_prefix, registers, t);
  else gpu_emit_print(made->units, made->n, t);
}

// Compiles a piece that admits what the original admits. A second try limits the registers of
// kernels or of functions that they call. The compiler stops at the first unit that it refuses, so
// that each unit may need a try of its own. log: its message if it refuses.
static bool compile(GpuModule *m, GpuPiece *p, const GpuMade *made, const char *name, Str *log,
                    Error *err) {
  enum { ATTEMPTS = 4 };
  unsigned *registers = mem_alloc(sizeof *registers * (made->n + 1));
  bool done = false, ok = false;
  if (session_tools()) gpu_fit_registers(m, p, made);
  gpu_probe_unit_limits(made->units, made->n, registers);
  for (uint32_t attempt = 0; attempt < ATTEMPTS + made->n && !done; attempt++) {
    GpuTexts t = {.has_key = !session_tools() && !made->interrupts.n,
                  .key = piece_key(m, p->index),
                  .log = log};
    bool try_again = false;
    print_units(m, made, registers, &t);
    ok = load_usable(m, p, &t, name, err);
    // the text does not tell all about kernels with interrupts: they are made again
    if (ok && !made->interrupts.n) keep_in_cache(m, p, &t);
    gpu_texts_free(&t);
    if (!ok)
      try_again = is_linked(m) && made->result.probe_prefix &&
                  gpu_limit_callees(log->data, made->units, made->n, made->result.probe_prefix,
                                    registers);
    else if (session_tools() && !made->interrupts.n && !gpu_fit(m, p, made, &try_again, err)) {
      gpu_unload(&p->loaded);
      ok = false;
    }
    done = ok || !try_again;
  }
  free(registers);
  return ok;
}

// Without tools the session learns only that these kernels are ours.
static void describe_identity(const GpuPiece *p, Woven *out) {
  *out = (Woven){.nkernels = p->nkernels};
  out->kernels = ARENA_ARRAY(&out->arena, WovenKernel, p->nkernels);
  for (uint32_t i = 0; i < p->nkernels; i++)
    out->kernels[i] = (WovenKernel){.name = arena_strdup(&out->arena, p->kernels[i]),
                                    .instrumented = true};
}

static double now_ms(void) { return (double)clock_ns() / 1e6; }

static void made_free(GpuMade *made) {
  for (uint32_t i = 0; i < made->n; i++) ptx_free(made->units[i]);
  interrupt_free(&made->interrupts);
  str_free(&made->text);
  arena_free(&made->arena);
  free(made);
}

// NULL: it cannot be made, err says why. refused: kernels that stay as they are.
static GpuMade *make(GpuModule *m, GpuPiece *p, const GpuRefused *refused, Error *err) {
  GpuMade *made = mem_alloc(sizeof *made);
  GpuEmitted emitted;
  double start = now_ms();
  uint32_t n = m->code.nunits;
  const char **texts = ARENA_ARRAY(&made->arena, const char *, n);
  size_t *lens = ARENA_ARRAY(&made->arena, size_t, n);
  made->units = ARENA_ARRAY(&made->arena, PtxModule *, n);
  GpuSource source = {texts, lens, n, &m->code, &m->jit, m->sm};
  if (piece_texts(m, p, made, texts, lens, err) &&
      gpu_emit(&source, refused, made->units, &emitted, err)) {
    made->result = emitted.woven;
    made->interrupts = emitted.interrupts;
    made->n = n;
    made->ms = now_ms() - start;
    return made;
  }
  made_free(made);
  return NULL;
}

// Whether the original kernels serve as well: no check was added, and the piece defines no
// variable, which our code would have at another address.
static bool nothing_was_added(const GpuPiece *p, const Woven *made) {
  bool unchanged = made->nkernels > 0 && !p->nvars;
  for (uint32_t i = 0; i < made->nkernels; i++) unchanged &= made->kernels[i].unchanged;
  return unchanged;
}

// If the compiler refuses some kernels with checks in them and names them, these stay as they are;
// the others are made again without them.
static bool compile_most(GpuModule *m, GpuPiece *p, GpuMade **made, bool told, const char *name,
                         Error *err) {
  GpuRefused refused = {0};
  Str log = {0};
  bool ok = compile(m, p, *made, name, &log, err);
  while (!ok && !told && session_tools() && p->nkernels > refused.kernels.len + 1 &&
         gpu_refused_add(&refused, log.data, p->kernels, p->nkernels)) {
    GpuMade *fewer = make(m, p, &refused, err);
    if (!fewer) break;
    weave_free(&(*made)->result);
    made_free(*made);
    *made = fewer;
    log.len = 0;
    ok = compile(m, p, fewer, name, &log, err);
  }
  gpu_refused_free(&refused);
  str_free(&log);
  return ok;
}

static bool make_ours(GpuModule *m, GpuPiece *p, const char *name, Error *err) {
  Woven result;
  if (m->code.as_is) {  // no reason: it counts as covered
    describe_identity(p, &result);
    gpu_shared_tell(m->shared, p->index, &result);
    return false;
  }
  double start = now_ms();
  if (load_from_cache(m, p, name)) {
    log_verbose("kernel %s: from the cache, loaded in %.1f ms", name, now_ms() - start);
    describe_identity(p, &result);
    gpu_shared_tell(m->shared, p->index, &result);
    return true;
  }
  if (is_linked(m) && devices_differ)
    return error_set(err, "code that must be linked, and the devices of this machine differ");
  bool told = p->made != NULL;
  GpuMade *made = told ? p->made : make(m, p, &(GpuRefused){0}, err);
  p->made = NULL;
  if (!made) return false;
  if (session_tools() && nothing_was_added(p, &made->result)) {
    log_verbose("kernel %s: there is nothing to check in it", name);
    p->unchanged = true;
    if (!told) gpu_shared_tell(m->shared, p->index, &made->result);
    made_free(made);
    return false;
  }
  start = now_ms();
  bool ok = compile_most(m, p, &made, told, name, err);
  if (ok) {
    p->interrupts = made->interrupts;
    made->interrupts = (Interrupts){0};
  }
  log_verbose("kernel %s: made in %.1f ms, compiled and loaded in %.1f ms", name, made->ms,
              now_ms() - start);
  if (!session_tools() && !session_plan()->find_writes) describe_identity(p, &made->result);
  if (!told && ok) gpu_shared_tell(m->shared, p->index, &made->result);
  else if (!told) weave_free(&made->result);
  made_free(made);
  return ok;
}

const WovenKernel *gpu_piece_look(GpuModule *m, GpuPiece *p, SessionKernel *k) {
  const WovenKernel *code = NULL;
  if (m->code.as_is || is_linked(m)) return NULL;
  pthread_mutex_lock(&p->lock);
  if (atomic_load(&p->state) == PIECE_UNDECIDED) {
    Error err = {{0}};
    code = session_kernel_code(k);  // of another module with this image
    GpuMade *made = code ? NULL : make(m, p, &(GpuRefused){0}, &err);
    if (made && !made->interrupts.n && gpu_shared_tell(m->shared, p->index, &made->result))
      p->made = made;
    else if (made) made_free(made);
    if (made) code = session_kernel_code(k);
  }
  pthread_mutex_unlock(&p->lock);
  return code;
}

int gpu_piece_decide(GpuModule *m, GpuPiece *p, const char *name) {
  int state = atomic_load_explicit(&p->state, memory_order_acquire);
  if (state != PIECE_UNDECIDED) return state;
  pthread_mutex_lock(&p->lock);
  state = atomic_load(&p->state);
  if (state == PIECE_UNDECIDED) {
    Error err = {{0}};
    GpuQuiet q = gpu_quiet_begin();
    GpuPushed pushed = gpu_push_context(m->context);
    state = make_ours(m, p, name, &err) ? PIECE_OURS : PIECE_ORIGINAL;
    if (state == PIECE_OURS) gpu_variables_tell(m, p);
    gpu_pop_context(pushed);
    gpu_quiet_end(q);
    if (state == PIECE_ORIGINAL && !m->code.as_is && !p->unchanged) {
      p->reason = mem_strdup(err.text[0] ? err.text : "unknown");
      log_verbose("kernel %s is left as it is: %s", name, p->reason);
    }
    atomic_store_explicit(&p->state, state, memory_order_release);
  }
  pthread_mutex_unlock(&p->lock);
  return state;
}
