// The bind functions of the execute families. On x86-64 exec/*.c are compiled once per instruction
// set level (Makefile) and the best one the CPU has is chosen here.
#include "vgpu/core.h"

#define LEVEL(suffix) \
  extern BindFn vgpu_bind_arith##suffix, vgpu_bind_memory##suffix, vgpu_bind_texture##suffix, \
      vgpu_bind_warp##suffix, vgpu_bind_mma##suffix;
#define TABLE(suffix) \
  (Families) { \
    vgpu_bind_arith##suffix, vgpu_bind_memory##suffix, vgpu_bind_texture##suffix, \
        vgpu_bind_warp##suffix, vgpu_bind_mma##suffix \
  }

LEVEL()
Families vgpu_families;
#if defined(__x86_64__) && defined(VGPU_LEVELS)
LEVEL(_v3)
LEVEL(_v4)
#endif

__attribute__((constructor)) static void choose(void) {
  vgpu_families = TABLE();
#if defined(__x86_64__) && defined(VGPU_LEVELS)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    vgpu_families = TABLE(_v3);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    vgpu_families = TABLE(_v4);
#endif
}
