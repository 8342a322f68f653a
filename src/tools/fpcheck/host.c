// fpcheck inside the program: which launches are tested everywhere, and the device memory in which
// stored exceptions are remembered.
#include "tools/fpcheck/host.h"
#include "tools/fpcheck/host_closed.h"
#include "tools/fpcheck/kernel.h"
#include "tools/fpcheck/options.h"

static uint64_t every = 1;  // --fp-every

enum { SMALL = 1 << 16 };  // threads of a first launch that is tested everywhere even in fast mode

typedef struct FpKernel {
  _Atomic uint64_t launches;    // checked so far
  _Atomic uint64_t candidates;  // --fp-every: launches so far
} FpKernel;

static FpKernel *of_kernel(SessionKernel *k) {
  void *_Atomic *at = &k->tool_data[TOOL_FPCHECK];
  void *known = atomic_load_explicit(at, memory_order_acquire);
  if (known) return known;
  FpKernel *fresh = mem_alloc(sizeof *fresh);
  if (atomic_compare_exchange_strong(at, &known, fresh)) return fresh;
  free(fresh);
  return known;
}

static void configure(ToolSetup *s) {
  unsigned kinds;
  Error err;
  every = MAX(options_number(s->options, OPT_FP_EVERY), 1u);
  if (!fpcheck_parse_kinds(options_text(s->options, OPT_FP), &kinds, &err))
    log_error("%s", err.text);
}

static bool leaves_out(SessionKernel *k) {
  return every > 1 &&
         atomic_fetch_add_explicit(&of_kernel(k)->candidates, 1, memory_order_relaxed) % every;
}

// Device memory for the exceptions that kernels store. Without it the writer of an exception is not
// known, and every count takes a call.
static void reports_open(ToolDevice *d, const WgChannel *channel, WgReports *w) {
  FpDevice *state = d->state;
  WgFpCounts counts = {.address = w->counts,
                       .sites = MIN(channel->sites, (uint32_t)WG_SITE_NUMBERS)};
  uint64_t at = d->ops->alloc(d->user, sizeof(WgFpMemory));
  if (!at) return;
  if (w->spread)
    counts = (WgFpCounts){
        .address = w->spread, .last_part = WG_SPREAD - 1, .sites = WG_SPREAD_SITES};
  if (!d->ops->write) {
    memcpy((void *)(uintptr_t)at, &counts, sizeof counts);
  } else if (!d->ops->write(d->user, at, &counts, sizeof counts)) {
    d->ops->free(d->user, at);
    return;
  }
  w->tool_memory = state->memory = at;
  state->stored = w->channel + offsetof(WgChannel, tool_count);
}

// Whether the launch reads and writes different allocations: then its threads may run again.
static bool reads_and_writes_differ(const WovenKernel *code, const SessionParams *params) {
  const FpPointers *p = code->tool_data[TOOL_FPCHECK];
  for (uint32_t w = 0; w < p->nwrites; w++) {
    WgMemoryRange to, from;
    uint64_t pointer;
    if (!session_fact_pointer(&p->writes[w], params, &pointer) ||
        !session_ranges_find(pointer, &to))
      return false;
    for (uint32_t r = 0; r < p->nreads; r++)
      if (!session_fact_pointer(&p->reads[r], params, &pointer) ||
          !session_ranges_find(pointer, &from) || from.base == to.base)
        return false;
  }
  return true;
}

static bool has_writes(const WovenKernel *code) {
  const FpPointers *p = code->tool_data[TOOL_FPCHECK];
  return p && p->nwrites;
}

// The first launch of a kernel, if it is small, is tested everywhere.
static bool launch(ToolDevice *d, ToolLaunch *l) {
  FpDevice *state = d->state;
  const WovenKernel *code = session_kernel_code(l->kernel);
  uint64_t before = atomic_fetch_add_explicit(&of_kernel(l->kernel)->launches, 1,
                                              memory_order_relaxed);
  uint32_t flags = (uint32_t)(before % 0xffff + 1) << WG_LAUNCH_FP_TURN;
  if (session_launch_captured()) flags |= WG_LAUNCH_FP_GRAPH;
  if (!before && session_threads_launched() <= SMALL) flags |= WG_LAUNCH_FP_FULL;
  else if (has_writes(code) && reads_and_writes_differ(code, l->params))
    flags |= WG_LAUNCH_FP_APART;
  l->record->flags |= flags;
  l->record->fp = state->memory;
  return true;
}

static void unknown_writes(const void *stream) {
  (void)stream;
  fp_closed_unknown_writes();
}

static void device_closing(ToolDevice *d) {
  fp_closed_close(d);
  fp_copies_close(d);
}

static void reports_ready(ToolDevice *d, const WgChannel *channel) {
  if (((FpDevice *)d->state)->memory) fp_copies_open(d, channel);
}

static void device_close(ToolDevice *d, bool alive) {
  FpDevice *state = d->state;
  if (alive && state->memory) d->ops->free(d->user, state->memory);
}

const Tool tool_fpcheck = {.wants = SESSION_WANTS_COPIES,
                           .device_bytes = sizeof(FpDevice),
                           .spreads_counts = true,
                           .configure = configure,
                           .reports_open = reports_open,
                           .reports_ready = reports_ready,
                           .launch = launch,
                           .leaves_out = leaves_out,
                           .device_open = fp_closed_open,
                           .device_closing = device_closing,
                           .device_close = device_close,
                           .refuses_closed = fp_closed_refuses,
                           .closed_begins = fp_closed_begins,
                           .closed_ends = fp_closed_ends,
                           .allocated = fp_closed_allocated,
                           .contents_kept = fp_closed_contents_kept,
                           .unknown_writes = unknown_writes,
                           .launch_unseen = fp_closed_unknown_writes,
                           .copy_taken = fp_closed_copied,
                           .synchronised = fp_closed_synchronised,
                           .process_ends = fp_closed_tell,
                           .library_begins = fp_library_begins,
                           .library_ran = fp_library_ran,
                           .wants_copy = fp_wants_copy,
                           .copied = fp_copied};
