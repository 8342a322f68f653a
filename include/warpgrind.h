/* warpgrind.h: what a program can tell Warpgrind's initcheck and racecheck, in C11, C++ and CUDA. This header is all there is: nothing to link with.
 *
 *   wg_mark_initialized(p, n)     these n bytes count as written: something Warpgrind does not see has done it
 *   wg_mark_uninitialized(p, n)   nobody may rely on what is in these n bytes: as if just allocated
 *   wg_is_initialized(p, n)       true if every byte was written. Without Warpgrind, and for memory it knows nothing of: true
 *   wg_benign_race(p, n)          races on these n bytes are meant: they are not reported
 *   __dflog_forceinit(x)          wg_mark_initialized of the variable or array x; __dflog_forceinit(p, n) is wg_mark_initialized(p, n)
 *
 * p is an address of device memory. On the host the call takes effect at once: the host waits for the work of the current context first.
 * Without Warpgrind that is a test of a variable, after one look-up by name for each source file that uses it.
 *
 * In device code it is a pair of moves into registers nobody reads, which Warpgrind knows by their names and ptxas drops: no
 * instruction is left of it. The compiler moves no memory access across it.
 *
 *   { .reg .b64 wg_mark_initialized_p, wg_mark_initialized_n;
 *     mov.b64 wg_mark_initialized_p, <address>;  mov.b64 wg_mark_initialized_n, <bytes>; }
 *
 * wg_mark_uninitialized is the same with its own name. wg_is_initialized has a third register, wg_is_initialized_r (.b32), which is set to 1 and then
 * moved to the result; Warpgrind may replace the 1. The address is a generic one.
 */
#ifndef WARPGRIND_H
#define WARPGRIND_H

#include <stddef.h>

#if defined(__CUDACC__)
#define WG_BOTH_ static __inline__ __host__ __device__
#else
#define WG_BOTH_ static inline
#endif

#if !defined(__CUDA_ARCH__)
#include <dlfcn.h>
#include <string.h>

enum { WG_MARK_INITIALIZED_ = 1, WG_MARK_UNINITIALIZED_ = 2, WG_IS_INITIALIZED_ = 3, WG_BENIGN_RACE_ = 4 };
typedef int (*wg_host_function_)(int what, const void *p, size_t n);

/* The library that `warpgrind` preloads has this function; without it there is none of the name. */
static inline int wg_host_call_(int what, const void *p, size_t n) {
  static wg_host_function_ function;
  static int looked;
  if (!looked) {
    void *found = dlsym((void *)0, "wg_host_initialized");       /* RTLD_DEFAULT */
    memcpy((void *)&function, &found, sizeof found);
    looked = 1;
  }
  return function ? function(what, p, n) : 1;
}
#endif

// On the device: two registers of this name, which Warpgrind sees and the compiler of machine code drops.
#define WG_DEVICE_SAYS_(name) \
  asm volatile("{\n\t.reg .b64 " name "_p, " name "_n;\n\tmov.b64 " name "_p, %0;\n\tmov.b64 " name "_n, %1;\n\t}" \
               : : "l"(p), "l"((unsigned long long)n) : "memory")

WG_BOTH_ void wg_mark_initialized(const void *p, size_t n) {
#if defined(__CUDA_ARCH__)
  WG_DEVICE_SAYS_("wg_mark_initialized");
#else
  wg_host_call_(WG_MARK_INITIALIZED_, p, n);
#endif
}

WG_BOTH_ void wg_mark_uninitialized(const void *p, size_t n) {
#if defined(__CUDA_ARCH__)
  WG_DEVICE_SAYS_("wg_mark_uninitialized");
#else
  wg_host_call_(WG_MARK_UNINITIALIZED_, p, n);
#endif
}

WG_BOTH_ int wg_is_initialized(const void *p, size_t n) {
#if defined(__CUDA_ARCH__)
  int result;
  asm volatile("{\n\t.reg .b64 wg_is_initialized_p, wg_is_initialized_n;\n\t.reg .b32 wg_is_initialized_r;\n\tmov.b64 wg_is_initialized_p, %1;\n\t"
               "mov.b64 wg_is_initialized_n, %2;\n\tmov.b32 wg_is_initialized_r, 1;\n\tmov.b32 %0, wg_is_initialized_r;\n\t}"
               : "=r"(result) : "l"(p), "l"((unsigned long long)n) : "memory");
  return result;
#else
  return wg_host_call_(WG_IS_INITIALIZED_, p, n);
#endif
}

WG_BOTH_ void wg_benign_race(const void *p, size_t n) {
#if defined(__CUDA_ARCH__)
  WG_DEVICE_SAYS_("wg_benign_race");
#else
  wg_host_call_(WG_BENIGN_RACE_, p, n);
#endif
}

#define WG_THIRD_(a, b, c, ...) c
#define WG_FORCE_OBJECT_(x) wg_mark_initialized(&(x), sizeof(x))
#define WG_FORCE_BYTES_(p, n) wg_mark_initialized(p, n)
#define __dflog_forceinit(...) WG_THIRD_(__VA_ARGS__, WG_FORCE_BYTES_, WG_FORCE_OBJECT_, 0)(__VA_ARGS__)

#endif
