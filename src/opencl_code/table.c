// The functions that the layer calls (base/opencl_code.h).
#include "opencl_code/opencl_code.h"

#include "tools/tool.h"

static size_t record_bytes(const OpenclKernel *k) { return k->code ? k->code->record_bytes : 0; }

// A record of zeros means: check nothing.
static void fill_record(OpenclDevice *d, OpenclKernel *k, const OpenclNdRange *r, uint32_t number,
                        void *record) {
  enum { MOST = 256 };
  void *values[MOST];
  SessionArgument list[MOST];
  uint64_t zero = 0;
  uint32_t n = MIN(r->n, (uint32_t)MOST);
  memset(record, 0, k->code->record_bytes);
  if (k->code->user_params > MOST || !session_launch_selected(k->session)) return;
  for (uint32_t i = 0; i < MOST; i++) values[i] = &zero;
  for (uint32_t i = 0; i < n; i++) {
    const OpenclArgument *a = &r->arguments[i];
    values[i] = a->value ? (void *)(uintptr_t)a->value : &zero;
    list[i] = (SessionArgument){a->base, a->size, a->no_reads, a->no_writes};
  }
  session_arguments(list, n);
  if (!session_device_record(d->session, k->session, number, &(SessionParams){.pointers = values},
                             record))
    memset(record, 0, k->code->record_bytes);
  session_arguments(NULL, 0);
  opencl_device_launches(d, ((const WgLaunch *)record)->memory);
}

// Reports all launches of a context as launches of one stream: the order between its queues is not
// known here.
static void launch(OpenclDevice *d, OpenclKernel *k, const OpenclNdRange *r, void *record) {
  SessionLaunch l = {.kernel = k->session, .cluster = {1, 1, 1}};
  if (d) l.device = d->reach.ordinal;
  memcpy(l.grid, r->groups, sizeof l.grid);
  memcpy(l.block, r->items, sizeof l.block);
  session_thread_api(API_OPENCL);
  uint32_t number = session_launch(&l);
  if (d && k->code) fill_record(d, k, r, number, record);
  session_thread_api(API_CUDA);
}

static void ended(OpenclDevice *d, OpenclKernel *k, const void *record) {
  session_device_done(d->session, record);
}

static void refused(OpenclKernel *k, const char *why) {
  session_kernel_uncovered(k->session, why, NULL);
}

static void allocated(OpenclDevice *d, uint64_t base, uint64_t size) {
  session_thread_api(API_OPENCL);
  session_alloc(base, size, SESSION_DEVICE, d->reach.ordinal, NULL);
  session_thread_api(API_CUDA);
}

static void freed(OpenclDevice *d, uint64_t base) { session_free(base); }

static const OpenclCode table = {.open = opencl_device_open,
                                 .collect = opencl_device_collect,
                                 .close = opencl_device_close,
                                 .weave = opencl_weave,
                                 .kernel = opencl_kernel,
                                 .unchecked = opencl_unchecked,
                                 .record_bytes = record_bytes,
                                 .launch = launch,
                                 .ended = ended,
                                 .refused = refused,
                                 .allocated = allocated,
                                 .freed = freed,
                                 .hide = session_hide_frames};

// Tools that need every write, or memory contents before launches, cannot follow these kernels.
const OpenclCode *opencl_code(void) {
  enum {
    NOT_TOLD = SESSION_WANTS_CONTENTS | SESSION_WANTS_INPUTS,
    ALL = NOT_TOLD | SESSION_WANTS_LAUNCHES_TAKEN
  };
  if (!session_tools()) return NULL;
  EACH_RUNNING_TOOL(t, tool) {
    if (!(tool->wants & ALL)) continue;
    if (tool->wants & NOT_TOLD)
      log_line("kernels of installed OpenCL platforms run without checks: %s cannot follow them; "
               "leave it out, or use --opencl=ours",
               tool_name((ToolId)t));
    return NULL;
  }
  return &table;
}
