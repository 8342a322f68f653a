// libcudart.so.12 and libcudart.so.13: every function of that version as a jump through our table
// of the same version. Compiled with -DCUDART_MAJOR=12 or 13. The table is data of libcuda.so.1,
// filled in before any constructor runs.

#if CUDART_MAJOR == 12
#define TABLE warpgrind_runtime_12
#define ENTRY_12(name) ENTRY(name)
#define ENTRY_13(name) SKIP
#else
#define TABLE warpgrind_runtime_13
#define ENTRY_12(name) SKIP
#define ENTRY_13(name) ENTRY(name)
#endif

#if defined(__aarch64__)
.macro jump_through_table
  hint #34
  adrp x16, :got:TABLE
  ldr x16, [x16, :got_lo12:TABLE]
  ldr x16, [x16, #(position * 8)]
  br x16
.endm
#elif defined(__x86_64__)
.macro jump_through_table
  endbr64
  movq TABLE@GOTPCREL(%rip), %r11
  jmp *(position * 8)(%r11)
.endm
#else
#error "not a host architecture Warpgrind knows"
#endif

#define SKIP .set position, position + 1
#define ENTRY(name) \
  .globl name; .type name, %function; .p2align 4; \
  name: jump_through_table; .size name, . - name; SKIP

  .text
  .set position, 0
#define API(name) ENTRY(name)
#define API_ABI(name) ENTRY(name)
#define NONE(name) ENTRY(name)
#define API_12(name) ENTRY_12(name)
#define API_13(name) ENTRY_13(name)
#define NONE_12(name) ENTRY_12(name)
#define NONE_13(name) ENTRY_13(name)
#include "runtime/api.def"

// Tells the redirection that this object is ours.
  .globl __cuda_warpgrind_shim
  .type __cuda_warpgrind_shim, %function
__cuda_warpgrind_shim: ret
  .size __cuda_warpgrind_shim, . - __cuda_warpgrind_shim
  .section .note.GNU-stack, "", %progbits
