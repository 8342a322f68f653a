// Inside where/: one step of a stack walk, and what is known about the memory of a stack.
#ifndef WG_WHERE_INTERNAL_H
#define WG_WHERE_INTERNAL_H

#include "where/where.h"

// --- cfi.c: how to get from a function to its caller, at one address. ---
// CFA: the stack pointer before the call. CFA_AT_FP: the value stored at frame pointer + offset
typedef enum { CFA_UNKNOWN, CFA_SP, CFA_FP, CFA_AT_FP } CfaKind;
typedef enum { FP_SAME, FP_AT_CFA, FP_AT_FP } FpKind;
typedef enum { RA_AT_CFA, RA_NONE } RaKind;  // RA_NONE: the outermost function
typedef struct UnwindRule {
  CfaKind cfa;
  FpKind fp;
  RaKind ra;
  int32_t cfa_offset, fp_offset, ra_offset;
} UnwindRule;
typedef struct UnwindObject {
  uint64_t start, end;
  const uint8_t *eh_frame_hdr;
} UnwindObject;
// false: no information for this address
bool cfi_find_rule(const UnwindObject *o, uint64_t pc, UnwindRule *out);

// --- objects.c ---
bool where_object_of(uint64_t pc, UnwindObject *out);  // false: not code of a loaded object

// --- stack.c ---
// first address after the mapping that holds sp; 0: not known
uint64_t where_stack_end(uint64_t sp);

#endif
