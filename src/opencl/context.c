// Contexts: devices and a callback for errors.
#include "opencl/opencl.h"

bool ocl_context_has(cl_context c, cl_device_id device) {
  for (uint32_t i = 0; i < c->devices.len; i++)
    if (c->devices.data[i] == device) return true;
  return false;
}

void ocl_context_free(void *object) {
  cl_context c = object;
  for (uint32_t i = c->ends.len; i > 0; i--) c->ends.data[i - 1].call(c, c->ends.data[i - 1].user);
  vec_free(&c->ends);
  vec_free(&c->devices);
  vec_free(&c->properties);
}

// 0-terminated pairs; CL_SUCCESS, or what is wrong with them.
static cl_int read_properties(cl_context c, const cl_context_properties *p) {
  for (; p && *p; p += 2) {
    if (*p != CL_CONTEXT_PLATFORM && *p != CL_CONTEXT_INTEROP_USER_SYNC) return CL_INVALID_PROPERTY;
    if (*p == CL_CONTEXT_PLATFORM && !ocl_is((cl_platform_id)p[1], OCL_PLATFORM))
      return CL_INVALID_PLATFORM;
    bool is_bool = p[1] == CL_FALSE || p[1] == CL_TRUE;
    if (*p == CL_CONTEXT_INTEROP_USER_SYNC && !is_bool) return CL_INVALID_PROPERTY;
    for (uint32_t i = 0; i < c->properties.len; i += 2)
      if (c->properties.data[i] == p[0]) return CL_INVALID_PROPERTY;
    vec_push(&c->properties, p[0]);
    vec_push(&c->properties, p[1]);
  }
  if (p) vec_push(&c->properties, 0);
  return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint n,
                           const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *user, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  *error = CL_SUCCESS;
  if (!devices || !n || (!notify && user)) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  for (cl_uint i = 0; i < n; i++)
    if (!ocl_is(devices[i], OCL_DEVICE)) {
      *error = CL_INVALID_DEVICE;
      return NULL;
    }
  cl_context c = ocl_object_new(OCL_CONTEXT, sizeof *c);
  c->notify = notify;
  c->user = user;
  for (cl_uint i = 0; i < n; i++)
    if (!ocl_context_has(c, devices[i])) vec_push(&c->devices, devices[i]);
  *error = read_properties(c, properties);
  if (*error == CL_SUCCESS) return c;
  ocl_drop(c);
  return NULL;
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                   void(CL_CALLBACK *notify)(const char *, const void *, size_t,
                                                             void *),
                                   void *user, cl_int *error) {
  cl_device_id devices[64];
  cl_uint n = 0;
  cl_int result = clGetDeviceIDs(ocl_platform(), type, ARRAY_LEN(devices), devices, &n);
  if (result == CL_SUCCESS)
    return clCreateContext(properties, MIN(n, ARRAY_LEN(devices)), devices, notify, user, error);
  if (error) *error = result;
  return NULL;
}

cl_int clRetainContext(cl_context c) { return ocl_retain(c, OCL_CONTEXT, CL_INVALID_CONTEXT); }
cl_int clReleaseContext(cl_context c) { return ocl_release(c, OCL_CONTEXT, CL_INVALID_CONTEXT); }

cl_int clGetContextInfo(cl_context c, cl_context_info what, size_t room, void *value,
                        size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
  switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT: return OCL_ANSWER(to, cl_uint, ocl_references(c));
    case CL_CONTEXT_NUM_DEVICES: return OCL_ANSWER(to, cl_uint, c->devices.len);
    case CL_CONTEXT_DEVICES:
      return ocl_answer(to, c->devices.data, c->devices.len * sizeof *c->devices.data);
    case CL_CONTEXT_PROPERTIES:
      return ocl_answer(to, c->properties.data, c->properties.len * sizeof *c->properties.data);
  }
  return CL_INVALID_VALUE;
}

cl_int clSetContextDestructorCallback(cl_context c, OclContextCallback call, void *user) {
  if (!ocl_is(c, OCL_CONTEXT)) return CL_INVALID_CONTEXT;
  if (!call) return CL_INVALID_VALUE;
  vec_push(&c->ends, (OclContextEnd){call, user});
  return CL_SUCCESS;
}
