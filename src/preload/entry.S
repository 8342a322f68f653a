// The exported functions of libcuda.so.1: each is a jump through preload_table, in the order of cuda/api.def.
#if defined(__aarch64__)
.macro jump_through_table
  hint #34
  adrp x16, preload_table + position * 8
  ldr x16, [x16, #:lo12:preload_table + position * 8]
  br x16
.endm
#elif defined(__x86_64__)
.macro jump_through_table
  endbr64
  jmp *(preload_table + position * 8)(%rip)
.endm
#else
#error "not a host architecture Warpgrind knows"
#endif

#define ENTRY(name) \
  .globl name; .type name, %function; .p2align 4; name: jump_through_table; .size name, . - name; .set position, position + 1

  .text
  .hidden preload_table
  .set position, 0
#define API(base, suffix, since, types) ENTRY(base##suffix)
#define SAME(base, suffix, since, target, params, args) ENTRY(base##suffix)
#define PER_THREAD(base, suffix, kind, since, params, args) ENTRY(base##suffix##kind)
#define NONE(base, suffix, kind, since) ENTRY(base##suffix##kind)
#include "cuda/api.def"
  .section .note.GNU-stack, "", %progbits
