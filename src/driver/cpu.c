// Runs kernels on the virtual device and turns its results into CUDA errors and reports.
#include "driver/driver.h"

#include <unistd.h>

#include "base/runstats.h"

// Prints `text`, which names the missing feature, and ends the process with exit code 125.
static _Noreturn void unsupported_exit(const char *text) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&once);  // the first thread ends the process
  print_flush();
  fflush(NULL);
  runstats_fail("%s", text);
  log_error("%s", text);
  _exit(125);
}

static CUresult result_of(VgpuStatus status) {
  switch (status) {
    case VGPU_OK: return CUDA_SUCCESS;
    case VGPU_ILLEGAL_ADDRESS: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case VGPU_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case VGPU_ILLEGAL_INSTRUCTION: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case VGPU_ASSERT: return CUDA_ERROR_ASSERT;
    case VGPU_STACK_OVERFLOW: return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case VGPU_INVALID_PC: return CUDA_ERROR_INVALID_PC;
    case VGPU_INVALID_LAUNCH: return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    case VGPU_DEADLOCK: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case VGPU_CANCELLED: return CUDA_ERROR_DEINITIALIZED;
    case VGPU_TRAP:
    case VGPU_UNSUPPORTED: break;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

// Writes the PTX beside the report: for code without a line table, the message names a PTX line.
static void keep_ptx(const VgpuFault *fault) {
  if (!fault->ptx) return;
  Str path = {0};
  Error err = {{0}};
  const char *log = settings()->log_path, *slash = log ? strrchr(log, '/') : NULL;
  if (slash) str_addn(&path, log, (size_t)(slash - log) + 1);
  str_printf(&path, "warpgrind-%d.ptx", (int)getpid());
  if (file_write(path.data, fault->ptx, fault->ptx_bytes, &err))
    log_error("the PTX of that kernel is in %s", path.data);
  else log_error("%s", err.text);
  str_free(&path);
}

// --- launches that do not end ---

static bool tell_hang(void *user, const VgpuHang *h) {
  const KernelWork *k = user;
  if (h->asked && h->ns < 1000000000u && !h->deadlock) {  // it was at work a moment ago
    log_line("interrupted while kernel %s was running", k->function->info->name);
    return false;
  }
  Arena arena = {0};
  SessionStanding *list = ARENA_ARRAY(&arena, SessionStanding, h->n + 1);
  for (uint32_t i = 0; i < h->n; i++) {
    const VgpuStanding *v = &h->list[i];
    SessionStanding *s = &list[i];
    static const SessionWait waits[] = {[VGPU_RUNS] = SESSION_RUNS,
                                        [VGPU_WAITS_BARRIER] = SESSION_WAITS_BARRIER,
                                        [VGPU_WAITS_WARP] = SESSION_WAITS_WARP,
                                        [VGPU_WAITS_MEMORY] = SESSION_WAITS_MEMORY,
                                        [VGPU_WAITS_CLUSTER] = SESSION_WAITS_CLUSTER};
    *s = (SessionStanding){.key = v->at,
                           .function = v->func->name,
                           .ptx_line = v->at ? v->at->ptx_line : 0,
                           .warp = v->warp,
                           .lanes = v->lanes,
                           .gone = v->gone,
                           .in_loop = v->in_loop,
                           .turns = v->turns,
                           .wait = waits[v->wait],
                           .barrier = v->barrier,
                           .expected = v->expected,
                           .arrived = v->arrived,
                           .needed = v->needed,
                           .address = v->address,
                           .shared = v->shared,
                           .unchanged = v->unchanged,
                           .circles = v->circles,
                           .fixed = v->fixed && v->unchanged,
                           .no_step = v->index && v->unchanged};
    memcpy(s->block, v->block, sizeof s->block);
    memcpy(s->thread, v->thread, sizeof s->thread);
    for (uint32_t j = 0; j < i && !s->places; j++)
      if (list[j].key == s->key) {
        s->places = list[j].places;
        s->nplaces = list[j].nplaces;
      }
    if (!s->places && v->at && v->at->loc)
      s->nplaces = weave_places(&arena, v->module, v->at->loc, &s->places);
  }
  bool stop = session_hang(&(SessionHang){.kernel = k->function->session,
                                          .launch = k->launch,
                                          .list = list,
                                          .n = h->n,
                                          .ns = h->ns,
                                          .blocks = h->blocks,
                                          .blocks_ended = h->blocks_ended,
                                          .blocks_known = true,
                                          .block = k->block,
                                          .asked = h->asked,
                                          .deadlock = h->deadlock});
  arena_free(&arena);
  return stop;
}

static void say_where(void) { vgpu_where(3000); }

CUresult cpu_launch(const VgpuLaunch *given, const KernelWork *k) {
  VgpuFault fault = {0};
  VgpuLaunch launch = *given;
  launch.hang = tell_hang;
  launch.hang_user = (void *)k;
  if (k->function->session) launch.api = session_kernel_api(k->function->session);
  if (session_hang_ns()) session_on_interrupt(say_where);
  VgpuStatus status = vgpu_launch(&launch, &fault);
  if (status == VGPU_OK) return CUDA_SUCCESS;
  if (status == VGPU_UNSUPPORTED) {
    keep_ptx(&fault);
    session_kernel_uncovered(k->function->session, fault.text, NULL);
    unsupported_exit(fault.text);
  }
  // tell_hang has reported it
  if (status == VGPU_DEADLOCK && session_tools()) return result_of(status);
  if (status != VGPU_CANCELLED && fault.text[0]) {
    if (session_tools()) tools_fault(k, &fault);
    else log_error("%s", fault.text);
    keep_ptx(&fault);
  }
  return result_of(status);
}
