// Samplers: addressing and filtering of images. A kernel gets a number, the same as OpenCL C has
// for a sampler that it declares itself: bit 0 normalized, 1 to 3 the addressing mode, 4 and 5 the
// filter.
#include "opencl/opencl.h"

uint64_t ocl_sampler_bits(cl_sampler s) {
  uint64_t bits = (s->addressing & 7) << 1;
  if (s->normalized) bits |= 1;
  return bits | (s->filter == CL_FILTER_LINEAR ? 0x20 : 0x10);
}

static cl_sampler make(cl_context context, const cl_sampler like, cl_int *error) {
  bool modes = like->addressing >= CL_ADDRESS_NONE &&
               like->addressing <= CL_ADDRESS_MIRRORED_REPEAT;
  bool filters = like->filter == CL_FILTER_NEAREST || like->filter == CL_FILTER_LINEAR;
  if (!ocl_is(context, OCL_CONTEXT)) {
    *error = CL_INVALID_CONTEXT;
    return NULL;
  }
  if (!modes || !filters || like->normalized > CL_TRUE) {
    *error = CL_INVALID_VALUE;
    return NULL;
  }
  cl_sampler s = ocl_object_new(OCL_SAMPLER, sizeof *s);
  s->context = context;
  ocl_hold(context);
  s->normalized = like->normalized;
  s->addressing = like->addressing;
  s->filter = like->filter;
  *error = CL_SUCCESS;
  return s;
}

cl_sampler clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                           cl_filter_mode filter, cl_int *error) {
  cl_int ignored;
  struct _cl_sampler like = {.normalized = normalized, .addressing = addressing, .filter = filter};
  return make(context, &like, error ? error : &ignored);
}

cl_sampler clCreateSamplerWithProperties(cl_context context,
                                         const cl_sampler_properties *properties, cl_int *error) {
  cl_int ignored;
  if (!error) error = &ignored;
  struct _cl_sampler like = {
      .normalized = CL_TRUE, .addressing = CL_ADDRESS_CLAMP, .filter = CL_FILTER_NEAREST};
  for (const cl_sampler_properties *p = properties; p && *p; p += 2) {
    if (*p == CL_SAMPLER_NORMALIZED_COORDS) like.normalized = (cl_bool)p[1];
    else if (*p == CL_SAMPLER_ADDRESSING_MODE) like.addressing = (cl_addressing_mode)p[1];
    else if (*p == CL_SAMPLER_FILTER_MODE) like.filter = (cl_filter_mode)p[1];
    else {
      *error = CL_INVALID_VALUE;
      return NULL;
    }
  }
  cl_sampler s = make(context, &like, error);
  for (const cl_sampler_properties *p = properties; s && p && *p; p += 2) {
    vec_push(&s->properties, p[0]);
    vec_push(&s->properties, p[1]);
  }
  if (s && properties) vec_push(&s->properties, 0);
  return s;
}

cl_int clRetainSampler(cl_sampler s) { return ocl_retain(s, OCL_SAMPLER, CL_INVALID_SAMPLER); }
cl_int clReleaseSampler(cl_sampler s) { return ocl_release(s, OCL_SAMPLER, CL_INVALID_SAMPLER); }

cl_int clGetSamplerInfo(cl_sampler s, cl_sampler_info what, size_t room, void *value,
                        size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(s, OCL_SAMPLER)) return CL_INVALID_SAMPLER;
  switch (what) {
    case CL_SAMPLER_REFERENCE_COUNT: return OCL_ANSWER(to, cl_uint, ocl_references(s));
    case CL_SAMPLER_CONTEXT: return OCL_ANSWER(to, cl_context, s->context);
    case CL_SAMPLER_NORMALIZED_COORDS: return OCL_ANSWER(to, cl_bool, s->normalized);
    case CL_SAMPLER_ADDRESSING_MODE: return OCL_ANSWER(to, cl_addressing_mode, s->addressing);
    case CL_SAMPLER_FILTER_MODE: return OCL_ANSWER(to, cl_filter_mode, s->filter);
    case CL_SAMPLER_PROPERTIES:
      return ocl_answer(to, s->properties.data, s->properties.len * sizeof *s->properties.data);
  }
  return CL_INVALID_VALUE;
}
