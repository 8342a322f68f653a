/* warpgrind_functions.h: functions for device code that are made of GPU interrupts
 * (docs/interrupts.md). Each is a declaration, a few lines for the device and a handler: a program
 * could have written it, and can define its own handler of the same name instead.
 *
 *   wg_assert(condition, values…)
 *     says which threads failed, where, with up to three values: a finding where a tool runs, else
 *     on standard error. The kernel goes on, or ends (wg_assert_ends)
 *   wg_printf(format, values…)
 *     the host's printf: every conversion, any number of values, no buffer to overflow, callers in
 *     the order of their threads. The format is a literal
 *   wg_error(code, value)
 *     tells the first error of each code in a launch and counts the rest; a summary at the end of
 *     the program
 *   wg_break()
 *     says who is here and waits for Enter, if the standard input is a terminal
 *   wg_file_read(path, offset, to, n)
 *     reads from a file of the host into memory of the device: bytes that were read, -1: it cannot
 *     be read
 *   wg_file_write(path, offset, from, n)
 *     writes to one; made if it is not there
 *   wg_malloc(n), wg_free(p)
 *     memory of the device that is allocated when it is asked for: there is no heap to be exhausted
 *
 * C++11, with the CUDA runtime. Without Warpgrind they do nothing; wg_malloc gives NULL,
 * wg_file_read and wg_file_write -1.
 */
#ifndef WARPGRIND_FUNCTIONS_H
#define WARPGRIND_FUNCTIONS_H

#include "warpgrind.h"

#if !defined(__CUDACC__) || !defined(__cplusplus)
#error "warpgrind_functions.h is for CUDA programs in C++"
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <map>
#include <string>
#include <vector>

/* A call with a place and a text, which the handler finds in wg_caller. */
#define WG_CALL_WITH_TEXT_(name, text, ...) \
  do { \
    static __device__ const wg_interrupt_info_ wg_info_ = WG_INTERRUPT_INFO_( \
        #name, wg_type_of_##name, 0, __FILE__, __LINE__, text); \
    wg_function_<wg_type_of_##name>::plain(&wg_info_, false, __VA_ARGS__); \
  } while (0)
#if defined(__CUDA_ARCH__)
#define WG_ON_DEVICE_(...) __VA_ARGS__
#else
#define WG_ON_DEVICE_(...)
#endif

/* --- wg_assert --- */
WG_INTERRUPT(wg_assert_failed, void(unsigned n, double a, double b, double c));
#if defined(__CUDA_ARCH__)
struct wg_values_ {
  unsigned n;
  double v[3];
  template <class... T> __device__ explicit wg_values_(T... given) : n(0), v{0, 0, 0} {
    static_assert(sizeof...(T) <= 3, "wg_assert shows at most three values");
    const double all[] = {(double)given..., 0.0};
    for (const double *x = all; x != all + sizeof...(T); x++) v[n++] = *x;
  }
};
#define wg_assert(condition, ...) \
  do { \
    if (!(condition)) { \
      wg_values_ wg_v_ = wg_values_(__VA_ARGS__); \
      WG_CALL_WITH_TEXT_(wg_assert_failed, #condition "\n" #__VA_ARGS__, wg_v_.n, wg_v_.v[0], \
                         wg_v_.v[1], wg_v_.v[2]); \
    } \
  } while (0)
#else
#define wg_assert(condition, ...) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)
#endif
/* true: a kernel ends at its first failed assertion. By default the kernel goes on. */
static inline bool &wg_assert_ends() {
  static bool ends;
  return ends;
}
WG_HANDLER(wg_assert_failed, wg_callers &callers, wg_list<unsigned> n, wg_list<double> a,
           wg_list<double> b, wg_list<double> c) {
  enum { SHOWN = 5 };
  for (size_t i = 0, end; i < callers.size(); i = end) {
    std::string text = callers[i].text, condition = text.substr(0, text.find('\n')),
                names = text.substr(condition.size() + 1);
    for (end = i; end < callers.size() && callers[end].text == callers[i].text &&
                  callers[end].line == callers[i].line;)
      end++;
    std::string shown = "assertion failed: " + condition;
    for (unsigned v = 0; v < n[i]; v++) {
      char value[64];
      snprintf(value, sizeof value, "%s %.9g",
               v ? "," : ("; " + names + " =").substr(0, 40).c_str(),
               v == 0   ? a[i]
               : v == 1 ? b[i]
                        : c[i]);
      shown += value;
    }
    if (end - i > 1) shown += "; in " + std::to_string(end - i) + " threads";
    if (wg_report_finding(callers.call, i, shown.c_str())) continue;
    fprintf(stderr, "%s:%u: assertion failed in %zu thread%s of kernel %s: %s\n", callers[i].file,
            callers[i].line, end - i, end - i == 1 ? "" : "s", callers.kernel(), condition.c_str());
    for (size_t k = i; k < end && k < i + SHOWN; k++) {
      const double values[] = {a[k], b[k], c[k]};
      fprintf(stderr, "  thread (%u,%u,%u) of block (%u,%u,%u)", callers[k].thread[0],
              callers[k].thread[1], callers[k].thread[2], callers[k].block[0], callers[k].block[1],
              callers[k].block[2]);
      if (n[k]) fprintf(stderr, ": %s =", names.c_str());
      for (unsigned v = 0; v < n[k]; v++) fprintf(stderr, "%s %.9g", v ? "," : "", values[v]);
      fprintf(stderr, "\n");
    }
    if (end - i > SHOWN) fprintf(stderr, "  … and %zu more\n", end - i - SHOWN);
  }
  if (wg_assert_ends()) callers.end_kernel();
}

/* --- wg_printf: up to six values are arguments, more of them an array of the thread --- */
enum { WG_PRINTF_VALUES_ = 6 };
WG_INTERRUPT(wg_printf_called,
             void(unsigned long long a, unsigned long long b, unsigned long long c,
                  unsigned long long d, unsigned long long e, unsigned long long f));
WG_INTERRUPT(wg_printf_many, void(unsigned n, const unsigned long long *values));
static __inline__ __host__ __device__ unsigned long long wg_bits_(double x) {
  unsigned long long bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static __inline__ __host__ __device__ unsigned long long wg_bits_(float x) {
  return wg_bits_((double)x);
}
template <class T> static __inline__ __host__ __device__ unsigned long long wg_bits_(T *x) {
  return (unsigned long long)(size_t)x;
}
template <class T> static __inline__ __host__ __device__ unsigned long long wg_bits_(T x) {
  return (unsigned long long)(long long)x;
}
#if defined(__CUDA_ARCH__)
template <class... T> __device__ char (&wg_count_(T...))[sizeof...(T) + 1]; /* never called */
template <unsigned N> struct wg_all_bits_ {
  unsigned long long v[N];
  template <class... T> __device__ explicit wg_all_bits_(T... x) : v{wg_bits_(x)...} {}
};
#define wg_printf(format, ...) \
  do { \
    enum { wg_n_ = sizeof(wg_count_(__VA_ARGS__)) - 1, wg_six_ = WG_PRINTF_VALUES_ }; \
    typedef wg_all_bits_<(wg_n_ > wg_six_ ? (unsigned)wg_n_ : (unsigned)wg_six_)> wg_bits_type_; \
    wg_bits_type_ wg_v_ = wg_bits_type_(__VA_ARGS__); \
    if (wg_n_ > wg_six_) WG_CALL_WITH_TEXT_(wg_printf_many, format, wg_n_, wg_v_.v); \
    else \
      WG_CALL_WITH_TEXT_(wg_printf_called, format, wg_v_.v[0], wg_v_.v[1], wg_v_.v[2], wg_v_.v[3], \
                         wg_v_.v[4], wg_v_.v[5]); \
  } while (0)
#else
#define wg_printf printf
#endif
/* A string of the device. */
template <class C> static inline std::basic_string<C> wg_text_(wg_interrupt *call, size_t address) {
  std::basic_string<C> s;
  C c;
  while (address && wg_read_device(call, &c, (const void *)address, sizeof c) && c) {
    s += c;
    address += sizeof c;
  }
  return s;
}
static inline std::string wg_string_(wg_interrupt *call, unsigned long long address) {
  return wg_text_<char>(call, (size_t)address);
}
/* The formatted value, of any length. */
template <class T> static inline std::string wg_print_(const std::string &spec, T value) {
  int n = snprintf(NULL, 0, spec.c_str(), value);
  std::string out((size_t)(n > 0 ? n : 0) + 1, 0);
  snprintf(&out[0], out.size(), spec.c_str(), value);
  return out.substr(0, out.size() - 1);
}
struct wg_formatter_ {
  wg_interrupt *call;
  const unsigned long long *values;
  size_t n, next;
  std::map<unsigned long long, std::string> *strings; /* that were read, by their addresses */
  std::string out;

  /* The next value, or the one that "2$" at `at` names. */
  unsigned long long take(const char *&at) {
    size_t digits = strspn(at, "0123456789"), which = 0;
    if (digits && at[digits] == '$') {
      which = (size_t)atoi(at);
      at += digits + 1;
    }
    if (!which) which = ++next;
    return which <= n ? values[which - 1] : 0;
  }
  /* Whether "2$" stands at `at`: the value is taken when the conversion is known. */
  static size_t position(const char *at) {
    size_t digits = strspn(at, "0123456789");
    return digits && at[digits] == '$' ? digits + 1 : 0;
  }
  void number(std::string flags, char kind, const char *size, unsigned long long v) {
    bool is_signed = kind == 'd' || kind == 'i';
    if (!strcmp(size, "hh")) v = is_signed ? (unsigned long long)(signed char)v : (unsigned char)v;
    else if (!strcmp(size, "h")) v = is_signed ? (unsigned long long)(short)v : (unsigned short)v;
    else if (!*size) v = is_signed ? (unsigned long long)(int)v : (unsigned)v;
    out += wg_print_(flags + "ll" + kind, v);
  }
  void length_to(const char *size, unsigned long long address) { /* %n */
    long long count = (long long)out.size();
    wg_write_device(call, (void *)(size_t)address, &count,
                    !strcmp(size, "hh")  ? 1
                    : !strcmp(size, "h") ? 2
                    : *size              ? 8
                                         : 4);
  }
  void text(const std::string &flags, bool wide, unsigned long long address) {
    if (wide) {
      out += wg_print_(flags + "ls", wg_text_<wchar_t>(call, (size_t)address).c_str());
      return;
    }
    if (!strings->count(address)) (*strings)[address] = wg_string_(call, address);
    out += wg_print_(flags + "s", address ? (*strings)[address].c_str() : "(null)");
  }
  /* One conversion, behind its '%'. false: it is none, or there is no value for it */
  bool convert(const char *&at) {
    const char *begin = at, *named = at, *none = "";
    at += position(at);
    bool by_number = at != named;
    std::string flags = "%", size;
    for (; *at && strchr("-+ #0'I123456789.*", *at);) {
      if (*at == '*') {
        int given = (int)take(++at);
        if (given < 0 && flags[flags.size() - 1] == '.') flags.resize(flags.size() - 1);
        else flags += std::to_string(given);
      } else flags += *at++;
    }
    while (*at && strchr("hlLqjzt", *at)) size += *at++;
    char kind = *at;
    if (!kind || !strchr("diouxXbBeEfFgGaAcCsSpnm%", kind)) {
      at = begin;
      return false;
    }
    at++;
    if (kind == '%') {
      out += '%';
      return true;
    }
    if (kind == 'm') {
      out += wg_print_(flags + 's', strerror(errno));
      return true;
    }
    if (!by_number && next >= n) {
      at = begin;
      return false;
    }
    unsigned long long v = take(by_number ? named : none);
    bool wide = size == "l" || kind == 'C' || kind == 'S';
    if (strchr("diouxXbB", kind)) number(flags, kind, size.c_str(), v);
    else if (kind == 'c' || kind == 'C')
      out += wide ? wg_print_(flags + "lc", (wint_t)v) : wg_print_(flags + "c", (int)v);
    else if (kind == 's' || kind == 'S') text(flags, wide, v);
    else if (kind == 'p') out += wg_print_(flags + "p", (void *)(size_t)v);
    else if (kind == 'n') length_to(size.c_str(), v);
    else {
      double x;
      memcpy(&x, &v, sizeof x);
      out += wg_print_(flags + kind, x);
    }
    return true;
  }
  const std::string &format(const char *at) {
    while (*at) {
      if (*at != '%') out += *at++;
      else if (!convert(++at)) {
        out += '%';
        out += at;
        break;
      }
    }
    return out;
  }
};
struct wg_printer_ {
  std::map<unsigned long long, std::string> strings;
  void print(wg_interrupt *call, const char *format, const unsigned long long *values, size_t n) {
    wg_formatter_ f = {call, values, n, 0, &strings, std::string()};
    const std::string &text = f.format(format);
    fwrite(text.data(), 1, text.size(), stdout);
  }
};
WG_HANDLER(wg_printf_called, wg_callers &callers, wg_list<unsigned long long> a,
           wg_list<unsigned long long> b, wg_list<unsigned long long> c,
           wg_list<unsigned long long> d, wg_list<unsigned long long> e,
           wg_list<unsigned long long> f) {
  wg_printer_ printer;
  for (size_t i = 0; i < callers.size(); i++) {
    const unsigned long long values[] = {a[i], b[i], c[i], d[i], e[i], f[i]};
    printer.print(callers.call, callers[i].text, values, WG_PRINTF_VALUES_);
  }
  fflush(stdout);
}
WG_HANDLER(wg_printf_many, wg_callers &callers, wg_list<unsigned> n,
           wg_list<const unsigned long long *> values) {
  wg_printer_ printer;
  for (size_t i = 0; i < callers.size(); i++) {
    std::vector<unsigned long long> v(n[i]);
    if (wg_read_device(callers.call, v.data(), values[i], n[i] * sizeof v[0]))
      printer.print(callers.call, callers[i].text, v.data(), n[i]);
  }
  fflush(stdout);
}

/* --- wg_error --- */
WG_INTERRUPT(wg_error_raised, void(int code, double value));
#define wg_error(code, value) \
  WG_ON_DEVICE_(WG_CALL_WITH_TEXT_(wg_error_raised, #code "\n" #value, code, (double)(value)))
static inline void wg_error_summary();
struct wg_errors_ { /* by code: how many, and the launch of the last that was told */
  std::map<int, size_t> counts;
  std::map<int, unsigned long long> launches;
  wg_errors_() { atexit(wg_error_summary); }
  static wg_errors_ &all() {
    static wg_errors_ *one = new wg_errors_;
    return *one;
  }
};
static inline void wg_error_summary() {
  for (const auto &c : wg_errors_::all().counts)
    fprintf(stderr, "error code %d: %zu time%s\n", c.first, c.second, c.second == 1 ? "" : "s");
}
WG_HANDLER(wg_error_raised, wg_callers &callers, wg_list<int> code, wg_list<double> value) {
  for (size_t i = 0; i < callers.size(); i++) {
    unsigned long long &told = wg_errors_::all().launches[code[i]];
    wg_errors_::all().counts[code[i]]++;
    if (told == callers.call->launch) continue;
    told = callers.call->launch;
    std::string text = callers[i].text;
    fprintf(stderr,
            "%s:%u: error %d (%s) in kernel %s, thread (%u,%u,%u) of block (%u,%u,%u): %s = %.9g\n",
            callers[i].file, callers[i].line, code[i], text.substr(0, text.find('\n')).c_str(),
            callers.kernel(), callers[i].thread[0], callers[i].thread[1], callers[i].thread[2],
            callers[i].block[0], callers[i].block[1], callers[i].block[2],
            text.substr(text.find('\n') + 1).c_str(), value[i]);
  }
}

/* --- wg_break --- */
WG_INTERRUPT(wg_break_reached, void(int unused));
#define wg_break() WG_ON_DEVICE_(WG_CALL_WITH_TEXT_(wg_break_reached, "", 0))
WG_HANDLER(wg_break_reached, wg_callers &callers, wg_list<int>) {
  fprintf(stderr, "%s:%u: break in kernel %s: %zu thread%s, first (%u,%u,%u) of block (%u,%u,%u)\n",
          callers[0].file, callers[0].line, callers.kernel(), callers.size(),
          callers.size() == 1 ? "" : "s", callers[0].thread[0], callers[0].thread[1],
          callers[0].thread[2], callers[0].block[0], callers[0].block[1], callers[0].block[2]);
  if (!isatty(0)) return;
  fprintf(stderr, "Enter: go on ");
  for (int c = getchar(); c != '\n' && c != EOF;) c = getchar();
}

/* --- files --- */
WG_INTERRUPT_OR(wg_file_read,
                long long(const char *path, long long offset, void *to, unsigned long long n), -1);
WG_INTERRUPT_OR(wg_file_write,
                long long(const char *path, long long offset, const void *from,
                          unsigned long long n),
                -1);
WG_HANDLER(wg_file_read, wg_callers &callers, wg_list<const char *> path, wg_list<long long> offset,
           wg_list<void *> to, wg_list<unsigned long long> n, wg_results<long long> done) {
  for (size_t i = 0; i < callers.size(); i++) {
    FILE *f = fopen(wg_string_(callers.call, (size_t)path[i]).c_str(), "rb");
    std::string bytes(n[i], 0);
    done[i] = f && !fseek(f, (long)offset[i], SEEK_SET) ? (long long)fread(&bytes[0], 1, n[i], f)
                                                        : -1;
    if (done[i] > 0 && !wg_write_device(callers.call, to[i], bytes.data(), (size_t)done[i]))
      done[i] = -1;
    if (f) fclose(f);
  }
}
WG_HANDLER(wg_file_write, wg_callers &callers, wg_list<const char *> path,
           wg_list<long long> offset, wg_list<const void *> from, wg_list<unsigned long long> n,
           wg_results<long long> done) {
  for (size_t i = 0; i < callers.size(); i++) {
    std::string name = wg_string_(callers.call, (size_t)path[i]), bytes(n[i], 0);
    FILE *f = fopen(name.c_str(), "r+b");
    if (!f) f = fopen(name.c_str(), "w+b");
    bool ok = f && !fseek(f, (long)offset[i], SEEK_SET) &&
              wg_read_device(callers.call, &bytes[0], from[i], n[i]);
    done[i] = ok ? (long long)fwrite(bytes.data(), 1, n[i], f) : -1;
    if (f) fclose(f);
  }
}

/* --- memory --- */
WG_INTERRUPT_OR(wg_malloc, void *(unsigned long long n), (void *)0);
WG_INTERRUPT(wg_free, void(void *p));
/* One allocation for all callers; it is freed when all of them have freed their part. */
struct wg_memory_ {
  std::map<char *, char *> owner; /* part: allocation */
  std::map<char *, size_t> parts; /* allocation: parts in use */
  static wg_memory_ &all() {
    static wg_memory_ *one = new wg_memory_;
    return *one;
  }
};
WG_HANDLER(wg_malloc, wg_callers &callers, wg_list<unsigned long long> n, wg_results<void *> p) {
  unsigned long long bytes = 0;
  char *all = nullptr;
  for (unsigned long long size : n) bytes += (size + 255) / 256 * 256;
  bool ok = cudaMalloc(&all, bytes + 256) == cudaSuccess;
  char *next = all;
  for (size_t i = 0; i < callers.size(); i++) {
    p[i] = ok ? next : nullptr;
    if (ok) wg_memory_::all().owner[next] = all;
    next += (n[i] + 255) / 256 * 256 + (n[i] ? 0 : 256);
  }
  if (ok) wg_memory_::all().parts[all] = callers.size();
}
WG_HANDLER(wg_free, wg_callers &callers, wg_list<void *> p) {
  wg_memory_ &m = wg_memory_::all();
  for (void *each : p) {
    auto found = m.owner.find(static_cast<char *>(each));
    if (found == m.owner.end()) {
      if (each)
        fprintf(stderr, "wg_free in kernel %s: %p was not allocated by wg_malloc\n",
                callers.kernel(), each);
      continue;
    }
    char *all = found->second;
    m.owner.erase(found);
    if (--m.parts[all]) continue;
    m.parts.erase(all);
    cudaFree(all);
  }
}

#endif
