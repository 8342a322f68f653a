// The functions of the layer: each calls the platform's, and tells record.c.
#include "opencl_layer/checks.h"
#include "opencl_layer/host_memory.h"
#include "opencl_layer/times.h"

#include <CL/cl_layer.h>

#define EXPORT __attribute__((visibility("default")))

static cl_icd_dispatch next, table;

#define UNPACK(...) __VA_ARGS__
#define P(x) ((void *)(uintptr_t)(x))
#define U(x) ((unsigned long long)(x))
#define D(x) ((long long)(x))

#define CALL(name, parameters, arguments, ...) \
  static cl_int CL_API_CALL layer_##name parameters { \
    LayerCall call_ = {#name, .caller = __builtin_return_address(0), .begin_ns = clock_ns()}; \
    call_.error = next.name arguments; \
    call_.end_ns = clock_ns(); \
    host_memory_call_ends(); \
    layer_record(&call_, __VA_ARGS__); \
    return call_.error; \
  }
#define MAKES(name, result, parameters, arguments, ...) \
  static result CL_API_CALL layer_##name(UNPACK parameters, cl_int *error_) { \
    LayerCall call_ = {#name, .type = #result, .caller = __builtin_return_address(0), \
                       .begin_ns = clock_ns()}; \
    result made_ = next.name(UNPACK arguments, &call_.error); \
    call_.end_ns = clock_ns(); \
    host_memory_call_ends(); \
    call_.made = made_; \
    host_memory_object_made(&next, made_, flags, host_ptr); \
    layer_record(&call_, __VA_ARGS__); \
    if (error_) *error_ = call_.error; \
    return made_; \
  }
static const cl_mem_flags flags = 0;
static void *const host_ptr = NULL;
// Functions that enqueue a kernel or a transfer have parameters that shadow these names.
static const cl_kernel kernel = NULL;
static const size_t size = 0;
static const size_t *const region = NULL, *const global_work_size = NULL,
                           *const local_work_size = NULL;
static const cl_uint work_dim = 0;
static void *const ptr = NULL, *const dst_ptr = NULL;
enum { NO_TRANSFER = 2 };  // neither CL_TRUE nor CL_FALSE
static const cl_bool blocking_write = NO_TRANSFER, blocking_read = NO_TRANSFER,
                     blocking_copy = NO_TRANSFER;
static const size_t *const host_origin = NULL;
static const size_t host_row_pitch = 0, input_row_pitch = 0, row_pitch = 0;
static const size_t host_slice_pitch = 0, input_slice_pitch = 0, slice_pitch = 0;
static const cl_mem image = NULL;
#define TRANSFER() \
  { \
    .is_write = blocking_write != NO_TRANSFER, .is_read = blocking_read != NO_TRANSFER || dst_ptr, \
    .blocks = blocking_write == CL_TRUE || blocking_read == CL_TRUE || blocking_copy == CL_TRUE, \
    .memory = dst_ptr ? dst_ptr : ptr, .size = size, .region = region, .host_origin = host_origin, \
    .image = image, .row_pitch = host_row_pitch + input_row_pitch + row_pitch, \
    .slice_pitch = host_slice_pitch + input_slice_pitch + slice_pitch, \
  }

// A command without an event gets one of ours where times are wanted, or its host memory is
// watched. The record shows the arguments that the program has passed.
#define EVENT_BEGIN(watched) \
  cl_event own_ = NULL; \
  bool watched_ = watched; \
  bool has_own_ = !event && (watched_ || layer_times_on()); \
  if (has_own_) event = &own_
#define EVENT_END(name_) \
  do { \
    bool times_ = call_.error == CL_SUCCESS && event && layer_times_on(); \
    if (watched_ && call_.error == CL_SUCCESS) \
      host_memory_queued(&next, *event, &memory_, transfer_.is_write, &call_); \
    if (has_own_ && !times_ && own_) next.clReleaseEvent(own_); \
    if (times_) \
      layer_times_add(&next, &(LayerCommand){#name_, command_queue, kernel, *event, has_own_, \
                                             call_.begin_ns, call_.end_ns, size, region, work_dim, \
                                             global_work_size, local_work_size}); \
    if (has_own_) event = NULL; \
  } while (0)
#define COMMAND(name, parameters, arguments, ...) \
  static cl_int CL_API_CALL layer_##name parameters { \
    LayerCall call_ = {#name, .caller = __builtin_return_address(0), .begin_ns = clock_ns()}; \
    HostTransfer transfer_ = TRANSFER(); \
    HostRegion memory_; \
    EVENT_BEGIN(host_memory_begins(&next, &transfer_, &memory_)); \
    call_.error = next.name arguments; \
    call_.end_ns = clock_ns(); \
    host_memory_call_ends(); \
    EVENT_END(name); \
    layer_record(&call_, __VA_ARGS__); \
    return call_.error; \
  }
static size_t image_bytes(cl_mem handle) {
  size_t bytes = 0;
  if (handle) next.clGetMemObjectInfo(handle, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
  return bytes;
}
// Mapping changes the memory, as a read does.
#define MAPS(name, result, parameters, arguments, ...) \
  static result CL_API_CALL layer_##name(UNPACK parameters, cl_int *error_) { \
    LayerCall call_ = {#name, .type = #result, .caller = __builtin_return_address(0), \
                       .begin_ns = clock_ns()}; \
    HostRegion memory_; \
    EVENT_BEGIN(host_memory_is_watched()); \
    result made_ = next.name(UNPACK arguments, &call_.error); \
    call_.end_ns = clock_ns(); \
    HostTransfer transfer_ = { \
        .is_read = true, .memory = made_, .size = size ? size : image_bytes(image)}; \
    watched_ = made_ && host_memory_begins(&next, &transfer_, &memory_); \
    host_memory_call_ends(); \
    call_.made = made_; \
    EVENT_END(name); \
    layer_record(&call_, __VA_ARGS__); \
    if (error_) *error_ = call_.error; \
    return made_; \
  }
#define QUEUE(name, result, parameters, arguments, ...) \
  static result CL_API_CALL layer_##name(UNPACK parameters, cl_int *error_) { \
    LayerCall call_ = {#name, .type = #result, .caller = __builtin_return_address(0), \
                       .begin_ns = clock_ns()}; \
    __typeof__(properties) asked_ = properties; \
    properties = LAYER_PROFILED(properties); \
    result made_ = next.name(UNPACK arguments, &call_.error); \
    properties = asked_; \
    call_.end_ns = clock_ns(); \
    host_memory_call_ends(); \
    call_.made = made_; \
    layer_record(&call_, __VA_ARGS__); \
    if (error_) *error_ = call_.error; \
    return made_; \
  }
#include "opencl_layer/calls.def"

// --- functions after which host memory is not watched ---
static cl_int CL_API_CALL set_event_callback(cl_event event, cl_int type,
                                             void(CL_CALLBACK *call)(cl_event, cl_int, void *),
                                             void *user) {
  host_memory_give_up();
  return layer_clSetEventCallback(event, type, call, user);
}

static cl_int CL_API_CALL checked_clEnqueueNativeKernel(cl_command_queue queue,
                                                        void(CL_CALLBACK *call)(void *),
                                                        void *arguments, size_t bytes,
                                                        cl_uint nbuffers, const cl_mem *buffers,
                                                        const void **places, cl_uint nwaits,
                                                        const cl_event *waits, cl_event *event) {
  host_memory_give_up();
  return layer_clEnqueueNativeKernel(queue, call, arguments, bytes, nbuffers, buffers, places,
                                     nwaits, waits, event);
}

static void *CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
                                   cl_uint alignment) {
  if (flags & CL_MEM_SVM_FINE_GRAIN_BUFFER) host_memory_give_up();
  void *made = next.clSVMAlloc(context, flags, bytes, alignment);
  host_memory_shared(made, bytes);
  return made;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue) {
  layer_times_finish(&next, queue);
  return layer_clReleaseCommandQueue(queue);
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *value,
                                                      size_t *needed) {
  static const char name[] = "Warpgrind";
  cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  bool is_name = what == CL_LAYER_NAME;
  size_t n = is_name ? sizeof name : sizeof version;
  if (!is_name && what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (value && room < n) return CL_INVALID_VALUE;
  if (value) memcpy(value, is_name ? (const void *)name : &version, n);
  if (needed) *needed = n;
  return CL_SUCCESS;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *below,
                                                   cl_uint *ours, const cl_icd_dispatch **out) {
  if (!below || !ours || !out || n < sizeof table / sizeof(void *)) return CL_INVALID_VALUE;
  // our libOpenCL.so.1 has this layer already, and forwards to a loader that knows layers, too
  if (next.clGetPlatformIDs) return CL_INVALID_OPERATION;
  next = *below;
  checks_install(&next);
  table = next;
#define CALL(name, ...) table.name = layer_##name;
#define MAKES(name, ...) table.name = layer_##name;
#include "opencl_layer/calls.def"
  table.clReleaseCommandQueue = release_queue;
  table.clSetEventCallback = set_event_callback;
  table.clEnqueueNativeKernel = checked_clEnqueueNativeKernel;
  if (next.clSVMAlloc) table.clSVMAlloc = svm_alloc;
  *ours = sizeof table / sizeof(void *);
  *out = &table;
  return CL_SUCCESS;
}
