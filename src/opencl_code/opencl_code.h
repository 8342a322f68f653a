// opencl_code: the session's side of kernels of installed OpenCL platforms (base/opencl_code.h).
#ifndef WG_OPENCL_CODE_H
#define WG_OPENCL_CODE_H

#include "base/opencl_code.h"
#include "session/session.h"

// --- device.c ---
typedef struct OpenclMirror {  // memory of the host, and its copy in device memory
  char *host;
  size_t size;
  uint64_t address;
} OpenclMirror;
struct OpenclDevice {
  OpenclReach reach;
  SessionDevice *session;
  VEC(OpenclMirror) mirrors;      // the first is the channel's: kernels report there
  uint32_t next;                  // finding to be copied next
  uint32_t tail;                  // as the mirror has it
  bool told;                      // the mirror has the channel's head
  uint64_t table, table_version;  // of allocations, that was written last
};
OpenclDevice *opencl_device_open(const OpenclReach *reach);
void opencl_device_collect(OpenclDevice *d);
void opencl_device_close(OpenclDevice *d);
// Call before a launch: writes the mirrors that it reads. table: its WgLaunch.memory
void opencl_device_launches(OpenclDevice *d, uint64_t table);

// --- program.c ---
struct OpenclKernel {
  SessionKernel *session;
  const WovenKernel *code;  // NULL: without checks
};
OpenclProgram *opencl_weave(const char *ptx, size_t size, char **out, char *why);
OpenclKernel *opencl_kernel(OpenclProgram *p, const char *name);
OpenclKernel *opencl_unchecked(const char *name, const char *why);

// --- table.c ---
const OpenclCode *opencl_code(void);  // NULL: the kernels are left alone
#endif
