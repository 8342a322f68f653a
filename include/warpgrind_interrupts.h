/* warpgrind_interrupts.h: GPU interrupts. Device code calls functions of the CPU, anywhere, and
 * goes on. warpgrind.h includes this file. docs/interrupts.md explains them; in short:
 *
 *   WG_INTERRUPT(report, void(int thread, float value));
 *   WG_INTERRUPT_OR(lookup, int(int key), -1);
 *   WG_INTERRUPT_OR_TRAP(lookup, int(int key));
 *
 * declare one: a name and the type of a function. Without Warpgrind a call does nothing, gives -1,
 * or ends the kernel.
 *
 *   report(i, x);
 *
 * calls it, in device code.
 *
 *   WG_HANDLER(report, wg_callers &callers, wg_list<int> thread, wg_list<float> value) { … }
 *   WG_HANDLER(lookup, wg_callers &callers, wg_list<int> key, wg_results<int> found) { … }
 *
 * defines the handler, a function of the host. It runs once for all threads that call the interrupt
 * at about the same time. A wg_list has the values of one parameter, one for each caller: `d` is
 * the array on the device, host() the same on the host, copied when asked for. A parameter of type
 * wg_host<T> is an object of the host: device code passes it on, the handler uses it as a pointer.
 * In C, and for handlers chosen at run time: wg_interrupt_handler(name, function, user).
 *
 * In device code a call is one asm statement that moves the address of a description and the
 * arguments into registers whose names Warpgrind knows. Without Warpgrind ptxas drops all of it,
 * and the result is the default.
 */
#ifndef WARPGRIND_INTERRUPTS_H
#define WARPGRIND_INTERRUPTS_H

enum {
  WG_INTERRUPT_MAGIC_ = 0x77674931,
  WG_INTERRUPT_PARAMS_ = 16,
  WG_INTERRUPT_WORDS_ = 16,
  WG_INTERRUPT_TRAPS_ = 1
};

/* Describes an interrupt that device code calls. A device variable that no device code reads:
 * Warpgrind reads it in the PTX. */
typedef struct wg_interrupt_info_ {
  unsigned magic, line;
  const char *name, *file, *text; /* line, file, text: the place, where the call gives them */
  unsigned flags, result, nparams,
      params[WG_INTERRUPT_PARAMS_]; /* bytes, and in the upper half a letter: wg_kind_ */
} wg_interrupt_info_;

/* --- the host: what a handler gets --- */

typedef struct wg_caller {
  unsigned block[3], thread[3];
  unsigned long long index; /* of the thread in its grid: block by block, x first */
  const char *file, *text;  /* the call; file NULL: compiled without -lineinfo */
  unsigned line;
} wg_caller;

typedef struct wg_interrupt {
  const char *name, *kernel;
  size_t count; /* threads that call */
  unsigned nparams;
  const unsigned *param_bytes;
  void *const *params;   /* on the device: for each parameter an array of count values */
  unsigned result_bytes; /* 0: the interrupt has no result */
  void *results;         /* on the device: for the results, which the handler writes */
  unsigned grid[3], block[3];
  void *stream; /* CUstream, cudaStream_t: work for the device that belongs to this call. The
                   default stream is the same here */
  /* what follows is called through the functions below */
  const void *(*host_values)(struct wg_interrupt *call, unsigned param);
  void *(*host_results)(struct wg_interrupt *call);
  const wg_caller *(*callers)(struct wg_interrupt *call);
  void (*end_kernel)(struct wg_interrupt *call);
  void (*fail)(struct wg_interrupt *call, const char *why);
  int (*read_device)(struct wg_interrupt *call, void *to, const void *from, size_t n);
  int (*write_device)(struct wg_interrupt *call, void *to, const void *from, size_t n);
  int (*report)(struct wg_interrupt *call, size_t caller, const char *text);
  const wg_caller *(*caller)(struct wg_interrupt *call, size_t i);
  unsigned long long launch; /* the same in all calls of one launch, and in no other's */
} wg_interrupt;

/* The values of a parameter, copied to the host; valid until the handler returns. NULL: it cannot
 * be copied. */
static inline const void *wg_host_values(wg_interrupt *call, unsigned param) {
  return call->host_values(call, param);
}
/* Room for the results on the host; copied to the device when the handler returns. */
static inline void *wg_host_results(wg_interrupt *call) { return call->host_results(call); }
static inline const wg_caller *wg_host_callers(wg_interrupt *call) { return call->callers(call); }
/* One of them; NULL: there are not so many. */
static inline const wg_caller *wg_host_caller(wg_interrupt *call, size_t i) {
  return call->caller(call, i);
}
/* Copies between host and device, as part of this call. 0: they failed. */
static inline int wg_read_device(wg_interrupt *call, void *to, const void *from, size_t n) {
  return call->read_device(call, to, from, n);
}
static inline int wg_write_device(wg_interrupt *call, void *to, const void *from, size_t n) {
  return call->write_device(call, to, from, n);
}
/* A finding of the run (kind "assert"), with the place and the thread of this caller. 0: no tool
 * runs, and the finding is dropped. */
static inline int wg_report_finding(wg_interrupt *call, size_t caller, const char *text) {
  return call->report(call, caller, text);
}
/* The handler cannot do its work: the launch fails, and Warpgrind says why. */
static inline void wg_handler_fails(wg_interrupt *call, const char *why) { call->fail(call, why); }
/* The kernel is not entered again: its threads that are suspended end where they are. */
static inline void wg_end_kernel(wg_interrupt *call) { call->end_kernel(call); }

typedef void wg_handler_function(wg_interrupt *call, void *user);
typedef struct wg_handler_definition_ {
  const char *name, *file;
  wg_handler_function *function;
  void *user;
  unsigned line, result_bytes, nparams; /* nparams ~0: of any type */
  const unsigned *param_bytes;
} wg_handler_definition_;
typedef int (*wg_register_function_)(const wg_handler_definition_ *definition);

#if !defined(__CUDA_ARCH__)
/* The library that `warpgrind` preloads has this function; without Warpgrind it does not exist.
 * Returns 0 then. */
static inline int wg_interrupt_register_(wg_handler_definition_ definition) {
  wg_register_function_ function;
  void *found = dlsym((void *)0, "wg_interrupt_register"); /* RTLD_DEFAULT */
  memcpy((void *)&function, &found, sizeof found);
  return function ? function(&definition) : 0;
}
static inline int wg_interrupt_handler_(const char *name, wg_handler_function *f, void *user,
                                        const char *file, unsigned line) {
  wg_handler_definition_ definition;
  memset(&definition, 0, sizeof definition);
  definition.name = name;
  definition.file = file;
  definition.line = line;
  definition.function = f;
  definition.user = user;
  definition.nparams = ~0u;
  return wg_interrupt_register_(definition);
}
#define wg_interrupt_handler(name, function, user) \
  wg_interrupt_handler_(name, function, user, __FILE__, __LINE__)
#else
static inline int wg_interrupt_handler(const char *name, wg_handler_function *f, void *user) {
  (void)name, (void)f, (void)user;
  return 0;
}
#endif

#if defined(__cplusplus)
#if !defined(__CUDA_ARCH__)
#include <cxxabi.h>
#include <exception>
#include <stdlib.h>
#endif
/* An object of the host, as a parameter of kernels and interrupts. Device code can only pass it on.
 */
#if defined(__CUDACC__)
#define WG_ON_HOST_ __host__
#define WG_ON_BOTH_ __host__ __device__
#else
#define WG_ON_HOST_
#define WG_ON_BOTH_
#endif
template <class T> class wg_host {
  T *object;

public:
  wg_host() = default;
  WG_ON_HOST_ wg_host(T &x) : object(&x) {}
  WG_ON_HOST_ T &operator*() const { return *object; }
  WG_ON_HOST_ T *operator->() const { return object; }
  WG_ON_HOST_ T *get() const { return object; }
  WG_ON_BOTH_ bool operator==(const wg_host &other) const { return object == other.object; }
};

/* --- C++: types of parameters --- */
/* How a value is shown: a number with a sign ('s'), without ('u'), with a point ('f'), an address
 * ('p'); 0: its bytes. */
template <class T> struct wg_kind_ { static constexpr unsigned value = 0; };
template <class T> struct wg_kind_<T *> { static constexpr unsigned value = 'p'; };
#define WG_KIND_(type, letter) \
  template <> struct wg_kind_<type> { static constexpr unsigned value = letter; }
WG_KIND_(bool, 'u');
WG_KIND_(char, 's');
WG_KIND_(signed char, 's');
WG_KIND_(unsigned char, 'u');
WG_KIND_(short, 's');
WG_KIND_(unsigned short, 'u');
WG_KIND_(int, 's');
WG_KIND_(unsigned, 'u');
WG_KIND_(long, 's');
WG_KIND_(unsigned long, 'u');
WG_KIND_(long long, 's');
WG_KIND_(unsigned long long, 'u');
WG_KIND_(float, 'f');
WG_KIND_(double, 'f');
#undef WG_KIND_
template <unsigned I, class... A> struct wg_kind_at_ { static constexpr unsigned value = 0; };
template <class T, class... A> struct wg_kind_at_<0, T, A...> {
  static constexpr unsigned value = wg_kind_<T>::value;
};
template <unsigned I, class T, class... A> struct wg_kind_at_<I, T, A...> {
  static constexpr unsigned value = wg_kind_at_<I - 1, A...>::value;
};
template <unsigned I, class... A> struct wg_bytes_at_ { static constexpr unsigned value = 0; };
template <class T, class... A> struct wg_bytes_at_<0, T, A...> {
  static constexpr unsigned value = sizeof(T);
};
template <unsigned I, class T, class... A> struct wg_bytes_at_<I, T, A...> {
  static constexpr unsigned value = wg_bytes_at_<I - 1, A...>::value;
};
template <class T> struct wg_result_bytes_ { static constexpr unsigned value = sizeof(T); };
template <> struct wg_result_bytes_<void> { static constexpr unsigned value = 0; };
template <class... A> struct wg_words_ { static constexpr unsigned value = 0; };
template <class T, class... A> struct wg_words_<T, A...> {
  static constexpr unsigned value = (sizeof(T) + 3) / 4 + wg_words_<A...>::value;
};

template <class F> struct wg_signature_;
template <class R, class... A> struct wg_signature_<R(A...)> {
  static constexpr unsigned nparams = sizeof...(A), result_bytes = wg_result_bytes_<R>::value,
                            words = wg_words_<A...>::value;
  template <unsigned I> struct bytes {
    static constexpr unsigned value = wg_bytes_at_<I, A...>::value;
  };
  template <unsigned I> struct shown {
    static constexpr unsigned value = wg_bytes_at_<I, A...>::value | wg_kind_at_<I, A...>::value
                                                                         << 16;
  };
  static constexpr unsigned result_shown = result_bytes | wg_kind_<R>::value << 16;
  static_assert(nparams <= WG_INTERRUPT_PARAMS_, "an interrupt has at most 16 parameters");
  static_assert(words <= WG_INTERRUPT_WORDS_,
                "the parameters of an interrupt have at most 64 bytes: pass a pointer");
  static_assert(result_bytes <= 16 && (result_bytes % 4 == 0 || result_bytes <= 2),
                "the result of an interrupt has 1, 2, 4, 8, 12 or 16 bytes");
};
#define WG_INTERRUPT_BYTES_(type, i) wg_signature_<type>::template bytes<i>::value
#define WG_INTERRUPT_INFO_(name, type, flags, file, line, text) \
  { \
    WG_INTERRUPT_MAGIC_, line, name, file, text, flags, wg_signature_<type>::result_shown, \
        wg_signature_<type>::nparams, { \
      wg_signature_<type>::shown<0>::value, wg_signature_<type>::shown<1>::value, \
          wg_signature_<type>::shown<2>::value, wg_signature_<type>::shown<3>::value, \
          wg_signature_<type>::shown<4>::value, wg_signature_<type>::shown<5>::value, \
          wg_signature_<type>::shown<6>::value, wg_signature_<type>::shown<7>::value, \
          wg_signature_<type>::shown<8>::value, wg_signature_<type>::shown<9>::value, \
          wg_signature_<type>::shown<10>::value, wg_signature_<type>::shown<11>::value, \
          wg_signature_<type>::shown<12>::value, wg_signature_<type>::shown<13>::value, \
          wg_signature_<type>::shown<14>::value, wg_signature_<type>::shown<15>::value \
    } \
  }

#if defined(__CUDACC__)
/* --- the call, in device code: one asm statement, so that its parts stay together --- */
#if defined(__CUDA_ARCH__)
#define WG_A_(k, n) "mov.b32 wg_interrupt_a" #k ", %" #n ";\n\t"
#define WG_REGS_0_ ""
#define WG_REGS_2_ ", wg_interrupt_a0, wg_interrupt_a1"
#define WG_REGS_4_ WG_REGS_2_ ", wg_interrupt_a2, wg_interrupt_a3"
#define WG_REGS_8_ WG_REGS_4_ ", wg_interrupt_a4, wg_interrupt_a5, wg_interrupt_a6, wg_interrupt_a7"
#define WG_REGS_16_ \
  WG_REGS_8_ ", wg_interrupt_a8, wg_interrupt_a9, wg_interrupt_a10, wg_interrupt_a11, " \
             "wg_interrupt_a12, wg_interrupt_a13, " \
             "wg_interrupt_a14, wg_interrupt_a15"
#define WG_MOVES_0_ ""
#define WG_MOVES_2_ WG_A_(0, 6) WG_A_(1, 7)
#define WG_MOVES_4_ WG_MOVES_2_ WG_A_(2, 8) WG_A_(3, 9)
#define WG_MOVES_8_ WG_MOVES_4_ WG_A_(4, 10) WG_A_(5, 11) WG_A_(6, 12) WG_A_(7, 13)
#define WG_MOVES_16_ \
  WG_MOVES_8_ WG_A_(8, 14) WG_A_(9, 15) WG_A_(10, 16) WG_A_(11, 17) WG_A_(12, 18) WG_A_(13, 19) \
      WG_A_(14, 20) WG_A_(15, 21)
#define WG_IN_0_
#define WG_IN_2_ , "r"(a[0]), "r"(a[1])
#define WG_IN_4_ WG_IN_2_, "r"(a[2]), "r"(a[3])
#define WG_IN_8_ WG_IN_4_, "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7])
#define WG_IN_16_ \
  WG_IN_8_, "r"(a[8]), "r"(a[9]), "r"(a[10]), "r"(a[11]), "r"(a[12]), "r"(a[13]), "r"(a[14]), \
      "r"(a[15])
#define WG_INTERRUPT_ASM_(n) \
  asm volatile("{\n\t.reg .b64 wg_interrupt_call;\n\t.reg .b32 wg_interrupt_wait, " \
               "wg_interrupt_s, wg_interrupt_r0, wg_interrupt_r1, " \
               "wg_interrupt_r2, wg_interrupt_r3" WG_REGS_##n##_ \
               ";\n\tmov.b64 wg_interrupt_call, %5;\n\t" WG_MOVES_##n##_ \
               "mov.b32 wg_interrupt_s, 0;\n\t" \
               "mov.b32 wg_interrupt_r0, %1;\n\tmov.b32 wg_interrupt_r1, %2;\n\tmov.b32 " \
               "wg_interrupt_r2, %3;\n\tmov.b32 wg_interrupt_r3, %4;\n\t" \
               "mov.b32 wg_interrupt_wait, 0;\n\t" \
               "mov.b32 %0, wg_interrupt_s;\n\tmov.b32 %1, wg_interrupt_r0;\n\tmov.b32 %2, " \
               "wg_interrupt_r1;\n\tmov.b32 %3, wg_interrupt_r2;\n\t" \
               "mov.b32 %4, wg_interrupt_r3;\n\t}" \
               : "=r"(served), "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) \
               : "l"(info) WG_IN_##n##_ \
               : "memory")
#else
#define WG_INTERRUPT_ASM_(n) (void)info, (void)a, (void)r, (void)served
#endif
/* served: 0 without Warpgrind */
template <int WORDS>
static __inline__ __device__ unsigned wg_interrupt_(const wg_interrupt_info_ *info,
                                                    const unsigned *a, unsigned *r) {
  unsigned served = 0;
  if (WORDS == 0) WG_INTERRUPT_ASM_(0);
  else if (WORDS <= 2) WG_INTERRUPT_ASM_(2);
  else if (WORDS <= 4) WG_INTERRUPT_ASM_(4);
  else if (WORDS <= 8) WG_INTERRUPT_ASM_(8);
  else WG_INTERRUPT_ASM_(16);
  return served;
}

static __inline__ __device__ void wg_pack_(unsigned *) {}
template <class T, class... A>
static __inline__ __device__ void wg_pack_(unsigned *words, T first, A... rest) {
  memcpy(words, &first, sizeof first);
  wg_pack_(words + (sizeof first + 3) / 4, rest...);
}

template <class F> struct wg_call_;
template <class R, class... A> struct wg_call_<R(A...)> {
  static __inline__ __device__ R call(const wg_interrupt_info_ *info, bool traps, R otherwise,
                                      A... args) {
    unsigned a[16] = {0}, r[4] = {0};
    R result;
    wg_pack_(a, args...);
    memcpy(r, &otherwise, sizeof otherwise);
    unsigned served = wg_interrupt_<(int)wg_words_<A...>::value>(info, a, r);
#if defined(__CUDA_ARCH__)
    if (traps && !served) asm volatile("trap;");
#endif
    memcpy(&result, r, sizeof result);
    return result;
  }
};
template <class... A> struct wg_call_<void(A...)> {
  static __inline__ __device__ void call(const wg_interrupt_info_ *info, bool traps, A... args) {
    unsigned a[16] = {0}, r[4] = {0};
    wg_pack_(a, args...);
    unsigned served = wg_interrupt_<(int)wg_words_<A...>::value>(info, a, r);
#if defined(__CUDA_ARCH__)
    if (traps && !served) asm volatile("trap;");
#endif
    (void)served;
  }
};
template <class F> struct wg_function_;
template <class R, class... A> struct wg_function_<R(A...)> {
  typedef R result;
  template <class... B>
  static __inline__ __device__ R with_default(const wg_interrupt_info_ *info, bool traps,
                                              R otherwise, B... b) {
    static_assert(sizeof...(B) == sizeof...(A), "this interrupt has another number of parameters");
    return wg_call_<R(A...)>::call(info, traps, otherwise, (A)b...);
  }
};
template <class... A> struct wg_function_<void(A...)> {
  typedef void result;
  template <class... B>
  static __inline__ __device__ void plain(const wg_interrupt_info_ *info, bool traps, B... b) {
    static_assert(sizeof...(B) == sizeof...(A), "this interrupt has another number of parameters");
    wg_call_<void(A...)>::call(info, traps, (A)b...);
  }
};

#define WG_INTERRUPT_DECLARE_(name, type, flags) \
  using wg_type_of_##name = type; \
  __attribute__((unused)) static __device__ const wg_interrupt_info_ wg_info_of_##name = \
      WG_INTERRUPT_INFO_(#name, wg_type_of_##name, flags, "", 0, "");
#define WG_INTERRUPT(name, type) \
  WG_INTERRUPT_DECLARE_(name, type, 0) \
  template <class... B> \
  static __inline__ __device__ wg_function_<wg_type_of_##name>::result name(B... b) { \
    return wg_function_<wg_type_of_##name>::plain(&wg_info_of_##name, false, b...); \
  } \
  typedef int wg_interrupt_is_declared_##name
#define WG_INTERRUPT_OR(name, type, otherwise) \
  WG_INTERRUPT_DECLARE_(name, type, 0) \
  template <class... B> \
  static __inline__ __device__ wg_function_<wg_type_of_##name>::result name(B... b) { \
    return wg_function_<wg_type_of_##name>::with_default(&wg_info_of_##name, false, otherwise, \
                                                         b...); \
  } \
  typedef int wg_interrupt_is_declared_##name
#define WG_INTERRUPT_OR_TRAP(name, type) \
  WG_INTERRUPT_DECLARE_(name, type, WG_INTERRUPT_TRAPS_) \
  template <class... B> \
  static __inline__ __device__ wg_function_<wg_type_of_##name>::result name(B... b) { \
    return wg_function_<wg_type_of_##name>::with_default( \
        &wg_info_of_##name, true, wg_function_<wg_type_of_##name>::result(), b...); \
  } \
  typedef int wg_interrupt_is_declared_##name
#endif

#if !defined(__CUDA_ARCH__)
/* --- the handler, on the host --- */
template <class T> struct wg_list {
  wg_interrupt *call;
  unsigned param;
  T *d; /* on the device */
  size_t size() const { return call->count; }
  const T *host() const { return static_cast<const T *>(wg_host_values(call, param)); }
  const T &operator[](size_t i) const { return host()[i]; }
  const T *begin() const { return host(); }
  const T *end() const { return host() + size(); }
};
template <class T> struct wg_results {
  wg_interrupt *call;
  T *d; /* on the device: a kernel of the handler may write here */
  size_t size() const { return call->count; }
  T *host() const { return static_cast<T *>(wg_host_results(call)); }
  T &operator[](size_t i) const { return host()[i]; }
};
struct wg_callers {
  wg_interrupt *call;
  size_t size() const { return call->count; }
  const wg_caller &operator[](size_t i) const { return *wg_host_caller(call, i); }
  const wg_caller *begin() const { return wg_host_callers(call); }
  const wg_caller *end() const { return wg_host_callers(call) + size(); }
  const char *kernel() const { /* as the source has it */
    static thread_local char shown[256];
    int status = 0;
    char *name = abi::__cxa_demangle(call->kernel, (char *)0, (size_t *)0, &status);
    strncpy(shown, name ? name : call->kernel, sizeof shown - 1);
    free(name);
    return shown;
  }
  void *stream() const { return call->stream; }
  void end_kernel() const { wg_end_kernel(call); }
};

template <class T> struct wg_argument_;
template <class T> struct wg_argument_<wg_list<T>> {
  static constexpr unsigned is_param = 1, bytes = sizeof(T), result = 0;
  static wg_list<T> get(wg_interrupt *call, unsigned i) {
    return wg_list<T>{call, i, static_cast<T *>(call->params[i])};
  }
};
template <class T> struct wg_argument_<wg_results<T>> {
  static constexpr unsigned is_param = 0, bytes = 0, result = sizeof(T);
  static wg_results<T> get(wg_interrupt *call, unsigned) {
    return wg_results<T>{call, static_cast<T *>(call->results)};
  }
};
template <unsigned... I> struct wg_numbers_ {};
template <unsigned N, unsigned... I> struct wg_count_ : wg_count_<N - 1, N - 1, I...> {};
template <unsigned... I> struct wg_count_<0, I...> { typedef wg_numbers_<I...> type; };

template <class... L> struct wg_handler_ {
  typedef void function(wg_callers &, L...);
  function *f;
  template <unsigned... I> static void expand(function *f, wg_interrupt *call, wg_numbers_<I...>) {
    wg_callers callers = {call};
    f(callers, wg_argument_<L>::get(call, I)...);
  }
  static void run(wg_interrupt *call, void *user) {
    function *f;
    memcpy((void *)&f, &user, sizeof f);
#if defined(__cpp_exceptions)
    try {
      expand(f, call, typename wg_count_<sizeof...(L)>::type());
    } catch (const std::exception &e) { wg_handler_fails(call, e.what()); } catch (...) {
      wg_handler_fails(call, "it threw something that is no std::exception");
    }
#else
    expand(f, call, typename wg_count_<sizeof...(L)>::type());
#endif
  }
};
template <class... L>
static inline int wg_define_handler_(const char *name, void (*f)(wg_callers &, L...),
                                     const char *file, unsigned line) {
  const unsigned is_param[] = {wg_argument_<L>::is_param..., 0},
                 bytes[] = {wg_argument_<L>::bytes..., 0},
                 results[] = {wg_argument_<L>::result..., 0};
  unsigned sizes[WG_INTERRUPT_PARAMS_ + 1] = {0}, n = 0, result = 0;
  void *user;
  for (unsigned i = 0; i < sizeof...(L); i++) {
    if (is_param[i] && n < WG_INTERRUPT_PARAMS_) sizes[n++] = bytes[i];
    result += results[i];
  }
  memcpy(&user, (void *)&f, sizeof user);
  wg_handler_definition_ definition = {name, file, wg_handler_<L...>::run, user, line, result,
                                       n,    sizes};
  return wg_interrupt_register_(definition);
}
#define WG_HANDLER(name, ...) \
  static void wg_handler_of_##name(__VA_ARGS__); \
  static int wg_handler_is_there_##name = wg_define_handler_(#name, wg_handler_of_##name, \
                                                             __FILE__, __LINE__); \
  static void wg_handler_of_##name(__VA_ARGS__)
#elif defined(__CUDACC__)
/* The device's compilation sees handlers, too, and compiles nothing of them. */
template <class T> struct wg_list {
  wg_interrupt *call;
  unsigned param;
  T *d;
  size_t size() const;
  const T *host() const;
  const T &operator[](size_t i) const;
  const T *begin() const;
  const T *end() const;
};
template <class T> struct wg_results {
  wg_interrupt *call;
  T *d;
  size_t size() const;
  T *host() const;
  T &operator[](size_t i) const;
};
struct wg_callers {
  wg_interrupt *call;
  size_t size() const;
  const wg_caller &operator[](size_t i) const;
  const wg_caller *begin() const;
  const wg_caller *end() const;
  const char *kernel() const;
  void *stream() const;
  void end_kernel() const;
};
#define WG_HANDLER(name, ...) __attribute__((unused)) static void wg_handler_of_##name(__VA_ARGS__)
#endif
#endif

#endif
