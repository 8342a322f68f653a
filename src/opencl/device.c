// Devices: those of the CUDA driver, virtual or real.
#include "opencl/opencl.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static VEC(cl_device_id) devices;

static void find(void) {
  int n = 0;
  if (cuInit(0) || cuDeviceGetCount(&n)) return;
  for (int i = 0; i < n; i++) {
    cl_device_id d = ocl_object_new(OCL_DEVICE, sizeof *d);
    if (cuDeviceGet(&d->ordinal, i) || cuDeviceGetName(d->name, sizeof d->name, d->ordinal) ||
        cuDevicePrimaryCtxRetain(&d->context, d->ordinal)) {
      ocl_drop(d);
      continue;
    }
    vec_push(&devices, d);
  }
}

static cl_uint all_devices(cl_device_id **out) {
  pthread_once(&once, find);
  *out = devices.data;
  return devices.len;
}

int ocl_attribute(cl_device_id device, CUdevice_attribute which) {
  int value = 0;
  return cuDeviceGetAttribute(&value, which, device->ordinal) ? 0 : value;
}

void ocl_enter(cl_device_id device) {
  cuCtxPushCurrent_v2(device->context);
  wg_opencl_call(true);
}

void ocl_leave(void) {
  CUcontext ours;
  wg_opencl_call(false);
  cuCtxPopCurrent_v2(&ours);
}

cl_int ocl_error(CUresult r, cl_int otherwise) {
  switch (r) {
    case CUDA_SUCCESS: return CL_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY: return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: return CL_OUT_OF_RESOURCES;
    default: return otherwise;
  }
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out,
                      cl_uint *n) {
  cl_device_id *all;
  cl_uint count = all_devices(&all);
  if (platform && !ocl_is(platform, OCL_PLATFORM)) return CL_INVALID_PLATFORM;
  if ((!out && !n) || (out && !room)) return CL_INVALID_VALUE;
  cl_device_type known = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                         CL_DEVICE_TYPE_CUSTOM | CL_DEVICE_TYPE_DEFAULT;
  if (type != CL_DEVICE_TYPE_ALL && (!type || type & ~known)) return CL_INVALID_DEVICE_TYPE;
  bool fits = type == CL_DEVICE_TYPE_ALL || type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT);
  // programs that ask for a CPU find the device too: it is what Warpgrind checks them on
  if (type & CL_DEVICE_TYPE_CPU) fits = true;
  if (!fits || !count) return CL_DEVICE_NOT_FOUND;
  if (type == CL_DEVICE_TYPE_DEFAULT) count = 1;
  for (cl_uint i = 0; out && i < MIN(room, count); i++) out[i] = all[i];
  if (n) *n = count;
  return CL_SUCCESS;
}

// Root devices have no reference count.
cl_int clRetainDevice(cl_device_id device) {
  return ocl_is(device, OCL_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int clReleaseDevice(cl_device_id device) { return clRetainDevice(device); }

cl_int clCreateSubDevices(cl_device_id device, const cl_device_partition_property *how,
                          cl_uint room, cl_device_id *out, cl_uint *n) {
  if (!ocl_is(device, OCL_DEVICE)) return CL_INVALID_DEVICE;
  return how ? CL_DEVICE_PARTITION_FAILED : CL_INVALID_VALUE;
}

static cl_ulong now(void) { return clock_ns(); }

cl_int clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_time, cl_ulong *host_time) {
  if (!ocl_is(device, OCL_DEVICE)) return CL_INVALID_DEVICE;
  if (!device_time || !host_time) return CL_INVALID_VALUE;
  *device_time = *host_time = now();
  return CL_SUCCESS;
}

cl_int clGetHostTimer(cl_device_id device, cl_ulong *host_time) {
  if (!ocl_is(device, OCL_DEVICE)) return CL_INVALID_DEVICE;
  if (!host_time) return CL_INVALID_VALUE;
  *host_time = now();
  return CL_SUCCESS;
}
