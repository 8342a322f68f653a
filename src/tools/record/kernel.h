// Data that record's pass hands to its half inside the program.
#ifndef WG_TOOLS_RECORD_KERNEL_H
#define WG_TOOLS_RECORD_KERNEL_H

#include "weave/weave.h"

enum { RECORD_CHOOSES = 1 };  // of WeavePlan.tool_options: --buffer or --threads is given

typedef struct RecordKernel {  // WovenKernel.tool_data
  // Where its launch record has the first WG_TRACE_KEPT bytes of the WgTrace; 0: it reads them
  // through WgLaunch.trace. Two words follow: values, and whether it begins without recording.
  uint32_t trace_at;
  // Pointers that it loads through. Bit i of `values`: values loaded through the i-th are recorded.
  const WeaveFact *reads;
  uint32_t nreads;
  // Parameters that are tensor maps; record_offset: where their WgTraceTensor goes.
  const WeaveFact *maps;
  uint32_t nmaps;
  bool switches;       // it calls wg_record_begin or wg_record_end
  const char *unseen;  // an instruction that touches memory and is not recorded; NULL: none
} RecordKernel;

#endif
