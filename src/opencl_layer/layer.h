// opencl_layer: stands between an OpenCL program and any platform. A layer in the sense of OpenCL's
// loader: it gets the table of the platform below and returns its own.
#ifndef WG_OPENCL_LAYER_H
#define WG_OPENCL_LAYER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "base/base.h"

// --- record.c ---
typedef struct LayerCall {
  const char *name;    // of the function
  const char *type;    // of what it returns; NULL: an error
  const void *made;    // what it has returned
  const void *caller;  // a return address
  cl_int error;
  uint64_t begin_ns, end_ns;
} LayerCall;
// format: "name=%p, name=%llu", as in calls.def. Writes a line, and counts objects.
void layer_record(const LayerCall *c, const char *format, ...) PRINTF_LIKE(2, 3);
bool layer_records(void);
// A line of its own about memory that an earlier call has named.
void layer_note_call(const char *what, const void *memory, size_t size, const char *function,
                     const void *caller, const char *text);

// --- objects.c: references that the program has ---
void layer_object_made(const void *handle, const LayerCall *c, const char *type);
void layer_object_retained(const void *handle);
void layer_object_released(const void *handle);
void layer_print_place(FILE *out, const char *word, const void *caller);
void layer_objects_left(FILE *out);  // those that were not released, and where they were made

// --- errors.c ---
// "CL_INVALID_VALUE: …"; NULL: not an error of OpenCL
const char *layer_error_text(cl_int error);

#endif
