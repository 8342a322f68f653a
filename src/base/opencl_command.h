// A command of an OpenCL program with its times, as src/opencl_layer tells the session of the same
// process (src/preload/opencl.c).
#ifndef WG_BASE_OPENCL_COMMAND_H
#define WG_BASE_OPENCL_COMMAND_H

#include <stdint.h>

// As CALL_KIND of tools/profile/measures.h.
enum {
  OPENCL_TO_DEVICE,
  OPENCL_TO_HOST,
  OPENCL_ON_DEVICE,
  OPENCL_FILL,
  OPENCL_MARKER,
  OPENCL_KERNEL
};
typedef struct OpenclCommand {
  const char *call;    // "clEnqueueReadBuffer"
  const char *kernel;  // its name; NULL: no kernel
  uint64_t stack;      // wg_opencl_stack() when it was enqueued
  uint64_t kind, queue, bytes;
  uint64_t thread;                                         // of the host
  uint64_t begin_ns, end_ns;                               // of the call
  uint64_t queued_ns, submitted_ns, started_ns, ended_ns;  // by clock_ns(), too
  uint64_t items, groups;  // work-items of a work-group, work-groups; 0: the platform chose
} OpenclCommand;

// wg_opencl_stack and wg_opencl_command
typedef uint64_t OpenclStack(void);
typedef void OpenclTell(const OpenclCommand *c);
#endif
