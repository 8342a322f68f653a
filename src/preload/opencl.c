// Functions for the OpenCL platform (src/opencl). It is a library of its own and finds these
// functions by name.
#include "base/opencl_command.h"
#include "opencl_code/opencl_code.h"
#include "session/session.h"

// The platform calls this around its calls of the driver: reports of kernels that it loads then
// speak of work-items.
__attribute__((visibility("default"))) void wg_opencl_call(int begins) {
  session_thread_api(begins ? API_OPENCL : API_CUDA);
}

// Arguments of this thread's next launch: start, size and flags of each (1: no reads, 2: no
// writes); zeros for arguments that are no buffers. n 0: the launch was made.
__attribute__((visibility("default"))) void wg_opencl_arguments(const uint64_t (*list)[3],
                                                                uint32_t n) {
  static _Thread_local VEC(SessionArgument) arguments;
  arguments.len = 0;
  for (uint32_t i = 0; i < n; i++)
    vec_push(&arguments, (SessionArgument){.base = list[i][0],
                                           .size = list[i][1],
                                           .no_reads = list[i][2] & 1,
                                           .no_writes = list[i][2] & 2});
  session_arguments(arguments.data, n);
}

// Does a tool want indices of arrays tested? They cost time.
__attribute__((visibility("default"))) int wg_opencl_tests_indices(void) {
  return session_wants(SESSION_WANTS_INDEX_TESTS);
}

// --- from src/opencl_layer ---

__attribute__((visibility("default"))) const OpenclCode *wg_opencl_code(void) {
  return opencl_code();
}

__attribute__((visibility("default"))) uint64_t wg_opencl_stack(void) {
  return session_calls_stack();
}

// Records a command that has ended. Its numbers have the order of those of CUDA calls
// (tools/profile/measures.h), so that timeline, page and trace show both.
__attribute__((visibility("default"))) void wg_opencl_command(const OpenclCommand *c) {
  static _Atomic uint64_t last;
  if (!last) session_measure(&(SessionMeasure){.what = "times", .text = "events of OpenCL"});
  uint64_t v[] = {
      ++last, c->kind,       c->bytes,     c->queue,       0,         c->begin_ns, c->end_ns, 0,
      0,      c->started_ns, c->ended_ns,  c->items,       c->groups, 0,           0,         0,
      0,      c->thread,     c->queued_ns, c->submitted_ns};
  session_measure(&(SessionMeasure){.what = "call",
                                    .text = c->call,
                                    .kernel = c->kernel,
                                    .stack = c->stack,
                                    .values = v,
                                    .n = ARRAY_LEN(v)});
}
