// times: when each command was queued, submitted, started and ended (--opencl-times).
#ifndef WG_OPENCL_LAYER_TIMES_H
#define WG_OPENCL_LAYER_TIMES_H

#include "base/opencl_command.h"
#include "opencl_layer/layer.h"

#include <CL/cl_icd.h>

bool layer_times_on(void);
// Properties of a queue, with profiling. The list is valid until the thread's next call.
cl_command_queue_properties layer_profiled_bits(cl_command_queue_properties asked);
const cl_queue_properties *layer_profiled_list(const cl_queue_properties *asked);
#define LAYER_PROFILED(properties) \
  _Generic((properties), cl_command_queue_properties \
           : layer_profiled_bits, default \
           : layer_profiled_list)(properties)

typedef struct LayerCommand {
  const char *name;  // of the function
  cl_command_queue queue;
  cl_kernel kernel;  // NULL: none
  cl_event event;
  bool own_event;                // the program has asked for none: the reference is ours
  uint64_t begin_ns, end_ns;     // of the call
  size_t size;                   // of a buffer's part; 0: a region, or no transfer
  const size_t *region;          // NULL: none
  cl_uint dimensions;            // of a kernel
  const size_t *global, *local;  // … local NULL: the platform chooses
} LayerCommand;
void layer_times_add(const cl_icd_dispatch *next, const LayerCommand *c);
// Before a queue is gone: its commands are finished, and their times read.
void layer_times_finish(const cl_icd_dispatch *next, cl_command_queue queue);

// --- run_file.c: commands for the report and the run file of the same process ---
void layer_run_begin(const LayerCommand *c, OpenclCommand *out);  // what is known when it is queued
void layer_run_tell(const OpenclCommand *c);                      // its times are known
// --- trace.c: a trace for Perfetto and chrome://tracing ---
void layer_trace_begin(FILE *out);
void layer_trace_add(FILE *out, const OpenclCommand *c, uint64_t zero);
void layer_trace_end(FILE *out);
#endif
