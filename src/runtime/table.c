// The two tables of entry points, one for each version of the runtime's binary interface.
//
// The libcudart.so.12 and libcudart.so.13 built from stub.S jump through them, by position, and the
// redirection of statically linked runtimes finds its targets here by name.
#include "runtime/internal.h"

// This file only needs addresses, so every entry point is declared as the same kind of function.
typedef cudaError_t Entry(void);

cudaError_t rt_unsupported(const char *name) {
  log_once(name, "%s is not supported on the virtual device: it returns cudaErrorNotSupported",
           name);
  return rt_return(cudaErrorNotSupported);
}

#define API(name) Entry name;
#define API_12(name) Entry name;
#define API_13(name) Entry name;
#define API_ABI(name) Entry name##_abi12, name##_abi13;
#define NONE(name) \
  static cudaError_t unsupported_##name(void) { return rt_unsupported(#name); }
#define NONE_12(name) NONE(name)
#define NONE_13(name) NONE(name)
#include "runtime/api.def"
#undef API
#undef API_12
#undef API_13
#undef API_ABI
#undef NONE
#undef NONE_12
#undef NONE_13

#define API_ABI(name) {#name, name##_abi12, name##_abi13, true, true},
#define API(name) {#name, name, name, true, true},
#define API_12(name) {#name, name, name, true, false},
#define API_13(name) {#name, name, name, false, true},
#define NONE(name) {#name, unsupported_##name, unsupported_##name, true, true},
#define NONE_12(name) {#name, unsupported_##name, unsupported_##name, true, false},
#define NONE_13(name) {#name, unsupported_##name, unsupported_##name, false, true},
static const RtEntry entries[] = {
#include "runtime/api.def"
};
#undef API
#undef API_12
#undef API_13
#undef API_ABI
#undef NONE
#undef NONE_12
#undef NONE_13

const RtEntry *rt_entry_table(uint32_t *count) {
  *count = ARRAY_LEN(entries);
  return entries;
}

#define API(name) (void *)name,
#define API_12(name) (void *)name,
#define API_13(name) (void *)name,
#define NONE(name) (void *)unsupported_##name,
#define NONE_12(name) NONE(name)
#define NONE_13(name) NONE(name)
#define TABLE __attribute__((visibility("default"))) void *const

#define API_ABI(name) (void *)name##_abi12,
TABLE warpgrind_runtime_12[] = {
#include "runtime/api.def"
};
#undef API_ABI
#define API_ABI(name) (void *)name##_abi13,
TABLE warpgrind_runtime_13[] = {
#include "runtime/api.def"
};
