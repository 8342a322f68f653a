// Calls of the mathematical libraries (cuda/library_call.h) as work of a stream. All operands must
// lie in allocations: else the call does not run, and the context fails as after a kernel that
// touches such memory.
#include "driver/driver.h"

struct LibraryWork {
  _Atomic int refs;
  LibraryCall call;
  _Alignas(16) char arguments[];
};

static _Thread_local const LibraryCall *running;

void library_call_retain(LibraryWork *w) { w->refs++; }

void library_call_release(LibraryWork *w) {
  if (--w->refs) return;
  session_library_done(&w->call);
  free(w);
}

// --- memory ---

static bool is_there(const Operand *o) {
  uint64_t bytes = operand_extent(o), at = o->address;
  Alloc a;
  while (bytes && alloc_find(at, &a)) {
    uint64_t left = a.base + a.size - at;
    if (bytes <= left) return true;
    at += left;
    bytes -= left;
  }
  return !bytes;
}

static bool are_there(const Operand *o, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!is_there(&o[i])) return false;
  return true;
}

// --- running ---

static _Thread_local bool failed;

CUresult library_call_run(const LibraryWork *w) {
  const LibraryCall *c = &w->call;
  if (!are_there(c->operands, c->noperands)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  const LibraryCall *before = running;
  running = c;
  failed = false;
  session_library_begins(c, c->operands, c->noperands);
  c->run((void *)c->arguments);
  session_library_ran(c);
  running = before;
  return failed ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

bool library_call_more_operands(const Operand *o, uint32_t n) {
  if (!running || failed) return false;
  session_library_found(running, o, n);
  failed = !are_there(o, n);
  if (!failed) session_library_begins(running, o, n);
  return !failed;
}

void library_call_wrong_data(const char *why) {
  if (running) session_library_wrong(running, why);
}

// --- submitting ---

CUresult library_call_submit(const LibraryCall *call) {
  Stream *s;
  TRY(stream_get((CUstream)call->stream, &s));
  LibraryWork *w = mem_alloc(sizeof *w + call->argument_bytes);
  w->refs = 1;
  w->call = *call;
  memcpy(w->arguments, call->arguments, call->argument_bytes);
  w->call.arguments = w->arguments;
  w->call.stream = s->legacy ? NULL : s;
  w->call.device = s->ctx->device->ordinal;
  w->call.captured = __atomic_load_n(&s->capture, __ATOMIC_RELAXED) != NULL;
  session_hide_frames((const void *)call->run);
  w->call.stack = session_copy_stack();
  bool follows = session_wants(SESSION_WANTS_COPY_TAGS) && !w->call.captured;
  SessionDevice *on = follows ? tools_device_begin(s->ctx) : NULL;
  session_library_asked(&w->call, on);
  if (follows) tools_device_end();
  session_unknown_writes(w->call.stream);
  session_outputs_unseen();
  Work work = {.kind = WORK_LIBRARY, .library = w};
  TRY(queue_submit(s, &work, call->waits ? SUBMIT_WAIT | SUBMIT_INLINE : 0));
  if (!call->waits) return CUDA_SUCCESS;
  session_order_host_saw(s->legacy ? NULL : s);
  return (CUresult)s->ctx->error;
}

bool library_call_is_capturing(const void *stream) {
  Stream *s;
  return stream_get((CUstream)stream, &s) == CUDA_SUCCESS &&
         __atomic_load_n(&s->capture, __ATOMIC_RELAXED) != NULL;
}
