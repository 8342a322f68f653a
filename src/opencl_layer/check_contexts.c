// Contexts whose kernels are checked: those of one device of NVIDIA's. They live until the process
// ends, since memory of the tools is in them.
#include "opencl_layer/checks.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

typedef struct Running {
  cl_event event;
  OpenclKernel *kernel;
  void *record;
} Running;
struct CheckedContext {
  cl_context handle;
  cl_device_id id;
  CheckedMemory *memory;
  OpenclDevice *device;
  VEC(Running) running;
  CheckedContext *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CheckedContext *all;
static pid_t owner;  // a forked child has no context

static CheckedContext *find(cl_context handle) {
  for (CheckedContext *c = all; c; c = c->next)
    if (c->handle == handle) return c;
  return NULL;
}

CheckedContext *checks_context(cl_context handle) {
  pthread_mutex_lock(&lock);
  CheckedContext *c = find(handle);
  pthread_mutex_unlock(&lock);
  return c;
}

OpenclDevice *checks_device(const CheckedContext *c) { return c->device; }
cl_device_id checks_device_id(const CheckedContext *c) { return c->id; }
CheckedMemory *checks_memory(const CheckedContext *c) { return c->memory; }

// --- launches that run ---

void checks_launched(CheckedContext *c, cl_event event, OpenclKernel *k, void *record) {
  pthread_mutex_lock(&lock);
  vec_push(&c->running, ((Running){event, k, record}));
  pthread_mutex_unlock(&lock);
}

// With the lock. true: some have ended
static bool collect(CheckedContext *c) {
  bool any = false;
  for (uint32_t i = 0; i < c->running.len;) {
    Running r = c->running.data[i];
    cl_int status = CL_QUEUED;
    checks_below.clGetEventInfo(r.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                NULL);
    if (status > CL_COMPLETE) {
      i++;
      continue;
    }
    checks_code->ended(c->device, r.kernel, r.record);
    checks_below.clReleaseEvent(r.event);
    free(r.record);
    memmove(&c->running.data[i], &c->running.data[i + 1],
            (--c->running.len - i) * sizeof *c->running.data);
    any = true;
  }
  if (any) checks_code->collect(c->device);
  return any;
}

void checks_collect(void) {
  pthread_mutex_lock(&lock);
  for (CheckedContext *c = all; c; c = c->next) collect(c);
  pthread_mutex_unlock(&lock);
}

// --- contexts come and go ---

// Kernels may still run, or wait for the host: two seconds for them.
static void end(void) {
  if (owner != getpid()) return;
  uint64_t until = clock_ns() + 2000000000u;
  pthread_mutex_lock(&lock);
  for (CheckedContext *c = all; c; c = c->next) {
    for (collect(c); c->running.len && clock_ns() < until; collect(c))
      nanosleep(&(struct timespec){0, 1000000}, NULL);
    if (c->running.len)
      log_line("OpenCL kernels are still running: their later findings are not in the report");
    checks_code->close(c->device);
  }
  all = NULL;
  pthread_mutex_unlock(&lock);
}

static bool is_nvidia(cl_device_id d) {
  char vendor[256] = "";
  checks_below.clGetDeviceInfo(d, CL_DEVICE_VENDOR, sizeof vendor - 1, vendor, NULL);
  return strstr(vendor, "NVIDIA") != NULL;
}

// Its number among the devices of its platform.
static int ordinal_of(cl_device_id d) {
  cl_platform_id platform = NULL;
  cl_device_id list[64];
  cl_uint n = 0;
  checks_below.clGetDeviceInfo(d, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
  checks_below.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, ARRAY_LEN(list), list, &n);
  for (cl_uint i = 0; i < n && i < ARRAY_LEN(list); i++)
    if (list[i] == d) return (int)i;
  return 0;
}

static void meet(cl_context handle) {
  cl_device_id devices[16];
  size_t bytes = 0;
  if (checks_below.clGetContextInfo(handle, CL_CONTEXT_DEVICES, sizeof devices, devices, &bytes) ||
      !is_nvidia(devices[0]))
    return;
  if (bytes != sizeof *devices) {
    log_line("kernels of an OpenCL context of %zu devices run without checks: only contexts of one "
             "device are checked",
             bytes / sizeof *devices);
    return;
  }
  CheckedMemory *memory = checks_memory_new(handle, devices[0]);
  OpenclReach reach = checks_memory_reach(memory, ordinal_of(devices[0]));
  OpenclDevice *device = memory ? checks_code->open(&reach) : NULL;
  if (!device) {
    log_line("kernels of an OpenCL context run without checks: their platform does not load PTX");
    return;
  }
  CheckedContext *c = mem_alloc(sizeof *c);
  *c = (CheckedContext){.handle = handle, .id = devices[0], .memory = memory, .device = device};
  pthread_mutex_lock(&lock);
  c->next = all;
  all = c;
  bool first = !owner;
  owner = getpid();
  pthread_mutex_unlock(&lock);
  if (first) atexit(end);  // before the platform's own end, which it has registered earlier
}

typedef void(CL_CALLBACK *Notify)(const char *, const void *, size_t, void *);

static cl_context CL_API_CALL checked_clCreateContext(const cl_context_properties *properties,
                                                      cl_uint n, const cl_device_id *devices,
                                                      Notify notify, void *user, cl_int *error) {
  cl_context c = checks_below.clCreateContext(properties, n, devices, notify, user, error);
  if (c) meet(c);
  return c;
}

static cl_context CL_API_CALL
checked_clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                Notify notify, void *user, cl_int *error) {
  cl_context c = checks_below.clCreateContextFromType(properties, type, notify, user, error);
  if (c) meet(c);
  return c;
}

void checks_contexts_install(cl_icd_dispatch *t) {
  t->clCreateContext = checked_clCreateContext;
  t->clCreateContextFromType = checked_clCreateContextFromType;
}
