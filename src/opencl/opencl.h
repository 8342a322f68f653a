// opencl: an OpenCL platform on top of the driver API of CUDA, so that OpenCL programs run on the
// same devices, with the same tools, as CUDA programs. The shared library is an ICD: the system's
// loader (libOpenCL.so.1) opens it, and calls it through the table in dispatch.c.
//
// A kernel's way: clang compiles OpenCL C to PTX (compiler.c), fit.c adds what CUDA's model of a
// kernel has no word for (offsets, sizes of __local arguments), and cuModuleLoadData takes it from
// there. Locks: ocl_lock guards commands, events and queues; objects.c has one for handles. Neither
// is held while the device or a callback is waited for.
#ifndef WG_OPENCL_H
#define WG_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <pthread.h>

#include "base/base.h"
// Use the driver's exported functions, not the virtual device's own: on a GPU they differ.
#undef WARPGRIND_LIBRARY
#include "cuda/abi.h"
// preload/opencl.c
void wg_opencl_call(int begins);
int wg_opencl_tests_indices(void);
void wg_opencl_arguments(const uint64_t (*list)[3], uint32_t n);

// --- objects.c: handles and their reference counts ---
typedef enum OclKind {
  OCL_PLATFORM = 1,
  OCL_DEVICE,
  OCL_CONTEXT,
  OCL_QUEUE,
  OCL_MEMORY,
  OCL_SAMPLER,
  OCL_PROGRAM,
  OCL_KERNEL,
  OCL_EVENT,
  OCL_KINDS
} OclKind;
// The first member of every object: the loader reads `dispatch`.
typedef struct OclObject {
  const void *dispatch;
  OclKind kind;
  _Atomic cl_uint references;  // the program's; none left: the handle is not valid any more
  _Atomic cl_uint holds;       // ours, and one for all of the program's
} OclObject;
void *ocl_object_new(OclKind kind, size_t size);  // zeroed, one reference
bool ocl_is(const void *handle, OclKind kind);    // a handle that the program may use
void ocl_hold(void *object);                      // it stays until ocl_drop
void ocl_drop(void *object);                      // NULL: nothing
cl_int ocl_retain(void *handle, OclKind kind, cl_int invalid);
cl_int ocl_release(void *handle, OclKind kind, cl_int invalid);
cl_uint ocl_references(const void *object);
typedef void OclFree(void *object);  // frees what belongs to an object
OclFree ocl_context_free, ocl_queue_free, ocl_memory_free, ocl_program_free, ocl_kernel_free,
    ocl_event_free;

// --- info.c: what clGet…Info writes ---
typedef struct OclAnswer {
  size_t room;
  void *value;
  size_t *needed;
} OclAnswer;
cl_int ocl_answer(OclAnswer to, const void *data, size_t n);
cl_int ocl_answer_text(OclAnswer to, const char *text);
#define OCL_ANSWER(to, type, ...) ocl_answer(to, &(type){__VA_ARGS__}, sizeof(type))

// --- dispatch.c ---
const void *ocl_dispatch(void);

// --- platform.c, device.c ---
struct _cl_platform_id {
  OclObject object;
};
struct _cl_device_id {
  OclObject object;
  CUdevice ordinal;
  CUcontext context;  // primary; NULL: not used yet
  char name[256];
};
cl_platform_id ocl_platform(void);
int ocl_attribute(cl_device_id device, CUdevice_attribute which);
// Between these two calls of the driver go to this device.
void ocl_enter(cl_device_id device);
void ocl_leave(void);
cl_int ocl_error(CUresult r, cl_int otherwise);  // CL_SUCCESS, or what a result of CUDA means

// --- context.c ---
typedef void(CL_CALLBACK *OclContextCallback)(cl_context, void *);
typedef struct OclContextEnd {
  OclContextCallback call;
  void *user;
} OclContextEnd;
struct _cl_context {
  OclObject object;
  VEC(cl_device_id) devices;
  VEC(cl_context_properties) properties;
  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
  void *user;
  VEC(OclContextEnd) ends;
};
bool ocl_context_has(cl_context c, cl_device_id device);

// --- queue.c, command.c: commands and what orders them ---
enum { OCL_STREAMS = 4 };  // of an out-of-order queue, which spreads unordered commands
typedef struct OclCommand OclCommand;
struct _cl_command_queue {
  OclObject object;
  cl_context context;
  cl_device_id device;
  cl_command_queue_properties flags;
  VEC(cl_queue_properties) properties;
  unsigned streams, next;
  CUstream stream[OCL_STREAMS];
  CUevent began;              // for profiling: when …
  cl_ulong began_ns;          // … it was, by the host's clock
  VEC(OclCommand *) waiting;  // for events that are not submitted yet, in the order of the calls
};
typedef cl_int OclRun(OclCommand *c);  // hands its work to c->stream
struct OclCommand {
  cl_command_queue queue;
  cl_event event;  // its own; held
  CUstream stream;
  OclRun *run;  // NULL: it only orders others
  bool blocks;  // a barrier: later commands wait for it, and it waits for all earlier ones
  bool joins;   // it waits for all earlier commands of the queue
  VEC(cl_event) after;
  VEC(void *) holds;  // objects it uses
  void *work;         // of run; freed with it
  void (*end)(void *work);
};
void ocl_begin(void);  // takes ocl_lock …
void ocl_end(void);    // … and gives it back; frees commands that are submitted
// With ocl_lock: waits until something was submitted or a user event was set.
void ocl_wait_for_change(void);
// A call's wait list, and the event that it returns. ocl_command makes a command of it; NULL:
// *error says why.
typedef struct OclWaits {
  cl_uint n;
  const cl_event *list;
  cl_event *event;
} OclWaits;
OclCommand *ocl_command(cl_command_queue q, cl_command_type type, OclWaits waits, cl_int *error);
void ocl_command_uses(OclCommand *c, void *object);
void ocl_command_free(OclCommand *c);  // one that is not enqueued
// Enqueues it, and waits for its end if `blocking`. The command is not the caller's any more.
cl_int ocl_enqueue(OclCommand *c, OclWaits waits, cl_bool blocking);
// With ocl_lock: submits the commands of all queues that wait for no event any more.
void ocl_submit_ready(void);
void ocl_queue_known(cl_command_queue q, bool known);
cl_int ocl_queue_finish(cl_command_queue q);

// --- event.c ---
typedef void(CL_CALLBACK *OclEventCallback)(cl_event, cl_int, void *);
typedef struct OclEventCall {
  OclEventCallback call;
  cl_int status;
  void *user;
} OclEventCall;
struct _cl_event {
  OclObject object;
  cl_context context;
  cl_command_queue queue;  // NULL: a user event
  cl_command_type type;
  cl_int status;  // CL_QUEUED: not submitted; CL_COMPLETE: done (a command: and we have seen it);
                  // negative: why it failed
  CUevent start, end;  // start: with profiling only
  cl_ulong queued_ns, submitted_ns;
  VEC(OclEventCall) calls;
};
cl_event ocl_event_new(cl_context context, cl_command_queue queue, cl_command_type type);
cl_int ocl_event_status(cl_event e);       // now
cl_int ocl_event_wait(cl_event e);         // CL_SUCCESS, or why it failed
bool ocl_event_is_open(const cl_event e);  // with ocl_lock: not submitted, or not set
void ocl_event_watch(cl_event e);          // callbacks.c: it has got a callback

// --- buffer.c, map.c ---
typedef void(CL_CALLBACK *OclMemoryCallback)(cl_mem, void *);
typedef struct OclMemoryEnd {
  OclMemoryCallback call;
  void *user;
} OclMemoryEnd;
struct OclTransfer;
typedef struct OclMapping {
  char *host;
  struct OclTransfer *box;  // from the device to the host
  cl_map_flags flags;
  bool ours;  // the memory is to be freed
} OclMapping;
struct _cl_mem {
  OclObject object;
  cl_context context;
  cl_mem_object_type type;
  cl_mem_flags flags;
  size_t size;
  void *host;
  bool is_svm;  // its memory is the program's SVM allocation at `host`
  CUdeviceptr address;
  cl_mem parent;  // of a sub-buffer
  size_t origin;
  VEC(cl_mem_properties) properties;
  VEC(OclMemoryEnd) ends;
  VEC(OclMapping) mappings;    // ocl_lock
  struct OclImageData *image;  // NULL: a buffer
};
cl_int ocl_check_memory(cl_mem m, cl_command_queue q);  // a buffer, of the queue's context
cl_mem ocl_memory_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags, size_t size);
// Flags that may stand together, and a host pointer where they ask for one.
cl_int ocl_check_flags(cl_mem_flags flags, const void *host);

// --- svm.c ---
size_t ocl_svm_bytes(const void *p);  // from p to the end of its SVM allocation; 0: none

// --- images.c, image_formats.c ---
typedef struct OclImageHead {  // at the start of its memory; library/images.cl has the same
  uint64_t pixels, row, slice;
  int32_t width, height, depth, layers;
  uint32_t order, type, bytes, unused;
} OclImageHead;
typedef struct OclImageData {
  OclImageHead head;
  CUdeviceptr head_address;
  cl_image_format format;
  cl_image_desc desc;
  size_t host_row, host_slice;  // of the program's host pointer
} OclImageData;
size_t ocl_format_bytes(const cl_image_format *f);  // of a pixel; 0: not supported
bool ocl_format_exists(const cl_image_format *f);   // in OpenCL
// A pixel of the color that clEnqueueFillImage is given.
void ocl_format_pixel(const cl_image_format *f, const void *color, unsigned char *out);
cl_mem_object_type ocl_image_type_named(const char *type);  // "image2d_t"; 0: none

// --- compiler.c: clang, with libclc and the library of library/*.cl ---
typedef struct OclRequest {   // what to compile or link
  const char *options;        // the program's
  const char *source;         // OpenCL C; NULL: objects
  VEC(const char *) objects;  // LLVM assembly
  VEC(const char *) headers;  // names and texts, one after the other
  bool link;                  // to a program image; else to LLVM assembly
} OclRequest;
// CL_SUCCESS, or why not; the compiler's messages are added to the log.
cl_int ocl_compile(const OclRequest *r, Str *out, Str *log);
bool ocl_compiler_present(void);
const char *ocl_compiler_name(void);  // its folder in the cache; NULL: there is none
// --- folder.c: a folder for one compilation ---
typedef struct OclFolder {
  char path[64];
  VEC(char *) files;
} OclFolder;
bool ocl_folder_open(OclFolder *f);
char *ocl_folder_file(OclFolder *f, const char *name);  // its path; it is removed at the end
void ocl_folder_close(OclFolder *f);
// compiler.c, for spirv.c: bitcode as LLVM assembly, and the lines that name the target's layout.
bool ocl_disassemble(OclFolder *f, const char *bitcode, Str *out, Str *log);
bool ocl_target_lines(OclFolder *f, Str *out, Str *log);
// --- vector_compares.c ---
void ocl_split_vector_compares(const char *assembly, Str *out);
// --- index_tests.c ---
void ocl_straighten_index_tests(const char *assembly, Str *out);
// --- char2_parameters.c ---
void ocl_fit_char2_parameters(char *assembly);
// --- printf_calls.c ---
void ocl_fit_printf(const char *assembly, Str *out);
// --- spirv.c: SPIR-V to the LLVM assembly that clang would have made ---
typedef struct OclConstant {  // a specialization constant
  cl_uint id;
  size_t bytes;
  uint64_t value;
} OclConstant;
typedef VEC(OclConstant) OclConstants;
bool ocl_translator_present(void);
bool ocl_is_spirv(const void *il, size_t n);
// CL_SUCCESS, or why not; messages are added to the log.
cl_int ocl_translate(const Str *il, const OclConstants *constants, Str *out, Str *log);
void ocl_translator_missing(void);  // says so, once
// spirv_assembly.c: the address spaces and names of SPIR become those of PTX.
void ocl_spirv_assembly(const char *assembly, const char *target_lines, Str *out);
// --- build_options.c: clang's options for those of the program. false: `bad` is not one ---
bool ocl_options(const char *text, Str *compile, const char **bad, bool *library);
// --- process.c: runs a program without Warpgrind; what it writes is added to `log`. Its exit code,
// or -1 ---
int ocl_run(const char *const *arguments, Str *log);
bool ocl_find_program(const char *name, char *out);  // out: PATH_MAX bytes
// --- source.c ---
void ocl_source_name(const char *source, Str *out);  // the file that holds it, or that we wrote
// --- cache.c: texts on disk, for each compiler ---
bool ocl_cache_find(const char *compiler, uint64_t key, Str *out);  // compiler NULL: of any
void ocl_cache_keep(const char *compiler, uint64_t key, const Str *text);
bool ocl_cache_path(const char *folder, const char *name, Str *out);  // makes the folder
// --- inline_chains.c ---
// Optimised assembly with numbers for the places that have a chain of inlined calls …
void ocl_number_inlined(const char *assembly, Str *out);
// … and the PTX that clang made of that, with the chains.
void ocl_add_chains(const char *ptx, const char *assembly, Str *out);
// --- fit.c, kernel_facts.c: PTX as clang writes it, with the optimised LLVM assembly that it came
// from, to a program image. The objects of the request tell about kernels ---
bool ocl_fit(const char *ptx, const char *assembly, const OclRequest *r, Str *out, Error *err);
char *ocl_assembly_text(const char **p, Arena *a);  // the string whose quote is at *p, which moves
typedef struct OclParameter OclParameter;
typedef struct OclEntry OclEntry;
// Reads the facts about kernels from the metadata of the assembly.
typedef VEC(OclEntry *) OclEntries;
void ocl_kernel_facts(const char *assembly, Arena *a, OclEntries *out);

// --- image.c: a program image: the facts about kernels, then the code; also its binary ---
struct OclParameter {
  cl_uint space;  // 0 private, 1 global, 2 constant, 3 local
  char *access, *type, *qualifiers, *name;
  size_t bytes;
};
struct OclEntry {
  char *name;
  size_t required[3];      // reqd_work_group_size; 0: any
  const char *attributes;  // as clGetKernelInfo answers: "vec_type_hint(float4) …"
  bool has_launch;         // it has the hidden parameter OclLaunch
  VEC(OclParameter) parameters;
};
typedef struct OclImage {
  Arena arena;
  char *ptx;
  OclEntries kernels;
} OclImage;
#define OCL_IMAGE_MARK "warpgrind opencl program 10\n"
#define OCL_OBJECT_MARK "warpgrind opencl object 1\n"
#define OCL_LIBRARY_MARK OCL_OBJECT_MARK "; a library\n"  // to LLVM the second line is a comment
bool ocl_image_read(const char *text, OclImage *out);
void ocl_image_free(OclImage *image);
// The hidden last parameter of a kernel; library/launch.cl reads it by byte offsets.
typedef struct OclLaunch {
  uint32_t dimensions, unused;
  uint64_t first_item[3];   // global id of the first work-item of this launch
  uint64_t offset[3];       // of the NDRange
  uint64_t global_size[3];  // of the NDRange
  uint64_t local_size[3];   // as enqueued
  uint64_t first_group[3];  // of this launch, which may be a part of the NDRange
  uint64_t groups[3];       // of the NDRange
} OclLaunch;

// --- program.c, build.c ---
struct _cl_program {
  OclObject object;
  cl_context context;
  VEC(cl_device_id) devices;
  char *source;  // NULL: from binaries or from SPIR-V
  Str il;        // SPIR-V
  OclConstants constants;
  char *options;
  Str log;
  cl_build_status status;
  cl_program_binary_type type;
  Str binary;  // with its mark
  OclImage image;
  VEC(CUmodule) modules;  // of each device; NULL: not loaded
  _Atomic int kernels;    // that exist
};
cl_program ocl_program_new(cl_context context);
// Names what the device refused; `what`: the compiler's log, or the kernel.
void ocl_name_refusal(CUresult r, const char *what);
bool ocl_program_module(cl_program p, cl_device_id device, CUmodule *out);

// --- kernel.c, launch.c ---
typedef struct OclArgument {
  bool set;
  unsigned char *value;  // of entry->parameters[i].bytes
  size_t local;          // bytes of a __local one
  cl_mem memory;         // held
  cl_sampler sampler;    // held
} OclArgument;
struct _cl_kernel {
  OclObject object;
  cl_program program;
  OclEntry *entry;
  VEC(CUfunction) functions;  // of each device of the program
  OclArgument *arguments;
};
bool ocl_kernel_function(cl_kernel k, cl_device_id device, CUfunction *out);

// --- sampler.c ---
struct _cl_sampler {
  OclObject object;
  cl_context context;
  cl_bool normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
  VEC(cl_sampler_properties) properties;
};
uint64_t ocl_sampler_bits(cl_sampler s);  // as OpenCL C writes a sampler

#endif
