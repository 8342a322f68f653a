// Jumps on x86-64. A far jump is `jmp *0(%rip); address`.
#ifdef __x86_64__
#include "runtime/internal.h"

const size_t patch_far_bytes = 14, patch_near_bytes = 5, patch_call_bytes = 24;
const int64_t patch_near_reach = 0x7ff00000;

static void put(uint8_t *at, const void *bytes, size_t n) { memcpy(at, bytes, n); }

void patch_far_jump(uint8_t *at, const void *target) {
  put(at, "\xff\x25\0\0\0\0", 6);
  put(at + 6, &target, 8);
}

void patch_near_jump(uint8_t *at, const void *target) {
  int32_t distance = (int32_t)((const uint8_t *)target - (at + 5));
  at[0] = 0xe9;
  put(at + 1, &distance, 4);
}

void patch_call_with(uint8_t *at, const void *target, const void *argument) {
  put(at, "\x48\xbf", 2);  // mov $argument, %rdi
  put(at + 2, &argument, 8);
  patch_far_jump(at + 10, target);
}

// The function starts at a multiple of 16, so what follows its `ret` up to the next multiple is
// padding.
bool patch_is_empty_function(const uint8_t *code) {
  if ((uintptr_t)code % 16) return false;
  return code[0] == 0xc3 || !memcmp(code, "\xf3\x0f\x1e\xfa\xc3", 5) ||
         !memcmp(code, "\xf3\xc3", 2);
}
#else
typedef int patch_x86_64_is_not_for_this_machine;
#endif
