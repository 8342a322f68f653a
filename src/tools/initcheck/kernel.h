// Data that initcheck's pass hands to its half inside the program.
#ifndef WG_INITCHECK_KERNEL_H
#define WG_INITCHECK_KERNEL_H

#include "weave/weave.h"

// WeaveFact.kind: base and size of the allocation, and its shadow. Zeros: all of it is initialised
// and this launch cannot change that, or nothing is known
enum { FACT_SHADOW = FACT_OF_TOOL + TOOL_INITCHECK };

typedef struct InitKernel {  // WovenKernel.tool_data
  // Where its launch record has the device address of a word that is 0 if all memory that it reads
  // through its facts is initialised; 0: the record has none. The address may be 0.
  uint32_t all_initialised_at;
  bool good_if_reads_good;  // if all that memory is initialised, it stores only good values
  bool stores_anywhere;     // it also stores through pointers without a fact
  const char *unfollowed;   // why its stores are not marked; NULL: they are
} InitKernel;

#endif
