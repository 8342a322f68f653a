// clGetDeviceInfo, from a table.
#include "opencl/opencl.h"

static cl_ulong memory_bytes(cl_device_id d) {
  size_t n = 0;
  return cuDeviceTotalMem_v2(&n, d->ordinal) ? 0 : n;
}

static const cl_name_version extensions[] = {
#define EXTENSION(name) {CL_MAKE_VERSION(1, 0, 0), name},
#include "opencl/extensions.def"
};

static cl_int answer_extensions(OclAnswer to) {
  Str text = {0};
  for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
    str_printf(&text, "%s%s", i ? " " : "", extensions[i].name);
  cl_int result = ocl_answer_text(to, text.data);
  str_free(&text);
  return result;
}

// It takes the cases for labels.
// clang-format off
#define NUMBER(name, type, ...) \
  case name: return OCL_ANSWER(to, type, (type)(__VA_ARGS__));
#define TEXT(name, text) \
  case name: return ocl_answer_text(to, text);
#define LIST(name, type, ...) \
  case name: { \
    type list[] = {__VA_ARGS__}; \
    return ocl_answer(to, list, sizeof list); \
  }
// clang-format on
#define A(name) ocl_attribute(d, CU_DEVICE_ATTRIBUTE_##name)

// Intermediate languages: SPIR-V where a translator is installed.
static cl_int answer_languages(OclAnswer to) {
  static const cl_name_version list[] = {{CL_MAKE_VERSION(1, 0, 0), "SPIR-V"},
                                         {CL_MAKE_VERSION(1, 1, 0), "SPIR-V"}};
  return ocl_answer(to, list, ocl_translator_present() ? sizeof list : 0);
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *value,
                       size_t *needed) {
  OclAnswer to = {room, value, needed};
  if (!ocl_is(d, OCL_DEVICE)) return CL_INVALID_DEVICE;
  switch (what) {
    case CL_DEVICE_EXTENSIONS: return answer_extensions(to);
    case CL_DEVICE_ILS_WITH_VERSION: return answer_languages(to);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION: return ocl_answer(to, extensions, sizeof extensions);
    // the device is not a partition of another: an empty list
    case CL_DEVICE_PARTITION_TYPE: return ocl_answer(to, NULL, 0);
#include "opencl/device_info.def"
  }
  return CL_INVALID_VALUE;
}
