// What initcheck's pass leaves for its half inside the program.
#ifndef WG_INITCHECK_KERNEL_H
#define WG_INITCHECK_KERNEL_H

#include "weave/weave.h"

// WeaveFact.kind: base and size of the allocation, and its shadow. Zeros: all of it is initialised
// and this launch cannot spoil it, or nothing is known
enum { FACT_SHADOW = FACT_OF_TOOL + TOOL_INITCHECK };

typedef struct InitKernel {  // WovenKernel.tool_data
  // Where its launch record has the device address of a word that is 0 if all memory that it reads
  // by its facts is initialised; 0: nowhere. The address may be 0.
  uint32_t all_initialised_at;
  bool good_if_reads_good;  // if all of that memory is initialised it stores nothing bad
  bool stores_anywhere;     // also through pointers that no fact is about
  const char *unfollowed;   // why its stores are not marked; NULL: they are
} InitKernel;

#endif
