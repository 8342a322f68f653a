// Private to sass/.
#ifndef WG_SASS_FLOW_H
#define WG_SASS_FLOW_H

#include "sass/decode.h"

typedef struct SassFlow {
  uint32_t n;
  uint32_t *first, *from;  // from[first[i]] to from[first[i + 1] - 1]: branches and calls to i
  bool *falls;             // the instruction before it can go on with it
} SassFlow;

// The instruction that a branch or a call goes to; UINT32_MAX: none, or outside of the kernel
uint32_t sass_target(const SassInstruction *code, uint32_t n, uint32_t at, unsigned sm);
void sass_flow_open(SassFlow *f, const SassInstruction *code, uint32_t n, unsigned sm);
void sass_flow_close(SassFlow *f);

#endif
