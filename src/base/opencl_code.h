// Kernels of installed OpenCL platforms whose code is PTX, as NVIDIA's is. src/opencl_layer speaks
// to the platform, src/opencl_code puts checks into the code and reads what they find. They are in
// two libraries of one process: the layer finds the table of the other by its name.
#ifndef WG_BASE_OPENCL_CODE_H
#define WG_BASE_OPENCL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How to reach the memory of a device, by the addresses that kernels see.
typedef struct OpenclReach {
  void *user;
  int ordinal;
  uint64_t (*alloc)(void *user, size_t size);  // zeroed; 0: no memory
  void (*free)(void *user, uint64_t p);
  bool (*read)(void *user, void *to, uint64_t from, size_t size);
  bool (*write)(void *user, uint64_t to, const void *from, size_t size);
  bool (*fill)(void *user, uint64_t to, uint8_t value, size_t size);
} OpenclReach;

typedef struct OpenclArgument {
  const void *value;    // the parameter's: an address, or bytes; NULL: not known
  uint64_t base, size;  // of the buffer; size 0: not a buffer
  bool no_reads, no_writes;
} OpenclArgument;

typedef struct OpenclNdRange {
  uint32_t groups[3], items[3];  // work-groups, work-items of each
  const OpenclArgument *arguments;
  uint32_t n;
} OpenclNdRange;

typedef struct OpenclDevice OpenclDevice;    // of a context
typedef struct OpenclProgram OpenclProgram;  // with checks
typedef struct OpenclKernel OpenclKernel;
typedef struct OpenclCode {
  // NULL: findings of this device cannot be reported.
  OpenclDevice *(*open)(const OpenclReach *reach);
  void (*collect)(OpenclDevice *d);  // hands on what kernels have reported so far
  void (*close)(OpenclDevice *d);    // no kernel runs any more
  // *out: the PTX to run instead; the caller frees it. NULL: run the original; why (at least 256
  // bytes) holds the reason.
  OpenclProgram *(*weave)(const char *ptx, size_t size, char **out, char *why);
  OpenclKernel *(*kernel)(OpenclProgram *p, const char *name);  // NULL: it has no checks
  // A kernel that runs without checks; the report names it.
  OpenclKernel *(*unchecked)(const char *name, const char *why);
  // the size of the parameter that follows the program's own
  size_t (*record_bytes)(const OpenclKernel *k);
  // At the enqueue: fills the record. d NULL: the kernel is unchecked and has no record.
  void (*launch)(OpenclDevice *d, OpenclKernel *k, const OpenclNdRange *r, void *record);
  void (*ended)(OpenclDevice *d, OpenclKernel *k, const void *record);
  // the platform rejected the kernel with checks
  void (*refused)(OpenclKernel *k, const char *why);
  void (*allocated)(OpenclDevice *d, uint64_t base, uint64_t size);
  void (*freed)(OpenclDevice *d, uint64_t base);
  void (*hide)(const void *code);  // host stacks leave out the library that this is in
} OpenclCode;

// wg_opencl_code: NULL: the kernels are left alone.
typedef const OpenclCode *OpenclFindCode(void);
#endif
