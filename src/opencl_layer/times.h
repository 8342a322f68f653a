// times: when each command was queued, submitted, started and ended (--opencl-times).
#ifndef WG_OPENCL_LAYER_TIMES_H
#define WG_OPENCL_LAYER_TIMES_H

#include "opencl_layer/layer.h"

#include <CL/cl_icd.h>

bool layer_times_on(void);
// Properties of a queue, with profiling. The list is valid until the thread's next call.
cl_command_queue_properties layer_profiled_bits(cl_command_queue_properties asked);
const cl_queue_properties *layer_profiled_list(const cl_queue_properties *asked);
#define LAYER_PROFILED(properties) \
  _Generic((properties), cl_command_queue_properties: layer_profiled_bits, \
           default: layer_profiled_list)(properties)

typedef struct LayerCommand {
  const char *name;  // of the function
  cl_command_queue queue;
  cl_kernel kernel;  // NULL: none
  cl_event event;
  bool own_event;  // the program has asked for none: the reference is ours
} LayerCommand;
void layer_times_add(const cl_icd_dispatch *next, const LayerCommand *c);
// Before a queue is gone: its commands are finished, and their times read.
void layer_times_finish(const cl_icd_dispatch *next, cl_command_queue queue);
#endif
