// cudaGetDeviceProperties for both layouts, filled from the driver's device attributes by one
// table.
#include "runtime/internal.h"

enum { CU_DEVICE_ATTRIBUTE_NONE = -1 };  // filled by hand

static int attribute(CUdevice device, int id) {
  int value = 0;
  if (id != CU_DEVICE_ATTRIBUTE_NONE) cuDeviceGetAttribute(&value, (CUdevice_attribute)id, device);
  return value;
}

static void fill_array(CUdevice device, int *out, int n, const int *ids) {
  for (int i = 0; i < n; i++) out[i] = attribute(device, ids[i]);
}

#define PROP_TEXT(field, n)
#define PROP_UUID(field)
#define PROP_RESERVED(field, n)
#define PROP_INT(field, id) p->field = attribute(device, CU_DEVICE_ATTRIBUTE_##id);
#define PROP_UINT(field, id) p->field = (unsigned)attribute(device, CU_DEVICE_ATTRIBUTE_##id);
#define PROP_SIZE(field, id) p->field = (size_t)attribute(device, CU_DEVICE_ATTRIBUTE_##id);
#define ATTR_IDS_2(a, b) \
  { CU_DEVICE_ATTRIBUTE_##a, CU_DEVICE_ATTRIBUTE_##b }
#define ATTR_IDS_3(a, b, c) \
  { CU_DEVICE_ATTRIBUTE_##a, CU_DEVICE_ATTRIBUTE_##b, CU_DEVICE_ATTRIBUTE_##c }
#define PROP_ARRAY(field, n, ...) \
  fill_array(device, p->field, n, (const int[])ATTR_IDS_##n(__VA_ARGS__));
#define FILL_BY_HAND(p) \
  do { \
    cuDeviceGetName((p)->name, sizeof(p)->name, device); \
    cuDeviceGetUuid_v2((CUuuid *)&(p)->uuid, device); \
    cuDeviceTotalMem_v2(&(p)->totalGlobalMem, device); \
  } while (0)

static cudaError_t check_device(const void *p, int device) {
  if (!p) return cudaErrorInvalidValue;
  cudaError_t e = rt_init();
  if (e) return e;
  int count = 0;
  cuDeviceGetCount(&count);
  return device < 0 || device >= count ? cudaErrorInvalidDevice : cudaSuccess;
}

#define PROP_12(...) __VA_ARGS__
#define PROP_13(...)
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp12 *p, int device) {
  cudaError_t e = check_device(p, device);
  if (e) return rt_return(e);
  memset(p, 0, sizeof *p);
#include "runtime/properties.def"
  FILL_BY_HAND(p);
  return cudaSuccess;
}
#undef PROP_12
#undef PROP_13

#define PROP_12(...)
#define PROP_13(...) __VA_ARGS__
cudaError_t cudaGetDeviceProperties_abi13(cudaDeviceProp13 *p, int device) {
  cudaError_t e = check_device(p, device);
  if (e) return rt_return(e);
  memset(p, 0, sizeof *p);
#include "runtime/properties.def"
  FILL_BY_HAND(p);
  return cudaSuccess;
}

// Runtime 12 keeps the unsuffixed name for objects compiled by toolkit 11, whose structure ends
// earlier.
cudaError_t cudaGetDeviceProperties_abi12(void *head, int device) {
  cudaDeviceProp12 whole;
  cudaError_t e = check_device(head, device);
  if (!e) e = cudaGetDeviceProperties_v2(&whole, device);
  if (e) return rt_return(e);
  memcpy(head, &whole, CUDA_DEVICE_PROP_11_BYTES);
  return cudaSuccess;
}

// The device that fits best: all virtual devices are alike, so the first one is as good as any.
cudaError_t cudaChooseDevice(int *device, const void *wanted) {
  cudaError_t e = !device || !wanted ? cudaErrorInvalidValue : rt_init();
  if (e) return rt_return(e);
  *device = 0;
  return cudaSuccess;
}
