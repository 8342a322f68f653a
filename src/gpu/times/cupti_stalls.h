// Warpgrind's own declarations for CUPTI's sampling of program counters. Each structure begins with
// its size, by which CUPTI knows how many fields there are.
#ifndef WG_GPU_CUPTI_STALLS_H
#define WG_GPU_CUPTI_STALLS_H

#include "cuda/abi.h"

enum { CUPTI_NAME_BYTES = 128 };               // of a reason
enum { CUPTI_REASONS = 2, CUPTI_BUFFER = 8 };  // CuptiSetting.what

typedef struct CuptiReasonSamples {
  uint32_t reason, samples;
} CuptiReasonSamples;
typedef struct CuptiPlace {  // an instruction
  size_t size;
  uint64_t code, offset;
  uint32_t function, padding;
  char *name;  // of the kernel; several places may share it, so that it is never freed
  size_t nreasons;
  CuptiReasonSamples *reasons;
  uint32_t correlation;
} CuptiPlace;
typedef struct CuptiSamples {
  size_t size, room;
  uint64_t samples, dropped;
  size_t nplaces, left;
  uint64_t range;
  CuptiPlace *places;
  uint64_t of_others;
  uint8_t full;
} CuptiSamples;
typedef struct CuptiSetting {
  uint32_t what, status;
  union {
    uint64_t all[3];
    void *buffer;
    struct {
      size_t n;
      uint32_t *list;
    } reasons;
  };
} CuptiSetting;

typedef struct CuptiOfContext {  // Enable, Disable
  size_t size;
  void *reserved;
  CUcontext context;
} CuptiOfContext;
typedef struct CuptiReasonCount {
  size_t size;
  void *reserved;
  CUcontext context;
  size_t *n;
} CuptiReasonCount;
typedef struct CuptiReasonNames {
  size_t size;
  void *reserved;
  CUcontext context;
  size_t n;
  uint32_t *numbers;
  char **names;
} CuptiReasonNames;
typedef struct CuptiSettings {
  size_t size;
  void *reserved;
  CUcontext context;
  size_t n;
  CuptiSetting *list;
} CuptiSettings;
typedef struct CuptiCrc {
  size_t size, bytes;
  const void *cubin;
  uint64_t crc;
} CuptiCrc;
typedef struct CuptiLine {  // of an instruction; file and folder are ours to free
  size_t size;
  const void *cubin;
  const char *function;
  size_t bytes;
  uint32_t line;
  uint64_t offset;
  char *file, *folder;
} CuptiLine;
// The driver loads machine code: CuptiResource.what is a CuptiModule. Both go when the call ends.
enum { CUPTI_RESOURCES = 3, CUPTI_MODULE_LOADED = 6 };
typedef struct CuptiResource {
  CUcontext context;
  CUstream stream;
  void *what;
} CuptiResource;
typedef struct CuptiModule {
  uint32_t id;
  size_t bytes;
  const void *cubin;
} CuptiModule;
typedef void CuptiCallback(void *user, int domain, uint32_t id, const void *data);
typedef struct CuptiTake {
  size_t size;
  void *reserved;
  CUcontext context;
  void *samples;
} CuptiTake;

#define CUPTI_STALL_FUNCTIONS \
  FUNCTION(cuptiPCSamplingEnable, (CuptiOfContext * p)) \
  FUNCTION(cuptiPCSamplingDisable, (CuptiOfContext * p)) \
  FUNCTION(cuptiPCSamplingGetNumStallReasons, (CuptiReasonCount * p)) \
  FUNCTION(cuptiPCSamplingGetStallReasons, (CuptiReasonNames * p)) \
  FUNCTION(cuptiPCSamplingSetConfigurationAttribute, (CuptiSettings * p)) \
  FUNCTION(cuptiPCSamplingGetData, (CuptiTake * p))
#define CUPTI_LINE_FUNCTIONS \
  FUNCTION(cuptiSubscribe, (void **subscriber, CuptiCallback *callback, void *user)) \
  FUNCTION(cuptiEnableCallback, (uint32_t yes, void *subscriber, int domain, uint32_t id)) \
  FUNCTION(cuptiGetCubinCrc, (CuptiCrc * p)) \
  FUNCTION(cuptiGetSassToSourceCorrelation, (CuptiLine * p))

#endif
