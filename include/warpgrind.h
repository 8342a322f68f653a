/* warpgrind.h: what a program can tell Warpgrind's initcheck, racecheck and recorder, in C11, C++
 * and CUDA. This header is all there is: nothing to link with.
 *
 *   wg_mark_initialized(p, n)     these n bytes count as written: something that Warpgrind does not
 *                                 see has written them
 *   wg_mark_uninitialized(p, n)   these n bytes count as never written, as if just allocated
 *   wg_is_initialized(p, n)       true if every byte was written. Also true without Warpgrind, and
 *                                 for memory that it knows nothing of
 *   wg_benign_race(p, n)          races on these n bytes are intended: they are not reported
 *   wg_record(x)                  in device code, C++: the value of x goes into a recording
 *                                 (--record), as an operation of the thread. x has up to 8 bytes
 *   wg_watch(x)                   the same, and warpgrind view shows it as a picture, a dot for
 *                                 each thread, also while the program runs (docs/viewer.md)
 *   wg_record_begin()             starts recording: on the host from the next launch on, in device
 *                                 code for the thread that calls it
 *   wg_record_end()               stops it; __dflog_begin() and __dflog_end() are other names
 *   __dflog_forceinit(x)          wg_mark_initialized of the variable or array x;
 *                                 __dflog_forceinit(p, n) is wg_mark_initialized(p, n)
 *
 * p is an address of device memory. On the host the call takes effect at once: the host waits for
 * the work of the current context first. Without Warpgrind the call tests a variable, after one
 * look-up by name for each source file that uses it.
 *
 * In device code a call is a pair of moves into registers that are never read. Warpgrind knows them
 * by their names, and ptxas drops them: no instruction is left. The compiler moves no memory access
 * across them.
 *
 *   { .reg .b64 wg_mark_initialized_p, wg_mark_initialized_n;
 *     mov.b64 wg_mark_initialized_p, <address>;  mov.b64 wg_mark_initialized_n, <bytes>; }
 *
 * wg_mark_uninitialized is the same with its own name. wg_is_initialized has a third register,
 * wg_is_initialized_r (.b32), which is set to 1 and then moved to the result; Warpgrind may replace
 * the 1. The address is a generic one. wg_record and wg_watch move their argument into a register
 * whose name ends with its type: wg_record_f32, _f64, _s32, _u32, _s64, _u64, _b32, _b64.
 * wg_record_begin and wg_record_end move a 1 into a register of their name.
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

enum {
  WG_MARK_INITIALIZED_ = 1,
  WG_MARK_UNINITIALIZED_ = 2,
  WG_IS_INITIALIZED_ = 3,
  WG_BENIGN_RACE_ = 4,
  WG_RECORD_BEGIN_ = 5,
  WG_RECORD_END_ = 6
};
typedef int (*wg_host_function_)(int what, const void *p, size_t n);

/* The library that `warpgrind` preloads has this function; without Warpgrind it does not exist. */
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

// On the device: two registers of this name, which Warpgrind sees and the compiler of machine code
// drops.
#define WG_DEVICE_SAYS_(name) \
  asm volatile("{\n\t.reg .b64 " name "_p, " name "_n;\n\tmov.b64 " name "_p, %0;\n\t" \
               "mov.b64 " name "_n, %1;\n\t}" \
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
  asm volatile("{\n\t.reg .b64 wg_is_initialized_p, wg_is_initialized_n;\n\t"
               ".reg .b32 wg_is_initialized_r;\n\tmov.b64 wg_is_initialized_p, %1;\n\t"
               "mov.b64 wg_is_initialized_n, %2;\n\tmov.b32 wg_is_initialized_r, 1;\n\t"
               "mov.b32 %0, wg_is_initialized_r;\n\t}"
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

// Recording: a register of this name gets the value.
#define WG_DEVICE_RECORDS_(name, type, constraint, value) \
  asm volatile("{\n\t.reg ." type " " name ";\n\tmov." type " " name ", %0;\n\t}" \
               : : constraint(value) : "memory")

WG_BOTH_ void wg_record_begin(void) {
#if defined(__CUDA_ARCH__)
  WG_DEVICE_RECORDS_("wg_record_begin", "b32", "r", 1);
#else
  wg_host_call_(WG_RECORD_BEGIN_, (const void *)0, 0);
#endif
}

WG_BOTH_ void wg_record_end(void) {
#if defined(__CUDA_ARCH__)
  WG_DEVICE_RECORDS_("wg_record_end", "b32", "r", 1);
#else
  wg_host_call_(WG_RECORD_END_, (const void *)0, 0);
#endif
}
#define __dflog_begin wg_record_begin
#define __dflog_end wg_record_end

#if defined(__cplusplus) && defined(__CUDACC__)
// wg_record and wg_watch: a function for each type. The register's name is that of the function and
// of the type.
#if defined(__CUDA_ARCH__)
#define WG_VALUE_OF_(name, T, type, constraint) \
  static __inline__ __host__ __device__ void name(T x) { \
    WG_DEVICE_RECORDS_(#name "_" type, type, constraint, x); \
  }
#define WG_BITS_OF_(name) \
  static_assert(sizeof x <= 8, #name ": at most 8 bytes"); \
  unsigned long long bits = 0; \
  memcpy(&bits, &x, sizeof x); \
  if (sizeof x <= 4) WG_DEVICE_RECORDS_(#name "_b32", "b32", "r", (unsigned)bits); \
  else WG_DEVICE_RECORDS_(#name "_b64", "b64", "l", bits);
#else
#define WG_VALUE_OF_(name, T, type, constraint) \
  static __inline__ __host__ __device__ void name(T x) { (void)x; }
#define WG_BITS_OF_(name) (void)x;
#endif
#define WG_VALUES_(name) \
  WG_VALUE_OF_(name, float, "f32", "f") \
  WG_VALUE_OF_(name, double, "f64", "d") \
  WG_VALUE_OF_(name, int, "s32", "r") \
  WG_VALUE_OF_(name, unsigned, "u32", "r") \
  WG_VALUE_OF_(name, long, "s64", "l") \
  WG_VALUE_OF_(name, unsigned long, "u64", "l") \
  WG_VALUE_OF_(name, long long, "s64", "l") \
  WG_VALUE_OF_(name, unsigned long long, "u64", "l") \
  static __inline__ __host__ __device__ void name(signed char x) { name((int)x); } \
  static __inline__ __host__ __device__ void name(char x) { name((int)x); } \
  static __inline__ __host__ __device__ void name(unsigned char x) { name((unsigned)x); } \
  static __inline__ __host__ __device__ void name(short x) { name((int)x); } \
  static __inline__ __host__ __device__ void name(unsigned short x) { name((unsigned)x); } \
  static __inline__ __host__ __device__ void name(bool x) { name((unsigned)x); } \
  template <class T> static __inline__ __host__ __device__ void name(T *x) { \
    name((unsigned long long)(size_t)x); \
  } \
  /* whatever else: its bits */ \
  template <class T> static __inline__ __host__ __device__ void name(T x) { WG_BITS_OF_(name) }
WG_VALUES_(wg_record)
WG_VALUES_(wg_watch)
#endif

#define WG_THIRD_(a, b, c, ...) c
#define WG_FORCE_OBJECT_(x) wg_mark_initialized(&(x), sizeof(x))
#define WG_FORCE_BYTES_(p, n) wg_mark_initialized(p, n)
#define __dflog_forceinit(...) \
  WG_THIRD_(__VA_ARGS__, WG_FORCE_BYTES_, WG_FORCE_OBJECT_, 0)(__VA_ARGS__)

#include "warpgrind_interrupts.h"

#endif
