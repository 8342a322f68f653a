// Devices: their number, names and capabilities.
#include "driver/driver.h"

#include <ctype.h>
#include <unistd.h>

#define MAX_DEVICES 64
static const char device_name[] = "Warpgrind Virtual GPU";
static Device devices[MAX_DEVICES];
static int ndevices;
static pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_device(int physical, size_t memory) {
  devices[ndevices] = (Device){.ordinal = ndevices, .pci_bus = physical + 1, .memory = memory};
  ndevices++;
}

static void format_uuid(int pci_bus, unsigned char out[16]) {
  memcpy(out, "Warpgrind vGPU\0", 15);
  out[15] = (unsigned char)pci_bus;
}

// "GPU-57617270-..." or a beginning of it names a device by its UUID.
static int find_by_uuid(const char *word, size_t len, int physical) {
  for (int d = 0; d < physical; d++) {
    unsigned char u[16];
    char text[64];
    format_uuid(d + 1, u);
    int n = snprintf(text, sizeof text, "GPU-");
    for (int i = 0; i < 16; i++)
      n += snprintf(text + n, sizeof text - n,
                    i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", u[i]);
    if (len <= strlen(text) && !strncmp(text, word, len)) return d;
  }
  return -1;
}

// CUDA_VISIBLE_DEVICES: a list of numbers or UUIDs; the first bad or repeated entry ends it.
static void pick_visible(const char *list, int physical, size_t memory) {
  bool seen[MAX_DEVICES] = {0};
  for (const char *p = list; *p;) {
    while (isspace((unsigned char)*p)) p++;
    size_t len = strcspn(p, ", \t");
    int d = -1;
    if (len > 4 && !strncmp(p, "GPU-", 4)) d = find_by_uuid(p, len, physical);
    else if (isdigit((unsigned char)*p)) d = atoi(p);
    if (d < 0 || d >= physical || seen[d]) break;
    seen[d] = true;
    add_device(d, memory);
    p += len;
    while (isspace((unsigned char)*p)) p++;
    if (*p == ',') p++;
  }
}

static void make_devices(void) {
  int physical = settings()->devices;
  // Seven eighths of the machine's memory, shared evenly, in whole MiB.
  uint64_t ram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  size_t memory = ram / 8 * 7 / (uint64_t)physical >> 20 << 20;
  const char *list = getenv("CUDA_VISIBLE_DEVICES");
  if (list) pick_visible(list, physical, memory);
  else
    for (int d = 0; d < physical; d++) add_device(d, memory);
}

int device_count(void) {
  pthread_once(&once, make_devices);
  return ndevices;
}

Device *device_get(CUdevice ordinal) {
  return ordinal >= 0 && ordinal < device_count() ? &devices[ordinal] : NULL;
}

int device_attribute(const Device *dev, int number, bool *known) {
  *known = true;
  switch (number) {
// clang-format off
#define ATTRIBUTE(name, number, value) case number: return value;
#include "cuda/attributes.def"
    // clang-format on
  }
  *known = false;
  return 0;
}

// Every function below starts like this.
#define DEVICE_OR_RETURN(dev, handle) \
  TRY(driver_check()); \
  Device *dev = device_get(handle); \
  if (!dev) return CUDA_ERROR_INVALID_DEVICE

CUresult cuDeviceGetCount(int *count) {
  TRY(driver_check());
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = device_count();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *out, int ordinal) {
  DEVICE_OR_RETURN(dev, ordinal);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = dev->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  (void)dev;
  if (!name || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, (size_t)len, "%s", device_name);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!uuid) return CUDA_ERROR_INVALID_VALUE;
  format_uuid(dev->pci_bus, (unsigned char *)uuid->bytes);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!bytes) return CUDA_ERROR_INVALID_VALUE;
  *bytes = dev->memory;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  bool known;
  int value = device_attribute(dev, (int)attribute, &known);
  if (!out || !known) return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
  bool known;
  *major = device_attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &known);
  *minor = device_attribute(dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &known);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *out, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  bool known;
#define VALUE(name) device_attribute(dev, CU_DEVICE_ATTRIBUTE_##name, &known)
  *out = (CUdevprop){
      .maxThreadsPerBlock = VALUE(MAX_THREADS_PER_BLOCK),
      .maxThreadsDim = {VALUE(MAX_BLOCK_DIM_X), VALUE(MAX_BLOCK_DIM_Y), VALUE(MAX_BLOCK_DIM_Z)},
      .maxGridSize = {VALUE(MAX_GRID_DIM_X), VALUE(MAX_GRID_DIM_Y), VALUE(MAX_GRID_DIM_Z)},
      .sharedMemPerBlock = VALUE(MAX_SHARED_MEMORY_PER_BLOCK),
      .totalConstantMemory = VALUE(TOTAL_CONSTANT_MEMORY),
      .SIMDWidth = VALUE(WARP_SIZE),
      .memPitch = VALUE(MAX_PITCH),
      .regsPerBlock = VALUE(MAX_REGISTERS_PER_BLOCK),
      .clockRate = VALUE(CLOCK_RATE),
      .textureAlign = VALUE(TEXTURE_ALIGNMENT),
  };
#undef VALUE
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *out, CUarray_format format, unsigned channels,
                                            CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  VgpuTexel texel;
  unsigned fixed;
  bool normalized, known;
  if (!out || !channels || !array_texel(format, &texel, &fixed, &normalized))
    return CUDA_ERROR_INVALID_VALUE;
  *out = (size_t)device_attribute(dev, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, &known);
  return CUDA_SUCCESS;
}

// --- the bus ---

CUresult cuDeviceGetPCIBusId(char *out, int len, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  if (!out || len <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(out, (size_t)len, "%04x:%02x:%02x.0", 0u, (unsigned)dev->pci_bus, 0u);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *text) {
  TRY(driver_check());
  if (!out || !text) return CUDA_ERROR_INVALID_VALUE;
  unsigned a, b, c = 0, domain = 0, bus;
  if (sscanf(text, "%x:%x:%x", &a, &b, &c) == 3) {
    domain = a;
    bus = b;
  } else if (sscanf(text, "%x:%x", &a, &b) == 2) bus = a;
  else return CUDA_ERROR_INVALID_VALUE;
  for (int i = 0; i < device_count(); i++)
    if (!domain && devices[i].pci_bus == (int)bus) {
      *out = i;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_DEVICE;
}

// --- peers: all virtual devices share one memory, so every pair can ---

CUresult cuDeviceCanAccessPeer(int *can, CUdevice handle, CUdevice peer) {
  DEVICE_OR_RETURN(dev, handle);
  Device *other = device_get(peer);
  if (!other) return CUDA_ERROR_INVALID_DEVICE;
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  *can = dev != other;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to) {
  DEVICE_OR_RETURN(dev, from);
  Device *other = device_get(to);
  if (!other || dev == other) return CUDA_ERROR_INVALID_DEVICE;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  switch ((int)attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 1; return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// --- atomics over a link ---

// The atomic capabilities of PTX's instructions atom and red for this operation.
static unsigned atomic_capabilities(CUatomicOperation operation) {
  enum {
    INTEGER = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED,
    REDUCTION = CU_ATOMIC_CAPABILITY_REDUCTION,
    OF_32 = CU_ATOMIC_CAPABILITY_SCALAR_32,
    OF_64 = OF_32 | CU_ATOMIC_CAPABILITY_SCALAR_64,
    OF_128 = OF_64 | CU_ATOMIC_CAPABILITY_SCALAR_128
  };
  switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR: return INTEGER | REDUCTION | OF_64;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
      return CU_ATOMIC_CAPABILITY_UNSIGNED | REDUCTION | OF_32;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS: return INTEGER | OF_128;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
      return CU_ATOMIC_CAPABILITY_SIGNED | REDUCTION | OF_64 | CU_ATOMIC_CAPABILITY_VECTOR_32x4;
    default: return 0;  // minima of float and double do not exist
  }
}

// native: the link carries all atomics, else none
static CUresult link_capabilities(unsigned *out, const CUatomicOperation *operations,
                                  unsigned count, bool native) {
  if (!out || !operations || !count) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++)
    if ((unsigned)operations[i] >= CU_ATOMIC_OPERATION_MAX) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) out[i] = native ? atomic_capabilities(operations[i]) : 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned *out, const CUatomicOperation *operations,
                                           unsigned count, CUdevice handle) {
  DEVICE_OR_RETURN(dev, handle);
  (void)dev;
  // as the attribute HOST_NATIVE_ATOMIC_SUPPORTED says
  return link_capabilities(out, operations, count, false);
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned *out, const CUatomicOperation *operations,
                                          unsigned count, CUdevice from, CUdevice to) {
  DEVICE_OR_RETURN(dev, from);
  Device *other = device_get(to);
  if (!other || dev == other) return CUDA_ERROR_INVALID_DEVICE;
  return link_capabilities(out, operations, count, true);
}
