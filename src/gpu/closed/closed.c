// Launches of kernels that are machine code only. For tools that need patches, src/closed patches
// their module at the first launch, and each launch hands its record (WgClosed) to the patches. The
// record of a stream is overwritten in the order of the stream, so that a launch reads its own.
// Other tools look at memory before and after the launch; src/sass tells them what the kernel
// stores.
#include "closed/closed.h"

#include "gpu/closed/closed.h"
#include "gpu/times/stalls.h"

enum { RECORD_BYTES = 512, RECORDS = 2048 };
_Static_assert(sizeof(WgClosed) <= RECORD_BYTES, "record of a stream");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(GpuClosed *) kernels;  // of all contexts

CUresult gpu_cuInit(unsigned flags) {
  CUresult result = gpu_real.cuInit(flags);
  if (session_wants(SESSION_WANTS_STALLS)) gpu_stall_lines_open();  // before any code is loaded
  if (result == CUDA_SUCCESS && session_patches_closed()) closed_start(session_closed_library());
  return result;
}

bool gpu_closed_takes(GpuFunction *f, const char *reason, const char *cure) {
  const char *more = NULL, *why = session_patches_closed() ? closed_refusal(&more) : NULL;
  if (session_reads_closed() || (session_patches_closed() && !why)) return true;
  Str text = {0};
  str_printf(&text, "%s%s%s", reason, why ? "; " : "", why ? why : "");
  session_kernel_uncovered(f->kernel, text.data, more ? more : cure);
  str_free(&text);
  return false;
}

// Allocations fill pages. A program that takes memory in pieces this large may want all of it: its
// pieces get no further page.
size_t gpu_closed_gap(size_t bytes) {
  enum { LEAST = 512, MOST = 8192, PAGE = 2 << 20 };
  const size_t huge = (size_t)4 << 30;
  if (!bytes || bytes > SIZE_MAX / 2) return 0;  // the driver refuses both
  if (!session_wants(SESSION_WANTS_GAPS) || !session_patches_closed() || closed_refusal(NULL))
    return 0;
  size_t gap = MIN(MAX(bytes / 8, (size_t)LEAST), (size_t)MOST) / LEAST * LEAST;
  return bytes >= huge ? MIN(gap, -bytes % PAGE) : gap;
}

// --- the kernel in a context ---

static bool patch_kernel(GpuFunction *f, GpuContext *c, GpuClosed *k, Error *err) {
  GpuEntered e = gpu_context_enter(c);
  bool ok = false;
  if (!e.ok || !gpu_real.cuFuncGetModule ||
      (f->is_kernel &&
       gpu_real.cuKernelGetFunction(&k->function, (CUkernel)f->handle) != CUDA_SUCCESS) ||
      gpu_real.cuFuncGetModule(&k->module, k->function) != CUDA_SUCCESS) {
    error_set(err, "the driver does not say which module it belongs to");
  } else {
    if (gpu_real.cuFuncLoad) gpu_real.cuFuncLoad(k->function);
    ok = closed_patch(k->module, c->handle, c->sm, err);
  }
  if (ok && !closed_code_address(k->module, f->name, &k->code)) k->code = 0;
  gpu_context_leave(e);
  return ok;
}

static void prepare_kernel(GpuFunction *f, GpuContext *c, GpuClosed *k) {
  Error err = {{0}};
  k->function = f->handle;
  k->patched = session_patches_closed() && patch_kernel(f, c, k, &err);
  k->stores = gpu_closed_stores(f);
  if (session_reads_closed() && !k->stores && !err.text[0])
    error_set(&err, "its machine code was not found in its module");
  if (k->patched) gpu_repeats_open(f, c, k);
  k->ok = session_closed_kernel(f->kernel, &(SessionClosedKernel){k->patched, k->stores}, &err);
  if (!k->ok) session_kernel_uncovered(f->kernel, err.text, NULL);
  else if (err.text[0]) session_kernel_note(f->kernel, err.text);
}

static GpuClosed *find_kernel(GpuFunction *f, CUcontext context) {
  GpuClosed *k = atomic_load_explicit(&f->closed, memory_order_acquire);
  while (k && atomic_load_explicit(&k->context, memory_order_relaxed) != context) k = k->next;
  return k;
}

static GpuClosed *closed_kernel(GpuFunction *f, GpuContext *c) {
  GpuClosed *k = find_kernel(f, c->handle);
  if (k) return k;
  pthread_mutex_lock(&lock);
  k = find_kernel(f, c->handle);
  if (!k) {
    k = mem_alloc(sizeof *k);
    k->context = c->handle;
    pthread_mutex_init(&k->launching, NULL);
    prepare_kernel(f, c, k);
    vec_push(&kernels, k);
    k->next = atomic_load(&f->closed);
    atomic_store_explicit(&f->closed, k, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return k;
}

void gpu_closed_unloaded(GpuFunction *f) {
  for (GpuClosed *k = atomic_load(&f->closed); k; k = k->next)
    if (k->module && k->context) closed_module_gone(k->module);
}

void gpu_closed_session_ends(GpuContext *c) {
  closed_context_gone(c->handle);
  free(c->closed);
  c->closed = NULL;
}

void gpu_closed_context_gone(CUcontext handle) {
  gpu_repeats_context_gone(handle);
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < kernels.len; i++) {
    GpuClosed *k = kernels.data[i];
    if (k->context != handle) continue;
    if (k->module) closed_module_gone(k->module);
    k->context = NULL;
  }
  pthread_mutex_unlock(&lock);
}

// --- the record of a stream ---

static uint64_t stream_id(CUstream stream) {
  unsigned long long id = 0;
  if (gpu_real.cuStreamGetId && gpu_real.cuStreamGetId(stream, &id) == CUDA_SUCCESS) return id;
  return (uintptr_t)stream;
}

// The number of a stream's record, from 1 on; 0: there is no memory for it. If the program has used
// more streams than there are records, we wait once for its work and give the records out anew.
static uint32_t record_of(GpuContext *c, CUstream stream) {
  pthread_mutex_lock(&lock);
  struct GpuClosedRecords *r = c->closed;
  if (!r) r = c->closed = mem_alloc(sizeof *r);
  if (!r->memory && gpu_real.cuMemAlloc_v2(&r->memory, (size_t)RECORD_BYTES * RECORDS))
    r->memory = 0;
  uint64_t id = stream_id(stream) + 1;
  uintptr_t number = (uintptr_t)u64map_get(&r->of_stream, id);
  if (!number) {
    if (r->of_stream.len == RECORDS && gpu_real.cuCtxSynchronize() == CUDA_SUCCESS)
      u64map_free(&r->of_stream);
    number = r->of_stream.len + 1;
    if (number <= RECORDS) u64map_put(&r->of_stream, id, (void *)number);
  }
  if (!r->memory || number > RECORDS) number = 0;
  pthread_mutex_unlock(&lock);
  return (uint32_t)number;
}

// The context is entered.
static bool write_record(GpuContext *c, CUstream stream, const WgClosed *record,
                         CUdeviceptr address) {
  size_t n = 0;
  while (record->windows[n].base) n++;
  size_t bytes = offsetof(WgClosed, windows) + (n + 1) * sizeof record->windows[0];
  return gpu_real.cuMemcpyHtoDAsync_v2(address, record, bytes, stream) == CUDA_SUCCESS;
}

// Locks the kernel if it has a record; gpu_closed_end unlocks it when the launch is made.
static void hand_over_record(GpuLaunch *l, SessionDevice *d, const SessionCall *call,
                             GpuClosed *k) {
  WgClosed record;
  CUdeviceptr address = 0;
  CUstream stream = (CUstream)(uintptr_t)l->event.stream;
  if (!session_closed_record(d, call, l->closed_looks, k->code, &record)) return;
  GpuEntered e = gpu_context_enter(l->context);
  uint32_t number = e.ok ? record_of(l->context, stream) : 0;
  if (number) {
    address = l->context->closed->memory + (number - 1) * (CUdeviceptr)RECORD_BYTES;
    if (l->watch) gpu_repeats_watch(l, call, k, number, &record);
  }
  bool written = address && write_record(l->context, stream, &record, address);
  gpu_context_leave(e);
  if (!written) return;
  pthread_mutex_lock(&k->launching);
  closed_set_record(k->function, address);
  l->closed_record = true;
}

void gpu_closed_begin(GpuLaunch *l, const SessionCall *call) {
  GpuClosed *k = closed_kernel(l->of, l->context);
  SessionDevice *d = k->ok ? gpu_context_use(l->context) : NULL;
  if (!d) return;
  l->closed = k;
  l->closed_record = false;
  l->watch = NULL;
  l->closed_looks = k->stores ? session_closed_begins(d, call, k->stores) : NULL;
  if (l->closed_looks && session_wants(SESSION_WANTS_CONTENTS))
    l->run.settled |= session_closed_settles(l->closed_looks);
  bool repeats = k->patched && gpu_repeats_begin(l, call, k);
  if (k->patched && !repeats) hand_over_record(l, d, call, k);
  gpu_context_used(l->context);
  if (l->closed_record || l->closed_looks || repeats) session_closed_checked(l->of->kernel);
}

// Launches that are not selected find no record.
void gpu_closed_end(GpuLaunch *l, bool launched) {
  if (l->watch) gpu_repeats_end(l, l->closed, launched && l->closed_record);
  if (l->closed_record) {
    closed_set_record(l->closed->function, 0);
    pthread_mutex_unlock(&l->closed->launching);
  }
  if (!l->closed_looks) return;
  SessionDevice *d = gpu_context_use(l->context);
  session_closed_ends(d, l->closed_looks, launched);
  if (d) gpu_context_used(l->context);
}
