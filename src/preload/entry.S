// The exported functions of libcuda.so.1: each is a jump through preload_table, in the order of
// cuda/api.def. In GPU mode, until the real driver is loaded, the table leads to the stubs below. A
// stub keeps all registers that hold arguments, calls preload_bind with the number of the entry,
// and jumps to the function that preload_bind returns.
#include "preload/preload.h"
#if defined(__aarch64__)
.macro jump_through_table
  hint #34
  adrp x16, preload_table + position * 8
  ldr x16, [x16, #:lo12:preload_table + position * 8]
  br x16
.endm
.macro stub
  hint #34
  mov w17, #position
  b bind
.endm
#elif defined(__x86_64__)
.macro jump_through_table
  endbr64
  jmp *(preload_table + position * 8)(%rip)
.endm
.macro stub
  endbr64
  movl $position, %r11d
  jmp bind
.endm
#else
#error "not a host architecture Warpgrind knows"
#endif

#define ENTRY(name) \
  .globl name; .type name, %function; .p2align 4; \
  name: jump_through_table; .size name, . - name; .set position, position + 1

  .text
  .hidden preload_table
  .set position, 0
#define API(base, suffix, since, types) ENTRY(base##suffix)
#define SAME(base, suffix, since, target, params, args) ENTRY(base##suffix)
#define PER_THREAD(base, suffix, kind, since, params, args) ENTRY(base##suffix##kind)
#define NONE(base, suffix, kind, since) ENTRY(base##suffix##kind)
#include "cuda/api.def"

  .hidden preload_bind
  .type bind, %function
bind:
  .cfi_startproc
#if defined(__aarch64__)
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset 29, -224
  .cfi_offset 30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  bl preload_bind
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  br x16
#else
  subq $184, %rsp
  .cfi_def_cfa_offset 192
  movq %rdi, 128(%rsp)
  movq %rsi, 136(%rsp)
  movq %rdx, 144(%rsp)
  movq %rcx, 152(%rsp)
  movq %r8, 160(%rsp)
  movq %r9, 168(%rsp)
  movq %rax, 176(%rsp)
  movaps %xmm0, (%rsp)
  movaps %xmm1, 16(%rsp)
  movaps %xmm2, 32(%rsp)
  movaps %xmm3, 48(%rsp)
  movaps %xmm4, 64(%rsp)
  movaps %xmm5, 80(%rsp)
  movaps %xmm6, 96(%rsp)
  movaps %xmm7, 112(%rsp)
  movl %r11d, %edi
  call preload_bind
  movq %rax, %r11
  movq 128(%rsp), %rdi
  movq 136(%rsp), %rsi
  movq 144(%rsp), %rdx
  movq 152(%rsp), %rcx
  movq 160(%rsp), %r8
  movq 168(%rsp), %r9
  movq 176(%rsp), %rax
  movaps (%rsp), %xmm0
  movaps 16(%rsp), %xmm1
  movaps 32(%rsp), %xmm2
  movaps 48(%rsp), %xmm3
  movaps 64(%rsp), %xmm4
  movaps 80(%rsp), %xmm5
  movaps 96(%rsp), %xmm6
  movaps 112(%rsp), %xmm7
  addq $184, %rsp
  .cfi_def_cfa_offset 8
  jmp *%r11
#endif
  .cfi_endproc
  .size bind, . - bind

#define STUB .balign PRELOAD_STUB_BYTES; stub; .set position, position + 1;
  .globl preload_stubs
  .hidden preload_stubs
  .balign PRELOAD_STUB_BYTES
preload_stubs:
  .set position, 0
#define API(base, suffix, since, types) STUB
#define SAME(base, suffix, since, target, params, args) STUB
#define PER_THREAD(base, suffix, kind, since, params, args) STUB
#define NONE(base, suffix, kind, since) STUB
#include "cuda/api.def"
  .section .note.GNU-stack, "", %progbits
