// Jumps on AArch64. A far jump is `ldr x16, .+8; br x16; address`; x16 is free at a function's
// entry by the calling convention.
#ifdef __aarch64__
#include "runtime/internal.h"

const size_t patch_far_bytes = 16, patch_near_bytes = 4, patch_call_bytes = 32;
const int64_t patch_near_reach = 127 << 20;

enum {
  LDR_X16_8 = 0x58000050,
  LDR_X16_20 = 0x580000b0,
  LDR_X0_16 = 0x58000080,
  BR_X16 = 0xd61f0200,
  B = 0x14000000,
  RET = 0xd65f03c0,
  BTI_C = 0xd503245f,
  NOP = 0xd503201f
};

static void put32(uint8_t *at, uint32_t word) { memcpy(at, &word, 4); }
static void put64(uint8_t *at, const void *p) { memcpy(at, &p, 8); }

void patch_far_jump(uint8_t *at, const void *target) {
  put32(at, LDR_X16_8);
  put32(at + 4, BR_X16);
  put64(at + 8, target);
}

void patch_near_jump(uint8_t *at, const void *target) {
  int64_t distance = (const uint8_t *)target - at;
  put32(at, B | ((uint32_t)(distance >> 2) & 0x03ffffff));
}

void patch_call_with(uint8_t *at, const void *target, const void *argument) {
  put32(at, LDR_X0_16);       // argument at +16
  put32(at + 4, LDR_X16_20);  // target at +24
  put32(at + 8, BR_X16);
  put32(at + 12, NOP);
  put64(at + 16, argument);
  put64(at + 24, target);
}

bool patch_is_empty_function(const uint8_t *code) {
  uint32_t first, second;
  memcpy(&first, code, 4);
  memcpy(&second, code + 4, 4);
  return first == RET || (first == BTI_C && second == RET);
}
#else
typedef int patch_aarch64_is_not_for_this_machine;
#endif
